/* SPDX-License-Identifier: Apache-2.0 */
#include "elem/v7.h"

void ct_v7_output(struct ct_v7_stream *s, struct ct_elem *elems, size_t cap)
{
    s->elems = elems;
    s->cap = cap;
    s->count = 0;
}

struct ct_elem ct_v7_elem(const struct ct_v7_stream *s, enum ct_elem_kind kind, unsigned n, unsigned aux,
                          uint64_t v)
{
    return (struct ct_elem){
        .kind = (uint8_t)kind, .n = (uint8_t)n, .aux = (uint16_t)aux, .pos = (uint32_t)s->pos, .v = v};
}

void ct_v7_put(struct ct_v7_stream *s, enum ct_elem_kind kind, unsigned n, unsigned aux, uint64_t v)
{
    s->elems[s->count++] = ct_v7_elem(s, kind, n, aux, v);
}

void ct_v7_put_context(struct ct_v7_stream *s, unsigned select, unsigned flags)
{
    unsigned el_sec = (s->ns ? (unsigned)CT_SEC_NS : CT_SEC_S) << 4 | (s->hyp ? 2u : 0u);
    ct_v7_put(s, CT_ELEM_CONTEXT, el_sec, flags | s->known | select << CT_CONTEXT_IS_SHIFT,
              (uint64_t)s->vmid << 32 | s->ctxt);
}

bool ct_v7_take_security(struct ct_v7_stream *s, bool ns, bool hyp)
{
    bool changed = ns != s->ns || hyp != s->hyp;
    s->ns = ns;
    s->hyp = hyp;
    return changed;
}

bool ct_v7_take_id(struct ct_v7_stream *s, uint16_t which, uint32_t value)
{
    uint32_t *id = which == CT_CONTEXT_CTXT ? &s->ctxt : &s->vmid;
    bool news = !(s->known & which) || *id != value;
    *id = value;
    s->known |= which;
    return news;
}

void ct_v7_put_lost_cycles(struct ct_v7_stream *s)
{
    if (s->lost_cycles)
        ct_v7_put(s, CT_ELEM_CYCLES, CT_CYCLES_UNPLACED, 0, s->lost_cycles);
    s->lost_cycles = 0;
}

void ct_v7_put_trace_on(struct ct_v7_stream *s, unsigned reason, bool first)
{
    static const uint8_t reasons[] = {
        [CT_SYNC_PERIODIC] = CT_TRACE_ON_FILTER,
        [CT_SYNC_TRACE_ENABLE] = CT_TRACE_ON_FILTER,
        [CT_SYNC_OVERFLOW] = CT_TRACE_ON_OVERFLOW,
        [CT_SYNC_DEBUG_EXIT] = CT_TRACE_ON_DEBUG,
    };
    const unsigned why = reasons[reason & 3];
    ct_v7_put(s, CT_ELEM_TRACE_ON, why, why == CT_TRACE_ON_OVERFLOW && !first, 0);
}

void ct_v7_lose(struct ct_v7_stream *s, uint64_t bytes, uint64_t cycles)
{
    s->lost += bytes;
    s->lost_cycles += cycles;
}

void ct_v7_end(struct ct_v7_stream *s)
{
    unsigned untold = s->state == CT_V7_NO_SYNC ? s->gap + 1u : 0;
    ct_v7_put_lost_cycles(s);
    ct_v7_put(s, CT_ELEM_END, CT_GAP_END, untold, s->state == CT_V7_DECODE ? 0 : s->lost);
    s->ended = true;
}

void ct_v7_stream_seam(const struct ct_v7_stream *s, struct ct_seam *seam)
{
    ct_seam_put(seam, (uint64_t)s->state << 3 | (uint64_t)s->ended << 2 | (uint64_t)s->ns << 1 | s->hyp);
    ct_seam_put(seam, (uint64_t)s->ctxt << 32 | s->vmid);
    ct_seam_put(seam, s->known);
    if (s->state != CT_V7_DECODE) {
        ct_seam_put(seam, s->gap);
        ct_seam_put(seam, s->lost);
        ct_seam_put(seam, s->lost_cycles);
    }
}
