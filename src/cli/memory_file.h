/* SPDX-License-Identifier: Apache-2.0 */
/* A text in memory that is written with stdio. Unlike that of open_memstream(), it is never cut off in
 * silence where memory ran out.
 *
 *     struct cli_memory_file file;
 *     if (!cli_memory_open(&file))
 *         return false;
 *     fprintf(file.out, "%d", 1);
 *     char *text = cli_memory_close(&file, &size); */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct cli_memory_file {
    FILE *out;
    char *text;
    size_t size, room;
};

/* Opens an empty text. Returns false when out of memory. */
bool cli_memory_open(struct cli_memory_file *file);

/* Closes the file and returns the whole text with a NUL behind it, to be freed by the caller. NULL when
 * memory ran out. */
char *cli_memory_close(struct cli_memory_file *file, size_t *size);
