/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/joint.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

enum {
    JOINT_MEMORY = 256 << 20,
    JOINT_WORK = 200000000, /* units of work, about two seconds */
    SCOPES_MOST = 4 << 20,  /* programs times streams, which bounds the cost of emitting */
};

/* A machine together with the kinds of its atoms. */
struct known_machine {
    struct known_machine *next;
    uint64_t hash;
    const struct ct_mon_machine *machine;
    const uint8_t *atoms;
};

struct ct_mon_joint {
    const struct ct_monitor_spec **specs; /* specifications of the parts */
    size_t count;
    struct ct_mon_place *places; /* by node, later by stream: the place whose state it takes over */
    size_t place_count, places_cap;
    struct ct_mon_place *inputs;
    const struct ct_monitor *clock; /* a run of one of the parts */
    struct known_machine *machines[256];
};

/* ---- eligibility ---- */

static bool is_simple(const struct ct_mon_type *t)
{
    if (!t)
        return true;
    switch (t->kind) {
    case TY_INT:
    case TY_FLOAT:
    case TY_BOOL:
    case TY_STRING:
    case TY_VERDICT:
        return true;
    case TY_OPTION:
        return is_simple(t->args[0]);
    default:
        return t->kind == TY_RECORD && t->n == 0;
    }
}

static bool fits_ir(const struct ct_mon_ir *e, uint8_t *seen)
{
    if (seen[e->id])
        return true;
    seen[e->id] = 1;
    bool fits = e->kind != IR_CALL && is_simple(e->type) && is_simple(e->extra.type);
    for (uint32_t i = 0; i < e->n && fits; i++)
        fits = fits_ir(e->args[i], seen);
    return fits;
}

bool ct_mon_joint_fits(const struct ct_monitor_spec *spec)
{
    uint8_t *seen = calloc(spec->elab.pool.count + 1, 1);
    bool fits = seen != NULL;
    for (size_t i = 0; i < spec->order.n && fits; i++) {
        const struct ct_mon_node *s = spec->order.nodes[i];
        fits = is_simple(s->type) && (!s->kernel || fits_ir(s->kernel, seen));
    }
    free(seen);
    return fits;
}

enum ct_mon_instants ct_mon_joint_instants(const struct ct_monitor_spec *spec)
{
    unsigned kinds = INSTANTS_OF_INPUTS;
    for (size_t i = 0; i < spec->order.n; i++) {
        const enum ct_mon_node_kind kind = spec->order.nodes[i]->kind;
        kinds |= kind == N_DELAY ? INSTANTS_OWN : kind == N_TICK ? INSTANTS_ALL : INSTANTS_OF_INPUTS;
    }
    return (enum ct_mon_instants)kinds;
}

/* ---- copying ---- */

/* A part while it is copied into the joint specification. */
struct copying {
    struct ct_mon_joint *joint;
    struct ct_mon_elab *e;
    const struct ct_mon_part *part;
    struct ct_mon_node **nodes; /* by the part's node: its copy */
    struct ct_mon_node **refs;  /* by the part's node: a reference to a copy that does not exist yet */
    uint8_t *active;
    struct ct_mon_ir **irs; /* by the part's expression: its copy */
};

static const struct ct_mon_type *copy_type(struct ct_mon_types *ts, const struct ct_mon_type *t)
{
    if (!t)
        return NULL;
    switch (t->kind) {
    case TY_INT:
        return ts->integer;
    case TY_FLOAT:
        return ts->real;
    case TY_BOOL:
        return ts->boolean;
    case TY_STRING:
        return ts->string;
    case TY_VERDICT:
        return ts->verdict;
    case TY_OPTION:
        return ct_mon_type_of1(ts, TY_OPTION, copy_type(ts, t->args[0]));
    default:
        return ts->unit;
    }
}

static struct ct_mon_cell copy_value(struct ct_mon_elab *e, struct ct_mon_cell value)
{
    value = ct_mon_value_copy(&e->constants, value);
    ct_mon_ir_check_constants(&e->pool);
    return value;
}

static struct ct_mon_ir *copy_ir(struct copying *c, const struct ct_mon_ir *x)
{
    if (c->irs[x->id])
        return c->irs[x->id];
    struct ct_mon_ir copy = *x;
    copy.args = ARENA_ARRAY(c->e->arena, struct ct_mon_ir *, x->n);
    for (uint32_t i = 0; i < x->n; i++)
        copy.args[i] = copy_ir(c, x->args[i]);
    copy.type = copy_type(&c->e->types, x->type);
    copy.extra.type = copy_type(&c->e->types, x->extra.type);
    copy.value = x->kind == IR_CONST ? copy_value(c->e, x->value) : (struct ct_mon_cell){0};
    return c->irs[x->id] = ct_mon_ir_copy(&c->e->pool, &copy);
}

