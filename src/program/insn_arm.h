/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of A32 and T32 instructions that a trace unit may count. */
#pragma once

#include <stddef.h>

#include "program/insn.h"

/* Which cores have an encoding. For other cores the word is another instruction, or undefined. */
enum ct_arm_cores {
    CT_ARM_ALL,
    CT_ARM_NOT_M,
    CT_ARM_V8M,
};

/* in place of a row's `cond`: the branch of a low-overhead loop */
#define CT_ARM_LOOP 2

/* An encoding: the words with `value` in the bits of `mask`, unless an earlier row matches. */
struct ct_arm_rule {
    uint32_t mask, value;
    uint8_t cores;                       /* enum ct_arm_cores */
    uint8_t type;                        /* enum ct_insn_type; OTHER for words that later rows must not
                                            match */
    uint8_t sub;                         /* enum ct_insn_sub */
    uint8_t cond;                        /* 1 when it is conditional by itself, or CT_ARM_LOOP */
    uint64_t (*offset)(uint32_t opcode); /* direct branches: returns the distance from the program counter to
                                            the target */
    const char *name;                    /* of the instructions */
    const char *extension;               /* that introduced them */
};

/* Returns whether a core has an encoding. A core of unknown architecture has all: those of Armv8-M are
 * undefined elsewhere. */
static inline bool ct_arm_has(const struct ct_arch *arch, enum ct_arm_cores cores)
{
    bool m = arch->profile == CT_PROFILE_M;
    return cores == CT_ARM_ALL || (cores == CT_ARM_NOT_M && !m) ||
           (cores == CT_ARM_V8M && (arch->major == 0 || (m && arch->major >= 8)));
}

/* Returns the first row that matches a word, of the encodings that the core has; or NULL. */
static inline const struct ct_arm_rule *ct_arm_find(const struct ct_arm_rule *rules, size_t count,
                                                    uint32_t op, const struct ct_arch *arch)
{
    for (size_t i = 0; i < count; i++)
        if ((op & rules[i].mask) == rules[i].value && ct_arm_has(arch, (enum ct_arm_cores)rules[i].cores))
            return &rules[i];
    return NULL;
}
