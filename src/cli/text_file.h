/* SPDX-License-Identifier: Apache-2.0 */
/* Text files on the command line. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Reads a whole file and puts a NUL behind it. The caller frees the text. Returns NULL after a message. */
char *cli_read_text(const char *path);

/* Does the same, takes - for standard input, and sets *size to the file's size: it may contain NULs. */
char *cli_read_text_or_standard(const char *path, size_t *size);

/* Does the same for a file of up to about `most` bytes, and sets *size to its size. */
char *cli_read_file(const char *path, size_t most, size_t *size);

/* Returns whether a text of statements has only empty lines and comments that begin with #. */
bool cli_text_is_blank(const char *text);
