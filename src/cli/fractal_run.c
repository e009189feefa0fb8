/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal run: a program under QEMU on the simulated cluster. */
#include <stdlib.h>
#include <string.h>

#include "cli/fractal.h"
#include "cli/record_run.h"

enum {
    OPT_CONFIG,
    OPT_RANGE,
    OPT_SECTION,
    OPT_SYMBOL,
    OPT_POINT,
    OPT_POINTS_ONLY,
    OPT_MODE,
    OPT_PROTOCOL,
    OPT_RING,
    OPT_SETS,
    OPT_WAYS,
    OPT_RANGE_REGISTERS,
    OPT_POINT_REGISTERS,
    OPT_SCRIPT,
    OPT_CONTROL,
    OPT_FORKS,
    OPT_WITH,
    OPT_TRUTH,
    OPT_MESSAGES,
    OPT_OUTPUT,
    OPTS
};

enum {
    LOG,
    TRUTH,
    MESSAGES,
    OUTPUTS
};

/* Returns why a log has no events. */
static const char *why_empty(const struct cli_args *args, const struct ct_fractal_simulate_result *r)
{
    if (args->values[OPT_POINTS_ONLY].given)
        return "no observation point was accessed";
    return r->targets
               ? "no translation of the missing accesses was seen at the port; choose --mode points or active"
               : "no access to the traced ranges missed the last-level cache; --point logs every access to a "
                 "place";
}

/* Prints the counts of a run. */
static void print_summary(const struct cli_args *args, const struct ct_fractal_simulate_result *r)
{
    if (!args->quiet)
        fprintf(stderr,
                "%llu accesses, %llu last-level misses, %llu of them the target's in the range; %llu events "
                "logged, %llu dropped; %llu commands; %.3f ms of the model's time\n",
                (unsigned long long)r->accesses, (unsigned long long)r->misses,
                (unsigned long long)r->targets, (unsigned long long)r->events, (unsigned long long)r->dropped,
                (unsigned long long)r->commands, (double)r->cycles * 1e3 / (double)CT_SOC_CLOCK_HZ);
    if (r->late)
        cli_say("the program ended before the times of the last %u steps of the script; these steps were not "
                "carried out",
                r->late);
    if (r->left)
        cli_say("%u of the processes started a program for another architecture; the log names these "
                "processes, but has none of their accesses after that",
                r->left);
    if (r->unmet)
        cli_say("%u selections NAME:PLACE name a program that no process started; they trace nothing; give "
                "the last part of the program's path as NAME, and follow children with --follow-forks",
                r->unmet);
    if (!r->events)
        cli_say("the log has no events: %s", why_empty(args, r));
    if (r->unseen)
        cli_say(
            "programs accessed memory by SVE instructions, which QEMU does not report; these accesses are "
            "missing from the log; leave QEMU_CPU unset, or let it name a processor without SVE");
    if (r->lost)
        cli_say("the tracer had no room for an observation point or a page table; events are missing from "
                "the log; give fewer points or a larger --point-registers");
}

/* Reads the selections. Returns false after a message. */
static bool read_selections(const struct cli_args *args, struct ct_fractal_selection *out, size_t *count)
{
    static const struct {
        size_t option;
        uint8_t kind;
    } kinds[] = {{OPT_RANGE, CT_FRACTAL_SELECT_RANGE},
                 {OPT_SECTION, CT_FRACTAL_SELECT_SECTION},
                 {OPT_SYMBOL, CT_FRACTAL_SELECT_SYMBOL},
                 {OPT_POINT, CT_FRACTAL_SELECT_POINT}};
    *count = 0;
    for (size_t i = 0; i < args->list_count; i++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            if (args->list[i].option != kinds[k].option)
                continue;
            const char *text = args->list[i].text, *place = strchr(text, ':') ? strchr(text, ':') + 1 : text;
            uint64_t lo, hi;
            if (k == 0 && ct_fractal_range_parse(args->ctx, place, &lo, &hi) != CT_OK) {
                cli_usage_error(args->command, "--range: %s", ct_ctx_error(args->ctx));
                return false;
            }
            out[(*count)++] = (struct ct_fractal_selection){.text = text, .kind = kinds[k].kind};
        }
    return true;
}

/* Runs the program, and reports how it ended. Returns an enum cli_exit: CLI_DAMAGED when the log lacks
 * something that was selected. */
