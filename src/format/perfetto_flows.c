/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "format/perfetto_flows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "coretap/base.h"

/* One end of an arrow. */
struct flow_end {
    uint64_t time;
    uint64_t number; /* number of the arrow */
    const struct ct_perfetto_run *here, *there;
};

int ct_perfetto_flows_add(struct ct_perfetto_flows *f, const struct ct_perfetto_run *run, const char *core)
{
    if (!run->context || f->count == CT_PERFETTO_RUNS)
        return CT_OK;
    if (!CT_MAKE_ROOM(f->runs, f->room, f->count + 1))
        return CT_ERR_NOMEM;
    f->runs[f->count] = *run;
    f->runs[f->count].core = ct_names_add(&f->cores, core, strlen(core));
    if (f->runs[f->count].core == CT_NAMES_NONE)
        return CT_ERR_NOMEM;
    f->count++;
    return CT_OK;
}

void ct_perfetto_flows_free(struct ct_perfetto_flows *f)
{
    free(f->runs);
    ct_names_free(&f->cores);
    *f = (struct ct_perfetto_flows){0};
}

static int by_context(const void *a, const void *b)
{
    const struct ct_perfetto_run *x = a, *y = b;
    return ct_order(x->context, y->context) ?: ct_order(x->begin, y->begin) ?: ct_order(x->track, y->track);
}

static int by_time(const void *a, const void *b)
{
    const struct flow_end *x = a, *y = b;
    return ct_order(x->time, y->time) ?: ct_order(x->number, y->number);
}

/* Finds the ends of arrows. A context that runs on two cores at once does not move. */
static size_t find_ends(const struct ct_perfetto_flows *f, uint64_t first, struct flow_end *ends)
{
    size_t count = 0;
    for (size_t i = 1; i < f->count; i++) {
        const struct ct_perfetto_run *from = &f->runs[i - 1], *next = &f->runs[i];
        if (from->context != next->context || from->track == next->track || next->begin < from->end)
            continue;
        const uint64_t number = first + count / 2;
        ends[count++] = (struct flow_end){.time = from->end, .number = number, .here = from, .there = next};
        ends[count++] = (struct flow_end){.time = next->begin, .number = number, .here = next, .there = from};
    }
    return count;
}

static void put_end(const struct ct_perfetto_flows *f, struct ct_perfetto *to, const struct flow_end *end,
                    uint64_t track)
{
    const bool leaves = end->here->begin < end->there->begin;
    char text[256];
    snprintf(text, sizeof text, "%s %s", leaves ? "goes to" : "comes from", f->cores.names[end->there->core]);
    ct_perfetto_flow(to, track, end->time, text, end->number);
}

int ct_perfetto_flows_write(struct ct_perfetto_flows *f, struct ct_perfetto *to)
{
    struct flow_end *ends = malloc((2 * f->count + 1) * sizeof *ends);
    uint64_t *tracks = calloc(to->track_count + 1, sizeof *tracks); /* by the track of the core */
    if (f->count)
        qsort(f->runs, f->count, sizeof *f->runs, by_context);
    const size_t count = ends && tracks ? find_ends(f, to->flow_count + 1, ends) : 0;
    if (count)
        qsort(ends, count, sizeof *ends, by_time);
    for (size_t i = 0; i < count; i++) {
        uint64_t *track = &tracks[ends[i].here->track];
        if (!*track)
            *track = ct_perfetto_track(to, ends[i].here->track, "contexts that move");
        put_end(f, to, &ends[i], *track);
    }
    to->flow_count += count / 2;
    const bool fine = ends && tracks;
    free(ends);
    free(tracks);
    return fine ? CT_OK : CT_ERR_NOMEM;
}
