/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the ring between the input of a live run and its analyses: every byte arrives in order, or is
 * counted as lost. */
#include <pthread.h>

#include "live/ring.h"
#include "support/rng.h"
#include "support/unit.h"

#define SIZE  ((size_t)8192)
#define TOTAL UINT64_C(3000000)

/* Returns the byte at an offset of the input. */
static uint8_t byte_at(uint64_t offset)
{
    return (uint8_t)((offset * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
}

/* Puts at most `most` bytes and returns how many. */
static size_t put(struct ct_live_ring *ring, uint64_t offset, size_t most)
{
    uint8_t *data;
    size_t room = ct_live_ring_room(ring, &data);
    if (room > most)
        room = most;
    for (size_t i = 0; i < room; i++)
        data[i] = byte_at(offset + i);
    if (room)
        ct_live_ring_put(ring, room);
    return room;
}

/* Takes and checks at most `most` bytes. Returns the offset after them. */
static uint64_t take(struct ct_live_ring *ring, uint64_t offset, size_t most, uint64_t *lost)
{
    struct ct_live_piece piece;
    if (!ct_live_ring_get(ring, 0, &piece))
        return offset;
    assert_int_equal(piece.offset, offset + piece.lost);
    if (piece.lost)
        assert_int_equal(piece.offset % LIVE_BLOCK, 0);
    *lost += piece.lost;
    if (piece.size > most)
        piece.size = most;
    for (size_t i = 0; i < piece.size; i++)
        assert_int_equal(piece.data[i], byte_at(piece.offset + i));
    ct_live_ring_done(ring, piece.size);
    return piece.offset + piece.size;
}

/* Puts and takes random pieces; with `drop` more go in than come out. */
static void go(uint64_t seed, bool drop)
{
    struct rng rng = {seed};
    struct ct_live_ring *ring = ct_live_ring_new(SIZE, drop);
    uint64_t in = 0, out = 0, lost = 0;
    assert_non_null(ring);
    while (in < TOTAL) {
        for (uint64_t n = rng_below(&rng, 6); n; n--)
            in += put(ring, in, (size_t)rng_below(&rng, 3000));
        for (uint64_t n = rng_below(&rng, drop ? 4 : 6); n; n--)
            out = take(ring, out, (size_t)rng_below(&rng, 3000) + 1, &lost);
    }
    ct_live_ring_end(ring, NULL);
    struct ct_live_piece piece;
    while (ct_live_ring_get(ring, 0, &piece))
        out = (ct_live_ring_done(ring, piece.size), lost += piece.lost, piece.offset + piece.size);
    const struct ct_live_ring_state state = ct_live_ring_look(ring);
    assert_true(state.ended);
    assert_int_equal(state.read, in);
    assert_int_equal(state.taken + state.lost, in);
    assert_true(state.lost >= lost); /* no byte follows the last loss */
    assert_true(drop ? state.lost > 0 && state.losses > 0 : state.lost == 0 && out == in);
    ct_live_ring_free(ring);
}

TEST(every_byte)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        go(seed, false);
}

TEST(or_counted)
{
    for (uint64_t seed = 1; seed <= 5; seed++)
        go(seed, true);
}

/* A piece that was looked at but not taken has its mark again. */
TEST(a_mark_stays_until_done)
{
    struct ct_live_ring *ring = ct_live_ring_new(SIZE, false);
    struct ct_live_piece piece;
    uint64_t lost = 0;
    assert_int_equal(put(ring, 0, 100), 100);
    ct_live_ring_break(ring);
    assert_int_equal(put(ring, 100, 50), 50);
    assert_int_equal(take(ring, 0, 100, &lost), 100);
    for (int look = 0; look < 2; look++) {
        assert_true(ct_live_ring_get(ring, 0, &piece));
        assert_true(piece.apart);
        assert_int_equal(piece.offset, 100);
        assert_int_equal(piece.size, 50);
    }
    ct_live_ring_done(ring, 20);
    assert_true(ct_live_ring_get(ring, 0, &piece));
    assert_false(piece.apart);
    assert_int_equal(piece.size, 30);
    ct_live_ring_free(ring);
}

static void *write_all(void *user)
{
    struct ct_live_ring *ring = user;
    uint64_t in = 0;
    while (in < TOTAL) {
        const size_t n = put(ring, in, TOTAL - in < 5000 ? (size_t)(TOTAL - in) : 5000);
        if (!n)
            ct_live_ring_wait_room(ring, 1000);
        in += n;
    }
    ct_live_ring_end(ring, "because");
    return NULL;
}

TEST(two_threads)
{
    struct ct_live_ring *ring = ct_live_ring_new(SIZE, false);
    uint64_t out = 0, lost = 0;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, write_all, ring), 0);
    while (!ct_live_ring_look(ring).ended || ct_live_ring_look(ring).fill)
        out = take(ring, out, LIVE_PIECE, &lost);
    pthread_join(thread, NULL);
    assert_int_equal(out, TOTAL);
    assert_int_equal(lost, 0);
    assert_string_equal(ct_live_ring_look(ring).trouble, "because");
    ct_live_ring_free(ring);
}
