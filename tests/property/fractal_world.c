/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fractal/machine.h"
#include "support/soc_mm.h"

#define PAGES     96 /* virtual pages that schedules use */
#define MISSES    4096
#define POINTS    24
#define PROCESSES 400
#define TARGETS   2
#define RANGES    4

struct world;

/* A traced process and its tracer. */
struct target {
    struct world *world;
    struct ct_fractal *fractal;
    int tap;
    uint32_t pid;
    struct ct_range range[RANGES]; /* ranges in force */
    unsigned ranges;
    uint64_t running;
    uint64_t point[POINTS];
    unsigned points;
    struct ct_soc_miss miss[MISSES];
    unsigned misses;
};

struct world {
    const struct shape *shape;
    struct ct_soc *soc;
    struct target target[TARGETS];
    unsigned targets;
    uint32_t process[PROCESSES]; /* background processes */
    unsigned processes;
    uint64_t migrating; /* page of the first target that is being migrated, or ~0 */
    uint32_t migrating_pid;
    enum damage damage;
    uint32_t damage_in; /* opportunities left until the damage is done */
    struct verdict *verdict;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t draw(uint64_t *state)
{
    return mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

static void fail(struct world *w, const char *what, uint64_t va, uint64_t pa)
{
    if (w->verdict->failed)
        return;
    w->verdict->failed = 1;
    snprintf(w->verdict->text, sizeof w->verdict->text, "%s: va 0x%llx pa 0x%llx", what,
             (unsigned long long)va, (unsigned long long)pa);
}

/* ---- schedule of a seed ---- */

void world_shape(uint64_t seed, int mode, struct shape *out)
{
    static const uint8_t granule[] = {12, 12, 12, 12, 14, 16}, bits[] = {39, 48, 39, 48, 47, 48};
    static const uint32_t sets[] = {1, 1, 4, 16, 64, 512}, ways[] = {4, 1, 4, 2, 4, 4};
    static const uint32_t l2[] = {8192, 16384, 65536, 262144, 1048576};
    uint64_t s = mix(seed) ^ 0x5ee4;
    const unsigned g = (unsigned)(draw(&s) % 6), r = (unsigned)(draw(&s) % 6);
    memset(out, 0, sizeof *out);
    ct_soc_defaults(&out->soc);
    out->soc.granule = granule[g];
    out->soc.va_bits = bits[g];
    out->soc.frames = granule[g] == 12 ? 4096 : granule[g] == 14 ? 10240 : 26000;
    out->soc.cores = 1 + (uint32_t)(draw(&s) % 4);
    out->soc.l2_bytes = l2[draw(&s) % 5];
    out->soc.l1d_bytes = out->soc.l2_bytes < 65536 ? 2048 : 32768;
    out->soc.l1i_bytes = out->soc.l2_bytes < 65536 ? 2048 : 32768;
    out->soc.tlb_entries = draw(&s) % 2 ? 512 : 16;
    out->soc.asids = draw(&s) % 3 ? 256 : 8;
    out->soc.alloc = (uint8_t)(draw(&s) % 4);
    out->soc.seed = seed;
    out->fractal.size = sizeof out->fractal;
    out->fractal.rtlb_sets = sets[r];
    out->fractal.rtlb_ways = ways[r];
    out->fractal.watermarks = draw(&s) % 4 ? 4096 : 64;
    out->fractal.points = 64;
    out->fractal.ring_bytes = 1 << 20;
    out->mode = (uint8_t)mode;
    out->targets = draw(&s) % 4 ? 1 : 2;
    out->hooked = out->targets == 2 || draw(&s) % 4 != 0;
    out->crowd = draw(&s) % 16 == 0;
    out->steps = 60 + (uint32_t)(draw(&s) % 200);
    out->soc.port_bytes = draw(&s) % 4 ? 64 : 8u << draw(&s) % 3;
    out->fractal.ranges = RANGES;
}

/* Weights of the operations, out of 256. */
static const uint8_t weight[OP_KINDS] = {
    [OP_ACCESS] = 110, [OP_SWITCH] = 20,        [OP_SPAWN] = 6,        [OP_EXIT] = 5,
    [OP_UNMAP] = 12,   [OP_MIGRATE_BEGIN] = 10, [OP_MIGRATE_END] = 10, [OP_FORK] = 4,
    [OP_ALIAS] = 8,    [OP_SHARE] = 6,          [OP_HUGE] = 3,         [OP_SPLIT] = 3,
    [OP_MERGE] = 3,    [OP_CONTIGUOUS] = 4,     [OP_RECLAIM] = 6,      [OP_AGE] = 5,
    [OP_ROLLOVER] = 3, [OP_RANGE] = 6,          [OP_POINT_ADD] = 12,   [OP_POINT_REMOVE] = 5,
    [OP_PRESSURE] = 6,
};

void world_steps(uint64_t seed, const struct shape *shape, struct step *out)
{
    uint64_t s = mix(seed) ^ 0x57e9;
    unsigned total = 0;
    for (unsigned i = 0; i < OP_KINDS; i++)
        total += weight[i];
    for (uint32_t n = 0; n < shape->steps; n++) {
        unsigned pick = (unsigned)(draw(&s) % total), op = 0;
        while (pick >= weight[op])
            pick -= weight[op++];
        /* Blocks of the large granules are hundreds of megabytes and therefore rare. */
        if (shape->soc.granule > 12 && op >= OP_HUGE && op <= OP_MERGE && draw(&s) % 8)
            op = OP_ACCESS;
        out[n] = (struct step){.op = (uint8_t)op,
                               .core = (uint8_t)(draw(&s) % shape->soc.cores),
                               .process = (uint32_t)draw(&s),
                               .page = (uint32_t)(draw(&s) % PAGES),
                               .more = (uint32_t)draw(&s)};
    }
}

/* Returns the address of a page. Pages lie in four places: two neighbouring last-level tables, the next table
 * above, the far end. */
static uint64_t va_of(const struct world *w, uint32_t page)
{
    const unsigned g = w->shape->soc.granule, stride = g - 3;
    const uint64_t block = UINT64_C(1) << (g + stride), giant = block << stride;
    const uint64_t place[] = {2 * block, 3 * block,
                              (UINT64_C(1) << w->shape->soc.va_bits) > 4 * giant ? giant : 8 * block,
                              (UINT64_C(1) << w->shape->soc.va_bits) - block};
    return place[page % 4] + ((uint64_t)(page / 4) << g);
}

/* ---- the taps, where damage is done ---- */

static int now_is_the_time(struct world *w, enum damage kind)
{
    return w->damage == kind && w->damage_in && !--w->damage_in;
}

/* Returns whether a message invalidates something that the tracer holds. */
static int matters(const struct target *t, const struct ct_fractal_message *m)
{
    if (m->op < CT_FRACTAL_TLBI_VA || m->op > CT_FRACTAL_TLBI_ALL || m->value != t->fractal->config.asid)
        return 0;
    return m->op >= CT_FRACTAL_TLBI_ASID || ct_rtlb_find_va(&t->fractal->rtlb, m->addr);
}

static void tap_message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct target *t = user;
    if (matters(t, m) && now_is_the_time(t->world, DAMAGE_DVM))
        return;
    const int err =
        line ? ct_fractal_data(t->fractal, m->time, m->addr, line) : ct_fractal_take_message(t->fractal, m);
    if (err && m->op != CT_FRACTAL_REG_WRITE)
        fail(t->world, "a true message was refused", m->addr, m->op);
    if (line && now_is_the_time(t->world, DAMAGE_WATERMARK)) {
        for (uint32_t i = 0; i < t->fractal->stalker.high; i++) {
            if (t->fractal->stalker.mark[i].used && t->fractal->stalker.mark[i].level == 3) {
                ct_stalker_forget(&t->fractal->stalker, i);
                break;
            }
        }
    }
}

static int tap_command(void *user, struct ct_fractal_command *out)
{
    struct target *t = user;
    while (ct_fractal_next_command(t->fractal, out))
        if (out->kind != CT_FRACTAL_CMD_CLEAN || !ct_soc_cached(t->world->soc, out->pa) ||
            !now_is_the_time(t->world, DAMAGE_CLEAN))
            return 1;
    return 0;
}

/* ---- ground truth ---- */

static int in_range(const struct target *t, uint64_t va)
{
    for (unsigned i = 0; i < t->ranges; i++)
        if (va < t->range[i].hi && va + t->world->shape->soc.port_bytes - 1 >= t->range[i].lo)
            return 1;
    return 0;
}

static uint64_t line_of(uint64_t va)
{
    return va & ~UINT64_C(63);
}

static void hook_miss(void *user, const struct ct_soc_miss *m)
{
    struct world *w = user;
    for (unsigned i = 0; i < w->targets; i++) {
        struct target *t = &w->target[i];
        if (t->tap >= 0 && m->pid == t->pid && t->misses < MISSES)
            t->miss[t->misses++] = *m;
    }
}

static void hook_asid(void *user, uint32_t pid, uint16_t asid)
{
    struct world *w = user;
    for (unsigned i = 0; i < w->targets; i++)
        if (w->target[i].tap >= 0 && w->target[i].pid == pid)
            ct_soc_reg_write(w->soc, (unsigned)w->target[i].tap, CT_FRACTAL_REG_ASID, asid);
}

static void hook_context(void *user, unsigned core, uint32_t pid)
{
    struct world *w = user;
    for (unsigned i = 0; i < w->targets; i++) {
        struct target *t = &w->target[i];
        t->running = (t->running & ~(UINT64_C(1) << core)) | (uint64_t)(pid == t->pid) << core;
        if (w->shape->hooked && t->tap >= 0)
            ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_CONTEXT, t->running);
    }
}

