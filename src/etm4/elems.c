/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts to elements with vectors. Each packet in 64 bytes first gets the element that its header
 * alone would make. Then the payloads are filled in, one kind of packet after the other, so that no branch
 * depends on the trace. */
#include "etm4/elems.h"

#include "etm4/vector.h"

void ct_etm4_elem_tables_init(struct ct_etm4_elem_tables *t, const struct ct_etm4_burst *b)
{
    for (unsigned h = 0; h < 256; h++) {
        const struct ct_etm4_row *row = b->rows[h];
        t->plain[h] = (struct ct_elem){.kind = (uint8_t)row->head,
                                       .n = (uint8_t)(row->head >> 8),
                                       .aux = (uint16_t)(row->head >> 16),
                                       .v = row->base};
    }
}

#ifdef CT_HAVE_VECTORS

/* A burst of elements while it decodes. */
struct run {
    const struct ct_etm4_elem_tables *tables;
    const struct ct_etm4_event_tables *rows;
    struct ct_etm4_burst *burst;
    /* the last three addresses, newest last, then those of the current block */
    uint64_t past[3 + CT_SCAN_BLOCK];
    struct ct_etm4_chunk chunk;
};

/* Returns the index, among the packets of the block, of the one that begins at byte i. */
CT_VECTOR_INLINE unsigned rank(const struct ct_etm4_masks *m, unsigned i)
{
    return (unsigned)__builtin_popcountll(m->packets & ((UINT64_C(1) << i) - 1));
}

CT_VECTOR_INLINE void fill_headers(struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                   uint32_t pos, struct ct_elem *out)
{
    for (uint64_t left = m->packets; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        uint8_t header = data[i];
        r->burst->packets[header]++;
        *out = r->tables->plain[header];
        out->pos = pos + i;
        out++;
    }
}

CT_VECTOR_INLINE void fill_counts(struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                  struct ct_elem *out)
{
    for (uint64_t left = m->counts; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        out[rank(m, i)].v = ct_count_of(r->rows->counts, data + i);
    }
}

CT_VECTOR_INLINE void fill_addresses(struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                     struct ct_elem *out, bool wide)
{
    uint64_t *past = r->past + 3;
    uint64_t last = past[-1];
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        struct ct_elem *elem = &out[rank(m, i)];
        last = ct_address_of(&r->rows->addresses, data + i, past, last, wide);
        *past++ = last;
        elem->n = last & 1;
        elem->v = last & ~UINT64_C(1);
    }
    ct_past_move(r->past, past);
    r->burst->address_count += (unsigned)__builtin_popcountll(m->addresses);
}

/* Makes the elements of a chunk and returns their number. */
CT_VECTOR static size_t fill_chunk(struct run *r, const uint8_t *data, uint32_t pos, struct ct_elem *elems)
{
    size_t n = 0;
    for (unsigned i = 0; i < 3; i++)
        r->past[i] = r->burst->address[2 - i];
    for (unsigned b = 0; b < r->chunk.blocks; b++) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const unsigned at = b * CT_SCAN_BLOCK;
        fill_headers(r, m, data + at, pos + at, elems + n);
        fill_counts(r, m, data + at, elems + n);
        if (m->odd)
            fill_addresses(r, m, data + at, elems + n, true);
        else
            fill_addresses(r, m, data + at, elems + n, false);
        n += (unsigned)__builtin_popcountll(m->packets);
    }
    for (unsigned i = 0; i < 3; i++)
        r->burst->address[i] = r->past[2 - i];
    return n;
}

size_t ct_etm4_burst_elems_fast(struct ct_etm4_burst *burst, const struct ct_etm4_elem_tables *tables,
                                const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                                uint32_t pos, struct ct_elem *elems, size_t cap, size_t *count)
{
    struct run r;
    size_t at = 0;
    size_t n = 0;
    unsigned entry = 0;
    r.burst = burst;
    r.tables = tables;
    r.rows = rows;
    while (cap - n >= CT_SCAN_BLOCK) {
        const size_t room = (cap - n) / CT_SCAN_BLOCK * CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD;
        const size_t left = size - at;
        size_t bytes = ct_etm4_scan(&rows->scan, data + at, left < room ? left : room, &entry, &r.chunk);
        if (!r.chunk.blocks)
            break;
        n += fill_chunk(&r, data + at, pos + (uint32_t)at, elems + n);
        at += bytes;
        if (entry == CT_SCAN_STOP) { /* the plain burst also decodes counts with three bytes of payload */
            size_t one;
            entry = 0;
            at += ct_etm4_burst_elems(burst, data + at, size - at, pos + (uint32_t)at, elems + n, 1, &one);
            n += one;
            if (!one)
                break;
        }
    }
    *count = n;
    return at + entry;
}

#else

size_t ct_etm4_burst_elems_fast(struct ct_etm4_burst *burst, const struct ct_etm4_elem_tables *tables,
                                const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                                uint32_t pos, struct ct_elem *elems, size_t cap, size_t *count)
{
    (void)tables, (void)rows;
    return ct_etm4_burst_elems(burst, data, size, pos, elems, cap, count);
}

#endif
