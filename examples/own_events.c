/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a TeSSLa specification on events of one's own, without any trace: requests and replies of a program
 * have to alternate, and a reply has to come within 100 microseconds.
 *
 *     own_events
 *
 * A specification is compiled once. A run of it takes events in order of time and gives results as soon as
 * they are known. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <coretap/monitor.h>

static const char specification[] = "in request: Events[Int]\n"
                                    "in reply: Events[Int]\n"
                                    "def waited = on(reply, time(reply) - time(request))\n"
                                    "def slow = filter(waited, waited > 100us)\n"
                                    "def wrong = filter(reply, reply != request)\n"
                                    "out waited\n"
                                    "out slow\n"
                                    "out wrong\n";

/* The events. In a real program, each is fed when it happens. */
static const struct {
    uint64_t time; /* microseconds */
    const char *input;
    int64_t number;
} happened[] = {
    {10, "request", 1}, {25, "reply", 1},    {40, "request", 2},
    {190, "reply", 2},  {200, "request", 3}, {230, "reply", 4},
};

/* Returns the number of the input with this name. The specification declares all names that are used here. */
static uint32_t input_called(const struct ct_monitor_spec *spec, const char *name)
{
    struct ct_monitor_stream input;
    uint32_t i = 0;
    while (!ct_monitor_input(spec, i, &input) && strcmp(input.name, name) != 0)
        i++;
    return i;
}

/* Prints results, which are valid only during the call. */
static void print(void *user, const struct ct_monitor_result *results, size_t count)
{
    const struct ct_monitor_spec *spec = user;
    for (size_t i = 0; i < count; i++) {
        struct ct_monitor_stream output;
        if (!ct_monitor_output(spec, results[i].output, &output))
            printf("%" PRIu64 ": %s = %" PRId64 "\n", results[i].time, output.name, results[i].v.i);
    }
}

static int run(struct ct_ctx *ctx, struct ct_monitor_spec *spec)
{
    struct ct_monitor *monitor;
    int rc = ct_monitor_new(ctx, spec, NULL, print, spec, &monitor);
    if (rc)
        return rc;
    for (size_t i = 0; i < sizeof happened / sizeof *happened && !rc; i++) {
        const struct ct_monitor_event event = {.time = happened[i].time,
                                               .input = input_called(spec, happened[i].input),
                                               .v.i = happened[i].number};
        rc = ct_monitor_feed(monitor, &event, 1);
    }
    if (!rc)
        rc = ct_monitor_finish(monitor);
    ct_monitor_free(monitor);
    return rc;
}

int main(void)
{
    const struct ct_monitor_options options = {.size = sizeof options, .time_unit = "us"};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec = NULL;
    int rc =
        ctx ? ct_monitor_compile(ctx, "requests", specification, sizeof specification - 1, &options, &spec)
            : CT_ERR_NOMEM;
    if (!rc)
        rc = run(ctx, spec);
    if (rc)
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
