/* SPDX-License-Identifier: Apache-2.0 */
/* Checks perf.data files, made by the exporter's writer. */
#include <stdlib.h>
#include <time.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/printable.h"
#include "input/perf_write.h"
#include "support/capture_fixture.h"
#include "support/unit.h"

#define NO_CPU UINT32_MAX
#define TID    101u

struct recording {
    struct ct_perf_writer writer;
    char *bytes;
    size_t size;
    FILE *out;
    struct fixture capture; /* of the finished file */
};

static int clear(void **state)
{
    static struct recording r;
    r = (struct recording){0};
    *state = &r;
    return 0;
}

static int drop(void **state)
{
    struct recording *r = *state;
    fixture_free(&r->capture);
    free(r->bytes);
    return 0;
}

FIXTURE(struct recording, clear, drop);

static const struct ct_source sources[2] = {
    {.protocol = CT_PROTOCOL_ETM4,
     .regs = {.configr = 0xc1,
              .traceidr = 0x10,
              .idr0 = 0x28000ea1,
              .idr1 = 0x4100f402,
              .idr2 = 0x488,
              .idr8 = 3}},
    {.protocol = CT_PROTOCOL_ETE,
     .regs = {.configr = 0x41,
              .traceidr = 0x12,
              .idr0 = 0x28000ea1,
              .idr1 = 0x4100fff0,
              .idr2 = 0x488,
              .devarch = 0x47715a13}},
};

static const struct ct_source v7_sources[2] = {
    {.protocol = CT_PROTOCOL_PTM,
     .regs = {.etmcr = 0x10001000, .etmtraceidr = 0x13, .etmccer = 0x34c01ac2, .etmidr = 0x411cf301}},
    {.protocol = CT_PROTOCOL_ETM3,
     .regs = {.etmcr = 0x1000, .etmtraceidr = 0x14, .etmccer = 0x8c2, .etmidr = 0x4104f241}},
};

static int seek(void *file, uint64_t offset)
{
    return fseeko(file, (off_t)offset, SEEK_SET) ? CT_ERR_IO : CT_OK;
}

static void begin(struct recording *r, bool pipe)
{
    r->out = tmpfile();
    assert_non_null(r->out);
    const struct ct_perf_write_options options = {
        .pipe = pipe, .exclude_kernel = true, .config = 0x4000, .seek = seek};
    assert_int_equal(ct_perf_write_begin(&r->writer, ct_write_file, r->out, &options), CT_OK);
}

/* Writes trace of a CPU (or, with NO_CPU, of TID): bytes that count up. */
static void put_trace(struct recording *r, uint32_t cpu, uint64_t aux_offset, size_t size)
{
    uint8_t bytes[4096];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)(aux_offset + i);
    assert_int_equal(ct_perf_write_trace(&r->writer, cpu == NO_CPU ? 7 : cpu, cpu == NO_CPU ? TID : NO_CPU,
                                         cpu, aux_offset, size),
                     CT_OK);
    assert_int_equal(ct_perf_write_bytes(&r->writer, bytes, size), CT_OK);
}

/* Ends the file, whose path will be `path`. */
static void end(struct recording *r, const char *path)
{
    assert_int_equal(ct_perf_write_end(&r->writer), CT_OK);
    r->size = (size_t)ftello(r->out);
    free(r->bytes);
    r->bytes = malloc(r->size);
    assert_non_null(r->bytes);
    rewind(r->out);
    assert_int_equal(fread(r->bytes, 1, r->size, r->out), r->size);
    assert_int_equal(fclose(r->out), 0);
    fixture_put_bytes(&r->capture, path, r->bytes, r->size);
}

static void end_and_open(struct recording *r)
{
    end(r, "perf.data");
    assert_int_equal(fixture_open(&r->capture, "perf.data"), CT_OK);
}

static struct ct_perf_stamp at(uint64_t time, uint32_t pid, uint32_t tid, uint32_t cpu)
{
    return (struct ct_perf_stamp){.time = time, .pid = pid, .tid = tid, .cpu = cpu};
}

static void put_map(struct recording *r, uint64_t time, uint32_t pid, uint64_t addr, uint64_t size,
                    uint64_t offset, const char *path)
{
    struct ct_perf_stamp stamp = at(time, pid, pid, 0);
    assert_int_equal(
        ct_perf_write_map(&r->writer, &stamp,
                          &(struct ct_perf_map){.addr = addr, .size = size, .offset = offset, .path = path}),
        CT_OK);
}

static void put_aux(struct recording *r, uint64_t time, uint32_t cpu, uint64_t offset, uint64_t size,
                    uint64_t flags)
{
    struct ct_perf_stamp stamp = at(time, TID, TID, cpu);
    assert_int_equal(ct_perf_write_aux(&r->writer, &stamp, offset, size, flags), CT_OK);
}

