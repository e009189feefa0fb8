/* SPDX-License-Identifier: Apache-2.0 */
/* Checks raw traces with an .ini. */

#include "support/capture_fixture.h"
#include "support/unit.h"

#define HEAD "[capture]\nfile=t.bin\n"
#define ETM                                                                                                  \
    "[source cpu0]\nprotocol=etmv4i\nid=0x10\ncore=Cortex-A53\nTRCCONFIGR=0xc1\nTRCIDR0=0x28000ea1\n"        \
    "TRCIDR2=0x488\n"

static void setup(struct fixture *f, const char *ini)
{
    memset(f, 0, sizeof *f);
    fixture_put(f, "d/t.ini", ini);
    fixture_put(f, "d/t.bin", "0123456789abcdef");
    fixture_put(f, "d/ram.bin", "0123456789abcdef");
    fixture_put(f, "d/a.elf",
                "\x7f"
                "ELF0123456789");
}

TEST(a_whole_description)
{
    struct fixture f;
    setup(&f, "# comment\n[capture]\nfile=t.bin\nframing=tpiu\nname=board\n" ETM
              "[source itm]\nprotocol=ITM\nITMTCR=0x00200006\nsync=none\n"
              "[image ram]\nfile=ram.bin\naddress=0x8000\noffset=4\nlength=8\nspace=EL1N\n"
              "[image program]\nelf=a.elf\nbias=0x1000\n"
              "[image lost]\nfile=lost.bin\naddress=0\n");
    assert_int_equal(fixture_open(&f, "d/t.ini"), CT_OK);
    assert_string_equal(f.capture->kind, "raw");
    assert_int_equal(f.capture->buffer_count, 1);
    const struct ct_buffer *b = &f.capture->buffers[0];
    assert_string_equal(b->name, "board");
    assert_string_equal(b->path, "d/t.bin");
    assert_int_equal(b->framing, CT_FRAMING_TPIU);
    assert_int_equal(b->source_count, 2);
    assert_string_equal(b->sources[0].name, "cpu0");
    assert_string_equal(b->sources[0].model, "Cortex-A53");
    assert_int_equal(b->sources[0].protocol, CT_PROTOCOL_ETM4);
    assert_int_equal(b->sources[0].trace_id, 0x10);
    assert_int_equal(b->sources[0].regs.traceidr, 0x10);
    assert_int_equal(b->sources[0].regs.idr1, 0x4100f403);
    assert_int_equal(b->sources[0].without_sync, 0);
    assert_int_equal(b->sources[1].trace_id, 0x20);
    assert_int_equal(b->sources[1].without_sync, 1);
    assert_null(b->sources[1].core);
    assert_int_equal(b->image_count, 2);
    assert_string_equal(b->images[0].path, "d/ram.bin");
    assert_int_equal(b->images[0].addr, 0x8000);
    assert_int_equal(b->images[0].offset, 4);
    assert_int_equal(b->images[0].size, 8);
    assert_int_equal(b->images[0].space, CT_SPACE_EL1N);
    assert_int_equal(b->images[1].is_elf, 1);
    assert_int_equal(b->images[1].addr, 0x1000);
    assert_int_equal(f.capture->missing_count, 1);
    assert_true(has_words(f.capture->missing[0], WORDS("d/lost.bin", "d/t.ini:", "[image lost]")));
    fixture_free(&f);
}

TEST(standard_input_and_defaults)
{
    struct fixture f;
    setup(&f, "[capture]\nfile=-\nframing=none\n[source s]\nprotocol=stm\n");
    assert_int_equal(fixture_open(&f, "d/t.ini"), CT_OK);
    assert_string_equal(f.capture->buffers[0].path, "-");
    assert_string_equal(f.capture->buffers[0].name, "trace");
    assert_int_equal(f.capture->buffers[0].sources[0].trace_id, 0);
    fixture_put(&f, "d/t.ini", HEAD "[source s]\nprotocol=stm\nid=0x20\n");
    assert_int_equal(fixture_open(&f, "d/t.ini"), CT_OK);
    assert_int_equal(f.capture->buffers[0].framing, CT_FRAMING_AUTO);
    assert_int_equal(f.capture->buffers[0].sources[0].regs.stmtcsr, 0x200000);
    fixture_free(&f);
}

