/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of an ETMv3: what each says about execution. IHI 0014Q chapter 7. */
#include "opencsd/etm3.h"
#include "opencsd/log.h"

void ct_ocsd_etm3_release(struct ct_ocsd_etm3 *d)
{
    for (unsigned i = 0; i < d->held_count; i++)
        *ct_ocsd_output_add(&d->v7.path.output, OCSD_GEN_TRC_ELEM_UNKNOWN, d->held_indices[i]) = d->held[i];
    d->held_count = 0;
}

/* Holds the elements of a packet until the next packet, which may cancel them. 1.3.3 does so only if there
 * are at most `most`. */
static void hold(struct ct_ocsd_etm3 *d, unsigned most)
{
    struct ct_ocsd_output *output = &d->v7.path.output;
    if (output->count > most)
        return;
    for (unsigned i = 0; i < output->count; i++) {
        d->held[i] = output->elements[i];
        d->held_indices[i] = output->indices[i];
    }
    d->held_count = (uint8_t)output->count;
    ct_ocsd_output_drop(output);
}

static ocsd_generic_trace_elem *add(struct ct_ocsd_etm3 *d, ocsd_gen_trc_elem_t type)
{
    return ct_ocsd_v7_add(&d->v7, type);
}

static void set_cycles(ocsd_generic_trace_elem *e, uint32_t cycles)
{
    e->has_cc = 1;
    e->cycle_count = cycles;
}

static void add_context(struct ct_ocsd_etm3 *d)
{
    ct_ocsd_v7_set_code_context(&d->v7);
    add(d, OCSD_GEN_TRC_ELEM_PE_CONTEXT);
}

/* Takes the security state and mode of a packet. Returns whether they changed. */
static bool take_security(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    ocsd_pe_context *c = &d->v7.path.output.blank.context;
    const ocsd_pe_context before = *c;
    if (!(p->flags & CT_ETM3_HAS_SEC))
        return false;
    c->security_level = p->flags & CT_ETM3_NS ? ocsd_sec_nonsecure : ocsd_sec_secure;
    c->exception_level = p->flags & CT_ETM3_HYP ? ocsd_EL2 : ocsd_EL_unknown;
    c->el_valid = (p->flags & CT_ETM3_HYP) != 0;
    return c->security_level != before.security_level || c->exception_level != before.exception_level;
}

static void on_isync(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    struct ct_ocsd_v7 *v7 = &d->v7;
    const bool on = v7->state != CT_OCSD_V7_DECODE || p->reason != CT_SYNC_PERIODIC;
    v7->state = CT_OCSD_V7_DECODE;
    if (on)
        ct_ocsd_v7_add_trace_on(v7, p->reason);
    take_security(d, p);
    if (p->flags & CT_ETM3_HAS_CTXT) {
        v7->path.output.blank.context.context_id = p->ctxt;
        v7->path.output.blank.context.ctxt_id_valid = 1;
    }
    if (p->flags & CT_ETM3_HAS_ADDR) {
        ct_ocsd_path_go_to(&v7->path, p->flags & CT_ETM3_HAS_CURR ? p->curr : p->value,
                           ct_ocsd_v7_isa(p->isa));
        v7->path.output.blank.isa = ct_ocsd_isas[v7->path.isa];
        d->lost_told = false;
    }
    add_context(d);
    if (p->type == CT_ETM3_I_SYNC_CYCLE)
        set_cycles(&v7->path.output.elements[v7->path.output.count - 1], p->cc);
}

/* Takes one atom, which is one instruction. */
static void on_atom(struct ct_ocsd_etm3 *d, bool executed)
{
    struct ct_ocsd_path *path = &d->v7.path;
    const uint64_t start = path->addr;
    struct ct_insn insn;
    d->lost_told = false;
    if (!ct_ocsd_code_insn(path->code, start, (enum ct_isa)path->isa, &insn)) {
        ct_ocsd_path_add_no_access(path, d->v7.index, start);
        return;
    }
    path->addr += insn.size;
    ct_ocsd_path_add_range(path, d->v7.index, start, 1, &insn, executed);
    if (executed)
        ct_ocsd_path_take_waypoint(path, &insn);
}

/* Takes atoms while the address of execution is unknown, and the remaining cycles of their packet. */
static void on_lost_atoms(struct ct_ocsd_etm3 *d, uint32_t cycles)
{
    ocsd_generic_trace_elem *e = NULL;
    if (!d->lost_told)
        e = add(d, OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN);
    else if (d->cycle_accurate)
        e = add(d, OCSD_GEN_TRC_ELEM_CYCLE_COUNT);
    if (e && d->cycle_accurate)
        set_cycles(e, cycles);
    d->lost_told = true;
}

