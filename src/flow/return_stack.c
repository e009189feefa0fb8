/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/return_stack.h"

void ct_return_stack_push(struct ct_return_stack *s, uint64_t addr, uint8_t isa)
{
    if (!s->enabled || s->wait_address)
        return;
    s->top = (s->top + 1) % CT_RETURN_STACK_SIZE;
    s->entries[s->top].addr = addr;
    s->entries[s->top].isa = isa;
    if (s->count < CT_RETURN_STACK_SIZE)
        s->count++;
    if (s->count + s->doubted > CT_RETURN_STACK_SIZE)
        s->doubted--;
}

static void take(struct ct_return_stack *s, uint64_t *addr, uint8_t *isa)
{
    *addr = s->entries[s->top].addr;
    *isa = s->entries[s->top].isa;
    s->top = (s->top - 1) % CT_RETURN_STACK_SIZE;
}

bool ct_return_stack_pop(struct ct_return_stack *s, uint64_t *addr, uint8_t *isa)
{
    s->pop_pending = false;
    if (s->count == 0)
        return false;
    take(s, addr, isa);
    s->count--;
    return true;
}

void ct_return_stack_doubt(struct ct_return_stack *s)
{
    s->doubted += s->count;
    s->count = 0;
}

bool ct_return_stack_pop_doubted(struct ct_return_stack *s, uint64_t *addr, uint8_t *isa)
{
    s->pop_pending = false;
    if (s->count || s->doubted == 0)
        return false;
    take(s, addr, isa);
    s->doubted--;
    return true;
}

void ct_return_stack_flush(struct ct_return_stack *s)
{
    s->count = s->doubted = 0;
    s->pop_pending = false;
}
