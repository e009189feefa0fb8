/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/pages.h"

#include <stdlib.h>
#include <string.h>

enum {
    MIN_BITS = 6, /* log2 of the entries of a new table */
};

void ct_ocsd_pages_deinit(struct ct_ocsd_pages *p)
{
    const size_t room = p->bits ? (size_t)1 << p->bits : 0;
    for (size_t i = 0; i < room; i++)
        free(p->pages[i].bytes);
    free(p->pages);
    *p = (struct ct_ocsd_pages){0};
}

/* Returns the entry of a page in a table of 2^bits entries: its own, or the free one where it belongs. */
static struct ct_ocsd_page *place_of(struct ct_ocsd_page *pages, unsigned bits, uint64_t number)
{
    const size_t mask = ((size_t)1 << bits) - 1;
    size_t at = (size_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
    while (pages[at].bytes && pages[at].number != number)
        at = (at + 1) & mask;
    return &pages[at];
}

/* Makes room for one more page. Returns false when out of memory. */
static bool grow(struct ct_ocsd_pages *p)
{
    if (p->bits && p->count < (size_t)1 << (p->bits - 1))
        return true;
    const unsigned bits = p->bits ? p->bits + 1 : MIN_BITS;
    const size_t before = p->bits ? (size_t)1 << p->bits : 0;
    struct ct_ocsd_page *pages = calloc((size_t)1 << bits, sizeof *pages);
    if (!pages)
        return false;
    for (size_t i = 0; i < before; i++)
        if (p->pages[i].bytes)
            *place_of(pages, bits, p->pages[i].number) = p->pages[i];
    free(p->pages);
    p->pages = pages;
    p->bits = bits;
    return true;
}

static uint32_t read_page(const struct ct_ocsd_reader *reader, uint64_t number, uint8_t *bytes)
{
    return ct_ocsd_memory_read(reader->memory, number << CT_OCSD_PAGE_BITS, reader->space, reader->id,
                               CT_OCSD_PAGE_SIZE, bytes);
}

/* Rereads a page and compares it. */
static void read_again(struct ct_ocsd_page *page, const struct ct_ocsd_reader *reader)
{
    uint8_t now[CT_OCSD_PAGE_SIZE];
    const uint32_t size = read_page(reader, page->number, now);
    page->epoch = reader->epoch;
    if (size == page->size && !memcmp(now, page->bytes, size))
        return;
    memcpy(page->bytes, now, size);
    page->size = size;
    page->changed = reader->epoch;
}

const struct ct_ocsd_page *ct_ocsd_pages_at(struct ct_ocsd_pages *p, const struct ct_ocsd_reader *reader,
                                            uint64_t addr)
{
    const uint64_t number = addr >> CT_OCSD_PAGE_BITS;
    if (!grow(p))
        return NULL;
    struct ct_ocsd_page *page = place_of(p->pages, p->bits, number);
    if (!page->bytes) {
        uint8_t *bytes = malloc(CT_OCSD_PAGE_SIZE);
        if (!bytes)
            return NULL;
        *page = (struct ct_ocsd_page){number, reader->epoch, reader->epoch, 0, bytes};
        page->size = read_page(reader, number, bytes);
        p->count++;
    } else if (page->epoch != reader->epoch) {
        read_again(page, reader);
    }
    return page;
}
