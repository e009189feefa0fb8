/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "fractal/machine.h"
#include "support/ctx_fixture.h"

#define PGD  UINT64_C(0x10000)
#define L2T  UINT64_C(0x11000)
#define L3T  UINT64_C(0x12000)
#define DATA UINT64_C(0x80000)

/* The layout of memory: 39 bits of address, 4 KB pages, one table of each level. Page n of the target is
 * frame DATA + n. */
static void content(uint64_t pa, uint64_t line[CT_FRACTAL_LINE_WORDS])
{
    memset(line, 0, CT_FRACTAL_LINE);
    if (pa == PGD)
        line[0] = L2T | 3;
    else if (pa == L2T)
        line[0] = L3T | 3;
    else if (pa >> 12 == L3T >> 12)
        for (uint64_t i = 0; i < CT_FRACTAL_LINE_WORDS; i++)
            line[i] = (DATA + (((pa & 0xfff) / 8 + i) << 12)) | 0x403;
}

struct log {
    struct ct_fractal_command c[4096];
    unsigned count;
};

static void answer(struct ct_fractal *f, struct log *log)
{
    struct ct_fractal_command c;
    uint64_t line[CT_FRACTAL_LINE_WORDS];
    while (ct_fractal_next_command(f, &c)) {
        if (log && log->count < 4096)
            log->c[log->count++] = c;
        content(c.pa, line);
        if (c.kind == CT_FRACTAL_CMD_READ || c.kind == CT_FRACTAL_CMD_PEEK)
            assert_int_equal(ct_fractal_data(f, f->time, c.pa, line), CT_OK);
    }
}

static void hear(struct ct_fractal *f, unsigned op, uint64_t addr, uint64_t value, struct log *log)
{
    const struct ct_fractal_message m = {
        .time = f->time + 1, .op = (uint8_t)op, .addr = addr, .value = value, .kind = CT_FRACTAL_KIND_DATA};
    assert_int_equal(ct_fractal_take_message(f, &m), CT_OK);
    answer(f, log);
}

static const struct ct_fractal_target plain = {.pgd = PGD,
                                               .range_hi = 64 << 12,
                                               .asid = 7,
                                               .granule = 12,
                                               .va_bits = 39,
                                               .mode = CT_FRACTAL_ACTIVE,
                                               .target = 3};

static struct ct_fractal *make_with_ring(uint32_t sets, uint32_t ways, uint32_t ring,
                                         const struct ct_fractal_target *t, struct log *log)
{
    const struct ct_fractal_options o = {
        .size = sizeof o, .rtlb_sets = sets, .rtlb_ways = ways, .ring_bytes = ring};
    struct ct_fractal *f;
    struct ct_fractal_port *port;
    assert_int_equal(ct_fractal_new(NULL, &o, &f), CT_OK);
    assert_int_equal(ct_fractal_port_model(NULL, f, &port), CT_OK);
    assert_int_equal(ct_fractal_port_start(port, t), CT_OK);
    ct_fractal_port_free(port);
    answer(f, log);
    return f;
}

static struct ct_fractal *make(uint32_t sets, const struct ct_fractal_target *t, struct log *log)
{
    return make_with_ring(sets, 4, 0, t, log);
}

/* Makes the walk of page n by a core with empty caches. */
static void walk(struct ct_fractal *f, uint64_t n, struct log *log)
{
    hear(f, CT_FRACTAL_READ_SHARED, PGD, 0, log);
    hear(f, CT_FRACTAL_READ_SHARED, L2T, 0, log);
    hear(f, CT_FRACTAL_READ_SHARED, L3T + n * 8, 0, log);
}

static unsigned count_kind(const struct log *log, unsigned kind)
{
    unsigned n = 0;
    for (unsigned i = 0; i < log->count; i++)
        n += log->c[i].kind == kind;
    return n;
}

