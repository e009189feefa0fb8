/* SPDX-License-Identifier: Apache-2.0 */
/* Checks stacks of calls: exceptions directly after a branch, before its target ran; branches that are
 * returns, and branches that only look like returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/transfer.h"
#include "coretap/format.h"
#include "coretap/stacks.h"
#include "four_functions.h"
#include "support/m_profile.h"
#include "support/step_list.h"
#include "support/unit.h"

#define MOST       16
#define EXC_RETURN 0xfffffffdu

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_symbols *loaded;
    struct ct_program_place program;
    struct ct_programs *programs;
    struct ct_stacks *stacks;
    struct step_list steps;
    uint32_t open[MOST]; /* functions that have begun and not ended */
    size_t depth;
    uint8_t isa;
    uint64_t renewed;             /* number of stacks that begin anew */
    struct ct_m_threads *threads; /* for the M profile, or NULL */
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    elf64_build(f.file, four_functions, 4);
    ((Elf64_Ehdr *)f.file)->e_entry = MAIN;
    *state = &f;
    if (ct_symbols_load_bytes(NULL, "test", f.file, sizeof f.file, 0, &f.loaded) ||
        ct_graph_new(NULL, &f.steps.graph))
        return 1;
    f.program.symbols = f.loaded;
    const struct ct_stack_options options = {
        .size = sizeof options, .programs = &f.program, .program_count = 1, .moves = 1};
    return ct_stacks_new(NULL, &options, &f.stacks);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_m_threads_free(f->threads);
    ct_stacks_free(f->stacks);
    ct_programs_free(f->programs);
    ct_graph_free(f->steps.graph);
    ct_symbols_free(f->loaded);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Adds a step of one instruction at `addr`; an exception after it returns to `next`. */
static void step(struct fixture *f, uint64_t addr, uint8_t type, uint8_t sub, uint8_t kind, uint64_t next)
{
    struct ct_node node = step_node(addr, 1, type, sub);
    node.isa = f->isa;
    step_list_add(&f->steps, node, (struct ct_edge){.next = next, .exec = 1, .kind = kind}, 0);
}

/* Returns the steps as a batch without cycles. */
static struct ct_step_batch all(const struct fixture *f)
{
    struct ct_step_batch batch = step_list_batch(&f->steps);
    batch.cycles = NULL;
    return batch;
}

static void plain(struct fixture *f, uint64_t addr)
{
    step(f, addr, CT_INSN_OTHER, 0, CT_EDGE_NEXT, addr + 4);
}

static void call(struct fixture *f, uint64_t from, uint64_t to, uint8_t kind)
{
    step(f, from, CT_INSN_BR, CT_INSN_SUB_LINK, kind, to);
}

static void ret(struct fixture *f, uint64_t from, uint64_t to, uint8_t kind)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_RET, kind, to);
}

static void eret(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_ERET, CT_EDGE_NEXT, to);
}

/* Turns tracing off before the next step. */
static void off(struct fixture *f)
{
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_TRACE_ON});
}

static void write_stack(const struct fixture *f, const struct ct_stack_place *places, uint32_t place,
                        char *text, size_t size)
{
    if (places[place].parent != CT_STACK_NONE) {
        write_stack(f, places, places[place].parent, text, size);
        strncat(text, ";", size - strlen(text) - 1);
    }
    strncat(text, ct_stacks_name(f->stacks, places[place].function), size - strlen(text) - 1);
}

/* Checks that functions of one context end in the reverse order of their starts, whichever thread runs. */
static void check_nesting(struct fixture *f)
{
    size_t count;
    const struct ct_stack_move *moves = ct_stacks_moves(f->stacks, &count);
    for (size_t i = 0; i < count; i++) {
        if (moves[i].kind == CT_STACK_MARK || moves[i].context)
            continue;
        if (moves[i].kind == CT_STACK_ENTER) {
            assert_in_range(f->depth, 0, MOST - 1);
            f->open[f->depth++] = moves[i].of;
        } else {
            assert_in_range(f->depth, 1, MOST);
            assert_int_equal(moves[i].of, f->open[--f->depth]);
        }
    }
}

