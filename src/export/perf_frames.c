/* SPDX-License-Identifier: Apache-2.0 */
/* Converts trace of any framing to the frames of an ETB or ETR, which perf expects in a buffer. */
#include "export/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "chain/chunks.h"
#include "coretap/encode.h"

#define FRAME ((uint64_t)16)

struct framing {
    struct ct_ctx *ctx;
    const struct ct_buffer *buffer;
    const uint8_t *ids;
    struct ct_chunks chunks;
    struct ct_demux *demux;
    struct ct_framer *framer;
    FILE *out;
    uint64_t size;
    uint8_t bytes[1 << 16];
};

static bool same_ids(const uint8_t ids[128])
{
    for (unsigned i = 1; i < 0x70; i++)
        if (ids[i] && ids[i] != i)
            return false;
    return true;
}

static int put(struct framing *f, size_t size)
{
    f->size += size;
    if (size == 0 || fwrite(f->bytes, size, 1, f->out) == 1)
        return CT_OK;
    return ct_fail(
        f->ctx, CT_ERR_IO,
        "%s: the trace frames cannot be written to a temporary file: %s; free some space in TMPDIR or /tmp",
        f->buffer->name, strerror(errno));
}

/* Writes the available bytes of one ID. */
static int frame_run(struct framing *f, uint8_t id)
{
    struct ct_run run;
    ct_demux_run(f->demux, id, &run);
    int rc = CT_OK;
    for (size_t done = 0; !rc && done < run.size;) {
        size_t taken = 0;
        size_t len = 0;
        rc = ct_framer_push(f->framer, f->ids[id], run.data + done, run.size - done, &taken, f->bytes,
                            sizeof f->bytes, &len);
        if (!rc)
            rc = put(f, len);
        done += taken;
    }
    ct_demux_consume(f->demux, id, run.size);
    return rc;
}

static int frame_runs(struct framing *f)
{
    int rc = CT_OK;
    for (unsigned id = 0; !rc && id < 128; id++)
        if (f->ids[id])
            rc = frame_run(f, (uint8_t)id);
    return rc;
}

static int frame_all(struct framing *f)
{
    size_t size = 0;
    int rc;
    while (!(rc = ct_chunks_next(&f->chunks, &size)) && size) {
        for (size_t used = 0, n; !rc && used < size; used += n) {
            rc = ct_demux_push(f->demux, f->chunks.data + used, size - used, &n) ?: frame_runs(f);
        }
        if (rc)
            return rc;
    }
    if (!rc)
        rc = ct_demux_finish(f->demux);
    if (!rc)
        rc = frame_runs(f);
    size_t len = 0;
    if (!rc)
        rc = ct_framer_finish(f->framer, f->bytes, sizeof f->bytes, &len);
    return rc ? rc : put(f, len);
}

/* Finds the framing of the buffer, from its bytes if it is not given. */
static int find_framing(struct framing *f, enum ct_framing *framing)
{
    size_t size;
    *framing = (enum ct_framing)f->buffer->framing;
    if (*framing != CT_FRAMING_AUTO)
        return CT_OK;
    int rc = ct_chunks_next(&f->chunks, &size);
    *framing = ct_framing_probe(f->chunks.data, size);
    return rc ? rc : ct_chunks_seek(&f->chunks, 0, UINT64_MAX);
}

static int reframe(struct framing *f, enum ct_framing framing)
{
    const struct ct_demux_options from = {.size = sizeof from, .framing = (uint8_t)framing};
    const struct ct_framer_options to = {.size = sizeof to, .framing = CT_FRAMING_FRAMES};
    int rc = ct_demux_new(f->ctx, &from, &f->demux) ?: ct_framer_new(f->ctx, &to, &f->framer);
    f->out = tmpfile();
    if (!rc && !f->out)
        return ct_fail(
            f->ctx, CT_ERR_IO,
            "%s: a temporary file for the trace frames cannot be created: %s; check TMPDIR or /tmp",
            f->buffer->name, strerror(errno));
    return rc ? rc : frame_all(f);
}

/* Uses the buffer's own file, without an incomplete frame at its end. */
static int borrow(const struct ct_perf_export_of *of, const struct ct_buffer *buffer,
                  struct ct_perf_frames *out)
{
    FILE *file = fopen(buffer->path, "rb");
    if (!file || fseeko(file, 0, SEEK_END) != 0) {
        const int rc = ct_fail(of->ctx, CT_ERR_IO, "%s: cannot be read: %s", buffer->path, strerror(errno));
        if (file)
            fclose(file);
        return rc;
    }
    const uint64_t size = (uint64_t)ftello(file);
    if (size % FRAME)
        ct_perf_export_note(of, "%s: the last %u bytes are not a complete frame; they were left out",
                            buffer->path, (unsigned)(size % FRAME));
    *out = (struct ct_perf_frames){.file = file, .size = size - size % FRAME};
    return CT_OK;
}

static int make(const struct ct_perf_export_of *of, struct framing *f, struct ct_perf_frames *out)
{
    enum ct_framing framing = CT_FRAMING_NONE;
    int rc = ct_chunks_open(&f->chunks, f->ctx, f->buffer->path) ?: find_framing(f, &framing);
    if (!rc && framing == CT_FRAMING_FRAMES && same_ids(f->ids))
        return borrow(of, f->buffer, out);
    if (!rc)
        rc = reframe(f, framing);
    if (!rc)
        *out = (struct ct_perf_frames){.file = f->out, .size = f->size};
    else if (f->out)
        fclose(f->out);
    return rc;
}

int ct_perf_frames_make(const struct ct_perf_export_of *of, const struct ct_buffer *buffer,
                        const uint8_t ids[128], struct ct_perf_frames *out)
{
    struct framing *f = calloc(1, sizeof *f);
    if (!f)
        return ct_fail_nomem(of->ctx, buffer->name);
    f->ctx = of->ctx;
    f->buffer = buffer;
    f->ids = ids;
    const int rc = make(of, f, out);
    ct_framer_free(f->framer);
    ct_demux_free(f->demux);
    ct_chunks_close(&f->chunks);
    free(f);
    return rc;
}
