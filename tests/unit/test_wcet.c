/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the longest time of small programs with handmade steps, in which each piece always takes the same
 * time: the bound of a program with one path is the observed time, to the cycle. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ilp.h"
#include "analysis/timing_sums.h"
#include "analysis/wcet_model.h"
#include "coretap/learn.h"
#include "coretap/wcet.h"
#include "elf_build.h"
#include "support/m_profile.h"
#include "support/output.h"
#include "support/step_list.h"
#include "support/unit.h"

#define NO_SOLVER "CBC is missing (Debian: coinor-libcbc-dev, coinor-libcbc3)"

#define TEXT  UINT64_C(0x400000)
#define AT(w) (TEXT + 4 * (uint64_t)(w))
#define NOP   0xd503201f
#define RET   0xd65f03c0

/* main calls work, whose loop counts to 10 and calls leaf in each round. Then w0 decides how work
 * continues. */
enum {
    WORK = 2,
    HEAD = 3,
    BEHIND = 5,
    OTHER = 9,
    LEAF = 12,
    SPIN = 14,
    ONE = 16,
    TWO = 19,
    CALLS_ONE = 21,
    OUTSIDE = 23,
    STUB = 25,
    ENDLESS = 26,
    LEAVES = 27,
    CALLS_FAR = 30,
    WAITS = 32,
};

static const uint32_t code[] = {
    0x94000000 | WORK,       /* 0: bl work */
    RET,                     /* 1 */
    0x52800013,              /* 2 work: mov w19, #0 */
    NOP,                     /* 3 head */
    0x94000000 | (LEAF - 4), /* 4: bl leaf */
    0x11000673,              /* 5: add w19, w19, #1 */
    0x71002a7f,              /* 6: cmp w19, #10 */
    0x54000001 | 0x7fffc << 5 /* 7: b.ne head */,
    0x34000000 | 3 << 5, /* 8: cbz w0, 11 */
    NOP,                 /* 9 other */
    NOP,                 /* 10 */
    RET,                 /* 11 */
    NOP,                 /* 12 leaf */
    RET,                 /* 13 */
    0x35000000,          /* 14 spin: cbnz w0, spin */
    RET,                 /* 15 */
    0x34000000 | 2 << 5, /* 16 one: cbz w0, 18 */
    0x94000000 | 2,      /* 17: bl two */
    RET,                 /* 18 */
    0x97fffffd,          /* 19 two: bl one */
    RET,                 /* 20 */
    0x97fffffb,          /* 21 calls_one: bl one */
    RET,                 /* 22 */
    0x94000000 | 2,      /* 23 outside: bl stub */
    RET,                 /* 24 */
    0xd61f0200,          /* 25 stub: br x16 */
    0x14000000,          /* 26 endless: b endless */
    0x34000000 | 2 << 5, /* 27 leaves: cbz w0, 29 */
    0x14100000,          /* 28: b to an address outside of the program */
    RET,                 /* 29 */
    0x94100000,          /* 30 calls_far: bl to an address outside of the program */
    RET,                 /* 31 */
    NOP,                 /* 32 waits */
    0x35000000,          /* 33: cbnz w0, 33 */
    RET,                 /* 34 */
};

