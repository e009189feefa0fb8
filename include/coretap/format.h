/* SPDX-License-Identifier: Apache-2.0 */
/* coretap format: what was found, as text for people and in the formats of other tools.
 *
 *     const struct ct_cover_views_options what = {.size = sizeof what, .title = "capture"};
 *     const struct ct_cover_write_options how = {.size = sizeof how, .format = CT_COVER_FORMAT_LCOV};
 *     ct_cover_views_new(cover, programs, &what, &views);
 *     ct_cover_views_write(views, &how, write, user);
 *     ct_cover_views_free(views);
 *
 * Functions that write give their text to a receiver, in pieces. What the receiver returns ends the writing.
 */
#ifndef CORETAP_FORMAT_H
#define CORETAP_FORMAT_H

#include "coretap/base.h"
#include "coretap/cover.h"
#include "coretap/input.h"
#include "coretap/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- coverage ---- */

/* What coverage says of each program, ready to be written. */
struct ct_cover_views;

struct ct_cover_views_options {
    size_t size;                /* sizeof(struct ct_cover_views_options) */
    const char *title;          /* what was covered, for the heading of a page; NULL: "capture" */
    const struct ct_arch *arch; /* of the core that ran the programs; NULL: a newest A profile */
    const uint32_t *contexts;   /* context IDs whose counts are wanted; NULL: all counts */
    size_t context_count;
    uint8_t each_context;  /* 1: text and JSON have the sums of each context, too */
    uint8_t all_functions; /* as in struct ct_cover_source */
};

/* Works out what the counts in `cover` say of each of the programs, in their order. One that lay at several
 * places is in it once. `programs` has to stay as long as the views. Errors: those of ct_cover_report_new, of
 * ct_program_symbols and of ct_program_lines. */
CT_API int ct_cover_views_new(struct ct_cover *cover, struct ct_programs *programs,
                              const struct ct_cover_views_options *options, struct ct_cover_views **out);
CT_API void ct_cover_views_free(struct ct_cover_views *views);

/* Returns how many programs the views are of. */
CT_API size_t ct_cover_views_count(const struct ct_cover_views *views);

/* Returns what is known of one of the programs, by its number in the views. The report belongs to them. NULL
 * for other numbers. */
CT_API const struct ct_cover_report *ct_cover_views_report(const struct ct_cover_views *views, size_t number);

enum ct_cover_format {
    CT_COVER_FORMAT_TEXT,      /* a summary */
    CT_COVER_FORMAT_LCOV,      /* a tracefile for genhtml */
    CT_COVER_FORMAT_COBERTURA, /* XML */
    CT_COVER_FORMAT_JSON,      /* all but instructions */
    CT_COVER_FORMAT_HTML,      /* one page, with source and instructions */
};

struct ct_cover_write_options {
    size_t size;       /* sizeof(struct ct_cover_write_options) */
    uint64_t seconds;  /* since 1970, the time that Cobertura's file tells; 0: now */
    uint8_t format;    /* enum ct_cover_format */
    uint8_t functions; /* 1: text has a line for each function */
};

/* Writes coverage in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM when something is missing in the page, what
 * `write` returned. */
CT_API int ct_cover_views_write(const struct ct_cover_views *views,
                                const struct ct_cover_write_options *options, ct_write_fn *write, void *user);

#ifdef __cplusplus
}
#endif
#endif
