/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal replay: the tracer's modules alone, on a recorded stream of messages. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"

enum {
    OPT_MESSAGES,
    OPT_PGD,
    OPT_ASID,
    OPT_GRANULE,
    OPT_VA_BITS,
    OPT_RANGE,
    OPT_POINT,
    OPT_MODE,
    OPT_PROTOCOL,
    OPT_COMMANDS,
    OPT_OUTPUT,
    OPTS
};

enum {
    LOG,
    COMMANDS,
    OUTPUTS
};

/* Reports which line was skipped, and why. */
static void print_refusal(void *user, const char *text)
{
    (void)user;
    cli_say("%s", text);
}

/* Reads what to trace. Without --pgd, register writes in the stream tell. Returns CLI_CLEAN or CLI_FAILED. */
static int read_target(const struct cli_args *args, struct ct_fractal_target *t)
{
    const struct cli_value *v = args->values;
    *t = (struct ct_fractal_target){.pgd = v[OPT_PGD].number,
                                    .range_hi = UINT64_C(1) << 48,
                                    .asid = (uint16_t)v[OPT_ASID].number,
                                    .granule = v[OPT_GRANULE].given ? (uint8_t)v[OPT_GRANULE].number : 12,
                                    .va_bits = v[OPT_VA_BITS].given ? (uint8_t)v[OPT_VA_BITS].number : 48,
                                    .mode = cli_fractal_mode(&v[OPT_MODE])};
    if (v[OPT_RANGE].given &&
        ct_fractal_range_parse(args->ctx, v[OPT_RANGE].text, &t->range_lo, &t->range_hi) != CT_OK)
        return cli_usage_error(args->command, "--range: %s", ct_ctx_error(args->ctx));
    return CLI_CLEAN;
}

/* Reads the observation points. Returns CLI_CLEAN or CLI_FAILED. */
static int read_points(const struct cli_args *args, const char *const *texts, size_t count, uint64_t *points)
{
    for (size_t i = 0; i < count; i++) {
        char *end;
        points[i] = strtoull(texts[i], &end, 16);
        if (!isxdigit((unsigned char)*texts[i]) || *end || points[i] >> 48)
            return cli_usage_error(args->command,
                                   "--point: '%s' is not a hexadecimal address below 1000000000000; messages "
                                   "have no names of programs",
                                   texts[i]);
    }
    return CLI_CLEAN;
}

/* Refuses options for the target without the target. Returns CLI_CLEAN or CLI_FAILED. */
static int check_target(const struct cli_args *args)
{
    static const uint8_t of_target[] = {OPT_ASID, OPT_GRANULE, OPT_VA_BITS, OPT_RANGE, OPT_POINT, OPT_MODE};
    const struct cli_value *v = args->values;
    for (size_t i = 0; i < sizeof of_target && !v[OPT_PGD].given; i++)
        if (v[of_target[i]].given)
            return cli_usage_error(args->command,
                                   "--%s needs --pgd; without it the register writes in the stream configure "
                                   "the tracer",
                                   args->command->options[of_target[i]].name);
    return CLI_CLEAN;
}

/* Ends the replay, and reports what the log lacks. Returns `code`, or a worse enum cli_exit. */
static int finish(const struct cli_args *args, struct ct_fractal_replay *replay, int code)
{
    if (ct_fractal_replay_finish(replay) != CT_OK)
        return cli_library_error(args->ctx);
    const char *missing = code == CLI_FAILED ? NULL : ct_fractal_replay_missing(replay);
    if (missing)
        cli_say("%s: %s", args->values[OPT_MESSAGES].text, missing);
    return missing ? cli_worse(code, CLI_DAMAGED) : code;
}

/* Replays the stream and prints the counts. Returns an enum cli_exit. */
static int run_stream(const struct cli_args *args, struct ct_fractal_replay *replay)
{
    const struct cli_value *log = &args->values[OPT_OUTPUT];
    FILE *out = log->given && strcmp(log->text, "-") == 0 ? stderr : stdout;
    int code = ct_fractal_replay_run(replay) == CT_OK ? CLI_CLEAN : cli_library_error(args->ctx);
    if (code == CLI_CLEAN)
        code = cli_fractal_written(args, ct_fractal_replay_write(replay, cli_output_write, out));
    if (code == CLI_CLEAN && ct_fractal_replay_counts_of(replay)->refused)
        code = CLI_DAMAGED;
    return finish(args, replay, code);
}

