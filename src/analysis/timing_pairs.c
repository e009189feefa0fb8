/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the time from one watchpoint to another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/dist.h"
#include "analysis/timing.h"
#include "base/ctx.h"

#define BATCH 256

static const char *const marks[] = {"exception", "context", "gap", "overflow", "no-access"};

/* Adds watchpoints of what may come in between; they are told apart by their kinds. */
static int add_marks(struct ct_watches *watches)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < sizeof marks / sizeof *marks; i++)
        rc = ct_watches_add(watches, marks[i], NULL, NULL);
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
    if (!t || !watches || !from || !to)
        return CT_ERR_ARG;
    struct ct_timing_gate gate = {0};
    int rc = t->watcher ? CT_OK : add_marks(watches);
    if (!rc && !t->watcher)
        rc = ct_watcher_new(t->ctx, watches, &t->watcher);
    /* Of events at one place the end comes first, so that a place can be measured up to itself. */
    if (!rc)
        rc = ct_watches_add(watches, to, &gate.to, &gate.to_count);
    if (!rc)
        rc = ct_watches_add(watches, from, &gate.from, &gate.from_count);
    if (rc)
        return rc;
    struct ct_timing_pair *pairs = realloc(t->pairs, (t->pair_count + 1) * sizeof *pairs);
    if (pairs)
        t->pairs = pairs;
    struct ct_timing_gate *gates = pairs ? realloc(t->gates, (t->pair_count + 1) * sizeof *gates) : NULL;
    char *name = gates ? join(from, to) : NULL;
    if (gates)
        t->gates = gates;
    if (!name)
        return ct_fail_nomem(t->ctx, "timing");
    pairs[t->pair_count] = (struct ct_timing_pair){.name = name};
    gates[t->pair_count++] = gate;
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

/* Notes that something came in between, or that trace is missing. */
static void interrupt(struct ct_timing *t, bool lost)
{
    for (size_t i = 0; i < t->pair_count; i++) {
        t->gates[i].is_preempted = true;
        t->pairs[i].lost += lost && t->gates[i].is_open;
        if (lost)
            t->gates[i].is_open = false;
    }
}

static int finish(struct ct_timing *t, struct ct_timing_pair *pair, struct ct_timing_gate *gate,
                  uint64_t cycle)
{
    gate->is_open = false;
    return ct_dist_add(gate->is_preempted ? &pair->preempted : &pair->direct, cycle - gate->begun,
                       t->histograms);
}

/* Takes an event. Only the context that began a pair can end it. One watchpoint may do both, and then first
 * ends the pair. */
static int on_event(struct ct_timing *t, const struct ct_watch_event *event)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < t->pair_count; i++) {
        struct ct_timing_gate *gate = &t->gates[i];
        bool is_own = event->ctxt == gate->ctxt && event->vmid == gate->vmid;
        if (event->watch - gate->to < gate->to_count && gate->is_open && is_own)
            rc = finish(t, &t->pairs[i], gate, event->cycle);
        if (event->watch - gate->from >= gate->from_count)
            continue;
        t->pairs[i].restarted += gate->is_open;
        gate->is_open = true;
        gate->is_preempted = false;
        gate->begun = event->cycle;
        gate->ctxt = event->ctxt;
        gate->vmid = event->vmid;
    }
    return rc;
}

int ct_timing_feed(struct ct_timing *t, const struct ct_watch_event *events, size_t count)
{
    if (!t || (!events && count))
        return CT_ERR_ARG;
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < count; i++) {
        if (events[i].kind == CT_WATCH_EXCEPTION || events[i].kind == CT_WATCH_CONTEXT)
            interrupt(t, false);
        else if (events[i].kind >= CT_WATCH_GAP)
            interrupt(t, true);
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
