/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the messages of encoders about what they do not encode: object, fact, consequence and remedy. */
#include <string.h>

#include "coretap/encode.h"
#include "support/unit.h"

enum {
    ROOM = 64,
};

static const struct ct_source etm4 = {.name = "core",
                                      .protocol = CT_PROTOCOL_ETM4,
                                      .arch = {.major = 8, .profile = CT_PROFILE_A},
                                      .regs = {.idr0 = 0x28000ea1, .idr1 = 0x4100f403, .idr2 = 0x488}};
static const struct ct_source ptm = {.name = "core",
                                     .protocol = CT_PROTOCOL_PTM,
                                     .arch = {.major = 7, .profile = CT_PROFILE_A},
                                     .regs = {.etmidr = 0x411cf301, .etmccer = 0x34c01ac2}};

TEST(packets)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_encoder *encoder;
    uint8_t out[ROOM];
    size_t len;
    assert_int_equal(ct_etm4_encoder_new(ctx, &etm4, &encoder), CT_OK);
    const struct ct_etm4_packet bad = {.type = CT_ETM4_CANCEL_F3, .count2 = 9};
    assert_int_equal(ct_etm4_encode_packet(encoder, &bad, out, ROOM, &len), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx),
                           ": it cancels 2 to 5 elements after at most one E atom; it was not "
                           "encoded; correct the packet"));
    const struct ct_etm4_packet async = {.type = CT_ETM4_ASYNC};
    assert_int_equal(ct_etm4_encode_packet(encoder, &async, out, 4, &len), CT_ERR_LIMIT);
    assert_non_null(strstr(ct_ctx_error(ctx),
                           ": it has 12 bytes, but there is room for 4; it was not encoded; "
                           "give it more room"));
    const struct ct_itm_packet itm = {.type = CT_ITM_TYPE_COUNT};
    assert_int_equal(ct_itm_encode_packet(ctx, &itm, out, ROOM, &len), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "; it was not encoded; correct the packet"));
    ct_etm4_encoder_free(encoder);
    ct_ctx_free(ctx);
}

TEST(sources)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_ptm_encoder *of_ptm;
    struct ct_stm_encoder *of_stm;
    assert_int_equal(ct_stm_encoder_new(ctx, &ptm, &of_stm), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx),
                        "source core: it is not an STM; no encoder was made; use the encoder "
                        "of its protocol");
    struct ct_source etm3 = ptm;
    etm3.protocol = CT_PROTOCOL_ETM3;
    assert_int_equal(ct_ptm_encoder_new(ctx, &etm3, &of_ptm), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx),
                        "source core: its protocol is etmv3, not ptm; no encoder was made; use "
                        "the encoder of its protocol");
    ct_ctx_free(ctx);
}

TEST(elements)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_etm4_emitter *emitter;
    static uint8_t out[CT_ETM4_EMIT_MAX];
    size_t taken, len;
    const struct ct_elem gap = {.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_PACKET};
    assert_int_equal(ct_etm4_emitter_new(ctx, &etm4, NULL, &emitter), CT_OK);
    assert_int_equal(ct_etm4_emit(emitter, &gap, 1, 1, &taken, out, 1, &len), CT_ERR_ARG);
    assert_non_null(
        strstr(ct_ctx_error(ctx), "ETMv4 elements: there is room for 1 bytes, but one may need "));
    assert_non_null(strstr(ct_ctx_error(ctx), "; none was encoded; give more room"));
    assert_int_equal(ct_etm4_emit(emitter, &gap, 1, 1, &taken, out, sizeof out, &len), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx),
                           ": no trace unit reports it; it was not encoded; use an overflow or "
                           "a discard"));
    ct_etm4_emitter_free(emitter);
    ct_ctx_free(ctx);
}

TEST(frames)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_framer *framer;
    struct ct_framer_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    uint8_t out[ROOM];
    size_t used, len;
    assert_int_equal(ct_framer_new(ctx, &options, &framer), CT_OK);
    assert_int_equal(ct_framer_push(framer, 200, out, 1, &used, out, ROOM, &len), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx),
                        "framer: trace ID 200 is above 126, or the room for 64 bytes is below "
                        "64; nothing was framed; correct that one");
    assert_int_equal(ct_framer_finish(framer, out, 1, &len), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "; the last frame was not written; give more room"));
    ct_framer_free(framer);
    ct_ctx_free(ctx);
}
