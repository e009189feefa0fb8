/* SPDX-License-Identifier: Apache-2.0 */
/* A file of trace that is being recorded: it grows only when what describes its trace is written. */
#ifndef CT_RECORD_FILE_H
#define CT_RECORD_FILE_H

#include <stdbool.h>
#include <stdio.h>

#include "coretap/base.h"

struct ct_record_file {
    FILE *file;
    uint8_t *bytes; /* not yet in the file */
    size_t size, room;
    const volatile int *signal; /* that ends waiting; NULL: there is none */
    bool is_pipe;               /* its reader may let it wait */
    bool left;                  /* the reader left behind a signal: nothing more is written */
};

/* Creates the file. For the reader of a pipe it waits until *signal (NULL: there is none) is not 0, and so
 * does each release. CT_ERR_IO. */
int ct_record_file_open(struct ct_ctx *ctx, struct ct_record_file *trace, const char *path,
                        const volatile int *signal);
/* Holds bytes for the file. CT_ERR_NOMEM, without a text. */
int ct_record_file_add(struct ct_record_file *trace, const uint8_t *bytes, size_t size);
/* Writes what is held; of a pipe's until its reader takes nothing for two seconds behind a signal. CT_ERR_IO
 * with a text that names the file: `name`, in `dir` or, with NULL, as it is. */
int ct_record_file_release(struct ct_ctx *ctx, struct ct_record_file *trace, const char *dir,
                           const char *name);
void ct_record_file_close(struct ct_record_file *trace);

#endif