static unsigned point_index(const struct target *t, uint64_t line)
{
    unsigned i = 0;
    while (i < t->points && t->point[i] != line)
        i++;
    return i;
}

/* Checks an event of the log that stands for a snoop, or for another mapping of the same page. */
static void judge_event(struct world *w, const struct target *t, const struct ct_fractal_event *e)
{
    uint64_t pa;
    const int moving = w->migrating_pid == t->pid && (e->va ^ w->migrating) >> w->shape->soc.granule == 0;
    if (!moving && (!ct_soc_translate(w->soc, t->pid, e->va, &pa) || pa != e->pa))
        fail(w, "logged with an address that is not mapped there", e->va, e->pa);
    if (!in_range(t, e->va))
        fail(w, "logged outside of the range", e->va, e->pa);
    if ((point_index(t, line_of(e->va)) < t->points) != (e->point != CT_FRACTAL_NO_POINT))
        fail(w, "logged with the wrong point", e->va, e->pa);
    if (e->point != CT_FRACTAL_NO_POINT)
        w->verdict->point_events++;
}

static int same_snoop(const struct ct_soc_miss *m, const struct ct_fractal_event *e)
{
    return m->time == e->time && m->pa == e->pa && m->op == e->op && m->core == e->initiator &&
           m->kind == e->kind;
}

