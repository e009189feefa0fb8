/* SPDX-License-Identifier: Apache-2.0 */
#include "record/path.h"

#include <stdlib.h>

#include "base/ctx.h"
#include "record/path_state.h"
#include "recorder/trace_stream.h"

/* IHI 0064H table 6-14. */
enum {
    EXCEPTION_CALL = 2,
    EXCEPTION_TRAP = 3,
    EXCEPTION_SYSTEM_ERROR = 4,
    EXCEPTION_INSN_FAULT = 11,
    EXCEPTION_DATA_FAULT = 12,
    EXCEPTION_IRQ = 14,
    EXCEPTION_FIQ = 15,
};

#define VECTOR_TABLE UINT64_C(0x800) /* bytes; 0x80 per entry: Arm ARM DDI 0487, D1.3.1 */

int ct_path_new(struct ct_ctx *ctx, const struct ct_code *code, struct ct_code_view *view,
                struct ct_unit *unit, uint32_t id, struct ct_path **out)
{
    struct ct_path *p = calloc(1, sizeof *p);
    if (!p)
        return ct_fail_nomem(ctx, "path of a thread");
    p->ctx = ctx;
    p->code = code;
    p->view = view;
    p->changing = ct_code_changing(code);
    p->unit = unit;
    p->id = id;
    p->spent_end = UINT64_MAX;
    ct_unit_context(unit, id);
    *out = p;
    return CT_OK;
}

void ct_path_system(struct ct_path *p, bool m_profile, bool arm32)
{
    p->system = true;
    p->m_profile = m_profile;
    p->arm32 = arm32;
}

void ct_path_accesses(struct ct_path *p, ct_path_access_fn *fn, void *user)
{
    p->access = fn;
    p->access_user = user;
}

void ct_path_free(struct ct_path *p)
{
    free(p);
}

/* ---- the vectors of a whole machine ---- */

static bool knows_vectors(const struct ct_path *p, uint64_t addr)
{
    for (unsigned i = 0; i < p->vector_count; i++)
        if (p->vectors[i] == (addr & ~(VECTOR_TABLE - 1)))
            return true;
    return false;
}

static bool is_vector(const struct ct_path *p, struct ct_path_place at)
{
    return p->system && at.level && !(at.addr & 0x7f) && knows_vectors(p, at.addr);
}

/* Learns a vector base from `at`, which only an exception can have led to. */
static void learn_vector(struct ct_path *p, struct ct_path_place at)
{
    if (p->system && at.level && !(at.addr & 0x7f) && !knows_vectors(p, at.addr) &&
        p->vector_count < CT_PATH_VECTORS)
        p->vectors[p->vector_count++] = at.addr & ~(VECTOR_TABLE - 1);
}

/* Returns the number of the exception between two blocks, from its vector. */
static unsigned async_number(const struct ct_path *p, struct ct_path_place at)
{
    static const uint8_t by_entry[] = {EXCEPTION_INSN_FAULT, EXCEPTION_IRQ, EXCEPTION_FIQ,
                                       EXCEPTION_SYSTEM_ERROR};
    return p->system ? by_entry[at.addr >> 7 & 3] : EXCEPTION_IRQ;
}

/* ---- a block ---- */

int ct_path_tell_insns(struct ct_path *p, struct ct_code_block *b, uint32_t count)
{
    uint32_t told = 0;
    bool traceable = true;
    const int bad = *p->changing && count ? ct_code_view_show(p->view, b, &traceable) : CT_OK;
    if (bad)
        return bad;
    ct_unit_next_level(p->unit, b->level);
    for (uint32_t i = 0; i < b->stop_count && b->stops[i].index < count; i++) {
        const struct ct_code_stop *stop = &b->stops[i];
        ct_unit_insns(p->unit, stop->index + 1 - told, stop->end - stop->insn.size, stop->end, traceable);
        told = stop->index + 1;
        if (told == b->insns)
            return CT_OK;
        const int status = ct_unit_branch(p->unit, &stop->insn, true, stop->end, (enum ct_isa)b->isa);
        if (status)
            return status;
    }
    if (told < count)
        ct_unit_insns(p->unit, count - told, ct_code_insn_addr(b, count - 1), ct_code_insn_addr(b, count),
                      traceable);
    return CT_OK;
}

static bool is_at(struct ct_path_place place, uint64_t addr)
{
    return place.addr == addr;
}

