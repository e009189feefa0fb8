/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the walk along a small program: ranges, indirect branches, the return stack, exceptions, missing
 * memory. */
#include <stdbool.h>

#include "coretap/flow.h"
#include "support/unit.h"

#define MOST    64
#define SIZE(a) (sizeof(a) / sizeof *(a))

#define NOP     0xd503201fu
#define RET     0xd65f03c0u
#define BLR_X0  0xd63f0000u
#define ERET    0xd69f03e0u
#define B_EQ(n) (0x54000000u | ((uint32_t)(n)&0x7ffffu) << 5)
#define BL(n)   (0x94000000u | ((uint32_t)(n)&0x3ffffffu))

/* At 0x1000: nop; bl 0x1014; b.eq 0x1000; nop; ret; at 0x1014: nop; ret; then a nop with no memory after
 * it. */
static const uint32_t program[] = {NOP, BL(4), B_EQ(-2), NOP, RET, NOP, RET, NOP};

struct fixture {
    struct ct_memory *memory;
    struct ct_walk *walk;
    struct ct_flow records[MOST];
    size_t count;
};

static void drop(struct fixture *f)
{
    ct_walk_free(f->walk);
    ct_memory_free(f->memory);
}

/* Begins a walk, and ends the one before it. */
static void begin_on(struct fixture *f, struct ct_arch arch, bool return_stack, bool ete, bool split)
{
    struct ct_source source = {.name = "etm",
                               .protocol = ete ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4,
                               .arch = arch,
                               .regs = {.idr0 = 0xea1,
                                        .idr1 = 0x4100f420,
                                        .idr2 = 0x488,
                                        .devarch = 0x47705a13,
                                        .configr = return_stack ? 0x1000 : 0}};
    struct ct_walk_options options = {.size = sizeof options, .split_source_ranges = split};
    drop(f);
    *f = (struct fixture){0};
    assert_int_equal(ct_memory_new(NULL, &f->memory), CT_OK);
    assert_int_equal(ct_memory_add_bytes(f->memory, program, sizeof program, 0x1000, CT_SPACE_ANY), CT_OK);
    assert_int_equal(ct_walk_new(NULL, &source, f->memory, &options, &f->walk), CT_OK);
}

static void begin(struct fixture *f, bool return_stack, bool ete, bool split)
{
    begin_on(f, (struct ct_arch){.major = 8, .profile = CT_PROFILE_A}, return_stack, ete, split);
}

static int clear(void **state)
{
    static struct fixture f;
    f = (struct fixture){0};
    *state = &f;
    return 0;
}

static int finish(void **state)
{
    drop(*state);
    return 0;
}

FIXTURE(struct fixture, clear, finish);

/* Walks along elements, written as initialisers. */
#define WALK(f, ...)                                                                                         \
    walk(f, (const struct ct_elem[]){__VA_ARGS__}, SIZE(((const struct ct_elem[]){__VA_ARGS__})))

static void walk(struct fixture *f, const struct ct_elem *elems, size_t size)
{
    size_t done = 0;
    while (done < size) {
        size_t count;
        done += ct_walk_run(f->walk, elems + done, size - done, 0, f->records + f->count, MOST - f->count,
                            &count);
        f->count += count;
    }
}

#define CONTEXT                                                                                              \
    {                                                                                                        \
        .kind = CT_ELEM_CONTEXT, .n = 0x11, .aux = CT_CONTEXT_SF | CT_CONTEXT_EL                             \
    }
#define ADDRESS(a)                                                                                           \
    {                                                                                                        \
        .kind = CT_ELEM_ADDRESS, .v = (a), .aux = 64                                                         \
    }
#define ATOMS(n_, bits)                                                                                      \
    {                                                                                                        \
        .kind = CT_ELEM_ATOMS, .n = (n_), .v = (bits)                                                        \
    }

static void assert_range(const struct ct_flow *r, uint64_t start, uint64_t end, bool exec, unsigned type)
{
    assert_int_equal(r->kind, CT_FLOW_RANGE);
    assert_true(r->start == start && r->end == end);
    assert_int_equal(r->exec, exec);
    assert_int_equal(r->type, type);
}