TEST(a_walk_gives_a_miss_its_address)
{
    struct ct_fractal_event e[4];
    struct ct_fractal *f = make(512, &plain, NULL);
    hear(f, CT_FRACTAL_READ_SHARED, DATA + 0x5040, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 0);
    walk(f, 5, NULL);
    hear(f, CT_FRACTAL_READ_UNIQUE, DATA + 0x5048, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    assert_true(e[0].va == 0x5040 && e[0].pa == DATA + 0x5040 && e[0].op == CT_FRACTAL_READ_UNIQUE);
    assert_true(e[0].point == CT_FRACTAL_NO_POINT && e[0].target == 3 && e[0].kind == CT_FRACTAL_KIND_DATA);
    ct_fractal_free(f);
}

TEST(set_up_flushes_and_cleans)
{
    static struct log log;
    log.count = 0;
    ct_fractal_free(make(512, &plain, &log));
    assert_int_equal(log.c[0].kind, CT_FRACTAL_CMD_CLEAN);
    assert_true(log.c[0].pa == PGD);
    assert_int_equal(log.c[log.count - 1].kind, CT_FRACTAL_CMD_TLBI_ASID);
    assert_int_equal(log.c[log.count - 1].asid, 7);
    struct ct_fractal_target t = plain;
    t.mode = CT_FRACTAL_PASSIVE;
    log.count = 0;
    struct ct_fractal *f = make(512, &t, &log);
    walk(f, 0, &log);
    assert_int_equal(log.count, 3);
    assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_PEEK), 3);
    ct_fractal_free(f);
}

/* One set of four ways and a line of eight mappings: four stay, four wait next to it, and leave when the next
 * line comes in. */
TEST(eviction_is_active)
{
    static struct log log;
    struct ct_fractal *f = make(1, &plain, NULL);
    log.count = 0;
    walk(f, 0, &log);
    assert_int_equal(f->rtlb.used, 4);
    assert_int_equal(f->rtlb.stashed, 4);
    assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_TLBI_VA), 0);
    log.count = 0;
    hear(f, CT_FRACTAL_READ_SHARED, L3T + 64, 0, &log);
    assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_TLBI_VA), 8);
    assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_CLEAN), 8);
    for (unsigned i = 0; i + 1 < log.count; i++)
        if (log.c[i].kind == CT_FRACTAL_CMD_CLEAN) { /* the descriptor is cleaned before the translation is
                                                      * invalidated */
            assert_int_equal(log.c[i + 1].kind, CT_FRACTAL_CMD_TLBI_VA);
            assert_true(log.c[i].pa == L3T);
        }
    ct_fractal_free(f);
}

TEST(invalidations_of_the_cores_are_followed)
{
    struct ct_fractal_event e[4];
    struct ct_fractal *f = make(512, &plain, NULL);
    walk(f, 0, NULL);
    hear(f, CT_FRACTAL_TLBI_VA, 0x1000, 8, NULL); /* of another address space */
    hear(f, CT_FRACTAL_READ_SHARED, DATA + 0x1000, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    hear(f, CT_FRACTAL_TLBI_VA, 0x1000, 7, NULL);
    hear(f, CT_FRACTAL_READ_SHARED, DATA + 0x1000, 0, NULL);
    hear(f, CT_FRACTAL_READ_SHARED, DATA + 0x2000, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    assert_true(e[0].va == 0x2000);
    hear(f, CT_FRACTAL_TLBI_ALL, 0, 0, NULL);
    assert_int_equal(f->rtlb.used, 0);
    ct_fractal_free(f);
}

TEST(every_access_to_a_point_is_made_to_show)
{
    static struct log log;
    struct ct_fractal_event e[4];
    struct ct_fractal *f = make(512, &plain, NULL);
    ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_VA, 8, 0x3084);
    ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_ADD);
    answer(f, NULL);
    log.count = 0;
    walk(f, 3, &log); /* it was resolved with its page, and is evicted at once */
    assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_ICI), 1);
    assert_true(log.c[log.count - 1].pa == DATA + 0x3080);
    for (int i = 0; i < 3; i++) {
        log.count = 0;
        hear(f, CT_FRACTAL_READ_SHARED, DATA + 0x3080, 0, &log);
        assert_int_equal(count_kind(&log, CT_FRACTAL_CMD_CLEAN), 1);
        assert_int_equal(ct_fractal_events(f, e, 4), 1);
        assert_int_equal(e[0].point, 0);
    }
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_REMOVE), CT_OK);
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_REMOVE),
                     CT_ERR_NOT_FOUND);
    ct_fractal_free(f);
}

