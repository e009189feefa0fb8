/* SPDX-License-Identifier: Apache-2.0 */
/* The plain walk: makes ranges of instructions from elements and memory, one instruction at a time.
 * docs/listing.md. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "flow/walk.h"
#include "flow/walk_ways.h"
#include "flow/walk_seam.h"

/* preferred return address of a tail-chained exception (M profile) */
#define TAIL_CHAIN 0xfffffffeu

/* How many elements ahead the way from an address is asked for. What other elements hold in its place does no
 * harm. */
#define AHEAD 6u

/* Where walk_to stops. */
enum stop {
    STOP_BEFORE, /* behind the instruction before the given address, or behind the one that covers it */
    STOP_AFTER,  /* behind the instruction at the given address */
};

int ct_walk_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                const struct ct_walk_options *options, struct ct_walk **out)
{
    if (!source || !out)
        return ct_fail_null(ctx, __func__);
    struct ct_walk_options o;
    struct ct_walk_config config;
    int rc = ct_options_read(ctx, "ct_walk_new", options, &o, sizeof o);
    if (!rc)
        rc = ct_walk_config_init(ctx, source, &config);
    if (rc)
        return rc;
    struct ct_walk *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "instruction walk");
    w->fetch = (struct ct_fetch){.memory = memory,
                                 .arch = source->arch,
                                 .wfi_waypoint = config.wfi_waypoint,
                                 .dsb_waypoint = config.dsb_waypoint};
    w->stack.enabled = config.return_stack;
    w->split_source_ranges = o.split_source_ranges;
    w->config = config;
    w->need_address = w->need_context = w->lost = true;
    *out = w;
    return CT_OK;
}

void ct_walk_free(struct ct_walk *w)
{
    if (!w)
        return;
    free(w->ways);
    free(w);
}

void ct_walk_set_memory(struct ct_walk *w, const struct ct_memory *memory)
{
    if (!w || !memory)
        return;
    w->fetch.memory = memory;
    w->fetch.bytes = NULL;
}

uint32_t ct_walk_space(const struct ct_walk *w)
{
    static const uint8_t spaces[4][4] = {
        [CT_SEC_S] = {CT_SPACE_EL1S, CT_SPACE_EL1S, CT_SPACE_EL2S, CT_SPACE_EL3},
        [CT_SEC_NS] = {CT_SPACE_EL1N, CT_SPACE_EL1N, CT_SPACE_EL2N, CT_SPACE_EL3},
        [CT_SEC_ROOT] = {CT_SPACE_ROOT, CT_SPACE_ROOT, CT_SPACE_ROOT, CT_SPACE_ROOT},
        [CT_SEC_REALM] = {CT_SPACE_EL1R, CT_SPACE_EL1R, CT_SPACE_EL2R, CT_SPACE_ROOT},
    };
    if (w->config.worlds)
        return w->el_sec >> 4 & 3 ? CT_SPACE_ANY_NS : CT_SPACE_ANY_S;
    return spaces[w->el_sec >> 4 & 3][w->el_sec & 3];
}

uint8_t ct_walk_isa(const struct ct_walk *w, unsigned select)
{
    static const uint8_t isas[] = {[CT_IS0] = CT_ISA_A32,
                                   [CT_IS1] = CT_ISA_T32,
                                   [CT_IS_TEE] = CT_ISA_TEE,
                                   [CT_IS_JAZ] = CT_ISA_JAZ,
                                   [CT_IS_UNKNOWN] = CT_ISA_UNKNOWN};
    if (w->sf)
        return CT_ISA_A64;
    return select < sizeof isas ? isas[select] : w->isa;
}

void ct_walk_go_to(struct ct_walk *w, uint64_t addr, uint8_t isa)
{
    w->addr = addr;
    w->isa = isa;
    w->it_left = 0;
    w->need_address = w->lost = false;
    w->told = w->told && w->need_context;
}

void ct_walk_come_to(struct ct_walk *w, uint64_t addr, uint8_t isa)
{
    const bool known = !w->need_address && !w->need_context && !w->doubt && !w->paused;
    w->jumped = w->jumped || (known && (w->addr != addr || w->isa != isa));
    ct_walk_go_to(w, addr, isa);
}

static void put_elem(struct ct_walk *w, struct ct_walk_sink *sink, struct ct_elem elem)
{
    w->placed = true;
    sink->records[sink->count++] =
        (struct ct_flow){.offset = w->offset, .kind = CT_FLOW_ELEM, .isa = w->isa, .elem = elem};
}

