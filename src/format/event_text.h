/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events as lines: tab-separated, CSV, or one JSON object each (paper 1, Table I). */
#pragma once

#include "coretap/format.h"
#include "coretap/named_event.h"
#include "format/code_text.h"
#include "format/port_text.h"
#include "format/text.h"

/* What a line has besides its event. */
struct ct_event_place {
    const struct ct_event_origin *origin;
    bool merged;                        /* lines have a time and a trace ID, because sources are merged */
    const uint64_t *time;               /* if merged: time of the event; NULL: unknown */
    const struct ct_address_name *name; /* name of the event's address, or NULL */
    bool sources, insns;                /* lines have columns for source and instruction */
    const struct ct_code_line *code;    /* content of those columns; NULL: empty */
};

/* Returns the line with the names of the columns, or NULL for JSON. */
const char *ct_event_head(enum ct_event_format format, bool merged);

/* Finds the address of code in an event; for an exception this is the return address. Returns false when
 * there is none. */
bool ct_event_address(const struct ct_event *event, uint64_t *addr);

/* Writes the line of an event in Table I of paper 1. Writes nothing for types other than branches, events and
 * losses. */
void ct_event_table1(struct ct_text *text, const struct ct_event_origin *origin,
                     const struct ct_event *event);

/* Writes the columns of an event from its type up to the value, for formats with separators. */
void ct_event_begin(struct ct_text *text, char separator, const struct ct_event *event);

void ct_event_line(struct ct_text *text, enum ct_event_format format, const struct ct_event_place *place,
                   const struct ct_event *event);

/* Writes the line of a named event, with at most CT_NAMED_NOTE bytes of its text. `table` and `shift` are as
 * for ct_named_event_text. */
#define CT_NAMED_NOTE 300
void ct_event_named_line(struct ct_text *text, enum ct_event_format format,
                         const struct ct_event_place *place, const struct ct_named_event *named,
                         const struct ct_named_table *table, uint64_t shift);

/* Writes a line of text from a port. Bytes that cannot be printed, and the backslash, become \xHH. */
void ct_event_text_line(struct ct_text *text, enum ct_event_format format, const struct ct_event_place *place,
                        const struct ct_port_line *line);
