/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/http_client.h"
#include "cli/address.h"
#include "cli/cli.h"
#include "cli/memory_file.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_MAX ((size_t)16 << 20)
#define CONNECT_S  5  /* to be connected, and for each piece to be taken */
#define PATIENCE_S 30 /* for the whole answer */

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

static int connect_to(const char *address)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *all = NULL;
    const char *host, *port;
    char *copy = strdup(address);
    if (!copy) {
        cli_no_memory();
        return -1;
    }
    cli_split_address(copy, &host, &port);
    const int rc = getaddrinfo(host ? host : "127.0.0.1", port, &hints, &all);
    const int fd = rc ? -1 : connect_any(all);
    if (fd < 0)
        cli_say("%s: nobody answers: %s; is 'coretap live --http %s' running?", address,
                rc                     ? gai_strerror(rc)
                : errno == EINPROGRESS ? "no connection within 5 s"
                                       : strerror(errno),
                address);
    if (all)
        freeaddrinfo(all);
    free(copy);
    return fd;
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

/* Waits for more of the answer. False, with errno: none came up to the time `until`. */
static bool wait_for_more(int fd, time_t until)
{
    struct timespec now;
    struct pollfd one = {.fd = fd, .events = POLLIN};
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec < until && poll(&one, 1, (int)(until - now.tv_sec) * 1000) != 0)
        return true;
    errno = ETIMEDOUT;
    return false;
}

/* NULL: the answer did not come, or not to its end; errno is ETIMEDOUT when it took too long. */
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

/* HTTP/1.0 has no pieces of answers: the body goes up to the end of the connection. */
static char *head_of(const struct cli_http_request *r, size_t *size)
{
    struct cli_memory_file file;
    if (!cli_memory_open(&file))
        return NULL;
    FILE *out = file.out;
    fprintf(out, "%s %s HTTP/1.0\r\nAccept: text/plain\r\n", r->method, r->path);
    if (r->token)
        fprintf(out, "Authorization: Bearer %s\r\n", r->token);
    if (r->body)
        fprintf(out, "Content-Type: application/json\r\nContent-Length: %zu\r\n", r->size);
    fputs("\r\n", out);
    return cli_memory_close(&file, size);
}

/* Finds status and body in the text of the answer. */
static bool understand(struct cli_http_answer *a, size_t size)
{
    char *body = strstr(a->text, "\r\n\r\n");
    if (sscanf(a->text, "HTTP/1.%*u %u", &a->status) != 1 || !body)
        return false;
    a->body = body + 4;
    a->size = size - (size_t)(a->body - a->text);
    return true;
}

bool cli_http_ask(const struct cli_http_request *r, struct cli_http_answer *a)
{
    size_t head_size, size = 0;
    *a = (struct cli_http_answer){0};
    if (r->token && strpbrk(r->token, "\r\n")) {
        cli_say("the token has a line break in it");
        return false;
    }
    char *head = head_of(r, &head_size);
    if (!head) {
        cli_no_memory();
        return false;
    }
    const int fd = connect_to(r->address);
    errno = 0;
    bool fine = fd >= 0 && send_all(fd, head, head_size) && send_all(fd, r->body, r->size);
    if (fine)
        a->text = read_all(fd, &size);
    fine = a->text && understand(a, size);
    if (fd >= 0 && !fine && errno == ETIMEDOUT)
        cli_say("%s: no whole answer within %d s; the live run is busy, or something else is there; ask "
                "again, and "
                "look with 'ctl status' whether the request was done",
                r->address, PATIENCE_S);
    else if (fd >= 0 && !fine && errno == ENOMEM)
        cli_no_memory();
    else if (fd >= 0 && !fine)
        cli_say("%s: does not answer as a live run does; is it another program?", r->address);
    if (fd >= 0)
        close(fd);
    free(head);
    if (!fine)
        cli_http_answer_free(a);
    return fine;
}

void cli_http_answer_free(struct cli_http_answer *a)
{
    free(a->text);
    a->text = NULL;
}
