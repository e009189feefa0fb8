/* SPDX-License-Identifier: Apache-2.0 */
/* coretap stats: how much there is and how fast it was decoded, as key=value. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "cli/capture.h"
#include "cli/commands.h"
#include "format/losses.h"

enum {
    OPT_LEVEL = CLI_CAPTURE_OPTIONS,
    OPT_ENGINE,
    OPT_THREADS
};

static const char *const level_words[] = {"flow", "frame", "packet", "element", "coverage", "timing", NULL};
static const struct {
    enum ct_level level;
    enum ct_edges_level edges;
} levels[] = {
    {CT_LEVEL_FLOW, CT_EDGES_NONE},    {CT_LEVEL_FRAME, CT_EDGES_NONE},   {CT_LEVEL_PACKET, CT_EDGES_NONE},
    {CT_LEVEL_ELEMENT, CT_EDGES_NONE}, {CT_LEVEL_STEPS, CT_EDGES_COUNTS}, {CT_LEVEL_STEPS, CT_EDGES_CYCLES},
};
static const char *const engine_words[] = {"auto", "plain", "fast", NULL};
static const enum ct_engine engines[] = {CT_ENGINE_AUTO, CT_ENGINE_PLAIN, CT_ENGINE_FAST};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [OPT_LEVEL] =
        {.name = "level",
         .letter = 'l',
         .kind = CLI_CHOICE,
         .choices = level_words,
         .help = "How far to decode: bytes per trace ID, packets, elements, or (flow) instructions along "
                 "the program; coverage counts how often each edge of the program was taken, timing its "
                 "cycles too."},
    [OPT_ENGINE] = {.name = "engine",
                    .kind = CLI_CHOICE,
                    .choices = engine_words,
                    .help = "How the program is followed: one instruction after the other (plain) or along "
                            "what was met before (fast). Both say the same; auto is fast."},
    [OPT_THREADS] = CLI_THREADS_OPTION,
};

/* Trace IDs of one buffer that one thread decodes. */
struct job {
    const struct ct_buffer *buffer;
    uint64_t ids[2];    /* as in ct_chain_options */
    bool counts_frames; /* one job of each buffer accounts for its frames */

    int code; /* enum cli_exit */
    uint64_t bytes;
    struct ct_stream_stats sum;
    uint64_t edges; /* of the program, that were taken */
    struct ct_edge_totals totals;
};

struct pool {
    const struct cli_args *args;
    struct cli_capture capture;
    struct job *jobs;
    size_t count;
    uint16_t chain_threads; /* of each job */
    pthread_mutex_t lock;   /* of what follows, and of the progress meter */
    size_t next;
    uint64_t done; /* bytes of the jobs that are over */
};

/* One job on its way: the receiver of what a chain says. */
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
    cli_progress_update(&pool->capture.progress, pool->done + bytes);
    pthread_mutex_unlock(&pool->lock);
    return 0;
}

static void add_stats(struct ct_stream_stats *sum, const struct ct_stream_stats *s)
{
    sum->packets += s->packets;
    sum->elements += s->elements;
    sum->atoms += s->atoms;
    sum->branches += s->branches;
    sum->instructions += s->instructions;
}

static void add_totals(struct ct_edge_totals *sum, const struct ct_edge_totals *totals)
{
    sum->steps += totals->steps;
    sum->cycles += totals->cycles;
    sum->unplaced += totals->unplaced;
}

static void add_edges(struct job *job, const struct ct_stream *stream)
{
    const struct ct_edge_totals totals = ct_edges_totals(stream->edges);
    uint32_t count;
    ct_graph_edges(stream->graph, &count);
    job->edges += count;
    add_totals(&job->totals, &totals);
}

static void add_up(struct pool *pool, struct job *job, const struct ct_chain *chain)
{
    pthread_mutex_lock(&pool->lock);
    cli_capture_count(&pool->capture, chain, levels[pool->args->values[OPT_LEVEL].number].level,
                      job->counts_frames);
    pthread_mutex_unlock(&pool->lock);
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    for (size_t i = 0; i < count; i++) {
        add_stats(&job->sum, &streams[i].stats);
        if (streams[i].edges)
            add_edges(job, &streams[i]);
    }
    const struct ct_frame_stats *frames = ct_chain_frame_stats(chain);
    if (frames && job->counts_frames)
        job->bytes = frames->input_bytes;
    job->code = CLI_CLEAN;
}

/* A job has a context of its own: it may run beside others. */
static void run_job(struct pool *pool, struct job *job)
{
    struct running running = {pool, job};
    const struct ct_chain_sink sink = {.user = &running, .bytes = on_bytes};
    struct ct_chain_options chain_options =
        cli_capture_chain_options(&pool->capture, levels[pool->args->values[OPT_LEVEL].number].level);
    chain_options.edges = (uint8_t)levels[pool->args->values[OPT_LEVEL].number].edges;
    chain_options.engine = (uint8_t)engines[pool->args->values[OPT_ENGINE].number];
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
        pool->done += job->bytes;
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

/* One job a buffer, or with `split` one a trace ID. */
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
        /* Should the buffer turn out to have no frames, its one source is ID 0. */
        if (count == 0)
            job.ids[0] |= 1;
        jobs[count++] = job;
    }
    return count;
}

