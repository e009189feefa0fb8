/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshot directories (docs/formats.md): snapshot.ini names the devices and the trace file; this file makes
 * a capture of them. */
#include "input/snapshot.h"
#include "base/elf_look.h"
#include "base/printable.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define MAIN "program" /* the section of the started program */

/* An ELF file that ran. */
struct program {
    const char *section;
    const char *where; /* "path:line: [section]" */
    const char *file;  /* NULL: not given */
    uint64_t bias;
    const char *build_id; /* in hexadecimal digits, or NULL */
};

struct snapshot {
    struct ct_opening *opening;
    const char *folder;
    const char *path; /* of snapshot.ini */
    const char *metadata;
    unsigned metadata_line;
    struct ct_ini_pair *device_files;
    size_t device_file_count;
    struct ct_device *devices;
    size_t device_count;
    struct ct_trace_file trace;
    struct program *programs;
    size_t program_count;
    struct ct_context_name *names;
    size_t name_count;
    bool model_told; /* a message about an unknown core model was logged */
};

static int snapshot_probe(const struct ct_files *files, const struct ct_path_to_open *target, char *why,
                          size_t cap)
{
    if (target->kind == CT_FILE_DIR) {
        char path[4096];
        uint64_t size;
        snprintf(path, sizeof path, "%s/snapshot.ini", target->path);
        if (files->look(files->user, path, &size) == CT_FILE_REGULAR)
            return 1;
        snprintf(why, cap, "this is a directory without a snapshot.ini");
        return 0;
    }
    if (strcmp(target->section, "snapshot") == 0)
        return 1;
    snprintf(why, cap,
             "this is neither a directory with a snapshot.ini nor a file that begins with [snapshot]");
    return 0;
}

/* ---- [program…], which only coretap writes: an ELF file that ran, by name ---- */

static int program_begin(struct snapshot *s, const struct ct_ini_item *item)
{
    struct ct_arena *arena = s->opening->arena;
    if (s->program_count == CT_IMAGES_MAX)
        return ct_fail(item->ctx, CT_ERR_LIMIT,
                       "%s:%u: the snapshot has more than %d programs, which is the "
                       "limit; remove some",
                       item->path, item->line, CT_IMAGES_MAX);
    struct program *programs = ct_arena_push(arena, s->programs, &s->program_count, sizeof *programs);
    const char *section = ct_arena_strdup(arena, item->section);
    const char *where = ct_arena_printf(arena, "%s:%u: [%s]", item->path, item->line, item->section);
    if (!programs || !where || !section)
        return ct_fail_nomem(item->ctx, item->path);
    s->programs = programs;
    programs[s->program_count - 1] = (struct program){.section = section, .where = where};
    return CT_OK;
}

/* coretap record escapes bytes of a path that cannot be printed (ct_put_printable), but not a backslash. So a
 * file with the path as it is written is preferred. */
static int find_escaped(const struct snapshot *s, struct program *program)
{
    const struct ct_files *files = s->opening->files;
    uint64_t size;
    if (!strchr(program->file, '\\') || files->look(files->user, program->file, &size) != CT_FILE_NONE)
        return CT_OK;
    char *path = ct_arena_strdup(s->opening->arena, program->file);
    if (!path)
        return ct_fail_nomem(s->opening->ctx, s->path);
    if (ct_unescape(path) && files->look(files->user, path, &size) == CT_FILE_REGULAR)
        program->file = path;
    return CT_OK;
}

static int on_program(struct snapshot *s, const struct ct_ini_item *item)
{
    struct program *program = &s->programs[s->program_count - 1];
    if (strcmp(item->key, "bias") == 0)
        return ct_ini_number(item, UINT64_MAX, &program->bias);
    if (strcmp(item->key, "build_id") == 0) {
        program->build_id = ct_arena_strdup(s->opening->arena, item->value);
        return program->build_id ? CT_OK : ct_fail_nomem(item->ctx, item->path);
    }
    if (strcmp(item->key, "elf") != 0)
        return CT_OK;
    return ct_ini_file(s->opening, s->folder, item, &program->file) ?: find_escaped(s, program);
}

