/* SPDX-License-Identifier: Apache-2.0 */
/* Checks watchpoints in an event log of FRACTAL. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "coretap/fractal.h"
#include "coretap/fractal_watch.h"
#include "support/ctx_fixture.h"
#include "support/file_fixture.h"

#define ROOM 32

/* Writes a log of `count` events; three more are dropped before the last one. */
static void write_log_with(const struct ct_fractal_event *events, size_t count, uint32_t fields,
                           const char *text)
{
    const struct ct_fractal_log_info info = {.clock_hz = 100, .fields = fields, .text = text};
    struct ct_fractal_writer *w;
    assert_int_equal(ct_fractal_writer_new(NULL, path, &info, &w), CT_OK);
    assert_int_equal(ct_fractal_writer_add(w, events, count - 1, 0), CT_OK);
    assert_int_equal(ct_fractal_writer_add(w, events + count - 1, 1, 3), CT_OK);
    assert_int_equal(ct_fractal_writer_close(w), CT_OK);
}

static void write_log(const struct ct_fractal_event *events, size_t count, uint32_t fields)
{
    write_log_with(events, count, fields, NULL);
}

static struct ct_watches *watch(const char *const *specs)
{
    struct ct_watches *watches;
    assert_int_equal(ct_watches_new(NULL, NULL, &watches), CT_OK);
    for (; *specs; specs++)
        assert_int_equal(ct_watches_add(watches, *specs, NULL, NULL), CT_OK);
    return watches;
}

/* Reads all events, `cap` at a time. Returns how many. */
static size_t read_log(const struct ct_watches *watches, size_t cap, struct ct_watch_event events[ROOM])
{
    struct ct_fractal_watch *w;
    size_t sum = 0, count;
    assert_int_equal(ct_fractal_watch_open(NULL, path, watches, 0, &w), CT_OK);
    do {
        assert_true(sum + cap <= ROOM);
        assert_int_equal(ct_fractal_watch_next(w, events + sum, cap, &count), CT_OK);
        sum += count;
    } while (count);
    const struct ct_losses losses = ct_fractal_watch_losses(w);
    assert_int_equal(losses.overflows, 3);
    assert_int_equal(losses.lost_bytes, 0);
    ct_fractal_watch_free(w);
    return sum;
}

/* A record at the second line triggers both of its places. Dropped events have the time of the event
 * before. */
TEST(records_come_by_places)
{
    static const char *const specs[] = {"0x1048", "0x1004", "0x1040", "overflow", NULL};
    static const struct ct_fractal_event log[] = {{.time = 5, .va = 0x1010},
                                                  {.time = 7, .va = 0x2000},
                                                  {.time = 9, .va = 0x1044},
                                                  {.time = 12, .va = 0x1000}};
    static const struct {
        uint32_t watch;
        enum ct_watch_kind kind;
        uint64_t cycle, value;
    } want[] = {{1, CT_WATCH_ADDR, 5, 0x1004},
                {0, CT_WATCH_ADDR, 9, 0x1048},
                {2, CT_WATCH_ADDR, 9, 0x1040},
                {3, CT_WATCH_OVERFLOW, 9, 0},
                {1, CT_WATCH_ADDR, 12, 0x1004}};
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event all[ROOM], one[ROOM];
    write_log(log, 4, CT_FRACTAL_FIELD_ALL);
    assert_int_equal(read_log(watches, 8, all), 5);
    assert_int_equal(read_log(watches, 1, one), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(all[i].watch, want[i].watch);
        assert_int_equal(all[i].kind, want[i].kind);
        assert_int_equal(all[i].cycle, want[i].cycle);
        assert_int_equal(all[i].value, want[i].value);
        assert_memory_equal(&all[i], &one[i], sizeof all[i]);
    }
    ct_watches_free(watches);
}

/* Reads the file of the log, with one bit of the byte at `damage` flipped. */
static size_t log_bytes(uint8_t *bytes, size_t room, size_t damage)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, room, file);
    fclose(file);
    if (damage < size)
        bytes[damage] ^= 1;
    return size;
}

