/* SPDX-License-Identifier: Apache-2.0 */
/* Searches folders for captures. */
#define _GNU_SOURCE /* asprintf */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/options.h"
#include "base/packed.h"
#include "base/require.h"
#include "coretap/branch_list.h"
#include "coretap/input.h"
#include "fleet/digest.h"
#include "fleet/manifest.h"

/* Deepest nested folder that is searched. */
#define DEPTH 64

struct finder {
    struct ct_manifest *manifest;
    struct ct_manifest_options options;
    bool trusts;           /* the digest is made without reading the capture */
    struct ct_arena arena; /* for the current capture */
};

static void skip(const struct finder *f, const char *path, const char *why)
{
    if (f->options.skipped)
        f->options.skipped(f->options.user, path, why);
}

/* Reports a capture that is not added. */
static void leave_out(const struct finder *f, const char *path, const char *why)
{
    if (f->options.left_out)
        f->options.left_out(f->options.user, path, why);
    else
        skip(f, path, why);
}

/* Reports a file that may be a capture, or contain one. */
static void doubt(const struct finder *f, const char *path, const char *why)
{
    if (f->options.doubtful)
        f->options.doubtful(f->options.user, path, why);
    else
        skip(f, path, why);
}

/* Reports a file that cannot be read, of any kind. An error if no function is set for that. */
static int miss(const struct finder *f, const char *path, const char *why)
{
    if (!f->options.unread)
        return ct_fail(f->manifest->ctx, CT_ERR_IO, "%s: cannot be read: %s", path, why);
    f->options.unread(f->options.user, path, why);
    return CT_OK;
}

/* ---- one capture ---- */

/* Adds a build id, unless it is there already. */
static int add_build_id(struct finder *f, struct ct_fleet_capture *capture, const char *text)
{
    for (size_t i = 0; i < capture->build_id_count; i++)
        if (!strcmp(capture->build_ids[i], text))
            return CT_OK;
    const char **ids = ct_arena_push(&f->arena, capture->build_ids, &capture->build_id_count, sizeof *ids);
    if (!ids)
        return CT_ERR_NOMEM;
    capture->build_ids = ids;
    ids[capture->build_id_count - 1] = ct_arena_strdup(&f->arena, text);
    return ids[capture->build_id_count - 1] ? CT_OK : CT_ERR_NOMEM;
}

static int add_build_id_of(struct finder *f, struct ct_fleet_capture *capture, const char *path)
{
    struct ct_elf_look *look = malloc(sizeof *look);
    if (!look)
        return CT_ERR_NOMEM;
    char text[2 * CT_BUILD_ID_MAX + 1] = "";
    if (ct_elf_look(&ct_files_system, path, look) && look->is_elf && look->id.size)
        ct_build_id_text(&look->id, text);
    free(look);
    return *text ? add_build_id(f, capture, text) : CT_OK;
}

/* Adds the build ids of the programs, including missing ones whose build id is in the capture. */
static int add_build_ids(struct finder *f, struct ct_fleet_capture *to, const struct ct_capture *capture)
{
    int rc = CT_OK;
    for (size_t i = 0; i < capture->program_count && !rc; i++)
        rc = add_build_id_of(f, to, capture->programs[i].path);
    for (size_t i = 0; i < capture->gone_count && !rc; i++)
        if (capture->gone_build_ids[i])
            rc = add_build_id(f, to, capture->gone_build_ids[i]);
    return rc ? ct_fail_nomem(f->manifest->ctx, to->path) : CT_OK;
}

/* Sets the time of the last modification of the file. */
static void set_time(struct ct_fleet_capture *capture, char text[32])
{
    struct stat st;
    struct tm when;
    if (stat(capture->path, &st) || !gmtime_r(&st.st_mtime, &when))
        return;
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &when);
    capture->time = text;
}

/* Adds the build ids of the programs in branch lists. */
static int add_listed(struct finder *f, struct ct_fleet_capture *to, const struct ct_branch_list *list)
{
    int rc = CT_OK;
    for (uint32_t i = 0; i < ct_branch_list_binaries(list) && !rc; i++) {
        const struct ct_branch_list_binary binary = ct_branch_list_binary_at(list, i);
        struct ct_build_id id = {.size = (uint8_t)binary.build_id_size};
        char text[2 * CT_BUILD_ID_MAX + 1];
        if (!id.size || id.size > CT_BUILD_ID_MAX)
            continue;
        memcpy(id.bytes, binary.build_id, id.size);
        ct_build_id_text(&id, text);
        rc = add_build_id(f, to, text);
    }
    return rc ? ct_fail_nomem(f->manifest->ctx, to->path) : CT_OK;
}

