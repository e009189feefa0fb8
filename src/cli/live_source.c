/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4 */
#include "cli/live_source.h"
#include "cli/address.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define WAITING 16 /* connections that nobody accepted yet */

/* ---- TCP ---- */

/* With other connections to come, one whose end is gone without a word must not be waited for: asked after 10
 * s of silence, given up after three answers that do not come. */
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

int cli_live_source_begin(const struct addrinfo *address)
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

int cli_live_source_connected(struct cli_live_source *s, int fd)
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

bool cli_live_source_accept(struct cli_live_source *s)
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

/* What a port of 0 became. */
static void tell_port(int fd)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    char port[16];
    if (getsockname(fd, (struct sockaddr *)&address, &size) == 0 &&
        getnameinfo((struct sockaddr *)&address, size, NULL, 0, port, sizeof port, NI_NUMERICSERV) == 0)
        cli_say("waits for trace on port %s", port);
}

/* The addresses that "HOST:PORT" stands for; without an address only those
 * of this machine. NULL: said why. */
static struct addrinfo *find_addresses(const char *name, const char *text, bool listens)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    const char *host, *port;
    char *copy = strdup(text);
    if (!copy) {
        cli_no_memory();
        return NULL;
    }
    cli_split_address(copy, &host, &port);
    const int rc = getaddrinfo(host && *host ? host : "127.0.0.1", port, &hints, &all);
    if (rc)
        cli_say("%s: %s: %s", name, listens ? "cannot listen" : "no connection",
                rc == EAI_SYSTEM ? strerror(errno) : gai_strerror(rc));
    free(copy);
    return rc ? NULL : all;
}

static bool open_socket(struct cli_live_source *s, const char *text, bool listens)
{
    struct addrinfo *all = find_addresses(s->name, text, listens);
    int fd = -1;
    if (!all)
        return false;
    if (s->again && !listens) { /* the reading thread connects */
        s->addresses = all;
        return true;
    }
    for (const struct addrinfo *at = all; at && fd < 0; at = at->ai_next)
        fd = listens ? listen_at(at) : connect_to(at);
    if (fd < 0)
        cli_say("%s: %s: %s", s->name, listens ? "cannot listen" : "no connection", strerror(errno));
    else if (listens)
        tell_port(fd);
    *(listens ? &s->listener : &s->fd) = fd;
    freeaddrinfo(all);
    return fd >= 0;
}

/* ---- files ---- */

static int open_path(const char *path)
{
    /* A FIFO that nobody writes yet is opened at once, so that the page is there while one waits. */
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        cli_say("%s: cannot be opened: %s", path, strerror(errno));
    return fd;
}

bool cli_live_source_open(struct cli_live_source *s, const char *name, bool again)
{
    struct stat st;
    *s = (struct cli_live_source){.name = name, .fd = -1, .listener = -1, .again = again};
    if (strncmp(name, "tcp:", 4) == 0)
        return open_socket(s, name + 4, false);
    if (strncmp(name, "listen:", 7) == 0)
        return open_socket(s, name + 7, true);
    s->again = false;
    s->fd = strcmp(name, "-") ? open_path(name) : STDIN_FILENO;
    if (s->fd < 0)
        return false;
    /* A terminal is a character device too, but whoever types waits. */
    s->device = fstat(s->fd, &st) == 0 && S_ISCHR(st.st_mode) && !isatty(s->fd);
    return true;
}

void cli_live_source_close(struct cli_live_source *s)
{
    if (s->fd > STDERR_FILENO)
        close(s->fd);
    if (s->listener > STDERR_FILENO)
        close(s->listener);
    if (s->addresses)
        freeaddrinfo(s->addresses);
    *s = (struct cli_live_source){.fd = -1, .listener = -1};
}