/* Puts out an element at which execution goes out of sight, with the address where it was: the last branch
 * went there. */
static void put_last_place(struct ct_walk *w, struct ct_walk_sink *sink, struct ct_elem elem)
{
    bool known = !w->need_address && !w->need_context && !w->doubt;
    put_elem(w, sink, elem);
    sink->records[sink->count - 1].start = known ? w->addr : 0;
    sink->records[sink->count - 1].n = known;
}

static void put_range(struct ct_walk *w, struct ct_walk_sink *sink, const struct ct_walk_range *range,
                      bool exec)
{
    w->placed = true;
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset,
        .kind = CT_FLOW_RANGE,
        .start = range->start,
        .end = w->addr,
        .n = range->n,
        .isa = w->isa,
        .type = w->insn.type,
        .sub = w->insn.sub,
        .cond = range->last_cond,
        .loop = w->insn.loop,
        .exec = exec,
        .space = (uint8_t)ct_walk_space(w),
        .stale = w->stale || w->doubt,
        .last_size = w->insn.size,
    };
}

static void put_no_access(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t addr)
{
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset,
        .kind = CT_FLOW_NO_ACCESS,
        .start = addr,
        .space = (uint8_t)ct_walk_space(w),
        .stale = w->stale || w->doubt,
    };
}

/* Puts out a gap because trace and program contradict each other, and waits for an address. */
static void put_bad_image(struct ct_walk *w, struct ct_walk_sink *sink)
{
    put_elem(w, sink,
             (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_IMAGE, .pos = (uint32_t)w->offset});
    sink->records[sink->count - 1].stale = w->stale || w->doubt; /* a record told of it before */
    w->need_address = w->lost = w->told = true;
}

/* Ends the doubt at an address that says where execution is: later ranges count again. Calls that were
 * followed in doubt may not have been there. */
static void end_doubt(struct ct_walk *w)
{
    if (w->doubt)
        ct_return_stack_doubt(&w->stack);
    w->doubt = false;
}

/* Puts out an unlisted gap where trace and program contradict each other and docs/listing.md walks on all the
 * same. Ranges up to the next address are stale. */
static void contradict(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (w->doubt || w->stale)
        return;
    const struct ct_elem gap = {.kind = CT_ELEM_GAP, .n = CT_GAP_BAD_IMAGE, .pos = (uint32_t)w->offset};
    sink->records[sink->count++] = (struct ct_flow){
        .offset = w->offset, .kind = CT_FLOW_ELEM, .isa = w->isa, .unlisted = 1, .elem = gap};
    ct_return_stack_doubt(&w->stack);
    w->doubt = true;
}

/* Walks the instruction at w->addr. Returns false when it cannot be read. */
static bool walk_insn(struct ct_walk *w, struct ct_walk_range *range)
{
    if (!ct_fetch_insn(&w->fetch, w->addr, (enum ct_isa)w->isa, ct_walk_space(w), &w->insn))
        return false;
    range->last_in_it = w->it_left != 0;
    range->last_cond = w->insn.cond || (w->it_left && w->config.it_conditions);
    if (w->it_left)
        w->it_left--;
    else
        w->it_left = w->insn.it;
    w->addr += w->insn.size;
    range->n++;
    return true;
}

static enum ct_walk_found walk_to(struct ct_walk *w, enum stop stop, uint64_t at, struct ct_walk_range *range)
{
    *range = (struct ct_walk_range){.start = w->addr};
    for (;;) {
        uint64_t here = w->addr;
        if (range->n == CT_WALK_MAX_BLOCK)
            return CT_WALK_TOO_LONG;
        range->crossed |= range->n && w->insn.type != CT_INSN_OTHER;
        if (!walk_insn(w, range))
            return CT_WALK_NO_ACCESS;
        if ((stop == STOP_BEFORE && w->addr >= at) || (stop == STOP_AFTER && here == at))
            return CT_WALK_FOUND;
    }
}

/* Walks over the instructions from w->addr on that are certainly no waypoints. */
static void walk_straight(struct ct_walk *w, struct ct_walk_range *range)
{
    if (w->it_left)
        return;
    const uint32_t n = ct_fetch_straight(&w->fetch, w->addr, (enum ct_isa)w->isa, ct_walk_space(w),
                                         CT_WALK_MAX_BLOCK - range->n);
    if (!n)
        return;
    w->insn = (struct ct_insn){.type = CT_INSN_OTHER, .size = 4, .isa = CT_ISA_A64};
    w->addr += (uint64_t)n * 4;
    range->n += n;
}

