/* SPDX-License-Identifier: Apache-2.0 */
/* Runs specifications over captures, or over an event log, and passes on their results. */
#pragma once

#include "cli/monitor_axis.h"
#include "cli/monitors.h"
#include "cli/streams.h"
#include "coretap/verdict.h"

/* How several captures relate to each other (--captures). */
extern const char *const cli_relations[];

enum cli_relation {
    CLI_TOGETHER, /* recordings of one system */
    CLI_APART,
};

#define CLI_MONITOR_BATCH 1024 /* events passed to specifications at once */

struct cli_monitor_run {
    /* Set by the caller. */
    struct cli_streams streams; /* in `read`: args, elf, threads, untold; and headings */
    bool per_core;              /* each source is a separate run */
    bool apart;                 /* each capture is a separate run */
    void *user;                 /* of the functions below */
    /* Receive each result, and the fact that a specification takes no more events (may be NULL). Return an
     * enum ct_error. */
    int (*result)(void *user, const struct ct_verify_result *result);
    int (*stopped)(void *user, uint32_t spec, const char *why);
    /* As in struct cli_streams, or NULL. */
    int (*heading)(void *user, const char *buffer, int id);
    int (*flush)(void *user);
    /* Called before a capture is decoded that is a separate run. Returns false after a message. May be NULL.
     */
    bool (*capture)(void *user);

    /* The origin of the results, and the outcome of the run. */
    struct ct_verdict_origin origin;
    bool failed; /* a specification failed */
    uint64_t results, violations, uncertain;

    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct cli_monitors monitors;
    struct cli_axis axis;
    bool several; /* several sources are one run, on an axis */
    int opened;   /* captures opened so far */
    int told;     /* enum ct_error from receiving results, which the verifier ignores */
    struct ct_watch_event batch[CLI_MONITOR_BATCH];
};

/* Runs the specifications of the command line over its operands. Returns an enum cli_exit. The caller closes
 * the run in any case. */
int cli_monitor_run(struct cli_monitor_run *run);

/* Reports the number of violations, unless --quiet. Always reports when the answer is empty because only
 * violations are wanted and no output can be one. Then returns CLI_DAMAGED instead of CLI_CLEAN; otherwise
 * returns `code`. */
int cli_monitor_run_tell(const struct cli_monitor_run *run, int code);
void cli_monitor_run_close(struct cli_monitor_run *run);
