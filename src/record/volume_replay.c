/* SPDX-License-Identifier: Apache-2.0 */
/* Trace volume of another trace: its records are passed to trace units with other settings. */
#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "coretap/record.h"
#include "record/volume.h"

#define CONFIGR_CCI   0x10u   /* TRCCONFIGR: cycle counts */
#define ETMCR_CA      0x1000u /* ETMCR of a PTM or ETMv3: cycle-accurate */
#define EXCEPTION_IRQ 14      /* IHI 0064H table 6-14 */

struct ct_volume_replay {
    struct ct_ctx *ctx;
    struct ct_volume_options o; /* its ranges point to `ranges` */
    struct ct_record_range ranges[CT_RECORD_RANGES];
    struct ct_volume *volume;
    struct ct_volume_meter *meter; /* made at the first range, which shows the instruction set */
    struct ct_unit *unit;          /* of the stream, made at its first range */
    uint64_t budget;
    struct ct_flow run; /* a run that was passed on, except where its last instruction led */
    bool open;          /* `run` is set */
    bool placed;        /* execution continues from `run` */
    bool excepted;      /* an exception was the last record, without a gap since */
    bool counted;       /* the stream counts cycles */
    bool etm4;          /* exceptions have ETMv4 numbers */
    bool arm32;         /* traced by a unit for programs of 32 bits */
    uint32_t context;   /* context ID and exception level of the following runs */
    unsigned level;
};

static int start_meter(struct ct_volume_replay *r, bool arm32)
{
    const struct ct_volume_options *o = &r->o;
    struct ct_unit_options options = {
        .cc_threshold = o->cycle_threshold ? o->cycle_threshold : CT_UNIT_CC_THRESHOLD,
        .ts_period = o->timestamp_period ? o->timestamp_period : CT_UNIT_TS_PERIOD,
        .sync_period = o->sync_period ? o->sync_period : CT_UNIT_SYNC_PERIOD,
        .vmid = 1,
        .budget = o->max_instructions ? &r->budget : NULL,
    };
    r->budget = o->max_instructions;
    for (size_t i = 0; i < o->range_count; i++)
        options.ranges[i] = (struct ct_unit_range){o->ranges[i].low, o->ranges[i].high};
    options.range_count = (unsigned)o->range_count;
    ct_arch_by_name("ARM-AA64", &options.source.arch);
    return ct_volume_meter_new(r->ctx, &options, arm32, o->protocol, r->volume, &r->meter);
}

static int start_unit(struct ct_volume_replay *r, const struct ct_flow *first)
{
    const bool arm32 = r->arm32 || first->isa != CT_ISA_A64;
    if (!r->meter && !arm32 && r->o.protocol == CT_PROTOCOL_PTM)
        return ct_fail(r->ctx, CT_ERR_ARG,
                       "the trace is of an A64 program, but a PTM traces only A32 and "
                       "T32");
    int rc = r->meter ? CT_OK : start_meter(r, arm32);
    if (!rc)
        r->unit = ct_volume_meter_unit(r->meter, 0, &rc);
    return rc;
}

/* Passes on the last instruction of the run, which led to `next`. */
static int settle(struct ct_volume_replay *r, uint64_t next, uint8_t isa)
{
    const struct ct_flow *run = &r->run;
    const bool branches = run->type == CT_INSN_BR || run->type == CT_INSN_IBR;
    const bool taken = !branches || run->exec;
    const struct ct_insn insn = {
        .target = next, .type = run->type, .sub = run->sub, .size = run->last_size, .cond = run->cond};
    if (!r->open)
        return CT_OK;
    r->open = false;
    ct_unit_next_level(r->unit, r->level);
    if (run->type == CT_INSN_OTHER)
        return CT_OK;
    return branches && taken ? ct_unit_branch(r->unit, &insn, true, next, (enum ct_isa)isa)
                             : ct_unit_branch(r->unit, &insn, taken, run->end, (enum ct_isa)run->isa);
}

