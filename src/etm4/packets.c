/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes bursts to packets with vectors. Each packet in 64 bytes is first made as its header alone would
 * make it. Then the payloads are filled in, one kind of packet after the other, so that no branch depends on
 * the trace. */
#include "etm4/packets.h"

void ct_etm4_packet_tables_init(struct ct_etm4_packet_tables *t, const struct ct_etm4_decoder *decoder,
                                const struct ct_etm4_event_tables *rows)
{
    for (unsigned h = 0; h < 256; h++) {
        const uint8_t bytes[CT_ETM4_PACKET_MAX] = {(uint8_t)h};
        struct ct_etm4_decoder d = *decoder;
        size_t count;
        ct_etm4_decode(&d, bytes, sizeof bytes, 0, 0, &t->plain[h], 1, &count);
        t->longer[h] = (rows->scan.lengths[h] & CT_SCAN_MORE) != 0;
    }
}

#ifdef CT_HAVE_VECTORS

/* A burst of packets while it decodes. */
struct run {
    const struct ct_etm4_packet_tables *tables;
    const struct ct_etm4_event_tables *rows;
    /* the last three addresses, newest last, then those of the current block */
    uint64_t past[3 + CT_SCAN_BLOCK];
    struct ct_etm4_chunk chunk;
};

/* Returns the packet that begins at byte i of the block. */
CT_VECTOR_INLINE struct ct_etm4_packet *packet_at(struct ct_etm4_packet *out, const struct ct_etm4_masks *m,
                                                  unsigned i)
{
    return &out[__builtin_popcountll(m->packets & ((UINT64_C(1) << i) - 1))];
}

CT_VECTOR_INLINE void fill_headers(const struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                   uint64_t pos, struct ct_etm4_packet *out)
{
    for (uint64_t left = m->packets; left; left &= left - 1, out++) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        *out = r->tables->plain[data[i]];
        out->pos = pos + i;
    }
}

CT_VECTOR_INLINE void fill_counts(const struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                  struct ct_etm4_packet *out)
{
    for (uint64_t left = m->counts; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        struct ct_etm4_packet *packet = packet_at(out, m, i);
        packet->count = ct_count_of(r->rows->counts, data + i);
        packet->size = (uint8_t)(packet->size + (r->tables->longer[data[i]] & data[i + 1] >> 7));
    }
}

CT_VECTOR_INLINE void fill_addresses(struct run *r, const struct ct_etm4_masks *m, const uint8_t *data,
                                     struct ct_etm4_packet *out, bool wide)
{
    uint64_t *past = r->past + 3;
    uint64_t last = past[-1];
    for (uint64_t left = m->addresses; left; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctzll(left);
        struct ct_etm4_packet *packet = packet_at(out, m, i);
        last = ct_address_of(&r->rows->addresses, data + i, past, last, wide);
        *past++ = last;
        packet->value = last & ~UINT64_C(1);
        packet->is = last & 1;
        packet->size = (uint8_t)(packet->size + (r->tables->longer[data[i]] & data[i + 1] >> 7));
    }
    ct_past_move(r->past, past);
}

/* Makes the packets of a chunk and returns their number. */
CT_VECTOR static size_t fill_chunk(struct run *r, const uint8_t *data, uint64_t pos,
                                   struct ct_etm4_packet *packets)
{
    size_t n = 0;
    for (unsigned b = 0; b < r->chunk.blocks; b++) {
        const struct ct_etm4_masks *m = &r->chunk.masks[b];
        const unsigned at = b * CT_SCAN_BLOCK;
        fill_headers(r, m, data + at, pos + at, packets + n);
        fill_counts(r, m, data + at, packets + n);
        if (m->odd)
            fill_addresses(r, m, data + at, packets + n, true);
        else
            fill_addresses(r, m, data + at, packets + n, false);
        n += (unsigned)__builtin_popcountll(m->packets);
    }
    return n;
}

size_t ct_etm4_burst_packets(struct ct_etm4_burst *burst, const struct ct_etm4_packet_tables *tables,
                             const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                             uint64_t pos, struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    struct run r;
    size_t at = 0;
    size_t n = 0;
    unsigned entry = 0;
    r.tables = tables;
    r.rows = rows;
    for (unsigned i = 0; i < 3; i++)
        r.past[i] = burst->address[2 - i];
    while (cap - n >= CT_SCAN_BLOCK && entry != CT_SCAN_STOP) {
        const size_t room = (cap - n) / CT_SCAN_BLOCK * CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD;
        const size_t left = size - at;
        const size_t bytes =
            ct_etm4_scan(&rows->scan, data + at, left < room ? left : room, &entry, &r.chunk);
        if (!r.chunk.blocks)
            break;
        n += fill_chunk(&r, data + at, pos + at, packets + n);
        at += bytes;
    }
    for (unsigned i = 0; i < 3; i++)
        burst->address[i] = r.past[2 - i];
    *count = n;
    return entry == CT_SCAN_STOP ? at : at + entry;
}

/* number of arrays of counts that take turns: adding to the same count twice in a row would wait */
#define TURNS 8u

