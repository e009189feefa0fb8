/* SPDX-License-Identifier: Apache-2.0 */
/* A live run from its first byte to its last. */
#pragma once

#include "cli/counts.h"
#include "cli/monitors.h"
#include "cli/output.h"
#include "coretap/live.h"

/* The wishes of the command line. */
struct cli_live_wishes {
    const char *http, *token;                  /* or NULL */
    const char *output;                        /* folder of the reports; NULL: standard output */
    const char *targets;                       /* file, or NULL */
    const char *tee;                           /* file to store the trace in, or NULL */
    bool again;                                /* accept another connection after each one */
    bool per_core;                             /* each trace ID is a separate run */
    bool idle;                                 /* a core without trace is idle */
    size_t elf_option, pair_option, at_option; /* indexes of --elf, --pair, --at */
    size_t ring;                               /* in bytes; 0: the library's default */
    bool drop;
    bool cover, timing;
    bool watch;                       /* how often execution came by watchpoints is told at the end */
    enum ct_verdict_format format;    /* of violations */
    const char *violations, *outputs; /* files that receive lines as results come, or NULL */
    bool outputs_csv;                 /* outputs are CSV rather than JSON */
    const char *on_violation;         /* a command, or NULL */
    const char *post;                 /* a URL, or NULL */
    const char *post_ca;              /* file of certificates to trust for it, or NULL */
    uint32_t hook_jobs;               /* most commands at a time; 0: the library's default */
    bool fractal;                     /* the input is an event log */
    size_t milestone_option;          /* index of --milestone */
    uint16_t threads;                 /* for decoding; 0: the library's default */
};

/* A file of results, one a line. */
struct cli_live_lines {
    const char *path; /* NULL: no file */
    FILE *file;
    struct cli_output output;         /* unused for standard output */
    struct ct_verdict_writer *writer; /* for JSON */
    uint64_t count;                   /* lines written */
    bool csv;
    bool given_up; /* after a write error */
};

/* The violations of one trace ID, or of all IDs together. */
struct cli_live_violations {
    struct cli_output output; /* its own file; without one, violations go to standard output */
    char *path;               /* of that file, or NULL */
    struct ct_verdict_writer *writer;
};

struct cli_live {
    const struct cli_args *args;
    const char *input; /* as on the command line */
    const struct cli_live_wishes *wishes;
    struct ct_ctx *ctx;
    struct cli_counts counts;     /* the capture, and programs for coverage */
    struct ct_buffer *log_buffer; /* stands for the capture of an event log, or NULL */
    struct ct_programs *programs;
    struct cli_monitors monitors; /* specifications of the command line */
    struct ct_live *live;
    struct ct_verdict_writer *writer;           /* of violations, to standard output */
    struct cli_live_violations violations[129]; /* the last one is for all IDs together */
    struct cli_live_lines bad_lines, all_lines; /* for --violations and --outputs */
    bool one_run;                               /* all IDs are one run of the specifications */
    int told_id;                                /* trace ID of the last line printed, or -1 */
    bool failed;                                /* a file of violations is incomplete, which was reported */
};

/* Runs on the input args->operand. The options begin with the rows of CLI_CAPTURE_TABLE and
 * CLI_MONITOR_TABLE. Returns an enum cli_exit. */
int cli_live_run(const struct cli_args *args, const struct cli_live_wishes *wishes);

/* Check the options that go with --fractal, describe the log, add the milestones, and print their outcome
 * (live_fractal.c). Returns false after a message; the report returns an enum cli_exit. */
bool cli_live_fractal_check(const struct cli_args *args, const struct cli_live_wishes *wishes);
bool cli_live_fractal_describe(struct cli_live *live);
bool cli_live_fractal_milestones(struct cli_live *live);
int cli_live_fractal_report(struct cli_live *live);

/* Returns the sink that prints violations as they come, with the cli_live as its user (live_violations.c). */
struct ct_live_sink cli_live_sink(struct cli_live *live);
bool cli_live_violations_open(struct cli_live *live);
void cli_live_violations_close(struct cli_live *live);

/* Open the files of --violations and --outputs, write a result, write buffered lines, and close the files
 * (live_lines.c). */
bool cli_live_lines_open(struct cli_live *live);
void cli_live_lines_put(struct cli_live *live, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *result);
void cli_live_lines_flush(struct cli_live *live);
void cli_live_lines_close(struct cli_live *live, bool keep);

/* Returns whether these lines go to standard output, which then gets no violations as text. */
bool cli_live_lines_on_stdout(const struct cli_live *live);

/* Notes on the page that a file was written. */
void cli_live_note_file(const struct cli_live *live, const char *path);

/* Writes the final reports, and reports what they lack (live_report.c). Returns an enum cli_exit. */
int cli_live_report(struct cli_live *live);
