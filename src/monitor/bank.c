/* SPDX-License-Identifier: Apache-2.0 */
#include "monitor/bank.h"

#include <stdlib.h>
#include <string.h>

#include "monitor/doubt.h"
#include "monitor/run.h"

enum {
    ROOM_FIRST = 64,
    ROOM_MOST = 1 << 12,  /* most joint states kept per bank */
    BYTES_MOST = 1 << 22, /* most bytes for the joint states of a bank */
    WORTH = 4,            /* average number of visits that makes joint states worth keeping */
    REST = 256,           /* steps taken without joint states, per joint state that was not worth keeping */
};

/* ---- the plan ---- */

/* What the plan knows of each machine, by machine number. */
struct plan {
    uint8_t *cut;   /* a bank begins at this machine */
    uint8_t *many;  /* several I_STEPS step this machine */
    uint8_t *alone; /* an instruction other than I_STEPS steps this machine, so no bank may hold it */
};

static void cut_at_steps(const struct ct_mon_program *p, struct plan *plan)
{
    for (size_t k = 0; k < p->ncode; k++) {
        const struct ct_mon_insn *i = &p->code[k];
        if (i->op != I_STEPS)
            continue;
        const uint32_t first = p->steps[i->a].state;
        plan->cut[first] = plan->cut[first + i->b] = 1;
        memset(plan->many + first, 1, i->b);
    }
}

static void mark_alone(const struct ct_mon_program *p, uint32_t code, struct plan *plan)
{
    for (; code != NO_CODE && p->code[code].op != I_END; code++) {
        if (p->code[code].op != I_STEP)
            continue;
        const uint32_t machine = p->steps[p->code[code].a].state;
        plan->alone[machine] = 1;
        plan->cut[machine] = plan->cut[machine + 1] = 1;
    }
}

static void plan_banks(struct ct_mon_arena *arena, struct ct_mon_program *p, const struct plan *plan)
{
    size_t cap = 0;
    uint32_t end;
    for (uint32_t first = 0; first < p->nmachines; first = end) {
        for (end = first + 1; end < p->nmachines && !plan->cut[end];)
            end++;
        const bool banked = plan->many[first] && !plan->alone[first];
        if (banked) {
            const struct ct_mon_bank_info bank = {.first = first, .n = end - first};
            ARENA_PUSH(arena, p->banks, p->nbanks, cap, bank);
        }
        for (uint32_t k = first; k < end; k++)
            p->bank_of[k] = banked ? (uint32_t)p->nbanks - 1 : NO_BANK;
    }
}

/* Returns how many joint states to keep for a bank. */
static uint32_t most_of(const struct ct_mon_bank_info *info)
{
    uint32_t most = ROOM_MOST;
    while (most > ROOM_FIRST && (size_t)most * (info->n + info->columns * sizeof(uint32_t)) > BYTES_MOST)
        most /= 2;
    return most;
}

/* Splits an I_STEPS into uses of banks and uses of single machines that belong to no bank. */
static void plan_uses(struct ct_mon_arena *arena, struct ct_mon_program *p, struct ct_mon_insn *i)
{
    const uint32_t first = p->steps[i->a].state;
    i->d = (uint32_t)p->nuses;
    for (uint32_t k = 0; k < i->b;) {
        struct ct_mon_bank_use use = {.bank = p->bank_of[first + k], .step = i->a + k, .n = 1};
        if (use.bank != NO_BANK) {
            use.n = p->banks[use.bank].n;
            use.column = p->banks[use.bank].columns++;
        }
        k += use.n;
        use.last = k == i->b;
        ARENA_PUSH(arena, p->uses, p->nuses, p->uses_cap, use);
    }
}

void ct_mon_bank_plan(struct ct_mon_arena *arena, struct ct_mon_program *p)
{
    struct plan plan = {ARENA_ARRAY(arena, uint8_t, p->nmachines + 1),
                        ARENA_ARRAY(arena, uint8_t, p->nmachines + 1),
                        ARENA_ARRAY(arena, uint8_t, p->nmachines + 1)};
    p->bank_of = ARENA_ARRAY(arena, uint32_t, p->nmachines + 1);
    cut_at_steps(p, &plan);
    for (size_t k = 0; k < p->ninputs; k++)
        mark_alone(p, p->inputs[k].code, &plan);
    for (size_t k = 0; k < p->ntimers; k++)
        mark_alone(p, p->timers[k].code, &plan);
    plan_banks(arena, p, &plan);
    for (size_t k = 0; k < p->ncode; k++)
        if (p->code[k].op == I_STEPS)
            plan_uses(arena, p, &p->code[k]);
    for (size_t k = 0; k < p->nbanks; k++)
        p->banks[k].most = most_of(&p->banks[k]);
}

