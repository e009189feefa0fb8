#include "cli/live_source.h"
#include "cli/address.h"
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- TCP ---- */

static int connect_to(const struct addrinfo *at)
{
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

static int listen_at(const struct addrinfo *at)
{
    const int on = 1;
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
    if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, at->ai_addr, at->ai_addrlen) == 0 && listen(fd, 1) == 0)
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

static int open_socket(const char *name, const char *text, bool listens)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    const char *host, *port;
    char *copy = strdup(text);
    int fd = -1;
    if (!copy) {
        cli_say("out of memory");
        return -1;
    }
    cli_split_address(copy, &host, &port);
    /* Without an address only this machine can reach it. */
    const int rc = getaddrinfo(host && *host ? host : "127.0.0.1", port, &hints, &all);
    for (const struct addrinfo *at = all; !rc && at && fd < 0; at = at->ai_next)
        fd = listens ? listen_at(at) : connect_to(at);
    if (fd < 0)
        cli_say("%s: %s: %s", name, listens ? "cannot listen" : "no connection",
                rc ? gai_strerror(rc) : strerror(errno));
    else if (listens)
        tell_port(fd);
    if (all)
        freeaddrinfo(all);
    free(copy);
    return fd;
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

bool live_source_open(struct live_source *s, const char *name)
{
    struct stat st;
    *s = (struct live_source){.fd = STDIN_FILENO};
    if (strncmp(name, "tcp:", 4) == 0) {
        s->fd = open_socket(name, name + 4, false);
    } else if (strncmp(name, "listen:", 7) == 0) {
        s->fd = open_socket(name, name + 7, true);
        s->listens = true;
    } else if (strcmp(name, "-") != 0) {
        s->fd = open_path(name);
    }
    if (s->fd < 0)
        return false;
    /* A terminal is a character device too, but whoever types waits. */
    s->device = fstat(s->fd, &st) == 0 && S_ISCHR(st.st_mode) && !isatty(s->fd);
    return true;
}

void live_source_close(struct live_source *s)
{
    if (s->fd > STDERR_FILENO)
        close(s->fd);
    s->fd = -1;
}
