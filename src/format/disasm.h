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

/* Appends the instruction of `size` bytes at `addr`, in `isa` (enum ct_isa), as text; its opcode when there
 * is no text for it. In a block of an IT instruction of T32 it has its condition when the instructions of the
 * block are asked for in their order, from the IT on. */
void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint64_t addr, const uint8_t *bytes, size_t size,
                    char text[192]);

/* Returns the ITSTATE with which an IT instruction of T32 begins its block (Arm ARM, E1.2.3); 0: the bytes
 * are none. */
uint8_t ct_disasm_begins(const uint8_t *bytes, size_t size);

/* Returns the ITSTATE that the instructions asked for until now lead to at an address; 0: it is in no block.
 */
uint8_t ct_disasm_it(const struct ct_disasm *disasm, uint64_t addr);

/* Does as if an instruction had been asked for whose text is known. `begins` is as of ct_disasm_begins, and 0
 * of other instruction sets. */
void ct_disasm_pass(struct ct_disasm *disasm, uint64_t addr, size_t size, uint8_t begins);

/* Tells whether an instruction was written as its opcode because there was no memory for its text. */
bool ct_disasm_lacked_memory(const struct ct_disasm *disasm);

#endif
