/* SPDX-License-Identifier: Apache-2.0 */
#include "record/capture.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/path.h"
#include "base/room.h"
#include "coretap/encode.h"
#include "coretap/frame.h"
#include "record/states.h"
#include "record/file.h"

#define PIECES_MAX ((size_t)1 << 17) /* for all buffers together, so that the list of them stays readable */

#define ID_PERIOD 8 /* frames after which a trace ID is repeated, about as often as in hardware */

#define PAUSE (INT64_C(500) * 1000 * 1000) /* least nanoseconds between checkpoints */
#define SHARE 20 /* the pause after a checkpoint is at least this many times its duration */

/* One buffer of the capture. */
struct buffer {
    struct ct_code_view *view;        /* the state of changing code for its writers */
    uint32_t state;                   /* current state of memory */
    uint64_t size;                    /* bytes */
    struct ct_snapshot_piece *pieces; /* where the state changes */
    size_t piece_count;
};

struct core {
    struct ct_record_capture *capture;
    unsigned number;
    struct ct_unit *unit;
    struct ct_unit_options options;
    struct ct_record_file trace; /* unused when framed */
    char file[32];
    struct buffer own;
    struct buffer *buffer; /* its own or, when framed, the shared one */
};

/* A source of software trace. */
struct software {
    struct ct_record_capture *capture;
    struct ct_software *writer; /* NULL: none */
    struct ct_source source;
    struct ct_record_file trace; /* unused when framed */
    const char *file;
};

struct ct_record_capture {
    struct ct_ctx *ctx;
    struct ct_recording o;
    struct core *cores[CT_RECORD_CORES];
    unsigned core_count;
    struct ct_framer *framer;
    struct ct_record_file frames;
    struct buffer shared; /* for the frames */
    struct software software[CT_RECORD_SOFTWARE];
    struct ct_code *code;
    struct ct_states *states;
    size_t piece_count;
    bool changed;                 /* since the last checkpoint: new code, states, cores or files */
    struct ct_record_names names; /* of generated code */
    bool named;                   /* the program has its place among the executed files */
    unsigned checkpoint;          /* number of the last one; 0: none */
    struct timespec last;         /* time of that checkpoint */
    int64_t pause;                /* least nanoseconds from there to the next one */
    uint64_t bytes;
    uint64_t unpadded; /* bytes since the last padding */
};

static int create(const struct ct_record_capture *capture, const char *name, struct ct_record_file *trace)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", capture->o.directory, name);
    return ct_record_file_open(capture->ctx, trace, path, capture->o.signal);
}

static int new_framer(struct ct_record_capture *capture)
{
    const struct ct_framer_options options = {
        .size = sizeof options, .framing = CT_FRAMING_FRAMES, .id_period = ID_PERIOD};
    ct_framer_free(capture->framer);
    capture->framer = NULL;
    return ct_framer_new(capture->ctx, &options, &capture->framer);
}

int ct_record_make_directory(struct ct_ctx *ctx, const char *directory, bool *made)
{
    struct stat about;
    char path[4096];
    snprintf(path, sizeof path, "%s/snapshot.ini", directory);
    if (stat(path, &about) == 0)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: already contains a capture, which is not overwritten; name a new or empty "
                       "directory",
                       directory);
    *made = mkdir(directory, 0777) == 0;
    if (*made || errno == EEXIST)
        return CT_OK;
    return ct_fail(ctx, CT_ERR_IO,
                   "%s: cannot be created: %s; nothing is recorded; name a directory that "
                   "can be written",
                   directory, strerror(errno));
}

static int write_software(void *user, const uint8_t *bytes, size_t size);

/* Makes the writers of software trace. */
static int make_software(struct ct_record_capture *capture)
{
    static const char *const files[] = {"trace_itm.bin", "trace_stm.bin"};
    int rc = CT_OK;
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE && !rc; i++) {
        struct software *s = &capture->software[i];
        const struct ct_software_options options = {.source = &s->source,
                                                    .sync_period = capture->o.unit.sync_period,
                                                    .write = write_software,
                                                    .user = s};
        s->capture = capture;
        s->file = capture->framer ? "trace.bin" : files[i];
        if (!ct_recording_software(&capture->o, (enum ct_record_software)i, &s->source))
            continue;
        rc = ct_software_new(capture->ctx, &options, &s->writer);
        if (!rc && !capture->framer)
            rc = create(capture, s->file, &s->trace);
    }
    return rc;
}

