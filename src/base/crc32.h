/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as in zlib. */
#ifndef CT_BASE_CRC32_H
#define CT_BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of `n` bytes. */
uint32_t ct_crc32(const uint8_t *p, size_t n);

#endif