static const struct test_symbol symbols[] = {
    {.name = "main", .value = TEXT, .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "work", .value = AT(WORK), .size = 40, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "leaf", .value = AT(LEAF), .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "spin", .value = AT(SPIN), .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "one", .value = AT(ONE), .size = 12, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "two", .value = AT(TWO), .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "calls_one",
     .value = AT(CALLS_ONE),
     .size = 8,
     .type = STT_FUNC,
     .bind = STB_GLOBAL,
     .section = 1},
    {.name = "outside", .value = AT(OUTSIDE), .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "stub", .value = AT(STUB), .size = 4, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "endless", .value = AT(ENDLESS), .size = 4, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "leaves", .value = AT(LEAVES), .size = 12, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "calls_far",
     .value = AT(CALLS_FAR),
     .size = 8,
     .type = STT_FUNC,
     .bind = STB_GLOBAL,
     .section = 1},
    {.name = "waits", .value = AT(WAITS), .size = 12, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
};

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    struct ct_program_place place;
    struct ct_timing *timing;
    struct ct_wcet *wcet;
    struct step_list steps;
    uint32_t entry;
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.ctx = ct_ctx_new()};
    elf64_build(f.file, symbols, sizeof symbols / sizeof *symbols);
    memcpy(f.file + ELF_TEXT, code, sizeof code);
    ((Elf64_Ehdr *)f.file)->e_entry = TEXT;
    *state = &f;
    if (ct_cfg_load_bytes(f.ctx, "test", f.file, sizeof f.file, NULL, &f.cfg))
        return 1;
    f.place.symbols = ct_cfg_symbols(f.cfg);
    f.entry = ct_cfg_function_at(f.cfg, AT(WORK));
    const struct ct_timing_options options = {
        .size = sizeof options, .programs = &f.place, .program_count = 1};
    return ct_graph_new(f.ctx, &f.steps.graph) || ct_timing_new(f.ctx, &options, &f.timing) ||
           ct_wcet_new(f.ctx, f.cfg, NULL, &f.wcet);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_wcet_free(f->wcet);
    ct_timing_free(f->timing);
    ct_graph_free(f->steps.graph);
    ct_cfg_free(f->cfg);
    ct_ctx_free(f->ctx);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Adds a step from word `from` through `last`, which continues at `next`. */
static void step(struct fixture *f, unsigned from, unsigned last, unsigned next, bool taken, uint32_t cycles)
{
    struct ct_insn insn;
    const struct ct_arch arch = {0};
    ct_insn_decode_a64(code[last], AT(last), &arch, &insn);
    struct ct_node node = step_node(AT(from), last - from + 1, insn.type, insn.sub);
    node.cond = insn.cond;
    step_list_add(&f->steps, node, (struct ct_edge){.next = AT(next), .exec = taken}, cycles);
}

/* Runs work once, with `slow` more cycles in the leaf of the first round. Without `other` it takes the short
 * way. */
static void run_work(struct fixture *f, bool other, uint32_t slow)
{
    step(f, 0, 0, WORK, true, 3);
    for (unsigned i = 0; i < 10; i++) {
        step(f, i ? HEAD : WORK, 4, LEAF, true, i ? 5 : 7);
        step(f, LEAF, 13, BEHIND, true, i ? 11 : 11 + slow);
        step(f, BEHIND, 7, i < 9 ? HEAD : 8, i < 9, 13);
    }
    step(f, 8, 8, other ? OTHER : 11, !other, 17);
    step(f, other ? OTHER : 11, 11, 1, true, other ? 100 : 19);
}

/* Adds what was measured as sums, for code in none of their programs. */
static void observe(struct fixture *f)
{
    size_t count;
    struct ct_timing_sums *sums;
    assert_int_equal(ct_timing_sums_new(f->ctx, NULL, &sums), CT_OK);
    const struct ct_timing_edge *edges = ct_timing_edges(f->timing, &count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(ct_timing_sums_add_edge(sums, &edges[i]), CT_OK);
    const struct ct_timing_function *functions = ct_timing_functions(f->timing, &count);
    for (size_t i = 0; i < count; i++) {
        struct ct_timing_function function = functions[i];
        function.program = CT_TIMING_NO_PROGRAM;
        if (function.runs)
            assert_int_equal(ct_timing_sums_add_function(sums, &function), CT_OK);
    }
    assert_int_equal(ct_wcet_observe(f->wcet, sums, 1), CT_OK);
    ct_timing_sums_free(sums);
}

static void measure(struct fixture *f)
{
    const struct ct_step_batch batch = step_list_batch(&f->steps);
    assert_int_equal(ct_wcet_learn(f->wcet, f->steps.graph), CT_OK);
    assert_int_equal(ct_timing_add(f->timing, &batch), CT_OK);
    assert_int_equal(ct_wcet_count_loops(f->wcet, 7, &batch), CT_OK);
    observe(f);
}

static struct ct_wcet_result solve(struct fixture *f, bool exclude)
{
    struct ct_wcet_result result;
    const struct ct_wcet_options options = {.size = sizeof options, .entry = f->entry, .exclude = exclude};
    int rc = ct_wcet_solve(f->wcet, &options, NULL, NULL, &result);
    if (rc == CT_ERR_UNSUPPORTED)
        tap_skip(NO_SOLVER);
    assert_int_equal(rc, CT_OK);
    return result;
}

/* The loop counts to 10 by itself, and code that never ran is excluded: one path with exactly its time. */
TEST_WITH(one_path_is_exact, f)
{
    run_work(f, false, 0);
    measure(f);
    const struct ct_wcet_result r = solve(f, true);
    size_t count;
    assert_int_equal(ct_wcet_loops(f->wcet, &count)[0].origin, CT_WCET_COUNTED);
    assert_int_equal(ct_wcet_loops(f->wcet, &count)[0].bound, 10);
    assert_int_equal(r.observed_runs, 1);
    assert_int_equal(r.wcet, 7 + 9 * 5 + 10 * (11 + 13) + 17 + 19);
    assert_int_equal(r.wcet, r.observed_max);
    assert_int_equal(r.assumed_count, 0);
}

/* Value in place of a return address in a handler of the M profile. */
#define EXC_RETURN UINT64_C(0xfffffff0)

static void mark(struct fixture *f, struct ct_elem elem)
{
    step_list_mark(&f->steps, elem);
}

/* Adds an exception of the M profile, whose handler continues at `next`. */
static void handle(struct fixture *f, uint64_t resumes_at, uint64_t next)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = resumes_at});
    step(f, LEAF, 13, (unsigned)((next - TEXT) / 4), true, 1);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
}

