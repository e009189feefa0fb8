/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a live run share: the analyses of the stream, which belong to one thread, and what of
 * them can be exchanged between two pieces of input. */
#ifndef CT_LIVE_LIVE_H
#define CT_LIVE_LIVE_H

#include "base/ctx.h"
#include "coretap/format.h"
#include "coretap/fractal_watch.h"
#include "coretap/json.h"
#include "coretap/live.h"
#include "live/ring.h"
#include "live/say.h"
#include "live/source.h"
#include "live/text.h"
#include "live/view.h"

#define LIVE_RING       ((size_t)16 << 20) /* bytes that may wait, unless the caller says how many */
#define LIVE_PLACES     4096               /* the most watchpoints that were ever asked for */
#define LIVE_SPECS      1024               /* the most specifications at a time */
#define LIVE_CONTEXTS   16                 /* the most contexts of a filter */
#define LIVE_MILESTONES 256                /* the most of a run */
#define LIVE_RECENT     48                 /* events and results that are shown */
#define LIVE_HISTORY    240                /* samples that are kept; with more, every other one is dropped */
#define LIVE_NONE       UINT16_MAX

/* A watchpoint as it was asked for. One that is switched off has no events. */
struct ct_live_place {
    const char *text;
    bool on;
    uint64_t since; /* input bytes that were analysed when it was switched on */
    uint64_t hits;
    struct ct_watch_event first, last;
    uint8_t last_id;
};

/* A place that the run has to reach, by a time of its own if that is not 0. It counts though nobody watches
 * the place any more. */
struct ct_live_milestone {
    uint16_t place;
    double deadline; /* seconds */
    uint64_t hits;
    uint64_t first; /* cycle of the first one */
};

/* Which events of watchpoints count and reach the specifications. Losses always do. */
struct ct_live_filter {
    uint64_t ids[2]; /* bit i of ids[i / 64]; both are 0 when all IDs are wanted */
    uint32_t contexts[LIVE_CONTEXTS];
    size_t context_count; /* 0 when all contexts are wanted */
    unsigned levels;      /* a bit for each exception level; 0 when all are wanted */
};

/* What feeds the inputs of a specification, in one piece of memory with its texts. */
struct ct_live_binds {
    size_t count;
    struct ct_verify_bind pairs[];
};

/* A pair of places whose distance is measured. */
struct ct_live_pair {
    char *from, *to;
};

/* A specification. Its slot is its number everywhere but in the verifiers of streams. */
struct ct_live_spec {
    char *name; /* NULL when the slot is free */
    struct ct_monitor_spec *spec;
    struct ct_live_binds *binds;
    struct ct_live_view *view;
    uint32_t number; /* that no other one had or will have */
    uint64_t since;  /* input bytes that were analysed when it began */
    uint64_t results, violations, uncertain;
    char failure[400]; /* why it takes no more events, or "" */
};

/* The parts of the status in JSON that are told by themselves when they change. */
enum ct_live_part_key {
    LIVE_PART_STATE,
    LIVE_PART_INPUT,
    LIVE_PART_STREAMS,
    LIVE_PART_LOSSES,
    LIVE_PART_COVER,
    LIVE_PART_HISTORY,
    LIVE_PART_EDGES,
    LIVE_PART_TIMING,
    LIVE_PART_PLACES,
    LIVE_PART_EVENTS,
    LIVE_PART_NUMBERS,
    LIVE_PART_VERDICTS,
    LIVE_PART_FILTER,
    LIVE_PART_HOOKS,
    LIVE_PART_REPORT,
    LIVE_PART_PROGRESS,
    LIVE_PART_MONITOR, /* LIVE_PART_MONITOR + n is of the specification of number n */
};

#define LIVE_PARTS (LIVE_PART_MONITOR + LIVE_SPECS)

struct ct_live_part {
    uint64_t key;
    size_t begin, size; /* in the text */
};

struct ct_live_parts {
    const struct ct_live_text *text;
    size_t from; /* end of the last one */
    size_t count;
    struct ct_live_part all[LIVE_PARTS];
};

/* A result with names, which stay when its specification is gone. */
struct ct_live_result {
    char spec[64], output[48];
    struct ct_live_kept kept;
};

struct ct_live_event {
    struct ct_watch_event event;
    uint16_t place;
    uint8_t id;
};

