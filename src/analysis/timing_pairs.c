/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the time from one watchpoint to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "analysis/timing.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"

#define BATCH 256

static const char *const marks[] = {"exception", "context", "gap", "overflow", "no-access"};
#define MARKS (sizeof marks / sizeof *marks)

/* Adds the watchpoints that detect interruptions of a pair. *first becomes the number of the first one. */
static int add_marks(struct ct_watches *watches, uint32_t *first)
{
    uint32_t number;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < MARKS; i++)
        rc = ct_watches_add(watches, marks[i], i ? &number : first, NULL);
    return rc;
}

static char *join(const char *from, const char *to)
{
    size_t size = strlen(from) + strlen(to) + sizeof " .. ";
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s .. %s", from, to);
    return name;
}

int ct_timing_add_pair(struct ct_timing *t, struct ct_watches *watches, const char *from, const char *to)
{
    CT_REQUIRE_OF(t, watches, from, to);
    struct ct_timing_gate gate = {0};
    int rc = t->watcher ? CT_OK : add_marks(watches, &t->marks);
    if (!rc && !t->watcher)
        rc = ct_watcher_new(t->ctx, watches, &t->watcher);
    /* The end of a pair is added first, so that events at one address end a measurement before they begin
     * one. So the time from an address to itself can be measured. */
    if (!rc)
        rc = ct_watches_add(watches, to, &gate.to, &gate.to_count);
    if (!rc)
        rc = ct_watches_add(watches, from, &gate.from, &gate.from_count);
    if (rc)
        return rc;
    const bool fits = CT_PUSH_ROOM(t->pairs, t->pair_count) && CT_PUSH_ROOM(t->gates, t->pair_count);
    char *name = fits ? join(from, to) : NULL;
    if (!name)
        return ct_fail_nomem(t->ctx, "timing");
    t->pairs[t->pair_count] = (struct ct_timing_pair){.name = name};
    t->gates[t->pair_count++] = gate;
    return CT_OK;
}

void ct_timing_pairs_free(struct ct_timing *t)
{
    for (size_t i = 0; i < t->pair_count; i++) {
        free((char *)t->pairs[i].name);
        ct_dist_free(&t->pairs[i].direct);
        ct_dist_free(&t->pairs[i].preempted);
    }
    free(t->pairs);
    free(t->gates);
    ct_watcher_free(t->watcher);
}

/* Notes an interruption of all pairs, or that trace is missing. */
static void interrupt(struct ct_timing *t, const struct ct_watch_event *event)
{
    const bool lost = event->kind >= CT_WATCH_GAP;
    for (size_t i = 0; i < t->pair_count; i++) {
        struct ct_timing_gate *gate = &t->gates[i];
        if (!gate->is_preempted)
            gate->preempted = event->cycle;
        gate->is_preempted = true;
        t->pairs[i].lost += lost && gate->is_open;
        if (lost)
            gate->is_open = false;
    }
}

/* Returns whether an event interrupts the pairs that it does not end. */
static bool is_between(const struct ct_watch_event *event)
{
    return event->kind == CT_WATCH_EXCEPTION || event->kind == CT_WATCH_CONTEXT;
}

static int finish(struct ct_timing *t, struct ct_timing_pair *pair, struct ct_timing_gate *gate,
                  const struct ct_watch_event *event)
{
    /* An exception or a new context that ends the pair does not interrupt it. */
    const bool direct = !gate->is_preempted || (is_between(event) && gate->preempted == event->cycle);
    gate->is_open = false;
    return ct_dist_add(direct ? &pair->direct : &pair->preempted, event->cycle - gate->begun, t->histograms);
}

static void begin(struct ct_timing_pair *pair, struct ct_timing_gate *gate,
                  const struct ct_watch_event *event)
{
    pair->restarted += gate->is_open;
    gate->is_open = true;
    gate->is_preempted = false;
    gate->begun = event->cycle;
    gate->ctxt = event->ctxt;
    gate->vmid = event->vmid;
    gate->known = event->known;
}

/* Returns whether an event may end a pair. One in another context than the begin may not, unless it is the
 * change of context itself: in an event log only changes carry their context. */
static bool is_own(const struct ct_timing_gate *gate, const struct ct_watch_event *event)
{
    const unsigned known = gate->known & event->known & (CT_CONTEXT_CTXT | CT_CONTEXT_VMID);
    const bool same = event->ctxt == gate->ctxt && event->vmid == gate->vmid;
    return same || !known || event->kind == CT_WATCH_CONTEXT;
}

/* Takes an event. Ends pairs before it begins them, because one watchpoint may do both. */
static int on_event(struct ct_timing *t, const struct ct_watch_event *event)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < t->pair_count; i++) {
        struct ct_timing_gate *gate = &t->gates[i];
        if (event->watch - gate->to < gate->to_count && gate->is_open && is_own(gate, event))
            rc = finish(t, &t->pairs[i], gate, event);
        if (event->watch - gate->from < gate->from_count)
            begin(&t->pairs[i], gate, event);
    }
    return rc;
}

int ct_timing_feed(struct ct_timing *t, const struct ct_watch_event *events, size_t count)
{
    CT_REQUIRE_OF(t, events || !count);
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        if (events[i].watch - t->marks < MARKS)
            interrupt(t, &events[i]);
        else
            rc = on_event(t, &events[i]);
    }
    return rc ? ct_fail_nomem(t->ctx, "timing") : CT_OK;
}

int ct_timing_watch(struct ct_timing *t, const struct ct_step_batch *batch)
{
    struct ct_watch_event events[BATCH];
    size_t count;
    int rc, more;
    do {
        rc = ct_watcher_run(t->watcher, batch, events, BATCH, &count, &more);
        if (!rc)
            rc = ct_timing_feed(t, events, count);
    } while (!rc && more);
    return rc;
}