static void count_all(struct fixture *f)
{
    struct ct_m_threads *threads = NULL;
    struct ct_step_batch batch = step_list_batch(&f->steps);
    assert_int_equal(decide_threads(&threads, &batch), CT_OK);
    assert_int_equal(ct_wcet_count_loops(f->wcet, 7, &batch), CT_OK);
    assert_int_equal(ct_wcet_count_loops(f->wcet, 7, NULL), CT_OK);
    ct_m_threads_free(threads);
}

static uint64_t most_in_a_run(const struct fixture *f)
{
    size_t count;
    uint64_t most = 0;
    assert_non_null(ct_wcet_loops(f->wcet, &count));
    for (size_t l = 0; l < count; l++)
        most = f->wcet->run_most[l] > most ? f->wcet->run_most[l] : most;
    return most;
}

/* Returns the most rounds of the loop in a run of work. At the start of the third round a handler continues
 * at `next`, after which `rounds` more begin. */
static uint64_t rounds_of_run(struct fixture *f, bool chained, unsigned next, unsigned rounds)
{
    f->steps.count = f->steps.mark_count = 0;
    ct_wcet_tell_runs_of(f->wcet, f->entry);
    step(f, 0, 0, WORK, true, 3);
    for (unsigned i = 0; i < rounds + 2; i++) {
        if (i == 2) {
            handle(f, AT(HEAD), chained ? EXC_RETURN : AT(next));
            if (chained)
                handle(f, EXC_RETURN, AT(next));
        }
        if (i != 2 || next == HEAD) {
            step(f, i ? HEAD : WORK, 4, LEAF, true, 5);
            step(f, LEAF, 13, BEHIND, true, 11);
        }
        step(f, BEHIND, 7, i < rounds + 1 ? HEAD : 8, i < rounds + 1, 13);
    }
    step(f, 8, 8, 11, true, 17);
    step(f, 11, 11, 1, true, 19);
    count_all(f);
    return most_in_a_run(f);
}

/* In a run of work, nothing counts after another thread appears. */
TEST_WITH(threads_change_in_handlers, f)
{
    assert_int_equal(rounds_of_run(f, false, BEHIND, 8), 3);
    assert_int_equal(rounds_of_run(f, false, HEAD, 3), 5);
    assert_int_equal(rounds_of_run(f, true, HEAD, 4), 6);
    assert_int_equal(rounds_of_run(f, true, BEHIND, 8), 6);
}

/* Runs `n` rounds of the loop in work. With `enters` the first one enters the loop. */
static void go_round(struct fixture *f, unsigned n, bool enters)
{
    for (unsigned i = 0; i < n; i++) {
        step(f, enters && !i ? WORK : HEAD, 4, LEAF, true, 5);
        step(f, LEAF, 13, BEHIND, true, 11);
        step(f, BEHIND, 7, HEAD, true, 13);
    }
}

