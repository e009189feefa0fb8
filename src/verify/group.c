/* SPDX-License-Identifier: Apache-2.0 */
#include "verify/group_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "monitor/doubt.h"
#include "verify/due.h"

enum {
    PATIENCE_MOST = 10, /* most doublings of the limit after attempts in vain */
};

static bool same_feed(const struct ct_verify_feed *a, const struct ct_verify_feed *b)
{
    return a->first == b->first && a->count == b->count && a->type == b->type && a->core == b->core;
}

/* Returns the first input with the same feed. */
static uint32_t first_fed_so(const struct ct_verify_spec *s, const struct ct_verify_feed *f)
{
    uint32_t i = 0;
    while (i < s->input_count && !same_feed(&s->feeds[i], f))
        i++;
    return i;
}

void ct_verify_group_fits(struct ct_verify_spec *s)
{
    bool twice = false; /* two inputs have the same feed, so each event has two places */
    s->feeds_hash = 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const struct ct_verify_feed *f = &s->feeds[i];
        const uint64_t what = ((uint64_t)f->first << 32 | f->count) * 4 + f->type;
        twice |= first_fed_so(s, f) != i;
        s->feeds_hash += ct_fnv(CT_FNV_BEGIN, &what, sizeof what); /* added up, because the order of inputs
                                                                    * does not matter */
    }
    s->instants = (uint8_t)ct_mon_joint_instants(s->spec);
    s->joinable = s->input_count && !s->may_misfit && !twice && s->instants != INSTANTS_BOTH &&
                  !s->spec->native && !s->spec->beside && ct_mon_joint_fits(s->spec);
}

/* Returns the specification that has the clock: the lead, for a member of a group. */
static const struct ct_verify_spec *fed_of(const struct ct_verify_spec *s)
{
    return s->group ? s->group->lead : s;
}

/* Returns whether two specifications take the same events. */
static bool same_feeds(const struct ct_verify_spec *a, const struct ct_verify_spec *b)
{
    if (a->feeds_hash != b->feeds_hash || a->instants != b->instants)
        return false;
    for (uint32_t i = 0; i < a->input_count; i++)
        if (first_fed_so(b, &a->feeds[i]) == b->input_count)
            return false;
    for (uint32_t i = 0; i < b->input_count; i++)
        if (first_fed_so(a, &b->feeds[i]) == a->input_count)
            return false;
    return true;
}

/* Returns how many places the specification was given and still has. */
static size_t own_places(const struct ct_verify_spec *s)
{
    const struct ct_verify_spec *fed = fed_of(s);
    const uint64_t own = fed->place_total - s->born;
    return own < fed->place_count ? (size_t)own : fed->place_count;
}

/* Returns whether the places that both still have are at the same times. */
static bool same_places(const struct ct_verify_spec *a, const struct ct_verify_spec *b)
{
    const struct ct_verify_spec *x = fed_of(a);
    const struct ct_verify_spec *y = fed_of(b);
    const size_t mine = own_places(a);
    const size_t count = mine < own_places(b) ? mine : own_places(b);
    for (size_t i = 1; i <= count; i++)
        if (x->places[x->place_count - i].time != y->places[y->place_count - i].time)
            return false;
    return true;
}

/* Returns whether two specifications on an axis have the same pending items. */
static bool same_due(const struct ct_verify_spec *x, const struct ct_verify_spec *y)
{
    return !x->verifier->source_count || ct_verify_due_same(x, y);
}

/* Returns whether two specifications that take the same events are at the same instant. */
static bool same_clock(const struct ct_verify_spec *a, const struct ct_verify_spec *b)
{
    const struct ct_verify_spec *x = fed_of(a);
    const struct ct_verify_spec *y = fed_of(b);
    if (x == y)
        return true;
    if (!x->number_of_instant || !y->number_of_instant || x->time != y->time || x->tick != y->tick ||
        x->value != y->value || x->broken != y->broken || x->source != y->source || x->kind != y->kind ||
        x->number_of_event != y->number_of_event)
        return false;
    for (uint32_t i = 0; i < a->input_count; i++) {
        const uint32_t k = first_fed_so(b, &a->feeds[i]);
        const uint64_t mine = x->used[x == a ? i : a->inputs[i]];
        const uint64_t other = y->used[y == b ? k : b->inputs[k]];
        if ((mine == x->number_of_instant) != (other == y->number_of_instant))
            return false;
    }
    return same_places(a, b) && same_due(x, y) && ct_mon_state_agree(x->monitor, y->monitor);
}

/* ---- forming a group ---- */