enum ct_walk_found ct_walk_plainly_to_waypoint(struct ct_walk *w, struct ct_walk_range *range)
{
    *range = (struct ct_walk_range){.start = w->addr};
    for (;;) {
        walk_straight(w, range);
        if (range->n == CT_WALK_MAX_BLOCK)
            return CT_WALK_TOO_LONG;
        if (!walk_insn(w, range))
            return CT_WALK_NO_ACCESS;
        if (w->insn.type != CT_INSN_OTHER)
            return CT_WALK_FOUND;
    }
}

/* Leaves out short ranges in T32: an exception may have returned into an IT block, of which they are the last
 * instructions. */
bool ct_walk_is_always_taken(const struct ct_walk *w, const struct ct_walk_range *range)
{
    const struct ct_insn *insn = &w->insn;
    return (insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR) && !insn->cond && !range->last_in_it &&
           (w->isa != CT_ISA_T32 || range->n > 4);
}

/* Puts out what a walk gave that failed: the instructions up to there, and why it failed. No program has so
 * much straight code that it is too long. */
static void put_broken_walk(struct ct_walk *w, struct ct_walk_sink *sink, const struct ct_walk_range *range,
                            enum ct_walk_found found)
{
    if (found == CT_WALK_TOO_LONG)
        contradict(w, sink);
    if (range->n)
        put_range(w, sink, range, true);
    if (found == CT_WALK_NO_ACCESS)
        put_no_access(w, sink, w->addr);
    else
        put_bad_image(w, sink);
    ct_return_stack_doubt(&w->stack);
    w->need_address = w->told = true;
    w->placed = false;
}

/* Tells whether the last instruction returns from an exception and no packet will say so (ETE). */
static bool is_exception_return(const struct ct_walk *w)
{
    return w->config.eret_is_return && w->insn.sub == CT_INSN_SUB_ERET;
}

/* Moves execution behind the executed waypoint at the end of a walk. The target of an exception return is
 * never on the return stack, which holds where functions return to (IHI 0064H 5.3.1). */
static void take_waypoint(struct ct_walk *w)
{
    uint64_t next = w->addr;
    uint8_t isa = w->isa;
    if (w->insn.type == CT_INSN_BR)
        ct_walk_go_to(w, w->insn.target, w->insn.isa);
    else if (w->insn.type == CT_INSN_IBR)
        w->need_address = true;
    else
        return;
    if (w->insn.sub == CT_INSN_SUB_LINK)
        ct_return_stack_push(&w->stack, next, isa);
    w->stack.pop_pending = w->insn.type == CT_INSN_IBR && w->stack.enabled && !is_exception_return(w);
}

static void put_eret(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (!is_exception_return(w))
        return;
    put_elem(w, sink, (struct ct_elem){.kind = CT_ELEM_RETURN, .pos = (uint32_t)w->offset});
    sink->records[sink->count - 1].stale = w->doubt;
}

/* Takes a return address off the return stack. Returns false when the stack is empty. An entry from before
 * execution went out of sight may be gone from the stack of the trace unit; listings use it all the same
 * (docs/listing.md), and that counts as a contradiction. */
static bool pop_return(struct ct_walk *w, struct ct_walk_sink *sink, uint64_t *addr, uint8_t *isa)
{
    if (ct_return_stack_pop(&w->stack, addr, isa))
        return true;
    if (!ct_return_stack_pop_doubted(&w->stack, addr, isa))
        return false;
    contradict(w, sink);
    return true;
}

/* Takes the target of an indirect branch from the return stack, because no address followed it. */
static void settle_return(struct ct_walk *w, struct ct_walk_sink *sink)
{
    uint64_t addr;
    uint8_t isa;
    if (!w->stack.pop_pending)
        return;
    if (pop_return(w, sink, &addr, &isa))
        ct_walk_go_to(w, addr, isa);
    else
        put_bad_image(w, sink);
}

/* Passes over atoms of instructions whose address is unknown: behind a branch whose target neither the
 * program nor the return stack gives, behind an exception or behind a trace info. Puts out a gap when no
 * record told of it. */
