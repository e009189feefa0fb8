/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/narrow.h"

#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "chain/chain.h"

/* The elements that describe the path of execution. Others are marks, such as timestamps, and are kept. */
#define PATH                                                                                                 \
    (UINT64_C(1) << CT_ELEM_ATOMS | UINT64_C(1) << CT_ELEM_ADDRESS | UINT64_C(1) << CT_ELEM_SOURCE |         \
     UINT64_C(1) << CT_ELEM_EXCEPTION | UINT64_C(1) << CT_ELEM_RETURN | UINT64_C(1) << CT_ELEM_FUNC_RET |    \
     UINT64_C(1) << CT_ELEM_Q_COUNT | UINT64_C(1) << CT_ELEM_Q | UINT64_C(1) << CT_ELEM_TRANS)

/* ---- elements ---- */

/* Returns whether code in a context is wanted. A context that the trace does not contain is not. */
static bool wants(const struct ct_want *w, const struct ct_elem *context)
{
    if (w->levels && !(context->aux & CT_CONTEXT_EL && w->levels >> (context->n & 3) & 1))
        return false;
    bool found = w->context_count == 0;
    for (size_t i = 0; !found && i < w->context_count; i++)
        found = context->aux & CT_CONTEXT_CTXT && ct_elem_ctxt(context) == w->contexts[i];
    return found;
}

/* Keeps the clocks of excluded elements. Returns true when the element is a clock. */
static bool keep_clock(struct ct_narrow *n, const struct ct_elem *e)
{
    const bool counts_time = n->counts_time && e->n == CT_CYCLES_ATTACHED;
    n->counts_time = e->kind == CT_ELEM_TIMESTAMP;
    if (e->kind == CT_ELEM_TIMESTAMP) {
        n->time = *e;
        n->has_time = true;
    } else if (e->kind == CT_ELEM_CYCLES && !counts_time && !e->aux) {
        n->cycles += e->v;
    }
    return e->kind == CT_ELEM_TIMESTAMP || e->kind == CT_ELEM_CYCLES;
}

/* Handles an element. Returns true when it is excluded. */
static bool leaves_out(struct ct_narrow *n, const struct ct_elem *e)
{
    if (e->kind == CT_ELEM_CONTEXT) {
        n->context = *e;
        n->has_context = true;
        if (n->by_context)
            n->unwanted = !wants(&n->want, e);
        return n->out;
    }
    if (!(PATH >> e->kind & 1))
        return n->out && keep_clock(n, e);
    if (!n->unwanted && (!n->out || e->kind == CT_ELEM_ADDRESS)) {
        n->out = false;
        return false;
    }
    n->counts_time = false;
    n->out = true;
    return true;
}

struct ct_narrow_span ct_narrow_next(struct ct_narrow *n, const struct ct_elem *elems, size_t at, size_t size)
{
    struct ct_narrow_span s = {0};
    const bool was_out = n->out;
    const size_t begin = at;
    while (at < size && leaves_out(n, &elems[at]))
        at++;
    s.goes_on = at < size && !n->out && (was_out || at > begin);
    s.from = s.to = at;
    if (at < size)
        s.to++;
    while (s.to < size && !n->out) {
        if (leaves_out(n, &elems[s.to])) {
            s.next = s.to + 1;
            return s;
        }
        s.to++;
    }
    s.next = s.to;
    return s;
}

size_t ct_narrow_before(struct ct_narrow *n, uint32_t pos, bool goes_on, struct ct_elem out[CT_NARROW_BEFORE])
{
    size_t count = 0;
    if (n->cycles)
        out[count++] =
            (struct ct_elem){.kind = CT_ELEM_CYCLES, .n = CT_CYCLES_LEFT_OUT, .v = n->cycles, .pos = pos};
    if (n->has_time)
        out[count++] = n->time;
    if (goes_on)
        out[count++] = (struct ct_elem){.kind = CT_ELEM_TRACE_ON, .n = CT_TRACE_ON_FILTER, .pos = pos};
    if (goes_on && n->has_context)
        out[count++] = n->context;
    n->cycles = 0;
    n->has_time = false;
    return count;
}