static int make_frames(struct ct_record_capture *capture)
{
    int rc = new_framer(capture);
    if (rc)
        return rc;
    if (!capture->o.stream)
        return create(capture, "trace.bin", &capture->frames);
    rc = ct_recording_live_ini(capture->ctx, &capture->o);
    return rc ? rc
              : ct_record_file_open(capture->ctx, &capture->frames, capture->o.stream, capture->o.signal);
}

int ct_record_capture_new(struct ct_ctx *ctx, const struct ct_recording *recording, struct ct_code *code,
                          struct ct_record_capture **out)
{
    struct ct_record_capture *made = calloc(1, sizeof *made);
    *out = made;
    if (!made)
        return ct_fail_nomem(ctx, recording->directory);
    made->ctx = ctx;
    made->o = *recording;
    made->code = code;
    int rc = ct_states_new(ctx, code, &made->states);
    if (!rc)
        rc = ct_code_view_new(code, &made->shared.view);
    if (!rc && recording->framed)
        rc = make_frames(made);
    return rc ? rc : make_software(made);
}

static int push_frames(struct ct_record_capture *capture, uint8_t id, const uint8_t *bytes, size_t size)
{
    uint8_t frames[4096];
    int rc = CT_OK;
    while (!rc && size) {
        size_t used = 0, len = 0;
        rc = ct_framer_push(capture->framer, id, bytes, size, &used, frames, sizeof frames, &len);
        if (!rc)
            rc = ct_record_file_add(&capture->frames, frames, len);
        capture->shared.size += len;
        bytes += used;
        size -= used;
    }
    return rc;
}

/* Writes bytes as frames. With `padding` it adds 1 to 15 bytes of ID 0 from time to time. */
static int write_framed(struct core *core, const uint8_t *bytes, size_t size)
{
    static const uint8_t nothing[15];
    struct ct_record_capture *capture = core->capture;
    const int rc = push_frames(capture, core->options.source.trace_id, bytes, size);
    capture->unpadded += size;
    if (rc || !capture->o.padding || capture->unpadded < capture->o.padding)
        return rc;
    capture->unpadded = 0;
    return push_frames(capture, 0, nothing, 1 + (size_t)(capture->bytes % sizeof nothing));
}

static int write_trace(void *user, const uint8_t *bytes, size_t size)
{
    struct core *core = user;
    core->capture->bytes += size;
    if (core->capture->framer)
        return write_framed(core, bytes, size);
    core->own.size += size;
    return ct_record_file_add(&core->trace, bytes, size);
}

static int write_software(void *user, const uint8_t *bytes, size_t size)
{
    struct software *s = user;
    s->capture->bytes += size;
    if (s->capture->framer)
        return push_frames(s->capture, s->source.trace_id, bytes, size);
    return ct_record_file_add(&s->trace, bytes, size);
}

int ct_record_capture_access(struct ct_record_capture *capture, const struct ct_software_access *access)
{
    struct ct_software_access given = *access;
    if (access->piece >= capture->o.watched_count)
        return CT_OK;
    const struct ct_recording_watched *watched = &capture->o.watched[access->piece];
    const bool is_stm = watched->kind == CT_SOFTWARE_CHANNEL;
    if (watched->kind != CT_SOFTWARE_WATCHED && !access->store)
        return CT_OK;
    given.kind = watched->kind;
    given.comparator = watched->comparator;
    if (watched->kind != CT_SOFTWARE_WATCHED)
        given.addr -= capture->o.code_start + watched->start;
    return ct_software_take(capture->software[is_stm ? CT_RECORD_STM : CT_RECORD_ITM].writer, &given);
}

/* Calls a function for each source of software trace, until one fails. */
static int each_software(struct ct_record_capture *capture, int (*what)(struct ct_software *))
{
    int rc = CT_OK;
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE && !rc; i++)
        if (capture->software[i].writer)
            rc = what(capture->software[i].writer);
    return rc;
}

/* Writes a line of the truth file: whether it was traced, core, context ID, instruction set, first address,
 * end address, instructions. */
static int write_run(void *user, const struct ct_unit_run *run)
{
    static const char *const isas[] = {"a64", "a32", "t32"};
    const struct core *core = user;
    char line[160];
    const int size =
        snprintf(line, sizeof line, "%c %u %x %s %" PRIx64 " %" PRIx64 " %u\n", run->traced ? '+' : '-',
                 core->number, run->ctx, run->isa < 3 ? isas[run->isa] : "?", run->start, run->end, run->n);
    return core->capture->o.truth(core->capture->o.truth_user, line, (size_t)size);
}

