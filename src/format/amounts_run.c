/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the trace of buffers, and shares their trace IDs among threads. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/threads.h"
#include "coretap/info.h"

/* The trace IDs of one buffer that one thread decodes. */
struct job {
    const struct ct_buffer *buffer;
    uint64_t ids[2];    /* as in ct_chain_options */
    bool counts_frames; /* one job of each buffer counts its frames */
    struct ct_amounts amounts;
};

struct pool {
    struct ct_ctx *ctx;
    struct ct_amounts_options options;
    struct job *jobs;
    size_t count;
    uint16_t chain_threads; /* for each job */
    pthread_mutex_t lock;   /* protects the members below, the context, and the caller's functions */
    size_t next;
    uint64_t done;            /* bytes of finished jobs */
    int rc;                   /* an error, with which no more jobs begin */
    const struct job *failed; /* its job: the first of those that failed, which also one thread would meet */
};

/* A running job, the user of a chain's sink. */
struct running {
    struct pool *pool;
    struct job *job;
};

static int on_bytes(void *user, uint64_t bytes)
{
    const struct running *running = user;
    struct pool *pool = running->pool;
    if (!running->job->counts_frames || !pool->options.progress)
        return CT_OK;
    pthread_mutex_lock(&pool->lock);
    const int rc = pool->options.progress(pool->options.user, pool->done + bytes);
    pthread_mutex_unlock(&pool->lock);
    return rc;
}

/* Passes a message on to the caller's context. */
static void on_log(void *user, enum ct_log_level level, const char *text)
{
    struct pool *pool = user;
    pthread_mutex_lock(&pool->lock);
    ct_log(pool->ctx, level, "%s", text);
    pthread_mutex_unlock(&pool->lock);
}

/* Notes that a job has failed. Returns whether no earlier one has: jobs begin in order, so the earliest error
 * does not depend on the number of threads. */
static bool is_first_error(struct pool *pool, const struct job *job)
{
    const bool first = !pool->failed || job < pool->failed;
    pool->failed = first ? job : pool->failed;
    return first;
}

/* Runs a job in a context of its own, because other jobs may run at the same time. */
static int run_in(struct ct_ctx *ctx, struct pool *pool, struct job *job)
{
    const struct ct_amounts_options *o = &pool->options;
    struct running running = {pool, job};
    const struct ct_chain_sink sink = {.user = &running, .bytes = on_bytes};
    const struct ct_chain_options options = {.size = sizeof options,
                                             .level = o->level,
                                             .edges = o->edges,
                                             .engine = o->engine,
                                             .threads = pool->chain_threads,
                                             .ids = {job->ids[0], job->ids[1]}};
    struct ct_chain *chain = NULL;
    int rc = ct_chain_new(ctx, job->buffer, &options, &sink, &chain);
    if (!rc)
        rc = ct_chain_run(chain);
    if (!rc)
        ct_amounts_add(&job->amounts, chain, job->counts_frames);
    pthread_mutex_lock(&pool->lock);
    if (!rc && o->decoded)
        rc = o->decoded(o->user, chain, job->counts_frames);
    if (rc && is_first_error(pool, job))
        pool->rc = ct_ctx_error(ctx)[0] ? ct_fail(pool->ctx, rc, "%s", ct_ctx_error(ctx)) : rc;
    pool->done += job->amounts.bytes;
    pthread_mutex_unlock(&pool->lock);
    ct_chain_free(chain);
    return rc;
}

static void run_job(struct pool *pool, struct job *job)
{
    struct ct_ctx *ctx = ct_ctx_new();
    if (!ctx) {
        pthread_mutex_lock(&pool->lock);
        if (is_first_error(pool, job))
            pool->rc = ct_fail_nomem(pool->ctx, "amounts");
        pthread_mutex_unlock(&pool->lock);
        return;
    }
    if (pool->ctx) {
        ct_ctx_set_log(ctx, on_log, pool, pool->ctx->log_most);
        ct_ctx_map_files(ctx, pool->ctx->maps_files);
    }
    (void)run_in(ctx, pool, job);
    if (ct_ctx_lacked_memory(ctx))
        ct_note_nomem(pool->ctx);
    ct_ctx_free(ctx);
}

