/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that somebody keeps, in memory and in a file. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "chain/threads/stream_bytes.h"

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

/* Forwards with overlap, back, within what is there, beyond its end, and nothing. */
static void test_parts_of_a_file(void **state)
{
    (void)state;
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

static void test_file_that_became_shorter(void **state)
{
    (void)state;
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

/* What was of a file can be filled, and says where its bytes came from. */
static void test_used_again_in_memory(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_of_a_file),
        cmocka_unit_test(test_file_that_became_shorter),
        cmocka_unit_test(test_used_again_in_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
