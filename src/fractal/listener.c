/* SPDX-License-Identifier: Apache-2.0 */
/* Snoop Listener: finds the virtual addresses of reads at the port. */
#include "fractal/machine.h"

#include <stdbool.h>
#include <string.h>

static inline int in_range(const struct ct_fractal *f, uint64_t va)
{
    return ct_ranges_touch(&f->config.ranges, va, va + f->unit);
}

static void emit(struct ct_fractal *f, struct ct_fractal_event *e, const struct ct_point *point)
{
    if (!in_range(f, e->va) || (!point && f->config.control & CT_FRACTAL_CTRL_POINTS_ONLY))
        return;
    e->point = point ? point->id : CT_FRACTAL_NO_POINT;
    ct_logger_put(&f->logger, e);
    e->flags = CT_FRACTAL_ALIAS;
}

static void annotate(struct ct_fractal *f, const struct ct_fractal_message *m, uint64_t pa, uint32_t chain)
{
    const struct ct_fractal_mapping *hit[CT_RTLB_HITS_MAX];
    const unsigned hits = ct_rtlb_collect(&f->rtlb, pa, hit);
    const uint64_t within = m->addr & (CT_FRACTAL_LINE - 1) & ~f->unit;
    struct ct_fractal_event e = {.time = m->time,
                                 .pa = pa + within,
                                 .op = m->op,
                                 .initiator = m->initiator,
                                 .kind = m->kind,
                                 .target = f->config.target};
    for (unsigned i = 0; i < hits; i++) {
        const uint64_t line = hit[i]->va + (pa - hit[i]->pa);
        e.va = line + within;
        emit(f, &e, chain == UINT32_MAX ? NULL : ct_points_at(&f->points, line, pa));
    }
    /* the watchdog keeps its own translations, which survive silent evictions */
    for (uint32_t i = chain; i != UINT32_MAX; i = f->points.point[i].next) {
        const struct ct_point *point = &f->points.point[i];
        unsigned known = 0;
        while (known < hits && hit[known]->va + (pa - hit[known]->pa) != point->va)
            known++;
        if (point->pa != pa || known < hits)
            continue;
        e.va = point->va + within;
        emit(f, &e, point);
    }
}

void ct_listener_read(struct ct_fractal *f, const struct ct_fractal_message *m)
{
    const uint64_t pa = m->addr & ~UINT64_C(63);
    f->snoops++;
    const unsigned watched = ct_address_filter_page(&f->filter, pa);
    const uint32_t chain = watched & CT_FILTER_POINT ? ct_points_first(&f->points, pa) : UINT32_MAX;
    if ((chain != UINT32_MAX || ct_rtlb_hit(&f->rtlb, pa)) && f->config.context >> m->initiator & 1)
        annotate(f, m, pa, chain);
    if (chain != UINT32_MAX)
        ct_points_hit(&f->points, pa, m->kind == CT_FRACTAL_KIND_DATA);
    if (watched & CT_FILTER_TABLE)
        ct_stalker_touch(&f->stalker, pa);
}

static int plain_read(const struct ct_fractal *f, const struct ct_fractal_message *m)
{
    return m->op <= CT_FRACTAL_READ_UNIQUE && m->time >= f->time && m->addr >> 48 == 0 && m->initiator < 64;
}

/* Compares the tag with all ways of the set. Returns a bit for each way that matches. */
static inline unsigned matches(const struct ct_rtlb_way *way, uint32_t ways, uint64_t tag)
{
    if (ways == 4)
        return (unsigned)(way[0].tag == tag) | (unsigned)(way[1].tag == tag) << 1 |
               (unsigned)(way[2].tag == tag) << 2 | (unsigned)(way[3].tag == tag) << 3;
    unsigned hits = 0;
    for (uint32_t w = 0; w < ways; w++)
        hits |= (unsigned)(way[w].tag == tag) << w;
    return hits;
}

/* Copies of all values that decide on a plain read, and the contiguous free records of the ring. A plain read
 * is of a page that is mapped once and has neither points nor tables. Copies are faster, because the compiler
 * must assume that storing a record changes the originals. */
struct plain_log {
    struct ct_range range; /* the only range */
    uint64_t contexts;     /* bits of the initiators to log; 0: plain reads are not logged */
    bool usual;            /* the tracer has one range, and records have every field */
    uint8_t target;
    uint8_t *place;  /* next record in the ring */
    uint32_t room;   /* contiguous free records */
    uint32_t events; /* events stored or dropped; without room the ring is full */
};

static struct plain_log plain_log_of(const struct ct_fractal *f)
{
    const struct ct_config *c = &f->config;
    const struct ct_logger *l = &f->logger;
    struct plain_log log = {.contexts = c->control & CT_FRACTAL_CTRL_POINTS_ONLY ? 0 : c->context,
                            .usual = l->record == CT_RECORD_ALL && c->ranges.count == 1,
                            .target = c->target};
    if (log.usual) {
        log.range = c->ranges.range[0];
        log.place = ct_logger_places(l, &log.room);
    }
    return log;
}

/* Stores a record with every field in the ring, exactly as ct_record_pack would. */
static inline void put_all(struct plain_log *log, const struct ct_fractal_message *m, uint64_t va,
                           uint64_t pa)
{
    const uint32_t none = CT_FRACTAL_NO_POINT;
    const uint32_t tail = m->op | (uint32_t)m->initiator << 8 | (uint32_t)m->kind << 16;
    uint8_t *place = log->place;
    memcpy(place, &m->time, 8);
    memcpy(place + 8, &va, 8);
    memcpy(place + 16, &pa, 8);
    memcpy(place + 24, &none, 4);
    memcpy(place + 28, &tail, 4);
    place[32] = log->target;
    log->place += CT_RECORD_ALL;
}

