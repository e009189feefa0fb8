/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one context in pages, each read from the client once a call at most and compared with what it was
 * in the call before. A client finds out anew what lies at an address each time that it is asked, which takes
 * longer than copying the bytes: one question a page is less than one for each piece of code in it. */
#ifndef CT_OPENCSD_PAGES_H
#define CT_OPENCSD_PAGES_H

#include "opencsd/memory.h"

enum {
    CT_OCSD_PAGE_BITS = 10,
    CT_OCSD_PAGE_SIZE = 1 << CT_OCSD_PAGE_BITS, /* bytes */
};

struct ct_ocsd_page {
    uint64_t number;  /* its address without the bits of offsets */
    uint64_t epoch;   /* of the tree, when it was read last */
    uint64_t changed; /* epoch in which the page was found to be another than before */
    uint32_t size;    /* bytes from its begin on that can be read; 0: none */
    uint8_t *bytes;   /* NULL: the entry is free */
};

/* A hash table with open addressing. */
struct ct_ocsd_pages {
    struct ct_ocsd_page *pages;
    unsigned bits; /* log2 of its entries; 0: none yet */
    size_t count;
};

/* Whose memory is read, and when. */
struct ct_ocsd_reader {
    const struct ct_ocsd_memory *memory;
    uint64_t epoch; /* of the tree: pages of earlier ones are read again */
    uint32_t space; /* OCSD_MEM_SPACE_… */
    uint8_t id;     /* trace ID */
};

void ct_ocsd_pages_deinit(struct ct_ocsd_pages *pages);

/* Returns the page of an address, as it is in the reader's epoch. NULL without memory for it; then what it
 * has is to be read directly. It is there until the next call. */
const struct ct_ocsd_page *ct_ocsd_pages_at(struct ct_ocsd_pages *pages, const struct ct_ocsd_reader *reader,
                                            uint64_t addr);

#endif