/* Returns why the file cannot be the one that ran; NULL: it can. */
static const char *why_not(const struct snapshot *s, const struct program *program)
{
    const struct ct_files *files = s->opening->files;
    struct ct_elf_look elf;
    char id[2 * CT_BUILD_ID_MAX + 1];
    uint64_t size;
    enum ct_file_kind kind = files->look(files->user, program->file, &size);
    if (kind != CT_FILE_REGULAR)
        return kind == CT_FILE_NONE ? strerror(errno) : "it is not a regular file";
    if (!program->build_id || !files->read_at || !ct_elf_look(files, program->file, &elf))
        return NULL;
    ct_build_id_text(&elf.id, id);
    return strcmp(id, program->build_id) == 0 ? NULL
                                              : "its build id differs from that of the file that "
                                                "ran";
}

/* Searches for a file with the build id of the program elsewhere; NULL: none. */
static const char *find_by_id(const struct snapshot *s, const struct program *program)
{
    const struct ct_capture_options *options = s->opening->options;
    uint8_t id[CT_BUILD_ID_MAX];
    size_t size = 0;
    unsigned byte;
    const char *text = program->build_id ? program->build_id : "";
    const size_t bytes = strlen(text) / 2;
    while (size < sizeof id && size < bytes && sscanf(text + 2 * size, "%2x", &byte) == 1)
        id[size++] = (uint8_t)byte;
    const char *path = size && options->find_file ? options->find_file(options->user, id, size) : NULL;
    return path ? ct_arena_strdup(s->opening->arena, path) : NULL;
}

/* Warns that a program is missing, which is no damage (the trace decodes without it), and keeps its build id,
 * which a file given for it must have. */
static int tell_missing(const struct snapshot *s, const struct program *program, const char *why)
{
    const char *text = ct_arena_printf(
        s->opening->arena,
        "%s: %s%s%s; %s names it; its functions and lines are unknown; give the file that ran with --elf "
        "FILE@%llx%s",
        program->file, why, program->build_id ? ", build id " : "",
        program->build_id ? program->build_id : "", program->where, (unsigned long long)program->bias,
        program->build_id ? ", or a folder that contains it with --symdir DIR" : "");
    if (!text)
        return ct_fail_nomem(s->opening->ctx, s->path);
    const struct ct_image gone = {
        .path = program->file, .addr = program->bias, .space = CT_SPACE_ANY, .is_elf = 1};
    ct_log(s->opening->ctx, CT_LOG_WARNING, "%s", text);
    return ct_add_gone(s->opening, &gone, program->build_id) ?: ct_add_missing(s->opening, text);
}

static int add_program(struct snapshot *s, const struct program *program)
{
    struct ct_capture *capture = s->opening->capture;
    if (!program->file)
        return ct_fail(s->opening->ctx, CT_ERR_CONFIG,
                       "%.300s: the section has no elf=, so the functions of the program have no names; add "
                       "it",
                       program->where);
    const char *why = why_not(s, program);
    const char *found = why ? find_by_id(s, program) : NULL;
    if (why && !found)
        return tell_missing(s, program, why);
    capture->main_count +=
        strcmp(program->section, MAIN) == 0 && capture->main_count == capture->program_count;
    struct ct_image *programs =
        ct_arena_push(s->opening->arena, capture->programs, &capture->program_count, sizeof *programs);
    if (!programs)
        return ct_fail_nomem(s->opening->ctx, s->path);
    programs[capture->program_count - 1] = (struct ct_image){
        .path = found ? found : program->file, .addr = program->bias, .space = CT_SPACE_ANY, .is_elf = 1};
    capture->programs = programs;
    return CT_OK;
}

static int add_programs(struct snapshot *s)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < s->program_count; i++)
        rc = add_program(s, &s->programs[i]);
    return rc;
}

/* Handles a line of [symbol_map], which only coretap writes: file= names code that the program generated. */
static int on_symbol_map(struct snapshot *s, const struct ct_ini_item *item)
{
    struct ct_capture *capture = s->opening->capture;
    if (strcmp(item->key, "file") != 0)
        return ct_ini_fail(item, "file=, the name of a symbol map, is expected");
    const char **maps =
        ct_arena_push(s->opening->arena, capture->symbol_maps, &capture->symbol_map_count, sizeof *maps);
    if (!maps)
        return ct_fail_nomem(item->ctx, item->path);
    capture->symbol_maps = maps;
    return ct_ini_file(s->opening, s->folder, item, &maps[capture->symbol_map_count - 1]);
}

