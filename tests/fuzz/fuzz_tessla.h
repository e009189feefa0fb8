/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of fuzz_tessla.c for a program that runs it. */
#pragma once

#include <stdint.h>

extern struct fuzz_tessla {
    unsigned engines;  /* 2: also machine code, compared with bytecode */
    uint64_t compiled; /* inputs that compiled */
    uint64_t results;  /* results of them */
} fuzz_tessla;
