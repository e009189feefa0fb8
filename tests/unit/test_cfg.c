/* SPDX-License-Identifier: Apache-2.0 */
/* Checks control flow of small handmade programs: code after calls, targets from outside, blocks that are
 * split. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/cfg.h"
#include "elf_build.h"
#include "support/rng.h"
#include "support/unit.h"

#define TEXT UINT64_C(0x400000)
#define NOP  0xd503201f
#define RET  0xd65f03c0
#define BR   0xd61f0000 /* x0 */
#define BLR  0xd63f0000

static uint32_t b(int words)
{
    return 0x14000000 | ((uint32_t)words & 0x3ffffff);
}

static uint32_t bl(int words)
{
    return 0x94000000 | ((uint32_t)words & 0x3ffffff);
}

static uint32_t cbz(int words)
{
    return 0x34000000 | ((uint32_t)words & 0x7ffff) << 5;
}

struct program {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_ctx *ctx;
    struct ct_cfg *cfg;
    const struct ct_cfg_block *blocks;
    const struct ct_cfg_edge *edges;
    const struct ct_cfg_function *functions;
    const struct ct_cfg_loop *loops;
    size_t block_count, edge_count, function_count, loop_count;
};

static void look(struct program *p)
{
    p->blocks = ct_cfg_blocks(p->cfg, &p->block_count);
    p->edges = ct_cfg_edges(p->cfg, &p->edge_count);
    p->functions = ct_cfg_functions(p->cfg, &p->function_count);
    p->loops = ct_cfg_loops(p->cfg, &p->loop_count);
}

static void put_code(struct program *p, const uint32_t *code, size_t words, const struct test_symbol *symbols,
                     size_t count)
{
    elf64_build(p->file, symbols, count);
    for (size_t i = 0; i < words; i++)
        memcpy(p->file + ELF_TEXT + 4 * i, &code[i], 4);
    ((Elf64_Ehdr *)p->file)->e_entry = TEXT;
}

static int make(struct program *p, const uint32_t *code, size_t words, const struct test_symbol *symbols,
                size_t count, const char *targets)
{
    const struct ct_cfg_options options = {
        .size = sizeof options, .targets = targets, .targets_name = "targets"};
    put_code(p, code, words, symbols, count);
    p->ctx = ct_ctx_new();
    int rc = ct_cfg_load_bytes(p->ctx, "test", p->file, sizeof p->file, &options, &p->cfg);
    if (rc == CT_OK)
        look(p);
    return rc;
}

static void drop(struct program *p)
{
    ct_cfg_free(p->cfg);
    ct_ctx_free(p->ctx);
    p->cfg = NULL;
}

/* Returns the edge of a kind out of the block at word `from`, or CT_CFG_NONE. */
static uint32_t edge_of(const struct program *p, unsigned from, enum ct_cfg_kind kind)
{
    uint32_t block = ct_cfg_block_at(p->cfg, TEXT + 4 * from);
    assert_int_not_equal(block, CT_CFG_NONE);
    for (uint32_t e = p->blocks[block].first_out; e != CT_CFG_NONE; e = p->edges[e].next_out)
        if (p->edges[e].kind == kind)
            return e;
    return CT_CFG_NONE;
}

#define FUNCTION(name_, word, words)                                                                         \
    {                                                                                                        \
        .name = (name_), .value = TEXT + 4 * (word), .size = 4 * (words), .type = STT_FUNC,                  \
        .bind = STB_GLOBAL, .section = 1                                                                     \
    }

/* Counts the rounds of the outermost loop of one function. */
static uint32_t rounds_of(const uint32_t *code, size_t words)
{
    static struct program p;
    const struct test_symbol symbols[] = {FUNCTION("main", 0, words)};
    assert_int_equal(make(&p, code, words, symbols, 1, NULL), CT_OK);
    assert_in_range(p.loop_count, 1, 2);
    const uint32_t rounds = ct_cfg_loop_count(p.cfg, 0);
    drop(&p);
    return rounds;
}

/* main calls two(), then one(), which never returns: after that there is data. */
TEST(what_follows_calls)
{
    static struct program p;
    const uint32_t code[] = {bl(5), bl(2), 0xffffffff, NOP, b(0), RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 3), FUNCTION("one", 3, 2),
                                          FUNCTION("two", 5, 1)};
    assert_int_equal(make(&p, code, 6, symbols, 3, NULL), CT_OK);
    assert_int_equal(p.function_count, 3);
    assert_int_not_equal(edge_of(&p, 0, CT_CFG_CALLED), CT_CFG_NONE);
    assert_int_equal(edge_of(&p, 1, CT_CFG_CALLED), CT_CFG_NONE);
    assert_int_equal(ct_cfg_block_at(p.cfg, TEXT + 8), CT_CFG_NONE);
    assert_true(p.functions[0].no_return);
    assert_true(p.functions[1].no_return);
    assert_false(p.functions[2].no_return);
    assert_int_equal(p.loop_count, 1);
    drop(&p);
}

