/* SPDX-License-Identifier: Apache-2.0 */
/* Executes the committed items of an ETMv4 or ETE along the program, and makes generic elements of them. */
#include "opencsd/etm4.h"
#include "opencsd/layout.h"
#include "opencsd/log.h"

/* preferred return address of a tail-chained exception (M profile) */
#define TAIL_CHAIN 0xfffffffeu

static uint32_t space_of(const struct ct_ocsd_etm4 *d)
{
    static const uint8_t spaces[4][4] = {
        {OCSD_MEM_SPACE_EL1S, OCSD_MEM_SPACE_EL1S, OCSD_MEM_SPACE_EL2S, OCSD_MEM_SPACE_EL3},
        {OCSD_MEM_SPACE_EL1N, OCSD_MEM_SPACE_EL1N, OCSD_MEM_SPACE_EL2, OCSD_MEM_SPACE_EL3},
        {CT_OCSD_MEM_SPACE_ROOT, CT_OCSD_MEM_SPACE_ROOT, CT_OCSD_MEM_SPACE_ROOT, CT_OCSD_MEM_SPACE_ROOT},
        {CT_OCSD_MEM_SPACE_EL1R, CT_OCSD_MEM_SPACE_EL1R, CT_OCSD_MEM_SPACE_EL2R, CT_OCSD_MEM_SPACE_ROOT},
    };
    return spaces[d->el_sec >> 4 & (d->late ? 3 : 1)][d->el_sec & 3]; /* 1.3.3 does not know realms */
}

static uint8_t select_isa(const struct ct_ocsd_etm4 *d, uint8_t is1)
{
    return d->sf ? CT_ISA_A64 : is1 ? CT_ISA_T32 : CT_ISA_A32;
}

/* Sets the instruction set of execution and of later elements. */
static void set_isa(struct ct_ocsd_etm4 *d, uint8_t isa)
{
    d->path.isa = isa;
    d->path.output.blank.isa = ct_ocsd_isas[isa];
}

static void add_exception_return(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const struct ct_insn *last)
{
    if (d->ete && last->sub == CT_INSN_SUB_ERET)
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EXCEPTION_RET, index);
}

/* Takes the target of an indirect branch from the return stack, because no address followed it. If the stack
 * is empty, notes that and returns false. */
static bool settle_return(struct ct_ocsd_etm4 *d)
{
    uint64_t addr;
    uint8_t isa;
    if (!d->path.returns.pending)
        return true;
    d->lacks_return = !ct_ocsd_return_pop(&d->path.returns, &addr, &isa);
    if (!d->lacks_return)
        ct_ocsd_path_go_to(&d->path, addr, isa);
    return !d->lacks_return;
}

/* Returns the code at the current address, or NULL if an atom depends on more than its branch there. */
static const struct ct_ocsd_block *plain_block(struct ct_ocsd_etm4 *d)
{
    const struct ct_ocsd_block *block =
        ct_ocsd_code_again(d->path.code, d->path.addr, (enum ct_isa)d->path.isa);
    return block && block->found && !(d->ete && block->last.sub == CT_INSN_SUB_ERET) ? block : NULL;
}

/* Takes consecutive atoms as long as execution depends only on their branches. Returns how many. */
static uint32_t on_plain_atoms(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, uint64_t atoms, uint32_t count)
{
    const struct ct_ocsd_block *block;
    uint32_t done = 0;
    while (done < count && !d->path.need_address && (block = plain_block(d)) != NULL) {
        const bool executed = atoms >> done & 1;
        ct_ocsd_code_executed(d->path.code, executed);
        d->path.addr = block->end;
        ct_ocsd_path_add_range(&d->path, index, block->start, block->n, &block->last, executed);
        if (executed)
            ct_ocsd_path_take_waypoint(&d->path, &block->last);
        done++;
    }
    return done;
}

