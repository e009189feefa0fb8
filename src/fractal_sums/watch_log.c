/* SPDX-License-Identifier: Apache-2.0 */
/* Turns an event log into watch events. */
#include "coretap/fractal_watch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/require.h"
#include "base/search.h"
#include "coretap/fractal.h"
#include "fractal_sums/process_names.h"
#include "fractal_sums/process_programs.h"

#define LINE_OF (~(uint64_t)(CT_FRACTAL_LINE - 1))

/* An address that is watched. */
struct place {
    uint64_t line, addr;
    uint32_t watch;
    bool fetch;      /* only instruction fetches count, data reads do not */
    uint8_t program; /* program that the place belongs to, as in struct ct_watch_place */
};

/* A memory range whose accesses are watched, or an observation point. */
struct range {
    uint64_t lo, hi;
    uint32_t watch;
    uint32_t point; /* observation point, or CT_FRACTAL_NO_POINT for memory */
    uint32_t process;
    uint32_t number; /* number of the watchpoint: enum ct_watch_access */
    uint8_t program; /* program that the range belongs to, as in struct ct_watch_place */
};

/* process of a core that has no record yet */
#define NO_PROCESS UINT16_MAX

struct ct_fractal_watch {
    struct ct_ctx *ctx;
    const struct ct_watches *watches;
    struct ct_fractal_reader *reader;
    struct place *places; /* sorted by line, then by watchpoint */
    size_t place_count;
    struct range *ranges; /* sorted by watchpoint */
    size_t range_count;
    struct ct_fractal_process_names names;
    struct ct_fractal_process_programs runs;
    uint16_t process[256];        /* process of the core's last record, by core */
    struct ct_watch_event *ready; /* events of the last record, and of losses before it */
    size_t ready_count, given;    /* how many events are in `ready`, and how many of them were returned */
    uint64_t time;                /* time of the last record */
    uint32_t unit;                /* address granularity of the log, in bytes */
    uint64_t dropped, damaged;    /* losses that were already reported as events */
    uint32_t marks;               /* mask of the watchpoint kinds that are allowed */
    bool ended;
    bool grows; /* the log is still being written: reaching its end does not end it */
    bool begun; /* the header has been read */
};

/* ---- places ---- */

/* Orders places by line. Within a line the watchpoint that was added first comes first, so that a pair ends
 * before it begins again. */
static int by_line(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ct_order(x->line, y->line) ?: ct_order(x->watch, y->watch);
}

static void add_range(struct ct_fractal_watch *w, struct range range, uint64_t number)
{
    range.process = (uint32_t)CT_WATCH_PROCESS(number);
    range.number = (uint32_t)number & 0xff;
    w->ranges[w->range_count++] = range;
}

/* Collects the watched places and allocates room for the events of one record: one per place, and two losses
 * per watchpoint. */
static int find_places(struct ct_fractal_watch *w)
{
    size_t count;
    uint32_t watchpoints;
    const struct ct_watch_place *all = ct_watches_places(w->watches, &count);
    const struct ct_watchpoint *points = ct_watches_all(w->watches, &watchpoints);
    w->places = calloc(count + 1, sizeof *w->places);
    w->ranges = calloc(count + watchpoints + 1, sizeof *w->ranges);
    w->ready = calloc(count + 3 * (size_t)watchpoints + 1, sizeof *w->ready);
    if (!w->places || !w->ranges || !w->ready)
        return ct_fail_nomem(w->ctx, "event log");
    w->place_count = w->range_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct ct_watch_place *p = &all[i];
        if (p->kind == CT_WATCH_ACCESS)
            add_range(w,
                      (struct range){p->addr, p->end, p->watch, .point = CT_FRACTAL_NO_POINT,
                                     .program = p->program},
                      points[p->watch].number);
        else
            w->places[w->place_count++] =
                (struct place){p->addr & LINE_OF, p->addr, p->watch, p->kind == CT_WATCH_ENTRY, p->program};
    }
    for (uint32_t i = 0; i < watchpoints; i++)
        if (points[i].kind == CT_WATCH_ACCESS && points[i].number & CT_WATCH_ACCESS_POINT)
            add_range(w, (struct range){.watch = i, .point = CT_WATCH_POINT(points[i].number)},
                      points[i].number);
    qsort(w->places, w->place_count, sizeof *w->places, by_line);
    return CT_OK;
}