/* A function of which only one copy exists is that copy; its parts are not. */
TEST(copies_have_the_name)
{
    static struct program p;
    const uint32_t code[] = {RET, RET, RET, RET, RET, RET};
    const struct test_symbol symbols[] = {
        FUNCTION("one.constprop.0", 0, 1),        FUNCTION("one", 1, 1),
        FUNCTION("two.isra.0.constprop.1", 2, 1), FUNCTION("two.part.0", 3, 1),
        FUNCTION("three.llvm.7", 4, 1),           FUNCTION("three.llvm.8", 5, 1)};
    assert_int_equal(make(&p, code, 6, symbols, 6, NULL), CT_OK);
    assert_int_equal(ct_cfg_function_named(p.cfg, "one"), ct_cfg_function_at(p.cfg, TEXT + 4));
    assert_int_equal(ct_cfg_function_named(p.cfg, "two"), ct_cfg_function_at(p.cfg, TEXT + 8));
    assert_int_equal(ct_cfg_function_named(p.cfg, "three"), CT_CFG_NONE);
    assert_int_equal(ct_cfg_function_named(p.cfg, "three.llvm.8"), ct_cfg_function_at(p.cfg, TEXT + 20));
    assert_int_equal(ct_cfg_function_named(p.cfg, "tw"), CT_CFG_NONE);
    drop(&p);
}

/* A name without parameters means the only function that has it with parameters. */
TEST(parameters_may_be_left_out)
{
    static struct program p;
    char *probe = ct_demangle("_Z1fv");
    if (!probe)
        tap_skip("coretap was built without libiberty (Debian: libiberty-dev)");
    free(probe);
    const uint32_t code[] = {RET, RET, RET};
    const struct test_symbol symbols[] = {FUNCTION("_ZNK1A3runEi", 0, 1), FUNCTION("_Z4overi", 1, 1),
                                          FUNCTION("_Z4overv", 2, 1)};
    assert_int_equal(make(&p, code, 3, symbols, 3, NULL), CT_OK);
    assert_int_equal(ct_cfg_function_named(p.cfg, "A::run"), ct_cfg_function_at(p.cfg, TEXT));
    assert_int_equal(ct_cfg_function_named(p.cfg, "over"), CT_CFG_NONE);
    assert_int_equal(ct_cfg_function_named(p.cfg, "over()"), ct_cfg_function_at(p.cfg, TEXT + 8));
    drop(&p);
}

TEST(tail_call_returns)
{
    static struct program p;
    const uint32_t code[] = {bl(2), RET, b(1), RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 2), FUNCTION("two", 2, 1),
                                          FUNCTION("three", 3, 1)};
    assert_int_equal(make(&p, code, 4, symbols, 3, NULL), CT_OK);
    assert_int_not_equal(edge_of(&p, 0, CT_CFG_CALLED), CT_CFG_NONE);
    assert_int_not_equal(edge_of(&p, 2, CT_CFG_TAIL), CT_CFG_NONE);
    assert_false(p.functions[1].no_return);
    drop(&p);
}

/* main calls the middle of fill, as Go programs do with runtime.duffzero: the call returns like fill. */
TEST(calls_into_the_middle_return)
{
    static struct program p;
    const uint32_t code[] = {NOP, NOP, RET, bl(-2), RET};
    const struct test_symbol symbols[] = {FUNCTION("fill", 0, 3), FUNCTION("main", 3, 2)};
    assert_int_equal(make(&p, code, 5, symbols, 2, NULL), CT_OK);
    assert_int_not_equal(edge_of(&p, 3, CT_CFG_CALLED), CT_CFG_NONE);
    assert_int_not_equal(ct_cfg_block_at(p.cfg, TEXT + 16), CT_CFG_NONE);
    drop(&p);
    const uint32_t ends[] = {NOP, NOP, b(0), bl(-2), RET}; /* fill never returns */
    assert_int_equal(make(&p, ends, 5, symbols, 2, NULL), CT_OK);
    assert_int_equal(edge_of(&p, 3, CT_CFG_CALLED), CT_CFG_NONE);
    drop(&p);
}

TEST(without_symbols)
{
    static struct program p;
    const uint32_t code[] = {bl(3), bl(2), b(0), NOP, RET};
    assert_int_equal(make(&p, code, 5, NULL, 0, NULL), CT_OK);
    assert_int_equal(p.function_count, 2);
    assert_true(p.functions[1].found);
    assert_int_equal(p.functions[1].entry, TEXT + 12);
    assert_string_equal(p.functions[1].name, "test+0x40000c");
    drop(&p);
}