static void assert_trace(const struct recording *r, const struct ct_piece *piece, uint64_t aux_offset,
                         uint64_t size)
{
    assert_int_equal(piece->size, size);
    assert_true(piece->offset + piece->size <= r->size);
    assert_int_equal((uint8_t)r->bytes[piece->offset], (uint8_t)aux_offset);
    assert_int_equal((uint8_t)r->bytes[piece->offset + size - 1], (uint8_t)(aux_offset + size - 1));
}

/* Has two CPUs, one of which was traced twice and has trace that no record covers. */
static void put_two_cpus(struct recording *r)
{
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_map(r, 0, TID, 0x400000, 0x2000, 0x1000, "/bin/a");
    put_aux(r, 50, 0, 0, 32, 0);
    put_aux(r, 60, 1, 0, 64, 0);
    put_aux(r, 70, 0, 32, 16, CT_PERF_AUX_TRUNCATED);
    put_trace(r, 0, 0, 64);
    put_trace(r, 1, 0, 64);
}

static void check_two_cpus(const struct recording *r)
{
    const struct fixture *f = &r->capture;
    assert_string_equal(f->capture->kind, "perf.data");
    assert_int_equal(f->capture->buffer_count, 2);
    const struct ct_buffer *b = &f->capture->buffers[0];
    assert_string_equal(b->name, "cpu0");
    assert_int_equal(b->framing, CT_FRAMING_FRAMES);
    assert_int_equal(b->source_count, 2);
    assert_int_equal(b->sources[0].trace_id, 0x10);
    assert_int_equal(b->sources[0].protocol, CT_PROTOCOL_ETM4);
    assert_int_equal(b->sources[0].regs.configr, 0xc1);
    assert_int_equal(b->sources[0].regs.idr8, 3);
    assert_int_equal(b->sources[1].trace_id, 0x12);
    assert_int_equal(b->sources[1].protocol, CT_PROTOCOL_ETE);
    assert_int_equal(b->sources[1].regs.devarch, 0x47715a13);
    assert_int_equal(b->piece_count, 3);
    assert_trace(r, &b->pieces[0], 0, 32);
    assert_int_equal(b->pieces[0].time, 50);
    assert_int_equal(b->pieces[0].tid, TID);
    assert_false(b->pieces[0].joins || b->pieces[0].cut);
    assert_trace(r, &b->pieces[1], 32, 16);
    assert_true(b->pieces[1].cut);
    assert_trace(r, &b->pieces[2], 48, 16);
    assert_true(b->pieces[2].time == CT_NO_TIME);
    assert_string_equal(f->capture->buffers[1].name, "cpu1");
    assert_int_equal(f->capture->buffers[1].piece_count, 1);
    assert_int_equal(f->capture->maps->process_count, 1);
    assert_int_equal(f->capture->maps->processes[0].pid, TID);
}

TEST_WITH(a_file, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_two_cpus(r);
    end_and_open(r);
    check_two_cpus(r);
    assert_int_equal(f->capture->damage_count, 1);
    assert_true(has_words(f->capture->damage[0], WORDS("trace was lost", "say so: 1")));
    assert_int_equal(f->capture->missing_count, 1);
    assert_true(has_words(f->capture->missing[0], WORDS("/bin/a", "--symfs")));
}

TEST_WITH(a_pipe, r)
{
    begin(r, true);
    put_two_cpus(r);
    end_and_open(r);
    check_two_cpus(r);
}

TEST_WITH(a_folder, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_two_cpus(r);
    end(r, "rec/data");
    fixture_dir(f, "rec");
    assert_int_equal(fixture_open(f, "rec"), CT_OK);
    check_two_cpus(r);
}

/* Puts the records between the info and the trace into compressed ones: one zstd stream, cut anywhere. */
TEST(compressed)
{
    for (uint32_t type = CT_PERF_COMPRESSED; type <= CT_PERF_COMPRESSED2; type += 2) {
        struct recording plain = {0}, r = {0};
        begin(&plain, true);
        size_t first = (size_t)plain.writer.at;
        put_map(&plain, 0, TID, 0x400000, 0x2000, 0x1000, "/bin/a");
        put_aux(&plain, 50, 0, 0, 32, 0);
        put_aux(&plain, 60, 1, 0, 64, 0);
        put_aux(&plain, 70, 0, 32, 16, CT_PERF_AUX_TRUNCATED);
        end(&plain, "plain");
        begin(&r, false);
        assert_int_equal(ct_perf_write_info(&r.writer, sources, 2, 1), CT_OK);
        char packed[4096];
        size_t size = ZSTD_compress(packed, sizeof packed, plain.bytes + first, plain.size - first, 1);
        assert_false(ZSTD_isError(size));
        for (size_t done = 0; done < size; done += 20) {
            size_t n = size - done < 20 ? size - done : 20;
            static struct ct_perf_body body;
            body = (struct ct_perf_body){.size = 0};
            if (type == CT_PERF_COMPRESSED2)
                ct_perf_put64(&body, n);
            memcpy(body.bytes + body.size, packed + done, n);
            body.size += type == CT_PERF_COMPRESSED2 ? (n + 7) & ~(size_t)7 : n;
            assert_int_equal(ct_perf_write_user(&r.writer, type, 0, &body), CT_OK);
        }
        put_trace(&r, 0, 0, 64);
        put_trace(&r, 1, 0, 64);
        end_and_open(&r);
        check_two_cpus(&r);
        assert_int_equal(r.capture.capture->damage_count, 1); /* the lost trace */
        fixture_free(&r.capture);
        free(plain.bytes);
        free(r.bytes);
    }
}

