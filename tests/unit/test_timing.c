/* SPDX-License-Identifier: Apache-2.0 */
/* Checks times: distributions, and runs of functions with exceptions, threads and recursion in between. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "analysis/dist.h"
#include "base/fnv.h"
#include "coretap/timing.h"
#include "four_functions.h"
#include "support/m_profile.h"
#include "support/step_list.h"
#include "support/unit.h"

#define EXC_RETURN 0xfffffffdu
#define MOST       32

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_symbols *loaded;
    struct ct_program_place place;
    struct ct_timing *timing;
    struct step_list steps;
    struct ct_m_threads *threads; /* for the M profile */
    bool has_threads;
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    elf64_build(f.file, four_functions, 4);
    const struct ct_timing_options options = {
        .size = sizeof options, .programs = &f.place, .program_count = 1};
    *state = &f;
    if (ct_symbols_load_bytes(NULL, "test", f.file, sizeof f.file, 0, &f.loaded))
        return 1;
    f.place.symbols = f.loaded;
    return ct_graph_new(NULL, &f.steps.graph) || ct_timing_new(NULL, &options, &f.timing);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_m_threads_free(f->threads);
    ct_timing_free(f->timing);
    ct_graph_free(f->steps.graph);
    ct_symbols_free(f->loaded);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Adds a step of one instruction at `addr` that leaves it by an edge of `kind` to `next`. */
static void leave(struct fixture *f, uint64_t addr, uint8_t type, uint8_t sub, uint8_t kind, uint64_t next,
                  uint32_t cycles)
{
    step_list_add(&f->steps, step_node(addr, 1, type, sub),
                  (struct ct_edge){.next = next, .exec = 1, .kind = kind}, cycles);
}

/* Adds a step of one instruction at `addr`, which continues at `next`. */
static void step(struct fixture *f, uint64_t addr, uint8_t type, uint8_t sub, uint64_t next, uint32_t cycles)
{
    leave(f, addr, type, sub, CT_EDGE_NEXT, next, cycles);
}

static void call(struct fixture *f, uint64_t from, uint64_t to, uint32_t cycles)
{
    step(f, from, CT_INSN_BR, CT_INSN_SUB_LINK, to, cycles);
}

static void ret(struct fixture *f, uint64_t from, uint64_t to, uint32_t cycles)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_RET, to, cycles);
}

static void mark(struct fixture *f, struct ct_elem elem)
{
    step_list_mark(&f->steps, elem);
}

static void context(struct fixture *f, uint32_t ctxt)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = ctxt});
}

static void exception(struct fixture *f, uint64_t resumes_at)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = resumes_at});
}

/* Adds a branch at `addr` to `next`, and an exception before anything at `next` ran. */
static void interrupted(struct fixture *f, uint64_t addr, uint8_t type, uint8_t sub, uint64_t next,
                        uint32_t cycles)
{
    leave(f, addr, type, sub, CT_EDGE_INTERRUPTED, next, cycles);
    exception(f, next);
}

static void trace_on(struct fixture *f)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_TRACE_ON, .n = CT_TRACE_ON_FILTER});
}

/* Adds a handler of one instruction. */
static void handle(struct fixture *f, uint64_t resumes_at, uint32_t cycles)
{
    step(f, IRQ, CT_INSN_IBR, CT_INSN_SUB_ERET, resumes_at, cycles);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
}

/* Runs everything in one batch, or in batches of `most` steps. */
static void run(struct fixture *f, size_t most)
{
    struct step_piece piece = {0};
    while (step_list_next(&f->steps, most, &piece)) {
        if (f->has_threads)
            assert_int_equal(decide_threads(&f->threads, &piece.batch), CT_OK);
        assert_int_equal(ct_timing_add(f->timing, &piece.batch), CT_OK);
    }
}

