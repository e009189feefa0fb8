/* SPDX-License-Identifier: Apache-2.0 */
/* coretap tessla: runs specifications on textual traces, without captured trace. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/spec.h"
#include "cli/tessla_analyse.h"

enum {
    OPT_SPEC,
    OPT_TRACE,
    OPT_DIALECT,
    OPT_UNIT,
    OPT_ABORT,
    OPT_CHANGES,
    OPT_CHECK,
    OPT_LIST_IN,
    OPT_LIST_OUT,
    OPT_DOT,
    OPT_ANALYSE,
    OPT_FORMAT,
    OPT_ENGINE,
    OPT_BUDGET,
    OPT_MEMORY,
};

/* exit code for a specification that does not compile; a failed run has CLI_FAILED */
#define EXIT_SPEC 1

static const char *const dialects[] = {"auto", "stream", "watchpoint", NULL};

static const char *const formats[] = {"text", "json", NULL};

static const char *const engines[] = {"bytecode", "native", "background", NULL};

static const struct cli_option options[] = {
    [OPT_SPEC] = CLI_TEXT_OPTION("spec", 's', "FILE", "Specification in TeSSLa; - is standard input."),
    [OPT_TRACE] = CLI_TEXT_OPTION("trace", 't', "FILE",
                                  "Input: lines TIME: NAME = VALUE, or a table whose first row is "
                                  "time,NAME,... Default, or with -: standard input."),
    [OPT_DIALECT] = CLI_CHOICE_OPTION("dialect", 0, dialects,
                                      "Form of the language. stream: def, in, out. watchpoint: define, "
                                      "codeLine, monitor(...). auto: recognised from the text."),
    [OPT_UNIT] =
        CLI_TEXT_OPTION("time-unit", 'u', "UNIT",
                        "Unit of the timestamps: fs, ps, ns, us, ms, s, min, h or d. Time literals need it."),
    [OPT_ABORT] = CLI_NUMBER_OPTION("abort-at", 0, "N", 0, UINT64_MAX - 1,
                                    "Stop after N+1 events, as if the input ended there."),
    [OPT_CHANGES] =
        CLI_FLAG_OPTION("changes-only", 0, "Of monitor(...), print only the first verdict and changes."),
    [OPT_CHECK] = CLI_FLAG_OPTION("check", 0, "Compile only."),
    [OPT_LIST_IN] =
        CLI_FLAG_OPTION("list-in", 0, "Print the inputs with their types and watchpoints; do not run."),
    [OPT_LIST_OUT] = CLI_FLAG_OPTION("list-out", 0, "Print the outputs with their types; do not run."),
    [OPT_DOT] = CLI_FLAG_OPTION("dot", 0, "Print the streams as a graph for graphviz; do not run."),
    [OPT_ANALYSE] = CLI_FLAG_OPTION(
        "analyse", 0,
        "For each output print what state it keeps and whether the state may grow, how much work an event "
        "causes, which inputs it needs and what feeds them along a capture; do not run."),
    [OPT_FORMAT] = CLI_CHOICE_OPTION("format", 'f', formats, "Format of what --analyse prints."),
    [OPT_ENGINE] =
        CLI_CHOICE_OPTION("engine", 0, engines,
                          "bytecode starts at once. native is machine code, which takes some tenths of a "
                          "second to compile and is several times as fast (needs libgccjit; CORETAP_GCCJIT "
                          "may name it). background starts with bytecode and continues with machine code."),
    [OPT_BUDGET] = CLI_BUDGET_OPTION,
    [OPT_MEMORY] = CLI_MEMORY_OPTION,
};

static void list_streams(const struct ct_monitor_spec *spec, bool inputs)
{
    const size_t count = inputs ? ct_monitor_input_count(spec) : ct_monitor_output_count(spec);
    for (size_t i = 0; i < count; i++) {
        struct ct_monitor_stream s;
        if (inputs)
            ct_monitor_input(spec, i, &s);
        else
            ct_monitor_output(spec, i, &s);
        printf("%s: Events[%s]", s.name, s.type_text);
        if (s.source && !strcmp(s.source, "codeLine"))
            printf(" (%s %s:%llu", s.source, s.source_arg, (unsigned long long)s.source_number);
        else if (s.source && s.source_arg)
            printf(" (%s %s", s.source, s.source_arg);
        else if (s.source)
            printf(" (%s 0x%llx", s.source, (unsigned long long)s.source_number);
        if (s.source_core)
            printf("@%s", s.source_core);
        puts(s.source ? ")" : "");
    }
}

