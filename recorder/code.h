/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the code of blocks, pages of memory, and the files that they come from. All functions require the
 * lock. */
#pragma once

#include "trace_stream.h"

/* Takes the first chunk of blocks and returns its index. */
uint32_t code_first_chunk(void);

/* Writes the head of a block or page, and returns its words, which the caller fills before code_end counts
 * them. Returns NULL when there is no reader any more. */
uint32_t *code_begin(const struct trace_block *head, struct trace_chunk **chunk);
void code_end(const struct trace_block *head, struct trace_chunk *chunk);

/* Writes the page of memory with the code at `va`, which QEMU has at `host`, unless it is written already,
 * and the file that it comes from. */
void code_put_page(uint64_t va, const uint8_t *host);
