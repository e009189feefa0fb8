/* SPDX-License-Identifier: Apache-2.0 */
/* Checks speculation: what is held, committed, cancelled, mispredicted, discarded, and what is left at the
 * end. */
#include <string.h>

#include "coretap/elem.h"
#include "elem/held.h"
#include "support/unit.h"

#define MOST 64

/* Returns a source with at most `max_spec` uncommitted P0 elements, whose cycle counts commit. */
static struct ct_source source(uint32_t max_spec)
{
    return (struct ct_source){.name = "etm",
                              .protocol = CT_PROTOCOL_ETM4,
                              .arch = {.major = 8, .profile = CT_PROFILE_A},
                              .regs = {.idr0 = 0xea1, .idr1 = 0x4100f420, .idr2 = 0x488, .idr8 = max_spec}};
}

struct run {
    struct ct_elem elems[MOST];
    size_t count;
};

/* Resolves the packets after an alignment and a trace info, with room for `room` elements at a time. Keeps
 * the elements after the GAP and the SYNC. */
static void resolve(uint32_t max_spec, const struct ct_etm4_packet *packets, size_t size, size_t room,
                    struct run *run)
{
    struct ct_etm4_packet all[MOST] = {{.type = CT_ETM4_ASYNC, .size = 12},
                                       {.type = CT_ETM4_TRACE_INFO, .size = 3, .pos = 12}};
    for (size_t i = 0; i < size; i++) {
        all[i + 2] = packets[i];
        all[i + 2].pos = 20 + i;
        all[i + 2].size = 1;
    }
    struct ct_source s = source(max_spec);
    struct ct_etm4_resolver *r;
    assert_int_equal(ct_etm4_resolver_new(NULL, &s, &r), CT_OK);
    struct run raw = {0};
    size_t done = 0;
    size_t count;
    do {
        assert_true(raw.count + room <= MOST);
        done += ct_etm4_resolve(r, all + done, size + 2 - done, 1, raw.elems + raw.count, room, &count);
        raw.count += count;
    } while (done < size + 2 || count > room - CT_RESOLVE_MIN);
    ct_etm4_resolver_free(r);
    assert_true(raw.count >= 2);
    assert_int_equal(raw.elems[0].kind, CT_ELEM_GAP);
    assert_int_equal(raw.elems[1].kind, CT_ELEM_SYNC);
    run->count = raw.count - 2;
    memcpy(run->elems, raw.elems + 2, run->count * sizeof *run->elems);
}

/* Compares the kinds of elements as letters, atoms as E and N. */
static void assert_resolves(uint32_t max_spec, const struct ct_etm4_packet *packets, size_t size,
                            const char *wanted)
{
    static const char letters[] = {
        [CT_ELEM_GAP] = 'G',     [CT_ELEM_SYNC] = 'S',      [CT_ELEM_TRACE_ON] = 'o',  [CT_ELEM_END] = '.',
        [CT_ELEM_ADDRESS] = 'a', [CT_ELEM_CONTEXT] = 'c',   [CT_ELEM_EXCEPTION] = 'x', [CT_ELEM_RETURN] = 'r',
        [CT_ELEM_CYCLES] = 'y',  [CT_ELEM_TIMESTAMP] = 't', [CT_ELEM_EVENT] = 'v',     [CT_ELEM_Q] = 'q',
        [CT_ELEM_Q_COUNT] = 'n', [CT_ELEM_TRANS] = 'm',
    };
    struct run run;
    resolve(max_spec, packets, size, MOST, &run);
    char got[256];
    size_t n = 0;
    for (size_t i = 0; i < run.count; i++) {
        const struct ct_elem *e = &run.elems[i];
        if (e->kind != CT_ELEM_ATOMS)
            got[n++] = letters[e->kind];
        for (unsigned a = 0; e->kind == CT_ELEM_ATOMS && a < e->n; a++)
            got[n++] = e->v >> a & 1 ? 'E' : 'N';
    }
    got[n] = 0;
    assert_string_equal(got, wanted);
}

#define ATOMS(n, bits)                                                                                       \
    {                                                                                                        \
        .type = CT_ETM4_ATOM_F3, .natoms = (n), .atoms = (bits)                                              \
    }
#define ADDRESS                                                                                              \
    {                                                                                                        \
        .type = CT_ETM4_ADDR_S_IS0, .value = 0x8000, .valid = 64                                             \
    }
#define COUNT(t, c)                                                                                          \
    {                                                                                                        \
        .type = (t), .count2 = (c)                                                                           \
    }
