/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that lines which are kept and copied equal those that are written anew: random packets, ranges and
 * branches, many of them repeated, some different in one member only. */
#include <stdlib.h>

#include "coretap/format.h"
#include "format/event_text.h"
#include "format/listing.h"
#include "support/rng.h"
#include "support/unit.h"

enum {
    LINES = 20000,
    ALIKE = 200, /* number of different ones */
};

/* Two texts in memory. */
struct texts {
    struct ct_text anew, kept;
};

static void open_texts(struct texts *t)
{
    ct_text_init(&t->anew, NULL);
    ct_text_init(&t->kept, NULL);
}

static void compare_texts(struct texts *t)
{
    assert_true(ct_text_flush(&t->anew) && ct_text_flush(&t->kept));
    assert_int_equal(t->anew.kept_size, t->kept.kept_size);
    assert_memory_equal(t->anew.kept, t->kept.kept, t->anew.kept_size);
    free(t->anew.kept);
    free(t->kept.kept);
}

static struct ct_etm4_packet packet(struct rng *rng)
{
    static const uint8_t types[] = {CT_ETM4_ATOM_F1, CT_ETM4_ATOM_F6, CT_ETM4_EVENT,
                                    CT_ETM4_CCNT_F3, CT_ETM4_CCNT_F2, CT_ETM4_CTXT};
    return (struct ct_etm4_packet){.type = types[rng_below(rng, sizeof types)],
                                   .header = (uint8_t)rng_below(rng, 4),
                                   .size = (uint8_t)(1 + rng_chance(rng, 30)),
                                   .natoms = (uint8_t)(1 + rng_below(rng, 24)),
                                   .atoms = rng_below(rng, 3),
                                   .count = rng_below(rng, 3),
                                   .count2 = rng_below(rng, 3),
                                   .info = (uint16_t)rng_below(rng, 3),
                                   .flags = rng_chance(rng, 128) ? CT_ETM4_HAS_COMMIT : CT_ETM4_HAS_COUNT};
}

TEST(test_packets)
{
    static struct ct_packet_line lines[CT_PACKET_LINES];
    static struct texts texts;
    const struct ct_source source = {.protocol = CT_PROTOCOL_ETM4};
    const uint8_t bytes[2] = {0xf7, 0x01};
    const struct ct_run run = {.data = bytes, .size = sizeof bytes};
    struct rng rng = {1};
    uint64_t offset = 0;
    open_texts(&texts);
    for (unsigned i = 0; i < LINES; i++) {
        const struct ct_stream stream = {.source = &source, .id = (uint8_t)(0x10 + rng_chance(&rng, 10))};
        const struct ct_etm4_packet p = packet(&rng);
        offset += rng_wide(&rng, 9);
        offset = rng_chance(&rng, 1) ? rng_wide(&rng, 64) : offset;
        const struct ct_packet_batch batch = {.packets = &p,
                                              .stride = sizeof p,
                                              .count = 1,
                                              .protocol = CT_PROTOCOL_ETM4,
                                              .offsets = &offset,
                                              .run = &run};
        ct_list_packets(&texts.anew, NULL, &stream, &batch);
        ct_list_packets(&texts.kept, lines, &stream, &batch);
    }
    compare_texts(&texts);
}

/* Returns a random range. The lines of some are longer than what is kept. */
static struct ct_flow range(struct rng *rng)
{
    const uint64_t start =
        (rng_chance(rng, 30) ? UINT64_C(0xffff800010203000) : 0x400000) + 4 * rng_below(rng, 50);
    return (struct ct_flow){.kind = CT_FLOW_RANGE,
                            .start = start,
                            .end = start + 4 + 4 * (uint64_t)rng_chance(rng, 10),
                            .n = rng_chance(rng, 10) ? (uint32_t)rng_wide(rng, 32) : 1,
                            .isa = (uint8_t)rng_below(rng, 2),
                            .type = (uint8_t)rng_below(rng, 3),
                            .sub = (uint8_t)rng_below(rng, 3),
                            .cond = (uint8_t)rng_below(rng, 2),
                            .exec = (uint8_t)rng_below(rng, 2),
                            .loop = (uint8_t)rng_chance(rng, 20),
                            .last_size = rng_chance(rng, 30) ? 2 : 4};
}

TEST(test_ranges)
{
    static struct ct_range_line lines[1u << CT_RANGE_LINE_BITS];
    static struct texts texts;
    struct ct_element_lister anew = {.text = &texts.anew, .id = 0x1f};
    struct ct_element_lister kept = {.text = &texts.kept, .ranges = lines, .id = 0x1f};
    struct ct_flow ranges[ALIKE];
    struct rng rng = {2};
    for (unsigned i = 0; i < ALIKE; i++)
        ranges[i] = range(&rng);
    open_texts(&texts);
    for (unsigned i = 0; i < LINES; i++) {
        struct ct_flow r = ranges[rng_below(&rng, ALIKE)];
        r.offset = i / 3;
        ct_list_flow(&anew, &r);
        ct_list_flow(&kept, &r);
    }
    ct_list_flow_end(&anew);
    ct_list_flow_end(&kept);
    compare_texts(&texts);
}

/* Appends the output of a writer. */
static int append(void *user, const void *data, size_t size)
{
    ct_text_room(user);
    for (size_t done = 0; done < size; done++) {
        ct_text_room(user);
        ct_text_char(user, ((const char *)data)[done]);
    }
    return CT_OK;
}

TEST(test_branches)
{
    static const uint8_t types[] = {CT_EVENT_BRANCH, CT_EVENT_BRANCH, CT_EVENT_START, CT_EVENT_HARDWARE};
    static struct texts texts;
    const struct ct_source source = {.protocol = CT_PROTOCOL_ETM4};
    const struct ct_event_origin origin = {.buffer = "b", .source = &source, .id = 0x10};
    const struct ct_event_place place = {.origin = &origin};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_event_writer *writer;
    struct rng rng = {3};
    uint64_t cycle = 0;
    open_texts(&texts);
    assert_int_equal(ct_event_writer_new(ctx, NULL, append, &texts.kept, &writer), CT_OK);
    ct_text_string(&texts.anew, ct_event_head(CT_EVENT_FORMAT_TSV, false));
    for (unsigned i = 0; i < LINES; i++) {
        cycle += rng_wide(&rng, 8);
        const struct ct_event event = {.type = types[rng_below(&rng, sizeof types)],
                                       .cycle = cycle,
                                       .value = 4 * rng_below(&rng, ALIKE),
                                       .memory = (uint16_t)rng_below(&rng, 3),
                                       .unknown = (uint8_t)rng_chance(&rng, 20)};
        ct_event_line(&texts.anew, CT_EVENT_FORMAT_TSV, &place, &event);
        assert_int_equal(ct_event_writer_add(writer, &origin, &event, 1), CT_OK);
    }
    assert_int_equal(ct_event_writer_flush(writer), CT_OK);
    ct_event_writer_free(writer);
    ct_ctx_free(ctx);
    compare_texts(&texts);
}
