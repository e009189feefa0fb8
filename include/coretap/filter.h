/* SPDX-License-Identifier: Apache-2.0 */
/* coretap filter: selects a part of a capture. Members of a filter that are zero exclude nothing; a step is
 * kept when all members that are set allow it. A session applies the filter for all of its analyses:
 *
 *     const char *functions[] = {"main"};
 *     struct ct_filter filter = {.size = sizeof filter, .functions = functions, .function_count = 1};
 *     ct_filter_point_parse(ctx, "500000cyc", &filter.from);
 *     struct ct_session_options options = {.size = sizeof options, .filter = &filter};
 *
 * A caller that takes the steps of a chain directly passes them through a ct_sieve. */
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

/* How the beginning or the end of a window is given. */
enum ct_filter_point_kind {
    CT_POINT_NONE,         /* the beginning or the end of the trace */
    CT_POINT_TIME,         /* nanoseconds after the first timestamp of the capture */
    CT_POINT_TICKS,        /* a timestamp, as traced */
    CT_POINT_CYCLES,       /* cycles since the stream began */
    CT_POINT_INSTRUCTIONS, /* instructions since the stream began */
    CT_POINT_PLACE,        /* execution reaches a place */
};

/* One end of a window. */
struct ct_filter_point {
    uint64_t value;    /* TIME, TICKS, CYCLES, INSTRUCTIONS */
    const char *place; /* PLACE: as for ct_watches_add; a function means its entry. Borrowed */
    uint32_t times;    /* PLACE: which arrival of the stream at the place, from 1. 0: the first; for `to` the
                          first one after the window began */
    uint8_t kind;      /* enum ct_filter_point_kind */
    uint8_t pad[3];    /* 0 */
};

/* A filter. Lists and texts are borrowed. An empty list excludes nothing; of any other list one entry must
 * match.
 *
 * A window is [from, to): it has the steps that begin at `from` or later and before `to`. The position of a
 * step is the cycles, instructions and last timestamp of its stream when the step began; a place is reached
 * by the step that contains its instruction. Adjacent windows therefore have each step exactly once. The time
 * of a step is only as precise as the timestamps in the trace. Each stream has its own window, which begins
 * once and ends once. */
struct ct_filter {
    size_t size;      /* sizeof(struct ct_filter) */
    uint64_t ids[2];  /* bit i of ids[i / 64]: trace ID i. Both 0: all */
    const char *core; /* name of a traced core, or the number at its end; NULL: all */
    size_t context_count;
    const uint32_t *contexts; /* context IDs, as traced */
    size_t tid_count;
    const uint32_t *tids; /* thread IDs of Linux */
    size_t pid_count;
    const uint32_t *pids; /* process IDs of Linux: all their threads that the capture knows */
    size_t module_count;
    const char *const *modules; /* programs, by path or its last component */
    size_t function_count;
    const char *const *functions; /* by name in the file or demangled name */
    struct ct_filter_point from, to;
    uint64_t frequency; /* frequency of timestamps, in Hz; 0: from the capture */
    uint8_t levels;     /* bit i: exception level i. 0: all */
    uint8_t pad[7];     /* 0 */
};

/* Parses one end of a window: "12.5s", "3ms", "20us", "700ns" (time), "190327ticks", "500000cyc",
 * "1000000insn", or a place ("main", "main.c:32", "0x4010"), optionally followed by "#N". *out points into
 * `text`, which must stay valid and is changed: the "#N" is cut off. CT_ERR_FORMAT for anything else: a
 * number without a unit, a fraction that is not a whole number of nanoseconds, a number that is too large. */
CT_API int ct_filter_point_parse(struct ct_ctx *ctx, char *text, struct ct_filter_point *out);

/* Returns whether a filter (NULL: none) excludes single steps of streams, and not only whole streams. */
CT_API int ct_filter_steps(const struct ct_filter *filter);

/* Writes the trace IDs of a buffer that a filter keeps, by its `ids` and `core`. Their form is that of struct
 * ct_chain_options. Returns 1; 0 when it keeps none. */
CT_API int ct_filter_ids(const struct ct_filter *filter, const struct ct_buffer *buffer, uint64_t ids[2]);

/* Copies a filter and converts its points of time to ticks. For this it reads `buffers`, which belong to the
 * capture, up to the first timestamp of each stream. CT_ERR_NOT_FOUND: no buffer has the core; there is no
 * timestamp. CT_ERR_CONFIG: the frequency of timestamps is unknown, or a buffer comes from standard input,
 * which can be read only once. The errors of a chain. */
CT_API int ct_filter_settle(struct ct_ctx *ctx, const struct ct_filter *filter,
                            const struct ct_capture *capture, const struct ct_buffer *buffers, size_t count,
                            struct ct_filter *out);

/* ---- the sieve ---- */

#define CT_SIEVE_CONTEXTS 16

