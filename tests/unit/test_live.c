/* SPDX-License-Identifier: Apache-2.0 */
/* Checks live runs with the library: bytes that the caller pushes, an input that is read, and the page. */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "support/rng.h"
#include "support/signals.h"
#include "coretap/live.h"
#include "support/unit.h"

#define CAPTURE SOURCE_ROOT "/examples/quickstart"
#define TRACE   CAPTURE "/trace.bin"
#define ROOM    4096
#define SPEC    "in x: Events[Unit]\nout x as error\n"
#define PLACE   "0x8053c" /* the function gcd */

struct bench {
    struct ct_ctx *ctx;
    struct ct_capture *capture;
    struct ct_programs *programs;
    uint8_t trace[ROOM];
    size_t size;
};

/* What the sink and the messages reported. */
struct told {
    size_t begun, ended, results;
    size_t most; /* number of results accepted; later ones are an error */
    char words[4096];
    pthread_mutex_t lock;
    struct ct_ctx *ctx;
};

static int set_up(void **state)
{
    static struct bench b;
    const struct ct_programs_options moved = {.size = sizeof moved, .moved = 1};
    FILE *file = fopen(TRACE, "rb");
    assert_non_null(file);
    b.size = fread(b.trace, 1, sizeof b.trace, file);
    fclose(file);
    b.ctx = ct_ctx_new();
    assert_int_equal(ct_capture_open(b.ctx, CAPTURE, &b.capture), CT_OK);
    assert_int_equal(ct_programs_new(b.ctx, &moved, &b.programs), CT_OK);
    signal(SIGPIPE, SIG_IGN);
    *state = &b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    ct_programs_free(b->programs);
    ct_capture_free(b->capture);
    ct_ctx_free(b->ctx);
    return 0;
}

GROUP_FIXTURE(set_up, tear_down)

static int count_begin(void *user, const struct ct_verdict_origin *origin)
{
    struct told *t = user;
    assert_non_null(origin->source);
    t->begun++;
    return CT_OK;
}

static int count_end(void *user, const struct ct_verdict_origin *origin)
{
    struct told *t = user;
    (void)origin;
    t->ended++;
    return CT_OK;
}

static int take_result(void *user, const struct ct_verdict_origin *origin,
                       const struct ct_verify_result *result)
{
    struct told *t = user;
    assert_string_equal(origin->specs[result->spec], "spec");
    return t->results++ < t->most ? CT_OK : ct_ctx_fail(t->ctx, CT_ERR_IO, "nobody takes results any more");
}

/* Takes a message in any thread. */
static void say(void *user, enum ct_log_level level, const char *text)
{
    struct told *t = user;
    assert_int_not_equal(level, CT_LOG_ERROR);
    pthread_mutex_lock(&t->lock);
    strncat(t->words, text, sizeof t->words - strlen(t->words) - 2);
    strcat(t->words, "\n");
    pthread_mutex_unlock(&t->lock);
}

static struct ct_live *make(struct bench *b, struct told *told, bool with_spec)
{
    const struct ct_live_sink sink = {
        .user = told, .begin = count_begin, .end = count_end, .result = take_result};
    const struct ct_live_options options = {.size = sizeof options,
                                            .buffer = b->capture->buffers,
                                            .programs = b->programs,
                                            .timing = 1,
                                            .sink = &sink,
                                            .say = say,
                                            .say_user = told};
    const struct ct_verify_bind bind = {"x", PLACE};
    struct ct_monitor_spec *spec;
    struct ct_live *live;
    pthread_mutex_init(&told->lock, NULL);
    told->ctx = b->ctx;
    if (!told->most)
        told->most = SIZE_MAX;
    assert_int_equal(ct_live_new(b->ctx, &options, &live), CT_OK);
    assert_int_equal(ct_live_add_place(live, PLACE), CT_OK);
    if (!with_spec)
        return live;
    assert_int_equal(ct_monitor_compile(b->ctx, "spec", SPEC, sizeof SPEC - 1, NULL, &spec), CT_OK);
    assert_int_equal(ct_live_add_spec(live, "spec", spec, &bind, 1), CT_OK);
    return live;
}

static uint64_t instructions(const struct ct_live *live)
{
    size_t count;
    uint64_t sum = 0;
    const struct ct_stream *streams = ct_chain_streams(ct_live_chain(live), &count);
    for (size_t i = 0; i < count; i++)
        sum += streams[i].stats.instructions;
    return sum;
}