static const struct ct_timing_function *function(const struct fixture *f, const char *name)
{
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(f->timing, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    fail_msg("no function %s", name);
    return NULL;
}

TEST_WITH(calls_nest, f)
{
    call(f, MAIN, WORK, 1);
    call(f, WORK, LEAF, 10);
    ret(f, LEAF, WORK + 4, 100);
    ret(f, WORK + 4, MAIN + 4, 1000);
    run(f, 1);
    assert_int_equal(function(f, "work")->inclusive.sum, 1110);
    assert_int_equal(function(f, "work")->self.sum, 1010);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 100);
    assert_int_equal(function(f, "main")->cycles, 1);
    assert_int_equal(function(f, "work")->preempted.count, 0);
}

/* Only functions that execution reached are listed. Asking for them in between changes no number. */
TEST_WITH(functions_are_listed_in_the_order_of_the_program, f)
{
    size_t count;
    ret(f, LEAF, WORK, 1);
    call(f, WORK, LEAF, 10);
    run(f, 1);
    const struct ct_timing_function *all = ct_timing_functions(f->timing, &count);
    assert_int_equal(count, 3); /* the first one is code in no program */
    assert_true(all[1].addr < all[2].addr);
    f->steps.count = 0;
    call(f, LEAF, MAIN, 100);
    ret(f, MAIN, LEAF + 4, 1000);
    ret(f, LEAF + 4, WORK + 4, 10000);
    run(f, 1);
    all = ct_timing_functions(f->timing, &count);
    assert_int_equal(count, 4);
    for (size_t i = 2; i < count; i++)
        assert_true(all[i - 1].addr < all[i].addr);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 11100);
    assert_int_equal(function(f, "leaf")->self.sum, 10100);
    assert_int_equal(function(f, "main")->inclusive.sum, 1000);
    assert_int_equal(function(f, "work")->cycles, 10);
}

/* A handler's cycles are its own; the functions that it interrupted have their number separately. */
TEST_WITH(exceptions_are_apart, f)
{
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
    exception(f, WORK + 4);
    call(f, IRQ, LEAF, 200);
    ret(f, LEAF, IRQ + 4, 300);
    step(f, IRQ + 4, CT_INSN_IBR, CT_INSN_SUB_ERET, WORK + 4, 400);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    ret(f, WORK + 4, MAIN + 4, 20);
    run(f, MOST);
    assert_int_equal(function(f, "work")->inclusive.sum, 30);
    assert_int_equal(function(f, "work")->preempted.sum, 900);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 300);
    assert_int_equal(function(f, "irq")->cycles, 600);
    assert_int_equal(ct_timing_totals_of(f->timing).exceptions, 1);
    assert_int_equal(ct_timing_totals_of(f->timing).cycles, 931);
}

TEST_WITH(threads_are_apart, f)
{
    context(f, 1);
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
    context(f, 2);
    call(f, MAIN, WORK, 1);
    ret(f, WORK + 4, MAIN + 4, 500);
    context(f, 1);
    ret(f, WORK + 4, MAIN + 4, 20);
    run(f, 2);
    const struct ct_timing_function *work = function(f, "work");
    assert_int_equal(work->inclusive.count, 2);
    assert_int_equal(work->inclusive.min, 30);
    assert_int_equal(work->inclusive.max, 500);
    assert_int_equal(work->preempted.sum, 501);
    assert_int_equal(work->recursive.count, 0);
    assert_int_equal(ct_timing_totals_of(f->timing).switches, 2);
}

TEST_WITH(recursion_counts_once, f)
{
    call(f, MAIN, WORK, 1);
    call(f, WORK, WORK, 10);
    call(f, WORK, WORK, 10);
    ret(f, WORK + 4, WORK + 4, 10);
    ret(f, WORK + 4, WORK + 4, 10);
    ret(f, WORK + 4, MAIN + 4, 10);
    run(f, MOST);
    const struct ct_timing_function *work = function(f, "work");
    assert_int_equal(work->inclusive.count, 1);
    assert_int_equal(work->inclusive.sum, 50);
    assert_int_equal(work->recursive.count, 2);
    assert_int_equal(work->recursive.sum, 10 + 30);
    assert_int_equal(work->self.sum, 50);
}