/* Statistics of the steps that a sieve received and kept, to explain an empty result. */
struct ct_sieve_seen {
    uint64_t steps; /* received */
    uint64_t kept;
    uint64_t cycles;       /* of all steps and counts received */
    uint64_t instructions; /* of all steps received */
    uint64_t first_ticks, last_ticks;
    uint32_t contexts[CT_SIEVE_CONTEXTS]; /* the first CT_SIEVE_CONTEXTS context IDs */
    uint32_t threads[CT_SIEVE_CONTEXTS];  /* the threads that ran under `contexts`, in the same order */
    uint32_t context_count, thread_count; /* lengths of these lists; there may be more contexts and threads */
    uint8_t levels;                       /* bit i: exception level i occurred */
    uint8_t has_ticks;                    /* 1: a timestamp occurred */
    uint8_t has_cycles;                   /* 1: steps had cycles */
    uint8_t left;                         /* 1: a session stopped at the end of a stream's window, and did not
                                             see the rest */
    uint8_t inside;                       /* 1: a session began near a stream's window, and did not see what
                                             came before */
    uint8_t pad[3];                       /* 0 */
};

struct ct_sieve_options {
    size_t size;                    /* sizeof(struct ct_sieve_options) */
    const struct ct_filter *filter; /* settled (ct_filter_settle); not owned. NULL: everything is kept */
    const struct ct_source *source; /* the source of the stream, which says how it traces threads */
    const struct ct_maps *maps;     /* the threads of each process; NULL: a process has one thread, with the
                                       same number */
    struct ct_programs *programs;   /* the programs that ran, for modules, functions and places; may be
                                       NULL */
};

/* Passes on the steps of one stream that a filter keeps. Only one thread may use it at a time. */
struct ct_sieve;

/* Makes a sieve for one stream. What the options refer to must stay valid. CT_ERR_NOT_FOUND: a module, a
 * function or a place is in no program; the errors of ct_watches_add and of ct_programs_places. CT_ERR_ARG
 * also for a filter that has points of time. */
CT_API int ct_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options, struct ct_sieve **out);
CT_API void ct_sieve_free(struct ct_sieve *sieve);

/* Takes a batch and gives what is kept of it: steps in order, with their cycles, and the marks between them.
 * *out is borrowed until the next call and may be empty. How the stream is cut into batches does not change
 * the sequence that comes out.
 *
 * Where something was excluded, the next step or mark that is kept is preceded by: CYCLES
 * (CT_CYCLES_LEFT_OUT) with the excluded cycles, if any; TRACE_ON (CT_TRACE_ON_FILTER), or CT_TRACE_ON_DEBUG
 * when trace is missing there too, so that the calls in between are unknown; the last excluded CONTEXT and
 * TIMESTAMP. A mark is kept when the step before it is. CT_ERR_NOT_FOUND: the window is in cycles, and the
 * stream has no counts. CT_ERR_NOMEM; the errors of the programs. */
CT_API int ct_sieve_run(struct ct_sieve *sieve, const struct ct_step_batch *batch, struct ct_step_batch *out);

/* Returns the statistics so far, borrowed. */
CT_API const struct ct_sieve_seen *ct_sieve_seen_of(const struct ct_sieve *sieve);

/* Adds the statistics of one stream to those of others: sums of steps, the larger number of cycles and of
 * instructions, the first and the last timestamp. */
CT_API void ct_sieve_seen_add(struct ct_sieve_seen *to, const struct ct_sieve_seen *from);

/* ---- the sieve of events ---- */

/* Passes on the events of one stream that a filter keeps: by time, cycles, contexts, threads and levels. */
struct ct_event_sieve;

/* Makes a sieve for the events of one stream; the options are those of ct_sieve_new. CT_ERR_ARG also for what
 * events do not show: windows of instructions or places, modules, functions. CT_ERR_NOT_FOUND: the window is
 * in cycles, and the source counts none. CT_ERR_NOMEM. */
CT_API int ct_event_sieve_new(struct ct_ctx *ctx, const struct ct_sieve_options *options,
                              struct ct_event_sieve **out);
CT_API void ct_event_sieve_free(struct ct_event_sieve *sieve);

/* Moves the events that are kept to the beginning of the array; *kept receives their number. The position of
 * an event is its own cycle (for a timestamp of an ETMv4 or ETE, whose count is its own alone, that of the
 * event before) and the last timestamp up to it. CT_ERR_ARG. */
CT_API int ct_event_sieve_run(struct ct_event_sieve *sieve, struct ct_event *events, size_t count,
                              size_t *kept);

/* Returns 1 when the window has ended: no later event will be kept. */
CT_API int ct_event_sieve_is_over(const struct ct_event_sieve *sieve);

/* Returns the statistics so far, borrowed; events count as steps. */
CT_API const struct ct_sieve_seen *ct_event_sieve_seen(const struct ct_event_sieve *sieve);

#ifdef __cplusplus
}
#endif
#endif
