/* SPDX-License-Identifier: Apache-2.0 */
/* coretap filter: which part of a capture is wanted. A filter is one struct; what is zero in it leaves
 * nothing out, and a step is kept when all that is set allows it. A session applies it for all of its
 * analyses:
 *
 *     const char *functions[] = {"main"};
 *     struct ct_filter filter = {.size = sizeof filter, .functions = functions, .function_count = 1};
 *     ct_filter_point_parse(ctx, "500000cyc", &filter.from);
 *     struct ct_session_options options = {.size = sizeof options, .filter = &filter};
 *
 * Who takes the steps of a chain himself puts a ct_sieve between them and the receiver. */
#ifndef CORETAP_FILTER_H
#define CORETAP_FILTER_H

#include "coretap/base.h"
#include "coretap/event.h"
#include "coretap/input.h"
#include "coretap/programs.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the filter ---- */

/* How the begin or the end of a window is said. */
enum ct_filter_point_kind {
    CT_POINT_NONE,         /* the begin or the end of the trace */
    CT_POINT_TIME,         /* nanoseconds after the first timestamp of the capture */
    CT_POINT_TICKS,        /* a timestamp, as traced */
    CT_POINT_CYCLES,       /* cycles counted since the stream began */
    CT_POINT_INSTRUCTIONS, /* instructions executed since the stream began */
    CT_POINT_PLACE,        /* execution comes to a place */
};

/* One end of a window. */
struct ct_filter_point {
    uint64_t value;    /* TIME, TICKS, CYCLES, INSTRUCTIONS */
    const char *place; /* PLACE: as ct_watches_add takes it; a function means its entry. Borrowed */
    uint32_t times; /* PLACE: the so many-th time that the stream comes there. 0: the first time; in `to` the
                       first one after the window began */
    uint8_t kind;   /* enum ct_filter_point_kind */
    uint8_t pad[3]; /* 0 */
};

/* Lists and texts are borrowed; an empty list leaves nothing out, of another one any entry has to fit.
 *
 * A window is [from, to): it has the steps that begin at `from` or later and before `to`. A step is at the
 * cycles, the instructions and the last timestamp that its stream had when the step began; a place is reached
 * by the step that has its instruction. So windows that meet have each step once. The time of a step is known
 * as closely as the trace has timestamps. Each stream has a window of its own: it begins once and ends once.
 */
struct ct_filter {
    size_t size;      /* sizeof(struct ct_filter) */
    uint64_t ids[2];  /* bit i of ids[i / 64]: trace ID i. Both 0: all */
    const char *core; /* name of a traced core, or the number at its end; NULL: all */
    size_t context_count;
    const uint32_t *contexts; /* context IDs, as traced */
    size_t tid_count;
    const uint32_t *tids; /* threads of Linux */
    size_t pid_count;
    const uint32_t *pids; /* processes of Linux: all their threads, as far as the capture knows them */
    size_t module_count;
    const char *const *modules; /* programs, by path or its last part */
    size_t function_count;
    const char *const *functions; /* by name in the file or name for people */
    struct ct_filter_point from, to;
    uint64_t frequency; /* of timestamps, in Hz; 0: as the capture says */
    uint8_t levels;     /* bit i: exception level i. 0: all */
    uint8_t pad[7];     /* 0 */
};

/* Reads one end of a window from a text: "12.5s", "3ms", "20us", "700ns" (time), "190327ticks", "500000cyc",
 * "1000000insn", or a place ("main", "main.c:32", "0x4010"), which "#N" may follow. *out refers to `text`, or
 * to a part of it, which has to stay and may be changed: the "#N" is cut off. CT_ERR_FORMAT for anything
 * else: a number without a unit, a fraction that is no number of nanoseconds, a number that is too large. */
CT_API int ct_filter_point_parse(struct ct_ctx *ctx, char *text, struct ct_filter_point *out);

/* Tells whether a filter (NULL: none) leaves out steps of streams, and not only whole streams. */
CT_API int ct_filter_steps(const struct ct_filter *filter);

/* Writes the trace IDs of a buffer that a filter leaves, by its `ids` and `core`. They are as in struct
 * ct_chain_options. Result: 1; 0 when there is none. */
CT_API int ct_filter_ids(const struct ct_filter *filter, const struct ct_buffer *buffer, uint64_t ids[2]);

/* Copies a filter, and turns its points of time into ticks: reads `buffers`, of the capture, up to the first
 * timestamp of each stream. CT_ERR_NOT_FOUND: no buffer has the core; there is no timestamp. CT_ERR_CONFIG:
 * nobody says how fast timestamps run, or a buffer comes from standard input, which can be read only once.
 * The errors of a chain. */
CT_API int ct_filter_settle(struct ct_ctx *ctx, const struct ct_filter *filter,
                            const struct ct_capture *capture, const struct ct_buffer *buffers, size_t count,
                            struct ct_filter *out);