/* work() ends with a jump to leaf(), whose return is that of both. */
TEST_WITH(tail_calls_return_together, f)
{
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_BR, CT_INSN_SUB_NONE, LEAF, 10);
    ret(f, LEAF, MAIN + 4, 5);
    run(f, MOST);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 5);
    assert_int_equal(function(f, "work")->inclusive.sum, 15);
}

/* Exceptions directly after a branch, before its target ran: the branch takes effect first. Traced and
 * untraced handlers alternate. */
TEST_WITH(branches_happen_before_exceptions, f)
{
    interrupted(f, MAIN, CT_INSN_BR, CT_INSN_SUB_LINK, WORK, 1);
    trace_on(f);
    interrupted(f, WORK, CT_INSN_BR, CT_INSN_SUB_LINK, LEAF, 10);
    handle(f, LEAF, 1000);
    interrupted(f, LEAF, CT_INSN_IBR, CT_INSN_SUB_RET, WORK + 4, 100);
    trace_on(f);
    interrupted(f, WORK + 4, CT_INSN_BR, CT_INSN_SUB_NONE, LEAF, 20);
    handle(f, LEAF, 1000);
    interrupted(f, LEAF, CT_INSN_IBR, CT_INSN_SUB_RET, MAIN + 4, 300);
    handle(f, MAIN + 4, 1000);
    step(f, MAIN + 4, CT_INSN_OTHER, 0, MAIN + 8, 1);
    run(f, MOST);
    const struct ct_timing_function *leaf = function(f, "leaf");
    assert_int_equal(leaf->runs, 2);
    assert_int_equal(leaf->inclusive.count, 2);
    assert_int_equal(leaf->inclusive.sum, 400);
    assert_int_equal(function(f, "work")->inclusive.sum, 430);
    assert_int_equal(function(f, "work")->preempted.sum, 2000);
    assert_int_equal(function(f, "work")->cut + leaf->cut, 0);
    assert_int_equal(ct_timing_totals_of(f->timing).exceptions, 5);
}

/* A thread switch directly after a call: the called function ran when its thread was back. The other thread
 * was switched directly after its return. */
TEST_WITH(branches_happen_before_switches, f)
{
    context(f, 1);
    interrupted(f, MAIN, CT_INSN_BR, CT_INSN_SUB_LINK, WORK, 1);
    trace_on(f);
    context(f, 2);
    call(f, MAIN, WORK, 2);
    interrupted(f, WORK, CT_INSN_IBR, CT_INSN_SUB_RET, MAIN + 4, 500);
    context(f, 1);
    handle(f, WORK, 1000);
    ret(f, WORK, MAIN + 4, 10);
    exception(f, MAIN + 4);
    context(f, 2);
    handle(f, MAIN + 4, 1000);
    step(f, MAIN + 4, CT_INSN_OTHER, 0, MAIN + 8, 1);
    run(f, 3);
    const struct ct_timing_function *work = function(f, "work");
    assert_int_equal(work->runs, 2);
    assert_int_equal(work->inclusive.count, 2);
    assert_int_equal(work->inclusive.min, 10);
    assert_int_equal(work->inclusive.max, 500);
    assert_int_equal(work->cut, 0);
}

/* The next exception came directly after the return from an untraced handler: nothing ran in between. */
TEST_WITH(exceptions_follow_each_other, f)
{
    interrupted(f, MAIN, CT_INSN_BR, CT_INSN_SUB_LINK, WORK, 1);
    trace_on(f);
    exception(f, WORK);
    trace_on(f);
    ret(f, WORK, MAIN + 4, 10);
    run(f, 1);
    assert_int_equal(function(f, "work")->runs, 1);
    assert_int_equal(function(f, "work")->inclusive.sum, 10);
    assert_int_equal(function(f, "work")->cut, 0);
}