TEST(every_error_says_where)
{
    static const struct {
        const char *ini;
        int code;
        const char *words[5];
    } cases[] = {
        {"[capture]\n", CT_ERR_CONFIG, {"d/t.ini:1", "no file="}},
        {"[capture]\nfile=gone.bin\n", CT_ERR_IO, {"d/gone.bin", "d/t.ini", "file="}},
        {"[capture]\nfile=\n", CT_ERR_CONFIG, {"d/t.ini:2", "value"}},
        {HEAD "framing=odd\n", CT_ERR_CONFIG, {"d/t.ini:3", "framing=odd", "dstream"}},
        {HEAD "speed=9\n", CT_ERR_CONFIG, {"d/t.ini:3", "speed=9", "framing"}},
        {HEAD "file=t.bin\n", CT_ERR_CONFIG, {"d/t.ini:3", "twice"}},
        {HEAD HEAD, CT_ERR_CONFIG, {"d/t.ini:3", "line 1"}},
        {HEAD "[sources]\n", CT_ERR_CONFIG, {"d/t.ini:3", "[sources]", "[source NAME]"}},
        {HEAD "[source]\n", CT_ERR_CONFIG, {"d/t.ini:3", "NAME"}},
        {HEAD ETM ETM, CT_ERR_CONFIG, {"d/t.ini:10", "cpu0"}},
        {HEAD "[source a]\n", CT_ERR_CONFIG, {"d/t.ini:3", "no protocol=", "etmv4i"}},
        {HEAD "[source a]\nprotocol=jtag\n", CT_ERR_CONFIG, {"d/t.ini:4", "protocol=jtag"}},
        {HEAD "[source a]\nprotocol=stm\n", CT_ERR_CONFIG, {"d/t.ini:3", "no id="}},
        {HEAD "[source a]\nprotocol=stm\nid=0x70\n", CT_ERR_CONFIG, {"d/t.ini:5", "id=0x70", "0x6f"}},
        {HEAD "[source a]\nprotocol=stm\nid=0\n", CT_ERR_CONFIG, {"d/t.ini:5", "id=0"}},
        {HEAD "[source a]\nprotocol=stm\nid=3\nSTMTCSR=0x40000\n",
         CT_ERR_CONFIG,
         {"d/t.ini:3", "0x03", "0x04"}},
        {HEAD "[source a]\nprotocol=itm\nid=3\nsync=odd\n", CT_ERR_CONFIG, {"d/t.ini:6", "sync=odd", "none"}},
        {HEAD "[source a]\nprotocol=stm\nid=3\nsync=none\n", CT_ERR_CONFIG, {"d/t.ini:3", "ITM", "remove"}},
        {HEAD "[source a]\nprotocol=stm\nSTMTCS=1\n", CT_ERR_CONFIG, {"d/t.ini:5", "STMTCS=1", "register"}},
        {HEAD "[source a]\nprotocol=etmv4i\nid=3\nTRCIDR0=1\n",
         CT_ERR_CONFIG,
         {"TRCCONFIGR", "source a", "d/t.ini"}},
        {HEAD "[source a]\ncore=Pentium-3\n", CT_ERR_CONFIG, {"d/t.ini:3", "Pentium-3"}},
        {HEAD "[source a]\nprotocol=stm\nid=3\n[source b]\nprotocol=itm\nid=3\nITMTCR=0x30000\n",
         CT_ERR_CONFIG,
         {"source", " a ", " b ", "0x03"}},
        {HEAD "[image]\nfile=ram.bin\n", CT_ERR_CONFIG, {"d/t.ini:3", "[image]", "address="}},
        {HEAD "[image x]\naddress=1\n", CT_ERR_CONFIG, {"d/t.ini:3", "[image x]"}},
        {HEAD "[image x]\nelf=a.elf\naddress=1\n", CT_ERR_CONFIG, {"d/t.ini:3", "bias="}},
        {HEAD "[image x]\nfile=ram.bin\nbias=1\n", CT_ERR_CONFIG, {"d/t.ini:3"}},
        {HEAD "[image x]\nfile=ram.bin\naddress=1\nspace=ODD\n",
         CT_ERR_CONFIG,
         {"d/t.ini:6", "space=ODD", "EL1S"}},
        {HEAD "[image x]\nfile=ram.bin\naddress=-1\n", CT_ERR_CONFIG, {"d/t.ini:5", "address=-1"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        setup(&f, cases[i].ini);
        int code = fixture_open(&f, "d/t.ini");
        if (code != cases[i].code || !has_words(ct_ctx_error(f.ctx), cases[i].words))
            fail_msg("case %zu: %s: %s", i, ct_error_name(code), ct_ctx_error(f.ctx));
        assert_null(f.capture);
        fixture_free(&f);
    }
}

/* Opens the examples of the documentation with the real file system. */
TEST(the_examples_open)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture;
    if (ct_capture_open(ctx, SOURCE_ROOT "/examples/raw/board.ini", &capture))
        fail_msg("%s", ct_ctx_error(ctx));
    assert_int_equal(capture->buffers[0].source_count, 2);
    assert_int_equal(capture->buffers[0].image_count, 1);
    assert_int_equal(capture->missing_count, 0);
    ct_capture_free(capture);
    if (ct_capture_open(ctx, SOURCE_ROOT "/examples/raw/itm.ini", &capture))
        fail_msg("%s", ct_ctx_error(ctx));
    assert_int_equal(capture->buffers[0].framing, CT_FRAMING_NONE);
    ct_capture_free(capture);
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/raw/board.bin", &capture), CT_ERR_FORMAT);
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/raw", &capture), CT_ERR_FORMAT);
    assert_null(capture);
    ct_ctx_free(ctx);
}
