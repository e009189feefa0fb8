/* SPDX-License-Identifier: Apache-2.0 */
/* A FRACTAL log as the input of a live run, while it is written. Its watchpoint events are handled like those
 * of a trace. The log is one stream, with number 0. */
#pragma once

#include "live/live.h"

/* Takes a piece of the log. Returns the errors of ct_fractal_watch_push, and of starting the stream. */
int ct_live_log_take(struct ct_live *live, const struct ct_live_piece *piece);

/* Takes the rest at the end, and reports the log's losses. Returns the errors of ct_fractal_watch_end. */
int ct_live_log_finish(struct ct_live *live);

/* Refuses kinds of places that logs do not have. Returns CT_ERR_ARG, or the errors of ct_watches_add. */
int ct_live_log_allows(const struct ct_live *live, const char *place);

/* Makes the log's reader for a stream that begins. Returns CT_ERR_NOMEM, or the errors of
 * ct_fractal_watch_stream. */
int ct_live_log_begin(struct ct_live_stream *stream);

/* Returns the time of the last record in seconds; 0 before the first record, or when the log has no clock. */
double ct_live_log_time(const struct ct_live *live);
