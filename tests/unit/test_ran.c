/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what is said about code that ran, and about code whose memory is missing. */
#include <string.h>

#include "coretap/ran.h"
#include "coretap/session.h"
#include "support/ctx_fixture.h"

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    static const struct ct_capture capture = {0};
    return ct_ran_add(user, &capture, buffer, chain, NULL);
}

static void run(struct ct_ctx *ctx, struct ct_ran *ran)
{
    const struct ct_session_options options = {
        .size = sizeof options, .edges = CT_EDGES_COUNTS, .user = ran, .decoded = on_decoded};
    struct ct_capture *capture;
    struct ct_session *session;
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    ct_session_free(session);
    ct_capture_free(capture);
}

TEST_WITH(images_have_their_names, ctx)
{
    struct ct_ran ran = {0}, unnamed = {.unnamed = 1};
    char text[CT_RAN_WORDS];
    run(ctx, &ran);
    assert_int_equal(ran.instructions, 939 + 3671);
    assert_string_equal(ct_ran_words(text, &ran), "firmware.bin");
    run(ctx, &unnamed);
    assert_int_equal(unnamed.instructions, ran.instructions);
    assert_string_equal(ct_ran_words(text, &unnamed), "");
}

TEST(many_names_are_cut)
{
    struct ct_ran ran = {.count = 3, .names = {"a", "b", "c"}};
    char text[CT_RAN_WORDS];
    assert_string_equal(ct_ran_words(text, &ran), "a, b and c");
    ran.count = 40;
    assert_string_equal(ct_ran_words(text, &ran), "a, b, c, ,  and 35 others");
    assert_null(ct_ran_words(text, NULL));
    assert_int_equal(ct_ran_add(&ran, NULL, NULL, NULL, NULL), CT_ERR_ARG);
}

TEST(holes_have_files_or_addresses)
{
    struct ct_image gone = {.path = "/lib/libc.so", .addr = 0x50000, .size = 0x1000};
    const struct ct_capture capture = {.gone = &gone, .gone_count = 1};
    struct ct_holes holes = {.others = 2};
    char text[CT_RAN_WORDS], unit[CT_RAN_WORDS];
    ct_holes_add(&holes, &(struct ct_hole){0x8000, 0x8fc4, 12});
    ct_holes_add(&holes, &(struct ct_hole){0x50010, 0x50020, 1});
    assert_string_equal(ct_holes_words(text, &holes, &capture, NULL, "time", "times"),
                        "0x8000..0x8fc4 (12 times), /lib/libc.so (1 time), elsewhere (2 times)");
    assert_false(ct_holes_are_named(&holes, NULL));
    assert_true(ct_holes_are_named(&(struct ct_holes){0}, NULL));
    assert_false(ct_holes_are_named(NULL, NULL));
    assert_string_equal(ct_holes_words(text, &(struct ct_holes){0}, NULL, NULL, "time", "times"), "");
    assert_null(ct_holes_words(text, &holes, NULL, NULL, NULL, "times"));
    /* words of the caller do not write behind the text */
    memset(unit, 'x', sizeof unit - 1);
    unit[sizeof unit - 1] = '\0';
    assert_int_equal(strlen(ct_holes_words(text, &holes, NULL, NULL, unit, unit)), CT_RAN_WORDS - 1);
}
