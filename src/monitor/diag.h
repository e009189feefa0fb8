/* SPDX-License-Identifier: Apache-2.0 */
/* Source texts and what is wrong with them. */
#ifndef CT_MONITOR_DIAG_H
#define CT_MONITOR_DIAG_H

#include <stdbool.h>

#include "monitor/arena.h"

struct source {
    const char *name; /* as shown in messages */
    const char *text; /* NUL behind */
    size_t size;
};

/* A piece of a source: bytes from..to. */
struct span {
    const struct source *source;
    uint32_t from, to;
};

struct diag {
    struct diag *next;
    bool warning;
    struct span span;
    const char *text;
};

struct diags {
    struct arena *arena;
    struct diag *first, **tail;
    unsigned errors, warnings;
};

/* More errors than this are not kept: they would be consequences. */
enum {
    DIAG_MOST = 50
};

void ct_mon_diags_init(struct diags *d, struct arena *arena);

/* The same text at the same place is kept once: a macro expanded twice is wrong once. */
void ct_mon_diag_error(struct diags *d, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void ct_mon_diag_warning(struct diags *d, struct span at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Within each source by place. */
void ct_mon_diags_sort(struct diags *d);

/* 1-based line and column (in characters) of a byte; *begin and *size are the line itself. */
void ct_mon_source_place(const struct source *s, uint32_t at, unsigned *line, unsigned *col,
                         const char **begin, size_t *size);

static inline struct span span_join(struct span a, struct span b)
{
    return (struct span){a.source, a.from, b.to > a.from ? b.to : a.to};
}

#endif
