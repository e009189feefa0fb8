/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the fields of a protobuf message as described at protobuf.dev (Encoding); base/protobuf.h writes
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ct_proto_type {
    CT_PROTO_NUMBER = 0, /* a varint */
    CT_PROTO_FIXED64 = 1,
    CT_PROTO_BYTES = 2, /* with their length before them: also texts and messages */
    CT_PROTO_FIXED32 = 5,
};

/* A message that is being read. Its fields may have any order. */
struct ct_proto {
    const uint8_t *at, *end;
    bool bad; /* a field is cut, or has an unknown type */
};

struct ct_proto_field {
    uint64_t number;
    enum ct_proto_type type;
    uint64_t value;       /* of a number */
    const uint8_t *bytes; /* of bytes */
    size_t size;
};

/* Reads the next field. Returns false at the end, and when the message is bad. */
bool ct_proto_next(struct ct_proto *message, struct ct_proto_field *field);

/* Returns whether a field has this number and type. */
static inline bool ct_proto_is(const struct ct_proto_field *field, unsigned number, enum ct_proto_type type)
{
    return field->number == number && field->type == type;
}
