/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the state of a processor of the M profile, which the plugin interface does not provide. Finds it by
 * the names that QEMU gives to its parts (vmstate.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where QEMU keeps the state of one processor. It is valid at the begin of a block. */
struct guest_m {
    void *cpu;
    const uint32_t *regs;      /* R0 to R15 */
    const uint32_t *exception; /* number of the exception that is handled; 0: Thread mode */
    const uint32_t *other_sp;  /* MSP or PSP, whichever is not R13 */
    /* With the Security Extension, else NULL: whether the state is Secure, and the MSP and PSP of the other
     * state. */
    uint32_t *secure;
    const uint32_t *other_state_msp, *other_state_psp;
    const uint32_t *control[2]; /* of Non-secure and Secure state; without the extension only the first */
};

/* Finds the state of a processor, from guest_current or guest_cpu. Returns false when it is none of the M
 * profile, or QEMU does not describe its state. */
bool guest_m_find(void *cpu, struct guest_m *m);

/* Reads memory as Secure or Non-secure state sees it, whichever the processor is in. Returns false when that
 * cannot be read. */
bool guest_m_memory(const struct guest_m *m, bool secure, uint32_t addr, void *out, size_t size);

/* Returns how many instructions of an IT block are left at the begin of the block being translated. */
unsigned guest_m_it_left(const struct guest_m *m);

/* Writes the name of the processor, such as "Cortex-M3". */
void guest_m_model(const struct guest_m *m, char *name, unsigned size);
