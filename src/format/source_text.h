/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a source file, line by line. */
#ifndef CT_FORMAT_SOURCE_TEXT_H
#define CT_FORMAT_SOURCE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "coretap/source_lines.h"

/* A source file that is being read; all zero for a file without a line. */
struct ct_source_text {
    char *text;
    size_t size;
    size_t at; /* offset of the next line */
};

/* Reads file number `file` of the line table. A file that ct_lines_source does not read has no line. */
struct ct_source_text ct_source_text_read(const struct ct_lines *lines, uint32_t file);
void ct_source_text_free(struct ct_source_text *source);

/* Gives the next line without its end. Returns false behind the last one. */
bool ct_source_text_next(struct ct_source_text *source, const char **text, size_t *size);

#endif