static int print_dot(const struct ct_monitor_spec *spec)
{
    const size_t size = ct_monitor_dot(spec, NULL, 0) + 1;
    char *text = malloc(size);
    if (!text || ct_monitor_dot(spec, text, size) + 1 != size || size == 1) {
        cli_no_memory();
        free(text);
        return CLI_FAILED;
    }
    fputs(text, stdout);
    free(text);
    return CLI_CLEAN;
}

struct printer {
    struct ct_monitor *monitor;
    char *text;
    size_t cap;
    bool no_memory;
};

static void print_results(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct printer *p = user;
    while (count && !p->no_memory) {
        size_t done;
        const size_t n = ct_monitor_print(p->monitor, results, count, p->text, p->cap, &done);
        fwrite(p->text, 1, n, stdout);
        results += done;
        count -= done;
        if (done)
            continue;
        char *more = realloc(p->text, p->cap * 2); /* a result may be larger than the buffer */
        p->no_memory = !more;
        if (more) {
            p->text = more;
            p->cap *= 2;
        }
    }
}

/* Reports that a file, which had `size` bytes when it was opened, became shorter. Returns CLI_FAILED. */
static int say_shorter(const char *name, uint64_t lost, uint64_t size)
{
    cli_say("%s: became shorter while it was read; %llu of its %llu bytes are lost; read a copy, or "
            "wait until no program writes to it",
            name, (unsigned long long)lost, (unsigned long long)size);
    return CLI_FAILED;
}

