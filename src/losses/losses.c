/* SPDX-License-Identifier: Apache-2.0 */
#include "losses/losses.h"

/* Kinds of elements that may report a loss. */
#define TROUBLE                                                                                              \
    (UINT64_C(1) << CT_ELEM_GAP | UINT64_C(1) << CT_ELEM_SYNC | UINT64_C(1) << CT_ELEM_TRACE_ON |            \
     UINT64_C(1) << CT_ELEM_END | UINT64_C(1) << CT_ELEM_SW | UINT64_C(1) << CT_ELEM_DWT |                   \
     UINT64_C(1) << CT_ELEM_LOCAL_TIME | UINT64_C(1) << CT_ELEM_TIMESTAMP | UINT64_C(1) << CT_ELEM_DATA)

/* Marks the GAP or END between two recordings as one with nothing missing. */
static void mark_whole(struct ct_elem *elem)
{
    if (elem->kind == CT_ELEM_GAP && elem->n == CT_GAP_RESET)
        elem->aux = CT_GAP_WHOLE;
    else if (elem->kind == CT_ELEM_END && elem->aux == CT_GAP_RESET + 1)
        elem->aux = 0;
}

static void count_trouble(struct ct_losses *losses, const struct ct_elem *elem)
{
    const int why = ct_elem_loss(elem);
    losses->gaps += why >= 0;
    losses->overflows += why == CT_GAP_OVERFLOW;
    if ((elem->kind == CT_ELEM_SYNC && elem->n) || elem->kind == CT_ELEM_END)
        losses->lost_bytes += elem->v;
}

void ct_losses_count_elems(struct ct_stream_stats *stats, bool whole, struct ct_elem *elems, size_t count)
{
    uint64_t atoms = 0;
    stats->elements += count;
    for (size_t i = 0; i < count; i++) {
        atoms += elems[i].n & -(unsigned)(elems[i].kind == CT_ELEM_ATOMS); /* without a branch, because kinds
                                                                              are unpredictable */
        if (!(TROUBLE >> elems[i].kind & 1))
            continue;
        if (whole)
            mark_whole(&elems[i]);
        count_trouble(&stats->losses, &elems[i]);
    }
    stats->atoms += atoms;
}

void ct_losses_take_flow(struct ct_stream_stats *stats, const struct ct_flow_sums *sums)
{
    stats->losses.no_access = sums->no_access;
    stats->losses.contradictions = sums->bad_images;
    stats->holes = sums->holes;
}

struct ct_losses ct_losses_of(const struct ct_stream_stats *stats, enum ct_protocol protocol)
{
    struct ct_losses losses = stats->losses;
    losses.gaps += losses.contradictions;
    losses.bad_packets = 0;
    for (unsigned type = 0; type < CT_PACKET_TYPES; type++)
        if (ct_packet_type_is_bad(protocol, type))
            losses.bad_packets += stats->packet_types[type];
    return losses;
}
