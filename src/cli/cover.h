/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage files, which 'cover' and 'merge' read. */
#ifndef CT_CLI_COVER_H
#define CT_CLI_COVER_H

#include "cli/cli.h"
#include "coretap/cover.h"

/* True for a file that begins as coverage files do. */
bool cli_cover_is_file(const char *path);

/* Adds the counts of a coverage file. False: said why. */
bool cli_cover_read(struct ct_ctx *ctx, struct ct_cover *cover, const char *path);

/* Writes a coverage file. Result: enum cli_exit. */
int cli_cover_write(struct ct_ctx *ctx, struct ct_cover *cover, FILE *out);

#endif