static int simulate(const struct cli_args *args, const struct ct_fractal_simulate_options *how,
                    const struct cli_fractal_output *outputs, struct ct_fractal_ended *ended)
{
    struct ct_fractal_simulate_result result;
    int rc = ct_fractal_simulate(args->ctx, how, &result);
    bool told = false;
    for (unsigned i = 0; i < OUTPUTS; i++)
        told |= outputs[i].refused;
    *ended = result.ended;
    cli_fractal_ended(args, ended, told ? CT_OK : rc, !args->quiet);
    if (rc != CT_OK)
        return CLI_FAILED;
    print_summary(args, &result);
    return result.unmet || result.lost || result.unseen ? CLI_DAMAGED : CLI_CLEAN;
}

/* Runs the program with the selections. Returns its exit code, or an enum cli_exit. */
static int run_selected(const struct cli_args *args, const struct ct_soc_config *cluster,
                        const struct ct_fractal_selection *selections, size_t count)
{
    const struct cli_value *v = args->values;
    struct cli_fractal_output outputs[OUTPUTS] = {[LOG] = {.path = v[OPT_OUTPUT].text},
                                                  [TRUTH] = {.path = v[OPT_TRUTH].text, .alone = true},
                                                  [MESSAGES] = {.path = v[OPT_MESSAGES].text, .alone = true}};
    const char *beside[CLI_LIST_MAX];
    const struct ct_fractal_options tracer = {.size = sizeof tracer,
                                              .rtlb_sets = (uint32_t)v[OPT_SETS].number,
                                              .rtlb_ways = (uint32_t)v[OPT_WAYS].number,
                                              .ranges = (uint32_t)v[OPT_RANGE_REGISTERS].number,
                                              .points = (uint32_t)v[OPT_POINT_REGISTERS].number};
    const struct ct_fractal_names_options names = cli_fractal_names_options(args, NULL, NULL);
    const struct ct_fractal_simulate_options how = {
        .size = sizeof how,
        .argv = args->rest,
        .cluster = cluster,
        .tracer = &tracer,
        .names = &names,
        .selections = selections,
        .selection_count = count,
        .script = v[OPT_SCRIPT].text,
        .control = v[OPT_CONTROL].text,
        .forks = v[OPT_FORKS].given,
        .beside = beside,
        .beside_count = cli_fractal_list(args, OPT_WITH, beside),
        .log_name = v[OPT_OUTPUT].text,
        .log = cli_fractal_output_fn(&outputs[LOG], true),
        .log_user = &outputs[LOG],
        .truth = cli_fractal_output_fn(&outputs[TRUTH], false),
        .truth_user = &outputs[TRUTH],
        .messages = cli_fractal_output_fn(&outputs[MESSAGES], false),
        .messages_user = &outputs[MESSAGES],
        .mode = cli_fractal_mode(&v[OPT_MODE]),
        .points_only = v[OPT_POINTS_ONLY].given,
        .ring = v[OPT_RING].given,
        .protocol = cli_fractal_protocol(&v[OPT_PROTOCOL]),
        .signal = cli_record_catch_signals(),
    };
    struct ct_fractal_ended ended;
    const int code = simulate(args, &how, outputs, &ended);
    return cli_fractal_exit(&ended, cli_fractal_output_close(args, outputs, OUTPUTS, code));
}

/* Reads the options. Opens no output file: the first write does that. Returns the program's exit code, or an
 * enum cli_exit. */
static int run(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct ct_soc_config cluster;
    size_t count;
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing; name it behind --");
    if (!v[OPT_OUTPUT].given)
        return cli_usage_error(args->command, "-o LOG is missing; it names the event log to write");
    if (cli_fractal_cluster(args, &v[OPT_CONFIG], &cluster))
        return CLI_FAILED;
    struct ct_fractal_selection *selections = calloc(args->list_count + 1, sizeof *selections);
    if (!selections) {
        cli_no_memory();
        return CLI_FAILED;
    }
    const int code = read_selections(args, selections, &count)
                         ? run_selected(args, &cluster, selections, count)
                         : CLI_FAILED;
    free(selections);
    return code;
}

