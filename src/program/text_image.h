/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware as text, with addresses: Intel HEX and Motorola S-records. It is converted to an ELF file without
 * sections and symbols, of 32-bit or 64-bit Arm depending on its returns, so that all other code sees a
 * program. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_ctx;

/* Returns the format of the text, "Intel HEX" or "S-records", from its first record, whose checksum must be
 * right. NULL: neither. */
const char *ct_text_image_kind(const uint8_t *text, size_t size);

/* Converts such a text to an ELF file. The new bytes are separate pages, which ct_whole_file_free frees.
 * CT_ERR_FORMAT with the number of a damaged line, or when a byte is given twice; CT_ERR_NOMEM. */
int ct_text_image_read(struct ct_ctx *ctx, const char *path, const uint8_t *text, size_t size, uint8_t **out,
                       size_t *out_size);