/* M profile: a load of the PC from the stack is an exception return, which the trace reports as well. */
TEST_WITH(a_jump_can_return_from_an_exception, f)
{
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
    exception(f, WORK + 4);
    step(f, IRQ, CT_INSN_OTHER, 0, IRQ + 4, 100);
    exception(f, IRQ + 4);
    step(f, LEAF, CT_INSN_IBR, CT_INSN_SUB_NONE, IRQ + 4, 1000);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    step(f, IRQ + 4, CT_INSN_IBR, CT_INSN_SUB_NONE, WORK + 4, 100);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    ret(f, WORK + 4, MAIN + 4, 20);
    run(f, 1);
    assert_int_equal(function(f, "work")->inclusive.sum, 30);
    assert_int_equal(function(f, "work")->preempted.sum, 1200);
    assert_int_equal(function(f, "work")->cut, 0);
}

/* Adds a handler of the M profile: one instruction of 100 cycles, which continues at `next`. */
static void end_handler(struct fixture *f, uint64_t addr, uint64_t next)
{
    f->has_threads = true;
    ret(f, addr, next, 100);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
}

/* Adds the same, followed at once by another handler. Some trace units report the return. */
static void chain_handler(struct fixture *f, uint64_t addr, bool returns)
{
    leave(f, addr, CT_INSN_IBR, CT_INSN_SUB_RET, CT_EDGE_INTERRUPTED, returns ? EXC_RETURN : 0, 100);
    if (returns)
        mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = EXC_RETURN});
}

/* A second handler is tail-chained to the first one, then work() continues, or another thread, which is in
 * work(), too. */
TEST_WITH(threads_change_in_handlers, f)
{
    static const uint64_t places[] = {WORK + 4, WORK + 12};
    for (size_t i = 0; i < 2; i++) {
        call(f, MAIN, WORK, 1);
        step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
        exception(f, WORK + 4);
        chain_handler(f, IRQ, i == 0);
        end_handler(f, LEAF, places[i]);
        ret(f, places[i], MAIN + 4, 20);
    }
    run(f, 1);
    assert_int_equal(function(f, "irq")->inclusive.sum, 200);
    assert_int_equal(function(f, "work")->inclusive.count, 1);
    assert_int_equal(function(f, "work")->inclusive.sum, 30);
    assert_int_equal(function(f, "work")->preempted.sum, 200);
    assert_int_equal(function(f, "work")->cut, 0);
}

/* M profile: a handler is interrupted before its first instruction. */
TEST_WITH(a_handler_may_be_interrupted_at_once, f)
{
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
    exception(f, WORK + 4);
    exception(f, IRQ);
    end_handler(f, LEAF, IRQ);
    end_handler(f, IRQ, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, 20);
    run(f, 1);
    assert_int_equal(function(f, "irq")->inclusive.sum, 100);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 100);
    assert_int_equal(function(f, "work")->inclusive.sum, 30);
}

/* M profile: an exception arrives late and goes first. The earlier one follows, before which a third one
 * arrives late. */
TEST_WITH(exceptions_may_arrive_late, f)
{
    for (size_t i = 0; i < 2; i++) {
        call(f, MAIN, WORK, 1);
        step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
        exception(f, WORK + 4);
        exception(f, WORK + 4);
        chain_handler(f, LEAF, i == 0);
        exception(f, EXC_RETURN);
        chain_handler(f, LEAF, i == 0);
        end_handler(f, IRQ, WORK + 4);
        ret(f, WORK + 4, MAIN + 4, 20);
    }
    run(f, 1);
    assert_int_equal(function(f, "irq")->inclusive.sum, 200);
    assert_int_equal(function(f, "leaf")->inclusive.sum, 400);
    assert_int_equal(function(f, "work")->inclusive.count, 2);
    assert_int_equal(function(f, "work")->inclusive.sum, 60);
}

/* M profile: each of two threads in work() continues where it was interrupted, so that both runs are whole.
 * The handlers are functions, which run from the exception to the exception return. */
