/* SPDX-License-Identifier: Apache-2.0 */
#include "live/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/library.h"
#include "coretap/format.h"
#include "coretap/json.h"
#include "live/address.h"
#include "live/check.h"
#include "live/guests.h"
#include "live/places.h"
#include "live/request.h"
#include "live/text.h"
#include "live/turns.h"

#define BODY_MAX    ((size_t)1 << 20)
#define CONNECTIONS 128  /* of which guests, who showed no token yet, are 48 at most: guests.c */
#define IDLE_S      30   /* seconds after which a connection that says nothing is closed */
#define PATIENCE_MS 2000 /* milliseconds that answers may take at the end of the run */
#define NEWS_S      5    /* seconds after which a connection without news gets an empty line */

/* Names a file in the place of the library. */
#define VARIABLE "CORETAP_MICROHTTPD"

/* Functions of libmicrohttpd, which is loaded for the first page: it and what it needs take as long as all of
 * a short command. */
#define ENTRIES(X)                                                                                           \
    X(MHD_add_response_header)                                                                               \
    X(MHD_create_response_from_buffer)                                                                       \
    X(MHD_create_response_from_callback)                                                                     \
    X(MHD_destroy_response)                                                                                  \
    X(MHD_get_connection_info)                                                                               \
    X(MHD_get_daemon_info)                                                                                   \
    X(MHD_lookup_connection_value)                                                                           \
    X(MHD_queue_response)                                                                                    \
    X(MHD_quiesce_daemon)                                                                                    \
    X(MHD_start_daemon)                                                                                      \
    X(MHD_stop_daemon)

CT_LIBRARY(mhd, ENTRIES);

/* Written once, before the first daemon is started: a process has a library once, too. */
static union mhd mhd;
static bool mhd_is_here;
static pthread_mutex_t mhd_loading = PTHREAD_MUTEX_INITIALIZER;

static int load(struct ct_ctx *ctx, const char *address)
{
    const char *named = getenv(VARIABLE);
    errno = 0;
    pthread_mutex_lock(&mhd_loading);
    const bool here = mhd_is_here =
        mhd_is_here || CT_LIBRARY_FIND(named ? named : "libmicrohttpd.so.12", &mhd, ENTRIES);
    pthread_mutex_unlock(&mhd_loading);
    return here ? CT_OK
                : ct_unless_nomem(ctx, address,
                                  ct_fail(ctx, CT_ERR_UNSUPPORTED,
                                          "%s: libmicrohttpd is not there, so there is no page; install it "
                                          "(Debian: libmicrohttpd12), or ask for no page",
                                          address));
}

extern const char ct_live_page_js[];
extern const char ct_live_page_base_js[];
extern const char ct_live_page_editor_js[];
extern const char ct_live_page_monitors_js[];
extern const char ct_live_page_plots_js[];
extern const char ct_live_page_progress_js[];
extern const char ct_live_page_html[];

struct ct_live_http {
    const struct ct_live_say *say;
    struct MHD_Daemon *daemon;
    struct ct_live_board *board;
    struct ct_monitor_options compile;
    struct ct_live_guests *guests;
    struct ct_live_turns *compiling;
    struct ct_live_places *places;
    char *token; /* or NULL */
    char *host;  /* that the address names, or nothing */
    char *page;
    size_t page_size;
    atomic_uint requests; /* that are not answered yet */
};

/* The body of a request, as far as it came. */
struct body {
    char *text;
    size_t size;
    bool too_long;
    bool may; /* the headers show that the request is allowed */
};

/* ---- answers ---- */

/* Closes the connection, because there is no memory for an answer. */
static enum MHD_Result hang_up(const struct ct_live_http *h)
{
    ct_live_lack(h->say);
    return MHD_NO;
}

