/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* st_mtim */
#include "fleet/capture_files.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "base/path.h"
#include "coretap/input.h"

/* Deepest nested folder of a snapshot that is searched. */
#define DEPTH 8

struct finder {
    struct ct_ctx *ctx;
    struct ct_capture_files *out;
};

/* Adds a file. */
static int add(const struct finder *f, const char *name, const char *path)
{
    struct ct_capture_files *out = f->out;
    struct ct_capture_file *list = ct_arena_push(&out->arena, out->list, &out->count, sizeof *list);
    if (!list)
        return ct_fail_nomem(f->ctx, path);
    out->list = list;
    list[out->count - 1].name = ct_arena_strdup(&out->arena, name);
    list[out->count - 1].path = ct_arena_strdup(&out->arena, path);
    return list[out->count - 1].name && list[out->count - 1].path ? CT_OK : ct_fail_nomem(f->ctx, path);
}

/* Adds a file that is no part of a snapshot. A pipe or a device, which may never end, is refused. */
static int add_alone(const struct finder *f, const char *name, const char *path)
{
    struct stat st;
    if (!stat(path, &st) && !S_ISREG(st.st_mode))
        return ct_fail(f->ctx, CT_ERR_IO,
                       "%s: is a pipe or a device, so the capture cannot be identified by its contents; "
                       "replace it with a copy of the trace in a file",
                       path);
    return add(f, name, path);
}

bool ct_folder_enter(struct ct_folder *folder, const struct ct_folder *outer, const struct stat *st)
{
    *folder = (struct ct_folder){.outer = outer, .device = st->st_dev, .number = st->st_ino};
    while (outer && (outer->device != st->st_dev || outer->number != st->st_ino))
        outer = outer->outer;
    return !outer;
}

static int add_folder(const struct finder *f, const char *name, const char *path, int depth,
                      const struct ct_folder *self);