/* ---- code that changes ---- */

/* Ends the current frames, which writes the framer's held bytes. */
static int end_frames(struct ct_record_capture *capture)
{
    uint8_t last[1024];
    size_t len = 0;
    const int rc = ct_framer_finish(capture->framer, last, sizeof last, &len);
    capture->shared.size += len;
    return rc ? rc : ct_record_file_add(&capture->frames, last, len);
}

/* Restarts everything that writes to the core's buffer. */
static int restart(struct core *core)
{
    struct ct_record_capture *capture = core->capture;
    if (!capture->framer)
        return ct_unit_restart(core->unit);
    int status = CT_OK;
    for (unsigned i = 0; i < capture->core_count && !status; i++)
        status = ct_unit_restart(capture->cores[i]->unit);
    if (!status)
        status = each_software(capture, ct_software_restart);
    if (!status)
        status = end_frames(capture);
    return status ? status : new_framer(capture);
}

static int begin_piece(struct core *core, uint32_t state)
{
    struct buffer *buffer = core->buffer;
    const int status = restart(core);
    if (status)
        return status;
    if (!CT_PUSH_ROOM(buffer->pieces, buffer->piece_count))
        return CT_ERR_NOMEM;
    buffer->pieces[buffer->piece_count++] = (struct ct_snapshot_piece){.from = buffer->size, .state = state};
    core->capture->piece_count++;
    core->capture->changed = true;
    buffer->state = state;
    return CT_OK;
}

static int renew(void *user, bool *good)
{
    struct core *core = user;
    struct buffer *buffer = core->buffer;
    uint32_t state;
    const int status = ct_states_find(core->capture->states, buffer->view, &state);
    *good = state < CT_STATES_MAX && core->capture->piece_count < PIECES_MAX;
    if (!status && !*good) /* this core's code is not traced, but code elsewhere still is */
        ct_states_restore(core->capture->states, buffer->state, buffer->view);
    return status || !*good || state == buffer->state ? status : begin_piece(core, state);
}

/* ---- cores ---- */

static void free_core(struct core *core)
{
    ct_unit_free(core->unit);
    ct_record_file_close(&core->trace);
    ct_code_view_free(core->own.view);
    free(core->own.pieces);
    free(core);
}

/* Sets up the options of a core's trace unit. */
static void set_up(struct core *core)
{
    struct ct_record_capture *capture = core->capture;
    struct ct_unit_wishes wishes = capture->o.wishes;
    core->options = capture->o.unit;
    wishes.trace_id = capture->o.ids[core->number];
    core->options.source.name = "ETM";
    ct_unit_source(&wishes, &core->options.source);
    core->options.seed += core->number;
    if (!capture->o.stream) {
        core->options.epoch = ct_code_view_epoch(core->buffer->view);
        core->options.renew = renew;
    }
    core->options.write = write_trace;
    core->options.run = capture->o.truth ? write_run : NULL;
    core->options.user = core;
}

/* Makes the next core. */
static int add_core(struct ct_record_capture *capture)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core)
        return ct_fail_nomem(capture->ctx, "a core");
    core->capture = capture;
    core->number = capture->core_count;
    core->buffer = capture->framer ? &capture->shared : &core->own;
    snprintf(core->file, sizeof core->file, capture->framer ? "trace.bin" : "trace_%u.bin", core->number);
    int rc = capture->framer ? CT_OK : ct_code_view_new(capture->code, &core->own.view);
    if (!rc)
        set_up(core);
    capture->changed = true;
    if (!rc && !capture->framer)
        rc = create(capture, core->file, &core->trace);
    if (!rc)
        rc = ct_unit_new(capture->ctx, &core->options, &core->unit);
    if (rc)
        free_core(core);
    else
        capture->cores[capture->core_count++] = core;
    return rc;
}

struct ct_unit *ct_record_capture_unit(struct ct_record_capture *capture, unsigned number, int *rc)
{
    *rc = CT_OK;
    while (!*rc && capture->core_count <= number)
        *rc = add_core(capture);
    return *rc ? NULL : capture->cores[number]->unit;
}