uint8_t ct_ocsd_etm4_give(struct ct_ocsd_etm4 *d, uint32_t atoms, uint8_t count,
                          ocsd_generic_trace_elem *range, ocsd_datapath_resp_t *resp)
{
    const struct ct_ocsd_tree *tree = d->base.tree;
    const struct ct_ocsd_block *block;
    uint8_t done = 0;
    while (done < count && OCSD_DATA_RESP_IS_CONT(*resp) && settle_return(d) && !d->path.need_address &&
           (block = plain_block(d)) != NULL) {
        const bool executed = atoms >> done++ & 1;
        ct_ocsd_code_executed(d->path.code, executed);
        d->path.addr = block->end;
        ct_ocsd_path_fill_range(&d->path, range, block->start, block->n, &block->last, executed);
        if (executed)
            ct_ocsd_path_take_waypoint(&d->path, &block->last);
        *resp = tree->take_element(tree->element_context, d->index, d->base.id, range);
    }
    return done;
}

/* indices of `mismatches`: what can be wrong with a program */
enum {
    NOT_TAKEN_DIRECT,
    NOT_TAKEN_INDIRECT,
    GAP,
    OPCODE_OF_ATOM, /* invalid opcode in the code after an atom, and so on */
    OPCODE_OF_EXCEPTION,
    OPCODE_OF_Q,
    OPCODE_OF_SOURCE,
    LENGTH_OF_ATOM, /* length of the range after an atom, and so on */
    LENGTH_OF_EXCEPTION,
};

#define BAD_IMAGE  (ocsd_err_t) CT_OCSD_ERR_BAD_IMAGE, (unsync_info_t)CT_OCSD_BAD_IMAGE, false
#define BAD_OPCODE (ocsd_err_t) CT_OCSD_ERR_OPCODE, UNSYNC_BAD_PACKET
#define BAD_LENGTH (ocsd_err_t) CT_OCSD_ERR_LENGTH, UNSYNC_BAD_PACKET

static const struct ct_ocsd_mismatch mismatches[] = {
    [NOT_TAKEN_DIRECT] = {BAD_IMAGE, "Bad program image - N Atom on unconditional direct BR.\n"},
    [NOT_TAKEN_INDIRECT] = {BAD_IMAGE, "Bad program image - N Atom on unconditional indirect BR.\n"},
    [GAP] = {BAD_IMAGE, "Discontinuous ranges - Inconsistent program image for decode\n"},
    [OPCODE_OF_ATOM] = {BAD_OPCODE, false, "Error processing atom packet."},
    [OPCODE_OF_EXCEPTION] = {BAD_OPCODE, true, "Error processing exception packet."},
    [OPCODE_OF_Q] = {BAD_OPCODE, true, "Error processing Q packet"},
    [OPCODE_OF_SOURCE] = {BAD_OPCODE, true, "Instruction decode error processing source address packet."},
    [LENGTH_OF_ATOM] = {BAD_LENGTH, false, "Error processing atom packet."},
    [LENGTH_OF_EXCEPTION] = {BAD_LENGTH, true, "Error processing exception packet."},
};

/* Returns whether the code read last ends at an invalid word; notes that, and returns it only once. */
static bool has_bad_opcode(struct ct_ocsd_etm4 *d, int mismatch)
{
    if (!d->path.code->bad_opcode)
        return false;
    d->path.code->bad_opcode = false;
    d->mismatch = &mismatches[mismatch];
    return true;
}

/* Returns whether a range is too long. Logs a message for each excess instruction, and notes the mismatch. */
static bool is_too_long(struct ct_ocsd_etm4 *d, uint32_t excess, int mismatch)
{
    for (uint32_t i = 0; i < excess; i++)
        ct_ocsd_log(d->base.name, OCSD_ERR_SEV_ERROR, (ocsd_err_t)CT_OCSD_ERR_LENGTH, OCSD_BAD_TRC_INDEX,
                    OCSD_BAD_CS_SRC_ID, "Decode Instruction Range Limit Overrun");
    if (excess)
        d->mismatch = &mismatches[mismatch];
    return excess != 0;
}

