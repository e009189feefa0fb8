/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of a live run: the analyses of the stream, which belong to one thread, and what
 * requests can change between two pieces of input. */
#pragma once

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

#define LIVE_RING       ((size_t)16 << 20) /* bytes that may wait, unless the caller sets the size */
#define LIVE_PLACES     4096               /* most watchpoints over the whole run */
#define LIVE_SPECS      1024               /* most specifications at a time */
#define LIVE_CONTEXTS   16                 /* most contexts in a filter */
#define LIVE_MILESTONES 256                /* most milestones of a run */
#define LIVE_RECENT     48                 /* events and results shown */
#define LIVE_HISTORY    240                /* samples kept; when full, every other one is dropped */
#define LIVE_NONE       UINT16_MAX

/* A watchpoint in the words of the request. When it is off, its events are ignored. */
struct ct_live_place {
    const char *text;
    bool on;
    uint64_t since; /* input bytes that had been analysed when it was switched on */
    uint64_t hits;
    struct ct_watch_event first, last;
    uint64_t returns; /* hits that are the end of a function; a place may be both its entry and its returns */
    uint8_t last_id;
};

/* A place that the run has to reach, by its deadline if that is not 0. It counts hits even when the place is
 * not watched any more. */
struct ct_live_milestone {
    uint16_t place;
    double deadline; /* seconds */
    uint64_t hits;
    uint64_t first; /* cycle of the first hit */
};

/* Selects the watchpoint events that count and reach the specifications. Losses always do. */
struct ct_live_filter {
    uint64_t ids[2]; /* bit i % 64 of ids[i / 64]; both 0: all IDs */
    uint32_t contexts[LIVE_CONTEXTS];
    size_t context_count; /* 0: all contexts */
    unsigned levels;      /* bit per exception level; 0: all levels */
};

/* The places bound to the inputs of a specification, in one allocation with their texts. */
struct ct_live_binds {
    size_t count;
    struct ct_verify_bind pairs[];
};

/* A pair of places between which time is measured. */
struct ct_live_pair {
    char *from, *to;
};

/* A specification. Its slot in ct_live.specs identifies it everywhere but in the verifiers of streams. */
struct ct_live_spec {
    char *name; /* NULL: the slot is free */
    struct ct_monitor_spec *spec;
    struct ct_live_binds *binds;
    struct ct_live_view *view;
    uint32_t number; /* unique over the whole run */
    uint64_t since;  /* input bytes that had been analysed when it began */
    uint64_t results, violations, uncertain;
    char failure[400]; /* why it takes no more events, or "" */
};

/* The parts of the JSON status that are sent separately when they change. */
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
    LIVE_PART_MONITOR, /* LIVE_PART_MONITOR + n is the specification with number n */
};

#define LIVE_PARTS (LIVE_PART_MONITOR + LIVE_SPECS)

struct ct_live_part {
    uint64_t key;
    size_t begin, size; /* bytes of the text */
};

struct ct_live_parts {
    const struct ct_live_text *text;
    size_t from; /* end of the last part */
    size_t count;
    struct ct_live_part all[LIVE_PARTS];
};

/* A result with its names, which outlive the specification. */
struct ct_live_result {
    char spec[64], output[48];
    struct ct_live_kept kept;
};

struct ct_live_event {
    struct ct_watch_event event;
    uint16_t place;
    uint8_t id;
};

/* The analyses of one trace ID, from its first step on. */
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
    uint16_t slot_of[LIVE_SPECS];  /* by number in the verifier: its slot */
    const char *names[LIVE_SPECS]; /* by number in the verifier: its name */
    struct ct_watches *pair_watches;
    struct ct_timing *timing;
    struct ct_fractal_watch *log; /* NULL: the input is a trace */
};

