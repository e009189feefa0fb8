/* SPDX-License-Identifier: Apache-2.0 */
/* Detects the padding that assemblers and linkers put between pieces of code. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many of the first bytes are padding: zeros or a NOP; 0 for anything else. `wide`: A64 code. */
size_t ct_padding(const uint8_t *bytes, size_t size, bool wide);