static void free_group(struct ct_verify_group *g)
{
    if (!g)
        return;
    if (g->lead)
        g->lead->group = NULL;
    ct_verify_spec_free(g->lead);
    ct_monitor_free(g->checkpoint);
    ct_monitor_spec_free(g->joint);
    free(g->members);
    free(g->member_of);
    free(g->journal);
    free(g->streams);
    free(g->inputs);
    free(g->sorted);
    free(g->counts);
    free(g);
}

/* The members of a group to be formed. */
struct plan {
    struct ct_verify_spec **members; /* the members of the largest existing group come first */
    struct ct_mon_part *parts;
    uint32_t **inputs; /* by member and its input: the input of the joint */
    size_t count;
    uint32_t input_count;
    struct ct_arena arena;
};

/* Makes the lead. Its inputs are the distinct inputs of the first member. */
static struct ct_verify_spec *lead_new(struct ct_verifier *v, struct ct_verify_group *g, const struct plan *p)
{
    const struct ct_verify_spec *like = p->members[0];
    struct ct_verify_spec *lead = ct_verify_spec_new(v, UINT32_MAX, g->joint, "");
    if (!lead)
        return NULL;
    for (uint32_t i = 0; i < like->input_count; i++) {
        const uint32_t to = p->inputs[0][i];
        lead->feeds[to] = like->feeds[i];
        lead->types[to] = like->types[i];
        lead->kept[to] = like->kept[i];
    }
    lead->core = like->core;
    lead->group = g;
    return lead;
}

/* Makes a group, which then owns `joint`. NULL: out of memory. */
static struct ct_verify_group *group_new(struct ct_verifier *v, struct ct_monitor_spec *joint,
                                         const struct plan *p)
{
    struct ct_verify_group *g = calloc(1, sizeof *g);
    if (!g) {
        ct_monitor_spec_free(joint);
        return NULL;
    }
    size_t streams = joint->order.n;
    size_t inputs = joint->elab.ninputs;
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_monitor_spec *spec = p->parts[i].spec;
        streams = spec->order.n > streams ? spec->order.n : streams;
        inputs = spec->elab.ninputs > inputs ? spec->elab.ninputs : inputs;
    }
    g->joint = joint;
    g->member_count = g->live = p->count;
    g->sorted_cap = CT_VERIFY_JOURNAL;
    g->members = calloc(p->count, sizeof(struct ct_verify_spec *));
    g->member_of = calloc(joint->program.noutputs + 1, sizeof *g->member_of);
    g->journal = calloc(CT_VERIFY_JOURNAL, sizeof *g->journal);
    g->streams = calloc(streams + 1, sizeof *g->streams);
    g->inputs = calloc(inputs + 1, sizeof *g->inputs);
    g->sorted = calloc(g->sorted_cap, sizeof *g->sorted);
    g->counts = calloc(p->count + 1, sizeof *g->counts);
    if (!g->members || !g->member_of || !g->journal || !g->streams || !g->inputs || !g->sorted ||
        !g->counts || !(g->lead = lead_new(v, g, p))) {
        free_group(g);
        return NULL;
    }
    for (size_t i = 0; i < p->count; i++) {
        g->members[i] = p->members[i];
        for (size_t k = 0; k < p->members[i]->output_count; k++)
            g->member_of[p->parts[i].first_output + k] = (uint32_t)i;
    }
    return g;
}

/* Gives the lead the members' common clock, and the places of the member that has most. */
static void take_clocks(struct ct_verify_spec *lead, const struct plan *p)
{
    size_t most = 0;
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_verify_spec *fed = fed_of(p->members[i]);
        most = own_places(p->members[i]) > own_places(p->members[most]) ? i : most;
        lead->lost |= fed->lost;
        lead->lost_last = fed->lost_last > lead->lost_last ? fed->lost_last : lead->lost_last;
    }
    const struct ct_verify_spec *s = p->members[most];
    const struct ct_verify_spec *from = fed_of(s);
    lead->time = from->time;
    lead->tick = from->tick;
    lead->value = from->value;
    lead->source = from->source;
    lead->kind = from->kind;
    lead->number_of_event = from->number_of_event;
    lead->broken = from->broken;
    lead->number_of_instant = from->number_of_instant ? 2 : 0;
    for (uint32_t i = 0; i < s->input_count; i++) {
        const uint64_t used = from->used[s->group ? s->inputs[i] : i];
        lead->used[p->inputs[most][i]] = used == from->number_of_instant ? lead->number_of_instant : 0;
    }
    lead->place_count = own_places(s);
    lead->place_total = lead->place_count;
    const size_t none = from->place_count - lead->place_count;
    lead->cursor = from->cursor > none ? from->cursor - none : 0;
    memcpy(lead->places, from->places + none, lead->place_count * sizeof *lead->places);
}

