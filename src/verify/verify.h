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

#define CT_VERIFY_ANY_CORE UINT32_MAX

/* What feeds an input: watchpoints from a number on. Inputs with equal feeds have equal events. */
struct ct_verify_feed {
    uint32_t first, count;
    uint32_t core; /* that comes by them, or CT_VERIFY_ANY_CORE */
    uint8_t type;  /* enum ct_monitor_type */
};

/* One specification, or its instance for a core, or several that run as one: the lead of a group. */
struct ct_verify_spec {
    struct ct_verifier *verifier;
    const struct ct_monitor_spec *spec;
    const char *name;
    struct ct_verify_output *outputs;
    uint8_t *types;               /* by input: enum ct_monitor_type */
    uint8_t *forms;               /* by input: enum ct_watch_form of its place */
    uint8_t *kept;                /* by input: 1 when only losses feed it, all of which are seen */
    struct ct_verify_feed *feeds; /* by input */
    size_t output_count, input_count;
    uint32_t number;
    uint32_t core;               /* that it is the instance for, or CT_VERIFY_ANY_CORE */
    uint32_t instance;           /* among those of the specification, from 0 on */
    uint32_t first_output;       /* of a member of a group: of its own among those of the joint */
    struct ct_verify_spec *next; /* instance, of the next core */
    struct ct_arena arena;       /* for what is above */
    bool may_misfit;             /* an event may have a value that its input cannot take, or none */
    bool told_unknown;           /* a warning said that some have none */
    bool joinable;               /* the specification may be a member of a group (group.h) */
    uint8_t instants;            /* enum ct_mon_instants, the same in all members of a group */
    uint64_t feeds_hash;         /* hash of the feeds in any order, the same in all members of a group */

    /* What a member of a group needs. */
    struct ct_verify_group *group; /* NULL: it is fed by itself. Of a lead: the one that it leads */
    const uint32_t *joined;        /* by its stream: that of the joint */
    uint32_t *inputs;              /* by its input: that of the joint */
    uint64_t born;                 /* how many places the lead had been given before its own first one */
    uint64_t told;                 /* results since the checkpoint */
    uint64_t skip;                 /* results that come once more, and were told before */

    /* What a run needs. */
    struct ct_monitor *monitor;
    bool failed;              /* the run takes no more events */
    bool told_failure;        /* ct_verifier_next_failure returned the failure */
    char failure[400];        /* why it failed */
    bool lost, doubted;       /* trace was missing, and the order of events was not known */
    bool unfollowed;          /* orders were too many for a monitor that is gone */
    bool broken;              /* the next event is not of the same instant */
    uint64_t *used;           /* by input: the instant of its last event */
    uint64_t time;            /* time of the current instant */
    uint64_t tick;            /* tick of the clock in the current instant */
    uint64_t value;           /* address in the current instant */
    uint16_t source;          /* source of the current instant */
    uint8_t kind;             /* enum ct_watch_kind of the first event of the current instant */
    uint32_t number_of_event; /* `number` of the first event of the current instant */
    uint64_t number_of_instant;
    uint64_t lost_last;               /* time of the last gap */
    struct ct_verify_place *places;   /* places of events that were fed, then of events that wait */
    size_t place_count, cursor;       /* cursor: behind the place of the last result */
    size_t kept_places;               /* that later results may need, at most */
    uint64_t place_total;             /* how many there were since the beginning */
    struct ct_monitor_event *waiting; /* room for those of one more instant than CT_VERIFY_WAITING */
    size_t waiting_count;

    /* What a run over several sources needs. */
    struct ct_monitor_span *spans;    /* beside `waiting`, when their order is in doubt */
    bool doubtful;                    /* the order of the waiting ones is in doubt */
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

/* Where an event of a watchpoint goes, where `core` comes by it. */
struct ct_verify_target {
    struct ct_verify_spec *spec;
    uint32_t input, core;
};

/* The watchpoints of a place that was bound before, to be used again. */
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
    const char **cores; /* by source, or of the only one */
    uint32_t *core_of;  /* by source: the first one that is of the same core, whose number stands for it */
    size_t core_count;
    size_t source_count; /* on an axis; else 0 */
    bool *awaited;       /* by source: no step came of the core yet; NULL: nobody waits for that */
    uint8_t *protocols;  /* by source, or of all that may be; NULL: nothing was said of them */
    size_t protocol_count;
    struct ct_verify_spec **specs; /* their first instances; NULL for one that was removed */
    size_t spec_count;
    struct ct_verify_bound *bound;
    size_t bound_count;
    bool running;
    size_t due_events;                /* taken since the specifications had their turn */
    uint64_t due_floor;               /* nothing that begins before it comes any more */
    uint64_t *lost_until;             /* by source: behind its last loss that was taken */
    struct ct_verify_target *targets; /* by watchpoint: the inputs of `fed` that it feeds */
    uint32_t *first;                  /* by watchpoint: its first target; one more entry at the end */
    uint8_t *came;                    /* by watchpoint: 1: an event of it came that somebody takes */
    uint32_t watch_count;
    struct ct_verify_spec **fed; /* the specifications in no group, and the leads of groups */
    size_t fed_count, targets_cap, fed_cap;
    struct ct_verify_group *groups; /* groups; one that ended is in the list until the next index */
    bool changed;                   /* other specifications are to be fed than the index says */
    bool regroup;                   /* the next run needs other groups than this one */
    uint64_t waste;      /* specifications that were fed alone, though others are like them, times events */
    unsigned patience;   /* how often its limit doubled */
    uint64_t waste_most; /* that limit, for each specification */
    size_t journal_most; /* events between two checkpoints of a group */
    ct_verify_fn *fn;
    void *user;
};

