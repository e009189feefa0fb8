/* SPDX-License-Identifier: Apache-2.0 */
/* Emits streams as programs. In each program a stream has an event always, never or perhaps, so most tests
 * are omitted. */
#include "monitor/emit.h"
#include "monitor/bank.h"

/* Which sources have an event in a program. */
struct scope {
    int input, timer; /* the only source; -1: none of this kind; ALL: any number of them */
    bool zero;        /* the program runs at instant 0 */
};

enum {
    ALL = -2
};

static uint32_t cell_of(const struct ct_mon_emit *m, const struct ct_mon_node *s)
{
    return m->cell[s->id];
}

static enum ct_mon_presence present(const struct ct_mon_emit *m, const struct ct_mon_node *s)
{
    return m->presence[s->id];
}

/* Returns whether the caller of a program writes the stream's event before the program starts. */
static bool is_source(const struct ct_mon_node *s)
{
    return s->kind == N_INPUT || s->kind == N_DELAY;
}

static enum ct_mon_presence source_presence(const struct scope *sc, const struct ct_mon_node *s)
{
    int which = s->kind == N_INPUT ? sc->input : sc->timer;
    return which == ALL ? MAYBE : which == (int)s->index ? ALWAYS : NEVER;
}

/* Returns whether the stream surely holds a value in this program. */
static bool held(const struct ct_mon_emit *m, const struct scope *sc, const struct ct_mon_node *s)
{
    return present(m, s) == ALWAYS || (!sc->zero && s->has0);
}

/* Emits jumps over the node unless one of its arguments has an event and all hold a value. */
static enum ct_mon_presence guard(struct ct_mon_emit *m, const struct scope *sc, const struct ct_mon_node *s,
                                  bool signal, struct ct_mon_label *skip)
{
    enum ct_mon_presence result = NEVER;
    uint32_t maybe = 0;
    bool all_held = true;
    for (uint32_t i = 0; i < s->n; i++) {
        enum ct_mon_presence p = present(m, s->args[i]);
        if (p > result)
            result = p;
        maybe += p == MAYBE;
    }
    if (result == NEVER)
        return NEVER;
    if (result == MAYBE) {
        struct ct_mon_label go = {0};
        for (uint32_t i = 0; i < s->n; i++) {
            if (present(m, s->args[i]) != MAYBE)
                continue;
            bool last = --maybe == 0;
            ct_mon_emit_jump(m, last ? skip : &go, last ? I_JABSENT : I_JPRESENT, cell_of(m, s->args[i]));
        }
        ct_mon_emit_land(m, &go);
    }
    for (uint32_t i = 0; signal && i < s->n; i++) {
        if (held(m, sc, s->args[i]))
            continue;
        /* for a single argument, the guard above has tested its event */
        if (s->n > 1)
            ct_mon_emit_jump(m, skip, I_JNEVER, cell_of(m, s->args[i]));
        all_held &= s->n == 1;
    }
    return all_held ? result : MAYBE;
}

static struct ct_mon_param *params_of(struct ct_mon_emit *m, const struct ct_mon_node *s, bool option)
{
    struct ct_mon_param *params = ARENA_ARRAY(m->e->arena, struct ct_mon_param, s->n);
    for (uint32_t i = 0; i < s->n; i++)
        params[i] = (struct ct_mon_param){cell_of(m, s->args[i]), present(m, s->args[i]), option};
    return params;
}

static enum ct_mon_presence emit_lift(struct ct_mon_emit *m, const struct scope *sc,
                                      const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    bool option = s->kind == N_LIFT;
    enum ct_mon_presence p = guard(m, sc, s, !option, skip);
    if (p == NEVER)
        return p;
    ct_mon_emit_begin_kernel(m, params_of(m, s, option));
    if (!option) {
        ct_mon_emit_value(m, s->kernel, cell_of(m, s));
        return p;
    }
    enum ct_mon_presence r = ct_mon_emit_event(m, s->kernel, cell_of(m, s), skip);
    return r < p ? r : p;
}

/* Emits a jump over the stream when x has no event. Returns whether x has one. */
static enum ct_mon_presence require(struct ct_mon_emit *m, const struct ct_mon_node *x,
                                    struct ct_mon_label *skip)
{
    if (present(m, x) == MAYBE)
        ct_mon_emit_jump(m, skip, I_JABSENT, cell_of(m, x));
    return present(m, x);
}

