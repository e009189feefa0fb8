/* SPDX-License-Identifier: Apache-2.0 */
/* Byte buffers that grow, in which the header or the contents of a file are built. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A byte buffer that grows. Once memory runs out nothing more is added. All zero is an empty one. */
struct ct_grown {
    uint8_t *bytes;
    size_t size, room;
    bool failed; /* memory ran out */
};

/* Appends `size` bytes whose values the caller sets. Returns their address; NULL: out of memory. */
uint8_t *ct_grown_add(struct ct_grown *to, size_t size);
void ct_grown_put(struct ct_grown *to, const void *bytes, size_t size);
/* Appends a number of `size` bytes in little-endian order, as do the next two. */
void ct_grown_put_number(struct ct_grown *to, uint64_t number, unsigned size);
void ct_grown_put32(struct ct_grown *to, uint32_t number);
void ct_grown_put64(struct ct_grown *to, uint64_t number);
/* Appends a number in groups of seven bits, the lowest first (ULEB128). */
void ct_grown_put_varint(struct ct_grown *to, uint64_t number);
void ct_grown_free(struct ct_grown *bytes);