/* Adds a computed branch into the middle of a block of a loop, as a trace or a user may report. */
TEST(edges_are_added)
{
    static struct program p;
    uint32_t edge;
    const uint32_t code[] = {cbz(4), NOP, NOP, b(-3), BR};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 5)};
    assert_int_equal(make(&p, code, 5, symbols, 1, NULL), CT_OK);
    assert_true(p.functions[0].incomplete);
    assert_int_equal(p.block_count, 3);
    size_t before = p.edge_count;
    assert_int_equal(ct_cfg_add_edge(p.cfg, TEXT + 16, TEXT + 8, CT_ISA_A64, CT_CFG_LEARNT, &edge), CT_OK);
    assert_int_equal(ct_cfg_update(p.cfg), CT_OK);
    look(&p);
    assert_int_equal(p.block_count, 4);
    assert_int_equal(p.edge_count, before + 2); /* the split, and the edge */
    assert_int_equal(edge, before + 1);
    assert_int_equal(p.edges[edge].origin, CT_CFG_LEARNT);
    uint32_t part = ct_cfg_block_at(p.cfg, TEXT + 8);
    assert_int_equal(p.blocks[part].start, TEXT + 8);
    assert_int_equal(p.blocks[ct_cfg_block_at(p.cfg, TEXT + 4)].n, 1);
    assert_int_not_equal(edge_of(&p, 3, CT_CFG_BRANCH), CT_CFG_NONE);
    assert_int_equal(p.loop_count, 1);
    /* The same edge again; then addresses that are no code, or no computed branch. */
    uint32_t again;
    assert_int_equal(ct_cfg_add_edge(p.cfg, TEXT + 16, TEXT + 8, CT_ISA_A64, CT_CFG_LEARNT, &again), CT_OK);
    assert_int_equal(again, edge);
    assert_int_equal(ct_cfg_add_edge(p.cfg, TEXT + 16, 0x10, CT_ISA_A64, CT_CFG_LEARNT, &again),
                     CT_ERR_NOT_FOUND);
    assert_int_equal(ct_cfg_add_edge(p.cfg, TEXT + 12, TEXT, CT_ISA_A64, CT_CFG_LEARNT, &again),
                     CT_ERR_NOT_FOUND);
    drop(&p);
}

/* Code that only an added target reaches comes after all code known before. */
TEST(targets_make_code_known)
{
    static struct program p;
    const uint32_t code[] = {BLR, BR, NOP, RET, NOP, b(0)};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 4), FUNCTION("other", 4, 2)};
    assert_int_equal(
        make(&p, code, 6, symbols, 2, "# what is known\nmain: other # calls\nmain+4: 0x400008\n"), CT_OK);
    assert_int_equal(p.block_count, 5);
    assert_int_equal(p.blocks[4].start, TEXT + 8);
    uint32_t call = edge_of(&p, 0, CT_CFG_CALL);
    assert_int_not_equal(call, CT_CFG_NONE);
    assert_int_equal(p.edges[call].origin, CT_CFG_USER);
    assert_false(p.functions[0].incomplete);
    drop(&p);
}

TEST(told_not_to_return)
{
    static struct program p;
    const uint32_t code[] = {bl(2), RET, RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 2), FUNCTION("other", 2, 1)};
    assert_int_equal(make(&p, code, 3, symbols, 2, "noreturn other"), CT_OK);
    assert_int_equal(edge_of(&p, 0, CT_CFG_CALLED), CT_CFG_NONE);
    assert_int_equal(ct_cfg_block_at(p.cfg, TEXT + 4), CT_CFG_NONE);
    drop(&p);
}

TEST(mistakes_are_named)
{
    static struct program p;
    const struct {
        const char *text, *says;
    } cases[] = {
        {"\nmain: 0x10",
         "targets:2: there is no computed branch at this place, or its target is not code: 'main'"},
        {"nowhere: main", "targets:1: there is no such function: 'nowhere'"},
        {"main+x: main", "targets:1: this is not a number: 'x'"},
        {"noreturn", "targets:1: the line has an unknown form: 'noreturn'"},
        {": main", "targets:1: the place is missing"},
        {"function 0x99", "targets:1: there is no code at this place: '0x99'"},
    };
    const uint32_t code[] = {BR};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 1)};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        p.cfg = NULL;
        assert_int_equal(make(&p, code, 1, symbols, 1, cases[i].text), CT_ERR_FORMAT);
        assert_memory_equal(ct_ctx_error(p.ctx), cases[i].says, strlen(cases[i].says));
        drop(&p);
    }
}

/* Two blocks jump to each other, and both are entered from outside. */
#define MOV_W1_0                0x52800001
#define ADD_W1_1                0x11000421
#define CMP_W1_10               0x7100283f
#define BCOND(words, condition) (0x54000000 | ((uint32_t)(words)&0x7ffff) << 5 | (condition))
enum {
    EQ,
    NE,
    CC = 3,
    HI = 8,
    LS = 9,
    GE = 10,
    GT = 12,
    LE
};

TEST(loops_that_count_are_counted)
{
    const uint32_t code[] = {MOV_W1_0, NOP, ADD_W1_1, CMP_W1_10, BCOND(-3, NE), RET};
    assert_int_equal(rounds_of(code, 6), 10);
}

