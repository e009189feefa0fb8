/* SPDX-License-Identifier: Apache-2.0 */
#include "format/a64_words.h"

#include "format/a64_sve.h"

#include <stdio.h>

/* names of hints, indexed by CRm:op2 (DDI 0487, C4.1.66) */
static const char *const hints[128] = {
    [7] = "xpaclri",     [8] = "pacia1716", [10] = "pacib1716",     [12] = "autia1716",
    [14] = "autib1716",  [16] = "esb",      [17] = "psb     csync", [18] = "tsb     csync",
    [20] = "csdb",       [24] = "paciaz",   [25] = "paciasp",       [26] = "pacibz",
    [27] = "pacibsp",    [28] = "autiaz",   [29] = "autiasp",       [30] = "autibz",
    [31] = "autibsp",    [32] = "bti",      [34] = "bti     c",     [36] = "bti     j",
    [38] = "bti     jc",
};

static unsigned bits(uint32_t opcode, unsigned high, unsigned low)
{
    return opcode >> low & ((2U << (high - low)) - 1);
}

/* Name of a register of 32 or 64 bits. 31 is the zero register. */
struct name {
    char text[4];
};

static struct name data_register(bool wide, unsigned number)
{
    struct name name;
    if (number == 31)
        snprintf(name.text, sizeof name.text, "%czr", wide ? 'x' : 'w');
    else
        snprintf(name.text, sizeof name.text, "%c%u", wide ? 'x' : 'w', number % 31);
    return name;
}

/* Returns the name of a register with an address. 31 is the stack pointer. */
static struct name address_register(unsigned number)
{
    static const struct name stack_pointer = {"sp"};
    if (number == 31)
        return stack_pointer;
    return data_register(true, number);
}

static void put(char *text, size_t size, const char *stem, const char *ending, const char *operands)
{
    char name[16];
    snprintf(name, sizeof name, "%s%s", stem, ending);
    snprintf(text, size, "%-7s %s", name, operands);
}

/* Writes the suffix of an access: its ordering, and its width if that is below the register's. */
static void put_ending(char ending[4], bool acquire, bool release, unsigned width)
{
    snprintf(ending, 4, "%s%s%s", acquire ? "a" : "", release ? "l" : "",
             width == 0   ? "b"
             : width == 1 ? "h"
                          : "");
}

/* Writes CAS and CASP (Compare and Swap). Returns false for other instructions. */
static bool compare_and_swap(uint32_t opcode, char *text, size_t size)
{
    const bool pair = bits(opcode, 29, 23) == 0x10;
    const unsigned width = pair ? 2 + bits(opcode, 30, 30) : bits(opcode, 31, 30);
    const bool wide = width == 3;
    const unsigned s = bits(opcode, 20, 16), t = bits(opcode, 4, 0);
    const struct name n = address_register(bits(opcode, 9, 5));
    char ending[4], operands[32];
    if (pair && (bits(opcode, 31, 31) || s % 2 || t % 2))
        return false;
    put_ending(ending, bits(opcode, 22, 22), bits(opcode, 15, 15), width);
    if (pair)
        snprintf(operands, sizeof operands, "%s, %s, %s, %s, [%s]", data_register(wide, s).text,
                 data_register(wide, s + 1).text, data_register(wide, t).text,
                 data_register(wide, t + 1).text, n.text);
    else
        snprintf(operands, sizeof operands, "%s, %s, [%s]", data_register(wide, s).text,
                 data_register(wide, t).text, n.text);
    put(text, size, pair ? "casp" : "cas", ending, operands);
    return true;
}

/* Writes SWP and LD<op>, or ST<op> when LD<op> neither keeps the loaded value nor acquires. Returns false for
 * other instructions. */
static bool swap_or_change(uint32_t opcode, char *text, size_t size)
{
    static const char *const stems[] = {"add", "clr", "eor", "set", "smax", "smin", "umax", "umin"};
    const bool swaps = bits(opcode, 15, 15), acquires = bits(opcode, 23, 23);
    const unsigned which = bits(opcode, 14, 12), width = bits(opcode, 31, 30), t = bits(opcode, 4, 0);
    const bool wide = width == 3, stores = !swaps && !acquires && t == 31;
    const struct name s = data_register(wide, bits(opcode, 20, 16)), n = address_register(bits(opcode, 9, 5));
    char stem[8] = "swp", ending[4], operands[32];
    if (swaps && which)
        return false;
    if (!swaps)
        snprintf(stem, sizeof stem, "%s%s", stores ? "st" : "ld", stems[which]);
    put_ending(ending, acquires, bits(opcode, 22, 22), width);
    if (stores)
        snprintf(operands, sizeof operands, "%s, [%s]", s.text, n.text);
    else
        snprintf(operands, sizeof operands, "%s, %s, [%s]", s.text, data_register(wide, t).text, n.text);
    put(text, size, stem, ending, operands);
    return true;
}

bool ct_a64_words(uint32_t opcode, char *text, size_t size)
{
    if ((opcode & 0xfffff01f) == 0xd503201f) {
        const char *hint = hints[bits(opcode, 11, 5)];
        if (hint)
            snprintf(text, size, "%s", hint);
        return hint;
    }
    if ((opcode & 0x3f207c00) == 0x08207c00)
        return compare_and_swap(opcode, text, size);
    if ((opcode & 0x3f200c00) == 0x38200000)
        return swap_or_change(opcode, text, size);
    return ct_a64_sve(opcode, text, size);
}