/* One trace ID, from its first step on. */
struct ct_live_stream {
    struct ct_live *live;
    const struct ct_source *source;
    const struct ct_graph *graph;
    uint8_t id;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    uint16_t *place_of; /* by watchpoint: its place, or LIVE_NONE */
    size_t watch_count;
    uint16_t slot_of[LIVE_SPECS];  /* by number in the verifier: the slot */
    const char *names[LIVE_SPECS]; /* by number in the verifier: the name */
    struct ct_watches *pair_watches;
    struct ct_timing *timing;
    struct ct_fractal_watch *log; /* NULL: it is a trace */
};

struct ct_live_sample {
    double seconds, rate;              /* `rate` is in bytes a second */
    double lines, branches, functions; /* covered parts of all, 0 to 1 */
};

struct ct_live_hooks;
struct ct_live_http;
struct ct_live_one;
struct ct_live_board;
struct ct_live_tee;
struct ct_live_reader;

struct ct_live {
    struct ct_ctx *ctx;
    struct ct_live_options options;
    struct ct_live_sink sink;
    struct ct_live_say say;
    struct ct_live_input input; /* its size is 0 when no input is open */
    struct ct_monitor_options compile;
    struct ct_verify_options verify;
    struct ct_monitor_limits limits; /* `verify` points to it */
    int stop;                        /* enum ct_monitor_stop; the reading thread sets it */
    int ends, hurries;               /* descriptors of events, for ct_live_stop and ct_live_hurry */
    struct ct_watches *watches;      /* belongs to no stream: what is asked for is looked up here first */
    struct ct_verifier *verifier;    /* that of `one`; without it nothing is fed to it */
    struct ct_live_one *one;         /* all IDs as one run; NULL: each is a run of its own */
    struct ct_chain *chain;
    struct ct_chain_sink chain_sink;
    struct ct_live_source source;
    struct ct_live_ring *ring; /* NULL without an input */
    struct ct_live_tee *tee;   /* NULL when the trace is not kept */
    struct ct_live_reader *reader;
    struct ct_live_board *board; /* NULL without a page */
    struct ct_live_http *http;
    struct ct_live_stream *streams[128];
    struct ct_live_pair *pairs;
    size_t pair_count;
    struct ct_live_place places[LIVE_PLACES];
    uint16_t place_count;
    struct ct_live_milestone milestones[LIVE_MILESTONES];
    size_t milestone_count;
    uint64_t log_lost; /* events and bytes that a log lacks */
    struct ct_live_filter filter;
    struct ct_live_spec specs[LIVE_SPECS];
    uint16_t spec_count;  /* slots that were ever in use */
    uint32_t spec_number; /* number of the specification that came last */
    struct ct_live_event events[LIVE_RECENT];
    uint64_t event_count; /* the last LIVE_RECENT events are kept */
    struct ct_live_result results[LIVE_RECENT];
    uint64_t result_count;
    uint64_t serial; /* results of specifications */
    uint64_t violations;
    double read_next; /* time from which on the next reading request is answered */
    char *files;      /* paths of files that were written, each with a NUL behind it; then one more */
    size_t files_size;
    struct ct_live_hooks *hooks; /* NULL: there are none */
    int refused;                 /* the first error that the sink returned, or 0 */
    char why[1024];              /* the text of that error */
    bool broken;                 /* trace was lost on the way to the chain */
    uint64_t analysed;           /* input bytes that were analysed */
    uint64_t pushed;             /* input bytes that the caller gave */
    double begun;                /* time of the beginning */
    bool stopping, ended;
    bool stuck;              /* the chain takes no more */
    bool unsettled;          /* the run of all IDs was not told that the last piece is over */
    const char *tee_trouble; /* why the file that keeps the trace could not be closed, or NULL */
    size_t part;             /* the most bytes that are analysed at a time; 0: all that there are */
    double first, stopped;   /* times of the first bytes, and of stopping the specifications; 0 before */
    uint64_t unanalysed;     /* input bytes that were left when there was no time for them */
    struct ct_live_seen seen;
    /* The coverage, as it was last worked out. */
    struct ct_cover *cover;
    struct ct_cover_sums sums;
    uint64_t edges_then;
    double cover_next;
    struct ct_live_sample history[LIVE_HISTORY];
    size_t sample_count;
    double sample_every, sample_next;
    double rate;
    double rate_then; /* time and bytes when the rate was last worked out */
    uint64_t bytes_then;
    /* The page, which is written into the same memory each time. */
    struct ct_live_text json, words;
    struct ct_live_parts parts; /* of `json` */
    struct ct_json *status;     /* writes `json`; NULL before it is made, and when memory was missing */
    double publish_next;
    struct ct_watch_event batch[1024];
};

