/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of coretap live share: the analyses of the stream, which belong to one thread, and what of
 * them can be exchanged between two pieces of input. */
#ifndef CT_CLI_LIVE_H
#define CT_CLI_LIVE_H

#include "cli/counts.h"
#include "cli/live_ring.h"
#include "cli/monitors.h"
#include "cli/output.h"
#include "cli/timing_view.h"
#include "coretap/timing.h"
#include "coretap/verdict.h"

#define LIVE_RING     ((size_t)16 << 20) /* bytes that wait, unless something else is said */
#define LIVE_PLACES   4096               /* watchpoints that were ever asked for */
#define LIVE_SPECS    256                /* at a time */
#define LIVE_CONTEXTS 16                 /* of a filter */
#define LIVE_RECENT   48                 /* events and results that are shown */
#define LIVE_HISTORY  240                /* samples: with more every other one is left out */
#define LIVE_NONE     UINT16_MAX

/* What the command line asks for. */
struct cli_live_wishes {
    const char *input;
    const char *http, *token;                  /* or NULL */
    const char *output;                        /* folder of the reports; NULL: they are printed */
    const char *targets;                       /* file, or NULL */
    const char *tee;                           /* file that keeps the trace, or NULL */
    bool again;                                /* other connections follow the first one */
    size_t elf_option, pair_option, at_option; /* indexes of --elf, --pair, --at */
    size_t ring;                               /* bytes */
    bool drop;
    bool cover, timing;
    enum ct_verdict_format format; /* of violations */
};

/* A watchpoint as it was asked for. One that is off has no events. */
struct cli_live_place {
    const char *text;
    bool on;
    uint64_t since; /* input bytes that were analysed when it was switched on */
    uint64_t hits;
    struct ct_watch_event first, last;
    uint8_t last_id;
};

/* Which events of watchpoints count and reach the specifications. Losses always do. */
struct cli_live_filter {
    uint64_t ids[2]; /* bit i of ids[i / 64]; both 0: all */
    uint32_t contexts[LIVE_CONTEXTS];
    size_t context_count; /* 0: all */
    unsigned levels;      /* bit of each exception level; 0: all */
};

/* A specification. Its slot is its number everywhere but in the verifiers of streams. */
struct cli_live_spec {
    char *name; /* NULL: the slot is free */
    struct ct_monitor_spec *spec;
    struct cli_pairs *binds;
    uint64_t since; /* input bytes that were analysed when it began */
    uint64_t results, violations, uncertain;
    char failure[400]; /* why it takes no more events, or "" */
};

struct cli_live_result {
    uint64_t time;
    char spec[64], output[48], value[64];
    struct ct_watch_event event; /* it happened at; see placed */
    bool placed, violation, uncertain;
    uint8_t id;
};

struct cli_live_event {
    struct ct_watch_event event;
    uint16_t place;
    uint8_t id;
};

struct cli_live;

/* One trace ID, since its first step. */
struct cli_live_stream {
    struct cli_live *live;
    const struct ct_source *source;
    const struct ct_graph *graph;
    uint8_t id;
    bool failed; /* the stream's own writer: it could not write all */
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    uint16_t *place_of; /* by watchpoint: the place, or LIVE_NONE */
    size_t watch_count;
    uint16_t slot_of[LIVE_SPECS];  /* by number in the verifier */
    const char *names[LIVE_SPECS]; /* … */
    bool told[LIVE_SPECS];         /* … whether it was said that it failed */
    struct ct_watches *pair_watches;
    struct ct_timing *timing;
    struct ct_verdict_writer *writer; /* of violations; the stream's own, or the one of standard output */
    struct cli_output output;
    char *path; /* of the stream's own file, or NULL */
};

struct cli_live_sample {
    double seconds, rate;              /* bytes/s */
    double lines, branches, functions; /* covered parts, 0 to 1 */
};