TEST(what_cannot_be_is_counted_not_believed)
{
    const uint64_t line[CT_FRACTAL_LINE_WORDS] = {0};
    struct ct_fractal *f = make(512, &plain, NULL);
    uint64_t n;
    struct ct_fractal_message m = {.time = 5, .op = 77};
    assert_int_equal(ct_fractal_take_message(f, &m), CT_ERR_FORMAT);
    m = (struct ct_fractal_message){.time = 4, .op = CT_FRACTAL_READ_SHARED};
    assert_int_equal(ct_fractal_take_message(f, &m), CT_ERR_FORMAT);
    m = (struct ct_fractal_message){.time = 6, .op = CT_FRACTAL_READ_SHARED, .addr = UINT64_C(1) << 48};
    assert_int_equal(ct_fractal_take_message(f, &m), CT_ERR_FORMAT);
    assert_int_equal(ct_fractal_data(f, 6, L3T, line), CT_ERR_FORMAT);
    ct_fractal_reg_read(f, CT_FRACTAL_REG_INCONSISTENT, 8, &n);
    assert_int_equal(n, 4);
    /* While a command waits, nothing is done until it is fetched. */
    m = (struct ct_fractal_message){.time = 7, .op = CT_FRACTAL_READ_SHARED, .addr = PGD};
    assert_int_equal(ct_fractal_take_message(f, &m), CT_OK);
    assert_int_equal(ct_fractal_take_message(f, &m), CT_ERR_LIMIT);
    ct_fractal_free(f);
}

TEST_WITH(registers_have_halves, ctx)
{
    struct ct_fractal *f;
    uint64_t v;
    assert_int_equal(ct_fractal_new(ctx, NULL, &f), CT_OK);
    assert_int_equal(ct_fractal_reg_read(f, CT_FRACTAL_REG_ID, 4, &v), CT_OK);
    assert_int_equal(v, 0x43544652);
    /* Two halves make one write, together with the high half. */
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_PGD, 4, 0x12340000), CT_OK);
    ct_fractal_reg_read(f, CT_FRACTAL_REG_PGD, 8, &v);
    assert_int_equal(v, 0);
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_PGD + 4, 4, 0x5), CT_OK);
    ct_fractal_reg_read(f, CT_FRACTAL_REG_PGD, 8, &v);
    assert_true(v == UINT64_C(0x512340000));
    unsigned registers = 0;
    struct ct_fractal_reg_info info;
    while (!ct_fractal_reg_describe(registers, &info)) {
        assert_true(info.offset + info.bytes <= CT_FRACTAL_REG_BLOCK_SIZE && info.offset % info.bytes == 0);
        registers++;
    }
    assert_int_equal(registers, 32);
    ct_fractal_free(f);
}

/* Adds and removes ranges; an impossible one is refused with its reason and changes nothing. */
TEST_WITH(ranges_are_registers, ctx)
{
    const struct ct_fractal_options o = {.size = sizeof o, .ranges = 2};
    struct ct_fractal *f;
    struct ct_fractal_port *port;
    uint64_t v;
    assert_int_equal(ct_fractal_new(ctx, &o, &f), CT_OK);
    assert_int_equal(ct_fractal_port_model(ctx, f, &port), CT_OK);
    assert_int_equal(ct_fractal_port_range_add(port, 0x2000, 0x3000, 1), CT_OK);
    assert_int_equal(ct_fractal_port_range_add(port, 0x2fff, 0x4000, 1), CT_ERR_CONFIG);
    assert_non_null(strstr(ct_ctx_error(ctx), "overlaps 0x2000..0x3000"));
    assert_int_equal(ct_fractal_port_range_add(port, 0x1000, 0x2000, 1), CT_OK);
    assert_int_equal(ct_fractal_port_range_add(port, 0x5000, 0x6000, 1), CT_ERR_LIMIT);
    assert_non_null(strstr(ct_ctx_error(ctx), "all 2 range registers"));
    assert_int_equal(ct_fractal_port_range_add(port, 0x5000, 0x5000, 1), CT_ERR_CONFIG);
    assert_int_equal(ct_fractal_port_range_add(port, 0x1000, 0x1800, 0), CT_ERR_NOT_FOUND);
    ct_fractal_port_read(port, CT_FRACTAL_REG_RANGE_COUNT, &v);
    assert_int_equal(v, 2 | 2 << 16);
    assert_int_equal(ct_fractal_port_range_add(port, 0x1000, 0x2000, 0), CT_OK);
    assert_int_equal(ct_fractal_port_range_add(port, 0x5000, 0x6000, 1), CT_OK);
    assert_true(ct_ranges_touch(&f->config.ranges, 0x2fff, 0x4fff));
    assert_false(ct_ranges_touch(&f->config.ranges, 0x3000, 0x4fff));
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_RANGE_CMD, 4, CT_FRACTAL_RANGE_CLEAR), CT_OK);
    assert_int_equal(f->config.ranges.count, 0);
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_RANGE_CMD, 4, 4), CT_ERR_CONFIG);
    ct_fractal_port_free(port);
    ct_fractal_free(f);
}

