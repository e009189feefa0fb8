/* SPDX-License-Identifier: Apache-2.0 */
/* Finds decisions that go on over several lines in the text of a source file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines that belong to one decision. */
struct ct_cover_extent {
    uint32_t first, last;
};

struct ct_cover_extents {
    struct ct_cover_extent *all; /* by line, without overlaps, once ct_cover_extents_read has returned */
    size_t count, room;
};

/* Adds the decisions of a text. The language is C, C++, or another one with their strings, comments and
 * brackets, such as Rust and Go; statements end with a semicolon, a brace, or a line. Nothing in the text is
 * an error. Returns false when out of memory. */
bool ct_cover_extents_read(struct ct_cover_extents *extents, const char *text, size_t size);