/* Two threads in one loop, distinguished by where each was interrupted: one runs the head 7 times, the other
 * 6 times. */
TEST_WITH(threads_have_rounds_of_their_own, f)
{
    f->steps.count = f->steps.mark_count = 0;
    ct_wcet_tell_runs_of(f->wcet, f->entry);
    step(f, 0, 0, WORK, true, 3);
    go_round(f, 3, true);
    handle(f, AT(HEAD), AT(0));
    step(f, 0, 0, WORK, true, 3);
    go_round(f, 4, true);
    step(f, HEAD, 4, LEAF, true, 5);
    step(f, LEAF, 13, BEHIND, true, 11);
    handle(f, AT(BEHIND), AT(HEAD));
    go_round(f, 3, false);
    handle(f, AT(HEAD), AT(BEHIND));
    step(f, BEHIND, 7, HEAD, true, 13);
    count_all(f);
    size_t count;
    uint64_t most = 0;
    const struct ct_wcet_loop *loops = ct_wcet_loops(f->wcet, &count);
    for (size_t l = 0; l < count; l++)
        most = loops[l].observed > most ? loops[l].observed : most;
    assert_int_equal(most, 7);
    assert_int_equal(most_in_a_run(f), 7);
}

/* The longer of two ways counts, each of which ran once. */
TEST_WITH(the_longer_way_counts, f)
{
    run_work(f, false, 0);
    run_work(f, true, 0);
    measure(f);
    const struct ct_wcet_result r = solve(f, false);
    assert_int_equal(r.wcet, 7 + 9 * 5 + 10 * (11 + 13) + 17 + 100);
    assert_int_equal(r.wcet, r.observed_max);
    assert_int_equal(r.observed_runs, 2);
}

/* A leaf that was slow once may be slow every time. */
TEST_WITH(the_largest_time_counts_each_time, f)
{
    run_work(f, false, 30);
    measure(f);
    const struct ct_wcet_result r = solve(f, true);
    assert_int_equal(r.observed_max + 9 * 30, r.wcet);
}

TEST_WITH(what_was_not_seen_is_assumed, f)
{
    run_work(f, false, 0);
    measure(f);
    const struct ct_wcet_result r = solve(f, false);
    assert_int_equal(r.rate_cycles, 19); /* one instruction at word 11 */
    assert_int_equal(r.rate_insns, 1);
    assert_int_equal(r.wcet,
                     r.observed_max - 17 - 19 + 19 + 3 * 19); /* both cbz this way and three instructions */
    assert_int_equal(r.assumed_count, 2);
    assert_int_equal(r.assumed[0].kind, CT_WCET_CYCLES);
}

/* spin begins with the head of its loop, which never ran: the head runs once and is not repeated. */
TEST_WITH(an_entry_may_head_a_loop_that_never_ran, f)
{
    run_work(f, false, 0);
    measure(f);
    f->entry = ct_cfg_function_at(f->cfg, AT(SPIN));
    const struct ct_wcet_result r = solve(f, false);
    assert_int_equal(r.wcet, 2 * 19);
    assert_false(r.is_bound);
}

/* one and two call each other, but two never ran: no path goes there, and the answer says so. */
TEST_WITH(a_recursion_that_never_ran_is_left_out, f)
{
    step(f, CALLS_ONE, CALLS_ONE, ONE, true, 3);
    step(f, ONE, ONE, 18, true, 5);
    step(f, 18, 18, 22, true, 7);
    step(f, 22, 22, 1, true, 9);
    measure(f);
    f->entry = ct_cfg_function_at(f->cfg, AT(ONE));
    const struct ct_wcet_result r = solve(f, false);
    assert_int_equal(r.wcet, 5 + 7);
    assert_int_equal(r.assumed_count, 2); /* only the observed number of calls of one is known */
    assert_int_equal(r.assumed[1].kind, CT_WCET_UNCALLED);
    assert_int_equal(r.assumed[1].what, ct_cfg_block_at(f->cfg, AT(TWO)));
    f->entry = ct_cfg_function_at(f->cfg, AT(TWO));
    struct ct_wcet_result none;
    const struct ct_wcet_options options = {.size = sizeof options, .entry = f->entry};
    assert_int_equal(ct_wcet_solve(f->wcet, &options, NULL, NULL, &none), CT_ERR_NOT_FOUND);
    assert_string_equal(ct_ctx_error(f->ctx), "two: the function calls itself without a known limit; give "
                                              "one with 'recursion two N' in the file of bounds");
}

