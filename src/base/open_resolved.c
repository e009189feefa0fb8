/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* O_PATH */
#include "base/open_resolved.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void close_quietly(int fd)
{
    const int error = errno;
    close(fd);
    errno = error;
}

/* Opens `name` in `folder`, unless it is a symbolic link, and closes the folder. */
static int step(int folder, const char *name, int flags)
{
    const int fd = openat(folder, name, flags | O_NOFOLLOW | O_CLOEXEC);
    close_quietly(folder);
    return fd;
}

/* Opens a regular file. The flags make sure that opening anything else neither waits for the other end of a
 * FIFO nor takes a terminal. */
static int open_regular(int folder, const char *name)
{
    struct stat st;
    const int fd = step(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

int ct_open_resolved(const char *path)
{
    char room[PATH_MAX];
    const size_t length = strlen(path);
    if (*path != '/' || length >= sizeof room) {
        errno = *path == '/' ? ENAMETOOLONG : EINVAL;
        return -1;
    }
    memcpy(room, path, length + 1);
    char *name = room + 1;
    int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (char *slash = strchr(name, '/'); fd >= 0 && slash; slash = strchr(name, '/')) {
        *slash = '\0';
        fd = step(fd, name, O_PATH | O_DIRECTORY);
        name = slash + 1;
    }
    return fd < 0 ? -1 : open_regular(fd, name);
}
