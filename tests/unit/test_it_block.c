/* SPDX-License-Identifier: Apache-2.0 */
/* Checks conditions of T32 instructions in IT blocks, found from the code before them. */
#include "coretap/base.h"
#include "format/it_block.h"
#include "support/unit.h"

#define CODE 0x8000u

enum {
    ADDS = 0x3001,     /* adds r0, #1 */
    ITE_EQ = 0xbf0c,   /* ite eq */
    ITTTT_NE = 0xbf1f, /* itttt ne: mask 1111 */
    NOP = 0xbf00,
    WIDE = 0xf100,   /* the first halfword of add.w r0, r0, … */
    BRANCH = 0xf7ff, /* the first halfword of b.w, whose second one may look like an IT */
};

/* Returns the ITSTATE after some halfwords of code, the first of which begins an instruction. */
static uint8_t behind(const uint16_t *code, size_t count)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_memory *memory;
    uint8_t bytes[64];
    for (size_t i = 0; i < count; i++) {
        bytes[2 * i] = (uint8_t)code[i];
        bytes[2 * i + 1] = (uint8_t)(code[i] >> 8);
    }
    assert_non_null(ctx);
    assert_int_equal(ct_memory_new(ctx, &memory), CT_OK);
    assert_int_equal(ct_memory_add_bytes(memory, bytes, 2 * count, CODE, 0), CT_OK);
    const uint8_t it = ct_it_block_at(memory, CT_SPACE_EL1N, CODE, CODE + 2 * count);
    ct_memory_free(memory);
    ct_ctx_free(ctx);
    return it;
}

#define BEHIND(...)                                                                                          \
    behind((const uint16_t[]){__VA_ARGS__}, sizeof((const uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t))

TEST(blocks_have_conditions)
{
    assert_int_equal(BEHIND(ADDS, ITE_EQ) >> 4, 0);
    assert_int_equal(BEHIND(ADDS, ITE_EQ), 0x0c);
    assert_int_equal(BEHIND(ITE_EQ, ADDS) >> 4, 1); /* ne */
    assert_int_equal(BEHIND(ITE_EQ, WIDE, 0x0001) >> 4, 1);
    assert_int_equal(BEHIND(ITE_EQ, ADDS, ADDS), 0);
    assert_int_equal(BEHIND(ITTTT_NE, WIDE, 0x0001, WIDE, 0x0001, WIDE, 0x0001) >> 4, 1);
    assert_int_equal(BEHIND(ITTTT_NE, WIDE, 0x0001, WIDE, 0x0001, WIDE, 0x0001, WIDE, 0x0001), 0);
    assert_int_equal(BEHIND(ADDS, NOP), 0);
}

/* What looks like an IT may be the second halfword of another instruction. */
TEST(halves_are_no_it)
{
    assert_int_equal(BEHIND(ADDS, BRANCH, ITE_EQ), 0);
    assert_int_equal(BEHIND(ADDS, BRANCH, BRANCH, ITE_EQ), 0x0c);
    assert_int_equal(BEHIND(BRANCH, BRANCH, BRANCH, ITE_EQ, ADDS), 0);
    assert_int_equal(BEHIND(ITE_EQ, WIDE), 0);
}
