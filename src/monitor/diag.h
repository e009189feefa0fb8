/* SPDX-License-Identifier: Apache-2.0 */
/* Source texts and their diagnostics. */
#pragma once

#include <stdbool.h>

#include "monitor/arena.h"

struct ct_mon_source {
    const char *name; /* the name that messages show */
    const char *text; /* NUL-terminated */
    size_t size;
};

/* A piece of a source: bytes from `from` up to `to`. */
struct ct_mon_span {
    const struct ct_mon_source *source;
    uint32_t from, to;
};

struct ct_mon_diag {
    struct ct_mon_diag *next;
    bool warning;
    struct ct_mon_span span;
    const char *text;
};

struct ct_mon_diags {
    struct ct_mon_arena *arena;
    struct ct_mon_diag *first, **tail;
    unsigned errors, warnings;
};

/* most errors kept; later ones are mostly consequences */
enum {
    DIAG_MOST = 50
};

/* Names that a mistyped one may stand for, with NULL at the end. All zero is an empty list. */
struct ct_mon_names {
    const char **at;
    size_t n, cap;
};

void ct_mon_names_add(struct ct_mon_arena *arena, struct ct_mon_names *names, const char *name);

/* Returns the end of a message about an unknown name: "; did you mean 'runtime'?", or "" when no name of the
 * list is close to it. */
const char *ct_mon_did_you_mean(struct ct_mon_arena *arena, const char *name,
                                const struct ct_mon_names *names);

void ct_mon_diags_init(struct ct_mon_diags *d, struct ct_mon_arena *arena);

/* Adds an error. Keeps equal texts at the same place once, since a macro may be expanded many times. */
void ct_mon_diag_error(struct ct_mon_diags *d, struct ct_mon_span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ct_mon_diag_warning(struct ct_mon_diags *d, struct ct_mon_span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns whether an error at this place would be dropped: it has one, or there are too many. A macro may be
 * expanded many times; the caller saves the work of finding the text then. */
bool ct_mon_diags_full_at(const struct ct_mon_diags *d, struct ct_mon_span at);

/* Sorts the messages of each source by position. */
void ct_mon_diags_sort(struct ct_mon_diags *d);

/* Finds the line and column of a byte, in characters, from 1 on. *begin and *size are the text of the
 * line. */
void ct_mon_source_place(const struct ct_mon_source *s, uint32_t at, unsigned *line, unsigned *col,
                         const char **begin, size_t *size);

static inline struct ct_mon_span span_join(struct ct_mon_span a, struct ct_mon_span b)
{
    return (struct ct_mon_span){a.source, a.from, b.to > a.from ? b.to : a.to};
}
