/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside what ran of a stream in a trace of Perfetto: events of watchpoints, and what
 * specifications say. */
#ifndef CT_FORMAT_PERFETTO_NOTES_H
#define CT_FORMAT_PERFETTO_NOTES_H

#include "coretap/format.h"

struct ct_perfetto_lane;

/* Something that waits for what comes before it in its batch. */
struct ct_perfetto_queued {
    struct ct_watch_event at;
    const char *text; /* NULL: it is the event of a watchpoint */
    uint64_t clock;   /* of the stream */
};

/* All zero is the beginning: there is nothing. */
struct ct_perfetto_notes {
    struct ct_watcher *watcher;          /* NULL: nothing is watched */
    const struct ct_perfetto_note *next; /* the next note of the capture, whatever its stream */
    const struct ct_perfetto_note *end;  /* one past the last note of the capture */
    struct ct_perfetto_queued *queue;    /* of the batch */
    size_t done, count, room;            /* those that were put on the axis, and all */
    uint64_t begin;                      /* steps of the batches before */
    uint64_t steps, insns;               /* up to what was taken last */
};

/* Begins watching a stream, for a lane whose capture says what. CT_ERR_NOMEM, those of ct_watcher_new. */
int ct_perfetto_notes_open(struct ct_perfetto_lane *lane);
void ct_perfetto_notes_free(struct ct_perfetto_notes *notes);

/* Takes what happens in a batch, before its moves are taken. CT_ERR_NOMEM. */
int ct_perfetto_notes_take(struct ct_perfetto_lane *lane, const struct ct_step_batch *batch);

/* Puts on the axis what comes before an event of the lane, or all that waits (NULL). CT_ERR_NOMEM. */
int ct_perfetto_notes_flush(struct ct_perfetto_lane *lane, const struct ct_event *event);

/* Puts the rest on the axis, when the stream is over. CT_ERR_NOMEM. */
int ct_perfetto_notes_end(struct ct_perfetto_lane *lane);

/* Writes one that has its time. CT_ERR_NOMEM. */
int ct_perfetto_notes_put(struct ct_perfetto_lane *lane, const struct ct_event *event, uint64_t time);

#endif
