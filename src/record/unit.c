/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "record/unit_state.h"

/* Returns a random number below n (xorshift64*), determined by the seed. */
static uint32_t random_below(struct ct_unit *u, uint32_t n)
{
    uint64_t x = u->random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    u->random = x;
    return (uint32_t)((x * UINT64_C(2685821657736338717) >> 32) * n >> 32);
}

/* Returns the number of executed instructions at the next event, if there is about one in `rate`
 * instructions. */
static uint64_t next_at(struct ct_unit *u, uint32_t rate)
{
    return rate ? u->executed + rate / 2 + random_below(u, rate) : UINT64_MAX;
}

int ct_unit_new(struct ct_ctx *ctx, const struct ct_unit_options *options, struct ct_unit **out)
{
    struct ct_unit *u = calloc(1, sizeof *u);
    *out = NULL;
    if (!u)
        return ct_fail_nomem(ctx, "trace unit");
    u->ctx = ctx;
    u->o = *options;
    u->random = (options->seed ^ UINT64_C(0x9e3779b97f4a7c15)) | 1;
    u->stopped = options->has_start;
    u->event_at = next_at(u, options->event_rate);
    u->overflow_at = next_at(u, options->overflow_rate);
    u->voice = options->source.protocol == CT_PROTOCOL_PTM ? &ct_unit_voice_ptm : &ct_unit_voice_etm4;
    const int status = u->voice->open(u);
    if (status) {
        ct_unit_free(u);
        return status;
    }
    *out = u;
    return CT_OK;
}

void ct_unit_free(struct ct_unit *u)
{
    while (u) {
        struct ct_unit *next = u->beside;
        u->voice->close(u);
        free(u);
        u = next;
    }
}

void ct_unit_beside(struct ct_unit *u, struct ct_unit *other)
{
    other->beside = u->beside;
    u->beside = other;
}

/* ---- elements to bytes ---- */

/* Writes elements as bytes; if `final`, all of them. */
static int flush(struct ct_unit *u, bool final)
{
    uint8_t bytes[4096];
    size_t taken = 0, len;
    int status = CT_OK;
    do {
        size_t n;
        status = u->voice->emit(u, u->elems + taken, u->count - taken, final, &n, bytes, sizeof bytes, &len);
        taken += n;
        u->since_sync += len;
        if (!status && len)
            status = u->o.write(u->o.user, bytes, len);
    } while (!status && (len || (taken < u->count && final)));
    /* an element that depends on the next one stays */
    u->count -= taken;
    memmove(u->elems, u->elems + taken, u->count * sizeof *u->elems);
    return status;
}

int ct_unit_put(struct ct_unit *u, struct ct_elem elem)
{
    const int status = u->count == CT_UNIT_ELEMS ? flush(u, false) : CT_OK;
    u->elems[u->count++] = elem;
    return status;
}

int ct_unit_address(struct ct_unit *u, const struct ct_unit_place *at)
{
    return ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_ADDRESS,
                                           .n = unit_select(at->isa),
                                           .aux = u->voice == &ct_unit_voice_ptm ? 32 : 64,
                                           .v = at->addr});
}

/* ---- return stack: the addresses that a decoder can predict ---- */

static void push(struct ct_unit *u, uint64_t addr, uint8_t isa)
{
    if (!u->stack_on)
        return;
    if (u->depth == CT_UNIT_STACK) {
        u->depth--;
        memmove(u->stack, u->stack + 1, u->depth * sizeof *u->stack);
    }
    u->stack[u->depth++] = (struct ct_unit_place){addr, isa};
}

static bool pops(struct ct_unit *u, uint64_t addr, uint8_t isa)
{
    if (!u->depth || u->stack[u->depth - 1].addr != addr || u->stack[u->depth - 1].isa != isa)
        return false;
    u->depth--;
    return true;
}

/* ---- filters ---- */

static bool holds(uint64_t addr, const struct ct_unit *u)
{
    return addr >= u->at.addr && addr < u->end;
}

