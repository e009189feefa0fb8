/* SPDX-License-Identifier: Apache-2.0 */
/* The verifier, as binding fills it in and a run uses it. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/verify.h"

/* most waiting instants before a specification is fed */
#define CT_VERIFY_WAITING 256

#define CT_VERIFY_HISTORY_MAX 4096

/* most instants whose results a monitor holds back while their order is in doubt */
#define CT_VERIFY_DOUBTFUL 64

/* Which values of an output are violations. */
enum ct_verify_rule {
    CT_VERIFY_NEVER,
    CT_VERIFY_FALSE, /* false, for verdicts and Bools that state that a property holds */
    CT_VERIFY_TRUE,  /* true, for Bools called error or violation */
    CT_VERIFY_EACH,
    CT_VERIFY_TEXT, /* the text in `wanted` */
};

struct ct_verify_output {
    struct ct_monitor_stream stream;
    const char *wanted;
    uint8_t rule; /* enum ct_verify_rule */
};

#define CT_VERIFY_ANY_CORE UINT32_MAX

/* The watchpoints that feed an input: `count` of them from number `first` on. Inputs with equal feeds have
 * equal events. */
struct ct_verify_feed {
    uint32_t first, count;
    uint32_t core; /* core whose events count, or CT_VERIFY_ANY_CORE */
    uint8_t type;  /* enum ct_monitor_type */
};

/* A specification, or its instance for a core, or the lead of a group, which runs several as one. */
struct ct_verify_spec {
    struct ct_verifier *verifier;
    const struct ct_monitor_spec *spec;
    const char *name;
    struct ct_verify_output *outputs;
    uint8_t *types;               /* by input: enum ct_monitor_type */
    uint8_t *forms;               /* by input: enum ct_watch_form of its place */
    uint8_t *kept;                /* by input: 1 if only losses feed it, all of which are seen */
    struct ct_verify_feed *feeds; /* by input */
    size_t output_count, input_count;
    uint32_t number;
    uint32_t core;               /* core of this instance, or CT_VERIFY_ANY_CORE */
    uint32_t instance;           /* number of this instance within the specification, from 0 on */
    uint32_t first_output;       /* member of a group: its first output in the joint */
    struct ct_verify_spec *next; /* instance for the next core */
    struct ct_arena arena;       /* memory of the fields above */
    bool may_misfit;             /* an event may have no value, or one that its input cannot take */
    bool told_unknown;           /* a warning about events without a value was given */
    bool joinable;               /* may join a group (group.h) */
    uint8_t instants;            /* enum ct_mon_instants; equal in all members of a group */
    uint64_t feeds_hash;         /* order-independent hash of the feeds; equal in all members of a group */

    /* State of a member of a group. */
    struct ct_verify_group *group; /* NULL: not in a group. For a lead: the group that it leads */
    const uint32_t *joined;        /* by its stream: the stream of the joint */
    uint32_t *inputs;              /* by its input: the input of the joint */
    uint64_t born;                 /* places that the lead had been given before the member's first one */
    uint64_t told;                 /* results since the checkpoint */
    uint64_t skip;                 /* results still to be dropped, because they are repeated */

    /* State of a run. */
    struct ct_monitor *monitor;
    bool failed;              /* takes no more events */
    bool told_failure;        /* ct_verifier_next_failure has returned the failure */
    char failure[400];        /* why it failed */
    bool lost, doubted;       /* trace was missing; the order of some events was unknown */
    bool unfollowed;          /* an earlier monitor had too many orders to follow */
    bool broken;              /* the next event begins a new instant */
    uint64_t *used;           /* by input: instant of its last event */
    uint64_t time;            /* time of the current instant */
    uint64_t tick;            /* tick of the current instant */
    uint64_t value;           /* address of the current instant */
    uint16_t source;          /* source of the current instant */
    uint8_t kind;             /* enum ct_watch_kind of the first event of the current instant */
    uint32_t number_of_event; /* `number` of the first event of the current instant */
    uint64_t number_of_instant;
    uint64_t lost_last;               /* time of the last loss */
    struct ct_verify_place *places;   /* places of events that were fed, then of waiting events */
    size_t place_count, cursor;       /* cursor: after the place of the last result */
    size_t kept_places;               /* most places that later results may need */
    uint64_t place_total;             /* places since the beginning */
    struct ct_monitor_event *waiting; /* waiting events; room for one instant more than CT_VERIFY_WAITING */
    size_t waiting_count;

