/* SPDX-License-Identifier: Apache-2.0 */
/* Where trace comes from while it is made: standard input, a FIFO, a TCP
 * connection, a trace-sink device, a file. */
#ifndef CT_CLI_LIVE_SOURCE_H
#define CT_CLI_LIVE_SOURCE_H

#include <stdbool.h>

struct addrinfo;

struct cli_live_source {
    const char *name;
    int fd;                     /* that is read; -1: there is no connection */
    int listener;               /* that connections come to, or -1 */
    struct addrinfo *addresses; /* to connect to, or NULL */
    bool again;                 /* the end of a connection is not that of the trace */
    bool device;                /* it cannot be held back */
};

/* Opens what `name` says: "-", "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for
 * one connection), else a path. `again`: connections may end, and others follow; the first one need not be
 * there yet. False: said why. */
bool cli_live_source_open(struct cli_live_source *source, const char *name, bool again);
void cli_live_source_close(struct cli_live_source *source);

/* Takes the connection that waits at the listener. False: there is none any more. */
bool cli_live_source_accept(struct cli_live_source *source);

/* Begins to connect to an address; the socket is to be polled for POLLOUT. -1: errno says why not. */
int cli_live_source_begin(const struct addrinfo *address);

/* How the attempt ended, when it is ready: 0 or an errno. With 0 the source is read from `fd`. */
int cli_live_source_connected(struct cli_live_source *source, int fd);

/* ---- the thread that reads it ---- */

struct cli_live_ring;
struct cli_live_reader;
struct cli_live_tee;

/* Reads until the end, an error, SIGINT or SIGTERM, or a call of cli_live_reader_stop; then ends the ring.
 * What came is also given to `tee`, unless that is NULL. Signals have to be blocked in all threads; after the
 * first one the next kills the process. Until it is freed the thread sees to it that a signal ends the run
 * within two seconds: it sets *hurry (enum ct_monitor_stop). NULL: said why. */
struct cli_live_reader *cli_live_reader_start(struct cli_live_source *source, struct cli_live_ring *ring,
                                              struct cli_live_tee *tee, int *hurry);
void cli_live_reader_stop(struct cli_live_reader *reader);

/* Waits for it, when all is reported: a signal ends the process up to then. */
void cli_live_reader_free(struct cli_live_reader *reader);

#endif