/* Passes on a direct branch. The next address shows whether it was taken, unless the target is the next
 * instruction. */
static int tell_direct(struct ct_path *p, const struct ct_code_stop *stop, struct ct_path_place next,
                       bool *async)
{
    const bool always = !stop->insn.cond && !stop->in_it;
    const struct ct_path_place behind = {stop->end, (enum ct_isa)p->now->isa, 0};
    const struct ct_path_place target = {stop->insn.target, (enum ct_isa)stop->insn.isa, 0};
    bool taken = is_at(next, target.addr);
    if (target.addr == behind.addr)
        taken = always;
    else if (!taken && !is_at(next, behind.addr)) {
        taken = always;
        p->vague = !always;
    }
    const struct ct_path_place to = taken ? target : behind;
    const int status = ct_unit_branch(p->unit, &stop->insn, taken, to.addr, to.isa);
    *async = !is_at(next, to.addr);
    return status;
}

static int tell_stop(struct ct_path *p, const struct ct_code_stop *stop, struct ct_path_place next,
                     bool *async)
{
    const bool perhaps = stop->insn.cond || stop->in_it;
    if (stop->insn.type == CT_INSN_BR)
        return tell_direct(p, stop, next, async);
    if (stop->insn.type == CT_INSN_IBR) {
        const bool taken = !perhaps || !is_at(next, stop->end);
        p->vague = is_vector(p, next);
        ct_unit_next_level(p->unit, next.level);
        return ct_unit_branch(p->unit, &stop->insn, taken, next.addr, next.isa);
    }
    *async = !is_at(next, stop->end);
    return ct_unit_branch(p->unit, &stop->insn, true, stop->end, (enum ct_isa)p->now->isa);
}

/* Passes on a block that was left before its instruction `count`. */
static int tell_fault(struct ct_path *p, uint32_t count, struct ct_path_place next, unsigned number,
                      bool *left)
{
    struct ct_code_block *b = p->now;
    const int status = ct_path_tell_insns(p, b, count);
    /* without a signal QEMU only restarted there */
    if (status || (!p->handler && is_at(next, ct_code_insn_addr(b, count))))
        return status;
    *left = true;
    return ct_unit_exception(p->unit, number);
}

static int tell_call(struct ct_path *p, bool *left)
{
    const int status = ct_path_tell_insns(p, p->now, p->now->insns);
    *left = true;
    return status ? status : ct_unit_exception(p->unit, EXCEPTION_CALL);
}

/* Passes on a block that was executed completely before execution reached `next`. */
static int tell_whole(struct ct_path *p, struct ct_path_place next, bool *left)
{
    struct ct_code_block *b = p->now;
    const struct ct_code_stop *stop = ct_path_last_stop(b);
    bool async = false;
    const bool raises = !stop && b->end_how != CT_CODE_PLAIN;
    if (p->system && raises && b->isa != CT_ISA_A64 && is_at(next, b->end)) /* its condition failed */
        return ct_path_tell_insns(p, b, b->insns);
    if (p->system && b->end_how == CT_CODE_TRAP && is_at(next, b->end))
        return tell_call(p, left); /* QEMU itself did what a hypervisor or firmware does */
    if (p->system && !stop && b->end_how == CT_CODE_PLAIN && is_vector(p, next) &&
        async_number(p, next) == EXCEPTION_INSN_FAULT && b->end % 4096)
        return tell_fault(p, b->insns - 1, next, EXCEPTION_TRAP, left);
    if (b->end_how == CT_CODE_TRAP ||
        (!stop && p->interrupted_known && is_at(next, b->last) && b->end_how != CT_CODE_CALL))
        return tell_fault(p, b->insns - 1, next, EXCEPTION_TRAP, left);
    if (b->end_how == CT_CODE_CALL)
        return tell_call(p, left);
    int status = ct_path_tell_insns(p, b, b->insns);
    if (status)
        return status;
    if (stop)
        status = tell_stop(p, stop, next, &async);
    else
        async = !is_at(next, b->end);
    if (status || !(async || p->handler || p->vague))
        return status;
    *left = true;
    return p->vague ? CT_OK : ct_unit_exception(p->unit, async_number(p, next));
}

