/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/group_run.h"

#include <string.h>

#include "base/ctx.h"
#include "verify/due.h"

struct ct_verify_spec *ct_verify_group_lead(struct ct_verify_group *g)
{
    return g->lead;
}

bool ct_verify_group_first(const struct ct_verify_spec *s)
{
    size_t i = 0;
    while (!s->group->members[i])
        i++;
    return s->group->members[i] == s;
}

/* ---- results ---- */

/* Sorts results by member. The order within a member stays. */
static void sort_by_member(struct ct_verify_group *g, const struct ct_monitor_result *results, size_t count)
{
    memset(g->counts, 0, (g->member_count + 1) * sizeof *g->counts);
    for (size_t i = 0; i < count; i++)
        g->counts[g->member_of[results[i].output] + 1]++;
    for (size_t i = 0; i < g->member_count; i++)
        g->counts[i + 1] += g->counts[i];
    for (size_t i = 0; i < count; i++)
        g->sorted[g->counts[g->member_of[results[i].output]]++] = results[i];
}

/* Reports results, at most as many as `sorted` has room for. */
static void tell_some(struct ct_verify_group *g, const struct ct_monitor_result *results, size_t count)
{
    const size_t cursor = g->lead->cursor;
    size_t furthest = cursor;
    size_t from = 0;
    sort_by_member(g, results, count);
    for (size_t i = 0; i < g->member_count; i++) {
        struct ct_verify_spec *s = g->members[i];
        const size_t to = g->counts[i]; /* sorting moved the count to the end of the member's results */
        if (s && to > from) {
            g->lead->cursor = cursor;
            ct_verify_tell(s, g->lead, g->sorted + from, to - from);
            s->told += to - from;
            furthest = g->lead->cursor > furthest ? g->lead->cursor : furthest;
        }
        from = to;
    }
    g->lead->cursor = furthest;
}

void ct_verify_group_tell(struct ct_verify_group *g, const struct ct_monitor_result *results, size_t count)
{
    while (count) {
        const size_t some = count < g->sorted_cap ? count : g->sorted_cap;
        tell_some(g, results, some);
        results += some;
        count -= some;
    }
}

/* ---- separating ---- */

void ct_verify_group_detach(struct ct_verify_group *g, struct ct_verify_spec *s)
{
    for (size_t i = 0; i < g->member_count; i++)
        if (g->members[i] == s)
            g->members[i] = NULL;
    s->group = NULL;
    s->first_output = 0;
    g->live--;
    g->ended |= g->live == 0;
    s->verifier->changed = true;
}

/* Copies the lead's state, except the monitor, to a member. */
static void take_clock(struct ct_verify_spec *s, const struct ct_verify_spec *lead)
{
    const uint64_t dropped = lead->place_total - lead->place_count;
    const size_t none = s->born > dropped ? (size_t)(s->born - dropped) : 0;
    s->time = lead->time;
    s->tick = lead->tick;
    s->value = lead->value;
    s->source = lead->source;
    s->kind = lead->kind;
    s->number_of_event = lead->number_of_event;
    s->number_of_instant = lead->number_of_instant;
    s->lost = lead->lost;
    s->lost_last = lead->lost_last;
    s->broken = lead->broken;
    for (size_t i = 0; i < s->input_count; i++)
        s->used[i] = lead->used[s->inputs[i]];
    s->place_count = lead->place_count - none;
    s->place_total = lead->place_total - s->born;
    s->cursor = lead->cursor > none ? lead->cursor - none : 0;
    memcpy(s->places, lead->places + none, s->place_count * sizeof *s->places);
    s->waiting_count = 0;
    s->first_output = 0;
    s->born = s->skip = 0;
}

/* Makes a member continue alone from the state of `from`, a run of the joint specification; NULL: from the
 * beginning. Error: CT_ERR_NOMEM. */
static int make_alone(struct ct_verify_group *g, struct ct_verify_spec *s, const struct ct_monitor *from)
{
    int rc = ct_verify_monitor(s);
    if (rc)
        return rc;
    for (uint32_t i = 0; from && i < s->spec->order.n; i++)
        g->streams[i] = (struct ct_mon_place){from, s->joined[i]};
    for (uint32_t i = 0; from && i < s->input_count; i++)
        g->inputs[i] = (struct ct_mon_place){from, s->inputs[i]};
    if (from && !ct_mon_state_take(s->monitor, g->streams, g->inputs, from)) {
        ct_monitor_free(s->monitor);
        s->monitor = NULL;
        return ct_fail_nomem(s->verifier->ctx, s->name);
    }
    take_clock(s, g->lead);
    return s->verifier->source_count ? ct_verify_due_hand_on(s, g->lead) : CT_OK;
}

