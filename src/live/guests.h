/* SPDX-License-Identifier: Apache-2.0 */
/* Connections to the page of a live run that have not shown the token yet. Their number and duration are
 * limited, so that they cannot lock out a connection with the token. */
#pragma once

#include <stdbool.h>

struct sockaddr;
struct ct_live_guests;
struct ct_live_guest;

/* Starts the thread that ends connections which take too long. NULL: out of memory or threads. */
struct ct_live_guests *ct_live_guests_new(void);
void ct_live_guests_free(struct ct_live_guests *guests);

/* Adds a connection. When there are too many, overall or of its peer, shuts down the oldest of them. NULL:
 * out of memory. */
struct ct_live_guest *ct_live_guests_add(struct ct_live_guests *guests, int fd, const struct sockaddr *peer);
/* Admits a connection that showed the token; it is no guest any more. */
void ct_live_guests_admit(struct ct_live_guests *guests, struct ct_live_guest *guest);
/* Removes a guest. Call it before its socket is closed. */
void ct_live_guests_remove(struct ct_live_guests *guests, struct ct_live_guest *guest);