static size_t table_size(const struct ct_mon_machine *m)
{
    return ((size_t)m->width << m->natoms) * (m->next8 ? sizeof *m->next8 : sizeof *m->next16);
}

static const void *table_of(const struct ct_mon_machine *m)
{
    return m->next8 ? (const void *)m->next8 : (const void *)m->next16;
}

static bool same_machine(const struct ct_mon_machine *a, const struct ct_mon_machine *b)
{
    return a->natoms == b->natoms && a->nstates == b->nstates && a->width == b->width &&
           a->start == b->start && a->empty == b->empty && a->decided == b->decided &&
           !a->next8 == !b->next8 && !memcmp(a->verdicts, b->verdicts, a->nstates) &&
           !memcmp(table_of(a), table_of(b), table_size(a));
}

/* Returns the one machine that stands for all equal machines that read their letters alike. */
static const struct known_machine *known_machine(struct copying *c, const struct ct_mon_node *s)
{
    const struct ct_mon_machine *m = s->machine;
    uint64_t hash = ct_fnv(CT_FNV_BEGIN, s->atoms, m->natoms);
    hash = ct_fnv(hash, m->verdicts, m->nstates);
    hash = ct_fnv(hash, table_of(m), table_size(m) < 1024 ? table_size(m) : 1024);
    struct known_machine **bucket = &c->joint->machines[hash & 255];
    for (const struct known_machine *k = *bucket; k; k = k->next)
        if (k->hash == hash && same_machine(k->machine, m) && !memcmp(k->atoms, s->atoms, m->natoms))
            return k;
    struct known_machine *k = ARENA_NEW(c->e->arena, struct known_machine);
    struct ct_mon_machine *copy = ARENA_NEW(c->e->arena, struct ct_mon_machine);
    *copy = *m;
    *k = (struct known_machine){*bucket, hash, copy, s->atoms};
    return *bucket = k;
}

static struct ct_mon_place place_of(const struct ct_mon_part *part, const struct ct_mon_node *s)
{
    const uint32_t number = part->streams ? part->streams[s->order] : s->order;
    return (struct ct_mon_place){part->run, number};
}

/* Adds a node whose arguments belong to the joint, or finds an equal one that holds the same value. */
static struct ct_mon_node *add_node(struct copying *c, struct ct_mon_node *s, struct ct_mon_place place)
{
    struct ct_mon_joint *j = c->joint;
    struct ct_mon_graph *g = &c->e->graph;
    for (s->variant = 0;; s->variant++) {
        const size_t before = g->count;
        struct ct_mon_node *to = ct_mon_node_copy(g, s);
        if (g->count == before && s->kind != N_INPUT && !ct_mon_state_same(&j->places[to->id], &place))
            continue;
        while (j->place_count < g->count)
            ARENA_PUSH(c->e->arena, j->places, j->place_count, j->places_cap, place);
        return to;
    }
}

/* Returns the copy of an argument, or a reference while the copy is being made. */
static struct ct_mon_node *argument(struct copying *c, const struct ct_mon_node *s)
{
    if (c->nodes[s->id])
        return c->nodes[s->id];
    if (!c->refs[s->id]) {
        struct ct_mon_graph *g = &c->e->graph;
        c->refs[s->id] = ct_mon_node_ref(g, copy_type(&c->e->types, s->type), s->name, s->span);
        const struct ct_mon_place nowhere = {0};
        while (c->joint->place_count < g->count)
            ARENA_PUSH(c->e->arena, c->joint->places, c->joint->place_count, c->joint->places_cap, nowhere);
    }
    return c->refs[s->id];
}

