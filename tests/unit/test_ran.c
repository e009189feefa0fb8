/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what is said about code that ran, and about code whose memory is missing. */
#include <stdio.h>
#include <string.h>

#include "coretap/empty.h"
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

TEST_WITH(session_adds_what_ran, ctx)
{
    struct ct_ran ran = {0};
    const struct ct_session_options options = {.size = sizeof options, .edges = CT_EDGES_COUNTS, .ran = &ran};
    struct ct_capture *capture;
    struct ct_session *session;
    char text[CT_RAN_WORDS];
    assert_int_equal(ct_capture_open(ctx, SOURCE_ROOT "/examples/quickstart", &capture), CT_OK);
    assert_int_equal(ct_session_new(ctx, &options, &session), CT_OK);
    assert_int_equal(ct_session_run(session, capture, capture->buffers, capture->buffer_count), CT_OK);
    assert_int_equal(ran.instructions, 939 + 3671);
    assert_string_equal(ct_ran_words(text, &ran), "firmware.bin");
    ct_session_free(session);
    ct_capture_free(capture);
}

/* Asks for the reason, and checks it and its words. */
static void has_reason(struct ct_ctx *ctx, struct ct_empty_options options, enum ct_empty_reason reason,
                       const char *words)
{
    struct ct_empty why;
    char text[CT_EMPTY_WORDS];
    options.size = sizeof options;
    assert_int_equal(ct_empty_find(ctx, &options, &why), CT_OK);
    assert_int_equal(why.reason, reason);
    assert_string_equal(ct_empty_words(text, &why), words);
}

TEST_WITH(empty_results_have_reasons, ctx)
{
    const struct ct_seen nothing = {0}, bytes = {.bytes = 7}, trace = {.bytes = 7, .has_trace = 1};
    const struct ct_ran ran = {.instructions = 12, .count = 2, .names = {"a", "b"}};
    const struct ct_sieve_seen sieved = {.steps = 3, .instructions = 12, .levels = 3};
    const struct ct_timing_found no_times = {0};
    struct ct_timing_found times = {0};
    struct ct_seen hole = trace;
    ct_holes_add(&hole.holes, &(struct ct_hole){0x8000, 0x8000, 1});
    times.totals.cycles = 1;
    has_reason(ctx, (struct ct_empty_options){0}, CT_EMPTY_NOT, "");
    has_reason(ctx, (struct ct_empty_options){.seen = &nothing, .ran = &ran}, CT_EMPTY_NO_TRACE,
               "the capture contains no trace bytes; nothing was decoded; check that the trace sink was "
               "enabled when it was recorded");
    has_reason(ctx, (struct ct_empty_options){.seen = &nothing, .selected = "--id"}, CT_EMPTY_UNSELECTED,
               "the part that --id selects contains no trace; nothing was decoded; 'coretap info' shows how "
               "much each source traced");
    has_reason(
        ctx, (struct ct_empty_options){.seen = &bytes}, CT_EMPTY_NO_SOURCE,
        "none of its 7 bytes belong to a trace source that the capture describes; nothing was decoded; "
        "'coretap info' lists the trace IDs in it");
    has_reason(ctx, (struct ct_empty_options){.seen = &trace}, CT_EMPTY_NOTHING_RAN,
               "the result is empty, because its trace contains no executed instructions; 'coretap stats' "
               "shows what it contains");
    has_reason(
        ctx, (struct ct_empty_options){.seen = &hole}, CT_EMPTY_NO_MEMORY,
        "the capture has no memory image of code that ran in 0x8000..0x8000 (1 time); nothing was decoded; "
        "'coretap info' lists the images and the missing files");
    has_reason(ctx, (struct ct_empty_options){.sieved = &sieved, .ran = &ran, .times = &no_times},
               CT_EMPTY_FILTERED,
               "the result is empty although 12 instructions ran, in a and b: none of them belongs to the "
               "selected part; there are up to 12 instructions in a stream; exception levels 0, 1");
    has_reason(ctx, (struct ct_empty_options){.result = "the table is", .ran = &ran, .times = &no_times},
               CT_EMPTY_NO_CYCLES,
               "the table is empty although 12 instructions ran, in a and b: the trace has no cycle counts; "
               "record with cycle counts");
    /* a result that is not empty needs no reason */
    has_reason(ctx, (struct ct_empty_options){.seen = &nothing, .ran = &ran, .times = &times}, CT_EMPTY_NOT,
               "");
}

