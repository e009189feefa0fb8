/* SPDX-License-Identifier: Apache-2.0 */
#include "format/a64_sve.h"

#include <stdio.h>

/* names of element sizes, indexed by their logarithm */
static const char elements[] = "bhsd";

static unsigned bits(uint32_t opcode, unsigned high, unsigned low)
{
    return opcode >> low & ((2U << (high - low)) - 1);
}

/* Name of a general register. */
struct name {
    char text[4];
};

/* Returns the name of a register of 32 or 64 bits; `last` is the name of number 31. */
static struct name general(bool wide, unsigned number, const char *last)
{
    struct name name;
    if (number == 31)
        snprintf(name.text, sizeof name.text, "%.3s", last);
    else
        snprintf(name.text, sizeof name.text, "%c%u", wide ? 'x' : 'w', number % 31);
    return name;
}

/* Writes a load or store of consecutive elements: `name`, with elements of 1 << `element` bytes in the
 * register and 1 << `access` bytes in memory. Returns false for an encoding that is none. */
static bool consecutive(uint32_t opcode, const char *name, unsigned element, unsigned access, char *text,
                        size_t size)
{
    const bool is_load = !bits(opcode, 30, 30), by_register = !bits(opcode, 15, 15);
    const unsigned m = bits(opcode, 20, 16);
    const struct name n = general(true, bits(opcode, 9, 5), "sp"), index = general(true, m, "");
    const int vectors = (int)(m ^ 8) - 8;
    char offset[24] = "", shift[12] = "";
    if (by_register ? m == 31 : m > 15)
        return false;
    if (by_register && access)
        snprintf(shift, sizeof shift, ", lsl #%u", access);
    if (by_register)
        snprintf(offset, sizeof offset, ", %s%s", index.text, shift);
    else if (vectors)
        snprintf(offset, sizeof offset, ", #%d, mul vl", vectors);
    snprintf(text, size, "%-7s {z%u.%c}, p%u%s, [%s%s]", name, bits(opcode, 4, 0), elements[element],
             bits(opcode, 12, 10), is_load ? "/z" : "", n.text, offset);
    return true;
}

static bool load(uint32_t opcode, char *text, size_t size)
{
    /* by dtype: the access, then the element (DDI 0487, C4.1: SVE contiguous load) */
    static const struct {
        char name[6];
        uint8_t element, access;
    } loads[16] = {{"ld1b", 0, 0},  {"ld1b", 1, 0},  {"ld1b", 2, 0},  {"ld1b", 3, 0},
                   {"ld1sw", 3, 2}, {"ld1h", 1, 1},  {"ld1h", 2, 1},  {"ld1h", 3, 1},
                   {"ld1sh", 3, 1}, {"ld1sh", 2, 1}, {"ld1w", 2, 2},  {"ld1w", 3, 2},
                   {"ld1sb", 3, 0}, {"ld1sb", 2, 0}, {"ld1sb", 1, 0}, {"ld1d", 3, 3}};
    const unsigned type = bits(opcode, 24, 21);
    return consecutive(opcode, loads[type].name, loads[type].element, loads[type].access, text, size);
}

static bool store(uint32_t opcode, char *text, size_t size)
{
    const unsigned access = bits(opcode, 24, 23), element = bits(opcode, 22, 21);
    const char name[] = {'s', 't', '1', "bhwd"[access], 0};
    return element >= access && consecutive(opcode, name, element, access, text, size);
}

/* Writes WHILE<condition>, which makes the predicate of a loop. */
static bool loop_predicate(uint32_t opcode, char *text, size_t size)
{
    /* by U, lt and eq */
    static const char conditions[8][3] = {"ge", "gt", "lt", "le", "hs", "hi", "lo", "ls"};
    const bool wide = bits(opcode, 12, 12);
    const char *zero = wide ? "xzr" : "wzr";
    snprintf(text, size, "while%s p%u.%c, %s, %s", conditions[bits(opcode, 11, 10) << 1 | bits(opcode, 4, 4)],
             bits(opcode, 3, 0), elements[bits(opcode, 23, 22)], general(wide, bits(opcode, 9, 5), zero).text,
             general(wide, bits(opcode, 20, 16), zero).text);
    return true;
}

/* Writes CNT<size>, INC<size> or DEC<size> of a general register: a multiple of the number of elements that a
 * pattern has. */
static bool count(uint32_t opcode, char *text, size_t size)
{
    static const char names[32][6] = {"pow2",  "vl1",   "vl2",         "vl3",         "vl4",       "vl5",
                                      "vl6",   "vl7",   "vl8",         "vl16",        "vl32",      "vl64",
                                      "vl128", "vl256", [29] = "mul4", [30] = "mul3", [31] = "all"};
    const bool changes = bits(opcode, 20, 20), down = bits(opcode, 10, 10);
    const unsigned pattern = bits(opcode, 9, 5), factor = bits(opcode, 19, 16) + 1;
    char operands[24] = "", mul[12] = "";
    if (down && !changes)
        return false;
    if (factor > 1)
        snprintf(mul, sizeof mul, ", mul #%u", factor);
    if (!names[pattern][0])
        snprintf(operands, sizeof operands, ", #%u%s", pattern, mul);
    else if (pattern != 31 || factor > 1)
        snprintf(operands, sizeof operands, ", %s%s", names[pattern], mul);
    snprintf(text, size, "%s%c    %s%s", changes ? down ? "dec" : "inc" : "cnt", "bhwd"[bits(opcode, 23, 22)],
             general(true, bits(opcode, 4, 0), "xzr").text, operands);
    return true;
}

bool ct_a64_sve(uint32_t opcode, char *text, size_t size)
{
    const bool by_register = (opcode & 0xe000) == 0x4000;
    if ((opcode & 0xfe00e000) == 0xa400a000 || ((opcode & 0xfe000000) == 0xa4000000 && by_register))
        return load(opcode, text, size);
    if ((opcode & 0xfe00e000) == 0xe400e000 || ((opcode & 0xfe000000) == 0xe4000000 && by_register))
        return store(opcode, text, size);
    if ((opcode & 0xff20e000) == 0x25200000)
        return loop_predicate(opcode, text, size);
    if ((opcode & 0xff20f800) == 0x0420e000)
        return count(opcode, text, size);
    return false;
}
