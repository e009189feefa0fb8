/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage in the formats of other tools, and as text. */
#pragma once

#include "coretap/format.h"
#include "format/number.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

/* The anchor of a source line in a page: number of the program, of the file, and the line. */
#define CT_COVER_LINE_ANCHOR "p%zuf%" PRIu32 "l%" PRIu32

/* Which counts of coverage to take, and how to evaluate them. */
struct ct_cover_choice {
    const struct ct_arch *arch;                 /* NULL for the newest A profile */
    const uint32_t *contexts;                   /* context IDs to take */
    size_t context_count;                       /* 0: takes all counts */
    const struct ct_cover_decisions *decisions; /* as in struct ct_cover_source */
    uint8_t all_functions;
};

/* Returns whether a program is the first of those that share its counts. A program that ran at several load
 * biases has the same counts for each of them. */
bool ct_cover_is_first(struct ct_cover *cover, struct ct_programs *programs, struct ct_program *program);

/* Lists the chosen counts of a program, as ct_cover_items does. */
int ct_cover_choose(struct ct_cover *cover, struct ct_program *program, const struct ct_cover_choice *choice,
                    struct ct_cover_item **items, size_t *count);

/* Loads what evaluating the counts of a program requires. The errors of loading the program. */
int ct_cover_source_of(struct ct_program *program, const struct ct_cover_choice *choice,
                       struct ct_cover_source *source);

/* Makes the report of the chosen counts of a program, and sets *source to what it was made with. The errors
 * of ct_cover_choose, of ct_cover_report_new, and those of loading the program. */
int ct_cover_report_of(struct ct_cover *cover, struct ct_program *program,
                       const struct ct_cover_choice *choice, struct ct_cover_source *source,
                       struct ct_cover_report **report);

/* The coverage of one context. */
struct ct_cover_context {
    struct ct_edge_context context;
    struct ct_cover_sums sums;
};

/* The coverage of one program. */
struct ct_cover_view {
    const char *program;
    struct ct_cover_report *report;
    const struct ct_lines *lines;
    const struct ct_memory *memory;
    struct ct_cover_decisions *decisions;
    uint32_t *by_file; /* numbers of the functions by file, line and name */
    /* For text and JSON, sorted by ct_edge_context_order(); NULL when not wanted. */
    struct ct_cover_context *contexts;
    size_t context_count;
};

struct ct_cover_views {
    struct ct_ctx *ctx;
    struct ct_cover_view *views;
    size_t count;
    char *title;
    struct ct_cover_share share;
    /* of the counts; `known` and `unknown` are 0 when nothing tells them */
    struct ct_analysis_captures captures;
};

/* Fills in view->by_file. Returns false when out of memory. */
bool ct_cover_sort_functions(struct ct_cover_view *view);

void ct_cover_text(FILE *out, const struct ct_cover_views *views, bool functions);
/* Returns false, and writes nothing, when there are no lines in source files. */
bool ct_cover_lcov(FILE *out, const struct ct_cover_views *views);
void ct_cover_cobertura(FILE *out, const struct ct_cover_views *views, uint64_t seconds);
void ct_cover_sonarqube(FILE *out, const struct ct_cover_views *views);
void ct_cover_json(FILE *out, const struct ct_cover_views *views);
/* Writes the page. CT_ERR_NOMEM: it is incomplete. */
int ct_cover_html(FILE *out, const struct ct_cover_views *views);

/* Limits of the part of a page about coverage. The page counts what is left out. */
struct ct_cover_shape {
    unsigned level;   /* of the headings of programs: 2 is <h2> */
    size_t functions; /* most rows of a table of functions */
    size_t lines;     /* most lines of annotated source */
};
int ct_cover_html_programs(FILE *out, const struct ct_cover_views *views, const struct ct_cover_shape *shape);

/* The lines of one file: a slice of report->lines. All zeros before the first call of ct_cover_next_file,
 * which advances to the next file and returns false behind the last one. */
struct ct_cover_slice {
    const struct ct_cover_line *lines;
    size_t count;
    uint32_t file;
    const char *path;
};
bool ct_cover_next_file(const struct ct_cover_view *view, struct ct_cover_slice *slice);

/* Adds up the lines of one file. */
struct ct_cover_sums ct_cover_file_sums(const struct ct_cover_view *view, const struct ct_cover_slice *slice);

/* Adds up both directions of the conditional branches of a line. */
struct ct_cover_ratio ct_cover_line_branches(const struct ct_cover_report *report,
                                             const struct ct_cover_line *line);

/* The names by which tools tell functions apart. */
enum ct_cover_names {
    CT_COVER_LINKAGE_NAMES, /* those that linkers see */
    CT_COVER_PLAIN_NAMES,   /* those that people read */
};

/* Sets *function to the next function of a file, and returns false behind the last one. *next is 0 before the
 * first call. Copies of one function, such as a static one of a header or both forms of a constructor, have
 * the same line and name: they are returned as one, with their sums. */
bool ct_cover_next_function(const struct ct_cover_view *view, uint32_t file, enum ct_cover_names names,
                            size_t *next, struct ct_cover_function *function);

/* Writes a ratio as ct_number_percent does. */
const char *ct_cover_percent(char text[CT_NUMBER_SIZE], struct ct_cover_ratio ratio);
double ct_cover_rate(struct ct_cover_ratio ratio);
