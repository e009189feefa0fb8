/* SPDX-License-Identifier: Apache-2.0 */
#include "live/hooks.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "base/require.h"
#include "base/threads.h"
#include "live/live.h"

#define AT_ONCE  4
#define THREADS  64
#define WAITING  256
#define WAIT_MAX 65536
#define SECONDS  10
#define LONGEST  3600
#define HURRY_S  0.2 /* seconds that the end waits when the run has to end soon */
#define LOOK_S   0.05
#define WHY      200

/* A queue of violations for one teller, with counts of its results. */
struct queue {
    const char *what; /* command or URL from the user; NULL: the queue is unused */
    const struct ct_live_say *say;
    struct ct_live_teller *teller;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ct_live_notice *first, *last;
    unsigned waiting, most, busy;
    uint64_t done, failed, dropped;
    char why[WHY]; /* reason of the last failure */
    bool closing;
    pthread_t threads[THREADS];
    unsigned thread_count;
};

struct ct_live_hooks {
    struct ct_live_command_hook command;
    struct ct_live_post_hook post;
    struct queue queues[2];
    char *names[2]; /* copies of the command and the URL */
    struct ct_verdict_writer *writer;
    struct ct_live_text line;
};

bool ct_live_teller_is_late(const struct ct_live_teller *t, double begin)
{
    return __atomic_load_n(&t->over, __ATOMIC_RELAXED) || ct_live_now() - begin > t->seconds;
}

/* ---- the threads ---- */

/* Waits, with the lock held, for a violation. NULL: no more will come. */
static struct ct_live_notice *next_notice(struct queue *q)
{
    while (!q->first && !q->closing)
        pthread_cond_wait(&q->changed, &q->lock);
    struct ct_live_notice *notice = q->first;
    if (!notice)
        return NULL;
    q->first = notice->next;
    q->waiting--;
    q->busy++;
    return notice;
}

/* Reports one violation, without the lock. */
static void tell_one(struct queue *q, struct ct_live_notice *notice)
{
    char why[WHY] = "";
    errno = 0;
    const bool fine = q->teller->tell(q->teller, notice, why, sizeof why);
    if (!fine && errno == ENOMEM)
        ct_live_lack(q->say);
    free(notice);
    pthread_mutex_lock(&q->lock);
    const bool first = !fine && !q->failed++;
    q->done += fine;
    if (!fine)
        memcpy(q->why, why, sizeof why);
    q->busy--;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    if (first)
        ct_live_say(q->say, CT_LOG_WARNING,
                    "%s: %s; a violation was not reported to it; further failures are only counted", q->what,
                    why);
}