static int check_kinds(struct ct_ctx *ctx, const struct ct_watches *watches, uint32_t marks)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(watches, &count);
    for (uint32_t i = marks; i < count; i++) {
        const enum ct_watch_kind kind = (enum ct_watch_kind)all[i].kind;
        if (kind != CT_WATCH_ADDR && kind != CT_WATCH_ENTRY && kind != CT_WATCH_GAP &&
            kind != CT_WATCH_OVERFLOW && kind != CT_WATCH_ACCESS && kind != CT_WATCH_CONTEXT)
            return ct_fail(ctx, CT_ERR_ARG,
                           "watchpoint '%s': an event log contains memory accesses and no events of the kind "
                           "%s; use access:NAME, an address, entry:FUNCTION, context, gap or overflow",
                           all[i].name, ct_watch_kind_name(kind));
    }
    return CT_OK;
}

/* Checks that the log's records have the fields that a watchpoint needs. */
static int check_fields(const struct ct_fractal_watch *w, const struct ct_watchpoint *point, uint32_t fields)
{
    uint32_t needed = 0;
    if (point->kind == CT_WATCH_CONTEXT)
        needed = CT_FRACTAL_FIELD_TARGET;
    if (point->kind == CT_WATCH_ACCESS) {
        const unsigned which = point->number & CT_WATCH_ACCESS_WHICH;
        needed |= which ? CT_FRACTAL_FIELD_OP | CT_FRACTAL_FIELD_KIND : 0;
        needed |= point->number & CT_WATCH_ACCESS_PHYSICAL ? CT_FRACTAL_FIELD_PA : 0;
        needed |= CT_WATCH_PROCESS(point->number) ? CT_FRACTAL_FIELD_TARGET : 0;
        needed |= point->number & CT_WATCH_ACCESS_POINT ? CT_FRACTAL_FIELD_POINT : 0;
    }
    const uint32_t missing = needed & ~fields;
    if (!missing)
        return CT_OK;
    return ct_fail(w->ctx, CT_ERR_CONFIG,
                   "watchpoint '%s': the records of the log have no field %s, so its events cannot be "
                   "recognised; record the log with this field",
                   point->name,
                   missing & CT_FRACTAL_FIELD_TARGET  ? "target"
                   : missing & CT_FRACTAL_FIELD_POINT ? "point"
                   : missing & CT_FRACTAL_FIELD_PA    ? "pa"
                   : missing & CT_FRACTAL_FIELD_OP    ? "op"
                                                      : "kind");
}

/* Checks all watchpoints against the fields in the log's header. */
static int check_points(const struct ct_fractal_watch *w)
{
    uint32_t count;
    const struct ct_watchpoint *points = ct_watches_all(w->watches, &count);
    int rc = CT_OK;
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = check_fields(w, &points[i], ct_fractal_reader_info(w->reader)->fields);
    return rc;
}

/* ---- the object ---- */

/* Checks and stores what the header says. */
static int begin(struct ct_fractal_watch *w, const char *name)
{
    const uint32_t needed = CT_FRACTAL_FIELD_TIME | CT_FRACTAL_FIELD_VA;
    if ((ct_fractal_reader_info(w->reader)->fields & needed) != needed)
        return ct_fail(w->ctx, CT_ERR_CONFIG,
                       "%s: its records have no time or no virtual address, so nothing can be watched; "
                       "record the log with both fields",
                       name);
    w->unit = ct_fractal_reader_unit(w->reader);
    w->begun = true;
    return check_points(w);
}

/* Opens a log, or a stream that receives its log in pieces. */
static int open_log(struct ct_fractal_watch *w, const char *path, bool grows)
{
    int rc = grows ? ct_fractal_reader_stream(w->ctx, path, &w->reader)
                   : ct_fractal_reader_open(w->ctx, path, &w->reader);
    w->grows = grows;
    for (size_t i = 0; i < sizeof w->process / sizeof *w->process; i++)
        w->process[i] = NO_PROCESS;
    if (!rc && !grows)
        rc = begin(w, path);
    return rc ? rc : find_places(w);
}

static int make(struct ct_ctx *ctx, const char *path, const struct ct_watches *watches, uint32_t marks,
                bool grows, struct ct_fractal_watch **out)
{
    int rc = check_kinds(ctx, watches, marks);
    if (rc)
        return rc;
    struct ct_fractal_watch *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, path);
    w->ctx = ctx;
    w->watches = watches;
    w->marks = marks;
    rc = open_log(w, path, grows);
    if (rc)
        ct_fractal_watch_free(w);
    else
        *out = w;
    return rc;
}