/* Compares the log with the truth, both in order. A page mapped both inside and outside of the range is
 * logged inside, whichever mapping was used: the physical address is the same. */
static void judge(struct world *w, struct target *t)
{
    struct ct_fractal_event e[512];
    const size_t n = ct_fractal_events(t->fractal, e, 512);
    size_t at = 0;
    for (unsigned i = 0; i < t->misses; i++) {
        const struct ct_soc_miss *m = &t->miss[i];
        const int wanted = in_range(t, m->va);
        int found = 0;
        if (at < n && same_snoop(m, &e[at])) {
            do {
                found |= e[at].va == m->va;
                judge_event(w, t, &e[at]);
            } while (++at < n && e[at].flags & CT_FRACTAL_ALIAS);
        }
        if (wanted && !found && w->shape->mode == CT_FRACTAL_ACTIVE)
            fail(w, "a miss of the target is not in the log", m->va, m->pa);
        w->verdict->expected += (uint64_t)wanted;
        w->verdict->logged += (uint64_t)(wanted && found);
    }
    if (at < n && w->shape->mode != CT_FRACTAL_PASSIVE)
        fail(w, "logged, but the target did not do it", e[at].va, e[at].pa);
    t->misses = 0;
}

static void judge_all(struct world *w)
{
    for (unsigned i = 0; i < w->targets; i++)
        if (w->target[i].tap >= 0)
            judge(w, &w->target[i]);
}

/* ---- execution of steps ---- */

static uint32_t pick_process(const struct world *w, uint32_t r)
{
    if (r % 3 || !w->processes)
        return w->target[r / 3 % w->targets].pid;
    return w->process[r / 3 % w->processes];
}

static int is_target(const struct world *w, uint32_t pid)
{
    return pid == w->target[0].pid || (w->targets == 2 && pid == w->target[1].pid);
}

