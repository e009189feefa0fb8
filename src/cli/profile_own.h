/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of 'coretap profile': profile.c has the command and what adds up, profile_timeline.c
 * what says when functions ran. */
#ifndef CT_CLI_PROFILE_OWN_H
#define CT_CLI_PROFILE_OWN_H

#include "cli/capture.h"
#include "cli/counts.h"
#include "cli/monitors.h"
#include "cli/profile_notes.h"
#include "coretap/format.h"

enum cli_profile_option {
    PROFILE_ELF = CLI_CAPTURE_OPTIONS,
    PROFILE_FORMAT,
    PROFILE_WEIGHT,
    PROFILE_EACH,
    PROFILE_MODULES,
    PROFILE_MAX_SIZE,
    PROFILE_CAPTURES,
    PROFILE_AT,
    PROFILE_SPEC = PROFILE_AT + CLI_WATCH_PLACES_ROWS,
    PROFILE_THREADS = PROFILE_SPEC + CLI_MONITOR_SPEC_OPTIONS - CLI_MONITOR_SPEC,
    PROFILE_FILTER,
    PROFILE_OPTIONS = PROFILE_FILTER + CLI_FILTER_ROWS - 1,
    PROFILE_SHIFT = PROFILE_SPEC - CLI_MONITOR_SPEC,
};

enum cli_profile_format {
    PROFILE_FOLDED,
    PROFILE_AUTOFDO,
    PROFILE_LLVM,
    PROFILE_BOLT,
    PROFILE_CALLGRIND,
    PROFILE_PPROF,
    PROFILE_CHROME,
    PROFILE_PERFETTO,
    PROFILE_DATA,
    PROFILE_BRANCH_LIST,
};

/* The words of --format, by enum cli_profile_format. */
extern const char *const cli_profile_formats[];

struct cli_profile {
    struct cli_counts counts;
    enum cli_profile_format format;
    bool cycles;                      /* are what is counted, and time */
    struct ct_stack_sums *sums;       /* folded, data, callgrind, pprof */
    struct ct_slice_writer *slices;   /* chrome */
    struct ct_perfetto_writer *trace; /* perfetto */
    struct ct_stacks *stacks;         /* of the capture that is being decoded, for these two */
    struct cli_profile_notes notes;   /* perfetto */
    bool together;                    /* captures are of one system, on one axis */
    struct ct_slice_clocks **clocks;  /* chrome, captures of one system: the clock of each, in their order */
    size_t clock_count, begun;        /* how many clocks there are, and how many captures were begun */
    bool told_size;                   /* a message said that the trace is large */
    bool has_weight;                  /* something that ran in a capture had a weight */
    uint64_t renewed;                 /* stacks that began anew */
};

/* Tells whether anything has a weight. */
bool cli_profile_has_weight(const struct cli_profile *p, const struct ct_stack_place *places, size_t count);

/* Begins reading, in steps or sums. False after a message. */
bool cli_profile_start(struct cli_profile *p, const struct cli_args *args);

/* Says what failed, unless it is a file that cannot be written: that is told of at the end of the command.
 * Result: enum cli_exit. */
int cli_profile_told(const struct cli_profile *p, int rc);

/* Says why there is nothing in the profile although the trace has instructions, and the remedy. Result: enum
 * cli_exit. */
int cli_profile_empty(const struct cli_profile *p, const char *why, const char *remedy);
int cli_profile_no_weight(const struct cli_profile *p);

/* Reads the captures and writes slices, or a trace. Result: enum cli_exit. */
int cli_profile_read_timeline(struct cli_profile *p, const struct cli_args *args);

/* Ends the slices, or the trace, and says what is not in them. Result: enum cli_exit. */
int cli_profile_print_chrome(struct cli_profile *p);
int cli_profile_print_trace(struct cli_profile *p);

#endif
