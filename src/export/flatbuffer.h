/* SPDX-License-Identifier: Apache-2.0 */
/* Writes FlatBuffers, the format of Arrow's metadata, from front to back: a table comes first, and the data
 * that its fields point to is written behind it.
 *
 *  struct ct_flat_field fields[] = {{.size = 4}, {.size = 1, .value = 1}};
 *  ct_flat_begin(&flat, to);
 *  ct_flat_table(&flat, CT_FLAT_ROOT, fields, 2);
 *  ct_flat_text(&flat, fields[0].at, "main");
 *
 * The format is described at flatbuffers.dev (FlatBuffer Internals). Positions are bytes from the beginning.
 * When memory is missing, to->failed is set and nothing is written. */
#pragma once

#include "base/grown.h"

struct ct_flat {
    struct ct_grown *to;
    size_t begin; /* in `to`, at a multiple of 8 */
};

/* The position of the field that points to the first table. */
#define CT_FLAT_ROOT 0

/* A field of a table. Fields have the order of the schema. */
struct ct_flat_field {
    uint8_t size; /* 1, 2, 4 or 8 bytes; 0: left out, the field has its default value */
    uint64_t value;
    size_t at; /* set to its position. A field of 4 bytes can point to data behind the table */
};

void ct_flat_begin(struct ct_flat *flat, struct ct_grown *to);

/* Writes a table, and makes the field at position `from` point to it. */
void ct_flat_table(struct ct_flat *flat, size_t from, struct ct_flat_field *fields, size_t count);

/* Appends a text, and makes the field at `from` point to it. */
void ct_flat_text(struct ct_flat *flat, size_t from, const char *text);

/* Appends the head of a list, and makes the field at `from` point to it. Its `count` elements, of `size`
 * bytes each, follow as zeros. Returns the position of the first element. */
size_t ct_flat_list(struct ct_flat *flat, size_t from, size_t count, size_t size);

/* Adds zeros until the size since the beginning is a multiple of `to_multiple`. */
void ct_flat_align(struct ct_flat *flat, size_t to_multiple);