static bool in_ranges(const struct ct_unit *u)
{
    if (!u->o.range_count)
        return true;
    for (unsigned i = 0; i < u->o.range_count; i++)
        if (u->at.addr < u->o.ranges[i].hi && u->end > u->o.ranges[i].lo)
            return true;
    return false;
}

/* Returns whether the run that has ended is traced. A run with a start or stop address counts as if it began
 * or ended with it. */
static bool filter(struct ct_unit *u)
{
    if (u->o.has_start && holds(u->o.start, u))
        u->stopped = false;
    const bool on = !u->stopped && in_ranges(u) && u->traceable;
    if (u->o.has_stop && holds(u->o.stop, u))
        u->stopped = true;
    if (on && u->o.budget && *u->o.budget < u->n)
        *u->o.budget = 0;
    return on && (!u->o.budget || *u->o.budget);
}

/* ---- time ---- */

static int say_time(struct ct_unit *u, uint64_t clock)
{
    return u->o.ts_period ? u->voice->time(u, clock) : CT_OK;
}

/* Returns the clock at the beginning of the current run. */
static uint64_t begin_of(const struct ct_unit *u)
{
    return u->clock - u->pending;
}

static void spend(struct ct_unit *u, uint64_t cycles)
{
    u->clock += cycles;
    u->pending += cycles;
}

/* Lets the core wait. Long waits are not in cycle counts; the timestamps before and after one show it, since
 * otherwise the time between two of them equals the cycles. */
static int wait_now(struct ct_unit *u, uint64_t cycles)
{
    if (u->tracing && cycles <= CT_UNIT_COUNTED_WAIT) {
        spend(u, cycles);
        return CT_OK;
    }
    const int status = u->tracing ? say_time(u, begin_of(u)) : CT_OK;
    u->clock += cycles;
    if (status || !u->tracing)
        return status;
    u->told = begin_of(u);
    return say_time(u, u->told);
}

/* Ends the time of a run: cycles are counted only if it is traced, but the clock always advances. */
static void count_cycles(struct ct_unit *u, bool traced)
{
    u->cycles += traced ? u->pending : 0;
    u->pending = 0;
}

/* Begins tracing with the current run. */
static int begin(struct ct_unit *u)
{
    const bool left_out = !u->tracing && !u->goes_on && begin_of(u) != u->told;
    int status = left_out && u->synced ? say_time(u, u->told) : CT_OK;
    if (!status)
        status = u->voice->begin(u, u->tracing || u->goes_on);
    if (!status && left_out)
        status = say_time(u, begin_of(u));
    return status;
}

/* Loses trace like a full buffer: unwritten elements are lost, and so are the following runs for some
 * time. */
static int overflow(struct ct_unit *u)
{
    if (u->losing) {
        u->losing--;
        return CT_OK;
    }
    if (u->executed < u->overflow_at || !u->tracing)
        return CT_OK;
    const int status = say_time(u, u->told);
    u->overflow_at = next_at(u, u->o.overflow_rate);
    u->losing = 1 + random_below(u, 64);
    u->tracing = u->goes_on = u->synced = false;
    u->why = CT_TRACE_ON_OVERFLOW;
    u->depth = 0;
    return status ? status : u->voice->lose(u);
}

/* Begins another epoch: the run belongs to other code than the trace before it. *on false: it cannot be
 * traced. */
static int renew(struct ct_unit *u, bool *on)
{
    const int status = u->o.renew(u->o.user, on);
    u->traceable = u->traceable && *on;
    if (!status && *on)
        u->spoken = u->epoch;
    return status;
}

/* Decides whether the run is traced, and begins tracing if necessary. CT_OK and *on, or an error. */
static int decide(struct ct_unit *u, bool *on)
{
    int status = overflow(u);
    if (u->o.epoch && u->n && u->epoch != *u->o.epoch) /* the code at its beginning has been replaced */
        u->traceable = false;
    *on = filter(u) && !u->losing;
    if (*on && !status && u->o.epoch && u->n && u->epoch != u->spoken)
        status = renew(u, on);
    if (!*on) {
        u->tracing = u->goes_on = false;
        return status;
    }
    const bool periodic = u->o.sync_period && u->since_sync >= u->o.sync_period;
    if (status || (u->tracing && !periodic))
        return status;
    u->depth = 0;
    status = begin(u);
    u->tracing = u->synced = true;
    u->goes_on = false;
    u->why = CT_TRACE_ON_FILTER;
    return status;
}

