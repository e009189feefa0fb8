/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* struct ucred */
#include "record/kept_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
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
        struct stat st;
        made->fd = fd;
        made->inode = fstat(fd, &st) ? 0 : st.st_ino;
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

/* ---- the inbox ---- */

void ct_kept_inbox(struct ct_kept_files *files, char name[16])
{
    struct sockaddr_un bound = {.sun_family = AF_UNIX};
    const size_t head = offsetof(struct sockaddr_un, sun_path) + 1; /* a zero begins an abstract name */
    socklen_t size = sizeof bound;
    const int on = 1;
    *name = 0;
    files->inbox = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    files->has_inbox = files->inbox >= 0;
    /* without a name in the address, Linux chooses one that is free (unix(7)) */
    if (!files->has_inbox || setsockopt(files->inbox, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) ||
        bind(files->inbox, (struct sockaddr *)&bound, sizeof bound.sun_family) ||
        getsockname(files->inbox, (struct sockaddr *)&bound, &size) || size <= head || size - head >= 16)
        return;
    memcpy(name, bound.sun_path + 1, size - head);
    name[size - head] = 0;
}

/* Receives a file, or -1 for one that another process sent. Returns false when there is no message. */
static bool receive(int inbox, int child, int *fd)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
    } control;
    uint8_t data;
    struct iovec bytes = {&data, 1};
    struct msghdr m = {.msg_iov = &bytes,
                       .msg_iovlen = 1,
                       .msg_control = control.bytes,
                       .msg_controllen = sizeof control.bytes};
    struct ucred from = {0};
    *fd = -1;
    if (recvmsg(inbox, &m, MSG_CMSG_CLOEXEC) < 0)
        return false;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); c; c = CMSG_NXTHDR(&m, c)) {
        if (c->cmsg_type == SCM_RIGHTS)
            memcpy(fd, CMSG_DATA(c), sizeof *fd);
        else if (c->cmsg_type == SCM_CREDENTIALS)
            memcpy(&from, CMSG_DATA(c), sizeof from);
    }
    if (*fd >= 0 && from.pid != child) {
        close(*fd);
        *fd = -1;
    }
    return true;
}

/* Returns whether the file needs to be kept: it is a regular one, and not kept yet. */
static bool is_new(const struct ct_kept_files *files, int fd)
{
    struct stat st, kept;
    bool is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    for (const struct ct_kept_file *file = files->first; file && is; file = file->next)
        is = fstat(file->fd, &kept) || kept.st_dev != st.st_dev || kept.st_ino != st.st_ino;
    return is;
}

int ct_kept_receive(struct ct_ctx *ctx, struct ct_kept_files *files, int child)
{
    int fd, rc = CT_OK;
    while (!rc && files->has_inbox && receive(files->inbox, child, &fd)) {
        const struct ct_kept_file *kept;
        char link[CT_KEPT_PATH];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        if (fd >= 0 &&
            is_new(files, fd)) /* opened again, because the program moves the position of this one */
            rc = ct_kept_open(ctx, files, link, &kept);
        if (fd >= 0)
            close(fd);
    }
    return rc;
}

/* ---- files of the program's memory ---- */

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

int ct_kept_mapped(struct ct_ctx *ctx, struct ct_kept_files *files, const char *path, uint64_t inode,
                   int child, const struct ct_kept_file **out)
{
    *out = NULL;
    const int rc = ct_kept_receive(ctx, files, child);
    for (const struct ct_kept_file *file = files->first; file && !rc; file = file->next)
        if (is_same(file->path, path) && (!*out || ((*out)->inode != inode && file->inode == inode)))
            *out = file;
    if (*out || rc)
        return rc;
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
    if (files->has_inbox)
        close(files->inbox);
    *files = (struct ct_kept_files){0};
}