/* Logs a plain read. */
static inline void annotate_one(struct ct_fractal *f, struct plain_log *log,
                                const struct ct_fractal_message *m, uint64_t pa, uint64_t va)
{
    if (!(log->contexts >> m->initiator & 1))
        return;
    if (log->usual) {
        if (va >= log->range.hi || log->range.lo > va + f->unit)
            return;
        if (log->events++ < log->room) {
            put_all(log, m, va, pa);
        } else if (ct_logger_has_room(&f->logger, log->room)) { /* continues at the beginning of the ring */
            log->events--;
            ct_logger_add(&f->logger, log->events, log->room);
            *log = plain_log_of(f);
            log->events = 1;
            put_all(log, m, va, pa);
        }
        return;
    }
    if (!in_range(f, va))
        return;
    const struct ct_fractal_event e = {.time = m->time,
                                       .va = va,
                                       .pa = pa,
                                       .point = CT_FRACTAL_NO_POINT,
                                       .op = m->op,
                                       .initiator = m->initiator,
                                       .kind = m->kind,
                                       .target = log->target};
    ct_logger_put(&f->logger, &e);
}

/* Returns whether the line at pa may contain a point or a table. `watched`: CT_FILTER_… of its page. */
static inline int wanted(const struct ct_fractal *f, uint64_t pa, unsigned watched)
{
    return watched & (CT_FILTER_TABLE | ct_address_filter_line(&f->filter, pa) * CT_FILTER_POINT) ? 1 : 0;
}

/* Reads are processed in blocks. A first pass, without branches on its results, finds the reads of interest;
 * a second pass handles them. Only the requests of such a read can change what later lookups find; then the
 * block ends. */
#define BLOCK 64

struct picks {
    uint8_t at[BLOCK], watched[BLOCK];
    unsigned count, looked_at;
};

static inline __attribute__((always_inline)) void look(const struct ct_fractal *f,
                                                       const struct ct_fractal_message *m, size_t count,
                                                       unsigned shift, uint32_t words, struct picks *p)
{
    /* copies, because stores through the bytes of `p` might otherwise alias them */
    const uint64_t *const print = f->rtlb.print, *const filter = f->filter.page;
    const uint64_t mask = f->rtlb.sets - 1;
    const size_t end = count < BLOCK ? count : BLOCK;
    uint64_t time = f->time;
    unsigned n = 0, i = 0;
    for (; i < end; i++) {
        const uint64_t pa = m[i].addr, page = pa >> shift;
        if ((m[i].op > CT_FRACTAL_READ_UNIQUE) | (m[i].time < time) | (pa >> 48 != 0) | (m[i].initiator > 63))
            break;
        time = m[i].time;
        const uint64_t hit = ct_rtlb_maybe(print + (page & mask) * words, words, ct_rtlb_print(page));
        const uint32_t h = ct_address_filter_hash(pa >> 12);
        const unsigned watched = (unsigned)(filter[h >> 5] >> (h & 31) * 2) & 3;
        p->at[n] = (uint8_t)i;
        p->watched[n] = (uint8_t)watched;
        n += (hit | watched) != 0;
    }
    p->count = n;
    p->looked_at = i;
}

/* Handles the reads of interest in a block. Returns how many reads of the block were taken. */
static inline __attribute__((always_inline)) unsigned take_block(struct ct_fractal *f,
                                                                 const struct ct_fractal_message *m,
                                                                 unsigned shift, uint32_t ways,
                                                                 const struct picks *p)
{
    const struct ct_rtlb *r = &f->rtlb;
    const uint64_t before = f->snoops;
    struct plain_log log = plain_log_of(f);
    for (unsigned n = 0; n < p->count; n++) {
        const struct ct_fractal_message *one = &m[p->at[n]];
        const uint64_t pa = one->addr & ~f->unit;
        const struct ct_rtlb_way *set = r->way + (size_t)(pa >> shift & (r->sets - 1)) * ways;
        const unsigned hits = matches(set, ways, ct_rtlb_tag(pa, shift));
        if (hits & (hits - 1) || wanted(f, pa, p->watched[n])) {
            f->time = one->time;
            ct_logger_add(&f->logger, log.events, log.room);
            ct_listener_read(f, one);
            log = plain_log_of(f);
            if (f->helper.count) {
                f->snoops = before + p->at[n] + 1;
                return p->at[n] + 1u;
            }
        } else if (hits) {
            annotate_one(f, &log, one, pa, pa + set[__builtin_ctz(hits)].delta);
        }
    }
    ct_logger_add(&f->logger, log.events, log.room);
    f->snoops = before + p->looked_at;
    f->time = m[p->looked_at - 1].time;
    return p->looked_at;
}

size_t ct_listener_reads(struct ct_fractal *f, const struct ct_fractal_message *m, size_t count)
{
    const struct ct_rtlb *r = &f->rtlb;
    struct picks p;
    size_t n = 0;
    /* several page sizes, or a stash in use: one read at a time */
    while (n < count && !f->helper.count && (r->shifts > 1 || r->stashed) && plain_read(f, &m[n])) {
        f->time = m[n].time;
        ct_listener_read(f, &m[n++]);
    }
    while (n < count && !f->helper.count && r->shifts <= 1 && !r->stashed) {
        const unsigned shift = r->shifts ? r->shift[0] : 12;
        const int usual = shift == 12 && r->ways == 4; /* constants let the compiler make a faster copy of
                                                        * both functions */
        if (usual)
            look(f, m + n, count - n, 12, 1, &p);
        else
            look(f, m + n, count - n, shift, r->words, &p);
        if (!p.looked_at)
            break;
        n += usual ? take_block(f, m + n, 12, 4, &p) : take_block(f, m + n, shift, r->ways, &p);
    }
    return n;
}
