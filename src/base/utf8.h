/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 in text from outside. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the length of the UTF-8 sequence (RFC 3629) at the start of the `size` bytes at `s`, or 0 when
 * there is none. */
size_t ct_utf8_length(const unsigned char *s, size_t size);

/* Reads the first character of the `size` bytes at `s` (at least one), and its length. A byte that is not
 * UTF-8 gives U+FFFD with length one. */
uint32_t ct_utf8_read(const char *s, size_t size, size_t *length);
