/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one context in pages. Each page is read from the client at most once per call, and compared with
 * its contents in the previous call. A client looks up an address for every request, which takes longer than
 * copying the bytes, so one request per page is cheaper than one per piece of code in it. */
#pragma once

#include "opencsd/memory.h"

enum {
    CT_OCSD_PAGE_BITS = 10,
    CT_OCSD_PAGE_SIZE = 1 << CT_OCSD_PAGE_BITS, /* bytes */
};

struct ct_ocsd_page {
    uint64_t number;  /* address without the offset bits */
    uint64_t epoch;   /* epoch of the tree when the page was last read */
    uint64_t changed; /* epoch in which the page was last found changed */
    uint32_t size;    /* readable bytes from its begin on; 0: none */
    uint8_t *bytes;   /* NULL: free entry */
};

/* A hash table with open addressing. */
struct ct_ocsd_pages {
    struct ct_ocsd_page *pages;
    unsigned bits; /* log2 of the number of entries; 0: not allocated */
    size_t count;
};

/* Parameters for reading memory. */
struct ct_ocsd_reader {
    const struct ct_ocsd_memory *memory;
    uint64_t epoch; /* epoch of the tree: pages read in earlier epochs are reread */
    uint32_t space; /* OCSD_MEM_SPACE_… */
    uint8_t id;     /* trace ID */
};

void ct_ocsd_pages_deinit(struct ct_ocsd_pages *pages);

/* Returns the page of an address, up to date with the reader's epoch and valid until the next call. NULL: out
 * of memory for the page; then read the memory directly. */
const struct ct_ocsd_page *ct_ocsd_pages_at(struct ct_ocsd_pages *pages, const struct ct_ocsd_reader *reader,
                                            uint64_t addr);