TEST_WITH(an_entry_without_a_return_is_refused, f)
{
    const struct {
        unsigned entry;
        const char *says;
    } cases[] = {
        {OUTSIDE, "outside: no path satisfies all constraints, because none returns from stub (0x400064), "
                  "which continues in code without a measured run, such as a library that was not named; "
                  "name it with --elf, give the targets with --targets, or choose another entry"},
        {CALLS_ONE,
         "calls_one: no path satisfies all constraints, because one calls itself without a known limit and "
         "was never observed to return; give the limit with 'recursion one N' in the file of bounds"},
        {ENDLESS, "endless: no path satisfies all constraints, because it never returns; choose an entry "
                  "that returns"},
        {WAITS, "waits: no path satisfies all constraints, because all of them lead through the loop at "
                "0x400084 in waits, which never ran and has no bound; give one with 'loop 0x400084 N' in the "
                "file of bounds, or a capture in which the loop runs"},
    };
    run_work(f, false, 0);
    measure(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ct_wcet_result none;
        const struct ct_wcet_options options = {.size = sizeof options,
                                                .entry = ct_cfg_function_at(f->cfg, AT(cases[i].entry))};
        assert_int_equal(ct_wcet_solve(f->wcet, &options, NULL, NULL, &none), CT_ERR_NOT_FOUND);
        assert_string_equal(ct_ctx_error(f->ctx), cases[i].says);
    }
    assert_int_equal(ct_wcet_bounds(f->wcet, "bounds", "loop 0x400084 5"), CT_OK);
    f->entry = ct_cfg_function_at(f->cfg, AT(WAITS));
    assert_true(solve(f, false).is_bound);
}

/* Returns whether the result says that code outside of the graph follows the branch at a word. */
static bool is_open_at(const struct fixture *f, const struct ct_wcet_result *r, enum ct_wcet_assumption kind,
                       unsigned word)
{
    for (size_t i = 0; i < r->assumed_count; i++)
        if (r->assumed[i].kind == kind && r->assumed[i].what == ct_cfg_block_at(f->cfg, AT(word)))
            return !r->is_bound;
    return false;
}

TEST_WITH(code_outside_of_the_program_is_not_a_return, f)
{
    step(f, LEAVES, LEAVES, 29, true, 4);
    step(f, 29, 29, 1, true, 6);
    measure(f);
    f->entry = ct_cfg_function_at(f->cfg, AT(LEAVES));
    const struct ct_wcet_result leaves = solve(f, false);
    assert_int_equal(leaves.wcet, 4 + 6);
    assert_true(is_open_at(f, &leaves, CT_WCET_WAY_OUT, 28));
    f->entry = ct_cfg_function_at(f->cfg, AT(CALLS_FAR));
    const struct ct_wcet_result calls = solve(f, false);
    assert_true(is_open_at(f, &calls, CT_WCET_CALL, CALLS_FAR));
}

