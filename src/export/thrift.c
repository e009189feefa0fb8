/* SPDX-License-Identifier: Apache-2.0 */
#include "export/thrift.h"

#include <string.h>

enum type {
    TYPE_TRUE = 1,
    TYPE_FALSE = 2,
    TYPE_I8 = 3,
    TYPE_I32 = 5,
    TYPE_I64 = 6,
    TYPE_BYTES = 8,
    TYPE_LIST = 9,
    TYPE_STRUCT = 12,
};

/* Maps numbers near 0, of either sign, to small unsigned numbers. */
static uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t) - (int64_t)(value < 0);
}

/* Writes the header of a field: the distance of its number from the previous one, and its type. */
static void put_field(struct ct_thrift *t, int field, enum type type)
{
    const int step = field - t->last[t->depth];
    ct_grown_put_number(t->to, (uint64_t)step << 4 | type, 1);
    t->last[t->depth] = field;
}

void ct_thrift_begin(struct ct_thrift *t)
{
    t->last[++t->depth] = 0;
}

void ct_thrift_end(struct ct_thrift *t)
{
    ct_grown_put_number(t->to, 0, 1);
    t->depth--;
}

void ct_thrift_field_struct(struct ct_thrift *t, int field)
{
    put_field(t, field, TYPE_STRUCT);
    ct_thrift_begin(t);
}

void ct_thrift_field_bool(struct ct_thrift *t, int field, bool value)
{
    put_field(t, field, value ? TYPE_TRUE : TYPE_FALSE);
}

void ct_thrift_field_i8(struct ct_thrift *t, int field, int8_t value)
{
    put_field(t, field, TYPE_I8);
    ct_grown_put_number(t->to, (uint8_t)value, 1);
}

void ct_thrift_field_i32(struct ct_thrift *t, int field, int32_t value)
{
    put_field(t, field, TYPE_I32);
    ct_thrift_i32(t, value);
}

void ct_thrift_field_i64(struct ct_thrift *t, int field, int64_t value)
{
    put_field(t, field, TYPE_I64);
    ct_grown_put_varint(t->to, zigzag(value));
}

void ct_thrift_field_bytes(struct ct_thrift *t, int field, const void *bytes, size_t size)
{
    put_field(t, field, TYPE_BYTES);
    ct_grown_put_varint(t->to, size);
    ct_grown_put(t->to, bytes, size);
}

void ct_thrift_field_text(struct ct_thrift *t, int field, const char *text)
{
    ct_thrift_field_bytes(t, field, text, strlen(text));
}

/* Begins a list. A small size shares a byte with the type of the elements. */
static void put_list(struct ct_thrift *t, int field, size_t count, enum type of)
{
    put_field(t, field, TYPE_LIST);
    ct_grown_put_number(t->to, (count < 15 ? count : 15) << 4 | of, 1);
    if (count >= 15)
        ct_grown_put_varint(t->to, count);
}

void ct_thrift_field_structs(struct ct_thrift *t, int field, size_t count)
{
    put_list(t, field, count, TYPE_STRUCT);
}

void ct_thrift_field_i32s(struct ct_thrift *t, int field, size_t count)
{
    put_list(t, field, count, TYPE_I32);
}

void ct_thrift_field_texts(struct ct_thrift *t, int field, size_t count)
{
    put_list(t, field, count, TYPE_BYTES);
}

void ct_thrift_i32(struct ct_thrift *t, int32_t value)
{
    ct_grown_put_varint(t->to, zigzag(value));
}

void ct_thrift_text(struct ct_thrift *t, const char *text)
{
    const size_t size = strlen(text);
    ct_grown_put_varint(t->to, size);
    ct_grown_put(t->to, text, size);
}
