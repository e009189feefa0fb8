/* SPDX-License-Identifier: Apache-2.0 */
/* Writes messages of Protocol Buffers (in their published encoding) into a growing buffer. The caller knows
 * the numbers and types of the fields.
 *
 *     const size_t location = ct_protobuf_begin(bytes, 4);
 *     ct_protobuf_number(bytes, 1, id);
 *     ct_protobuf_end(bytes, location);
 *
 * When memory runs out, nothing more is added (bytes->failed). */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/grown.h"

/* Adds a field of the types int32, int64, uint32, uint64, bool or enum. */
void ct_protobuf_number(struct ct_grown *to, unsigned field, uint64_t value);
void ct_protobuf_fixed64(struct ct_grown *to, unsigned field, uint64_t value);
void ct_protobuf_double(struct ct_grown *to, unsigned field, double value);
void ct_protobuf_bytes(struct ct_grown *to, unsigned field, const void *bytes, size_t size);

/* Adds a field of the type string. Bytes that are not UTF-8 become U+FFFD, because the type requires
 * UTF-8. */
void ct_protobuf_text(struct ct_grown *to, unsigned field, const char *text);

/* Begins a field that is a message, or a list of packed numbers. Everything added belongs to it until
 * ct_protobuf_end is called with the result. */
size_t ct_protobuf_begin(struct ct_grown *to, unsigned field);
void ct_protobuf_end(struct ct_grown *to, size_t begin);