static void pass_over(struct ct_walk *w, struct ct_walk_sink *sink)
{
    if (!w->told)
        contradict(w, sink);
    ct_return_stack_doubt(&w->stack);
    w->told = true;
    w->doubt |= !w->need_address;
}

static void on_atom(struct ct_walk *w, bool executed, struct ct_walk_sink *sink)
{
    settle_return(w, sink);
    if (w->need_address || w->need_context) {
        pass_over(w, sink);
        return;
    }
    struct ct_walk_range range;
    enum ct_walk_found found = ct_walk_to_waypoint(w, &range);
    if (found != CT_WALK_FOUND) {
        put_broken_walk(w, sink, &range, found);
        return;
    }
    if (!executed && ct_walk_is_always_taken(w, &range))
        contradict(w, sink);
    put_range(w, sink, &range, executed);
    if (executed) {
        put_eret(w, sink);
        take_waypoint(w);
    }
}

/* PTM: takes an atom. The target of an indirect branch that is traced as an atom is on the return stack, and
 * comes off before the branch may push its own return address. `target`: an address follows, which is the
 * target in any case. */
static void on_pft_atom(struct ct_walk *w, bool executed, bool target, struct ct_walk_sink *sink)
{
    if (w->need_address || w->need_context) {
        pass_over(w, sink);
        return;
    }
    struct ct_walk_range range;
    enum ct_walk_found found = ct_walk_to_waypoint(w, &range);
    if (found != CT_WALK_FOUND) {
        put_broken_walk(w, sink, &range, found);
        return;
    }
    if (!executed && ct_walk_is_always_taken(w, &range))
        contradict(w, sink);
    put_range(w, sink, &range, executed);
    if (!executed)
        return;
    uint64_t addr;
    uint8_t isa;
    bool from_stack = w->insn.type == CT_INSN_IBR && !target;
    bool found_it = from_stack && pop_return(w, sink, &addr, &isa);
    take_waypoint(w);
    w->stack.pop_pending = false;
    if (found_it)
        ct_walk_go_to(w, addr, isa);
    else if (from_stack && w->stack.enabled)
        put_bad_image(w, sink);
}

/* ETMv3: puts out that instructions ran at an unknown address, once; after that only their cycles. */
static void put_lost_address(struct ct_walk *w, const struct ct_elem *elem, uint64_t cycles,
                             struct ct_walk_sink *sink)
{
    bool counted = elem->aux & CT_ATOMS_CYCLES;
    struct ct_elem out = {.kind = CT_ELEM_LOST_ADDRESS, .pos = elem->pos};
    if (!w->lost_told)
        put_elem(w, sink, out);
    out = (struct ct_elem){.kind = CT_ELEM_CYCLES,
                           .n = w->lost_told ? CT_CYCLES_ALONE : CT_CYCLES_ATTACHED,
                           .pos = elem->pos,
                           .v = cycles};
    if (counted)
        put_elem(w, sink, out);
    w->lost_told = true;
}

/* ETMv3: takes one atom, which is one instruction. */
static void on_insn_atom(struct ct_walk *w, bool executed, struct ct_walk_sink *sink)
{
    struct ct_walk_range range = {.start = w->addr};
    w->owners[0].known = false;
    w->lost_told = false;
    if (!walk_insn(w, &range)) {
        put_broken_walk(w, sink, &range, CT_WALK_NO_ACCESS);
        w->placed = true; /* its cycles are put out with the address */
        return;
    }
    put_range(w, sink, &range, executed);
    w->owners[0] = (struct ct_data_owner){range.start, true};
    if (executed)
        take_waypoint(w);
}

/* ETMv3: takes atoms, each of which is an instruction with its share of the cycles. Result as on_atoms. */
static bool on_insn_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    uint64_t total = elem->v >> 32;
    if (!elem->n) {
        struct ct_elem cycles = {.kind = CT_ELEM_CYCLES, .pos = elem->pos, .v = total};
        put_elem(w, sink, cycles);
        w->lost_told |= w->need_address;
    }
    while (w->atoms_done < elem->n) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        bool each = elem->aux & CT_ATOMS_EACH;
        uint64_t before = each ? w->atoms_done : w->atoms_done ? total : 0;
        if (w->need_address || w->need_context) {
            w->owners[0].known = false;
            pass_over(w, sink);
            put_lost_address(w, elem, total - before, sink);
            break;
        }
        w->placed = false;
        on_insn_atom(w, elem->v >> w->atoms_done & 1, sink);
        w->atoms_done++;
        struct ct_elem cycles = {.kind = CT_ELEM_CYCLES,
                                 .n = w->placed ? CT_CYCLES_ATTACHED : CT_CYCLES_UNPLACED,
                                 .pos = elem->pos,
                                 .v = each ? 1 : total - before};
        if (elem->aux & CT_ATOMS_CYCLES)
            put_elem(w, sink, cycles);
    }
    w->atoms_done = 0;
    return true;
}

