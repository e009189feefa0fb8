/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that NULL for a required object gives CT_ERR_ARG, that a NULL object has nothing, and that a call
 * that fails sets the object that it would return to NULL. */
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/output.h"
#include "support/unit.h"

enum kind {
    CAN_FAIL, /* returns 0 or a negative error */
    VALUE,    /* returns another value, zero here */
    NOTHING,
};

struct call {
    const char *name;
    enum kind kind;
    int (*call)(void);
};

#include "null_calls.h"

/* Functions whose int is an answer or a count, not an error, and functions that close something. */
static const char *const answers[] = {
    "ct_analysis_is_saved",
    "ct_branch_list_is_file",
    "ct_branch_list_is_other",
    "ct_chain_resumed",
    "ct_ctx_lacked_memory",
    "ct_edge_context_order",
    "ct_etm3_exception_reserved",
    "ct_event_sieve_is_over",
    "ct_filter_ids",
    "ct_filter_steps",
    "ct_fleet_job_has",
    "ct_fleet_piece_wait",
    "ct_fleet_piece_was_kept",
    "ct_fractal_flit_is_line",
    "ct_fractal_next_command",
    "ct_fractal_wire_message",
    "ct_fractal_writer_close",
    "ct_holes_are_named",
    "ct_holes_in_missing",
    "ct_image_same",
    "ct_lines_file_is",
    "ct_lines_is_llvm",
    "ct_lines_is_optimised",
    "ct_load_is",
    "ct_load_line",
    "ct_load_number",
    "ct_monitor_certain",
    "ct_monitor_followed",
    "ct_monitor_is_big",
    "ct_monitor_possible",
    "ct_monitor_remembers",
    "ct_named_reader_cut",
    "ct_named_reader_take",
    "ct_program_has",
    "ct_programs_by_memory",
    "ct_raw_can_name",
    "ct_seen_is_damaged",
    "ct_soc_file",
    "ct_soc_map_huge",
    "ct_soc_migrate_begin",
    "ct_soc_migrate_end",
    "ct_soc_move",
    "ct_soc_object",
    "ct_soc_shared",
    "ct_soc_touch",
    "ct_soc_translate",
    "ct_soc_unmap",
    "ct_source_has_branches",
    "ct_stm_encoder_holds",
    "ct_symbols_is_named",
    "ct_verifier_came",
    "ct_verifier_may_violate",
    "ct_verify_place_is_software",
    "ct_wcet_is_of",
};

/* Functions that return something other than zero for nothing: a text, a new context, "none of them". */
static const char *const something[] = {
    "ct_cfg_block_at",      "ct_cfg_edge_between",     "ct_cfg_function_at",   "ct_cfg_function_named",
    "ct_cfg_kind_name",     "ct_cfg_origin_name",      "ct_cover_kind",        "ct_event_counts_kind",
    "ct_total_counts_kind", "ct_watch_counts_kind",    "ct_ctx_error",         "ct_ctx_new",
    "ct_error_name",        "ct_fleet_job_order",      "ct_fleet_piece_wait",  "ct_fractal_command_name",
    "ct_fractal_op_name",   "ct_framing_name",         "ct_framing_probe",     "ct_lines_scope_at",
    "ct_pmu_event_name",    "ct_protocol_name",        "ct_symbols_isa_at",    "ct_table_name",
    "ct_stack_sums_kind",   "ct_timing_sums_kind",     "ct_version",           "ct_version_exact",
    "ct_watch_kind_name",   "ct_fractal_channel_name", "ct_fractal_flit_name", "ct_fractal_protocol_name",
    "ct_wcet_origin_name",  "ct_verify_sums_kind",     "ct_wcet_program",      "ct_fractal_sums_kind",
    "ct_lines_unit",        "ct_fleet_piece_said",
};

static bool is_in(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return true;
    return false;
}

#define IS_IN(names, name) is_in(names, sizeof(names) / sizeof *(names), name)

