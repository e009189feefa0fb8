/* SPDX-License-Identifier: Apache-2.0 */
/* A live run from its first byte to its last. */
#ifndef CT_CLI_LIVE_RUN_H
#define CT_CLI_LIVE_RUN_H

#include "cli/counts.h"
#include "cli/monitors.h"
#include "cli/output.h"
#include "coretap/live.h"

/* What the command line asks for. */
struct cli_live_wishes {
    const char *http, *token;                  /* or NULL */
    const char *output;                        /* folder of the reports; NULL: they are printed */
    const char *targets;                       /* file, or NULL */
    const char *tee;                           /* file that keeps the trace, or NULL */
    bool again;                                /* other connections follow the first one */
    bool per_core;                             /* each trace ID is a run of its own */
    bool idle;                                 /* a core of which nothing comes does nothing */
    size_t elf_option, pair_option, at_option; /* indexes of --elf, --pair, --at */
    size_t ring;                               /* bytes; 0: what the library does */
    bool drop;
    bool cover, timing;
    enum ct_verdict_format format;    /* of violations */
    const char *violations, *outputs; /* files that get lines as they come, or NULL */
    bool outputs_csv;                 /* outputs are CSV; when false, JSON */
    const char *on_violation;         /* a command, or NULL */
    const char *post;                 /* a URL, or NULL */
    const char *post_ca;              /* file of certificates that it is trusted by, or NULL */
    uint32_t hook_jobs;               /* commands that run at a time; 0: what the library does */
    bool fractal;                     /* the input is an event log */
    size_t milestone_option;          /* index of --milestone */
    uint16_t threads;                 /* that decode; 0: what the library does */
};

/* A file of results, a line each. */
struct cli_live_lines {
    const char *path; /* NULL: there is none */
    FILE *file;
    struct cli_output output;         /* unless it is standard output */
    struct ct_verdict_writer *writer; /* of JSON */
    uint64_t count;                   /* lines */
    bool csv;
    bool given_up; /* it could not be written any more */
};

/* Violations of one trace ID, or of all together. */
struct cli_live_violations {
    struct cli_output output; /* of its own file; without one they go to standard output */
    char *path;               /* of that file, or NULL */
    struct ct_verdict_writer *writer;
};

struct cli_live {
    const struct cli_args *args;
    const char *input; /* as it was named */
    const struct cli_live_wishes *wishes;
    struct ct_ctx *ctx;
    struct cli_counts counts;     /* the capture, and programs for coverage */
    struct ct_buffer *log_buffer; /* what stands for the capture of an event log, or NULL */
    struct ct_programs *programs;
    struct cli_monitors monitors; /* those of the command line */
    struct ct_live *live;
    struct ct_verdict_writer *writer;           /* of violations, to standard output */
    struct cli_live_violations violations[129]; /* the last one is of all IDs together */
    struct cli_live_lines bad_lines, all_lines; /* of --violations and --outputs */
    bool one_run;                               /* all IDs are one run of the specifications */
    int told_id;                                /* ID of the line printed last, or -1 */
    bool failed;                                /* a file of violations is not whole, which was said */
};

/* Reads args->operand, whose rows begin with CLI_CAPTURE_TABLE and CLI_MONITOR_TABLE. Result: enum
 * cli_exit. */
int cli_live_run(const struct cli_args *args, const struct cli_live_wishes *wishes);

/* Checks what goes with --fractal, describes the log, adds the milestones, and prints what became of them
 * (live_fractal.c). False after a message; the report gives enum cli_exit. */
bool cli_live_fractal_check(const struct cli_args *args, const struct cli_live_wishes *wishes);
bool cli_live_fractal_describe(struct cli_live *live);
bool cli_live_fractal_milestones(struct cli_live *live);
int cli_live_fractal_report(struct cli_live *live);

/* Gives the sink that prints violations as they come; its user is the cli_live (live_violations.c). */
struct ct_live_sink cli_live_sink(struct cli_live *live);
bool cli_live_violations_open(struct cli_live *live);
void cli_live_violations_close(struct cli_live *live);

/* Opens the files of --violations and --outputs, takes a result, writes what is held back, and ends the files
 * (live_lines.c). */
bool cli_live_lines_open(struct cli_live *live);
void cli_live_lines_put(struct cli_live *live, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *result);
void cli_live_lines_flush(struct cli_live *live);
void cli_live_lines_close(struct cli_live *live, bool keep);

/* Tells whether standard output gets these lines, and so no violations as text. */
bool cli_live_lines_on_stdout(const struct cli_live *live);

/* Shows on the page that a file was written. */
void cli_live_note_file(const struct cli_live *live, const char *path);

/* Writes the final reports, and says what is missing in them. Result: enum cli_exit (live_report.c). */
int cli_live_report(struct cli_live *live);

#endif