/* Moves a member's pending items to the lead, from the member itself or from its current group. */
static int take_due(struct ct_verify_spec *lead, struct ct_verify_spec *member, const uint32_t *inputs)
{
    const int rc = member->group ? ct_verify_due_hand_on(member, member->group->lead) : CT_OK;
    return rc ? rc : ct_verify_due_take_over(lead, member, inputs);
}

/* Makes the joint run continue from the states of the members. */
static int take_states(struct ct_verify_group *g, const struct plan *p)
{
    struct ct_verify_spec *lead = g->lead;
    const int rc = ct_verify_monitor(lead);
    if (rc)
        return rc;
    if (!ct_mon_joint_take(g->joint, lead->monitor))
        return ct_fail_nomem(lead->verifier->ctx, "verifier");
    take_clocks(lead, p);
    const int due = lead->verifier->source_count ? take_due(lead, p->members[0], p->inputs[0]) : CT_OK;
    return due ? due : ct_verify_group_checkpoint(g);
}

/* Makes the planned specifications members of the group. */
static void enter(struct ct_verify_group *g, const struct plan *p, bool running)
{
    for (size_t i = 0; i < p->count; i++) {
        struct ct_verify_spec *s = p->members[i];
        s->born = running ? g->lead->place_total - own_places(s) : 0;
        if (s->group)
            ct_verify_group_detach(s->group, s);
        s->unfollowed |= s->monitor && !ct_monitor_followed(s->monitor);
        ct_monitor_free(s->monitor);
        s->monitor = NULL;
        s->group = g;
        s->joined = p->parts[i].joined;
        s->first_output = p->parts[i].first_output;
        s->told = s->skip = 0;
        memcpy(s->inputs, p->inputs[i], s->input_count * sizeof *s->inputs);
    }
}

/* Numbers the inputs of the joint and fills in the parts. Returns false when out of memory. */
static bool plan_parts(struct plan *p, bool running)
{
    const struct ct_verify_spec *first = p->members[0];
    p->parts = ct_arena_alloc(&p->arena, p->count * sizeof *p->parts);
    p->inputs = ct_arena_alloc(&p->arena, p->count * sizeof *p->inputs);
    for (size_t k = 0; p->parts && p->inputs && k < p->count; k++) {
        const struct ct_verify_spec *s = p->members[k];
        uint32_t *inputs = p->inputs[k] = ct_arena_alloc(&p->arena, (s->input_count + 1) * sizeof *inputs);
        if (!inputs)
            return false;
        for (uint32_t i = 0; i < s->input_count; i++) {
            const uint32_t like = first_fed_so(first, &s->feeds[i]);
            inputs[i] = k == 0 && like == i ? p->input_count++ : p->inputs[0][like];
        }
        p->parts[k] = (struct ct_mon_part){.spec = s->spec, .inputs = inputs};
        if (!running)
            continue;
        p->parts[k].run = fed_of(s)->monitor;
        p->parts[k].streams = s->group ? s->joined : NULL;
        p->parts[k].run_inputs = s->group ? s->inputs : NULL;
    }
    return p->parts && p->inputs;
}

/* Removes from the plan the parts that were left out of the joint. */
static void leave_out(struct plan *p)
{
    size_t kept = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (p->parts[i].left_out)
            continue;
        p->members[kept] = p->members[i];
        p->inputs[kept] = p->inputs[i];
        p->parts[kept++] = p->parts[i];
    }
    p->count = kept;
}

/* Returns whether the planned members are exactly those of an existing group. */
static bool is_there(const struct plan *p)
{
    const struct ct_verify_group *g = p->members[0]->group;
    bool same = g && g->member_count == p->count;
    for (size_t i = 1; same && i < p->count; i++)
        same = p->members[i]->group == g;
    return same;
}

static int make_group(struct ct_verifier *v, struct plan *p, bool *made)
{
    if (!plan_parts(p, v->running))
        return ct_fail_nomem(v->ctx, "verifier");
    struct ct_monitor_spec *joint = ct_mon_joint_new(p->parts, p->count, p->input_count);
    if (!joint) {
        for (size_t i = 0; i < p->count; i++)
            p->members[i]->joinable &= p->members[i]->group != NULL;
        return CT_OK;
    }
    leave_out(p);
    if (p->count < 2 || is_there(p)) {
        ct_monitor_spec_free(joint);
        return CT_OK;
    }
    struct ct_verify_group *g = group_new(v, joint, p);
    if (!g)
        return ct_fail_nomem(v->ctx, "verifier");
    const int rc = v->running ? take_states(g, p) : CT_OK;
    if (rc) {
        free_group(g);
        return rc;
    }
    enter(g, p, v->running);
    g->next = v->groups;
    v->groups = g;
    v->changed = *made = true;
    return CT_OK;
}

/* ---- finding groups ---- */

/* Returns whether nothing in a specification on an axis depends on an unknown order of events. State that is
 * moved between runs cannot carry such doubts; uncertainty due to losses is moved, too. */