/* Takes atoms. Returns true when all are done, false when the sink is full. */
static bool on_atoms(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    ct_walk_follow_ways(w, elem, sink);
    while (w->atoms_done < elem->n) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        bool executed = elem->v >> w->atoms_done & 1;
        w->placed = false;
        if (w->config.atom_returns)
            on_pft_atom(w, executed, elem->aux & CT_ATOMS_TARGET, sink);
        else
            on_atom(w, executed, sink);
        w->atoms_done++;
    }
    w->atoms_done = 0;
    return true;
}

void ct_walk_on_address(struct ct_walk *w, const struct ct_elem *elem)
{
    ct_walk_come_to(w, elem->v, ct_walk_isa(w, elem->n));
    w->stack.pop_pending = false;
    w->stack.wait_address = w->paused = false;
    end_doubt(w);
}

static void on_context(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    w->sf = elem->aux & CT_CONTEXT_SF;
    w->el_sec = elem->n;
    w->isa = ct_walk_isa(w, (elem->aux & CT_CONTEXT_IS) >> CT_CONTEXT_IS_SHIFT);
    w->need_context = false;
    w->told = w->told && w->need_address;
    put_elem(w, sink, *elem);
}

/* Takes an exception. Its preferred return address says how far execution came; with E1:E0 = 2 it is where
 * the last branch went. docs/listing.md counts from the last address there is, even if an indirect branch
 * left it for a place that the trace does not tell. Such a range is listed but stale, since nothing says that
 * it ran. A range with a waypoint in it is stale too: the waypoint would have given an atom. */
static void on_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    bool tail_chain = w->config.m_profile && elem->v == TAIL_CHAIN;
    if (tail_chain)
        out.n &= (uint8_t)~CT_EXCEPTION_HAS_RET;
    w->paused = w->paused || elem->n & CT_EXCEPTION_TARGET; /* the address is the target of the last branch */
    if (elem->n & CT_EXCEPTION_TARGET)
        ct_walk_on_address(
            w, &(struct ct_elem){.n = elem->n & CT_EXCEPTION_IS1 ? CT_IS1 : CT_IS0, .v = elem->v});
    else
        settle_return(w, sink);
    if (!w->need_context && !w->lost && (out.n & CT_EXCEPTION_HAS_RET) && w->addr < elem->v) {
        struct ct_walk_range range;
        w->stale = w->need_address;
        enum ct_walk_found found = walk_to(w, STOP_BEFORE, elem->v, &range);
        if (range.crossed)
            contradict(w, sink);
        if (found == CT_WALK_FOUND)
            put_range(w, sink, &range, true);
        else
            put_broken_walk(w, sink, &range, found);
        w->stale = false;
    }
    put_elem(w, sink, out);
    w->need_address = true;
}

/* PTM: takes an exception. Its return address is as far as execution is known to have come; where it goes on
 * follows. */
static void on_pft_exception(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    if (!w->need_address && !w->need_context) {
        out.n |= CT_EXCEPTION_HAS_RET;
        out.v = w->addr;
    }
    put_elem(w, sink, out);
    w->need_address = true;
}

/* PTM: takes a waypoint update. Execution went up to the instruction at an address, over waypoints or not. */
static void on_waypoint(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    if (w->need_address || w->need_context) {
        pass_over(w, sink);
        return;
    }
    struct ct_walk_range range;
    enum ct_walk_found found = walk_to(w, STOP_AFTER, elem->v, &range);
    if (range.crossed)
        contradict(w, sink);
    if (found != CT_WALK_FOUND) {
        put_broken_walk(w, sink, &range, found);
        return;
    }
    put_range(w, sink, &range, true);
    take_waypoint(w);
    w->stack.pop_pending = false;
    end_doubt(w);
}