/* Emits s := x for events of x. */
static enum ct_mon_presence emit_take(struct ct_mon_emit *m, uint32_t op, const struct ct_mon_node *s,
                                      const struct ct_mon_node *x, struct ct_mon_label *skip)
{
    enum ct_mon_presence p = require(m, x, skip);
    if (p != NEVER)
        ct_mon_emit_insn(m, op, cell_of(m, s), cell_of(m, x), 0);
    return p;
}

/* Emits a default: the event of the argument, or else the default value. */
static enum ct_mon_presence emit_default(struct ct_mon_emit *m, const struct scope *sc,
                                         const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    enum ct_mon_presence p = present(m, s->args[0]);
    if (!sc->zero || p == ALWAYS)
        return emit_take(m, I_COPY, s, s->args[0], skip);
    uint32_t d = cell_of(m, s);
    struct ct_mon_label other = {0};
    if (p == MAYBE) {
        ct_mon_emit_jump(m, &other, I_JABSENT, cell_of(m, s->args[0]));
        ct_mon_emit_insn(m, I_COPY, d, cell_of(m, s->args[0]), 0);
        ct_mon_emit_jump(m, skip, I_JUMP, 0);
        ct_mon_emit_land(m, &other);
    }
    ct_mon_emit_insn(m, I_COPY, d, ct_mon_emit_constant(m, s->value), 0);
    return ALWAYS;
}

static enum ct_mon_presence emit_merge(struct ct_mon_emit *m, const struct ct_mon_node *s,
                                       struct ct_mon_label *skip)
{
    enum ct_mon_presence a = present(m, s->args[0]), b = present(m, s->args[1]);
    if (a == ALWAYS || b == NEVER)
        return emit_take(m, I_COPY, s, s->args[0], skip);
    if (a == NEVER)
        return emit_take(m, I_COPY, s, s->args[1], skip);
    struct ct_mon_label other = {0};
    ct_mon_emit_jump(m, &other, I_JABSENT, cell_of(m, s->args[0]));
    ct_mon_emit_insn(m, I_COPY, cell_of(m, s), cell_of(m, s->args[0]), 0);
    ct_mon_emit_jump(m, skip, I_JUMP, 0);
    ct_mon_emit_land(m, &other);
    return emit_take(m, I_COPY, s, s->args[1], skip);
}

static enum ct_mon_presence emit_default_from(struct ct_mon_emit *m, const struct ct_mon_node *s,
                                              struct ct_mon_label *skip)
{
    enum ct_mon_presence a = present(m, s->args[0]), b = present(m, s->args[1]);
    if (a == ALWAYS || b == NEVER)
        return emit_take(m, I_COPY, s, s->args[0], skip);
    ct_mon_emit_insn(m, I_DEFAULT_FROM, cell_of(m, s), cell_of(m, s->args[0]), cell_of(m, s->args[1]));
    return MAYBE;
}

static enum ct_mon_presence emit_filter(struct ct_mon_emit *m, const struct scope *sc,
                                        const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    const struct ct_mon_node *x = s->args[0], *c = s->args[1];
    if (require(m, x, skip) == NEVER)
        return NEVER;
    if (!held(m, sc, c))
        ct_mon_emit_jump(m, skip, I_JNEVER, cell_of(m, c));
    ct_mon_emit_jump(m, skip, I_JFALSE, cell_of(m, c));
    ct_mon_emit_insn(m, I_COPY, cell_of(m, s), cell_of(m, x), 0);
    return MAYBE;
}

static enum ct_mon_presence emit_on(struct ct_mon_emit *m, const struct scope *sc,
                                    const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    const struct ct_mon_node *trigger = s->args[0], *x = s->args[1];
    if (sc->zero && present(m, x) == NEVER)
        return NEVER;
    enum ct_mon_presence p = require(m, trigger, skip);
    if (p == NEVER)
        return NEVER;
    bool sure = held(m, sc, x);
    if (!sure)
        ct_mon_emit_jump(m, skip, I_JNEVER, cell_of(m, x));
    ct_mon_emit_insn(m, I_COPY, cell_of(m, s), cell_of(m, x), 0);
    return sure ? p : MAYBE;
}

static enum ct_mon_presence emit_last(struct ct_mon_emit *m, const struct scope *sc,
                                      const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    const struct ct_mon_node *x = s->args[0], *r = s->args[1];
    if (sc->zero || require(m, r, skip) == NEVER) /* there is no past at instant 0 */
        return NEVER;
    bool written = (x->order < s->order || is_source(x)) && present(m, x) != NEVER;
    if (!written)
        ct_mon_emit_insn(m, I_LAST, cell_of(m, s), cell_of(m, x), 0);
    else if (present(m, x) == ALWAYS)
        ct_mon_emit_insn(m, I_LAST, cell_of(m, s), m->prev[x->id], 0);
    else
        ct_mon_emit_insn(m, I_LAST2, cell_of(m, s), cell_of(m, x), m->prev[x->id]);
    return x->has0 ? present(m, r) : MAYBE;
}

