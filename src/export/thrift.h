/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol, in which Parquet has its headers, into bytes that grow. */
#ifndef CT_EXPORT_THRIFT_H
#define CT_EXPORT_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/grown.h"

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
