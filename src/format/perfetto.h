/* SPDX-License-Identifier: Apache-2.0 */
/* Writes traces of Perfetto: the published message Trace, a sequence of packets, as they come. Packets are
 * collected, compressed, and written inside of other packets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/grown.h"
#include "format/deflate.h"

/* All zeros before ct_perfetto_open. */
struct ct_perfetto {
    FILE *out;
    struct ct_deflate *deflate;
    struct ct_grown packets; /* not compressed yet */
    struct ct_grown packed;  /* the last packets, compressed */
    uint64_t size;           /* total size of packets before compression */
    uint64_t written;        /* size of the file */
    uint64_t most;           /* limit of the file's size; 0: none */
    bool full;               /* the limit was reached; all later packets are left out */
    uint64_t track_count, flow_count;
    uint64_t slices, kept; /* slices that were begun, and those that are in the file */
};

/* Times are in nanoseconds. Tracks are numbers returned by the functions that make them; 0 is the parent of
 * tracks without one. Events of a track must come in the order of their times. Without memory the bytes are
 * marked as failed. */

/* Opens the trace. `most` is the limit of its size in bytes. CT_ERR_NOMEM. */
int ct_perfetto_open(struct ct_perfetto *to, struct ct_ctx *ctx, FILE *out, uint64_t most);

/* Writes what is left, and frees the members. CT_ERR_NOMEM when memory was missing at any time. */
int ct_perfetto_close(struct ct_perfetto *to);

uint64_t ct_perfetto_track(struct ct_perfetto *to, uint64_t parent, const char *name);
uint64_t ct_perfetto_counter(struct ct_perfetto *to, uint64_t parent, const char *name);
uint64_t ct_perfetto_process(struct ct_perfetto *to, int32_t pid, const char *name);
uint64_t ct_perfetto_thread(struct ct_perfetto *to, uint64_t process, const int32_t ids[2], const char *name);

/* Begins a slice. `number` is that of its name; `name` is given at the first use of the number, else NULL. */
void ct_perfetto_begin(struct ct_perfetto *to, uint64_t track, uint64_t time, uint64_t number,
                       const char *name);
void ct_perfetto_end(struct ct_perfetto *to, uint64_t track, uint64_t time);

/* Do the same for a name without a number, and for an instant. */
void ct_perfetto_begin_named(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name);
void ct_perfetto_instant(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name);

/* Does the same for a note, in a category that readers can select. */
void ct_perfetto_note(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *category,
                      const char *name);

/* Does the same for one end of an arrow. The other end has the same number. */
void ct_perfetto_flow(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name,
                      uint64_t number);

void ct_perfetto_value(struct ct_perfetto *to, uint64_t track, uint64_t time, double value);