/* Checks metadata of version 0, and ETMv3 and PTM in version 1. */
TEST(older_units)
{
    for (unsigned version = 0; version < 2; version++) {
        struct recording r = {0};
        const struct ct_source mixed[3] = {sources[0], v7_sources[0], v7_sources[1]};
        begin(&r, false);
        assert_int_equal(ct_perf_write_info(&r.writer, mixed, 3, version), CT_OK);
        put_trace(&r, NO_CPU, 0, 32);
        end_and_open(&r);
        const struct ct_buffer *b = &r.capture.capture->buffers[0];
        assert_string_equal(b->name, "tid101");
        assert_int_equal(b->pieces[0].tid, TID);
        assert_int_equal(b->source_count, 3);
        assert_int_equal(b->sources[0].regs.idr8, 3);
        assert_int_equal(b->sources[1].protocol, CT_PROTOCOL_PTM);
        assert_int_equal(b->sources[1].trace_id, 0x13);
        assert_int_equal(b->sources[1].regs.etmccer, 0x34c01ac2);
        assert_int_equal(b->sources[2].protocol, CT_PROTOCOL_ETM3);
        assert_int_equal(b->sources[2].regs.etmidr, 0x4104f241);
        fixture_free(&r.capture);
        free(r.bytes);
    }
}

static void put_hw_id(struct recording *r, uint32_t cpu, uint64_t value)
{
    struct ct_perf_stamp stamp = at(1, TID, TID, cpu);
    struct ct_perf_body *body = &r->writer.body;
    body->size = 0;
    ct_perf_put64(body, value);
    assert_int_equal(ct_perf_write_kernel(&r->writer, CT_PERF_AUX_HW_ID, 0, body, &stamp), CT_OK);
}

/* Checks version 2: records give the IDs; a unit without one did not run; two sinks may have the same IDs. */
TEST_WITH(hardware_ids, r)
{
    struct fixture *f = &r->capture;
    struct ct_source list[3] = {sources[0], sources[1], sources[0]};
    for (size_t i = 0; i < 3; i++)
        list[i].regs.traceidr = (uint32_t)CT_PERF_ID_UNUSED | 0x7f;
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, list, 3, 2), CT_OK);
    put_hw_id(r, 0, 0x21);
    put_hw_id(r, 1, 0x22);
    put_trace(r, 0, 0, 32);
    end_and_open(r);
    const struct ct_buffer *b = &f->capture->buffers[0];
    assert_int_equal(b->source_count, 2);
    assert_int_equal(b->sources[0].trace_id, 0x21);
    assert_int_equal(b->sources[0].regs.traceidr, 0x21);
    assert_int_equal(b->sources[1].trace_id, 0x22);
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, list, 2, 2), CT_OK);
    put_hw_id(r, 0, UINT64_C(1) << 56 | 5 << 8 | 0x21);
    put_hw_id(r, 1, UINT64_C(1) << 56 | 6 << 8 | 0x21);
    put_aux(r, 50, 0, 0, 16, 0);
    put_aux(r, 60, 1, 16, 16, 0);
    put_trace(r, NO_CPU, 0, 32);
    end_and_open(r);
    assert_int_equal(f->capture->buffer_count, 2);
    assert_string_equal(f->capture->buffers[0].name, "tid101.sink5");
    assert_string_equal(f->capture->buffers[0].sources[0].name, "cpu0");
    assert_string_equal(f->capture->buffers[1].name, "tid101.sink6");
    assert_string_equal(f->capture->buffers[1].sources[0].name, "cpu1");
}

/* Without frames, the CPU that wrote the trace identifies the source. */
TEST_WITH(unformatted, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_aux(r, 50, 1, 0, 24, CT_PERF_AUX_RAW);
    put_aux(r, 60, 0, 24, 8, CT_PERF_AUX_RAW);
    put_aux(r, 70, 1, 32, 8, CT_PERF_AUX_RAW);
    put_trace(r, NO_CPU, 0, 40);
    end_and_open(r);
    assert_int_equal(f->capture->buffer_count, 2);
    const struct ct_buffer *b = &f->capture->buffers[0];
    assert_string_equal(b->name, "tid101.cpu1");
    assert_int_equal(b->framing, CT_FRAMING_NONE);
    assert_int_equal(b->source_count, 1);
    assert_int_equal(b->sources[0].protocol, CT_PROTOCOL_ETE);
    assert_int_equal(b->piece_count, 2);
    assert_trace(r, &b->pieces[0], 0, 24);
    assert_trace(r, &b->pieces[1], 32, 8);
    assert_false(b->pieces[1].joins);
    assert_string_equal(f->capture->buffers[1].sources[0].name, "cpu0");
}

