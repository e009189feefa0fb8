/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, line by line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "coretap/source_lines.h"

/* A source file being read. All zeros for a file without lines. */
struct ct_source_text {
    char *text;
    size_t size;
    size_t at; /* offset of the next line */
};

/* Reads file number `file` of the line table. A file that ct_lines_source cannot read has no lines. */
struct ct_source_text ct_source_text_read(const struct ct_lines *lines, uint32_t file);
void ct_source_text_free(struct ct_source_text *source);

/* Gives the next line without its newline. Returns false behind the last one. */
bool ct_source_text_next(struct ct_source_text *source, const char **text, size_t *size);
