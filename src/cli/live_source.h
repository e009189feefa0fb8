/* Where trace comes from while it is made: standard input, a FIFO, a TCP connection, a trace-sink device, a file. */
#ifndef CT_CLI_LIVE_SOURCE_H
#define CT_CLI_LIVE_SOURCE_H

#include <stdbool.h>

struct live_source {
    int fd;
    bool listens; /* the trace comes over the first connection to it */
    bool device;  /* it cannot be held back */
};

/* Opens what `name` says: "-", "tcp:HOST:PORT" (connects), "listen:PORT" or "listen:ADDRESS:PORT" (waits for one
 * connection), else a path. False: said why. */
bool live_source_open(struct live_source *source, const char *name);
void live_source_close(struct live_source *source);

/* ---- the thread that reads it ---- */

struct live_ring;
struct live_reader;

/* Reads until the end, an error, SIGINT or SIGTERM, or a call of live_reader_stop; then ends the ring. Signals have to be
 * blocked in all threads; after the first one the next kills the process. NULL: said why. */
struct live_reader *live_reader_start(struct live_source *source, struct live_ring *ring);
void live_reader_stop(struct live_reader *reader);

/* Waits for it. Result: the signal that ended it, or 0. */
int live_reader_free(struct live_reader *reader);

#endif
