/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/table_memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* tables of at least so many bytes are populated; all sizes of pages divide it */
#define LARGE ((size_t)1 << 16)

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
