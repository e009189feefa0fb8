/* SPDX-License-Identifier: Apache-2.0 */
/* Saved results on their way into tables. */
#pragma once

#include "cli/export_origins.h"
#include "coretap/programs.h"
#include "coretap/tables.h"

struct cli_rows {
    const struct cli_args *args;
    size_t elf;                 /* index of the option that names programs */
    const char *test, *machine; /* for results without a manifest; or NULL */
    bool all_functions;
    struct cli_origins origins;
    struct ct_tables *tables;
    struct ct_programs *programs; /* of all results, each loaded once; NULL before the first coverage */
    char **missing;               /* programs already reported as missing */
    size_t missing_count;
    uint64_t others; /* files of other kinds in folders */
    int code;        /* enum cli_exit so far */
};

/* Adds a file of coverage or times, or all pieces in a folder. Returns false after a message. */
bool cli_rows_add(struct cli_rows *rows, const char *path);

/* Reports an error, except a write error, which is reported when the file is closed. Returns whether there
 * was none. */
bool cli_rows_fine(struct cli_rows *rows, int rc);

/* Reports what the tables lack, and sets the exit code accordingly. */
void cli_rows_tell(struct cli_rows *rows);
void cli_rows_close(struct cli_rows *rows);