struct ct_live_sample {
    double seconds, rate;              /* `rate` in bytes per second */
    double lines, branches, functions; /* covered fraction, 0 to 1 */
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
    struct ct_live_input input; /* size 0: no input is open */
    struct ct_monitor_options compile;
    struct ct_verify_options verify;
    struct ct_monitor_limits limits; /* `verify` points to it */
    int stop;                        /* enum ct_monitor_stop; set by the reading thread */
    int ends, hurries;               /* eventfds of ct_live_stop and ct_live_hurry */
    struct ct_watches *watches;      /* belongs to no stream; requested places are looked up here first */
    struct ct_verifier *verifier;    /* verifier of `one`; without `one` it is not fed */
    struct ct_live_one *one;         /* all IDs as one run; NULL: each ID is its own run */
    struct ct_chain *chain;
    struct ct_chain_sink chain_sink;
    struct ct_live_source source;
    struct ct_live_ring *ring; /* NULL: no input is open */
    struct ct_live_tee *tee;   /* NULL: the trace is not kept */
    struct ct_live_reader *reader;
    struct ct_live_board *board; /* NULL: no page */
    struct ct_live_http *http;
    struct ct_live_stream *streams[128];
    struct ct_live_pair *pairs;
    size_t pair_count;
    struct ct_live_place places[LIVE_PLACES];
    uint16_t place_count;
    struct ct_live_milestone milestones[LIVE_MILESTONES];
    size_t milestone_count;
    uint64_t log_lost; /* events and bytes that a log has lost */
    struct ct_live_filter filter;
    struct ct_live_spec specs[LIVE_SPECS];
    uint16_t spec_count;  /* slots used so far */
    uint32_t spec_number; /* number of the latest specification */
    struct ct_live_event events[LIVE_RECENT];
    uint64_t event_count; /* the last LIVE_RECENT events are kept */
    struct ct_live_result results[LIVE_RECENT];
    uint64_t result_count;
    uint64_t serial; /* number of results so far */
    uint64_t violations;
    double read_next; /* time from which the next read request may be answered */
    char *files;      /* paths of written files, one after the other, each NUL-terminated */
    size_t files_size;
    struct ct_live_hooks *hooks; /* NULL: no hooks */
    int refused;                 /* first error returned by the sink, or 0 */
    char why[1024];              /* text of that error */
    bool broken;                 /* trace was lost before it reached the chain */
    uint64_t analysed;           /* input bytes analysed */
    uint64_t pushed;             /* input bytes pushed by the caller */
    double begun;                /* start time */
    bool stopping, ended;
    bool working;            /* in a call from which receivers are called */
    bool stuck;              /* the chain takes no more input */
    bool unsettled;          /* the run of all IDs has not been told that the last piece is over */
    const char *tee_trouble; /* why the file of the trace could not be closed, or NULL */
    size_t part;             /* most bytes analysed at a time; 0: no limit */
    double first, stopped;   /* times of the first bytes, and of stopping the specifications; 0: not yet */
    uint64_t unanalysed;     /* input bytes left over because time ran out */
    struct ct_live_seen seen;
    /* The coverage, as last computed. */
    struct ct_cover *cover;
    struct ct_cover_sums sums;
    uint64_t edges_then;
    double cover_next;
    struct ct_live_sample history[LIVE_HISTORY];
    size_t sample_count;
    double sample_every, sample_next;
    double rate;
    double rate_then; /* time and bytes when the rate was last computed */
    uint64_t bytes_then;
    /* The status, written into the same memory each time. */
    struct ct_live_text json, words;
    struct ct_live_parts parts; /* parts of `json` */
    struct ct_json *status;     /* writes `json`; NULL before first use, and after running out of memory */
    double publish_next;
    struct ct_watch_event batch[1024];
};

/* Returns the name of the input. A run that is fed by the caller may have none. */
static inline const char *ct_live_name_of(const struct ct_live *live)
{
    return live->input.name ? live->input.name : "live";
}

/* Returns the covered fraction, 0 to 1. */
static inline double ct_live_covered(struct ct_cover_ratio ratio)
{
    return ratio.all ? (double)ratio.seen / (double)ratio.all : 0;
}

double ct_live_now(void); /* returns the monotonic time in seconds */

