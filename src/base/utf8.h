/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in what comes from elsewhere. */
#ifndef CT_BASE_UTF8_H
#define CT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* Gives the length of the UTF-8 sequence (RFC 3629) that the `size` bytes at `s` begin with, or 0 when they
 * begin with none. */
size_t ct_utf8_length(const unsigned char *s, size_t size);

/* Reads the character that the `size` bytes at `s` begin with, at least one, and gives its bytes. A byte that
 * is no UTF-8 is U+FFFD of one byte. */
uint32_t ct_utf8_read(const char *s, size_t size, size_t *length);

#endif
