/* SPDX-License-Identifier: Apache-2.0 */
/* The API of a live run's page: requests and answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/json.h"
#include "live/check.h"
#include "live/http_api.h"
#include "live/request.h"
#include "live/text.h"

#define NEWS_S 5 /* seconds without news after which a connection gets an empty event */

/* ---- answers ---- */

enum MHD_Result ct_live_http_hang_up(const struct ct_live_http *h)
{
    ct_live_lack(h->say);
    return MHD_NO;
}

static enum MHD_Result send_answer(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                   const char *type, struct MHD_Response *response)
{
    if (!response)
        return ct_live_http_hang_up(h);
    ct_live_mhd.f.MHD_add_response_header(response, "Content-Type", type);
    ct_live_mhd.f.MHD_add_response_header(response, "Cache-Control", "no-store");
    ct_live_mhd.f.MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    ct_live_mhd.f.MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    ct_live_mhd.f.MHD_add_response_header(
        response, "Content-Security-Policy",
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        ct_live_mhd.f.MHD_add_response_header(response, "Retry-After", "1");
    if (status == MHD_HTTP_UNAUTHORIZED)
        ct_live_mhd.f.MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
    const enum MHD_Result result = ct_live_mhd.f.MHD_queue_response(c, status, response);
    ct_live_mhd.f.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result send_text(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                 const char *type, char *text, size_t size)
{
    struct MHD_Response *response =
        ct_live_mhd.f.MHD_create_response_from_buffer(size, text, MHD_RESPMEM_MUST_FREE);
    if (!response)
        free(text);
    return send_answer(h, c, status, type, response);
}

static bool wants_text(struct MHD_Connection *c)
{
    const char *accept = ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Accept");
    return accept && strncmp(accept, "text/plain", 10) == 0;
}

/* A JSON answer that is being written. */
struct answer {
    struct ct_live_text text;
    struct ct_json *json; /* NULL: out of memory, as `text` tells */
};

static void begin_answer(struct answer *a)
{
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    *a = (struct answer){.json = NULL};
    /* contexts belong to other threads */
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
    return ct_live_http_hang_up(h);
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
    return ct_live_http_hang_up(h);
}

/* Answers with one text: as JSON under `key`, or as plain text. */
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

enum MHD_Result ct_live_http_refuse(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                    const char *why)
{
    return say(h, c, status, "error", why, NULL);
}

/* Refuses a request with `status`, or with an out-of-memory error. */
static enum MHD_Result refuse_command(const struct ct_live_http *h, struct MHD_Connection *c, unsigned status,
                                      const char *why, const struct ct_live_command *command)
{
    if (!command->lacking)
        return ct_live_http_refuse(h, c, status, why);
    ct_live_lack(h->say);
    return ct_live_http_refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE, why);
}

/* Refuses a specification with errors, and reports their places. */
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

/* ---- requests for page and status ---- */

static enum MHD_Result send_page(const struct ct_live_http *h, struct MHD_Connection *c)
{
    return send_answer(
        h, c, MHD_HTTP_OK, "text/html; charset=utf-8",
        ct_live_mhd.f.MHD_create_response_from_buffer(h->page_size, h->page, MHD_RESPMEM_PERSISTENT));
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
        return ct_live_http_refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                                   "no status is available now; send the "
                                   "request again");
    return send_text(h, c, MHD_HTTP_OK, plain ? "text/plain; charset=utf-8" : "application/json", text, size);
}

/* A stream of server-sent events on one connection. */
struct news {
    const struct ct_live_http *http;
    uint64_t serial;
    char *text; /* the event being sent */
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
    else if (n->text) /* a comment, which shows whether the client is still there */
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
        return ct_live_http_hang_up(h);
    n->http = h;
    struct MHD_Response *response =
        ct_live_mhd.f.MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 65536, send_news, n, free_news);
    if (!response)
        free_news(n);
    return send_answer(h, c, MHD_HTTP_OK, "text/event-stream", response);
}

/* ---- requests that read ---- */

static const char *query(struct MHD_Connection *c, const char *key)
{
    return ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
}

/* Asks the analysing thread, and sends the text that it reads. */
static enum MHD_Result read_from(const struct ct_live_http *h, struct MHD_Connection *c,
                                 struct ct_live_command *command, const char *type)
{
    ct_live_board_ask(h->board, command);
    struct ct_live_text *text = &command->read;
    if (command->fine && !text->text) /* nothing was written */
        text->text = strdup("");
    if (command->fine)
        return text->text ? send_text(h, c, MHD_HTTP_OK, type, text->text, text->size)
                          : ct_live_http_hang_up(h);
    ct_live_text_free(text);
    return refuse_command(h, c, command->late ? MHD_HTTP_CONFLICT : MHD_HTTP_NOT_FOUND,
                          command->lacking ? "out of memory; send the request again" : command->text,
                          command);
}