/* Compares all stacks with their instructions, as `a;b 2`, each followed by a line feed. */
static void expect(struct fixture *f, const char *want)
{
    struct ct_step_batch batch = all(f);
    if (f->isa == CT_ISA_T32)
        assert_int_equal(decide_threads(&f->threads, &batch), CT_OK);
    assert_int_equal(ct_stacks_add(f->stacks, 0, &batch), CT_OK);
    check_nesting(f);
    assert_int_equal(ct_stacks_finish(f->stacks), CT_OK);
    check_nesting(f);
    assert_int_equal(f->depth, 0);
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(f->stacks, &count);
    char got[512] = "";
    for (uint32_t i = 0; i < count; i++) {
        char number[32];
        write_stack(f, places, i, got, sizeof got);
        (void)snprintf(number, sizeof number, " %llu\n", (unsigned long long)places[i].insns);
        strncat(got, number, sizeof got - strlen(got) - 1);
    }
    assert_string_equal(got, want);
    assert_int_equal(ct_stacks_renewed(f->stacks), f->renewed);
}

TEST_WITH(untraced_handler_behind_call, f)
{
    plain(f, MAIN);
    call(f, MAIN + 4, WORK, CT_EDGE_INTERRUPTED);
    plain(f, WORK);
    ret(f, WORK + 4, MAIN + 8, CT_EDGE_NEXT);
    plain(f, MAIN + 8);
    expect(f, "main 3\nmain;work 2\n");
}

TEST_WITH(untraced_handler_behind_return, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    ret(f, WORK, MAIN + 4, CT_EDGE_INTERRUPTED);
    plain(f, MAIN + 4);
    plain(f, MAIN + 8);
    expect(f, "main 3\nmain;work 1\n");
}

TEST_WITH(untraced_handler_behind_tail_call, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    step(f, WORK, CT_INSN_BR, CT_INSN_SUB_NONE, CT_EDGE_INTERRUPTED, LEAF);
    ret(f, LEAF, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 1\nmain;leaf 1\n");
}

/* The place that the last edge leads to was not necessarily reached. */
TEST_WITH(off_behind_call, f)
{
    plain(f, MAIN);
    call(f, MAIN + 4, WORK, CT_EDGE_NEXT);
    off(f);
    plain(f, MAIN + 8);
    expect(f, "main 3\n");
}

TEST_WITH(off_behind_exception, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    step(f, WORK, CT_INSN_OTHER, 0, CT_EDGE_INTERRUPTED, WORK + 4);
    off(f);
    plain(f, WORK + 4);
    ret(f, WORK + 8, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 3\n");
}

/* The program ends with a system call and begins again: no handler begins where the program does. */
TEST_WITH(the_program_begins_again, f)
{
    for (unsigned i = 0; i < 2; i++) {
        if (i)
            off(f);
        plain(f, MAIN);
        call(f, MAIN + 4, WORK, CT_EDGE_NEXT);
        step(f, WORK, CT_INSN_OTHER, 0, CT_EDGE_INTERRUPTED, WORK + 4);
    }
    expect(f, "main 4\nmain;work 2\n");
}

/* Firmware takes exceptions in its own exception level, to an entry in the middle of its vector table. */
TEST(entries_of_a_vector_table)
{
    assert_true(ct_transfer_may_be_handler(1, 1, 0x40080a00, true, false));
    assert_true(ct_transfer_may_be_handler(3, 3, 0x80, true, false));
    assert_false(ct_transfer_may_be_handler(0, 0, 0x40080a00, true, false)); /* there is no handler at EL0 */
    assert_false(ct_transfer_may_be_handler(1, 1, 0x40080a04, true, false));
    assert_true(ct_transfer_may_be_handler(1, 0, 0x40080a04, true, false));
}

TEST_WITH(handler_behind_call, f)
{
    call(f, MAIN, WORK, CT_EDGE_INTERRUPTED);
    plain(f, IRQ);
    eret(f, IRQ + 4, WORK);
    plain(f, WORK);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 2\nmain;work;irq 2\n");
}

TEST_WITH(handler_behind_return, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    ret(f, WORK, MAIN + 4, CT_EDGE_INTERRUPTED);
    call(f, IRQ, LEAF, CT_EDGE_NEXT);
    ret(f, LEAF, IRQ + 4, CT_EDGE_NEXT);
    eret(f, IRQ + 4, MAIN + 4);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 1\nmain;irq 2\nmain;irq;leaf 1\n");
}

/* work() calls itself, and in the inner call a branch leads to the place after the call. */
TEST_WITH(branch_to_behind_recursive_call, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    call(f, WORK, WORK, CT_EDGE_NEXT);
    step(f, WORK, CT_INSN_BR, CT_INSN_SUB_NONE, CT_EDGE_NEXT, WORK + 4);
    plain(f, WORK + 4);
    ret(f, WORK + 8, WORK + 4, CT_EDGE_NEXT);
    plain(f, WORK + 4);
    ret(f, WORK + 8, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 3\nmain;work;work 3\n");
}

/* leaf() ends with a branch into the middle of main(), which waits for it: without symbols, functions that
 * have no record for unwinders look like the end of the one before. */
TEST_WITH(branch_into_a_waiting_function, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    call(f, WORK, LEAF, CT_EDGE_NEXT);
    step(f, LEAF, CT_INSN_BR, CT_INSN_SUB_NONE, CT_EDGE_NEXT, MAIN + 16);
    ret(f, MAIN + 16, WORK + 4, CT_EDGE_NEXT);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 2\nmain;work;leaf 1\nmain;work;main 1\n");
}

/* Adds an instruction of the M profile at `addr`, and an exception after it. */
static void interrupt(struct fixture *f, uint64_t addr)
{
    f->isa = CT_ISA_T32;
    step(f, addr, CT_INSN_OTHER, 0, CT_EDGE_INTERRUPTED, addr + 4);
    step_list_mark(&f->steps,
                   (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = addr + 4});
}

/* Ends a handler of the M profile with a return to `to`. */
static void end_handler(struct fixture *f, uint64_t from, uint64_t to)
{
    ret(f, from, to, CT_EDGE_NEXT);
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_RETURN});
}

/* Ends a handler of the M profile, which another one follows at once. */
static void chain_handler(struct fixture *f, uint64_t from)
{
    ret(f, from, 0, CT_EDGE_INTERRUPTED);
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = EXC_RETURN});
}

