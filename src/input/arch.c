/* SPDX-License-Identifier: Apache-2.0 */
/* Core names, and the architecture of each core. */
#include "coretap/input.h"

#include "base/require.h"

#include <stddef.h>
#include <strings.h>

struct core {
    const char *name;
    struct ct_arch arch;
};

#define A(major, minor)                                                                                      \
    {                                                                                                        \
        major, minor, CT_PROFILE_A, 0                                                                        \
    }
#define R(major, minor)                                                                                      \
    {                                                                                                        \
        major, minor, CT_PROFILE_R, 0                                                                        \
    }
#define M(major, minor)                                                                                      \
    {                                                                                                        \
        major, minor, CT_PROFILE_M, 0                                                                        \
    }

/* Captures describe the cores of the generation of the Cortex-A55 as v8.3, though most implement v8.2: tools
 * that write captures, and the listings, agree on it. The same goes for the v6-M cores. */
static const struct core cores[] = {
    {"Cortex-A5", A(7, 0)},   {"Cortex-A7", A(7, 0)},     {"Cortex-A8", A(7, 0)},
    {"Cortex-A9", A(7, 0)},   {"Cortex-A12", A(7, 0)},    {"Cortex-A15", A(7, 0)},
    {"Cortex-A17", A(7, 0)},  {"Cortex-A32", A(8, 0)},    {"Cortex-A34", A(8, 0)},
    {"Cortex-A35", A(8, 0)},  {"Cortex-A53", A(8, 0)},    {"Cortex-A57", A(8, 0)},
    {"Cortex-A72", A(8, 0)},  {"Cortex-A73", A(8, 0)},    {"Cortex-A55", A(8, 3)},
    {"Cortex-A65", A(8, 3)},  {"Cortex-A65AE", A(8, 3)},  {"Cortex-A75", A(8, 3)},
    {"Cortex-A76", A(8, 3)},  {"Cortex-A76AE", A(8, 3)},  {"Cortex-A77", A(8, 3)},
    {"Cortex-A78", A(8, 3)},  {"Cortex-A78AE", A(8, 3)},  {"Cortex-A78C", A(8, 3)},
    {"Cortex-X1", A(8, 3)},   {"Cortex-X1C", A(8, 3)},    {"Cortex-A510", A(9, 0)},
    {"Cortex-A710", A(9, 0)}, {"Cortex-A715", A(9, 0)},   {"Cortex-X2", A(9, 0)},
    {"Cortex-X3", A(9, 0)},   {"Cortex-A520", A(9, 2)},   {"Cortex-A720", A(9, 2)},
    {"Cortex-A725", A(9, 2)}, {"Cortex-X4", A(9, 2)},     {"Cortex-X925", A(9, 2)},
    {"Neoverse-E1", A(8, 3)}, {"Neoverse-N1", A(8, 3)},   {"Neoverse-V1", A(8, 4)},
    {"Neoverse-N2", A(9, 0)}, {"Neoverse-V2", A(9, 0)},   {"Neoverse-N3", A(9, 2)},
    {"Neoverse-V3", A(9, 2)}, {"Neoverse-V3AE", A(9, 2)}, {"Cortex-R4", R(7, 0)},
    {"Cortex-R5", R(7, 0)},   {"Cortex-R7", R(7, 0)},     {"Cortex-R8", R(7, 0)},
    {"Cortex-R52", R(8, 0)},  {"Cortex-R52+", R(8, 0)},   {"Cortex-R82", R(8, 4)},
    {"Cortex-M0", M(7, 0)},   {"Cortex-M0+", M(7, 0)},    {"Cortex-M1", M(7, 0)},
    {"Cortex-M3", M(7, 0)},   {"Cortex-M4", M(7, 0)},     {"Cortex-M7", M(7, 0)},
    {"Cortex-M23", M(8, 0)},  {"Cortex-M33", M(8, 0)},    {"Cortex-M35P", M(8, 0)},
    {"Cortex-M52", M(8, 1)},  {"Cortex-M55", M(8, 1)},    {"Cortex-M85", M(8, 1)},
    {"ARMv6-M", M(7, 0)},     {"ARMv7E-M", M(7, 0)},      {"ARM-AA64", {9, 6, CT_PROFILE_A, 1}},
};

/* Parses a generic model such as "ARMv8.3-A" or "ARMv7-M": version 7 to 9, a minor version of one or two
 * digits, a profile. */
static int parse_generic(const char *model, struct ct_arch *out)
{
    if (strncasecmp(model, "ARMv", 4) != 0 || model[4] < '7' || model[4] > '9')
        return CT_ERR_NOT_FOUND;
    struct ct_arch arch = {.major = (uint8_t)(model[4] - '0')};
    const char *p = model + 5;
    if (*p == '.') {
        const char *digits = ++p;
        for (; *p >= '0' && *p <= '9' && p - digits < 2; p++)
            arch.minor = (uint8_t)(arch.minor * 10 + (*p - '0'));
        if (p == digits)
            return CT_ERR_NOT_FOUND;
    }
    if (p[0] != '-' || p[1] == '\0' || p[2] != '\0')
        return CT_ERR_NOT_FOUND;
    switch (p[1]) {
    case 'A':
    case 'a':
        arch.profile = CT_PROFILE_A;
        break;
    case 'R':
    case 'r':
        arch.profile = CT_PROFILE_R;
        break;
    case 'M':
    case 'm':
        arch.profile = CT_PROFILE_M;
        break;
    default:
        return CT_ERR_NOT_FOUND;
    }
    *out = arch;
    return CT_OK;
}

int ct_arch_by_name(const char *model, struct ct_arch *out)
{
    CT_REQUIRE(NULL, model, out);
    for (size_t i = 0; i < sizeof cores / sizeof cores[0]; i++) {
        if (strcasecmp(model, cores[i].name) == 0) {
            *out = cores[i].arch;
            return CT_OK;
        }
    }
    return parse_generic(model, out);
}
