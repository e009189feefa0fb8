/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "format/slices.h"

#include <stdlib.h>

#include "base/room.h"
#include "coretap/base.h"

static uint64_t length(const struct ct_slice *slice)
{
    return slice->to - slice->from;
}

static int by_length(const void *a, const void *b)
{
    return ct_order(length(b), length(a));
}

static int by_place(const void *a, const void *b)
{
    const struct ct_slice *x = a, *y = b;
    return ct_order(x->lane, y->lane)
           ?: ct_order(x->ctxt, y->ctxt)
           ?: ct_order(x->from, y->from)
           ?: ct_order(x->depth, y->depth)
           ?: ct_order(y->to, x->to)
           ?: ct_order(x->function, y->function);
}

/* Drops all slices that are not longer than the first one beyond `most`, because a choice among equally long
 * ones would be arbitrary. */
static void make_room(struct ct_slices *s)
{
    qsort(s->slices, s->count, sizeof *s->slices, by_length);
    const uint64_t limit = length(&s->slices[s->most]);
    size_t kept = s->most;
    while (kept > 0 && length(&s->slices[kept - 1]) <= limit)
        kept--;
    s->left_out += s->count - kept;
    s->count = kept;
    s->shortest = limit + 1;
}

int ct_slices_add(struct ct_slices *s, const struct ct_slice *slice)
{
    struct ct_slice cut = *slice;
    if (cut.from < s->begin)
        cut.from = s->begin;
    if (cut.to > s->end)
        cut.to = s->end;
    if (cut.from >= cut.to)
        return CT_OK;
    if (length(&cut) < s->shortest) {
        s->left_out++;
        return CT_OK;
    }
    if (!CT_MAKE_ROOM(s->slices, s->room, s->count + 1))
        return CT_ERR_NOMEM;
    s->slices[s->count++] = cut;
    if (s->count == 2 * s->most)
        make_room(s);
    return CT_OK;
}

void ct_slices_end(struct ct_slices *s)
{
    if (s->count > s->most)
        make_room(s);
    if (s->count)
        qsort(s->slices, s->count, sizeof *s->slices, by_place);
}

void ct_slices_free(struct ct_slices *s)
{
    free(s->slices);
    s->slices = NULL;
    s->count = s->room = 0;
}
