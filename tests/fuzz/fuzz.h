/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of a fuzz target: the one function that libFuzzer, AFL++ and replay.c call, and the function that
 * reports a broken rule. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Ends the process, which a fuzzer takes for a finding, unless the condition holds. */
static inline void require(int truth)
{
    if (!truth)
        abort();
}

/* Returns a copy of bytes at an aligned address, at which mapped files begin. The caller frees it. */
static inline uint8_t *fuzz_file(const uint8_t *data, size_t size)
{
    uint8_t *file = malloc(size ? size : 1);
    if (!file)
        exit(1);
    memcpy(file, data, size);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
