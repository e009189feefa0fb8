/* SPDX-License-Identifier: Apache-2.0 */
/* coretap verdict: writes results of specifications (verify.h) as lines of text or JSON, with the place in
 * the program.
 *
 *     ct_verdict_writer_new(ctx, NULL, write, user, &writer);
 *     ct_verifier_begin(verifier, on_result, writer);    // calls ct_verdict_writer_result
 *     rc = ct_verdict_writer_flush(writer);
 *     ct_verdict_writer_free(writer); */
#ifndef CORETAP_VERDICT_H
#define CORETAP_VERDICT_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/programs.h"
#include "coretap/verify.h"
#include "coretap/watch.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_verdict_format {
    CT_VERDICT_FORMAT_TEXT,  /* a line for each result; after a violation the places before it */
    CT_VERDICT_FORMAT_JSONL, /* one object a line */
};

struct ct_verdict_write_options {
    size_t size;    /* sizeof(struct ct_verdict_write_options) */
    uint8_t format; /* enum ct_verdict_format */
    uint8_t pad[7]; /* 0 */
};

/* One of several sources on an axis. */
struct ct_verdict_source {
    const char *buffer;
    const struct ct_source *source;
    uint8_t id;          /* trace ID */
    uint8_t pad[7];      /* 0 */
    const char *capture; /* the capture of its buffer; NULL: not written */
};

/* The source of results. */
struct ct_verdict_origin {
    const char *buffer;
    const struct ct_source *source;
    const struct ct_watches *watches; /* of the verifier */
    struct ct_programs *programs;     /* give the source lines of places; or NULL */
    const char *const *specs;         /* names of the specifications, by number */
    uint8_t id;                       /* trace ID */
    uint8_t named;                    /* 1: text says which specification a result belongs to */
    uint8_t several; /* 1: results are of `sources` instead of `buffer`, `source` and `id`: each event of the
                        source with its number */
    uint8_t pad[5];  /* 0 */
    const struct ct_verdict_source *sources;
    size_t source_count;
    const char *capture; /* the capture of the buffer; NULL: not written */
};

/* Writes results, one line each. */
struct ct_verdict_writer;

/* Makes a writer that passes its lines to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_verdict_writer_new(struct ct_ctx *ctx, const struct ct_verdict_write_options *options,
                                 ct_write_fn *write, void *user, struct ct_verdict_writer **out);

/* Writes what is buffered and frees the writer. */
CT_API void ct_verdict_writer_free(struct ct_verdict_writer *writer);

/* Sets the buffer (not owned) and trace ID of the lines that follow, like ct_lister_heading. CT_ERR_ARG. */
CT_API int ct_verdict_writer_heading(struct ct_verdict_writer *writer, const char *buffer, int id);

/* Writes a result. CT_ERR_ARG, what the receiver returned. */
CT_API int ct_verdict_writer_result(struct ct_verdict_writer *writer, const struct ct_verdict_origin *origin,
                                    const struct ct_verify_result *result);

/* Writes that a specification takes no more events, and the reason. The same errors. */
CT_API int ct_verdict_writer_stopped(struct ct_verdict_writer *writer, const struct ct_verdict_origin *origin,
                                     uint32_t spec, const char *why);

/* Passes what is written so far to the receiver. The same errors. */
CT_API int ct_verdict_writer_flush(struct ct_verdict_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
