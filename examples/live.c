/* SPDX-License-Identifier: Apache-2.0 */
/* Analyses trace while it arrives: how often each function was measured, and its longest time. With PORT, a
 * page shows the results during the run, and accepts watchpoints and specifications.
 *
 *     live DESCRIPTION INPUT PROGRAM [PORT]
 *
 * DESCRIPTION is a capture whose first buffer describes the stream, such as the .ini of a raw trace. INPUT is
 * the source of the stream: a FIFO, a device, "tcp:HOST:PORT" or "listen:PORT". Ctrl-C ends the run. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>

#include <coretap/live.h>

static struct ct_live *running;

static void on_signal(int number)
{
    (void)number;
    ct_live_hurry(running);
}

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "%s\n", text);
}

static int analyse(struct ct_live *live, char **args)
{
    const struct ct_live_input input = {.size = sizeof input, .name = args[2]};
    int rc = ct_live_open(live, &input);
    if (!rc && args[4])
        rc = ct_live_page(live, args[4], NULL);
    running = live;
    signal(SIGINT, on_signal);
    signal(SIGPIPE, SIG_IGN); /* a browser may close the connection */
    if (!rc)
        rc = ct_live_run(live);
    signal(SIGINT, SIG_DFL);
    return rc;
}

static void print(struct ct_live *live)
{
    const struct ct_live_seen *seen = ct_live_seen_of(live);
    printf("%" PRIu64 " bytes\n", seen->analysed);
    for (unsigned id = 0; id < 128; id++) {
        size_t count = 0;
        const struct ct_timing *timing = ct_live_timing(live, (uint8_t)id);
        const struct ct_timing_function *all = ct_timing_functions(timing, &count);
        for (size_t i = 0; i < count; i++)
            if (all[i].inclusive.count)
                printf("%s, %s: %" PRIu64 " times, at most %" PRIu64 " cycles\n",
                       ct_live_source(live, (uint8_t)id)->name, all[i].label, all[i].inclusive.count,
                       all[i].inclusive.max);
    }
    if (seen->trouble)
        fprintf(stderr, "the input broke: %s\n", seen->trouble);
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: live DESCRIPTION INPUT PROGRAM [PORT]\n");
        return 2;
    }
    const struct ct_programs_options moved = {.size = sizeof moved, .moved = 1, .all_memories = 1};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_capture *capture = NULL;
    struct ct_live_options options = {.size = sizeof options, .timing = 1, .say = say};
    struct ct_live *live = NULL;
    int rc = ctx ? ct_capture_open(ctx, argv[1], &capture) : CT_ERR_NOMEM;
    if (!rc)
        rc = ct_programs_new(ctx, &moved, &options.programs);
    if (!rc)
        rc = ct_programs_add(options.programs, argv[3], NULL, capture, NULL);
    options.buffer = capture ? &capture->buffers[0] : NULL;
    if (!rc)
        rc = ct_live_new(ctx, &options, &live);
    if (!rc)
        rc = analyse(live, argv);
    if (!rc)
        print(live);
    else
        fprintf(stderr, "%s: %s\n", ct_error_name(rc), ctx ? ct_ctx_error(ctx) : "");
    ct_live_free(live);
    ct_programs_free(options.programs);
    ct_capture_free(capture);
    ct_ctx_free(ctx);
    return rc ? 1 : 0;
}