struct ct_code_view *ct_record_capture_view(struct ct_record_capture *capture, unsigned number)
{
    return capture->o.stream ? NULL : capture->cores[number]->buffer->view;
}

void ct_record_capture_changed(struct ct_record_capture *capture)
{
    capture->changed = true;
}

/* ---- description of the trace ---- */

static int find_program(struct ct_record_capture *capture, struct ct_record_programs *programs)
{
    const struct ct_recording *o = &capture->o;
    char *path = NULL;
    uint64_t bias = 0;
    if (o->system)
        return ct_recording_firmware(capture->ctx, o->argv, programs);
    int rc = ct_recording_program(capture->ctx, o, &path, &bias);
    if (!rc)
        rc = ct_record_programs_first(capture->ctx, programs, path, bias);
    free(path);
    return rc;
}

/* Puts the program's name into the capture. Only a warning if that fails, since the trace is still
 * complete. */
static void name_program(struct ct_record_capture *capture, struct ct_record_programs *programs)
{
    if (!capture->named && find_program(capture, programs))
        ct_log(capture->ctx, CT_LOG_WARNING, "%s", ct_ctx_error(capture->ctx));
    capture->named = true;
}

static int describe(struct ct_record_capture *capture, struct ct_record_programs *programs, const char *part)
{
    struct ct_snapshot_core cores[CT_RECORD_CORES];
    struct ct_snapshot_core software[CT_RECORD_SOFTWARE];
    size_t software_count = 0;
    char description[200];
    for (unsigned i = 0; i < capture->core_count; i++) {
        const struct core *core = capture->cores[i];
        cores[i] = (struct ct_snapshot_core){.source = &core->options.source,
                                             .number = core->number,
                                             .trace = core->file,
                                             .pieces = core->buffer->pieces,
                                             .piece_count = core->buffer->piece_count};
    }
    ct_recording_comparators(&capture->o, &capture->software[CT_RECORD_ITM].source.regs);
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE; i++)
        if (capture->software[i].writer)
            software[software_count++] = (struct ct_snapshot_core){.source = &capture->software[i].source,
                                                                   .trace = capture->software[i].file};
    name_program(capture, programs);
    snprintf(description, sizeof description, "%s, recorded by coretap %s", ct_base_name(capture->o.program),
             ct_version());
    const struct ct_snapshot snapshot = {.dir = capture->o.directory,
                                         .part = part,
                                         .model = capture->o.model,
                                         .description = description,
                                         .program_count = programs->count,
                                         .programs = programs->all,
                                         .framed = capture->framer,
                                         .core_count = capture->core_count,
                                         .cores = cores,
                                         .software_count = software_count,
                                         .software = software,
                                         .names = capture->names,
                                         .states = capture->states};
    return ct_snapshot_write(capture->ctx, &snapshot, capture->code);
}

/* Removes the folder of a checkpoint. All its files were written by coretap. */
static void remove_checkpoint(const struct ct_record_capture *capture, unsigned number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/part-%u", capture->o.directory, number);
    DIR *dir = number ? opendir(path) : NULL;
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(path);
}

/* Writes the held bytes of all files, even after one fails. */
static int release(struct ct_record_capture *capture)
{
    int rc = ct_record_file_release(capture->ctx, &capture->frames,
                                    capture->o.stream ? NULL : capture->o.directory,
                                    capture->o.stream ? capture->o.stream : "trace.bin");
    for (unsigned i = 0; i < capture->core_count; i++) {
        struct core *core = capture->cores[i];
        const int more = ct_record_file_release(capture->ctx, &core->trace, capture->o.directory, core->file);
        rc = rc ? rc : more;
    }
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE; i++) {
        struct software *s = &capture->software[i];
        const int more = s->trace.file
                             ? ct_record_file_release(capture->ctx, &s->trace, capture->o.directory, s->file)
                             : CT_OK;
        rc = rc ? rc : more;
    }
    return rc;
}

/* Describes the recording so far in a new folder, which then replaces the last one, so that there is a
 * complete description at any time. */
static int make_checkpoint(struct ct_record_capture *capture, struct ct_record_programs *programs)
{
    char part[32], path[4096];
    snprintf(part, sizeof part, "part-%u/", capture->checkpoint + 1);
    snprintf(path, sizeof path, "%s/%s", capture->o.directory, part);
    if (mkdir(path, 0777) && errno != EEXIST)
        return ct_fail(capture->ctx, CT_ERR_IO, "%s: cannot be created: %s; the capture ends there", path,
                       strerror(errno));
    const int code = describe(capture, programs, part);
    remove_checkpoint(capture, code ? capture->checkpoint + 1 : capture->checkpoint);
    capture->checkpoint += !code;
    capture->changed = false;
    return code;
}

