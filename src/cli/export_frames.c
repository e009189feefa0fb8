/* SPDX-License-Identifier: Apache-2.0 */
/* Trace of any framing as the frames of an ETB or ETR: what perf expects in a buffer. */
#include "cli/export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain/chunks.h"
#include "coretap/encode.h"

#define FRAME ((uint64_t)16)

struct framing {
    const struct cli_args *args;
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
    cli_say("%s: its frames cannot be written to a temporary file: %s", f->buffer->name, strerror(errno));
    return CT_ERR_IO;
}

/* The bytes of one ID that are there. */
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
            rc = ct_demux_push(f->demux, f->chunks.data + used, size - used, &n);
            if (!rc)
                rc = frame_runs(f);
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

/* The framing of the buffer, found out where it is not stated. */
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
    struct ct_ctx *ctx = f->args->ctx;
    const struct ct_demux_options from = {.size = sizeof from, .framing = (uint8_t)framing};
    const struct ct_framer_options to = {.size = sizeof to, .framing = CT_FRAMING_FRAMES};
    int rc = ct_demux_new(ctx, &from, &f->demux);
    if (!rc)
        rc = ct_framer_new(ctx, &to, &f->framer);
    f->out = tmpfile();
    if (!rc && !f->out) {
        cli_say("%s: there is no temporary file for its frames: %s", f->buffer->name, strerror(errno));
        return CT_ERR_IO;
    }
    if (!rc)
        rc = frame_all(f);
    if (rc && rc != CT_ERR_IO)
        cli_library_error(ctx);
    return rc;
}

/* The file as it is, less what does not fill a frame. */
static bool borrow(const struct framing *f, struct cli_export_frames *out)
{
    FILE *file = fopen(f->buffer->path, "rb");
    if (!file || fseeko(file, 0, SEEK_END) != 0) {
        cli_say("%s: cannot be read: %s", f->buffer->path, strerror(errno));
        if (file)
            fclose(file);
        return false;
    }
    uint64_t size = (uint64_t)ftello(file);
    if (size % FRAME)
        cli_say("%s: its last %u bytes fill no frame and are left out", f->buffer->path,
                (unsigned)(size % FRAME));
    *out = (struct cli_export_frames){.file = file, .borrowed = true, .size = size - size % FRAME};
    return true;
}

bool cli_export_frames_make(const struct cli_args *args, const struct ct_buffer *buffer,
                            const uint8_t ids[128], struct cli_export_frames *out)
{
    static struct framing f;
    f = (struct framing){.args = args, .buffer = buffer, .ids = ids};
    enum ct_framing framing = CT_FRAMING_NONE;
    bool made = false;
    int rc = ct_chunks_open(&f.chunks, args->ctx, buffer->path);
    if (!rc)
        rc = find_framing(&f, &framing);
    if (rc)
        cli_library_error(args->ctx);
    else if (framing == CT_FRAMING_FRAMES && same_ids(ids))
        made = borrow(&f, out);
    else
        made = reframe(&f, framing) == CT_OK;
    if (made && f.out)
        *out = (struct cli_export_frames){.file = f.out, .size = f.size};
    else if (f.out)
        fclose(f.out);
    ct_framer_free(f.framer);
    ct_demux_free(f.demux);
    ct_chunks_close(&f.chunks);
    return made;
}