/* Returns whether an atom, or its address, contradicts the program, and notes how. */
static bool contradicts(struct ct_ocsd_etm4 *d, const struct ct_ocsd_block *block, bool executed)
{
    const struct ct_insn *last = &block->last;
    const bool is_direct = last->type == CT_INSN_BR;
    const bool passes = !executed && !last->cond && (is_direct || last->type == CT_INSN_IBR);
    if (passes && is_direct &&
        (d->checks & CT_OCSD_CHECK_STRICT ||
         (d->checks & CT_OCSD_CHECK_DIRECT && last->target != block->end)))
        d->mismatch = &mismatches[NOT_TAKEN_DIRECT];
    else if (passes && !is_direct && d->checks & CT_OCSD_CHECK_STRICT)
        d->mismatch = &mismatches[NOT_TAKEN_INDIRECT];
    else if (d->checks & CT_OCSD_CHECK_CONTINUE && d->has_next_start && block->start != d->next_start)
        d->mismatch = &mismatches[GAP];
    return d->mismatch != NULL;
}

static void on_atom(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, bool executed)
{
    if (!settle_return(d) || d->path.need_address || d->need_context)
        return;
    const struct ct_ocsd_block *block = ct_ocsd_code_at(d->path.code, d->path.addr, (enum ct_isa)d->path.isa);
    if (!block) {
        d->out_of_memory = true;
        return;
    }
    const struct ct_insn last = block->last;
    const bool memory_ended = !block->found && !d->path.code->bad_opcode;
    d->path.addr = block->end;
    const bool too_long =
        is_too_long(d, ct_ocsd_path_excess(&d->path, block->n, memory_ended), LENGTH_OF_ATOM);
    if (has_bad_opcode(d, OPCODE_OF_ATOM) || too_long)
        return;
    if (d->checks && block->found && contradicts(d, block, executed)) {
        if (executed) /* execution may continue without an address packet, so the waypoint counts */
            ct_ocsd_path_take_waypoint(&d->path, &last);
        return;
    }
    if (!block->found) {
        const uint64_t end = block->end;
        d->has_next_start = false;
        if (block->n)
            ct_ocsd_path_add_range(&d->path, index, block->start, block->n, &last, true);
        ct_ocsd_path_add_no_access(&d->path, index, end);
        return;
    }
    ct_ocsd_path_add_range(&d->path, index, block->start, block->n, &last, executed);
    d->next_start = d->path.addr;
    d->has_next_start = !executed;
    if (!executed)
        return;
    add_exception_return(d, index, &last);
    ct_ocsd_path_take_waypoint(&d->path, &last);
}

static void on_context(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, const struct ct_ocsd_held *item)
{
    ocsd_pe_context *context = &d->path.output.blank.context;
    if (!(item->aux & CT_ETM4_HAS_CONTEXT)) /* nothing changed */
        return;
    d->sf = (item->aux & CT_ETM4_SF) != 0;
    d->el_sec = item->n;
    d->need_context = false;
    set_isa(d, select_isa(d, (uint8_t)item->count));
    context->bits64 = d->sf;
    context->security_level = (ocsd_sec_level)(d->el_sec >> 4 & 3);
    context->exception_level = (ocsd_ex_level)(d->el_sec & 3);
    context->el_valid = 1;
    if (item->aux & CT_ETM4_HAS_CTXT) {
        context->context_id = (uint32_t)item->value;
        context->ctxt_id_valid = 1;
    }
    if (item->aux & CT_ETM4_HAS_VMID) {
        context->vmid = (uint32_t)(item->value >> 32);
        context->vmid_valid = 1;
    }
    ct_ocsd_code_set_context(d->path.code, (uint64_t)context->vmid << 32 | context->context_id, space_of(d));
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_PE_CONTEXT, index);
    d->path.output.leaving = true;
}

void ct_ocsd_etm4_except(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *exception,
                         const struct ct_ocsd_held *address)
{
    struct ct_insn last;
    const bool target = exception->n == 2;
    const bool tail_chain = d->m_profile && address->value == TAIL_CHAIN;
    d->has_next_start = false;
    if (!settle_return(d))
        return;
    if (target) { /* here the state of before a loss counts in 1.3.3 */
        const bool was_64 = d->path.isa == CT_ISA_A64;
        ct_ocsd_path_go_to(&d->path, address->value, was_64 ? d->path.isa : select_isa(d, address->n));
    }
    const bool is_behind = d->late && address->value < d->path.addr; /* no path leads backwards */
    if (!tail_chain && d->path.addr != address->value && !is_behind &&
        !ct_ocsd_path_walk(&d->path, exception->index, address->value, false, &last)) {
        const bool too_long = is_too_long(d, d->path.excess, LENGTH_OF_EXCEPTION);
        if (has_bad_opcode(d, OPCODE_OF_EXCEPTION) || too_long)
            return;
    }
    ocsd_generic_trace_elem *e =
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EXCEPTION, exception->index);
    e->exception_number = exception->aux;
    if (!tail_chain) {
        e->en_addr = address->value;
        e->excep_ret_addr = 1;
        e->excep_ret_addr_br_tgt = target;
    }
}