TEST_WITH(threads_go_on_where_they_were_interrupted, f)
{
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 4, 10);
    exception(f, WORK + 4);
    end_handler(f, IRQ, MAIN);
    call(f, MAIN, WORK, 1);
    step(f, WORK, CT_INSN_OTHER, 0, WORK + 8, 5);
    exception(f, WORK + 8);
    end_handler(f, IRQ, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, 20);
    step(f, MAIN + 4, CT_INSN_OTHER, 0, MAIN + 8, 1);
    exception(f, MAIN + 8);
    end_handler(f, IRQ, WORK + 8);
    ret(f, WORK + 8, MAIN + 4, 40);
    run(f, 1);
    assert_int_equal(function(f, "work")->inclusive.count, 2);
    assert_int_equal(function(f, "work")->inclusive.min, 30);
    assert_int_equal(function(f, "work")->inclusive.max, 45);
    assert_int_equal(function(f, "work")->cut, 0);
    assert_int_equal(function(f, "irq")->inclusive.count, 3);
    assert_int_equal(function(f, "irq")->inclusive.sum, 300);
}

/* Makes two threads wait at the same place in work(), which is called at MAIN and at `second`. The first one
 * to continue returns to the place after MAIN. */
static void wait_at_one_place(struct fixture *f, uint64_t second)
{
    const uint64_t callers[] = {MAIN, second};
    for (size_t i = 0; i < 2; i++) {
        call(f, callers[i], WORK, 1);
        step(f, WORK, CT_INSN_OTHER, 0, WORK + 8, i ? 5 : 10);
        exception(f, WORK + 8);
        end_handler(f, IRQ, i ? WORK + 8 : second);
    }
    ret(f, WORK + 8, MAIN + 4, 40);
    step(f, MAIN + 4, CT_INSN_OTHER, 0, MAIN + 8, 1);
    exception(f, MAIN + 8);
    end_handler(f, IRQ, WORK + 8);
    ret(f, WORK + 8, second + 4, 20);
    run(f, 1);
}

/* The places that they return to distinguish the threads, but only afterwards. */
TEST_WITH(threads_at_one_place_are_told_apart, f)
{
    wait_at_one_place(f, MAIN + 12);
    assert_int_equal(function(f, "work")->inclusive.count, 2);
    assert_int_equal(function(f, "work")->inclusive.min, 25);
    assert_int_equal(function(f, "work")->inclusive.max, 50);
    assert_int_equal(function(f, "work")->cut, 0);
}

/* When nothing distinguishes the threads, no run counts for both. */
TEST_WITH(threads_that_are_alike_are_cut, f)
{
    wait_at_one_place(f, MAIN);
    assert_int_equal(function(f, "work")->inclusive.count, 0);
    assert_int_equal(function(f, "work")->cut, 2);
}

/* A run cut by a gap counts as begun but not as whole. */
TEST_WITH(gaps_cut_runs, f)
{
    call(f, MAIN, WORK, 1);
    mark(f, (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW});
    mark(f, (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_UNPLACED, .v = 77});
    ret(f, WORK + 4, MAIN + 4, 20);
    run(f, 1);
    const struct ct_timing_function *work = function(f, "work");
    assert_int_equal(work->runs, 1);
    assert_int_equal(work->cut, 1);
    assert_int_equal(work->inclusive.count, 0);
    const struct ct_timing_totals totals = ct_timing_totals_of(f->timing);
    assert_int_equal(totals.cycles, 98);
    assert_int_equal(totals.unplaced, 77);
    assert_int_equal(totals.edges, 21);
    assert_int_equal(totals.gaps, 1);
}

TEST_WITH(steps_without_cycles_cut_runs, f)
{
    call(f, MAIN, WORK, 1);
    ret(f, WORK, MAIN + 4, CT_STEP_NO_CYCLES);
    run(f, MOST);
    assert_int_equal(function(f, "work")->cut, 1);
    assert_int_equal(ct_timing_totals_of(f->timing).untimed, 1);
}

TEST(buckets_are_eighths)
{
    for (unsigned i = 0; i < CT_DIST_BUCKETS; i++) {
        uint64_t start = ct_dist_bucket_start(i);
        assert_int_equal(ct_dist_bucket(start), i);
        if (i) {
            assert_int_equal(ct_dist_bucket(start - 1), i - 1);
            assert_true(start - ct_dist_bucket_start(i - 1) <= start / 8 + 1);
        }
    }
    assert_int_equal(ct_dist_bucket(UINT64_MAX), CT_DIST_BUCKETS - 1);
}

