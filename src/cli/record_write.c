/* SPDX-License-Identifier: Apache-2.0 */
/* The capture that is being recorded: trace files, truth, and at the end what describes them. */
#include "cli/output.h"
#include "cli/record.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "coretap/frame.h"
#include "coretap/encode.h"
#include "record/snapshot.h"
#include "record/states.h"

#define FIRST_ID 0x10
#define LAST_ID  0x6f

#define PIECES_MAX ((size_t)1 << 17) /* of all buffers: what lists them is to stay readable */

#define PAUSE (INT64_C(500) * 1000 * 1000) /* nanoseconds between checkpoints, at least */
#define SHARE 20                           /* of the time that one took is there none after it */

/* One buffer of the capture. */
struct buffer {
    struct ct_code_view *view;        /* who writes into it sees code so */
    uint32_t state;                   /* of what is written now */
    uint64_t size;                    /* bytes */
    struct ct_snapshot_piece *pieces; /* where it changed */
    size_t piece_count;
};

struct core {
    struct cli_record_out *out;
    unsigned number;
    struct ct_unit *unit;
    struct ct_unit_options options;
    struct cli_record_trace trace; /* none when framed */
    char file[32];
    struct buffer own;
    struct buffer *buffer; /* its own or, framed, that of all */
};

struct cli_record_out {
    struct ct_ctx *ctx;
    struct cli_record_options o;
    struct core *cores[RECORD_CORES];
    unsigned core_count;
    struct ct_framer *framer;
    struct cli_record_trace frames;
    struct buffer shared; /* the frames */
    struct ct_code *code;
    struct ct_states *states;
    size_t piece_count;
    struct cli_output truth;
    bool changed;         /* since the last checkpoint: code, states, cores or files */
    bool named;           /* the program is among the files that ran */
    unsigned checkpoint;  /* number of the last one; 0: none yet */
    struct timespec last; /* when that was */
    int64_t pause;        /* nanoseconds from it to the next one, at least */
    uint64_t bytes;
    uint64_t unpadded; /* bytes since the last padding */
};

const char *cli_record_ids(const char *text, uint8_t ids[RECORD_CORES])
{
    bool taken[128] = {false};
    unsigned count = 0;
    while (text && *text) {
        char *end;
        const unsigned long id = strtoul(text, &end, 16);
        if (end == text || (*end && *end != ','))
            return "expected hexadecimal numbers with commas between them";
        if (id < 1 || id > LAST_ID || taken[id])
            return "a trace ID is from 1 to 6f, and given once";
        if (count == RECORD_CORES)
            return "more than there can be cores";
        taken[id] = true;
        ids[count++] = (uint8_t)id;
        text = end + (*end == ',');
    }
    for (unsigned id = FIRST_ID; count < RECORD_CORES; id = id == LAST_ID ? 1 : id + 1)
        if (!taken[id])
            taken[id] = true, ids[count++] = (uint8_t)id;
    return NULL;
}

static bool create(const struct cli_record_out *out, const char *name, struct cli_record_trace *trace)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", out->o.dir, name);
    return cli_record_trace_open(trace, path);
}

static int new_framer(struct cli_record_out *out)
{
    const struct ct_framer_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    ct_framer_free(out->framer);
    out->framer = NULL;
    return ct_framer_new(out->ctx, &options, &out->framer);
}

int cli_record_out_new(struct ct_ctx *ctx, const struct cli_record_options *options, struct ct_code *code,
                       struct cli_record_out **out)
{
    struct cli_record_out *o = calloc(1, sizeof *o);
    *out = o;
    if (!o) {
        cli_no_memory();
        return CLI_FAILED;
    }
    o->ctx = ctx;
    o->o = *options;
    o->code = code;
    if (ct_states_new(ctx, code, &o->states) || ct_code_view_new(code, &o->shared.view))
        return cli_library_error(ctx);
    if (mkdir(options->dir, 0777) && errno != EEXIST) {
        cli_say("%s: cannot be created: %s", options->dir, strerror(errno));
        return CLI_FAILED;
    }
    struct stat about;
    char path[4096];
    snprintf(path, sizeof path, "%s/snapshot.ini", options->dir);
    if (stat(path, &about) == 0) {
        cli_say("%s: there is a capture in it already; name a directory that is new or empty", options->dir);
        return CLI_FAILED;
    }
    if (options->truth && !cli_output_open(&o->truth, options->truth))
        return CLI_FAILED;
    if (!options->framed)
        return CLI_CLEAN;
    if (new_framer(o))
        return cli_library_error(ctx);
    if (!options->stream)
        return create(o, "trace.bin", &o->frames) ? CLI_CLEAN : CLI_FAILED;
    if (cli_record_live(options))
        return CLI_FAILED;
    return cli_record_trace_open(&o->frames, options->stream) ? CLI_CLEAN : CLI_FAILED;
}

