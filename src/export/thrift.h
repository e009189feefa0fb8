/* SPDX-License-Identifier: Apache-2.0 */
/* Writes Thrift's compact protocol, the format of Parquet's headers, into growing bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/grown.h"

#define CT_THRIFT_DEPTH 8 /* nested structs */

struct ct_thrift {
    struct ct_grown *to;
    unsigned depth;                /* of the open struct, from 1 */
    int last[CT_THRIFT_DEPTH + 1]; /* by depth: number of the last field of the open struct */
};

/* Begin and end a struct that is an element of a list, or the outermost one. ct_thrift_field_struct begins
 * one as a field; it ends with ct_thrift_end too. Fields are written in the order of their numbers. */
void ct_thrift_begin(struct ct_thrift *thrift);
void ct_thrift_end(struct ct_thrift *thrift);
void ct_thrift_field_struct(struct ct_thrift *thrift, int field);
void ct_thrift_field_bool(struct ct_thrift *thrift, int field, bool value);
void ct_thrift_field_i8(struct ct_thrift *thrift, int field, int8_t value);
void ct_thrift_field_i32(struct ct_thrift *thrift, int field, int32_t value);
void ct_thrift_field_i64(struct ct_thrift *thrift, int field, int64_t value);
void ct_thrift_field_bytes(struct ct_thrift *thrift, int field, const void *bytes, size_t size);
void ct_thrift_field_text(struct ct_thrift *thrift, int field, const char *text);

/* Begin a list of `count` structs, numbers or texts, which follow. */
void ct_thrift_field_structs(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_field_i32s(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_field_texts(struct ct_thrift *thrift, int field, size_t count);
void ct_thrift_i32(struct ct_thrift *thrift, int32_t value);
void ct_thrift_text(struct ct_thrift *thrift, const char *text);
