/* SPDX-License-Identifier: Apache-2.0 */
/* coretap verify sums: results of specifications over any number of streams and captures. They are an
 * analysis (analysis.h): each stream is evaluated separately, in order, and the results can be added up,
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

/* A violation. Unknown texts are "". */
struct ct_verify_violation {
    const char *run;      /* the capture */
    const char *buffer;   /* name of the buffer in the capture */
    const char *value;    /* of the output, cut at 500 bytes */
    const char *watch;    /* the watchpoint that execution hit last, as it was requested */
    const char *function; /* function of that place */
    const char *file;
    uint64_t time;
    uint64_t addr; /* 0: unknown */
    uint32_t line; /* 0: unknown */
    uint8_t id;    /* trace ID */
    uint8_t uncertain;
    uint8_t pad[2]; /* 0 */
};

/* The results of one output of a specification. Counts stop at 2^64 - 1. */
struct ct_verify_sum {
    const char *spec;   /* last component of the specification's name */
    const char *output; /* name */
    uint64_t sum;       /* hash of the specification's text, of how it was compiled, bound and fed, and of
                           what is a violation: results with another hash are not added to these */
    uint8_t type;       /* enum ct_monitor_type */
    uint8_t pad[7];     /* 0 */
    uint64_t events, violations;
    uint64_t uncertain; /* violations that missing trace may have caused */

    uint64_t streams; /* streams that the specification was evaluated over: those with steps */
    uint64_t failed;  /* streams in which it failed and took no more events */
    /* Each stream counts in one of the four members below, unless events of the output cannot be
     * violations. */
    uint64_t violated;  /* streams with a certain violation */
    uint64_t doubtful;  /* else, streams whose violations are uncertain, or that lack trace in which there may
                           be one */
    uint64_t undecided; /* else, streams with a verdict that was unknown to the end, or a failed
                           specification */
    uint64_t satisfied; /* all other streams */

    uint64_t values[3]; /* verdicts and Bools: events with each value, by enum ct_monitor_verdict */

    /* For Int and Float. */
    uint64_t numbers;                 /* values that count here; 0: the members below are 0 */
    union ct_monitor_value low, high; /* the least and the greatest of them */
    struct ct_wide_sum above, below;  /* Int: sums of the positive values, and of the absolute values of the
                                         negative ones */
    uint64_t others;                  /* values that do not count here: more than 64 bits, or not a number */

    /* The first violation by name of the run, then time, buffer and trace ID; NULL: none. */
    const struct ct_verify_violation *first;
};

/* Maximal number of outputs, and of bytes in a name. */
#define CT_VERIFY_SUMS_MOST 100000
#define CT_VERIFY_SUMS_NAME 4096

struct ct_verify_sums;

/* Makes sums without specifications; `options` may be NULL. `history` is not used. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_verify_sums_new(struct ct_ctx *ctx, const struct ct_verify_options *options,
                              struct ct_verify_sums **out);
CT_API void ct_verify_sums_free(struct ct_verify_sums *sums);

/* Adds a compiled specification (not owned), like ct_verifier_add; `binds` are copied. It is evaluated over
 * streams that begin from now on. Errors of binding come with the first batch of a stream: here CT_ERR_ARG,
 * also for one that was added before and for a name that is empty or longer than CT_VERIFY_SUMS_NAME bytes;
 * CT_ERR_NOMEM. */
CT_API int ct_verify_sums_add(struct ct_verify_sums *sums, const struct ct_monitor_spec *spec,
                              const char *name, const struct ct_verify_bind *binds, size_t count);

/* Defines what counts as a violation, like ct_verifier_violation, in streams that begin from now on.
 * CT_ERR_ARG, CT_ERR_NOMEM; a missing output is an error of the first batch. */
CT_API int ct_verify_sums_violation(struct ct_verify_sums *sums, const char *output, const char *value);

/* Begins a stream outside of sessions: its watch events are passed to ct_verify_sums_feed until
 * ct_analysis_end, and no other stream has its number meanwhile. `origin` may be NULL. *watches are those
 * that the specifications need, borrowed until the end. CT_ERR_ARG, CT_ERR_NOMEM, the errors of binding. */
CT_API int ct_verify_sums_begin(struct ct_verify_sums *sums, uint32_t lane,
                                const struct ct_stream_origin *origin, struct ct_watches **watches);

/* Begins a run of `count` sources on one axis (axis.h), like ct_verify_sums_begin. `cores` are their names,
 * `origins` say where their trace is. *verifier, whose run has begun, and *watches are for
 * ct_verify_axis_new, borrowed until ct_analysis_end, which reports specifications that failed. The errors of
 * ct_verify_sums_begin. */
CT_API int ct_verify_sums_begin_axis(struct ct_verify_sums *sums, uint32_t lane,
                                     const struct ct_stream_origin *origins, const char *const *cores,
                                     size_t count, struct ct_verifier **verifier,
                                     struct ct_watches **watches);

/* Takes events of these watches, in order, like ct_verifier_feed. CT_ERR_ARG, also for a stream that was not
 * begun; CT_ERR_NOMEM. */
CT_API int ct_verify_sums_feed(struct ct_verify_sums *sums, uint32_t lane,
                               const struct ct_watch_event *events, size_t count);

/* Returns the kind of this analysis, and the analysis that `sums` owns. The log reports each specification
 * that fails in a stream. */
CT_API const struct ct_analysis_kind *ct_verify_sums_kind(void);
CT_API struct ct_analysis *ct_verify_sums_analysis(struct ct_verify_sums *sums);

/* Returns the results of all outputs in streams that have ended, by specification, hash and name. They stay
 * valid until something is added. */
CT_API const struct ct_verify_sum *ct_verify_sums_all(const struct ct_verify_sums *sums, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