/* A call of a recursion from outside is counted once, not once for each of its functions. */
TEST_WITH(calls_of_a_recursion_are_counted_once, f)
{
    struct output text = {0};
    char call[32];
    step(f, CALLS_ONE, CALLS_ONE, ONE, true, 3);
    step(f, ONE, ONE, 17, false, 5);
    step(f, 17, 17, TWO, true, 5);
    step(f, TWO, TWO, ONE, true, 5);
    step(f, ONE, ONE, 18, true, 5);
    step(f, 18, 18, 20, true, 7);
    step(f, 20, 20, 18, true, 9);
    step(f, 18, 18, 22, true, 7);
    step(f, 22, 22, 1, true, 9);
    measure(f);
    struct ct_wcet_result r;
    const struct ct_wcet_options options = {.size = sizeof options,
                                            .entry = ct_cfg_function_at(f->cfg, AT(CALLS_ONE))};
    const int rc = ct_wcet_solve(f->wcet, &options, output_append, &text, &r);
    assert_true(rc == CT_OK || rc == CT_ERR_UNSUPPORTED);
    const char *recursion = strstr(text.text, " recursion_");
    assert_non_null(recursion);
    const char *of_two = strstr(recursion + 1, " recursion_");
    assert_non_null(of_two);
    *strstr(text.text, "General") = '\0';
    snprintf(call, sizeof call, " b%" PRIu32 "_e", ct_cfg_block_at(f->cfg, AT(CALLS_ONE)));
    assert_null(strstr(of_two, call));
    output_free(&text);
    if (!rc)
        assert_int_equal(r.wcet, 3 + 5 + 5 + 5 + 5 + 7 + 9 + 7 + 9);
}

TEST_WITH(the_user_knows_better, f)
{
    run_work(f, false, 0);
    run_work(f, true, 0);
    measure(f);
    uint64_t before = solve(f, true).wcet;
    assert_int_equal(ct_wcet_bounds(f->wcet, "b", "loop work 8"), CT_ERR_FORMAT);
    assert_string_equal(ct_ctx_error(f->ctx),
                        "b:1: loop work 8: the head of this loop ran 10 times for one entry in the trace, so "
                        "the result would be below observed times; give at least that number");
    assert_int_equal(ct_wcet_bounds(f->wcet, "bounds", "# fewer rounds\nwork+0x4 <= 8 work\n0x400024 == 0\n"),
                     CT_OK);
    assert_int_equal(ct_wcet_bounds(f->wcet, "b", "\nnever leaf\n"), CT_ERR_FORMAT);
    assert_string_equal(ct_ctx_error(f->ctx),
                        "b:2: never leaf: this code ran 20 times in the trace, so the result would be below "
                        "observed times; remove the line, or write 'leaf == 0' if such runs do not count");
    const struct ct_wcet_result r = solve(f, true);
    assert_int_equal(r.wcet, before - 2 * (5 + 11 + 13) - 100 + 19);
    assert_int_equal(ct_wcet_bounds(f->wcet, "bounds", "2 leaf + 1 <= main + 13 - 0x400024"), CT_OK);
    const struct ct_wcet_result fewer = solve(f, true);
    assert_int_equal(fewer.wcet, r.wcet - 2 * (5 + 11 + 13));
    assert_int_equal(ct_wcet_bounds(f->wcet, "bounds", "leaf >= 7"), CT_OK);
    struct ct_wcet_result none;
    const struct ct_wcet_options options = {.size = sizeof options, .entry = f->entry};
    assert_int_equal(ct_wcet_solve(f->wcet, &options, NULL, NULL, &none), CT_ERR_NOT_FOUND);
}