static void *work(void *user)
{
    struct pool *pool = user;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        struct job *job = !pool->rc && pool->next < pool->count ? &pool->jobs[pool->next++] : NULL;
        pthread_mutex_unlock(&pool->lock);
        if (!job)
            return NULL;
        run_job(pool, job);
    }
}

static int run_pool(struct pool *pool, size_t threads)
{
    pthread_t *ids = threads > 1 ? calloc(threads - 1, sizeof *ids) : NULL;
    pthread_mutex_init(&pool->lock, NULL);
    /* where there is no memory for threads, the caller does all the work */
    const size_t started = ids ? ct_threads_start(ids, threads - 1, work, pool) : 0;
    work(pool);
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_mutex_destroy(&pool->lock);
    free(ids);
    return pool->rc;
}

static bool is_first_of_id(const struct ct_buffer *buffer, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (buffer->sources[i].trace_id == buffer->sources[index].trace_id)
            return false;
    }
    return true;
}

/* Makes one job for a buffer or, with `split`, one for each trace ID. Returns their number. */
static size_t plan_buffer(const struct ct_buffer *buffer, const uint64_t chosen[2], bool split,
                          struct job *jobs)
{
    jobs[0] = (struct job){.buffer = buffer, .ids = {chosen[0], chosen[1]}, .counts_frames = true};
    if (!split || chosen[0] || chosen[1] || buffer->source_count < 2)
        return 1;
    size_t count = 0;
    for (size_t i = 0; i < buffer->source_count; i++) {
        const unsigned id = buffer->sources[i].trace_id;
        if (!is_first_of_id(buffer, i))
            continue;
        struct job job = {.buffer = buffer, .counts_frames = count == 0};
        job.ids[id / 64 % 2] = UINT64_C(1) << id % 64;
        /* if the buffer turns out to have no frames, its single source has ID 0 */
        if (count == 0)
            job.ids[0] |= 1;
        jobs[count++] = job;
    }
    return count;
}

static int plan(struct pool *pool, const struct ct_buffer *buffers, size_t count, size_t threads)
{
    const struct ct_amounts_options *o = &pool->options;
    /* up to elements, a chain divides its work among threads; beyond that, one thread follows each stream */
    const bool split = threads > 1 && o->level > CT_LEVEL_ELEMENT;
    size_t room = 1;
    for (size_t i = 0; i < count; i++)
        room += buffers[i].source_count + 1;
    pool->jobs = calloc(room, sizeof *pool->jobs);
    if (!pool->jobs)
        return ct_fail_nomem(pool->ctx, "amounts");
    for (size_t i = 0; i < count; i++) {
        uint64_t ids[2] = {0, 0};
        if (o->filter && !ct_filter_ids(o->filter, &buffers[i], ids))
            continue;
        if (o->ids[0] | o->ids[1])
            memcpy(ids, o->ids, sizeof ids);
        pool->count += plan_buffer(&buffers[i], ids, split, pool->jobs + pool->count);
    }
    /* perf.data that ends before its trace has no buffer, and so no job */
    pool->chain_threads = pool->count ? (uint16_t)((threads + pool->count - 1) / pool->count) : 1;
    return CT_OK;
}

static void add(struct ct_amounts *sum, const struct ct_amounts *more)
{
    sum->bytes += more->bytes;
    sum->packets += more->packets;
    sum->elements += more->elements;
    sum->atoms += more->atoms;
    sum->branches += more->branches;
    sum->instructions += more->instructions;
    sum->edges += more->edges;
    sum->steps += more->steps;
    sum->cycles += more->cycles;
    sum->unplaced_cycles += more->unplaced_cycles;
    ct_losses_add(&sum->losses, &more->losses);
}

int ct_amounts_run(struct ct_ctx *ctx, const struct ct_buffer *buffers, size_t count,
                   const struct ct_amounts_options *options, struct ct_amounts *amounts)
{
    struct pool pool = {.ctx = ctx};
    CT_REQUIRE(ctx, amounts, buffers || !count);
    int rc = ct_options_read(ctx, __func__, options, &pool.options, sizeof pool.options);
    const size_t threads = pool.options.threads ? pool.options.threads : 1;
    if (!rc)
        rc = plan(&pool, buffers, count, threads);
    if (!rc)
        rc = run_pool(&pool, threads < pool.count ? threads : pool.count);
    for (size_t i = 0; i < pool.count; i++)
        add(amounts, &pool.jobs[i].amounts);
    free(pool.jobs);
    return rc;
}