static int tell(struct ct_unit *u, bool traced)
{
    if (traced && u->o.budget)
        *u->o.budget -= u->n;
    if (traced)
        u->traced += u->n;
    else if (!u->traceable)
        u->untraceable += u->n;
    const struct ct_unit_run run = {u->at.addr, u->end, u->n, u->at.isa, traced, u->context};
    return u->n && u->o.run ? u->o.run(u->o.user, &run) : CT_OK;
}

/* Adds events and timestamps, which follow a run. */
static int extras(struct ct_unit *u)
{
    int status = CT_OK;
    if (u->executed >= u->event_at) {
        u->event_at = next_at(u, u->o.event_rate);
        status = u->voice->event(u, 1 + random_below(u, 15));
    }
    if (!status && u->clock >= u->ts_at && u->o.ts_period) {
        u->ts_at = u->clock + u->o.ts_period;
        status = say_time(u, u->clock);
    }
    u->told = u->clock;
    return status;
}

static void next_run(struct ct_unit *u, uint64_t addr, enum ct_isa isa)
{
    u->at = (struct ct_unit_place){addr, (uint8_t)isa};
    u->end = addr;
    u->n = 0;
    u->traceable = true;
}

/* ---- execution, for one unit ---- */

static int place(struct ct_unit *u, uint64_t addr, enum ct_isa isa)
{
    u->tracing = u->goes_on = u->excepted = false;
    u->level = u->next_level;
    next_run(u, addr, isa);
    return CT_OK;
}

static int enter(struct ct_unit *u, uint64_t addr, enum ct_isa isa)
{
    const bool goes_on = u->excepted && u->voice->enter;
    const int status = place(u, addr, isa);
    if (status || !goes_on)
        return status;
    u->tracing = true;
    return u->voice->enter(u);
}

static void insns(struct ct_unit *u, uint32_t n, uint64_t last, uint64_t end, bool traceable)
{
    if (u->o.epoch && !u->n)
        u->epoch = *u->o.epoch;
    u->last = last;
    u->n += n;
    u->executed += n;
    u->end = end;
    u->traceable = u->traceable && traceable;
}

static int branch(struct ct_unit *u, const struct ct_insn *insn, bool taken, uint64_t next, enum ct_isa isa)
{
    bool on;
    int status = decide(u, &on);
    const uint64_t end = u->end;
    const uint8_t old_isa = u->at.isa;
    count_cycles(u, on);
    if (!status)
        status = tell(u, on);
    if (on && !status) {
        const bool indirect = taken && insn->type == CT_INSN_IBR;
        const bool eret = taken && insn->sub == CT_INSN_SUB_ERET;
        bool target = eret || (u->broadcast && taken && (indirect || insn->type == CT_INSN_BR));
        if (indirect && !target)
            target =
                insn->sub == CT_INSN_SUB_LINK || u->next_level != u->level || !pops(u, next, (uint8_t)isa);
        target |= taken && u->next_level != u->said_level; /* a context comes with an address */
        u->waypoints++;
        status = u->voice->branch(u, taken, target, eret && next != CT_UNIT_CHAINED,
                                  &(struct ct_unit_place){next, (uint8_t)isa});
        if (taken && insn->sub == CT_INSN_SUB_LINK)
            push(u, end, old_isa);
        if (!status)
            status = extras(u);
        u->tracing = !u->stopped;
    }
    u->level = u->next_level;
    next_run(u, next, isa);
    return status;
}