#define PLAIN(t)                                                                                             \
    {                                                                                                        \
        .type = (t)                                                                                          \
    }
#define SIZE(a) (sizeof(a) / sizeof *(a))

TEST(without_speculation_p0_elements_push)
{
    const struct ct_etm4_packet p[] = {PLAIN(CT_ETM4_TRACE_ON), ADDRESS, ATOMS(3, 5), PLAIN(CT_ETM4_EVENT)};
    assert_resolves(0, p, SIZE(p), "oaENEv.");
}

TEST(what_waits_at_the_end_is_dropped_from_the_first_p0_on)
{
    const struct ct_etm4_packet held[] = {PLAIN(CT_ETM4_EVENT), ATOMS(1, 1), PLAIN(CT_ETM4_EVENT)};
    assert_resolves(4, held, SIZE(held), "v.");
    const struct ct_etm4_packet on[] = {PLAIN(CT_ETM4_TRACE_ON), PLAIN(CT_ETM4_EVENT)};
    assert_resolves(0, on, SIZE(on), ".");
}

/* The address after a committed branch is its target, whatever comes later. After a branch that may be
 * cancelled, or a pause of tracing, it is not. */
TEST(the_target_of_the_last_branch_is_put_out)
{
    const struct ct_etm4_packet end[] = {ATOMS(1, 1), ADDRESS, PLAIN(CT_ETM4_TIMESTAMP)};
    assert_resolves(0, end, SIZE(end), "Eat.");
    assert_resolves(4, end, SIZE(end), ".");
    const struct ct_etm4_packet committed[] = {ATOMS(1, 1), ADDRESS, COUNT(CT_ETM4_COMMIT, 1),
                                               PLAIN(CT_ETM4_EVENT)};
    assert_resolves(4, committed, SIZE(committed), "Eav.");
    const struct ct_etm4_packet lost[] = {ATOMS(1, 1), ADDRESS, PLAIN(CT_ETM4_OVERFLOW)};
    assert_resolves(0, lost, SIZE(lost), "EaG.");
    assert_resolves(4, lost, SIZE(lost), "G.");
    const struct ct_etm4_packet paused[] = {ATOMS(1, 1), PLAIN(CT_ETM4_TRACE_ON), ADDRESS,
                                            PLAIN(CT_ETM4_DISCARD)};
    assert_resolves(0, paused, SIZE(paused), "EG.");
    const struct ct_etm4_packet begun[] = {ATOMS(1, 1), PLAIN(CT_ETM4_TRACE_ON), ADDRESS};
    assert_resolves(0, begun, SIZE(begun), "E.");
}

/* Seven atoms where six may be uncommitted: the first one is certain before the trace unit discards the
 * rest. */
TEST(what_is_deeper_than_speculation_survives_a_discard)
{
    const struct ct_etm4_packet discard[] = {ADDRESS, ATOMS(7, 0x7e), PLAIN(CT_ETM4_DISCARD)};
    assert_resolves(6, discard, SIZE(discard), "aNG.");
    const struct ct_etm4_packet exception[] = {
        ADDRESS, ATOMS(6, 0x3e), {.type = CT_ETM4_EXCEPT, .info = 14, .idx = 1}, PLAIN(CT_ETM4_DISCARD)};
    assert_resolves(6, exception, SIZE(exception), "aNG.");
    const struct ct_etm4_packet overflow[] = {ADDRESS, ATOMS(7, 0x7f), PLAIN(CT_ETM4_OVERFLOW)};
    assert_resolves(6, overflow, SIZE(overflow), "aEG.");
    const struct ct_etm4_packet end[] = {ADDRESS, ATOMS(7, 0x7f)};
    assert_resolves(6, end, SIZE(end), "aE.");
}

TEST(commits_release_in_order_and_split_atoms)
{
    const struct ct_etm4_packet p[] = {ATOMS(3, 1), PLAIN(CT_ETM4_EVENT), COUNT(CT_ETM4_COMMIT, 2)};
    assert_resolves(8, p, SIZE(p), "EN.");
    const struct ct_etm4_packet deep[] = {ATOMS(3, 7), ATOMS(3, 0)};
    assert_resolves(2, deep, SIZE(deep), "EEEN.");
}

TEST(cycle_counts_commit)
{
    const struct ct_etm4_packet p[] = {
        ATOMS(2, 3), {.type = CT_ETM4_CCNT_F3, .count = 7, .count2 = 1, .flags = CT_ETM4_HAS_COUNT}};
    assert_resolves(8, p, SIZE(p), "E.");
}