/* Two functions in a cache line: the port distinguishes 16 bytes, and so do events; points are whole
 * lines. */
TEST(events_have_the_port_s_address)
{
    struct ct_fractal_target t = plain;
    struct ct_fractal_event e[4];
    t.unit_shift = 4;
    struct ct_fractal *f = make(512, &t, NULL);
    walk(f, 5, NULL);
    hear(f, CT_FRACTAL_READ_UNIQUE, DATA + 0x5058, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    assert_true(e[0].va == 0x5050 && e[0].pa == DATA + 0x5050);
    ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_VA, 8, 0x5044);
    ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_ADD);
    answer(f, NULL);
    hear(f, CT_FRACTAL_READ_UNIQUE, DATA + 0x5068, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    assert_true(e[0].va == 0x5060 && e[0].point == 0);
    ct_fractal_free(f);
    t.unit_shift = 2;
    assert_int_equal(ct_fractal_new(NULL, NULL, &f), CT_OK);
    struct ct_fractal_port *port;
    assert_int_equal(ct_fractal_port_model(NULL, f, &port), CT_OK);
    assert_int_equal(ct_fractal_port_start(port, &t), CT_ERR_CONFIG);
    ct_fractal_port_free(port);
    ct_fractal_free(f);
}

/* The hook of a context switch reports who runs the target, and a roll-over its new ASID. */
TEST(the_port_tells_what_an_operating_system_does)
{
    struct ct_fractal *f = make(512, &plain, NULL);
    struct ct_fractal_port *port;
    struct ct_fractal_event e[4];
    struct log log = {.count = 0};
    assert_int_equal(ct_fractal_port_model(NULL, f, &port), CT_OK);
    walk(f, 5, NULL);
    assert_int_equal(ct_fractal_port_context(port, UINT64_MAX - 1), CT_OK);
    hear(f, CT_FRACTAL_READ_UNIQUE, DATA + 0x5058, 0, NULL); /* by initiator 0 */
    assert_int_equal(ct_fractal_events(f, e, 4), 0);
    assert_int_equal(ct_fractal_port_context(port, 1), CT_OK);
    hear(f, CT_FRACTAL_READ_UNIQUE, DATA + 0x5098, 0, NULL);
    assert_int_equal(ct_fractal_events(f, e, 4), 1);
    assert_int_equal(ct_fractal_port_asid(port, 9), CT_OK);
    answer(f, NULL);
    hear(f, CT_FRACTAL_TLBI_ASID, 0, 9, NULL);
    walk(f, 6, &log);
    assert_true(log.count > 0);
    for (unsigned i = 0; i < log.count; i++)
        assert_true(!log.c[i].asid || log.c[i].asid == 9);
    ct_fractal_port_free(port);
    ct_fractal_free(f);
}

