/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of an ETMv4 or ETE. */
#include "record/unit_state.h"

static bool has(const struct ct_unit *u, unsigned configr_bit)
{
    return u->o.source.regs.configr >> configr_bit & 1;
}

enum {
    CONFIGR_BB = 3,
    CONFIGR_CCI = 4,
    CONFIGR_CID = 6,
    CONFIGR_VMID = 7,
    CONFIGR_TS = 11,
    CONFIGR_RS = 12,
};

static int open_etm4(struct ct_unit *u)
{
    const struct ct_etm4_emit_options options = {.size = sizeof options, .cc_threshold = u->o.cc_threshold};
    u->stack_on = has(u, CONFIGR_RS);
    u->broadcast = has(u, CONFIGR_BB);
    return ct_etm4_emitter_new(u->ctx, &u->o.source, &options, &u->etm4);
}

static void close_etm4(struct ct_unit *u)
{
    ct_etm4_emitter_free(u->etm4);
}

static int emit_etm4(struct ct_unit *u, const struct ct_elem *elems, size_t size, int final, size_t *taken,
                     uint8_t *out, size_t cap, size_t *len)
{
    return ct_etm4_emit(u->etm4, elems, size, final, taken, out, cap, len);
}

/* Makes the context element. All recorded code is non-secure, except for Secure state of the M profile. */
static struct ct_elem context_of(struct ct_unit *u, unsigned level, uint8_t isa)
{
    const unsigned security = level & CT_UNIT_SECURE ? CT_SEC_S : CT_SEC_NS;
    uint16_t aux = 0;
    u->said_level = (uint8_t)level;
    if (isa == CT_ISA_A64)
        aux |= CT_CONTEXT_SF;
    if (has(u, CONFIGR_CID))
        aux |= CT_CONTEXT_CTXT;
    if (has(u, CONFIGR_VMID))
        aux |= CT_CONTEXT_VMID;
    return (struct ct_elem){.kind = CT_ELEM_CONTEXT,
                            .n = (uint8_t)(security << 4 | (level & 3)),
                            .aux = aux,
                            .v = (has(u, CONFIGR_CID) ? u->context : 0) |
                                 (uint64_t)(has(u, CONFIGR_VMID) ? u->o.vmid : 0) << 32};
}

static int begin_etm4(struct ct_unit *u, bool periodic)
{
    int status = CT_OK;
    if (periodic || !u->synced) {
        status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_SYNC, .n = !periodic});
        u->since_sync = 0;
        u->ts_at = u->clock; /* a timestamp with each */
    }
    if (!status && !periodic)
        status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_TRACE_ON, .n = u->why});
    if (!status)
        status = ct_unit_put(u, context_of(u, u->level, u->at.isa));
    return status ? status : ct_unit_address(u, &u->at);
}

/* Adds the context of execution at another level. In the M profile, an exception or a return from one seldom
 * changes it. */
static int say_context(struct ct_unit *u, unsigned level, uint8_t isa)
{
    const bool known = u->o.source.arch.profile == CT_PROFILE_M && level == u->said_level;
    return known ? CT_OK : ct_unit_put(u, context_of(u, level, isa));
}

static int enter_etm4(struct ct_unit *u)
{
    const int status = say_context(u, u->level, u->at.isa);
    return status ? status : ct_unit_address(u, &u->at);
}

/* Adds a return from an exception, which changes the level. ETE has no element for it: its decoder recognises
 * the instruction. */
static int say_return(struct ct_unit *u, uint8_t isa)
{
    const bool ete = u->o.source.protocol == CT_PROTOCOL_ETE;
    const int status = ete ? CT_OK : ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_RETURN});
    return status ? status : say_context(u, u->next_level, isa);
}

static int say_cycles(struct ct_unit *u)
{
    if (!has(u, CONFIGR_CCI) || u->cycles < u->o.cc_threshold)
        return CT_OK;
    const uint64_t most = (UINT64_C(1) << 20) - 1; /* limit of this unit's counter */
    const struct ct_elem elem = {.kind = CT_ELEM_CYCLES,
                                 .n = CT_CYCLES_ALONE,
                                 .aux = u->cycles > most,
                                 .v = u->cycles > most ? 0 : u->cycles};
    u->cycles = 0;
    return ct_unit_put(u, elem);
}

