/* SPDX-License-Identifier: Apache-2.0 */
/* A capture as perf.data: one process that has all images, one AUX buffer for each trace buffer. */
#include "cli/export.h"
#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "chain/memories.h"
#include "program/elf.h"
#include "program/memory.h"

#define THREADS_MAX 65536u

/* The lowest number above PID_MAX_LIMIT of Linux (include/linux/threads.h), which no process can have. */
#define FIRST_FREE_PID 4194305u

/* The half of the addresses that Linux has for itself. */
#define KERNEL (UINT64_C(1) << 63)

/* A trace ID of a buffer and what it becomes. */
struct unit {
    size_t buffer;
    struct ct_source source; /* with the new ID */
    uint8_t old_id;
};

struct exporting {
    struct cli_capture *capture;
    const char *path;
    FILE *out;
    struct ct_perf_writer writer;
    uint64_t aux; /* trace so far: AUX records find theirs by where it is */
    struct unit *units;
    size_t unit_count;
    uint32_t process;              /* see choose_process */
    uint32_t threads[THREADS_MAX]; /* context IDs, in the order they come */
    size_t thread_count;
    struct cli_export_codes codes;
    uint8_t seen[1 << 13];     /* a bit for each low part of a thread: a quick no */
    struct ct_source *sources; /* of the units */
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

/* perf knows a trace unit by its ID alone: each gets one of its own. 0 when there is none left. */
static uint8_t free_id(const struct exporting *e, uint8_t wish)
{
    if (wish && wish < 0x70 && !is_taken(e, wish))
        return wish;
    for (uint8_t id = 1; id < 0x70; id++)
        if (!is_taken(e, id))
            return id;
    return 0;
}

static bool add_unit(struct exporting *e, size_t buffer, const struct ct_source *source)
{
    const struct ct_buffer *b = &e->capture->buffers[buffer];
    if (!is_known(source)) {
        cli_say("%s, source %s: perf does not know %s; its trace is left out", b->name, source->name,
                ct_protocol_name((enum ct_protocol)source->protocol));
        return true;
    }
    struct unit *u = &e->units[e->unit_count];
    *u = (struct unit){.buffer = buffer, .source = *source};
    u->old_id = b->framing == CT_FRAMING_NONE ? 0 : source->trace_id;
    u->source.trace_id = free_id(e, source->trace_id);
    if (!u->source.trace_id) {
        cli_say("%s: more trace sources than there are trace IDs", e->capture->args->operand);
        return false;
    }
    u->source.regs.traceidr = u->source.regs.etmtraceidr = u->source.trace_id;
    e->unit_count++;
    return true;
}

static bool make_units(struct exporting *e)
{
    size_t most = 1;
    for (size_t i = 0; i < e->capture->count; i++)
        most += e->capture->buffers[i].source_count;
    e->units = calloc(most, sizeof *e->units);
    e->sources = calloc(most, sizeof *e->sources);
    if (!e->units || !e->sources) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < e->capture->count; i++) {
        const struct ct_buffer *b = &e->capture->buffers[i];
        size_t count = b->framing == CT_FRAMING_NONE && b->source_count ? 1 : b->source_count;
        for (size_t k = 0; k < count; k++)
            if (!add_unit(e, i, &b->sources[k]))
                return false;
    }
    for (size_t i = 0; i < e->unit_count; i++)
        e->sources[i] = e->units[i].source;
    return true;
}

/* ---- threads ---- */

static bool has_thread(const struct exporting *e, uint32_t tid)
{
    for (size_t i = 0; i < e->thread_count; i++)
        if (e->threads[i] == tid)
            return true;
    return false;
}

static void add_thread(struct exporting *e, uint32_t tid)
{
    uint8_t *seen = &e->seen[tid % sizeof e->seen];
    uint8_t bit = (uint8_t)(1u << (tid / sizeof e->seen % 8));
    if ((*seen & bit) && has_thread(e, tid))
        return;
    *seen |= bit;
    if (e->thread_count < THREADS_MAX)
        e->threads[e->thread_count++] = tid;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct exporting *e = user;
    uint32_t tid;
    for (size_t i = 0; i < batch->count; i++)
        if (ct_memories_thread(stream->source, &batch->elems[i], &tid))
            add_thread(e, tid);
    return 0;
}

/* The context IDs of all trace. */
static bool find_threads(struct exporting *e)
{
    struct ct_ctx *ctx = e->capture->args->ctx;
    const struct ct_chain_sink sink = {.user = e, .elems = on_elems};
    const struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    for (size_t i = 0; i < e->capture->count; i++) {
        struct ct_chain *chain = NULL;
        int rc = ct_chain_new(ctx, &e->capture->buffers[i], &options, &sink, &chain);
        if (!rc)
            rc = ct_chain_run(chain);
        ct_chain_free(chain);
        if (rc) {
            cli_library_error(ctx);
            return false;
        }
    }
    if (e->thread_count == THREADS_MAX)
        cli_say("%s: more than %u context IDs; the rest is without a process", e->capture->args->operand,
                THREADS_MAX);
    return true;
}

