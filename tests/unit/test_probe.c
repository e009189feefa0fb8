/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what bytes without a description are taken for. */
#include <stdio.h>

#include "coretap/frame.h"
#include "coretap/probe.h"
#include "support/output.h"
#include "support/unit.h"

/* Reads the trace of the example, which is framed and has two IDs. */
static size_t read_example(uint8_t *bytes, size_t room)
{
    FILE *file = fopen(SOURCE_ROOT "/examples/quickstart/trace.bin", "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

TEST(frames_have_their_sources)
{
    static uint8_t bytes[1 << 16];
    struct ct_probe probe;
    struct output text = {0};
    const size_t size = read_example(bytes, sizeof bytes);
    assert_int_equal(ct_probe_bytes(NULL, bytes, size, &probe), CT_OK);
    assert_int_equal(probe.framing, CT_FRAMING_FRAMES);
    assert_int_equal(probe.count, 2);
    assert_null(probe.trouble);
    for (size_t i = 0; i < probe.count; i++) {
        assert_int_equal(probe.sources[i].protocol, CT_PROTOCOL_ETM4);
        assert_true(probe.sources[i].bytes > 0);
        assert_false(probe.sources[i].without_sync);
    }
    assert_true(probe.sources[0].id < probe.sources[1].id);
    assert_int_equal(ct_probe_write(&probe, "a\nb.bin", output_append, &text), CT_OK);
    assert_non_null(strstr(text.text, "[capture]\nfile = a\\x0ab.bin\nframing = frames\n"));
    assert_non_null(strstr(text.text, "protocol = etmv4i        ; or ete\n"));
    assert_non_null(strstr(text.text, "[image program]\n"));
    output_free(&text);
    assert_int_equal(ct_probe_write(&probe, "a", output_refuse, NULL), CT_ERR_LIMIT);
}

TEST(one_source_has_no_id)
{
    uint8_t bytes[96] = {0};
    struct ct_probe probe;
    for (size_t i = 12; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(0x40 + i * 7 % 61);
    bytes[11] = 0x80;
    assert_int_equal(ct_probe_bytes(NULL, bytes, sizeof bytes, &probe), CT_OK);
    assert_int_equal(probe.framing, CT_FRAMING_NONE);
    assert_int_equal(probe.count, 1);
    assert_int_equal(probe.sources[0].id, 0);
    assert_int_equal(probe.sources[0].protocol, CT_PROTOCOL_ETM4);
    assert_int_equal(probe.sources[0].bytes, sizeof bytes);
}

static void expect_nothing(const void *bytes, size_t size, const char *trouble)
{
    struct ct_probe probe;
    struct output text = {0};
    memset(&probe, 0xff, sizeof probe);
    assert_int_equal(ct_probe_bytes(NULL, bytes, size, &probe), CT_OK);
    assert_int_equal(probe.count, 0);
    if (trouble)
        assert_non_null(strstr(probe.trouble, trouble));
    else
        assert_null(probe.trouble);
    assert_int_equal(ct_probe_write(&probe, "f", output_append, &text), CT_OK);
    assert_int_equal(text.size, 0);
}

TEST(other_bytes_are_no_trace)
{
    static uint8_t bytes[1 << 16], fill[1024];
    (void)read_example(bytes, sizeof bytes);
    expect_nothing(NULL, 0, NULL);
    expect_nothing(bytes, 15, NULL);
    expect_nothing("this is a text of more than sixteen bytes\n", 42, NULL);
    expect_nothing("PERFILE2\1\2\3\4\5\6\7\1\2\3", 19, NULL);
    memset(fill, 0xff, sizeof fill);
    expect_nothing(fill, sizeof fill, "never written");
}

TEST(wrong_arguments_are_refused)
{
    const struct ct_probe many = {.count = CT_PROBE_SOURCES + 1};
    struct ct_probe probe = {.count = 1};
    assert_int_equal(ct_probe_bytes(NULL, NULL, 1, &probe), CT_ERR_ARG);
    assert_int_equal(probe.count, 0);
    assert_int_equal(ct_probe_bytes(NULL, NULL, 0, NULL), CT_ERR_ARG);
    assert_int_equal(ct_probe_write(&many, "f", output_drop, NULL), CT_ERR_ARG);
    assert_int_equal(ct_probe_write(&probe, NULL, output_drop, NULL), CT_ERR_ARG);
}
