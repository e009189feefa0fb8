/* SPDX-License-Identifier: Apache-2.0 */
/* Checks stacks that a program switches itself, as coroutines do, and calls that an interpreter makes by a
 * jump. */
#include <stdio.h>
#include <string.h>

#include "analysis/stacks.h"
#include "four_functions.h"
#include "support/step_list.h"
#include "support/unit.h"

#define MANY (CT_STACK_LEFT + 6)

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_symbols *loaded;
    struct ct_program_place program;
    struct ct_stacks *stacks;
    struct step_list steps;
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    elf64_build(f.file, four_functions, 4);
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
    ct_stacks_free(f->stacks);
    ct_graph_free(f->steps.graph);
    ct_symbols_free(f->loaded);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

static void step(struct fixture *f, uint64_t from, uint8_t type, uint8_t sub, uint64_t to)
{
    step_list_add(&f->steps, step_node(from, 1, type, sub),
                  (struct ct_edge){.next = to, .exec = 1, .kind = CT_EDGE_NEXT}, 0);
}

static void plain(struct fixture *f, uint64_t at)
{
    step(f, at, CT_INSN_OTHER, 0, at + 4);
}

static void call(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_BR, CT_INSN_SUB_LINK, to);
}

static void ret(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_RET, to);
}

static void jump(struct fixture *f, uint64_t from, uint64_t to)
{
    step(f, from, CT_INSN_IBR, CT_INSN_SUB_NONE, to);
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

/* Adds the steps, and compares all stacks with their instructions, as `a;b 2`, each followed by a line feed.
 * Checks that each function that begins also ends, and how many stacks began anew. */
static void expect(struct fixture *f, const char *want, uint64_t renewed)
{
    struct ct_step_batch batch = step_list_batch(&f->steps);
    char got[512] = "";
    size_t count;
    long open = 0;
    batch.cycles = NULL;
    assert_int_equal(ct_stacks_add(f->stacks, 0, &batch), CT_OK);
    for (unsigned last = 0; last < 2; last++) {
        const struct ct_stack_move *moves = ct_stacks_moves(f->stacks, &count);
        for (size_t i = 0; i < count; i++)
            open += moves[i].kind == CT_STACK_ENTER ? 1 : -1;
        if (!last)
            assert_int_equal(ct_stacks_finish(f->stacks), CT_OK);
    }
    assert_int_equal(open, 0);
    const struct ct_stack_place *places = ct_stacks_places(f->stacks, &count);
    for (uint32_t i = 0; i < count; i++) {
        char number[32];
        write_stack(f, places, i, got, sizeof got);
        (void)snprintf(number, sizeof number, " %llu\n", (unsigned long long)places[i].insns);
        strncat(got, number, sizeof got - strlen(got) - 1);
    }
    assert_string_equal(got, want);
    assert_int_equal(ct_stacks_renewed(f->stacks), renewed);
}

/* Returns how often the instruction at `site` called a function. */
static uint64_t calls_from(const struct fixture *f, uint64_t site)
{
    size_t count;
    uint64_t sum = 0;
    const struct ct_stack_call *calls = ct_stacks_calls(f->stacks, &count);
    for (size_t i = 0; i < count; i++)
        sum += calls[i].site == site ? calls[i].count : 0;
    return sum;
}

/* leaf() switches between the stack of main() and that of a coroutine, irq(). */
TEST_WITH(a_return_switches_stacks, f)
{
    call(f, MAIN, WORK);
    call(f, WORK, LEAF);
    ret(f, LEAF, IRQ);
    call(f, IRQ, LEAF);
    ret(f, LEAF, WORK + 4);
    call(f, WORK + 4, LEAF);
    ret(f, LEAF, IRQ + 4);
    call(f, IRQ + 4, LEAF);
    ret(f, LEAF, WORK + 8);
    ret(f, WORK + 8, MAIN + 4);
    plain(f, MAIN + 4);
    expect(f, "main 2\nmain;work 3\nmain;work;leaf 2\nirq 2\nirq;leaf 2\n", 0);
    assert_int_equal(calls_from(f, WORK), 1);
    assert_int_equal(calls_from(f, IRQ), 1);
    assert_int_equal(calls_from(f, IRQ + 4), 1);
}

/* As setcontext() does: a jump begins the coroutine, and returns into the middle of functions. */
TEST_WITH(a_jump_switches_stacks, f)
{
    call(f, MAIN, WORK);
    jump(f, WORK, IRQ);
    for (unsigned i = 0; i < 2; i++) {
        call(f, IRQ, LEAF);
        jump(f, LEAF, MAIN + 4);
        call(f, MAIN + 4, WORK);
        jump(f, WORK, IRQ + 4);
        call(f, IRQ + 4, LEAF);
        jump(f, LEAF, MAIN + 8);
        call(f, MAIN + 8, WORK);
        jump(f, WORK, IRQ + 8);
    }
    jump(f, IRQ + 8, MAIN + 12);
    plain(f, MAIN + 12);
    expect(f, "main 6\nmain;work 5\nmain;irq 5\nmain;irq;leaf 4\n", 0);
}

/* Coroutines of one function are left at the same place, and each of them continues. */
TEST_WITH(coroutines_of_one_function, f)
{
    call(f, MAIN, LEAF);
    for (unsigned i = 0; i < MANY; i++) { /* each begins the next one */
        ret(f, LEAF, IRQ);
        call(f, IRQ, LEAF);
    }
    for (unsigned i = 0; i < MANY; i++) {
        ret(f, LEAF, IRQ + 4);
        call(f, IRQ + 4, LEAF);
    }
    ret(f, LEAF, MAIN + 4);
    plain(f, MAIN + 4);
    char want[80];
    (void)snprintf(want, sizeof want, "main 2\nmain;leaf 1\nirq %d\nirq;leaf %d\n", 2 * MANY, 2 * MANY);
    expect(f, want, 0);
    assert_int_equal(calls_from(f, IRQ), MANY);
    assert_int_equal(calls_from(f, IRQ + 4), MANY);
}

/* More stacks are left than are kept: the oldest ones are forgotten, and their calls are counted. */
TEST_WITH(more_stacks_than_are_kept, f)
{
    for (unsigned i = 0; i < MANY; i++) {
        call(f, WORK + 0x1000 + (uint64_t)16 * i, LEAF);
        ret(f, LEAF, MAIN);
        plain(f, MAIN);
        call(f, MAIN + 4, WORK);
        ret(f, WORK, WORK + 0x2000);
    }
    struct ct_step_batch batch = step_list_batch(&f->steps);
    batch.cycles = NULL;
    assert_int_equal(ct_stacks_add(f->stacks, 0, &batch), CT_OK);
    assert_int_equal(ct_stacks_finish(f->stacks), CT_OK);
    assert_int_equal(calls_from(f, WORK + 0x1000), 1);
    assert_int_equal(calls_from(f, WORK + 0x1000 + 16 * (MANY - 1)), 1);
    assert_int_equal(calls_from(f, MAIN + 4), MANY);
}

/* longjmp() leaves functions, and is not taken for a switch when their caller goes on. */
TEST_WITH(longjmp_leaves_functions, f)
{
    call(f, MAIN, WORK);
    call(f, WORK, LEAF);
    jump(f, LEAF, MAIN + 8);
    call(f, MAIN + 8, WORK);
    ret(f, WORK, MAIN + 12);
    plain(f, MAIN + 12);
    expect(f, "main 3\nmain;work 2\nmain;work;leaf 1\n", 0);
    assert_int_equal(calls_from(f, MAIN), 1);
    assert_int_equal(calls_from(f, WORK), 1);
}

/* main() is an interpreter in generated code: it sets the link register and jumps to what it calls, which
 * jumps on, and returns to another place than behind a call. */
TEST_WITH(an_interpreter_calls_by_a_jump, f)
{
    call(f, IRQ, MAIN);
    jump(f, MAIN, WORK);
    jump(f, WORK, LEAF);
    ret(f, LEAF, MAIN + 12);
    ret(f, MAIN + 12, IRQ + 4);
    plain(f, IRQ + 4);
    expect(f, "irq 2\nirq;main 2\nirq;work 1\nirq;leaf 1\n", 0);
}