/* Takes a log in pieces. Returns the number of events, and sets the losses. */
static size_t read_pieces(const struct ct_watches *watches, const uint8_t *bytes, size_t size, size_t piece,
                          struct ct_watch_event events[ROOM], struct ct_losses *losses)
{
    struct ct_fractal_watch *w;
    size_t sum = 0, count;
    uint64_t clock;
    assert_int_equal(ct_fractal_watch_stream(NULL, "pieces", watches, 0, &w), CT_OK);
    for (size_t at = 0; at <= size; at += piece) {
        if (at + piece > size)
            piece = size - at + 1;
        assert_int_equal(ct_fractal_watch_push(w, bytes + at, at + piece > size ? piece - 1 : piece), CT_OK);
        if (at + piece > size)
            assert_int_equal(ct_fractal_watch_end(w), CT_OK);
        do {
            assert_int_equal(ct_fractal_watch_next(w, events + sum, ROOM - sum, &count), CT_OK);
            sum += count;
        } while (count);
    }
    assert_true(ct_fractal_watch_time(w, &clock) && clock == 100);
    *losses = ct_fractal_watch_losses(w);
    ct_fractal_watch_free(w);
    return sum;
}

/* A log in pieces of any size equals the whole one: complete, cut off, and damaged. */
TEST(a_log_that_grows_is_the_log)
{
    static const char *const specs[] = {"0x1048", "0x1004", "overflow", "gap", NULL};
    static const struct ct_fractal_event log[] = {{.time = 5, .va = 0x1010},
                                                  {.time = 7, .va = 0x2000},
                                                  {.time = 9, .va = 0x1044},
                                                  {.time = 12, .va = 0x1000}};
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event all[ROOM], pieces[ROOM];
    struct ct_losses losses;
    static uint8_t bytes[4096];
    write_log_with(log, 4, CT_FRACTAL_FIELD_ALL, "program=x\n");
    const size_t size = log_bytes(bytes, sizeof bytes, SIZE_MAX), whole = read_log(watches, 8, all);
    for (size_t piece = 1; piece <= size; piece++) {
        assert_int_equal(read_pieces(watches, bytes, size, piece, pieces, &losses), whole);
        assert_memory_equal(all, pieces, whole * sizeof *all);
        assert_true(losses.overflows == 3 && !losses.lost_bytes);
    }
    /* the last record is cut off: those before it are there, and the rest of it is damage */
    assert_int_equal(read_pieces(watches, bytes, size - 1, 100, pieces, &losses), whole);
    assert_true(pieces[whole - 1].kind == CT_WATCH_GAP && losses.lost_bytes == 32);
    /* the block of the first three is damaged */
    log_bytes(bytes, sizeof bytes, size - 33 - 32 - 5);
    assert_int_equal(read_pieces(watches, bytes, size, 1, all, &losses), 3);
    assert_true(all[0].kind == CT_WATCH_OVERFLOW && all[1].kind == CT_WATCH_GAP && losses.lost_bytes);
    assert_int_equal(read_pieces(watches, bytes, size, size, pieces, &losses), 3);
    ct_watches_free(watches);
}

TEST(watchpoints_come_while_a_log_grows)
{
    static const char *const specs[] = {"0x1004", NULL};
    static const struct ct_fractal_event log[] = {{.time = 5, .va = 0x1010}, {.time = 9, .va = 0x2044}};
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event events[ROOM];
    struct ct_fractal_watch *w;
    static uint8_t bytes[4096];
    size_t count;
    write_log(log, 2, CT_FRACTAL_FIELD_ALL);
    const size_t size = log_bytes(bytes, sizeof bytes, SIZE_MAX);
    assert_int_equal(ct_fractal_watch_stream(NULL, "pieces", watches, 0, &w), CT_OK);
    assert_int_equal(ct_fractal_watch_push(w, bytes, size - 33), CT_OK);
    assert_int_equal(ct_fractal_watch_next(w, events, ROOM, &count), CT_OK);
    assert_int_equal(count, 1);
    assert_int_equal(ct_watches_add(watches, "0x2040", NULL, NULL), CT_OK);
    assert_int_equal(ct_fractal_watch_renew(w), CT_OK);
    assert_int_equal(ct_fractal_watch_push(w, bytes + size - 33, 33), CT_OK);
    assert_int_equal(ct_fractal_watch_next(w, events, ROOM, &count), CT_OK);
    assert_true(count == 1 && events[0].watch == 1 && events[0].cycle == 9);
    assert_int_equal(ct_watches_add(watches, "exception", NULL, NULL), CT_OK);
    assert_int_equal(ct_fractal_watch_renew(w), CT_ERR_ARG);
    assert_int_equal(ct_fractal_watch_push(w, "x", 1), CT_OK);
    assert_int_equal(ct_fractal_watch_end(w), CT_OK);
    assert_int_equal(ct_fractal_watch_push(w, "x", 1), CT_ERR_ARG);
    ct_fractal_watch_free(w);
    assert_int_equal(ct_fractal_watch_stream(NULL, "pieces", watches, 3, &w), CT_OK);
    assert_int_equal(ct_fractal_watch_push(w, "CTFRACT", 7), CT_OK);
    assert_int_equal(ct_fractal_watch_end(w), CT_ERR_FORMAT);
    ct_fractal_watch_free(w);
    assert_int_equal(ct_fractal_watch_stream(NULL, "pieces", watches, 3, &w), CT_OK);
    memset(bytes, 0xff, 64);
    assert_int_equal(ct_fractal_watch_push(w, bytes, 64), CT_ERR_FORMAT);
    ct_fractal_watch_free(w);
    ct_watches_free(watches);
}

