/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles instructions, with Capstone if it was found when coretap was built. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_disasm;

/* Makes a disassembler. Returns NULL when out of memory. */
struct ct_disasm *ct_disasm_new(void);
void ct_disasm_free(struct ct_disasm *disasm);

/* Writes the instruction of `size` bytes at `addr`, in `isa` (enum ct_isa), as text, or else its opcode. `it`
 * is the ITSTATE (ct_it_block_at) that makes a T32 instruction conditional, or 0. */
void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint8_t it, uint64_t addr, const uint8_t *bytes,
                    size_t size, char text[192]);

/* Returns whether an instruction was written as its opcode for lack of memory. */
bool ct_disasm_lacked_memory(const struct ct_disasm *disasm);
