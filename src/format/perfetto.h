/* SPDX-License-Identifier: Apache-2.0 */
/* Writes traces of Perfetto: its published message Trace, which is a row of packets, as they come. Packets
 * are put together, compressed, and written as packets that hold others. */
#ifndef CT_FORMAT_PERFETTO_H
#define CT_FORMAT_PERFETTO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/grown.h"
#include "format/deflate.h"

/* To be zeroed before ct_perfetto_open. */
struct ct_perfetto {
    FILE *out;
    struct ct_deflate *deflate;
    struct ct_grown packets; /* not compressed yet */
    struct ct_grown packed;  /* the last ones, compressed */
    uint64_t size;           /* bytes of all packets before they were compressed */
    uint64_t written;        /* bytes of the file */
    uint64_t most;           /* how many bytes may be written; 0: no limit */
    bool full;               /* the limit was reached: packets were left out, and all later ones are */
    uint64_t track_count, flow_count;
    uint64_t slices, kept; /* slices that were begun, and those of them that are in the file */
};

/* Times are nanoseconds. Tracks are numbers, which the functions that make them return; 0 is the parent of
 * those that have none. Events of a track have to come in the order of their times. Without memory the bytes
 * have failed. */

/* CT_ERR_NOMEM. */
int ct_perfetto_open(struct ct_perfetto *to, struct ct_ctx *ctx, FILE *out, uint64_t most);

/* Writes what is left, and frees what it holds. CT_ERR_NOMEM when memory was missing at some time. */
int ct_perfetto_close(struct ct_perfetto *to);

uint64_t ct_perfetto_track(struct ct_perfetto *to, uint64_t parent, const char *name);
uint64_t ct_perfetto_counter(struct ct_perfetto *to, uint64_t parent, const char *name);
uint64_t ct_perfetto_process(struct ct_perfetto *to, int32_t pid, const char *name);
uint64_t ct_perfetto_thread(struct ct_perfetto *to, uint64_t process, const int32_t ids[2], const char *name);

/* Begins a slice. Its name has a number, and is told when that is used first (else NULL). */
void ct_perfetto_begin(struct ct_perfetto *to, uint64_t track, uint64_t time, uint64_t number,
                       const char *name);
void ct_perfetto_end(struct ct_perfetto *to, uint64_t track, uint64_t time);

/* The same for a name that has no number, and for what has no length. */
void ct_perfetto_begin_named(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name);
void ct_perfetto_instant(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name);

/* The same for what is said of a time, in a category that readers can choose. */
void ct_perfetto_note(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *category,
                      const char *name);

/* The same for one end of an arrow, whose other one has the same number. */
void ct_perfetto_flow(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name,
                      uint64_t number);

void ct_perfetto_value(struct ct_perfetto *to, uint64_t track, uint64_t time, double value);

#endif