TEST_WITH(results_that_are_counted_have_reasons, ctx)
{
    static const struct {
        enum ct_empty_items items;
        enum ct_empty_reason reason;
        const char *words;
    } all[] = {
        {CT_EMPTY_EDGE_EVENTS, CT_EMPTY_NO_EDGE,
         "no edge was traversed completely; 'coretap stats' shows what the trace contains"},
        {CT_EMPTY_PERF_SAMPLES, CT_EMPTY_NO_SAMPLE,
         "none of them belongs to an uninterrupted run of branches; 'coretap stats' shows what was lost"},
        {CT_EMPTY_LEARNT_BLOCKS, CT_EMPTY_NO_PROGRAM,
         "none of them belongs to the program of --elf; name the program that ran, and its load address with "
         "@HEX"},
        {CT_EMPTY_FUNCTION_RUNS, CT_EMPTY_NO_RUN,
         "no function ran from call to return with cycle counts; name the program with --elf, and record "
         "with cycle counts"},
        {CT_EMPTY_SELECTED_RUNS, CT_EMPTY_NO_RUN,
         "none of the selected functions ran from call to return with cycle counts; choose another --match"},
        {CT_EMPTY_INTERVALS, CT_EMPTY_NO_RUN,
         "none of the given functions and pairs ran from start to end with cycle counts; 'coretap timing' "
         "shows what was measured"},
        {CT_EMPTY_SLICES, CT_EMPTY_FILTERED,
         "no function ran in the selected time; choose another --from and --to"},
        {CT_EMPTY_WEIGHTS, CT_EMPTY_NO_CYCLES,
         "the trace has no cycle counts; count instructions instead with --weight, or record with cycle "
         "counts"},
    };
    const struct ct_ran ran = {.instructions = 12}, none = {0};
    const struct ct_empty_options unknown = {.size = sizeof unknown, .items = CT_EMPTY_WEIGHTS + 1};
    struct ct_empty why;
    char words[CT_EMPTY_WORDS];
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct ct_empty_options options = {.ran = &ran, .items = (uint8_t)all[i].items};
        snprintf(words, sizeof words, "the result is empty although 12 instructions ran: %s", all[i].words);
        has_reason(ctx, options, all[i].reason, words);
        options.count = 1;
        has_reason(ctx, options, CT_EMPTY_NOT, "");
    }
    /* nothing ran: this is told first */
    has_reason(ctx, (struct ct_empty_options){.ran = &none, .items = CT_EMPTY_SLICES}, CT_EMPTY_NOTHING_RAN,
               "the result is empty, because its trace contains no executed instructions; 'coretap stats' "
               "shows what it contains");
    assert_int_equal(ct_empty_find(ctx, &unknown, &why), CT_ERR_ARG);
}

TEST_WITH(empty_profiles_and_sums_have_reasons, ctx)
{
    const struct ct_ran ran = {.instructions = 12}, none = {0};
    const struct ct_profile_written written = {.program = "/bin/a", .program_count = 2};
    struct ct_counts *counts;
    struct ct_empty why;
    has_reason(
        ctx,
        (struct ct_empty_options){.ran = &ran, .profile = &written, .profile_format = CT_PROFILE_FORMAT_LLVM},
        CT_EMPTY_NO_LINES,
        "the result is empty although 12 instructions ran: no function that ran in /bin/a and others "
        "has known source lines, including the line of its declaration; name the program that has "
        "debug information with --elf FILE[@HEX]");
    has_reason(
        ctx, (struct ct_empty_options){.ran = &none, .profile = &written, .saved = 1}, CT_EMPTY_NO_PROGRAM,
        "the result is empty, because the file has no counts of /bin/a; name the program that ran with "
        "--elf FILE[@HEX]");
    assert_int_equal(ct_watch_counts_new(ctx, &counts), CT_OK);
    has_reason(ctx, (struct ct_empty_options){.ran = &ran, .counts = counts}, CT_EMPTY_NOT_REACHED,
               "the result is empty although 12 instructions ran: execution reached none of the watchpoints; "
               "'coretap cover --functions' shows what ran");
    ct_counts_free(counts);
    assert_int_equal(ct_empty_because(&why, CT_EMPTY_NOT, &ran, "it is", "fact", "remedy"), CT_ERR_ARG);
    assert_null(ct_empty_words(NULL, &why));
}

TEST(code_lies_in_missing_files)
{
    struct ct_image gone = {.path = "/lib/libc.so", .addr = 0x50000, .size = 0x1000};
    const char *const missing[] = {"/lib/libc.so: not found", "/lib/other.so: not found"};
    const struct ct_capture capture = {
        .gone = &gone, .gone_count = 1, .missing = missing, .missing_count = 2};
    struct ct_holes holes = {0};
    assert_false(ct_holes_in_missing(&holes, &capture, 1));
    ct_holes_add(&holes, &(struct ct_hole){0x8000, 0x8fc4, 12});
    assert_false(ct_holes_in_missing(&holes, &capture, 0));
    assert_true(ct_holes_in_missing(&holes, &capture, 1)); /* its address is unknown */
    ct_holes_add(&holes, &(struct ct_hole){0x50010, 0x50020, 1});
    assert_true(ct_holes_in_missing(&holes, &capture, 0));
    assert_false(ct_holes_in_missing(&holes, &capture, 2));
}
