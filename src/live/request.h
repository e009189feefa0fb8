/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the page's API, which are JSON: reads them and makes commands of them. */
#ifndef CT_LIVE_REQUEST_H
#define CT_LIVE_REQUEST_H

#include "live/live.h"

/* A request, read from its JSON. */
struct ct_live_posted;

/* Reads `size` bytes of JSON that came for `what` ("watch", "monitors", "check", "filter", "stop"). NULL
 * when it cannot be done, with the reason in `why`; if the command is `lacking`, memory was missing, and if
 * it is `faulty`, its specification has the diagnostics and is the caller's. The command points into the
 * request. */
struct ct_live_posted *ct_live_posted_read(const char *what, const char *text, size_t size,
                                           const struct ct_monitor_options *options,
                                           struct ct_live_command *c, char *why, size_t why_size);
void ct_live_posted_free(struct ct_live_posted *r, struct ct_live_command *c);

#endif
