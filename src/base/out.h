/* SPDX-License-Identifier: Apache-2.0 */
/* A stdio stream that writes to a receiver (ct_write_fn). */
#pragma once

#include <stdio.h>

#include "coretap/base.h"

struct ct_out {
    FILE *file;
    ct_write_fn *write;
    void *user;
    int result; /* the receiver's first error, after which nothing more is written */
    char buffer[16384];
};

/* Opens out->file. `out` must not be moved. CT_ERR_NOMEM. */
int ct_out_open(struct ct_out *out, struct ct_ctx *ctx, ct_write_fn *write, void *user);

/* Writes what is buffered and closes the stream. Returns the receiver's error, or else `result`. */
int ct_out_close(struct ct_out *out, int result);