/* ---- the table ---- */

static uint32_t hash_of(const uint8_t *vector, uint32_t n)
{
    uint64_t hash = n, word;
    for (; n >= sizeof word; n -= (uint32_t)sizeof word, vector += sizeof word) {
        memcpy(&word, vector, sizeof word);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; n; n--)
        hash = (hash ^ *vector++) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

/* Returns the slot of a vector, or the free slot where it belongs. */
static uint32_t *slot_of(const struct ct_mon_bank *b, const uint8_t *vector, uint32_t n)
{
    const uint32_t mask = 2 * b->room - 1;
    uint32_t at = hash_of(vector, n) & mask;
    while (b->slots[at] && memcmp(b->vectors + (size_t)b->slots[at] * n, vector, n) != 0)
        at = (at + 1) & mask;
    return &b->slots[at];
}

static void empty(struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    memset(b->slots, 0, 2 * (size_t)b->room * sizeof *b->slots);
    memset(b->next, 0, (size_t)b->count * info->columns * sizeof *b->next);
    b->count = 1;
}

/* Doubles the room for joint states. Returns false when out of memory; arrays may have moved, their contents
 * are unchanged. */
static bool grow(struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    const uint32_t room = b->room ? 2 * b->room : ROOM_FIRST;
    const size_t columns = info->columns;
    uint8_t *vectors = realloc(b->vectors, (size_t)room * info->n);
    if (!vectors)
        return false;
    b->vectors = vectors;
    uint32_t *next = realloc(b->next, room * columns * sizeof *next);
    if (!next)
        return false;
    b->next = next;
    uint32_t *slots = calloc(2 * (size_t)room, sizeof *slots);
    if (!slots)
        return false;
    memset(next + b->room * columns, 0, (room - b->room) * columns * sizeof *next);
    free(b->slots);
    b->slots = slots;
    b->room = room;
    for (uint32_t k = 1; k < b->count; k++)
        *slot_of(b, vectors + (size_t)k * info->n, info->n) = k;
    return true;
}

/* Forgets all joint states, because there are too many. Stops using them for a while if they were visited too
 * rarely. */
static void overflow(const struct ct_monitor *m, struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    if (m->stamp - b->since < WORTH * b->count)
        b->rest = REST * b->count;
    b->since = m->stamp;
    empty(b, info);
}

/* Returns the number of the vector stored after the last one, or of an equal earlier one. Returns 0 when
 * there is no room. */
static uint32_t number_of(struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    uint32_t *slot = slot_of(b, b->vectors + (size_t)b->count * info->n, info->n);
    if (!*slot)
        *slot = b->count++;
    return *slot;
}

/* Ensures room for one more vector after the last one. */
static bool has_room(struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    return b->count < b->room || (b->room < info->most && grow(b, info));
}

/* ---- steps ---- */

/* Emits the verdicts that differ between two vectors. */
static void tell_changes(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_step *s,
                         const uint8_t *was, const uint8_t *is, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if ((was[k] ^ is[k]) & 3)
            ct_mon_vm_step_result(m, cells, &s[k], was[k], is[k]);
}

/* Steps machines whose states are in ct_monitor.states, without a table. */
static void plain_steps(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_bank_use *u)
{
    const struct ct_mon_step *s = &m->p->steps[u->step];
    const uint8_t *const *rows = &m->p->rows[u->step];
    uint16_t *states = &m->states[s->state];
    for (uint32_t k = 0; k < u->n; k++) {
        const uint16_t was = states[k];
        const uint16_t is = rows[k][was];
        states[k] = is;
        if (__builtin_expect((was ^ is) & 3, 0))
            ct_mon_vm_step_result(m, cells, &s[k], was, is);
    }
}

static void leave(struct ct_monitor *m, struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    if (!b->row)
        return;
    const uint8_t *vector = b->vectors + (size_t)(b->row / info->columns) * info->n;
    for (uint32_t k = 0; k < info->n; k++)
        m->states[info->first + k] = vector[k];
    b->row = 0;
}

/* Moves the states of the bank's machines into the table. Returns false when the table is full. */
static bool enter(struct ct_monitor *m, struct ct_mon_bank *b, const struct ct_mon_bank_info *info)
{
    if (b->row)
        return true;
    if (!has_room(b, info))
        return false;
    uint8_t *vector = b->vectors + (size_t)b->count * info->n;
    for (uint32_t k = 0; k < info->n; k++)
        vector[k] = (uint8_t)m->states[info->first + k];
    b->row = number_of(b, info) * info->columns;
    return true;
}

/* Takes a step that is not in the table yet, and stores it. Returns false when the table is full. */
static bool learn(struct ct_monitor *m, struct ct_mon_cell *cells, struct ct_mon_bank *b,
                  const struct ct_mon_bank_info *info, const struct ct_mon_bank_use *u)
{
    if (!enter(m, b, info) || !has_room(b, info))
        return false;
    const uint8_t *const *rows = &m->p->rows[u->step];
    const uint8_t *was = b->vectors + (size_t)(b->row / info->columns) * info->n;
    uint8_t *is = b->vectors + (size_t)b->count * info->n;
    uint8_t changed = 0;
    for (uint32_t k = 0; k < u->n; k++) {
        is[k] = rows[k][was[k]];
        changed |= is[k] ^ was[k];
    }
    if (changed & 3)
        tell_changes(m, cells, &m->p->steps[u->step], was, is, u->n);
    const uint32_t to = number_of(b, info) * info->columns;
    b->next[b->row + u->column] = to | (changed & 3 ? (uint32_t)BANK_CHANGES : 0);
    b->row = to;
    return true;
}

static void slow_step(struct ct_monitor *m, struct ct_mon_cell *cells, struct ct_mon_bank *b,
                      const struct ct_mon_bank_use *u)
{
    const struct ct_mon_bank_info *info = &m->p->banks[u->bank];
    const uint32_t next = b->next[b->row + u->column];
    if (next && b->row) {
        const uint32_t to = next & ~(uint32_t)BANK_CHANGES;
        const uint8_t *was = b->vectors + (size_t)(b->row / info->columns) * info->n;
        const uint8_t *is = b->vectors + (size_t)(to / info->columns) * info->n;
        tell_changes(m, cells, &m->p->steps[u->step], was, is, u->n);
        b->row = to;
        return;
    }
    const bool rests = b->rest || ct_mon_doubt_lasts(m);
    if (!rests && learn(m, cells, b, info, u))
        return;
    leave(m, b, info);
    if (b->rest)
        b->rest--;
    else if (!rests)
        overflow(m, b, info);
    plain_steps(m, cells, u);
}

void ct_mon_bank_steps(struct ct_monitor *m, struct ct_mon_cell *cells, const struct ct_mon_insn *i)
{
    const struct ct_mon_bank_use *u = &m->p->uses[i->d];
    for (;; u++) {
        if (u->bank == NO_BANK) {
            plain_steps(m, cells, u);
        } else {
            struct ct_mon_bank *b = &m->banks[u->bank];
            const int32_t next = (int32_t)b->next[b->row + u->column];
            if (__builtin_expect(next > 0, 1)) {
                b->row = (uint32_t)next;
            } else {
                slow_step(m, cells, b, u);
            }
        }
        if (u->last)
            return;
    }
}

/* ---- a run ---- */

bool ct_mon_banks_init(struct ct_monitor *m)
{
    m->banks = calloc(m->p->nbanks + 1, sizeof *m->banks);
    for (size_t k = 0; m->banks && k < m->p->nbanks; k++) {
        m->banks[k].count = 1;
        if (!grow(&m->banks[k], &m->p->banks[k]))
            return false;
    }
    return m->banks != NULL;
}

void ct_mon_banks_free(struct ct_monitor *m)
{
    for (size_t k = 0; m->banks && k < m->p->nbanks; k++) {
        free(m->banks[k].next);
        free(m->banks[k].vectors);
        free(m->banks[k].slots);
    }
    free(m->banks);
}

uint16_t ct_mon_bank_state(const struct ct_monitor *m, uint32_t machine)
{
    const uint32_t number = m->p->bank_of[machine];
    const struct ct_mon_bank *b = number == NO_BANK ? NULL : &m->banks[number];
    if (!b || !b->row)
        return m->states[machine];
    const struct ct_mon_bank_info *info = &m->p->banks[number];
    return b->vectors[(size_t)(b->row / info->columns) * info->n + machine - info->first];
}

void ct_mon_banks_leave(struct ct_monitor *m)
{
    for (size_t k = 0; k < m->p->nbanks; k++)
        leave(m, &m->banks[k], &m->p->banks[k]);
}

void ct_mon_bank_leave(struct ct_monitor *m, uint32_t machine)
{
    const uint32_t number = m->p->bank_of[machine];
    if (number != NO_BANK)
        leave(m, &m->banks[number], &m->p->banks[number]);
}