/* The counter is a variable of the stack frame. Other instructions in the loop may change it, or not. */
TEST(counters_on_the_stack_are_counted)
{
    const struct {
        uint32_t first, second, rounds;
    } cases[] = {
        {NOP, NOP, 11},
        {NOP, 0xb9000be2, 11},        /* str w2, [sp, #8] */
        {NOP, 0xb9000062, 11},        /* str w2, [x3] */
        {NOP, 0xd4000001, 11},        /* svc #0 */
        {0x910033e1, 0xb9000be2, 11}, /* add x1, sp, #12: nothing stores there */
        {0x910033e1, 0xb9000062, 0},  /* add x1, sp, #12; str w2, [x3] */
        {0x910033e1, 0xb9000022, 0},  /* add x1, sp, #12; str w2, [x1] */
        {0x910033e1, 0xd4000001, 0},  /* add x1, sp, #12; svc #0 */
        {0x910003e1, 0xb9000062, 0},  /* mov x1, sp; str w2, [x3] */
        {NOP, 0xb82368e2, 11},        /* str w2, [x7, x3] */
        {NOP, 0xb8236be2, 0},         /* str w2, [sp, x3] */
        {NOP, 0x29010fe2, 0},         /* stp w2, w3, [sp, #8] */
        {NOP, 0x39003be2, 0},         /* strb w2, [sp, #14] */
        {0xd10043ff, NOP, 0},         /* sub sp, sp, #16, in each iteration */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {0xd10043ff /* sub sp, sp, #16 */,
                                 0xb9000fff /* str wzr, [sp, #12] */,
                                 b(6),
                                 cases[i].first,
                                 cases[i].second,
                                 0xb9400fe0 /* ldr w0, [sp, #12] */,
                                 0x11000400 /* add w0, w0, #1 */,
                                 0xb9000fe0 /* str w0, [sp, #12] */,
                                 0xb9400fe0,
                                 0x7100241f /* cmp w0, #9 */,
                                 BCOND(-7, LE),
                                 RET};
        assert_int_equal(rounds_of(code, sizeof code / 4), cases[i].rounds);
    }
}

/* A counter that is multiplied or shifted. */
TEST(multiples_are_counted)
{
    const uint32_t doubles[] = {0x52800021 /* mov w1, #1 */,   NOP,           0x531f7821 /* lsl w1, w1, #1 */,
                                0x7103fc3f /* cmp w1, #255 */, BCOND(-3, LE), RET};
    assert_int_equal(rounds_of(doubles, 6), 8);
    const uint32_t shifts[] = {0x52800021, NOP,           0x531e7421 /* lsl w1, w1, #2 */,
                               0x7103fc3f, BCOND(-3, LE), RET};
    assert_int_equal(rounds_of(shifts, 6), 4);
    const uint32_t wide[] = {0xd2800021 /* mov x1, #1 */,   NOP,           0xd37ff821 /* lsl x1, x1, #1 */,
                             0xf103fc3f /* cmp x1, #255 */, BCOND(-3, LE), RET};
    assert_int_equal(rounds_of(wide, 6), 8);
    const uint32_t less[] = {0x52800142 /* mov w2, #10 */,
                             MOV_W1_0,
                             0x4b010043 /* sub w3, w2, w1 */,
                             ADD_W1_1,
                             0x7100087f /* cmp w3, #2 */,
                             BCOND(-3, GT),
                             RET};
    assert_int_equal(rounds_of(less, 7), 9);
    const uint32_t right[] = {0x52808001 /* mov w1, #1024 */, NOP,           0x53017c21 /* lsr w1, w1, #1 */,
                              0x7100003f /* cmp w1, #0 */,    BCOND(-3, NE), RET};
    assert_int_equal(rounds_of(right, 6), 11);
    const uint32_t product[] = {
        MOV_W1_0,      ADD_W1_1, 0x52800062 /* mov w2, #3 */, 0x1b027c21 /* mul w1, w1, w2 */, 0x7103fc3f,
        BCOND(-3, LE), RET};
    assert_int_equal(rounds_of(product, 7), 6);
}

