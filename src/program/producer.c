/* SPDX-License-Identifier: Apache-2.0 */
#include "program/producer.h"

#include <string.h>

bool ct_producer_is_llvm(const char *producer)
{
    return strstr(producer, "clang") || strstr(producer, "LLVM");
}

bool ct_producer_optimises(const char *producer)
{
    /* The last option counts, but the unit of gcc's link-time optimisation has those of compiling and of
     * linking one after the other, and functions keep what they were compiled with. */
    const bool is_link_time = strncmp(producer, "GNU GIMPLE", 10) == 0;
    bool optimises = false;
    if (strncmp(producer, "Go cmd/compile", 14) == 0)
        return !strstr(producer, " -N");
    for (const char *at = strstr(producer, " -O"); at; at = strstr(at + 3, " -O"))
        optimises = at[3] != '0' || (is_link_time && optimises);
    return optimises;
}
