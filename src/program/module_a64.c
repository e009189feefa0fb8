/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules of A64: relocations of Arm's ELF for the 64-bit architecture (IHI 0056), and .plt as filled
 * by Linux. */
#include "program/module.h"

#include <elf.h>
#include <string.h>

#include "base/bytes.h"

#define PLT_ENTRY 12u /* bytes: adrp, add, br */

static bool is_branch(uint32_t type)
{
    return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26 || type == R_AARCH64_CONDBR19 ||
           type == R_AARCH64_TSTBR14;
}

static unsigned far_branch(uint32_t type)
{
    return type == R_AARCH64_JUMP26 ? 1 : type == R_AARCH64_CALL26 ? 2 : 0;
}

static bool branch(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t target)
{
    const int64_t distance = (int64_t)(target - place);
    const unsigned bits = type == R_AARCH64_TSTBR14 ? 14 : type == R_AARCH64_CONDBR19 ? 19 : 26;
    if (!ct_module_fits(distance, bits + 2))
        return false;
    ct_module_set_bits(bytes, bits == 26 ? 0 : 5, bits, (uint64_t)distance >> 2);
    return true;
}

static void set_adr(uint8_t *p, uint64_t value)
{
    ct_module_set_bits(p, 29, 2, value);
    ct_module_set_bits(p, 5, 19, value >> 2);
}

/* Returns by how much an absolute address is shifted for the 12-bit field of a load or store: log2 of its
 * divisor; -1: another type. */
static int low12_shift(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return 0;
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return 1;
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return 2;
    case R_AARCH64_LDST64_ABS_LO12_NC:
        return 3;
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return 4;
    default:
        return -1;
    }
}

static unsigned data_size(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
        return 8;
    case R_AARCH64_ABS32:
    case R_AARCH64_PREL32:
        return 4;
    case R_AARCH64_ABS16:
    case R_AARCH64_PREL16:
        return 2;
    default:
        return 0;
    }
}

static void set(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t value)
{
    const unsigned size = data_size(type);
    const int shift = low12_shift(type);
    const bool relative = type >= R_AARCH64_PREL64 && type <= R_AARCH64_PREL16;
    if (size)
        ct_store(bytes, relative ? value - place : value, size);
    else if (shift >= 0)
        ct_module_set_bits(bytes, 10, 12, (value & 0xfff) >> shift);
    else if (type == R_AARCH64_ADR_PREL_LO21)
        set_adr(bytes, value - place);
    else if (type == R_AARCH64_ADR_PREL_PG_HI21 || type == R_AARCH64_ADR_PREL_PG_HI21_NC)
        set_adr(bytes, (value >> 12) - (place >> 12));
    else if (type == R_AARCH64_LD_PREL_LO19)
        ct_module_set_bits(bytes, 5, 19, (value - place) >> 2);
}

/* Returns the size of .plt. The kernel keeps one spare entry. */
static uint64_t plt_size(uint64_t entries)
{
    return (entries + 1) * PLT_ENTRY;
}

/* Writes adrp x16, add x16, br x16. */
static uint64_t plt_entry(uint8_t *bytes, uint64_t size, uint64_t plt, uint64_t number, uint64_t target)
{
    static const uint8_t jump[PLT_ENTRY] = {0x10, 0, 0, 0x90, 0x10, 0x02, 0, 0x91, 0, 0x02, 0x1f, 0xd6};
    const uint64_t at = number * PLT_ENTRY;
    if (size / PLT_ENTRY <= number)
        return 0;
    memcpy(bytes + at, jump, sizeof jump);
    set(bytes + at, R_AARCH64_ADR_PREL_PG_HI21, plt + at, target);
    set(bytes + at + 4, R_AARCH64_ADD_ABS_LO12_NC, 0, target);
    return plt + at;
}

const struct ct_module_arch ct_module_a64 = {.wide = true,
                                             .relocs = SHT_RELA,
                                             .machine = EM_AARCH64,
                                             .data_size = data_size,
                                             .is_branch = is_branch,
                                             .far_branch = far_branch,
                                             .branch = branch,
                                             .set = set,
                                             .plt_size = plt_size,
                                             .plt_entry = plt_entry};
