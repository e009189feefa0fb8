/* SPDX-License-Identifier: Apache-2.0 */
/* Text files that the command line names. */
#ifndef CT_CLI_TEXT_FILE_H
#define CT_CLI_TEXT_FILE_H

#include <stddef.h>

/* The whole file with a NUL behind it, to be freed. NULL: said why. */
char *cli_read_text(const char *path);

/* The same of *size bytes, and of about `most` at the most. */
char *cli_read_file(const char *path, size_t most, size_t *size);

#endif
