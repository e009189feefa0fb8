/* SPDX-License-Identifier: Apache-2.0 */
/* What fuzz_tessla.c does with an input, for a program around it. */
#ifndef CT_TESTS_FUZZ_TESSLA_H
#define CT_TESTS_FUZZ_TESSLA_H

#include <stdint.h>

extern struct fuzz_tessla {
    unsigned engines;  /* 2: machine code too, held against the bytecode */
    uint64_t compiled; /* inputs that did */
    uint64_t results;  /* that they put out */
} fuzz_tessla;

#endif