/* Counts of packets by header. */
struct seen {
    uint32_t bytes[TURNS][256]; /* counts of bytes; one that is not a header counts as byte 0 */
    uint64_t count;
    uint64_t others; /* number of bytes that are not headers */
    uint64_t addresses;
    uint64_t past[3 + CT_SCAN_BLOCK]; /* as in struct run */
};

/* Counts the headers of a block. Counts all of its bytes, because the processor cannot predict the end of a
 * loop over the packets alone. */
CT_VECTOR_INLINE void count_headers(struct seen *seen, uint64_t packets, const uint8_t *data)
{
    uint8_t headers[CT_SCAN_BLOCK];
    ct_bytes_store(headers, ct_bytes_and(ct_bytes_load(data), ct_bytes_of_mask((uint32_t)packets)));
    ct_bytes_store(headers + 32,
                   ct_bytes_and(ct_bytes_load(data + 32), ct_bytes_of_mask((uint32_t)(packets >> 32))));
    for (unsigned i = 0; i < CT_SCAN_BLOCK; i += 8) {
        const uint64_t eight = ct_load64(headers + i);
        for (unsigned k = 0; k < 8; k++)
            seen->bytes[k % TURNS][eight >> 8 * k & 0xff]++;
    }
    const unsigned n = (unsigned)__builtin_popcountll(packets);
    seen->count += n;
    seen->others += CT_SCAN_BLOCK - n;
}

CT_VECTOR_INLINE void follow_addresses(struct seen *seen, const struct ct_address_rows *rows,
                                       uint64_t addresses, const uint8_t *data, bool wide)
{
    uint64_t *past = seen->past + 3;
    uint64_t last = past[-1];
    seen->addresses += (unsigned)__builtin_popcountll(addresses);
    for (; addresses; addresses &= addresses - 1) {
        last = ct_address_of(rows, data + __builtin_ctzll(addresses), past, last, wide);
        *past++ = last;
    }
    ct_past_move(seen->past, past);
}

/* Counts the packets of a block that begin at a byte whose bit is set in `where`. */
CT_VECTOR_INLINE void count_block(struct seen *seen, const struct ct_address_rows *rows,
                                  const struct ct_etm4_masks *m, uint64_t where, const uint8_t *data)
{
    count_headers(seen, m->packets & where, data);
    if (m->odd)
        follow_addresses(seen, rows, m->addresses & where, data, true);
    else
        follow_addresses(seen, rows, m->addresses & where, data, false);
}

/* Counts the packets of a chunk up to its last atoms, and returns the number of their bytes; 0 when the chunk
 * has no atoms. */
CT_VECTOR static size_t count_chunk(struct seen *seen, const struct ct_address_rows *rows,
                                    const struct ct_etm4_chunk *chunk, const uint8_t *data)
{
    unsigned end = chunk->blocks;
    while (end && !chunk->masks[end - 1].atoms)
        end--;
    if (!end)
        return 0;
    const unsigned last = 63 - (unsigned)__builtin_clzll(chunk->masks[end - 1].atoms);
    for (unsigned b = 0; b < end; b++) {
        const uint64_t where = b + 1 < end ? UINT64_MAX : UINT64_MAX >> (63 - last);
        count_block(seen, rows, &chunk->masks[b], where, data + (size_t)b * CT_SCAN_BLOCK);
    }
    return (size_t)(end - 1) * CT_SCAN_BLOCK + last + 1;
}

size_t ct_etm4_burst_counts(struct ct_etm4_burst *burst, const struct ct_etm4_event_tables *rows,
                            const uint8_t *data, size_t size, uint64_t *count)
{
    struct ct_etm4_chunk chunk;
    struct seen seen = {.count = 0};
    size_t at = 0;
    size_t bytes;
    unsigned entry;
    for (unsigned i = 0; i < 3; i++)
        seen.past[i] = burst->address[2 - i];
    do {
        entry = 0; /* the previous chunk was counted up to atoms, so a packet begins here */
        ct_etm4_scan(&rows->scan, data + at, size - at, &entry, &chunk);
        bytes = count_chunk(&seen, &rows->addresses, &chunk, data + at);
        at += bytes;
    } while (bytes && entry != CT_SCAN_STOP);
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned h = 0; h < 256; h++)
            burst->packets[h] += seen.bytes[turn][h];
    burst->packets[0] -= seen.others;
    for (unsigned i = 0; i < 3; i++)
        burst->address[i] = seen.past[2 - i];
    burst->address_count += seen.addresses;
    *count = seen.count;
    return at;
}

#else

size_t ct_etm4_burst_packets(struct ct_etm4_burst *burst, const struct ct_etm4_packet_tables *tables,
                             const struct ct_etm4_event_tables *rows, const uint8_t *data, size_t size,
                             uint64_t pos, struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    (void)burst, (void)tables, (void)rows, (void)data, (void)size, (void)pos, (void)packets, (void)cap;
    *count = 0;
    return 0;
}

size_t ct_etm4_burst_counts(struct ct_etm4_burst *burst, const struct ct_etm4_event_tables *rows,
                            const uint8_t *data, size_t size, uint64_t *count)
{
    (void)burst, (void)rows, (void)data, (void)size;
    *count = 0;
    return 0;
}

#endif
