/* SPDX-License-Identifier: Apache-2.0 */
/* Events of watchpoints as lines of text. */
#ifndef CT_FORMAT_WATCH_TEXT_H
#define CT_FORMAT_WATCH_TEXT_H

#include "coretap/input.h"
#include "coretap/watch.h"
#include "format/text.h"

enum ct_watch_format {
    CT_WATCH_TSV,
    CT_WATCH_JSONL,
    CT_WATCH_CSV,
};

struct ct_watch_text {
    struct ct_text *out;
    const struct ct_watches *watches;
    const char *buffer; /* where the next events are from */
    const struct ct_source *source;
    uint8_t id;
    enum ct_watch_format format;
};

/* The line with the names of the columns, where the format has one. */
void ct_watch_head(struct ct_watch_text *text);
void ct_watch_line(struct ct_watch_text *text, const struct ct_watch_event *event);

#endif