static int on_item(void *user, const struct ct_ini_item *item)
{
    struct snapshot *s = user;
    if (strncmp(item->section, "program", 7) == 0)
        return item->key ? on_program(s, item) : program_begin(s, item);
    if (!item->key)
        return CT_OK;
    if (strcmp(item->section, "symbol_map") == 0)
        return on_symbol_map(s, item);
    if (strcmp(item->section, "context") == 0)
        return ct_context_set(s->opening, item, &s->names, &s->name_count);
    if (strcmp(item->section, "device_list") == 0)
        return ct_pair_add(s->opening, item, &s->device_files, &s->device_file_count);
    if (strcmp(item->section, "trace") == 0 && strcmp(item->key, "metadata") == 0) {
        s->metadata = ct_arena_strdup(s->opening->arena, item->value);
        s->metadata_line = item->line;
        return s->metadata ? CT_OK : ct_fail_nomem(item->ctx, item->path);
    }
    if (strcmp(item->section, "snapshot") == 0 && strcmp(item->key, "version") == 0 &&
        strcmp(item->value, "1.0") != 0)
        ct_log(item->ctx, CT_LOG_NOTE, "%s:%u: version=%s is unknown; the snapshot is read as version 1.0",
               item->path, item->line, item->value);
    return CT_OK;
}

static const struct ct_device *find_device(const struct snapshot *s, const char *name)
{
    for (size_t i = 0; i < s->device_count; i++)
        if (strcmp(s->devices[i].name, name) == 0)
            return &s->devices[i];
    return NULL;
}

static int read_device(struct snapshot *s, const struct ct_ini_pair *pair)
{
    struct ct_arena *arena = s->opening->arena;
    const char *path = ct_path_of_file(s->opening, s->folder, pair->value);
    const char *wanted_by = ct_arena_printf(arena, "%s:%u: %s=", s->path, pair->line, pair->key);
    if (!path || !wanted_by)
        return ct_fail_nomem(s->opening->ctx, s->path);
    struct ct_device device;
    int status = ct_device_read(s->opening, path, wanted_by, s->folder, &device);
    if (status)
        return status;
    const struct ct_device *other = find_device(s, device.name);
    if (other)
        return ct_fail(
            s->opening->ctx, CT_ERR_CONFIG,
            "%.300s: name=%.100s: %.300s also has this name, so references to it are ambiguous; rename "
            "one",
            path, device.name, other->path);
    struct ct_device *devices = ct_arena_push(arena, s->devices, &s->device_count, sizeof device);
    if (!devices)
        return ct_fail_nomem(s->opening->ctx, s->path);
    s->devices = devices;
    devices[s->device_count - 1] = device;
    return CT_OK;
}

/* Finds the device that traces into a buffer according to `pair` of [source_buffers]. *out NULL: it is
 * skipped. */
static int find_source(const struct snapshot *s, const struct ct_ini_pair *pair, const struct ct_device **out)
{
    const struct ct_device *device = find_device(s, pair->key);
    struct ct_ctx *ctx = s->opening->ctx;
    *out = device;
    if (!device) {
        ct_log(ctx, CT_LOG_NOTE,
               "%s:%u: source %s has no device file, so its trace is not decoded; add a "
               "device section with this name",
               s->trace.path, pair->line, pair->key);
        return CT_OK;
    }
    if (device->class_name && strcmp(device->class_name, "trace_source") != 0)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%.300s:%u: %.100s is a device of class %.100s, not a trace source; name a device of class "
            "trace_source",
            s->trace.path, pair->line, pair->key, device->class_name);
    if (!device->type || ct_protocol_by_type(device->type) == CT_PROTOCOL_NONE)
        return ct_fail(
            ctx, CT_ERR_UNSUPPORTED,
            "%.300s: source %.100s: the protocol type=%.100s is unknown, so its trace cannot be decoded; "
            "expected ETM4, ETE, ETM3.x, PTM1.x, PFT1.x, STM or ITM",
            device->path, device->name, device->type ? device->type : "");
    return ct_regs_check(ctx, ct_protocol_by_type(device->type), device->given, device->path, device->name);
}

/* Finds the line that says which core `source` traces, or NULL. The first such line counts. */
static const struct ct_ini_pair *find_core(const struct snapshot *s, const char *source)
{
    for (size_t i = 0; i < s->trace.core_count; i++)
        if (strcmp(s->trace.cores[i].value, source) == 0)
            return &s->trace.cores[i];
    return NULL;
}

