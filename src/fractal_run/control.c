/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4 */
#include "fractal_run/control.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/ctx.h"

/* Fills in an address. Returns 0 when the path is too long. */
static int address(const char *path, struct sockaddr_un *out)
{
    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof out->sun_path)
        return 0;
    memcpy(out->sun_path, path, strlen(path));
    return 1;
}

/* Returns whether a process listens at an address. */
static int is_served(const struct sockaddr_un *at)
{
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int served = fd >= 0 && connect(fd, (const struct sockaddr *)at, sizeof *at) == 0;
    if (fd >= 0)
        close(fd);
    return served;
}

int ct_fractal_control_open(struct ct_ctx *ctx, const char *path, struct ct_fractal_control *c)
{
    struct sockaddr_un at;
    *c = (struct ct_fractal_control){.listener = -1, .client = -1};
    if (!address(path, &at))
        return ct_fail(ctx, CT_ERR_IO, "%s: the path of the socket is too long; use at most %zu bytes", path,
                       sizeof at.sun_path - 1);
    if (is_served(&at))
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: another run already uses this control socket; choose another path", path);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int made = c->listener >= 0 ? bind(c->listener, (const struct sockaddr *)&at, sizeof at) : -1;
    if (made && errno == EADDRINUSE) { /* left over from an earlier run */
        unlink(path);
        made = bind(c->listener, (const struct sockaddr *)&at, sizeof at);
    }
    if (made || listen(c->listener, 8)) {
        const int err = errno;
        if (c->listener >= 0)
            close(c->listener);
        c->listener = -1;
        return ct_fail(ctx, CT_ERR_IO, "%s: the control socket cannot be created: %s", path, strerror(err));
    }
    c->path = path;
    return CT_OK;
}

void ct_fractal_control_close(struct ct_fractal_control *c)
{
    if (!c->path)
        return;
    if (c->client >= 0)
        close(c->client);
    close(c->listener);
    unlink(c->path);
    c->path = NULL;
}

/* Closes the connection of a client. */
static void hang_up(struct ct_fractal_control *c)
{
    close(c->client);
    c->client = -1;
    c->used = 0;
}

/* Executes the line that a client sent, and answers it. */
static void answer(struct ct_fractal_control *c, ct_fractal_control_fn *run, void *user)
{
    char text[2 * CONTROL_LINE], reply[2 * CONTROL_LINE + 16];
    text[0] = 0;
    const int rc = run(user, c->line, text, sizeof text);
    const int n = snprintf(reply, sizeof reply, "%s %s\n", rc ? "error" : "ok", text);
    (void)!send(c->client, reply, (size_t)n, MSG_NOSIGNAL);
    hang_up(c);
}

/* Reads from the client. Returns 0 when nothing is there yet. */
static int hear(struct ct_fractal_control *c, ct_fractal_control_fn *run, void *user)
{
    const ssize_t n = recv(c->client, c->line + c->used, sizeof c->line - 1 - c->used, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    char *end = n > 0 ? memchr(c->line + c->used, '\n', (size_t)n) : NULL;
    c->used += n > 0 ? (size_t)n : 0;
    c->line[end ? (size_t)(end - c->line) : c->used] = 0;
    if (end)
        answer(c, run, user);
    else if (n <= 0 || c->used == sizeof c->line - 1)
        hang_up(c); /* the client is gone, or its line is too long */
    return 1;
}

void ct_fractal_control_serve(struct ct_fractal_control *c, ct_fractal_control_fn *run, void *user)
{
    if (!c->path)
        return;
    for (int more = 1; more;) {
        if (c->client < 0)
            c->client = accept4(c->listener, NULL, NULL, SOCK_CLOEXEC);
        more = c->client >= 0 && hear(c, run, user);
    }
}
