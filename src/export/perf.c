/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a capture as perf.data: one process with all images, and one AUX buffer for each trace buffer. */
#include "export/perf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/described.h"
#include "base/options.h"
#include "base/path.h"
#include "base/require.h"
#include "base/whole_file.h"
#include "chain/memories.h"
#include "coretap/decode.h"

/* A trace ID of a buffer, and the ID that replaces it. */
struct unit {
    size_t buffer;
    struct ct_source source; /* with the new ID */
    uint8_t old_id;
};

struct exporting {
    struct ct_perf_export_of of;
    struct ct_perf_writer writer;
    uint64_t aux; /* bytes of trace so far; AUX records refer to their trace by it */
    struct unit *units;
    size_t unit_count;
    uint32_t process;               /* chosen by choose_process */
    struct ct_perf_threads threads; /* the context IDs */
    struct ct_perf_codes codes;
    struct ct_source *sources; /* the sources of the units */
    uint8_t bytes[1 << 16];    /* a piece of trace, on its way into the file */
};

/* ---- trace units ---- */

static bool is_known(const struct ct_source *s)
{
    return s->protocol == CT_PROTOCOL_ETM4 || s->protocol == CT_PROTOCOL_ETE ||
           s->protocol == CT_PROTOCOL_PTM || s->protocol == CT_PROTOCOL_ETM3;
}

static bool is_taken(const struct exporting *e, uint8_t id)
{
    for (size_t i = 0; i < e->unit_count; i++)
        if (e->units[i].source.trace_id == id)
            return true;
    return false;
}

/* Returns an ID for a trace unit, `wish` if possible. perf identifies a trace unit by its ID alone, so each
 * unit needs its own. 0: all are in use. */
static uint8_t free_id(const struct exporting *e, uint8_t wish)
{
    if (wish && wish < 0x70 && !is_taken(e, wish))
        return wish;
    for (uint8_t id = 1; id < 0x70; id++)
        if (!is_taken(e, id))
            return id;
    return 0;
}

static int add_unit(struct exporting *e, size_t buffer, const struct ct_source *source)
{
    const struct ct_buffer *b = &e->of.buffers[buffer];
    if (!is_known(source)) {
        ct_perf_export_note(&e->of,
                            "%s, source %s: perf does not support %s; the trace of this source was left out",
                            b->name, source->name, ct_protocol_name((enum ct_protocol)source->protocol));
        return CT_OK;
    }
    struct unit *u = &e->units[e->unit_count];
    *u = (struct unit){.buffer = buffer, .source = *source};
    u->old_id = b->framing == CT_FRAMING_NONE ? 0 : source->trace_id;
    u->source.trace_id = free_id(e, source->trace_id);
    if (!u->source.trace_id)
        return ct_fail(e->of.ctx, CT_ERR_LIMIT,
                       "%s: the capture has more trace sources than there are trace IDs, so it was not "
                       "exported; export a capture with fewer sources",
                       e->of.options.name);
    u->source.regs.traceidr = u->source.regs.etmtraceidr = u->source.trace_id;
    e->unit_count++;
    return CT_OK;
}

static int make_units(struct exporting *e)
{
    size_t most = 1;
    for (size_t i = 0; i < e->of.count; i++)
        most += e->of.buffers[i].source_count;
    e->units = calloc(most, sizeof *e->units);
    e->sources = calloc(most, sizeof *e->sources);
    if (!e->units || !e->sources)
        return ct_fail_nomem(e->of.ctx, "trace sources");
    int rc = CT_OK;
    for (size_t i = 0; i < e->of.count; i++) {
        const struct ct_buffer *b = &e->of.buffers[i];
        size_t count = b->framing == CT_FRAMING_NONE && b->source_count ? 1 : b->source_count;
        for (size_t k = 0; k < count && !rc; k++)
            rc = add_unit(e, i, &b->sources[k]);
    }
    for (size_t i = 0; i < e->unit_count; i++)
        e->sources[i] = e->units[i].source;
    return rc;
}

/* ---- threads ---- */

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct exporting *e = user;
    uint32_t tid;
    for (size_t i = 0; i < batch->count; i++)
        if (ct_memories_thread(stream->source, &batch->elems[i], &tid))
            ct_perf_threads_add(&e->threads, tid);
    return 0;
}

