/* SPDX-License-Identifier: Apache-2.0 */
/* The longest path by source lines. The cycles of a block are divided among its instructions in proportion to
 * their bytes, so that the sum over the lines equals the bound. */
#pragma once

#include <stdbool.h>

#include "format/wcet_view.h"

struct ct_wcet_line {
    uint32_t file, line;
    uint64_t count; /* executions of its most frequent block */
    uint64_t cycles;
    bool assumed; /* some executions were never observed */
};

struct ct_wcet_source {
    const struct ct_wcet_view *view;
    struct ct_wcet_line *lines; /* sorted by file and line */
    size_t count;
    uint64_t elsewhere; /* cycles of code without a line */
};

/* Makes the lines of a path. CT_ERR_NOMEM. */
int ct_wcet_source_make(const struct ct_wcet_view *view, struct ct_wcet_source *out);
void ct_wcet_source_free(struct ct_wcet_source *source);

/* A line of an excerpt. */
struct ct_wcet_source_row {
    const char *path;                /* path of its file */
    uint32_t number;                 /* 0: stands for omitted lines */
    const struct ct_wcet_line *line; /* NULL: the line is not on the path */
    const char *text;                /* empty when the file cannot be read */
    size_t size;
    uint64_t all; /* cycles of the whole path */
    bool first;   /* first line of its file */
};

/* Takes a line. Lines come file by file, including the few between lines of the path. */
typedef void ct_wcet_source_fn(void *user, const struct ct_wcet_source_row *row);
void ct_wcet_source_walk(const struct ct_wcet_source *source, ct_wcet_source_fn *give, void *user);