static void copy_node(struct copying *c, const struct ct_mon_node *s)
{
    struct ct_mon_node copy = {.kind = s->kind, .n = s->n, .changes_only = s->changes_only};
    copy.type = copy_type(&c->e->types, s->type);
    copy.args = ARENA_ARRAY(c->e->arena, struct ct_mon_node *, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        copy.args[i] = argument(c, s->args[i]);
    copy.kernel = s->kernel ? copy_ir(c, s->kernel) : NULL;
    if (s->kind == N_DEFAULT || s->kind == N_FOLD)
        copy.value = copy_value(c->e, s->value);
    if (s->kind == N_INPUT)
        copy.index = c->part->inputs[s->index];
    if (s->kind == N_DELAY)
        copy.index = c->e->graph.ndelays++;
    if (s->kind == N_MONITOR) {
        const struct known_machine *k = known_machine(c, s);
        copy.machine = k->machine;
        copy.atoms = k->atoms;
    }
    c->nodes[s->id] = add_node(c, &copy, place_of(c->part, s));
    if (c->refs[s->id])
        c->refs[s->id]->args[0] = c->nodes[s->id];
}

struct frame {
    const struct ct_mon_node *s;
    uint32_t next;
};

/* Copies a node after the nodes that it depends on. */
static void copy_below(struct copying *c, const struct ct_mon_node *root, struct frame *stack)
{
    size_t depth = 0;
    if (c->nodes[root->id])
        return;
    stack[depth++] = (struct frame){root, 0};
    c->active[root->id] = 1;
    while (depth) {
        struct frame *f = &stack[depth - 1];
        if (f->next == f->s->n) {
            copy_node(c, f->s);
            depth--;
            continue;
        }
        const struct ct_mon_node *t = f->s->args[f->next++];
        if (c->active[t->id])
            continue;
        c->active[t->id] = 1;
        stack[depth++] = (struct frame){t, 0};
    }
}

static void copy_outputs(struct copying *c, struct ct_mon_part *part)
{
    struct ct_mon_elab *e = c->e;
    part->first_output = (uint32_t)e->noutputs;
    for (size_t i = 0; i < part->spec->elab.noutputs; i++) {
        struct ct_mon_elab_output out = part->spec->elab.outputs[i];
        out.node = c->nodes[out.node->id];
        ARENA_PUSH(e->arena, e->outputs, e->noutputs, e->outputs_cap, out);
    }
}

static void copy_part(struct ct_mon_joint *j, struct ct_mon_elab *e, struct ct_mon_part *part)
{
    const struct ct_mon_order *order = &part->spec->order;
    const size_t n = part->spec->elab.graph.count;
    struct copying c = {.joint = j, .e = e, .part = part};
    c.nodes = ARENA_ARRAY(e->arena, struct ct_mon_node *, n);
    c.refs = ARENA_ARRAY(e->arena, struct ct_mon_node *, n);
    c.active = ARENA_ARRAY(e->arena, uint8_t, n);
    c.irs = ARENA_ARRAY(e->arena, struct ct_mon_ir *, part->spec->elab.pool.count);
    struct frame *stack = ARENA_ARRAY(e->arena, struct frame, n + 1);
    for (size_t i = 0; i < order->n; i++)
        copy_below(&c, order->nodes[i], stack);
    part->joined = ARENA_ARRAY(e->arena, uint32_t, order->n + 1);
    for (size_t i = 0; i < order->n; i++) /* node numbers, until the joint has an order */
        part->joined[i] = c.nodes[order->nodes[i]->id]->id;
    copy_outputs(&c, part);
}

/* ---- inputs ---- */

/* Returns whether a stream reads the input's held value, not only its events. */
static bool is_held_read(const struct ct_mon_order *order, const struct ct_mon_node *input)
{
    for (size_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        for (uint32_t k = 0; k < s->n; k++) {
            if (s->args[k] == input && ct_mon_node_reads_held(s, k))
                return true;
        }
    }
    return false;
}

static struct ct_mon_place input_place(const struct ct_mon_part *part, uint32_t input)
{
    return (struct ct_mon_place){part->run, part->run_inputs ? part->run_inputs[input] : input};
}

/* State that the parts so far require of an input. */
struct taken_input {
    struct ct_mon_place held; /* `run` is NULL when no stream reads the held value, or when nothing has run
                               * yet */
    bool read;
};

/* Adds the part's inputs to the joint. Returns false, and changes nothing, when an input holds another value
 * than in an earlier part and both values are read. */
static bool take_part_inputs(struct ct_mon_joint *j, struct ct_mon_elab *e, struct taken_input *taken,
                             const struct ct_mon_part *part)
{
    const struct ct_monitor_spec *spec = part->spec;
    for (int commit = 0; commit < 2; commit++) {
        for (uint32_t i = 0; i < spec->elab.ninputs; i++) {
            const uint32_t to = part->inputs[i];
            const struct ct_mon_place before = input_place(part, i);
            if (commit && !e->inputs[to].name) {
                e->inputs[to] = spec->elab.inputs[i];
                e->inputs[to].type = copy_type(&e->types, e->inputs[to].type);
            }
            if (!commit && j->inputs[to].run && !ct_mon_state_same_before(&j->inputs[to], &before))
                return false;
            const bool knows = before.run && before.run->p->inputs[before.number].prev != NO_CELL;
            if (commit && (!j->inputs[to].run || knows))
                j->inputs[to] = before;
        }
        for (size_t i = 0; i < spec->order.n; i++) {
            const struct ct_mon_node *s = spec->order.nodes[i];
            if (s->kind != N_INPUT || !is_held_read(&spec->order, s))
                continue;
            struct taken_input *t = &taken[part->inputs[s->index]];
            const struct ct_mon_place held = place_of(part, s);
            if (!commit && t->read && !ct_mon_state_same(&t->held, &held))
                return false;
            if (commit)
                *t = (struct taken_input){held, true};
        }
    }
    return true;
}

/* ---- joining ---- */

static void join(struct ct_monitor_spec *spec, struct ct_mon_part *parts, size_t count, uint32_t inputs)
{
    struct ct_mon_arena *a = &spec->arena;
    struct ct_mon_joint *j = spec->joint;
    struct ct_mon_elab *e = &spec->elab;
    ct_mon_elab_init(e, a, &spec->diags, NULL);
    e->inputs = ARENA_ARRAY(a, struct ct_mon_elab_input, inputs + 1);
    e->ninputs = e->inputs_cap = inputs;
    j->inputs = ARENA_ARRAY(a, struct ct_mon_place, inputs + 1);
    struct taken_input *taken = ARENA_ARRAY(a, struct taken_input, inputs + 1);
    for (size_t i = 0; i < count; i++) {
        parts[i].left_out = !take_part_inputs(j, e, taken, &parts[i]);
        if (parts[i].left_out)
            continue;
        j->clock = j->clock ? j->clock : parts[i].run;
        copy_part(j, e, &parts[i]);
    }
    if (!ct_mon_analyse(e, &spec->order))
        return;
    if ((inputs + e->graph.ndelays + 2) * spec->order.n > SCOPES_MOST)
        return;
    ct_mon_emit_program(e, &spec->order, &spec->program);
    uint32_t *order_of = ARENA_ARRAY(a, uint32_t, e->graph.count + 1);
    struct ct_mon_place *places = ARENA_ARRAY(a, struct ct_mon_place, spec->order.n + 1);
    for (uint32_t i = 0; i < spec->order.n; i++) {
        const struct ct_mon_node *s = spec->order.nodes[i];
        order_of[s->id] = i;
        places[i] = j->places[s->id];
        if (s->kind == N_INPUT && taken[s->index].read)
            places[i] = taken[s->index].held;
    }
    j->places = places;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; !parts[i].left_out && k < parts[i].spec->order.n; k++)
            parts[i].joined[k] = order_of[parts[i].joined[k]];
    spec->runnable = true;
}