/* Passes on the current block. `next` is the next address, or where a signal interrupted. */
static int settle(struct ct_path *p, struct ct_path_place next, bool *left)
{
    const struct ct_code_block *b = p->now;
    /* the last instruction may have skipped its access, if its condition failed */
    const bool whole = !p->partial || (p->at >= b->insns && is_at(next, b->end));
    int status;
    if (whole)
        status = tell_whole(p, next, left);
    else
        status = tell_fault(p,
                            p->at > b->insns ? b->insns - 1
                            : p->at          ? p->at - 1
                                             : 0,
                            next, EXCEPTION_DATA_FAULT, left);
    p->now = NULL;
    p->partial = false;
    return status;
}

/* ---- exceptions of a whole machine, recognised by their return address (ELR_ELx) ---- */

static bool ends_behind(const struct ct_code_block *b, const struct ct_code_stop *stop, uint64_t to,
                        bool *taken)
{
    *taken = stop != NULL;
    if (stop && stop->insn.type == CT_INSN_IBR)
        return to != b->last;
    if (stop && stop->insn.type == CT_INSN_BR) {
        *taken = to == stop->insn.target;
        return *taken || (stop->insn.cond && to == b->end);
    }
    return to == b->end;
}

/* Finds how far the current block was executed before an exception with the return address `to`. Returns
 * false when the address does not fit the block. */
static bool find_ending(const struct ct_path *p, uint64_t to, struct ct_path_ending *e)
{
    const struct ct_code_block *b = p->now;
    if (b->isa != CT_ISA_A64)
        return ct_path_find_ending(p, to, e);
    *e = (struct ct_path_ending){.count = b->insns, .stop = ct_path_last_stop(b)};
    if ((!p->partial || p->at >= b->insns) && ends_behind(b, e->stop, to, &e->taken))
        return true;
    *e = (struct ct_path_ending){.count = (uint32_t)(to - b->addr) / 4};
    return to >= b->addr && to < b->end && !(to & 3);
}

/* Returns whether the last instruction of the current block can lead to `at` without an exception. An ERET
 * within a level leaves ELR_ELx as it was, which an exception directly behind it does not. */
static bool leads_to(const struct ct_path *p, struct ct_path_place at)
{
    const struct ct_code_block *b = p->now;
    const struct ct_code_stop *stop = ct_path_last_stop(b);
    if (p->partial || b->level < at.level)
        return false;
    if (stop && stop->insn.sub == CT_INSN_SUB_ERET && b->level == at.level)
        return is_at(at, p->return_to);
    if (stop && stop->insn.type == CT_INSN_IBR)
        return true;
    if (stop && stop->insn.type == CT_INSN_BR)
        return is_at(at, stop->insn.target) || (stop->insn.cond && is_at(at, b->end));
    return is_at(at, b->end);
}

/* Returns whether an exception led to `at`. */
static bool is_exception(struct ct_path *p, struct ct_path_place at, struct ct_path_ending *e)
{
    if (!p->system || !p->returns || !p->now || !find_ending(p, p->return_to, e))
        return false;
    if (!leads_to(p, at))
        learn_vector(p, at);
    return is_vector(p, at);
}

static unsigned exception_number(const struct ct_path *p, const struct ct_path_ending *e,
                                 struct ct_path_place vector)
{
    const unsigned number = async_number(p, vector);
    if (number != EXCEPTION_INSN_FAULT)
        return number;
    if (e->count < p->now->insns)
        return p->partial ? EXCEPTION_DATA_FAULT : EXCEPTION_TRAP;
    return p->now->end_how == CT_CODE_PLAIN ? number : EXCEPTION_CALL;
}

/* Returns the level before the exception: entries from 0x400 are for lower levels. */
static unsigned level_before(struct ct_path_place vector)
{
    return vector.addr & 0x400 ? vector.level - 1 : vector.level;
}

static int tell_exception(struct ct_path *p, const struct ct_path_ending *e, struct ct_path_place vector)
{
    struct ct_code_block *b = p->now;
    const unsigned number = exception_number(p, e, vector);
    int status = ct_path_tell_insns(p, b, e->count);
    if (e->stop && e->stop->insn.sub == CT_INSN_SUB_ERET)
        ct_unit_next_level(p->unit, level_before(vector));
    if (e->stop && !status)
        status = ct_unit_branch(p->unit, &e->stop->insn, e->taken, p->return_to, p->return_isa);
    p->now = NULL;
    p->partial = false;
    return status ? status : ct_unit_exception(p->unit, number);
}

/* Returns whether the current block led to a handler without a signal: one handler can jump to another, which
 * then finds the frame of the first one's signal. A signal cannot have interrupted where the block does not
 * lead, nor, before the first handler has returned by a system call, where that one's signal did. */