static enum MHD_Result send_answer(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                   const char *type, struct MHD_Response *response)
{
    if (!response)
        return hang_up(h);
    mhd.f.MHD_add_response_header(response, "Content-Type", type);
    mhd.f.MHD_add_response_header(response, "Cache-Control", "no-store");
    mhd.f.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    mhd.f.MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    mhd.f.MHD_add_response_header(
        response, "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        mhd.f.MHD_add_response_header(response, "Retry-After", "1");
    if (status == MHD_HTTP_UNAUTHORIZED)
        mhd.f.MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    const enum MHD_Result result = mhd.f.MHD_queue_response(c, status, response);
    mhd.f.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                 const char *type, char *text, size_t size)
{
    struct MHD_Response *response = mhd.f.MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return send_answer(h, c, status, type, response);
}

static bool wants_text(struct MHD_Connection *c)
{
    const char *accept = mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    return accept && strncmp(accept, "text/plain", 10) == 0;
}

/* An answer in JSON that is being written. */
struct answer {
    struct ct_live_text text;
    struct ct_json *json; /* NULL without memory, which `text` tells */
};

static void begin_answer(struct answer *a)
{
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    *a = (struct answer){.json = NULL};
    /* contexts are of other threads */
    a->text.lacks = ct_json_new(NULL, &options, ct_live_text_write, &a->text, &a->json) != CT_OK;
}

static enum MHD_Result send_json(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                 struct answer *a)
{
    a->text.lacks |= a->json && ct_json_flush(a->json) != CT_OK;
    ct_json_free(a->json);
    if (!a->text.lacks)
        return send_text(h, c, status, "application/json", a->text.text, a->text.size);
    ct_live_text_free(&a->text);
    return hang_up(h);
}

static enum MHD_Result say_plain(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                 const char *words)
{
    struct ct_live_text text = {0};
    (void)ct_live_text_write(&text, words, strlen(words));
    (void)ct_live_text_write(&text, "\n", 1);
    if (!text.lacks)
        return send_text(h, c, status, "text/plain; charset=utf-8", text.text, text.size);
    ct_live_text_free(&text);
    return hang_up(h);
}

/* Answers with one text: as JSON under `key`, or alone. */
static enum MHD_Result say(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                           const char *key, const char *words, const struct ct_live_command *done)
{
    struct answer a;
    if (wants_text(c))
        return say_plain(h, c, status, words);
    begin_answer(&a);
    ct_json_object(a.json, NULL);
    ct_json_text(a.json, key, words);
    if (done)
        ct_json_number(a.json, "at", done->at);
    ct_json_object_end(a.json);
    return send_json(h, c, status, &a);
}

static enum MHD_Result refuse(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                              const char *why)
{
    return say(h, c, status, "error", why, NULL);
}

/* Refuses a request with `status`, or for want of memory. */
static enum MHD_Result refuse_command(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                      const char *why, const struct ct_live_command *command)
{
    if (!command->lacking)
        return refuse(h, c, status, why);
    ct_live_lack(h->say);
    return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

/* Refuses a specification with errors, and says where they are. */
static enum MHD_Result refuse_faulty(const struct ct_live_http *h, struct MHD_Connection *c, const char *why,
                                     struct ct_live_command *command)
{
    struct answer a;
    enum MHD_Result result;
    if (wants_text(c)) {
        result = say_plain(h, c, MHD_HTTP_BAD_REQUEST, why);
    } else {
        begin_answer(&a);
        ct_json_object(a.json, NULL);
        ct_json_text(a.json, "error", why);
        ct_live_put_check(a.json, command->spec);
        ct_json_object_end(a.json);
        result = send_json(h, c, MHD_HTTP_BAD_REQUEST, &a);
    }
    ct_monitor_spec_free(command->spec);
    command->spec = NULL;
    return result;
}

/* ---- who may ---- */

/* Compares texts in a time that does not depend on where they differ. */
static bool same_text(const char *a, const char *b)
{
    const size_t size = strlen(a);
    unsigned char differ = 0;
    if (strlen(b) != size)
        return false;
    for (size_t i = 0; i < size; i++)
        differ |= (unsigned char)(a[i] ^ b[i]);
    return !differ;
}

static bool has_token(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *header = mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    const char *query = mhd.f.MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    if (header && strncmp(header, "Bearer ", 7) == 0)
        return same_text(h->token, header + 7);
    return query && same_text(h->token, query);
}

static bool is_loopback_name(const char *host)
{
    static const char *const names[] = {"localhost", "[::1]", "127."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i]);
        if (strncasecmp(host, names[i], length) != 0)
            continue;
        if (names[i][length - 1] == '.')
            return strspn(host, "0123456789.:") == strlen(host);
        return host[length] == '\0' || host[length] == ':';
    }
    return false;
}

/* Tells whether the host, with or without a port behind it, is `name`. */
static bool is_host(const char *host, const char *name)
{
    const size_t length = strlen(name);
    return length && strncasecmp(host, name, length) == 0 && (host[length] == '\0' || host[length] == ':');
}

/* Tells whether the host is an address rather than a name that somebody's name server resolves. */
static bool is_address(const char *host)
{
    return *host == '[' ? strspn(host + 1, "0123456789abcdefABCDEF:.]") == strlen(host + 1)
                        : strspn(host, "0123456789.:") == strlen(host);
}

