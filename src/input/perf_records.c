/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records of a perf.data file in order, including those in compressed records. */
#include "input/perf.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes.h"

/* Records are uncompressed in pieces, so there is room for a piece and a whole record. */
#define INFLATED_SIZE ((size_t)256 << 10)

/* Limit for the size of uncompressed records: a multiple of the compressed size, plus a constant. */
#define INFLATED_RATIO 1024u
#define INFLATED_MORE  (UINT64_C(1) << 20)

/* All compressed records of a recording form one zstd stream. */
struct inflating {
    ZSTD_DStream *stream;
    uint8_t *bytes;
    size_t have;
    uint64_t packed, total; /* bytes so far */
    bool broken;
};

static int take_at(struct ct_perf *p, const uint8_t *record, size_t size, uint64_t offset)
{
    return ct_perf_take(p, &(struct ct_perf_record){.body = record + 8,
                                                    .size = size - 8,
                                                    .offset = offset,
                                                    .type = ct_load32(record),
                                                    .misc = ct_load16(record + 4)});
}

/* Ends the reading of compressed records, one of which cannot be used. */
static int break_off(struct ct_perf *p, struct inflating *in, uint64_t offset, const char *why)
{
    in->broken = true;
    return ct_perf_damage(p,
                          "the compressed record at 0x%llx is damaged: %s; it and the compressed data after "
                          "it are ignored, so mappings of programs may be missing",
                          (unsigned long long)offset, why);
}

/* Handles the complete records at the start of the uncompressed bytes. */
static int take_inflated(struct ct_perf *p, struct inflating *in, uint64_t offset)
{
    size_t at = 0;
    int rc = CT_OK;
    while (!rc && in->have - at >= 8) {
        size_t size = ct_load16(in->bytes + at + 6);
        if (size < 8)
            return break_off(p, in, offset, "it holds a record with less bytes than its header has");
        if (size > in->have - at)
            break;
        if (ct_load32(in->bytes + at) == CT_PERF_AUXTRACE)
            return break_off(p, in, offset, "it holds trace, which is never compressed");
        rc = take_at(p, in->bytes + at, size, offset);
        at += size;
    }
    in->have -= at;
    memmove(in->bytes, in->bytes + at, in->have);
    return rc;
}

static int inflating_begin(struct ct_perf *p, struct inflating *in)
{
    in->stream = ZSTD_createDStream();
    in->bytes = malloc(INFLATED_SIZE);
    if (!in->stream || !in->bytes)
        return ct_fail_nomem(p->opening->ctx, p->file.path);
    return CT_OK;
}

static int inflate(struct ct_perf *p, struct inflating *in, const uint8_t *bytes, size_t size,
                   uint64_t offset)
{
    int rc = in->stream ? CT_OK : inflating_begin(p, in);
    in->packed += size;
    ZSTD_inBuffer from = {.src = bytes, .size = size};
    while (!rc && !in->broken) {
        ZSTD_outBuffer to = {.dst = in->bytes, .size = INFLATED_SIZE, .pos = in->have};
        size_t result = ZSTD_decompressStream(in->stream, &to, &from);
        in->total += to.pos - in->have;
        if (ZSTD_isError(result))
            return break_off(p, in, offset, ZSTD_getErrorName(result));
        if (in->total > in->packed * INFLATED_RATIO + INFLATED_MORE)
            return break_off(p, in, offset, "it expands to too much data");
        bool more = to.pos == to.size;
        in->have = to.pos;
        rc = take_inflated(p, in, offset);
        if (from.pos == from.size && !more)
            break;
    }
    return rc;
}

static int cut(struct ct_perf *p, uint64_t at, const char *what)
{
    p->cut = true;
    return ct_perf_damage(p,
                          "the file is truncated or damaged at offset 0x%llx, %s; only what precedes it "
                          "was read",
                          (unsigned long long)at, what);
}

/* Returns the number of bytes that follow a record without being part of it. */
static uint64_t appendix(const uint8_t *record, size_t size)
{
    switch (ct_load32(record)) {
    case CT_PERF_AUXTRACE:
        return size >= 16 ? ct_load64(record + 8) : 0;
    case CT_PERF_TRACING_DATA:
        return size >= 12 ? (ct_load32(record + 8) + UINT64_C(7)) & ~UINT64_C(7) : 0;
    default:
        return 0;
    }
}

static int take_record(struct ct_perf *p, struct inflating *in, const uint8_t *record, size_t size,
                       uint64_t at)
{
    uint32_t type = ct_load32(record);
    if (type == CT_PERF_COMPRESSED)
        return inflate(p, in, record + 8, size - 8, at);
    if (type != CT_PERF_COMPRESSED2)
        return take_at(p, record, size, at);
    const bool is_whole = size >= 16 && ct_load64(record + 8) <= size - 16;
    if (is_whole)
        return inflate(p, in, record + 16, (size_t)ct_load64(record + 8), at);
    return in->broken ? CT_OK : break_off(p, in, at, "its data is longer than the record");
}

static int read_range(struct ct_perf *p, struct inflating *in, uint64_t at, uint64_t end)
{
    while (at < end) {
        const uint8_t *record = end - at < 8 ? NULL : ct_perf_file_bytes(&p->file, at, 8);
        if (!record)
            return cut(p, at, "in the header of a record");
        if (memcmp(record, CT_PERF_MAGIC, 8) == 0)
            return cut(p, at, "where another recording begins");
        size_t size = ct_load16(record + 6);
        if (size < 8)
            return cut(p, at, "where the size of a record is less than that of its header");
        record = size > end - at ? NULL : ct_perf_file_bytes(&p->file, at, size);
        if (!record)
            return cut(p, at, "in a record");
        uint64_t behind = appendix(record, size);
        int rc = take_record(p, in, record, size, at);
        if (rc)
            return rc;
        at += size;
        if (behind > end - at)
            return cut(p, end, "in the trace of a record");
        at += behind;
    }
    return CT_OK;
}

/* Reads the records from `at` to `end`, whose compressed ones form a separate stream. */
static int read_all(struct ct_perf *p, uint64_t at, uint64_t end)
{
    struct inflating in = {0};
    int rc = read_range(p, &in, at, end < p->file.size ? end : p->file.size);
    if (!rc && in.have && !in.broken && !p->cut)
        rc = ct_perf_damage(p, "the compressed records end within a record; mappings of programs may be "
                               "missing");
    ZSTD_freeDStream(in.stream);
    free(in.bytes);
    return rc;
}

int ct_perf_read_records(struct ct_perf *p)
{
    uint64_t at, size;
    int rc = CT_OK;
    if (p->unclosed)
        rc = ct_perf_damage(
            p, "the header was not completed, because perf was killed; records are read up to the end of the "
               "file");
    if (!rc && ct_perf_section(p, CT_PERF_FEATURE_INIT_MAP, &at, &size))
        rc = read_all(p, at, at + size);
    if (!rc)
        rc = read_all(p, p->data, p->data_end);
    if (!rc && !p->cut && p->file.size < p->data_end)
        rc = cut(p, p->file.size, "between records");
    return rc;
}