/* Returns the name of a source's core, or its own. */
static inline const char *ct_live_core_of(const struct ct_source *source)
{
    return source->core ? source->core : source->name ? source->name : "";
}

/* Returns the name of the input. Bytes that the caller gives may have none. */
static inline const char *ct_live_name_of(const struct ct_live *live)
{
    return live->input.name ? live->input.name : "live";
}

/* Returns the covered part of all, 0 to 1. */
static inline double ct_live_covered(struct ct_cover_ratio ratio)
{
    return ratio.all ? (double)ratio.seen / (double)ratio.all : 0;
}

double ct_live_now(void); /* returns seconds of a clock that never goes back */

/* ---- the analyses (live.c, stream.c) ---- */

/* Makes a set of watchpoints that knows the names of the stream's events and contexts, and of the events that
 * its program writes; where these names are damaged there are none. */
int ct_live_watches_new(const struct ct_live *live, struct ct_watches **out);

/* Takes a piece of input. CT_ERR_…: the analyses cannot go on. */
int ct_live_take(struct ct_live *live, const struct ct_live_piece *piece);

/* Tells the run of all IDs that the last piece is over, unless that is done. With more input waiting this is
 * put off until the next piece is being decoded, by other threads as a rule; who looks at results or changes
 * specifications calls it first. */
int ct_live_settle(struct ct_live *live);

/* Receives the steps of the chain. */
int ct_live_on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
void ct_live_stream_free(struct ct_live_stream *stream);

/* Returns the stream of an ID, which begins with its first trace. NULL: it could not, and *rc says why. */
struct ct_live_stream *ct_live_stream_of(struct ct_live *live, const struct ct_stream *stream, int *rc);

/* Takes the events that a log has by now. The errors of ct_fractal_watch_next, and what the sink returned. */
int ct_live_stream_log(struct ct_live_stream *stream);

/* Takes note that the watchpoints of a stream changed. The errors of ct_watcher_renew and of
 * ct_fractal_watch_renew. */
int ct_live_stream_renew(struct ct_live_stream *stream);

/* Tells whether the filter passes an event. Losses always pass. */
bool ct_live_passes(const struct ct_live_filter *filter, const struct ct_watch_event *event, uint8_t id);

/* Counts a result, keeps it for the page, and tells hooks and the sink. */
void ct_live_result_came(struct ct_live *live, struct ct_live_spec *spec,
                         const struct ct_verdict_origin *origin, const struct ct_verify_result *result);

/* Says that a specification, whose number is one of the origin's, failed. */
void ct_live_spec_failed(struct ct_live *live, struct ct_live_spec *spec,
                         const struct ct_verdict_origin *origin, uint32_t number, const char *why);

/* Ends the specifications of a stream. Returns what the sink returned. */
int ct_live_stream_finish(struct ct_live_stream *stream);

/* Notes what the sink returned. Its first error ends the run. */
void ct_live_note(struct ct_live *live, int rc);

/* Returns that error with its text, or CT_OK. */
int ct_live_refusal(const struct ct_live *live);

/* Returns what is known of the input. If the caller gives the bytes, all of them came. */
struct ct_live_ring_state ct_live_look(const struct ct_live *live);

/* Answers a request, takes samples, lets the sink write, and publishes, between two pieces of input
 * (between.c). Returns what the sink returned. */
int ct_live_between(struct ct_live *live);
void ct_live_publish(struct ct_live *live);

/* ---- exchange, between two pieces of input (exchange.c) ---- */

/* What a request changes. */
enum ct_live_action {
    LIVE_WATCH,
    LIVE_MONITOR_ADD,
    LIVE_MONITOR_REPLACE,
    LIVE_MONITOR_REMOVE,
    LIVE_FILTER,
    LIVE_STOP,
    LIVE_READ_MONITOR, /* from here on nothing changes */
    LIVE_READ_OUTPUTS,
};

/* Requests that wait for each other. */
enum ct_live_kind {
    LIVE_EXCHANGES,
    LIVE_READS,
    LIVE_KINDS,
};

static inline enum ct_live_kind ct_live_kind(enum ct_live_action action)
{
    return action >= LIVE_READ_MONITOR ? LIVE_READS : LIVE_EXCHANGES;
}

enum ct_live_lines {
    LIVE_CSV,
    LIVE_JSONL,
};

