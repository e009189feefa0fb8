/* SPDX-License-Identifier: Apache-2.0 */
/* Raw trace files, described by a small .ini (docs/formats.md): [capture], [source NAME], [image NAME],
 * [event SOURCE], [context], [gap]. It is written by hand, so anything unknown is an error with its line. */
#include "input/reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum section {
    SECTION_NONE,
    SECTION_CAPTURE,
    SECTION_SOURCE,
    SECTION_IMAGE,
    SECTION_GAP,
    SECTION_EVENT,
    SECTION_CONTEXT,
};

struct raw_source {
    const char *where; /* "path:line: [source NAME]" */
    struct ct_source source;
    uint64_t given; /* mask of the registers that are given */
    uint8_t has_id;
};

struct raw_gap {
    const char *where;
    uint64_t at; /* 0: not given */
};

/* Names of events, for one source or for all. */
struct raw_events {
    const char *where;
    const char *source; /* "": all */
    const char *names[CT_SOURCE_EVENTS];
};

struct raw_image {
    struct ct_image_spec spec;
    uint8_t has_bias, has_offset;
};

struct raw {
    struct ct_opening *opening;
    const char *path, *folder;
    enum section section;
    uint32_t seen; /* keys of the current section, as bits of key_table */
    unsigned capture_line;
    struct raw_events *events;
    size_t event_count;
    struct ct_buffer buffer;
    struct raw_source *sources;
    size_t source_count;
    struct raw_image *images;
    size_t image_count;
    struct raw_gap *gaps;
    size_t gap_count;
    struct ct_context_name *names;
};

static int raw_probe(const struct ct_files *files, const struct ct_path_to_open *target, char *why,
                     size_t cap)
{
    (void)files;
    if (strcmp(target->section, "capture") == 0)
        return 1;
    snprintf(
        why, cap, "%s",
        target->kind == CT_FILE_REGULAR
            ? "the file does not begin with [capture]; a raw trace is opened by the .ini file that describes "
              "it"
            : "this is not a regular file");
    return 0;
}