static int branch_etm4(struct ct_unit *u, bool taken, bool target, bool eret,
                       const struct ct_unit_place *next)
{
    struct ct_elem *last = u->count ? &u->elems[u->count - 1] : NULL;
    int status = CT_OK;
    if (last && last->kind == CT_ELEM_ATOMS && last->n < 32)
        last->v |= (uint64_t)taken << last->n++;
    else
        status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = 1, .v = taken});
    if (!status && eret)
        status = say_return(u, next->isa);
    else if (!status && target && u->next_level != u->said_level)
        status =
            say_context(u, u->next_level, next->isa); /* BXNS, BLXNS, and returns from exceptions in A32 */
    if (!status && target)
        status = ct_unit_address(u, next);
    return status ? status : say_cycles(u);
}

static int exception_etm4(struct ct_unit *u, unsigned number)
{
    const uint8_t n =
        u->at.isa == CT_ISA_T32 ? CT_EXCEPTION_HAS_RET | CT_EXCEPTION_IS1 : CT_EXCEPTION_HAS_RET;
    const int status = ct_unit_put(
        u, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = n, .aux = (uint16_t)number, .v = u->end});
    return status ? status : say_cycles(u);
}

static int event_etm4(struct ct_unit *u, unsigned bits)
{
    return ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_EVENT, .n = (uint8_t)bits});
}

/* Adds a timestamp and the cycles since the last count, which place the timestamp exactly. */
static int time_etm4(struct ct_unit *u, uint64_t clock)
{
    int status = CT_OK;
    if (has(u, CONFIGR_TS))
        status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .v = clock});
    if (!status && has(u, CONFIGR_TS) && has(u, CONFIGR_CCI))
        status =
            ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_ATTACHED, .v = u->cycles});
    return status;
}

static int lose_etm4(struct ct_unit *u)
{
    return ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW});
}

const struct ct_unit_voice ct_unit_voice_etm4 = {
    .open = open_etm4,
    .close = close_etm4,
    .emit = emit_etm4,
    .begin = begin_etm4,
    .branch = branch_etm4,
    .exception = exception_etm4,
    .enter = enter_etm4,
    .event = event_etm4,
    .time = time_etm4,
    .lose = lose_etm4,
};

/* Sets the registers (IHI 0064H chapter 7). TRCIDR0 has cycle counts, branch broadcast, return stack, 64-bit
 * timestamps; TRCIDR2 a cycle counter of 20 bits, context IDs and VMIDs of 4 bytes, 64-bit addresses; for the
 * M profile 32-bit addresses, and neither context IDs nor VMIDs. */
static void source_etm4(const struct ct_unit_wishes *w, struct ct_source *source)
{
    source->regs.configr = 1 | unit_bit(w->branch_broadcast, CONFIGR_BB) |
                           unit_bit(w->cycle_count, CONFIGR_CCI) | unit_bit(w->context_id, CONFIGR_CID) |
                           unit_bit(w->vmid, CONFIGR_VMID) | unit_bit(w->timestamps, CONFIGR_TS) |
                           unit_bit(w->return_stack, CONFIGR_RS);
    source->regs.traceidr = w->trace_id;
    source->regs.idr0 = 0x28000ea1;
    source->regs.idr1 = w->protocol == CT_PROTOCOL_ETE ? 0x4100fff0 : 0x4100f424;
    source->regs.idr2 =
        source->arch.profile == CT_PROFILE_M ? 8u << 25 | 4u : 8u << 25 | 4u << 10 | 4u << 5 | 8u;
    source->regs.devarch = 0x47705a13;
}

void ct_unit_source(const struct ct_unit_wishes *wishes, struct ct_source *source)
{
    source->protocol = wishes->protocol;
    source->trace_id = wishes->trace_id;
    if (wishes->protocol == CT_PROTOCOL_PTM)
        ct_unit_source_ptm(wishes, source);
    else
        source_etm4(wishes, source);
}