/* Shifts to the right end a loop whatever its counter was, unless the sign stays or other bits come down. */
TEST(shifts_are_counted)
{
    const struct {
        uint32_t shift, compare, branch, rounds;
    } cases[] = {
        {0x53017c21 /* lsr w1, w1, #1 */, 0x7100003f /* cmp w1, #0 */, BCOND(-2, NE), 32},
        {0x53037c21 /* lsr w1, w1, #3 */, 0x7100003f, BCOND(-2, NE), 11},
        {0x53017c21, 0x7100143f /* cmp w1, #5 */, BCOND(-2, HI), 30},
        {0x53017c21, 0x7100143f, BCOND(-2, NE), 0},
        {0x53017c21, 0x7100003f, BCOND(-2, GT), 32},
        {0x13017c21 /* asr w1, w1, #1 */, 0x7100003f, BCOND(-2, NE), 0},
        {0x13017c21, 0x7100003f, BCOND(-2, GT), 31},
        {0x13017c21, 0x7100043f /* cmp w1, #1 */, BCOND(-2, GE), 31},
        {0x13017c21, 0x7100003f, BCOND(-2, GE), 0},
        {0xd341fc21 /* lsr x1, x1, #1 */, 0xf100003f /* cmp x1, #0 */, BCOND(-2, NE), 64},
        {0xd341fc21, 0x7100003f, BCOND(-2, NE), 0},
        {0x93417c21 /* sbfx x1, x1, #1, #31 */, 0xf100003f, BCOND(-2, GT), 31},
        {0x53011c21 /* ubfx w1, w1, #1, #7 */, 0x7100003f, BCOND(-2, NE), 8},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {NOP, cases[i].shift, cases[i].compare, cases[i].branch, RET};
        assert_int_equal(rounds_of(code, sizeof code / 4), cases[i].rounds);
    }
    /* the first compare sees bits that the shift drops */
    const uint32_t first[] = {NOP, 0xf100003f, BCOND(3, LE), 0x93417c21, b(-3), RET};
    assert_int_equal(rounds_of(first, 6), 0);
}

/* A pointer goes from an unknown address to one that is 48 bytes further on. When it may pass the end of the
 * address space, it must meet its end exactly. */