static enum ct_mon_presence emit_fold(struct ct_mon_emit *m, const struct scope *sc,
                                      const struct ct_mon_node *s, struct ct_mon_label *skip)
{
    const struct ct_mon_node *x = s->args[0];
    uint32_t d = cell_of(m, s);
    bool reduce = s->kind == N_REDUCE;
    if (sc->zero && !reduce)
        ct_mon_emit_insn(m, I_COPY, d, ct_mon_emit_constant(m, s->value), 0);
    enum ct_mon_presence p = require(m, x, skip);
    if (p == NEVER)
        return sc->zero && !reduce ? ALWAYS : NEVER;
    if (reduce && (sc->zero || !s->has0)) {
        struct ct_mon_label more = {0};
        uint32_t begun = ct_mon_emit_insn(m, I_JNEVER, 0, d, 0);
        ct_mon_emit_jump(m, &more, I_JUMP, 0);
        m->p->code[begun].d = emit_here(m);
        ct_mon_emit_insn(m, I_COPY, d, cell_of(m, x), 0);
        ct_mon_emit_jump(m, skip, I_JUMP, 0);
        ct_mon_emit_land(m, &more);
    }
    struct ct_mon_param *params = ARENA_ARRAY(m->e->arena, struct ct_mon_param, 2);
    params[0] = (struct ct_mon_param){d, ALWAYS, false};
    params[1] = (struct ct_mon_param){cell_of(m, x), ALWAYS, false};
    ct_mon_emit_begin_kernel(m, params);
    ct_mon_emit_value(m, s->kernel, d);
    return sc->zero && !reduce ? ALWAYS : p;
}

/* Computes the machine's letter if it does not depend on values. Returns false when the program has to read
 * it. */
static bool known_letter(const struct ct_mon_emit *m, const struct ct_mon_node *s, uint32_t *letter)
{
    *letter = 0;
    for (uint32_t i = 0; i < s->machine->natoms; i++) {
        enum ct_mon_presence p = present(m, s->args[i]);
        if (s->atoms[i] == ATOM_SIGNAL || p == MAYBE || (p == ALWAYS && s->atoms[i] == ATOM_BOOL))
            return false;
        *letter |= (uint32_t)(p == ALWAYS) << i;
    }
    return true;
}

static enum ct_mon_presence emit_monitor(struct ct_mon_emit *m, const struct ct_mon_node *s, uint32_t direct)
{
    struct ct_mon_program *p = m->p;
    const struct ct_mon_machine *machine = s->machine;
    struct ct_mon_step step = {.machine = machine,
                               .state = s->index,
                               .cell = cell_of(m, s),
                               .out = direct,
                               .atoms = (uint32_t)p->natoms,
                               .clocks = s->n - machine->natoms,
                               .changes_only = s->changes_only};
    enum ct_mon_presence clock = NEVER;
    for (uint32_t i = machine->natoms; i < s->n; i++)
        if (present(m, s->args[i]) > clock)
            clock = present(m, s->args[i]);
    if (clock == NEVER)
        return NEVER;
    step.known = clock == ALWAYS && known_letter(m, s, &step.letter);
    const uint8_t *row = NULL;
    if (step.known && machine->next8)
        row = machine->next8 + (size_t)step.letter * machine->width;
    for (uint32_t i = 0; !step.known && i < s->n; i++) {
        const struct ct_mon_step_atom atom = {cell_of(m, s->args[i]),
                                              i < machine->natoms ? s->atoms[i] : ATOM_EVENT};
        ARENA_PUSH(m->e->arena, p->atoms, p->natoms, p->atoms_cap, atom);
    }
    size_t n = p->nsteps;
    ARENA_PUSH(m->e->arena, p->rows, n, p->rows_cap, row);
    ARENA_PUSH(m->e->arena, p->steps, p->nsteps, p->steps_cap, step);
    uint32_t at = (uint32_t)p->nsteps - 1;
    struct ct_mon_insn *before = p->ncode ? &p->code[p->ncode - 1] : NULL;
    bool fast = row && s->changes_only;
    if (fast && before && before->op == I_STEPS && before->a + before->b == at &&
        p->steps[at - 1].state + 1 == step.state)
        before->b++;
    else
        ct_mon_emit_insn(m, fast ? I_STEPS : I_STEP, 0, at, fast ? 1 : 0);
    return s->changes_only ? MAYBE : clock;
}

