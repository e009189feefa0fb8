/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles A64 instructions that Capstone 4 does not know: hints of later architectures, atomic
 * accesses of Armv8.1, and the SVE of a64_sve.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes an instruction as text. Returns false for any other instruction. */
bool ct_a64_words(uint32_t opcode, char *text, size_t size);
