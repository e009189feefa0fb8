/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/table_memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* tables of at least so many bytes are populated; all sizes of pages divide it */
#define LARGE ((size_t)1 << 16)

/* the usual size of a large page, and that of a cache line */
#define LARGE_PAGE ((size_t)2 << 20)
#define LINE       ((size_t)64)

void *ct_table_of_records(size_t count, size_t size)
{
    const size_t bytes = (count * size + LINE - 1) & ~(LINE - 1);
    if (bytes < LARGE_PAGE)
        return aligned_alloc(LINE, bytes);
    const size_t whole = (bytes + LARGE_PAGE - 1) & ~(LARGE_PAGE - 1);
    void *table = aligned_alloc(LARGE_PAGE, whole);
#ifdef MADV_HUGEPAGE
    const int error = errno;
    if (table) /* without large pages it is only slower */
        madvise(table, whole, MADV_HUGEPAGE);
    errno = error;
#endif
    return table;
}

void *ct_table_memory(size_t count, size_t size)
{
    void *table = calloc(count, size);
#ifdef MADV_POPULATE_WRITE
    if (table && count * size >= 2 * LARGE) {
        const int error = errno;
        char *bytes = table;
        const size_t skip = (size_t)(-(uintptr_t)table & (LARGE - 1));
        /* an older kernel that says no populates each page when it is written */
        madvise(bytes + skip, (count * size - skip) & ~(LARGE - 1), MADV_POPULATE_WRITE);
        errno = error;
    }
#endif
    return table;
}
