/* SPDX-License-Identifier: Apache-2.0 */
/* Recognises compressed files and archives by their first bytes. */
#pragma once

#include <stddef.h>

/* Returns what a file with these first bytes is and what to do with it, as words behind its path; NULL for
 * files that are not packed. 262 bytes are enough to recognise each kind. */
const char *ct_packed_kind(const void *bytes, size_t size);
