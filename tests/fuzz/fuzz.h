/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a fuzz target: the one function that libFuzzer, AFL++ and replay.c call, and the function that
 * reports a broken rule. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Ends the process, which a fuzzer takes for a finding, unless the condition holds. */
static inline void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