/* ---- the analyses (live.c, stream.c) ---- */

/* Makes a set of watchpoints that knows the names of the stream's events and contexts, and of events written
 * by the program. Damaged names are left out. */
int ct_live_watches_new(const struct ct_live *live, struct ct_watches **out);

/* Refuses the call of `function` from a receiver of the run. Returns CT_ERR_ARG. */
int ct_live_refuse(const struct ct_live *live, const char *function);

/* Ends the stream; once for each run. */
int ct_live_end(struct ct_live *live);

/* Takes a piece of input. On an error the analyses cannot continue. */
int ct_live_take(struct ct_live *live, const struct ct_live_piece *piece);

/* Tells the run of all IDs that the last piece is over, if that has not been done. While more input waits,
 * this is delayed until the next piece is being decoded, usually by other threads. Call it before looking at
 * results or changing specifications. */
int ct_live_settle(struct ct_live *live);

/* Receives steps from the chain. */
int ct_live_on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
void ct_live_stream_free(struct ct_live_stream *stream);

/* Returns the stream of an ID. Creates it at its first trace. NULL: that failed, with the error in *rc. */
struct ct_live_stream *ct_live_stream_of(struct ct_live *live, const struct ct_stream *stream, int *rc);

/* Takes the events that a log has so far. Returns the errors of ct_fractal_watch_next and of the sink. */
int ct_live_stream_log(struct ct_live_stream *stream);

/* Updates a stream after its watchpoints changed. Returns the errors of ct_watcher_renew and of
 * ct_fractal_watch_renew. */
int ct_live_stream_renew(struct ct_live_stream *stream);

/* Returns whether an event passes the filter. Losses always do. */
bool ct_live_passes(const struct ct_live_filter *filter, const struct ct_watch_event *event, uint8_t id);

/* Counts a result, keeps it for the page, and passes it to hooks and sink. */
void ct_live_result_came(struct ct_live *live, struct ct_live_spec *spec,
                         const struct ct_verdict_origin *origin, const struct ct_verify_result *result);

/* Reports that a specification failed; `number` is its number in the origin. */
void ct_live_spec_failed(struct ct_live *live, struct ct_live_spec *spec,
                         const struct ct_verdict_origin *origin, uint32_t number, const char *why);

/* Ends the specifications of a stream. Returns the errors of the sink. */
int ct_live_stream_finish(struct ct_live_stream *stream);

/* Notes a return value of the sink. The first error ends the run. */
void ct_live_note(struct ct_live *live, int rc);

/* Returns the sink's first error with its text, or CT_OK. */
int ct_live_refusal(const struct ct_live *live);

/* Returns the state of the input. If the caller pushes the bytes, all of them were taken. */
struct ct_live_ring_state ct_live_look(const struct ct_live *live);

/* Does the work between two pieces of input: answers a request, takes samples, lets the sink write, publishes
 * (between.c). Returns the errors of the sink. */
int ct_live_between(struct ct_live *live);
void ct_live_publish(struct ct_live *live);

/* ---- changes between two pieces of input (exchange.c) ---- */

/* What a request does. */
enum ct_live_action {
    LIVE_WATCH,
    LIVE_MONITOR_ADD,
    LIVE_MONITOR_REPLACE,
    LIVE_MONITOR_REMOVE,
    LIVE_FILTER,
    LIVE_STOP,
    LIVE_READ_MONITOR, /* from here on: requests that change nothing */
    LIVE_READ_OUTPUTS,
};

/* Kinds of requests. Requests of one kind wait for each other. */
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
    bool whole; /* WATCH: `add` is the complete new list */
    const char **add, **remove;
    size_t add_count, remove_count;
    const char *name;   /* name of the specification; when reading outputs, NULL means all */
    const char *source; /* text of the specification, of `source_size` bytes */
    size_t source_size;
    uint64_t after;               /* reading outputs: only results with larger numbers */
    enum ct_live_lines lines;     /* reading outputs */
    struct ct_live_text read;     /* the text that was read; belongs to the asking thread */
    struct ct_monitor_spec *spec; /* the specification; NULL once it was taken over */
    struct ct_live_binds *binds;  /* its bindings; NULL once they were taken over */
    struct ct_live_filter filter;
    /* The answer. */
    bool fine;
    bool faulty;     /* the specification has errors */
    bool lacking;    /* out of memory; the request may succeed when repeated */
    bool late;       /* the run is over, so nothing was done */
    char text[1024]; /* what was done, or why not */
    uint64_t at;     /* input bytes that had been analysed before it */
};

