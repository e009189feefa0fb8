/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a PTM: what each says about execution. IHI 0035B chapter 4. */
#include "opencsd/log.h"
#include "opencsd/ptm.h"

/* Sets the packet's cycle count in an element. */
static void set_cycles(const struct ct_ptm_packet *p, ocsd_generic_trace_elem *e)
{
    if (!(p->flags & CT_PTM_HAS_CC))
        return;
    e->has_cc = 1;
    e->cycle_count = p->cc;
}

/* Sets the packet's cycle count in the last element if that is a range. */
static void set_range_cycles(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    struct ct_ocsd_output *output = &d->path.output;
    ocsd_generic_trace_elem *last = output->count ? &output->elements[output->count - 1] : NULL;
    if (last && last->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE)
        set_cycles(p, last);
}

static void take_sync_context(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    ocsd_pe_context *c = &d->path.output.blank.context;
    c->security_level = p->flags & CT_PTM_NS ? ocsd_sec_nonsecure : ocsd_sec_secure;
    c->exception_level = ocsd_EL_unknown;
    if (p->flags & CT_PTM_HAS_CTXT) {
        c->context_id = p->ctxt;
        c->ctxt_id_valid = 1;
    }
    ct_ocsd_v7_set_code_context(d);
}

static void on_isync(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    const bool on = d->state != CT_OCSD_V7_DECODE || p->reason != CT_SYNC_PERIODIC;
    d->state = CT_OCSD_V7_DECODE;
    if (on)
        set_cycles(p, ct_ocsd_v7_add_trace_on(d, p->reason));
    take_sync_context(d, p);
    ct_ocsd_path_go_to(&d->path, p->value, ct_ocsd_v7_isa(p->isa));
    if (on)
        d->path.output.blank.isa = ct_ocsd_isas[d->path.isa];
    if (on && p->flags & (CT_PTM_ISA_CHANGED | CT_PTM_HAS_CTXT))
        ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_PE_CONTEXT);
    ct_ocsd_return_flush(&d->path.returns);
}

/* Adds the elements of a walk that was cut off by the end of memory. */
static void add_broken(struct ct_ocsd_v7 *d, const struct ct_ocsd_block *block)
{
    const uint64_t end = block->end;
    d->path.addr = end;
    if (block->n)
        ct_ocsd_path_add_range(&d->path, d->index, block->start, block->n, &block->last, true);
    ct_ocsd_path_add_no_access(&d->path, d->index, end);
}

/* Executes a block; without `executed`, except its last instruction. With `target`, a following address gives
 * the branch target; else the target of an indirect branch is popped from the return stack, before the branch
 * may push its own return address. */
static void take_block(struct ct_ocsd_v7 *d, const struct ct_ocsd_block *block, bool executed, bool target)
{
    struct ct_ocsd_path *path = &d->path;
    const struct ct_insn last = block->last;
    const bool returns = executed && last.type == CT_INSN_IBR && !target && path->returns.enabled;
    uint64_t addr = 0;
    uint8_t isa = 0;
    if (returns && !ct_ocsd_return_pop(&path->returns, &addr, &isa)) {
        d->failure = (struct ct_ocsd_failure){OCSD_RESP_FATAL_INVALID_DATA, OCSD_ERR_RET_STACK_OVERFLOW, true,
                                              "Return stack error processing atom packet."};
        return;
    }
    path->addr = block->end;
    ct_ocsd_path_add_range(path, d->index, block->start, block->n, &last, executed);
    if (executed)
        ct_ocsd_path_take_waypoint(path, &last);
    else if (last.type == CT_INSN_BR)
        path->isa = last.isa; /* in 1.3.3 even for a BLX that is not taken */
    if (returns)
        ct_ocsd_path_go_to(path, addr, isa);
}

/* Takes an atom. With `target`, a following address gives the target of an executed branch. */
static void on_atom(struct ct_ocsd_v7 *d, bool executed, bool target)
{
    struct ct_ocsd_path *path = &d->path;
    const struct ct_ocsd_block *block = ct_ocsd_code_at(path->code, path->addr, (enum ct_isa)path->isa);
    if (!block)
        path->output.lacks_memory = true;
    else if (block->found)
        take_block(d, block, executed, target);
    else if (ct_ocsd_v7_is_foreign(d))
        ct_ocsd_v7_refuse_isa(d, target ? "BranchAddr" : "atom");
    else
        add_broken(d, block);
}

