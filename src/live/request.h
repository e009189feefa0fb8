/* SPDX-License-Identifier: Apache-2.0 */
/* Reads requests of the page's API, which are JSON, and converts them to commands. */
#pragma once

#include "live/live.h"

/* A request that was read from JSON. */
struct ct_live_posted;

/* Reads `size` bytes of JSON for `what` ("watch", "monitors", "check", "filter", "stop"). The command points
 * into the request. Returns NULL on failure, with the reason in `why`: if the command is `lacking`, memory
 * ran out; if it is `faulty`, its specification has the diagnostics and belongs to the caller. */
struct ct_live_posted *ct_live_posted_read(const char *what, const char *text, size_t size,
                                           const struct ct_monitor_options *options,
                                           struct ct_live_command *c, char *why, size_t why_size);
void ct_live_posted_free(struct ct_live_posted *r, struct ct_live_command *c);