static bool jumped_to(const struct ct_path *p, struct ct_path_place handler)
{
    struct ct_path_ending interrupted;
    return p->now->end_how != CT_CODE_CALL && leads_to(p, handler) &&
           ((p->handled_known && is_at(p->interrupted, p->handled)) ||
            !ct_path_find_ending(p, p->interrupted.addr, &interrupted));
}

/* Notes where the signal before a block interrupted, until a block ends in a system call. */
static void note_signal(struct ct_path *p, const struct ct_code_block *next)
{
    if (p->interrupted_known)
        p->handled = p->interrupted.addr;
    p->handled_known = (p->handled_known || p->interrupted_known) && next->end_how != CT_CODE_CALL;
}

static int enter(struct ct_path *p, struct ct_code_block *b)
{
    const struct ct_path_place here = {b->addr, (enum ct_isa)b->isa, b->level};
    struct ct_path_ending ending;
    bool left = !p->now;
    int status = CT_OK;
    ct_unit_spend(p->unit, trace_block_cycles(p->spent_insns, p->spent_end, b->addr));
    p->spent_insns = b->insns;
    p->spent_end = b->end;
    if (p->away) {
        ct_unit_context(p->unit, p->id);
        status = ct_unit_place(p->unit, p->told.addr, p->told.isa);
        p->away = false;
    }
    if (p->interrupted_known && p->now && jumped_to(p, here))
        p->handler = p->interrupted_known = false;
    note_signal(p, b);
    if (p->m_profile || p->arm32) {
        status = p->m_profile ? ct_path_enter_m(p, b) : ct_path_enter_arm(p, b);
        left = false;
    } else if (!status && is_exception(p, here, &ending)) {
        left = true;
        status = tell_exception(p, &ending, here);
    } else if (p->now && !status)
        status = settle(p, p->handler && p->interrupted_known ? p->interrupted : here, &left);
    if (left && !status) {
        ct_unit_next_level(p->unit, b->level);
        if (!p->returns)
            learn_vector(p, here);
        status = is_vector(p, here) ? ct_unit_enter(p->unit, here.addr, here.isa)
                                    : ct_unit_place(p->unit, here.addr, here.isa);
    }
    p->vague = p->returns = false;
    p->now = b;
    p->partial = p->handler = p->interrupted_known = false;
    return status;
}

/* Returns whether the current block ends in a system call, which can be passed on before the next address is
 * known. */
static bool is_at_call(const struct ct_path *p)
{
    return p->now && p->now->end_how == CT_CODE_CALL && !p->partial;
}

/* Lets the core wait: after the exception of a system call, otherwise before the branch at the end of the
 * block. */
static int wait_for(struct ct_path *p, uint64_t cycles)
{
    bool left;
    int status = CT_OK;
    if (is_at_call(p) && !p->system) {
        ct_unit_spend(p->unit, p->spent_insns);
        p->spent_insns = 0;
        status = settle(p, (struct ct_path_place){0}, &left);
    }
    return status ? status : ct_unit_wait(p->unit, cycles);
}

static uint64_t long_word(const uint32_t *words)
{
    return words[0] | (uint64_t)words[1] << 32;
}

/* Passes on an access, given in five words, which is in the last entered block. */
static int tell_access(struct ct_path *p, const uint32_t *words)
{
    const uint32_t value = TRACE_VALUE(words[0]);
    const uint32_t index = value & TRACE_ACCESS_INDEX;
    if (!p->access || !p->now || index >= p->now->insns)
        return CT_OK;
    const struct ct_software_access access = {
        .clock = ct_unit_clock(p->unit) + index,
        .pc = ct_code_insn_addr(p->now, index),
        .addr = long_word(words + 1),
        .data = long_word(words + 3),
        .bytes = (uint8_t)(1u << (value >> TRACE_ACCESS_SIZE_SHIFT & 3)),
        .piece = (uint8_t)(value >> TRACE_ACCESS_PIECE_SHIFT & (TRACE_WATCHED - 1)),
        .store = value & TRACE_ACCESS_STORE,
    };
    return p->access(p->access_user, &access);
}