TEST_WITH(ranges_follow_branches, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(2, 3), ADDRESS(0x1008), ATOMS(2, 3), ATOMS(1, 1));
    assert_int_equal(f->count, 6);
    assert_range(&f->records[1], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_int_equal(f->records[1].sub, CT_INSN_SUB_LINK);
    assert_range(&f->records[2], 0x1014, 0x101c, true, CT_INSN_IBR);
    assert_range(&f->records[3], 0x1008, 0x100c, true, CT_INSN_BR);
    assert_int_equal(f->records[3].cond, 1);
    assert_range(&f->records[4], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_range(&f->records[5], 0x1014, 0x101c, true, CT_INSN_IBR);
}

/* Checks a record that reports a contradiction, and makes no line. */
static void assert_contradiction(const struct ct_flow *r)
{
    assert_int_equal(r->kind, CT_FLOW_ELEM);
    assert_int_equal(r->elem.kind, CT_ELEM_GAP);
    assert_int_equal(r->elem.n, CT_GAP_BAD_IMAGE);
    assert_int_equal(r->unlisted, 1);
    assert_int_equal(r->stale, 0);
}

/* Atoms make no line, but something unknown ran: that is reported once, up to where both context and address
 * are known. After atoms without a context, execution is not at the address. */
TEST_WITH(atoms_before_context_and_address_are_told, f)
{
    begin(f, false, false, false);
    WALK(f, ATOMS(3, 7), ATOMS(1, 1), ADDRESS(0x1000), ATOMS(1, 1), CONTEXT, ATOMS(1, 1));
    assert_int_equal(f->count, 3);
    assert_contradiction(&f->records[0]);
    assert_range(&f->records[2], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_int_equal(f->records[2].stale, 1);
}

/* A gap reports missing trace, up to the next address and context. */
TEST_WITH(atoms_behind_a_gap_are_told_with_it, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), {.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW}, ATOMS(1, 1),
         ADDRESS(0x1000), ATOMS(1, 1), CONTEXT, ADDRESS(0x1000), ATOMS(1, 1));
    assert_int_equal(f->count, 4);
    assert_int_equal(f->records[1].elem.n, CT_GAP_OVERFLOW);
    assert_range(&f->records[3], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_int_equal(f->records[3].stale, 0);
}

/* bl 0x1014, but the trace says that execution is at 0x1008. After a pause it can be anywhere. */
TEST_WITH(an_address_that_is_not_where_a_branch_went_is_told, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(1, 1), ADDRESS(0x1008), {.kind = CT_ELEM_EVENT}, ATOMS(1, 1),
         ADDRESS(0x1000), {.kind = CT_ELEM_TRACE_ON}, ADDRESS(0x1014), ATOMS(1, 1), ADDRESS(0x1000),
         ATOMS(1, 1), ADDRESS(0x1014), ATOMS(1, 1));
    assert_int_equal(f->count, 9);
    assert_range(&f->records[1], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_int_equal(f->records[2].elem.kind, CT_ELEM_EVENT);
    assert_contradiction(&f->records[3]);
    assert_range(&f->records[4], 0x1008, 0x100c, true, CT_INSN_BR);
    assert_int_equal(f->records[4].stale, 1);
    assert_int_equal(f->records[5].elem.kind, CT_ELEM_TRACE_ON);
    for (unsigned i = 6; i < 9; i++)
        assert_int_equal(f->records[i].stale, 0);
}

/* ret without an address: with a return stack or without, what ran after it is reported as missing. */
TEST_WITH(atoms_behind_an_indirect_branch_are_told, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1014), ATOMS(3, 7), ATOMS(2, 3), ADDRESS(0x1000), ATOMS(1, 1));
    assert_int_equal(f->count, 4);
    assert_range(&f->records[1], 0x1014, 0x101c, true, CT_INSN_IBR);
    assert_contradiction(&f->records[2]);
    assert_range(&f->records[3], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_int_equal(f->records[3].stale, 0);
}

TEST_WITH(returns_come_from_the_stack, f)
{
    begin(f, true, false, false);
    /* bl; ret without an address; b.eq not taken */
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(3, 3));
    assert_int_equal(f->count, 4);
    assert_range(&f->records[3], 0x1008, 0x100c, false, CT_INSN_BR);
}