/* The record of a snapshot says where it ends, with a size larger than the buffer. The trace of one AUX
 * record in two trace records is continuous. */
TEST_WITH(snapshots_and_joins, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_aux(r, 50, 0, 0x1040, 0x1000, CT_PERF_AUX_OVERWRITE);
    put_trace(r, 0, 0x1000, 0x40);
    put_aux(r, 60, 1, 0, 0x30, 0);
    put_trace(r, 1, 0, 0x20);
    put_trace(r, 1, 0x20, 0x20);
    end_and_open(r);
    const struct ct_buffer *b = f->capture->buffers;
    assert_int_equal(b[0].piece_count, 1);
    assert_trace(r, &b[0].pieces[0], 0x1000, 0x40);
    assert_int_equal(b[0].pieces[0].time, 50);
    assert_int_equal(b[1].piece_count, 3);
    assert_trace(r, &b[1].pieces[0], 0, 0x20);
    assert_trace(r, &b[1].pieces[1], 0x20, 0x10);
    assert_true(b[1].pieces[1].joins);
    assert_trace(r, &b[1].pieces[2], 0x30, 0x10);
    assert_false(b[1].pieces[2].joins);
}

/* ---- maps ---- */

#define BYTES "0123456789abcdef0123456789abcdef"

/* Returns a generation of process TID. */
static const struct ct_generation *generation(const struct fixture *f, size_t which)
{
    for (size_t i = 0; i < f->capture->maps->process_count; i++)
        if (f->capture->maps->processes[i].pid == TID) {
            assert_true(which < f->capture->maps->processes[i].generation_count);
            return &f->capture->maps->processes[i].generations[which];
        }
    fail_msg("there is no process %u", TID);
    return NULL;
}

static void assert_image(const struct ct_generation *g, size_t i, const char *path, uint64_t addr,
                         uint64_t offset, uint64_t size)
{
    assert_true(i < g->image_count);
    assert_string_equal(g->images[i].path, path);
    assert_int_equal(g->images[i].addr, addr);
    assert_int_equal(g->images[i].offset, offset);
    assert_int_equal(g->images[i].size, size);
}

TEST_WITH(maps_over_time, r)
{
    static const struct ct_capture_options options = {.size = sizeof options, .symfs = "root"};
    struct fixture *f = &r->capture;
    f->options = &options;
    struct ct_perf_stamp stamp;
    fixture_put(f, "root/bin/sh", BYTES);
    fixture_put(f, "root/bin/a", BYTES);
    fixture_put(f, "root/lib/b", BYTES);
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_trace(r, 0, 0, 16);
    put_map(r, 0, 1, 0x1000, 0x10, 0, "/bin/sh");
    stamp = at(100, TID, TID, 0);
    assert_int_equal(ct_perf_write_fork(&r->writer, &stamp, 1), CT_OK);
    /* Not in the order of time: */
    put_map(r, 210, TID, 0x2000, 0x10, 8, "/bin/a");
    stamp = at(200, TID, TID, 0);
    assert_int_equal(ct_perf_write_comm(&r->writer, &stamp, "a", true), CT_OK);
    put_map(r, 220, TID, 0x3000, 0x10, 0, "/lib/b");
    put_map(r, 230, TID, 0x3010, 0x10, 0x10, "/lib/b");
    put_map(r, 240, TID, 0x3000, 0x20, 0, "/lib/b");
    stamp = at(250, TID, 555, 0);
    assert_int_equal(ct_perf_write_fork(&r->writer, &stamp, TID), CT_OK);
    put_map(r, 300, TID, 0x3008, 0x8, 4, "/bin/a");
    put_map(r, 310, TID, 0x4000, 0x100, 0x18, "/lib/b");
    end_and_open(r);
    const struct ct_maps *maps = f->capture->maps;
    assert_int_equal(maps->process_count, 2);
    assert_int_equal(maps->processes[0].generation_count, 1);
    assert_int_equal(maps->processes[1].generation_count, 3);
    assert_image(generation(f, 0), 0, "root/bin/sh", 0x1000, 0, 0x10);
    const struct ct_generation *g = generation(f, 1);
    assert_int_equal(g->from, 200);
    assert_string_equal(g->name, "a");
    assert_int_equal(g->image_count, 2);
    assert_image(g, 0, "root/bin/a", 0x2000, 8, 0x10);
    assert_image(g, 1, "root/lib/b", 0x3000, 0, 0x20);
    g = generation(f, 2);
    assert_int_equal(g->from, 300);
    assert_int_equal(g->image_count, 5);
    assert_image(g, 1, "root/lib/b", 0x3000, 0, 8);
    assert_image(g, 2, "root/bin/a", 0x3008, 4, 8);
    assert_image(g, 3, "root/lib/b", 0x3010, 0x10, 0x10);
    assert_image(g, 4, "root/lib/b", 0x4000, 0x18, 8); /* up to the end of the file */
    assert_int_equal(maps->thread_count, 2);
    assert_int_equal(maps->threads[1].tid, 555);
    assert_int_equal(maps->threads[1].pid, TID);
    assert_int_equal(maps->threads[1].from, 250);
    assert_int_equal(f->capture->missing_count, 0);
}

