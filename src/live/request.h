/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of the page's API: JSON to what is to be exchanged. */
#ifndef CT_LIVE_REQUEST_H
#define CT_LIVE_REQUEST_H

#include "live/live.h"

/* What a request asks for, from its JSON. */
struct ct_live_posted;

/* Reads `size` bytes of JSON that came for `what` ("watch", "monitors", "filter", "stop"). NULL, with the
 * reason in `why`, when it cannot be done; for want of memory when the command is `lacking`. The command
 * points into the request. */
struct ct_live_posted *ct_live_posted_read(const char *what, const char *text, size_t size,
                                           const struct ct_monitor_options *options,
                                           struct ct_live_command *c, char *why, size_t why_size);
void ct_live_posted_free(struct ct_live_posted *r, struct ct_live_command *c);

#endif
