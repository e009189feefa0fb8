/* SPDX-License-Identifier: Apache-2.0 */
/* Posts violations to a URL, by libcurl. */
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ctx.h"
#include "base/library.h"
#include "live/hooks.h"
#include "live/live.h"

#define LOOK_MS 20 /* milliseconds between two checks whether the request is late */

/* environment variable: a library to load instead of libcurl.so.4, such as another build or, in tests,
 * nothing */
#define VARIABLE "CORETAP_CURL"

/* functions of libcurl, without their prefix */
#define ENTRIES(X)                                                                                           \
    X(global_init)                                                                                           \
    X(easy_init)                                                                                             \
    X(easy_setopt)                                                                                           \
    X(easy_getinfo)                                                                                          \
    X(easy_strerror)                                                                                         \
    X(easy_cleanup)                                                                                          \
    X(multi_init)                                                                                            \
    X(multi_add_handle)                                                                                      \
    X(multi_remove_handle)                                                                                   \
    X(multi_perform)                                                                                         \
    X(multi_poll)                                                                                            \
    X(multi_info_read)                                                                                       \
    X(multi_cleanup)                                                                                         \
    X(slist_append)                                                                                          \
    X(slist_free_all)                                                                                        \
    X(url)                                                                                                   \
    X(url_set)                                                                                               \
    X(url_get)                                                                                               \
    X(url_cleanup)                                                                                           \
    X(free)

struct api {
#define ENTRY(name) __typeof__(curl_##name) *(name);
    ENTRIES(ENTRY)
#undef ENTRY
};

/* A client that keeps its connection between violations. */
struct ct_live_post_client {
    union {
        struct api curl;
        void *functions[sizeof(struct api) / sizeof(void *)]; /* `curl` as an array */
    };
    CURLM *multi;
    CURL *easy;
    struct curl_slist *headers;
    struct curl_slist *addresses; /* addresses of the host, looked up once */
    char error[CURL_ERROR_SIZE];
};

/* ---- the URL ---- */

/* Stores "HOST:PORT:ADDRESS,…" in a list from which libcurl takes the addresses. */
static bool keep_addresses(struct ct_live_post_client *c, const char *host, const char *port,
                           const struct addrinfo *found)
{
    struct ct_live_text line = {0};
    char address[128];
    ct_live_text_print(&line, "%s:%s:", host, port);
    for (const struct addrinfo *at = found; at; at = at->ai_next)
        if (!getnameinfo(at->ai_addr, at->ai_addrlen, address, sizeof address, NULL, 0, NI_NUMERICHOST))
            ct_live_text_print(&line, at->ai_family == AF_INET6 ? "%s[%s]" : "%s%s", at == found ? "" : ",",
                               address);
    c->addresses = line.lacks ? NULL : c->curl.slist_append(NULL, line.text);
    ct_live_text_free(&line);
    return c->addresses;
}

/* Looks up a host, unless it is a numeric address. */
static int look_up(struct ct_live_post_client *c, struct ct_ctx *ctx, const char *url, const char *host,
                   const char *port)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    if (*host == '[')
        return CT_OK;
    errno = 0;
    const int error = getaddrinfo(host, port, &hints, &found);
    if (error)
        return ct_unless_nomem(ctx, url,
                               ct_fail(ctx, CT_ERR_IO,
                                       "%s: the host cannot be resolved: %s; violations "
                                       "cannot be sent there; correct the URL",
                                       url, gai_strerror(error)));
    const bool kept = keep_addresses(c, host, port, found);
    freeaddrinfo(found);
    return kept ? CT_OK : ct_fail_nomem(ctx, url);
}

/* Finds host and port of a URL; the caller frees them by libcurl. Returns CURLUE_OK, or the reason why it is
 * no URL. */