/* Settles the run when the trace has the next address, but no code there that shows the instruction set: it
 * stays the same, unless only T32 can have that address. */
static int settle_blind(struct ct_volume_replay *r, uint64_t next)
{
    return settle(r, next, next & 3 && r->run.isa == CT_ISA_A32 ? CT_ISA_T32 : r->run.isa);
}

/* Ends the execution at a gap. A trace unit cannot describe instructions without a waypoint behind them. */
static int break_off(struct ct_volume_replay *r, const struct ct_flow *at)
{
    const bool untold = r->open && r->run.type == CT_INSN_OTHER;
    const int rc = settle_blind(r, at->start);
    r->placed = r->excepted = false;
    return !rc && untold ? ct_unit_leave(r->unit) : rc;
}

static int place(struct ct_volume_replay *r, const struct ct_flow *run)
{
    const bool entered = r->excepted;
    r->placed = true;
    r->excepted = false;
    ct_unit_next_level(r->unit, r->level);
    return entered ? ct_unit_enter(r->unit, run->start, (enum ct_isa)run->isa)
                   : ct_unit_place(r->unit, run->start, (enum ct_isa)run->isa);
}

/* Adds the cycles of a run. If the trace has no counts, the rule of recordings applies: one for each
 * instruction, and one more for a branch to another place. */
static void spend(struct ct_volume_replay *r, const struct ct_flow *run)
{
    const bool leaves = (run->type == CT_INSN_BR || run->type == CT_INSN_IBR) && run->exec;
    if (!r->counted)
        ct_unit_spend(r->unit, (uint64_t)run->n + leaves);
}

static int take_range(struct ct_volume_replay *r, const struct ct_flow *run)
{
    int rc = r->unit ? CT_OK : start_unit(r, run);
    if (!rc)
        rc = settle(r, run->start, run->isa);
    if (!rc)
        ct_unit_context(r->unit, r->context);
    if (!rc && !r->placed)
        rc = place(r, run);
    if (rc)
        return rc;
    spend(r, run);
    ct_unit_insns(r->unit, run->n, run->end - run->last_size, run->end, true);
    r->run = *run;
    r->open = true;
    return CT_OK;
}

/* Processes instructions with an unknown path, which no trace unit can describe. */
static int take_unknown(struct ct_volume_replay *r, const struct ct_flow *run)
{
    int rc = r->unit ? settle(r, run->start, run->isa) : start_unit(r, run);
    r->placed = r->excepted = false;
    if (!rc)
        rc = ct_unit_place(r->unit, run->start, (enum ct_isa)run->isa);
    if (rc)
        return rc;
    ct_unit_insns(r->unit, run->n, run->end, run->end, false);
    return ct_unit_leave(r->unit);
}

static int take_exception(struct ct_volume_replay *r, const struct ct_elem *elem)
{
    const unsigned number = r->etm4 && elem->aux < 32 ? elem->aux : EXCEPTION_IRQ;
    const uint64_t back = elem->n & (CT_EXCEPTION_HAS_RET | CT_EXCEPTION_HERE) ? elem->v : r->run.end;
    const int rc = settle_blind(r, back);
    r->excepted = r->placed;
    r->placed = false;
    return !rc && r->excepted ? ct_unit_exception(r->unit, number) : rc;
}

static int take_elem(struct ct_volume_replay *r, const struct ct_flow *at)
{
    switch (at->elem.kind) {
    case CT_ELEM_CONTEXT:
        r->context = at->elem.aux & CT_CONTEXT_CTXT ? (uint32_t)at->elem.v : r->context;
        r->level = at->elem.aux & CT_CONTEXT_EL ? at->elem.n & 3 : r->level;
        return CT_OK;
    case CT_ELEM_CYCLES:
        if (r->counted && r->unit && !at->elem.aux)
            ct_unit_spend(r->unit, at->elem.v);
        return CT_OK;
    case CT_ELEM_EXCEPTION:
        return take_exception(r, &at->elem);
    case CT_ELEM_GAP:
    case CT_ELEM_TRACE_ON:
    case CT_ELEM_END:
        return break_off(r, at);
    default:
        return CT_OK;
    }
}

