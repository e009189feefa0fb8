/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a live run and its API (docs/live.md). */
#ifndef CT_LIVE_HTTP_H
#define CT_LIVE_HTTP_H

#include "live/board.h"

struct ct_live_http;

/* Serves at `address`: PORT, ADDRESS:PORT or [ADDRESS]:PORT; port 0: any that is free. `compile`: how
 * specifications that come over it are compiled. The errors of ct_live_page. */
int ct_live_http_start(struct ct_ctx *ctx, const struct ct_live_say *say, const char *address,
                       const char *token, const struct ct_monitor_options *compile,
                       struct ct_live_board *board, struct ct_live_http **out);

/* The board has to be closed before. */
void ct_live_http_stop(struct ct_live_http *http);

#endif
