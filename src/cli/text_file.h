/* SPDX-License-Identifier: Apache-2.0 */
/* Text files that the command line names. */
#ifndef CT_CLI_TEXT_FILE_H
#define CT_CLI_TEXT_FILE_H

#include <stddef.h>

/* Reads a whole file and puts a NUL behind it; to be freed. NULL after a message. */
char *cli_read_text(const char *path);

/* Reads a whole file of up to about `most` bytes, as above. *size is its size. */
char *cli_read_file(const char *path, size_t most, size_t *size);

#endif