TEST(distributions_add_up)
{
    struct ct_dist a = {0};
    struct ct_dist b = {0};
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(ct_dist_add(i % 2 ? &a : &b, i, true), CT_OK);
    assert_int_equal(ct_dist_merge(&a, &b), CT_OK);
    assert_int_equal(a.count, 100);
    assert_int_equal(a.min, 1);
    assert_int_equal(a.max, 100);
    assert_true(fabs(ct_dist_mean(&a) - 50.5) < 1e-9);
    assert_true(fabs(ct_dist_deviation(&a) - sqrt(9999.0 / 12)) < 1e-9);
    assert_int_equal(ct_dist_quantile(&a, 1), 100);
    assert_int_equal(ct_dist_quantile(&a, 0.05), 5);
    assert_in_range(ct_dist_quantile(&a, 0.5), 50, 56);
    ct_dist_free(&a);
    ct_dist_free(&b);
}

/* A histogram has room for the values that came, and at most twice that. */
TEST(histograms_are_as_long_as_needed)
{
    struct ct_dist near = {0};
    struct ct_dist far = {0};
    assert_int_equal(ct_dist_add(&near, 3, true), CT_OK);
    assert_int_equal(near.buckets, 16);
    assert_int_equal(ct_dist_make_room(&near, 511), CT_OK);
    assert_in_range(near.buckets, ct_dist_bucket(511) + 1, 2 * (ct_dist_bucket(511) + 1));
    assert_int_equal(near.histogram[3], 1);
    for (unsigned i = 4; i < near.buckets; i++)
        assert_int_equal(near.histogram[i], 0);
    assert_int_equal(ct_dist_add_times(&far, UINT64_MAX, 2, true), CT_OK);
    assert_int_equal(far.buckets, CT_DIST_BUCKETS);
    assert_int_equal(ct_dist_merge(&near, &far), CT_OK);
    assert_int_equal(near.buckets, CT_DIST_BUCKETS);
    assert_int_equal(near.histogram[3], 1);
    assert_int_equal(near.histogram[CT_DIST_BUCKETS - 1], 2);
    assert_int_equal(ct_dist_quantile(&near, 1), UINT64_MAX);
    ct_dist_free(&near);
    assert_int_equal(near.buckets, 0);
    ct_dist_free(&far);
}

/* Loads a file of one edge, whose line is `edge` in the form of `version`. */
static int load_edge(struct ct_timing_sums *sums, int version, const char *edge)
{
    char text[400];
    const int body = snprintf(text, sizeof text,
                              "coretap-timing %d\ncaptures 0\ntotals 4 4 0 1 0 0 0 0 0\nedge %s\n"
                              "cycles 1 4 4 4 0 10 4 1\n",
                              version, edge);
    const uint64_t sum = ct_fnv(CT_FNV_BEGIN, text, (size_t)body);
    const int end = snprintf(text + body, sizeof text - (size_t)body, "end %016" PRIx64 "\n", sum);
    return ct_analysis_load(ct_timing_sums_analysis(sums), "saved", text, (size_t)(body + end));
}

/* What a file of an older version lacks is taken from a newer one, in either order. */
TEST(older_files_are_read)
{
    for (int turned = 0; turned < 2; turned++) {
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_timing_sums *sums;
        struct ct_timing_found found;
        assert_int_equal(ct_timing_sums_new(ctx, NULL, &sums), CT_OK);
        if (turned)
            assert_int_equal(load_edge(sums, 3, "- 10 14 18 0 - 20 0 1 1 0 2 4"), CT_OK);
        assert_int_equal(load_edge(sums, 1, "- 10 14 18 0 - 20 0 1 1 0"), CT_OK);
        assert_int_equal(load_edge(sums, 2, "- 10 14 18 0 - 20 0 1 1 0 2"), CT_OK);
        assert_int_equal(ct_timing_sums_find(sums, &found), CT_OK);
        assert_int_equal(found.edge_count, 1);
        assert_int_equal(found.edges[0].branch, turned ? CT_TIMING_BRANCH_CALL : CT_TIMING_BRANCH_UNKNOWN);
        if (!turned)
            assert_int_equal(load_edge(sums, 3, "- 10 14 18 0 - 20 0 1 1 0 2 4"), CT_OK);
        assert_int_equal(ct_timing_sums_find(sums, &found), CT_OK);
        assert_int_equal(found.edge_count, 1);
        assert_int_equal(found.edges[0].branch, CT_TIMING_BRANCH_CALL);
        assert_int_equal(found.edges[0].n, 2);
        assert_int_equal(found.edges[0].count, 3);
        assert_int_equal(load_edge(sums, 3, "- 10 14 18 0 - 20 0 1 1 0 2 6"), CT_ERR_FORMAT);
        assert_int_equal(load_edge(sums, 3, "- 10 14 18 0 - 20 0 1 1 0 2"), CT_ERR_FORMAT);
        assert_int_equal(load_edge(sums, 2, "- 10 14 18 0 - 20 0 1 1 0 2 4"), CT_ERR_FORMAT);
        ct_timing_sums_free(sums);
        ct_ctx_free(ctx);
    }
}

