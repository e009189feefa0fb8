/* SPDX-License-Identifier: Apache-2.0 */
#include "live/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/ctx.h"
#include "coretap/format.h"
#include "live/address.h"
#include "live/http_api.h"
#include "live/text.h"

#define BODY_MAX    ((size_t)1 << 20)
#define CONNECTIONS 128  /* most connections; those without a token are limited further (guests.c) */
#define IDLE_S      30   /* seconds after which a silent connection is closed */
#define PATIENCE_MS 2000 /* milliseconds for pending answers at the end of the run */

/* environment variable: a file to load instead of the library */
#define VARIABLE "CORETAP_MICROHTTPD"

/* Written once, before the first daemon starts, because a process loads a library only once. */
union ct_live_mhd ct_live_mhd;
static bool mhd_is_here;
static pthread_mutex_t mhd_loading = PTHREAD_MUTEX_INITIALIZER;

static int load(struct ct_ctx *ctx, const char *address)
{
    const char *named = getenv(VARIABLE);
    errno = 0;
    pthread_mutex_lock(&mhd_loading);
    const bool here = mhd_is_here =
        mhd_is_here || CT_LIBRARY_FIND(named ? named : "libmicrohttpd.so.12", &ct_live_mhd, CT_LIVE_MHD);
    pthread_mutex_unlock(&mhd_loading);
    return here ? CT_OK
                : ct_unless_nomem(ctx, address,
                                  ct_fail(ctx, CT_ERR_UNSUPPORTED,
                                          "%s: libmicrohttpd cannot be loaded, so the page cannot be served; "
                                          "install it (Debian: libmicrohttpd12), or omit --http",
                                          address));
}

extern const char ct_live_page_js[];
extern const char ct_live_page_base_js[];
extern const char ct_live_page_editor_js[];
extern const char ct_live_page_monitors_js[];
extern const char ct_live_page_plots_js[];
extern const char ct_live_page_progress_js[];
extern const char ct_live_page_html[];

/* ---- access ---- */

/* Compares texts in constant time, whatever their first difference. */
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
    const char *header = ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    const char *query = ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
    if (header && strncmp(header, "Bearer ", 7) == 0)
        return same_text(h->token, header + 7);
    return query && same_text(h->token, query);
}

/* Returns whether the host, with or without a port, is `name`. */
static bool is_host(const char *host, const char *name)
{
    const size_t length = strlen(name);
    return length && strncasecmp(host, name, length) == 0 && (host[length] == '\0' || host[length] == ':');
}

/* Returns whether the host is a numeric address, not a name that a name server resolves. */
static bool is_address(const char *host)
{
    return *host == '[' ? strspn(host + 1, "0123456789abcdefABCDEF:.]") == strlen(host + 1)
                        : strspn(host, "0123456789.:") == strlen(host);
}

static bool is_loopback_name(const char *host)
{
    return is_host(host, "localhost") || is_host(host, "[::1]") ||
           (strncmp(host, "127.", 4) == 0 && is_address(host));
}

/* Returns whether the request's Host header names this machine. This blocks DNS rebinding: a page from
 * elsewhere whose name resolves to this machine, because its browser sends that name. */
static bool knows_host(const struct ct_live_http *h, struct MHD_Connection *c)
{
    const char *host = ct_live_mhd.f.MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host");
    char own[256] = "";
    if (!host || is_loopback_name(host))
        return true;
    if (!h->token) /* without a token only this machine can connect */
        return false;
    if (gethostname(own, sizeof own - 1) != 0)
        own[0] = '\0';
    return is_address(host) || is_host(host, own) || is_host(host, h->host);
}

static bool may(const struct ct_live_http *h, struct MHD_Connection *c)
{
    return knows_host(h, c) && (!h->token || has_token(h, c));
}
/* ---- requests ---- */

static bool take_body(struct ct_live_http_body *b, const char *data, size_t size)
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
        ct_live_mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
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
    const union MHD_ConnectionInfo *fd =
        ct_live_mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *peer =
        ct_live_mhd.f.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *state = fd ? ct_live_guests_add(h->guests, fd->connect_fd, peer ? peer->client_addr : NULL) : NULL;
}

static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url, const char *method,
                                  const char *version, const char *data, size_t *size, void **state)
{
    struct ct_live_http *h = user;
    struct ct_live_http_body *body = *state;
    (void)version;
    if (!body) {
        *state = body = calloc(1, sizeof *body);
        h->requests += body != NULL;
        if (!body)
            return ct_live_http_hang_up(h);
        body->may = may(h, c);
        if (body->may)
            ct_live_guests_admit(h->guests, guest_of(c));
        return MHD_YES;
    }
    if (*size) {
        const bool fine = !body->may || take_body(body, data, *size);
        *size = 0;
        return fine ? MHD_YES : ct_live_http_hang_up(h);
    }
    if (!body->may)
        return knows_host(h, c)
                   ? ct_live_http_refuse(h, c, MHD_HTTP_UNAUTHORIZED,
                                         "the request needs the token of the run; add ?token=… to the URL, "
                                         "or send the header Authorization: Bearer …")
                   : ct_live_http_refuse(h, c, MHD_HTTP_FORBIDDEN,
                                         "the Host header of the request does not name this machine; use its "
                                         "address, or start the run with a token");
    if (strcmp(method, "GET") == 0)
        return ct_live_http_get(h, c, url);
    if (strcmp(method, "POST") == 0)
        return ct_live_http_post(h, c, url, body);
    return ct_live_http_refuse(h, c, MHD_HTTP_METHOD_NOT_ALLOWED,
                               "the method is not supported; use GET or "
                               "POST");
}

