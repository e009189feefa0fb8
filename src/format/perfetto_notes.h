/* SPDX-License-Identifier: Apache-2.0 */
/* Notes about a stream in a trace of Perfetto: events of watchpoints, and violations of specifications. */
#pragma once

#include "coretap/format.h"

struct ct_perfetto_lane;

/* An item that waits for what precedes it in its batch. */
struct ct_perfetto_queued {
    struct ct_watch_event at;
    const char *text; /* NULL: an event of a watchpoint */
    uint64_t clock;   /* clock of the stream */
};

/* Starts as all zeros, which is an empty object. */
struct ct_perfetto_notes {
    struct ct_watcher *watcher;          /* NULL: no watchpoints */
    const struct ct_perfetto_note *next; /* next note of the capture, in any stream */
    const struct ct_perfetto_note *end;  /* behind the last note of the capture */
    struct ct_perfetto_queued *queue;    /* of the batch */
    size_t done, count, room;            /* items put on the axis, and all items */
    uint64_t begin;                      /* steps of earlier batches */
    uint64_t steps, insns;               /* up to the last item taken */
};

/* Begins to watch a stream, with the watchpoints of the lane's capture. CT_ERR_NOMEM, the errors of
 * ct_watcher_new. */
int ct_perfetto_notes_open(struct ct_perfetto_lane *lane);
void ct_perfetto_notes_free(struct ct_perfetto_notes *notes);

/* Takes the items of a batch. Called before the batch's moves are taken. CT_ERR_NOMEM. */
int ct_perfetto_notes_take(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch);

/* Puts the items before an event of the lane on the axis, or all items (NULL). CT_ERR_NOMEM. */
int ct_perfetto_notes_flush(struct ct_perfetto_lane *lane, const struct ct_event *event);

/* Puts the remaining items on the axis at the end of the stream. CT_ERR_NOMEM. */
int ct_perfetto_notes_end(struct ct_perfetto_lane *lane);

/* Writes an item whose time is known. CT_ERR_NOMEM. */
int ct_perfetto_notes_put(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time);