static int exception(struct ct_unit *u, unsigned number)
{
    bool on = u->tracing;
    int status = u->n || !on ? decide(u, &on) : CT_OK;
    count_cycles(u, on);
    if (!status)
        status = tell(u, on && u->n);
    if (on && !status)
        status = u->voice->exception(u, number);
    if (on && !status)
        status = extras(u);
    u->tracing = u->goes_on = false;
    u->excepted = on && !u->stopped;
    next_run(u, u->end, (enum ct_isa)u->at.isa);
    return status;
}

static int leave(struct ct_unit *u)
{
    u->tracing = u->goes_on = false;
    u->traceable = false;
    count_cycles(u, false);
    const int status = tell(u, false);
    next_run(u, u->end, (enum ct_isa)u->at.isa);
    return status;
}

static int restart(struct ct_unit *u)
{
    int status = u->synced ? say_time(u, u->told) : CT_OK;
    u->goes_on |= u->tracing;
    u->tracing = u->synced = u->begun = false;
    u->depth = 0;
    if (!status)
        status = flush(u, true);
    if (status)
        return status;
    u->voice->close(u);
    return u->voice->open(u);
}

/* ---- execution, for a unit and the units beside it ---- */

/* Does the same with each unit, until one fails. */
#define TELL_ALL(u, call)                                                                                    \
    do {                                                                                                     \
        int status_ = CT_OK;                                                                                 \
        for (; (u) && !status_; (u) = (u)->beside)                                                           \
            status_ = call;                                                                                  \
        return status_;                                                                                      \
    } while (0)

void ct_unit_next_level(struct ct_unit *u, unsigned level)
{
    for (; u; u = u->beside)
        u->next_level = (uint8_t)level;
}

int ct_unit_place(struct ct_unit *u, uint64_t addr, enum ct_isa isa)
{
    TELL_ALL(u, place(u, addr, isa));
}

int ct_unit_enter(struct ct_unit *u, uint64_t addr, enum ct_isa isa)
{
    TELL_ALL(u, enter(u, addr, isa));
}

void ct_unit_insns(struct ct_unit *u, uint32_t n, uint64_t last, uint64_t end, bool traceable)
{
    for (; u; u = u->beside)
        insns(u, n, last, end, traceable);
}

int ct_unit_branch(struct ct_unit *u, const struct ct_insn *insn, bool taken, uint64_t next, enum ct_isa isa)
{
    TELL_ALL(u, branch(u, insn, taken, next, isa));
}

int ct_unit_exception(struct ct_unit *u, unsigned number)
{
    TELL_ALL(u, exception(u, number));
}

int ct_unit_leave(struct ct_unit *u)
{
    TELL_ALL(u, leave(u));
}

void ct_unit_spend(struct ct_unit *u, uint64_t cycles)
{
    for (; u; u = u->beside)
        spend(u, cycles);
}

int ct_unit_wait(struct ct_unit *u, uint64_t cycles)
{
    TELL_ALL(u, wait_now(u, cycles));
}

int ct_unit_wait_until(struct ct_unit *u, uint64_t clock)
{
    return clock > u->clock ? ct_unit_wait(u, clock - u->clock) : CT_OK;
}

void ct_unit_context(struct ct_unit *u, uint32_t id)
{
    for (; u; u = u->beside)
        u->context = id;
}

int ct_unit_restart(struct ct_unit *u)
{
    TELL_ALL(u, restart(u));
}

int ct_unit_flush(struct ct_unit *u)
{
    TELL_ALL(u, flush(u, false));
}

int ct_unit_finish(struct ct_unit *u)
{
    TELL_ALL(u, flush(u, true));
}

/* ---- results ---- */

uint64_t ct_unit_clock(const struct ct_unit *u)
{
    return u->clock;
}

void ct_unit_at(const struct ct_unit *u, uint64_t *addr, enum ct_isa *isa)
{
    *addr = u->end;
    *isa = (enum ct_isa)u->at.isa;
}

uint64_t ct_unit_traced(const struct ct_unit *u)
{
    return u->traced;
}

uint64_t ct_unit_waypoints(const struct ct_unit *u)
{
    return u->waypoints;
}

uint64_t ct_unit_untraceable(const struct ct_unit *u)
{
    return u->untraceable;
}