struct cli_live {
    const struct cli_args *args;
    const struct cli_live_wishes *wishes;
    struct ct_ctx *ctx;
    struct cli_counts counts; /* the capture, and programs for coverage */
    struct ct_programs *programs;
    struct cli_monitors monitors; /* those of the command line */
    int stop;                     /* enum ct_monitor_stop; set by the reading thread */
    struct ct_watches *watches;   /* no stream's: what is asked for is looked up here first */
    struct ct_verifier *verifier;
    struct ct_chain *chain;
    struct ct_chain_sink sink;
    struct cli_live_ring *ring;
    struct cli_live_stream *streams[128];
    struct cli_live_place places[LIVE_PLACES];
    uint16_t place_count;
    struct cli_live_filter filter;
    struct cli_live_spec specs[LIVE_SPECS];
    uint16_t spec_count; /* slots that were ever used */
    struct cli_live_event events[LIVE_RECENT];
    uint64_t event_count; /* the last LIVE_RECENT of them are there */
    struct cli_live_result results[LIVE_RECENT];
    uint64_t result_count;
    uint64_t violations;
    struct ct_verdict_writer *writer; /* of violations, to standard output */
    int told_id;                      /* ID of the line printed last, or -1 */
    bool broken;                      /* trace was lost on the way to the chain */
    bool failed;                      /* standard output did not take all violations */
    uint64_t analysed;                /* input bytes */
    double begun;                     /* time */
    bool ended;
    uint64_t unanalysed; /* input bytes that were left when there was no more time */
    /* Coverage as it was worked out last. */
    struct ct_cover_sums sums;
    uint64_t edges_then;
    double cover_next;
    struct cli_live_sample history[LIVE_HISTORY];
    size_t sample_count;
    double sample_every, sample_next;
    double rate;
    double rate_then; /* time and bytes of the rate worked out last */
    uint64_t bytes_then;
    struct ct_watch_event batch[1024];
};

double cli_live_now(void); /* seconds of a clock that only goes forward */

/* ---- the analyses (live_run.c, live_stream.c) ---- */

/* Programs, specifications and watchpoints of the command line, and the chain. False: said why. */
bool cli_live_prepare(struct cli_live *live, const struct cli_args *args,
                      const struct cli_live_wishes *wishes);
void cli_live_release(struct cli_live *live);

/* Input. CT_ERR_…: the analyses cannot go on. */
int cli_live_push(struct cli_live *live, const struct cli_live_piece *piece);

/* Makes a writer of violations in the format that is wished. The errors of ct_verdict_writer_new. */
int cli_live_writer(const struct cli_live *live, FILE *file, struct ct_verdict_writer **out);

/* The receivers of the chain. */
int cli_live_on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
void cli_live_stream_free(struct cli_live_stream *stream);

/* Prints the violations that are held back. */
void cli_live_flush(struct cli_live *live);

/* The end of its specifications, and of the file that they print to. False: said why that is not whole. */
bool cli_live_stream_finish(struct cli_live_stream *stream);

/* ---- exchange, between two pieces of input (live_exchange.c) ---- */

/* A request that changes something, and what became of it. */
enum cli_live_action {
    LIVE_WATCH,
    LIVE_MONITOR_ADD,
    LIVE_MONITOR_REPLACE,
    LIVE_MONITOR_REMOVE,
    LIVE_FILTER,
    LIVE_STOP,
};

struct cli_live_command {
    enum cli_live_action action;
    bool whole; /* WATCH: `add` is all that is watched from now on */
    const char **add, **remove;
    size_t add_count, remove_count;
    const char *name;             /* of the specification */
    struct ct_monitor_spec *spec; /* NULL when it was taken */
    struct cli_pairs *binds;      /* … */
    struct cli_live_filter filter;
    /* The answer. */
    bool fine;
    bool lacking;    /* refused for want of memory: asked again, it may be done */
    char text[1024]; /* what was done, or why not */
    uint64_t at;     /* input bytes analysed before */
};

void cli_live_exchange(struct cli_live *live, struct cli_live_command *command);

/* Makes a place known to all streams; its number. CT_ERR_LIMIT: there are LIVE_PLACES already. */
int cli_live_place_known(struct cli_live *live, const char *text, uint16_t *number);

/* Gives what a place has in a stream: for streams that begin. CT_ERR_NOMEM. */
int cli_live_stream_place(struct cli_live_stream *stream, uint16_t place);
int cli_live_stream_spec(struct cli_live_stream *stream, uint16_t slot);
void cli_live_switch(struct cli_live *live, uint16_t place, bool on);

/* A slot for a specification, which then belongs to it. CT_ERR_…, with the text in the context. */
int cli_live_spec_add(struct cli_live *live, const char *name, struct ct_monitor_spec *spec,
                      struct cli_pairs *binds);

/* ---- reports (live_report.c) and the page's numbers (live_status.c) ---- */

/* Coverage so far, when something new ran since; with `now` in any case. */
void cli_live_cover(struct cli_live *live, bool now);

/* Takes samples for the plots. */
void cli_live_sample(struct cli_live *live, double now);

/* All that the page shows, as one line of JSON, and in words. */
void cli_live_status_json(struct cli_live *live, FILE *out);
void cli_live_status_text(struct cli_live *live, FILE *out);

/* The final reports. Result: enum cli_exit. */
int cli_live_report(struct cli_live *live);

#endif
