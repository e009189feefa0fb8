/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the index of blocks by address with a list of what was put into it. */

#include "flow/block_index.h"
#include "support/unit.h"

enum {
    BLOCKS = 4000
};

/* Returns one of many keys, in a few instruction sets, spaces and domains: some adjacent, some far apart,
 * some where the instruction set has no address. */
static struct ct_block_key key_of(uint32_t number)
{
    static const uint8_t isas[] = {CT_ISA_A64, CT_ISA_A32, CT_ISA_T32, CT_ISA_T32};
    const uint64_t far = (uint64_t)(number / 64) * UINT64_C(0x9e3779b97f4a7c15);
    return ct_block_key(far + number / 8 * 3, isas[number & 3], (uint8_t)(number / 4 & 1),
                        (uint16_t)(number & 1 ? 0 : 65535));
}

static bool same(const struct ct_block_key *a, const struct ct_block_key *b)
{
    return a->addr == b->addr && a->view == b->view && a->at == b->at;
}

/* Returns the last number, up to `count`, that was put to the key of `number`; 0: none. */
static uint32_t expected(uint32_t number, uint32_t count)
{
    const struct ct_block_key key = key_of(number);
    uint32_t last = 0;
    for (uint32_t i = 1; i < count; i++) {
        const struct ct_block_key other = key_of(i);
        last = same(&other, &key) ? i : last;
    }
    return last;
}

TEST(blocks_are_found_where_they_were_put)
{
    struct ct_block_index index;
    assert_true(ct_block_index_init(&index));
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 1; i < BLOCKS; i++)
            *ct_block_index_place(&index, key_of(i)) = i;
        for (uint32_t i = 1; i < BLOCKS + 100; i += 7)
            assert_int_equal(ct_block_index_find(&index, key_of(i)), expected(i, BLOCKS));
        ct_block_index_clear(&index);
        for (uint32_t i = 1; i < BLOCKS; i++)
            assert_int_equal(ct_block_index_find(&index, key_of(i)), 0);
    }
    ct_block_index_deinit(&index);
}

TEST(each_address_has_a_key_of_its_own)
{
    const uint64_t addresses[] = {0, 1, 2, 3, 4, 0x200, 0x201, 0x202, UINT64_MAX - 3, UINT64_MAX};
    const uint8_t isas[] = {CT_ISA_A64, CT_ISA_A32, CT_ISA_T32};
    for (unsigned isa = 0; isa < 3; isa++)
        for (unsigned i = 0; i < 10; i++)
            for (unsigned k = 0; k < i; k++) {
                const struct ct_block_key a = ct_block_key(addresses[i], isas[isa], 1, 0);
                const struct ct_block_key b = ct_block_key(addresses[k], isas[isa], 1, 0);
                assert_false(same(&a, &b));
            }
}
