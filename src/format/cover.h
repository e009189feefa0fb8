/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage in the formats of other tools, and in words. */
#ifndef CT_FORMAT_COVER_H
#define CT_FORMAT_COVER_H

#include "coretap/format.h"
#include "format/number.h"

#include <stdbool.h>
#include <stdio.h>

/* Which counts of coverage are meant, and what they are worked out with. */
struct ct_cover_choice {
    const struct ct_arch *arch; /* NULL: a newest A profile */
    const uint32_t *contexts;   /* context IDs */
    size_t context_count;       /* 0: all counts */
    uint8_t all_functions;      /* as in struct ct_cover_source */
};

/* Tells whether a program is the first of those that share its counts: one that ran at several load biases
 * has the same counts at all of them. */
bool ct_cover_is_first(struct ct_cover *cover, struct ct_programs *programs, struct ct_program *program);

/* Lists the counts of a program that are meant, as ct_cover_items does. */
int ct_cover_choose(struct ct_cover *cover, struct ct_program *program, const struct ct_cover_choice *choice,
                    struct ct_cover_item **items, size_t *count);

/* Loads what counts of a program are worked out with. The errors of loading the program. */
int ct_cover_source_of(struct ct_program *program, const struct ct_cover_choice *choice,
                       struct ct_cover_source *source);

/* Works out what they mean; *source is what they were worked out with. The errors of ct_cover_choose, of
 * ct_cover_report_new, and those of loading the program. */
int ct_cover_report_of(struct ct_cover *cover, struct ct_program *program,
                       const struct ct_cover_choice *choice, struct ct_cover_source *source,
                       struct ct_cover_report **report);

/* What ran in one context. */
struct ct_cover_context {
    struct ct_edge_context context;
    struct ct_cover_sums sums;
};

/* One program. */
struct ct_cover_view {
    const char *program;
    struct ct_cover_report *report;
    const struct ct_lines *lines;
    const struct ct_memory *memory;
    struct ct_cover_context
        *contexts; /* for text and JSON, by ct_edge_context_order(); NULL: not asked for */
    size_t context_count;
};

struct ct_cover_views {
    struct ct_ctx *ctx;
    struct ct_cover_view *views;
    size_t count;
    char *title;
    struct ct_analysis_captures captures; /* that the counts are of; known and unknown 0: nobody told */
};

void ct_cover_text(FILE *out, const struct ct_cover_views *views, bool functions);
void ct_cover_lcov(FILE *out, const struct ct_cover_views *views);
void ct_cover_cobertura(FILE *out, const struct ct_cover_views *views, uint64_t seconds);
void ct_cover_json(FILE *out, const struct ct_cover_views *views);
/* CT_ERR_NOMEM: something of the page is missing. */
int ct_cover_html(FILE *out, const struct ct_cover_views *views);

/* The programs of that page, to stand in a larger one. Memory and file size are bounded: what is left out is
 * said. CT_ERR_NOMEM. */
struct ct_cover_shape {
    unsigned level;   /* of the headings of programs: 2 is <h2> */
    size_t functions; /* rows of each table of functions, at most */
    size_t lines;     /* of annotated source, at most */
};
int ct_cover_html_programs(FILE *out, const struct ct_cover_views *views, const struct ct_cover_shape *shape);

/* Lines of one file: a slice of report->lines, the next one with each call. False behind
 * the last. Start with all zero. */
struct ct_cover_slice {
    const struct ct_cover_line *lines;
    size_t count;
    uint32_t file;
    const char *path;
};
bool ct_cover_next_file(const struct ct_cover_view *view, struct ct_cover_slice *slice);

/* Sums of one file. */
struct ct_cover_sums ct_cover_file_sums(const struct ct_cover_view *view, const struct ct_cover_slice *slice);

/* As ct_number_percent. */
const char *ct_cover_percent(char text[CT_NUMBER_SIZE], struct ct_cover_ratio ratio);
double ct_cover_rate(struct ct_cover_ratio ratio);

#endif
