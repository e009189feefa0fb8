/* SPDX-License-Identifier: Apache-2.0 */
/* The one function that a fuzz target is, which libFuzzer, AFL++ and replay.c call, and how it says that a
 * rule was broken. */
#ifndef CT_TESTS_FUZZ_H
#define CT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Ends the process, which is what a fuzzer takes for a finding, unless the condition holds. */
static inline void require(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
