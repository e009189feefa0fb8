/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier, as binding fills it in and a run reads it. */
#ifndef CT_VERIFY_VERIFY_H
#define CT_VERIFY_VERIFY_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/verify.h"

/* the most instants' events that wait until a specification is fed with them */
#define CT_VERIFY_WAITING 256

#define CT_VERIFY_HISTORY_MAX 4096

/* instants whose results a monitor keeps back while their order is in doubt */
#define CT_VERIFY_DOUBTFUL 64

/* Which values of an output are violations. */
enum ct_verify_rule {
    CT_VERIFY_NEVER,
    CT_VERIFY_FALSE, /* false, for verdicts and Bools that tell that a property holds */
    CT_VERIFY_TRUE,  /* true, for Bools that are called error or violation */
    CT_VERIFY_EACH,
    CT_VERIFY_TEXT, /* the text in `wanted` */
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
    uint8_t *kept;  /* by input: 1 when only losses feed it, all of which are seen */
    size_t output_count, input_count;
    uint32_t number;
    struct ct_arena arena; /* for what is above */

    /* What a run needs. */
    struct ct_monitor *monitor;
    bool failed;       /* it takes no more events */
    char failure[400]; /* why it failed */
    uint64_t *used;    /* by input: the instant of its last event */
    uint64_t time;     /* time of the current instant */
    uint64_t tick;     /* tick of the clock in the current instant */
    uint64_t value;    /* address in the current instant */
    uint16_t source;   /* of the current instant */
    uint64_t number_of_instant;
    uint64_t lost_last;               /* time of the last gap */
    bool lost, doubted;               /* trace was missing, and the order of events was not known */
    bool broken;                      /* the next event is not of the same instant */
    struct ct_verify_place *places;   /* those of fed events, then those of waiting ones */
    size_t place_count, cursor;       /* cursor: behind the place of the last result */
    size_t kept_places;               /* that later results may need, at most */
    struct ct_monitor_event *waiting; /* room for those of one more instant than CT_VERIFY_WAITING */
    size_t waiting_count;

    /* What a run over several sources needs. */
    struct ct_monitor_span *spans;    /* beside `waiting`, when their order is in doubt */
    bool doubtful;                    /* it is */
    struct ct_verify_doubted *doubts; /* that later results may name */
    size_t doubt_count, doubt_cap, doubt_most;
    uint64_t tag;              /* of the last one */
    struct ct_verify_due *due; /* what it takes, from due_first on, until it is known what overlaps that */
    size_t due_first, due_count, due_cap;
    bool lossy;       /* events may have been lost behind the last one that it took, too */
    size_t due_other; /* behind the first: those before it are of source due_other_source */
    uint32_t due_other_source;
    uint64_t *events_until, *lost_until; /* by source: behind its last event, and its last loss */
};

/* An event that is in doubt, as results name it. */
struct ct_verify_doubted {
    uint64_t tag;
    struct ct_verify_place place;
};

#define CT_VERIFY_ANY_SOURCE UINT32_MAX

/* A watchpoint that feeds an input, where a source comes by it. */
struct ct_verify_link {
    uint32_t watch, spec, input, source;
};

/* The watchpoints of a place that was bound before, to be used again. */
struct ct_verify_bound {
    const char *place;
    uint32_t first, count;
};

struct ct_verifier {
    struct ct_ctx *ctx;
    struct ct_verify_options options;
    struct ct_watches *watches;
    struct ct_arena arena;
    const char **cores; /* by source */
    size_t source_count;
    struct ct_verify_spec **specs; /* NULL for one that was removed */
    size_t spec_count;
    struct ct_verify_bound *bound;
    size_t bound_count;
    bool running;
    struct ct_verify_link *links; /* sorted by watchpoint once a run began */
    size_t link_count;
    uint32_t *first; /* by watchpoint: its first link; one more entry at the end */
    uint32_t watch_count;
    ct_verify_fn *fn;
    void *user;
};

/* Returns the first error of two. */
static inline int ct_verify_first_error(int first, int rc)
{
    return first ? first : rc;
}

/* Makes specification `number` and adds its links behind the others. After an error no link was added. The
 * errors of ct_verifier_add. */
int ct_verify_bind_spec(struct ct_verifier *verifier, uint32_t number, const struct ct_monitor_spec *spec,
                        const char *name, const struct ct_verify_bind *binds, size_t count,
                        struct ct_verify_spec **out);
void ct_verify_spec_free(struct ct_verify_spec *spec);

/* Removes the links of specification `number` among those before `end`. */
void ct_verify_unlink(struct ct_verifier *verifier, uint32_t number, size_t end);

/* Makes room in the index for all watchpoints; ct_verify_index has to follow. CT_ERR_NOMEM: the index is as
 * before. */
int ct_verify_reserve(struct ct_verifier *verifier);

/* Rebuilds the index of links by watchpoint, after some were added or removed. */
void ct_verify_index(struct ct_verifier *verifier);

/* Makes the monitor of a specification. CT_ERR_NOMEM. */
int ct_verify_begin(struct ct_verify_spec *spec);

/* Ends the stream of a specification: evaluates its last instants. CT_ERR_FORMAT, CT_ERR_LIMIT. */
int ct_verify_end(struct ct_verify_spec *spec);

#endif
