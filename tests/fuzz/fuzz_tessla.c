/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes a specification and a trace, separated by the first line "---8<---" (without it, all is
 * specification). The first byte selects dialect and time unit, and where the trace is cut; at every second
 * cut events are lost. With CT_FUZZ_NATIVE the output of machine code is compared with that of bytecode, to
 * the letter. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "fuzz.h"
#include "fuzz_tessla.h"

#ifdef CT_FUZZ_NATIVE
struct fuzz_tessla fuzz_tessla = {.engines = 2};
#else
struct fuzz_tessla fuzz_tessla = {.engines = 1};
#endif

struct sink {
    struct ct_monitor *monitor;
    uint64_t last, hash, results;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct sink *s = user;
    char text[4096];
    for (size_t i = 0; i < count; i++) {
        size_t done;
        if (results[i].time < s->last)
            abort();
        s->last = results[i].time;
        const size_t size = ct_monitor_print(s->monitor, &results[i], 1, text, sizeof text, &done);
        if (size > sizeof text)
            abort();
        s->hash = (s->hash ^ (uint64_t)ct_monitor_certain(&results[i])) * 0x100000001b3u;
        for (size_t k = 0; k < size; k++)
            s->hash = (s->hash ^ (unsigned char)text[k]) * 0x100000001b3u;
        s->results++;
    }
}

static struct sink run(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, const char *trace, size_t size,
                       unsigned eighths)
{
    const struct ct_monitor_limits limits = {
        .size = sizeof limits, .memory = 4 << 20, .instants = 20000, .budget = 200000};
    struct sink sink = {0};
    const size_t cut = size * eighths / 8;
    if (ct_monitor_new(ctx, spec, &limits, take, &sink, &sink.monitor))
        abort();
    ct_monitor_text_limit(sink.monitor, 2000);
    if (!ct_monitor_feed_text(sink.monitor, trace, cut, 0) &&
        (eighths % 2 == 0 || !ct_monitor_lose(sink.monitor, NULL)) &&
        !ct_monitor_feed_text(sink.monitor, trace + cut, size - cut, 1))
        ct_monitor_finish(sink.monitor);
    ct_monitor_free(sink.monitor);
    return sink;
}

static void check_diagnostics(const struct ct_ctx *ctx, const struct ct_monitor_spec *spec, int rc)
{
    for (size_t i = 0; spec && i < ct_monitor_diag_count(spec); i++) {
        char message[2048];
        ct_monitor_diag_print(spec, i, message, sizeof message);
    }
    if (rc && !*ct_ctx_error(ctx))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "---8<---\n";
    static const char *const units[] = {NULL, "ns", "ms", "d"};
    struct sink sinks[2] = {0};
    if (size < 1 || size > 1 << 14)
        return 0;
    const char *text = (const char *)data + 1, *end = (const char *)data + size;
    const char *part = memmem(text, (size_t)(end - text), mark, sizeof mark - 1);
    const char *trace = part ? part + sizeof mark - 1 : end;
    int rc = CT_OK;
    for (uint8_t engine = 0; engine < fuzz_tessla.engines && !rc; engine++) {
        const struct ct_monitor_options o = {.size = sizeof o,
                                             .dialect = data[0] % 3,
                                             .no_include = 1,
                                             .changes_only = data[0] >> 2 & 1,
                                             .engine = engine,
                                             .time_unit = units[data[0] >> 3 & 3]};
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_monitor_spec *spec;
        rc = ct_monitor_compile(ctx, "fuzz", text, (size_t)((part ? part : end) - text), &o, &spec);
        check_diagnostics(ctx, spec, rc);
        if (!rc) {
            ct_monitor_dot(spec, NULL, 0);
            sinks[engine] = run(ctx, spec, trace, (size_t)(end - trace), data[0] >> 5);
        }
        ct_monitor_spec_free(spec);
        ct_ctx_free(ctx);
    }
    if (fuzz_tessla.engines == 2 && (sinks[0].hash != sinks[1].hash || sinks[0].results != sinks[1].results))
        abort();
    fuzz_tessla.compiled += !rc;
    fuzz_tessla.results += sinks[0].results;
    return 0;
}
