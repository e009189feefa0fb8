/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on their way to a receiver, with headings that say what they are of: what writers have in common. */
#ifndef CT_FORMAT_LINE_OUT_H
#define CT_FORMAT_LINE_OUT_H

#include "format/out.h"
#include "format/text.h"

struct ct_line_out {
    struct ct_ctx *ctx;
    const char *head;   /* names of columns that are still to be written, before anything else; or NULL */
    const char *buffer; /* headings that are still to be written, before the next line */
    int id;
    struct ct_out out;
    struct ct_text text;
};

/* Opens lines that are all zero and stay where they are. CT_ERR_NOMEM. */
int ct_line_out_open(struct ct_line_out *lines, struct ct_ctx *ctx, ct_write_fn *write, void *user);

/* Writes what is left, but for a head that nothing came behind; nothing where they were not opened. */
void ct_line_out_close(struct ct_line_out *lines);

/* Notes a heading, as ct_lister_heading does, for the function `who`. CT_ERR_ARG. */
int ct_line_out_heading(struct ct_line_out *lines, const char *who, const char *buffer, int id);

/* Writes the headings that were noted, and gives the text that the next lines go to. */
struct ct_text *ct_line_out_begin(struct ct_line_out *lines);

/* The receiver's error, when there is one. */
int ct_line_out_result(const struct ct_line_out *lines);
int ct_line_out_flush(struct ct_line_out *lines);

#endif
