/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol, in which Parquet has its headers, into bytes that grow. */
#ifndef CT_EXPORT_THRIFT_H
#define CT_EXPORT_THRIFT_H

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
void ct_grown_put32(struct ct_grown *to, uint32_t number); /* little-endian, as the next one */
void ct_grown_put64(struct ct_grown *to, uint64_t number);
/* Adds a number seven bits a byte, the lowest ones first (ULEB128). */
void ct_grown_put_varint(struct ct_grown *to, uint64_t number);
void ct_grown_free(struct ct_grown *bytes);

#define CT_THRIFT_DEPTH 8 /* structs inside of one another */

struct ct_thrift {
    struct ct_grown *to;
    unsigned depth;                /* of the struct that is open, from 1 on */
    int last[CT_THRIFT_DEPTH + 1]; /* number of the last field of each open struct */
};

/* A struct is open from the begin to the end. Fields go in the order of their numbers. That of an element of
 * a list, or of the whole, has no number. */
void ct_thrift_begin(struct ct_thrift *thrift);
void ct_thrift_end(struct ct_thrift *thrift);
void ct_thrift_field_struct(struct ct_thrift *thrift, int field);
void ct_thrift_field_bool(struct ct_thrift *thrift, int field, bool value);
void ct_thrift_field_i8(struct ct_thrift *thrift, int field, int8_t value);
void ct_thrift_field_i32(struct ct_thrift *thrift, int field, int32_t value);
void ct_thrift_field_i64(struct ct_thrift *thrift, int field, int64_t value);
void ct_thrift_field_bytes(struct ct_thrift *thrift, int field, const void *bytes, size_t size);
void ct_thrift_field_text(struct ct_thrift *thrift, int field, const char *text);

/* Begins a list of so many structs, numbers or texts, which follow. */
void ct_thrift_field_structs(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_field_i32s(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_field_texts(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_i32(struct ct_thrift *thrift, int32_t value);
void ct_thrift_text(struct ct_thrift *thrift, const char *text);

#endif
