/* SPDX-License-Identifier: Apache-2.0 */
/* Sends one HTTP request to the page of a live run, and reads the answer. */
#define _GNU_SOURCE /* strcasestr */
#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "coretap/live.h"
#include "live/address.h"
#include "live/text.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)16 << 20)
#define CONNECT_S  5  /* seconds to connect, and to send each piece */
#define PATIENCE_S 30 /* seconds for the whole answer */

static int connect_any(const struct addrinfo *all)
{
    const struct timeval patience = {.tv_sec = CONNECT_S};
    for (const struct addrinfo *at = all; at; at = at->ai_next) {
        const int fd = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) == 0 &&
            connect(fd, at->ai_addr, at->ai_addrlen) == 0)
            return fd;
        if (fd >= 0)
            close(fd);
    }
    return -1;
}

/* Connects and sets *fd. Returns 0 or an error. */
static int connect_to(struct ct_ctx *ctx, const char *address, int *fd)
{
    struct addrinfo *all;
    const int rc = ct_live_addresses(address, &all);
    *fd = rc ? -1 : connect_any(all);
    const int error = errno;
    if (all)
        freeaddrinfo(all);
    if (rc == EAI_MEMORY)
        return ct_fail_nomem(ctx, address);
    if (*fd >= 0)
        return CT_OK;
    return ct_fail(ctx, CT_ERR_IO,
                   "%s: cannot be reached: %s; check that 'coretap live --http %s' is "
                   "running",
                   address,
                   rc                     ? gai_strerror(rc)
                   : error == EINPROGRESS ? "it did not accept a connection within 5 s"
                                          : strerror(error),
                   address);
}

static bool send_all(int fd, const char *data, size_t size)
{
    while (size) {
        const ssize_t sent = send(fd, data, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        data += sent;
        size -= (size_t)sent;
    }
    return true;
}

/* Waits for more of the answer; signals do not end the wait. Returns false, with errno, when none came by the
 * time `until`. */
static bool wait_for_more(int fd, time_t until)
{
    struct timespec now;
    struct pollfd one = {.fd = fd, .events = POLLIN};
    clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec < until) {
        const int ready = poll(&one, 1, (int)(until - now.tv_sec) * 1000);
        if (ready > 0)
            return true;
        if (ready < 0 && errno != EINTR)
            return false;
        clock_gettime(CLOCK_MONOTONIC, &now);
    }
    errno = ETIMEDOUT;
    return false;
}

/* Reads the answer. NULL: it is incomplete; errno is ETIMEDOUT when it took too long. */
static char *read_all(int fd, size_t *size)
{
    char *text = NULL;
    ssize_t got = 1;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const time_t until = now.tv_sec + PATIENCE_S;
    *size = 0;
    errno = 0;
    while (got > 0 && *size < ANSWER_MAX && wait_for_more(fd, until)) {
        char *more = realloc(text, *size + 65536 + 1);
        if (!more)
            break;
        text = more;
        got = recv(fd, text + *size, 65536, 0);
        *size += got > 0 ? (size_t)got : 0;
    }
    if (text && got == 0) {
        text[*size] = '\0';
        return text;
    }
    const int why = errno;
    free(text);
    errno = why;
    return NULL;
}

/* Makes the head of the request. HTTP/1.0 makes the answer end with the connection, without chunks. */
static struct ct_live_text head_of(const struct ct_live_request *r)
{
    struct ct_live_text head = {0};
    const char *parts[] = {r->method,
                           " ",
                           r->path,
                           " HTTP/1.0\r\nAccept: text/plain\r\n",
                           r->token ? "Authorization: Bearer " : "",
                           r->token ? r->token : "",
                           r->token ? "\r\n" : ""};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        (void)ct_live_text_write(&head, parts[i], strlen(parts[i]));
    if (r->body)
        ct_live_text_print(&head, "Content-Type: application/json\r\nContent-Length: %zu\r\n", r->body_size);
    (void)ct_live_text_write(&head, "\r\n", 2);
    return head;
}

/* Finds status and body in the text of the answer. */
static bool understand(struct ct_live_answer *a, size_t size)
{
    char status[4];
    char *body = strstr(a->text, "\r\n\r\n");
    if (sscanf(a->text, "HTTP/1.%*[0-9] %3[0-9]", status) != 1 || !body)
        return false;
    a->status = (unsigned)strtoul(status, NULL, 10);
    a->body = body + 4;
    a->body_size = size - (size_t)(a->body - a->text);
    return true;
}

/* Returns whether the body is as long as the head says, if it says so. */
static bool is_whole(const struct ct_live_answer *a)
{
    const char *said = strcasestr(a->text, "\r\nContent-Length:");
    return !said || said >= a->body || strtoull(said + 17, NULL, 10) <= a->body_size;
}

static int no_answer(struct ct_ctx *ctx, const char *address, int error)
{
    if (error == ENOMEM)
        return ct_fail_nomem(ctx, address);
    if (error == ETIMEDOUT)
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: did not answer completely within %d s, so it is unknown whether the request was "
                       "carried out; check with 'ctl status', and send it again if not",
                       address, PATIENCE_S);
    return ct_fail(ctx, CT_ERR_FORMAT,
                   "%s: its answer is not that of a live run; check that 'coretap live' "
                   "and not another program listens at this address",
                   address);
}

static int ask(struct ct_ctx *ctx, const struct ct_live_request *r, const struct ct_live_text *head,
               struct ct_live_answer *a)
{
    int fd = -1;
    size_t size = 0;
    const int rc = connect_to(ctx, r->address, &fd);
    if (rc)
        return rc;
    errno = 0;
    if (send_all(fd, head->text, head->size) && send_all(fd, r->body, r->body_size))
        a->text = read_all(fd, &size);
    const int error = errno;
    close(fd);
    if (!a->text || !understand(a, size))
        return no_answer(ctx, r->address, error);
    return is_whole(a)
               ? CT_OK
               : ct_fail(ctx, CT_ERR_IO,
                         "%s: the connection ended before the answer was complete; check that the live run "
                         "has not ended, and send the request again",
                         r->address);
}

int ct_live_ask(struct ct_ctx *ctx, const struct ct_live_request *request, struct ct_live_answer *answer)
{
    struct ct_live_request r;
    CT_REQUIRE(ctx, answer);
    *answer = (struct ct_live_answer){0};
    int rc = ct_options_read(ctx, __func__, request, &r, sizeof r);
    if (rc)
        return rc;
    if (!r.address || !r.method || !r.path || (!r.body && r.body_size))
        return ct_fail_argument(ctx, __func__, "request.address && method && path && (body || !body_size)",
                                1);
    if (r.token && strpbrk(r.token, "\r\n"))
        return ct_fail(ctx, CT_ERR_ARG,
                       "the token contains a line break, so it cannot be sent; give a token "
                       "without one");
    struct ct_live_text head = head_of(&r);
    rc = head.lacks ? ct_fail_nomem(ctx, "request") : ask(ctx, &r, &head, answer);
    ct_live_text_free(&head);
    if (rc)
        ct_live_answer_free(answer);
    return rc;
}

void ct_live_answer_free(struct ct_live_answer *answer)
{
    if (!answer)
        return;
    free(answer->text);
    *answer = (struct ct_live_answer){0};
}