TEST_WITH(an_empty_return_stack_is_a_gap, f)
{
    begin(f, true, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1014), ATOMS(3, 7), ADDRESS(0x1000), ATOMS(1, 1));
    assert_int_equal(f->count, 4);
    assert_int_equal(f->records[2].elem.kind, CT_ELEM_GAP);
    assert_int_equal(f->records[2].elem.n, CT_GAP_BAD_IMAGE);
    assert_range(&f->records[3], 0x1000, 0x1008, true, CT_INSN_BR);
}

/* bl with an N atom: later ranges are listed, but stale up to the next address. */
TEST_WITH(a_branch_that_is_always_taken_has_no_n_atom, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(2, 2), ADDRESS(0x1008), ATOMS(1, 0));
    assert_int_equal(f->count, 5);
    assert_contradiction(&f->records[1]);
    assert_range(&f->records[2], 0x1000, 0x1008, false, CT_INSN_BR);
    assert_range(&f->records[3], 0x1008, 0x100c, true, CT_INSN_BR);
    assert_int_equal(f->records[2].stale, 1);
    assert_int_equal(f->records[3].stale, 1);
    assert_range(&f->records[4], 0x1008, 0x100c, false, CT_INSN_BR);
    assert_int_equal(f->records[4].stale, 0);
}

/* The return stack was empty, so the place is unknown, and an exception lists nothing. */
TEST_WITH(an_exception_behind_an_empty_stack_lists_nothing, f)
{
    begin(f, true, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1014), ATOMS(2, 3),
         {.kind = CT_ELEM_EXCEPTION, .aux = 2, .v = 0x1020, .n = CT_EXCEPTION_HAS_RET});
    assert_int_equal(f->count, 4);
    assert_int_equal(f->records[2].elem.kind, CT_ELEM_GAP);
    assert_int_equal(f->records[3].elem.kind, CT_ELEM_EXCEPTION);
}

/* The bl on the way to the return address would have needed an atom. */
TEST_WITH(an_exception_behind_a_branch_without_atom_is_a_contradiction, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000),
         {.kind = CT_ELEM_EXCEPTION, .aux = 2, .v = 0x1010, .n = CT_EXCEPTION_HAS_RET}, ADDRESS(0x1000),
         {.kind = CT_ELEM_EXCEPTION, .aux = 2, .v = 0x1004, .n = CT_EXCEPTION_HAS_RET});
    assert_int_equal(f->count, 6);
    assert_contradiction(&f->records[1]);
    assert_range(&f->records[2], 0x1000, 0x1010, true, CT_INSN_OTHER);
    assert_int_equal(f->records[2].stale, 1);
    assert_range(&f->records[4], 0x1000, 0x1004, true, CT_INSN_OTHER);
    assert_int_equal(f->records[4].stale, 0);
}

/* The way to the source address includes the bl; split or not, the answer is the same, and the walk continues
 * after it. */
TEST_WITH(a_source_address_behind_a_taken_branch_is_a_contradiction, f)
{
    for (int split = 0; split < 2; split++) {
        begin(f, false, true, split);
        WALK(f, CONTEXT, ADDRESS(0x1000), {.kind = CT_ELEM_SOURCE, .v = 0x1008}, ATOMS(1, 1));
        assert_contradiction(&f->records[1]);
        uint32_t sum = 0;
        for (size_t i = 2; i < f->count; i++)
            sum += f->records[i].stale ? 0 : f->records[i].n;
        assert_int_equal(sum, 2); /* nop; bl at 0x1000 */
    }
}

TEST_WITH(trace_info_empties_the_stack_until_an_address, f)
{
    begin(f, true, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), {.kind = CT_ELEM_SYNC}, ATOMS(3, 7));
    /* bl was not pushed, so the return has nowhere to go */
    assert_int_equal(f->records[f->count - 1].elem.n, CT_GAP_BAD_IMAGE);
}

TEST_WITH(exceptions_tell_how_far_execution_came, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x100c),
         {.kind = CT_ELEM_EXCEPTION, .aux = 14, .v = 0x1010, .n = CT_EXCEPTION_HAS_RET}, ATOMS(1, 1));
    assert_int_equal(f->count, 4);
    assert_range(&f->records[1], 0x100c, 0x1010, true, CT_INSN_OTHER);
    assert_int_equal(f->records[2].elem.kind, CT_ELEM_EXCEPTION);
    assert_contradiction(&f->records[3]); /* the target of the exception is unknown */
}