    /* State of a run over several sources. */
    struct ct_monitor_span *spans;    /* intervals of `waiting`, when their order is in doubt */
    bool doubtful;                    /* the order of the waiting events is in doubt */
    struct ct_verify_doubted *doubts; /* events in doubt that later results may name */
    size_t doubt_count, doubt_cap, doubt_most;
    uint64_t tag;              /* tag of the last event in doubt */
    struct ct_verify_due *due; /* pending items, from due_first on, until their overlaps are known */
    size_t due_first, due_count, due_cap;
    bool lossy;       /* events may have been lost after the last one taken, too */
    size_t due_other; /* first item after due_first that may be of another source than due_other_source */
    uint32_t due_other_source;
    uint64_t *events_until, *lost_until; /* by source: end of its last event, and end of its last loss */
};

/* An event in doubt, as results name it. */
struct ct_verify_doubted {
    uint64_t tag;
    struct ct_verify_place place;
};

/* Destination of a watchpoint's events. `core`: core whose events count. */
struct ct_verify_target {
    struct ct_verify_spec *spec;
    uint32_t input, core;
};

/* The watchpoints of a place that was bound before, for reuse. */
struct ct_verify_bound {
    const char *place;
    uint32_t first, count;
    bool has_text;
};

struct ct_verifier {
    struct ct_ctx *ctx;
    struct ct_verify_options options;
    struct ct_watches *watches;
    struct ct_arena arena;
    const char **cores; /* by source; or the core of the only source */
    uint32_t *core_of;  /* by source: the first source of the same core, whose number represents the core */
    size_t core_count;
    size_t source_count; /* sources on the axis; 0: no axis */
    bool *awaited;       /* by source: no step of the core has come yet; NULL: not needed */
    uint8_t *protocols;  /* by source, or all possible ones; NULL: unknown */
    size_t protocol_count;
    struct ct_verify_spec **specs; /* first instance, by number; NULL: removed */
    size_t spec_count;
    struct ct_verify_bound *bound;
    size_t bound_count;
    bool running;
    size_t due_events;                /* items taken since the last turn of the specifications */
    uint64_t due_floor;               /* no later item begins before this time */
    uint64_t *lost_until;             /* by source: end of its last loss taken */
    uint64_t stamp, offset;           /* with one source on its timestamps: the last one, and the ticks to add
                                       * since they last went back */
    struct ct_verify_target *targets; /* by watchpoint: the inputs of `fed` that it feeds */
    uint32_t *first;                  /* by watchpoint: its first target; one more entry at the end */
    uint8_t *came;                    /* by watchpoint: 1 if an event of it came that some specification
                                       * takes */
    uint32_t watch_count;
    struct ct_verify_spec **fed; /* the specifications in no group, and the leads of groups */
    size_t fed_count, targets_cap, fed_cap;
    struct ct_verify_group *groups; /* includes groups that ended, until the next index */
    bool changed;                   /* the index does not match the specifications to feed */
    bool regroup;                   /* groups must be formed again for the next run */
    uint64_t waste;                 /* events fed to specifications outside groups that might join one */
    unsigned patience;              /* how often waste_most was doubled */
    uint64_t waste_most;            /* limit of `waste` per specification */
    size_t journal_most;            /* events between two checkpoints of a group */
    ct_verify_fn *fn;
    void *user;
    bool telling; /* `fn` is being called: functions that change specifications are refused */
};

/* Returns CT_ERR_ARG with a text when the receiver of results calls the public function `who`, whose work
 * would free or change what the result comes from. */
int ct_verify_not_in_result(const struct ct_verifier *verifier, const char *who);

/* Frees a specification and its further instances. */
void ct_verify_spec_free(struct ct_verify_spec *spec);

/* Makes room in the index for all watchpoints and specifications, and for `more` (may be NULL). Call
 * ct_verify_index afterwards. On CT_ERR_NOMEM the index is unchanged. */