TEST(distances_are_counted)
{
    const struct {
        uint32_t load, branch, rounds;
    } cases[] = {
        {0xb8404402, BCOND(-2, NE), 12}, /* ldr w2, [x0], #4 */
        {0xb8404402, BCOND(-2, CC), 12}, {0xb8404402, BCOND(-2, LS), 0},
        {0xb8405402, BCOND(-2, NE), 0}, /* ldr w2, [x0], #5 */
        {0xb8405402, BCOND(-2, CC), 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {0x9100c001 /* add x1, x0, #48 */, cases[i].load, 0xeb01001f /* cmp x0, x1 */,
                                 cases[i].branch, RET};
        assert_int_equal(rounds_of(code, sizeof code / 4), cases[i].rounds);
    }
}

/* Counts the rounds of the last loop of main, which calls `work`. */
static uint32_t rounds_of_last(const uint32_t *code, size_t main_words, size_t words)
{
    static struct program p;
    const struct test_symbol symbols[] = {FUNCTION("main", 0, main_words),
                                          FUNCTION("work", main_words, words - main_words)};
    assert_int_equal(make(&p, code, words, symbols, words > main_words ? 2 : 1, NULL), CT_OK);
    assert_in_range(p.loop_count, 1, 2);
    const uint32_t rounds = ct_cfg_loop_count(p.cfg, (uint32_t)p.loop_count - 1);
    drop(&p);
    return rounds;
}

#define MOV_W2_W1 0x2a0103e2
#define ADD_W2_1  0x11000442
#define CMP_W2_10 0x7100285f
#define CMP_W2_W1 0x6b01005f
#define CMP_W1_W2 0x6b02003f
#define MOV_W2_0  0x52800002
#define MOV_W0(n) (0x52800000 | (uint32_t)(n) << 5)
#define CMP_W1_W0 0x6b00003f

/* The first value or the limit of the inner counter depends on the outer one, which goes from 0 to 9. */
TEST(triangles_are_counted)
{
    const struct {
        uint32_t first, compare, branch, rounds;
    } cases[] = {
        {MOV_W2_W1, CMP_W2_10, BCOND(-2, NE), 10},
        {MOV_W2_W1, CMP_W2_10, BCOND(-2, LE), 11},
        {MOV_W2_0, CMP_W1_W2, BCOND(-2, GT), 9},
        {MOV_W2_0, CMP_W1_W2, BCOND(-2, NE), 0},   /* for 0, it does not end in time */
        {ADD_W2_1, CMP_W2_W1, BCOND(-2, LE), 0},   /* it goes on with what it had */
        {0x2a0303e2, CMP_W2_10, BCOND(-2, NE), 0}, /* mov w2, w3 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {MOV_W1_0,         cases[i].first,  ADD_W2_1,
                                 cases[i].compare, cases[i].branch, ADD_W1_1,
                                 CMP_W1_10,        BCOND(-6, NE),   RET};
        assert_int_equal(rounds_of_last(code, 9, 9), cases[i].rounds);
    }
}

/* The inner loop is not reached in the iteration in which the outer one ends. */
TEST(triangles_behind_the_test_are_counted)
{
    const uint32_t code[] = {MOV_W1_0,      b(6),     MOV_W2_0,  ADD_W2_1,      CMP_W1_W2,
                             BCOND(-2, GT), ADD_W1_1, CMP_W1_10, BCOND(-6, LE), RET};
    assert_int_equal(rounds_of_last(code, 10, 10), 10);
}

/* The limit is an argument. All calls of the function count, and none when others may call it. */
TEST(arguments_are_counted)
{
    const struct {
        uint32_t words[2]; /* of main */
        uint32_t rounds;
    } cases[] = {
        {{NOP, NOP}, 9},
        {{0x1400000b, NOP}, 0},        /* b work: with what main had */
        {{0x10000160, NOP}, 0},        /* adr x0, work */
        {{0x90000001, 0x9100b021}, 0}, /* adrp x1, work; add x1, x1, #44 */
        {{0x90000001, 0x9100d021}, 9}, /* another address */
        {{0x52800581, 0x72a00801}, 0}, /* mov w1, #44; movk w1, #64, lsl 16 */
        {{0x52800581, 0x72a00821}, 9}, /* mov w1, #44; movk w1, #65, lsl 16 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {cases[i].words[0],
                                 cases[i].words[1],
                                 MOV_W0(4),
                                 bl(8),
                                 MOV_W0(9),
                                 bl(6),
                                 RET,
                                 NOP,
                                 NOP,
                                 NOP,
                                 NOP,
                                 MOV_W1_0,
                                 ADD_W1_1,
                                 CMP_W1_W0,
                                 BCOND(-2, CC),
                                 RET};
        assert_int_equal(rounds_of_last(code, 11, 16), cases[i].rounds);
    }
}

/* The address of the function is in the bytes behind main, or it is called from there. */
TEST(arguments_of_others_are_not_counted)
{
    const struct {
        uint32_t words[2];
        uint32_t rounds;
    } cases[] = {
        {{0, 0}, 9}, {{0x400018, 0}, 0}, {{0x40001c, 0}, 9}, {{0x94000002, 0}, 0}, /* bl work */
        {{8, 0}, 0}, /* the distance from here */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t code[] = {
            MOV_W0(9), bl(5),     RET,           NOP, cases[i].words[0], cases[i].words[1], MOV_W1_0,
            ADD_W1_1,  CMP_W1_W0, BCOND(-2, CC), RET};
        assert_int_equal(rounds_of_last(code, 6, 11), cases[i].rounds);
    }
}

/* The branch at the end of each loop is in an IT block, at each position of one, in words of binutils. */
TEST(branches_in_it_blocks_are_counted)
{
    static const uint16_t code[] = {
        0x2000, 0x3003, 0x281e, 0xbfb8, 0xe7fb, /* movs r0, #0; adds r0, #3; cmp r0, #30; it lt; blt */
        0x2005, 0x3801, 0x2800, 0xbfa4, 0x4601, 0xe7fa, /* movs r0, #5; subs; cmp r0, #0; itt ge; bge */
        0x2000, 0x3001, 0x2807, 0xbf0c, 0x4601, 0xe7fa, /* cmp r0, #7; ite eq; moveq r1, r0; bne */
        0x2000, 0x3001, 0x280b, 0xbfa7, 0x4601, 0x4602, 0x4603, 0xe7f8, /* cmp r0, #11; ittee ge; ... blt */
        0x200d, 0x3801, 0xbf18, 0xe7fc, 0x4770, /* movs r0, #13; subs r0, #1; it ne; bne; bx lr */
    };
    static const uint32_t heads[] = {2, 12, 24, 36, 52}, rounds[] = {10, 6, 7, 11, 13};
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    Elf32_Ehdr *header = (Elf32_Ehdr *)file;
    *header = (Elf32_Ehdr){.e_type = ET_EXEC,
                           .e_machine = EM_ARM,
                           .e_version = EV_CURRENT,
                           .e_entry = 0x8001,
                           .e_phoff = sizeof *header,
                           .e_ehsize = sizeof *header,
                           .e_phentsize = sizeof(Elf32_Phdr),
                           .e_phnum = 1};
    memcpy(header->e_ident, (uint8_t[]){0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB, EV_CURRENT}, 7);
    *(Elf32_Phdr *)(header + 1) =
        (Elf32_Phdr){PT_LOAD, ELF_TEXT, 0x8000, 0x8000, sizeof code, sizeof code, PF_R | PF_X, 4};
    memcpy(file + ELF_TEXT, code, sizeof code);
    struct program p = {0};
    assert_int_equal(ct_cfg_load_bytes(NULL, "test", file, sizeof file, NULL, &p.cfg), CT_OK);
    look(&p);
    assert_int_equal(p.loop_count, 5);
    unsigned found = 0;
    for (uint32_t i = 0; i < 5; i++)
        for (uint32_t k = 0; k < 5; k++)
            found += p.blocks[p.loops[i].head].start == 0x8000 + heads[k] &&
                     ct_cfg_loop_count(p.cfg, i) == rounds[k];
    assert_int_equal(found, 5);
    drop(&p);
}

/* A loop that is not counted says why, and where. */
TEST(uncounted_loops_have_a_reason)
{
    static struct program p;
    struct ct_cfg_count count;
    const uint32_t code[] = {0x2a0303e1 /* mov w1, w3 */, NOP, ADD_W1_1, CMP_W1_10, BCOND(-3, NE), RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 6)};
    assert_int_equal(make(&p, code, 6, symbols, 1, NULL), CT_OK);
    assert_int_equal(ct_cfg_loop_counted(p.cfg, 0, &count), CT_OK);
    assert_int_equal(count.rounds, 0);
    assert_int_equal(count.why, CT_CFG_NO_FIRST);
    assert_int_equal(count.at, TEXT);
    assert_int_equal(ct_cfg_loop_counted(p.cfg, 1, &count), CT_ERR_ARG);
    assert_int_equal(ct_cfg_loop_counted(NULL, 0, &count), CT_ERR_ARG);
    drop(&p);
}

/* Something else in the loop writes the counter. */
TEST(counters_that_change_do_not_count)
{
    const uint32_t writers[] = {0x1e780001,  /* fcvtzs w1, d0 */
                                0x0e043c01,  /* mov w1, v0.s[0] */
                                0x4e062c01,  /* smov x1, v0.h[1] */
                                0x88017c43,  /* stxr w1, w3, [x2] */
                                0x88a17c43,  /* cas w1, w3, [x2] */
                                0xb8230041,  /* ldadd w3, w1, [x2] */
                                0xa9400440,  /* ldp x0, x1, [x2] */
                                0xd53be041,  /* mrs x1, cntvct_el0 */
                                0x04f0e3e1,  /* incd x1 */
                                0xd4000001,  /* svc #0 */
                                0xd73f0843}; /* blraa x2, x3 */
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
        const uint32_t code[] = {MOV_W1_0, writers[i], ADD_W1_1, CMP_W1_10, BCOND(-3, NE), RET};
        assert_int_equal(rounds_of(code, 6), 0);
    }
    const uint32_t others[] = {0x1e780002,  /* fcvtzs w2, d0 */
                               0xbd400041,  /* ldr s1, [x2] */
                               0x6d400440,  /* ldp d0, d1, [x2] */
                               0x1e612801}; /* fadd d1, d0, d1 */
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const uint32_t code[] = {MOV_W1_0, others[i], ADD_W1_1, CMP_W1_10, BCOND(-3, NE), RET};
        assert_int_equal(rounds_of(code, 6), 10);
    }
}

/* The branch depends on other flags than those of the compare before it. */
TEST(other_flags_do_not_count)
{
    const uint32_t compares[] = {0x1e212000,  /* fcmp s0, s1 */
                                 0x1e21d400,  /* fccmp s0, s1, #0, le */
                                 0xfa430820,  /* ccmp x1, #3, #0, eq */
                                 0x25e21c20,  /* whilelo p0.d, x1, x2 */
                                 0xba030043,  /* adcs x3, x2, x3 */
                                 0xd51b4202}; /* msr nzcv, x2 */
    for (size_t i = 0; i < sizeof compares / sizeof *compares; i++) {
        const uint32_t code[] = {MOV_W1_0, NOP, ADD_W1_1, CMP_W1_10, compares[i], BCOND(-4, GT), RET};
        assert_int_equal(rounds_of(code, 7), 0);
    }
}

/* The block that jumps back also leads on inside of the loop, from where it runs again: the counter may pass
 * the limit unseen. */
TEST(a_counter_may_be_passed_by)
{
    const uint32_t code[] = {MOV_W1_0, NOP, ADD_W1_1, CMP_W1_10, BCOND(-3, NE), cbz(-3), RET};
    assert_int_equal(rounds_of(code, 7), 0);
}

/* The function begins in an outer loop: the counter is a parameter first. */
TEST(parameters_are_not_constant)
{
    const uint32_t code[] = {NOP, ADD_W1_1, CMP_W1_10, BCOND(-2, NE), MOV_W1_0, cbz(-5), RET};
    static struct program p;
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 7)};
    assert_int_equal(make(&p, code, 7, symbols, 1, NULL), CT_OK);
    assert_int_equal(p.loop_count, 2);
    assert_int_equal(ct_cfg_loop_count(p.cfg, 1), 0);
    drop(&p);
}

