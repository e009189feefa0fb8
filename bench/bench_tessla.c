/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the speed of monitors on one core, in CPU time (docs/tessla.md): events a second through a
 * specification of about 20 streams, through 256 formulas, and as text in and out; and the time from a
 * specification to its run. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coretap/monitor.h"

enum {
    EVENTS = 2000000,
    BATCH = 4096,
    MONITORS = 256
};

struct sink {
    struct ct_monitor *monitor;
    uint64_t results, bytes;
    char *text; /* buffer for the text of results; NULL: results are not written as text */
    size_t cap;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct sink *s = user;
    s->results += count;
    while (s->text && count) {
        size_t done;
        s->bytes += ct_monitor_print(s->monitor, results, count, s->text, s->cap, &done);
        results += done;
        count -= done;
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Returns the time in seconds. Not CPU time: compilers to machine code call other programs, whose time counts
 * too. */
static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static const char *engine_name(const struct ct_monitor_spec *spec)
{
    return ct_monitor_engine_of(spec) == CT_MONITOR_NATIVE ? "native" : "bytecode";
}

static struct ct_monitor_spec *compile(struct ct_ctx *ctx, const char *name, const char *text,
                                       enum ct_monitor_engine engine, double *took)
{
    struct ct_monitor_options o = {
        .size = sizeof o, .engine = (uint8_t)engine, .time_unit = "ns", .changes_only = 1};
    struct ct_monitor_spec *spec;
    double begin = wall();
    if (ct_monitor_compile(ctx, name, text, strlen(text), &o, &spec)) {
        fprintf(stderr, "bench_tessla: %s\n", ct_ctx_error(ctx));
        exit(1);
    }
    *took = wall() - begin;
    return spec;
}

/* Feeds events of random inputs and returns the seconds that the monitor took, without making them. `lose`:
 * some events were lost before the first one. */
static double run_binary(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, struct sink *sink,
                         size_t total, bool lose)
{
    struct ct_monitor_event *batch = calloc(BATCH, sizeof *batch);
    uint32_t inputs = (uint32_t)ct_monitor_input_count(spec);
    uint32_t x = 12345;
    uint64_t time = 0;
    if (!batch || ct_monitor_new(ctx, spec, NULL, take, sink, &sink->monitor))
        exit(1);
    if (lose && ct_monitor_lose(sink->monitor, NULL))
        exit(1);
    double took = 0;
    for (size_t fed = 0; fed < total; fed += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            x = x * 1664525 + 1013904223;
            time += 1 + (x >> 28);
            batch[i] =
                (struct ct_monitor_event){.time = time, .input = (x >> 8) % inputs, .v.i = x >> 12 & 1023};
        }
        double begin = seconds();
        int status = ct_monitor_feed(sink->monitor, batch, BATCH);
        took += seconds() - begin;
        if (status) {
            fprintf(stderr, "bench_tessla: %s\n", ct_ctx_error(ctx));
            exit(1);
        }
    }
    ct_monitor_finish(sink->monitor);
    ct_monitor_free(sink->monitor);
    free(batch);
    return took;
}

static void report(const char *what, double count, double took, const char *note)
{
    printf("%-34s %8.2f M events/s   %s\n", what, count / took / 1e6, note);
}

static const char TWENTY[] = "in call: Events[Int]\nin ret: Events[Int]\nin tick: Events[Int]\n"
                             "def depth = merge(const(1, call), const(-1, ret))\n"
                             "def level = fold(depth, 0, (n: Int, d: Int) => n + d)\n"
                             "def deepest = pure(maximum(level))\n"
                             "def cost = runtime(call, ret)\n"
                             "def slow = cost > 5000\n"
                             "def worst = pure(maximum(cost))\n"
                             "def number = count(call)\n"
                             "def load = on(tick, level * 100 / (number + 1))\n"
                             "def late = filter(ret, slow)\n"
                             "out deepest\nout late\nout worst\nout load > 90 as high\n";

static void bench_twenty(struct ct_ctx *ctx, enum ct_monitor_engine engine)
{
    double took;
    char note[100], what[40];
    struct ct_monitor_spec *spec = compile(ctx, "twenty", TWENTY, engine, &took);
    struct sink sink = {0};
    double run = run_binary(ctx, spec, &sink, EVENTS, false);
    snprintf(note, sizeof note, "%zu streams, %.1f results/event; compiled in %.2f ms",
             ct_monitor_node_count(spec), (double)sink.results / EVENTS, took * 1e3);
    snprintf(what, sizeof what, "%s, binary input", engine_name(spec));
    report(what, EVENTS, run, note);
    run = run_binary(ctx, spec, &sink, EVENTS / 16, true);
    snprintf(what, sizeof what, "%s, behind a loss", engine_name(spec));
    report(what, EVENTS / 16, run, "");
    ct_monitor_spec_free(spec);
}

static void bench_monitors(struct ct_ctx *ctx, enum ct_monitor_engine engine)
{
    char *text = malloc(MONITORS * 200), note[100], what[40], *p = text;
    double took;
    p +=
        sprintf(p, "define p := function_call p\ndefine q := function_call q\ndefine r := function_call r\n");
    for (int i = 0; i < MONITORS; i++) {
        static const char *const forms[] = {
            "always (p implies next[%d] (not p until q or r))",
            "always (p and next q implies next[%d] (eventually (r or p)) or never q)",
            "not r until (q and next[%d] (always (q implies not next p)))",
            "always ((p and next[%d] q) implies next (not q until weak r))",
        };
        p += sprintf(p, "define m%d := monitor(", i);
        p += sprintf(p, forms[i % 4], 1 + i / 4 % 3);
        p += sprintf(p, ", x%d := p)\nout m%d\n", i, i);
    }
    struct ct_monitor_spec *spec = compile(ctx, "monitors", text, engine, &took);
    struct sink sink = {0};
    double run = run_binary(ctx, spec, &sink, EVENTS / 4, false);
    snprintf(note, sizeof note, "%zu streams; every event steps every machine; compiled in %.0f ms",
             ct_monitor_node_count(spec), took * 1e3);
    snprintf(what, sizeof what, "256 formulas, %s", engine_name(spec));
    report(what, EVENTS / 4, run, note);
    run = run_binary(ctx, spec, &sink, EVENTS / 64, true);
    snprintf(what, sizeof what, "256 formulas, behind a loss, %s", engine_name(spec));
    report(what, EVENTS / 64, run, "");
    ct_monitor_spec_free(spec);
    free(text);
}

static void bench_text(struct ct_ctx *ctx)
{
    static const char spec_text[] = "in x: Events[Int]\nin y: Events[Int]\nout x + y as total\n";
    double took;
    struct ct_monitor_spec *spec = compile(ctx, "text", spec_text, CT_MONITOR_BYTECODE, &took);
    char *trace = malloc(EVENTS * 32), *p = trace, note[100];
    for (int i = 1; i <= EVENTS; i++)
        p += sprintf(p, "%d: %c = %d\n", i * 7, i % 3 ? 'x' : 'y', i % 1000);
    struct sink sink = {.text = malloc(1 << 20), .cap = 1 << 20};
    if (ct_monitor_new(ctx, spec, NULL, take, &sink, &sink.monitor))
        exit(1);
    double begin = seconds();
    if (ct_monitor_feed_text(sink.monitor, trace, (size_t)(p - trace), 1) || ct_monitor_finish(sink.monitor))
        exit(1);
    double run = seconds() - begin;
    snprintf(note, sizeof note, "%.0f MB/s in, %.0f MB/s out", (double)(p - trace) / run / 1e6,
             (double)sink.bytes / run / 1e6);
    report("text in, text out", EVENTS, run, note);
    ct_monitor_free(sink.monitor);
    ct_monitor_spec_free(spec);
    free(sink.text);
    free(trace);
}

int main(void)
{
    struct ct_ctx *ctx = ct_ctx_new();
    bench_twenty(ctx, CT_MONITOR_BYTECODE);
    bench_twenty(ctx, CT_MONITOR_NATIVE);
    bench_monitors(ctx, CT_MONITOR_BYTECODE);
    bench_monitors(ctx, CT_MONITOR_NATIVE);
    bench_text(ctx);
    ct_ctx_free(ctx);
    return 0;
}