TEST(pieces_are_the_whole)
{
    struct bench *b = *state;
    size_t results = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng rng = {seed};
        struct told told = {0};
        struct ct_live *live = make(b, &told, true);
        for (size_t at = 0, size; at < b->size; at += size) {
            size = seed ? (size_t)rng_below(&rng, 500) : b->size;
            size = size < b->size - at ? size : b->size - at;
            assert_int_equal(ct_live_push(live, b->trace + at, size, 0), CT_OK);
        }
        assert_int_equal(ct_live_finish(live), CT_OK);
        assert_int_equal(ct_live_finish(live), CT_OK);
        assert_int_equal(ct_live_push(live, b->trace, 1, 0), CT_ERR_ARG);
        const struct ct_live_seen *seen = ct_live_seen_of(live);
        assert_int_equal(instructions(live), 939 + 3671); /* as printed by examples/count.c */
        assert_int_equal(seen->analysed, b->size);
        assert_int_equal(seen->read, b->size);
        assert_true(seen->ended);
        assert_int_equal(seen->violations, told.results);
        assert_int_equal(told.begun, 2);
        assert_int_equal(told.ended, 2);
        results = seed ? results : told.results;
        assert_int_equal(told.results, results);
        assert_true(results > 20);
        assert_non_null(ct_live_timing(live, 0x10));
        assert_null(ct_live_timing(live, 0x12));
        assert_null(ct_live_cover(live));
        ct_live_free(live);
    }
}

TEST(missing_bytes_are_a_gap)
{
    struct bench *b = *state;
    const uint64_t lost[] = {64, UINT64_MAX};
    for (size_t i = 0; i < 2; i++) {
        struct told told = {0};
        struct ct_live *live = make(b, &told, false);
        assert_int_equal(ct_live_push(live, b->trace, 1024, 0), CT_OK);
        const uint64_t before = ct_chain_losses(ct_live_chain(live)).gaps;
        assert_int_equal(ct_live_push(live, b->trace + 1088, b->size - 1088, lost[i]), CT_OK);
        assert_int_equal(ct_live_finish(live), CT_OK);
        assert_true(ct_chain_losses(ct_live_chain(live)).gaps > before);
        assert_int_equal(ct_live_seen_of(live)->read, b->size - 64);
        assert_int_equal(ct_live_seen_of(live)->analysed, i ? b->size - 64 : b->size);
        ct_live_free(live);
    }
}

TEST(a_sink_ends_the_run)
{
    struct bench *b = *state;
    struct told told = {.most = 3};
    struct ct_live *live = make(b, &told, true);
    assert_int_equal(ct_live_push(live, b->trace, b->size, 0), CT_ERR_IO);
    assert_string_equal(ct_ctx_error(b->ctx), "nobody takes results any more");
    assert_int_equal(told.results, 4); /* none after the one that was refused */
    ct_live_free(live);
}

/* A run whose receivers call it. */
struct caller {
    struct ct_live *live;
    struct ct_monitor_spec *spec;
    size_t calls;
};

static int call_back(struct caller *c)
{
    const struct ct_verify_bind bind = {"x", PLACE};
    c->calls++;
    assert_int_equal(ct_live_push(c->live, "abc", 3, 0), CT_ERR_ARG);
    assert_int_equal(ct_live_finish(c->live), CT_ERR_ARG);
    assert_int_equal(ct_live_run(c->live), CT_ERR_ARG);
    assert_int_equal(ct_live_add_place(c->live, PLACE), CT_ERR_ARG);
    assert_int_equal(ct_live_add_pair(c->live, PLACE, PLACE), CT_ERR_ARG);
    assert_int_equal(ct_live_add_milestone(c->live, PLACE, 0), CT_ERR_ARG);
    assert_int_equal(ct_live_add_spec(c->live, "late", c->spec, &bind, 1), CT_ERR_ARG);
    assert_non_null(ct_live_seen_of(c->live));
    return CT_OK;
}

static int call_at_edge(void *user, const struct ct_verdict_origin *origin)
{
    (void)origin;
    return call_back(user);
}

static int call_with_result(void *user, const struct ct_verdict_origin *origin,
                            const struct ct_verify_result *result)
{
    (void)origin;
    (void)result;
    return call_back(user);
}

static int call_in_pause(void *user)
{
    return call_back(user);
}

