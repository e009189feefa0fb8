/* SPDX-License-Identifier: Apache-2.0 */
/* Shares the trace IDs of a capture among threads. */
#include "cli/stats.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The trace IDs of one buffer that one thread decodes. */
struct job {
    const struct ct_buffer *buffer;
    uint64_t ids[2];    /* as in ct_chain_options */
    bool counts_frames; /* one job of each buffer counts its frames */

    int code; /* enum cli_exit */
    struct ct_amounts amounts;
};

struct pool {
    const struct cli_stats_how *how;
    const struct cli_args *args;
    struct cli_capture *capture;
    struct job *jobs;
    size_t count;
    uint16_t chain_threads; /* for each job */
    pthread_mutex_t lock;   /* protects the members below and the progress meter */
    size_t next;
    uint64_t done; /* bytes of finished jobs */
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
    if (!running->job->counts_frames)
        return 0;
    pthread_mutex_lock(&pool->lock);
    cli_progress_update(&pool->capture->progress, pool->done + bytes);
    pthread_mutex_unlock(&pool->lock);
    return 0;
}

static void add_up(struct pool *pool, struct job *job, const struct ct_chain *chain)
{
    pthread_mutex_lock(&pool->lock);
    cli_capture_count(pool->capture, chain, pool->how->level, job->counts_frames);
    pthread_mutex_unlock(&pool->lock);
    ct_amounts_add(&job->amounts, chain, job->counts_frames);
    job->code = CLI_CLEAN;
}

/* Runs a job in a context of its own, because other jobs may run at the same time. */
static void run_job(struct pool *pool, struct job *job)
{
    struct running running = {pool, job};
    const struct ct_chain_sink sink = {.user = &running, .bytes = on_bytes};
    struct ct_chain_options chain_options = cli_capture_chain_options(pool->capture, pool->how->level);
    chain_options.edges = pool->how->edges;
    chain_options.engine = pool->how->engine;
    chain_options.threads = pool->chain_threads;
    chain_options.ids[0] = job->ids[0];
    chain_options.ids[1] = job->ids[1];
    struct ct_ctx *ctx = cli_ctx_new(pool->args->quiet);
    struct ct_chain *chain = NULL;
    job->code = CLI_FAILED;
    if (!ctx)
        return;
    if (ct_chain_new(ctx, job->buffer, &chain_options, &sink, &chain) || ct_chain_run(chain))
        cli_library_error(ctx);
    else
        add_up(pool, job, chain);
    ct_chain_free(chain);
    ct_ctx_free(ctx);
}

static void *work(void *user)
{
    struct pool *pool = user;
    for (;;) {
        pthread_mutex_lock(&pool->lock);
        struct job *job = pool->next < pool->count ? &pool->jobs[pool->next++] : NULL;
        pthread_mutex_unlock(&pool->lock);
        if (!job)
            return NULL;
        run_job(pool, job);
        pthread_mutex_lock(&pool->lock);
        pool->done += job->amounts.bytes;
        pthread_mutex_unlock(&pool->lock);
    }
}

static void run_pool(struct pool *pool, size_t threads)
{
    pthread_t ids[CLI_THREADS_MAX];
    size_t started = 0;
    pthread_mutex_init(&pool->lock, NULL);
    while (started + 1 < threads && pthread_create(&ids[started], NULL, work, pool) == 0)
        started++;
    work(pool);
    for (size_t i = 0; i < started; i++)
        pthread_join(ids[i], NULL);
    pthread_mutex_destroy(&pool->lock);
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
        job.ids[id / 64] = UINT64_C(1) << id % 64;
        /* if the buffer turns out to have no frames, its single source has ID 0 */
        if (count == 0)
            job.ids[0] |= 1;
        jobs[count++] = job;
    }
    return count;
}

static bool plan(struct pool *pool, size_t threads)
{
    const struct cli_capture *capture = pool->capture;
    const struct ct_chain_options chosen = cli_capture_chain_options(capture, CT_LEVEL_FRAME);
    /* up to elements, a chain divides its work among threads; beyond that, one thread follows each stream */
    const bool split = threads > 1 && pool->how->level > CT_LEVEL_ELEMENT;
    size_t room = 1;
    for (size_t i = 0; i < capture->count; i++)
        room += capture->buffers[i].source_count + 1;
    pool->jobs = calloc(room, sizeof *pool->jobs);
    if (!pool->jobs) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < capture->count; i++) {
        uint64_t ids[2];
        if (!ct_filter_ids(pool->how->filter, &capture->buffers[i], ids))
            continue;
        if (chosen.ids[0] | chosen.ids[1])
            memcpy(ids, chosen.ids, sizeof ids);
        pool->count += plan_buffer(&capture->buffers[i], ids, split, pool->jobs + pool->count);
    }
    /* perf.data that ends before its trace has no buffer, and so no job */
    pool->chain_threads = pool->count ? (uint16_t)((threads + pool->count - 1) / pool->count) : 1;
    return true;
}

/* Adds the amounts of a job, whose losses the capture has. */
static void add_amounts(struct ct_amounts *sum, const struct ct_amounts *more)
{
    sum->packets += more->packets;
    sum->elements += more->elements;
    sum->atoms += more->atoms;
    sum->branches += more->branches;
    sum->instructions += more->instructions;
    sum->edges += more->edges;
    sum->steps += more->steps;
    sum->cycles += more->cycles;
    sum->unplaced_cycles += more->unplaced_cycles;
}

int cli_stats_run(struct cli_capture *capture, const struct cli_stats_how *how, struct ct_amounts *amounts)
{
    const size_t threads = cli_threads(capture->args);
    struct pool pool = {.how = how, .args = capture->args, .capture = capture};
    int code = CLI_CLEAN;
    if (!plan(&pool, threads))
        return CLI_FAILED;
    run_pool(&pool, threads < pool.count ? threads : pool.count);
    for (size_t i = 0; i < pool.count; i++) {
        code = cli_worse(code, pool.jobs[i].code);
        add_amounts(amounts, &pool.jobs[i].amounts);
    }
    free(pool.jobs);
    return code;
}