int ct_fractal_watch_open(struct ct_ctx *ctx, const char *path, const struct ct_watches *watches,
                          uint32_t marks, struct ct_fractal_watch **out)
{
    CT_REQUIRE_OUT(ctx, out, path, watches);
    return make(ctx, path, watches, marks, false, out);
}

int ct_fractal_watch_stream(struct ct_ctx *ctx, const char *name, const struct ct_watches *watches,
                            uint32_t marks, struct ct_fractal_watch **out)
{
    CT_REQUIRE_OUT(ctx, out, name, watches);
    return make(ctx, name, watches, marks, true, out);
}

int ct_fractal_watch_push(struct ct_fractal_watch *w, const void *data, size_t size)
{
    CT_REQUIRE_OF(w, w->grows);
    const int rc = ct_fractal_reader_push(w->reader, data, size);
    w->ended = false;
    return rc || w->begun || !ct_fractal_reader_info(w->reader)->fields ? rc : begin(w, "log");
}

/* Warns about process names that were watched but that no process had. Only the end of a growing log can
 * tell. */
static int tell_unmet(struct ct_fractal_watch *w)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(w->watches, &count);
    const int rc = ct_fractal_process_names_take(w->ctx, ct_fractal_reader_info(w->reader)->text, &w->names);
    for (uint32_t i = 0; i < count && !rc; i++) {
        const char *name = all[i].kind == CT_WATCH_CONTEXT && all[i].number & CT_WATCH_CONTEXT_NAME
                               ? strchr(all[i].name, ':') + 1
                               : NULL;
        unsigned p = 0;
        while (name && p < 256 && !(w->names.names[p] && strcmp(w->names.names[p], name) == 0))
            p++;
        if (name && p == 256)
            ct_log(w->ctx, CT_LOG_WARNING,
                   "watchpoint '%s': no process of the log has this name; its program is %s, and 'coretap "
                   "fractal report' lists the other processes",
                   all[i].name, w->names.names[0] ? w->names.names[0] : "not named");
    }
    return rc;
}

int ct_fractal_watch_end(struct ct_fractal_watch *w)
{
    CT_REQUIRE_OF(w, w->grows);
    w->grows = w->ended = false;
    const int rc = ct_fractal_reader_end(w->reader);
    return rc || !w->begun ? rc : tell_unmet(w);
}

int ct_fractal_watch_renew(struct ct_fractal_watch *w)
{
    CT_REQUIRE(NULL, w);
    struct ct_fractal_watch before = *w;
    int rc = check_kinds(w->ctx, w->watches, w->marks);
    if (!rc && w->given < w->ready_count)
        rc = ct_fail(w->ctx, CT_ERR_ARG,
                     "event log: events of the earlier watchpoints are waiting, so the watchpoints were not "
                     "changed; fetch these events first");
    if (!rc && w->begun)
        rc = check_points(w);
    if (rc)
        return rc;
    rc = find_places(w);
    struct ct_fractal_watch *gone = rc ? w : &before;
    free(gone->places);
    free(gone->ranges);
    free(gone->ready);
    if (rc) {
        w->places = before.places;
        w->ranges = before.ranges;
        w->ready = before.ready;
        w->place_count = before.place_count;
        w->range_count = before.range_count;
    }
    return rc;
}

uint64_t ct_fractal_watch_time(const struct ct_fractal_watch *w, uint64_t *clock_hz)
{
    if (!w || !clock_hz)
        return 0;
    *clock_hz = w->begun ? ct_fractal_reader_info(w->reader)->clock_hz : 0;
    return w->time;
}

void ct_fractal_watch_free(struct ct_fractal_watch *w)
{
    if (!w)
        return;
    ct_fractal_reader_free(w->reader);
    ct_fractal_process_names_free(&w->names);
    free(w->places);
    free(w->ranges);
    free(w->ready);
    free(w);
}

/* ---- events ---- */

static void put(struct ct_fractal_watch *w, uint32_t watch, enum ct_watch_kind kind, uint64_t value)
{
    w->ready[w->ready_count++] = (struct ct_watch_event){
        .cycle = w->time, .value = value, .watch = watch, .kind = (uint8_t)kind, .timed = 1};
}

static void lose(struct ct_fractal_watch *w, enum ct_watch_kind kind)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(w->watches, &count);
    for (uint32_t i = 0; i < count; i++)
        if (all[i].kind == kind)
            put(w, i, kind, 0);
}