static int push_frames(struct cli_record_out *out, uint8_t id, const uint8_t *bytes, size_t size)
{
    uint8_t frames[4096];
    while (size) {
        size_t used, len;
        if (ct_framer_push(out->framer, id, bytes, size, &used, frames, sizeof frames, &len))
            return -1;
        if (cli_record_trace_add(&out->frames, frames, len))
            return -1;
        out->shared.size += len;
        bytes += used;
        size -= used;
    }
    return 0;
}

/* With padding now and then: bytes of ID 0, from 1 to 15 of them. */
static int write_framed(struct core *core, const uint8_t *bytes, size_t size)
{
    static const uint8_t nothing[15];
    struct cli_record_out *out = core->out;
    if (push_frames(out, core->options.source.trace_id, bytes, size))
        return -1;
    out->unpadded += size;
    if (!out->o.padding || out->unpadded < out->o.padding)
        return 0;
    out->unpadded = 0;
    return push_frames(out, 0, nothing, 1 + (size_t)(out->bytes % sizeof nothing));
}

static int write_trace(void *user, const uint8_t *bytes, size_t size)
{
    struct core *core = user;
    core->out->bytes += size;
    if (core->out->framer)
        return write_framed(core, bytes, size);
    core->own.size += size;
    return cli_record_trace_add(&core->trace, bytes, size);
}

/* A line: traced or not, core, context ID, instruction set, first address, address behind, instructions. */
static int write_run(void *user, const struct ct_unit_run *run)
{
    static const char *const isas[] = {"a64", "a32", "t32"};
    const struct core *core = user;
    return fprintf(core->out->truth.file, "%c %u %x %s %" PRIx64 " %" PRIx64 " %u\n", run->traced ? '+' : '-',
                   core->number, run->ctx, run->isa < 3 ? isas[run->isa] : "?", run->start, run->end,
                   run->n) < 0
               ? -1
               : 0;
}

/* ---- code that changes ---- */

/* What is left of the frames so far. */
static int end_frames(struct cli_record_out *out)
{
    uint8_t last[1024];
    size_t len = 0;
    if (ct_framer_finish(out->framer, last, sizeof last, &len))
        return -1;
    out->shared.size += len;
    return cli_record_trace_add(&out->frames, last, len);
}

/* Everything that goes into the buffer of the core begins afresh. */
static int restart(struct core *core)
{
    struct cli_record_out *out = core->out;
    if (!out->framer)
        return ct_unit_restart(core->unit);
    int status = CT_OK;
    for (unsigned i = 0; i < out->core_count && !status; i++)
        status = ct_unit_restart(out->cores[i]->unit);
    if (!status && end_frames(out))
        status = CT_ERR_IO;
    return status ? status : new_framer(out);
}

static int begin_piece(struct core *core, uint32_t state)
{
    struct buffer *buffer = core->buffer;
    const int status = restart(core);
    if (status)
        return status;
    struct ct_snapshot_piece *pieces =
        realloc(buffer->pieces, (buffer->piece_count + 1) * sizeof *buffer->pieces);
    if (!pieces)
        return CT_ERR_NOMEM;
    pieces[buffer->piece_count++] = (struct ct_snapshot_piece){.from = buffer->size, .state = state};
    core->out->piece_count++;
    core->out->changed = true;
    buffer->pieces = pieces;
    buffer->state = state;
    return CT_OK;
}

static int renew(void *user, bool *good)
{
    struct core *core = user;
    struct buffer *buffer = core->buffer;
    uint32_t state;
    const int status = ct_states_find(core->out->states, buffer->view, &state);
    *good = state < CT_STATES_MAX && core->out->piece_count < PIECES_MAX;
    if (!status && !*good) /* what runs there is not traced, what comes elsewhere is */
        ct_states_restore(core->out->states, buffer->state, buffer->view);
    return status || !*good || state == buffer->state ? status : begin_piece(core, state);
}

