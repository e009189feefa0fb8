/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the guarantee of FRACTAL over random schedules of everything an operating system does. In active
 * mode, every last-level miss of the target in the range is logged once with the right addresses, and nothing
 * else is. In points mode, every access to an observation point is logged.
 *
 *   test_fractal [first [count]]     active and points mode; a failure is shrunk and printed. Without
 *                                    count: 300 schedules, 10,000 when CT_LONG is set
 *   test_fractal passive [count]     what is lost without active eviction
 *   test_fractal watermark|dvm|clean [count]   a broken module must be detected */
#include "support/part.h"
#include "fractal_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 512

static const char *const op_names[OP_KINDS] = {
    "access",  "switch", "spawn",    "exit",  "unmap",  "migrate-begin", "migrate-end",
    "fork",    "alias",  "share",    "huge",  "split",  "merge",         "contiguous",
    "reclaim", "age",    "rollover", "range", "point+", "point-",        "pressure",
};

static void print_steps(const struct step *steps, const uint8_t *keep, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (keep[i])
            printf("#   %3u %-13s core %u process %u page %u more %u\n", i, op_names[steps[i].op],
                   steps[i].core, steps[i].process, steps[i].page, steps[i].more);
}

/* Removes ever shorter runs of steps while the schedule still fails. */
static void shrink(uint64_t seed, const struct shape *shape, const struct step *steps, uint32_t last)
{
    uint8_t keep[STEPS_MAX] = {0};
    struct verdict v;
    memset(keep, 1, last + 1);
    for (uint32_t run = (last + 1) / 2; run; run /= 2) {
        for (uint32_t at = 0; at <= last; at += run) {
            uint8_t saved[STEPS_MAX];
            memcpy(saved, keep, sizeof keep);
            memset(keep + at, 0, at + run > last + 1 ? last + 1 - at : run);
            world_run(seed, shape, steps, keep, DAMAGE_NONE, &v);
            if (!v.failed)
                memcpy(keep, saved, sizeof keep);
        }
    }
    world_run(seed, shape, steps, keep, DAMAGE_NONE, &v);
    printf("# shrunk: %s at step %u of\n", v.text, v.step);
    print_steps(steps, keep, last + 1);
}

static void add(struct verdict *sum, const struct verdict *v)
{
    sum->expected += v->expected;
    sum->logged += v->logged;
    sum->point_accesses += v->point_accesses;
    sum->point_events += v->point_events;
    sum->evictions += v->evictions;
    sum->copies += v->copies;
    sum->ranges += v->ranges;
    for (unsigned i = 0; i < OP_KINDS; i++)
        sum->done[i] += v->done[i];
}

static int run_seed(uint64_t seed, int mode, enum damage damage, struct verdict *v)
{
    struct shape shape;
    struct step steps[STEPS_MAX];
    world_shape(seed, mode, &shape);
    world_steps(seed, &shape, steps);
    world_run(seed, &shape, steps, NULL, damage, v);
    if (!v->failed || damage != DAMAGE_NONE)
        return v->failed;
    printf("# seed %llu mode %d: %s at step %u; granule %u, %u cores, L2 %u, rTLB %ux%u, watermarks %u, "
           "targets %u, "
           "hooked %u\n",
           (unsigned long long)seed, mode, v->text, v->step, shape.soc.granule, shape.soc.cores,
           shape.soc.l2_bytes, shape.fractal.rtlb_sets, shape.fractal.rtlb_ways, shape.fractal.watermarks,
           shape.targets, shape.hooked);
    shrink(seed, &shape, steps, v->step);
    return 1;
}

static int guarantee(uint64_t first, uint64_t count, int mode, struct verdict *sum)
{
    struct verdict v;
    for (uint64_t seed = first; seed < first + count; seed++) {
        if (run_seed(seed, mode, DAMAGE_NONE, &v))
            return 0;
        add(sum, &v);
    }
    printf("# mode %d: %llu schedules, %llu misses, %llu logged, %llu point accesses, %llu evictions\n", mode,
           (unsigned long long)count, (unsigned long long)sum->expected, (unsigned long long)sum->logged,
           (unsigned long long)sum->point_accesses, (unsigned long long)sum->evictions);
    return 1;
}

static int everything_was_exercised(const struct verdict *sum)
{
    int all = sum->evictions && sum->point_accesses && sum->copies && sum->ranges;
    for (unsigned i = 0; i < OP_KINDS; i++) {
        printf("# %-13s %llu\n", op_names[i], (unsigned long long)sum->done[i]);
        all &= sum->done[i] > 0;
    }
    return all;
}

static int result(int number, int ok, const char *what)
{
    printf("%s %d - %s\n", ok ? "ok" : "not ok", number, what);
    fflush(stdout);
    return !ok;
}

static int damaged(const char *name, uint64_t count)
{
    const enum damage kind = !strcmp(name, "watermark") ? DAMAGE_WATERMARK
                             : !strcmp(name, "dvm")     ? DAMAGE_DVM
                                                        : DAMAGE_CLEAN;
    uint64_t caught = 0;
    struct verdict v;
    for (uint64_t seed = 1; seed <= count; seed++)
        caught += (uint64_t)run_seed(seed, CT_FRACTAL_ACTIVE, kind, &v);
    printf("1..1\n# %llu of %llu schedules found the damage out\n", (unsigned long long)caught,
           (unsigned long long)count);
    return result(1, caught > 0, "one step left out by a module is found out");
}

static int passive(uint64_t count)
{
    struct verdict sum = {0};
    printf("1..2\n");
    int bad = result(1, guarantee(1, count, CT_FRACTAL_PASSIVE, &sum), "passive mode runs");
    printf("# passive mode logged %.2f %% of the misses\n",
           100.0 * (double)sum.logged / (double)sum.expected);
    bad |= result(2, sum.logged && sum.logged < sum.expected,
                  "passive mode sees some misses and says which part");
    return bad;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "1";
    if (what[0] > '9') {
        const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 200;
        return strcmp(what, "passive") ? damaged(what, count) : passive(count);
    }
    const uint64_t first = strtoull(what, NULL, 10);
    const uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : test_count(test_part(300), 10000);
    struct verdict sum = {0}, points = {0};
    printf("1..3\n");
    int bad =
        result(1, guarantee(first, count, CT_FRACTAL_ACTIVE, &sum), "active mode: recall and precision 1.0");
    bad |= result(2, guarantee(first, count, CT_FRACTAL_POINTS, &points),
                  "points mode: every access to a point");
    bad |= result(3, everything_was_exercised(&sum), "every disturbance was exercised");
    return bad;
}
