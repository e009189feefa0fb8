/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that counting straight code equals reading it instruction by instruction: random code, from random
 * places, up to a limit or the end of memory. */
#include <string.h>

#include "base/bytes.h"
#include "support/code_gen.h"
#include "support/require.h"
#include "flow/fetch.h"
#include "program/insn_a64.h"
#include "support/seeds.h"

enum {
    BASE = 0x10000,
    SIZE = 4096,
};

/* Reads what was counted, one instruction at a time. A system instruction may end the count although it is no
 * waypoint: the walk then reads it separately. */
static int same_count(const uint8_t *code, struct ct_fetch *fetch, uint64_t addr, uint32_t most)
{
    const uint32_t n = ct_fetch_straight(fetch, addr, CT_ISA_A64, CT_SPACE_EL1N, most);
    REQUIRE(n <= most);
    struct ct_insn insn;
    for (uint32_t i = 0; i < n; i++, addr += 4) {
        ct_insn_decode_a64_plain(ct_load32(code + (addr - BASE)), addr, &fetch->arch, &insn);
        REQUIRE(insn.type == CT_INSN_OTHER && !insn.cond && insn.size == 4 && !insn.it);
    }
    if (n < most && addr < BASE + SIZE) /* ended at the group of branches and system instructions */
        REQUIRE((code[addr - BASE + 3] & 0x1c) == 0x14);
    return 1;
}

static int check(uint64_t seed)
{
    static uint8_t code[SIZE];
    struct rng rng = {seed};
    code_fill(&rng, CT_ISA_A64, code, SIZE);
    const uint32_t plain = rng_below(&rng, 256); /* chance of code without branches, in 256 */
    for (uint32_t at = 0; at < SIZE; at += 4)
        if (rng_chance(&rng, plain))
            memcpy(code + at, "\x20\x00\x02\x8b", 4); /* add x0, x1, x2 */
    struct ct_memory *memory;
    REQUIRE(ct_memory_new(NULL, &memory) == CT_OK);
    int ok = ct_memory_add_bytes(memory, code, SIZE, BASE, CT_SPACE_ANY) == CT_OK;
    struct ct_fetch fetch = {.memory = memory, .arch = {.newest = 1}};
    for (int turn = 0; ok && turn < 20; turn++)
        ok = same_count(code, &fetch, BASE + 4 * (uint64_t)rng_below(&rng, SIZE / 4), rng_below(&rng, 300));
    ok = ok && ct_fetch_straight(&fetch, BASE + SIZE, CT_ISA_A64, CT_SPACE_EL1N, 9) == 0 &&
         ct_fetch_straight(&fetch, BASE, CT_ISA_T32, CT_SPACE_EL1N, 9) == 0;
    ct_memory_free(memory);
    return ok;
}

int main(void)
{
    const struct seeds seeds = seeds_begin(1, 1000, 200000);
    const int ok = seeds_hold(seeds, 1, check, 1, "straight code is what is no waypoint one by one");
    return ok ? 0 : 1;
}
