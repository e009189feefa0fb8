#include "decode/count.h"

/* Kinds that say of something missing. */
#define TROUBLE                                                                                              \
    (UINT64_C(1) << CT_ELEM_GAP | UINT64_C(1) << CT_ELEM_SYNC | UINT64_C(1) << CT_ELEM_END |                 \
     UINT64_C(1) << CT_ELEM_SW | UINT64_C(1) << CT_ELEM_DWT | UINT64_C(1) << CT_ELEM_LOCAL_TIME |            \
     UINT64_C(1) << CT_ELEM_TIMESTAMP)

static void count_trouble(struct ct_stream_stats *stats, bool whole, const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_GAP:
        stats->gaps += elem->n != CT_GAP_INIT && !(elem->n == CT_GAP_RESET && whole);
        break;
    case CT_ELEM_SYNC:
        stats->lost_bytes += elem->n ? elem->v : 0;
        break;
    case CT_ELEM_END:
        stats->lost_bytes += elem->v;
        stats->gaps += elem->aux != 0;
        break;
    default: /* software trace and its times */
        stats->gaps += elem->aux & CT_SW_OVERFLOW ? 1 : 0;
        break;
    }
}

void ct_count_elems(struct ct_stream_stats *stats, bool whole, const struct ct_elem *elems, size_t count)
{
    uint64_t atoms = 0;
    stats->elements += count;
    for (size_t i = 0; i < count; i++) {
        atoms +=
            elems[i].n & -(unsigned)(elems[i].kind == CT_ELEM_ATOMS); /* no branch: they come at random */
        if (TROUBLE >> elems[i].kind & 1)
            count_trouble(stats, whole, &elems[i]);
    }
    stats->atoms += atoms;
}
