/* Everything counts as an access to memory but the encodings that are known not to be one (Arm ARM DDI 0487, C4.1,
 * F3.1 and F4.1): a mark too many costs time, one too few would hide a fault. */
#include "fault.h"

static unsigned ones(uint32_t list)
{
    return (unsigned)__builtin_popcount(list);
}

static unsigned a64(uint32_t op)
{
    const uint32_t group = op >> 25 & 15;
    if ((group & 14) == 8) /* data processing, immediate */
        return 0;
    if ((group & 7) == 5 || (group & 7) == 7) /* data processing, registers; SIMD and floating point */
        return 0;
    if ((group & 14) == 10) /* branches and system: DC and IC access memory */
        return (op & 0xfff80000) == 0xd5080000;
    return 1;
}

static unsigned a32(uint32_t op)
{
    const uint32_t group = op >> 25 & 7;
    if (op >> 28 != 15) {
        if (group == 1 || group == 5 || group == 7)
            return 0;
        if (group == 0)
            return (op & 0x90) == 0x90;
        if (group == 3)
            return !(op & 0x10);
        if (group == 4 && (op & 0x108000) == 0x108000)
            return ones(op & 0xffff);
        return 1;
    }
    return group != 1 && group != 5 && group != 7;
}

static unsigned t32_narrow(uint32_t op)
{
    if (op >> 8 == 0xbd) /* POP {…, PC} */
        return ones(op & 0xff) + 1;
    if (op >= 0x4800 && op < 0xa000)
        return 1;
    return op >> 9 == 0xb4 >> 1 || op >> 9 == 0xbc >> 1 || op >> 12 == 0xc;
}

static unsigned t32_wide(uint32_t first, uint32_t second)
{
    switch (first >> 8) {
    case 0xe8:
    case 0xe9:
        if ((first & 0xfe50) == 0xe810 && second & 0x8000)
            return ones(second);
        return 1;
    case 0xec:
    case 0xed:
    case 0xf8:
    case 0xf9:
    case 0xfc:
    case 0xfd:
        return 1;
    default:
        return 0;
    }
}

unsigned fault_accesses(enum fault_isa isa, const uint8_t *bytes, size_t size)
{
    const uint32_t first = bytes[0] | (uint32_t)bytes[1] << 8;
    if (size < 4)
        return t32_narrow(first);
    const uint32_t second = bytes[2] | (uint32_t)bytes[3] << 8;
    if (isa == FAULT_T32)
        return t32_wide(first, second);
    const uint32_t op = first | second << 16;
    return isa == FAULT_A64 ? a64(op) : a32(op);
}