/* Calls from receivers are refused, and the run is the same, also with all trace IDs as one run. */
TEST(receivers_cannot_decode)
{
    struct bench *b = *state;
    for (uint8_t one_run = 0; one_run < 2; one_run++) {
        struct caller caller = {0};
        const struct ct_live_sink sink = {.user = &caller,
                                          .begin = call_at_edge,
                                          .end = call_at_edge,
                                          .result = call_with_result,
                                          .pause = call_in_pause};
        const struct ct_live_options options = {.size = sizeof options,
                                                .buffer = b->capture->buffers,
                                                .programs = b->programs,
                                                .timing = 1,
                                                .one_run = one_run,
                                                .sink = &sink};
        const struct ct_verify_bind bind = {"x", PLACE};
        struct ct_monitor_spec *spec;
        assert_int_equal(ct_live_new(b->ctx, &options, &caller.live), CT_OK);
        assert_int_equal(ct_monitor_compile(b->ctx, "spec", SPEC, sizeof SPEC - 1, NULL, &spec), CT_OK);
        assert_int_equal(ct_monitor_compile(b->ctx, "late", SPEC, sizeof SPEC - 1, NULL, &caller.spec),
                         CT_OK);
        assert_int_equal(ct_live_add_spec(caller.live, "spec", spec, &bind, 1), CT_OK);
        assert_int_equal(ct_live_push(caller.live, b->trace, b->size, 0), CT_OK);
        assert_int_equal(ct_live_finish(caller.live), CT_OK);
        assert_int_equal(instructions(caller.live), 939 + 3671);
        assert_true(caller.calls > 20); /* as many as results, see above */
        ct_live_free(caller.live);
        ct_monitor_spec_free(caller.spec);
    }
}

TEST(wrong_calls_are_refused)
{
    struct bench *b = *state;
    struct told told = {0};
    struct ct_live *live = make(b, &told, false);
    struct ct_live_input input = {.size = sizeof input, .name = "/nonexistent/trace"};
    assert_int_equal(ct_live_run(live), CT_ERR_ARG);
    assert_int_equal(ct_live_open(live, &input), CT_ERR_IO);
    input.reconnect = 1;
    assert_int_equal(ct_live_open(live, &input), CT_ERR_ARG);
    input = (struct ct_live_input){.size = sizeof input, .name = TRACE, .ring = 1000};
    assert_int_equal(ct_live_open(live, &input), CT_ERR_ARG);
    input = (struct ct_live_input){.size = sizeof input, .name = "tcp:127.0.0.1:no"};
    assert_int_equal(ct_live_open(live, &input), CT_ERR_FORMAT);
    assert_int_equal(ct_live_add_place(live, "nowhere_at_all"), CT_ERR_NOT_FOUND);
    assert_int_equal(ct_live_add_pair(live, PLACE, "nowhere_at_all"), CT_ERR_NOT_FOUND);
    assert_int_equal(ct_live_status(live, (enum ct_live_form)9, NULL, NULL), CT_ERR_ARG);
    input.name = TRACE;
    assert_int_equal(ct_live_open(live, &input), CT_OK);
    assert_int_equal(ct_live_open(live, &input), CT_ERR_ARG);
    assert_int_equal(ct_live_push(live, b->trace, 1, 0), CT_ERR_ARG);
    ct_live_free(live); /* it never ran */
}

TEST(an_input_is_read)
{
    struct bench *b = *state;
    struct told told = {0};
    struct ct_live *live = make(b, &told, true);
    const struct ct_live_input input = {.size = sizeof input, .name = TRACE, .ring = 512};
    assert_int_equal(ct_live_open(live, &input), CT_OK);
    assert_int_equal(ct_live_run(live), CT_OK);
    assert_int_equal(instructions(live), 939 + 3671);
    assert_int_equal(ct_live_seen_of(live)->dropped, 0);
    assert_null(ct_live_seen_of(live)->trouble);
    assert_int_equal(ct_live_run(live), CT_ERR_ARG);
    ct_live_free(live);
}

static void *end_it(void *live)
{
    usleep(200000);
    ct_live_hurry(live);
    return NULL;
}

TEST(another_thread_ends_it)
{
    struct bench *b = *state;
    struct told told = {0};
    struct ct_live *live = make(b, &told, false);
    const struct ct_live_input input = {.size = sizeof input, .name = "listen:0"};
    pthread_t thread;
    assert_int_equal(ct_live_open(live, &input), CT_OK);
    assert_non_null(strstr(told.words, "waiting for trace on port "));
    assert_int_equal(pthread_create(&thread, NULL, end_it, live), 0);
    assert_int_equal(ct_live_run(live), CT_OK);
    pthread_join(thread, NULL);
    assert_int_equal(ct_live_seen_of(live)->read, 0);
    ct_live_free(live);
}

/* ---- the page ---- */

struct visitor {
    char address[16]; /* of the page */
    bool done;        /* accessed atomically */
};

