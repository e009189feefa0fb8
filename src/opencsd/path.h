/* SPDX-License-Identifier: Apache-2.0 */
/* Where execution is on its way along the program, whatever the protocol, and the ranges that become of it.
 */
#ifndef CT_OPENCSD_PATH_H
#define CT_OPENCSD_PATH_H

#include "opencsd/code.h"
#include "opencsd/output.h"
#include "opencsd/return_stack.h"

struct ct_ocsd_path {
    struct ct_ocsd_output output;
    struct ct_ocsd_code *code;
    struct ct_ocsd_return_stack returns;
    uint64_t addr;     /* of the next instruction */
    uint8_t isa;       /* enum ct_isa */
    bool need_address; /* execution is out of sight */
    uint32_t limit;    /* instructions of a range at most; 0: any number */
    uint32_t excess;   /* instructions by which the last walk went beyond `limit` */
};

/* OpenCSD's words for those of program.h. */
extern const ocsd_isa ct_ocsd_isas[];
extern const ocsd_instr_type ct_ocsd_types[];
extern const ocsd_instr_subtype ct_ocsd_subtypes[];

static inline void ct_ocsd_path_go_to(struct ct_ocsd_path *path, uint64_t addr, uint8_t isa)
{
    path->addr = addr;
    path->need_address = false;
    path->isa = isa;
}

/* Makes an element the range of instructions from `start` to path->addr, which ends with `last`. Later
 * elements have its instruction set. */
static inline void ct_ocsd_path_fill_range(struct ct_ocsd_path *path, ocsd_generic_trace_elem *e,
                                           uint64_t start, uint32_t n, const struct ct_insn *last,
                                           bool executed)
{
    const ocsd_isa isa = ct_ocsd_isas[path->isa];
    if (path->output.blank.isa != isa) /* a copy soon after a store waits for it */
        path->output.blank.isa = isa;
    e->isa = isa;
    e->st_addr = start;
    e->en_addr = path->addr;
    e->num_instr_range = n;
    e->last_i_type = ct_ocsd_types[last->type];
    e->last_i_subtype = ct_ocsd_subtypes[last->sub];
    e->last_instr_exec = executed;
    e->last_instr_sz = (uint8_t)(last->size & 7u);
    e->last_instr_cond = last->cond & 1u;
}

/* Adds such a range. */
static inline void ct_ocsd_path_add_range(struct ct_ocsd_path *path, ocsd_trc_index_t index, uint64_t start,
                                          uint32_t n, const struct ct_insn *last, bool executed)
{
    ocsd_generic_trace_elem *e = ct_ocsd_output_add(&path->output, OCSD_GEN_TRC_ELEM_INSTR_RANGE, index);
    ct_ocsd_path_fill_range(path, e, start, n, last, executed);
}

static inline void ct_ocsd_path_add_no_access(struct ct_ocsd_path *path, ocsd_trc_index_t index,
                                              uint64_t addr)
{
    ocsd_generic_trace_elem *e = ct_ocsd_output_add(&path->output, OCSD_GEN_TRC_ELEM_ADDR_NACC, index);
    e->st_addr = addr;
    if (path->code->core.late)
        e->exception_number = path->code->table->space; /* where 1.5.5 has it */
    path->need_address = true;
}

/* Moves execution behind a waypoint that was executed. */
static inline void ct_ocsd_path_take_waypoint(struct ct_ocsd_path *path, const struct ct_insn *last)
{
    const uint64_t next = path->addr;
    const uint8_t isa = path->isa;
    if (last->type != CT_INSN_BR && last->type != CT_INSN_IBR)
        return;
    if (last->sub == CT_INSN_SUB_LINK)
        ct_ocsd_return_push(&path->returns, next, isa);
    if (last->type == CT_INSN_BR) {
        ct_ocsd_path_go_to(path, last->target, last->isa);
    } else {
        path->need_address = true;
        path->returns.pending = path->returns.enabled;
    }
}

/* Returns by how much a range of `n` instructions goes beyond the limit. As in 1.5.5, where memory ends
 * counts as one more. */
static inline uint32_t ct_ocsd_path_excess(const struct ct_ocsd_path *path, uint32_t n, bool memory_ended)
{
    return path->limit && n > path->limit ? n - path->limit + memory_ended : 0;
}

/* Walks on over all instructions up to the one before `end`, or behind the one at `end` with `inclusive`, and
 * adds them as one range. Returns false where memory ends before; without an element where that is for a bad
 * opcode, or where the range is too long. */
bool ct_ocsd_path_walk(struct ct_ocsd_path *path, ocsd_trc_index_t index, uint64_t end, bool inclusive,
                       struct ct_insn *last);

#endif
