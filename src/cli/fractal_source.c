/* SPDX-License-Identifier: Apache-2.0 */
/* An event log as a source of watch events. */
#include "cli/fractal_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "coretap/fractal.h"

#define BATCH   256
#define MAGIC   "CTFRACT1"
#define LINE_OF (~(uint64_t)(CT_FRACTAL_LINE - 1))

/* A place that is looked for. */
struct place {
    uint64_t line, addr;
    uint32_t watch;
    bool fetch; /* what reads data does not count */
};

struct source {
    struct ct_ctx *ctx;
    const struct ct_watches *watches;
    struct ct_fractal_reader *reader;
    struct place *places; /* by line, then by watchpoint */
    size_t place_count;
    fractal_source_fn *feed;
    void *user;
    uint64_t time;             /* of the last record */
    uint64_t dropped, damaged; /* that are told */
    struct ct_watch_event batch[BATCH];
    size_t waiting;
};

bool cli_fractal_source_is_log(const char *path)
{
    char magic[sizeof MAGIC - 1];
    struct stat st;
    errno = 0;
    /* What can be read but once is left to the capture. */
    FILE *file = path && stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "rb") : NULL;
    if (!file && errno == ENOMEM)
        cli_no_memory();
    if (!file)
        return false;
    const bool is_log =
        fread(magic, 1, sizeof magic, file) == sizeof magic && memcmp(magic, MAGIC, sizeof magic) == 0;
    fclose(file);
    return is_log;
}

bool cli_fractal_source_accepts(const struct ct_watches *watches, uint32_t marks)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(watches, &count);
    for (uint32_t i = marks; i < count; i++) {
        const enum ct_watch_kind kind = (enum ct_watch_kind)all[i].kind;
        if (kind == CT_WATCH_ADDR || kind == CT_WATCH_ENTRY || kind == CT_WATCH_GAP ||
            kind == CT_WATCH_OVERFLOW)
            continue;
        cli_say(
            "watchpoint '%s': an event log has accesses to memory, and so no event of the kind %s; name an "
            "address, entry:FUNCTION, gap or overflow",
            all[i].name, ct_watch_kind_name(kind));
        return false;
    }
    return true;
}

/* ---- places ---- */

/* In a line the watchpoint that was added first comes first: ends of pairs are before their beginnings. */
static int by_line(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->watch < y->watch ? -1 : x->watch > y->watch;
}

static int find_places(struct source *s)
{
    size_t count;
    const struct ct_watch_place *all = ct_watches_places(s->watches, &count);
    s->places = calloc(count + 1, sizeof *s->places);
    if (!s->places)
        return cli_fail_nomem(s->ctx, "event log");
    for (size_t i = 0; i < count; i++) {
        const struct ct_watch_place *p = &all[i];
        s->places[i] = (struct place){p->addr & LINE_OF, p->addr, p->watch, p->kind == CT_WATCH_ENTRY};
    }
    s->place_count = count;
    qsort(s->places, s->place_count, sizeof *s->places, by_line);
    return CT_OK;
}

static size_t first_of(const struct source *s, uint64_t line)
{
    size_t lo = 0, hi = s->place_count;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (s->places[mid].line < line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* ---- events ---- */

static int flush(struct source *s)
{
    const int rc = s->waiting ? s->feed(s->user, s->batch, s->waiting) : CT_OK;
    s->waiting = 0;
    return rc;
}

static int put(struct source *s, uint32_t watch, enum ct_watch_kind kind, uint64_t value)
{
    const int rc = s->waiting == BATCH ? flush(s) : CT_OK;
    s->batch[s->waiting++] = (struct ct_watch_event){
        .cycle = s->time, .value = value, .watch = watch, .kind = (uint8_t)kind, .timed = 1};
    return rc;
}

static int lose(struct source *s, enum ct_watch_kind kind)
{
    uint32_t count;
    const struct ct_watchpoint *all = ct_watches_all(s->watches, &count);
    int rc = CT_OK;
    for (uint32_t i = 0; !rc && i < count; i++)
        if (all[i].kind == kind)
            rc = put(s, i, kind, 0);
    return rc;
}

/* What got lost did so behind the record before: its time is that one's. */
static int tell_losses(struct source *s)
{
    uint64_t dropped, damaged;
    int rc = CT_OK;
    ct_fractal_reader_losses(s->reader, &dropped, &damaged);
    if (dropped != s->dropped)
        rc = lose(s, CT_WATCH_OVERFLOW);
    if (!rc && damaged != s->damaged)
        rc = lose(s, CT_WATCH_GAP);
    s->dropped = dropped;
    s->damaged = damaged;
    return rc;
}

static int take(struct source *s, const struct ct_fractal_event *e)
{
    const uint64_t line = e->va & LINE_OF;
    int rc = CT_OK;
    if (e->time < s->time)
        return cli_fail(
            s->ctx, CT_ERR_FORMAT,
            "event log: time goes back from %llu to %llu; what follows cannot be put in order, write "
            "the log of each run to a file of its own",
            (unsigned long long)s->time, (unsigned long long)e->time);
    s->time = e->time;
    for (size_t first = first_of(s, line), i = first; !rc && i < s->place_count && s->places[i].line == line;
         i++) {
        const struct place *p = &s->places[i];
        const bool again = i > first && p[-1].watch == p->watch;
        if (!again && !(p->fetch && e->kind == CT_FRACTAL_KIND_DATA))
            rc = put(s, p->watch, p->fetch ? CT_WATCH_ENTRY : CT_WATCH_ADDR, p->addr);
    }
    return rc;
}

/* One record at a time: only so is it known between which two of them something was dropped. */
static int read_all(struct source *s)
{
    struct ct_fractal_event event;
    size_t count;
    int rc;
    do {
        count = ct_fractal_reader_next(s->reader, &event, 1);
        rc = tell_losses(s);
        if (!rc && count)
            rc = take(s, &event);
    } while (!rc && count);
    return rc ? rc : flush(s);
}

static int open_log(struct source *s, const char *path)
{
    const uint32_t needed = CT_FRACTAL_FIELD_TIME | CT_FRACTAL_FIELD_VA;
    const int rc = ct_fractal_reader_open(s->ctx, path, &s->reader);
    if (rc)
        return rc;
    if ((ct_fractal_reader_info(s->reader)->fields & needed) != needed)
        return cli_fail(
            s->ctx, CT_ERR_CONFIG,
            "%s: its records have no time or no virtual address, so nothing can be watched; record it "
            "with both fields",
            path);
    return find_places(s);
}

int cli_fractal_source_run(const struct cli_args *args, const char *path, const struct ct_watches *watches,
                           fractal_source_fn *feed, void *user, struct ct_losses *losses)
{
    struct source *s = calloc(1, sizeof *s);
    if (!s) {
        cli_no_memory();
        return CLI_FAILED;
    }
    s->ctx = args->ctx;
    s->watches = watches;
    s->feed = feed;
    s->user = user;
    int rc = open_log(s, path);
    if (!rc)
        rc = read_all(s);
    int code = rc ? cli_library_error(args->ctx) : CLI_CLEAN;
    if (!rc && (s->dropped || s->damaged)) {
        cli_say(
            "%s: %llu events were dropped by the tracer, %llu bytes are damaged; what lies behind them is "
            "uncertain",
            path, (unsigned long long)s->dropped, (unsigned long long)s->damaged);
        code = CLI_DAMAGED;
    }
    if (losses)
        *losses = (struct ct_losses){.overflows = s->dropped, .lost_bytes = s->damaged};
    ct_fractal_reader_free(s->reader);
    free(s->places);
    free(s);
    return code;
}
