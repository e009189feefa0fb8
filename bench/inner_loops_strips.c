/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a function of each of the inner loops that list stretches straight from the scan, as
 * bench/inner_loops.c does for the decoder. */
#include "etm4/hops_strips.c"

CT_VECTOR void loop_strip_address(struct ct_hops_strip *s, const struct ct_address_rows *rows,
                                  const uint8_t *data, const uint16_t *places, uint32_t count,
                                  const uint32_t *packets)
{
    list_addresses(s, rows, data, places, count, packets);
}

CT_VECTOR void loop_strip_atoms(struct ct_hops_strip *s, const uint8_t *data)
{
    for (unsigned b = 0; b < s->chunk.blocks; b++)
        keep_atoms(s, data + b * CT_SCAN_BLOCK, s->chunk.masks[b].atoms);
}