/* Adds that the path to a source address cannot be read. 1.3.3 continues from where it was. */
static void add_source_no_access(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, uint64_t source)
{
    const bool need_address = d->path.need_address;
    ct_ocsd_path_add_no_access(&d->path, index, source);
    d->path.need_address = need_address;
}

/* Goes to a source address, and adds a range of the instruction there. */
static void take_source(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index, uint64_t source)
{
    struct ct_insn last;
    if (!ct_ocsd_code_insn(d->path.code, source, (enum ct_isa)d->path.isa, &last)) {
        has_bad_opcode(d, OPCODE_OF_SOURCE);
        return;
    }
    d->path.addr = source + last.size;
    d->path.need_address = false;
    ct_ocsd_path_add_range(&d->path, index, source, 1, &last, true);
    ct_ocsd_path_take_waypoint(&d->path, &last);
}

/* Adds one range, up to the next waypoint on the way to the source address; none of them was taken. The last
 * range ends with the instruction at the source address, even if the way leads past the begin of that one.
 * Called again while d->to_source is set. */
static void split_way(struct ct_ocsd_etm4 *d, ocsd_trc_index_t index)
{
    struct ct_insn last = {0};
    const uint64_t start = d->path.addr;
    uint32_t n = 0;
    d->to_source = false;
    while (d->path.addr < d->source_addr && !d->to_source) {
        if (!ct_ocsd_code_insn(d->path.code, d->path.addr, (enum ct_isa)d->path.isa, &last)) {
            if (has_bad_opcode(d, OPCODE_OF_SOURCE))
                return;
            add_source_no_access(d, index, d->source_addr);
            take_source(d, index, d->source_addr);
            return;
        }
        d->path.addr += last.size;
        n++;
        d->to_source = last.type != CT_INSN_OTHER;
    }
    if (d->to_source) {
        ct_ocsd_path_add_range(&d->path, index, start, n, &last, false);
        return;
    }
    ct_ocsd_code_insn(d->path.code, d->source_addr, (enum ct_isa)d->path.isa, &last); /* on_source read it */
    d->path.addr = d->source_addr + last.size;
    ct_ocsd_path_add_range(&d->path, index, start, n + 1, &last, true);
    ct_ocsd_path_take_waypoint(&d->path, &last);
}

static void on_source(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    struct ct_insn last;
    if (d->to_source) {
        split_way(d, item->index);
        return;
    }
    if (!settle_return(d))
        return;
    if (!ct_ocsd_code_insn(d->path.code, item->value, (enum ct_isa)d->path.isa, &last)) {
        if (has_bad_opcode(d, OPCODE_OF_SOURCE))
            return;
        add_source_no_access(d, item->index, item->value);
        return;
    }
    if (d->path.need_address || d->path.addr > item->value)
        ct_ocsd_path_go_to(&d->path, item->value, d->path.isa);
    if (d->split_source) {
        d->source_addr = item->value;
        split_way(d, item->index);
        return;
    }
    if (d->path.isa == CT_ISA_T32) {
        if (!ct_ocsd_path_walk(&d->path, item->index, item->value, true, &last))
            return;
    } else { /* instructions of fixed size are counted, not read */
        const uint64_t start = d->path.addr;
        d->path.addr = item->value + last.size;
        ct_ocsd_path_add_range(&d->path, item->index, start, (uint32_t)(d->path.addr - start) / 4, &last,
                               true);
    }
    ct_ocsd_path_take_waypoint(&d->path, &last);
}

