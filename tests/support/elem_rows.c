/* SPDX-License-Identifier: Apache-2.0 */
#include "support/elem_rows.h"

#include "base/bytes.h"

static int extends(const struct ct_elem *row, const struct ct_elem *e)
{
    return row->kind == CT_ELEM_ATOMS && e->kind == CT_ELEM_ATOMS && !row->aux && !e->aux && row->n < 32;
}

size_t elem_rows(struct ct_elem *elems, size_t count, enum elem_rows which)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        struct ct_elem e = elems[i];
        e.pos = 0;
        if (e.kind == CT_ELEM_SYNC) {
            if (!e.n && which == ELEM_ROWS_NO_SYNCS)
                continue;
            e.v = 0;
        }
        if (e.kind == CT_ELEM_END)
            e.v = e.aux = 0;
        if (n && extends(&elems[n - 1], &e)) {
            struct ct_elem *last = &elems[n - 1];
            uint8_t room = (uint8_t)(32 - last->n), take = e.n < room ? e.n : room;
            last->v |= (e.v & ct_mask64(take)) << last->n;
            last->n = (uint8_t)(last->n + take);
            e.n = (uint8_t)(e.n - take);
            e.v >>= take;
            if (!e.n)
                continue;
        }
        elems[n++] = e;
    }
    return n;
}