static enum MHD_Result send_monitor(const struct ct_live_http *h, struct MHD_Connection *c)
{
    struct ct_live_command command = {.action = LIVE_READ_MONITOR, .name = query(c, "name")};
    if (!command.name)
        return ct_live_http_refuse(h, c, MHD_HTTP_BAD_REQUEST,
                                   "the name of a specification is missing; add "
                                   "?name=NAME to the URL");
    return read_from(h, c, &command, "application/json");
}

static enum MHD_Result send_outputs(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *format = query(c, "format"), *after = query(c, "after");
    struct ct_live_command command = {.action = LIVE_READ_OUTPUTS, .name = query(c, "name")};
    char *end = NULL;
    if (format && strcmp(format, "csv") != 0 && strcmp(format, "jsonl") != 0)
        return ct_live_http_refuse(h, c, MHD_HTTP_BAD_REQUEST, "\"format\" must be csv or jsonl");
    command.lines = format && strcmp(format, "csv") == 0 ? LIVE_CSV : LIVE_JSONL;
    command.after = after ? strtoull(after, &end, 10) : 0;
    if (after && (!*after || *end || strchr(after, '-')))
        return ct_live_http_refuse(h, c, MHD_HTTP_BAD_REQUEST, "\"after\" must be the number of a result");
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

/* what GET answers */
static const struct {
    const char *url;
    enum MHD_Result (*send)(const struct ct_live_http *h, struct MHD_Connection *c);
} GETS[] = {{"/", send_page},
            {"/api/status", send_status},
            {"/api/events", send_events},
            {"/api/monitor", send_monitor},
            {"/api/outputs", send_outputs},
            {"/api/places", send_places}};

enum {
    GETS_COUNT = sizeof GETS / sizeof *GETS
};

/* Returns the entry of GETS with this URL, or GETS_COUNT. */
static size_t find_get(const char *url)
{
    size_t i = 0;
    while (i < GETS_COUNT && strcmp(url, GETS[i].url) != 0)
        i++;
    return i;
}

/* Returns the subject of a POST to this URL. NULL: the API has no such URL. */
static const char *subject(const char *url)
{
    static const char *const all[] = {"watch", "monitors", "check", "filter", "stop"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(url, "/api/", 5) == 0 && strcmp(url + 5, all[i]) == 0)
            return all[i];
    return NULL;
}

/* Refuses a path that the method does not have. `other`: the other method has it. */
static enum MHD_Result refuse_path(const struct ct_live_http *h, struct MHD_Connection *c, bool other)
{
    return ct_live_http_refuse(
        h, c, other ? MHD_HTTP_METHOD_NOT_ALLOWED : MHD_HTTP_NOT_FOUND,
        other ? "the path does not have this method; GET reads and POST changes"
              : "the path does not exist; GET accepts /, /api/status, /api/events, /api/monitor, "
                "/api/outputs, /api/places; POST accepts /api/watch, /api/monitors, /api/check, /api/filter, "
                "/api/stop");
}

enum MHD_Result ct_live_http_get(const struct ct_live_http *h, struct MHD_Connection *c, const char *url)
{
    const size_t i = find_get(url);
    return i < GETS_COUNT ? GETS[i].send(h, c) : refuse_path(h, c, subject(url));
}

/* Answers with the inputs and outputs of a specification, without running it. */
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

enum MHD_Result ct_live_http_post(const struct ct_live_http *h, struct MHD_Connection *c, const char *url,
                                  const struct ct_live_http_body *body)
{
    const char *what = subject(url);
    const char *type = ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Content-Type");
    struct ct_live_command command;
    char why[4096] = "";
    if (!what)
        return refuse_path(h, c, find_get(url) < GETS_COUNT);
    if (body->too_long)
        return ct_live_http_refuse(h, c, 413,
                                   "the request is longer than 1 MiB; nothing is changed; send a "
                                   "shorter one");
    /* a page from elsewhere cannot send this type without a preflight request */
    if (!type || strncmp(type, "application/json", 16) != 0)
        return ct_live_http_refuse(h, c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                                   "the Content-Type must be application/json");
    const bool checks = strcmp(what, "check") == 0;
    const bool compiles = checks || strcmp(what, "monitors") == 0;
    if (compiles && !ct_live_turns_take(h->compiling))
        return ct_live_http_refuse(h, c, MHD_HTTP_SERVICE_UNAVAILABLE,
                                   "a specification is being compiled and another one waits; send the "
                                   "request again later");
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