static bool has_order(const struct ct_verify_spec *s)
{
    return !s->verifier->source_count || (!s->waiting_count && ct_mon_doubt_is_over(s->monitor) &&
                                          !(s->monitor->certain && ct_mon_doubt_is_named(s->monitor)));
}

static bool may_join(const struct ct_verifier *v, const struct ct_verify_spec *s)
{
    if (!s || s->failed || !s->joinable)
        return false;
    return !v->running || s->group || (s->number_of_instant && s->monitor->begun && has_order(s));
}

/* Puts the members of the largest group first, because parts that hold other values than earlier ones are
 * left out. */
static void largest_first(struct plan *p)
{
    const struct ct_verify_group *largest = NULL;
    for (size_t i = 0; i < p->count; i++) {
        const struct ct_verify_group *g = p->members[i]->group;
        largest = g && (!largest || g->live > largest->live) ? g : largest;
    }
    size_t to = 0;
    for (size_t i = 0; largest && i < p->count; i++) {
        struct ct_verify_spec *s = p->members[i];
        if (s->group != largest)
            continue;
        memmove(p->members + to + 1, p->members + to, (i - to) * sizeof(struct ct_verify_spec *));
        p->members[to++] = s;
    }
}

/* Forms groups of all specifications that take the same events; during a run, only of those at the same
 * instant. */
static int form(struct ct_verifier *v, bool *made)
{
    bool *done = calloc(v->spec_count + 1, sizeof *done);
    int rc = CT_OK;
    if (!done)
        return ct_fail_nomem(v->ctx, "verifier");
    for (size_t i = 0; i < v->spec_count && !rc; i++) {
        struct ct_verify_spec *s = v->specs[i];
        if (done[i] || !may_join(v, s))
            continue;
        struct plan p = {0};
        p.members = ct_arena_alloc(&p.arena, (v->spec_count - i) * sizeof(struct ct_verify_spec *));
        for (size_t k = i; p.members && k < v->spec_count; k++) {
            struct ct_verify_spec *t = v->specs[k];
            if (done[k] || !may_join(v, t) || s->core != t->core || !same_feeds(s, t) ||
                (v->running && !same_clock(s, t)))
                continue;
            done[k] = true;
            p.members[p.count++] = t;
        }
        if (!p.members) {
            rc = ct_fail_nomem(v->ctx, "verifier");
            break;
        }
        largest_first(&p);
        if (p.count > 1 && !is_there(&p))
            rc = make_group(v, &p, made);
        ct_arena_free(&p.arena);
    }
    free(done);
    return rc;
}

int ct_verify_groups_begin(struct ct_verifier *v)
{
    bool made;
    v->waste = v->patience = 0;
    if (v->regroup) {
        v->regroup = false;
        ct_verify_groups_free(v);
        return form(v, &made);
    }
    for (struct ct_verify_group *g = v->groups; g; g = g->next) {
        ct_verify_reset(g->lead);
        ct_monitor_free(g->checkpoint);
        g->checkpoint = NULL;
        g->journal_count = 0;
    }
    return CT_OK;
}

void ct_verify_groups_tune(struct ct_verifier *v, uint64_t waste, size_t journal)
{
    v->waste_most = waste;
    v->journal_most = journal;
}

int ct_verify_regroup(struct ct_verifier *v, size_t events)
{
    size_t alone = 0;
    size_t gone = 0;
    if (!v->regroup || !v->running)
        return CT_OK;
    for (size_t i = 0; i < v->fed_count; i++) {
        const struct ct_verify_group *g = v->fed[i]->group;
        alone += !g && v->fed[i]->joinable && !v->fed[i]->failed;
        gone += g ? g->member_count - g->live : 0;
    }
    v->waste += events * (alone + gone / 16);
    if (v->waste < (v->waste_most << v->patience) * v->spec_count)
        return CT_OK;
    bool made = false;
    const int rc = form(v, &made);
    v->waste = 0;
    v->patience = made ? 0 : v->patience + (v->patience < PATIENCE_MOST);
    if (v->changed)
        ct_verify_index(v);
    return rc;
}

void ct_verify_groups_sweep(struct ct_verifier *v)
{
    for (struct ct_verify_group **at = &v->groups; *at;) {
        struct ct_verify_group *g = *at;
        if (!g->ended) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        free_group(g);
    }
}

void ct_verify_groups_free(struct ct_verifier *v)
{
    for (struct ct_verify_group *g = v->groups; g; g = g->next) {
        for (size_t i = 0; i < g->member_count; i++)
            if (g->members[i])
                ct_verify_group_detach(g, g->members[i]);
        g->ended = true;
    }
    ct_verify_groups_sweep(v);
}