/* A mapping removes what is below its last byte, and no more. */
TEST_WITH(maps_that_share_a_byte, r)
{
    static const struct ct_capture_options options = {.size = sizeof options, .symfs = "root"};
    struct fixture *f = &r->capture;
    f->options = &options;
    fixture_put(f, "root/lib/b", BYTES);
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_trace(r, 0, 0, 16);
    put_map(r, 100, TID, 0x3010, 8, 0, "/lib/b");
    put_map(r, 200, TID, 0x3009, 8, 0, "/lib/b");
    end_and_open(r);
    const struct ct_generation *g = generation(f, f->capture->maps->processes[0].generation_count - 1);
    assert_int_equal(g->image_count, 2);
    assert_image(g, 0, "root/lib/b", 0x3009, 0, 8);
    assert_image(g, 1, "root/lib/b", 0x3011, 1, 7);
}

static void put_lost(struct recording *r, uint64_t count)
{
    const struct ct_perf_stamp stamp = at(80, TID, TID, 0);
    r->writer.body.size = 0;
    ct_perf_put64(&r->writer.body, 1); /* number of an event */
    ct_perf_put64(&r->writer.body, count);
    assert_int_equal(ct_perf_write_kernel(&r->writer, CT_PERF_LOST, 0, &r->writer.body, &stamp), CT_OK);
}

TEST_WITH(lost_records_add_up, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_two_cpus(r);
    put_lost(r, 5);
    put_lost(r, 700);
    end_and_open(r);
    check_two_cpus(r);
    assert_int_equal(f->capture->damage_count, 2);
    assert_non_null(strstr(f->capture->damage[0], "705 records were lost"));
}

/* A context has its name from the nanosecond of the record on. */
TEST(names_hold_from_their_time_on)
{
    const struct ct_context_name names[] = {{.name = "a", .context = 3},
                                            {.name = "b", .context = 5, .from = 100},
                                            {.name = "c", .context = 5, .from = 200}};
    const struct ct_buffer buffer = {.names = names, .name_count = 3};
    assert_ptr_equal(ct_context_name_find(&buffer, 3, 0), &names[0]);
    assert_null(ct_context_name_find(&buffer, 4, 150));
    assert_null(ct_context_name_find(&buffer, 5, 99));
    assert_ptr_equal(ct_context_name_find(&buffer, 5, 100), &names[1]);
    assert_ptr_equal(ct_context_name_find(&buffer, 5, 199), &names[1]);
    assert_ptr_equal(ct_context_name_find(&buffer, 5, 200), &names[2]);
    assert_ptr_equal(ct_context_name_find(&buffer, 5, CT_NO_TIME), &names[2]);
    assert_null(ct_context_name_find(&buffer, 6, CT_NO_TIME));
}

/* Makes a small ELF file with one note: its build ID, 20 times the same byte. */
static void make_elf(char out[160], uint16_t machine, uint8_t id)
{
    memset(out, 0, 160);
    memcpy(out, "\177ELF\2\1\1", 7);
    out[18] = (char)machine;
    out[32] = 64; /* program headers … */
    out[54] = 56;
    out[56] = 1;
    out[64] = 4; /* … PT_NOTE … */
    out[72] = 120;
    out[96] = 36;
    out[120] = 4; /* … and the note */
    out[124] = 20;
    out[128] = 3;
    memcpy(out + 132, "GNU", 4);
    memset(out + 136, id, 20);
}

static void put_build_id(struct recording *r, const char *name, uint8_t id)
{
    struct ct_perf_body *body = &r->writer.body;
    body->size = 0;
    ct_perf_put32(body, TID);
    for (unsigned i = 0; i < 5; i++)
        ct_perf_put32(body, id * 0x01010101u);
    ct_perf_put32(body, 20);
    ct_perf_put_text(body, name);
    assert_int_equal(ct_perf_write_user(&r->writer, CT_PERF_BUILD_ID,
                                        CT_PERF_MISC_BUILD_ID_SIZE | CT_PERF_MISC_USER, body),
                     CT_OK);
}

/* An object is found by path when its build ID is right, else by build ID in the cache; a missing one is
 * reported with the reason. */
