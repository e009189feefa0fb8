/* SPDX-License-Identifier: Apache-2.0 */
/* Writes instructions in words, with Capstone if that was found when coretap was built. */
#ifndef CT_FORMAT_DISASM_H
#define CT_FORMAT_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_disasm;

/* Makes a disassembler. NULL without memory. */
struct ct_disasm *ct_disasm_new(void);
void ct_disasm_free(struct ct_disasm *disasm);

/* Writes the instruction of `size` bytes at `addr`, in `isa` (enum ct_isa), as text; its opcode when there is
 * no text for it. `it` is its ITSTATE (ct_it_block_at), by which an instruction of T32 has a condition, or 0.
 */
void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint8_t it, uint64_t addr, const uint8_t *bytes,
                    size_t size, char text[192]);

/* Tells whether an instruction was written as its opcode because there was no memory for its text. */
bool ct_disasm_lacked_memory(const struct ct_disasm *disasm);

#endif
