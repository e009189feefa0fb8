/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for the first alignment packet, counting as 1.3.3 does. */
#include "opencsd/stm.h"

#include <string.h>

enum {
    ONES = 21,              /* units f of an alignment packet */
    ASYNC_UNITS = ONES + 1, /* units of an alignment packet */
    LAST = 0x0f,            /* last byte of an alignment packet */
};

/* Adds a unit f, which may begin a row. 1.3.3 halves a number below 0 to 0. */
static void add_one(struct ct_ocsd_stm_search *s, ocsd_trc_index_t call)
{
    if (!s->in_row)
        s->row = call + (s->count ? s->count - 1u : 0) / 2;
    s->in_row = true;
    s->ones++;
}

/* Returns the byte in which the alignment packet ends, or `size`. `*is_half`: it ends inside the byte. */
static uint32_t find_end(struct ct_ocsd_stm_search *s, ocsd_trc_index_t call, const uint8_t *bytes,
                         uint32_t size, bool *is_half)
{
    for (uint32_t at = 0; at < 2 * size; at++) {
        const unsigned unit = bytes[at / 2] >> (at & 1 ? 4 : 0) & 15;
        *is_half = !(at & 1);
        s->count++;
        if (unit == 15) {
            add_one(s, call);
            continue;
        }
        if (unit == 0 && s->ones >= ONES)
            return at / 2;
        s->ones = 0;
        s->in_row = false;
    }
    return size;
}

/* Describes the alignment packet that ends in `last`. The packet decoder takes one with the same units; 1.3.3
 * shows a monitor bytes of its own, after the other half of `last` when bytes came before the packet. */
static void align(struct ct_ocsd_stm *d, uint8_t last, bool is_half, bool has_spare,
                  struct ct_ocsd_software_found *found)
{
    static const uint8_t whole[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, LAST};
    static const uint8_t halves[] = {0xf0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0};
    const uint8_t *units = is_half ? halves : whole;
    size_t count = 0;
    ct_stm_decode(d->software.packets, units, is_half ? sizeof halves : sizeof whole, 0, 0,
                  &found->packet.stm, 1, &count);
    found->is_aligned = true;
    d->bytes[0] = last & 0xf0;
    memcpy(d->bytes + 1, whole, sizeof whole);
    found->place = (struct ct_ocsd_software_place){.index = d->search.row,
                                                   .bytes = d->bytes + !has_spare,
                                                   .size = sizeof whole + has_spare,
                                                   .ends_inside = is_half};
}

void ct_ocsd_stm_search(struct ct_ocsd_software *software, ocsd_trc_index_t call, const uint8_t *bytes,
                        uint32_t size, struct ct_ocsd_software_found *found)
{
    struct ct_ocsd_stm *d = (struct ct_ocsd_stm *)software;
    struct ct_ocsd_stm_search *s = &d->search;
    bool is_half = false;
    s->count = s->ones;
    const uint32_t end = find_end(s, call, bytes, size, &is_half);
    if (end == size) {
        const uint8_t units = s->count - s->ones;
        *found = (struct ct_ocsd_software_found){.is_told = s->count != 0, .used = size};
        if (found->is_told)
            found->shown = (units + 1u) / 2;
        return;
    }
    const int before = s->count - ASYNC_UNITS;
    *found = (struct ct_ocsd_software_found){.is_told = before > 0, .used = end + !is_half};
    if (found->is_told)
        found->shown = (uint32_t)(before + 1) / 2;
    align(d, bytes[end], is_half, is_half && found->is_told, found);
    *s = (struct ct_ocsd_stm_search){0};
}
