/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a live run and its API (docs/live.md). */
#ifndef CT_CLI_LIVE_HTTP_H
#define CT_CLI_LIVE_HTTP_H

#include "cli/live_board.h"

struct cli_live_http;

/* `address`: PORT, ADDRESS:PORT or [ADDRESS]:PORT; port 0: any that is free. `compile`: how specifications
 * that come over it are compiled. NULL: said why. */
struct cli_live_http *cli_live_http_start(const char *address, const char *token,
                                          const struct ct_monitor_options *compile,
                                          struct cli_live_board *board);

/* The board has to be closed before. */
void cli_live_http_stop(struct cli_live_http *http);

/* What a request asks for, from its JSON. */
struct cli_live_request;

/* Reads `size` bytes of JSON that came for `what` ("watch", "monitors", "filter", "stop"). NULL, with the
 * reason in `why`, when it cannot be done; for want of memory when the command is `lacking`. The command
 * points into the request. */
struct cli_live_request *cli_live_request_read(const char *what, const char *text, size_t size,
                                               const struct ct_monitor_options *options,
                                               struct cli_live_command *c, char *why, size_t why_size);
void cli_live_request_free(struct cli_live_request *r, struct cli_live_command *c);

#endif