/* Where the log distinguishes 16 bytes, other places in the same line do not match. */
TEST(addresses_within_a_line)
{
    static const char *const specs[] = {"0x1048", "0x1040", "0x1010", NULL};
    static const struct ct_fractal_event log[] = {
        {.time = 5, .va = 0x1040}, {.time = 7, .va = 0x1050}, {.time = 9, .va = 0x1010}};
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event all[ROOM];
    write_log_with(log, 3, CT_FRACTAL_FIELD_ALL, "unit=16\n");
    assert_int_equal(read_log(watches, 8, all), 3);
    assert_true(all[0].watch == 0 && all[0].cycle == 5 && all[1].watch == 1 && all[1].cycle == 5);
    assert_true(all[2].watch == 2 && all[2].cycle == 9);
    ct_watches_free(watches);
}

/* Checks accesses to memory, by process and address, and context switches of the cores. */
TEST(accesses_and_contexts)
{
    static const char *const specs[] = {"access:0x1000..0x1048",
                                        "access:0x1000..0x1048.write",
                                        "access:0x1000..0x1048.read",
                                        "access:0x1000..0x1048.fetch.physical",
                                        "access:2:0x1000..0x1048.address",
                                        "context:2",
                                        "context",
                                        "access:point:3.read",
                                        "access:2:point:3",
                                        NULL};
    static const struct ct_fractal_event log[] = {
        {.time = 1, .va = 0x1000, .pa = 0x90, .op = CT_FRACTAL_READ_SHARED, .kind = CT_FRACTAL_KIND_INSN},
        {.time = 2, .va = 0x1040, .pa = 0x80, .op = CT_FRACTAL_READ_UNIQUE, .kind = CT_FRACTAL_KIND_DATA},
        {.time = 3, .va = 0x1080, .pa = 0x80, .op = CT_FRACTAL_READ_UNIQUE, .kind = CT_FRACTAL_KIND_DATA},
        {.time = 4, .va = 0x1000, .point = 3, .initiator = 1, .kind = CT_FRACTAL_KIND_DATA, .target = 2},
        {.time = 5, .va = 0xfc0, .point = 3, .kind = CT_FRACTAL_KIND_DATA},
        {.time = 6,
         .va = 0x1000,
         .point = CT_FRACTAL_NO_POINT,
         .op = CT_FRACTAL_READ_SHARED,
         .kind = CT_FRACTAL_KIND_DATA,
         .initiator = 1}};
    static const struct {
        uint32_t watch, number;
        uint64_t cycle, value;
    } want[] = {{6, 0, 1, 0}, {0, 0, 1, 0x1000}, {3, 0, 1, 0x90},   {0, 0, 2, 0x1040}, {1, 0, 2, 0x1040},
                {5, 0, 4, 0}, {6, 0, 4, 0},      {4, 1, 4, 0x1000}, {8, 1, 4, 0x1000}, {7, 0, 5, 0xfc0},
                {6, 0, 6, 0}, {0, 1, 6, 0x1000}, {2, 1, 6, 0x1000}};
    const size_t count = sizeof want / sizeof *want;
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event all[ROOM];
    write_log(log, 6, CT_FRACTAL_FIELD_ALL);
    assert_int_equal(read_log(watches, 4, all), count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i].watch, want[i].watch);
        assert_int_equal(all[i].number, want[i].number);
        assert_int_equal(all[i].cycle, want[i].cycle);
        assert_int_equal(all[i].value, want[i].value);
    }
    assert_true(all[6].ctxt == 2 && all[6].known);
    ct_watches_free(watches);
}