static int64_t nanoseconds(const struct timespec *from, const struct timespec *to)
{
    return (to->tv_sec - from->tv_sec) * INT64_C(1000000000) + to->tv_nsec - from->tv_nsec;
}

int ct_record_capture_flush(struct ct_record_capture *capture, struct ct_record_programs *programs)
{
    struct timespec begin, end;
    if (capture->o.stream) {
        const int rc = each_software(capture, ct_software_flush);
        return rc ? rc : release(capture);
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (capture->checkpoint && nanoseconds(&capture->last, &begin) < capture->pause)
        return CT_OK;
    const int code = capture->changed ? make_checkpoint(capture, programs) : CT_OK;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const int64_t took = nanoseconds(&begin, &end);
    capture->last = end;
    capture->pause = took > PAUSE / SHARE ? took * SHARE : PAUSE;
    return code ? code : release(capture);
}

/* ---- the end ---- */

/* Warns of accesses that the program has kept out of the trace. */
static void tell_disabled(const struct ct_record_capture *capture)
{
    const struct ct_software *itm = capture->software[CT_RECORD_ITM].writer;
    const uint64_t disabled = itm ? ct_software_disabled(itm) : 0;
    if (disabled)
        ct_log(capture->ctx, CT_LOG_WARNING,
               "%s: %" PRIu64 " accesses are not in the trace of the ITM, because the firmware has disabled "
               "it, their stimulus port, or packets of the DWT (ITM_TCR, ITM_TER)",
               capture->o.directory, disabled);
}

/* Logs an error of one of the last steps, which all run. Returns whether there was an error. */
static bool failed(const struct ct_record_capture *capture, int rc)
{
    if (rc)
        ct_log(capture->ctx, CT_LOG_ERROR, "%s",
               rc == CT_ERR_NOMEM ? "out of memory" : ct_ctx_error(capture->ctx));
    return rc;
}

int ct_record_capture_names(struct ct_record_capture *capture, const struct ct_record_process *process)
{
    return ct_record_symbol_map(capture->ctx, process, capture->o.directory, &capture->names);
}

int ct_record_capture_finish(struct ct_record_capture *capture, struct ct_record_programs *programs)
{
    int rc = CT_OK;
    for (unsigned i = 0; i < capture->core_count && !rc; i++)
        rc = ct_unit_finish(capture->cores[i]->unit);
    if (!rc)
        rc = each_software(capture, ct_software_flush);
    tell_disabled(capture);
    if (!rc && capture->framer)
        rc = end_frames(capture);
    bool bad = failed(capture, rc);
    name_program(capture, programs);
    bad |= failed(capture, ct_record_programs_keep(capture->ctx, programs, capture->o.directory));
    bad |= failed(capture, describe(capture, programs, ""));
    remove_checkpoint(capture, capture->checkpoint);
    bad |= failed(capture, release(capture));
    return bad ? ct_fail(capture->ctx, CT_ERR_IO,
                         "%s: the capture is incomplete; the messages before say "
                         "why",
                         capture->o.directory)
               : CT_OK;
}

void ct_record_capture_sums(const struct ct_record_capture *capture, struct ct_record_result *result)
{
    result->bytes = capture->bytes;
    for (unsigned i = 0; i < capture->core_count; i++) {
        result->instructions += ct_unit_traced(capture->cores[i]->unit);
        result->untraceable += ct_unit_untraceable(capture->cores[i]->unit);
    }
}

void ct_record_capture_free(struct ct_record_capture *capture)
{
    if (!capture)
        return;
    for (unsigned i = 0; i < capture->core_count; i++)
        free_core(capture->cores[i]);
    ct_code_view_free(capture->shared.view);
    free(capture->shared.pieces);
    ct_states_free(capture->states);
    for (unsigned i = 0; i < CT_RECORD_SOFTWARE; i++) {
        ct_software_free(capture->software[i].writer);
        ct_record_file_close(&capture->software[i].trace);
    }
    ct_record_file_close(&capture->frames);
    ct_framer_free(capture->framer);
    free(capture);
}
