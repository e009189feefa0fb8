/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles the SVE instructions of copy loops, such as those of glibc's memcpy: loads and stores of
 * consecutive elements, loop predicates and counts of elements. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes an instruction as text. Returns false for any other instruction. */
bool ct_a64_sve(uint32_t opcode, char *text, size_t size);
