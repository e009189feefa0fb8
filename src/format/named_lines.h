/* SPDX-License-Identifier: Apache-2.0 */
/* Named events of several sources, put together with the names that the programs have for them. */
#ifndef CT_FORMAT_NAMED_LINES_H
#define CT_FORMAT_NAMED_LINES_H

#include "coretap/format.h"
#include "coretap/named_event.h"
#include "coretap/programs.h"

#include <stdbool.h>

/* The reader of one source. */
struct ct_named_source {
    struct ct_named_source *next;
    const struct ct_source *source;
    struct ct_named_reader *reader;
    uint8_t id;
};

/* All zero but for the first two is the beginning. */
struct ct_named_lines {
    struct ct_ctx *ctx;
    struct ct_programs *programs;       /* whose names are used; NULL: there are no named events */
    const struct ct_named_table *table; /* NULL: none has names yet */
    uint64_t shift; /* of the program that has them: what is added to addresses of the file */
    size_t known;   /* how many programs were asked */
    struct ct_named_source *sources;
};

/* Takes a named event. A result other than 0 is an error. */
typedef int ct_named_fn(void *user, const struct ct_named_event *event);

/* Looks for names where there are more programs than before. CT_ERR_NOMEM; others when names cannot be used,
 * which is told once: ct_ctx_error says why, and the rest goes on. */
int ct_named_lines_find(struct ct_named_lines *lines);

/* Takes the next event of a source. *taken tells that it is of a named event. Those that become whole, or
 * that end because trace is missing, go to fn(user, …). CT_ERR_NOMEM, what `fn` returned. */
int ct_named_lines_take(struct ct_named_lines *lines, const struct ct_event_origin *origin,
                        const struct ct_event *event, bool *taken, ct_named_fn *fn, void *user);

void ct_named_lines_free(struct ct_named_lines *lines);

/* Returns an argument of a named event as a number. */
double ct_named_number(const struct ct_named_event *event, unsigned argument);

#endif