TEST_WITH(handlers_in_a_chain, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    interrupt(f, WORK);
    chain_handler(f, IRQ);
    end_handler(f, LEAF, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 2\nmain;work;irq 1\nmain;work;leaf 1\n");
}

/* A handler is interrupted before its first instruction. */
TEST_WITH(a_handler_is_interrupted_at_once, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    interrupt(f, WORK);
    step_list_mark(&f->steps,
                   (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = IRQ});
    end_handler(f, LEAF, IRQ);
    end_handler(f, IRQ, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 2\nmain;work;irq 1\nmain;work;irq;leaf 1\n");
}

/* The stream begins where one handler follows another. */
TEST_WITH(a_chain_begins_the_stream, f)
{
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_CONTEXT});
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = EXC_RETURN});
    end_handler(f, IRQ, WORK);
    plain(f, WORK);
    expect(f, "irq 1\nwork 1\n");
}

/* An exception arrives late: it goes first, and the one before it follows in a chain. Then the same where
 * there was one handler before both. */
TEST_WITH(an_exception_arrives_late, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    interrupt(f, WORK);
    step_list_mark(&f->steps,
                   (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .v = WORK + 4});
    chain_handler(f, LEAF);
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = EXC_RETURN});
    chain_handler(f, LEAF);
    end_handler(f, IRQ, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    interrupt(f, MAIN + 8);
    end_handler(f, IRQ, LEAF + 8);
    plain(f, LEAF + 8);
    expect(f, "main 3\nmain;work 2\nmain;work;leaf 2\nmain;work;irq 1\nmain;irq 1\nleaf 1\n");
}