int ct_verify_group_leave(struct ct_verify_spec *s)
{
    struct ct_verify_group *g = s->group;
    if (!g)
        return CT_OK;
    const int rc = s->verifier->running ? make_alone(g, s, g->lead->monitor) : CT_OK;
    if (!rc)
        ct_verify_group_detach(g, s);
    return rc;
}

/* Feeds the events in `waiting` to a member. */
static int feed_waiting(struct ct_verify_spec *s, bool doubtful)
{
    const size_t count = s->waiting_count;
    s->waiting_count = 0;
    return doubtful ? ct_monitor_feed_doubtful(s->monitor, s->waiting, s->spans, count)
                    : ct_monitor_feed(s->monitor, s->waiting, count);
}

/* Repeats in a member what the joint run did between two losses, from entry *i on. */
static int replay_events(const struct ct_verify_group *g, struct ct_verify_spec *s, size_t *i)
{
    const bool doubtful = g->journal[*i].doubtful;
    int rc = CT_OK;
    for (; *i < g->journal_count && !g->journal[*i].lost && g->journal[*i].doubtful == doubtful; ++*i) {
        const struct ct_verify_entry *e = &g->journal[*i];
        const bool same = s->waiting_count && s->waiting[s->waiting_count - 1].time == e->event.time;
        if (s->waiting_count >= CT_VERIFY_WAITING && !same && (rc = feed_waiting(s, doubtful)) != CT_OK)
            return rc;
        for (uint32_t input = 0; input < s->input_count; input++) {
            if (s->inputs[input] != e->event.input)
                continue;
            if (doubtful)
                s->spans[s->waiting_count] = e->span;
            s->waiting[s->waiting_count] = e->event;
            s->waiting[s->waiting_count++].input = input;
        }
    }
    return feed_waiting(s, doubtful);
}

static int replay_loss(struct ct_verify_spec *s, uint64_t advanced)
{
    const int rc = advanced ? ct_monitor_advance(s->monitor, advanced) : CT_OK;
    return rc ? rc : ct_monitor_lose(s->monitor, s->kept);
}

/* Repeats in a member everything since the checkpoint. */
static int replay(const struct ct_verify_group *g, struct ct_verify_spec *s)
{
    int rc = CT_OK;
    for (size_t i = 0; i < g->journal_count && !rc;) {
        if (g->journal[i].lost)
            rc = replay_loss(s, g->journal[i++].event.time);
        else
            rc = replay_events(g, s, &i);
    }
    ct_verify_keep_places(s);
    return rc ? ct_verify_failed(s, rc) : CT_OK;
}

/* Ends the group; its members continue without it. */
static void end(struct ct_verify_group *g)
{
    for (size_t i = 0; i < g->member_count; i++)
        if (g->members[i])
            g->members[i]->group = NULL;
    g->lead->verifier->changed = g->lead->verifier->regroup = true;
    g->lead->failed = g->ended = true;
}

int ct_verify_group_split(struct ct_verify_group *g)
{
    int first = CT_OK;
    for (size_t i = 0; i < g->member_count; i++) {
        struct ct_verify_spec *s = g->members[i];
        if (!s)
            continue;
        const uint64_t told = s->told;
        int rc = make_alone(g, s, g->checkpoint);
        s->skip = told;
        s->group = NULL;
        rc = rc ? ct_verify_failed(s, rc) : replay(g, s);
        first = ct_verify_first(first, rc);
    }
    for (size_t i = 0; i < g->member_count; i++)
        if (g->members[i] && !first) /* no member failed alone: only together they exceed a limit */
            g->members[i]->joinable = false;
    end(g);
    return first;
}

int ct_verify_group_part(struct ct_verify_group *g)
{
    int first = ct_verify_group_flush(g);
    if (g->ended)
        return first;
    for (size_t i = 0; i < g->member_count; i++) {
        struct ct_verify_spec *s = g->members[i];
        if (!s)
            continue;
        const int rc = make_alone(g, s, g->lead->monitor);
        s->group = NULL;
        first = ct_verify_first(first, rc ? ct_verify_failed(s, rc) : CT_OK);
    }
    end(g);
    return first;
}

