/* SPDX-License-Identifier: Apache-2.0 */
/* Lets every allocation of the input and frame layers fail once: the call returns CT_ERR_NOMEM, and nothing
 * leaks (which the sanitizer checks). Linked with --wrap, so that the library's allocations come here. */

#include "coretap/frame.h"
#include "support/capture_fixture.h"
#include "support/unit.h"

static long left = -1; /* allocations until one fails; negative: none fails */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);

static int fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

/* Opens `path` with the nth allocation failing, for all n. Returns the number of allocations. */
static long open_with_failures(struct fixture *f, const char *path)
{
    f->ctx = ct_ctx_new();
    for (long n = 0;; n++) {
        left = n;
        int status = fixture_open(f, path);
        int failed = left < 0;
        left = -1;
        if (!failed) {
            assert_int_equal(status, CT_OK);
            return n;
        }
        assert_int_equal(status, CT_ERR_NOMEM);
        assert_null(f->capture);
        assert_non_null(strstr(ct_ctx_error(f->ctx), "out of memory"));
    }
}

/* Has many devices, so that the arena needs several blocks. */
TEST(snapshot_without_memory)
{
    struct fixture f = {0};
    static char list[60000], core[60000];
    strcpy(list, "[snapshot]\n[trace]\nmetadata=trace.ini\n[device_list]\na=core.ini\nb=stm.ini\n");
    strcpy(core, "[device]\nname=cpu\ntype=Cortex-A9\n");
    for (unsigned i = 0; i < 400; i++) {
        char dump[64];
        snprintf(dump, sizeof dump, "[dump%u]\nfile=ram.bin\naddress=%u\n", i, 64 * i);
        strcat(core, dump);
    }
    fixture_dir(&f, "d");
    fixture_put(&f, "d/snapshot.ini", list);
    fixture_put(&f, "d/core.ini", core);
    fixture_put(&f, "d/stm.ini", "[device]\nname=STM\ntype=STM\n[regs]\nSTMTCSR=0x100000\n");
    fixture_put(
        &f, "d/trace.ini",
        "[trace_buffers]\nbuffers=b\n[b]\nname=x\nfile=t.bin\nformat=coresight\n[source_buffers]\nSTM=x\n"
        "[core_trace_sources]\ncpu=STM\n");
    fixture_put(&f, "d/t.bin", "");
    fixture_put(&f, "d/ram.bin", "0123456789");
    assert_true(open_with_failures(&f, "d") > 20);
    assert_int_equal(f.capture->buffers[0].image_count, 400);
    fixture_free(&f);
}

TEST(raw_without_memory)
{
    struct fixture f = {0};
    fixture_put(&f, "t.ini", "[capture]\nfile=-\n[source s]\nprotocol=stm\nid=3\n");
    assert_true(open_with_failures(&f, "t.ini") > 5);
    fixture_free(&f);
}

/* Pushes frames with an ID each that changes, so that both the bytes and the map have to grow. */
static int push_all(struct ct_demux *demux)
{
    static uint8_t data[16 * 1000];
    size_t used;
    for (unsigned i = 0; i < 1000; i++) {
        data[16 * i] = (uint8_t)((1 + i % 2) << 1 | 1);
        data[16 * i + 8] = (uint8_t)((1 + i % 3) << 1 | 1);
    }
    return ct_demux_push(demux, data, sizeof data, &used);
}

TEST(demux_without_memory)
{
    for (long n = 0;; n++) {
        struct ct_demux_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
        struct ct_demux *demux = NULL;
        left = n;
        int status = ct_demux_new(NULL, &options, &demux);
        if (!status)
            status = push_all(demux);
        int failed = left < 0;
        left = -1;
        assert_int_equal(status, failed ? CT_ERR_NOMEM : CT_OK);
        if (failed && demux) /* the error is permanent */
            assert_int_equal(push_all(demux), CT_ERR_NOMEM);
        ct_demux_free(demux);
        if (!failed) {
            assert_true(n > 10);
            return;
        }
    }
}