/* The handlers that another handler is chained to are called anew, where the code was interrupted. */
TEST_WITH(calls_of_chained_handlers, f)
{
    size_t count;
    for (uint64_t at = WORK; at < WORK + 8; at += 4) {
        interrupt(f, at);
        chain_handler(f, IRQ);
        end_handler(f, LEAF, at + 4);
    }
    expect(f, "work 2\nwork;irq 2\nwork;leaf 2\n");
    const struct ct_stack_call *calls = ct_stacks_calls(f->stacks, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(calls[i].count, 1);
}

/* A handler switches threads of an operating system: the other thread begins, or continues in a function that
 * both are in. */
TEST_WITH(another_thread_goes_on, f)
{
    static const uint64_t places[] = {LEAF, WORK + 12};
    for (size_t i = 0; i < 2; i++) {
        call(f, MAIN, WORK, CT_EDGE_NEXT);
        interrupt(f, WORK);
        end_handler(f, IRQ, places[i]);
        step(f, places[i], CT_INSN_IBR, 0, CT_EDGE_NEXT, MAIN);
    }
    expect(f, "main 2\nmain;work 2\nmain;work;irq 2\nleaf 1\nwork 1\n");
}

/* The handler returns to threads that were left: each continues with its stack. */
TEST_WITH(threads_go_on, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    interrupt(f, WORK);
    end_handler(f, IRQ, LEAF + 4);
    interrupt(f, LEAF + 4);
    end_handler(f, IRQ, WORK + 4);
    ret(f, WORK + 4, MAIN + 4, CT_EDGE_NEXT);
    interrupt(f, MAIN + 4);
    end_handler(f, IRQ, LEAF + 8);
    plain(f, LEAF + 8);
    expect(f, "main 2\nmain;work 2\nmain;work;irq 1\nleaf 2\nleaf;irq 1\nmain;irq 1\n");
}

/* Both threads wait at the same place in work(): a return shows which one continued. */
TEST_WITH(threads_at_one_place, f)
{
    static const uint64_t callers[] = {MAIN, LEAF};
    for (size_t i = 0; i < 2; i++) {
        call(f, callers[i], WORK, CT_EDGE_NEXT);
        interrupt(f, WORK);
        end_handler(f, IRQ, i ? WORK + 4 : LEAF);
    }
    for (size_t i = 2; i-- > 0;) {
        plain(f, WORK + 4);
        ret(f, WORK + 8, callers[i] + 4, CT_EDGE_NEXT);
        interrupt(f, callers[i] + 4);
        end_handler(f, IRQ, i ? WORK + 4 : LEAF + 8);
    }
    plain(f, LEAF + 8);
    expect(f, "main 2\nmain;work 3\nmain;work;irq 1\nleaf 3\nleaf;work 3\nleaf;work;irq 1\nleaf;irq 1\n"
              "main;irq 1\n");
}

/* A program switches stacks itself: work() returns to a place behind no call on the stack. So does leaf()
 * afterwards, but no callers of leaf() were known that could be lost. */
TEST_WITH(return_to_another_stack, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    ret(f, WORK, LEAF + 8, CT_EDGE_NEXT);
    ret(f, LEAF + 8, IRQ + 8, CT_EDGE_NEXT);
    plain(f, IRQ + 8);
    f->renewed = 1;
    expect(f, "main 1\nmain;work 1\nleaf 1\nirq 1\n");
}

/* After a gap it is open how work() ended: losses of trace count elsewhere. */
TEST_WITH(gap_before_another_stack, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    ret(f, WORK, MAIN + 4, CT_EDGE_NEXT);
    off(f);
    plain(f, LEAF + 8);
    expect(f, "main 1\nmain;work 1\nleaf 1\n");
}

/* Old Arm code returns with MOV PC, LR. */
TEST_WITH(return_through_a_jump, f)
{
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    step(f, WORK, CT_INSN_IBR, CT_INSN_SUB_NONE, CT_EDGE_NEXT, MAIN + 4);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 1\n");
}

/* Writes the program, with RET after the calls of work() and leaf(), and begins stacks with that file. */
static void write_program(struct fixture *f, char *path)
{
    static const uint8_t ret[] = {0xc0, 0x03, 0x5f, 0xd6};
    struct ct_stack_options options = {.size = sizeof options};
    memcpy(f->file + ELF_TEXT + (WORK + 4 - TEXT), ret, sizeof ret);
    memcpy(f->file + ELF_TEXT + (LEAF + 4 - TEXT), ret, sizeof ret);
    FILE *file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    assert_int_equal(fwrite(f->file, sizeof f->file, 1, file), 1);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(ct_programs_new(NULL, NULL, &f->programs), CT_OK);
    assert_int_equal(ct_programs_add(f->programs, path, NULL, NULL, NULL), CT_OK);
    assert_int_equal(ct_programs_places(f->programs, &options.programs, &options.program_count), CT_OK);
    ct_stacks_free(f->stacks);
    assert_int_equal(ct_stacks_new(NULL, &options, &f->stacks), CT_OK);
}

/* Code of GHC leaves its functions with BL and a RET after it, when nothing has saved the link register. */
TEST_WITH(calls_that_cannot_return, f)
{
    char path[] = "/tmp/coretap-stacks-XXXXXX";
    write_program(f, path);
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    for (unsigned i = 0; i < 5; i++) {
        call(f, WORK, LEAF, CT_EDGE_NEXT);
        call(f, LEAF, WORK, CT_EDGE_NEXT);
    }
    ret(f, WORK + 8, MAIN + 4, CT_EDGE_NEXT);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 6\nmain;leaf 5\n");
    assert_int_equal(unlink(path), 0);
}

/* Measures of the output for stacks. */
struct lines {
    size_t bytes, calls, deepest, count;
    char end[24]; /* of the last line */
};

static int measure(void *user, const void *bytes, size_t size)
{
    struct lines *lines = user;
    const char *text = bytes;
    for (size_t i = 0; i < size; i++) {
        lines->calls += text[i] == ';';
        if (text[i] != '\n')
            continue;
        lines->deepest = lines->calls > lines->deepest ? lines->calls : lines->deepest;
        lines->calls = 0;
        lines->count++;
    }
    if (size >= sizeof lines->end)
        memcpy(lines->end, text + size - sizeof lines->end + 1, sizeof lines->end - 1);
    lines->bytes += size;
    return CT_OK;
}

/* Calls that never return, although their code does not show that. */
TEST_WITH(stacks_too_deep_to_write, f)
{
    enum {
        CALLS = 20000,
        MOST_WRITTEN = 1024
    };
    static uint32_t edges[CALLS];
    struct lines lines = {0};
    struct ct_stack_depth depth;
    struct ct_stack_sums *sums;
    call(f, MAIN, WORK, CT_EDGE_NEXT);
    call(f, WORK, WORK, CT_EDGE_NEXT);
    for (size_t i = 0; i < CALLS; i++)
        edges[i] = f->steps.edges[i > 0];
    const struct ct_step_batch batch = {.graph = f->steps.graph, .edge = edges, .count = CALLS};
    assert_int_equal(ct_stacks_add(f->stacks, 0, &batch), CT_OK);
    assert_int_equal(ct_stacks_finish(f->stacks), CT_OK);
    assert_int_equal(ct_stack_sums_new(NULL, NULL, &sums), CT_OK);
    assert_int_equal(ct_stack_sums_add(sums, f->stacks), CT_OK);
    assert_int_equal(ct_stack_sums_write(sums, NULL, measure, &lines), CT_OK);
    assert_int_equal(lines.count, CALLS);
    assert_int_equal(lines.deepest, MOST_WRITTEN);
    assert_true(lines.bytes < (size_t)CALLS * MOST_WRITTEN * sizeof "work;");
    assert_string_equal(lines.end, "work;work;[...];work 1\n");
    assert_int_equal(ct_stack_sums_depth(sums, &depth), CT_OK);
    assert_int_equal(depth.deepest, CALLS);
    assert_int_equal(depth.most, MOST_WRITTEN);
    assert_int_equal(depth.cut, CALLS - MOST_WRITTEN);
    ct_stack_sums_free(sums);
}

/* Functions begin and end in order, and a mark keeps its place between the steps. */
TEST_WITH(moves_in_order, f)
{
    static const struct ct_stack_move want[] = {
        {.kind = CT_STACK_ENTER},
        {.kind = CT_STACK_ENTER, .insns = 2, .steps = 2},
        {.kind = CT_STACK_MARK, .insns = 3, .steps = 3},
        {.kind = CT_STACK_LEAVE, .insns = 4, .steps = 4},
    };
    size_t count;
    plain(f, MAIN);
    call(f, MAIN + 4, WORK, CT_EDGE_NEXT);
    plain(f, WORK);
    step_list_mark(&f->steps, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP});
    ret(f, WORK + 4, MAIN + 8, CT_EDGE_NEXT);
    plain(f, MAIN + 8);
    const struct ct_step_batch batch = all(f);
    assert_int_equal(ct_stacks_add(f->stacks, 0, &batch), CT_OK);
    const struct ct_stack_move *moves = ct_stacks_moves(f->stacks, &count);
    assert_int_equal(count, sizeof want / sizeof *want);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(moves[i].kind, want[i].kind);
        assert_int_equal(moves[i].insns, want[i].insns);
        assert_int_equal(moves[i].steps, want[i].steps);
    }
    assert_string_equal(ct_stacks_name(f->stacks, moves[0].of), "main");
    assert_string_equal(ct_stacks_name(f->stacks, moves[3].of), "work");
    assert_int_equal(moves[2].of, 0);
    assert_int_equal(ct_stacks_finish(f->stacks), CT_OK);
    moves = ct_stacks_moves(f->stacks, &count);
    assert_int_equal(count, 1);
    assert_int_equal(moves[0].kind, CT_STACK_LEAVE);
}