static CURLUcode split(struct ct_live_post_client *c, const char *url, char **host, char **port)
{
    const size_t scheme = strncmp(url, "http://", 7) == 0 ? 7 : strncmp(url, "https://", 8) == 0 ? 8 : 0;
    if (!scheme || url[scheme] == '/' || strpbrk(url, " \r\n\t@"))
        return CURLUE_MALFORMED_INPUT;
    CURLU *parts = c->curl.url();
    CURLUcode code = parts ? c->curl.url_set(parts, CURLUPART_URL, url, 0) : CURLUE_OUT_OF_MEMORY;
    if (!code)
        code = c->curl.url_get(parts, CURLUPART_HOST, host, 0);
    if (!code)
        code = c->curl.url_get(parts, CURLUPART_PORT, port, CURLU_DEFAULT_PORT);
    c->curl.url_cleanup(parts);
    return code;
}

static int read_url(struct ct_live_post_client *c, struct ct_ctx *ctx, const char *url)
{
    char *host = NULL, *port = NULL;
    const CURLUcode code = split(c, url, &host, &port);
    int rc = CT_OK;
    if (code == CURLUE_OUT_OF_MEMORY)
        rc = ct_fail_nomem(ctx, url);
    else if (code || !host || !port)
        rc =
            ct_fail(ctx, CT_ERR_FORMAT,
                    "%s: this is not a URL of the form http://HOST[:PORT][/PATH] or https://…, so violations "
                    "cannot be sent there; correct it",
                    url);
    else
        rc = look_up(c, ctx, url, host, port);
    c->curl.free(host);
    c->curl.free(port);
    return rc;
}

/* ---- creation ---- */

static int load(struct ct_live_post_client *c, struct ct_ctx *ctx, const char *url)
{
    static const char *const names[] = {
#define NAME(name) "curl_" #name,
        ENTRIES(NAME)
#undef NAME
    };
    const char *named = getenv(VARIABLE);
    errno = 0;
    if (!ct_library_find(named ? named : "libcurl.so.4", names, sizeof names / sizeof *names, c->functions))
        return ct_unless_nomem(
            ctx, url,
            ct_fail(ctx, CT_ERR_UNSUPPORTED,
                    "%s: libcurl cannot be loaded, so violations cannot be sent there; install it (Debian: "
                    "libcurl4), or run a command instead, such as 'curl --data-binary @- URL'",
                    url));
    return c->curl.global_init(CURL_GLOBAL_DEFAULT) ? ct_fail_nomem(ctx, url) : CT_OK;
}

static size_t drop(char *data, size_t size, size_t count, void *user)
{
    (void)data;
    (void)user;
    return size * count;
}

/* Sets the options that all requests share. Returns false when out of memory. */
static bool set_up(struct ct_live_post_client *c, const char *url, const char *ca)
{
    struct api *a = &c->curl;
    c->headers = a->slist_append(NULL, "Content-Type: application/json");
    struct curl_slist *more = c->headers ? a->slist_append(c->headers, "Expect:") : NULL;
    bool all = more && !a->easy_setopt(c->easy, CURLOPT_URL, url) &&
               !a->easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers) &&
               !a->easy_setopt(c->easy, CURLOPT_RESOLVE, c->addresses) &&
               !a->easy_setopt(c->easy, CURLOPT_PROXY, "") &&
               !a->easy_setopt(c->easy, CURLOPT_USERAGENT, "coretap") &&
               !a->easy_setopt(c->easy, CURLOPT_NOSIGNAL, 1L) &&
               !a->easy_setopt(c->easy, CURLOPT_WRITEFUNCTION, drop) &&
               !a->easy_setopt(c->easy, CURLOPT_ERRORBUFFER, c->error);
    if (all && ca)
        all = !a->easy_setopt(c->easy, CURLOPT_CAINFO, ca) && !a->easy_setopt(c->easy, CURLOPT_CAPATH, NULL);
    return all;
}

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size);

