/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules of A32 and T32: relocations of Arm's ELF for the 32-bit architecture (IHI 0044), and .plt as
 * filled by Linux. Relocations that Linux does not support in a module are left out. */
#include "program/module.h"

#include <elf.h>

#include "base/bytes.h"

#define PLT_JUMPS 16u             /* jumps in a cache line; a line with their addresses follows */
#define PLT_LINES (8 * PLT_JUMPS) /* bytes of both lines */
#define PLT_FIXED 2u              /* entries that the kernel may reserve for its function tracer */

/* ldr pc from the following line, as A32 and T32 bytes are loaded */
#define LDR_A32 UINT32_C(0xe59ff038)
#define LDR_T32 UINT32_C(0xf03cf8df)

static bool is_thumb(uint32_t type)
{
    return type == R_ARM_THM_PC22 || type == R_ARM_THM_JUMP24;
}

static unsigned far_branch(uint32_t type)
{
    switch (type) {
    case R_ARM_PC24:
        return 1;
    case R_ARM_CALL:
        return 2;
    case R_ARM_JUMP24:
        return 3;
    case R_ARM_THM_PC22:
        return 4;
    case R_ARM_THM_JUMP24:
        return 5;
    default:
        return 0;
    }
}

static bool is_branch(uint32_t type)
{
    return far_branch(type) != 0;
}

static unsigned data_size(uint32_t type)
{
    return type == R_ARM_ABS32 || type == R_ARM_TARGET1 || type == R_ARM_REL32 || type == R_ARM_PREL31 ? 4
                                                                                                       : 0;
}

/* ---- branches ---- */

/* Returns how far the program counter is ahead of a branch. */
static uint64_t ahead(uint32_t type)
{
    return is_thumb(type) ? 4 : 8;
}

/* Returns the distance of a B.W or BL of T32: S:I1:I2:imm10:imm11. */
static int64_t thumb_distance(const uint8_t *p)
{
    const uint32_t high = ct_load16(p), low = ct_load16(p + 2);
    const uint32_t s = high >> 10 & 1, i1 = ~((low >> 13) ^ s) & 1, i2 = ~((low >> 11) ^ s) & 1;
    return ct_sext(s << 24 | i1 << 23 | i2 << 22 | (high & 0x3ff) << 12 | (low & 0x7ff) << 1, 25);
}

static void set_thumb_distance(uint8_t *p, uint64_t distance)
{
    const uint64_t s = distance >> 24 & 1, j1 = ~((distance >> 23) ^ s) & 1, j2 = ~((distance >> 22) ^ s) & 1;
    ct_store(p, (ct_load16(p) & 0xf800u) | s << 10 | (distance >> 12 & 0x3ff), 2);
    ct_store(p + 2, (ct_load16(p + 2) & 0xd000u) | j1 << 13 | j2 << 11 | (distance >> 1 & 0x7ff), 2);
}

static bool branch(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t target)
{
    const int64_t distance = (int32_t)(uint32_t)(target - place - ahead(type));
    if (!ct_module_fits(distance, is_thumb(type) ? 25 : 26))
        return false;
    if (is_thumb(type))
        set_thumb_distance(bytes, (uint64_t)distance);
    else
        ct_module_set_bits(bytes, 0, 24, (uint64_t)distance >> 2);
    return true;
}

/* ---- MOVW and MOVT ---- */

static bool is_move(uint32_t type)
{
    return type >= R_ARM_MOVW_ABS_NC && type <= R_ARM_THM_MOVT_PREL;
}

static bool is_thumb_move(uint32_t type)
{
    return type >= R_ARM_THM_MOVW_ABS_NC;
}

/* Reads the 16-bit immediate: imm4:imm12 in A32, imm4:i:imm3:imm8 in T32. */
static uint32_t moved(const uint8_t *p, uint32_t type)
{
    const uint32_t word = ct_load32(p), high = ct_load16(p), low = ct_load16(p + 2);
    if (is_thumb_move(type))
        return (high & 0xf) << 12 | (high >> 10 & 1) << 11 | (low >> 12 & 7) << 8 | (low & 0xff);
    return (word >> 4 & 0xf000) | (word & 0xfff);
}