/* A file stands for the device: the library leaves in it what it would have written to the model. */
TEST(the_port_writes_a_mapped_device)
{
    char path[] = "/tmp/fractal-port-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, CT_FRACTAL_REG_BLOCK_SIZE), 0);
    struct ct_fractal_port *port;
    assert_int_equal(ct_fractal_port_map(NULL, path, &port), CT_OK);
    assert_int_equal(ct_fractal_port_start(port, &plain), CT_OK);
    assert_int_equal(ct_fractal_port_point(port, UINT64_C(0x7f00001234), 1), CT_OK);
    assert_int_equal(ct_fractal_port_asid(port, 9), CT_OK);
    assert_int_equal(ct_fractal_port_context(port, UINT64_C(5) << 40), CT_OK);
    uint64_t v;
    assert_int_equal(ct_fractal_port_read(port, CT_FRACTAL_REG_POINT_VA, &v), CT_OK);
    assert_true(v == UINT64_C(0x7f00001234));
    ct_fractal_port_free(port);
    uint32_t block[CT_FRACTAL_REG_BLOCK_SIZE / 4];
    assert_int_equal(pread(fd, block, sizeof block, 0), sizeof block);
    assert_int_equal(block[CT_FRACTAL_REG_PGD / 4], PGD);
    assert_int_equal(block[CT_FRACTAL_REG_ASID / 4], 9);
    assert_int_equal(block[CT_FRACTAL_REG_CONTEXT / 4 + 1], 5 << 8);
    assert_int_equal(block[CT_FRACTAL_REG_CTRL / 4], 5);
    assert_int_equal(block[CT_FRACTAL_REG_POINT_CMD / 4], CT_FRACTAL_POINT_ADD);
    close(fd);
    unlink(path);
    assert_int_equal(ct_fractal_port_map(NULL, "/nonexistent", &port), CT_ERR_IO);
}

TEST(a_full_ring_counts_what_it_drops)
{
    struct ct_logger l;
    struct ct_fractal_event e = {.time = 1, .va = 0x40, .op = 3}, out[8];
    assert_int_equal(ct_logger_init(&l, 4096), CT_OK);
    ct_logger_fields(&l, CT_FRACTAL_FIELD_TIME | CT_FRACTAL_FIELD_OP);
    assert_int_equal(l.record, 9);
    for (unsigned i = 0; i < l.slots + 5; i++, e.time++)
        ct_logger_put(&l, &e);
    assert_int_equal(l.dropped, 5);
    assert_true(l.full);
    assert_int_equal(ct_logger_take(&l, out, 2), 2);
    assert_true(out[0].time == 1 && out[1].time == 2 && out[0].op == 3 && out[0].va == 0);
    ct_logger_free(&l);
}

TEST(logs_are_read_after_a_crash)
{
    char path[] = "/tmp/fractal-log-XXXXXX";
    close(mkstemp(path));
    const struct ct_fractal_log_info info = {
        .clock_hz = 100, .fields = CT_FRACTAL_FIELD_ALL, .text = "program=x\n"};
    struct ct_fractal_writer *w;
    struct ct_fractal_event e[16], out[5000];
    assert_int_equal(ct_fractal_writer_new(NULL, path, &info, &w), CT_OK);
    for (unsigned i = 0; i < 16; i++)
        e[i] = (struct ct_fractal_event){.time = i, .va = i * 64, .pa = i * 128, .point = i};
    ct_fractal_writer_add(w, e, 10, 0);
    ct_fractal_writer_add(w, e + 10, 6, 3);
    ct_fractal_writer_text(w, "later=y\n");
    assert_int_equal(ct_fractal_writer_close(w), CT_OK);
    struct ct_fractal_reader *r;
    uint64_t dropped, damaged;
    assert_int_equal(ct_fractal_reader_open(NULL, path, &r), CT_OK);
    assert_int_equal(ct_fractal_reader_next(r, out, 5000), 16);
    assert_memory_equal(&out[12], &e[12], 33);
    ct_fractal_reader_losses(r, &dropped, &damaged);
    assert_true(dropped == 3 && damaged == 0);
    assert_string_equal(ct_fractal_reader_info(r)->text, "program=x\nlater=y\n");
    ct_fractal_reader_free(r);
    /* For every length, complete records are read, and none is made up. */
    FILE *file = fopen(path, "rb");
    char bytes[4096];
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    size_t before = 0;
    for (size_t n = 0; n <= size; n++) {
        if (ct_fractal_reader_open_bytes(NULL, bytes, n, &r))
            continue;
        const size_t count = ct_fractal_reader_next(r, out, 5000);
        assert_true(count >= before && count <= 16);
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(&out[i], &e[i], 33);
        before = count;
        ct_fractal_reader_free(r);
    }
    assert_int_equal(before, 16);
    unlink(path);
}