struct ct_live_command {
    enum ct_live_action action;
    bool whole; /* of WATCH: `add` is all that is to be watched from now on */
    const char **add, **remove;
    size_t add_count, remove_count;
    const char *name;   /* of the specification; reading outputs: NULL is all */
    const char *source; /* text of the specification, of `source_size` bytes */
    size_t source_size;
    uint64_t after;               /* reading outputs: those with a larger number */
    enum ct_live_lines lines;     /* reading outputs */
    struct ct_live_text read;     /* what was read, which is the asking thread's */
    struct ct_monitor_spec *spec; /* of the specification; NULL once it was taken */
    struct ct_live_binds *binds;  /* of the specification; NULL once they were taken */
    struct ct_live_filter filter;
    /* The answer. */
    bool fine;
    bool faulty;     /* the specification has errors */
    bool lacking;    /* memory was missing: the request may be done when it is asked again */
    bool late;       /* the run is over, so nothing is done any more */
    char text[1024]; /* what was done, or why not */
    uint64_t at;     /* input bytes that were analysed before */
};

void ct_live_exchange(struct ct_live *live, struct ct_live_command *command);

/* Says which trace IDs are followed again since a filter let them pass. */
void ct_live_tell_resumed(struct ct_live *live);

/* Makes a place known to all streams, and gives its number. CT_ERR_LIMIT: there are LIVE_PLACES already. */
int ct_live_place_known(struct ct_live *live, const char *text, uint16_t *number);

/* Adds the watchpoints of a place to a stream that begins. CT_ERR_NOMEM. */
int ct_live_stream_place(struct ct_live_stream *stream, uint16_t place);

/* Sets the options of violations for all specifications of a verifier. An output that none has yet does
 * nothing. CT_ERR_NOMEM. */
int ct_live_set_violations(const struct ct_live *live, struct ct_verifier *verifier);
int ct_live_stream_spec(struct ct_live_stream *stream, uint16_t slot);
void ct_live_switch(struct ct_live *live, uint16_t place, bool on);

/* Returns a copy, which the caller frees; NULL without memory. */
struct ct_live_binds *ct_live_binds_copy(const struct ct_verify_bind *binds, size_t count);

/* Takes a slot for a specification, which then belongs to it. CT_ERR_…, with the text in the context. */
int ct_live_begin_spec(struct ct_live *live, const char *name, struct ct_monitor_spec *spec,
                       struct ct_live_binds *binds);

/* Returns the slot of a specification, or LIVE_NONE. */
uint16_t ct_live_find_spec(const struct ct_live *live, const char *name);

/* ---- what is read of specifications (monitors.c) ---- */

/* Answers a request that reads. */
void ct_live_read(struct ct_live *live, struct ct_live_command *command);

/* Writes the numbers of all specifications, and a list of what is known of each, whose parts are noted. */
void ct_live_put_monitors(struct ct_live *live, struct ct_json *json, struct ct_live_parts *parts);

/* Writes a list of the details of those that the page shows, for who cannot ask any more; before the end of
 * the run it is empty. */
void ct_live_put_details(struct ct_live *live, struct ct_json *json);

/* ---- the page's numbers (status.c) ---- */

/* Returns how many instructions ran in no program, of all, when coverage was last worked out. */
struct ct_cover_ratio ct_live_outside(const struct ct_live *live);

/* Works out the coverage if anything new ran since the last time, or if `now`. */
void ct_live_update_cover(struct ct_live *live, bool now);

/* Takes samples for the plots. */
void ct_live_sample(struct ct_live *live, double now);

/* Writes all that the page shows as one line of JSON, and in words. `parts` NULL: they are not noted. */
void ct_live_status_json(struct ct_live *live, struct ct_json *json, struct ct_live_parts *parts);
void ct_live_status_text(struct ct_live *live, struct ct_live_text *out);

/* Begins a part behind what was written, and ends it. */
void ct_live_part_begin(struct ct_json *json, struct ct_live_parts *parts);
void ct_live_part_end(struct ct_json *json, struct ct_live_parts *parts, uint64_t key);

/* Writes an event of a watchpoint, and a number as hexadecimal text. */
void ct_live_put_event(const struct ct_live *live, struct ct_json *json, const char *key,
                       const struct ct_watch_event *event, uint8_t id);
/* Writes the value of a result, its place, and why it is uncertain, as members. */
void ct_live_put_kept(const struct ct_live *live, struct ct_json *json, const struct ct_live_kept *kept);
void ct_live_put_hex(struct ct_json *json, const char *key, uint64_t value, unsigned digits);

#endif
