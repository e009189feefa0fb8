/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that a file of trace, messages or code which is shortened while in use gives an error that says what
 * is lost: read or mapped, by one thread or several. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/whole_file.h"
#include "coretap/decode.h"
#include "coretap/fractal_run.h"
#include "support/ctx_fixture.h"

enum {
    CHUNK = 1 << 18,
    SIZE = 3 * CHUNK / 2, /* two chunks, in one window when mapped */
    LARGE = 128 * CHUNK,  /* more than threads read ahead of the first batch */
    LESS = 100,           /* so that the cut is in the last page of the file, where no access is a SIGBUS */
};

/* How the file is decoded. */
struct how {
    int maps;
    unsigned threads;
    size_t size, left; /* size of the file before the cut and after it */
    struct ct_piece *piece;
};

struct test {
    char path[64];
    size_t left;
    int was_cut;
};

/* Writes a file of parts that begin with `head`; the rest of each part is `filler`. */
static void write_parts(struct test *t, const void *head, size_t head_size, int filler, size_t part,
                        size_t size)
{
    uint8_t *bytes = malloc(size + part);
    assert_non_null(bytes);
    memset(bytes, filler, size);
    for (size_t at = 0; at < size; at += part)
        memcpy(bytes + at, head, head_size);
    snprintf(t->path, sizeof t->path, "/tmp/shorter.XXXXXX");
    const int fd = mkstemp(t->path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    close(fd);
    free(bytes);
}

/* Writes ETMv4 trace: synchronisation points, and events between them. */
static void write_trace(struct test *t, size_t size)
{
    static const uint8_t sync[14] = {[11] = 0x80, 0x01, 0x00};
    write_parts(t, sync, sizeof sync, 0x71, CHUNK / 4, size);
}

static int cut(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct test *t = user;
    (void)stream;
    (void)batch;
    if (!t->was_cut)
        assert_int_equal(truncate(t->path, (off_t)t->left), 0);
    t->was_cut = 1;
    return 0;
}

static void decode(const struct how *how, const char *said)
{
    struct test t = {.left = how->left};
    write_trace(&t, how->size);
    const struct ct_source source = {
        .name = "cpu0",
        .protocol = CT_PROTOCOL_ETM4,
        .trace_id = 0x10,
        .arch = {.major = 8, .profile = CT_PROFILE_A},
        .regs = {.idr0 = 0x28000ea1, .idr1 = 0x41000400, .idr2 = 0x488, .configr = 1}};
    struct ct_buffer buffer = {.name = "trace",
                               .path = t.path,
                               .framing = CT_FRAMING_NONE,
                               .source_count = 1,
                               .sources = (struct ct_source *)&source,
                               .piece_count = how->piece ? 1 : 0,
                               .pieces = how->piece};
    const struct ct_chain_options options = {
        .size = sizeof options, .level = CT_LEVEL_PACKET, .threads = (uint16_t)how->threads};
    const struct ct_chain_sink sink = {.user = &t, .packets = cut};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_chain *chain;
    assert_non_null(ctx);
    ct_ctx_map_files(ctx, how->maps);
    assert_int_equal(ct_chain_new(ctx, &buffer, &options, &sink, &chain), CT_OK);
    assert_int_equal(ct_chain_run(chain), CT_ERR_IO);
    assert_true(t.was_cut);
    assert_non_null(strstr(ct_ctx_error(ctx), "became shorter while it was read"));
    assert_non_null(strstr(ct_ctx_error(ctx), said));
    ct_chain_free(chain);
    ct_ctx_free(ctx);
    unlink(t.path);
}

TEST(test_read)
{
    decode(&(struct how){.threads = 1, .size = SIZE, .left = 1000}, ": 392216 of its 393216 bytes are lost");
    decode(&(struct how){.threads = 1, .size = SIZE, .left = SIZE - LESS}, ": 100 of its 393216 bytes");
}

TEST(test_threads)
{
    decode(&(struct how){.threads = 2, .size = LARGE, .left = CHUNK}, " of its 33554432 bytes are lost");
}

/* Mapped bytes after the cut are zeros, which only the size of the file shows. */
TEST(test_mapped)
{
    decode(&(struct how){.maps = 1, .threads = 1, .size = SIZE, .left = SIZE - LESS}, ": 100 of its 393216");
    decode(&(struct how){.maps = 1, .threads = 1, .size = CHUNK / 2, .left = CHUNK / 2 - LESS},
           ": 100 of its 131072 bytes");
}

/* Also when the file was cut before it was opened again. */
TEST(test_piece)
{
    struct ct_piece piece = {
        .offset = CHUNK / 4, .size = SIZE - CHUNK / 4, .time = CT_NO_TIME, .tid = CT_NO_THREAD};
    decode(&(struct how){.threads = 1, .size = SIZE, .left = CHUNK / 2, .piece = &piece},
           ": 262144 of its 393216 bytes");
    piece.size = SIZE;
    decode(&(struct how){.threads = 1, .size = SIZE, .left = SIZE, .piece = &piece},
           ": 65536 of its 458752 bytes");
}

static void cut_messages(void *user, const char *text)
{
    struct test *t = user;
    (void)text;
    assert_int_equal(truncate(t->path, (off_t)t->left), 0);
    t->was_cut = 1;
}

/* No line is a message, and only the first ones are reported. */
TEST_WITH(test_messages, ctx)
{
    struct test t = {.left = CHUNK};
    const struct ct_fractal_replay_options options = {
        .size = sizeof options, .path = t.path, .refused = cut_messages, .refused_user = &t};
    struct ct_fractal_replay *replay;
    write_parts(&t, "no message\n", 11, 0, 11, SIZE);
    assert_int_equal(ct_fractal_replay_new(ctx, &options, &replay), CT_OK);
    assert_int_equal(ct_fractal_replay_run(replay), CT_ERR_IO);
    assert_true(t.was_cut);
    assert_non_null(strstr(ct_ctx_error(ctx), "became shorter while it was read"));
    ct_fractal_replay_free(replay);
    unlink(t.path);
}

TEST_WITH(test_program, ctx)
{
    struct test t;
    void *bytes;
    write_parts(&t, "", 1, 0, LESS, LESS);
    const int fd = open(t.path, O_RDONLY);
    assert_int_equal(ct_whole_file_read(ctx, fd, t.path, SIZE, &bytes), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(ctx), ": 393116 of its 393216 bytes are lost"));
    close(fd);
    unlink(t.path);
}
