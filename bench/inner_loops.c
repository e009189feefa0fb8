/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a function of each of the inner loops that decode ETMv4 with vectors and that follow hops. Nothing
 * runs them: bench/loop_cycles.py analyses their machine code. */
#include "etm4/cuts.c"
#include "etm4/events.c"
#include "etm4/lane.c"
#include "etm4/scan.c"

CT_VECTOR size_t loop_scan(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                           unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return scan(table, data, size, entry, chunk, false);
}

CT_VECTOR size_t loop_scan_values(const struct ct_etm4_scan_table *table, const uint8_t *data, size_t size,
                                  unsigned *entry, struct ct_etm4_chunk *chunk)
{
    return scan(table, data, size, entry, chunk, true);
}

CT_VECTOR uint64_t loop_sums(const uint8_t *values_of, uint64_t counts, uint32_t threshold, uint16_t *sums)
{
    return sum_counts(values_of, counts, threshold, sums);
}

CT_VECTOR void loop_address(const struct ct_address_rows *rows, const uint8_t *data, uint64_t addresses,
                            const struct ct_events_block *block, struct places to)
{
    add_pairs(rows, data, addresses, block, to);
}

CT_VECTOR unsigned loop_cut_masks(struct ct_etm4_cuts *c, const struct ct_etm4_chunk *chunk, unsigned raw)
{
    return cut_masks(c, chunk, raw);
}

CT_VECTOR void loop_cut_bytes(struct ct_etm4_cuts *c, unsigned blocks, const uint8_t *data)
{
    for (unsigned b = 0; b < blocks; b++)
        keep_some(c->bytes + c->before[b], data + b * CT_SCAN_BLOCK, c->kept[b]);
}

CT_VECTOR unsigned loop_cut_list(uint16_t *to, uint64_t bits, unsigned first)
{
    return ct_list_places(to, bits, first);
}

CT_VECTOR void loop_hop(struct ct_etm4_lane *const lanes[])
{
    follow(lanes, 1);
}

CT_VECTOR void loop_hops(struct ct_etm4_lane *const lanes[])
{
    follow(lanes, CT_LANES);
}