/* Takes a P-header: atoms with their cycles; in format 1 each atom has one cycle. */
static void on_p_header(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    struct ct_ocsd_path *path = &d->v7.path;
    const bool each = p->format == 1;
    uint32_t cycles = p->cc;
    if (!p->natoms && d->cycle_accurate) {
        set_cycles(add(d, OCSD_GEN_TRC_ELEM_CYCLE_COUNT), cycles);
        d->lost_told |= path->need_address;
    }
    for (unsigned i = 0; i < p->natoms; i++) {
        if (path->need_address) {
            on_lost_atoms(d, cycles);
            break;
        }
        on_atom(d, p->atoms >> i & 1);
        if (d->cycle_accurate)
            set_cycles(&path->output.elements[path->output.count - 1], each ? 1 : cycles);
        cycles = each ? cycles - 1 : 0;
    }
    if (path->output.count &&
        path->output.elements[path->output.count - 1].elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
        hold(d, 1);
}

static void on_branch(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    if (take_security(d, p))
        add_context(d);
    if (p->flags & CT_ETM3_HAS_EXC && p->exc)
        add(d, OCSD_GEN_TRC_ELEM_EXCEPTION)->exception_number = p->exc;
    ct_ocsd_path_go_to(&d->v7.path, p->value, ct_ocsd_v7_isa(p->isa));
    d->lost_told = false;
}

static void on_context_id(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    ocsd_pe_context *c = &d->v7.path.output.blank.context;
    if (p->type == CT_ETM3_CONTEXT_ID) {
        c->context_id = p->ctxt;
        c->ctxt_id_valid = 1;
    } else {
        c->vmid = (uint32_t)p->value;
        c->vmid_valid = 1;
    }
    add_context(d);
}

static bool is_bad(const struct ct_etm3_packet *p)
{
    return p->type == CT_ETM3_BAD_SEQUENCE || p->type == CT_ETM3_BAD_TRACEMODE || p->type == CT_ETM3_RESERVED;
}

/* Stops decoding at an invalid packet. */
static void on_bad(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    static const struct ct_ocsd_failure failures[] = {
        [CT_ETM3_BAD_SEQUENCE] = {OCSD_RESP_FATAL_INVALID_DATA, OCSD_ERR_BAD_PACKET_SEQ, true,
                                  "Bad Packet sequence."},
        [CT_ETM3_RESERVED] = {OCSD_RESP_FATAL_INVALID_DATA, OCSD_ERR_BAD_PACKET_SEQ, true,
                              "Reserved or unknown packet ID."},
        [CT_ETM3_BAD_TRACEMODE] = {OCSD_RESP_FATAL_INVALID_DATA, OCSD_ERR_HW_CFG_UNSUPP, true,
                                   "Invalid packet type : Data Tracing decode not supported."},
    };
    ct_ocsd_v7_lose(&d->v7, UNSYNC_BAD_PACKET);
    if (is_bad(p))
        d->v7.failure = failures[p->type];
}

/* Returns whether the elements held before a return from an exception stay held with it: in 1.3.3 a range
 * does, but nothing on the M profile. */
static bool waits_with_return(const struct ct_ocsd_etm3 *d)
{
    return !d->m_profile && d->v7.path.output.elements[0].elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
}

static void on_packet(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    switch (p->type) {
    case CT_ETM3_I_SYNC:
    case CT_ETM3_I_SYNC_CYCLE:
        on_isync(d, p);
        break;
    case CT_ETM3_P_HDR:
        on_p_header(d, p);
        break;
    case CT_ETM3_BRANCH_ADDRESS:
        on_branch(d, p);
        break;
    case CT_ETM3_CYCLE_COUNT:
        set_cycles(add(d, OCSD_GEN_TRC_ELEM_CYCLE_COUNT), p->cc);
        break;
    case CT_ETM3_TRIGGER:
        add(d, OCSD_GEN_TRC_ELEM_EVENT)->trace_event.ev_type = EVENT_TRIGGER;
        break;
    case CT_ETM3_CONTEXT_ID:
    case CT_ETM3_VMID:
        on_context_id(d, p);
        break;
    case CT_ETM3_TIMESTAMP:
        add(d, OCSD_GEN_TRC_ELEM_TIMESTAMP)->timestamp = p->value;
        break;
    case CT_ETM3_EXCEPTION_ENTRY:
        add(d, OCSD_GEN_TRC_ELEM_EXCEPTION)->excep_data_marker = 1;
        break;
    case CT_ETM3_EXCEPTION_EXIT:
        add(d, OCSD_GEN_TRC_ELEM_EXCEPTION_RET);
        hold(d, waits_with_return(d) ? CT_OCSD_ETM3_HELD : 1);
        break;
    case CT_ETM3_NOT_SYNC:
    case CT_ETM3_BAD_SEQUENCE:
    case CT_ETM3_BAD_TRACEMODE:
    case CT_ETM3_RESERVED:
        on_bad(d, p);
        break;
    default:
        break;
    }
}

/* Takes a packet before the first i-sync: only timestamps and, with cycle counts, packets with cycles. */
static void on_early_packet(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    const bool counts = p->type == CT_ETM3_CYCLE_COUNT || p->type == CT_ETM3_P_HDR;
    if (p->type == CT_ETM3_I_SYNC || p->type == CT_ETM3_I_SYNC_CYCLE || p->type == CT_ETM3_TIMESTAMP ||
        (counts && d->cycle_accurate))
        on_packet(d, p);
}

void ct_ocsd_etm3_take(struct ct_ocsd_etm3 *d, const struct ct_etm3_packet *p)
{
    struct ct_ocsd_v7 *v7 = &d->v7;
    if (d->traces_data) {
        v7->failure = (struct ct_ocsd_failure){OCSD_RESP_FATAL_NOT_INIT, OCSD_ERR_NOT_INIT, false,
                                               "No decoder configuration information"};
        return;
    }
    const bool cancels =
        p->type == CT_ETM3_BRANCH_ADDRESS && p->flags & CT_ETM3_CANCEL && v7->state == CT_OCSD_V7_DECODE;
    if (cancels || is_bad(p)) /* 1.3.3 drops held elements when it stops decoding */
        d->held_count = 0;
    ct_ocsd_etm3_release(d);
    if (p->flags & CT_ETM3_CUT)
        return;
    if (v7->state == CT_OCSD_V7_DECODE)
        on_packet(d, p);
    else if (v7->state == CT_OCSD_V7_WAIT_ISYNC)
        on_early_packet(d, p);
    else if (v7->state == CT_OCSD_V7_WAIT_SYNC && p->type == CT_ETM3_A_SYNC)
        v7->state = CT_OCSD_V7_WAIT_ISYNC;
}