/* Keeps the specifications of the parts alive. */
static bool hold(struct ct_mon_joint *j, const struct ct_mon_part *parts, size_t count)
{
    j->specs = calloc(count + 1, sizeof *j->specs);
    for (size_t i = 0; j->specs && i < count; i++) {
        j->specs[j->count++] = parts[i].spec;
        __atomic_fetch_add(&((struct ct_monitor_spec *)parts[i].spec)->users, 1, __ATOMIC_RELAXED);
    }
    return j->specs != NULL;
}

void ct_mon_joint_release(struct ct_mon_joint *j)
{
    if (!j)
        return;
    for (size_t i = 0; i < j->count; i++)
        ct_monitor_spec_free((struct ct_monitor_spec *)j->specs[i]);
    free(j->specs);
    free(j);
}

struct ct_monitor_spec *ct_mon_joint_new(struct ct_mon_part *parts, size_t count, uint32_t inputs)
{
    struct ct_monitor_spec *volatile spec = calloc(1, sizeof *spec);
    if (!spec)
        return NULL;
    spec->joint = calloc(1, sizeof *spec->joint);
    ct_mon_arena_init(&spec->arena, JOINT_MEMORY);
    spec->arena.work = JOINT_WORK;
    ct_mon_diags_init(&spec->diags, &spec->arena);
    if (!spec->joint || !hold(spec->joint, parts, count) || setjmp(spec->arena.out_of_memory)) {
        ct_monitor_spec_free(spec);
        return NULL;
    }
    join(spec, parts, count, inputs);
    if (spec->runnable)
        return spec;
    ct_monitor_spec_free(spec);
    return NULL;
}

bool ct_mon_joint_take(const struct ct_monitor_spec *joint, struct ct_monitor *run)
{
    const struct ct_mon_joint *j = joint->joint;
    return !j->clock || ct_mon_state_take(run, j->places, j->inputs, j->clock);
}
