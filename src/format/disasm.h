/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions in words, by Capstone where it was there when this was built. */
#ifndef CT_FORMAT_DISASM_H
#define CT_FORMAT_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_disasm;

/* NULL without memory. */
struct ct_disasm *ct_disasm_new(void);
void ct_disasm_free(struct ct_disasm *disasm);

/* The instruction of `size` bytes at `addr`, in `isa` (enum ct_isa), as text; its
 * opcode when it cannot be said. */
void ct_disasm_text(struct ct_disasm *disasm, uint8_t isa, uint64_t addr, const uint8_t *bytes, size_t size,
                    char text[192]);

/* Whether an instruction stands as its opcode, because there was no memory for its text. */
bool ct_disasm_lacked_memory(const struct ct_disasm *disasm);

#endif