/* ---- cores ---- */

static void free_core(struct core *core)
{
    ct_unit_free(core->unit);
    cli_record_trace_close(&core->trace);
    ct_code_view_free(core->own.view);
    free(core->own.pieces);
    free(core);
}

static struct core *new_core(struct cli_record_out *out, unsigned number)
{
    struct core *core = calloc(1, sizeof *core);
    if (!core) {
        cli_no_memory();
        return NULL;
    }
    core->out = out;
    core->number = number;
    core->options = out->o.unit;
    struct ct_unit_wishes wishes = out->o.wishes;
    wishes.trace_id = out->o.ids[number];
    core->options.source.name = "ETM";
    ct_arch_by_name("ARM-AA64", &core->options.source.arch);
    ct_unit_source(&wishes, &core->options.source);
    core->options.seed += number;
    core->buffer = out->framer ? &out->shared : &core->own;
    if (!out->framer && ct_code_view_new(out->code, &core->own.view)) {
        cli_library_error(out->ctx);
        free_core(core);
        return NULL;
    }
    if (!out->o.stream) {
        core->options.epoch = ct_code_view_epoch(core->buffer->view);
        core->options.renew = renew;
    }
    core->options.write = write_trace;
    core->options.run = out->truth.file ? write_run : NULL;
    core->options.user = core;
    snprintf(core->file, sizeof core->file, out->framer ? "trace.bin" : "trace_%u.bin", number);
    out->changed = true;
    if (!out->framer && !create(out, core->file, &core->trace)) {
        free_core(core);
        return NULL;
    }
    if (ct_unit_new(out->ctx, &core->options, &core->unit)) {
        cli_library_error(out->ctx);
        free_core(core);
        return NULL;
    }
    return core;
}

struct ct_unit *cli_record_out_unit(struct cli_record_out *out, unsigned number)
{
    while (out->core_count <= number) {
        struct core *core = new_core(out, out->core_count);
        if (!core)
            return NULL;
        out->cores[out->core_count++] = core;
    }
    return out->cores[number]->unit;
}

struct ct_code_view *cli_record_out_view(struct cli_record_out *out, unsigned number)
{
    return out->o.stream ? NULL : out->cores[number]->buffer->view;
}

void cli_record_out_changed(struct cli_record_out *out)
{
    out->changed = true;
}

/* ---- what describes the trace ---- */

/* The trace is whole without its name. */
static void name_program(struct cli_record_out *out, struct cli_record_programs *programs)
{
    char *path = NULL;
    uint64_t bias = 0;
    if (!out->named && !out->o.system && cli_record_program(&out->o, &path, &bias) == CLI_CLEAN)
        (void)cli_record_programs_first(programs, path, bias);
    out->named = true;
    free(path);
}

static int describe(struct cli_record_out *out, struct cli_record_programs *programs, const char *part)
{
    struct ct_snapshot_core cores[RECORD_CORES];
    char description[200];
    for (unsigned i = 0; i < out->core_count; i++) {
        const struct core *core = out->cores[i];
        cores[i] = (struct ct_snapshot_core){.source = &core->options.source,
                                             .number = core->number,
                                             .trace = core->file,
                                             .pieces = core->buffer->pieces,
                                             .piece_count = core->buffer->piece_count};
    }
    name_program(out, programs);
    const char *slash = strrchr(out->o.program, '/');
    snprintf(description, sizeof description, "%s, recorded by coretap %s",
             slash ? slash + 1 : out->o.program, ct_version());
    const struct ct_snapshot snapshot = {.dir = out->o.dir,
                                         .part = part,
                                         .model = "ARM-AA64",
                                         .description = description,
                                         .program_count = programs->count,
                                         .programs = programs->all,
                                         .framed = out->framer,
                                         .core_count = out->core_count,
                                         .cores = cores,
                                         .states = out->states};
    return ct_snapshot_write(out->ctx, &snapshot, out->code) ? cli_library_error(out->ctx) : CLI_CLEAN;
}

