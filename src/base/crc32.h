/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as in zlib. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `n` bytes. */
uint32_t ct_crc32(const uint8_t *p, size_t n);