static void one_access(struct world *w, unsigned core, uint64_t va, enum ct_soc_access how)
{
    const int ok = ct_soc_touch(w->soc, core, va, how);
    for (unsigned i = 0; i < w->targets && ok; i++) {
        struct target *t = &w->target[i];
        const uint64_t line = line_of(va), wanted = va & ~(uint64_t)(w->shape->soc.port_bytes - 1);
        if (t->tap < 0 || ct_soc_running(w->soc, core) != t->pid || point_index(t, line) == t->points ||
            !in_range(t, wanted) || w->shape->mode == CT_FRACTAL_PASSIVE)
            continue;
        w->verdict->point_accesses++;
        const struct ct_soc_miss *last = t->misses ? &t->miss[t->misses - 1] : NULL;
        if (!last || last->va != wanted)
            fail(w, "an access to an observation point did not show", va, 0);
    }
    /* Points mode promises only the points; other events have to be right. */
    if (w->shape->mode == CT_FRACTAL_POINTS) {
        for (unsigned i = 0; i < w->targets; i++) {
            struct target *t = &w->target[i];
            unsigned kept = 0;
            const uint64_t before = w->verdict->point_events;
            for (unsigned m = 0; m < t->misses; m++)
                kept += in_range(t, t->miss[m].va) && point_index(t, line_of(t->miss[m].va)) < t->points;
            judge(w, t);
            if (w->verdict->point_events - before < kept)
                fail(w, "an observation point's access is not in the log", va, 0);
        }
    } else {
        judge_all(w);
    }
}

static void burst(struct world *w, const struct step *s)
{
    uint64_t r = s->more;
    for (unsigned n = 0; n < 1 + s->more % 24 && !w->verdict->failed; n++) {
        const uint32_t page = (uint32_t)(s->page + draw(&r) % 12) % PAGES;
        struct target *t = &w->target[draw(&r) % w->targets];
        uint64_t va = va_of(w, page) + draw(&r) % 64 * 64;
        if (t->points && draw(&r) % 4 == 0)
            va = t->point[draw(&r) % t->points];
        one_access(w, s->core, va + draw(&r) % 8 * 8, (enum ct_soc_access)(draw(&r) % 3));
    }
}

static void spawn(struct world *w, unsigned count)
{
    for (unsigned i = 0; i < count && w->processes < PROCESSES; i++) {
        const uint32_t pid = ct_soc_process(w->soc);
        if (pid)
            w->process[w->processes++] = pid;
    }
}

static int end_process(struct world *w, const struct step *s)
{
    if (!w->processes)
        return 0;
    const unsigned i = s->process % w->processes;
    ct_soc_exit(w->soc, s->core, w->process[i]);
    w->process[i] = w->process[--w->processes];
    return 1;
}

/* Forks a process. Children are background processes. When a target forks, its pages are shared, and only an
 * operating system that reports who runs tells the two processes apart. */
static int do_fork(struct world *w, const struct step *s)
{
    const uint32_t pid = pick_process(w, s->process);
    if (w->processes == PROCESSES || (!w->shape->hooked && is_target(w, pid)))
        return 0;
    const uint32_t child = ct_soc_fork(w->soc, s->core, pid);
    if (child)
        w->process[w->processes++] = child;
    return child != 0;
}

static int change_range(struct world *w, const struct step *s)
{
    struct target *t = &w->target[s->process % w->targets];
    const uint64_t a = va_of(w, s->page), b = va_of(w, s->more % PAGES),
                   page = UINT64_C(1) << w->shape->soc.granule;
    struct ct_range r = {(a < b ? a : b) + s->more % 3 * 40, (a < b ? b : a) + page - s->more % 5 * 24};
    const unsigned how = t->ranges ? s->more / 64 % 4 : 0;
    if (how == 1) /* removes an existing range */
        r = t->range[s->more % t->ranges];
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_RANGE_LO, r.lo);
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_RANGE_HI, r.hi);
    if (how == 0) { /* replaces all ranges */
        ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_RANGE_COMMIT, 1);
        t->range[0] = r;
        t->ranges = 1;
    } else if (how == 1) {
        ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_RANGE_CMD, CT_FRACTAL_RANGE_REMOVE);
        t->range[s->more % t->ranges] = t->range[t->ranges - 1];
        t->ranges--;
    } else { /* adds a range, which is refused when it overlaps another one or no register is free */
        int free = t->ranges < RANGES;
        for (unsigned i = 0; i < t->ranges; i++)
            free &= r.lo >= t->range[i].hi || r.hi <= t->range[i].lo;
        ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_RANGE_CMD, CT_FRACTAL_RANGE_ADD);
        if (free)
            t->range[t->ranges++] = r;
        w->verdict->ranges += (uint64_t)(free && t->ranges > 1);
    }
    return 1;
}