/* Frees a specification, and the instances behind it. */
void ct_verify_spec_free(struct ct_verify_spec *spec);

/* Makes room in the index for all watchpoints and specifications, and for one more (or NULL); ct_verify_index
 * has to follow. CT_ERR_NOMEM: the index is as before. */
int ct_verify_reserve(struct ct_verifier *verifier, const struct ct_verify_spec *more);

/* Rebuilds the index of what is fed by which watchpoint, after links or groups changed. */
void ct_verify_index(struct ct_verifier *verifier);

/* Forgets all of a run. */
void ct_verify_reset(struct ct_verify_spec *spec);

/* Makes a new monitor of a specification. CT_ERR_NOMEM. */
int ct_verify_monitor(struct ct_verify_spec *spec);

/* Ends the stream of a specification: evaluates its last instants. CT_ERR_FORMAT, CT_ERR_LIMIT. */
int ct_verify_end(struct ct_verify_spec *spec);

/* Tells results of a specification, whose places are those of `lead`. */
void ct_verify_tell(struct ct_verify_spec *spec, struct ct_verify_spec *lead,
                    const struct ct_monitor_result *results, size_t count);

/* Notes why a specification failed. It takes no more events, and its memory is freed. Result: rc. */
int ct_verify_failed(struct ct_verify_spec *spec, int rc);

/* Takes an event of one of the watchpoints that feed an input. The errors of ct_monitor_feed; one that failed
 * before takes nothing. */
int ct_verify_take(struct ct_verify_spec *spec, const struct ct_watch_event *e, uint32_t input);

/* Feeds the events that wait. The errors of ct_monitor_feed. */
int ct_verify_flush(struct ct_verify_spec *spec);

/* Drops places that no later result needs, when there are many. */
void ct_verify_keep_places(struct ct_verify_spec *spec);

/* Ends the current instant, because events were lost at this tick of the clock, also for a whole group. */
int ct_verify_lose(struct ct_verify_spec *spec, uint64_t tick);

/* Does so in the monitor alone, which has taken all events before. The errors of ct_monitor_lose. */
int ct_verify_end_instant(struct ct_verify_spec *spec, uint64_t tick);

/* Notes that events were lost. */
void ct_verify_lost(struct ct_verify_spec *spec, uint64_t tick);

/* Makes a specification with so many inputs and outputs. NULL: no memory. */
struct ct_verify_spec *ct_verify_spec_new(struct ct_verifier *verifier, uint32_t number,
                                          const struct ct_monitor_spec *spec, const char *name);

/* Gives what an input gets of an event, in `value` and `size` of *out. False when the input cannot take it.
 */
bool ct_verify_value(const struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input,
                     struct ct_monitor_event *out);

/* Tells whether an event has no value that its input could take, because not all bytes of the variable are
 * known. It is left out then; the first time, a warning says so. */
bool ct_verify_lacks_value(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input);

/* Fails a specification because of an event that an input cannot take. CT_ERR_LIMIT. */
int ct_verify_misfit(struct ct_verify_spec *spec, const struct ct_watch_event *event, uint32_t input);

/* Checks that a place gives what an input is to have, and that there is a source that gives it. `core`: that
 * it names, or CT_VERIFY_ANY_CORE. CT_ERR_CONFIG, CT_ERR_NOT_FOUND. */
int ct_verify_check_value(const struct ct_verifier *verifier, const struct ct_monitor_stream *input,
                          const struct ct_watchpoint *point, uint32_t core);

/* Tells whether a source of a core, or of any, may have events of a kind (enum ct_watch_kind). */
bool ct_verify_core_gives(const struct ct_verifier *verifier, uint32_t core, uint8_t kind);

/* Tells whether a specification is the instance for a core of which no step came yet, so that there may be
 * none. */
static inline bool ct_verify_is_awaited(const struct ct_verify_spec *spec)
{
    const struct ct_verifier *v = spec->verifier;
    return v->awaited && spec->core != CT_VERIFY_ANY_CORE && v->awaited[spec->core];
}

/* Tells whether something may have happened that a specification did not see: trace was missing, or not all
 * orders of events in doubt were followed. */
bool ct_verify_is_unseen(const struct ct_verify_spec *spec);

/* Tells whether what a source lost could have been events of a specification. */
bool ct_verify_hears(const struct ct_verify_spec *spec, size_t source);

/* Returns the first error of two. */
static inline int ct_verify_first(int first, int rc)
{
    return first ? first : rc;
}

#endif