static void set_moved(uint8_t *p, uint32_t type, uint64_t value)
{
    if (is_thumb_move(type)) {
        ct_store(p, (ct_load16(p) & 0xfbf0u) | (value >> 11 & 1) << 10 | (value >> 12 & 0xf), 2);
        ct_store(p + 2, (ct_load16(p + 2) & 0x8f00u) | (value >> 8 & 7) << 12 | (value & 0xff), 2);
        return;
    }
    ct_module_set_bits(p, 0, 12, value);
    ct_module_set_bits(p, 16, 4, value >> 12);
}

static void set_move(uint8_t *p, uint32_t type, uint64_t place, uint64_t value)
{
    const bool relative = type == R_ARM_MOVW_PREL_NC || type == R_ARM_MOVT_PREL ||
                          type == R_ARM_THM_MOVW_PREL_NC || type == R_ARM_THM_MOVT_PREL;
    const bool top = type == R_ARM_MOVT_ABS || type == R_ARM_MOVT_PREL || type == R_ARM_THM_MOVT_ABS ||
                     type == R_ARM_THM_MOVT_PREL;
    const uint64_t whole = relative ? value - place : value;
    set_moved(p, type, top ? whole >> 16 : whole);
}

/* ---- all relocations ---- */

static uint64_t addend(const uint8_t *p, uint32_t type)
{
    if (is_thumb(type))
        return (uint64_t)thumb_distance(p) + ahead(type);
    if (is_branch(type))
        return (uint64_t)ct_sext((uint64_t)ct_load32(p) << 2, 26) + ahead(type);
    if (is_move(type))
        return (uint64_t)ct_sext(moved(p, type), 16);
    if (type == R_ARM_PREL31)
        return (uint64_t)ct_sext(ct_load32(p), 31);
    return data_size(type) ? ct_load32(p) : 0;
}

static void set(uint8_t *p, uint32_t type, uint64_t place, uint64_t value)
{
    if (is_move(type))
        set_move(p, type, place, value);
    else if (type == R_ARM_PREL31)
        ct_module_set_bits(p, 0, 31, value - place);
    else if (data_size(type))
        ct_store(p, type == R_ARM_REL32 ? value - place : value, 4);
    else if (type == R_ARM_V4BX) /* bx becomes mov pc, for processors without T32 */
        ct_store(p, (ct_load32(p) & 0xf000000fu) | 0x01a0f000u, 4);
}

static uint64_t plt_size(uint64_t entries)
{
    return (entries + PLT_FIXED + PLT_JUMPS - 1) / PLT_JUMPS * PLT_LINES;
}

/* Writes a jump, and into the line after the jumps the address that it loads. A kernel is T32 or A32, and so
 * are its modules; addresses of T32 functions are odd. */
static uint64_t plt_entry(uint8_t *bytes, uint64_t size, uint64_t plt, uint64_t number, uint64_t target)
{
    const uint64_t at = number / PLT_JUMPS * PLT_LINES + number % PLT_JUMPS * 4;
    if (size / PLT_LINES * PLT_JUMPS <= number)
        return 0;
    ct_store(bytes + at, target & 1 ? LDR_T32 : LDR_A32, 4);
    ct_store(bytes + at + PLT_JUMPS * 4, target, 4);
    return plt + at;
}

const struct ct_module_arch ct_module_arm = {.relocs = SHT_REL,
                                             .machine = EM_ARM,
                                             .data_size = data_size,
                                             .is_branch = is_branch,
                                             .far_branch = far_branch,
                                             .addend = addend,
                                             .branch = branch,
                                             .set = set,
                                             .plt_size = plt_size,
                                             .plt_entry = plt_entry};