/* E1:E0 = 2: the return address is the target of the return, so the stack must not be used (libopencsd uses
 * it). */
TEST_WITH(an_exception_at_the_target_needs_no_stack, f)
{
    begin(f, true, false, false);
    WALK(
        f, CONTEXT, ADDRESS(0x1014), ATOMS(1, 1),
        {.kind = CT_ELEM_EXCEPTION, .aux = 14, .v = 0x1008, .n = CT_EXCEPTION_HAS_RET | CT_EXCEPTION_TARGET});
    assert_int_equal(f->count, 3);
    assert_int_equal(f->records[2].elem.kind, CT_ELEM_EXCEPTION);
}

TEST_WITH(missing_memory_is_told_once, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x101c), ATOMS(2, 3), ATOMS(1, 0));
    assert_int_equal(f->count, 3);
    assert_range(&f->records[1], 0x101c, 0x1020, true, CT_INSN_OTHER);
    assert_int_equal(f->records[2].kind, CT_FLOW_NO_ACCESS);
    assert_true(f->records[2].start == 0x1020);
    assert_int_equal(f->records[2].space, CT_SPACE_EL1N);
}

TEST_WITH(source_addresses_make_ranges, f)
{
    begin(f, false, true, false);
    WALK(f, CONTEXT, ADDRESS(0x1008), {.kind = CT_ELEM_SOURCE, .v = 0x1010});
    assert_int_equal(f->count, 2);
    assert_range(&f->records[1], 0x1008, 0x1014, true, CT_INSN_IBR);
    begin(f, false, true, true);
    WALK(f, CONTEXT, ADDRESS(0x1008), {.kind = CT_ELEM_SOURCE, .v = 0x1010});
    assert_int_equal(f->count, 3);
    assert_range(&f->records[1], 0x1008, 0x100c, false, CT_INSN_BR);
    assert_range(&f->records[2], 0x100c, 0x1014, true, CT_INSN_IBR);
}

TEST_WITH(a_source_address_goes_on_from_the_return_stack, f)
{
    begin(f, true, true, false);
    /* bl; ret without an address; up to the return at 0x1010 */
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(2, 3), {.kind = CT_ELEM_SOURCE, .v = 0x1010});
    assert_int_equal(f->count, 4);
    assert_range(&f->records[3], 0x1008, 0x1014, true, CT_INSN_IBR);
}

TEST_WITH(q_counts_lead_to_an_address_or_nowhere, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x100c), {.kind = CT_ELEM_Q_COUNT, .v = 2}, {.kind = CT_ELEM_Q, .v = 0x1000},
         {.kind = CT_ELEM_Q_COUNT, .v = 9}, {.kind = CT_ELEM_Q, .v = 0x1014});
    assert_int_equal(f->count, 3);
    assert_range(&f->records[1], 0x100c, 0x1014, true, CT_INSN_IBR);
    assert_int_equal(f->records[2].kind, CT_FLOW_RANGE_NOPATH);
    assert_true(f->records[2].start == 0x1000 && f->records[2].end == 0x1014 && f->records[2].n == 9);
}

/* Execution was after a return without an address: the path of the counted instruction is unknown. */
TEST_WITH(a_q_element_behind_an_indirect_branch_has_no_path, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x100c), ATOMS(1, 1), {.kind = CT_ELEM_Q_COUNT, .v = 1},
         {.kind = CT_ELEM_Q, .v = 0x1014, .aux = 1}, ATOMS(1, 1));
    assert_int_equal(f->count, 4);
    assert_int_equal(f->records[2].kind, CT_FLOW_RANGE_NOPATH);
    assert_true(f->records[2].start == 0x1014 && f->records[2].end == 0x1014 && f->records[2].n == 1);
    assert_range(&f->records[3], 0x1014, 0x101c, true, CT_INSN_IBR);
}

/* With a full return stack: the atom after an exception return without a target does not mean the return
 * address of the last call; that call's own return is still listed. */