static const struct cli_option options[OPTS] = {
    [OPT_CONFIG] = CLI_TEXT_OPTION("config", 0, "FILE",
                                   "Settings of the cluster, \"key = value\" a line. Default: a Kria KV260."),
    [OPT_RANGE] = CLI_LIST_OPTION(
        "range", 0, "[P:]LO..HI",
        "Virtual addresses to trace, hexadecimal; HI is the first address behind the range. This option and "
        "the two that follow can be given more than once and together, up to the number of range registers, "
        "but ranges must not overlap. Default: all addresses. P: selects another process, which is then "
        "traced, too: the number N for the N-th program of --with, or the name of a program that a process "
        "starts in place of itself (exec)."),
    [OPT_SECTION] = CLI_LIST_OPTION("section", 0, "[P:]NAME", "Trace this section of the program."),
    [OPT_SYMBOL] = CLI_LIST_OPTION("symbol", 0, "[P:]NAME", "Trace this function or object of the program."),
    [OPT_POINT] =
        CLI_LIST_OPTION("point", 0, "[P:]PLACE",
                        "An observation point in a traced range: every access to it is logged. PLACE is a "
                        "hexadecimal address, LO..HI, a function (the cache line of its entry) or an object "
                        "(all its cache lines). Can be given more than once. Not available in passive mode."),
    [OPT_POINTS_ONLY] = CLI_FLAG_OPTION("points-only", 0, "Log only accesses to observation points."),
    [OPT_MODE] = CLI_CHOICE_OPTION(
        "mode", 0, cli_fractal_mode_words,
        "How much the tracer may influence the cluster. passive: not at all. points: as far as observation "
        "points need it. active: as far as is needed to see every miss."),
    [OPT_PROTOCOL] =
        CLI_CHOICE_OPTION("protocol", 0, cli_fractal_protocol_words,
                          "Coherence protocol of the port, AMBA ACE or CHI: messages between cluster and "
                          "tracer are encoded and decoded, and --messages writes the flits. Without this "
                          "option messages are not encoded, and --messages writes their meaning."),
    [OPT_RING] = CLI_FLAG_OPTION("ring", 0,
                                 "Log only into the ring buffer of 256 KiB. Events that come while it is "
                                 "full are dropped and counted."),
    [OPT_SETS] =
        CLI_NUMBER_OPTION("sets", 0, "N", 1, 65536, "Sets of the reverse TLB, a power of two. Default: 512."),
    [OPT_WAYS] = CLI_NUMBER_OPTION("ways", 0, "N", 1, 16, "Ways of the reverse TLB. Default: 4."),
    [OPT_RANGE_REGISTERS] = CLI_NUMBER_OPTION("range-registers", 0, "N", 1, 256,
                                              "Number of range registers of the tracer. Default: 16."),
    [OPT_POINT_REGISTERS] = CLI_NUMBER_OPTION(
        "point-registers", 0, "N", 1, 1048576,
        "Number of cache lines with observation points that the tracer has room for. Default: 4096."),
    [OPT_SCRIPT] = CLI_TEXT_OPTION("script", 0, "FILE",
                                   "File with commands of 'coretap ctl --control' to carry out at given "
                                   "times of the program, one a line, such as \"2ms point add main\"."),
    [OPT_CONTROL] = CLI_TEXT_OPTION(
        "control", 0, "SOCKET", "Take commands of 'coretap ctl --control SOCKET' while the program runs."),
    [OPT_FORKS] =
        CLI_FLAG_OPTION("follow-forks", 0,
                        "Also trace children that the program forks, and the programs that they start, with "
                        "the same ranges and points. Their numbers follow those of --with."),
    [OPT_WITH] =
        CLI_LIST_OPTION("with", 0, "PROGRAM",
                        "A program that runs on another core at the same time. Can be given more than once."),
    [OPT_TRUTH] = CLI_TEXT_OPTION(
        "truth", 0, "CSV",
        "Write every last-level miss of the program in the traced ranges, as the simulated cluster sees it."),
    [OPT_MESSAGES] = CLI_TEXT_OPTION("messages", 0, "FILE",
                                     "Write the messages of the port, for 'coretap fractal replay'."),
    [OPT_OUTPUT] = CLI_TEXT_OPTION("output", 'o', "LOG", "The event log."),
};

const struct cli_command cli_fractal_run = {
    .name = "fractal run",
    .summary = "trace an Arm program on the simulated cluster",
    .rest = "-- PROGRAM [ARG]...",
    .synopsis = "-o LOG",
    .about = "Runs an Arm Linux program under QEMU user emulation; a plugin reports its instruction fetches, "
             "loads and stores. They go through a simulated cluster (by default that of a Kria KV260: four "
             "Cortex-A53, 1 MiB of L2) with FRACTAL on its coherent port. The log has each last-level miss "
             "in the traced ranges, with virtual and physical address.",
    .exit_text = "Exit status of the program, or 128 plus the number of the signal that ended it. If that is "
                 "0: 1 when the log is incomplete. 2 when there is no log. A message explains 1 and 2.",
    .examples = "coretap fractal run --section .text -o log -- ./program 500\n"
                "coretap fractal run --point work --points-only -o log -- ./program 500\n",
    .options = options,
    .option_count = OPTS,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = run,
};