static void ask(const struct visitor *v, const char *method, const char *path, const char *body,
                const char *expected)
{
    struct ct_ctx *ctx = ct_ctx_new();
    const struct ct_live_request request = {.size = sizeof request,
                                            .address = v->address,
                                            .method = method,
                                            .path = path,
                                            .token = "secret",
                                            .body = body,
                                            .body_size = body ? strlen(body) : 0};
    struct ct_live_answer answer;
    assert_int_equal(ct_live_ask(ctx, &request, &answer), CT_OK);
    assert_int_equal(answer.status, 200);
    if (!strstr(answer.body, expected))
        fail_msg("%s: '%s' has no '%s'", path, answer.body, expected);
    ct_live_answer_free(&answer);
    ct_ctx_free(ctx);
}

static void *visit(void *user)
{
    struct visitor *v = user;
    ask(v, "GET", "/api/status", NULL, "bytes analysed");
    ask(v, "POST", "/api/watch", "{\"add\":[\"0x8055c\"]}", "2 watchpoints");
    ask(v, "POST", "/api/stop", "{}", "stops");
    __atomic_store_n(&v->done, true, __ATOMIC_RELEASE);
    return NULL;
}

/* Requests are answered while the caller pushes bytes, and when there are none. The threads of the page take
 * no signals. */
TEST(the_page_answers)
{
    struct bench *b = *state;
    struct told told = {0};
    struct visitor visitor = {0};
    struct ct_live *live = make(b, &told, false);
    pthread_t thread;
    size_t threads;
    if (ct_live_page(live, "nonsense", NULL) == CT_ERR_UNSUPPORTED) {
        ct_live_free(live);
        tap_skip("the library was built without libmicrohttpd and jansson (Debian: libmicrohttpd-dev, "
                 "libjansson-dev)");
    }
    assert_int_equal(ct_live_page(live, "nonsense", NULL), CT_ERR_FORMAT);
    assert_int_equal(ct_live_page(live, "0.0.0.0:0", NULL), CT_ERR_ARG);
    assert_int_equal(ct_live_page(live, "0", ""), CT_ERR_ARG);
    assert_int_equal(ct_live_page(live, "0", "secret"), CT_OK);
    assert_int_equal(signals_count(&threads), 1);
    assert_true(threads > 2);
    assert_int_equal(ct_live_page(live, "0", NULL), CT_ERR_ARG);
    assert_int_equal(sscanf(told.words, "page at http://127.0.0.1:%15[0-9]/", visitor.address), 1);
    assert_int_equal(pthread_create(&thread, NULL, visit, &visitor), 0);
    for (size_t at = 0; !__atomic_load_n(&visitor.done, __ATOMIC_ACQUIRE); at += at < b->size) {
        assert_int_equal(ct_live_push(live, b->trace + (at < b->size ? at : 0), at < b->size, 0), CT_OK);
        usleep(at < b->size ? 0 : 1000);
    }
    pthread_join(thread, NULL);
    assert_true(ct_live_seen_of(live)->stopping);
    assert_int_equal(ct_live_finish(live), CT_OK);
    ct_live_free(live);
}

/* ---- a page that interrupts its client ---- */

struct interrupter {
    int listening;
    pthread_t asks;
};

static void do_nothing(int signal)
{
    (void)signal;
}

/* Accepts a request, sends signals to the thread that waits for the answer, then answers. */
static void *interrupt(void *user)
{
    const struct interrupter *i = user;
    const struct timespec moment = {.tv_nsec = 20000000};
    const char answer[] = "HTTP/1.0 200 OK\r\n\r\nall of it";
    char head[4096];
    const int fd = accept(i->listening, NULL, NULL);
    assert_true(recv(fd, head, sizeof head, 0) > 0);
    for (unsigned k = 0; k < 5; k++) {
        nanosleep(&moment, NULL);
        assert_int_equal(pthread_kill(i->asks, SIGUSR1), 0);
    }
    assert_int_equal(send(fd, answer, sizeof answer - 1, MSG_NOSIGNAL), sizeof answer - 1);
    close(fd);
    return NULL;
}

TEST(signals_do_not_end_a_request)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    struct interrupter i = {.listening = socket(AF_INET, SOCK_STREAM, 0), .asks = pthread_self()};
    const struct sigaction quiet = {.sa_handler = do_nothing};
    struct sigaction old;
    struct visitor v;
    pthread_t thread;
    assert_int_equal(bind(i.listening, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(i.listening, 1), 0);
    assert_int_equal(getsockname(i.listening, (struct sockaddr *)&at, &length), 0);
    snprintf(v.address, sizeof v.address, "%u", (unsigned)ntohs(at.sin_port));
    assert_int_equal(sigaction(SIGUSR1, &quiet, &old), 0);
    assert_int_equal(pthread_create(&thread, NULL, interrupt, &i), 0);
    ask(&v, "GET", "/api/status", NULL, "all of it");
    pthread_join(thread, NULL);
    assert_int_equal(sigaction(SIGUSR1, &old, NULL), 0);
    close(i.listening);
}
