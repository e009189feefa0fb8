/* SPDX-License-Identifier: Apache-2.0 */
#include "elem/sw.h"

void ct_sw_init(struct ct_sw_stream *s, enum ct_gap gap)
{
    *s = (struct ct_sw_stream){.gap = (uint8_t)gap};
}

void ct_sw_output(struct ct_sw_stream *s, struct ct_elem *elems, size_t cap)
{
    s->elems = elems;
    s->cap = cap;
    s->count = 0;
}

void ct_sw_put(struct ct_sw_stream *s, enum ct_elem_kind kind, uint8_t n, unsigned aux, uint64_t v)
{
    s->elems[s->count++] = (struct ct_elem){
        .kind = (uint8_t)kind, .n = n, .aux = (uint16_t)aux, .pos = (uint32_t)s->pos, .v = v};
}

void ct_sw_put_source(struct ct_sw_stream *s, bool known, uint16_t master, uint16_t channel)
{
    const struct ct_elem *last = &s->source;
    if (!known)
        master = channel = 0;
    if (s->source_put && last->n == known && last->v == master && last->aux == channel)
        return;
    ct_sw_put(s, CT_ELEM_SW_SOURCE, known, channel, master);
    s->source = s->elems[s->count - 1];
    s->source_put = true;
}

bool ct_sw_begin(struct ct_sw_stream *s, uint64_t pos, uint64_t bytes, bool synchronises)
{
    s->pos = pos;
    if (s->synced) {
        if (synchronises)
            ct_sw_put(s, CT_ELEM_SYNC, 0, 0, 0);
        return true;
    }
    if (!s->told)
        ct_sw_put(s, CT_ELEM_GAP, s->gap, 0, 0);
    s->told = true;
    if (!synchronises) {
        s->lost += bytes;
        return false;
    }
    ct_sw_put(s, CT_ELEM_SYNC, 1, 0, s->lost);
    s->synced = true;
    s->lost = 0;
    return true;
}

void ct_sw_lose_sync(struct ct_sw_stream *s)
{
    s->synced = s->told = s->source_put = false;
    s->gap = CT_GAP_BAD_PACKET;
}

void ct_sw_end(struct ct_sw_stream *s)
{
    /* no packet followed an invalid last one, so no GAP reports it: END does */
    unsigned untold = s->synced || s->told ? 0 : s->gap + 1u;
    ct_sw_put(s, CT_ELEM_END, CT_GAP_END, untold, s->lost);
    s->ended = true;
}
