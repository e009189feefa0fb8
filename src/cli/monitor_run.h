/* SPDX-License-Identifier: Apache-2.0 */
/* Specifications that run over captures, or over an event log, for who takes their results. */
#ifndef CT_CLI_MONITOR_RUN_H
#define CT_CLI_MONITOR_RUN_H

#include "cli/monitor_axis.h"
#include "cli/monitors.h"
#include "cli/streams.h"
#include "coretap/verdict.h"

/* How several captures are to each other (--captures). */
extern const char *const cli_relations[];

enum cli_relation {
    CLI_TOGETHER, /* they are of one system */
    CLI_APART,
};

#define CLI_MONITOR_BATCH 1024 /* events that specifications are fed with at once */

struct cli_monitor_run {
    /* Set before. */
    struct cli_streams streams; /* read: args, elf, threads, untold; headings */
    bool per_core;              /* each source is a run of its own */
    bool apart;                 /* each capture is */
    void *user;                 /* of the following */
    /* Gets each result; told that a specification takes no more events (or NULL). Result: enum ct_error. */
    int (*result)(void *user, const struct ct_verify_result *result);
    int (*stopped)(void *user, uint32_t spec, const char *why);
    /* As in struct cli_streams; or NULL. */
    int (*heading)(void *user, const char *buffer, int id);
    int (*flush)(void *user);
    /* Told of a capture that is a run apart from others, before it is decoded. False after a message. Or
     * NULL. */
    bool (*capture)(void *user);

    /* What results are of, and what came of the run. */
    struct ct_verdict_origin origin;
    bool failed; /* a specification failed */
    uint64_t results, violations, uncertain;

    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct cli_monitors monitors;
    struct cli_axis axis;
    bool several; /* sources are one run, on an axis */
    int opened;   /* captures so far */
    int told;     /* enum ct_error: what came of telling results, which the verifier does not ask for */
    struct ct_watch_event batch[CLI_MONITOR_BATCH];
};

/* Runs the specifications of the command line over what its operands name. Result: enum cli_exit. To be
 * closed in any case. */
int cli_monitor_run(struct cli_monitor_run *run);

/* Says how many violations there were, unless --quiet. Where no output can be one, and only violations are
 * wanted, the answer is empty: that is always said. Result: CLI_DAMAGED then where `code`
 * is CLI_CLEAN, else `code`. */
int cli_monitor_run_tell(const struct cli_monitor_run *run, int code);
void cli_monitor_run_close(struct cli_monitor_run *run);

#endif