/* Adds loss events. The loss happened after the previous record, so it gets that record's time. */
static void tell_losses(struct ct_fractal_watch *w)
{
    uint64_t dropped, damaged;
    ct_fractal_reader_losses(w->reader, &dropped, &damaged);
    if (dropped != w->dropped)
        lose(w, CT_WATCH_OVERFLOW);
    if (damaged != w->damaged)
        lose(w, CT_WATCH_GAP);
    w->dropped = dropped;
    w->damaged = damaged;
}

/* Returns whether a context watchpoint matches the process. */
static bool is_process(const struct ct_fractal_watch *w, const struct ct_watchpoint *point, uint32_t process)
{
    if (point->kind != CT_WATCH_CONTEXT)
        return false;
    if (point->number == CT_WATCH_ANY || point->number == process)
        return true;
    const char *name = w->names.names[process];
    return point->number & CT_WATCH_CONTEXT_NAME && name && strcmp(name, strchr(point->name, ':') + 1) == 0;
}

/* Adds context events when a core switches to another process. */
static int switch_process(struct ct_fractal_watch *w, const struct ct_fractal_event *e)
{
    uint32_t count;
    int rc = CT_OK;
    if (w->process[e->initiator] == e->target)
        return CT_OK;
    w->process[e->initiator] = e->target;
    const struct ct_watchpoint *points = ct_watches_all(w->watches, &count);
    for (uint32_t i = 0; i < count && !rc; i++) {
        if (!is_process(w, &points[i], e->target))
            continue;
        put(w, i, CT_WATCH_CONTEXT, 0);
        struct ct_watch_event *to = &w->ready[w->ready_count - 1];
        to->ctxt = e->target;
        to->known = CT_CONTEXT_CTXT;
        if (points[i].form == CT_WATCH_TEXT)
            rc = ct_fractal_process_text(&w->names, w->watches, e->target, to);
    }
    return rc;
}

/* Returns whether a range is watched for accesses of this kind (read, write or fetch). */
static bool is_such(const struct ct_fractal_event *e, const struct range *r)
{
    const bool is_fetch = e->kind == CT_FRACTAL_KIND_INSN;
    const bool is_write = e->op == CT_FRACTAL_READ_UNIQUE;
    switch (r->number & CT_WATCH_ACCESS_WHICH) {
    case CT_WATCH_ACCESS_READ:
        return !is_fetch && !is_write;
    case CT_WATCH_ACCESS_WRITE:
        return is_write;
    case CT_WATCH_ACCESS_FETCH:
        return is_fetch;
    default:
        return true;
    }
}

/* Warns that accesses of a process are watched although its program is none of those named. */
static void tell_stranger(const struct ct_fractal_watch *w, uint32_t process)
{
    size_t i = 0;
    while (i < w->range_count && (w->ranges[i].process != process || !w->ranges[i].program))
        i++;
    if (i < w->range_count)
        ct_log(w->ctx, CT_LOG_WARNING,
               "event log: process %u runs %s, which was not named, so places in it are not watched; name "
               "its file with --elf, too",
               (unsigned)process, w->names.names[process]);
}

/* Finds the program that the process of a record runs. The log names a process's program before its first
 * record. */
static int find_program(struct ct_fractal_watch *w, const struct ct_fractal_event *e,
                        const struct ct_fractal_process_program **out)
{
    const bool known = w->runs.all[e->target].known;
    const int rc =
        known ? CT_OK
              : ct_fractal_process_names_take(w->ctx, ct_fractal_reader_info(w->reader)->text, &w->names);
    *out = ct_fractal_process_program(&w->runs, &w->names, ct_watches_programs(w->watches), e->target);
    if (!known && (*out)->known && (*out)->stranger)
        tell_stranger(w, e->target);
    return rc;
}

/* Returns whether an access to address `told` misses a range. */
static bool is_beside(const struct ct_fractal_watch *w, const struct range *r,
                      const struct ct_fractal_event *e, uint64_t told)
{
    if (r->point != CT_FRACTAL_NO_POINT)
        return e->point != r->point;
    return told >= r->hi || (r->lo > told && r->lo - told >= w->unit);
}

/* Returns a record's address as it is in the set of programs, for a place of `program`. */
static uint64_t address_for(const struct ct_fractal_watch *w, const struct ct_fractal_event *e,
                            const struct ct_fractal_process_program *runs, uint8_t program)
{
    return (e->va & ~(uint64_t)(w->unit - 1)) - (program ? runs->moved : 0);
}