static int take(struct ct_volume_replay *r, const struct ct_flow *record)
{
    switch (record->kind) {
    case CT_FLOW_RANGE:
        return record->stale ? break_off(r, record) : take_range(r, record);
    case CT_FLOW_RANGE_NOPATH:
        return take_unknown(r, record);
    case CT_FLOW_NO_ACCESS:
        return break_off(r, record);
    default:
        return take_elem(r, record);
    }
}

/* ---- for the decoder ---- */

static int read_options(struct ct_volume_replay *r, const struct ct_volume_options *options)
{
    struct ct_volume_options *o = &r->o;
    const int rc = ct_options_read(r->ctx, "ct_volume_replay_new", options, o, sizeof *o);
    const char *wrong = NULL;
    if (rc)
        return rc;
    if (o->protocol && o->protocol != CT_PROTOCOL_ETM4 && o->protocol != CT_PROTOCOL_ETE &&
        o->protocol != CT_PROTOCOL_PTM)
        wrong = "the protocol must be ETMv4, ETE or PTM";
    else if (o->cycle_threshold > CT_UNIT_CC_THRESHOLD_MAX)
        wrong = "the threshold of cycle counts must be at most 4095";
    else if (o->range_count > CT_RECORD_RANGES || (o->range_count && !o->ranges))
        wrong = "at most 16 ranges are possible";
    for (size_t i = 0; i < o->range_count && !wrong; i++) {
        r->ranges[i] = o->ranges[i];
        wrong = r->ranges[i].low < r->ranges[i].high ? NULL : "a range is empty";
    }
    o->ranges = r->ranges;
    return wrong ? ct_fail(r->ctx, CT_ERR_ARG, "volume: %s; nothing is measured", wrong) : CT_OK;
}

int ct_volume_replay_new(struct ct_ctx *ctx, const struct ct_volume_options *options,
                         struct ct_volume *volume, struct ct_volume_replay **out)
{
    CT_REQUIRE_OUT(ctx, out, volume);
    struct ct_volume_replay *r = calloc(1, sizeof *r);
    if (!r)
        return ct_fail_nomem(ctx, "volume");
    *volume = (struct ct_volume){0};
    r->ctx = ctx;
    r->volume = volume;
    const int rc = read_options(r, options);
    if (rc)
        ct_volume_replay_free(r);
    else
        *out = r;
    return rc;
}

void ct_volume_replay_free(struct ct_volume_replay *replay)
{
    if (!replay)
        return;
    ct_volume_meter_free(replay->meter);
    free(replay);
}

int ct_volume_replay_begin(struct ct_volume_replay *replay, const struct ct_source *source)
{
    CT_REQUIRE_OF(replay, source);
    const int rc = ct_volume_replay_end(replay);
    replay->etm4 = source->protocol == CT_PROTOCOL_ETM4 || source->protocol == CT_PROTOCOL_ETE;
    replay->arm32 = source->protocol == CT_PROTOCOL_PTM || source->protocol == CT_PROTOCOL_ETM3;
    replay->counted = replay->etm4 ? source->regs.configr & CONFIGR_CCI : source->regs.etmcr & ETMCR_CA;
    replay->context = 0;
    replay->level = 0;
    return rc;
}

int ct_volume_replay_take(struct ct_volume_replay *replay, const struct ct_flow *records, size_t count)
{
    int rc = CT_OK;
    CT_REQUIRE_OF(replay, records || !count);
    for (size_t i = 0; i < count && !rc; i++)
        rc = take(replay, &records[i]);
    return rc;
}

int ct_volume_replay_end(struct ct_volume_replay *replay)
{
    CT_REQUIRE(NULL, replay);
    const int rc = replay->unit ? ct_volume_meter_end(replay->meter, 0) : CT_OK;
    replay->unit = NULL;
    replay->open = replay->placed = replay->excepted = false;
    return rc;
}