static enum ct_mon_presence emit_node(struct ct_mon_emit *m, const struct scope *sc, struct ct_mon_node *s,
                                      struct ct_mon_label *skip)
{
    switch (s->kind) {
    case N_NIL:
    case N_REF:
    case N_OPAQUE:
        return NEVER;
    case N_TICK:
        ct_mon_emit_insn(m, I_COPY, cell_of(m, s), ct_mon_emit_constant(m, cell_int(0)), 0);
        return ALWAYS;
    case N_INPUT:
    case N_DELAY:
        return source_presence(sc, s);
    case N_DEFAULT:
        return emit_default(m, sc, s, skip);
    case N_DEFAULT_FROM:
        return emit_default_from(m, s, skip);
    case N_TIME:
        return emit_take(m, I_TIME, s, s->args[0], skip);
    case N_LAST:
        return emit_last(m, sc, s, skip);
    case N_LIFT:
    case N_SLIFT:
        return emit_lift(m, sc, s, skip);
    case N_MERGE:
        return emit_merge(m, s, skip);
    case N_FILTER:
        return emit_filter(m, sc, s, skip);
    case N_ON:
        return emit_on(m, sc, s, skip);
    case N_FOLD:
    case N_REDUCE:
        return emit_fold(m, sc, s, skip);
    case N_PURE:
        return emit_take(m, I_PURE, s, s->args[0], skip) == NEVER ? NEVER : MAYBE;
    case N_MONITOR: {
        uint32_t direct = s->mark > 2 ? (uint32_t)s->value.v.i : UINT32_MAX;
        return emit_monitor(m, s, direct);
    }
    }
    return NEVER;
}

/* Emits the setting of timers, after all streams of the instant. */
static void emit_timers(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    for (size_t i = 0; i < m->reach.nstreams; i++) {
        const struct ct_mon_node *s = order->nodes[m->reach.streams[i]];
        if (s->kind != N_DELAY)
            continue;
        const struct ct_mon_node *amount = s->args[0], *reset = s->args[1];
        if (present(m, amount) != NEVER)
            ct_mon_emit_insn(m, I_CHECK_DELAY, 0, cell_of(m, amount), 0);
        if (present(m, reset) != NEVER || present(m, s) != NEVER)
            ct_mon_emit_insn(m, I_TIMER, s->index, cell_of(m, amount), cell_of(m, reset));
    }
}

static void emit_outputs(struct ct_mon_emit *m)
{
    for (size_t i = 0; i < m->reach.noutputs; i++) {
        const uint32_t number = m->reach.outputs[i];
        const struct ct_mon_node *s = m->e->outputs[number].node;
        const struct ct_mon_out_info *out = &m->p->outputs[number];
        if (present(m, s) != NEVER && !out->direct)
            ct_mon_emit_insn(m, out->count > 1 ? I_OUTS : I_OUT, 0, cell_of(m, s), number);
    }
}

static void emit_stream(struct ct_mon_emit *m, const struct scope *sc, struct ct_mon_node *s)
{
    const uint32_t from = emit_here(m);
    struct ct_mon_label skip = {0};
    m->temp = m->p->roots_to;
    if (m->prev[s->id] != NO_CELL && !is_source(s))
        ct_mon_emit_insn(m, I_SAVE, m->prev[s->id], cell_of(m, s), 0);
    const enum ct_mon_presence p = emit_node(m, sc, s, &skip);
    m->presence[s->id] = p;
    if (p == NEVER) /* drops what was emitted: it can never run */
        m->p->ncode = from;
    else
        ct_mon_emit_land(m, &skip);
}

/* Emits the program of the streams that were found. */
static uint32_t emit_scope(struct ct_mon_emit *m, const struct ct_mon_order *order, const struct scope *sc)
{
    const uint32_t begin = emit_here(m);
    const struct ct_mon_reach *reach = &m->reach;
    arena_spend(m->e->arena, reach->nstreams);
    /* a `last` may precede the source whose former value it reads */
    for (size_t i = 0; i < reach->nstreams; i++) {
        const struct ct_mon_node *s = order->nodes[reach->streams[i]];
        m->presence[s->id] = is_source(s) ? source_presence(sc, s) : NEVER;
    }
    for (size_t i = 0; i < reach->nstreams; i++)
        emit_stream(m, sc, order->nodes[reach->streams[i]]);
    emit_timers(m, order);
    emit_outputs(m);
    for (size_t i = 0; i < reach->nstreams; i++)
        m->presence[order->nodes[reach->streams[i]]->id] = NEVER;
    if (emit_here(m) == begin)
        return NO_CODE;
    ct_mon_emit_insn(m, I_END, 0, 0, 0);
    return begin;
}