/* Collects the context IDs of all traces. */
static int find_threads(struct exporting *e)
{
    const struct ct_chain_sink sink = {.user = e, .elems = on_elems};
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    int rc = CT_OK;
    for (size_t i = 0; i < e->of.count && !rc; i++) {
        struct ct_chain *chain = NULL;
        rc = ct_chain_new(e->of.ctx, &e->of.buffers[i], &options, &sink, &chain) ?: ct_chain_run(chain);
        ct_chain_free(chain);
    }
    if (e->threads.count == CT_PERF_THREADS_MAX && !rc)
        ct_perf_export_note(&e->of,
                            "%s: the capture has more than %u context IDs; the code of the remaining ones "
                            "was assigned to no process",
                            e->of.options.name, CT_PERF_THREADS_MAX);
    return rc;
}

/* Chooses the process ID for the threads, whose IDs are the context IDs. If a process with that ID runs on
 * the machine that runs perf, perf enters its mount namespace and does not find the files. So the ID is one
 * that no process can have. */
static void choose_process(struct exporting *e)
{
    e->process = CT_PERF_FIRST_FREE_PID;
    while (ct_perf_threads_has(&e->threads, e->process))
        e->process++;
}

static struct ct_perf_stamp stamp_of(const struct exporting *e, uint32_t tid)
{
    return (struct ct_perf_stamp){.time = 1, .pid = tid ? e->process : 0, .tid = tid};
}

/* Writes the maps of all images for the process, and for ID 0, which is no thread. */
static int put_images(struct exporting *e)
{
    struct ct_perf_stamp stamps[2] = {stamp_of(e, e->process), stamp_of(e, 0)};
    return ct_perf_images_write(&e->of, &e->codes, &e->writer, stamps,
                                ct_perf_threads_has(&e->threads, 0) ? 2 : 1);
}

/* ---- the file ---- */

/* Returns the event options that match the trace registers: cycacc, contextid1, contextid2, retstack. Not
 * timestamp: perf would sort the trace among timed records, and there are none. */
static uint64_t event_config(const struct exporting *e)
{
    uint64_t config = 0;
    for (size_t i = 0; i < e->unit_count; i++) {
        const struct ct_source *s = &e->units[i].source;
        bool v7 = s->protocol == CT_PROTOCOL_PTM || s->protocol == CT_PROTOCOL_ETM3;
        uint32_t r = v7 ? s->regs.etmcr : s->regs.configr;
        bool cycles = v7 ? r >> 12 & 1 : r >> 4 & 1;
        bool contexts = v7 ? r >> 14 & 3 : r >> 6 & 1;
        bool contexts2 = !v7 && r >> 7 & r >> 15 & 1;
        bool returns = v7 ? r >> 29 & 1 : r >> 12 & 1;
        config |= (uint64_t)cycles << 12 | (uint64_t)contexts << 14 | (uint64_t)contexts2 << 15 |
                  (uint64_t)returns << 29;
    }
    return config;
}

static int put_process(struct exporting *e)
{
    const char *last = ct_base_name(e->of.options.name);
    const char *name = *last ? last : e->of.options.name;
    struct ct_perf_stamp stamp = stamp_of(e, e->process);
    int rc = ct_perf_write_comm(&e->writer, &stamp, name, false) ?: put_images(e);
    for (size_t i = 0; !rc && i < e->threads.count; i++) {
        stamp = stamp_of(e, e->threads.all[i]);
        if (e->threads.all[i])
            rc = ct_perf_write_fork(&e->writer, &stamp, e->process);
        if (!rc)
            rc = ct_perf_write_comm(&e->writer, &stamp, name, false);
    }
    return rc;
}

static int copy_frames(struct exporting *e, const struct ct_perf_frames *frames)
{
    const struct ct_perf_export_options *o = &e->of.options;
    int rc = CT_OK;
    rewind(frames->file);
    for (uint64_t left = frames->size; left && !rc;) {
        const size_t n = left < sizeof e->bytes ? (size_t)left : sizeof e->bytes;
        const bool whole = fread(e->bytes, n, 1, frames->file) == 1;
        if (!whole && feof(frames->file))
            return ct_fail_shorter(e->of.ctx, fileno(frames->file), o->name, frames->size);
        if (!whole)
            return ct_fail(e->of.ctx, CT_ERR_IO, "%s: the trace cannot be read: %s; the export is incomplete",
                           o->name, strerror(errno));
        rc = ct_perf_write_bytes(&e->writer, e->bytes, n);
        left -= n;
        if (!rc && o->progress)
            rc = o->progress(o->user, frames->size - left);
    }
    return rc;
}

