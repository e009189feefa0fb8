/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/table_memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Tables of this size and larger are populated; all page sizes divide it. */
#define LARGE ((size_t)1 << 16)

/* arrays of at least so many bytes have pages of their own: smaller ones come and go with each capture */
#define OWN_PAGES ((size_t)1 << 18)

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

void *ct_table_of_zeros(size_t count, size_t size)
{
    void *table = ct_table_of_records(count, size);
    if (table)
        memset(table, 0, count * size);
    return table;
}

void *ct_table_memory(size_t count, size_t size)
{
    if (count * size >= LARGE_PAGE)
        return ct_table_of_zeros(count, size);
    void *table = calloc(count, size);
#ifdef MADV_POPULATE_WRITE
    if (table && count * size >= 2 * LARGE) {
        const int error = errno;
        char *bytes = table;
        const size_t skip = (size_t)(-(uintptr_t)table & (LARGE - 1));
        /* an older kernel refuses this and populates each page on its first write */
        madvise(bytes + skip, (count * size - skip) & ~(LARGE - 1), MADV_POPULATE_WRITE);
        errno = error;
    }
#endif
    return table;
}

/* Returns true for arrays that have their own pages. The allocator would move them within the memory of a
 * thread, and each move would be a copy into new pages. */
static bool has_pages(size_t bytes)
{
    return bytes >= OWN_PAGES;
}

/* Returns whether an array of this size is kept in large pages. */
static bool has_large_pages(size_t bytes)
{
    return bytes >= 2 * LARGE_PAGE;
}

/* Reserves pages, aligned to a large page if they fill at least one. */
static void *new_pages(size_t bytes)
{
    const size_t more = bytes >= LARGE_PAGE ? LARGE_PAGE : 0;
    char *pages = mmap(NULL, bytes + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    const size_t skip = more ? (size_t)(-(uintptr_t)pages & (LARGE_PAGE - 1)) : 0;
    if (skip)
        munmap(pages, skip);
    if (more - skip)
        munmap(pages + skip + bytes, more - skip);
    return pages + skip;
}

/* Makes the kernel clear and map many pages at a time: for a large array on the first write, for a smaller
 * one all at once. */
static void ready_pages(void *array, size_t bytes)
{
    const int error = errno;
#ifdef MADV_HUGEPAGE
    if (has_large_pages(bytes))
        madvise(array, bytes, MADV_HUGEPAGE);
#endif
#ifdef MADV_POPULATE_WRITE
    if (!has_large_pages(bytes))
        madvise(array, bytes, MADV_POPULATE_WRITE);
#endif
    errno = error;
}

/* Moves the pages of an array into a larger range. */
static void *move_pages(void *array, size_t old, size_t bytes)
{
    void *room = new_pages(bytes);
    if (!room)
        return NULL;
    if (mremap(array, old, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, room) != MAP_FAILED)
        return room;
    munmap(room, bytes);
    return NULL;
}

void *ct_array_grow(void *array, size_t count, size_t more, size_t size)
{
    const size_t old = count * size;
    const size_t bytes = more * size;
    /* small pages stay small when they are moved, so an array that gets large ones is copied, once */
    const bool moves = has_pages(old) && has_large_pages(old) == has_large_pages(bytes);
    void *grown = moves              ? move_pages(array, old, bytes)
                  : has_pages(bytes) ? new_pages(bytes)
                                     : calloc(more, size);
    if (!grown)
        return NULL;
    if (has_pages(bytes))
        ready_pages(grown, bytes);
    if (moves)
        return grown;
    if (old)
        memcpy(grown, array, old);
    ct_array_free(array, count, size);
    return grown;
}

void ct_array_free(void *array, size_t count, size_t size)
{
    if (!array)
        return;
    if (has_pages(count * size))
        munmap(array, count * size);
    else
        free(array);
}