/* A computed branch may lead anywhere, also into the loop. */
TEST(unknown_branches_do_not_count)
{
    const uint32_t code[] = {MOV_W1_0, NOP, ADD_W1_1, CMP_W1_10, BCOND(-3, NE), BR};
    assert_int_equal(rounds_of(code, 6), 0);
}

TEST(irreducible_loops_are_marked)
{
    static struct program p;
    const uint32_t code[] = {cbz(3), NOP, cbz(2), NOP /* 3: entered from 0 */, cbz(-3) /* to 1 */, RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 6)};
    assert_int_equal(make(&p, code, 6, symbols, 1, NULL), CT_OK);
    assert_int_equal(p.loop_count, 1);
    assert_true(p.loops[0].irreducible);
    assert_true(p.functions[0].irreducible);
    drop(&p);
}

/* Three instructions of an interpreter, each of which may be followed by any: one loop with three heads and
 * none inside. */
TEST(an_interpreter_is_one_loop)
{
    static struct program p;
    char text[256] = "";
    const uint32_t code[] = {BR, NOP, BR, NOP, BR, NOP, BR, RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 8)};
    for (unsigned from = 0; from < 8; from += 2)
        snprintf(text + strlen(text), sizeof text - strlen(text), "main+%u: main+4 main+12 main+20 main+28\n",
                 4 * from);
    assert_int_equal(make(&p, code, 8, symbols, 1, text), CT_OK);
    assert_int_equal(p.loop_count, 1);
    assert_int_equal(p.loops[0].blocks, 3);
    for (unsigned at = 1; at < 6; at += 2)
        assert_true(p.blocks[ct_cfg_block_at(p.cfg, TEXT + 4 * (uint64_t)at)].head);
    assert_false(p.blocks[ct_cfg_block_at(p.cfg, TEXT)].head);
    drop(&p);
}

