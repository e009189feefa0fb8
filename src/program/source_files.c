/* SPDX-License-Identifier: Apache-2.0 */
#include "program/source_files.h"
#include "base/ctx.h"
#include "base/open_resolved.h"
#include "base/read_at.h"
#include "program/symbols.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Adds the first `length` bytes of a resolved path. */
static int add_root(struct ct_source_roots *roots, const char *path, size_t length)
{
    while (length && path[length - 1] == '/')
        length--;
    const char **all = ct_arena_push(&roots->arena, roots->roots, &roots->count, sizeof *all);
    const char *copy = all ? ct_arena_strndup(&roots->arena, path, length) : NULL;
    if (!copy)
        return ct_fail_nomem(roots->ctx, roots->program);
    all[roots->count - 1] = copy;
    roots->roots = all;
    return CT_OK;
}

/* Adds a default folder; the root folder is skipped. */
static int add_default(struct ct_source_roots *roots, const char *path, size_t length)
{
    return length > 1 ? add_root(roots, path, length) : CT_OK;
}

int ct_source_roots_make(struct ct_source_roots *roots, struct ct_ctx *ctx, const char *path,
                         const struct ct_debug_files *files)
{
    char folder[PATH_MAX];
    size_t named = 0;
    const char *const *names = ct_debug_source_roots(files, &named);
    *roots = (struct ct_source_roots){.ctx = ctx};
    if (!path)
        return CT_OK;
    roots->program = ct_arena_strdup(&roots->arena, path);
    int rc = roots->program ? CT_OK : ct_fail_nomem(ctx, path);
    if (!rc && realpath(path, folder))
        rc = add_default(roots, folder, (size_t)(strrchr(folder, '/') - folder));
    if (!rc && !named && realpath(".", folder))
        rc = add_default(roots, folder, strlen(folder));
    for (size_t i = 0; !rc && i < named; i++)
        rc = add_root(roots, names[i], strlen(names[i]));
    return rc;
}

void ct_source_roots_free(struct ct_source_roots *roots)
{
    ct_arena_free(&roots->arena);
}

static bool is_inside(const struct ct_source_roots *roots, const char *path)
{
    for (size_t i = 0; i < roots->count; i++) {
        const size_t length = strlen(roots->roots[i]);
        if (strncmp(path, roots->roots[i], length) == 0 && path[length] == '/')
            return true;
    }
    return false;
}

/* Reads the open file; one that is empty or too long counts as not found. */
static int read_whole(struct ct_ctx *ctx, const char *path, int fd, char **text, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size <= 0 || st.st_size > CT_SOURCE_MOST)
        return CT_ERR_NOT_FOUND;
    *text = malloc((size_t)st.st_size);
    if (!*text)
        return ct_fail_nomem(ctx, path);
    const ssize_t n = ct_read_at(fd, *text, (size_t)st.st_size, 0);
    *size = n > 0 ? (size_t)n : 0;
    return CT_OK;
}

int ct_source_read(struct ct_source_roots *roots, const char *path, char **text, size_t *size)
{
    char real[PATH_MAX];
    struct stat st;
    *text = NULL;
    *size = 0;
    if (!path || !roots->program || !realpath(path, real) || stat(real, &st) != 0 || !S_ISREG(st.st_mode))
        return CT_ERR_NOT_FOUND;
    if (!is_inside(roots, real)) {
        if (!__atomic_test_and_set(&roots->told, __ATOMIC_RELAXED))
            ct_log(roots->ctx, CT_LOG_NOTE,
                   "%s: its debug information names %s, which is in none of the source folders, so that "
                   "file is not read; name its folder with --source-root",
                   roots->program, path);
        return CT_ERR_NOT_FOUND;
    }
    const int fd = ct_open_resolved(real);
    if (fd < 0)
        return CT_ERR_NOT_FOUND;
    const int rc = read_whole(roots->ctx, path, fd, text, size);
    close(fd);
    return rc;
}
