/* SPDX-License-Identifier: Apache-2.0 */
/* Checks threads of the M profile: which thread the mark of an exception return names, and whether it is
 * marked as a guess. */
#include <stdbool.h>

#include "four_functions.h"
#include "support/m_profile.h"
#include "support/step_list.h"
#include "support/unit.h"

struct fixture {
    struct ct_m_threads *threads;
    struct step_list steps;
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    *state = &f;
    return ct_graph_new(NULL, &f.steps.graph);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_m_threads_free(f->threads);
    ct_graph_free(f->steps.graph);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Adds a step of one instruction at `addr` that leaves it by an edge of `kind` to `next`. */
static void step(struct fixture *f, uint64_t addr, uint8_t type, uint8_t sub, uint8_t kind, uint64_t next)
{
    step_list_add(&f->steps, step_node(addr, 1, type, sub),
                  (struct ct_edge){.next = next, .exec = 1, .kind = kind}, 0);
}

static void call(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_BR, CT_INSN_SUB_LINK, CT_EDGE_NEXT, to);
}

static void ret(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_RET, to ? CT_EDGE_NEXT : CT_EDGE_OPEN, to);
}

static void mark(struct fixture *f, struct ct_elem elem)
{
    step_list_mark(&f->steps, elem);
}

/* Adds an instruction at `addr`, then a handler that returns to `next`. Returns the index of the mark. */
static size_t handle(struct fixture *f, uint64_t addr, uint64_t next)
{
    step(f, addr, CT_INSN_OTHER, 0, CT_EDGE_INTERRUPTED, addr + 4);
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = addr + 4});
    ret(f, IRQ, next);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    return f->steps.mark_count - 1;
}

/* Thread 0 waits in work(), called at MAIN; thread 1, called at LEAF or not seen to be called, is interrupted
 * there, too. Returns the index of the mark of the return to one of them. */
static size_t yield_at_one_place(struct fixture *f, bool is_called)
{
    call(f, MAIN, WORK);
    handle(f, WORK, is_called ? LEAF : WORK);
    if (is_called)
        call(f, LEAF, WORK);
    return handle(f, WORK, WORK + 4);
}

/* Ends the stream and checks that mark `index` names `thread` with `flags`, and the other possible
 * threads. */
static void expect(struct fixture *f, size_t index, uint64_t thread, unsigned flags, uint64_t others)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_END});
    struct ct_step_batch batch = step_list_batch(&f->steps);
    assert_int_equal(decide_threads(&f->threads, &batch), CT_OK);
    assert_int_equal(batch.mark_count, f->steps.mark_count);
    assert_int_equal(batch.marks[index].n, 1);
    assert_int_equal(batch.marks[index].value, thread);
    assert_int_equal(batch.marks[index].elem.n, flags);
    assert_int_equal(batch.marks[index].elem.v, others);
}

TEST_WITH(a_return_tells_threads_apart, f)
{
    const size_t at = yield_at_one_place(f, true);
    ret(f, WORK + 4, LEAF + 4);
    expect(f, at, 1, 0, 0);
}

/* The target of the return is not in the trace: that is no new thread. */
TEST_WITH(a_return_to_nowhere_tells_nothing, f)
{
    const size_t at = yield_at_one_place(f, true);
    ret(f, WORK + 4, 0);
    expect(f, at, 0, CT_RETURN_GUESSED, 3);
}

/* A handler runs while the thread is not decided, and returns to where it was taken, where no thread
 * waits. */
TEST_WITH(a_handler_keeps_it_open, f)
{
    const size_t at = yield_at_one_place(f, true);
    handle(f, WORK + 4, WORK + 8);
    ret(f, WORK + 8, LEAF + 4);
    expect(f, at, 1, 0, 0);
}

/* The handler returns to where the other thread waits. */
TEST_WITH(a_handler_may_switch_again, f)
{
    const size_t at = yield_at_one_place(f, true);
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = WORK + 4});
    ret(f, IRQ, WORK + 4);
    mark(f, (struct ct_elem){.kind = CT_ELEM_RETURN});
    ret(f, WORK + 4, LEAF + 4);
    expect(f, at, 0, CT_RETURN_GUESSED, 3);
}

/* The other thread may have been called at the same place, which nobody saw. */
TEST_WITH(a_thread_whose_calls_are_unknown_is_no_less_likely, f)
{
    const size_t at = yield_at_one_place(f, false);
    ret(f, WORK + 4, MAIN + 4);
    expect(f, at, 0, CT_RETURN_GUESSED, 3);
}

/* Both were called at the same place: their stacks are the same, but not what they counted. */
TEST_WITH(threads_that_are_alike_are_a_guess, f)
{
    call(f, MAIN, WORK);
    handle(f, WORK, MAIN);
    call(f, MAIN, WORK);
    expect(f, handle(f, WORK, WORK + 4), 0, CT_RETURN_GUESSED, 3);
}

/* The handler of a fault let its thread continue behind the instruction, after another thread had run. */
TEST_WITH(a_thread_continues_behind_a_fault, f)
{
    handle(f, MAIN, LEAF);
    const size_t at = handle(f, LEAF, MAIN + 4 + 2);
    expect(f, at, 0, 0, 0);
}

/* Each handler goes on where no thread waits. There is one thread more than can be told apart, which
 * may be the first one. */
TEST_WITH(a_thread_too_many_is_a_guess, f)
{
    size_t at = 0;
    for (unsigned i = 0; i < CT_M_THREADS; i++)
        at = handle(f, WORK + 16 * i, WORK + 16 * (i + 1));
    expect(f, at, 0, CT_RETURN_NEW | CT_RETURN_GUESSED, 0);
}