TEST_WITH(an_exception_return_leaves_the_return_stack, f)
{
    begin(f, true, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(2, 3), {.kind = CT_ELEM_RETURN}, ATOMS(1, 1), ADDRESS(0x1014),
         ATOMS(2, 1), {.kind = CT_ELEM_END});
    assert_int_equal(f->count, 9);
    assert_range(&f->records[1], 0x1000, 0x1008, true, CT_INSN_BR);
    assert_range(&f->records[2], 0x1014, 0x101c, true, CT_INSN_IBR);
    assert_int_equal(f->records[3].elem.kind, CT_ELEM_RETURN);
    assert_contradiction(&f->records[4]);
    assert_range(&f->records[5], 0x1014, 0x101c, true, CT_INSN_IBR);
    assert_contradiction(&f->records[6]);
    assert_range(&f->records[7], 0x1008, 0x100c, false, CT_INSN_BR);
    assert_int_equal(f->records[7].stale, 1);
}

/* A call made before unreadable code may have returned there. Ranges after a return to it are stale, up to
 * the next address; later calls count again. */
TEST_WITH(calls_from_before_missing_memory_are_in_doubt, f)
{
    static const uint32_t code[] = {BL(2), NOP, BLR_X0, RET};
    begin(f, true, false, false);
    assert_int_equal(ct_memory_add_bytes(f->memory, code, sizeof code, 0x4000, CT_SPACE_ANY), CT_OK);
    WALK(f, CONTEXT, ADDRESS(0x4000), ATOMS(2, 3), ADDRESS(0x9000), ATOMS(3, 7), ADDRESS(0x400c), ATOMS(2, 3),
         ADDRESS(0x1000), ATOMS(3, 3));
    assert_int_equal(f->count, 10);
    assert_int_equal(f->records[3].kind, CT_FLOW_NO_ACCESS);
    assert_range(&f->records[4], 0x400c, 0x4010, true, CT_INSN_IBR);
    assert_int_equal(f->records[4].stale, 0);
    assert_contradiction(&f->records[5]);
    assert_range(&f->records[6], 0x400c, 0x4010, true, CT_INSN_IBR);
    assert_int_equal(f->records[6].stale, 1);
    assert_range(&f->records[9], 0x1008, 0x100c, false, CT_INSN_BR);
    assert_int_equal(f->records[9].stale, 0);
}

/* The same holds for a call followed after a contradiction: bl with an N atom, b.eq taken, then bl with an E
 * atom. */
TEST_WITH(calls_in_doubt_stay_in_doubt, f)
{
    begin(f, true, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(3, 6), ADDRESS(0x1014), ATOMS(2, 1));
    assert_int_equal(f->count, 8);
    assert_contradiction(&f->records[1]);
    assert_range(&f->records[5], 0x1014, 0x101c, true, CT_INSN_IBR);
    assert_int_equal(f->records[5].stale, 0);
    assert_contradiction(&f->records[6]);
    assert_range(&f->records[7], 0x1008, 0x100c, false, CT_INSN_BR);
    assert_int_equal(f->records[7].stale, 1);
}

TEST_WITH(an_eret_of_an_ete_leaves_the_return_stack, f)
{
    static const uint32_t code[] = {BL(2), NOP, ERET};
    begin(f, true, true, false);
    assert_int_equal(ct_memory_add_bytes(f->memory, code, sizeof code, 0x4000, CT_SPACE_ANY), CT_OK);
    WALK(f, CONTEXT, ADDRESS(0x4000), ATOMS(3, 7), ADDRESS(0x1014), ATOMS(1, 1));
    assert_int_equal(f->count, 6);
    assert_range(&f->records[2], 0x4008, 0x400c, true, CT_INSN_IBR);
    assert_int_equal(f->records[3].elem.kind, CT_ELEM_RETURN);
    assert_contradiction(&f->records[4]);
    assert_range(&f->records[5], 0x1014, 0x101c, true, CT_INSN_IBR);
}

/* nop; add.w r0, r0, #1; nop; nop. The exception came inside of the add, which can be restarted or
 * continued. */