struct buffer_parts {
    struct ct_buffer buffer;
    struct ct_source *sources;
    struct ct_image *images;
};

/* Finds the architecture of the core that a source traces. Writers of snapshots only know the models of their
 * time and write "unknown" for later ones; 64-bit addresses still show what code the trace unit sees. */
static int find_arch(struct snapshot *s, const struct ct_device *core, struct ct_source *source)
{
    const bool wide = source->protocol == CT_PROTOCOL_ETE ||
                      (source->protocol == CT_PROTOCOL_ETM4 && (source->regs.idr2 & 0x1f) == 8); /* IASIZE */
    if (!wide || ct_arch_by_name(source->model, &source->arch) == CT_OK)
        return ct_core_arch(s->opening->ctx, core->path, core->name, source->model, &source->arch);
    if (!s->model_told)
        ct_log(
            s->opening->ctx, CT_LOG_NOTE,
            "%s: core %s: the model %s is unknown; its trace unit has 64-bit addresses, so it is decoded as "
            "ARM-AA64, the newest A-profile; give type= a name like Cortex-A53 or ARMv8.3-A if that is "
            "wrong",
            core->path, core->name, source->model);
    s->model_told = true;
    return ct_arch_by_name("ARM-AA64", &source->arch);
}

static int add_core(struct snapshot *s, struct buffer_parts *parts, struct ct_source *source)
{
    const struct ct_ini_pair *pair = find_core(s, source->name);
    if (!pair && !ct_protocol_is_software(source->protocol))
        ct_log(
            s->opening->ctx, CT_LOG_WARNING,
            "%s: no line of [core_trace_sources] tells which core source %s traces, so its architecture is "
            "unknown and it has no memory images; add CORE=%s with the name of the core",
            s->trace.path, source->name, source->name);
    if (!pair)
        return CT_OK;
    source->core = pair->key;
    const struct ct_device *core = find_device(s, pair->key);
    if (!core) {
        ct_log(
            s->opening->ctx, CT_LOG_NOTE,
            "%s:%u: core %s has no device file, so its architecture is unknown and it has no memory images; "
            "add a device section with this name",
            s->trace.path, pair->line, pair->key);
        return CT_OK;
    }
    source->model = core->type ? core->type : "";
    int status = find_arch(s, core, source);
    for (size_t i = 0; i < core->dump_count && !status; i++)
        status = ct_image_add(s->opening, &core->dumps[i], &parts->images, &parts->buffer.image_count);
    return status;
}

static int add_source(struct snapshot *s, struct buffer_parts *parts, const struct ct_ini_pair *pair)
{
    const struct ct_device *device;
    int status = find_source(s, pair, &device);
    if (status || !device)
        return status;
    for (size_t i = 0; i < parts->buffer.source_count; i++)
        if (strcmp(parts->sources[i].name, pair->key) == 0)
            return ct_fail(s->opening->ctx, CT_ERR_CONFIG,
                           "%.300s:%u: source %.100s appears twice for this buffer; remove one line",
                           s->trace.path, pair->line, pair->key);
    enum ct_protocol protocol = ct_protocol_by_type(device->type);
    struct ct_source source = {
        .name = device->name,
        .protocol = (uint8_t)protocol,
        .trace_id = ct_regs_trace_id(protocol, &device->regs),
        .regs = device->regs,
    };
    memcpy(source.events, device->events, sizeof source.events);
    status = add_core(s, parts, &source) ?: ct_source_name_events(s->opening, &source);
    if (status)
        return status;
    parts->sources =
        ct_arena_push(s->opening->arena, parts->sources, &parts->buffer.source_count, sizeof *parts->sources);
    if (!parts->sources)
        return ct_fail_nomem(s->opening->ctx, s->trace.path);
    parts->sources[parts->buffer.source_count - 1] = source;
    return CT_OK;
}

/* Finds the framing of a buffer from its format (docs/formats.md). Only the bytes of a dstream_coresight file
 * show whether it has footers, so that is AUTO. */