/* Tells whether the request names a host that is this one. A page from elsewhere, whose name was made to
 * resolve to this machine, must not reach the API; its browser sends that name. */
static bool knows_host(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *host = mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    char own[256] = "";
    if (!host || is_loopback_name(host))
        return true;
    if (!h->token) /* only this machine reaches it */
        return false;
    if (gethostname(own, sizeof own - 1) != 0)
        own[0] = '\0';
    return is_address(host) || is_host(host, own) || is_host(host, h->host);
}

static bool may(const struct ct_live_http *h, struct MHD_Connection *c)
{
    return knows_host(h, c) && (!h->token || has_token(h, c));
}

/* ---- requests for what is there ---- */

static enum MHD_Result send_page(const struct ct_live_http *h, struct MHD_Connection *c)
{
    return send_answer(h, c, MHD_HTTP_OK, "text/html; charset=utf-8",
                       mhd.f.MHD_create_response_from_buffer(h->page_size, h->page, MHD_RESPMEM_PERSISTENT));
}

static enum MHD_Result send_status(const struct ct_live_http *h, struct MHD_Connection *c)
{
    uint64_t serial = 0;
    size_t size = 0;
    bool over;
    const bool plain = wants_text(c);
    char *text =
        ct_live_board_read(h->board, plain ? CT_LIVE_TEXT : CT_LIVE_JSON, &serial, 2000, &size, &over);
    if (!text)
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, "there is no status now; ask again");
    return send_text(h, c, MHD_HTTP_OK, plain ? "text/plain; charset=utf-8" : "application/json", text, size);
}

/* A stream of server-sent events: one connection's. */
struct news {
    const struct ct_live_http *http;
    uint64_t serial;
    char *text; /* of the event that is being sent */
    size_t size, sent;
};

static bool next_event(struct news *n)
{
    size_t size = 0;
    bool over = false;
    char *json = ct_live_board_changes(n->http->board, &n->serial, NEWS_S * 1000, &size, &over);
    free(n->text);
    n->sent = 0;
    n->text = over ? NULL : malloc(size + 16);
    if (!over && !n->text)
        ct_live_lack(n->http->say);
    if (n->text && json)
        n->size = (size_t)sprintf(n->text, "data: %s\n\n", json);
    else if (n->text) /* a comment: shows whether anybody is there */
        n->size = (size_t)sprintf(n->text, ":\n\n");
    free(json);
    return n->text != NULL;
}

static ssize_t send_news(void *user, uint64_t pos, char *to, size_t most)
{
    struct news *n = user;
    (void)pos;
    if (n->sent == n->size && !next_event(n))
        return MHD_CONTENT_READER_END_OF_STREAM;
    const size_t left = n->size - n->sent;
    const size_t size = left < most ? left : most;
    memcpy(to, n->text + n->sent, size);
    n->sent += size;
    return (ssize_t)size;
}

static void free_news(void *user)
{
    struct news *n = user;
    free(n->text);
    free(n);
}

static enum MHD_Result send_events(const struct ct_live_http *h, struct MHD_Connection *c)
{
    struct news *n = calloc(1, sizeof *n);
    if (!n)
        return hang_up(h);
    n->http = h;
    struct MHD_Response *response =
        mhd.f.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, send_news, n, free_news);
    if (!response)
        free_news(n);
    return send_answer(h, c, MHD_HTTP_OK, "text/event-stream", response);
}

/* ---- requests that read ---- */

static const char *query(struct MHD_Connection *c, const char *key)
{
    return mhd.f.MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
}

/* Asks the analysing thread, and sends what it reads. */
static enum MHD_Result read_from(const struct ct_live_http *h, struct MHD_Connection *c,
                                 struct ct_live_command *command, const char *type)
{
    ct_live_board_ask(h->board, command);
    struct ct_live_text *text = &command->read;
    if (command->fine && !text->text) /* it is empty */
        text->text = strdup("");
    if (command->fine)
        return text->text ? send_text(h, c, MHD_HTTP_OK, type, text->text, text->size) : hang_up(h);
    ct_live_text_free(text);
    return refuse_command(h, c, MHD_HTTP_NOT_FOUND,
                          command->lacking ? "out of memory; ask again" : command->text, command);
}

