/* SPDX-License-Identifier: Apache-2.0 */
/* Events as lines: tab-separated, CSV, or one JSON object each (paper 1, Table I). */
#ifndef CT_FORMAT_EVENT_TEXT_H
#define CT_FORMAT_EVENT_TEXT_H

#include "coretap/event.h"
#include "format/address_name.h"
#include "format/port_text.h"
#include "format/text.h"

enum ct_event_format {
    CT_EVENT_TSV,
    CT_EVENT_JSONL,
    CT_EVENT_CSV,
};

/* What stands beside each event. */
struct ct_event_origin {
    const char *buffer;
    const struct ct_source *source;
    uint8_t id;
    bool merged;                    /* several sources in one order: time and ID stand in every line */
    const uint64_t *time;           /* merged: of the event, NULL when not known */
    struct ct_address_names *names; /* of addresses, or NULL: none are wanted */
};

/* The line with the names of the columns; JSON has none. */
void ct_event_head(struct ct_text *text, enum ct_event_format format, bool merged);

void ct_event_line(struct ct_text *text, enum ct_event_format format, const struct ct_event_origin *origin,
                   const struct ct_event *event);

/* A line of text from a port; what cannot be printed, and the backslash, as \xHH. */
void ct_event_text_line(struct ct_text *text, enum ct_event_format format,
                        const struct ct_event_origin *origin, const struct ct_port_line *line);

#endif
