/* SPDX-License-Identifier: Apache-2.0 */
/* A trace file that is being recorded. Trace is held back until its description is written. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "coretap/base.h"

struct ct_record_file {
    FILE *file;
    uint8_t *bytes; /* not yet in the file */
    size_t size, room;
    const volatile int *signal; /* ends waiting; NULL: none */
    bool is_pipe;               /* its reader may be slow */
    bool left;                  /* given up after a signal: nothing more is written */
};

/* Creates the file. If it is a pipe, this and each release wait for its reader until *signal is not 0
 * (`signal` NULL: without limit). CT_ERR_IO. */
int ct_record_file_open(struct ct_ctx *ctx, struct ct_record_file *trace, const char *path,
                        const volatile int *signal);
/* Holds bytes for the file. CT_ERR_NOMEM, without a text. */
int ct_record_file_add(struct ct_record_file *trace, const uint8_t *bytes, size_t size);
/* Writes the held bytes; to a pipe until its reader takes nothing for two seconds after a signal. CT_ERR_IO
 * with a text that names the file: `name` in `dir`, or only `name` if `dir` is NULL. */
int ct_record_file_release(struct ct_ctx *ctx, struct ct_record_file *trace, const char *dir,
                           const char *name);
void ct_record_file_close(struct ct_record_file *trace);