static int put_buffer(struct exporting *e, size_t buffer)
{
    uint8_t ids[128] = {0};
    bool used = false;
    struct ct_perf_frames frames;
    for (size_t i = 0; i < e->unit_count; i++)
        if (e->units[i].buffer == buffer) {
            ids[e->units[i].old_id] = e->units[i].source.trace_id;
            used = true;
        }
    if (!used)
        return CT_OK;
    int rc = ct_perf_frames_make(&e->of, &e->of.buffers[buffer], ids, &frames);
    if (rc)
        return rc;
    const uint32_t pid = e->process;
    /* Trace of a thread has no CPU: otherwise perf 6.1 does not find its AUX record. */
    struct ct_perf_stamp stamp = {.time = 2 + buffer, .pid = pid, .tid = pid, .cpu = UINT32_MAX};
    if (frames.size) {
        rc = ct_perf_write_aux(&e->writer, &stamp, e->aux, frames.size, 0)
             ?: ct_perf_write_trace(&e->writer, (uint32_t)buffer, pid, UINT32_MAX, e->aux, frames.size)
             ?: copy_frames(e, &frames);
        e->aux += frames.size;
    }
    fclose(frames.file);
    return rc;
}

static int write_all(struct exporting *e, ct_write_fn *write, void *user)
{
    const struct ct_perf_write_options options = {.pipe = !e->of.options.seek,
                                                  .exclude_kernel = !ct_perf_images_have_kernel(&e->of),
                                                  .timeless = true,
                                                  .config = event_config(e),
                                                  .seek = e->of.options.seek};
    int rc = ct_perf_write_begin(&e->writer, write, user, &options)
             ?: ct_perf_write_info(&e->writer, e->sources, e->unit_count, 1)
             ?: put_process(e);
    for (size_t i = 0; !rc && i < e->of.count; i++)
        rc = put_buffer(e, i);
    const int end = ct_perf_write_end(&e->writer);
    rc = rc ? rc : end;
    if (rc == CT_ERR_LIMIT)
        return ct_fail(e->of.ctx, rc,
                       "perf.data: a path or the list of trace units is too long for a record; nothing was "
                       "exported; use shorter paths");
    return ct_tell_nomem(e->of.ctx, "perf.data", rc);
}

static int export_to(struct exporting *e, ct_write_fn *write, void *user)
{
    const struct ct_maps *maps = e->of.capture->maps;
    if (maps)
        return ct_fail(
            e->of.ctx, CT_ERR_UNSUPPORTED,
            maps->by_piece
                ? "%s: its code changed while it ran, which the exported perf.data cannot represent; nothing "
                  "was exported; use the other commands on the capture itself"
                : "%s: the capture is already perf.data, so nothing was exported; use the file itself",
            e->of.options.name);
    int rc = make_units(e) ?: find_threads(e) ?: ct_perf_codes_find(&e->of, &e->codes);
    choose_process(e);
    if (!rc && !e->unit_count)
        rc = ct_fail(e->of.ctx, CT_ERR_UNSUPPORTED,
                     "%s: the capture has no trace source that perf supports, so nothing was exported",
                     e->of.options.name);
    return rc ? rc : write_all(e, write, user);
}

void ct_perf_export_note(const struct ct_perf_export_of *of, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (of->options.note)
        of->options.note(of->options.user, text);
}

int ct_perf_export(struct ct_ctx *ctx, const struct ct_capture *capture, const struct ct_buffer *buffers,
                   size_t count, const struct ct_perf_export_options *options, ct_write_fn *write, void *user)
{
    struct ct_perf_export_options mine;
    CT_REQUIRE(ctx, capture, buffers || !count, write);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine) ||
        ct_buffers_check(ctx, __func__, buffers, count))
        return CT_ERR_ARG;
    if (!mine.name)
        mine.name = capture->path ? capture->path : "capture";
    struct exporting *e = calloc(1, sizeof *e);
    if (!e)
        return ct_fail_nomem(ctx, "perf.data");
    e->of = (struct ct_perf_export_of){
        .ctx = ctx, .capture = capture, .buffers = buffers, .count = count, .options = mine};
    const int rc = export_to(e, write, user);
    ct_perf_codes_free(&e->codes);
    free(e->units);
    free(e->sources);
    free(e);
    return rc;
}