/* Adds a file, or the files of a folder. A dangling link is skipped. */
static int add_entry(const struct finder *f, const char *name, const char *path, int depth,
                     const struct ct_folder *outer)
{
    struct ct_folder self;
    struct stat st;
    if (stat(path, &st))
        return errno == ENOENT || errno == ELOOP
                   ? CT_OK
                   : ct_fail(f->ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return depth < DEPTH && ct_folder_enter(&self, outer, &st)
                   ? add_folder(f, name, path, depth + 1, &self)
                   : CT_OK;
    return S_ISREG(st.st_mode) ? add(f, name, path) : CT_OK;
}

static int add_folder(const struct finder *f, const char *name, const char *path, int depth,
                      const struct ct_folder *self)
{
    DIR *folder = opendir(path);
    if (!folder)
        return ct_fail(f->ctx, CT_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    int rc = CT_OK;
    const struct dirent *entry;
    while (!rc && (entry = readdir(folder))) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        struct ct_arena *arena = &f->out->arena;
        const char *inner = ct_arena_printf(arena, "%s%s%s", name, *name ? "/" : "", entry->d_name);
        const char *whole = ct_arena_printf(arena, "%s/%s", path, entry->d_name);
        rc = inner && whole ? add_entry(f, inner, whole, depth, self) : ct_fail_nomem(f->ctx, path);
    }
    closedir(folder);
    return rc;
}

/* Adds all files in the folder of a capture. */
static int add_all(const struct finder *f, const char *path)
{
    struct ct_folder self;
    struct stat st;
    if (stat(path, &st))
        return ct_fail(f->ctx, CT_ERR_IO, "%s: cannot be found: %s", path, strerror(errno));
    ct_folder_enter(&self, NULL, &st);
    return add_folder(f, "", path, 0, &self);
}

/* Adds the trace files that the description of a raw trace names. Other captures are one file, like those
 * that cannot be opened. */
static int add_buffers(const struct finder *f, const char *path)
{
    struct ct_capture *capture;
    struct ct_ctx *quiet = ct_ctx_new(); /* errors in the capture are reported when it is decoded */
    if (!quiet)
        return ct_fail_nomem(f->ctx, path);
    int rc = ct_capture_open(quiet, path, &capture);
    if (rc) {
        ct_ctx_free(quiet);
        return rc == CT_ERR_NOMEM ? ct_fail_nomem(f->ctx, path) : CT_OK;
    }
    for (size_t i = 0; i < capture->buffer_count && !rc; i++)
        if (strcmp(capture->buffers[i].path, path) != 0)
            rc = add_alone(f, ct_base_name(capture->buffers[i].path), capture->buffers[i].path);
    ct_capture_free(capture);
    ct_ctx_free(quiet);
    return rc;
}

static int by_name(const void *a, const void *b)
{
    const struct ct_capture_file *x = a, *y = b;
    return strcmp(x->name, y->name) ?: strcmp(x->path, y->path);
}

int ct_capture_files_find(struct ct_ctx *ctx, const char *path, struct ct_capture_files *out)
{
    const struct finder f = {.ctx = ctx, .out = out};
    struct stat st;
    if (stat(path, &st))
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be found: %s", path, strerror(errno));
    int rc = CT_OK;
    if (S_ISDIR(st.st_mode)) {
        rc = add_all(&f, path);
    } else if (!strcmp(ct_base_name(path), "snapshot.ini")) {
        const char *folder = ct_arena_strndup(&out->arena, path, (size_t)(ct_base_name(path) - path));
        rc = !folder ? ct_fail_nomem(ctx, path) : add_all(&f, *folder ? folder : ".");
    } else {
        rc = add_alone(&f, "", path) ?: add_buffers(&f, path);
    }
    if (out->count > 1)
        qsort(out->list, out->count, sizeof *out->list, by_name);
    return rc;
}

/* ---- notes ---- */

/* Room for the size and time of a file in a note. */
#define NUMBERS 80

static void tell_numbers(const struct stat *st, char out[NUMBERS])
{
    snprintf(out, NUMBERS, "%" PRIu64 " %" PRId64 ".%09ld", (uint64_t)st->st_size,
             (int64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
}

/* A note has two texts for each file, size with time and path, and ends with an empty text. */
int ct_capture_files_note(struct ct_ctx *ctx, const struct ct_capture_files *files, FILE *out, uint64_t *size)
{
    *size = 0;
    for (size_t i = 0; i < files->count; i++) {
        const char *path = files->list[i].path;
        char numbers[NUMBERS];
        struct stat st;
        if (stat(path, &st))
            return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
        tell_numbers(&st, numbers);
        *size += (uint64_t)st.st_size;
        fprintf(out, "%s%c%s%c", numbers, 0, path, 0);
    }
    fputc(0, out);
    return !fflush(out) ? CT_OK
                        : ct_fail(ctx, CT_ERR_IO,
                                  "the list of files that were read cannot be "
                                  "written: %s",
                                  strerror(errno));
}

/* Returns the text at *at, and moves behind it; NULL when its end is missing. */
static const char *next_text(const char **at, const char *end)
{
    const char *text = *at;
    const char *zero = memchr(text, 0, (size_t)(end - text));
    *at = zero ? zero + 1 : end;
    return zero ? text : NULL;
}

size_t ct_capture_note_holds(const char *text, size_t size)
{
    if (!size)
        return 0;
    const char *at = text, *numbers;
    while ((numbers = next_text(&at, text + size)) && *numbers) {
        const char *path = next_text(&at, text + size);
        char now[NUMBERS];
        struct stat st;
        if (!path || stat(path, &st))
            return 0;
        tell_numbers(&st, now);
        if (strcmp(now, numbers) != 0)
            return 0;
    }
    return numbers ? (size_t)(at - text) : 0;
}

void ct_capture_files_free(struct ct_capture_files *files)
{
    ct_arena_free(&files->arena);
    files->list = NULL;
    files->count = 0;
}