/* Makes the digest of names, sizes and times of the files instead of their contents. */
static int look_at_files(struct ct_fleet_capture *capture, struct ct_ctx *ctx)
{
    struct ct_capture_files files = {0};
    int rc = ct_capture_files_find(ctx, capture->path, &files);
    if (!rc)
        rc = ct_digest_looks(ctx, &files, capture->digest, &capture->size);
    ct_capture_files_free(&files);
    return rc;
}

/* Adds a capture or a file of branch lists. `opened` is NULL when it cannot be opened. */
static int add(struct finder *f, const char *path, const struct ct_capture *opened,
               const struct ct_branch_list *list)
{
    struct ct_manifest *m = f->manifest;
    char time[32];
    struct ct_fleet_capture capture = {.path = path, .machine = f->options.machine, .test = f->options.test};
    set_time(&capture, time);
    int rc = f->trusts ? look_at_files(&capture, m->ctx)
                       : ct_fleet_digest(m->ctx, path, capture.digest, &capture.size);
    if (!rc && opened)
        rc = add_build_ids(f, &capture, opened);
    if (!rc && list)
        rc = add_listed(f, &capture, list);
    if (rc == CT_ERR_IO && f->options.unread) {
        ct_arena_free(&f->arena);
        return miss(f, path, ct_ctx_error(m->ctx));
    }
    const struct ct_fleet_capture *same = rc ? NULL : ct_manifest_same(m, capture.digest);
    if (same) {
        const char *why = ct_arena_printf(&f->arena, "has the same contents as %s", same->path);
        leave_out(f, path, why ? why : "has the same contents as another capture");
    } else if (!rc) {
        rc = ct_manifest_add(m, &capture);
        if (!rc && f->options.found)
            f->options.found(f->options.user, &capture);
    }
    ct_arena_free(&f->arena);
    return rc;
}

/* Opens a probable capture and adds it. If `certain`, one that cannot be opened is added too, except one that
 * is whole but has no trace, unless it was named. */
static int try(struct finder *f, const char *path, bool certain)
{
    struct ct_capture *capture = NULL;
    struct ct_ctx *quiet = ct_ctx_new();
    if (!quiet)
        return ct_fail_nomem(f->manifest->ctx, path);
    const int opened = ct_capture_open(quiet, path, &capture);
    int rc = CT_OK;
    if (opened == CT_ERR_NOMEM)
        rc = ct_fail_nomem(f->manifest->ctx, path);
    else if (opened && !certain)
        skip(f, path, ct_ctx_error(quiet));
    else if (opened == CT_ERR_NOT_FOUND && !f->trusts)
        leave_out(f, path, ct_ctx_error(quiet));
    else
        rc = add(f, path, opened ? NULL : capture, NULL);
    if (!opened)
        ct_capture_free(capture);
    ct_ctx_free(quiet);
    return rc;
}

/* Adds a file of branch lists, with its build ids. A damaged one is added too. */
static int try_branch_list(struct finder *f, const char *path, uint64_t size)
{
    struct ct_branch_list *list = NULL;
    struct ct_ctx *quiet = ct_ctx_new();
    char *bytes = quiet && size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    int rc = bytes ? ct_branch_list_new(quiet, &list) : CT_ERR_NOMEM;
    if (rc) {
        rc = ct_fail_nomem(f->manifest->ctx, path);
    } else {
        const ssize_t n = ct_files_system.read(NULL, path, bytes, (size_t)size);
        rc = ct_branch_list_load(list, path, bytes, n > 0 ? (size_t)n : 0);
        rc =
            rc == CT_ERR_NOMEM ? ct_fail_nomem(f->manifest->ctx, path) : add(f, path, NULL, rc ? NULL : list);
    }
    free(bytes);
    ct_branch_list_free(list);
    ct_ctx_free(quiet);
    return rc;
}

/* ---- folders ---- */

static int look(struct finder *f, const char *path, int depth, const struct ct_folder *outer);

/* The first bytes of a file, which show its format. */
struct head {
    char bytes[4096];
    size_t size;
};

static bool is_perf(const struct head *head)
{
    static const char magic[] = "PERFILE2", big_endian[] = "2ELIFREP";
    return head->size >= sizeof magic - 1 && (!memcmp(head->bytes, magic, sizeof magic - 1) ||
                                              !memcmp(head->bytes, big_endian, sizeof big_endian - 1));
}