/* Returns the size of a regular file, or 0 for anything else, which may end anywhere. */
static uint64_t size_of(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

/* Reads from fd and feeds what is available at once, so that live input is answered without delay. */
static int feed(struct ct_monitor *m, const struct ct_ctx *ctx, int fd, const char *name)
{
    enum {
        CHUNK = 1 << 18
    };
    char *chunk = malloc(CHUNK);
    ssize_t n = 0;
    const uint64_t size = size_of(fd);
    int status = chunk ? CT_OK : CT_ERR_NOMEM;
    while (!status && !ferror(stdout) && (n = read(fd, chunk, CHUNK)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            break;
        status = ct_monitor_feed_text(m, chunk, (size_t)n, 0);
        if (n < CHUNK)
            fflush(stdout);
    }
    free(chunk);
    if (n < 0) {
        cli_say("%s: %s", name, strerror(errno));
        return CLI_FAILED;
    }
    const off_t at = size ? lseek(fd, 0, SEEK_CUR) : 0;
    if (!status && !ferror(stdout) && at >= 0 && (uint64_t)at < size) {
        fflush(stdout);
        return say_shorter(name, size - (uint64_t)at, size);
    }
    if (!status)
        status = ct_monitor_feed_text(m, "", 0, 1);
    if (!status)
        status = ct_monitor_finish(m);
    fflush(stdout); /* results come before the error that ended them */
    if (status == CT_ERR_NOMEM && !ct_ctx_lacked_memory(ctx))
        cli_no_memory();
    else if (status)
        cli_library_error(ctx);
    return status ? CLI_FAILED : CLI_CLEAN;
}

static int run_monitor(const struct cli_args *args, const struct ct_monitor_spec *spec,
                       const struct ct_monitor_limits *limits)
{
    const struct cli_value *trace = &args->values[OPT_TRACE];
    const bool standard = !trace->given || strcmp(trace->text, "-") == 0;
    const char *name = standard ? "standard input" : trace->text;
    struct printer printer = {.cap = 1 << 16};
    const int fd = standard ? STDIN_FILENO : open(trace->text, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        cli_say("%s: the trace cannot be read: %s", name, strerror(errno));
        return CLI_FAILED;
    }
    int code = CLI_FAILED;
    printer.text = malloc(printer.cap);
    if (!printer.text) {
        cli_no_memory();
    } else if (ct_monitor_new(args->ctx, spec, limits, print_results, &printer, &printer.monitor)) {
        cli_library_error(args->ctx);
    } else {
        ct_monitor_text_name(printer.monitor, name);
        if (args->values[OPT_ABORT].given)
            ct_monitor_text_limit(printer.monitor, args->values[OPT_ABORT].number);
        code = feed(printer.monitor, args->ctx, fd, name);
        if (printer.no_memory) {
            cli_say("out of memory: a value is too long to print");
            code = CLI_FAILED;
        }
    }
    ct_monitor_free(printer.monitor);
    free(printer.text);
    if (!standard)
        close(fd);
    return code;
}

/* Returns whether the specification is run, rather than only examined. */
static bool runs(const struct cli_args *args)
{
    return !args->values[OPT_LIST_IN].given && !args->values[OPT_LIST_OUT].given &&
           !args->values[OPT_CHECK].given && !args->values[OPT_DOT].given && !args->values[OPT_ANALYSE].given;
}

static int use(const struct cli_args *args, const struct ct_monitor_spec *spec,
               const struct ct_monitor_limits *limits)
{
    if (args->values[OPT_LIST_IN].given)
        list_streams(spec, true);
    if (args->values[OPT_LIST_OUT].given)
        list_streams(spec, false);
    if (args->values[OPT_DOT].given)
        return print_dot(spec);
    if (args->values[OPT_ANALYSE].given)
        return cli_tessla_analyse(args->ctx, spec, args->values[OPT_FORMAT].number);
    if (!runs(args))
        return CLI_CLEAN;
    if (!ct_monitor_output_count(spec) && !args->quiet)
        cli_say("%s: the specification has no outputs, so there are no results; add out statements",
                args->values[OPT_SPEC].text);
    return run_monitor(args, spec, limits);
}

static int run(const struct cli_args *args)
{
    struct ct_monitor_options o = {.size = sizeof o,
                                   .dialect = (uint8_t)args->values[OPT_DIALECT].number,
                                   .changes_only = args->values[OPT_CHANGES].given,
                                   .engine = (uint8_t)args->values[OPT_ENGINE].number,
                                   .time_unit = args->values[OPT_UNIT].text};
    if (args->values[OPT_BUDGET].given && !runs(args))
        return cli_usage_error(args->command,
                               "--event-budget N has no effect with --check, --list-in, --list-out, --dot or "
                               "--analyse, which run nothing; leave it out");
    if (args->values[OPT_FORMAT].given && !args->values[OPT_ANALYSE].given)
        return cli_usage_error(args->command,
                               "--format works only with --analyse; add that, or leave --format out");
    const struct ct_monitor_limits limits =
        cli_spec_limits(&args->values[OPT_BUDGET], &args->values[OPT_MEMORY], &o);
    struct ct_monitor_spec *spec;
    if (!args->values[OPT_SPEC].given)
        return cli_usage_error(args->command, "--spec FILE is missing; it names the specification to run");
    const enum cli_spec_found found = cli_spec_load(args, args->values[OPT_SPEC].text, &o, &spec, NULL);
    const int code = found == CLI_SPEC_FINE    ? use(args, spec, &limits)
                     : found == CLI_SPEC_WRONG ? EXIT_SPEC
                                               : CLI_FAILED;
    ct_monitor_spec_free(spec);
    return code;
}

const struct cli_command cli_command_tessla = {
    .name = "tessla",
    .summary = "run a TeSSLa specification on a textual trace",
    .stray = "write --spec before the specification and --trace before the trace",
    .synopsis = "--spec FILE",
    .about = "Compiles a specification, runs it on a trace of lines TIME: NAME = VALUE, and prints its "
             "outputs in the same form. Both forms of the language are accepted: def, in, out, and define, "
             "codeLine, monitor(...).",
    .examples = "coretap tessla --spec count.tessla --trace calls.txt\n"
                "coretap tessla --spec count.tessla --analyse\n",
    .exit_text = "0: done. 1: the specification does not compile; each error is shown with its line and a "
                 "caret. 2: wrong usage, the run ended with an error, or something could not be opened or "
                 "read.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
