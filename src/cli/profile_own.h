/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of 'coretap profile' share: profile.c has the command and the formats of sums,
 * profile_timeline.c the formats along time. */
#pragma once

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

/* Words for --format, by enum cli_profile_format. */
extern const char *const cli_profile_formats[];

struct cli_profile {
    struct cli_counts counts;
    enum cli_profile_format format;
    bool cycles;                      /* count cycles, and use them as time */
    struct ct_stack_sums *sums;       /* for folded, data, callgrind, pprof */
    struct ct_slice_writer *slices;   /* for chrome */
    struct ct_perfetto_writer *trace; /* for perfetto */
    struct ct_stacks *stacks;         /* of the current capture, for chrome and perfetto */
    struct cli_profile_notes notes;   /* for perfetto */
    bool together;                    /* captures are of one system, with one axis of time */
    struct ct_slice_clocks **clocks; /* chrome, captures of one system: the clock of each capture, in order */
    size_t clock_count, begun;       /* number of clocks, and of captures that were begun */
    bool told_size;                  /* a message reported that the trace is large */
    bool has_weight;                 /* something that ran in a capture has a weight */
    uint64_t renewed;                /* stacks that began anew */
};

/* Returns whether any place has a weight. */
bool cli_profile_has_weight(const struct cli_profile *p, const struct ct_stack_place *places, size_t count);

/* Begins to read, for steps or sums. Returns false after a message. */
bool cli_profile_start(struct cli_profile *p, const struct cli_args *args);

/* Reports an error, except a write error, which is reported at the end of the command. Returns an enum
 * cli_exit. */
int cli_profile_told(const struct cli_profile *p, int rc);

/* Reports why the profile, which consists of `items`, is empty although the trace has instructions. Returns
 * an enum cli_exit. */
int cli_profile_empty(const struct cli_profile *p, enum ct_empty_items items);

/* Reads the captures and writes slices, or a trace. Returns an enum cli_exit. */
int cli_profile_read_timeline(struct cli_profile *p, const struct cli_args *args);

/* End the slices, or the trace, and report what these lack. Return an enum cli_exit. */
int cli_profile_print_chrome(struct cli_profile *p);
int cli_profile_print_trace(struct cli_profile *p);
