/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the processes of an event log, and the load addresses of their programs. */
#pragma once

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/fractal.h"
#include "coretap/watch.h"

/* Names by process number. All zero: no process has a name yet. */
struct ct_fractal_process_names {
    struct ct_arena arena;
    size_t seen;            /* bytes of the log's text taken so far */
    const char *names[256]; /* printable name of the program's file, by process number; NULL when the log
                             * gives none */
    const char *files[256]; /* path of the program's file as written in the log, by process number */
    uint64_t bias[256];     /* load bias, added to addresses of the file, by process number; 0 unless
                             * `placed` */
    bool placed[256];       /* whether the log gives the load bias, by process number */
};

/* Takes the lines that the log's text gained since the last call. Error: CT_ERR_NOMEM. */
int ct_fractal_process_names_take(struct ct_ctx *ctx, const char *text,
                                  struct ct_fractal_process_names *names);

void ct_fractal_process_names_free(struct ct_fractal_process_names *names);

/* Sets the text of an event to the name of a process, or to its number when it has no name. Returns the
 * errors of ct_watches_set_text. */
int ct_fractal_process_text(const struct ct_fractal_process_names *names, const struct ct_watches *watches,
                            uint32_t process, struct ct_watch_event *event);
