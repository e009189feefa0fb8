/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that cutting a PTM or ETMv3 trace anywhere changes no packet and no element. */

#include "support/code_gen.h"
#include "support/damage.h"
#include "support/list_bytes.h"
#include "support/unit.h"
#include "support/v7_gen.h"

enum {
    PACKETS = 300,
    ROOM = (PACKETS + 4) * 24,
    CODE = 4096,
    STREAMS = 150,
};

static void check(struct rng *rng, const struct ct_source *source, const struct list_region *region,
                  const uint8_t *bytes, size_t size, enum ct_level level)
{
    char *whole = list_bytes(source, region, 1, bytes, size, level, NULL);
    char *cut = list_bytes(source, region, 1, bytes, size, level, rng);
    assert_non_null(whole);
    assert_string_equal(whole, cut);
    free(whole);
    free(cut);
}

static void split(enum ct_protocol protocol)
{
    static uint8_t bytes[ROOM], code[CODE];
    for (uint64_t seed = 1; seed <= STREAMS; seed++) {
        struct rng rng = {seed};
        struct v7_place place = {.addr = 0x8000, .size = CODE, .thumb = (int)rng_below(&rng, 2)};
        struct ct_source source = v7_gen_source(&rng, protocol);
        struct list_region region = {place.addr, code, CODE};
        code_fill(&rng, place.thumb ? CT_ISA_T32 : CT_ISA_A32, code, CODE);
        size_t size = v7_gen(&rng, &source, &place, PACKETS, bytes);
        if (rng_chance(&rng, 128))
            size = damage(&rng, bytes, size, ROOM);
        check(&rng, &source, &region, bytes, size, CT_LEVEL_PACKET);
        check(&rng, &source, &region, bytes, size, CT_LEVEL_FLOW);
    }
}

TEST(ptm)
{
    split(CT_PROTOCOL_PTM);
}

TEST(etm3)
{
    split(CT_PROTOCOL_ETM3);
}