/* Two streams that do the same have the same places, or places of their own. */
TEST_WITH(owners_have_places_of_their_own, f)
{
    const struct ct_stack_options options = {
        .size = sizeof options, .programs = &f->program, .program_count = 1, .owners = 1};
    struct ct_stack_owner owner;
    struct ct_stacks *apart;
    size_t together_count, count;
    call(f, 0x1000, 0x1010, CT_EDGE_NEXT);
    plain(f, 0x1010);
    const struct ct_step_batch batch = all(f);
    assert_int_equal(ct_stacks_new(NULL, &options, &apart), CT_OK);
    for (uint32_t lane = 3; lane < 5; lane++) {
        assert_int_equal(ct_stacks_add(f->stacks, lane, &batch), CT_OK);
        assert_int_equal(ct_stacks_add(apart, lane, &batch), CT_OK);
    }
    (void)ct_stacks_places(f->stacks, &together_count);
    const struct ct_stack_place *places = ct_stacks_places(apart, &count);
    assert_int_equal(together_count, 2);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(ct_stacks_owner(apart, i, &owner), CT_OK);
        assert_int_equal(owner.lane, 3 + i / 2);
        assert_int_equal(owner.stack, i / 2);
        assert_int_equal(places[i].parent, i % 2 ? i - 1 : CT_STACK_NONE);
        assert_int_equal(places[i].insns, 1);
    }
    assert_int_equal(ct_stacks_owner(apart, count, &owner), CT_ERR_ARG);
    assert_int_equal(ct_stacks_owner(f->stacks, 0, &owner), CT_ERR_ARG);
    ct_stacks_free(apart);
}

