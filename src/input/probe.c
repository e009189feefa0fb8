/* SPDX-License-Identifier: Apache-2.0 */
#include "input/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/require.h"

static const struct ct_reader *const readers[] = {
    &ct_reader_snapshot,
    &ct_reader_raw,
    &ct_reader_perf,
};

/* A capture and the memory of everything it points to. */
struct owned_capture {
    struct ct_capture capture; /* first, so that its address is that of the whole */
    struct ct_arena arena;
};

static int note_section(void *user, const struct ct_ini_item *item)
{
    struct ct_path_to_open *target = user;
    snprintf(target->section, sizeof target->section, "%s", item->section);
    return CT_ERR_LIMIT; /* ends the parsing */
}

static int look_at(struct ct_ctx *ctx, const struct ct_files *files, const char *path,
                   struct ct_path_to_open *target)
{
    target->path = path;
    target->kind = files->look(files->user, path, &target->size);
    if (target->kind == CT_FILE_NONE)
        return ct_fail(
            ctx, CT_ERR_IO,
            "%s: cannot be opened: %s; name a snapshot directory, the .ini file of a raw trace, or a "
            "perf.data file",
            *path ? path : "''", strerror(errno));
    if (target->kind != CT_FILE_REGULAR)
        return CT_OK;
    ssize_t n = files->read(files->user, path, target->head, sizeof target->head);
    if (n < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    target->head_size = (size_t)n;
    int status = ct_ini_parse(NULL, path, target->head, target->head_size, note_section, target);
    return status == CT_ERR_NOMEM ? ct_fail_nomem(ctx, path) : CT_OK;
}

static int open_with(struct ct_ctx *ctx, const struct ct_files *files,
                     const struct ct_capture_options *options, const struct ct_reader *reader,
                     const struct ct_path_to_open *target, struct ct_capture **out)
{
    struct owned_capture *owned = calloc(1, sizeof *owned);
    if (!owned)
        return ct_fail_nomem(ctx, target->path);
    owned->capture.kind = reader->kind;
    owned->capture.path = ct_arena_strdup(&owned->arena, target->path);
    struct ct_opening opening = {
        .ctx = ctx,
        .files = files,
        .options = options,
        .arena = &owned->arena,
        .capture = &owned->capture,
        .text_left = CT_INI_TEXT_MAX,
        .images_left = CT_IMAGES_MAX,
    };
    int status = owned->capture.path ? reader->open(&opening, target) : ct_fail_nomem(ctx, target->path);
    if (!status)
        status = ct_capture_labels(&opening);
    if (status) {
        ct_capture_free(&owned->capture);
        return status;
    }
    *out = &owned->capture;
    return CT_OK;
}

static const struct ct_capture_options no_options = {.size = sizeof no_options};

int ct_capture_open_files(struct ct_ctx *ctx, const struct ct_files *files, const char *path,
                          const struct ct_capture_options *options, struct ct_capture **out)
{
    char reasons[900] = "";
    struct ct_path_to_open target = {0};
    *out = NULL;
    if (strcmp(path, "-") == 0)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "-: standard input holds only the bytes of a trace, not their description; describe them in an "
            ".ini file with file=- and open that");
    int status = look_at(ctx, files, path, &target);
    if (status)
        return status;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) {
        char why[256] = "";
        if (readers[i]->probe(files, &target, why, sizeof why))
            return open_with(ctx, files, options ? options : &no_options, readers[i], &target, out);
        size_t used = strlen(reasons);
        snprintf(reasons + used, sizeof reasons - used, "\n  %s: %s", readers[i]->kind, why);
    }
    const char *other = ct_other_kind(&target);
    if (other)
        return ct_fail(ctx, CT_ERR_UNSUPPORTED, "%.200s: %s", path, other);
    return ct_fail(ctx, CT_ERR_FORMAT, "%.200s: the format is not recognised, so it cannot be read:%s", path,
                   reasons);
}

int ct_capture_open_with(struct ct_ctx *ctx, const char *path, const struct ct_capture_options *options,
                         struct ct_capture **out)
{
    CT_REQUIRE_OUT(ctx, out, path);
    struct ct_capture_options o;
    const int rc = ct_options_read(ctx, "ct_capture_open", options, &o, sizeof o);
    return rc ? rc : ct_capture_open_files(ctx, &ct_files_system, path, &o, out);
}

int ct_capture_open(struct ct_ctx *ctx, const char *path, struct ct_capture **out)
{
    return ct_capture_open_with(ctx, path, NULL, out);
}

void ct_capture_free(struct ct_capture *capture)
{
    if (!capture)
        return;
    struct owned_capture *owned = (struct owned_capture *)capture;
    struct ct_arena arena = owned->arena;
    ct_arena_free(&arena);
    free(owned);
}