/* Adds an event for each watchpoint whose memory range the access hits. */
static void access_ranges(struct ct_fractal_watch *w, const struct ct_fractal_event *e,
                          const struct ct_fractal_process_program *runs)
{
    uint32_t given = UINT32_MAX;
    for (size_t i = 0; i < w->range_count; i++) {
        const struct range *r = &w->ranges[i];
        if (is_beside(w, r, e, address_for(w, e, runs, r->program)) || r->watch == given ||
            r->process != e->target || !is_such(e, r) || !ct_fractal_process_has(runs, r->program))
            continue;
        given = r->watch;
        put(w, r->watch, CT_WATCH_ACCESS, r->number & CT_WATCH_ACCESS_PHYSICAL ? e->pa : e->va);
        w->ready[w->ready_count - 1].number = e->initiator;
    }
}

/* Adds an event for each watchpoint whose place the access hits. `of_programs` selects places of programs or
 * plain addresses. */
static void come_by(struct ct_fractal_watch *w, const struct ct_fractal_event *e,
                    const struct ct_fractal_process_program *runs, bool of_programs)
{
    uint32_t given = UINT32_MAX;
    const uint64_t told = address_for(w, e, runs, of_programs), line = told & LINE_OF;
    const size_t first = CT_COUNT_WHILE(w->place_count, at, w->places[at].line < line);
    for (size_t i = first; i < w->place_count && w->places[i].line == line; i++) {
        const struct place *p = &w->places[i];
        const bool beside = p->addr < told || p->addr - told >= w->unit;
        if (beside || p->watch == given || (p->fetch && e->kind == CT_FRACTAL_KIND_DATA) ||
            (p->program != 0) != of_programs || !ct_fractal_process_has(runs, p->program))
            continue;
        given = p->watch;
        put(w, p->watch, p->fetch ? CT_WATCH_ENTRY : CT_WATCH_ADDR, p->addr);
    }
}

/* Sorts the events of one record by watchpoint. Insertion sort: there are few. */
static void sort_by_watch(struct ct_watch_event *events, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct ct_watch_event one = events[i];
        size_t at = i;
        for (; at && events[at - 1].watch > one.watch; at--)
            events[at] = events[at - 1];
        events[at] = one;
    }
}

static int take(struct ct_fractal_watch *w, const struct ct_fractal_event *e)
{
    const struct ct_fractal_process_program *runs;
    if (e->time < w->time)
        return ct_fail(w->ctx, CT_ERR_FORMAT,
                       "event log: the time goes back from %llu to %llu, so the rest cannot be put in order; "
                       "write the log of each run to a separate file",
                       (unsigned long long)w->time, (unsigned long long)e->time);
    w->time = e->time;
    int rc = find_program(w, e, &runs) ?: switch_process(w, e);
    if (rc)
        return rc;
    const size_t before = w->ready_count;
    come_by(w, e, runs, true);
    const size_t named = w->ready_count;
    come_by(w, e, runs, false);
    if (named > before && w->ready_count > named)
        sort_by_watch(w->ready + before, w->ready_count - before);
    access_ranges(w, e, runs);
    return CT_OK;
}

/* Reads one record. Single reads show between which two records something was dropped. */
static int read_one(struct ct_fractal_watch *w)
{
    struct ct_fractal_event event;
    w->ready_count = w->given = 0;
    w->ended = !ct_fractal_reader_next(w->reader, &event, 1);
    if (!w->ended || !w->grows) /* the extent of a damage is known at the next record, or at the end of the
                                 * log */
        tell_losses(w);
    return w->ended ? CT_OK : take(w, &event);
}

int ct_fractal_watch_next(struct ct_fractal_watch *w, struct ct_watch_event *events, size_t cap,
                          size_t *count)
{
    int rc = CT_OK;
    CT_REQUIRE_OF(w, count, events || !cap);
    *count = 0;
    while (!rc && *count < cap && !(w->ended && w->given == w->ready_count)) {
        if (w->given == w->ready_count)
            rc = read_one(w);
        while (!rc && *count < cap && w->given < w->ready_count)
            events[(*count)++] = w->ready[w->given++];
    }
    return rc;
}

struct ct_losses ct_fractal_watch_losses(const struct ct_fractal_watch *w)
{
    return w ? (struct ct_losses){.overflows = w->dropped, .lost_bytes = w->damaged} : (struct ct_losses){0};
}
