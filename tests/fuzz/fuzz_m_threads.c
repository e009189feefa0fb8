/* SPDX-License-Identifier: Apache-2.0 */
/* Threads of the M profile: a byte that says how to cut, then steps and marks, two bytes each. What must
 * hold: every step and mark is given once, in order; each return names a thread that there may be; no more is
 * held back than a reader waits for; and none of this depends on how the steps are cut. */
#include <stdbool.h>
#include <string.h>

#include "analysis/m_threads.h"
#include "fuzz.h"

#define MOST_BYTES 32768
#define PLACES     16
#define EXC_RETURN 0xfffffffdu

enum what {
    CALL,
    RETURN,
    JUMP,
    STRAIGHT,
    OPEN, /* a return to where the trace does not tell */
    ENTER,
    CHAIN,
    LEAVE,
    RESTART,
    GAP,
    LOSS, /* a mark that is no element */
    WHAT_COUNT
};

/* What the stream consists of, and what came out. */
struct stream {
    struct ct_graph *graph;
    uint32_t *edges;
    struct ct_step_mark *marks;
    size_t count, mark_count;
};

static uint64_t place(uint8_t byte)
{
    return 0x1000 + 4 * (uint64_t)(byte % PLACES);
}

static void add_step(struct stream *s, enum what what, uint8_t operands)
{
    const uint64_t from = place(operands), to = what == OPEN ? 0 : place((uint8_t)(operands >> 4));
    const bool returns = what == RETURN || what == OPEN;
    const struct ct_node node = {.start = from,
                                 .last = from,
                                 .end = from + 4,
                                 .n = 1,
                                 .type = what == CALL              ? CT_INSN_BR
                                         : returns || what == JUMP ? CT_INSN_IBR
                                                                   : CT_INSN_OTHER,
                                 .sub = what == CALL ? CT_INSN_SUB_LINK
                                        : returns    ? CT_INSN_SUB_RET
                                                     : CT_INSN_SUB_NONE,
                                 .last_size = 4};
    struct ct_edge edge = {.next = to, .exec = 1, .kind = what == OPEN ? CT_EDGE_OPEN : CT_EDGE_NEXT};
    require(ct_graph_node(s->graph, &node, &edge.from) == CT_OK);
    require(ct_graph_edge(s->graph, &edge, &s->edges[s->count++]) == CT_OK);
}

static void add_mark(struct stream *s, enum what what, uint8_t operands)
{
    struct ct_step_mark mark = {
        .at = (uint32_t)s->count, .kind = CT_MARK_ELEM, .offset = s->mark_count, .value = 7};
    switch (what) {
    case ENTER:
        mark.elem = (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = place(operands)};
        break;
    case CHAIN:
        mark.elem = (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .v = EXC_RETURN};
        break;
    case LEAVE:
        mark.elem.kind = CT_ELEM_RETURN;
        break;
    case RESTART:
        mark.elem.kind = CT_ELEM_TRACE_ON;
        break;
    case GAP:
        mark.elem.kind = CT_ELEM_GAP;
        break;
    default:
        mark.kind = CT_MARK_NO_ACCESS;
        break;
    }
    s->marks[s->mark_count++] = mark;
}

static void make_room(struct stream *s, size_t size)
{
    s->edges = calloc(size + 1, sizeof *s->edges);
    s->marks = calloc(size + 1, sizeof *s->marks);
    require(s->edges && s->marks);
}

/* Makes the stream of an input, with an END behind it. */
static void make_stream(struct stream *s, const uint8_t *data, size_t size)
{
    *s = (struct stream){0};
    require(ct_graph_new(NULL, &s->graph) == CT_OK);
    make_room(s, size);
    for (size_t i = 0; i + 1 < size; i += 2) {
        const enum what what = data[i] % WHAT_COUNT;
        if (what < ENTER)
            add_step(s, what, data[i + 1]);
        else
            add_mark(s, what, data[i + 1]);
    }
    s->marks[s->mark_count++] =
        (struct ct_step_mark){.at = (uint32_t)s->count, .kind = CT_MARK_ELEM, .elem.kind = CT_ELEM_END};
}

/* Puts what was given behind what was given before. */
static void take(struct stream *out, const struct ct_step_batch *batch)
{
    if (batch->count)
        memcpy(out->edges + out->count, batch->edge, batch->count * sizeof *out->edges);
    for (size_t i = 0; i < batch->mark_count; i++) {
        require(batch->marks[i].at <= batch->count);
        out->marks[out->mark_count] = batch->marks[i];
        out->marks[out->mark_count++].at += (uint32_t)out->count;
    }
    out->count += batch->count;
}

/* Finds the threads, from batches of `each` steps. */
static void run(const struct stream *in, size_t each, struct stream *out)
{
    struct ct_m_threads *threads;
    struct ct_step_batch batch = {.graph = in->graph}, given;
    require(ct_m_threads_new(NULL, &threads) == CT_OK);
    make_room(out, in->count + in->mark_count);
    for (size_t step = 0, mark = 0; step < in->count || mark < in->mark_count; step += batch.count) {
        struct ct_step_mark marks[64];
        batch.edge = in->edges + step;
        batch.count = in->count - step < each ? in->count - step : each;
        batch.marks = marks;
        batch.mark_count = 0;
        while (mark < in->mark_count && in->marks[mark].at <= step + batch.count && batch.mark_count < 64) {
            marks[batch.mark_count] = in->marks[mark++];
            marks[batch.mark_count++].at -= (uint32_t)step;
        }
        if (batch.mark_count == 64) /* steps go with all marks that stand before them */
            batch.count = marks[63].at;
        require(ct_m_threads_run(threads, &batch, &given) == CT_OK);
        take(out, &given);
        require(step + batch.count - out->count <= CT_STEP_WAIT + each);
    }
    ct_m_threads_free(threads);
}

/* Requires that nothing but what is said of returns is new. */
static void check(const struct stream *in, const struct stream *out)
{
    require(out->count == in->count && out->mark_count == in->mark_count);
    require(!memcmp(out->edges, in->edges, in->count * sizeof *in->edges));
    for (size_t i = 0; i < in->mark_count; i++) {
        const struct ct_step_mark *mark = &out->marks[i];
        require(mark->at == in->marks[i].at && mark->offset == in->marks[i].offset);
        if (mark->n)
            require(mark->kind == CT_MARK_ELEM && mark->elem.kind == CT_ELEM_RETURN &&
                    mark->value < CT_M_THREADS);
        else
            require(!memcmp(mark, &in->marks[i], sizeof *mark));
        if (mark->n && mark->elem.v)
            require(mark->elem.v >> mark->value & 1);
    }
}

static void free_stream(struct stream *s)
{
    free(s->edges);
    free(s->marks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct stream in, whole = {0}, pieces = {0};
    if (!size || size > MOST_BYTES)
        return 0;
    make_stream(&in, data + 1, size - 1);
    run(&in, in.count + 1, &whole);
    run(&in, data[0] % 61 + 1u, &pieces);
    check(&in, &whole);
    require(!memcmp(whole.marks, pieces.marks, in.mark_count * sizeof *in.marks));
    check(&in, &pieces);
    free_stream(&whole);
    free_stream(&pieces);
    free_stream(&in);
    ct_graph_free(in.graph);
    return 0;
}