void ct_live_exchange(struct ct_live *live, struct ct_live_command *command);

/* Reports which trace IDs are followed again because a filter lets them pass. */
void ct_live_tell_resumed(struct ct_live *live);

/* Adds a place to all streams, and gets its number. Returns CT_ERR_LIMIT when there are LIVE_PLACES
 * already. */
int ct_live_place_known(struct ct_live *live, const char *text, uint16_t *number);

/* Adds the watchpoints of a place to a new stream. Returns CT_ERR_NOMEM. */
int ct_live_stream_place(struct ct_live_stream *stream, uint16_t place);

/* Sets the violation options for all specifications of a verifier. An output that no specification has yet is
 * ignored. Returns CT_ERR_NOMEM. */
int ct_live_set_violations(const struct ct_live *live, struct ct_verifier *verifier);
int ct_live_stream_spec(struct ct_live_stream *stream, uint16_t slot);
void ct_live_switch(struct ct_live *live, uint16_t place, bool on);

/* Returns a copy, which the caller frees. NULL: out of memory. */
struct ct_live_binds *ct_live_binds_copy(const struct ct_verify_bind *binds, size_t count);

/* Assigns a slot to a specification, which then owns it. On an error the context has the text. */
int ct_live_begin_spec(struct ct_live *live, const char *name, struct ct_monitor_spec *spec,
                       struct ct_live_binds *binds);

/* Returns the slot of a specification, or LIVE_NONE. */
uint16_t ct_live_find_spec(const struct ct_live *live, const char *name);
/* the message about a name that it does not find */
#define LIVE_NO_SPEC "%s: no specification with this name is running"

/* ---- reading specifications (monitors.c) ---- */

/* Answers a read request. */
void ct_live_read(struct ct_live *live, struct ct_live_command *command);

/* Writes the counts over all specifications, and a list with the state of each. Notes each list element as a
 * part. */
void ct_live_put_monitors(struct ct_live *live, struct ct_json *json, struct ct_live_parts *parts);

/* Writes the details of the specifications that the page shows, for clients that cannot ask any more. Empty
 * before the end of the run. */
void ct_live_put_details(struct ct_live *live, struct ct_json *json);

/* ---- numbers of the page (status.c) ---- */

/* Returns how many instructions ran outside all programs, of all, when coverage was last computed. */
struct ct_cover_ratio ct_live_outside(const struct ct_live *live);

/* Computes the coverage if new code ran since the last time, or if `now`. */
void ct_live_update_cover(struct ct_live *live, bool now);

/* Takes samples for the plots. */
void ct_live_sample(struct ct_live *live, double now);

/* Write the whole status: as one line of JSON, and in words. If `parts` is NULL, no parts are noted. */
void ct_live_status_json(struct ct_live *live, struct ct_json *json, struct ct_live_parts *parts);
void ct_live_status_text(struct ct_live *live, struct ct_live_text *out);

/* Begin a part after the text written so far, and end it. */
void ct_live_part_begin(struct ct_json *json, struct ct_live_parts *parts);
void ct_live_part_end(struct ct_json *json, struct ct_live_parts *parts, uint64_t key);

/* Writes the value of a result, its place, and why it is uncertain, as members. */
void ct_live_put_kept(const struct ct_live *live, struct ct_json *json, const struct ct_live_kept *kept);
/* Writes a number as hexadecimal text. */
void ct_live_put_hex(struct ct_json *json, const char *key, uint64_t value, unsigned digits);