/* Takes a cycle count. Cycles of atoms that made no range are not lost, but they belong to no range. */
static void on_cycles(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    if (out.n == CT_CYCLES_ATTACHED && !w->placed)
        out.n = CT_CYCLES_UNPLACED;
    put_elem(w, sink, out);
}

/* Takes a data transfer. It belongs to the last instruction, or to the one whose placeholder had the same tag
 * (IHI 0014Q 7.8). */
static void on_data(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    unsigned tag = (elem->aux & CT_DATA_TAG) >> CT_DATA_TAG_SHIFT;
    if (elem->n == CT_DATA_LATER)
        w->owners[tag] = w->owners[0];
    const struct ct_data_owner *owner = &w->owners[elem->n == CT_DATA_LATE ? tag : 0];
    put_elem(w, sink, *elem);
    sink->records[sink->count - 1].start = owner->known ? owner->addr : 0;
    sink->records[sink->count - 1].n = owner->known;
}

/* Puts out a range for each waypoint on the way to a source address; none of them was taken. Returns true
 * when done, false when the sink is full; then it is called again and goes on from w->addr. */
static bool split_range(struct ct_walk *w, uint64_t source, struct ct_walk_sink *sink)
{
    while (w->addr <= source) {
        if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
            return false;
        struct ct_walk_range range = {.start = w->addr};
        do {
            if (range.n == CT_WALK_MAX_BLOCK || !walk_insn(w, &range)) {
                put_broken_walk(w, sink, &range,
                                range.n == CT_WALK_MAX_BLOCK ? CT_WALK_TOO_LONG : CT_WALK_NO_ACCESS);
                return true;
            }
        } while (w->addr <= source && w->insn.type == CT_INSN_OTHER);
        put_range(w, sink, &range, w->addr > source);
    }
    return true;
}

/* Puts out the way to a source address as one range. Where all instructions have one size, no memory is
 * needed to count them. */
static void put_way(struct ct_walk *w, uint64_t source, const struct ct_insn *insn, struct ct_walk_sink *sink)
{
    struct ct_walk_range range = {.start = w->addr, .last_cond = insn->cond};
    const uint64_t words = (source - w->addr) / 4 + 1;
    enum ct_walk_found found = CT_WALK_FOUND;
    if (w->isa == CT_ISA_T32 || words > UINT32_MAX) {
        found = walk_to(w, STOP_AFTER, source, &range);
    } else {
        range.n = (uint32_t)words;
        w->insn = *insn;
        w->addr = source + insn->size;
    }
    if (found == CT_WALK_FOUND)
        put_range(w, sink, &range, true);
    else
        put_broken_walk(w, sink, &range, found);
}

/* Tells whether execution can have come to a source address with no branch taken on the way; CT_WALK_TOO_LONG
 * when it cannot. Changes nothing. */
static enum ct_walk_found try_way(const struct ct_walk *w, uint64_t source)
{
    struct ct_walk trial = *w;
    struct ct_walk_range range = {.start = w->addr};
    while (trial.addr != source) {
        if (range.n == CT_WALK_MAX_BLOCK || trial.addr > source)
            return CT_WALK_TOO_LONG;
        if (!walk_insn(&trial, &range))
            return CT_WALK_NO_ACCESS;
        if (ct_walk_is_always_taken(&trial, &range))
            return CT_WALK_TOO_LONG;
    }
    return CT_WALK_FOUND;
}

/* Puts out what is wrong with the way to a source address, whether its waypoints end a range or not. */
static void doubt_way(struct ct_walk *w, uint64_t source, struct ct_walk_sink *sink)
{
    const enum ct_walk_found found = w->doubt ? CT_WALK_FOUND : try_way(w, source);
    if (found == CT_WALK_TOO_LONG)
        contradict(w, sink);
    if (found != CT_WALK_NO_ACCESS)
        return;
    put_no_access(w, sink, w->addr);
    sink->records[sink->count - 1].unlisted = 1;
    w->doubt = true;
}

/* Takes a source address: the instruction there was executed. The IS0 or IS1 of the packet only says how its
 * address is coded (there are A32 captures with IS1 in it), so the instruction set stays. */
