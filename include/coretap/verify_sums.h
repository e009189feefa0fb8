/* SPDX-License-Identifier: Apache-2.0 */
/* coretap verify sums: what specifications said of any number of streams and captures. They keep the contract
 * of analyses (analysis.h): each stream is evaluated by itself, in its order, and what came of it adds up, is
 * saved and loaded.
 *
 *     struct ct_verify_sums *sums;
 *     ct_verify_sums_new(ctx, NULL, &sums);
 *     ct_verify_sums_add(sums, spec, "timing.tessla", NULL, 0);
 *     ct_session_add(session, ct_verify_sums_analysis(sums));
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     all = ct_verify_sums_all(sums, &count); */
#ifndef CORETAP_VERIFY_SUMS_H
#define CORETAP_VERIFY_SUMS_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/monitor.h"
#include "coretap/verify.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sum of integers: `high` × 2^64 + `low`. It stops at 2^128 - 1. */
struct ct_wide_sum {
    uint64_t high, low;
};

/* A violation. Texts that are not known are "". */
struct ct_verify_violation {
    const char *run;      /* the capture */
    const char *buffer;   /* name of the buffer in the capture */
    const char *value;    /* of the output; cut at 500 bytes */
    const char *watch;    /* what execution came by last, as the watchpoint was asked for */
    const char *function; /* where that was */
    const char *file;
    uint64_t time;
    uint64_t addr; /* 0: not known */
    uint32_t line; /* 0: not known */
    uint8_t id;    /* trace ID */
    uint8_t uncertain;
    uint8_t pad[2]; /* 0 */
};

/* What one output of a specification said. Counts stop at 2^64 - 1. */
struct ct_verify_sum {
    const char *spec;   /* the last part of the specification's name */
    const char *output; /* name */
    uint64_t sum;       /* of the specification's text, of how it was compiled, bound and fed, and of what is
                           a violation: results with another sum are not added to these */
    uint8_t type;       /* enum ct_monitor_type */
    uint8_t pad[7];     /* 0 */
    uint64_t events, violations;
    uint64_t uncertain; /* of the violations: trace that is missing may have made them */

    uint64_t streams; /* that the specification was evaluated over: those that gave steps */
    uint64_t failed;  /* in which it failed and took no more events */
    /* Each stream counts in one of the following; of an output whose events cannot be violations in none. */
    uint64_t violated;  /* there was a violation that is certain */
    uint64_t doubtful;  /* else, the violations are uncertain; or trace is missing, and there may be one */
    uint64_t undecided; /* else, a verdict that was unknown to the end, or the specification failed */
    uint64_t satisfied; /* else */

    uint64_t values[3]; /* verdicts and Bools: events with each value, by enum ct_monitor_verdict */

    /* Int and Float. */
    uint64_t numbers;                 /* values that count here; 0: the following are 0 */
    union ct_monitor_value low, high; /* the least and the greatest of them */
    struct ct_wide_sum above, below;  /* Int: sums of those above 0, and of those below it without sign */
    uint64_t others; /* values that do not count here: of more than 64 bits, or not a number */

    /* Of the run that is first by name the first in time, then by buffer and trace ID; NULL: none. */
    const struct ct_verify_violation *first;
};

/* Outputs of a sum at most, and bytes of a name. */
#define CT_VERIFY_SUMS_MOST 100000
#define CT_VERIFY_SUMS_NAME 4096

struct ct_verify_sums;

/* Makes sums without specifications; `options` may be NULL. `history` is of no use here. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_verify_sums_new(struct ct_ctx *ctx, const struct ct_verify_options *options,
                              struct ct_verify_sums **out);
CT_API void ct_verify_sums_free(struct ct_verify_sums *sums);

/* Adds a compiled specification (not owned), as ct_verifier_add takes it; `binds` are copied. Streams are
 * evaluated with it that begin from then on. Errors of binding come with the first batch of a stream:
 * here CT_ERR_ARG, also for one that was added before and for names without a byte or of more than
 * CT_VERIFY_SUMS_NAME; CT_ERR_NOMEM. */
CT_API int ct_verify_sums_add(struct ct_verify_sums *sums, const struct ct_monitor_spec *spec,
                              const char *name, const struct ct_verify_bind *binds, size_t count);

/* Says what counts as a violation, as ct_verifier_violation does, in streams that begin from then on.
 * CT_ERR_ARG, CT_ERR_NOMEM; that no specification has the output comes with the first batch. */
CT_API int ct_verify_sums_violation(struct ct_verify_sums *sums, const char *output, const char *value);

/* Begins a stream that is no session's: watch events of it are given by ct_verify_sums_feed until
 * ct_analysis_end, and no other one has its number meanwhile. `origin` may be NULL. *watches are what the
 * specifications need, borrowed until the end. CT_ERR_ARG, CT_ERR_NOMEM, the errors of binding. */
CT_API int ct_verify_sums_begin(struct ct_verify_sums *sums, uint32_t lane,
                                const struct ct_stream_origin *origin, struct ct_watches **watches);

/* Begins a run of `count` sources on one axis (axis.h), in the same way: `cores` are their names, `origins`
 * where their trace is. *verifier, whose run has begun, and *watches are for ct_verify_axis_new, borrowed
 * until ct_analysis_end, which tells of specifications that failed. The errors of ct_verify_sums_begin. */
CT_API int ct_verify_sums_begin_axis(struct ct_verify_sums *sums, uint32_t lane,
                                     const struct ct_stream_origin *origins, const char *const *cores,
                                     size_t count, struct ct_verifier **verifier,
                                     struct ct_watches **watches);

/* Takes events of these watches, in order, as ct_verifier_feed does. CT_ERR_ARG, also for a stream that was
 * not begun; CT_ERR_NOMEM. */
CT_API int ct_verify_sums_feed(struct ct_verify_sums *sums, uint32_t lane,
                               const struct ct_watch_event *events, size_t count);

/* Returns what the contract of analyses needs: the kind, and the analysis that sums are, which they own. A
 * specification that fails in a stream is told of in the log. */
CT_API const struct ct_analysis_kind *ct_verify_sums_kind(void);
CT_API struct ct_analysis *ct_verify_sums_analysis(struct ct_verify_sums *sums);

/* Returns what all outputs said in streams that are over, by specification, sum and name. They are there
 * until something is added. */
CT_API const struct ct_verify_sum *ct_verify_sums_all(const struct ct_verify_sums *sums, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
