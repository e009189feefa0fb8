/* A specification and a trace from the input, parted by the first line "---8<---" (without it all is
 * specification). The first byte chooses dialect and time unit. */
#define _GNU_SOURCE /* memmem */
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "fuzz.h"

struct sink {
    struct ct_monitor *monitor;
    uint64_t last;
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
        if (ct_monitor_print(s->monitor, &results[i], 1, text, sizeof text, &done) > sizeof text)
            abort();
    }
}

static void run(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, const char *trace, size_t size,
                size_t cut)
{
    const struct ct_monitor_limits limits = {
        .size = sizeof limits, .memory = 4 << 20, .instants = 20000, .steps = 100000};
    struct sink sink = {0};
    if (ct_monitor_new(ctx, spec, &limits, take, &sink, &sink.monitor))
        abort();
    ct_monitor_text_limit(sink.monitor, 2000);
    cut = cut < size ? cut : size;
    if (!ct_monitor_feed_text(sink.monitor, trace, cut, 0) &&
        !ct_monitor_feed_text(sink.monitor, trace + cut, size - cut, 1))
        ct_monitor_finish(sink.monitor);
    ct_monitor_free(sink.monitor);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "---8<---\n";
    static const char *const units[] = {NULL, "ns", "ms", "d"};
    if (size < 1 || size > 1 << 14)
        return 0;
    struct ct_monitor_options o = {.size = sizeof o,
                                   .dialect = data[0] % 3,
                                   .no_include = 1,
                                   .changes_only = data[0] >> 2 & 1,
                                   .time_unit = units[data[0] >> 3 & 3]};
    const char *text = (const char *)data + 1, *end = (const char *)data + size;
    const char *part = memmem(text, (size_t)(end - text), mark, sizeof mark - 1);
    const char *trace = part ? part + sizeof mark - 1 : end;
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    int r = ct_monitor_compile(ctx, "fuzz", text, (size_t)((part ? part : end) - text), &o, &spec);
    for (size_t i = 0; spec && i < ct_monitor_diag_count(spec); i++) {
        char message[2048];
        ct_monitor_diag_print(spec, i, message, sizeof message);
    }
    if (r && !*ct_ctx_error(ctx))
        abort();
    if (!r) {
        ct_monitor_dot(spec, NULL, 0);
        run(ctx, spec, trace, (size_t)(end - trace), data[0] >> 5);
    }
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
    return 0;
}
