/* SPDX-License-Identifier: Apache-2.0 */
/* The return stack of a trace unit: return addresses that it does not trace. IHI 0064H, "Return stack", and
 * TRCCONFIGR.RS. */
#ifndef CT_FLOW_RETURN_STACK_H
#define CT_FLOW_RETURN_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define CT_RETURN_STACK_SIZE 16u

struct ct_return_stack {
    struct {
        uint64_t addr;
        uint8_t isa; /* enum ct_isa */
    } entries[CT_RETURN_STACK_SIZE];
    unsigned top;
    unsigned count;   /* entries that are those of the trace unit … */
    unsigned doubted; /* … and, below them, those that it may have used up: see ct_return_stack_doubt */
    bool enabled;
    bool pop_pending;  /* an indirect branch was taken: unless an address follows, its target is on top */
    bool wait_address; /* since trace info: nothing is pushed until an address was traced */
};

/* A taken branch with link at whose end `addr` lies. A full stack forgets its oldest entry. */
void ct_return_stack_push(struct ct_return_stack *stack, uint64_t addr, uint8_t isa);

/* False when no entry is left that is the trace unit's. */
bool ct_return_stack_pop(struct ct_return_stack *stack, uint64_t *addr, uint8_t *isa);

/* Execution was lost sight of: calls and returns may have come that nobody saw. */
void ct_return_stack_doubt(struct ct_return_stack *stack);

/* Takes off the newest entry that is in doubt, when no other is left. False when it is empty. */
bool ct_return_stack_pop_doubted(struct ct_return_stack *stack, uint64_t *addr, uint8_t *isa);

void ct_return_stack_flush(struct ct_return_stack *stack);

#endif
