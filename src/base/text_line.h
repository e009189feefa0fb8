/* SPDX-License-Identifier: Apache-2.0 */
/* Small text files, line by line. */
#pragma once

#include <stddef.h>
#include <stdio.h>

struct ct_ctx;

/* Reads the next line of a file to `line`, which has `room` bytes, without the newline. `path` and `number`,
 * the line number, are for messages. Returns 1, 0 at the end of the file, CT_ERR_FORMAT when the line is too
 * long or contains a NUL, CT_ERR_IO when the file cannot be read. */
int ct_text_line(struct ct_ctx *ctx, FILE *file, const char *path, unsigned number, char *line, size_t room);
