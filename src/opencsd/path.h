/* SPDX-License-Identifier: Apache-2.0 */
/* The current position of execution in the program, for all protocols, and the ranges made of it. */
#pragma once

#include "opencsd/code.h"
#include "opencsd/output.h"
#include "opencsd/return_stack.h"

struct ct_ocsd_path {
    struct ct_ocsd_output output;
    struct ct_ocsd_code *code;
    struct ct_ocsd_return_stack returns;
    uint64_t addr;     /* address of the next instruction */
    uint8_t isa;       /* enum ct_isa */
    bool need_address; /* the address of execution is unknown */
    uint32_t limit;    /* most instructions of a range; 0: unlimited */
    uint32_t excess;   /* instructions by which the last walk exceeded `limit` */
};

/* OpenCSD's values for those of program.h */
extern const ocsd_isa ct_ocsd_isas[];
extern const ocsd_instr_type ct_ocsd_types[];
extern const ocsd_instr_subtype ct_ocsd_subtypes[];

static inline void ct_ocsd_path_go_to(struct ct_ocsd_path *path, uint64_t addr, uint8_t isa)
{
    path->addr = addr;
    path->need_address = false;
    path->isa = isa;
}

/* Makes an element the range of instructions from `start` to path->addr, ending with `last`. Later elements
 * get its instruction set. */
static inline void ct_ocsd_path_fill_range(struct ct_ocsd_path *path, ocsd_generic_trace_elem *e,
                                           uint64_t start, uint32_t n, const struct ct_insn *last,
                                           bool executed)
{
    const ocsd_isa isa = ct_ocsd_isas[path->isa];
    if (path->output.blank.isa != isa) /* avoids a store, because copying `blank` soon after a store would
                                        * stall */
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

/* Adds a range element. */
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
        e->exception_number = path->code->table->space; /* 1.5.5 stores the memory space here */
    path->need_address = true;
}

/* Moves execution past an executed waypoint. */
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

/* Returns by how much a range of `n` instructions exceeds the limit. As in 1.5.5, the end of memory counts as
 * one more. */
static inline uint32_t ct_ocsd_path_excess(const struct ct_ocsd_path *path, uint32_t n, bool memory_ended)
{
    return path->limit && n > path->limit ? n - path->limit + memory_ended : 0;
}

/* Walks over all instructions before `end`, or with `inclusive` up to the one at `end`, and adds them as one
 * range. Returns false when memory ends before; without an element if a bad opcode is the reason, or if the
 * range is too long. */
bool ct_ocsd_path_walk(struct ct_ocsd_path *path, ocsd_trc_index_t index, uint64_t end, bool inclusive,
                       struct ct_insn *last);