/* ---- the sieve ---- */

#define CT_SIEVE_CONTEXTS 16

/* What came through a sieve, and what did not: what can be said when nothing was kept. */
struct ct_sieve_seen {
    uint64_t steps; /* that came */
    uint64_t kept;
    uint64_t cycles;       /* of all steps and counts that came */
    uint64_t instructions; /* of all steps that came */
    uint64_t first_ticks, last_ticks;
    uint32_t contexts[CT_SIEVE_CONTEXTS]; /* context IDs, the first CT_SIEVE_CONTEXTS of them */
    uint32_t threads[CT_SIEVE_CONTEXTS];  /* the threads that ran under `contexts`, in the same order */
    uint32_t context_count, thread_count; /* of the lists; more there may be */
    uint8_t levels;                       /* bit i: exception level i was there */
    uint8_t has_ticks;                    /* 1: there was a timestamp */
    uint8_t has_cycles;                   /* 1: steps had cycles */
    uint8_t left;                         /* 1: a session left a stream at the end of its window, and did not
                                             see what came behind it */
    uint8_t inside;                       /* 1: a session began a stream near its window, and did not see what
                                             came before */
    uint8_t pad[3];                       /* 0 */
};

struct ct_sieve_options {
    size_t size;                    /* sizeof(struct ct_sieve_options) */
    const struct ct_filter *filter; /* settled; not owned. NULL: all is kept */
    const struct ct_source *source; /* of the stream: how it tells threads */
    const struct ct_maps *maps;     /* which threads a process has; NULL: one, with its number */
    struct ct_programs *programs;   /* that ran, for modules, functions and places; may be NULL */
};

/* Lets through what a filter keeps of one stream. Belongs to one thread at a time. */
struct ct_sieve;

/* Makes a sieve for one stream. What the options refer to has to stay. CT_ERR_NOT_FOUND: a module, a function
 * or a place is in no program; the errors of ct_watches_add and of ct_programs_places. CT_ERR_ARG also for a
 * filter that has points of time. */
CT_API int ct_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options, struct ct_sieve **out);
CT_API void ct_sieve_free(struct ct_sieve *sieve);

/* Takes a batch, gives what is kept of it: steps in their order, with their cycles, and the marks between
 * them. *out is borrowed until the next call and may be empty; how the stream is cut into batches changes
 * nothing in what comes out but the cuts.
 *
 * In the place of what was left out before a step or mark that is kept stand, right before that one: CYCLES
 * (CT_CYCLES_LEFT_OUT) with the cycles that went by, when there are some; TRACE_ON (CT_TRACE_ON_FILTER), or
 * CT_TRACE_ON_DEBUG when trace is missing there too, so that nobody knows what was called in between; the
 * last CONTEXT and the last TIMESTAMP of it. Marks are kept where the steps around them are: one behind a
 * step goes with it. CT_ERR_NOT_FOUND: the window is in cycles, and the stream has no counts. CT_ERR_NOMEM;
 * the errors of the programs. */
CT_API int ct_sieve_run(struct ct_sieve *sieve, const struct ct_step_batch *batch, struct ct_step_batch *out);

/* Returns what was seen so far, borrowed. */
CT_API const struct ct_sieve_seen *ct_sieve_seen_of(const struct ct_sieve *sieve);

/* Adds what was seen of a stream to that of others: steps are added up, of cycles and instructions the larger
 * number counts, of timestamps the first and the last. */
CT_API void ct_sieve_seen_add(struct ct_sieve_seen *to, const struct ct_sieve_seen *from);

/* ---- the sieve of events ---- */

/* Lets through the events of one stream that a filter keeps: by time, cycles, contexts, threads and levels.
 */
struct ct_event_sieve;

/* Makes a sieve for the events of one stream; the options are those of ct_sieve_new. CT_ERR_ARG also for what
 * events do not tell: windows of instructions or places, modules, functions. CT_ERR_NOT_FOUND: the window is
 * in cycles, and the source counts none. CT_ERR_NOMEM. */
CT_API int ct_event_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options,
                              struct ct_event_sieve **out);
CT_API void ct_event_sieve_free(struct ct_event_sieve *sieve);

/* Moves the events that are kept to the begin of the array; *kept says how many. An event is at its own cycle
 * (a timestamp of an ETMv4 or ETE, whose count is its own alone, at that of the event before) and at the last
 * timestamp up to it. CT_ERR_ARG. */
CT_API int ct_event_sieve_run(struct ct_event_sieve *sieve, struct ct_event *events, size_t count,
                              size_t *kept);

/* Returns 1 when the window is over: no event that comes is kept. */
CT_API int ct_event_sieve_is_over(const struct ct_event_sieve *sieve);

/* Returns what was seen so far, borrowed; events count as steps. */
CT_API const struct ct_sieve_seen *ct_event_sieve_seen(const struct ct_event_sieve *sieve);

#ifdef __cplusplus
}
#endif
#endif
