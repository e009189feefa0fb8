/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier from inside: what binding fills in and a run reads. */
#ifndef CT_VERIFY_VERIFY_H
#define CT_VERIFY_VERIFY_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/verify.h"

/* Events that wait until a specification is fed with them. */
#define CT_VERIFY_WAITING 256

#define CT_VERIFY_HISTORY_MAX 4096

/* What a result of an output has to be to be a violation. */
enum ct_verify_rule {
    CT_VERIFY_NEVER,
    CT_VERIFY_FALSE, /* verdicts and Bools that say that a property holds */
    CT_VERIFY_TRUE,  /* Bools that are called error or violation */
    CT_VERIFY_EACH,
    CT_VERIFY_TEXT, /* the text of `wanted` */
};

struct ct_verify_output {
    struct ct_monitor_stream stream;
    const char *wanted;
    uint8_t rule; /* enum ct_verify_rule */
};

/* One specification. */
struct ct_verify_spec {
    struct ct_verifier *verifier;
    const struct ct_monitor_spec *spec;
    const char *name;
    struct ct_verify_output *outputs;
    uint8_t *types; /* by input: enum ct_monitor_type */
    uint8_t *kept;  /* by input: 1: what feeds it are losses alone, and these are all seen */
    size_t output_count, input_count;
    uint32_t number;
    struct ct_arena arena; /* holds what is above */

    /* Of the run. */
    struct ct_monitor *monitor;
    bool failed;       /* it takes no more events */
    char failure[400]; /* … and why */
    uint64_t *used;    /* by input: the instant in which it had its last event */
    uint64_t time;     /* of the instant */
    uint64_t tick;     /* of the clock, of the instant */
    uint64_t value;    /* address of the instant */
    uint64_t number_of_instant;
    uint64_t lost_last; /* time of the last gap */
    bool lost;
    bool broken;                    /* the next event is not of the same instant */
    struct ct_verify_place *places; /* those before, then those waiting */
    size_t place_count, cursor;     /* cursor: behind the one that the last result belonged to */
    struct ct_monitor_event waiting[CT_VERIFY_WAITING];
    size_t waiting_count;
};

/* A watchpoint that feeds an input. */
struct ct_verify_link {
    uint32_t watch, spec, input;
};

/* Watchpoints of a place that was bound before: they are used again. */
struct ct_verify_bound {
    const char *place;
    uint32_t first, count;
};

struct ct_verifier {
    struct ct_ctx *ctx;
    struct ct_verify_options options;
    struct ct_watches *watches;
    struct ct_arena arena;
    struct ct_verify_spec **specs; /* NULL: it was removed */
    size_t spec_count;
    struct ct_verify_bound *bound;
    size_t bound_count;
    bool running;
    struct ct_verify_link *links; /* in the order of the watchpoints once a run began */
    size_t link_count;
    uint32_t *first; /* by watchpoint: its first link; one more at the end */
    uint32_t watch_count;
    ct_verify_fn *fn;
    void *user;
};

/* Makes a specification of this number and adds its links behind the others. The errors of ct_verifier_add:
 * no link was added. */
int ct_verify_bind_spec(struct ct_verifier *verifier, uint32_t number, const struct ct_monitor_spec *spec,
                        const char *name, const struct ct_verify_bind *binds, size_t count,
                        struct ct_verify_spec **out);
void ct_verify_spec_free(struct ct_verify_spec *spec);

/* Takes the links of specification `number` away, of those before `end`. */
void ct_verify_unlink(struct ct_verifier *verifier, uint32_t number, size_t end);

/* Makes room in the index for all watchpoints; ct_verify_index has to follow.
 * CT_ERR_NOMEM: the index is as it was. */
int ct_verify_reserve(struct ct_verifier *verifier);

/* Finds the links of each watchpoint anew, after some came or went. */
void ct_verify_index(struct ct_verifier *verifier);

/* The monitor of a specification begins. CT_ERR_NOMEM. */
int ct_verify_begin(struct ct_verify_spec *spec);

/* The end of its stream: the last instants are evaluated. CT_ERR_FORMAT, CT_ERR_LIMIT. */
int ct_verify_end(struct ct_verify_spec *spec);

#endif