static int framing_by_format(const struct snapshot *s, const struct ct_buffer_section *section,
                             uint8_t *framing)
{
    static const struct {
        const char *format;
        uint8_t framing;
    } formats[] = {
        {"source_data", CT_FRAMING_NONE},
        {"coresight", CT_FRAMING_FRAMES},
        {"dstream_coresight", CT_FRAMING_AUTO},
    };
    for (size_t i = 0; section->format && i < sizeof formats / sizeof *formats; i++)
        if (strcmp(formats[i].format, section->format) == 0) {
            *framing = formats[i].framing;
            return CT_OK;
        }
    return ct_fail(s->opening->ctx, CT_ERR_CONFIG,
                   "%.300s:%u: [%.100s]: format=%.100s is unknown, so the trace cannot be read; expected "
                   "source_data, coresight or dstream_coresight",
                   s->trace.path, section->line, section->section, section->format ? section->format : "");
}

static int buffer_begin(struct snapshot *s, const struct ct_buffer_section *section, struct ct_buffer *buffer)
{
    struct ct_ctx *ctx = s->opening->ctx;
    if (!section->name || !*section->name || !section->file || !*section->file)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%.300s:%u: [%.100s]: %s= is missing; a buffer needs name=, file= and format=", s->trace.path,
            section->line, section->section, section->name && *section->name ? "file" : "name");
    int status = framing_by_format(s, section, &buffer->framing);
    if (status)
        return status;
    buffer->name = section->name;
    buffer->path = ct_path_of_file(s->opening, s->folder, section->file);
    if (!buffer->path)
        return ct_fail_nomem(ctx, s->trace.path);
    const char *why = ct_why_no_trace(s->opening->files, buffer->path);
    if (why)
        return ct_fail(
            ctx, CT_ERR_IO,
            "%.300s: cannot be read: %s; it is the trace of buffer %.100s (%.300s:%u); put the file there, "
            "or correct file=",
            buffer->path, why, buffer->name, s->trace.path, section->line);
    return CT_OK;
}

static int add_buffer(struct snapshot *s, const struct ct_buffer_section *section)
{
    struct ct_capture *capture = s->opening->capture;
    struct buffer_parts parts = {0};
    int status = buffer_begin(s, section, &parts.buffer);
    for (size_t i = 0; i < capture->buffer_count && !status; i++)
        if (strcmp(capture->buffers[i].name, section->name) == 0)
            status = ct_fail(s->opening->ctx, CT_ERR_CONFIG,
                             "%.300s:%u: another buffer also has name=%.100s, so sources cannot be assigned; "
                             "rename one",
                             s->trace.path, section->line, section->name);
    for (size_t i = 0; i < s->trace.source_count && !status; i++)
        if (strcmp(s->trace.sources[i].value, section->name) == 0)
            status = add_source(s, &parts, &s->trace.sources[i]);
    parts.buffer.sources = parts.sources;
    parts.buffer.images = parts.images;
    if (!status)
        status = ct_buffer_check_ids(s->opening->ctx, s->trace.path, &parts.buffer);
    if (status)
        return status;
    if (!parts.buffer.source_count)
        ct_log(s->opening->ctx, CT_LOG_WARNING,
               "%s: buffer %s has no usable source, so its trace cannot be decoded", s->trace.path,
               section->name);
    parts.buffer.sources = parts.sources;
    parts.buffer.images = parts.images;
    parts.buffer.names = s->names;
    parts.buffer.name_count = s->name_count;
    status = ct_snapshot_states_apply(s->opening, &s->trace.states, &parts.buffer);
    if (status)
        return status;
    capture->maps = s->trace.states.maps;
    struct ct_buffer *buffers =
        ct_arena_push(s->opening->arena, capture->buffers, &capture->buffer_count, sizeof *buffers);
    if (!buffers)
        return ct_fail_nomem(s->opening->ctx, s->trace.path);
    buffers[capture->buffer_count - 1] = parts.buffer;
    capture->buffers = buffers;
    return CT_OK;
}

static const struct ct_buffer_section *find_section(const struct ct_trace_file *trace, const char *name,
                                                    size_t size)
{
    for (size_t i = 0; i < trace->section_count; i++)
        if (strlen(trace->sections[i].section) == size && memcmp(trace->sections[i].section, name, size) == 0)
            return &trace->sections[i];
    return NULL;
}