static bool plan(struct pool *pool, size_t threads)
{
    const struct cli_capture *capture = &pool->capture;
    const struct ct_chain_options chosen = cli_capture_chain_options(capture, CT_LEVEL_FRAME);
    /* Up to elements a chain shares its work among threads; behind them each stream is followed by one. */
    const bool split = threads > 1 && levels[pool->args->values[OPT_LEVEL].number].level > CT_LEVEL_ELEMENT;
    size_t room = 1;
    for (size_t i = 0; i < capture->count; i++)
        room += capture->buffers[i].source_count + 1;
    pool->jobs = calloc(room, sizeof *pool->jobs);
    if (!pool->jobs) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < capture->count; i++)
        pool->count += plan_buffer(&capture->buffers[i], chosen.ids, split, pool->jobs + pool->count);
    /* perf.data that is cut before its trace has no buffer, and nothing to share. */
    pool->chain_threads = pool->count ? (uint16_t)((threads + pool->count - 1) / pool->count) : 1;
    return true;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Keys that the level does not reach are left out. */
static void print(const struct pool *pool, double seconds)
{
    const enum ct_level level = levels[pool->args->values[OPT_LEVEL].number].level;
    const enum ct_edges_level edges_level = levels[pool->args->values[OPT_LEVEL].number].edges;
    struct ct_stream_stats sum = {0};
    struct ct_edge_totals totals = {0};
    uint64_t bytes = 0;
    uint64_t edges = 0;
    for (size_t i = 0; i < pool->count; i++) {
        add_stats(&sum, &pool->jobs[i].sum);
        add_totals(&totals, &pool->jobs[i].totals);
        edges += pool->jobs[i].edges;
        bytes += pool->jobs[i].bytes;
    }
    printf("bytes=%" PRIu64 "\n", bytes);
    if (level >= CT_LEVEL_PACKET)
        printf("packets=%" PRIu64 "\n", sum.packets);
    if (level >= CT_LEVEL_ELEMENT)
        printf("elements=%" PRIu64 "\natoms=%" PRIu64 "\n", sum.elements, sum.atoms);
    if (level >= CT_LEVEL_FLOW)
        printf("branches=%" PRIu64 "\ninstructions=%" PRIu64 "\n", sum.branches, sum.instructions);
    if (level >= CT_LEVEL_STEPS)
        printf("edges=%" PRIu64 "\nsteps=%" PRIu64 "\n", edges, totals.steps);
    if (edges_level == CT_EDGES_CYCLES)
        printf("cycles=%" PRIu64 "\nunplaced_cycles=%" PRIu64 "\n", totals.cycles, totals.unplaced);
    ct_losses_keys(stdout, '\n', &pool->capture.seen.losses,
                   level >= CT_LEVEL_FLOW     ? CT_LOSSES_PROGRAM
                   : level >= CT_LEVEL_PACKET ? CT_LOSSES_TRACE
                                              : CT_LOSSES_FRAMES);
    printf("\nseconds=%.6f\nmb_per_s=%.1f\n", seconds, seconds > 0 ? (double)bytes / 1e6 / seconds : 0);
}

static int measure(struct pool *pool, size_t threads)
{
    if (!plan(pool, threads))
        return CLI_FAILED;
    const double begin = now();
    run_pool(pool, threads < pool->count ? threads : pool->count);
    const double seconds = now() - begin;
    cli_progress_finish(&pool->capture.progress);
    int code = CLI_CLEAN;
    for (size_t i = 0; i < pool->count; i++)
        code = pool->jobs[i].code > code ? pool->jobs[i].code : code;
    if (code != CLI_FAILED)
        print(pool, seconds);
    return code;
}

static int run(const struct cli_args *args)
{
    const struct cli_value *wish = &args->values[OPT_THREADS];
    const size_t threads = wish->given ? (size_t)wish->number : 1;
    struct pool pool = {.args = args};
    if (!cli_capture_open(&pool.capture, args))
        return CLI_FAILED;
    if (threads > 1 && !cli_capture_spool(&pool.capture)) {
        cli_capture_close(&pool.capture);
        return CLI_FAILED;
    }
    const int code = cli_capture_code(&pool.capture, measure(&pool, threads));
    free(pool.jobs);
    cli_capture_close(&pool.capture);
    return code;
}

const struct cli_command cli_command_stats = {
    .name = "stats",
    .summary = "how much trace there is, what it says, and how fast it was decoded",
    .operand = "CAPTURE",
    .about =
        "Decodes a capture and prints totals over all its trace IDs, one key=value a line: bytes (of the "
        "buffers), packets, elements, atoms, branches (taken), instructions, edges (of the program graph, "
        "that were taken), steps (how often), cycles (of steps), unplaced_cycles (of none), gaps (places "
        "where trace is missing), of them overflows (of the trace unit) and contradictions (with the "
        "program), "
        "bad_packets (that cannot be, or are cut), lost_bytes (that could not be used), no_access (times "
        "that "
        "no memory was where code ran), seconds and mb_per_s (10^6 bytes of "
        "the buffers a second). Keys beyond the level are left out.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
