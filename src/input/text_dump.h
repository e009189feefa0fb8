/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a tool has written as text. They are given in place of a trace, which is read as bytes. */
#pragma once

#include <stddef.h>

/* Returns what a file that begins with `text` is, and how it becomes bytes; NULL when it is not bytes as
 * text. */
const char *ct_text_dump_kind(const char *text, size_t size);