/* Chooses the number of the process whose threads the context IDs are. perf enters the mount namespace of a
 * process that is alive under that number where perf runs, and then finds no file; so it is one that no
 * process can have. */
static void choose_process(struct exporting *e)
{
    e->process = FIRST_FREE_PID;
    while (has_thread(e, e->process))
        e->process++;
}

static struct ct_perf_stamp stamp_of(const struct exporting *e, uint32_t tid)
{
    return (struct ct_perf_stamp){.time = 1, .pid = tid ? e->process : 0, .tid = tid};
}

/* ---- images ---- */

static int put_map(struct exporting *e, const struct ct_perf_map *map)
{
    struct ct_perf_stamp stamp = stamp_of(e, e->process);
    int rc = ct_perf_write_map(&e->writer, &stamp, map);
    /* Number 0 is nobody's thread. */
    for (size_t i = 0; !rc && i < e->thread_count; i++)
        if (!e->threads[i]) {
            stamp = stamp_of(e, 0);
            rc = ct_perf_write_map(&e->writer, &stamp, map);
        }
    return rc;
}

static int put_segments(struct exporting *e, const char *path, const struct ct_mapped_file *file,
                        uint64_t bias)
{
    struct ct_elf elf = {0};
    int rc = CT_OK;
    if (ct_elf_open(e->capture->args->ctx, path, file->bytes, file->size, &elf))
        return CT_ERR_FORMAT;
    for (size_t i = 0; !rc && i < elf.segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf.elf, (int)i, &segment) || segment.p_type != PT_LOAD || !segment.p_filesz)
            continue;
        uint64_t addr = segment.p_vaddr + bias;
        rc = put_map(e, &(struct ct_perf_map){.addr = addr,
                                              .size = segment.p_filesz,
                                              .offset = segment.p_offset,
                                              .path = path,
                                              .kernel = addr >= KERNEL});
    }
    ct_elf_close(&elf);
    return rc;
}

static int put_elf(struct exporting *e, const char *path, uint64_t bias)
{
    struct ct_mapped_file *file = NULL;
    int rc = ct_mapped_file_open(e->capture->args->ctx, path, &file);
    if (!rc)
        rc = put_segments(e, path, file, bias);
    ct_mapped_file_close(file);
    return rc;
}

/* perf opens files by their whole path. */
static int put_image(struct exporting *e, const struct ct_image *image)
{
    char *path = realpath(image->path, NULL);
    if (!path) {
        cli_say("%s: %s", image->path, strerror(errno));
        return CT_ERR_IO;
    }
    int rc = image->is_elf ? put_elf(e, path, image->addr)
                           : put_map(e, &(struct ct_perf_map){.addr = image->addr,
                                                              .size = image->size,
                                                              .offset = image->offset,
                                                              .path = path,
                                                              .kernel = image->addr >= KERNEL});
    free(path);
    return rc;
}

static bool is_earlier(const struct exporting *e, size_t buffer, const struct ct_image *image)
{
    for (size_t i = 0; i < buffer; i++)
        for (size_t k = 0; k < e->capture->buffers[i].image_count; k++) {
            const struct ct_image *other = &e->capture->buffers[i].images[k];
            if (other->addr == image->addr && other->offset == image->offset &&
                strcmp(other->path, image->path) == 0)
                return true;
        }
    return false;
}

static int put_images(struct exporting *e)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < e->codes.count; i++)
        rc = put_map(e, &e->codes.all[i].map);
    for (size_t i = 0; i < e->capture->count; i++)
        for (size_t k = 0; !rc && k < e->capture->buffers[i].image_count; k++)
            if (!is_earlier(e, i, &e->capture->buffers[i].images[k]) &&
                !cli_export_codes_hold(&e->codes, &e->capture->buffers[i].images[k]))
                rc = put_image(e, &e->capture->buffers[i].images[k]);
    return rc;
}

static bool has_kernel(const struct exporting *e)
{
    for (size_t i = 0; i < e->capture->count; i++)
        for (size_t k = 0; k < e->capture->buffers[i].image_count; k++)
            if (e->capture->buffers[i].images[k].addr >= KERNEL)
                return true;
    return false;
}

/* ---- the file ---- */

/* The options of the event that traces as the registers say: cycacc, contextid1, contextid2, retstack. Not
 * timestamp: perf would put the trace among records by its time, and there are none. */
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
    const char *slash = strrchr(e->capture->args->operand, '/');
    const char *name = slash && slash[1] ? slash + 1 : e->capture->args->operand;
    struct ct_perf_stamp stamp = stamp_of(e, e->process);
    int rc = ct_perf_write_comm(&e->writer, &stamp, name, false);
    if (!rc)
        rc = put_images(e);
    for (size_t i = 0; !rc && i < e->thread_count; i++) {
        stamp = stamp_of(e, e->threads[i]);
        if (e->threads[i])
            rc = ct_perf_write_fork(&e->writer, &stamp, e->process);
        if (!rc)
            rc = ct_perf_write_comm(&e->writer, &stamp, name, false);
    }
    return rc;
}

