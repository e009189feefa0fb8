/* SPDX-License-Identifier: Apache-2.0 */
/* A batch of events in columns, while it is being filled. */
#pragma once

#include <stdbool.h>

#include "coretap/event.h"

#define CT_COLUMNS_BRANCHES 4096
#define CT_COLUMNS_MARKS    2048

/* most events that may be added to a batch that has room */
#define CT_COLUMNS_STEP 1024

/* entries that a fast path may overwrite behind those that it adds */
#define CT_COLUMNS_SLACK 32

struct ct_event_columns {
    size_t count;
    size_t mark_count;
    uint64_t targets[CT_COLUMNS_BRANCHES + CT_COLUMNS_SLACK];
    uint64_t cycles[CT_COLUMNS_BRANCHES + CT_COLUMNS_SLACK];
    struct ct_event_mark marks[CT_COLUMNS_MARKS];
};

static inline bool ct_event_columns_have_room(const struct ct_event_columns *columns)
{
    return columns->count + CT_COLUMNS_STEP <= CT_COLUMNS_BRANCHES &&
           columns->mark_count + CT_COLUMNS_STEP <= CT_COLUMNS_MARKS;
}

/* Adds at most CT_COLUMNS_STEP events. The caller checks for room before. */
void ct_event_columns_add(struct ct_event_columns *columns, const struct ct_event *events, size_t count);

/* Returns a batch that borrows the columns. */
struct ct_event_batch ct_event_columns_batch(const struct ct_event_columns *columns);