/* Takes a Q: as many instructions as it says were executed, then execution continued at its address. */
static void on_q(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    if (!settle_return(d))
        return;
    const uint64_t start = d->path.addr;
    struct ct_insn last = {0};
    uint32_t n = 0;
    bool branch = false;
    while (!d->path.need_address && !d->need_context && n < item->count && !branch &&
           ct_ocsd_code_insn(d->path.code, d->path.addr, (enum ct_isa)d->path.isa, &last)) {
        d->path.addr += last.size;
        n++;
        branch = last.type == CT_INSN_BR || last.type == CT_INSN_IBR;
    }
    if (has_bad_opcode(d, OPCODE_OF_Q))
        return;
    if (n && n == item->count && (d->path.addr == item->value || branch)) {
        ct_ocsd_path_add_range(&d->path, item->index, start, n, &last, true);
    } else {
        ocsd_generic_trace_elem *e =
            ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH, item->index);
        e->st_addr = start;
        e->en_addr = item->value;
        e->num_instr_range = item->count;
    }
    ct_ocsd_path_go_to(&d->path, item->value, select_isa(d, item->n));
}

/* Adds a timestamp. If the trace has markers, timestamps before the first are meaningless and left out. */
static void add_timestamp(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    if (d->ts_markers && !d->marker_seen)
        return;
    ocsd_generic_trace_elem *e =
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_TIMESTAMP, item->index);
    e->timestamp = item->value;
    if (item->n) {
        e->has_cc = 1;
        e->cycle_count = item->count;
    }
}

static void add_cycles(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    ocsd_generic_trace_elem *e =
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_CYCLE_COUNT, item->index);
    e->has_cc = 1;
    e->cycle_count = item->count;
}

static void add_event(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    ocsd_generic_trace_elem *e = ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EVENT, item->index);
    e->trace_event.ev_type = EVENT_NUMBERED;
    e->trace_event.ev_number = item->n;
}

static void add_trace_on(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_TRACE_ON, item->index)->trace_on_reason =
        d->after_overflow ? TRACE_ON_OVERFLOW : TRACE_ON_NORMAL;
    d->after_overflow = false;
    ct_ocsd_return_flush(&d->path.returns);
}

uint32_t ct_ocsd_etm4_atoms(struct ct_ocsd_etm4 *d, struct ct_ocsd_held *item, uint32_t most)
{
    uint32_t done = 0;
    if (!d->need_context && !d->checks && settle_return(d))
        done = on_plain_atoms(d, item->index, item->value, most < item->n ? most : item->n);
    if (!done) {
        done = 1;
        if (!d->lacks_return)
            on_atom(d, item->index, item->value & 1);
    }
    item->value >>= done;
    item->n = (uint8_t)(item->n - done);
    item->p0 = item->n;
    return done;
}

void ct_ocsd_etm4_execute(struct ct_ocsd_etm4 *d, const struct ct_ocsd_held *item)
{
    switch (item->kind) {
    case CT_OCSD_HELD_ADDRESS:
        ct_ocsd_path_go_to(&d->path, item->value, select_isa(d, item->n));
        d->path.returns.pending = false;
        break;
    case CT_OCSD_HELD_CONTEXT:
        on_context(d, item->index, item);
        break;
    case CT_OCSD_HELD_TRACE_ON:
        d->has_next_start = false;
        add_trace_on(d, item);
        break;
    case CT_OCSD_HELD_RETURN:
        d->has_next_start = false;
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_EXCEPTION_RET, item->index);
        break;
    case CT_OCSD_HELD_Q:
        d->has_next_start = false;
        on_q(d, item);
        break;
    case CT_OCSD_HELD_SOURCE:
        d->has_next_start = false;
        on_source(d, item);
        break;
    case CT_OCSD_HELD_EVENT:
        add_event(d, item);
        break;
    case CT_OCSD_HELD_TIMESTAMP:
        add_timestamp(d, item);
        break;
    case CT_OCSD_HELD_CYCLES:
        add_cycles(d, item);
        break;
    case CT_OCSD_HELD_MARKER:
        d->marker_seen = true;
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_SYNC_MARKER, item->index);
        break;
    case CT_OCSD_HELD_TRANSACTION:
        d->has_next_start = false;
        ct_ocsd_output_add(&d->path.output, OCSD_GEN_TRC_ELEM_MEMTRANS, item->index)->mem_trans =
            (trace_memtrans_t)item->n;
        break;
    default:
        break;
    }
}
