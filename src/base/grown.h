/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that grow: where what a file begins with, or holds, is put together. */
#ifndef CT_BASE_GROWN_H
#define CT_BASE_GROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that grow. Once memory is missing nothing more is added. To be zeroed before its first use. */
struct ct_grown {
    uint8_t *bytes;
    size_t size, room;
    bool failed; /* memory was missing */
};

/* Makes room for `size` more bytes and counts them as there. Result: where they are; NULL: no memory. */
uint8_t *ct_grown_add(struct ct_grown *to, size_t size);
void ct_grown_put(struct ct_grown *to, const void *bytes, size_t size);
/* Adds a number of `size` bytes, little-endian as the next two. */
void ct_grown_put_number(struct ct_grown *to, uint64_t number, unsigned size);
void ct_grown_put32(struct ct_grown *to, uint32_t number);
void ct_grown_put64(struct ct_grown *to, uint64_t number);
/* Adds a number seven bits a byte, the lowest ones first (ULEB128). */
void ct_grown_put_varint(struct ct_grown *to, uint64_t number);
void ct_grown_free(struct ct_grown *bytes);

#endif
