/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of trace while it is made: standard input, a FIFO, a TCP connection, a trace-sink device, a
 * file. */
#pragma once

#include <stdbool.h>

struct addrinfo;
struct ct_ctx;
struct ct_live_say;

struct ct_live_source {
    const char *name;
    int fd;                     /* descriptor to read; -1: not connected */
    int listener;               /* socket that accepts connections, or -1 */
    struct addrinfo *addresses; /* addresses to connect to, or NULL */
    bool again;                 /* the end of a connection does not end the trace */
    bool device;                /* a device, which cannot be made to wait */
};

/* Opens a source by name: "-", "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for
 * one connection), else a path. `again`: connections may end and others follow, and the first need not exist
 * yet. Errors: CT_ERR_IO, CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_live_source_open(struct ct_ctx *ctx, const struct ct_live_say *say, struct ct_live_source *source,
                        const char *name, bool again);
void ct_live_source_close(struct ct_live_source *source);

/* Accepts the connection that waits at the listener. Returns false when it is gone. */
bool ct_live_source_accept(struct ct_live_source *source);

/* Starts to connect to an address. Returns the socket, to be polled for POLLOUT; -1 with errno. */
int ct_live_source_begin(const struct addrinfo *address);

/* Returns the result of the attempt once the socket is ready: 0 or an errno value. After 0, read the source
 * from `fd`. */
int ct_live_source_connected(struct ct_live_source *source, int fd);
