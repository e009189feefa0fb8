/* SPDX-License-Identifier: Apache-2.0 */
/* The one function that a fuzz target is. libFuzzer, AFL++ and replay.c all call it. */
#ifndef CT_TESTS_FUZZ_H
#define CT_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
