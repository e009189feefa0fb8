/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4 */
#include "live/source.h"
#include "base/ctx.h"
#include "live/address.h"
#include "live/say.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WAITING 16 /* length of the queue of unaccepted connections */

/* ---- TCP ---- */

/* Makes the system detect a dead peer, which would otherwise keep later connections waiting: probes after 10
 * s of silence, and gives up after three unanswered probes. */
static void watch_over(int fd)
{
    const int on = 1, idle = 10, pause = 5, times = 3;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &pause, sizeof pause);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

static int new_socket(const struct addrinfo *at, int flags)
{
    return socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | flags, at->ai_protocol);
}

static int connect_to(const struct addrinfo *at)
{
    const int fd = new_socket(at, 0);
    if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int ct_live_source_begin(const struct addrinfo *address)
{
    const int fd = new_socket(address, SOCK_NONBLOCK);
    if (fd >= 0 && (connect(fd, address->ai_addr, address->ai_addrlen) == 0 || errno == EINPROGRESS))
        return fd;
    const int error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

int ct_live_source_connected(struct ct_live_source *s, int fd)
{
    int error = 0;
    socklen_t size = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
        error = errno;
    if (!error) {
        watch_over(fd);
        s->fd = fd;
    }
    return error;
}

bool ct_live_source_accept(struct ct_live_source *s)
{
    const int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    s->fd = fd;
    if (s->again) {
        watch_over(fd);
        return true;
    }
    close(s->listener);
    s->listener = -1;
    return true;
}

static int listen_at(const struct addrinfo *at)
{
    const int on = 1;
    const int fd = new_socket(at, SOCK_NONBLOCK);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, WAITING) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Reports which port was chosen for port 0. */
static void tell_port(const struct ct_live_say *say, int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char port[16];
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof port, NI_NUMERICSERV) == 0)
        ct_live_say(say, CT_LOG_NOTE, "waiting for trace on port %s", port);
}

static int find_addresses(struct ct_ctx *ctx, const char *name, const char *text, bool listens,
                          struct addrinfo **all)
{
    const bool has_port = *text && text[strlen(text) - 1] != ':';
    const int rc = has_port ? ct_live_addresses(text, all) : EAI_SERVICE;
    if (rc == EAI_MEMORY)
        return ct_fail_nomem(ctx, name);
    if (rc == EAI_SERVICE)
        return ct_fail(ctx, CT_ERR_FORMAT, "%s: the port is missing or wrong, so no trace is read; write %s",
                       name, listens ? "listen:[ADDRESS:]PORT" : "tcp:HOST:PORT");
    return rc ? ct_fail(ctx, CT_ERR_FORMAT, "%s: %s: %s", name,
                        listens ? "cannot listen at this address" : "cannot connect",
                        rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc))
              : CT_OK;
}

static int open_socket(struct ct_ctx *ctx, const struct ct_live_say *say, struct ct_live_source *s,
                       const char *text, bool listens)
{
    struct addrinfo *all = NULL;
    int fd = -1;
    const int rc = find_addresses(ctx, s->name, text, listens, &all);
    if (rc)
        return rc;
    if (s->again && !listens) { /* the reading thread connects later */
        s->addresses = all;
        return CT_OK;
    }
    for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next)
        fd = listens ? listen_at(at) : connect_to(at);
    const int error = errno;
    freeaddrinfo(all);
    if (fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: %s: %s", s->name,
                       listens ? "cannot listen at this address" : "cannot connect", strerror(error));
    if (listens)
        tell_port(say, fd);
    *(listens ? &s->listener : &s->fd) = fd;
    return CT_OK;
}

/* ---- files ---- */

/* Connects to the socket of this name. Returns -1 and sets errno if it cannot. */
static int connect_to_file(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(name) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, name);
    const struct addrinfo at = {.ai_family = AF_UNIX,
                                .ai_socktype = SOCK_STREAM,
                                .ai_addr = (struct sockaddr *)&address,
                                .ai_addrlen = sizeof address};
    return connect_to(&at);
}

static int open_path(struct ct_ctx *ctx, struct ct_live_source *s)
{
    struct stat st;
    /* opens a FIFO before it has a writer, so that the page is available meanwhile */
    s->fd = strcmp(s->name, "-") ? open(s->name, O_RDONLY | O_NONBLOCK | O_CLOEXEC) : STDIN_FILENO;
    if (s->fd < 0 && errno == ENXIO && stat(s->name, &st) == 0 && S_ISSOCK(st.st_mode))
        s->fd = connect_to_file(s->name);
    if (s->fd < 0)
        return ct_fail(ctx, CT_ERR_IO, "%s: cannot be opened: %s", s->name, strerror(errno));
    /* A terminal is a character device, too, but its user can wait. */
    s->device = fstat(s->fd, &st) == 0 && S_ISCHR(st.st_mode) && !isatty(s->fd);
    return CT_OK;
}

int ct_live_source_open(struct ct_ctx *ctx, const struct ct_live_say *say, struct ct_live_source *s,
                        const char *name, bool again)
{
    *s = (struct ct_live_source){.name = name, .fd = -1, .listener = -1, .again = again};
    if (strncmp(name, "tcp:", 4) == 0)
        return open_socket(ctx, say, s, name + 4, false);
    if (strncmp(name, "listen:", 7) == 0)
        return open_socket(ctx, say, s, name + 7, true);
    s->again = false;
    return open_path(ctx, s);
}

void ct_live_source_close(struct ct_live_source *s)
{
    if (s->fd > STDERR_FILENO)
        close(s->fd);
    if (s->listener > STDERR_FILENO)
        close(s->listener);
    if (s->addresses)
        freeaddrinfo(s->addresses);
    *s = (struct ct_live_source){.fd = -1, .listener = -1};
}
