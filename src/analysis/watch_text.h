/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of events: a store that keeps each text once, and lines assembled from writes. */
#pragma once

#include <pthread.h>

#include "analysis/watch.h"
#include "base/names.h"

/* The texts of all watchers of a set. */
struct ct_watched_texts {
    pthread_mutex_t lock;
    struct ct_names all;
    size_t bytes; /* total size of the texts */
};

#define CT_WATCH_LINE_MOST 4096 /* longest line in bytes; longer ones are given in parts */

/* A line that is being written to a port. */
struct ct_watch_line {
    uint64_t port;
    uint32_t watch;
    char *text;   /* has room for CT_WATCH_LINE_MOST bytes and one more write */
    size_t size;  /* bytes of text */
    size_t given; /* bytes that the last call gave */
};

struct ct_watch_lines {
    struct ct_watch_line *all;
    size_t count;
};

/* Takes what was written to a port, for a watchpoint. Sets *line to the text up to the last end of line, or
 * to NULL without one. It is valid until the next call. CT_ERR_NOMEM. */
int ct_watch_lines_take(struct ct_watch_lines *lines, uint32_t watch, uint64_t port, uint64_t bytes,
                        unsigned bits, const char **line, size_t *size);

/* Drops unfinished lines, because trace is missing. */
void ct_watch_lines_cut(struct ct_watch_lines *lines);
void ct_watch_lines_free(struct ct_watch_lines *lines);