/* Processes are found by the name of what they run, also when the log gives it only at its end. */
TEST_WITH(processes_by_name, ctx)
{
    static const struct ct_fractal_event log[] = {
        {.time = 1}, {.time = 2, .target = 1}, {.time = 3, .target = 3}, {.time = 4}};
    struct ct_programs *programs;
    struct ct_watches *watches;
    struct ct_watch_event all[ROOM];
    write_log_with(log, 4, CT_FRACTAL_FIELD_ALL, "program=/bin/ping\nprocess=1 bias=0x10 ../pong\n");
    assert_int_equal(ct_programs_new(ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_fractal_watch_names(ctx, path, programs), CT_OK);
    assert_int_equal(ct_watches_new(ctx, programs, &watches), CT_OK);
    assert_int_equal(ct_watches_add(watches, "context:pong", NULL, NULL), CT_OK);
    assert_int_equal(ct_watches_add(watches, "context", NULL, NULL), CT_OK);
    assert_int_equal(ct_watches_add(watches, "context:peng", NULL, NULL), CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(ctx), "there are ping, pong"));
    assert_int_equal(ct_watches_want_text(watches, 1), CT_OK);
    assert_int_equal(read_log(watches, 4, all), 5);
    assert_string_equal(ct_watch_event_text(&all[0]), "ping");
    assert_true(all[1].watch == 0 && all[1].cycle == 2);
    assert_string_equal(ct_watch_event_text(&all[2]), "pong");
    assert_string_equal(ct_watch_event_text(&all[3]), "0x3");
    assert_ptr_equal(ct_watch_event_text(&all[0]), ct_watch_event_text(&all[4]));
    ct_watches_free(watches);
    ct_programs_free(programs);
}

/* Records must have the fields that a watchpoint needs. */
TEST_WITH(fields_that_are_asked_for, ctx)
{
    static const struct {
        const char *place;
        uint32_t without;
        const char *field;
    } rows[] = {{"access:0x10..0x20.write", CT_FRACTAL_FIELD_OP, "field op"},
                {"access:0x10..0x20.fetch", CT_FRACTAL_FIELD_KIND, "field kind"},
                {"access:0x10..0x20.physical", CT_FRACTAL_FIELD_PA, "field pa"},
                {"access:point:0", CT_FRACTAL_FIELD_POINT, "field point"},
                {"access:1:0x10..0x20", CT_FRACTAL_FIELD_TARGET, "field target"},
                {"context", CT_FRACTAL_FIELD_TARGET, "field target"}};
    static const struct ct_fractal_event log[] = {{.time = 1}, {.time = 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *specs[] = {rows[i].place, NULL};
        struct ct_watches *watches = watch(specs);
        struct ct_fractal_watch *w;
        write_log(log, 2, CT_FRACTAL_FIELD_ALL & ~rows[i].without);
        assert_int_equal(ct_fractal_watch_open(ctx, path, watches, 0, &w), CT_ERR_CONFIG);
        assert_non_null(strstr(ct_ctx_error(ctx), rows[i].field));
        write_log(log, 2, CT_FRACTAL_FIELD_ALL);
        assert_int_equal(ct_fractal_watch_open(ctx, path, watches, 0, &w), CT_OK);
        ct_fractal_watch_free(w);
        ct_watches_free(watches);
    }
}

TEST_WITH(what_a_log_has_not_is_refused, ctx)
{
    static const char *const specs[] = {"exception", "0x1004", NULL};
    static const struct ct_fractal_event log[] = {{.time = 5}, {.time = 3}};
    struct ct_watches *watches = watch(specs);
    struct ct_watch_event events[ROOM];
    struct ct_fractal_watch *w;
    size_t count;
    write_log(log, 2, CT_FRACTAL_FIELD_ALL);
    assert_int_equal(ct_fractal_watch_open(ctx, path, watches, 0, &w), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "watchpoint 'exception'"));
    assert_int_equal(ct_fractal_watch_open(ctx, path, watches, 1, &w), CT_OK);
    assert_int_equal(ct_fractal_watch_next(w, events, ROOM, &count), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "time goes back from 5 to 3"));
    ct_fractal_watch_free(w);
    write_log(log, 2, CT_FRACTAL_FIELD_VA);
    assert_int_equal(ct_fractal_watch_open(ctx, path, watches, 1, &w), CT_ERR_CONFIG);
    ct_watches_free(watches);
}