static bool on_source(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    w->stack.wait_address = false;
    if (w->need_context) {
        pass_over(w, sink);
        return true;
    }
    struct ct_insn insn;
    if (!ct_fetch_insn(&w->fetch, elem->v, (enum ct_isa)w->isa, ct_walk_space(w), &insn)) {
        end_doubt(w);
        put_no_access(w, sink, elem->v);
        ct_return_stack_doubt(&w->stack);
        w->need_address = w->told = true;
        return true;
    }
    /* A return before it went where the return stack says. If that is empty, only the source address is
     * known. */
    uint64_t target;
    uint8_t isa;
    if (w->stack.pop_pending && pop_return(w, sink, &target, &isa))
        ct_walk_go_to(w, target, isa);
    w->stack.pop_pending = false;
    if (w->need_address)
        end_doubt(w);
    if (w->need_address || w->addr > elem->v)
        ct_walk_go_to(w, elem->v, w->isa);
    doubt_way(w, elem->v, sink);
    if (!w->split_source_ranges)
        put_way(w, elem->v, &insn, sink);
    else if (!split_range(w, elem->v, sink))
        return false;
    /* Whatever the way was, execution is behind the instruction now. */
    w->insn = insn;
    ct_walk_go_to(w, elem->v + insn.size, w->isa);
    put_eret(w, sink);
    take_waypoint(w);
    end_doubt(w);
    return true;
}

/* Takes a Q element: as many instructions ran as the count before it said, then execution was at its address.
 * Which of the branches among them were taken is not known. If an indirect branch came before whose target no
 * packet told, it is not known where they began either; then the path is put out as unknown from the address
 * behind that branch on. */
static void on_q(struct ct_walk *w, const struct ct_elem *q, struct ct_walk_sink *sink)
{
    settle_return(w, sink);
    struct ct_walk_range range = {.start = w->addr};
    bool branch = false;
    if (!w->need_address && !w->need_context)
        while (range.n < w->q_count && range.n < CT_WALK_MAX_BLOCK && !branch && walk_insn(w, &range))
            branch = w->insn.type == CT_INSN_BR || w->insn.type == CT_INSN_IBR;
    if (range.n && range.n == w->q_count && (w->addr == q->v || branch)) {
        put_range(w, sink, &range, true);
    } else if (!w->need_context) {
        sink->records[sink->count++] = (struct ct_flow){.offset = w->offset,
                                                        .kind = CT_FLOW_RANGE_NOPATH,
                                                        .start = range.start,
                                                        .end = q->v,
                                                        .n = w->q_count,
                                                        .space = (uint8_t)ct_walk_space(w),
                                                        .isa = ct_walk_isa(w, q->n)};
    } else {
        pass_over(w, sink);
    }
    w->paused = true;
    ct_walk_on_address(w, q);
}

static void on_sync(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    ct_return_stack_flush(&w->stack);
    w->stack.wait_address = true;
    if (elem->n) {
        w->need_address = w->need_context = w->lost = w->told = true;
        w->doubt = false;
        put_elem(w, sink, *elem);
    }
}

/* The elements behind which an address that came unexpectedly is not held against the program any more. */
#define JUDGES                                                                                               \
    (UINT64_C(1) << CT_ELEM_ATOMS | UINT64_C(1) << CT_ELEM_WAYPOINT | UINT64_C(1) << CT_ELEM_SOURCE |        \
     UINT64_C(1) << CT_ELEM_EXCEPTION | UINT64_C(1) << CT_ELEM_Q | UINT64_C(1) << CT_ELEM_GAP |              \
     UINT64_C(1) << CT_ELEM_TRACE_ON | UINT64_C(1) << CT_ELEM_END)