/* Assigns a cell for the former value of each stream that a later `last` reads. */
static void find_saved(struct ct_mon_emit *m, const struct ct_mon_order *order, uint32_t *next)
{
    for (size_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        if (s->kind != N_LAST || (s->args[0]->order >= s->order && !is_source(s->args[0])))
            continue;
        uint32_t *prev = &m->prev[s->args[0]->id];
        if (*prev == NO_CELL)
            *prev = (*next)++;
    }
}

/* Emits all programs twice: the first pass collects the constants, whose cells must come first. */
static void emit_all(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_program *p = m->p;
    p->ncode = p->nslow = p->nsteps = p->natoms = p->nconstants = 0;
    for (size_t i = 0; i < m->nids; i++)
        m->const_cell[i] = 0;
    ct_mon_emit_functions(m);
    m->temp = m->temp_max = p->roots_to;
    ct_mon_emit_reach_all(m, order);
    p->code_zero = emit_scope(m, order, &(struct scope){ALL, -1, true});
    p->code_all = emit_scope(m, order, &(struct scope){ALL, ALL, false});
    for (size_t i = 0; i < p->ninputs; i++) {
        ct_mon_emit_reach_of(m, order, m->reach.inputs[i]);
        p->inputs[i].code = emit_scope(m, order, &(struct scope){(int)i, -1, false});
    }
    for (size_t i = 0; i < p->ntimers; i++) {
        ct_mon_emit_reach_of(m, order, m->reach.timers[i]);
        p->timers[i].code = emit_scope(m, order, &(struct scope){-1, (int)i, false});
    }
    p->ncells = m->temp_max;
}

static void assign_cells(struct ct_mon_emit *m, const struct ct_mon_order *order)
{
    struct ct_mon_program *p = m->p;
    uint32_t next = (uint32_t)p->nconstants;
    p->roots_from = next;
    for (size_t i = 0; i < m->e->graph.count; i++)
        m->prev[i] = NO_CELL;
    for (size_t i = 0; i < order->n; i++) {
        struct ct_mon_node *s = order->nodes[i];
        m->cell[s->id] = next++;
        if (s->kind == N_INPUT)
            p->inputs[s->index].cell = m->cell[s->id];
        if (s->kind == N_DELAY)
            p->timers[s->index].cell = m->cell[s->id];
    }
    find_saved(m, order, &next);
    for (size_t i = 0; i < order->n; i++) {
        const struct ct_mon_node *s = order->nodes[i];
        if (s->kind == N_INPUT)
            p->inputs[s->index].prev = m->prev[s->id];
        if (s->kind == N_DELAY)
            p->timers[s->index].prev = m->prev[s->id];
    }
    p->roots_to = next;
}

void ct_mon_emit_program(struct ct_mon_elab *e, const struct ct_mon_order *order, struct ct_mon_program *p)
{
    struct ct_mon_emit m = {.e = e, .p = p, .nids = e->pool.count};
    *p = (struct ct_mon_program){0};
    m.memo_of = ARENA_ARRAY(e->arena, uint32_t, m.nids + 1);
    m.const_cell = ARENA_ARRAY(e->arena, uint32_t, m.nids + 1);
    m.cell = ARENA_ARRAY(e->arena, uint32_t, e->graph.count + 1);
    m.prev = ARENA_ARRAY(e->arena, uint32_t, e->graph.count + 1);
    m.presence = ARENA_ARRAY(e->arena, enum ct_mon_presence, e->graph.count + 1);
    ct_mon_emit_tables(&m, order);
    ct_mon_emit_reach_begin(&m, order);
    assign_cells(&m, order);
    emit_all(&m, order);
    assign_cells(&m, order);
    emit_all(&m, order);
    ct_mon_emit_costs(&m);
    ct_mon_bank_plan(e->arena, p);
    p->node_cells = ARENA_ARRAY(e->arena, uint32_t, order->n + 1);
    for (size_t i = 0; i < order->n; i++)
        p->node_cells[i] = m.cell[order->nodes[i]->id];
}