TEST_WITH(objects, r)
{
    static const struct ct_capture_options options = {
        .size = sizeof options, .symfs = "root", .buildid_dir = "cache"};
    struct fixture *f = &r->capture;
    f->options = &options;
    char right[160], other[160], intel[160];
    make_elf(right, 183, 0xab);
    make_elf(other, 183, 0xcd);
    make_elf(intel, 62, 0xab);
    fixture_put_bytes(f, "root/bin/right", right, sizeof right);
    fixture_put_bytes(f, "root/bin/cached", other, sizeof other);
    fixture_put_bytes(f, "cache/.build-id/ab/ababababababababababababababababababab/elf", right,
                      sizeof right);
    fixture_put_bytes(f, "root/bin/wrong", other, sizeof other);
    fixture_put_bytes(f, "root/bin/intel", intel, sizeof intel);
    begin(r, true);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_trace(r, 0, 0, 16);
    put_build_id(r, "/bin/right", 0xab);
    put_build_id(r, "/bin/cached", 0xab);
    put_build_id(r, "/bin/wrong", 0x99);
    put_map(r, 1, TID, 0x1000, 0x10, 0, "/bin/right");
    put_map(r, 2, TID, 0x2000, 0x10, 0, "/bin/cached");
    put_map(r, 3, TID, 0x3000, 0x10, 0, "/bin/wrong");
    put_map(r, 4, TID, 0x4000, 0x10, 0, "/bin/intel");
    put_map(r, 5, TID, 0x5000, 0x10, 0, "/bin/gone");
    put_map(r, 6, TID, 0x6000, 0x10, 0, "//anon");
    put_map(r, 7, TID, 0x7000, 0x10, 0, "[vdso]");
    put_map(r, 8, TID, 0x8000, 0x10, 0, "/bin/gone");
    end_and_open(r);
    const struct ct_generation *g = generation(f, 0);
    assert_int_equal(g->image_count, 2);
    assert_string_equal(g->images[0].path, "root/bin/right");
    assert_string_equal(g->images[1].path, "cache/.build-id/ab/ababababababababababababababababababab/elf");
    const char *const *missing = f->capture->missing;
    assert_int_equal(f->capture->missing_count, 5);
    assert_true(has_words(
        missing[0], WORDS("/bin/wrong, build id 9999", "another build id", "DIR/bin/wrong", "--symfs")));
    assert_true(has_words(missing[1], WORDS("/bin/intel", "another machine")));
    assert_true(has_words(missing[2], WORDS("/bin/gone", "No such file")));
    assert_true(has_words(missing[3], WORDS("//anon", "no file", "jit")));
    assert_true(has_words(missing[4], WORDS("[vdso]", "--buildid-dir")));
    assert_int_equal(f->capture->gone_count, 6);
    assert_string_equal(f->capture->gone[0].path, "/bin/wrong");
    assert_string_equal(f->capture->gone_build_ids[0], "9999999999999999999999999999999999999999");
    assert_null(f->capture->gone_build_ids[2]); /* /bin/gone has no build ID in the list */
}

/* Turns the note of a small ELF file into code of `size` bytes. */
static void make_code(char elf[160], uint16_t size)
{
    make_elf(elf, 183, 0);
    elf[64] = 1; /* PT_LOAD … */
    elf[68] = 1; /* … which is executable */
    memset(elf + 72, 0, 32);
    elf[96] = (char)(size & 255);
    elf[97] = (char)(size >> 8);
}

/* A copy of memory that begins with the headers of a program gives memory, but is not the program. */
TEST_WITH(a_program_without_its_code, r)
{
    struct fixture *f = &r->capture;
    char whole[160], head[160];
    make_code(whole, 160);
    make_code(head, 161);
    fixture_put_bytes(f, "/bin/whole", whole, sizeof whole);
    fixture_put_bytes(f, "/tmp/mem_2000.bin", head, sizeof head);
    begin(r, true);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
    put_trace(r, 0, 0, 16);
    put_map(r, 1, TID, 0x1000, 0x1000, 0, "/bin/whole");
    put_map(r, 2, TID, 0x2000, 0x1000, 0, "/tmp/mem_2000.bin");
    end_and_open(r);
    const struct ct_generation *g = generation(f, 0);
    assert_int_equal(g->image_count, 2);
    assert_int_equal(g->images[1].size, 160);
    assert_int_equal(g->program_count, 1);
    assert_string_equal(g->programs[0].path, "/bin/whole");
}

/* ---- damage ---- */

/* A file cut off anywhere gives what is before the cut, and reports where that was. */
TEST_WITH(cut_anywhere, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_two_cpus(r);
    uint64_t data_end = r->writer.at;
    end_and_open(r);
    struct ct_piece whole[16];
    size_t pieces = 0;
    for (size_t i = 0; i < f->capture->buffer_count; i++)
        for (size_t k = 0; k < f->capture->buffers[i].piece_count; k++)
            whole[pieces++] = f->capture->buffers[i].pieces[k];
    uint64_t before = 0;
    for (size_t size = CT_PERF_HEADER_SIZE; size < data_end; size++) {
        fixture_put_bytes(f, "perf.data", r->bytes, size);
        int rc = fixture_open(f, "perf.data");
        assert_true(rc == CT_OK || rc == CT_ERR_FORMAT);
        if (rc)
            continue;
        assert_true(f->capture->damage_count > 0);
        assert_non_null(strstr(f->log, "offset 0x"));
        uint64_t bytes = 0;
        for (size_t i = 0; i < f->capture->buffer_count; i++)
            for (size_t k = 0; k < f->capture->buffers[i].piece_count; k++) {
                const struct ct_piece *piece = &f->capture->buffers[i].pieces[k];
                assert_true(piece->offset + piece->size <= size);
                bytes += piece->size;
            }
        /* Everything before the cut, and nothing else. */
        uint64_t left = 0;
        for (size_t i = 0; i < pieces; i++)
            if (whole[i].offset < size)
                left += whole[i].size < size - whole[i].offset ? whole[i].size : size - whole[i].offset;
        assert_int_equal(bytes, left);
        before = bytes;
    }
    assert_int_equal(before, 127);
}