/* Takes one element. Returns false when the sink is full; then it is called again with the same element. */
static bool step(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
        return false;
    if (w->jumped && JUDGES >> elem->kind & 1 && (elem->n || elem->kind != CT_ELEM_ATOMS)) {
        contradict(w, sink);
        w->jumped = false;
    }
    switch (elem->kind) {
    case CT_ELEM_ATOMS:
        return elem->aux & CT_ATOMS_INSN ? on_insn_atoms(w, elem, sink) : on_atoms(w, elem, sink);
    case CT_ELEM_CYCLES:
        on_cycles(w, elem, sink);
        return true;
    case CT_ELEM_DATA:
        on_data(w, elem, sink);
        return true;
    case CT_ELEM_WAYPOINT:
        w->placed = false;
        on_waypoint(w, elem, sink);
        return true;
    case CT_ELEM_ADDRESS:
        ct_walk_on_address(w, elem);
        return true;
    case CT_ELEM_SOURCE:
        return on_source(w, elem, sink);
    case CT_ELEM_CONTEXT:
        on_context(w, elem, sink);
        return true;
    case CT_ELEM_EXCEPTION:
        if (elem->n & CT_EXCEPTION_HERE)
            on_pft_exception(w, elem, sink);
        else
            on_exception(w, elem, sink);
        return true;
    case CT_ELEM_Q_COUNT:
        w->q_count = elem->aux ? 0 : (uint32_t)elem->v;
        return true;
    case CT_ELEM_Q:
        on_q(w, elem, sink);
        return true;
    case CT_ELEM_SYNC:
        on_sync(w, elem, sink);
        return true;
    case CT_ELEM_RETURN:
        w->stack.pop_pending = false; /* the branch before it was the exception return */
        put_elem(w, sink, *elem);
        return true;
    case CT_ELEM_TRACE_ON:
        w->paused = true;
        ct_return_stack_flush(&w->stack);
        put_last_place(w, sink, *elem);
        return true;
    case CT_ELEM_GAP:
        put_last_place(w, sink, *elem);
        w->need_address = w->need_context = w->lost = w->told = true;
        w->doubt = false;
        memset(w->owners, 0, sizeof w->owners);
        ct_return_stack_doubt(&w->stack);
        w->stack.pop_pending = false;
        return true;
    case CT_ELEM_END:
        put_last_place(w, sink, *elem);
        return true;
    default:
        put_elem(w, sink, *elem);
        return true;
    }
}

size_t ct_walk_run(struct ct_walk *w, const struct ct_elem *elems, size_t size, uint64_t end,
                   struct ct_flow *out, size_t cap, size_t *count)
{
    if (ct_no_array(w, count))
        return 0;
    struct ct_walk_sink sink = {.records = out, .cap = cap};
    const size_t ahead = w->ways && size > AHEAD ? size - AHEAD : 0;
    size_t taken = 0;
    while (taken < size) {
        const struct ct_elem *elem = &elems[taken];
        w->offset = ct_elem_offset(elem, end);
        if (taken < ahead)
            __builtin_prefetch(ct_walk_way_line(w, elem[AHEAD].v));
        if (!step(w, elem, &sink))
            break;
        taken++;
    }
    *count = sink.count;
    return taken;
}

static void put_stack(const struct ct_return_stack *s, struct ct_seam *seam)
{
    ct_seam_put(seam, (uint64_t)s->doubted << 16 | (uint64_t)s->count << 2 | (uint64_t)s->pop_pending << 1 |
                          s->wait_address);
    for (unsigned i = 0; i < s->count + s->doubted; i++) {
        const unsigned at = (s->top - i) % CT_RETURN_STACK_SIZE;
        ct_seam_put(seam, s->entries[at].addr);
        ct_seam_put(seam, s->entries[at].isa);
    }
}

void ct_walk_seam(const struct ct_walk *w, struct ct_seam *seam)
{
    put_stack(&w->stack, seam);
    ct_seam_put(seam, (uint64_t)w->paused << 10 | (uint64_t)w->jumped << 9 | (uint64_t)w->told << 8 |
                          (uint64_t)w->lost << 7 | (uint64_t)w->doubt << 6 | (uint64_t)w->need_address << 5 |
                          (uint64_t)w->need_context << 4 | (uint64_t)w->lost_told << 3 |
                          (uint64_t)w->stale << 2 | (uint64_t)w->sf << 1 | w->placed);
    for (unsigned i = 0; i < sizeof w->owners / sizeof *w->owners; i++) {
        ct_seam_put(seam, w->owners[i].known);
        ct_seam_put(seam, w->owners[i].addr);
    }
    ct_seam_put(seam, w->addr);
    ct_seam_put(seam, (uint64_t)w->isa << 16 | (uint64_t)w->it_left << 8 | w->el_sec);
    ct_seam_put(seam, (uint64_t)w->atoms_done << 32 | w->q_count);
}

void ct_walk_jump(struct ct_walk *w)
{
    ct_return_stack_flush(&w->stack);
    memset(w->owners, 0, sizeof w->owners);
    w->need_address = w->need_context = w->lost = true;
    w->lost_told = w->told = w->jumped = w->paused = w->stale = w->doubt = w->sf = w->placed = false;
    w->addr = 0;
    w->isa = w->it_left = w->el_sec = 0;
    w->q_count = w->atoms_done = 0;
}