static void on_done(void *user, struct MHD_Connection *c, void **state, enum MHD_RequestTerminationCode code)
{
    struct ct_live_http *h = user;
    struct ct_live_http_body *body = *state;
    (void)c;
    (void)code;
    if (!body)
        return;
    free(body->text);
    free(body);
    h->requests--;
}

/* ---- creation and end ---- */

static int make_page(struct ct_live_http *h)
{
    /* each script needs those before it */
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

/* Finds the address to listen at, and stores the host that it names. Free the result with freeaddrinfo. NULL:
 * *rc is the error. */
static struct addrinfo *find_address(struct ct_live_http *h, struct ct_ctx *ctx, const char *text, int *rc)
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
    h->host = strdup(host ? host : "");
    const unsigned long number = strtoul(port, &end, 10);
    if (!*port || *end || number > 65535)
        *rc = ct_fail(ctx, CT_ERR_FORMAT,
                      "%s: this is not [ADDRESS:]PORT, so the page cannot be served; give a "
                      "port from 0 to 65535, with an address in front of it or "
                      "without",
                      text);
    const int why = *rc ? 0 : getaddrinfo(host ? host : "127.0.0.1", port, &hints, &found);
    free(copy);
    if (why)
        *rc = ct_fail(ctx, CT_ERR_FORMAT,
                      "%s: the address cannot be resolved, so the page cannot be served: "
                      "%s",
                      text, gai_strerror(why));
    return *rc ? NULL : found;
}

static void tell_address(const struct ct_live_http *h, const struct addrinfo *at)
{
    char host[64] = "";
    const union MHD_DaemonInfo *info =
        ct_live_mhd.f.MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT);
    getnameinfo(at->ai_addr, at->ai_addrlen, host, sizeof host, NULL, 0, NI_NUMERICHOST);
    const bool six = at->ai_family == AF_INET6;
    ct_live_say(h->say, CT_LOG_NOTE, "page at http://%s%s%s:%u/%s", six ? "[" : "", host, six ? "]" : "",
                info ? info->port : 0, h->token ? "?token=…" : "");
}

/* Starts the server with all signals blocked: their handlers belong to the caller and run in the caller's
 * threads. */
static void start_daemon(struct ct_live_http *h, const struct addrinfo *at)
{
    const unsigned flags = MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION |
                           (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    errno = 0;
    h->daemon = ct_live_mhd.f.MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, at->ai_addr, MHD_OPTION_NOTIFY_COMPLETED,
        on_done, h, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_S,
        MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_END);
    const int error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

static int start(struct ct_live_http *h, struct ct_ctx *ctx, const char *text, const struct addrinfo *at)
{
    if (!is_loopback(at->ai_addr) && !h->token)
        return ct_fail(ctx, CT_ERR_ARG,
                       "%s: other machines can reach this address, so the page needs a token; give one with "
                       "--token",
                       text);
    start_daemon(h, at);
    if (!h->daemon && (errno == ENOMEM || errno == EAGAIN)) /* EAGAIN: no thread could be created */
        return ct_fail_nomem(ctx, text);
    if (!h->daemon)
        return ct_fail(ctx, CT_ERR_IO,
                       "%s: the page cannot be served at this address; check that it belongs "
                       "to this machine, and that no other program uses the port",
                       text);
    tell_address(h, at);
    return CT_OK;
}

static int make(struct ct_live_http *h, struct ct_ctx *ctx, const char *address, const char *token)
{
    int rc = CT_OK;
    struct addrinfo *at = find_address(h, ctx, address, &rc);
    if (!at)
        return rc;
    h->guests = ct_live_guests_new();
    h->compiling = ct_live_turns_new();
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
            "%s: the token is empty, so it would protect nothing; give --token or CORETAP_TOKEN a text, or "
            "omit both",
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

/* Accepts no more connections, and waits for pending answers. */
static void finish_requests(struct ct_live_http *h)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    const int fd = ct_live_mhd.f.MHD_quiesce_daemon(h->daemon);
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
        ct_live_mhd.f.MHD_stop_daemon(h->daemon);
    }
    ct_live_guests_free(h->guests);
    ct_live_turns_free(h->compiling);
    ct_live_places_free(h->places);
    free(h->host);
    free(h->token);
    free(h->page);
    free(h);
}