/* Returns how many words follow the first word of a record. */
static size_t words_behind(uint32_t word)
{
    switch (TRACE_KIND(word)) {
    case TRACE_CONTEXT:
        return 1;
    case TRACE_WAITED:
        return TRACE_VALUE(word) ? 0 : 2;
    case TRACE_SIGNAL:
    case TRACE_RETURN:
    case TRACE_M_TAKEN:
    case TRACE_ARM_TAKEN:
    case TRACE_THREAD:
        return 2;
    case TRACE_ACCESS:
        return 4;
    default:
        return 0;
    }
}

/* Takes a record that is not the number of a block. */
static int take_record(struct ct_path *p, const uint32_t *words)
{
    const uint32_t value = TRACE_VALUE(*words);
    switch (TRACE_KIND(*words)) {
    case TRACE_PARTIAL:
        p->partial = true;
        p->at = value;
        break;
    case TRACE_SIGNAL:
        p->handler = p->interrupted_known = true;
        p->interrupted.addr = long_word(words + 1);
        p->interrupted.isa = p->now && p->now->isa == CT_ISA_A64 ? CT_ISA_A64
                             : value                             ? CT_ISA_T32
                                                                 : CT_ISA_A32;
        break;
    case TRACE_HANDLER:
        p->handler = true;
        break;
    case TRACE_RETURN:
        p->returns = true;
        p->return_isa = (enum ct_isa)value;
        p->return_to = long_word(words + 1);
        break;
    case TRACE_M_TAKEN:
        ct_path_taken_m(p, value, words[1], words[2]);
        break;
    case TRACE_ARM_TAKEN:
        p->arm.entry = (uint8_t)value;
        p->arm.interrupted.addr = words[1];
        p->arm.interrupted.isa = words[2] ? CT_ISA_T32 : CT_ISA_A32;
        break;
    case TRACE_M_RETURNED:
    case TRACE_M_RESET:
    case TRACE_M_LOST:
        p->m.change = TRACE_KIND(*words);
        p->m.to_sg = value & TRACE_M_SG_RETURN;
        p->m.next_handled = value & ~TRACE_M_SG_RETURN;
        break;
    case TRACE_CONTEXT:
        ct_unit_context(p->unit, words[1]);
        break;
    case TRACE_WAITED:
        return wait_for(p, value ? value : long_word(words + 1));
    case TRACE_ACCESS:
        return tell_access(p, words);
    case TRACE_THREAD:
        return ct_unit_wait_until(p->unit, long_word(words + 1));
    default:
        break;
    }
    return CT_OK;
}

static int enter_numbered(struct ct_path *p, uint32_t number)
{
    struct ct_code_block *b = ct_code_block(p->code, number);
    return b ? enter(p, b)
             : ct_fail(p->ctx, CT_ERR_FORMAT,
                       "recorder: block %u was executed, but its code was never reported; recording ends; "
                       "this is an error of the QEMU plugin",
                       number);
}

int ct_path_words(struct ct_path *p, const uint32_t *words, size_t size)
{
    int status = CT_OK;
    for (size_t i = 0; i < size && !status; i++) {
        const size_t behind = words[i] > TRACE_BLOCK_MAX ? words_behind(words[i]) : 0;
        if (size - i <= behind)
            return ct_fail(p->ctx, CT_ERR_FORMAT,
                           "recorder: a record of kind %02x is truncated; recording ends; this is an error "
                           "of the QEMU plugin",
                           words[i] >> 24);
        status = words[i] > TRACE_BLOCK_MAX ? take_record(p, words + i) : enter_numbered(p, words[i]);
        i += behind;
    }
    return status;
}

int ct_path_pause(struct ct_path *p)
{
    bool left = false;
    int status = CT_OK;
    if (p->away)
        return CT_OK;
    if (is_at_call(p))
        status = settle(p, (struct ct_path_place){0}, &left);
    else if (p->now)
        status = ct_unit_exception(p->unit, EXCEPTION_IRQ);
    ct_unit_at(p->unit, &p->told.addr, &p->told.isa);
    p->away = true;
    return status;
}

int ct_path_end(struct ct_path *p, uint32_t at, uint32_t whole, bool certain)
{
    bool left = false;
    if (!p->now)
        return CT_OK;
    p->partial = at < whole;
    p->at = at;
    p->handler = false;
    if (p->m_profile || p->arm32 || (p->system && ct_path_calls_debugger(p)))
        return ct_path_end_halted(p);
    if (is_at_call(p) || certain)
        return settle(p, (struct ct_path_place){0}, &left);
    p->now = NULL;
    return ct_unit_leave(p->unit);
}