static int add_point(struct world *w, const struct step *s)
{
    struct target *t = &w->target[s->process % w->targets];
    const uint64_t line = va_of(w, s->page) + s->more % 64 * 64;
    if (t->points == POINTS || point_index(t, line) < t->points)
        return 0;
    t->point[t->points++] = line;
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_POINT_VA, line + s->more % 64);
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_POINT_CMD, CT_FRACTAL_POINT_ADD);
    return 1;
}

static int remove_point(struct world *w, const struct step *s)
{
    struct target *t = &w->target[s->process % w->targets];
    if (!t->points)
        return 0;
    const unsigned i = s->more % t->points;
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_POINT_VA, t->point[i]);
    ct_soc_reg_write(w->soc, (unsigned)t->tap, CT_FRACTAL_REG_POINT_CMD, CT_FRACTAL_POINT_REMOVE);
    t->point[i] = t->point[--t->points];
    return 1;
}

static int pressure(struct world *w, const struct step *s)
{
    if (!w->processes)
        return 0;
    const uint32_t before = ct_soc_running(w->soc, s->core);
    ct_soc_run(w->soc, s->core, w->process[s->process % w->processes]);
    for (uint32_t n = 0; n < 128 && !w->verdict->failed; n++)
        one_access(w, s->core, va_of(w, s->page % 4 + n % 16 * 4) + n * 64 % 4096, CT_SOC_STORE);
    ct_soc_run(w->soc, s->core, before);
    return 1;
}

static int share(struct world *w, const struct step *s)
{
    if (!w->processes || !w->shape->hooked)
        return 0;
    return soc_mm_alias(w->soc, s->core, w->target[0].pid, va_of(w, s->page),
                        w->process[s->process % w->processes], va_of(w, s->more % PAGES));
}

static int migrate_begin(struct world *w, const struct step *s)
{
    const uint32_t pid = pick_process(w, s->process);
    if (!ct_soc_migrate_begin(w->soc, s->core, pid, va_of(w, s->page)))
        return 0;
    w->migrating = va_of(w, s->page);
    w->migrating_pid = pid;
    return 1;
}

static int migrate_end(struct world *w, const struct step *s)
{
    w->migrating_pid = 0;
    return ct_soc_migrate_end(w->soc, s->core);
}

static int run_step(struct world *w, const struct step *s)
{
    struct ct_soc *soc = w->soc;
    const uint32_t pid = pick_process(w, s->process);
    const uint64_t va = va_of(w, s->page);
    switch ((enum op)s->op) {
    case OP_ACCESS:
        burst(w, s);
        return 1;
    case OP_SWITCH:
        ct_soc_run(soc, s->core, pid);
        return 1;
    case OP_SPAWN:
        spawn(w, w->shape->crowd ? 40 : 1);
        return 1;
    case OP_EXIT:
        return end_process(w, s);
    case OP_UNMAP:
        return ct_soc_unmap(soc, s->core, pid, va);
    case OP_MIGRATE_BEGIN:
        return migrate_begin(w, s);
    case OP_MIGRATE_END:
        return migrate_end(w, s);
    case OP_FORK:
        return do_fork(w, s);
    case OP_ALIAS:
        return soc_mm_alias(soc, s->core, pid, va, pid, va_of(w, s->more % PAGES));
    case OP_SHARE:
        return share(w, s);
    case OP_HUGE:
        return ct_soc_map_huge(soc, s->core, pid, va);
    case OP_SPLIT:
        return ct_soc_split(soc, s->core, pid, va);
    case OP_MERGE:
        return soc_mm_merge(soc, s->core, pid, va);
    case OP_CONTIGUOUS:
        return soc_mm_map_contiguous(soc, s->core, pid, va);
    case OP_RECLAIM:
        return soc_mm_reclaim_table(soc, s->core, pid, va);
    case OP_AGE:
        return soc_mm_age(soc, s->core, pid, va);
    case OP_ROLLOVER:
        ct_soc_asid_rollover(soc);
        return 1;
    case OP_RANGE:
        return change_range(w, s);
    case OP_POINT_ADD:
        return add_point(w, s);
    case OP_POINT_REMOVE:
        return remove_point(w, s);
    default:
        return pressure(w, s);
    }
}

