/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of an event log are called, and where their programs lie. */
#ifndef CT_FRACTAL_SUMS_PROCESS_NAMES_H
#define CT_FRACTAL_SUMS_PROCESS_NAMES_H

#include <stdbool.h>

#include "base/arena.h"
#include "coretap/fractal.h"
#include "coretap/watch.h"

/* All zero: none has a name. */
struct ct_fractal_process_names {
    struct ct_arena arena;
    size_t seen;            /* bytes of the log's text that were taken */
    const char *names[256]; /* by number: of a program's file, printable; NULL: the log does not say */
    const char *files[256]; /* by number: of a program's file, as the log has it */
    uint64_t bias[256];     /* by number: what was added to the addresses of the file; 0 if not `placed` */
    bool placed[256];       /* by number: the log says what was added */
};

/* Takes the lines that a log's text has by now, behind those that were taken. CT_ERR_NOMEM. */
int ct_fractal_process_names_take(struct ct_ctx *ctx, const char *text,
                                  struct ct_fractal_process_names *names);

void ct_fractal_process_names_free(struct ct_fractal_process_names *names);

/* Gives an event the name of a process as text, or its number where it has none. The errors of
 * ct_watches_set_text. */
int ct_fractal_process_text(const struct ct_fractal_process_names *names, const struct ct_watches *watches,
                            uint32_t process, struct ct_watch_event *event);

#endif