/* Returns an event of a watchpoint in a context with a known ID. */
static struct ct_watch_event event(uint64_t cycle, uint32_t watch, enum ct_watch_kind kind, uint32_t ctxt)
{
    return (struct ct_watch_event){
        .cycle = cycle, .watch = watch, .kind = (uint8_t)kind, .ctxt = ctxt, .known = CT_CONTEXT_CTXT};
}

/* A change of context may begin a pair and end it, and then does not count as a change in between. */
TEST_WITH(contexts_are_ends_of_pairs, f)
{
    enum {
        EXCEPTION,
        CONTEXT,
        TO_2 = 5,
        FROM_1,
        AT,
        FROM_1_AGAIN
    }; /* watchpoints, in the order of addition */
    const struct ct_watch_event events[] = {event(10, CONTEXT, CT_WATCH_CONTEXT, 1),
                                            event(10, FROM_1, CT_WATCH_CONTEXT, 1),
                                            event(10, FROM_1_AGAIN, CT_WATCH_CONTEXT, 1),
                                            event(30, AT, CT_WATCH_ADDR, 2),
                                            event(40, AT, CT_WATCH_ADDR, 1),
                                            event(50, CONTEXT, CT_WATCH_CONTEXT, 2),
                                            event(50, TO_2, CT_WATCH_CONTEXT, 2),
                                            event(60, CONTEXT, CT_WATCH_CONTEXT, 1),
                                            event(60, FROM_1, CT_WATCH_CONTEXT, 1),
                                            event(70, EXCEPTION, CT_WATCH_EXCEPTION, 1),
                                            event(90, CONTEXT, CT_WATCH_CONTEXT, 2),
                                            event(90, TO_2, CT_WATCH_CONTEXT, 2)};
    struct ct_watches *watches;
    size_t count;
    assert_int_equal(ct_watches_new(NULL, NULL, &watches), CT_OK);
    assert_int_equal(ct_timing_add_pair(f->timing, watches, "context:1", "context:2"), CT_OK);
    assert_int_equal(ct_timing_add_pair(f->timing, watches, "context:1", "0x1000"), CT_OK);
    assert_int_equal(ct_timing_feed(f->timing, events, sizeof events / sizeof *events), CT_OK);
    const struct ct_timing_pair *pairs = ct_timing_pairs(f->timing, &count);
    assert_int_equal(count, 2);
    assert_true(pairs[0].direct.count == 1 && pairs[0].direct.min == 40);
    assert_true(pairs[0].preempted.count == 1 && pairs[0].preempted.min == 30);
    assert_true(pairs[1].direct.count == 1 && pairs[1].direct.min == 30 && !pairs[1].preempted.count);
    ct_watches_free(watches);
}

/* Programs that are announced and missing are refused. */
TEST(programs_are_needed)
{
    const struct ct_timing_options options = {.size = sizeof options, .program_count = 1};
    struct ct_timing *timing = NULL;
    assert_int_equal(ct_timing_new(NULL, &options, &timing), CT_ERR_ARG);
    assert_null(timing);
}
