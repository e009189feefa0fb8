/* SPDX-License-Identifier: Apache-2.0 */
#include "exceptions_arm.h"

#include "guest.h"
#include "vmstate.h"

/* MCR p15, 0, Rt, … (DDI 0406C A8.8.98), in A32 without the condition, in T32 with the first halfword in
 * front. */
enum {
    MCR = 0x0fff0fff,
    SET_CONTROL = 0x0e010f10,
    SET_VECTORS = 0x0e0c0f10,
    SET_CONTEXT = 0x0e0d0f30,
    RT_SHIFT = 12,
    RT = 0xf << RT_SHIFT,
};

#define CONTROL_V  0x2000u /* in SCTLR: high vectors */
#define HIGH_TABLE 0xffff0000u
#define LINK       14

static uint32_t source_of(uint32_t op, uint32_t what)
{
    return (op & MCR & ~(uint32_t)RT) == what ? (op >> RT_SHIFT & 15) + 1 : 0;
}

uint32_t exceptions_arm_sets_table(uint32_t op)
{
    const uint32_t vectors = source_of(op, SET_VECTORS);
    return vectors ? vectors : source_of(op, SET_CONTROL);
}

uint32_t exceptions_arm_sets_context(uint32_t op)
{
    return source_of(op, SET_CONTEXT);
}

uint32_t exceptions_arm_table(uint32_t op, uint32_t value)
{
    if (source_of(op, SET_VECTORS))
        return value & ~(4 * EXCEPTIONS_ARM_ENTRIES - 1);
    return value & CONTROL_V ? HIGH_TABLE : 0;
}

/* Reads SPSR of the current mode. Returns false when this QEMU does not describe it. */
static bool read_spsr(const void *cpu, uint32_t *spsr)
{
    size_t offset;
    return vmstate_field(vmstate_of_cpu(), "env.spsr", sizeof *spsr, 0, &offset) &&
           vmstate_peek((const char *)cpu + offset, spsr, sizeof *spsr);
}

bool exceptions_arm_find(void *cpu, uint32_t addr, struct exception_arm *out)
{
    /* The mode that the exception of each entry is taken to, and what the link register adds to the address
     * at which it interrupted, in A32 and in T32. */
    static const struct {
        uint8_t mode, ahead[2];
    } entries[EXCEPTIONS_ARM_ENTRIES] = {
        [1] = {0x1b, {4, 2}}, [2] = {0x13, {0, 0}}, [3] = {0x17, {4, 4}},
        [4] = {0x17, {8, 8}}, [6] = {0x12, {4, 4}}, [7] = {0x11, {4, 4}},
    };
    const uint32_t entry = addr / 4 % EXCEPTIONS_ARM_ENTRIES;
    uint64_t cpsr, link;
    uint32_t spsr;
    if (!entries[entry].mode || !guest_read_register(cpu, 1, GUEST_CPSR, &cpsr) ||
        (cpsr & GUEST_CPSR_MODE) != entries[entry].mode || !guest_read_register(cpu, 1, LINK, &link) ||
        !read_spsr(cpu, &spsr))
        return false;
    const uint32_t t32 = (spsr & GUEST_CPSR_T) != 0;
    *out = (struct exception_arm){entry, (uint32_t)link - entries[entry].ahead[t32], t32};
    return true;
}