/* Removes the folder of a checkpoint: all files in it are of coretap. */
static void remove_checkpoint(const struct cli_record_out *out, unsigned number)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/part-%u", out->o.dir, number);
    DIR *dir = number ? opendir(path) : NULL;
    if (!dir)
        return;
    for (const struct dirent *entry; (entry = readdir(dir));)
        unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    rmdir(path);
}

static int release(struct cli_record_out *out)
{
    bool fine = cli_record_trace_release(&out->frames, out->o.stream ? NULL : out->o.dir,
                                         out->o.stream ? out->o.stream : "trace.bin");
    for (unsigned i = 0; i < out->core_count; i++)
        fine = cli_record_trace_release(&out->cores[i]->trace, out->o.dir, out->cores[i]->file) && fine;
    return fine ? CLI_CLEAN : CLI_FAILED;
}

/* Describes what ran up to now in a new folder, which then takes the place of the last
 * one: at any time one is whole. */
static int make_checkpoint(struct cli_record_out *out, struct cli_record_programs *programs)
{
    char part[32], path[4096];
    snprintf(part, sizeof part, "part-%u/", out->checkpoint + 1);
    snprintf(path, sizeof path, "%s/%s", out->o.dir, part);
    if (mkdir(path, 0777) && errno != EEXIST) {
        cli_say("%s: cannot be created: %s; the capture ends there", path, strerror(errno));
        return CLI_FAILED;
    }
    const int code = describe(out, programs, part);
    remove_checkpoint(out, code ? out->checkpoint + 1 : out->checkpoint);
    out->checkpoint += !code;
    out->changed = false;
    return code;
}

static int64_t nanoseconds(const struct timespec *from, const struct timespec *to)
{
    return (to->tv_sec - from->tv_sec) * INT64_C(1000000000) + to->tv_nsec - from->tv_nsec;
}

int cli_record_out_flush(struct cli_record_out *out, struct cli_record_programs *programs)
{
    struct timespec begin, end;
    if (out->o.stream)
        return release(out);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    if (out->checkpoint && nanoseconds(&out->last, &begin) < out->pause)
        return CLI_CLEAN;
    const int code = out->changed ? make_checkpoint(out, programs) : CLI_CLEAN;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const int64_t took = nanoseconds(&begin, &end);
    out->last = end;
    out->pause = took > PAUSE / SHARE ? took * SHARE : PAUSE;
    return code ? code : release(out);
}

/* ---- the end ---- */

int cli_record_out_finish(struct cli_record_out *out, struct cli_record_programs *programs)
{
    int result = CLI_CLEAN;
    for (unsigned i = 0; i < out->core_count; i++)
        if (ct_unit_finish(out->cores[i]->unit))
            result = cli_library_error(out->ctx);
    if (out->framer && end_frames(out))
        result = cli_library_error(out->ctx);
    result |= describe(out, programs, "");
    remove_checkpoint(out, out->checkpoint);
    result |= release(out);
    return result ? CLI_FAILED : CLI_CLEAN;
}

/* Closes the truth; `keep`: the recording went well up to its end. */
static int close_truth(struct cli_record_out *out, bool keep)
{
    struct cli_output *truth = &out->truth;
    return cli_output_close_all(&truth, 1, keep) ? CLI_CLEAN : CLI_FAILED;
}

int cli_record_out_keep_truth(struct cli_record_out *out)
{
    return close_truth(out, !cli_lacked_memory(out->ctx));
}

uint64_t cli_record_out_traced(const struct cli_record_out *out)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < out->core_count; i++)
        sum += ct_unit_traced(out->cores[i]->unit);
    return sum;
}

uint64_t cli_record_out_untraceable(const struct cli_record_out *out)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < out->core_count; i++)
        sum += ct_unit_untraceable(out->cores[i]->unit);
    return sum;
}

uint64_t cli_record_out_bytes(const struct cli_record_out *out)
{
    return out->bytes;
}

void cli_record_out_free(struct cli_record_out *out)
{
    if (!out)
        return;
    for (unsigned i = 0; i < out->core_count; i++)
        free_core(out->cores[i]);
    ct_code_view_free(out->shared.view);
    free(out->shared.pieces);
    ct_states_free(out->states);
    cli_record_trace_close(&out->frames);
    close_truth(out, false);
    ct_framer_free(out->framer);
    free(out);
}
