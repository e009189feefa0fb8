/* SPDX-License-Identifier: Apache-2.0 */
/* Writes events of watchpoints as lines of text. */
#pragma once

#include "coretap/format.h"
#include "format/text.h"

/* Returns the line with the names of the columns, or NULL for JSON. */
const char *ct_watch_head(enum ct_watch_format format);

/* Returns what an event of a watchpoint tells besides its place: the traced or written value, the exception,
 * or why trace is missing. It may lie in `room`. NULL: nothing. `variable` is as below. */
const char *ct_watch_value(const struct ct_event_origin *origin, const struct ct_watchpoint *point,
                           const struct ct_variable *variable, const struct ct_watch_event *event, char *room,
                           size_t size);

/* Writes the line of a watchpoint's event. `variable` is the watched variable, or NULL. */
void ct_watch_line(struct ct_text *out, enum ct_watch_format format, const struct ct_event_origin *origin,
                   const struct ct_watchpoint *point, const struct ct_variable *variable,
                   const struct ct_watch_event *event);