TEST_WITH(messages_are_text_and_back, ctx)
{
    uint64_t line[CT_FRACTAL_LINE_WORDS], again[CT_FRACTAL_LINE_WORDS];
    char text[256];
    for (unsigned op = 0; op < CT_FRACTAL_OP_COUNT; op++) {
        struct ct_fractal_message m = {.time = 12,
                                       .addr = 0x1234c0,
                                       .op = (uint8_t)op,
                                       .initiator = 3,
                                       .kind = op % 3},
                                  n;
        m.value = op == CT_FRACTAL_DATA ? 0 : 99;
        for (unsigned i = 0; i < CT_FRACTAL_LINE_WORDS; i++)
            line[i] = i * UINT64_C(0x123456789abcdef);
        const size_t length = ct_fractal_message_print(&m, line, text);
        assert_int_equal(ct_fractal_message_parse(ctx, text, length, &n, again), CT_OK);
        assert_true(m.time == n.time && m.addr == n.addr && m.value == n.value && m.op == n.op &&
                    m.initiator == n.initiator && m.kind == n.kind);
        if (op == CT_FRACTAL_DATA)
            assert_memory_equal(line, again, sizeof line);
    }
    struct ct_fractal_message m;
    const char *bad[] = {"",
                         "x",
                         "1,Reed,0,D,0,0",
                         "1,ReadOnce,64,D,0,0",
                         "1,ReadOnce,1,Q,0,0",
                         "1,ReadOnce,1,D,0",
                         "1,ReadOnce,1,D,0x10000000000000000,0",
                         "1,Data,0,D,0,12",
                         "1,ReadOnce,1,D,0,0,"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(ct_fractal_message_parse(ctx, bad[i], strlen(bad[i]), &m, line), CT_ERR_FORMAT);
    assert_string_equal(ct_ctx_error(ctx), "column 19: characters after the last field");
}

/* Compares reads taken in blocks by the listener with single messages. */
TEST(blocks_and_single_messages_agree)
{
    enum {
        COUNT = 20000,
        FETCH = 500 /* messages between fetches of events; the small ring is full earlier */
    };
    struct ct_fractal_message *m = calloc(COUNT, sizeof *m);
    struct ct_fractal_event *a = calloc(COUNT, sizeof *a), *b = calloc(COUNT, sizeof *b);
    assert_true(m && a && b);
    uint64_t s = 1, dropped = 0;
    static const struct {
        uint32_t sets, ways;
    } table[] = {{64, 4}, {1, 4}, {16, 6}, {2, 16}};
    for (unsigned round = 0; round < 12; round++) {
        struct ct_fractal_target t = plain;
        t.mode = round % 3;
        const uint32_t sets = table[round / 3].sets, ways = table[round / 3].ways, ring = round % 2 * 4096;
        struct ct_fractal *f = make_with_ring(sets, ways, ring, &t, NULL),
                          *g = make_with_ring(sets, ways, ring, &t, NULL);
        for (unsigned i = 0; i < COUNT; i++) {
            s = s * UINT64_C(6364136223846793005) + 1442695040888963407u;
            const uint64_t r = s >> 20, page = r % 100;
            m[i] = (struct ct_fractal_message){
                .time = i / 3, .op = (uint8_t)(r >> 8 & 3), .initiator = r >> 12 & 3};
            m[i].addr = page < 3 ? PGD + page * 0x1000 + (page == 2 ? (r >> 16 & 7) * 64 : 0)
                                 : DATA + page * 0x1000 - 0x3000;
            if ((r >> 24) % (ring ? 2048 : 16) == 0)
                m[i].op = CT_FRACTAL_TLBI_ALL;
        }
        for (unsigned i = 0; i < 3; i++) {
            ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_VA, 8, i * 0x7000);
            ct_fractal_reg_write(f, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_ADD);
            ct_fractal_reg_write(g, CT_FRACTAL_REG_POINT_VA, 8, i * 0x7000);
            ct_fractal_reg_write(g, CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_ADD);
        }
        answer(f, NULL);
        answer(g, NULL);
        size_t na = 0, nb = 0;
        for (unsigned i = 0; i < COUNT; i++) {
            assert_int_equal(ct_fractal_take_message(f, &m[i]), CT_OK);
            answer(f, NULL);
            if ((i + 1) % FETCH == 0)
                na += ct_fractal_events(f, a + na, COUNT - na);
        }
        for (size_t at = 0; at < COUNT;) {
            at += ct_fractal_messages(g, m + at, FETCH - at % FETCH, NULL);
            answer(g, NULL);
            if (at % FETCH == 0)
                nb += ct_fractal_events(g, b + nb, COUNT - nb);
        }
        assert_int_equal(na, nb);
        assert_true(na > 100);
        assert_memory_equal(a, b, na * sizeof *a);
        assert_true(f->snoops == g->snoops && f->helper.issued == g->helper.issued &&
                    f->stalker.walks == g->stalker.walks);
        assert_true(f->logger.events == g->logger.events && f->logger.dropped == g->logger.dropped);
        dropped += f->logger.dropped;
        ct_fractal_free(f);
        ct_fractal_free(g);
    }
    assert_true(dropped > 1000);
    free(m);
    free(a);
    free(b);
}

