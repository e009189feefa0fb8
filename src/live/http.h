/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a live run and its API (docs/live.md). */
#pragma once

#include "live/board.h"

struct ct_live_http;

/* Serves the page at `address`: PORT, ADDRESS:PORT or [ADDRESS]:PORT; port 0 chooses a free one. `compile`
 * applies to specifications that come over HTTP; `options` determine the places that can be chosen. Returns
 * the errors of ct_live_page. */
int ct_live_http_start(struct ct_ctx *ctx, const struct ct_live_say *say, const char *address,
                       const char *token, const struct ct_monitor_options *compile,
                       struct ct_live_board *board, const struct ct_live_options *options,
                       struct ct_live_http **out);

/* Stops serving. Close the board before. */
void ct_live_http_stop(struct ct_live_http *http);