static int copy_frames(struct exporting *e, const struct cli_export_frames *frames)
{
    static uint8_t bytes[1 << 16];
    rewind(frames->file);
    for (uint64_t left = frames->size; left;) {
        size_t n = left < sizeof bytes ? (size_t)left : sizeof bytes;
        if (fread(bytes, n, 1, frames->file) != 1)
            return CT_ERR_IO;
        int rc = ct_perf_write_bytes(&e->writer, bytes, n);
        if (rc)
            return rc;
        left -= n;
        cli_progress_update(&e->capture->progress, frames->size - left);
    }
    return CT_OK;
}

static int put_buffer(struct exporting *e, size_t buffer)
{
    uint8_t ids[128] = {0};
    bool used = false;
    struct cli_export_frames frames;
    for (size_t i = 0; i < e->unit_count; i++)
        if (e->units[i].buffer == buffer) {
            ids[e->units[i].old_id] = e->units[i].source.trace_id;
            used = true;
        }
    if (!used)
        return CT_OK;
    if (!cli_export_frames_make(e->capture->args, &e->capture->buffers[buffer], ids, &frames))
        return CT_ERR_ARG; /* said */
    const uint32_t pid = e->process;
    /* Trace of a thread is of no CPU in particular; perf 6.1 finds its AUX record only so. */
    struct ct_perf_stamp stamp = {.time = 2 + buffer, .pid = pid, .tid = pid, .cpu = UINT32_MAX};
    int rc = CT_OK;
    if (frames.size) {
        rc = ct_perf_write_aux(&e->writer, &stamp, e->aux, frames.size, 0);
        if (!rc)
            rc = ct_perf_write_trace(&e->writer, (uint32_t)buffer, pid, UINT32_MAX, e->aux, frames.size);
        if (!rc)
            rc = copy_frames(e, &frames);
        e->aux += frames.size;
    }
    fclose(frames.file);
    return rc;
}

static int write_all(struct exporting *e, bool pipe)
{
    const struct ct_perf_write_options options = {
        .pipe = pipe, .exclude_kernel = !has_kernel(e), .timeless = true, .config = event_config(e)};
    int rc = ct_perf_write_begin(&e->writer, e->out, &options);
    if (!rc)
        rc = ct_perf_write_info(&e->writer, e->sources, e->unit_count, 1);
    if (!rc)
        rc = put_process(e);
    for (size_t i = 0; !rc && i < e->capture->count; i++)
        rc = put_buffer(e, i);
    int end = ct_perf_write_end(&e->writer);
    return rc ? rc : end;
}

/* Closing the file says what stopped it from being written. */
static void tell_failure(const struct exporting *e, int rc)
{
    if (rc == CT_ERR_IO && !ferror(e->out))
        cli_say("%s: cannot be written: %s", e->path, strerror(errno));
    else if (rc == CT_ERR_NOMEM)
        cli_no_memory();
    else if (rc && rc != CT_ERR_IO && rc != CT_ERR_ARG)
        cli_say("%s: cannot be written: a path or the list of trace units is too long for a record", e->path);
}

static int write_pipe(struct exporting *e)
{
    e->out = stdout;
    const int rc = write_all(e, true);
    tell_failure(e, rc);
    return rc ? CLI_FAILED : CLI_CLEAN;
}

static int write_file(struct exporting *e)
{
    struct cli_output output;
    e->out = cli_output_open(&output, e->path);
    if (!e->out)
        return CLI_FAILED;
    const int rc = write_all(e, false);
    tell_failure(e, rc);
    return cli_output_close(&output, rc == CT_OK) ? CLI_CLEAN : CLI_FAILED;
}

static int export_to(struct exporting *e)
{
    const struct ct_maps *maps = e->capture->capture->maps;
    if (maps) {
        cli_say(maps->by_piece
                    ? "%s: its code changed while it ran, which the perf.data that is written here cannot say"
                    : "%s: is perf.data already",
                e->capture->args->operand);
        return CLI_FAILED;
    }
    if (!make_units(e) || !find_threads(e) || !cli_export_codes_find(e->capture, &e->codes))
        return CLI_FAILED;
    choose_process(e);
    if (!e->unit_count) {
        cli_say("%s: has no source that perf knows", e->capture->args->operand);
        return CLI_FAILED;
    }
    const bool pipe = strcmp(e->path, "-") == 0;
    return cli_capture_code(e->capture, pipe ? write_pipe(e) : write_file(e));
}

int cli_export_perf(struct cli_capture *capture, const char *path)
{
    struct exporting *e = calloc(1, sizeof *e);
    if (!e) {
        cli_no_memory();
        return CLI_FAILED;
    }
    e->capture = capture;
    e->path = path;
    int code = export_to(e);
    cli_export_codes_free(&e->codes);
    free(e->units);
    free(e->sources);
    free(e);
    return code;
}
