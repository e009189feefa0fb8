/* SPDX-License-Identifier: Apache-2.0 */
/* Assembles named events of several sources, with the names from the programs. */
#pragma once

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

/* Starts as all zeros except the first two members. */
struct ct_named_lines {
    struct ct_ctx *ctx;
    struct ct_programs *programs;       /* their names are used; NULL: no named events */
    const struct ct_named_table *table; /* NULL: no program has names yet */
    uint64_t shift;                     /* to be added to file addresses of the program with the names */
    size_t known;                       /* number of programs that were searched */
    struct ct_named_source *sources;
};

/* Takes a named event. Returns 0 or an error. */
typedef int ct_named_fn(void *user, const struct ct_named_event *event);

/* Searches names when there are more programs than before. CT_ERR_NOMEM. Other errors when names cannot be
 * used, once each: ct_ctx_error has the reason, and the rest continues. */
int ct_named_lines_find(struct ct_named_lines *lines);

/* Takes the next event of a source. Sets *taken when it belongs to a named event. Passes completed named
 * events, and those cut by missing trace, to fn(user, …). CT_ERR_NOMEM, the result of `fn`. */
int ct_named_lines_take(struct ct_named_lines *lines, const struct ct_event_origin *origin,
                        const struct ct_event *event, bool *taken, ct_named_fn *fn, void *user);

void ct_named_lines_free(struct ct_named_lines *lines);

/* Returns an argument of a named event as a number. */
double ct_named_number(const struct ct_named_event *event, unsigned argument);