/* Reads the options and replays the stream. Returns an enum cli_exit. */
static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct cli_fractal_output outputs[OUTPUTS] = {
        [LOG] = {.path = v[OPT_OUTPUT].text}, [COMMANDS] = {.path = v[OPT_COMMANDS].text}};
    const char *texts[CLI_LIST_MAX];
    uint64_t points[CLI_LIST_MAX];
    struct ct_fractal_target target;
    struct ct_fractal_replay *replay = NULL;
    if (!v[OPT_MESSAGES].given)
        return cli_usage_error(args->command,
                               "--messages FILE is missing; it names the recorded messages to read");
    const size_t count = cli_fractal_list(args, OPT_POINT, texts);
    if (check_target(args) || read_target(args, &target) || read_points(args, texts, count, points))
        return CLI_FAILED;
    const struct ct_fractal_replay_options how = {
        .size = sizeof how,
        .path = v[OPT_MESSAGES].text,
        .target = &target,
        .points = points,
        .point_count = count,
        .log_name = v[OPT_OUTPUT].text,
        .log = cli_fractal_output_fn(&outputs[LOG], true),
        .log_user = &outputs[LOG],
        .commands = cli_fractal_output_fn(&outputs[COMMANDS], false),
        .commands_user = &outputs[COMMANDS],
        .refused = print_refusal,
        .by_stream = !v[OPT_PGD].given,
        .protocol = cli_fractal_protocol(&v[OPT_PROTOCOL]),
    };
    int code = CLI_FAILED;
    if (ct_fractal_replay_new(args->ctx, &how, &replay) == CT_OK)
        code = run_stream(args, replay);
    else if (!outputs[LOG].refused && !outputs[COMMANDS].refused)
        cli_library_error(args->ctx);
    code = cli_fractal_output_close(args, outputs, OUTPUTS, code);
    ct_fractal_replay_free(replay);
    return code;
}

static const struct cli_option options[OPTS] = {
    [OPT_MESSAGES] = CLI_TEXT_OPTION("messages", 'm', "FILE",
                                     "The stream, one message a line: " CT_FRACTAL_MESSAGES_HEADER
                                     ". \"-\" is standard input."),
    [OPT_PGD] = CLI_HEX_OPTION(
        "pgd", 0, "PA", UINT64_C(0xffffffffffc0),
        "Physical address of the target's top-level page table. Without this option the register writes in "
        "the stream configure the tracer, and the options about the target are refused."),
    [OPT_ASID] = CLI_NUMBER_OPTION("asid", 0, "N", 0, 65535, "Address space number (ASID) of the target."),
    [OPT_GRANULE] =
        CLI_NUMBER_OPTION("granule", 0, "BITS", 12, 16, "log2 of the page size: 12, 14 or 16. Default: 12."),
    [OPT_VA_BITS] =
        CLI_NUMBER_OPTION("va-bits", 0, "BITS", 25, 48, "Bits of a virtual address. Default: 48."),
    [OPT_RANGE] = CLI_TEXT_OPTION("range", 0, "LO..HI", "Addresses to trace. Default: all."),
    [OPT_POINT] = CLI_LIST_OPTION(
        "point", 0, "VA",
        "An observation point in the traced range, hexadecimal. Not available in passive mode."),
    [OPT_MODE] = CLI_CHOICE_OPTION("mode", 0, cli_fractal_mode_words, "How much the tracer may do."),
    [OPT_PROTOCOL] =
        CLI_CHOICE_OPTION("protocol", 0, cli_fractal_protocol_words,
                          "Coherence protocol of the flits in the stream, such as SNP.SnpUnique, and of the "
                          "flits that --commands writes. Without this option the stream has messages only."),
    [OPT_COMMANDS] = CLI_TEXT_OPTION("commands", 0, "FILE", "Write the commands that the tracer issues."),
    [OPT_OUTPUT] = CLI_TEXT_OPTION("output", 'o', "LOG", "Write the event log."),
};

const struct cli_command cli_fractal_replay = {
    .name = "fractal replay",
    .summary = "run the tracer on recorded messages of a port",
    .synopsis = "--messages FILE",
    .about = "Feeds a recorded message stream to the tracer's modules and prints their results. Invalid "
             "messages are reported with their line and skipped.",
    .examples = "coretap fractal run -o log --messages port.messages -- ./program 500\n"
                "coretap fractal replay --messages port.messages -o replayed.log\n",
    .exit_text =
        "0: done. 1: done, but there were invalid messages, or events are missing, or there are none. "
        "2: wrong usage, or something could not be opened, read or written.",
    .options = options,
    .option_count = OPTS,
    .own_output = true,
    .run = run,
};