void ct_narrow_note(struct ct_narrow *n, uint64_t offset)
{
    if (!n->waits)
        return;
    n->waits = false;
    n->resumed = true;
    n->resumed_at = offset;
}

/* ---- changing what is wanted ---- */

/* Returns whether elements of a stream can be excluded by context: contexts come before their addresses, and
 * cycle counts are separate elements. */
static bool can_sift(const struct ct_stream_chain *s)
{
    return s->follow &&
           (s->stream.source->protocol == CT_PROTOCOL_ETM4 || s->stream.source->protocol == CT_PROTOCOL_ETE);
}

/* Restarts the decoder of a stream at the next synchronisation point. */
static void begin_again(struct ct_stream_chain *s)
{
    s->left = false;
    s->inside = s->ops && s->ops->find_sync;
    s->narrow.waits = true;
    ct_stream_chain_reset(s, true);
}

/* Narrows or widens one stream. */
static void narrow_stream(struct ct_stream_chain *s, const struct ct_want *want, bool wanted)
{
    struct ct_narrow *n = &s->narrow;
    const bool sifts = can_sift(s), leaves = !wanted && !want->keep_clocks, was_left = s->left;
    n->want = *want;
    n->by_context = sifts && wanted && (want->context_count || want->levels);
    /* the current context is unknown; it is followed until the trace has a context */
    n->unwanted = sifts && !wanted;
    n->waits = n->waits || n->out;
    if (leaves)
        s->left = true;
    else if (was_left && !s->not_followed)
        begin_again(s);
}

void ct_narrow_streams(struct ct_stream_chain *streams, size_t count, const struct ct_want *want)
{
    const bool all = !(want->ids[0] | want->ids[1]);
    for (size_t i = 0; i < count; i++) {
        const uint8_t id = streams[i].stream.id;
        narrow_stream(&streams[i], want, all || want->ids[id / 64] >> id % 64 & 1);
    }
}

int ct_chain_narrow(struct ct_chain *c, const struct ct_chain_want *want)
{
    struct ct_chain_want w;
    CT_REQUIRE(NULL, c);
    const int rc = ct_options_read(c->ctx, __func__, want, &w, sizeof w);
    if (rc)
        return rc;
    if (c->options.level < CT_LEVEL_STEPS || c->options.threads > 1 || (!w.contexts && w.context_count))
        return ct_fail(c->ctx, CT_ERR_ARG,
                       "%s: the chain makes no steps or has threads, or contexts is "
                       "NULL; nothing is changed",
                       __func__);
    if (w.context_count > CT_WANT_CONTEXTS)
        return ct_fail(c->ctx, CT_ERR_LIMIT,
                       "%s: there are %zu contexts, but at most %d are possible; "
                       "nothing is changed",
                       __func__, w.context_count, CT_WANT_CONTEXTS);
    c->want = (struct ct_want){.ids = {w.ids[0], w.ids[1]},
                               .context_count = w.context_count,
                               .levels = w.levels,
                               .keep_clocks = w.keep_clocks};
    if (w.context_count)
        memcpy(c->want.contexts, w.contexts, w.context_count * sizeof *w.contexts);
    ct_narrow_streams(c->streams, c->count, &c->want);
    return CT_OK;
}

int ct_chain_resumed(struct ct_chain *c, uint8_t *id, uint64_t *offset)
{
    for (size_t i = 0; c && id && offset && i < c->count; i++) {
        struct ct_narrow *n = &c->streams[i].narrow;
        if (!n->resumed)
            continue;
        n->resumed = false;
        *id = c->streams[i].stream.id;
        *offset = n->resumed_at;
        return 1;
    }
    return 0;
}