int ct_verify_reserve(struct ct_verifier *verifier, const struct ct_verify_spec *more);

/* Rebuilds the index from watchpoints to inputs, after feeds or groups changed. */
void ct_verify_index(struct ct_verifier *verifier);

/* Resets the state of a run. */
void ct_verify_reset(struct ct_verify_spec *spec);

/* Makes a new monitor for a specification. Error: CT_ERR_NOMEM. */
int ct_verify_monitor(struct ct_verify_spec *spec);

/* Ends the stream of a specification: evaluates its last instants. Errors: CT_ERR_FORMAT, CT_ERR_LIMIT. */
int ct_verify_end(struct ct_verify_spec *spec);

/* Reports results of a specification, with the places of `lead`. */
void ct_verify_tell(struct ct_verify_spec *spec, struct ct_verify_spec *lead,
                    const struct ct_monitor_result *results, size_t count);

/* Notes why a specification failed, and frees its memory; it takes no more events. Returns rc. */
int ct_verify_failed(struct ct_verify_spec *spec, int rc);

/* Takes an event of a watchpoint that feeds an input. Returns the errors of ct_monitor_feed. A failed
 * specification takes nothing. */
int ct_verify_take(struct ct_verify_spec *spec, const struct ct_watch_event *e, uint32_t input);

/* Feeds the waiting events. Returns the errors of ct_monitor_feed. */
int ct_verify_flush(struct ct_verify_spec *spec);

/* Drops places that no later result needs, when there are many. */
void ct_verify_keep_places(struct ct_verify_spec *spec);

/* Ends the current instant because events were lost at a tick; for a member, in its whole group. */
int ct_verify_lose(struct ct_verify_spec *spec, uint64_t tick);

/* Does so only in the monitor, which must have taken all earlier events. Returns the errors of
 * ct_monitor_lose. */
int ct_verify_end_instant(struct ct_verify_spec *spec, uint64_t tick);

/* Notes that events were lost at a tick. */
void ct_verify_lost(struct ct_verify_spec *spec, uint64_t tick);

/* Makes a specification, with arrays for its inputs and outputs. NULL: out of memory. */
struct ct_verify_spec *ct_verify_spec_new(struct ct_verifier *verifier, uint32_t number,
                                          const struct ct_monitor_spec *spec, const char *name);

/* Sets `value` and `size` of *out to what the input gets from an event. Returns false when the input cannot
 * take it. */
bool ct_verify_value(const struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input,
                     struct ct_monitor_event *out);

/* Returns whether an event has no value for the input, because not all bytes of the variable are known. It is
 * skipped then, with a warning the first time. */
bool ct_verify_lacks_value(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input);

/* Fails a specification because of an event that an input cannot take. Returns CT_ERR_LIMIT. */
int ct_verify_misfit(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input);

/* Checks that a place has values for the input, and that a source provides them. `core`: core of the place,
 * or CT_VERIFY_ANY_CORE. Errors: CT_ERR_CONFIG, CT_ERR_NOT_FOUND. */
int ct_verify_check_value(const struct ct_verifier *verifier, const struct ct_monitor_stream *input,
                          const struct ct_watchpoint *point, uint32_t core);

/* Returns whether a source of the core, or of any core, may have events of a kind (enum ct_watch_kind). */
bool ct_verify_core_gives(const struct ct_verifier *verifier, uint32_t core, uint8_t kind);

/* Returns whether a specification is an instance for a core without steps so far, which may not exist. */
static inline bool ct_verify_is_awaited(const struct ct_verify_spec *spec)
{
    const struct ct_verifier *v = spec->verifier;
    return v->awaited && spec->core != CT_VERIFY_ANY_CORE && v->awaited[spec->core];
}

/* Returns whether a specification may have missed something: trace was missing, or not all orders of events
 * in doubt were followed. */
bool ct_verify_is_unseen(const struct ct_verify_spec *spec);

/* Returns whether losses of a source could have been events of the specification. */
bool ct_verify_hears(const struct ct_verify_spec *spec, size_t source);

/* Returns the first of two errors. */
static inline int ct_verify_first(int first, int rc)
{
    return first ? first : rc;
}
