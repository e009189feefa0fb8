/* SPDX-License-Identifier: Apache-2.0 */
/* A FRACTAL log as the input of a live run, while it is written: what comes by watchpoints in it goes the way
 * that events of a trace go. The log is one stream, with number 0. */
#ifndef CT_LIVE_FRACTAL_H
#define CT_LIVE_FRACTAL_H

#include "live/live.h"

/* Takes a piece of the log. The errors of ct_fractal_watch_push and of what the stream begins with. */
int ct_live_log_take(struct ct_live *live, const struct ct_live_piece *piece);

/* Takes what is left at the end, and says what the log lacks. The errors of ct_fractal_watch_end. */
int ct_live_log_finish(struct ct_live *live);

/* Refuses places of kinds that no log has. CT_ERR_ARG; the errors of ct_watches_add. */
int ct_live_log_allows(const struct ct_live *live, const char *place);

/* Makes what reads the log for a stream that begins. CT_ERR_NOMEM, the errors of ct_fractal_watch_stream. */
int ct_live_log_begin(struct ct_live_stream *stream);

/* Returns the time of the last record in seconds; 0 before the first, or when the log has no clock. */
double ct_live_log_time(const struct ct_live *live);

#endif