/* Calls everything from `from` on and writes the results, until a call ends the process. */
static void call_from(const struct call *from, const struct call *end, int fd)
{
    for (; from < end; from++) {
        const int result = from->call();
        if (write(fd, &result, sizeof result) != (ssize_t)sizeof result)
            _exit(1);
    }
    _exit(0);
}

static int wanted(const struct call *c)
{
    int want = IS_IN(something, c->name);
    if (c->kind == CAN_FAIL && !IS_IN(answers, c->name))
        want = CT_ERR_ARG;
    return want;
}

static int nothing(const struct call *c)
{
    (void)c;
    return 0;
}

/* Calls each of a table in another process, and compares what it returns with what `want` returns of it. */
static void check_all(const struct call *c, size_t count, int (*want)(const struct call *c))
{
    const struct call *const end = c + count;
    size_t faults = 0;
    for (; c < end; c++) {
        int ends[2], result;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (!child)
            call_from(c, end, ends[1]);
        close(ends[1]);
        for (; read(ends[0], &result, sizeof result) == (ssize_t)sizeof result; c++)
            if (result != want(c)) {
                print_error("%s: %d in place of %d\n", c->name, result, want(c));
                faults++;
            }
        close(ends[0]);
        waitpid(child, NULL, 0);
        if (c < end) {
            print_error("%s: ends the process\n", c->name);
            faults++;
        }
    }
    assert_int_equal(faults, 0);
}

TEST(null_is_an_error)
{
    check_all(calls, sizeof calls / sizeof *calls, wanted);
}

TEST(failing_leaves_null)
{
    check_all(makers, sizeof makers / sizeof *makers, nothing);
}

/* registers of a trace unit as in examples/quickstart */
#define REGS                                                                                                 \
    {                                                                                                        \
        .configr = 0x1851, .idr0 = 0x28000ea1, .idr1 = 0x4100f400, .idr2 = 0x488                             \
    }

#define HAS 8 /* records that a null array is said to have */