static int set_text(struct raw *raw, const struct ct_ini_item *item, const char **slot)
{
    const char *value = ct_ini_unquote(item);
    if (!value)
        return CT_ERR_FORMAT;
    if (!*value)
        return ct_ini_fail(item, "a value is expected");
    *slot = ct_arena_strdup(raw->opening->arena, value);
    return *slot ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

static int set_path(struct raw *raw, const struct ct_ini_item *item, const char **slot)
{
    int status = set_text(raw, item, slot);
    if (status)
        return status;
    *slot = ct_path_of_file(raw->opening, raw->folder, *slot);
    return *slot ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

/* ---- keys: each sets one member of the current section ---- */

static struct raw_source *source(const struct raw *raw)
{
    return &raw->sources[raw->source_count - 1];
}

static struct raw_image *image(const struct raw *raw)
{
    return &raw->images[raw->image_count - 1];
}

static int capture_file(struct raw *raw, const struct ct_ini_item *item)
{
    if (strcmp(item->value, "-") == 0)
        return set_text(raw, item, &raw->buffer.path);
    return set_path(raw, item, &raw->buffer.path);
}

static int capture_name(struct raw *raw, const struct ct_ini_item *item)
{
    return set_text(raw, item, &raw->buffer.name);
}

static int capture_symbol_map(struct raw *raw, const struct ct_ini_item *item)
{
    struct ct_capture *capture = raw->opening->capture;
    const char **maps =
        ct_arena_push(raw->opening->arena, capture->symbol_maps, &capture->symbol_map_count, sizeof *maps);
    if (!maps)
        return ct_fail_nomem(item->ctx, item->path);
    capture->symbol_maps = maps;
    return set_path(raw, item, maps);
}

static int capture_framing(struct raw *raw, const struct ct_ini_item *item)
{
    for (unsigned i = CT_FRAMING_AUTO; i <= CT_FRAMING_DSTREAM; i++)
        if (strcmp(ct_framing_name((enum ct_framing)i), item->value) == 0) {
            raw->buffer.framing = (uint8_t)i;
            return CT_OK;
        }
    return ct_ini_fail(item, "the framing is unknown; expected auto, none, frames, tpiu or dstream");
}

static int source_protocol(struct raw *raw, const struct ct_ini_item *item)
{
    source(raw)->source.protocol = (uint8_t)ct_protocol_by_type(item->value);
    if (source(raw)->source.protocol == CT_PROTOCOL_NONE)
        return ct_ini_fail(item, "the protocol is unknown; expected etmv4i, ete, etmv3, ptm, stm or itm");
    return CT_OK;
}

static int source_id(struct raw *raw, const struct ct_ini_item *item)
{
    uint64_t id = 0;
    int status = ct_ini_number(item, 0x6f, &id);
    if (!status && id == 0)
        status = ct_ini_fail(item, "0 is not a trace ID; expected 1 to 0x6f");
    source(raw)->source.trace_id = (uint8_t)id;
    source(raw)->has_id = 1;
    return status;
}

static int source_core(struct raw *raw, const struct ct_ini_item *item)
{
    struct ct_source *s = &source(raw)->source;
    int status = set_text(raw, item, &s->model);
    s->core = s->name; /* no other name is known */
    return status ? status : ct_core_arch(item->ctx, source(raw)->where, s->model, s->model, &s->arch);
}

static int source_sync(struct raw *raw, const struct ct_ini_item *item)
{
    struct ct_source *s = &source(raw)->source;
    s->without_sync = strcmp(item->value, "none") == 0;
    return s->without_sync || strcmp(item->value, "packets") == 0
               ? CT_OK
               : ct_ini_fail(item, "it is unknown how the trace synchronises; expected packets or none");
}

static int image_file(struct raw *raw, const struct ct_ini_item *item)
{
    return set_path(raw, item, &image(raw)->spec.file);
}

static int image_elf(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->spec.is_elf = 1;
    return set_path(raw, item, &image(raw)->spec.file);
}

static int image_address(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->spec.has_addr = 1;
    return ct_ini_number(item, UINT64_MAX, &image(raw)->spec.addr);
}

static int image_bias(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->has_bias = 1;
    return ct_ini_number(item, UINT64_MAX, &image(raw)->spec.addr);
}

static int image_offset(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->has_offset = 1;
    return ct_ini_number(item, UINT64_MAX, &image(raw)->spec.offset);
}

static int image_length(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->spec.has_size = 1;
    return ct_ini_number(item, UINT64_MAX, &image(raw)->spec.size);
}

static int image_space(struct raw *raw, const struct ct_ini_item *item)
{
    image(raw)->spec.space = ct_space_by_name(item->value);
    return image(raw)->spec.space
               ? CT_OK
               : ct_ini_fail(item, "the memory space is unknown; expected EL1S, EL1N, EL1R, EL2S, EL2N, "
                                   "EL2R, EL3, ROOT, S, N, R or ANY");
}

static int gap_at(struct raw *raw, const struct ct_ini_item *item)
{
    uint64_t *at = &raw->gaps[raw->gap_count - 1].at;
    const uint64_t before = raw->gap_count > 1 ? raw->gaps[raw->gap_count - 2].at : 0;
    const int status = ct_ini_number(item, INT64_MAX, at);
    return status || *at > before ? status
                                  : ct_ini_fail(item, "the offset must be greater than that of the previous "
                                                      "gap");
}

static const struct key {
    enum section section;
    const char *name;
    int (*set)(struct raw *raw, const struct ct_ini_item *item);
} key_table[] = {
    {SECTION_CAPTURE, "file", capture_file},       {SECTION_CAPTURE, "framing", capture_framing},
    {SECTION_CAPTURE, "name", capture_name},       {SECTION_CAPTURE, "symbol_map", capture_symbol_map},
    {SECTION_SOURCE, "protocol", source_protocol}, {SECTION_SOURCE, "id", source_id},
    {SECTION_SOURCE, "core", source_core},         {SECTION_SOURCE, "sync", source_sync},
    {SECTION_IMAGE, "file", image_file},           {SECTION_IMAGE, "elf", image_elf},
    {SECTION_IMAGE, "address", image_address},     {SECTION_IMAGE, "bias", image_bias},
    {SECTION_IMAGE, "offset", image_offset},       {SECTION_IMAGE, "length", image_length},
    {SECTION_IMAGE, "space", image_space},         {SECTION_GAP, "at", gap_at},
};

static int on_key(struct raw *raw, const struct ct_ini_item *item)
{
    static const char *const expected[] = {
        [SECTION_NONE] = "a section [capture], [source NAME] or [image NAME] before the first key",
        [SECTION_CAPTURE] = "file, framing, name or symbol_map",
        [SECTION_SOURCE] = "protocol, id, core, sync or the name of a register of a trace source",
        [SECTION_IMAGE] = "file, address, offset, length and space, or elf, bias and space",
        [SECTION_GAP] = "at",
        [SECTION_EVENT] = "the name of an event and its number, 0 to 3",
        [SECTION_CONTEXT] = "the name of a context and its ID",
    };
    for (size_t i = 0; i < sizeof key_table / sizeof *key_table; i++) {
        if (key_table[i].section != raw->section || strcmp(key_table[i].name, item->key) != 0)
            continue;
        if (raw->seen & 1u << i)
            return ct_ini_fail(item, "the key appears twice in this section; keep the correct line");
        raw->seen |= 1u << i;
        return key_table[i].set(raw, item);
    }
    int known = 0;
    int status = CT_OK;
    if (raw->section == SECTION_EVENT)
        return ct_event_set(raw->opening, item, raw->events[raw->event_count - 1].names);
    if (raw->section == SECTION_CONTEXT)
        return ct_context_set(raw->opening, item, &raw->names, &raw->buffer.name_count);
    if (raw->section == SECTION_SOURCE)
        status = ct_regs_set(item, &source(raw)->source.regs, &source(raw)->given, &known);
    if (status || known)
        return status;
    return ct_ini_fail(item, "the key is unknown; expected %s", expected[raw->section]);
}

/* ---- the sections ---- */

/* Returns NAME in a section header "KIND NAME": "" without a name, NULL for another kind. */
static const char *name_after(const char *section, const char *kind)
{
    size_t size = strlen(kind);
    if (strncmp(section, kind, size) != 0 || (section[size] && section[size] != ' ' && section[size] != '\t'))
        return NULL;
    return section + size + strspn(section + size, " \t");
}

static int begin_capture(struct raw *raw, const struct ct_ini_item *item)
{
    raw->section = SECTION_CAPTURE;
    if (raw->capture_line)
        return ct_ini_fail(
            item,
            "this section appears twice (first in line %u), but a raw .ini file describes one trace; "
            "remove one",
            raw->capture_line);
    raw->capture_line = item->line;
    return CT_OK;
}

static int begin_source(struct raw *raw, const struct ct_ini_item *item, const char *name, const char *where)
{
    raw->section = SECTION_SOURCE;
    if (!*name)
        return ct_ini_fail(item, "the source has no name; expected [source NAME]");
    for (size_t i = 0; i < raw->source_count; i++)
        if (strcmp(raw->sources[i].source.name, name) == 0)
            return ct_ini_fail(item, "another source already has this name; rename one");
    if (raw->source_count == CT_ITEMS_MAX)
        return ct_ini_fail(item, "there are more than %d sources, which is the limit; remove some",
                           CT_ITEMS_MAX);
    struct raw_source entry = {.where = where, .source.name = ct_arena_strdup(raw->opening->arena, name)};
    ct_regs_defaults(&entry.source.regs);
    struct raw_source *room =
        ct_arena_push(raw->opening->arena, raw->sources, &raw->source_count, sizeof entry);
    if (!entry.source.name || !room)
        return ct_fail_nomem(item->ctx, item->path);
    room[raw->source_count - 1] = entry;
    raw->sources = room;
    return CT_OK;
}

static int begin_image(struct raw *raw, const struct ct_ini_item *item, const char *where)
{
    raw->section = SECTION_IMAGE;
    if (raw->image_count == CT_IMAGES_MAX)
        return ct_ini_fail(item, "there are more than %d images, which is the limit; remove some",
                           CT_IMAGES_MAX);
    struct raw_image *room = ct_arena_push(raw->opening->arena, raw->images, &raw->image_count, sizeof *room);
    if (!room)
        return ct_fail_nomem(item->ctx, item->path);
    room[raw->image_count - 1] = (struct raw_image){.spec.where = where};
    raw->images = room;
    return CT_OK;
}

static int begin_gap(struct raw *raw, const struct ct_ini_item *item, const char *where)
{
    raw->section = SECTION_GAP;
    if (raw->gap_count && !raw->gaps[raw->gap_count - 1].at)
        return ct_ini_fail(item, "the previous gap has no at=; add it");
    struct raw_gap *room = ct_arena_push(raw->opening->arena, raw->gaps, &raw->gap_count, sizeof *room);
    if (!room)
        return ct_fail_nomem(item->ctx, item->path);
    room[raw->gap_count - 1] = (struct raw_gap){.where = where};
    raw->gaps = room;
    return CT_OK;
}

static int begin_events(struct raw *raw, const struct ct_ini_item *item, const char *name, const char *where)
{
    raw->section = SECTION_EVENT;
    struct raw_events *room =
        ct_arena_push(raw->opening->arena, raw->events, &raw->event_count, sizeof *room);
    const char *source = room ? ct_arena_strdup(raw->opening->arena, name) : NULL;
    if (!source)
        return ct_fail_nomem(item->ctx, item->path);
    room[raw->event_count - 1] = (struct raw_events){.where = where, .source = source};
    raw->events = room;
    return CT_OK;
}

static int on_item(void *user, const struct ct_ini_item *item)
{
    struct raw *raw = user;
    if (item->key)
        return on_key(raw, item);
    const char *where =
        ct_arena_printf(raw->opening->arena, "%s:%u: [%s]", item->path, item->line, item->section);
    if (!where)
        return ct_fail_nomem(item->ctx, item->path);
    raw->seen = 0;
    const char *name = name_after(item->section, "source");
    if (name)
        return begin_source(raw, item, name, where);
    if (name_after(item->section, "image"))
        return begin_image(raw, item, where);
    if (strcmp(item->section, "capture") == 0)
        return begin_capture(raw, item);
    if (name_after(item->section, "gap"))
        return begin_gap(raw, item, where);
    name = name_after(item->section, "event");
    if (name)
        return begin_events(raw, item, name, where);
    if (strcmp(item->section, "context") == 0) {
        raw->section = SECTION_CONTEXT;
        return CT_OK;
    }
    return ct_ini_fail(item, "the section is unknown; expected [capture], [source NAME], [image NAME], "
                             "[event SOURCE], [context] or [gap]");
}

/* ---- checks after everything was read ---- */

static int finish_source(struct raw *raw, struct raw_source *entry)
{
    struct ct_ctx *ctx = raw->opening->ctx;
    struct ct_source *s = &entry->source;
    if (s->protocol == CT_PROTOCOL_NONE)
        return ct_fail(ctx, CT_ERR_CONFIG,
                       "%s: the section has no protocol=, so its bytes cannot be decoded; add one of etmv4i, "
                       "ete, etmv3, ptm, stm "
                       "and itm",
                       entry->where);
    if (s->without_sync && s->protocol != CT_PROTOCOL_ITM)
        return ct_fail(ctx, CT_ERR_CONFIG,
                       "%s: only an ITM can be decoded without synchronisation packets; remove sync=none",
                       entry->where);
    int stated = ct_regs_id_given(s->protocol, entry->given);
    uint8_t in_register = ct_regs_trace_id(s->protocol, &s->regs);
    if (stated && entry->has_id && in_register != s->trace_id)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%s: id= is 0x%02x, but the register with the trace ID says 0x%02x; one of them is enough; "
            "correct or remove the other",
            entry->where, (unsigned)s->trace_id, (unsigned)in_register);
    if (!stated && !entry->has_id && raw->buffer.framing != CT_FRAMING_NONE)
        return ct_fail(ctx, CT_ERR_CONFIG,
                       "%s: the section has no id=, so its bytes cannot be separated from those of other "
                       "sources; add id=, or "
                       "framing=none in [capture] if the trace has no frames",
                       entry->where);
    if (stated)
        s->trace_id = in_register;
    else
        ct_regs_put_id(s->protocol, s->trace_id, &s->regs, &entry->given);
    return ct_regs_check(ctx, s->protocol, entry->given, raw->path, s->name);
}

/* Sets the event names of sources. A section for one source takes precedence. */
static int finish_events(struct raw *raw)
{
    int status = CT_OK;
    for (size_t i = 0; i < raw->event_count; i++) {
        const struct raw_events *events = &raw->events[i];
        bool found = !*events->source;
        for (size_t k = 0; k < raw->source_count; k++) {
            struct ct_source *s = &raw->sources[k].source;
            const bool is_own = strcmp(events->source, s->name) == 0;
            found |= is_own;
            for (unsigned n = 0; (is_own || !*events->source) && n < CT_SOURCE_EVENTS; n++)
                if (events->names[n] && (is_own || !s->events[n]))
                    s->events[n] = events->names[n];
        }
        if (!found)
            return ct_fail(
                raw->opening->ctx, CT_ERR_CONFIG,
                "%s: no source has this name, so the capture was not opened; use the name of a [source NAME] "
                "section, or omit it for all sources",
                events->where);
    }
    for (size_t k = 0; k < raw->source_count && !status; k++)
        status = ct_source_name_events(raw->opening, &raw->sources[k].source);
    return status;
}

static int finish_sources(struct raw *raw)
{
    struct ct_source *list = ct_arena_alloc(raw->opening->arena, raw->source_count * sizeof *list);
    if (!list)
        return ct_fail_nomem(raw->opening->ctx, raw->path);
    for (size_t i = 0; i < raw->source_count; i++) {
        int status = finish_source(raw, &raw->sources[i]);
        if (status)
            return status;
    }
    const int named = finish_events(raw);
    if (named)
        return named;
    for (size_t i = 0; i < raw->source_count; i++)
        list[i] = raw->sources[i].source;
    raw->buffer.sources = list;
    raw->buffer.source_count = raw->source_count;
    return ct_buffer_check_ids(raw->opening->ctx, raw->path, &raw->buffer);
}

static int finish_images(struct raw *raw)
{
    struct ct_ctx *ctx = raw->opening->ctx;
    struct ct_image *list = NULL;
    for (size_t i = 0; i < raw->image_count; i++) {
        const struct raw_image *entry = &raw->images[i];
        const struct ct_image_spec *spec = &entry->spec;
        int elf_only = spec->is_elf || entry->has_bias;
        int file_only = spec->has_addr || spec->has_size || entry->has_offset || !spec->is_elf;
        if (!spec->file || (elf_only && file_only) || (!elf_only && !spec->has_addr))
            return ct_fail(ctx, CT_ERR_CONFIG,
                           "%s: the image has no complete description, so its bytes and addresses are "
                           "unknown; give file= and address= (and optionally offset= and length=), or elf= "
                           "(and optionally bias=)",
                           spec->where);
        int status = ct_image_add(raw->opening, spec, &list, &raw->buffer.image_count);
        if (status)
            return status;
    }
    raw->buffer.images = list;
    return CT_OK;
}

/* Returns the end of the trace, or the maximum when it is unknown. */
static uint64_t end_of_trace(const struct raw *raw)
{
    const struct ct_files *files = raw->opening->files;
    uint64_t size = 0;
    return files->look(files->user, raw->buffer.path, &size) == CT_FILE_REGULAR ? size : UINT64_MAX;
}

/* Splits the trace into pieces at gaps, where trace is missing. A gap may be after the end of the trace. */
static int finish_gaps(struct raw *raw)
{
    const size_t count = raw->gap_count;
    if (!count)
        return CT_OK;
    if (!raw->gaps[count - 1].at)
        return ct_fail(raw->opening->ctx, CT_ERR_CONFIG,
                       "%s: the section has no at=, so the position of the gap is unknown; add at= with the "
                       "offset of the first "
                       "byte after it",
                       raw->gaps[count - 1].where);
    const uint64_t end = end_of_trace(raw);
    struct ct_piece *pieces = ct_arena_alloc(raw->opening->arena, (count + 1) * sizeof *pieces);
    if (!pieces)
        return ct_fail_nomem(raw->opening->ctx, raw->path);
    for (size_t i = 0; i <= count; i++) {
        const uint64_t from = i ? raw->gaps[i - 1].at : 0;
        pieces[i] = (struct ct_piece){.offset = from,
                                      .size = i == count              ? UINT64_MAX
                                              : raw->gaps[i].at < end ? raw->gaps[i].at - from
                                              : from < end            ? end - from
                                                                      : 0,
                                      .time = CT_NO_TIME,
                                      .tid = CT_NO_THREAD,
                                      .cut = i < count};
    }
    raw->buffer.pieces = pieces;
    raw->buffer.piece_count = count + 1;
    return CT_OK;
}

static int finish_capture(struct raw *raw)
{
    struct ct_ctx *ctx = raw->opening->ctx;
    const struct ct_files *files = raw->opening->files;
    if (!raw->buffer.path)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%s:%u: [capture]: the section has no file=, so there is no trace to read; add file= with the "
            "name of the trace file, or - for standard input",
            raw->path, raw->capture_line);
    if (strcmp(raw->buffer.path, "-") != 0) {
        const char *why = ct_why_no_trace(files, raw->buffer.path);
        if (why)
            return ct_fail(ctx, CT_ERR_IO,
                           "%.300s: cannot be read: %s; it is the trace of %.300s; put the file there, or "
                           "correct file=",
                           raw->buffer.path, why, raw->path);
    }
    if (!raw->buffer.name)
        raw->buffer.name = "trace";
    if (!raw->source_count)
        ct_log(ctx, CT_LOG_WARNING,
               "%s: the file has no [source NAME] section, so the trace cannot be decoded; add "
               "one for each source",
               raw->path);
    return finish_sources(raw) ?: finish_images(raw) ?: finish_gaps(raw);
}

static int raw_open(struct ct_opening *opening, const struct ct_path_to_open *target)
{
    struct raw raw = {
        .opening = opening,
        .path = target->path,
        .folder = ct_path_folder(opening->arena, target->path),
    };
    if (!raw.folder)
        return ct_fail_nomem(opening->ctx, target->path);
    int status = ct_read_ini(opening, target->path, "the command", on_item, &raw) ?: finish_capture(&raw);
    struct ct_buffer *buffer = status ? NULL : ct_arena_alloc(opening->arena, sizeof *buffer);
    if (!buffer)
        return status ? status : ct_fail_nomem(opening->ctx, target->path);
    *buffer = raw.buffer;
    buffer->names = raw.names;
    opening->capture->buffers = buffer;
    opening->capture->buffer_count = 1;
    return CT_OK;
}

const struct ct_reader ct_reader_raw = {.kind = "raw", .probe = raw_probe, .open = raw_open};