static enum MHD_Result send_monitor(const struct ct_live_http *h, struct MHD_Connection *c)
{
    struct ct_live_command command = {.action = LIVE_READ_MONITOR, .name = query(c, "name")};
    if (!command.name)
        return refuse(h, c, MHD_HTTP_BAD_REQUEST, "which one? ?name=NAME says it");
    return read_from(h, c, &command, "application/json");
}

static enum MHD_Result send_outputs(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *format = query(c, "format"), *after = query(c, "after");
    struct ct_live_command command = {.action = LIVE_READ_OUTPUTS, .name = query(c, "name")};
    char *end = NULL;
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0)
        return refuse(h, c, MHD_HTTP_BAD_REQUEST, "\"format\" has to be csv or jsonl");
    command.lines = format && strcmp(format, "csv") == 0 ? LIVE_CSV : LIVE_JSONL;
    command.after = after ? strtoull(after, &end, 10) : 0;
    if (after && (!*after || *end || strchr(after, '-')))
        return refuse(h, c, MHD_HTTP_BAD_REQUEST, "\"after\" has to be the number of a result");
    return read_from(h, c, &command,
                     command.lines == LIVE_CSV ? "text/csv; charset=utf-8" : "application/x-ndjson");
}

static enum MHD_Result send_places(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *text = query(c, "text");
    struct answer a;
    begin_answer(&a);
    ct_live_places_json(h->places, text ? text : "", a.json);
    return send_json(h, c, MHD_HTTP_OK, &a);
}

static enum MHD_Result get(const struct ct_live_http *h, struct MHD_Connection *c, const char *url)
{
    static const struct {
        const char *url;
        enum MHD_Result (*send)(const struct ct_live_http *h, struct MHD_Connection *c);
    } all[] = {{"/", send_page},
               {"/api/status", send_status},
               {"/api/events", send_events},
               {"/api/monitor", send_monitor},
               {"/api/outputs", send_outputs},
               {"/api/places", send_places}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(url, all[i].url) == 0)
            return all[i].send(h, c);
    return refuse(h, c, MHD_HTTP_NOT_FOUND,
                  "there is /, /api/status, /api/events, /api/monitor, /api/outputs, /api/places, and to be "
                  "posted to: /api/watch, /api/monitors, /api/check, /api/filter, /api/stop");
}

/* Finds what a POST to this address is about. NULL: the API has no such address. */
static const char *subject(const char *url)
{
    static const char *const all[] = {"watch", "monitors", "check", "filter", "stop"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(url, "/api/", 5) == 0 && strcmp(url + 5, all[i]) == 0)
            return all[i];
    return NULL;
}

/* Answers what a specification needs and gives, of which nothing runs. */
static enum MHD_Result send_check(const struct ct_live_http *h, struct MHD_Connection *c,
                                  struct ct_live_posted *request, struct ct_live_command *command)
{
    struct answer a;
    begin_answer(&a);
    ct_json_object(a.json, NULL);
    ct_live_put_check(a.json, command->spec);
    ct_json_object_end(a.json);
    ct_live_posted_free(request, command);
    return send_json(h, c, MHD_HTTP_OK, &a);
}

static enum MHD_Result post(const struct ct_live_http *h, struct MHD_Connection *c, const char *url,
                            const struct body *body)
{
    const char *what = subject(url);
    const char *type = mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type");
    struct ct_live_command command;
    char why[4096] = "";
    if (!what)
        return refuse(h, c, MHD_HTTP_NOT_FOUND,
                      "nothing is posted there; there is /api/watch, /api/monitors, /api/check, /api/filter, "
                      "/api/stop");
    if (body->too_long)
        return refuse(h, c, 413, "the request is longer than 1 MiB");
    /* a page from elsewhere cannot send this type without asking first */
    if (!type || strncmp(type, "application/json", 16) != 0)
        return refuse(h, c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, "the Content-Type has to be application/json");
    const bool checks = strcmp(what, "check") == 0;
    const bool compiles = checks || strcmp(what, "monitors") == 0;
    if (compiles && !ct_live_turns_take(h->compiling))
        return refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                      "a specification is being compiled and another one waits; ask again");
    struct ct_live_posted *request = ct_live_posted_read(what, body->text ? body->text : "", body->size,
                                                         &h->compile, &command, why, sizeof why);
    if (compiles)
        ct_live_turns_give(h->compiling);
    if (!request)
        return command.faulty && !command.lacking ? refuse_faulty(h, c, why, &command)
                                                  : refuse_command(h, c, MHD_HTTP_BAD_REQUEST, why, &command);
    if (checks)
        return send_check(h, c, request, &command);
    ct_live_board_ask(h->board, &command);
    ct_live_posted_free(request, &command);
    return command.fine ? say(h, c, MHD_HTTP_OK, "done", command.text, &command)
                        : refuse_command(h, c, MHD_HTTP_CONFLICT, command.text, &command);
}

