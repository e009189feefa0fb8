/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the address spaces of the simulated cluster as programs use them. */
#include "coretap/soc.h"
#include "support/unit.h"

#define HERE  UINT64_C(0x400000)
#define THERE UINT64_C(0x800000)
#define BLOCK (UINT64_C(2) << 20)

static struct ct_soc *soc;
static uint32_t pid;

static int make(void **state)
{
    (void)state;
    assert_int_equal(ct_soc_new(NULL, NULL, NULL, &soc), CT_OK);
    pid = ct_soc_process(soc);
    ct_soc_run(soc, 0, pid);
    return 0;
}

static int end(void **state)
{
    (void)state;
    ct_soc_free(soc);
    return 0;
}

FIXTURE(void, make, end);

/* Writes to an address as a process, which loads the page. Returns the physical address. */
static uint64_t use(uint32_t who, uint64_t va)
{
    uint64_t pa = 0;
    ct_soc_run(soc, 0, who);
    assert_int_equal(ct_soc_touch(soc, 0, va, CT_SOC_STORE), 1);
    assert_int_equal(ct_soc_translate(soc, who, va, &pa), 1);
    return pa;
}

TEST_WITH(shared_memory_has_one_frame, none)
{
    const uint32_t other = ct_soc_process(soc);
    assert_int_equal(ct_soc_shared(soc, pid, HERE, HERE + 0x4000, 1 << 20), 1);
    assert_int_equal(ct_soc_shared(soc, pid, THERE, THERE + 0x1000, (1 << 20) + 2), 1);
    assert_int_equal(ct_soc_shared(soc, other, HERE, HERE + 0x4000, 1 << 20), 1);
    assert_true(use(pid, HERE + 0x2040) == use(pid, THERE + 0x40));
    assert_true(use(pid, HERE + 0x1000) == use(other, HERE + 0x1000));
    assert_true(use(pid, HERE + 0x1000) != use(pid, HERE + 0x2000));
    assert_int_equal(ct_soc_object(soc, pid, HERE + 0x3fff), (1 << 20) + 3);
    assert_int_equal(ct_soc_object(soc, pid, HERE + 0x4000), 0);
    assert_int_equal(ct_soc_object(soc, UINT32_MAX, HERE), 0);
    /* a later mapping there is private again */
    assert_int_equal(ct_soc_shared(soc, other, THERE, THERE + 0x1000, 0), 1);
    assert_true(use(other, THERE) != use(pid, THERE));
    /* for any number of areas, and also in a child */
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(ct_soc_shared(soc, pid, HERE + (i << 20), HERE + (i << 20) + 0x4000, (2 + i) << 20),
                         1);
    assert_int_equal(ct_soc_shared(soc, other, THERE, THERE + 0x1000, UINT64_C(1001) << 20), 1);
    assert_true(use(pid, HERE + (UINT64_C(999) << 20)) != use(other, THERE + 0x1000));
    const uint32_t child = ct_soc_fork(soc, 0, pid);
    assert_int_equal(ct_soc_shared(soc, other, THERE + 0x100000, THERE + 0x101000, UINT64_C(1001) << 20), 1);
    assert_true(use(child, HERE + (UINT64_C(999) << 20)) == use(other, THERE + 0x100000));
}

TEST_WITH(a_child_writes_pages_of_its_own, none)
{
    uint64_t parents, childs;
    const uint64_t before = use(pid, HERE);
    const uint32_t child = ct_soc_fork(soc, 0, pid);
    assert_int_not_equal(child, 0);
    assert_int_equal(ct_soc_translate(soc, child, HERE, &childs), 1);
    assert_true(childs == before);
    childs = use(child, HERE);
    assert_int_equal(ct_soc_translate(soc, pid, HERE, &parents), 1);
    assert_true(parents == before && childs != before);
    ct_soc_exit(soc, 0, child);
    assert_int_equal(ct_soc_translate(soc, child, HERE, &childs), 0);
}

static void hear_nothing(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    (void)user;
    (void)m;
    (void)line;
}

/* Returns the cycles of 64 misses, before each of which memory receives `bytes` bytes of a log. */
static uint64_t misses_beside_a_log(uint64_t bytes)
{
    struct ct_soc *one;
    assert_int_equal(ct_soc_new(NULL, NULL, NULL, &one), CT_OK);
    assert_int_equal(ct_soc_attach(one, &(struct ct_soc_tap){.message = hear_nothing}), 0);
    ct_soc_run(one, 0, ct_soc_process(one));
    for (uint64_t at = 0; at < BLOCK; at += 64) /* twice the size of the last level */
        ct_soc_touch(one, 0, HERE + at, CT_SOC_LOAD);
    const uint64_t before = ct_soc_cycles(one, 0);
    for (uint64_t at = 0; at < 4096; at += 64) {
        ct_soc_sink_write(one, bytes);
        ct_soc_touch(one, 0, HERE + at, CT_SOC_LOAD);
    }
    const uint64_t spent = ct_soc_cycles(one, 0) - before;
    ct_soc_free(one);
    return spent;
}

/* A log line per miss is written while the core works; a hundred lines make it wait. */
TEST(misses_wait_for_a_log_in_memory)
{
    const uint64_t alone = misses_beside_a_log(0), much = misses_beside_a_log(6400);
    assert_true(alone > 64 * 100 && misses_beside_a_log(64) - alone < 64 * 100);
    assert_true(much > alone + 64 * 99 * 5);
}

TEST_WITH(pages_move, none)
{
    uint64_t pa;
    const uint64_t before = use(pid, HERE);
    assert_int_equal(ct_soc_move(soc, 0, pid, HERE, THERE), 1);
    assert_int_equal(ct_soc_translate(soc, pid, HERE, &pa), 0);
    assert_true(ct_soc_translate(soc, pid, THERE, &pa) && pa == before);
    assert_int_equal(ct_soc_move(soc, 0, pid, HERE, THERE), 0);
    assert_int_equal(ct_soc_migrate_begin(soc, 0, pid, THERE), 1);
    assert_int_equal(ct_soc_migrate_end(soc, 0), 1);
    assert_true(ct_soc_translate(soc, pid, THERE, &pa) && pa != before);
    assert_int_equal(ct_soc_migrate_end(soc, 0), 0);
}

TEST_WITH(a_huge_page_is_one_piece, none)
{
    assert_int_equal(ct_soc_map_huge(soc, 0, pid, HERE), 1);
    assert_int_equal(ct_soc_map_huge(soc, 0, pid, HERE + 0x1000), 0);
    assert_true(use(pid, HERE + 0x1000) == use(pid, HERE) + 0x1000);
    assert_true(use(pid, HERE + BLOCK - 64) == use(pid, HERE) + BLOCK - 64);
}