TEST_WITH(a_return_address_inside_of_an_instruction_ends_behind_it, f)
{
    static const uint16_t code[] = {0xbf00, 0xf100, 0x0001, 0xbf00, 0xbf00, 0xbf00};
    static const struct {
        uint64_t ret, end;
        uint32_t n;
    } cases[] = {{0x4002, 0x4002, 1}, {0x4004, 0x4006, 2}, {0x4006, 0x4006, 2}};
    for (unsigned i = 0; i < SIZE(cases); i++) {
        begin(f, false, false, false);
        assert_int_equal(ct_memory_add_bytes(f->memory, code, sizeof code, 0x4000, CT_SPACE_ANY), CT_OK);
        WALK(f, {.kind = CT_ELEM_CONTEXT, .n = 0x11, .aux = CT_CONTEXT_EL | CT_CONTEXT_IS1},
             {.kind = CT_ELEM_ADDRESS, .n = CT_IS1, .v = 0x4000, .aux = 64},
             {.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .aux = 14, .v = cases[i].ret});
        assert_int_equal(f->count, 3);
        assert_range(&f->records[1], 0x4000, cases[i].end, true, CT_INSN_OTHER);
        assert_int_equal(f->records[1].n, cases[i].n);
    }
}

/* nop (5 of them); le lr, back to the first: the end of the loop goes back or continues. */
TEST_WITH(the_end_of_a_low_overhead_loop_may_fall_through, f)
{
    static const uint16_t code[] = {0xbf00, 0xbf00, 0xbf00, 0xbf00, 0xbf00, 0xf00f, 0xc807, 0xbf00};
    begin_on(f, (struct ct_arch){.major = 8, .profile = CT_PROFILE_M}, false, false, false);
    assert_int_equal(ct_memory_add_bytes(f->memory, code, sizeof code, 0x4000, CT_SPACE_ANY), CT_OK);
    WALK(f, {.kind = CT_ELEM_CONTEXT, .n = 0x11, .aux = CT_CONTEXT_EL | CT_CONTEXT_IS1},
         {.kind = CT_ELEM_ADDRESS, .n = CT_IS1, .v = 0x4000, .aux = 64}, ATOMS(2, 1));
    assert_int_equal(f->count, 3);
    assert_range(&f->records[1], 0x4000, 0x400e, true, CT_INSN_BR);
    assert_range(&f->records[2], 0x4000, 0x400e, false, CT_INSN_BR);
    assert_int_equal(f->records[2].stale, 0);
    assert_int_equal(f->records[2].cond, 1);
    assert_int_equal(f->records[2].loop, 1);
}

/* Checks the place of execution when trace paused, was lost or ended. */
TEST_WITH(the_last_place_is_told, f)
{
    begin(f, false, false, false);
    WALK(f, CONTEXT, ADDRESS(0x1000), ATOMS(1, 1), {.kind = CT_ELEM_TRACE_ON}, ADDRESS(0x1000), ATOMS(1, 1),
         {.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW}, CONTEXT, ADDRESS(0x1014), ATOMS(1, 1),
         {.kind = CT_ELEM_END});
    assert_int_equal(f->count, 8);
    assert_true(f->records[2].n == 1 && f->records[2].start == 0x1014); /* bl 0x1014 */
    assert_true(f->records[4].n == 1 && f->records[4].start == 0x1014);
    assert_true(f->records[7].n == 0 && f->records[7].start == 0); /* a return to an unknown place */
}

TEST_WITH(little_room_changes_nothing, whole)
{
    const struct ct_elem elems[] = {CONTEXT, ADDRESS(0x1000), ATOMS(1, 1), ADDRESS(0x1008),
                                    ATOMS(30, 0x2aaaaaaa)};
    begin(whole, false, false, false);
    walk(whole, elems, SIZE(elems));
    struct fixture pieces = {0};
    begin(&pieces, false, false, false);
    size_t done = 0;
    while (done < SIZE(elems)) {
        size_t count;
        done += ct_walk_run(pieces.walk, elems + done, SIZE(elems) - done, 0, pieces.records + pieces.count,
                            16, &count);
        pieces.count += count;
    }
    assert_int_equal(whole->count, pieces.count);
    assert_memory_equal(whole->records, pieces.records, whole->count * sizeof *whole->records);
    drop(&pieces);
}