/* ---- running ---- */

int ct_verify_group_checkpoint(struct ct_verify_group *g)
{
    struct ct_verifier *v = g->lead->verifier;
    const struct ct_monitor *run = g->lead->monitor;
    int rc = CT_OK;
    if (!g->checkpoint)
        rc = ct_monitor_new(v->ctx, g->joint, v->options.limits, NULL, NULL, &g->checkpoint);
    if (rc)
        return rc;
    for (uint32_t i = 0; i < g->joint->order.n; i++)
        g->streams[i] = (struct ct_mon_place){run, i};
    for (uint32_t i = 0; i < g->lead->input_count; i++)
        g->inputs[i] = (struct ct_mon_place){run, i};
    if (!ct_mon_state_take(g->checkpoint, g->streams, g->inputs, run))
        return ct_fail_nomem(v->ctx, "verifier");
    g->journal_count = 0;
    for (size_t i = 0; i < g->member_count; i++)
        if (g->members[i])
            g->members[i]->told = 0;
    return CT_OK;
}

/* Fails all members, because there is no memory to continue. */
static int fail_all(struct ct_verify_group *g, int rc)
{
    for (size_t i = 0; i < g->member_count; i++)
        if (g->members[i])
            ct_verify_failed(g->members[i], rc);
    end(g);
    return rc;
}

int ct_verify_group_flush(struct ct_verify_group *g)
{
    struct ct_verify_spec *lead = g->lead;
    if (g->journal_count && g->journal_count + lead->waiting_count > lead->verifier->journal_most) {
        const int rc = ct_verify_group_checkpoint(g);
        if (rc)
            return fail_all(g, rc);
    }
    for (size_t i = 0; i < lead->waiting_count; i++) {
        struct ct_verify_entry *e = &g->journal[g->journal_count++];
        *e = (struct ct_verify_entry){.event = lead->waiting[i], .doubtful = lead->doubtful};
        if (lead->doubtful)
            e->span = lead->spans[i];
    }
    if (feed_waiting(lead, lead->doubtful))
        return ct_verify_group_split(g);
    ct_verify_keep_places(lead);
    return CT_OK;
}

int ct_verify_group_lost(struct ct_verify_group *g, uint64_t advanced)
{
    if (g->journal_count >= g->lead->verifier->journal_most) {
        const int rc = ct_verify_group_checkpoint(g);
        return rc ? fail_all(g, rc) : CT_OK;
    }
    g->journal[g->journal_count++] = (struct ct_verify_entry){.event.time = advanced, .lost = true};
    return CT_OK;
}

int ct_verify_group_lose(struct ct_verify_group *g, uint64_t tick)
{
    const uint64_t advanced = tick > g->lead->time ? g->lead->time + 1 : 0;
    int first = ct_verify_group_flush(g);
    if (!g->ended && ct_verify_end_instant(g->lead, tick))
        first = ct_verify_first(first, ct_verify_group_split(g));
    if (!g->ended) {
        ct_verify_lost(g->lead, tick);
        return ct_verify_first(first, ct_verify_group_lost(g, advanced));
    }
    for (size_t i = 0; i < g->member_count; i++) {
        struct ct_verify_spec *s = g->members[i];
        if (s && !s->failed)
            first = ct_verify_first(first, ct_verify_lose(s, tick));
    }
    return first;
}

int ct_verify_group_pass(struct ct_verify_group *g, const struct ct_watch_event *e, uint32_t input)
{
    int first = CT_OK;
    for (size_t i = 0; i < g->member_count; i++) {
        struct ct_verify_spec *s = g->members[i];
        for (uint32_t k = 0; s && k < s->input_count; k++)
            if (s->inputs[k] == input)
                first = ct_verify_first(first, ct_verify_take(s, e, k));
    }
    return first;
}

int ct_verify_group_end(struct ct_verify_group *g)
{
    int first = g->ended ? CT_OK : ct_verify_group_flush(g);
    if (!g->ended && ct_monitor_finish(g->lead->monitor))
        first = ct_verify_first(first, ct_verify_group_split(g));
    for (size_t i = 0; g->ended && i < g->member_count; i++)
        if (g->members[i])
            first = ct_verify_first(first, ct_verify_end(g->members[i]));
    return first;
}
