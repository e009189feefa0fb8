/* SPDX-License-Identifier: Apache-2.0 */
/* Random code: instructions of all kinds that a trace unit reports, among others that it does not. */
#pragma once

#include "coretap/program.h"
#include "support/rng.h"

/* Fills bytes[0..size) with code of `isa` (A64, A32 or T32). `size` is a multiple of 4. Most direct branches
 * stay inside. */
void code_fill(struct rng *rng, enum ct_isa isa, uint8_t *bytes, uint32_t size);
