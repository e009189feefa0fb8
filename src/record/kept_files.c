/* SPDX-License-Identifier: Apache-2.0 */
#include "record/kept_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/path.h"
#include "record/symbol_map.h"

#define MAX 512 /* files that are open at a time: a process can have 1024 */

static const char deleted[] = " (deleted)";

/* Returns the length of a path without " (deleted)". */
static size_t plain_length(const char *path)
{
    const size_t size = strlen(path), tail = sizeof deleted - 1;
    return size > tail && strcmp(path + size - tail, deleted) == 0 ? size - tail : size;
}

static bool is_same(const char *a, const char *b)
{
    const size_t size = plain_length(a);
    return size == plain_length(b) && memcmp(a, b, size) == 0;
}

/* Reads how Linux names an open file. */
static bool name_of(const char *link, char path[4096])
{
    const ssize_t n = readlink(link, path, 4095);
    path[n < 0 ? 0 : n] = 0;
    return n > 0;
}

void ct_kept_path(const struct ct_kept_file *file, char path[CT_KEPT_PATH])
{
    snprintf(path, CT_KEPT_PATH, "/proc/self/fd/%d", file->fd);
}

int ct_kept_open(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path,
                 const struct ct_kept_file **out)
{
    char link[CT_KEPT_PATH], name[4096];
    *out = NULL;
    const int fd = files->count < MAX ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    if (fd < 0)
        return CT_OK;
    struct ct_kept_file *made = calloc(1, sizeof *made);
    if (made) {
        made->fd = fd;
        ct_kept_path(made, link);
        made->path = strdup(name_of(link, name) ? name : path);
    }
    if (!made || !made->path) {
        free(made);
        close(fd);
        return ct_fail_nomem(ctx, path);
    }
    made->next = files->first;
    files->first = made;
    files->count++;
    *out = made;
    return CT_OK;
}

/* Opens the deleted file `path` by a descriptor that the process `child` has of it. */
static int open_of_child(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path, int child,
                         const struct ct_kept_file **out)
{
    char folder[40], link[300], name[4096];
    int rc = CT_OK;
    snprintf(folder, sizeof folder, "/proc/%d/fd", child);
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && !*out && !rc && (entry = readdir(dir));) {
        snprintf(link, sizeof link, "%s/%s", folder, entry->d_name);
        if (name_of(link, name) && strcmp(name, path) == 0)
            rc = ct_kept_open(ctx, files, link, out);
    }
    if (dir)
        closedir(dir);
    return rc;
}

int ct_kept_mapped(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path, int child,
                   const struct ct_kept_file **out)
{
    *out = NULL;
    for (const struct ct_kept_file *file = files->first; file && !*out; file = file->next)
        if (is_same(file->path, path))
            *out = file;
    if (*out)
        return CT_OK;
    return path[plain_length(path)] ? open_of_child(ctx, files, path, child, out)
                                    : ct_kept_open(ctx, files, path, out);
}

bool ct_kept_is_gone(const struct ct_kept_file *file)
{
    struct stat here, open;
    return fstat(file->fd, &open) == 0 &&
           (stat(file->path, &here) != 0 || here.st_dev != open.st_dev || here.st_ino != open.st_ino);
}

int ct_kept_copy(struct ct_ctx *ctx, const struct ct_kept_file *file, const char *directory, char name[300])
{
    const char *base = ct_base_name(file->path);
    const int size = (int)plain_length(base);
    char path[4400];
    int to = -1, why = EEXIST;
    for (unsigned i = 1; to < 0 && why == EEXIST && i < 1000; i++) { /* several may have one name */
        if (i == 1)
            snprintf(name, 300, "%.*s%s", size, base, deleted);
        else
            snprintf(name, 300, "%.*s-%u%s", size, base, i, deleted);
        snprintf(path, sizeof path, "%s/%s", directory, name);
        to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        why = to < 0 ? errno : 0;
    }
    if (to >= 0)
        why = ct_record_copy(file->fd, to);
    return why ? ct_fail(
                     ctx, CT_ERR_IO,
                     "%s: cannot be written: %s; the file was deleted while it ran, so its functions have no "
                     "names",
                     path, strerror(why))
               : CT_OK;
}

void ct_kept_free(struct ct_kept_files *files)
{
    for (struct ct_kept_file *file = files->first, *next; file; file = next) {
        next = file->next;
        close(file->fd);
        free(file->path);
        free(file);
    }
    *files = (struct ct_kept_files){0};
}
