/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal/helper.h"

#include <stdlib.h>
#include <string.h>

int ct_helper_init(struct ct_helper *h, uint32_t capacity)
{
    memset(h, 0, sizeof *h);
    h->queue = calloc(capacity, sizeof *h->queue);
    h->capacity = capacity;
    return h->queue ? CT_OK : CT_ERR_NOMEM;
}

void ct_helper_free(struct ct_helper *h)
{
    free(h->queue);
}

void ct_helper_reset(struct ct_helper *h)
{
    h->head = h->count = h->done = 0;
}

static void push(struct ct_helper *h, const struct ct_request *r)
{
    if (h->count == h->capacity) {
        h->overflow = 1;
        return;
    }
    uint32_t at = h->head + h->count;
    h->queue[at >= h->capacity ? at - h->capacity : at] = *r;
    h->count++;
}

void ct_helper_read(struct ct_helper *h, uint64_t pa, int peek)
{
    push(h, &(struct ct_request){
                .kind = peek ? CT_FRACTAL_CMD_PEEK : CT_FRACTAL_CMD_READ, .pa = pa, .count = 1});
}

void ct_helper_clean(struct ct_helper *h, uint64_t pa, uint32_t lines)
{
    push(h, &(struct ct_request){.kind = CT_FRACTAL_CMD_CLEAN, .pa = pa, .count = lines});
}

void ct_helper_ici(struct ct_helper *h, uint64_t va, uint64_t pa)
{
    push(h, &(struct ct_request){.kind = CT_FRACTAL_CMD_ICI, .va = va, .pa = pa, .count = 1});
}

void ct_helper_tlbi(struct ct_helper *h, uint64_t va, uint32_t count, uint64_t stride)
{
    push(h, &(struct ct_request){.kind = CT_FRACTAL_CMD_TLBI_VA, .va = va, .count = count, .stride = stride});
}

void ct_helper_tlbi_asid(struct ct_helper *h)
{
    push(h, &(struct ct_request){.kind = CT_FRACTAL_CMD_TLBI_ASID, .count = 1});
}

int ct_helper_next(struct ct_helper *h, struct ct_fractal_command *out)
{
    if (!h->count)
        return 0;
    const struct ct_request *r = &h->queue[h->head];
    *out = (struct ct_fractal_command){.kind = r->kind,
                                       .pa = r->pa + (uint64_t)h->done * CT_FRACTAL_LINE,
                                       .va = r->va + h->done * r->stride,
                                       .asid = h->asid};
    h->issued++;
    if (++h->done >= r->count) {
        h->done = 0;
        h->count--;
        h->head = h->head + 1 == h->capacity ? 0 : h->head + 1;
    }
    return 1;
}