/* Everything is committed at once, so a commit packet, which a trace unit never needs to send, is damage. */
TEST(cycle_counts_commit_nothing_where_nothing_is_speculative)
{
    const struct ct_etm4_packet p[] = {
        ATOMS(2, 3),
        {.type = CT_ETM4_CCNT_F3, .count = 7, .count2 = 4, .flags = CT_ETM4_HAS_COUNT},
        ATOMS(1, 0)};
    assert_resolves(0, p, SIZE(p), "EEyN.");
    const struct ct_etm4_packet commit[] = {ATOMS(2, 3), COUNT(CT_ETM4_COMMIT, 1)};
    assert_resolves(0, commit, SIZE(commit), "EEG.");
}

TEST(cancel_takes_the_newest_and_keeps_what_happened)
{
    const struct ct_etm4_packet p[] = {ATOMS(3, 7),
                                       ADDRESS,
                                       PLAIN(CT_ETM4_EVENT),
                                       ATOMS(1, 0),
                                       COUNT(CT_ETM4_CANCEL_F1, 3),
                                       COUNT(CT_ETM4_COMMIT, 1)};
    assert_resolves(8, p, SIZE(p), "Ev.");
}

TEST(mispredict_inverts_the_newest_atom_and_drops_its_address)
{
    const struct ct_etm4_packet p[] = {ATOMS(2, 3), ADDRESS, PLAIN(CT_ETM4_MISPREDICT),
                                       COUNT(CT_ETM4_COMMIT, 2)};
    assert_resolves(8, p, SIZE(p), "EN.");
}

TEST(more_commits_than_elements_are_damage)
{
    const struct ct_etm4_packet p[] = {ATOMS(1, 1), COUNT(CT_ETM4_COMMIT, 5), PLAIN(CT_ETM4_EVENT)};
    assert_resolves(8, p, SIZE(p), "EG.");
}

/* Resolves three P0 elements from before the trace, one atom, and `commits` commits. Returns whether the atom
 * came out. */
static bool commits_reach_the_atom(uint32_t commits)
{
    struct ct_source s = source(8);
    struct ct_etm4_resolver *r;
    assert_int_equal(ct_etm4_resolver_new(NULL, &s, &r), CT_OK);
    const struct ct_etm4_packet p[] = {{.type = CT_ETM4_ASYNC},
                                       {.type = CT_ETM4_TRACE_INFO, .count2 = 3, .flags = CT_ETM4_HAS_SPEC},
                                       ATOMS(1, 1),
                                       COUNT(CT_ETM4_COMMIT, commits)};
    struct ct_elem e[MOST];
    size_t count;
    assert_int_equal(ct_etm4_resolve(r, p, SIZE(p), 1, e, MOST, &count), SIZE(p));
    ct_etm4_resolver_free(r);
    bool came = e[2].kind == CT_ELEM_ATOMS;
    assert_int_equal(count, came ? 4 : 3);
    assert_int_equal(e[count - 1].kind, CT_ELEM_END);
    return came;
}

TEST(unseen_elements_are_committed_first)
{
    assert_false(commits_reach_the_atom(1));
    assert_false(commits_reach_the_atom(3));
    assert_true(commits_reach_the_atom(4));
}

TEST(exceptions_wait_for_their_address)
{
    const struct ct_etm4_packet p[] = {{.type = CT_ETM4_EXCEPT, .info = 14, .idx = 1},
                                       {.type = CT_ETM4_ADDR_CTXT_L_64IS0,
                                        .value = 0x1234,
                                        .valid = 64,
                                        .flags = CT_ETM4_HAS_CONTEXT | CT_ETM4_SF,
                                        .el_sec = 1}};
    struct run run;
    resolve(0, p, SIZE(p), MOST, &run);
    assert_int_equal(run.count, 3);
    assert_int_equal(run.elems[0].kind, CT_ELEM_CONTEXT);
    assert_int_equal(run.elems[1].kind, CT_ELEM_EXCEPTION);
    assert_int_equal(run.elems[1].aux, 14);
    assert_true(run.elems[1].v == 0x1234);
    assert_int_equal(run.elems[0].pos, run.elems[1].pos);
}

