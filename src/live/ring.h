/* SPDX-License-Identifier: Apache-2.0 */
/* A bounded ring of bytes between the thread that reads the input and the one that analyses it. When it is
 * full the reading thread waits, or loses bytes and counts them. */
#ifndef CT_LIVE_RING_H
#define CT_LIVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes are lost in multiples of this from the start of the stream, or of the connection, so that no block of
 * any framing is cut. */
#define LIVE_BLOCK 512

/* the most bytes that are given at a time, which a chain takes in a piece */
#define LIVE_PIECE ((size_t)1 << 18)

struct ct_live_ring;

/* What is told of where the bytes come from, and of the file that keeps them. */
struct ct_live_intake {
    bool connects;        /* the source connects again when a connection ends */
    bool waits;           /* the reader waits for a connection */
    double since;         /* time (ct_live_now) when the last connection began or ended */
    uint64_t connections; /* how many there were */
    uint64_t tries;       /* tries to get the next connection */
    uint64_t kept;        /* bytes in the file */
    const char *tee;      /* name of the file; NULL when trace is not kept */
    const char *trouble;  /* why the file takes no more, or NULL */
};

/* Counts since the start. `ended`: no more bytes will come. */
struct ct_live_ring_state {
    uint64_t read, lost, losses, taken;
    uint64_t breaks; /* places where another connection begins */
    struct ct_live_intake intake;
    size_t size, fill;
    bool ended;
    const char *trouble; /* why it ended, if not by the end of the input */
};

/* Makes a ring; `size` is a multiple of LIVE_BLOCK. `drop`: bytes are lost when it is full. NULL without
 * memory. */
struct ct_live_ring *ct_live_ring_new(size_t size, bool drop);
void ct_live_ring_free(struct ct_live_ring *ring);

/* ---- the reading thread ---- */

/* Returns how many bytes fit now, and where they go; 0 when the ring is full. With `drop` there is always
 * room, but what is put there may be lost. */
size_t ct_live_ring_room(struct ct_live_ring *ring, uint8_t **data);
void ct_live_ring_put(struct ct_live_ring *ring, size_t size);

/* Notes that the next bytes do not follow those before: they are of another connection. */
void ct_live_ring_break(struct ct_live_ring *ring);

void ct_live_ring_tell(struct ct_live_ring *ring, const struct ct_live_intake *intake);

/* Waits until there is room, up to `milliseconds`. */
void ct_live_ring_wait_room(struct ct_live_ring *ring, unsigned milliseconds);

/* Ends the ring. `trouble`, a text that stays, says why; or NULL. */
void ct_live_ring_end(struct ct_live_ring *ring, const char *trouble);

/* ---- the analysing thread ---- */

struct ct_live_piece {
    const uint8_t *data;
    size_t size;
    uint64_t offset; /* of its first byte in the input, with lost bytes counted */
    uint64_t lost;   /* bytes that are missing right before it */
    bool apart;      /* an unknown number of bytes is missing too, because a connection ended there */
    bool more;       /* bytes wait behind it */
};

/* Waits for bytes, the end, a wake, or until `milliseconds` went by. Returns false when there are no
 * bytes. */
bool ct_live_ring_get(struct ct_live_ring *ring, unsigned milliseconds, struct ct_live_piece *piece);
void ct_live_ring_done(struct ct_live_ring *ring, size_t size);

/* ---- any thread ---- */

void ct_live_ring_wake(struct ct_live_ring *ring);
struct ct_live_ring_state ct_live_ring_look(struct ct_live_ring *ring);

#endif