TEST_WITH(mistakes_are_named, f)
{
    const struct {
        const char *text, *says;
    } cases[] = {
        {"loop nowhere 3", "b:1: there is no loop at this place: 'nowhere'"},
        {"\nloop work many", "b:2: the count is not a number up to 2^31-1: 'many'"},
        {"loop work#0 3", "b:1: the number of the loop after # must be 1 or more: 'work#0'"},
        {"recursion x 3", "b:1: there is no such function: 'x'"},
        {"never 0x10", "b:1: there is no code at this place: '0x10'"},
        {"work <= 3 <= 4", "b:1: the line has more than one comparison: '<='"},
        {"work leaf", "b:1: the line is neither a statement nor a comparison"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(ct_wcet_bounds(f->wcet, "b", cases[i].text), CT_ERR_FORMAT);
        assert_memory_equal(ct_ctx_error(f->ctx), cases[i].says, strlen(cases[i].says));
    }
    struct ct_wcet_result r;
    const struct ct_wcet_options options = {.size = sizeof options, .entry = f->entry};
    assert_int_equal(ct_wcet_solve(f->wcet, &options, NULL, NULL, &r),
                     CT_ERR_NOT_FOUND); /* nothing was measured */
}

TEST_WITH(a_model_that_takes_too_long_is_refused, f)
{
    const struct ct_wcet_options options = {.size = sizeof options, .entry = f->entry};
    struct ct_wcet_model model;
    run_work(f, true, 3);
    measure(f);
    (void)solve(f, false); /* makes the loops of the model */
    assert_int_equal(ct_wcet_model_init(&model, f->wcet, &options), CT_OK);
    assert_int_equal(ct_wcet_model_columns(&model) | ct_wcet_model_rows(&model), CT_OK);
    assert_int_equal(ct_wcet_model_refuse(&model, 30), CT_ERR_LIMIT);
    assert_string_equal(
        ct_ctx_error(f->ctx),
        "work: the model could not be solved in 30 s of processor time; it has 10 constraints and 2 "
        "functions, and 22 % of its edges never ran; omit these with --unobserved exclude (the result is "
        "then no bound), or allow more time with --seconds, or take functions out of the model in the file "
        "of bounds: 'measured leaf' (leaves 85 % of it)");
    ct_wcet_model_free(&model);
}

TEST(programs_are_solved)
{
    struct ct_ilp p = {0};
    uint64_t values[2], gain;
    bool relaxed, too_long;
    uint32_t x, y;
    assert_int_equal(ct_ilp_column(&p, "x", 3, &x), CT_OK);
    assert_int_equal(ct_ilp_column(&p, "y", 2, &y), CT_OK);
    assert_int_equal(ct_ilp_row(&p, "sum", CT_ILP_LE, 7), CT_OK);
    assert_int_equal(ct_ilp_term(&p, x, 2) | ct_ilp_term(&p, y, 1), CT_OK);
    assert_int_equal(ct_ilp_row(&p, "most", CT_ILP_LE, 4), CT_OK);
    assert_int_equal(ct_ilp_term(&p, y, 1), CT_OK);
    int rc = ct_ilp_solve(NULL, &p, 30, values, &gain, &relaxed, &too_long);
    if (rc == CT_ERR_UNSUPPORTED)
        tap_skip(NO_SOLVER);
    assert_int_equal(rc, CT_OK);
    assert_true(gain == 12 && values[x] == 2 && values[y] == 3);
    assert_int_equal(ct_ilp_row(&p, "least", CT_ILP_GE, 9), CT_OK);
    assert_int_equal(ct_ilp_term(&p, y, 1), CT_OK);
    assert_int_equal(ct_ilp_solve(NULL, &p, 30, values, &gain, &relaxed, &too_long), CT_ERR_NOT_FOUND);
    ct_ilp_free(&p);
    assert_int_equal(ct_ilp_column(&p, "x", 1, &x), CT_OK);
    assert_int_equal(ct_ilp_row(&p, "least", CT_ILP_GE, 1), CT_OK);
    assert_int_equal(ct_ilp_term(&p, x, 1), CT_OK);
    struct ct_ctx *ctx = ct_ctx_new();
    assert_int_equal(ct_ilp_solve(ctx, &p, 30, values, &gain, &relaxed, &too_long), CT_ERR_LIMIT);
    assert_non_null(strstr(ct_ctx_error(ctx), "one of its cycles is unbounded"));
    ct_ctx_free(ctx);
    ct_ilp_free(&p);
}

TEST(terms_add_up_within_a_row)
{
    struct ct_ilp p = {0};
    uint32_t x, y;
    assert_int_equal(ct_ilp_column(&p, "x", 1, &x) | ct_ilp_column(&p, "y", 1, &y), CT_OK);
    assert_int_equal(ct_ilp_row(&p, "first", CT_ILP_LE, 7), CT_OK);
    assert_int_equal(ct_ilp_term(&p, x, 2) | ct_ilp_term(&p, y, 1) | ct_ilp_term(&p, x, 3), CT_OK);
    assert_int_equal(ct_ilp_row(&p, "second", CT_ILP_LE, 4), CT_OK);
    assert_int_equal(ct_ilp_term(&p, x, -1), CT_OK);
    assert_int_equal(p.term_count, 3);
    assert_int_equal(p.rows[0].count, 2);
    assert_int_equal(p.rows[1].count, 1);
    assert_true(p.terms[0].factor == 5 && p.terms[1].factor == 1 && p.terms[2].factor == -1);
    ct_ilp_free(&p);
}