/* Returns whether the first line, except empty ones and comments, begins the description of a raw trace. */
static bool is_description(const struct head *head)
{
    static const char section[] = "[capture]";
    size_t at = 0;
    for (; at < head->size; at++) {
        const char c = head->bytes[at];
        const char *end = c == '#' || c == ';' ? memchr(head->bytes + at, '\n', head->size - at) : NULL;
        if (end)
            at = (size_t)(end - head->bytes);
        else if (!isspace((unsigned char)c))
            break;
    }
    return head->size - at >= sizeof section - 1 && !memcmp(head->bytes + at, section, sizeof section - 1);
}

static int look_at_file(struct finder *f, const char *path, uint64_t size)
{
    const size_t length = strlen(path);
    struct head head;
    const ssize_t n = ct_files_system.read(NULL, path, head.bytes, sizeof head.bytes);
    if (n < 0)
        return miss(f, path, strerror(errno));
    head.size = (size_t)n;
    if (ct_branch_list_is_file(head.bytes, head.size))
        return try_branch_list(f, path, size);
    if (is_perf(&head))
        return try(f, path, true);
    if (size && length > 4 && !strcmp(path + length - 4, ".ini"))
        return try(f, path, is_description(&head));
    const char *packed = ct_packed_kind(head.bytes, head.size);
    if (packed || !size)
        doubt(f, path, packed ? packed : "is empty");
    else
        skip(f, path, "is not a perf.data file, a branch list or a description of a trace");
    return CT_OK;
}

static bool has_snapshot(const char *folder)
{
    struct stat st;
    char *path;
    if (asprintf(&path, "%s/snapshot.ini", folder) < 0)
        return false;
    const bool has = stat(path, &st) == 0 && S_ISREG(st.st_mode);
    free(path);
    return has;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
}

static int look_in_folder(struct finder *f, const char *path, int depth, const struct ct_folder *self)
{
    struct dirent **entries;
    const int count = scandir(path, &entries, is_shown, by_name);
    if (count < 0 && errno == ENOMEM)
        return ct_fail_nomem(f->manifest->ctx, path);
    if (count < 0)
        return miss(f, path, strerror(errno));
    int rc = CT_OK;
    for (int i = 0; i < count; i++) {
        char *inner = NULL;
        if (!rc && asprintf(&inner, "%s/%s", path, entries[i]->d_name) < 0) {
            inner = NULL;
            rc = ct_fail_nomem(f->manifest->ctx, path);
        }
        if (!rc && inner)
            rc = look(f, inner, depth + 1, self);
        free(inner);
        free(entries[i]);
    }
    free(entries);
    return rc;
}

/* Reports a path that cannot be examined, with `errno`. A dangling link is no capture. */
static int look_in_vain(const struct finder *f, const char *path)
{
    if (errno != ENOENT && errno != ELOOP)
        return miss(f, path, strerror(errno));
    skip(f, path, strerror(errno));
    return CT_OK;
}

static int look(struct finder *f, const char *path, int depth, const struct ct_folder *outer)
{
    struct ct_folder self;
    struct stat st;
    f->trusts = f->options.trust && !depth;
    if (stat(path, &st))
        return depth ? look_in_vain(f, path)
                     : ct_fail(f->manifest->ctx, CT_ERR_IO, "%s: cannot be found: %s", path, strerror(errno));
    if (S_ISREG(st.st_mode))
        return look_at_file(f, path, (uint64_t)st.st_size);
    if (!S_ISDIR(st.st_mode)) {
        skip(f, path, "is neither a file nor a folder");
        return CT_OK;
    }
    if (has_snapshot(path))
        return try(f, path, true);
    if (!ct_folder_enter(&self, outer, &st)) {
        skip(f, path, "is a link to a folder that contains it");
        return CT_OK;
    }
    return depth < DEPTH ? look_in_folder(f, path, depth, &self)
                         : miss(f, path, "too many folders are nested");
}

int ct_manifest_find(struct ct_manifest *m, const char *path, const struct ct_manifest_options *options)
{
    struct finder f = {.manifest = m};
    CT_REQUIRE_OF(m, path);
    const int rc = ct_options_read(m->ctx, "ct_manifest_find", options, &f.options, sizeof f.options);
    return rc ? rc : look(&f, path, 0, NULL);
}
