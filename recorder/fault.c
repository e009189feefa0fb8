/* SPDX-License-Identifier: Apache-2.0 */
/* All instructions count as memory accesses, except encodings known not to be one (Arm ARM DDI 0487, C4.1,
 * F3.1 and F4.1): a superfluous mark costs time, a missing one would hide a fault. */
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

/* ---- stores: every access, except those known to only load ---- */

static bool a64_loads(uint32_t op)
{
    const uint32_t opc = op >> 22 & 3;
    const bool vector = op >> 26 & 1, second = op >> 21 & 1;
    switch (op >> 27 & 7) {
    case 1: /* exclusive and ordered; CAS and CASP store too */
        return !vector && !(op >> 24 & 1) && opc & 1 && !(second && (opc & 2 || !(op >> 31)));
    case 3: /* literal */
        return !(op >> 24 & 1);
    case 5: /* pairs */
        return opc & 1;
    case 7: /* one register; atomics store too, but LDAPR does not */
        if (vector)
            return opc & 1;
        if (!(op >> 24 & 1) && second && !(op >> 10 & 3))
            return (op & 0x3ffffc00) == 0x38bfc000;
        return opc != 0;
    default:
        return false;
    }
}

static bool t32_narrow_loads(uint32_t op)
{
    switch (op >> 12) {
    case 4: /* literal */
        return true;
    case 5:
        return (op >> 9 & 7) >= 3;
    default: /* POP too */
        return op >> 11 & 1;
    }
}

bool fault_stores(enum fault_isa isa, const uint8_t *bytes, size_t size)
{
    const uint32_t first = bytes[0] | (uint32_t)bytes[1] << 8;
    if (!fault_accesses(isa, bytes, size))
        return false;
    if (size < 4)
        return !t32_narrow_loads(first);
    const uint32_t second = bytes[2] | (uint32_t)bytes[3] << 8;
    if (isa == FAULT_A64)
        return !a64_loads(first | second << 16);
    return !((isa == FAULT_T32 ? first >> 4 : second >> 4) & 1);
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

bool fault_divides(const uint8_t *bytes, size_t size)
{
    return size == 4 && bytes[1] == 0xfb && (bytes[0] & 0xd0) == 0x90; /* SDIV, UDIV */
}
