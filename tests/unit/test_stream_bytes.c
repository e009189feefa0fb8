/* SPDX-License-Identifier: Apache-2.0 */
/* Checks bytes that are kept in memory and in a file. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain/file_window.h"
#include "chain/threads/stream_bytes.h"
#include "support/unit.h"

enum {
    SIZE = 20000
};

static uint8_t bytes[SIZE];

static int make_file(void)
{
    const int fd = memfd_create("stream", 0);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 31 + i / 256);
    assert_int_equal(write(fd, bytes, SIZE), SIZE);
    return fd;
}

static void expect(struct ct_stream_bytes *piece, size_t from, size_t to)
{
    struct ct_run run;
    assert_int_equal(ct_stream_bytes_run(piece, from, to, &run), CT_OK);
    assert_int_equal(run.size, to - from);
    assert_int_equal(run.pos, piece->pos + from);
    assert_memory_equal(run.data, bytes + run.pos, run.size);
    assert_int_equal(ct_run_offset(&run, run.pos), run.pos);
}

/* Reads forwards with overlap, back, within the present bytes, beyond their end, and nothing. */
TEST(test_parts_of_a_file)
{
    static const size_t parts[][2] = {{0, 100},      {90, 5000},   {4999, 5001}, {100, 200}, {150, 160},
                                      {0, SIZE - 7}, {3000, 3000}, {4000, 9000}, {1, 2}};
    const int fd = make_file();
    struct ct_stream_bytes piece = {0};
    ct_stream_bytes_in_file(&piece, fd, 7, SIZE - 7);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        expect(&piece, parts[i][0], parts[i][1]);
    ct_stream_bytes_extend(&piece, 7);
    assert_int_equal(piece.size, SIZE);
    expect(&piece, 0, SIZE);
    ct_stream_bytes_free(&piece);
    close(fd);
}

/* Windows grow, move back, and end with the file. */
TEST(test_windows_of_a_file)
{
    enum {
        LARGE = 40 << 20,
        STEP = 300001
    };
    const int fd = memfd_create("windows", 0);
    struct ct_file_window window = {0};
    assert_int_equal(ftruncate(fd, LARGE), 0);
    for (uint32_t at = 0; at + 4 <= LARGE; at += STEP)
        assert_int_equal(pwrite(fd, &at, 4, at), 4);
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t at = 0; at + 4 <= LARGE; at += STEP) {
            const uint32_t size = LARGE - at < STEP ? LARGE - at : STEP;
            const uint8_t *there = ct_file_window_at(&window, fd, at, size);
            assert_non_null(there);
            assert_memory_equal(there, &at, 4);
            assert_int_equal(there[size - 1], size > 4 ? 0 : there[3]);
        }
    assert_non_null(ct_file_window_at(&window, fd, LARGE - 1, 1));
    assert_null(ct_file_window_at(&window, fd, LARGE - 1, 2));
    assert_int_equal(errno, 0);
    assert_null(ct_file_window_at(&window, fd, UINT64_MAX, 2));
    ct_file_window_close(&window);
    close(fd);
    assert_null(ct_file_window_at(&window, fd, 0, 1));
    assert_int_not_equal(errno, 0);
}

TEST(test_file_that_became_shorter)
{
    const int fd = make_file();
    struct ct_stream_bytes piece = {0};
    struct ct_run run;
    ct_stream_bytes_in_file(&piece, fd, 0, SIZE);
    expect(&piece, 0, 4096);
    assert_int_equal(ftruncate(fd, SIZE / 2), 0);
    assert_int_equal(ct_stream_bytes_run(&piece, 2000, SIZE, &run), CT_ERR_IO);
    assert_int_equal(piece.error, 0);
    expect(&piece, 2000, SIZE / 2);
    close(fd);
    assert_int_equal(ct_stream_bytes_run(&piece, 0, 100, &run), CT_ERR_IO);
    assert_int_not_equal(piece.error, 0);
    ct_stream_bytes_free(&piece);
}

/* An object used for a file can be filled from memory, and reports where its bytes came from. */
TEST(test_used_again_in_memory)
{
    const int fd = make_file();
    const struct ct_span spans[] = {{.pos = 40, .place = UINT64_C(40) << CT_SPAN_BITS}};
    const struct ct_run run = {.data = bytes + 50, .size = 10000, .pos = 50, .spans = spans, .span_count = 1};
    struct ct_stream_bytes piece = {0};
    ct_stream_bytes_in_file(&piece, fd, 0, SIZE);
    expect(&piece, 10, 300);
    ct_stream_bytes_clear(&piece);
    assert_true(ct_stream_bytes_append(&piece, &run));
    assert_int_equal(piece.size, run.size);
    expect(&piece, 0, 10000);
    expect(&piece, 5, 6);
    ct_stream_bytes_free(&piece);
    close(fd);
}
