/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a URL of a violation. */
#include "live/hooks.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/ctx.h"
#include "live/address.h"
#include "live/live.h"

#define LOOK_MS      20  /* between two looks whether it is late */
#define DRAIN_MS     100 /* that more of an answer is waited for, behind its status */
#define DRAIN_PIECES 16  /* … of 4 KiB */

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size);

/* ---- the URL ---- */

static int look_up(struct ct_live_post_hook *h, struct ct_ctx *ctx, const char *url)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    char *copy = strdup(h->host);
    if (!copy)
        return ct_fail_nomem(ctx, url);
    /* "host" alone is a host, not the port that ct_live_split_address takes it for */
    const char *end = strrchr(copy, ']'), *colon = strrchr(end ? end : copy, ':');
    const char *host = copy, *port = "80";
    if (colon) {
        ct_live_split_address(copy, &host, &port);
    } else if (end) {
        copy[end - copy] = '\0';
        host = copy + 1;
    }
    const int error = getaddrinfo(host, port, &hints, &h->at);
    free(copy);
    if (!error)
        return CT_OK;
    h->at = NULL;
    return ct_fail(ctx, CT_ERR_IO, "%s: nobody can be told of violations there: %s", url,
                   gai_strerror(error));
}

int ct_live_post_hook_init(struct ct_live_post_hook *h, struct ct_ctx *ctx, const char *url)
{
    h->teller.tell = tell;
    if (strncmp(url, "https:", 6) == 0)
        return ct_fail(
            ctx, CT_ERR_UNSUPPORTED,
            "%s: only http: is spoken here; let a command do it, such as 'curl --data-binary @- URL'", url);
    const char *host = strncmp(url, "http://", 7) == 0 ? url + 7 : "";
    const size_t length = strcspn(host, "/?#");
    if (!length || strpbrk(url, " \r\n\t@"))
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: is not http://HOST[:PORT][/PATH], so nobody can be told of violations", url);
    h->host = strndup(host, length);
    h->path = strdup(host[length] == '/' ? host + length : "/");
    return h->host && h->path ? look_up(h, ctx, url) : ct_fail_nomem(ctx, url);
}

void ct_live_post_hook_free(struct ct_live_post_hook *h)
{
    if (h->at)
        freeaddrinfo(h->at);
    free(h->host);
    free(h->path);
}

/* ---- a request ---- */

/* One that is under way. */
struct talk {
    const struct ct_live_teller *teller;
    double begin;
    int fd;
};

/* Waits until the socket is ready. False, with errno: it is late. */
static bool wait_ready(const struct talk *t, short events)
{
    struct pollfd one = {.fd = t->fd, .events = events};
    while (poll(&one, 1, LOOK_MS) <= 0)
        if (ct_live_teller_is_late(t->teller, t->begin)) {
            errno = ETIMEDOUT;
            return false;
        }
    return true;
}

static bool connect_to(struct talk *t, const struct addrinfo *at)
{
    int error = 0;
    socklen_t size = sizeof error;
    t->fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    if (t->fd < 0)
        return false;
    if (connect(t->fd, at->ai_addr, at->ai_addrlen) == 0)
        return true;
    if (errno == EINPROGRESS && wait_ready(t, POLLOUT)) {
        if (getsockopt(t->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && !error)
            return true;
        errno = error;
    }
    error = errno;
    close(t->fd);
    errno = error;
    t->fd = -1;
    return false;
}

static bool send_all(const struct talk *t, const char *data, size_t size)
{
    while (size && wait_ready(t, POLLOUT)) {
        const ssize_t sent = send(t->fd, data, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        data += sent > 0 ? sent : 0;
        size -= sent > 0 ? (size_t)sent : 0;
    }
    return !size;
}

/* Reads the first line of the answer, up to what fits. False, with errno: it did not come. */
static bool read_line(const struct talk *t, char *line, size_t size)
{
    size_t got = 0;
    ssize_t more = 1;
    line[0] = '\0';
    while (more && got + 1 < size && !strchr(line, '\n') && wait_ready(t, POLLIN)) {
        errno = 0;
        more = recv(t->fd, line + got, size - 1 - got, 0);
        if (more < 0 && errno != EAGAIN && errno != EINTR)
            return false;
        got += more > 0 ? (size_t)more : 0;
        line[got] = '\0';
    }
    return strchr(line, '\n') || got + 1 == size;
}

/* Reads the rest of the answer as far as it comes at once, so that the server need not see its connection
 * reset. */
static void drain(const struct talk *t)
{
    struct pollfd one = {.fd = t->fd, .events = POLLIN};
    char rest[4096];
    for (size_t i = 0; i < DRAIN_PIECES; i++)
        if (poll(&one, 1, DRAIN_MS) <= 0 || recv(t->fd, rest, sizeof rest, 0) <= 0)
            return;
}

/* Returns the status of the answer; 0, with errno, when there is none. */
static unsigned post(const struct talk *t, const struct ct_live_post_hook *h,
                     const struct ct_live_notice *notice)
{
    struct ct_live_text head = {0};
    char line[64];
    unsigned status = 0;
    ct_live_text_print(&head, "POST ");
    (void)ct_live_text_write(&head, h->path, strlen(h->path));
    ct_live_text_print(&head, " HTTP/1.0\r\nHost: ");
    (void)ct_live_text_write(&head, h->host, strlen(h->host));
    ct_live_text_print(&head,
                       "\r\nUser-Agent: coretap\r\nContent-Type: application/json\r\n"
                       "Content-Length: %zu\r\n\r\n",
                       notice->json_size);
    errno = ENOMEM;
    const bool sent =
        !head.lacks && send_all(t, head.text, head.size) && send_all(t, notice->json, notice->json_size);
    ct_live_text_free(&head);
    if (sent && read_line(t, line, sizeof line) && sscanf(line, "HTTP/1.%*u %u", &status) != 1)
        errno = EPROTO;
    return status;
}

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size)
{
    const struct ct_live_post_hook *h = (const struct ct_live_post_hook *)teller;
    struct talk t = {.teller = teller, .begin = ct_live_now(), .fd = -1};
    for (const struct addrinfo *at = h->at; at && t.fd < 0; at = at->ai_next)
        if (!connect_to(&t, at) && ct_live_teller_is_late(teller, t.begin))
            break;
    const unsigned status = t.fd >= 0 ? post(&t, h, notice) : 0;
    const int error = errno;
    if (status)
        drain(&t);
    if (t.fd >= 0)
        close(t.fd);
    if (status >= 200 && status < 300)
        return true;
    if (status)
        snprintf(why, size, "answers with status %u", status);
    else
        snprintf(why, size, "does not answer: %s", error ? strerror(error) : "it closes the connection");
    errno = error;
    return false;
}
