/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded ring buffer between the thread that reads the input and the thread that analyses it. When it is
 * full, the reading thread waits, or drops bytes and counts them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* bytes are dropped in multiples of this, aligned to the start of the stream or connection, so that no block
 * of any framing is cut */
#define LIVE_BLOCK 512

/* most bytes per piece; a chain takes them at once */
#define LIVE_PIECE ((size_t)1 << 18)

struct ct_live_ring;

/* State of the input's source, and of the file that keeps its bytes. */
struct ct_live_intake {
    bool connects;        /* the source reconnects when a connection ends */
    bool waits;           /* the reader is waiting for a connection */
    double since;         /* time (ct_live_now) when the last connection began or ended */
    uint64_t connections; /* connections so far */
    uint64_t tries;       /* attempts to get the next connection */
    uint64_t kept;        /* bytes in the file */
    const char *tee;      /* name of the file; NULL: the trace is not kept */
    const char *trouble;  /* why the file takes no more bytes, or NULL */
};

/* Counts since the start. `ended`: no more bytes will come. */
struct ct_live_ring_state {
    uint64_t read, lost, losses, taken;
    uint64_t breaks; /* number of changes of connection */
    struct ct_live_intake intake;
    size_t size, fill;
    bool ended;
    const char *trouble; /* why the input ended early, or NULL */
};

/* Creates a ring; `size` must be a multiple of LIVE_BLOCK. `drop`: drop bytes when it is full. NULL: out of
 * memory. */
struct ct_live_ring *ct_live_ring_new(size_t size, bool drop);
void ct_live_ring_free(struct ct_live_ring *ring);

/* ---- the reading thread ---- */

/* Returns how many bytes fit now, and their destination; 0 when the ring is full. With `drop` there is always
 * room, but bytes put there may be dropped. */
size_t ct_live_ring_room(struct ct_live_ring *ring, uint8_t **data);
void ct_live_ring_put(struct ct_live_ring *ring, size_t size);

/* Notes that the next bytes belong to another connection, and do not continue the bytes before. */
void ct_live_ring_break(struct ct_live_ring *ring);

void ct_live_ring_tell(struct ct_live_ring *ring, const struct ct_live_intake *intake);

/* Waits up to `milliseconds` for room. */
void ct_live_ring_wait_room(struct ct_live_ring *ring, unsigned milliseconds);

/* Ends the ring. `trouble`: the reason, a text that must stay valid; or NULL. */
void ct_live_ring_end(struct ct_live_ring *ring, const char *trouble);

/* ---- the analysing thread ---- */

struct ct_live_piece {
    const uint8_t *data;
    size_t size;
    uint64_t offset; /* position of its first byte in the input, including lost bytes */
    uint64_t lost;   /* bytes missing right before it */
    bool apart;      /* an unknown number of bytes is missing, too: another connection begins */
    bool more;       /* more bytes wait after it */
};

/* Waits up to `milliseconds` for bytes, the end, or a wake. Returns false when there are no bytes. */
bool ct_live_ring_get(struct ct_live_ring *ring, unsigned milliseconds, struct ct_live_piece *piece);
void ct_live_ring_done(struct ct_live_ring *ring, size_t size);

/* ---- any thread ---- */

void ct_live_ring_wake(struct ct_live_ring *ring);
struct ct_live_ring_state ct_live_ring_look(struct ct_live_ring *ring);