/* An exception return is a P0 element on every M profile: without speculation nothing holds it back. */
TEST(exception_returns_of_the_m_profile_are_p0)
{
    for (uint8_t major = 6; major <= 8; major++) {
        struct ct_source s = source(0);
        s.arch = (struct ct_arch){.major = major, .profile = CT_PROFILE_M};
        struct ct_etm4_resolver *r;
        assert_int_equal(ct_etm4_resolver_new(NULL, &s, &r), CT_OK);
        const struct ct_etm4_packet p[] = {PLAIN(CT_ETM4_ASYNC), PLAIN(CT_ETM4_TRACE_INFO), ATOMS(1, 1),
                                           PLAIN(CT_ETM4_EXCEPT_RTN)};
        struct ct_elem e[MOST];
        size_t count;
        assert_int_equal(ct_etm4_resolve(r, p, SIZE(p), 0, e, MOST, &count), SIZE(p));
        assert_int_equal(count, 4);
        assert_int_equal(e[3].kind, CT_ELEM_RETURN);
        ct_etm4_resolver_free(r);
    }
}

TEST(overflow_lets_times_go_and_marks_the_next_trace_on)
{
    const struct ct_etm4_packet p[] = {ATOMS(1, 1),
                                       PLAIN(CT_ETM4_TIMESTAMP),
                                       PLAIN(CT_ETM4_OVERFLOW),
                                       PLAIN(CT_ETM4_EVENT),
                                       PLAIN(CT_ETM4_ASYNC),
                                       PLAIN(CT_ETM4_TRACE_INFO),
                                       PLAIN(CT_ETM4_TRACE_ON),
                                       ATOMS(1, 1),
                                       COUNT(CT_ETM4_COMMIT, 1)};
    assert_resolves(4, p, SIZE(p), "tGSoE.");
    struct run run;
    resolve(4, p, SIZE(p), MOST, &run);
    assert_int_equal(run.elems[1].n, CT_GAP_OVERFLOW);
    assert_true(run.elems[2].v == 1); /* the event, which belongs to no element */
    assert_int_equal(run.elems[3].n, CT_TRACE_ON_OVERFLOW);
}

TEST(a_bad_packet_at_the_end_is_told)
{
    const struct ct_etm4_packet p[] = {ATOMS(1, 1), PLAIN(CT_ETM4_RESERVED)};
    struct run run;
    resolve(0, p, SIZE(p), MOST, &run);
    assert_int_equal(run.count, 2);
    assert_int_equal(run.elems[1].kind, CT_ELEM_END);
    assert_int_equal(run.elems[1].aux, CT_GAP_BAD_PACKET + 1);
    assert_true(run.elems[1].v == 1);
}

TEST(little_room_changes_nothing)
{
    const struct ct_etm4_packet p[] = {PLAIN(CT_ETM4_TRACE_ON),
                                       ADDRESS,
                                       ATOMS(3, 5),
                                       PLAIN(CT_ETM4_EVENT),
                                       PLAIN(CT_ETM4_EVENT),
                                       ATOMS(3, 2),
                                       ADDRESS,
                                       PLAIN(CT_ETM4_TIMESTAMP),
                                       ATOMS(2, 1),
                                       ATOMS(2, 2),
                                       ADDRESS,
                                       PLAIN(CT_ETM4_EVENT),
                                       PLAIN(CT_ETM4_EVENT),
                                       ATOMS(1, 1),
                                       ATOMS(1, 0),
                                       COUNT(CT_ETM4_COMMIT, 12)};
    struct run whole;
    struct run pieces;
    resolve(20, p, SIZE(p), MOST, &whole);
    resolve(20, p, SIZE(p), CT_RESOLVE_MIN, &pieces);
    assert_int_equal(whole.count, pieces.count);
    assert_memory_equal(whole.elems, pieces.elems, whole.count * sizeof *whole.elems);
}

/* Events that nothing pushes out must not accumulate without limit. */
TEST(what_nobody_can_take_back_is_not_held_for_ever)
{
    struct ct_source s = source(0);
    struct ct_etm4_resolver *r;
    assert_int_equal(ct_etm4_resolver_new(NULL, &s, &r), CT_OK);
    const struct ct_etm4_packet sync[] = {PLAIN(CT_ETM4_ASYNC), PLAIN(CT_ETM4_TRACE_INFO)};
    const struct ct_etm4_packet event = PLAIN(CT_ETM4_EVENT);
    struct ct_elem e[MOST];
    size_t count;
    size_t events = 0;
    assert_int_equal(ct_etm4_resolve(r, sync, 2, 0, e, MOST, &count), 2);
    for (uint32_t i = 0; i < 3 * CT_HELD_SIZE; i++) {
        assert_int_equal(ct_etm4_resolve(r, &event, 1, 0, e, MOST, &count), 1);
        events += count;
    }
    assert_true(events >= 2 * CT_HELD_SIZE);
    ct_etm4_resolver_free(r);
}
