/* SPDX-License-Identifier: Apache-2.0 */
/* The return stack of a trace unit: the return addresses that the unit does not trace. IHI 0064H, "Return
 * stack", and TRCCONFIGR.RS. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CT_RETURN_STACK_SIZE 16u

struct ct_return_stack {
    struct {
        uint64_t addr;
        uint8_t isa; /* enum ct_isa */
    } entries[CT_RETURN_STACK_SIZE];
    unsigned top;
    unsigned count;   /* number of entries that the trace unit has, too */
    unsigned doubted; /* number of older entries, which the trace unit may have used up: see
                         ct_return_stack_doubt */
    bool enabled;
    bool pop_pending;  /* an indirect branch was taken: its target is the newest entry, unless an address
                          follows */
    bool wait_address; /* set by trace info: nothing is pushed until an address was traced */
};

/* Pushes the return address of a taken branch with link. A full stack drops its oldest entry. */
void ct_return_stack_push(struct ct_return_stack *stack, uint64_t addr, uint8_t isa);

/* Pops the newest entry. Returns false when there is none that the trace unit has, too. */
bool ct_return_stack_pop(struct ct_return_stack *stack, uint64_t *addr, uint8_t *isa);

/* Marks all entries as doubtful, because execution was out of sight: calls and returns may be missing. */
void ct_return_stack_doubt(struct ct_return_stack *stack);

/* Pops the newest doubtful entry when all entries are doubtful. Returns false otherwise, and when there is
 * none. */
bool ct_return_stack_pop_doubted(struct ct_return_stack *stack, uint64_t *addr, uint8_t *isa);

void ct_return_stack_flush(struct ct_return_stack *stack);
