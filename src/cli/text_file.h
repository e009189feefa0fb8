/* SPDX-License-Identifier: Apache-2.0 */
/* Text files on the command line. */
#pragma once

#include <stddef.h>

/* Reads a whole file and puts a NUL behind it. The caller frees the text. Returns NULL after a message. */
char *cli_read_text(const char *path);

/* Does the same for a file of up to about `most` bytes, and sets *size to its size. */
char *cli_read_file(const char *path, size_t most, size_t *size);
