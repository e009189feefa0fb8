/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of a capture in a trace of Perfetto: its tracks, and the time axis of its events. */
#pragma once

#include "base/pair_map.h"
#include "coretap/format.h"
#include "format/named_lines.h"
#include "format/perfetto.h"
#include "format/perfetto_flows.h"
#include "format/perfetto_notes.h"

/* What the streams of a capture share. */
struct ct_perfetto_capture {
    struct ct_ctx *ctx;
    struct ct_perfetto to;
    const struct ct_stacks *stacks; /* stacks with the functions in the trace */
    uint64_t first_name;            /* number of the name of function 0 */
    uint8_t *told;                  /* by function: 1 when its name was written */
    size_t told_count;
    struct ct_clock clock;
    uint64_t frequency; /* of timestamps, in Hz; 0: as the clock says */
    uint64_t root;      /* track of the capture; 0: it is the only one, with processes and threads as roots */
    struct ct_pair_map tasks;       /* maps a process, or a thread and its process, to a track */
    struct ct_perfetto_flows flows; /* of contexts, by the timestamps of the cores */
    struct ct_named_lines lines;
    struct ct_watches *watches;           /* the watchpoints; NULL: none */
    const struct ct_perfetto_note *notes; /* notes at points of the streams, in the order of each stream */
    size_t note_count;
    struct ct_perfetto_seen seen; /* over all captures */
};

struct ct_perfetto_software;

struct ct_perfetto_lane {
    struct ct_perfetto_capture *of;
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    uint8_t id;
    bool timed;   /* there was a timestamp */
    bool rated;   /* there were two, so the rate of cycles to ticks is known */
    bool untimed; /* none came for so long that cycles or instructions are used as time */
    bool begun;   /* an event has its time */
    bool counts_cycles;
    const char *core;
    uint64_t track; /* track of the core */
    struct ct_timeline *timeline;
    uint64_t anchor;                    /* cycle of the last timestamp */
    uint64_t newest_cycle, newest_time; /* of the last event put on the axis, and of the last one written */
    uint64_t between;                   /* cycles counted between steps so far */
    struct ct_pair_map stacks;          /* maps a context to the track of its functions */
    uint64_t running;                   /* the running context, with an open slice on the core's track */
    bool is_running;
    uint64_t running_since;
    struct ct_stack_move counted; /* end of the last values of the counters */
    uint64_t counted_time;        /* time of the last values of the counters */
    uint64_t cycles_track;        /* cycles per instruction; 0: not made yet */
    uint64_t branches_track;
    struct ct_perfetto_software *software; /* for an STM or ITM; else NULL */
    struct ct_perfetto_notes notes;
    uint64_t steps, clock; /* steps and clock before the event being put on the axis; 0 for an STM or ITM */
};

/* Kinds of events on the axis, in `a`. The axis only looks at an event's type, which merely says that it is
 * no timestamp. */
enum ct_perfetto_what {
    CT_PERFETTO_BEGIN,     /* value: function; extra: context */
    CT_PERFETTO_END,       /* extra: context */
    CT_PERFETTO_RUN,       /* extra: context */
    CT_PERFETTO_COUNT,     /* value: instructions, extra: cycles, offset: steps since the last one */
    CT_PERFETTO_EXCEPTION, /* value: number */
    CT_PERFETTO_LOST,      /* value: enum ct_gap */
    CT_PERFETTO_HARDWARE,  /* value: event bits */
    CT_PERFETTO_WATCHED,   /* b: enum ct_watch_kind, extra: context, offset: watch and number; value as in
                              struct ct_watch_event */
    CT_PERFETTO_SAID,      /* the same, with the address of the text as value */
};

/* Makes the lane of a stream. Returns NULL when out of memory. */
struct ct_perfetto_lane *ct_perfetto_lane_new(struct ct_perfetto_capture *of, const struct ct_buffer *buffer,
                                              const struct ct_stream *stream);
void ct_perfetto_lane_free(struct ct_perfetto_lane *lane);

/* Takes a move of the stream, with its mark, or NULL. CT_ERR_NOMEM. */
int ct_perfetto_lane_take(struct ct_perfetto_lane *lane, const struct ct_stack_move *move,
                          const struct ct_step_mark *mark);

/* Ends the stream, and writes everything that waits for a time. CT_ERR_NOMEM. */
int ct_perfetto_lane_end(struct ct_perfetto_lane *lane);

/* Puts an event on the axis of the stream, at its cycle. CT_ERR_NOMEM. */
int ct_perfetto_lane_push(struct ct_perfetto_lane *lane, const struct ct_event *event);

/* Does the same for an event behind everything that waits in `notes`, or from there. */
int ct_perfetto_lane_put(struct ct_perfetto_lane *lane, const struct ct_event *event);

/* Returns the track of a context's functions on this core; 0 when out of memory. */
uint64_t ct_perfetto_lane_stack(struct ct_perfetto_lane *lane, uint64_t context);

/* ---- software trace (perfetto_software.c) ---- */

int ct_perfetto_software_new(struct ct_perfetto_lane *lane, struct ct_perfetto_software **out);
void ct_perfetto_software_free(struct ct_perfetto_software *software);

/* Takes an element of an STM or ITM, and puts its events on the axis. CT_ERR_NOMEM. */
int ct_perfetto_software_take(struct ct_perfetto_software *software, const struct ct_step_mark *mark);

/* Writes an event whose time is known. CT_ERR_NOMEM. */
int ct_perfetto_software_put(struct ct_perfetto_software *software, const struct ct_event *event,
                             uint64_t time);
