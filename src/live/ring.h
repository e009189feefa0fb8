/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes on their way from the thread that reads the input to the one that analyses it: a bounded ring. Who
 * reads waits when it is full, or loses bytes, and says how many. */
#ifndef CT_LIVE_RING_H
#define CT_LIVE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes are lost in multiples of this from the start of the stream, or of the connection: no block of any
 * framing is cut. */
#define LIVE_BLOCK 512

/* Bytes that are given at once at most; what a chain takes in a piece. */
#define LIVE_PIECE ((size_t)1 << 18)

struct ct_live_ring;

/* What is said of where the bytes come from, and of the file that they are kept in. */
struct ct_live_intake {
    bool connects;        /* it is a source that is waited for again */
    bool waits;           /* there is no connection now */
    double since;         /* time (ct_live_now) of the last connection or its end */
    uint64_t connections; /* that there were */
    uint64_t tries;       /* to get the next one */
    uint64_t kept;        /* bytes in the file */
    const char *tee;      /* the file; NULL: none was asked for */
    const char *trouble;  /* why it takes no more, or NULL */
};

/* Numbers since the start; `ended`: no more bytes will come. */
struct ct_live_ring_state {
    uint64_t read, lost, losses, taken;
    uint64_t breaks; /* places where another connection begins */
    struct ct_live_intake intake;
    size_t size, fill;
    bool ended;
    const char *trouble; /* why it ended, when that is no end of input */
};

/* `size` is a multiple of LIVE_BLOCK. `drop`: bytes are lost when it is full. NULL: no memory. */
struct ct_live_ring *ct_live_ring_new(size_t size, bool drop);
void ct_live_ring_free(struct ct_live_ring *ring);

/* ---- the reading thread ---- */

/* Where the next bytes go and how many at most, 0 when it is full. With `drop` there is always room: what is
 * put there may be lost. */
size_t ct_live_ring_room(struct ct_live_ring *ring, uint8_t **data);
void ct_live_ring_put(struct ct_live_ring *ring, size_t size);

/* What comes next does not follow what came before: it is of another connection. */
void ct_live_ring_break(struct ct_live_ring *ring);

void ct_live_ring_tell(struct ct_live_ring *ring, const struct ct_live_intake *intake);

/* Waits until there is room, or `milliseconds`. */
void ct_live_ring_wait_room(struct ct_live_ring *ring, unsigned milliseconds);

/* `trouble` (a literal or text that stays): why, or NULL. */
void ct_live_ring_end(struct ct_live_ring *ring, const char *trouble);

/* ---- the analysing thread ---- */

struct ct_live_piece {
    const uint8_t *data;
    size_t size;
    uint64_t offset; /* of its first byte in the input, lost ones counted */
    uint64_t lost;   /* bytes that are missing right before it */
    bool apart;      /* … and nobody knows how many more: a connection ended there */
};

/* Waits until there are bytes, the end, a wake or `milliseconds` went by. False: there are none now. */
bool ct_live_ring_get(struct ct_live_ring *ring, unsigned milliseconds, struct ct_live_piece *piece);
void ct_live_ring_done(struct ct_live_ring *ring, size_t size);

/* ---- any thread ---- */

void ct_live_ring_wake(struct ct_live_ring *ring);
struct ct_live_ring_state ct_live_ring_look(struct ct_live_ring *ring);

#endif
