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
}

bool ct_return_stack_pop(struct ct_return_stack *s, uint64_t *addr, uint8_t *isa)
{
    s->pop_pending = false;
    if (s->count == 0)
        return false;
    *addr = s->entries[s->top].addr;
    *isa = s->entries[s->top].isa;
    s->top = (s->top - 1) % CT_RETURN_STACK_SIZE;
    s->count--;
    return true;
}

void ct_return_stack_flush(struct ct_return_stack *s)
{
    s->count = 0;
    s->pop_pending = false;
}