/* ---- a run ---- */

static int start_target(struct world *w, struct target *t, unsigned number)
{
    if (ct_fractal_new(NULL, &w->shape->fractal, &t->fractal))
        return 0;
    t->range[0] = (struct ct_range){va_of(w, 0), va_of(w, number ? 3 : PAGES - 1) + 4096};
    t->ranges = 1;
    const struct ct_soc_tap tap = {.user = t, .message = tap_message, .command = tap_command};
    const int at = ct_soc_attach(w->soc, &tap);
    const struct {
        uint32_t reg;
        uint64_t value;
    } set[] = {
        {CT_FRACTAL_REG_PGD, ct_soc_pgd(w->soc, t->pid)},
        {CT_FRACTAL_REG_ASID, ct_soc_asid(w->soc, t->pid)},
        {CT_FRACTAL_REG_GEOM, w->shape->soc.granule | (uint32_t)w->shape->soc.va_bits << 8 |
                                  (uint32_t)__builtin_ctz(w->shape->soc.port_bytes) << 16},
        {CT_FRACTAL_REG_RANGE_LO, t->range[0].lo},
        {CT_FRACTAL_REG_RANGE_HI, t->range[0].hi},
        {CT_FRACTAL_REG_RANGE_COMMIT, 1},
        {CT_FRACTAL_REG_CONTEXT, w->shape->hooked ? t->running : ~UINT64_C(0)},
        {CT_FRACTAL_REG_CTRL, CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(w->shape->mode)},
    };
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++)
        ct_soc_reg_write(w->soc, (unsigned)at, set[i].reg, set[i].value);
    t->tap = at;
    return 1;
}

/* Starts the cluster. The targets run for a while before tracing begins. */
static int begin(struct world *w, uint64_t seed)
{
    const struct ct_soc_hooks hooks = {
        .user = w, .miss = hook_miss, .asid = hook_asid, .context = hook_context};
    if (ct_soc_new(NULL, &w->shape->soc, &hooks, &w->soc))
        return 0;
    w->targets = w->shape->targets;
    for (unsigned i = 0; i < w->targets; i++) {
        w->target[i].tap = -1;
        w->target[i].world = w;
        w->target[i].pid = ct_soc_process(w->soc);
    }
    uint64_t r = seed;
    for (unsigned i = 0; i < w->targets; i++) {
        ct_soc_run(w->soc, i % w->shape->soc.cores, w->target[i].pid);
        for (unsigned n = 0; n < 60; n++)
            ct_soc_touch(w->soc, i % w->shape->soc.cores,
                         va_of(w, (uint32_t)(draw(&r) % PAGES)) + draw(&r) % 64 * 64,
                         (enum ct_soc_access)(draw(&r) % 3));
    }
    int ok = 1;
    for (unsigned i = 0; i < w->targets && ok; i++)
        ok = start_target(w, &w->target[i], i);
    spawn(w, w->shape->crowd ? 200 : 2);
    return ok;
}

void world_run(uint64_t seed, const struct shape *shape, const struct step *steps, const uint8_t *keep,
               enum damage damage, struct verdict *out)
{
    struct world *w = calloc(1, sizeof *w);
    memset(out, 0, sizeof *out);
    w->shape = shape;
    w->verdict = out;
    w->damage = damage;
    w->damage_in = 1 + (uint32_t)(mix(seed + 77) % (damage == DAMAGE_DVM ? 6 : 40));
    if (!begin(w, seed))
        fail(w, "no memory", 0, 0);
    judge_all(w);
    for (uint32_t i = 0; i < shape->steps && !out->failed; i++) {
        if (keep && !keep[i])
            continue;
        out->step = i;
        out->done[steps[i].op] += (uint64_t)run_step(w, &steps[i]);
        judge_all(w);
    }
    for (unsigned i = 0; i < w->targets; i++) {
        const struct ct_fractal *f = w->target[i].fractal;
        if (f) {
            out->evictions += f->rtlb.evictions;
            if (!out->failed && damage == DAMAGE_NONE &&
                (f->inconsistent || f->helper.overflow || f->stalker.lost))
                fail(w, "the tracer lost something without being hindered", f->inconsistent,
                     f->helper.overflow);
        }
        ct_fractal_free(w->target[i].fractal);
    }
    out->copies = w->soc ? ct_soc_counts_of(w->soc)->copies : 0;
    ct_soc_free(w->soc);
    free(w);
}