/* Adds the buffers listed in buffers=, names separated by commas. */
static int add_buffers(struct snapshot *s)
{
    struct ct_ctx *ctx = s->opening->ctx;
    const struct ct_trace_file *trace = &s->trace;
    if (!trace->buffers)
        return ct_fail(ctx, CT_ERR_CONFIG,
                       "%.300s: [trace_buffers] has no buffers=, so there is no trace to read; add it",
                       trace->path);
    for (const char *name = trace->buffers; *name;) {
        size_t size = strcspn(name, ",");
        const char *next = name + size + (name[size] == ',');
        for (; size && (*name == ' ' || *name == '\t'); size--)
            name++;
        while (size && (name[size - 1] == ' ' || name[size - 1] == '\t'))
            size--;
        const struct ct_buffer_section *section = find_section(trace, name, size);
        if (size && !section)
            return ct_fail(
                ctx, CT_ERR_CONFIG,
                "%.300s:%u: buffers= names %.*s, but there is no section [%.*s]; add the section, or remove "
                "the name",
                trace->path, trace->buffers_line, (int)(size < 100 ? size : 100), name,
                (int)(size < 100 ? size : 100), name);
        int status = size ? add_buffer(s, section) : CT_OK;
        if (status)
            return status;
        name = next;
    }
    return CT_OK;
}

/* Warns of lines of [source_buffers] that name no buffer, which is probably a typing error. */
static void note_strays(const struct snapshot *s)
{
    const struct ct_capture *capture = s->opening->capture;
    for (size_t i = 0; i < s->trace.source_count; i++) {
        size_t k = 0;
        while (k < capture->buffer_count && strcmp(capture->buffers[k].name, s->trace.sources[i].value) != 0)
            k++;
        if (k == capture->buffer_count)
            ct_log(s->opening->ctx, CT_LOG_WARNING,
                   "%s:%u: %s=%s: no buffer has this name, so the source is ignored; correct the name",
                   s->trace.path, s->trace.sources[i].line, s->trace.sources[i].key,
                   s->trace.sources[i].value);
    }
}

/* Warns of a recording of coretap that did not come to its end. Its description is then still in one of the
 * folders part-1, part-2, ..., which each new description replaces. */
static void note_early_end(const struct snapshot *s)
{
    if (strncmp(s->metadata, "part-", 5) == 0 && strchr(s->metadata, '/'))
        ct_log(s->opening->ctx, CT_LOG_WARNING,
               "%s: the recording was not finished (its recorder failed, was killed, or still runs), so what "
               "ran later is missing; record again for all of it",
               s->path);
}

static int read_trace(struct snapshot *s)
{
    struct ct_arena *arena = s->opening->arena;
    if (!s->metadata)
        return ct_fail(
            s->opening->ctx, CT_ERR_CONFIG,
            "%.300s: [trace] has no metadata=, so there is no trace to read; add the name of the file that "
            "describes the trace buffers",
            s->path);
    const char *path = ct_path_of_file(s->opening, s->folder, s->metadata);
    const char *wanted_by = ct_arena_printf(arena, "%s:%u: metadata=", s->path, s->metadata_line);
    if (!path || !wanted_by)
        return ct_fail_nomem(s->opening->ctx, s->path);
    note_early_end(s);
    return ct_trace_file_read(s->opening, path, wanted_by, s->folder, &s->trace);
}

static int snapshot_open(struct ct_opening *opening, const struct ct_path_to_open *target)
{
    struct ct_arena *arena = opening->arena;
    struct snapshot s = {.opening = opening};
    int is_dir = target->kind == CT_FILE_DIR;
    s.path =
        is_dir ? ct_path_join(arena, target->path, "snapshot.ini") : ct_arena_strdup(arena, target->path);
    s.folder = s.path ? ct_path_folder(arena, s.path) : NULL;
    if (!s.folder)
        return ct_fail_nomem(opening->ctx, target->path);
    int status = ct_read_ini(opening, s.path, "the command", on_item, &s);
    for (size_t i = 0; i < s.device_file_count && !status; i++)
        status = read_device(&s, &s.device_files[i]);
    if (!status)
        status = read_trace(&s);
    if (!status)
        status = add_buffers(&s);
    if (!status)
        status = add_programs(&s);
    if (!status)
        note_strays(&s);
    return status;
}

const struct ct_reader ct_reader_snapshot = {
    .kind = "snapshot", .probe = snapshot_probe, .open = snapshot_open};