/* Checks a decoder of packets and the resolver behind it with each of their arrays null. */
#define CHECK_PROTOCOL(family, number)                                                                       \
    do {                                                                                                     \
        const struct ct_source source = {.name = #family, .protocol = (number), .regs = REGS};               \
        static struct ct_##family##_packet packets[HAS];                                                     \
        struct ct_##family##_decoder *decoder;                                                               \
        struct ct_##family##_resolver *resolver;                                                             \
        assert_int_equal(ct_##family##_decoder_new(NULL, &source, &decoder), CT_OK);                         \
        assert_int_equal(ct_##family##_resolver_new(NULL, &source, &resolver), CT_OK);                       \
        assert_int_equal(ct_##family##_decode(decoder, NULL, HAS, 0, 1, packets, HAS, &count), 0);           \
        assert_int_equal(ct_##family##_decode(decoder, bytes, HAS, 0, 1, NULL, HAS, &count), 0);             \
        assert_int_equal(ct_##family##_resolve(resolver, NULL, HAS, 1, elems, HAS, &count), 0);              \
        assert_int_equal(ct_##family##_resolve(resolver, packets, HAS, 1, NULL, HAS, &count), 0);            \
        assert_int_equal(count, 0);                                                                          \
        ct_##family##_decoder_free(decoder);                                                                 \
        ct_##family##_resolver_free(resolver);                                                               \
    } while (0)

/* A null array that is said to have records gives nothing. */
TEST(null_arrays_give_nothing)
{
    const struct ct_source source = {.name = "etm4", .protocol = CT_PROTOCOL_ETM4, .regs = REGS};
    static const uint8_t bytes[HAS];
    static struct ct_elem elems[HAS];
    static struct ct_event events[HAS];
    static struct ct_flow records[HAS];
    struct ct_memory *memory;
    struct ct_walk *walk;
    struct ct_events *made;
    size_t count = 1;
    CHECK_PROTOCOL(etm4, CT_PROTOCOL_ETM4);
    CHECK_PROTOCOL(ptm, CT_PROTOCOL_PTM);
    CHECK_PROTOCOL(etm3, CT_PROTOCOL_ETM3);
    CHECK_PROTOCOL(stm, CT_PROTOCOL_STM);
    CHECK_PROTOCOL(itm, CT_PROTOCOL_ITM);
    assert_int_equal(ct_memory_new(NULL, &memory), CT_OK);
    assert_int_equal(ct_walk_new(NULL, &source, memory, NULL, &walk), CT_OK);
    assert_int_equal(ct_walk_run(walk, NULL, HAS, 0, records, HAS, &count), 0);
    assert_int_equal(ct_walk_run(walk, elems, HAS, 0, NULL, HAS, &count), 0);
    assert_int_equal(ct_events_new(NULL, &source, &made), CT_OK);
    assert_int_equal(ct_events_from_elems(made, NULL, HAS, 0, events, 1024, &count), 0);
    assert_int_equal(ct_events_from_elems(made, elems, HAS, 0, NULL, 1024, &count), 0);
    assert_int_equal(ct_events_from_flow(made, NULL, HAS, events, 1024, &count), 0);
    assert_int_equal(ct_cover_add_up(NULL, HAS), 0);
    assert_null(ct_framing_trouble(CT_FRAMING_AUTO, NULL, HAS));
    assert_int_equal(ct_framing_probe(NULL, HAS), CT_FRAMING_FRAMES);
    ct_events_free(made);
    ct_walk_free(walk);
    ct_memory_free(memory);
}

/* Objects work without a context, which only keeps texts. */
TEST(no_context_is_needed)
{
    struct ct_lister *lister;
    struct ct_event_writer *events;
    struct ct_watch_writer *watches;
    struct ct_timing_writer *timing;
    struct ct_edge_text *edges;
    struct ct_verdict_writer *verdicts;
    struct ct_merge *merge;
    assert_int_equal(ct_lister_new(NULL, output_drop, NULL, &lister), CT_OK);
    assert_int_equal(ct_event_writer_new(NULL, NULL, output_drop, NULL, &events), CT_OK);
    assert_int_equal(ct_watch_writer_new(NULL, NULL, output_drop, NULL, &watches), CT_OK);
    assert_int_equal(ct_timing_writer_new(NULL, NULL, output_drop, NULL, &timing), CT_OK);
    assert_int_equal(ct_edge_text_new(NULL, output_drop, NULL, &edges), CT_OK);
    assert_int_equal(ct_verdict_writer_new(NULL, NULL, output_drop, NULL, &verdicts), CT_OK);
    assert_int_equal(ct_merge_new(NULL, NULL, 0, NULL, &merge), CT_OK);
    ct_lister_free(lister);
    ct_event_writer_free(events);
    ct_watch_writer_free(watches);
    ct_timing_writer_free(timing);
    ct_edge_text_free(edges);
    ct_verdict_writer_free(verdicts);
    ct_merge_free(merge);
}

/* The text for a wrong argument names the function, the argument, and what it must be. */
TEST(wrong_arguments_have_a_text)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = (void *)&unset;
    struct ct_symbols *symbols;
    const struct ct_image image = {.path = "x", .is_elf = 1};
    assert_int_equal(ct_capture_open(ctx, NULL, &capture), CT_ERR_ARG);
    assert_null(capture);
    assert_string_equal(
        ct_ctx_error(ctx),
        "ct_capture_open_with: wrong argument; nothing was done; 'path' must not be NULL or 0");
    assert_int_equal(ct_symbols_of_image(ctx, &image, &symbols), CT_ERR_ARG);
    assert_string_equal(ct_ctx_error(ctx), "ct_symbols_of_image: wrong argument; nothing was done; "
                                           "'!image->is_elf' must hold");
    ct_ctx_free(ctx);
}
