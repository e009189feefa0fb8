/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "coretap/format.h"
#include "support/unit.h"

struct text {
    char all[4096];
    size_t used;
};

static void collect(void *user, const char *subject, const char *said)
{
    struct text *text = user;
    text->used +=
        (size_t)snprintf(text->all + text->used, sizeof text->all - text->used, "%s: %s\n", subject, said);
}

static const char *describe(const struct ct_source *source, struct text *text)
{
    text->used = 0;
    text->all[0] = 0;
    ct_source_describe(source, collect, text);
    return text->all;
}

TEST(registers_become_words)
{
    struct text text;
    struct ct_source source = {.protocol = CT_PROTOCOL_ETM4,
                               .regs = {.configr = 0x1851, .idr0 = 0x28000ea1, .idr2 = 0x488}};
    const char *said = describe(&source, &text);
    assert_non_null(strstr(said, "context ID: 32 bits\n"));
    assert_non_null(strstr(said, "virtual context ID: off\n"));
    assert_non_null(strstr(said, "cycle counts: on: counter of 12 bits; a count commits everything"));
    assert_non_null(strstr(said, "timestamps: on: 64 bits\n"));
    assert_non_null(strstr(said, "return stack: on"));
    assert_non_null(strstr(said, "branch broadcast: off\n"));
    assert_non_null(strstr(said, "speculation: none"));
    source.regs = (struct ct_source_regs){.configr = 0x8888, .idr2 = 0x6001000 | 1u << 31, .idr8 = 12};
    said = describe(&source, &text);
    assert_non_null(strstr(said, "virtual context ID: on: CONTEXTIDR_EL2\n"));
    assert_non_null(strstr(said, "branch broadcast: on"));
    assert_non_null(strstr(said, "speculation: up to 12 elements"));
    assert_non_null(strstr(said, "WFI and WFE: waypoints\n"));
}

/* Data trace is on when TRCIDR0 has it and TRCCONFIGR enables it. */
TEST(data_trace_is_told)
{
    struct text text;
    struct ct_source source = {
        .protocol = CT_PROTOCOL_ETM4, .trace_id = 0x10, .regs = {.configr = 2u << 16 | 1 << 1, .idr0 = 0x1e}};
    const char *said = describe(&source, &text);
    assert_non_null(strstr(said, "data trace: on: a stream of its own, ID 11, which is not decoded\n"));
    assert_non_null(
        strstr(said, "loads and stores: loads make an element; not followed along the program\n"));
    assert_int_equal(ct_source_data_id(&source), 0x11);
    assert_true(ct_source_has_data_atoms(&source));
    source.regs.idr0 = 0;
    said = describe(&source, &text);
    assert_non_null(strstr(said, "data trace: off\n"));
    assert_int_equal(ct_source_data_id(&source), 0);
    assert_false(ct_source_has_data_atoms(&source));
    source.regs.idr0 = 0x1e;
    source.protocol = CT_PROTOCOL_ETE;
    assert_int_equal(ct_source_data_id(&source), 0);
    assert_false(ct_source_has_data_atoms(&source));
}

/* Whatever the registers hold, every subject gets a text. */
TEST(no_register_value_is_without_words)
{
    struct text text;
    for (unsigned protocol = CT_PROTOCOL_NONE; protocol <= CT_PROTOCOL_ITM; protocol++) {
        for (unsigned i = 0; i < 32 * 4; i++) {
            const uint32_t one = 1u << i % 32;
            struct ct_source source = {.protocol = (uint8_t)protocol};
            memset(&source.regs, i < 64 ? 0xff : 0, sizeof source.regs);
            uint32_t *regs[] = {&source.regs.configr, &source.regs.idr0, &source.regs.idr2,
                                &source.regs.etmcr};
            *regs[i / 32] ^= one;
            assert_null(strstr(describe(&source, &text), ": \n"));
        }
    }
    for (uint32_t size = 0; size < 32; size++) {
        struct ct_source source = {
            .protocol = CT_PROTOCOL_ETM4,
            .regs = {.configr = 0xc0, .idr2 = size << 5 | size << 10, .idr0 = size << 24}};
        assert_null(strstr(describe(&source, &text), ": \n"));
    }
}

TEST(software_trace)
{
    struct text text;
    struct ct_source source = {.protocol = CT_PROTOCOL_STM, .regs = {.stmtcsr = 0x22}};
    const char *said = describe(&source, &text);
    assert_string_equal(said, "timestamps: on\ncompression: on: leading zeros of data are left out\n");
    source = (struct ct_source){.protocol = CT_PROTOCOL_ITM, .regs = {.itmtcr = 0x212}};
    said = describe(&source, &text);
    assert_non_null(strstr(said, "local timestamps: on: 16 ticks a count\n"));
    source.regs.itmtcr = 0x202;
    said = describe(&source, &text);
    assert_non_null(strstr(said, "local timestamps: on: one tick a count\n"));
    assert_null(strstr(said, "synchronisation"));
    source.without_sync = 1;
    said = describe(&source, &text);
    assert_non_null(strstr(said, "synchronisation: none: packets begin at the first byte\n"));
}

TEST(versions)
{
    char text[32];
    struct ct_source source = {.protocol = CT_PROTOCOL_ETM4, .regs = {.idr1 = 0x4100f421}};
    ct_source_version(&source, text, sizeof text);
    assert_string_equal(text, "ETMv4.2");
    source = (struct ct_source){.protocol = CT_PROTOCOL_ETE, .regs = {.devarch = 0x47715a13}};
    ct_source_version(&source, text, sizeof text);
    assert_string_equal(text, "ETEv1.1");
    source = (struct ct_source){.protocol = CT_PROTOCOL_ETM3, .regs = {.etmidr = 0x4114f250}};
    ct_source_version(&source, text, sizeof text);
    assert_string_equal(text, "ETMv3.5");
    source = (struct ct_source){.protocol = CT_PROTOCOL_PTM, .regs = {.etmidr = 0x411cf312}};
    ct_source_version(&source, text, sizeof text);
    assert_string_equal(text, "PFTv1.1");
}