static void on_atoms(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    for (unsigned i = 0; i < p->natoms && !d->path.need_address && !d->failure.answer; i++) {
        on_atom(d, p->atoms >> i & 1, false);
        if (!d->failure.answer)
            set_range_cycles(d, p);
    }
}

static void on_exception(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    ocsd_generic_trace_elem *e = ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_EXCEPTION);
    e->exception_number = p->exc;
    if (!d->path.need_address) {
        e->excep_ret_addr = 1;
        e->en_addr = d->path.addr;
    }
    set_cycles(p, e);
}

static void on_branch(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    if (p->flags & CT_PTM_HAS_EXC) {
        on_exception(d, p);
    } else if (!d->path.need_address) {
        on_atom(d, true, true);
        set_range_cycles(d, p);
    }
    ct_ocsd_path_go_to(&d->path, p->value, ct_ocsd_v7_isa(p->isa));
}

/* Takes a waypoint update: execution went up to the instruction at its address, perhaps over other
 * waypoints. */
static void on_waypoint(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    struct ct_insn last;
    if (d->path.need_address)
        return;
    if (ct_ocsd_v7_is_foreign(d))
        ct_ocsd_v7_refuse_isa(d, "WP update");
    else if (ct_ocsd_path_walk(&d->path, d->index, p->value, true, &last))
        ct_ocsd_path_take_waypoint(&d->path, &last);
}

/* Takes a context ID or VMID, and adds an element if it changed. */
static void on_context(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    ocsd_pe_context *c = &d->path.output.blank.context;
    const bool is_vmid = p->type == CT_PTM_VMID;
    const uint32_t value = is_vmid ? (uint32_t)p->value : p->ctxt;
    const bool known =
        is_vmid ? c->vmid_valid && c->vmid == value : c->ctxt_id_valid && c->context_id == value;
    if (known)
        return;
    if (is_vmid) {
        c->vmid = value;
        c->vmid_valid = 1;
    } else {
        c->context_id = value;
        c->ctxt_id_valid = 1;
    }
    ct_ocsd_v7_set_code_context(d);
    ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_PE_CONTEXT);
}

static void on_timestamp(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    ocsd_generic_trace_elem *e = ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_TIMESTAMP);
    e->timestamp = p->value;
    set_cycles(p, e);
}

static void on_packet(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    switch (p->type) {
    case CT_PTM_ISYNC:
        on_isync(d, p);
        break;
    case CT_PTM_ATOM:
        on_atoms(d, p);
        break;
    case CT_PTM_BRANCH_ADDRESS:
        on_branch(d, p);
        break;
    case CT_PTM_WP_UPDATE:
        on_waypoint(d, p);
        break;
    case CT_PTM_TRIGGER:
        ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_EVENT)->trace_event.ev_type = EVENT_TRIGGER;
        break;
    case CT_PTM_CTXTID:
    case CT_PTM_VMID:
        on_context(d, p);
        break;
    case CT_PTM_TIMESTAMP:
        on_timestamp(d, p);
        break;
    case CT_PTM_ERET:
        ct_ocsd_v7_add(d, OCSD_GEN_TRC_ELEM_EXCEPTION_RET);
        break;
    case CT_PTM_NOT_SYNC:
    case CT_PTM_BAD_SEQUENCE:
    case CT_PTM_RESERVED:
        ct_ocsd_v7_lose(d, UNSYNC_UNKNOWN);
        ct_ocsd_v7_tell_loss(d);
        break;
    default:
        break;
    }
}

void ct_ocsd_ptm_take(struct ct_ocsd_v7 *d, const struct ct_ptm_packet *p)
{
    if (d->state == CT_OCSD_V7_DECODE)
        on_packet(d, p);
    else if (d->state == CT_OCSD_V7_WAIT_SYNC && p->type == CT_PTM_ASYNC)
        d->state = CT_OCSD_V7_WAIT_ISYNC;
    else if (d->state == CT_OCSD_V7_WAIT_ISYNC && p->type == CT_PTM_ISYNC)
        on_isync(d, p);
}
