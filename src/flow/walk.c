/* SPDX-License-Identifier: Apache-2.0 */
/* The plain walk: makes ranges of instructions from elements and memory, one instruction at a time
 * (docs/listing.md). Other files take atoms (walk_atoms.c), the elements of an ETMv3 (walk_etm3.c), and what
 * says how far execution came (walk_reached.c, walk_source.c). The rest is here. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "flow/walk.h"
#include "flow/walk_atoms.h"
#include "flow/walk_etm3.h"
#include "flow/walk_reached.h"
#include "flow/walk_source.h"
#include "flow/walk_ways.h"

/* Number of elements by which the way from an address is prefetched ahead. Elements other than addresses
 * prefetch a useless line, which does no harm. */
#define AHEAD 6u

int ct_walk_new(struct ct_ctx *ctx, const struct ct_source *source, const struct ct_memory *memory,
                const struct ct_walk_options *options, struct ct_walk **out)
{
    CT_REQUIRE_OUT(ctx, out, source);
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

void ct_walk_on_address(struct ct_walk *w, const struct ct_elem *elem)
{
    ct_walk_come_to(w, elem->v, ct_walk_isa(w, elem->n));
    w->stack.pop_pending = false;
    w->stack.wait_address = w->paused = false;
    ct_walk_end_doubt(w);
}

static void on_context(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    w->sf = elem->aux & CT_CONTEXT_SF;
    w->el_sec = elem->n;
    w->isa = ct_walk_isa(w, (elem->aux & CT_CONTEXT_IS) >> CT_CONTEXT_IS_SHIFT);
    w->need_context = false;
    w->told = w->told && w->need_address;
    ct_walk_put_elem(w, sink, *elem);
}

/* Takes a cycle count. Cycles of atoms that made no range are kept, but belong to no range. */
static void on_cycles(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    struct ct_elem out = *elem;
    if (out.n == CT_CYCLES_ATTACHED && !w->placed)
        out.n = CT_CYCLES_UNPLACED;
    ct_walk_put_elem(w, sink, out);
}

static void on_sync(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    ct_return_stack_flush(&w->stack);
    w->stack.wait_address = true;
    if (elem->n) {
        w->need_address = w->need_context = w->lost = w->told = true;
        w->doubt = false;
        ct_walk_put_elem(w, sink, *elem);
    }
}

/* The elements at which an address that came unexpectedly becomes a contradiction: a bit for each kind. */
#define JUDGES                                                                                               \
    (UINT64_C(1) << CT_ELEM_ATOMS | UINT64_C(1) << CT_ELEM_WAYPOINT | UINT64_C(1) << CT_ELEM_SOURCE |        \
     UINT64_C(1) << CT_ELEM_EXCEPTION | UINT64_C(1) << CT_ELEM_Q | UINT64_C(1) << CT_ELEM_GAP |              \
     UINT64_C(1) << CT_ELEM_TRACE_ON | UINT64_C(1) << CT_ELEM_END)

/* Takes one element. Returns false when the sink is full; call it again with the same element. */
static bool step(struct ct_walk *w, const struct ct_elem *elem, struct ct_walk_sink *sink)
{
    if (sink->cap - sink->count < CT_WALK_STEP_RECORDS)
        return false;
    if (w->jumped && JUDGES >> elem->kind & 1 && (elem->n || elem->kind != CT_ELEM_ATOMS)) {
        ct_walk_contradict(w, sink);
        w->jumped = false;
    }
    switch (elem->kind) {
    case CT_ELEM_ATOMS:
        return elem->aux & CT_ATOMS_INSN ? ct_walk_on_insn_atoms(w, elem, sink)
                                         : ct_walk_on_atoms(w, elem, sink);
    case CT_ELEM_CYCLES:
        on_cycles(w, elem, sink);
        return true;
    case CT_ELEM_DATA:
        ct_walk_on_data(w, elem, sink);
        return true;
    case CT_ELEM_WAYPOINT:
        w->placed = false;
        ct_walk_on_waypoint(w, elem, sink);
        return true;
    case CT_ELEM_ADDRESS:
        ct_walk_on_address(w, elem);
        return true;
    case CT_ELEM_SOURCE:
        return ct_walk_on_source(w, elem, sink);
    case CT_ELEM_CONTEXT:
        on_context(w, elem, sink);
        return true;
    case CT_ELEM_EXCEPTION:
        if (elem->n & CT_EXCEPTION_HERE)
            ct_walk_on_pft_exception(w, elem, sink);
        else
            ct_walk_on_exception(w, elem, sink);
        return true;
    case CT_ELEM_Q_COUNT:
        w->q_count = elem->aux ? 0 : (uint32_t)elem->v;
        return true;
    case CT_ELEM_Q:
        ct_walk_on_q(w, elem, sink);
        return true;
    case CT_ELEM_SYNC:
        on_sync(w, elem, sink);
        return true;
    case CT_ELEM_RETURN:
        w->stack.pop_pending = false; /* the branch before was the exception return */
        ct_walk_put_elem(w, sink, *elem);
        return true;
    case CT_ELEM_TRACE_ON:
        w->paused = true;
        ct_return_stack_flush(&w->stack);
        ct_walk_put_last_place(w, sink, *elem);
        return true;
    case CT_ELEM_GAP:
        ct_walk_put_last_place(w, sink, *elem);
        w->need_address = w->need_context = w->lost = w->told = true;
        w->doubt = false;
        memset(w->owners, 0, sizeof w->owners);
        ct_return_stack_doubt(&w->stack);
        w->stack.pop_pending = false;
        return true;
    case CT_ELEM_END:
        ct_walk_put_last_place(w, sink, *elem);
        return true;
    default:
        ct_walk_put_elem(w, sink, *elem);
        return true;
    }
}

size_t ct_walk_run(struct ct_walk *w, const struct ct_elem *elems, size_t size, uint64_t end,
                   struct ct_flow *out, size_t cap, size_t *count)
{
    if (ct_no_batch(w, elems, size, out, cap, count))
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
