/* SPDX-License-Identifier: Apache-2.0 */
/* Knows what assemblers and linkers fill gaps between code with. */
#ifndef CT_BASE_PADDING_H
#define CT_BASE_PADDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns how many of the bytes are padding at their begin: zeros or an instruction that does nothing; 0 when
 * it is something else. `wide`: A64 code. */
size_t ct_padding(const uint8_t *bytes, size_t size, bool wide);

#endif