/* perf was killed: the header says that there is no data. */
TEST_WITH(never_closed, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_two_cpus(r);
    end(r, "perf.data");
    memset(r->bytes + 48, 0, 8);
    memset(r->bytes + 72, 0, 32);
    r->size -= 32 + 20 + 8 + 32; /* removes the features */
    fixture_put_bytes(f, "perf.data", r->bytes, r->size);
    assert_int_equal(fixture_open(f, "perf.data"), CT_OK);
    check_two_cpus(r);
    assert_int_equal(f->capture->damage_count, 2);
    assert_non_null(strstr(f->capture->damage[0], "not completed"));
}

TEST_WITH(what_is_none, r)
{
    struct fixture *f = &r->capture;
    begin(r, false);
    put_map(r, 0, TID, 0x400000, 0x2000, 0x1000, "/bin/a");
    end(r, "perf.data");
    assert_int_equal(fixture_open(f, "perf.data"), CT_ERR_NOT_FOUND);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("no hardware trace", "perf record -e cs_etm//")));
    begin(r, false);
    r->writer.body.size = 0;
    ct_perf_put64(&r->writer.body, 1);
    assert_int_equal(ct_perf_write_user(&r->writer, CT_PERF_AUXTRACE_INFO, 0, &r->writer.body), CT_OK);
    end(r, "perf.data");
    assert_int_equal(fixture_open(f, "perf.data"), CT_ERR_UNSUPPORTED);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("kind 1", "not CoreSight")));
    memcpy(r->bytes, "2ELIFREP", 8);
    assert_int_equal(fixture_open(f, "perf.data"), CT_ERR_UNSUPPORTED);
    assert_true(has_words(ct_ctx_error(f->ctx), WORDS("big-endian machine", "record with a little-endian")));
}

/* Opens the recording, and checks its only damage. */
static void open_damaged(struct recording *r, const char *const *words)
{
    end_and_open(r);
    const struct ct_capture *capture = r->capture.capture;
    assert_int_equal(capture->damage_count, 1);
    assert_true(has_words(capture->damage[0], words));
}

static void begin_two_units(struct recording *r)
{
    begin(r, false);
    assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
}

/* Trace may be lost at the end of the recording, in the middle of a piece, and when there was no room at
 * all. */
TEST_WITH(lost_trace, r)
{
    for (uint64_t flag = 1; flag <= 8; flag *= 2) {
        begin_two_units(r);
        put_aux(r, 50, 0, 0, 32, 0);
        put_trace(r, 0, 0, 32);
        put_aux(r, 60, 0, 32, flag == CT_PERF_AUX_OVERWRITE ? 32 : 0, flag);
        put_aux(r, 70, 0, 32, 32, flag);
        put_trace(r, 0, 32, 32);
        if (flag == CT_PERF_AUX_OVERWRITE) {
            end_and_open(r);
            assert_int_equal(r->capture.capture->damage_count, 0);
        } else {
            open_damaged(r, WORDS("trace was lost while recording", "say so: 2"));
            assert_true(r->capture.capture->buffers[0].pieces[1].cut);
        }
    }
}

static void put_words(struct recording *r, uint32_t type, size_t words, uint64_t first)
{
    r->writer.body.size = 0;
    for (size_t i = 0; i < words; i++)
        ct_perf_put64(&r->writer.body, i ? 32 : first);
    assert_int_equal(ct_perf_write_user(&r->writer, type, 0, &r->writer.body), CT_OK);
}

TEST_WITH(damaged_records, r)
{
    static const uint32_t short_ones[] = {CT_PERF_MMAP, CT_PERF_MMAP2, CT_PERF_COMM,
                                          CT_PERF_FORK, CT_PERF_AUX,   CT_PERF_AUXTRACE};
    for (size_t i = 0; i < sizeof short_ones / sizeof *short_ones; i++) {
        begin_two_units(r);
        put_trace(r, 0, 0, 32);
        put_words(r, short_ones[i], 1, 0);
        open_damaged(r, WORDS("1 record is too short", "mappings"));
    }
    begin_two_units(r);
    put_trace(r, 0, 0, 32);
    put_aux(r, 60, 0, UINT64_MAX - 16, 32, 0);
    put_trace(r, 0, UINT64_MAX - 16, 32);
    open_damaged(r, WORDS("2 records are too short or contradictory"));
}

TEST_WITH(trace_that_is_there_twice, r)
{
    begin_two_units(r);
    put_trace(r, 0, 0, 64);
    put_trace(r, 1, 16, 64); /* of another CPU */
    put_trace(r, 0, 48, 32);
    open_damaged(r, WORDS("16 bytes of trace are in the file twice"));
}

