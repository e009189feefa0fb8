/* SPDX-License-Identifier: Apache-2.0 */
/* Writes lines to a receiver, with headings for buffer and trace ID, for all writers of lines. */
#pragma once

#include "base/out.h"
#include "format/text.h"

struct ct_line_out {
    struct ct_ctx *ctx;
    const char *head;   /* names of columns, to be written before anything else; NULL when done */
    const char *buffer; /* heading to be written before the next line */
    int id;
    struct ct_out out;
    struct ct_text text;
};

/* Opens an object of all zeros, which must not be moved. CT_ERR_NOMEM. */
int ct_line_out_open(struct ct_line_out *lines, struct ct_ctx *ctx, ct_write_fn *write, void *user);

/* Writes what is buffered, except a head without lines. Does nothing when the object was not opened. */
void ct_line_out_close(struct ct_line_out *lines);

/* Notes a heading, as ct_lister_heading does. `who` names the function for errors. CT_ERR_ARG. */
int ct_line_out_heading(struct ct_line_out *lines, const char *who, const char *buffer, int id);

/* Writes the pending headings, and returns the text to which the next lines are appended. */
struct ct_text *ct_line_out_begin(struct ct_line_out *lines);

/* Returns the receiver's error, or CT_OK. */
int ct_line_out_result(const struct ct_line_out *lines);
int ct_line_out_flush(struct ct_line_out *lines);
