/* SPDX-License-Identifier: Apache-2.0 */
/* Where trace comes from while it is made: standard input, a FIFO, a TCP connection, a trace-sink device, a
 * file. */
#ifndef CT_LIVE_SOURCE_H
#define CT_LIVE_SOURCE_H

#include <stdbool.h>

struct addrinfo;
struct ct_ctx;
struct ct_live_say;

struct ct_live_source {
    const char *name;
    int fd;                     /* the descriptor that is read; -1 without a connection */
    int listener;               /* the socket that connections come to, or -1 */
    struct addrinfo *addresses; /* the addresses to connect to, or NULL */
    bool again;                 /* the end of a connection is not the end of the trace */
    bool device;                /* a device, which cannot be held back */
};

/* Opens a source by name: "-", "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for
 * one connection), else a path. `again`: connections may end and others follow, and the first one need not be
 * there yet. CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_live_source_open(struct ct_ctx *ctx, const struct ct_live_say *say, struct ct_live_source *source,
                        const char *name, bool again);
void ct_live_source_close(struct ct_live_source *source);

/* Takes the connection that waits at the listener. Returns false when there is none any more. */
bool ct_live_source_accept(struct ct_live_source *source);

/* Begins to connect to an address, and returns the socket, to be polled for POLLOUT; -1 with errno. */
int ct_live_source_begin(const struct addrinfo *address);

/* Returns how the attempt ended once the socket is ready: 0 or an errno. With 0 the source is read from
 * `fd`. */
int ct_live_source_connected(struct ct_live_source *source, int fd);

#endif
