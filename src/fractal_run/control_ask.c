/* SPDX-License-Identifier: Apache-2.0 */
/* The client of a control socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/require.h"
#include "coretap/fractal_run.h"

#define ANSWER 8192 /* most bytes of an answer */

/* Connects to the socket. Returns -1 when nothing listens there. */
static int reach(const char *path)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof at.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(at.sun_path, path, strlen(path));
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    const int err = errno;
    close(fd);
    errno = err;
    return -1;
}

/* Sends bytes. Returns 0 when the connection is closed. */
static int send_all(int fd, const char *text, size_t left)
{
    while (left) {
        const ssize_t n = send(fd, text, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        text += n;
        left -= (size_t)n;
    }
    return 1;
}

/* Reads until the other side closes, and NUL-terminates the text. */
static size_t read_all(int fd, char *out, size_t room)
{
    size_t used = 0;
    while (used < room - 1) {
        const ssize_t n = recv(fd, out + used, room - 1 - used, 0);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    out[used] = 0;
    return used;
}

int ct_fractal_control_ask(struct ct_ctx *ctx, const char *path, const char *command, char **answer)
{
    CT_REQUIRE(ctx, path, command, answer);
    *answer = NULL;
    const int fd = reach(path);
    if (fd < 0)
        return ct_fail(
            ctx, CT_ERR_IO,
            "%s: there is no run that listens on this socket: %s; give the path of --control of the run",
            path, strerror(errno));
    char *text = calloc(1, ANSWER);
    if (!text) {
        close(fd);
        return ct_fail_nomem(ctx, path);
    }
    size_t n = 0;
    if (send_all(fd, command, strlen(command)) && send_all(fd, "\n", 1))
        n = read_all(fd, text, ANSWER);
    close(fd);
    while (n && text[n - 1] == '\n')
        text[--n] = 0;
    int rc = CT_OK;
    if (strncmp(text, "ok", 2) != 0 || !n)
        rc = n ? ct_fail(ctx, CT_ERR_CONFIG, "%s: %s", path, text + strcspn(text, " ") + 1)
               : ct_fail(
                     ctx, CT_ERR_IO,
                     "%s: the run ended before it answered; it is unknown whether the command was executed",
                     path);
    if (rc) {
        free(text);
        return rc;
    }
    memmove(text, text + 2 + (text[2] == ' '), n + 1 - 2 - (text[2] == ' '));
    *answer = text;
    return CT_OK;
}