/* ---- requests ---- */

static bool take_body(struct body *b, const char *data, size_t size)
{
    if (b->too_long || b->size + size > BODY_MAX) {
        b->too_long = true;
        return true;
    }
    char *more = realloc(b->text, b->size + size);
    if (!more)
        return false;
    memcpy(more + b->size, data, size);
    b->text = more;
    b->size += size;
    return true;
}

static struct ct_live_guest *guest_of(struct MHD_Connection *c)
{
    const union MHD_ConnectionInfo *info =
        mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}

static void on_connection(void *user, struct MHD_Connection *c, void **state,
                          enum MHD_ConnectionNotificationCode code)
{
    struct ct_live_http *h = user;
    if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
        ct_live_guests_remove(h->guests, *state);
        *state = NULL;
        return;
    }
    const union MHD_ConnectionInfo *fd = mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *peer =
        mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *state = fd ? ct_live_guests_add(h->guests, fd->connect_fd, peer ? peer->client_addr : NULL) : NULL;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state)
{
    struct ct_live_http *h = user;
    struct body *body = *state;
    (void)version;
    if (!body) {
        *state = body = calloc(1, sizeof *body);
        h->requests += body != NULL;
        if (!body)
            return hang_up(h);
        body->may = may(h, c);
        if (body->may)
            ct_live_guests_admit(h->guests, guest_of(c));
        return MHD_YES;
    }
    if (*size) {
        const bool fine = !body->may || take_body(body, data, *size);
        *size = 0;
        return fine ? MHD_YES : hang_up(h);
    }
    if (!body->may)
        return knows_host(h, c)
                   ? refuse(h, c, MHD_HTTP_UNAUTHORIZED,
                            "a token is needed: ?token=… or Authorization: Bearer …")
                   : refuse(h, c, MHD_HTTP_FORBIDDEN, "the host of the request is not this machine");
    if (strcmp(method, "GET") == 0)
        return get(h, c, url);
    if (strcmp(method, "POST") == 0)
        return post(h, c, url, body);
    return refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and POST are understood");
}

static void on_done(void *user, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
    struct ct_live_http *h = user;
    struct body *body = *state;
    (void)c;
    (void)code;
    if (!body)
        return;
    free(body->text);
    free(body);
    h->requests--;
}

/* ---- begin and end ---- */

static int make_page(struct ct_live_http *h)
{
    /* each needs those before it */
    const char *const scripts[] = {ct_live_page_base_js,     ct_live_page_plots_js,    ct_live_page_editor_js,
                                   ct_live_page_monitors_js, ct_live_page_progress_js, ct_live_page_js};
    struct ct_live_text page = {0}, script = {0};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        (void)ct_live_text_write(&script, scripts[i], strlen(scripts[i]));
    const struct ct_page_options options = {.size = sizeof options,
                                            .title = "coretap live",
                                            .body = ct_live_page_html,
                                            .script = script.text,
                                            .served = 1};
    const int rc = script.lacks ? CT_ERR_NOMEM : ct_page_write(NULL, &options, ct_live_text_write, &page);
    ct_live_text_free(&script);
    h->page = page.text;
    h->page_size = page.size;
    return rc;
}

