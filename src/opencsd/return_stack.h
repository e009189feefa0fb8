/* SPDX-License-Identifier: Apache-2.0 */
/* The return stack of a trace unit, as a decoder has to mirror it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    CT_OCSD_RETURNS = 16, /* entries; when full, the oldest is lost */
};

struct ct_ocsd_return_stack {
    bool enabled;
    bool pending; /* the target of the last branch is to be popped, unless an address follows */
    uint8_t count, top;
    struct {
        uint64_t addr;
        uint8_t isa; /* enum ct_isa */
    } entries[CT_OCSD_RETURNS];
};

static inline void ct_ocsd_return_push(struct ct_ocsd_return_stack *s, uint64_t addr, uint8_t isa)
{
    if (!s->enabled)
        return;
    s->top = (uint8_t)((s->top + 1) % CT_OCSD_RETURNS);
    s->count = (uint8_t)(s->count < CT_OCSD_RETURNS ? s->count + 1 : s->count);
    s->entries[s->top].addr = addr;
    s->entries[s->top].isa = isa;
}

/* Pops the newest entry. Returns false when the stack is empty. */
static inline bool ct_ocsd_return_pop(struct ct_ocsd_return_stack *s, uint64_t *addr, uint8_t *isa)
{
    s->pending = false;
    if (!s->count)
        return false;
    *addr = s->entries[s->top].addr;
    *isa = s->entries[s->top].isa;
    s->top = (uint8_t)((s->top + CT_OCSD_RETURNS - 1) % CT_OCSD_RETURNS);
    s->count--;
    return true;
}

static inline void ct_ocsd_return_flush(struct ct_ocsd_return_stack *s)
{
    s->count = 0;
    s->pending = false;
}