/* A stream has its own stack, however many contexts another one had. */
TEST_WITH(a_stream_behind_many_contexts, f)
{
    const struct ct_stack_options options = {
        .size = sizeof options, .programs = &f->program, .program_count = 1, .owners = 1};
    struct ct_step_mark context = {.kind = CT_MARK_ELEM,
                                   .elem = {.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT}};
    struct ct_stack_owner owner;
    struct ct_stacks *s;
    size_t count;
    plain(f, 0x1000);
    plain(f, 0x1010);
    struct ct_step_batch batch = {
        .graph = f->steps.graph, .edge = f->steps.edges, .count = 1, .marks = &context, .mark_count = 1};
    assert_int_equal(ct_stacks_new(NULL, &options, &s), CT_OK);
    for (context.elem.v = 1; context.elem.v <= CT_STACK_CONTEXTS + 2; context.elem.v++)
        assert_int_equal(ct_stacks_add(s, 0, &batch), CT_OK);
    (void)ct_stacks_places(s, &count);
    assert_int_equal(count, CT_STACK_CONTEXTS);
    batch.edge = f->steps.edges + 1;
    assert_int_equal(ct_stacks_add(s, 1, &batch), CT_OK);
    const struct ct_stack_place *places = ct_stacks_places(s, &count);
    assert_int_equal(count, CT_STACK_CONTEXTS + 1);
    assert_int_equal(places[count - 1].parent, CT_STACK_NONE);
    assert_int_equal(ct_stacks_owner(s, count - 1, &owner), CT_OK);
    assert_int_equal(owner.lane, 1);
    ct_stacks_free(s);
}