int ct_live_post_hook_init(struct ct_live_post_hook *h, struct ct_ctx *ctx, const char *url, const char *ca)
{
    struct ct_live_post_client *c = calloc(1, sizeof *c);
    if (!c)
        return ct_fail_nomem(ctx, url);
    h->teller.tell = tell;
    h->client = c;
    int rc = load(c, ctx, url) ?: read_url(c, ctx, url);
    if (rc)
        return rc;
    c->multi = c->curl.multi_init();
    c->easy = c->curl.easy_init();
    return c->multi && c->easy && set_up(c, url, ca) ? CT_OK : ct_fail_nomem(ctx, url);
}

void ct_live_post_hook_free(struct ct_live_post_hook *h)
{
    struct ct_live_post_client *c = h->client;
    if (c && c->easy)
        c->curl.easy_cleanup(c->easy);
    if (c && c->multi)
        c->curl.multi_cleanup(c->multi);
    if (c && c->headers)
        c->curl.slist_free_all(c->headers);
    if (c && c->addresses)
        c->curl.slist_free_all(c->addresses);
    free(c);
}

/* ---- a request ---- */

/* Runs the request to its end. Returns CURLE_OPERATION_TIMEDOUT when it is late. */
static CURLcode perform(struct ct_live_post_client *c, const struct ct_live_teller *teller)
{
    const double begin = ct_live_now();
    int running = 1, left;
    CURLMcode code = CURLM_OK;
    while (code == CURLM_OK && running && !ct_live_teller_is_late(teller, begin)) {
        code = c->curl.multi_perform(c->multi, &running);
        if (code == CURLM_OK && running)
            code = c->curl.multi_poll(c->multi, NULL, 0, LOOK_MS, NULL);
    }
    if (code != CURLM_OK)
        return CURLE_OUT_OF_MEMORY;
    const CURLMsg *message = running ? NULL : c->curl.multi_info_read(c->multi, &left);
    return message ? message->data.result : CURLE_OPERATION_TIMEDOUT;
}

/* Writes why there is no answer. */
static void explain(const struct ct_live_post_client *c, CURLcode code, char *why, size_t size)
{
    long error = 0;
    c->curl.easy_getinfo(c->easy, CURLINFO_OS_ERRNO, &error);
    if (code == CURLE_OPERATION_TIMEDOUT)
        error = ETIMEDOUT;
    const bool of_system = error && (code == CURLE_COULDNT_CONNECT || code == CURLE_OPERATION_TIMEDOUT);
    const char *said = c->error[0] ? c->error : c->curl.easy_strerror(code);
    const char *fact =
        code == CURLE_PEER_FAILED_VERIFICATION ? "its certificate is not trusted" : "does not answer";
    snprintf(why, size, "%s: %s", fact, of_system ? strerror((int)error) : said);
}

static bool tell(const struct ct_live_teller *teller, const struct ct_live_notice *notice, char *why,
                 size_t size)
{
    struct ct_live_post_client *c = ((const struct ct_live_post_hook *)teller)->client;
    const struct api *a = &c->curl;
    long status = 0;
    c->error[0] = '\0';
    CURLcode code = a->easy_setopt(c->easy, CURLOPT_POSTFIELDS, notice->json);
    if (!code)
        code = a->easy_setopt(c->easy, CURLOPT_POSTFIELDSIZE, (long)notice->json_size);
    if (!code && a->multi_add_handle(c->multi, c->easy))
        code = CURLE_OUT_OF_MEMORY;
    if (!code) {
        code = perform(c, teller);
        a->easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
        a->multi_remove_handle(c->multi, c->easy);
    }
    /* The entry of CURLOPT_RESOLVE is well-formed, so this error means that libcurl was out of memory. */
    const bool no_memory = code == CURLE_OUT_OF_MEMORY || code == CURLE_SETOPT_OPTION_SYNTAX;
    errno = no_memory ? ENOMEM : 0;
    if (!code && status >= 200 && status < 300)
        return true;
    if (!code)
        snprintf(why, size, "answers with status %ld", status);
    else
        explain(c, code, why, size);
    return false;
}