/* Marks the blocks that the entry reaches on edges inside of the function without coming by one block. */
static void reach(const struct program *p, uint32_t entry, uint32_t without, bool *reached)
{
    uint32_t stack[64], depth = 0;
    memset(reached, 0, 64);
    if (entry == without)
        return;
    reached[stack[depth++] = entry] = true;
    while (depth) {
        uint32_t e = p->blocks[stack[--depth]].first_out;
        for (; e != CT_CFG_NONE; e = p->edges[e].next_out) {
            const bool flows = p->edges[e].kind == CT_CFG_NEXT || p->edges[e].kind == CT_CFG_BRANCH;
            const uint32_t to = flows ? p->edges[e].to : CT_CFG_NONE;
            if (to != CT_CFG_NONE && to != without && !reached[to])
                reached[stack[depth++] = to] = true;
        }
    }
}

/* Holds the dominators of a function to their definition: without a block, none of those that it dominates is
 * reached; and the immediate one is dominated by all others. */
static void check_dominators(const struct program *p)
{
    static bool over[64][64]; /* [a][b]: a dominates b */
    bool all[64], reached[64];
    const uint32_t entry = ct_cfg_block_at(p->cfg, TEXT);
    reach(p, entry, CT_CFG_NONE, all);
    for (uint32_t a = 0; a < p->block_count; a++) {
        reach(p, entry, a, reached);
        for (uint32_t b = 0; b < p->block_count; b++)
            over[a][b] = all[a] && all[b] && a != b && !reached[b];
    }
    for (uint32_t b = 0; b < p->block_count; b++) {
        const uint32_t nearest = p->blocks[b].dominator;
        assert_true(nearest == CT_CFG_NONE ? b == entry || !all[b] : over[nearest][b]);
        for (uint32_t a = 0; a < p->block_count && nearest != CT_CFG_NONE; a++)
            assert_true(a == nearest || !over[a][b] || over[a][nearest]);
    }
}

TEST(dominators_of_any_program)
{
    static struct program p;
    enum {
        WORDS = 40
    };
    uint32_t code[WORDS];
    struct rng rng = {1};
    uint32_t seen = 0;
    const struct test_symbol symbols[] = {FUNCTION("main", 0, WORDS)};
    for (unsigned n = 0; n < test_count(300, 30000); n++) {
        for (int i = 0; i < WORDS; i++) {
            const int to = (int)rng_below(&rng, WORDS) - i;
            code[i] = rng_chance(&rng, 130) ? cbz(to) : rng_chance(&rng, 40) ? b(to) : NOP;
        }
        code[WORDS - 1] = RET;
        assert_int_equal(make(&p, code, WORDS, symbols, 1, NULL), CT_OK);
        assert_true(p.block_count <= 64);
        check_dominators(&p);
        seen = p.block_count > seen ? (uint32_t)p.block_count : seen;
        drop(&p);
    }
    assert_true(seen > 25);
}

TEST(edges_between_addresses)
{
    static struct program p;
    const uint32_t code[] = {cbz(2), NOP, RET};
    const struct test_symbol symbols[] = {FUNCTION("main", 0, 3)};
    assert_int_equal(make(&p, code, 3, symbols, 1, NULL), CT_OK);
    assert_int_equal(ct_cfg_edge_between(p.cfg, TEXT, TEXT + 8), edge_of(&p, 0, CT_CFG_BRANCH));
    assert_int_equal(ct_cfg_edge_between(p.cfg, TEXT, TEXT + 4), edge_of(&p, 0, CT_CFG_NEXT));
    assert_int_equal(ct_cfg_edge_between(p.cfg, TEXT + 8, 0x1234), edge_of(&p, 2, CT_CFG_RETURN));
    assert_int_equal(ct_cfg_edge_between(p.cfg, TEXT, 0x1234), CT_CFG_NONE);
    assert_int_equal(ct_cfg_edge_between(p.cfg, 0x10, TEXT), CT_CFG_NONE);
    drop(&p);
}