/* What the tracer refuses names the register or the limit, and what is allowed. */
TEST_WITH(refusals, ctx)
{
    static const struct {
        uint32_t offset;
        unsigned bytes;
        uint64_t value;
        const char *text;
    } rows[] = {
        {0x0fe, 4, 0, "register 0xfe: there is no register of 4 bytes at this offset; nothing was written"},
        {CT_FRACTAL_REG_ID, 4, 0, "the register is read-only; nothing was written"},
        {CT_FRACTAL_REG_PGD, 8, 1,
         "PGD 0x1: a translation table must be below 2^48 and aligned to a cache line"},
        {CT_FRACTAL_REG_CTRL, 4, 7, "CTRL: mode 3 does not exist; the register is unchanged"},
        {CT_FRACTAL_REG_CTRL, 4, 1, "with 0 address bits and a resolution of 2^6 bytes is not supported"},
        {CT_FRACTAL_REG_RANGE_CMD, 4, 9, "RANGE_CMD: 9 is not a command; nothing was done"},
        {CT_FRACTAL_REG_POINT_CMD, 4, CT_FRACTAL_POINT_REMOVE, "point 0x0: this point is not set"},
        {CT_FRACTAL_REG_POINT_CMD, 4, 9, "POINT_CMD: 9 is not a command; nothing was done"},
        {CT_FRACTAL_REG_LOG_FIELDS, 4, 0, "LOG_FIELDS 0x0: this selects no field; the register is unchanged"},
    };
    static const struct {
        struct ct_fractal_options options;
        const char *text;
    } limits[] = {
        {{.rtlb_sets = 3}, "the reverse TLB cannot have 3 sets; use a power of two up to 65536"},
        {{.rtlb_ways = 17}, "the reverse TLB cannot have 17 ways; use at most 16"},
        {{.watermarks = 1}, "the tracer cannot have 1 watermarks; use 64 to 1048576"},
        {{.points = 2000000}, "the tracer cannot have 2000000 observation points; use at most 1048576"},
        {{.ranges = 257}, "the tracer cannot have 257 ranges; use at most 256"},
        {{.ring_bytes = 1}, "the event ring cannot have 1 bytes; use 4 KiB to 1 GiB"},
    };
    struct ct_fractal *f;
    uint64_t value;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct ct_fractal_options o = limits[i].options;
        o.size = sizeof o;
        assert_int_equal(ct_fractal_new(ctx, &o, &f), CT_ERR_ARG);
        assert_non_null(strstr(ct_ctx_error(ctx), limits[i].text));
    }
    assert_int_equal(ct_fractal_new(ctx, NULL, &f), CT_OK);
    assert_int_equal(ct_fractal_reg_write(f, CT_FRACTAL_REG_GEOM, 4, 0), CT_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_not_equal(ct_fractal_reg_write(f, rows[i].offset, rows[i].bytes, rows[i].value), CT_OK);
        assert_non_null(strstr(ct_ctx_error(ctx), rows[i].text));
    }
    assert_int_equal(ct_fractal_reg_read(f, 0x0fe, 4, &value), CT_ERR_ARG);
    assert_non_null(strstr(ct_ctx_error(ctx), "no register of 4 bytes at this offset; nothing was read"));
    ct_fractal_free(f);
}
