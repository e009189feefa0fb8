/* SPDX-License-Identifier: Apache-2.0 */
/* Firmware as text, with the addresses of its bytes: Intel HEX and Motorola S-records. It becomes an ELF file
 * without sections and symbols, of 32-bit or 64-bit Arm as its returns are, so that all else sees a program.
 */
#ifndef CT_PROGRAM_TEXT_IMAGE_H
#define CT_PROGRAM_TEXT_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ct_ctx;

/* Returns what the text is, "Intel HEX" or "S-records", by its first record, whose sum has to be right. NULL:
 * it is neither. */
const char *ct_text_image_kind(const uint8_t *text, size_t size);

/* Makes the ELF file of such a text. The new bytes are pages of their own, which ct_whole_file_free frees.
 * CT_ERR_FORMAT with the number of a damaged line, or when a byte is given twice; CT_ERR_NOMEM. */
int ct_text_image_read(struct ct_ctx *ctx, const char *path, const uint8_t *text, size_t size, uint8_t **out,
                       size_t *out_size);

#endif
