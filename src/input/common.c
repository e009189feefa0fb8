/* SPDX-License-Identifier: Apache-2.0 */
/* Paths, .ini files and images, shared by all readers. */
#include "input/reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_look.h"

#define GONE_MAX 256 /* maximal number of files that ran and do not exist here */

const char *ct_path_folder(struct ct_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    return ct_arena_strndup(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

const char *ct_path_join(struct ct_arena *arena, const char *folder, const char *name)
{
    size_t size = strlen(folder);
    if (name[0] == '/' || size == 0)
        return ct_arena_strdup(arena, name);
    return ct_arena_printf(arena, "%s%s%s", folder, folder[size - 1] == '/' ? "" : "/", name);
}

const char *ct_path_of_file(struct ct_opening *opening, const char *folder, const char *name)
{
    const struct ct_files *files = opening->files;
    const char *path = ct_path_join(opening->arena, folder, name);
    uint64_t size;
    if (!path || !strchr(name, '\\') || files->look(files->user, path, &size) != CT_FILE_NONE)
        return path;
    char *slashed = ct_arena_strdup(opening->arena, path);
    for (char *c = slashed; c && *c; c++)
        if (*c == '\\')
            *c = '/';
    return !slashed || files->look(files->user, slashed, &size) != CT_FILE_NONE ? slashed : path;
}

int ct_ini_file(struct ct_opening *opening, const char *folder, const struct ct_ini_item *item,
                const char **path)
{
    const char *name = ct_ini_unquote(item);
    if (!name)
        return CT_ERR_FORMAT;
    if (!*name)
        return ct_ini_fail(item, "the name of a file is expected");
    *path = ct_path_of_file(opening, folder, name);
    return *path ? CT_OK : ct_fail_nomem(item->ctx, item->path);
}

int ct_read_ini(struct ct_opening *opening, const char *path, const char *wanted_by, ct_ini_fn *fn,
                void *user)
{
    struct ct_ctx *ctx = opening->ctx;
    uint64_t size;
    enum ct_file_kind kind = opening->files->look(opening->files->user, path, &size);
    if (kind == CT_FILE_NONE)
        return ct_fail(ctx, CT_ERR_IO,
                       "%.300s: cannot be read: %s; %.300s names it; put the file there, or "
                       "correct the name",
                       path, strerror(errno), wanted_by);
    if (kind != CT_FILE_REGULAR)
        return ct_fail(ctx, CT_ERR_IO,
                       "%.300s: this is not a regular file; %.300s names it as an .ini file; put "
                       "the file there, or correct the name",
                       path, wanted_by);
    if (size > opening->text_left)
        return ct_fail(
            ctx, CT_ERR_LIMIT,
            "%.300s: the .ini files of this capture are larger than %zu bytes together, so they are not "
            "read; check that this one is an .ini file",
            path, CT_INI_TEXT_MAX);
    char *text = malloc((size_t)size + 1);
    if (!text)
        return ct_fail_nomem(ctx, path);
    ssize_t n = opening->files->read(opening->files->user, path, text, (size_t)size);
    int status;
    if (n < 0) {
        status = ct_fail(ctx, CT_ERR_IO, "%.300s: cannot be read: %s", path, strerror(errno));
    } else {
        opening->text_left -= (size_t)n;
        status = ct_ini_parse(ctx, path, text, (size_t)n, fn, user);
    }
    free(text);
    return status;
}

const char *ct_why_no_trace(const struct ct_files *files, const char *path)
{
    uint64_t size;
    const enum ct_file_kind kind = files->look(files->user, path, &size);
    return kind == CT_FILE_REGULAR ? NULL
           : kind == CT_FILE_NONE  ? strerror(errno)
                                   : "it is a folder, a pipe or a device, not a regular file";
}

int ct_add_missing(struct ct_opening *opening, const char *text)
{
    struct ct_capture *capture = opening->capture;
    for (size_t i = 0; i < capture->missing_count; i++)
        if (strcmp(capture->missing[i], text) == 0)
            return CT_OK;
    const char *copy = ct_arena_strdup(opening->arena, text);
    const char **missing =
        ct_arena_push(opening->arena, capture->missing, &capture->missing_count, sizeof *missing);
    if (!copy || !missing)
        return ct_fail_nomem(opening->ctx, "list of missing files");
    missing[capture->missing_count - 1] = copy;
    capture->missing = missing;
    return CT_OK;
}

int ct_add_gone(struct ct_opening *opening, const struct ct_image *image, const char *build_id)
{
    struct ct_capture *capture = opening->capture;
    struct ct_arena *arena = opening->arena;
    for (size_t i = 0; i < capture->gone_count; i++)
        if (capture->gone[i].addr == image->addr && strcmp(capture->gone[i].path, image->path) == 0)
            return CT_OK;
    if (capture->gone_count == GONE_MAX)
        return CT_OK;
    size_t id_count = capture->gone_count;
    const char *path = ct_arena_strdup(arena, image->path);
    const char *id = build_id ? ct_arena_strdup(arena, build_id) : NULL;
    const char **ids = ct_arena_push(arena, capture->gone_build_ids, &id_count, sizeof *ids);
    struct ct_image *gone = ct_arena_push(arena, capture->gone, &capture->gone_count, sizeof *gone);
    if (!gone || !ids || !path || (build_id && !id))
        return ct_fail_nomem(opening->ctx, "list of missing files");
    gone[capture->gone_count - 1] = *image;
    gone[capture->gone_count - 1].path = path;
    ids[capture->gone_count - 1] = id;
    capture->gone = gone;
    capture->gone_build_ids = ids;
    return CT_OK;
}

/* Returns whether the same is known of the same file, because another core names it too. */
static bool is_told(const struct ct_capture *capture, const char *path, const char *fact)
{
    const size_t size = strlen(path);
    for (size_t i = 0; i < capture->missing_count; i++) {
        const char *text = capture->missing[i];
        if (!strncmp(text, path, size) && !strncmp(text + size, ": ", 2) &&
            !strncmp(text + size + 2, fact, strlen(fact)))
            return true;
    }
    return false;
}

static int add_missing(struct ct_opening *opening, const char *path, const char *fact, const char *where)
{
    if (is_told(opening->capture, path, fact))
        return CT_OK;
    const char *text = ct_arena_printf(opening->arena,
                                       "%s: %s; %s names it; instructions at its addresses "
                                       "cannot be decoded",
                                       path, fact, where);
    int rc = text ? ct_add_missing(opening, text) : ct_fail_nomem(opening->ctx, "list of missing files");
    if (!rc)
        ct_log(opening->ctx, CT_LOG_NOTE, "%s", text);
    return rc;
}

/* Returns whether bytes of memory come from an ELF file whose code was linked for other addresses than it
 * would have as memory. */
static bool is_linked_elsewhere(const struct ct_files *files, const struct ct_image_spec *spec)
{
    struct ct_elf_look elf;
    if (spec->is_elf || spec->offset || !files->read_at || !ct_elf_look(files, spec->file, &elf) ||
        !elf.is_fixed || (elf.maps_head && elf.head_addr == spec->addr))
        return false;
    for (size_t i = 0; i < elf.code_count; i++)
        if (elf.code[i].addr - elf.code[i].offset == spec->addr)
            return false;
    return elf.code_count > 0;
}

int ct_image_add(struct ct_opening *opening, const struct ct_image_spec *spec, struct ct_image **images,
                 size_t *count)
{
    uint64_t size;
    enum ct_file_kind kind = opening->files->look(opening->files->user, spec->file, &size);
    if (opening->images_left == 0)
        return ct_fail(opening->ctx, CT_ERR_LIMIT,
                       "%s: the capture has more than %d images, which is the "
                       "limit; remove some",
                       spec->where, CT_IMAGES_MAX);
    opening->images_left--;
    if (kind == CT_FILE_NONE)
        return add_missing(opening, spec->file, strerror(errno), spec->where);
    if (kind != CT_FILE_REGULAR)
        return add_missing(opening, spec->file, "it is not a regular file", spec->where);
    if (spec->offset >= size)
        return add_missing(opening, spec->file, "it ends before the offset of the image", spec->where);
    struct ct_image image = {
        .path = spec->file,
        .addr = spec->addr,
        .offset = spec->offset,
        .size = size - spec->offset,
        .space = spec->space ? spec->space : CT_SPACE_ANY,
        .is_elf = spec->is_elf,
    };
    if (spec->has_size && spec->size > image.size)
        ct_log(opening->ctx, CT_LOG_WARNING,
               "%s: length= is 0x%llx, but only 0x%llx bytes of %s follow the offset; only these are used",
               spec->where, (unsigned long long)spec->size, (unsigned long long)image.size, spec->file);
    else if (spec->has_size)
        image.size = spec->size;
    if (is_linked_elsewhere(opening->files, spec)) {
        ct_log(
            opening->ctx, CT_LOG_NOTE,
            "%s: %s is an ELF file that was linked for other addresses; its segments are used at these, and "
            "address= and length= are ignored",
            spec->where, spec->file);
        image.is_elf = 1;
        image.addr = 0;
        image.size = size;
    }
    if (!image.is_elf && image.size && image.size - 1 > UINT64_MAX - image.addr)
        return ct_fail(
            opening->ctx, CT_ERR_CONFIG,
            "%s: 0x%llx bytes from address 0x%llx on exceed the 64-bit address space; correct the address or "
            "the length",
            spec->where, (unsigned long long)image.size, (unsigned long long)image.addr);
    for (size_t i = 0; i < *count; i++)
        if (ct_image_same(&(*images)[i], &image))
            return CT_OK;
    struct ct_image *room = ct_arena_push(opening->arena, *images, count, sizeof image);
    if (!room)
        return ct_fail_nomem(opening->ctx, "list of images");
    room[*count - 1] = image;
    *images = room;
    return CT_OK;
}

int ct_core_arch(struct ct_ctx *ctx, const char *where, const char *core, const char *model,
                 struct ct_arch *arch)
{
    if (ct_arch_by_name(model, arch) == CT_OK)
        return CT_OK;
    return ct_fail(
        ctx, CT_ERR_CONFIG,
        "%.300s: core %.100s: the model %.100s is unknown, so its instruction set is unknown too; give a "
        "name like Cortex-A53, an architecture like ARMv8.3-A, or ARM-AA64",
        where, core, model);
}

int ct_buffer_check_ids(struct ct_ctx *ctx, const char *path, const struct ct_buffer *buffer)
{
    const struct ct_source *by_id[128] = {NULL};
    if (buffer->framing == CT_FRAMING_NONE) {
        if (buffer->source_count > 1)
            ct_log(ctx, CT_LOG_NOTE,
                   "%s: buffer %s has several sources but no frames that separate them; "
                   "all of its bytes are decoded as those of %s",
                   path, buffer->name, buffer->sources[0].name);
        return CT_OK;
    }
    for (size_t i = 0; i < buffer->source_count; i++) {
        const struct ct_source *source = &buffer->sources[i];
        const struct ct_source *other = by_id[source->trace_id];
        if (source->trace_id == 0 || source->trace_id >= 0x70)
            ct_log(ctx, CT_LOG_WARNING,
                   "%s: buffer %s: source %s has trace ID 0x%02x, which is reserved, so no trace is found "
                   "for it; correct its ID register to 1 to 0x6f",
                   path, buffer->name, source->name, (unsigned)source->trace_id);
        else if (other)
            return ct_fail(
                ctx, CT_ERR_CONFIG,
                "%.300s: buffer %.100s: sources %.100s and %.100s both have trace ID 0x%02x, so their trace "
                "cannot be separated; correct the ID of one",
                path, buffer->name, other->name, source->name, (unsigned)source->trace_id);
        by_id[source->trace_id] = source;
    }
    return CT_OK;
}
