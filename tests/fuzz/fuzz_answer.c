/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the answer of a server to a request of ct_live_ask: one byte that selects how the answer is cut into
 * pieces, then the answer. What must hold: the body of an accepted answer is inside of its text, with
 * everything after the head; a refused answer has an error text, and nothing of it remains. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "coretap/live.h"
#include "fuzz.h"

#define MOST_BYTES 65536

struct server {
    int listening;
    char address[32];
    const uint8_t *answer;
    size_t size, piece;
};

static void begin_server(struct server *s)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    s->listening = socket(AF_INET, SOCK_STREAM, 0);
    require(s->listening >= 0 && bind(s->listening, (struct sockaddr *)&at, sizeof at) == 0);
    require(listen(s->listening, 1) == 0 && getsockname(s->listening, (struct sockaddr *)&at, &length) == 0);
    snprintf(s->address, sizeof s->address, "127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
}

/* Accepts one connection, reads to the end of the head and sends the answer. */
static void *serve(void *user)
{
    const struct server *s = user;
    char head[4096];
    size_t got = 0;
    const int fd = accept(s->listening, NULL, NULL);
    require(fd >= 0);
    while (got < 4 || memcmp(head + got - 4, "\r\n\r\n", 4) != 0) {
        const ssize_t more = recv(fd, head + got, sizeof head - got, 0);
        require(more > 0);
        got += (size_t)more;
    }
    for (size_t at = 0; at < s->size; at += s->piece) {
        const size_t left = s->size - at;
        if (send(fd, s->answer + at, left < s->piece ? left : s->piece, MSG_NOSIGNAL) < 0)
            break;
    }
    close(fd);
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct server server = {.listening = -1};
    if (!size || size > MOST_BYTES)
        return 0;
    if (server.listening < 0)
        begin_server(&server);
    server.answer = data + 1;
    server.size = size - 1;
    server.piece = data[0] ? (size_t)data[0] * 64 : MOST_BYTES;
    /* The timer of libFuzzer would end the calls of the server early. */
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    require(pthread_sigmask(SIG_SETMASK, &all, &before) == 0);
    require(pthread_create(&thread, NULL, serve, &server) == 0);
    require(pthread_sigmask(SIG_SETMASK, &before, NULL) == 0);

    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_live_answer answer;
    const struct ct_live_request request = {
        .size = sizeof request, .address = server.address, .method = "GET", .path = "/status"};
    const int rc = ct_live_ask(ctx, &request, &answer);
    require(pthread_join(thread, NULL) == 0);
    if (rc == CT_OK) {
        const size_t head = (size_t)(answer.body - answer.text);
        require(head >= 4 && head + answer.body_size == server.size && !answer.body[answer.body_size]);
        require(answer.status <= 999);
        require(memcmp(answer.text, server.answer, server.size) == 0);
    } else
        require((rc == CT_ERR_FORMAT || rc == CT_ERR_IO) && *ct_ctx_error(ctx) && !answer.text &&
                !answer.body);
    ct_live_answer_free(&answer);
    ct_ctx_free(ctx);
    return 0;
}
