/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the three instruction classifiers: results, and which architecture version introduced what. */
#pragma once

#include "coretap/program.h"

#include <stdbool.h>

static inline void ct_insn_set(struct ct_insn *out, enum ct_insn_type type, enum ct_insn_sub sub)
{
    out->type = (uint8_t)type;
    out->sub = (uint8_t)sub;
}

/* Returns whether the core may have the features of version 8.`minor` of the architecture. Version 9.n has
 * all of 8.(n+5), so 9.4 is given as 9. A core of unknown architecture has everything, like the newest: older
 * cores leave the new encodings undefined, so no program that ran there contains them. */
static inline bool ct_arch_has_v8(const struct ct_arch *arch, unsigned minor)
{
    if (arch->newest || arch->major == 0)
        return true;
    if (arch->major < 8)
        return false;
    return arch->minor + (arch->major - 8u) * 5u >= minor;
}