TEST_WITH(joined_files, r)
{
    struct fixture *f = &r->capture;
    for (int pipe = 0; pipe < 2; pipe++) {
        begin(r, pipe);
        assert_int_equal(ct_perf_write_info(&r->writer, sources, 2, 1), CT_OK);
        put_trace(r, 0, 0, 32);
        end(r, "perf.data");
        char *twice = malloc(2 * r->size);
        assert_non_null(twice);
        memcpy(twice, r->bytes, r->size);
        memcpy(twice + r->size, r->bytes, r->size);
        fixture_put_bytes(f, "perf.data", twice, 2 * r->size);
        assert_int_equal(fixture_open(f, "perf.data"), CT_OK);
        assert_int_equal(f->capture->damage_count, 1);
        assert_true(has_words(f->capture->damage[0], WORDS("another recording")));
        free(twice);
    }
}

/* Puts a compressed record of the first `size` bytes of a record. */
static void put_compressed(struct recording *r, const struct ct_perf_body *record, size_t size, uint32_t type,
                           uint64_t more)
{
    static struct ct_perf_body body;
    char packed[1024];
    const size_t n = ZSTD_compress(packed, sizeof packed, record->bytes, size, 1);
    assert_false(ZSTD_isError(n));
    body = (struct ct_perf_body){.size = 0};
    if (type == CT_PERF_COMPRESSED2)
        ct_perf_put64(&body, n + more);
    memcpy(body.bytes + body.size, packed, n);
    body.size += n;
    assert_int_equal(ct_perf_write_user(&r->writer, type, 0, &body), CT_OK);
}

TEST_WITH(damaged_compressed_records, r)
{
    static struct ct_perf_body trace, comm;
    trace.size = comm.size = 0;
    ct_perf_put64(&trace, UINT64_C(48) << 48 | CT_PERF_AUXTRACE); /* the header: size, misc, type */
    ct_perf_put64(&trace, UINT64_C(1) << 50);
    for (size_t i = 0; i < 4; i++)
        ct_perf_put64(&trace, 0);
    ct_perf_put64(&comm, UINT64_C(24) << 48 | CT_PERF_COMM);
    ct_perf_put64(&comm, 0);
    ct_perf_put64(&comm, 0);
    for (int i = 0; i < 3; i++) {
        begin_two_units(r);
        put_trace(r, 0, 0, 32);
        if (i == 0)
            put_compressed(r, &trace, trace.size, CT_PERF_COMPRESSED, 0);
        else if (i == 1)
            put_compressed(r, &comm, comm.size - 8, CT_PERF_COMPRESSED, 0);
        else
            put_compressed(r, &comm, comm.size, CT_PERF_COMPRESSED2, 64);
        open_damaged(r, i == 0   ? WORDS("it holds trace, which is never compressed")
                        : i == 1 ? WORDS("end within a record")
                                 : WORDS("its data is longer than the record"));
    }
}

/* A file with many event attributes of different layouts, each with the same list of IDs, takes a moment. */
TEST_WITH(many_event_ids, r)
{
    enum {
        ATTRS = 512,
        IDS = 8192,
        COMMS = 20000,
        ATTR = 144
    };
    struct fixture *f = &r->capture;
    begin_two_units(r);
    put_trace(r, 0, 0, 32);
    struct ct_perf_stamp stamp = at(100, TID, TID, 0);
    for (size_t i = 0; i < COMMS; i++)
        assert_int_equal(ct_perf_write_comm(&r->writer, &stamp, "a", false), CT_OK);
    end(r, "perf.data");
    const size_t size = r->size + 8 * IDS + ATTR * ATTRS;
    char *bytes = calloc(1, size);
    assert_non_null(bytes);
    memcpy(bytes, r->bytes, r->size);
    for (size_t i = 0; i < IDS; i++)
        ct_store((uint8_t *)bytes + r->size + 8 * i, 1000 + i, 8);
    uint8_t *attrs = (uint8_t *)bytes + r->size + 8 * IDS;
    for (size_t i = 0; i < ATTRS; i++) {
        uint8_t *attr = attrs + ATTR * i;
        const uint64_t differs = i ? CT_PERF_SAMPLE_STREAM_ID : 0;
        memcpy(attr, bytes + ct_load64((uint8_t *)bytes + 24), ATTR);
        ct_store(attr + 24, ct_load64(attr + 24) | differs, 8);
        ct_store(attr + ATTR - 16, r->size, 8);
        ct_store(attr + ATTR - 8, 8 * IDS, 8);
    }
    ct_store((uint8_t *)bytes + 24, r->size + 8 * IDS, 8);
    ct_store((uint8_t *)bytes + 32, ATTR * ATTRS, 8);
    fixture_put_bytes(f, "perf.data", bytes, size);
    const clock_t start = clock();
    assert_int_equal(fixture_open(f, "perf.data"), CT_OK);
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
    free(bytes);
}