static bool is_loopback(const struct sockaddr *address)
{
    if (address->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
    return address->sa_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Finds the address to listen at, to be freed with freeaddrinfo. NULL: *rc is the error. */
static struct addrinfo *find_address(struct ct_ctx *ctx, const char *text, int *rc)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    const char *host, *port;
    char *copy = strdup(text), *end;
    if (!copy) {
        *rc = ct_fail_nomem(ctx, text);
        return NULL;
    }
    ct_live_split_address(copy, &host, &port);
    const unsigned long number = strtoul(port, &end, 10);
    const bool is_port = *port && !*end && number <= 65535;
    const int why = is_port ? getaddrinfo(host ? host : "127.0.0.1", port, &hints, &found) : 0;
    free(copy);
    if (!is_port)
        *rc = ct_fail(ctx, CT_ERR_FORMAT, "%s: is not [ADDRESS:]PORT, so no page is there", text);
    else if (why)
        *rc = ct_fail(ctx, CT_ERR_FORMAT, "%s: no page is there: %s", text, gai_strerror(why));
    return is_port && !why ? found : NULL;
}

static void tell_address(const struct ct_live_http *h, const struct addrinfo *at)
{
    char host[64] = "";
    const union MHD_DaemonInfo *info = mhd.f.MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    const bool six = at->ai_family == AF_INET6;
    ct_live_say(h->say, CT_LOG_NOTE, "page at http://%s%s%s:%u/%s", six ? "[" : "", host, six ? "]" : "",
                info ? info->port : 0, h->token ? "?token=…" : "");
}

/* Starts the server with signals blocked, whose handlers are the caller's and run in the caller's threads. */
static void start_daemon(struct ct_live_http *h, const struct addrinfo *at)
{
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                           (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = 0;
    h->daemon = mhd.f.MHD_start_daemon(flags, 0, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, at->ai_addr,
                                       MHD_OPTION_NOTIFY_COMPLETED, on_done, h, MHD_OPTION_NOTIFY_CONNECTION,
                                       on_connection, h, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
                                       MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
                                       MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

static int start(struct ct_live_http *h, struct ct_ctx *ctx, const char *text, const struct addrinfo *at)
{
    if (!is_loopback(at->ai_addr) && !h->token)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: other machines can reach this address, so the page needs a token: give --token",
                       text);
    start_daemon(h, at);
    if (!h->daemon && (errno == ENOMEM || errno == EAGAIN)) /* EAGAIN: no thread */
        return ct_fail_nomem(ctx, text);
    if (!h->daemon)
        return ct_fail(ctx, CT_ERR_IO, "%s: the page cannot listen there; is the port in use?", text);
    tell_address(h, at);
    return CT_OK;
}

/* Gives the host that the address names, or an empty text. NULL: no memory. */
static char *host_of(const char *address)
{
    const char *host, *port;
    char *copy = strdup(address);
    if (!copy)
        return NULL;
    ct_live_split_address(copy, &host, &port);
    char *found = strdup(host ? host : "");
    free(copy);
    return found;
}

static int make(struct ct_live_http *h, struct ct_ctx *ctx, const char *address, const char *token)
{
    int rc = CT_OK;
    struct addrinfo *at = find_address(ctx, address, &rc);
    if (!at)
        return rc;
    h->guests = ct_live_guests_new();
    h->compiling = ct_live_turns_new();
    h->host = host_of(address);
    h->token = token ? strdup(token) : NULL;
    if ((token && !h->token) || !h->host || !h->guests || !h->compiling || make_page(h) != CT_OK)
        rc = ct_fail_nomem(ctx, address);
    if (!rc)
        rc = start(h, ctx, address, at);
    freeaddrinfo(at);
    return rc;
}

int ct_live_http_start(struct ct_ctx *ctx, const struct ct_live_say *say_to, const char *address,
                       const char *token, const struct ct_monitor_options *compile,
                       struct ct_live_board *board, const struct ct_live_options *options,
                       struct ct_live_http **out)
{
    if (token && !*token)
        return ct_fail(
            ctx, CT_ERR_ARG,
            "%s: the token is empty, so everybody would know it: give --token TEXT or CORETAP_TOKEN "
            "a text, or neither",
            address);
    int rc = load(ctx, address);
    struct ct_live_http *h = rc ? NULL : calloc(1, sizeof *h);
    if (!h)
        return rc ? rc : ct_fail_nomem(ctx, address);
    h->say = say_to;
    h->board = board;
    h->compile = *compile;
    h->places = ct_live_places_new(options);
    rc = h->places ? make(h, ctx, address, token) : ct_fail_nomem(ctx, address);
    if (rc)
        ct_live_http_stop(h);
    else
        *out = h;
    return rc;
}

/* Takes no more connections, and lets those that are asking have their answers. */
static void finish_requests(struct ct_live_http *h)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const int fd = mhd.f.MHD_quiesce_daemon(h->daemon);
    if (fd >= 0)
        close(fd);
    for (unsigned i = 0; h->requests && i < PATIENCE_MS / 5; i++)
        nanosleep(&pause, NULL);
}

void ct_live_http_stop(struct ct_live_http *h)
{
    if (!h)
        return;
    if (h->daemon) {
        finish_requests(h);
        mhd.f.MHD_stop_daemon(h->daemon);
    }
    ct_live_guests_free(h->guests);
    ct_live_turns_free(h->compiling);
    ct_live_places_free(h->places);
    free(h->host);
    free(h->token);
    free(h->page);
    free(h);
}