static void *work(void *user)
{
    struct queue *q = user;
    struct ct_live_notice *notice;
    pthread_mutex_lock(&q->lock);
    while ((notice = next_notice(q)) != NULL) {
        pthread_mutex_unlock(&q->lock);
        tell_one(q, notice);
        pthread_mutex_lock(&q->lock);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* Starts threads. Returns false when not even one started. */
static bool start(struct queue *q, unsigned count)
{
    q->thread_count = (unsigned)ct_threads_start(q->threads, count, work, q);
    return q->thread_count > 0;
}

/* ---- violations ---- */

/* Returns whether the queue has room. Counts dropped violations, and warns at the first. */
static bool has_room(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    const bool room = q->waiting < q->most;
    const bool first = !room && !q->dropped++;
    pthread_mutex_unlock(&q->lock);
    if (first)
        ct_live_say(q->say, CT_LOG_WARNING,
                    "%s: %u violations wait to be reported to it, which is the limit; further ones are "
                    "dropped and counted until it catches up",
                    q->what, q->most);
    return room;
}

static void append(struct queue *q, struct ct_live_notice *notice)
{
    pthread_mutex_lock(&q->lock);
    if (q->first)
        q->last->next = notice;
    else
        q->first = notice;
    q->last = notice;
    q->waiting++;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

/* Facts as NUL-terminated texts, one after the other. */
struct facts {
    char text[2048];
    size_t size, count;
};

static void add_fact(struct facts *f, const char *name, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void add_fact(struct facts *f, const char *name, const char *fmt, ...)
{
    char value[600];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    const int size = snprintf(f->text + f->size, sizeof f->text - f->size, "CORETAP_%s=%s", name, value);
    if (size < 0 || f->size + (size_t)size + 1 > sizeof f->text)
        return; /* too long for a fact; the JSON line has it */
    f->size += (size_t)size + 1;
    f->count++;
}

static void add_place(struct facts *f, const struct ct_verdict_origin *origin,
                      const struct ct_watch_event *event)
{
    struct ct_program_where where;
    if (event->kind > CT_WATCH_EXCEPTION || !event->value)
        return;
    add_fact(f, "ADDR", "0x%" PRIx64, event->value);
    if (ct_watches_where(origin->watches, event, &where) != CT_OK || !where.program)
        return;
    if (where.function)
        add_fact(f, "FUNCTION", "%s", where.function);
    if (where.file) {
        add_fact(f, "FILE", "%s", where.file);
        add_fact(f, "LINE", "%" PRIu32, where.line);
    }
}

static void collect(struct facts *f, const struct ct_verdict_origin *origin,
                    const struct ct_verify_result *result)
{
    const struct ct_verdict_source one = {.source = origin->source, .id = origin->id};
    const struct ct_verdict_source *from = !origin->several ? &one
                                           : result->place  ? &origin->sources[result->place->event.source]
                                                            : NULL;
    const struct ct_source *source = from ? from->source : NULL;
    f->size = f->count = 0;
    add_fact(f, "SPEC", "%s", origin->specs[result->spec]);
    add_fact(f, "OUTPUT", "%s", result->name);
    add_fact(f, "VALUE", "%s", result->value);
    add_fact(f, "TIME", "%" PRIu64, result->time);
    if (from)
        add_fact(f, "ID", "%02x", from->id);
    add_fact(f, "UNCERTAIN", "%d", result->uncertain);
    if (source && (source->core || source->name))
        add_fact(f, "CORE", "%s", source->core ? source->core : source->name);
    if (result->core)
        add_fact(f, "INSTANCE", "%s", result->core);
    if (result->place)
        add_place(f, origin, &result->place->event);
}

/* Makes a notice from the line and the facts. NULL: out of memory. */
static struct ct_live_notice *make_notice(const struct ct_live_text *line, const struct facts *f)
{
    struct ct_live_notice *n = malloc(sizeof *n + f->size + line->size + 1);
    if (!n)
        return NULL;
    *n = (struct ct_live_notice){.json = n->text + f->size, .json_size = line->size};
    memcpy(n->text, f->text, f->size);
    memcpy(n->text + f->size, line->text, line->size);
    const size_t most = sizeof n->facts / sizeof *n->facts - 1;
    for (size_t i = 0, at = 0; i < f->count && i < most; at += strlen(n->text + at) + 1)
        n->facts[i++] = n->text + at;
    return n;
}

static bool write_line(struct ct_live_hooks *h, const struct ct_verdict_origin *origin,
                       const struct ct_verify_result *result)
{
    ct_live_text_rewind(&h->line);
    return ct_verdict_writer_result(h->writer, origin, result) == CT_OK &&
           ct_verdict_writer_flush(h->writer) == CT_OK && !h->line.lacks;
}

void ct_live_hooks_tell(struct ct_live *l, const struct ct_verdict_origin *origin,
                        const struct ct_verify_result *result)
{
    struct ct_live_hooks *h = l->hooks;
    struct facts facts;
    bool written = false;
    for (size_t i = 0; i < 2; i++) {
        struct queue *q = &h->queues[i];
        if (!q->what || q->closing || !has_room(q))
            continue;
        if (!written) {
            written = write_line(h, origin, result);
            collect(&facts, origin, result);
        }
        struct ct_live_notice *notice = written ? make_notice(&h->line, &facts) : NULL;
        if (notice) {
            append(q, notice);
            continue;
        }
        ct_live_lack(q->say);
        pthread_mutex_lock(&q->lock);
        q->dropped++;
        pthread_mutex_unlock(&q->lock);
    }
}

/* ---- creation and end ---- */

static void prepare_queue(struct queue *q, const struct ct_live_say *say, const char *what,
                          struct ct_live_teller *teller, unsigned most)
{
    pthread_condattr_t attributes;
    q->say = say;
    q->teller = teller;
    q->most = most;
    pthread_mutex_init(&q->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&q->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    q->what = what;
}

static int check_ca(struct ct_live *l, const struct ct_live_hook_options *o)
{
    if (!o->ca)
        return CT_OK;
    if (!o->url || strncmp(o->url, "https:", 6) != 0)
        return ct_fail(l->ctx, CT_ERR_ARG,
                       "%s: certificates need an https: URL, and the hook has none; give "
                       "an https: URL, or omit the certificates",
                       o->ca);
    if (access(o->ca, R_OK) == 0)
        return CT_OK;
    return ct_fail(l->ctx, CT_ERR_IO,
                   "%s: the certificates cannot be read, so no server would be trusted: "
                   "%s",
                   o->ca, strerror(errno));
}

static int check(struct ct_live *l, struct ct_live_hook_options *o)
{
    if ((!o->command && !o->url) || l->hooks || l->ended)
        return ct_fail(l->ctx, CT_ERR_ARG, "ct_live_hook: %s",
                       l->hooks   ? "the run already has hooks; call it once"
                       : l->ended ? "the run has ended; call it before the end"
                                  : "options.command and options.url are both NULL; set one");
    o->at_once = o->at_once ? o->at_once : AT_ONCE;
    o->waiting = o->waiting ? o->waiting : WAITING;
    o->seconds = o->seconds ? o->seconds : SECONDS;
    if (o->at_once <= THREADS && o->waiting <= WAIT_MAX && o->seconds <= LONGEST)
        return check_ca(l, o);
    return ct_fail(l->ctx, CT_ERR_ARG,
                   "ct_live_hook: options.at_once is %u, waiting %u, seconds %u; the limits are %d, %d and "
                   "%d",
                   o->at_once, o->waiting, o->seconds, THREADS, WAIT_MAX, LONGEST);
}

/* Sets up one of the two hooks, number `i`. */
static int take_up(struct ct_live *l, struct ct_live_hooks *h, size_t i, const char *what,
                   struct ct_live_teller *teller, const struct ct_live_hook_options *o)
{
    teller->seconds = o->seconds;
    h->names[i] = strdup(what);
    if (!h->names[i])
        return ct_fail_nomem(l->ctx, what);
    prepare_queue(&h->queues[i], &l->say, h->names[i], teller, o->waiting);
    return start(&h->queues[i], i ? 1 : o->at_once) ? CT_OK : ct_fail_nomem(l->ctx, what);
}

static int make(struct ct_live *l, struct ct_live_hooks *h, const struct ct_live_hook_options *o)
{
    const struct ct_verdict_write_options how = {.size = sizeof how, .format = CT_VERDICT_FORMAT_JSONL};
    int rc = ct_verdict_writer_new(l->ctx, &how, ct_live_text_write, &h->line, &h->writer);
    if (!rc && o->command)
        rc = ct_live_command_hook_init(&h->command, l->ctx, o->command);
    if (!rc && o->url)
        rc = ct_live_post_hook_init(&h->post, l->ctx, o->url, o->ca);
    if (!rc && o->command)
        rc = take_up(l, h, 0, o->command, &h->command.teller, o);
    if (!rc && o->url)
        rc = take_up(l, h, 1, o->url, &h->post.teller, o);
    return rc;
}

int ct_live_hook(struct ct_live *l, const struct ct_live_hook_options *options)
{
    struct ct_live_hook_options o;
    CT_REQUIRE(NULL, l);
    int rc = ct_options_read(l->ctx, "ct_live_hook", options, &o, sizeof o) ?: check(l, &o);
    if (rc)
        return rc;
    struct ct_live_hooks *h = calloc(1, sizeof *h);
    if (!h)
        return ct_fail_nomem(l->ctx, "hooks");
    rc = make(l, h, &o);
    if (rc)
        ct_live_hooks_free(h);
    else
        l->hooks = h;
    return rc;
}

/* Returns whether the run has to end soon. */
static bool is_hurried(const struct ct_live *l)
{
    struct pollfd one = {.fd = l->hurries, .events = POLLIN};
    return poll(&one, 1, 0) > 0;
}

/* Waits until the queue is empty, but no longer than one violation may take, or HURRY_S if the run has to end
 * soon. */
static void drain(const struct ct_live *l, struct queue *q, double begin)
{
    double until = begin + q->teller->seconds;
    pthread_mutex_lock(&q->lock);
    while ((q->first || q->busy) && ct_live_now() < until) {
        const double look = ct_live_now() + LOOK_S;
        const time_t whole = (time_t)look;
        const struct timespec at = {.tv_sec = whole, .tv_nsec = (long)((look - (double)whole) * 1e9)};
        pthread_cond_timedwait(&q->changed, &q->lock, &at);
        if (until > look + HURRY_S && is_hurried(l))
            until = look + HURRY_S;
    }
    pthread_mutex_unlock(&q->lock);
}

/* Drops what still waits, and ends the threads. */
static void stop(struct queue *q)
{
    __atomic_store_n(&q->teller->over, 1, __ATOMIC_RELAXED);
    pthread_mutex_lock(&q->lock);
    for (struct ct_live_notice *n = q->first, *next; n; n = next) {
        next = n->next;
        q->dropped++;
        free(n);
    }
    q->first = NULL;
    q->waiting = 0;
    q->closing = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    for (unsigned i = 0; i < q->thread_count; i++)
        pthread_join(q->threads[i], NULL);
    q->thread_count = 0;
}

static void tell_end(const struct queue *q)
{
    if (q->failed || q->dropped)
        ct_live_say(q->say, CT_LOG_WARNING,
                    "%s: %" PRIu64 " violations were reported to it; %" PRIu64 " reports failed, and %" PRIu64
                    " violations were dropped",
                    q->what, q->done, q->failed, q->dropped);
}

void ct_live_hooks_end(struct ct_live *l)
{
    struct ct_live_hooks *h = l->hooks;
    const double begin = ct_live_now();
    if (!h)
        return;
    for (size_t i = 0; i < 2; i++)
        if (h->queues[i].what)
            drain(l, &h->queues[i], begin);
    for (size_t i = 0; i < 2; i++) {
        if (!h->queues[i].what)
            continue;
        stop(&h->queues[i]);
        tell_end(&h->queues[i]);
    }
}

void ct_live_hooks_free(struct ct_live_hooks *h)
{
    if (!h)
        return;
    for (size_t i = 0; i < 2; i++) {
        struct queue *q = &h->queues[i];
        if (q->what) {
            stop(q);
            pthread_mutex_destroy(&q->lock);
            pthread_cond_destroy(&q->changed);
        }
        free(h->names[i]);
    }
    ct_live_command_hook_free(&h->command);
    ct_live_post_hook_free(&h->post);
    ct_verdict_writer_free(h->writer);
    ct_live_text_free(&h->line);
    free(h);
}

/* ---- status ---- */

void ct_live_put_hooks(struct ct_live *l, struct ct_json *j)
{
    ct_json_array(j, "hooks");
    for (size_t i = 0; l->hooks && i < 2; i++) {
        struct queue *q = &l->hooks->queues[i];
        if (!q->what)
            continue;
        ct_json_object(j, NULL);
        ct_json_text(j, "what", q->what);
        pthread_mutex_lock(&q->lock);
        ct_json_number(j, "done", q->done);
        ct_json_number(j, "waiting", q->waiting);
        ct_json_number(j, "failed", q->failed);
        ct_json_number(j, "dropped", q->dropped);
        ct_json_text(j, "why", q->failed ? q->why : NULL);
        pthread_mutex_unlock(&q->lock);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
}
