/* SPDX-License-Identifier: Apache-2.0 */
/* The elements of a PTM, in the order of ct_ptm_emit. */
#include "record/unit_state.h"

/* IHI 0035B, ETMCR. */
enum {
    ETMCR_BB = 8,
    ETMCR_CA = 12,
    ETMCR_CID = 14,
    ETMCR_TS = 28,
    ETMCR_RS = 29,
    ETMCR_VMID = 30,
};

static bool has(const struct ct_unit *u, unsigned etmcr_bit)
{
    return u->o.source.regs.etmcr >> etmcr_bit & 1;
}

static int open_ptm(struct ct_unit *u)
{
    u->stack_on = has(u, ETMCR_RS);
    u->broadcast = has(u, ETMCR_BB);
    return ct_ptm_emitter_new(u->ctx, &u->o.source, &u->ptm);
}

static void close_ptm(struct ct_unit *u)
{
    ct_ptm_emitter_free(u->ptm);
}

static int emit_ptm(struct ct_unit *u, const struct ct_elem *elems, size_t size, int final, size_t *taken,
                    uint8_t *out, size_t cap, size_t *len)
{
    return ct_ptm_emit(u->ptm, elems, size, final, taken, out, cap, len);
}

static struct ct_elem context_of(const struct ct_unit *u, bool vmid, unsigned isa)
{
    const bool ctxt = has(u, ETMCR_CID);
    return (struct ct_elem){.kind = CT_ELEM_CONTEXT,
                            .n = CT_SEC_NS << 4,
                            .aux = (uint16_t)((ctxt ? CT_CONTEXT_CTXT : 0) | (vmid ? CT_CONTEXT_VMID : 0) |
                                              isa << CT_CONTEXT_IS_SHIFT),
                            .v = (ctxt ? u->context : 0) | (uint64_t)(vmid ? u->o.vmid : 0) << 32};
}

/* Adds the cycle count, which most elements have in a cycle-accurate trace. */
static int say_cycles(struct ct_unit *u)
{
    if (!has(u, ETMCR_CA))
        return CT_OK;
    const struct ct_elem elem = {.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_ATTACHED, .v = (uint32_t)u->cycles};
    u->cycles = 0;
    return ct_unit_put(u, elem);
}

/* Adds an i-sync. It has no VMID, which therefore follows the first one. */
static int begin_ptm(struct ct_unit *u, bool periodic)
{
    const bool anew = !periodic || !u->begun; /* the first i-sync always tells why trace begins */
    int status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_SYNC, .n = !u->begun});
    if (!status && anew)
        status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_TRACE_ON, .n = u->why});
    if (!status && anew)
        status = say_cycles(u);
    if (!status)
        status = ct_unit_put(u, context_of(u, u->begun && has(u, ETMCR_VMID), unit_select(u->at.isa)));
    if (!status)
        status = ct_unit_address(u, &u->at);
    if (!status && !u->begun && has(u, ETMCR_VMID))
        status = ct_unit_put(u, context_of(u, true, CT_IS_SAME));
    if (periodic || !u->begun) {
        u->since_sync = 0;
        u->ts_at = u->clock; /* a timestamp with each */
    }
    u->begun = true;
    return status;
}

static int branch_ptm(struct ct_unit *u, bool taken, bool target, bool eret, const struct ct_unit_place *next)
{
    (void)eret; /* programs have no ERET */
    struct ct_elem *last = u->count ? &u->elems[u->count - 1] : NULL;
    const bool gathers = !target && !has(u, ETMCR_CA);
    int status = CT_OK;
    if (gathers && last && last->kind == CT_ELEM_ATOMS && !last->aux && last->n < 32)
        last->v |= (uint64_t)taken << last->n++;
    else
        status = ct_unit_put(
            u,
            (struct ct_elem){.kind = CT_ELEM_ATOMS, .n = 1, .aux = target ? CT_ATOMS_TARGET : 0, .v = taken});
    if (!status)
        status = say_cycles(u);
    return status || !target ? status : ct_unit_address(u, next);
}

/* Adds an exception. A PTM has its own numbers, and the address of the handler: in the high vectors, as in
 * Linux. */
static int exception_ptm(struct ct_unit *u, unsigned number)
{
    static const struct {
        uint8_t etm4, ptm, vector;
    } table[] = {{2, 10, 0x08}, {3, 9, 0x04}, {12, 12, 0x10}, {14, 14, 0x18}};
    unsigned i = 0;
    while (i + 1 < sizeof table / sizeof *table && table[i].etm4 != number)
        i++;
    int status = CT_OK;
    if (u->n)
        status = ct_unit_put(
            u, (struct ct_elem){.kind = CT_ELEM_WAYPOINT, .n = unit_select(u->at.isa), .v = u->last});
    if (!status)
        status = ct_unit_put(
            u, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HERE, .aux = table[i].ptm});
    if (!status)
        status = say_cycles(u);
    const struct ct_unit_place vector = {0xffff0000u + table[i].vector, CT_ISA_A32};
    return status ? status : ct_unit_address(u, &vector);
}

/* Adds an event. A PTM's only event is a trigger. */
static int event_ptm(struct ct_unit *u, unsigned bits)
{
    (void)bits;
    return ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_EVENT, .aux = 1});
}

static int time_ptm(struct ct_unit *u, uint64_t clock)
{
    if (!has(u, ETMCR_TS))
        return CT_OK;
    const int status = ct_unit_put(u, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .v = clock});
    return status ? status : say_cycles(u);
}

/* Does nothing: the i-sync after an overflow shows it. */
static int lose_ptm(struct ct_unit *u)
{
    (void)u;
    return CT_OK;
}

const struct ct_unit_voice ct_unit_voice_ptm = {
    .open = open_ptm,
    .close = close_ptm,
    .emit = emit_ptm,
    .begin = begin_ptm,
    .branch = branch_ptm,
    .exception = exception_ptm,
    .event = event_ptm,
    .time = time_ptm,
    .lose = lose_ptm,
};

/* Sets the registers. ETMIDR is for PFTv1.1; ETMCCER has a return stack (23), the virtualization extensions
 * (26), timestamps of 64 bits (29), and barriers that are not waypoints. */
void ct_unit_source_ptm(const struct ct_unit_wishes *w, struct ct_source *source)
{
    source->regs.etmcr = unit_bit(w->branch_broadcast, ETMCR_BB) | unit_bit(w->cycle_count, ETMCR_CA) |
                         unit_bit(w->timestamps, ETMCR_TS) | unit_bit(w->return_stack, ETMCR_RS) |
                         (w->context_id ? 3u << ETMCR_CID : 0) | unit_bit(w->vmid, ETMCR_VMID);
    source->regs.etmidr = 0x411cf312;
    source->regs.etmccer = 0x34c01ac2;
    source->regs.etmtraceidr = w->trace_id;
}
