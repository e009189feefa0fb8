/* coretap monitor: specifications on what a trace says. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/elf_files.h"
#include "cli/fractal_source.h"
#include "cli/passes.h"
#include "cli/spec.h"
#include "coretap/verify.h"
#include "report/verdict_text.h"

enum {
    SPEC = CLI_CAPTURE_OPTIONS,
    BIND,
    VIOLATION,
    ELF,
    CLOCK,
    FREQUENCY,
    UNIT,
    FORGET,
    HISTORY,
    ALL,
    FORMAT,
    ENGINE,
};

static const char *const clocks[] = {"cycles", "timestamps", NULL};
static const char *const formats[] = {"text", "jsonl", NULL};
static const char *const engines[] = {"bytecode", "native", NULL};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [SPEC] = {.name = "spec",
              .letter = 's',
              .kind = CLI_LIST,
              .arg = "FILE",
              .help = "A specification, in TeSSLa (docs/tessla.md). Can be given more than once."},
    [BIND] =
        {.name = "bind",
         .kind = CLI_LIST,
         .arg = "NAME=PLACE",
         .help =
             "What feeds the input NAME of the specifications: a place as 'coretap watch --at' takes it."},
    [VIOLATION] =
        {.name = "violation",
         .kind = CLI_LIST,
         .arg = "NAME[=VALUE]",
         .help =
             "An event of the output NAME is a violation, or only one with this value. Without it: a "
             "verdict or a Bool that is false, and each event of a Unit output with error or violation in "
             "its name."},
    [ELF] = CLI_ELF_FILES,
    [CLOCK] = {.name = "clock",
               .kind = CLI_CHOICE,
               .choices = clocks,
               .help = "What the times of the specifications are: cycles counted, or timestamps."},
    [FREQUENCY] = {.name = "frequency",
                   .kind = CLI_NUMBER,
                   .arg = "HZ",
                   .min = 1,
                   .max = UINT64_C(1000000000000),
                   .help = "Ticks of the clock in a second. Times are then in the unit of --time-unit, ns "
                           "without it."},
    [UNIT] = {.name = "time-unit",
              .letter = 'u',
              .kind = CLI_TEXT,
              .arg = "UNIT",
              .help =
                  "fs, ps, ns, us, ms or s. Without --frequency: what one tick of the clock is called. Time "
                  "literals need it."},
    [FORGET] = {.name = "forget",
                .kind = CLI_NUMBER,
                .arg = "TIME",
                .min = 1,
                .max = INT64_MAX,
                .help = "The specifications look back no further than this time: what lies further behind a "
                        "loss of trace is certain again."},
    [HISTORY] = {.name = "history",
                 .letter = 'n',
                 .kind = CLI_NUMBER,
                 .arg = "N",
                 .max = 4096,
                 .help = "Print the last N events of the specification's inputs before each violation."},
    [ALL] = {.name = "all",
             .letter = 'a',
             .kind = CLI_FLAG,
             .help =
                 "Print all results: not violations only, and of monitor(...) not only the first verdict and "
                 "the changes."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "text, or one JSON object a line."},
    [ENGINE] =
        {.name = "engine",
         .kind = CLI_CHOICE,
         .choices = engines,
         .help = "What runs the specifications: bytecode, or native, machine code made by libgccjit. "
                 "Where there is none (CORETAP_GCCJIT may name another library) bytecode runs, and a message "
                 "says so."},
};

#define BATCH 1024

struct watched {
    struct cli_passes passes;
    struct cli_elfs programs;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct ct_monitor_spec **specs;
    size_t spec_count;
    struct ct_verdict_text text;
    bool all;
    bool stopped; /* a specification failed on the way: the chain stops and says so */
    bool failed;  /* one failed at the end */
    uint64_t results, violations, uncertain;
    struct ct_watch_event batch[BATCH];
};

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct watched *w = user;
    w->results++;
    w->violations += result->violation;
    w->uncertain += result->violation && result->uncertain;
    if (!result->violation && !w->all)
        return;
    cli_passes_heading(&w->passes);
    ct_verdict_line(&w->text, result);
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct watched *w = user;
    size_t count;
    int rc;
    (void)stream;
    do {
        rc = ct_watcher_run(w->watcher, batch, w->batch, BATCH, &count);
        const int fed = ct_verifier_feed(w->verifier, w->batch, count);
        w->stopped |= fed != CT_OK;
        rc = fed ? fed : rc;
    } while (rc == 0);
    return rc < 0 ? rc : w->passes.text.failed ? CT_ERR_IO : 0;
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct watched *w = user;
    return cli_passes_bytes(&w->passes, bytes);
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct watched *w = passes->user;
    struct ct_ctx *ctx = passes->capture.args->ctx;
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    sink->bytes = on_bytes;
    w->text.out = &passes->text;
    w->text.buffer = passes->buffer->name;
    w->text.source = cli_passes_source(passes);
    w->text.id = passes->id;
    const bool fine = ct_watcher_new(ctx, w->watches, &w->watcher) == CT_OK &&
                      ct_verifier_start(w->verifier, on_result, w) == CT_OK;
    return fine ? CLI_CLEAN : cli_library_error(ctx);
}

static void end(struct cli_passes *passes)
{
    struct watched *w = passes->user;
    w->failed |= !w->stopped && ct_verifier_finish(w->verifier) != CT_OK;
    if (w->failed)
        cli_library_error(passes->capture.args->ctx);
    ct_watcher_free(w->watcher);
    w->watcher = NULL;
}

/* ---- an event log in the place of a capture ---- */

#define LOSSES 3 /* watchpoints that the verifier adds of itself, the first ones */

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    struct watched *w = user;
    const int rc = ct_verifier_feed(w->verifier, events, count);
    return rc ? rc : w->passes.text.failed ? CT_ERR_IO : CT_OK;
}

static int run_log(struct watched *w, const struct cli_args *args)
{
    static const struct ct_source source = {.name = "fractal"};
    if (args->values[CLOCK].number == CT_VERIFY_TIMESTAMPS)
        return cli_usage_error(args->command,
                               "--clock timestamps: an event log has cycles of its interconnect alone");
    if (!fractal_source_accepts(w->watches, LOSSES))
        return CLI_FAILED;
    ct_text_init(&w->passes.text, stdout);
    w->text.out = &w->passes.text;
    w->text.buffer = args->operand;
    w->text.source = &source;
    if (ct_verifier_start(w->verifier, on_result, w) != CT_OK)
        return cli_library_error(args->ctx);
    int code = fractal_source_run(args, w->watches, on_log, w);
    if (code != CLI_FAILED && ct_verifier_finish(w->verifier) != CT_OK)
        code = cli_library_error(args->ctx);
    return ct_text_flush(&w->passes.text) ? code : CLI_FAILED;
}

/* ---- preparations ---- */

/* What a second has of the unit; 0: not a unit that a clock of a trace can be told in. */
static uint64_t per_second(const char *unit)
{
    static const char *const names[] = {"s", "ms", "us", "ns", "ps", "fs"};
    uint64_t n = 1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++, n *= 1000)
        if (strcmp(unit, names[i]) == 0)
            return n;
    return 0;
}

static bool make_verifier(struct watched *w, const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    struct ct_verify_options o = {.size = sizeof o,
                                  .clock = (uint8_t)v[CLOCK].number,
                                  .forget = v[FORGET].number,
                                  .history = (uint32_t)v[HISTORY].number};
    if (v[FREQUENCY].given) {
        o.ticks = v[FREQUENCY].number;
        o.ticks_to = per_second(v[UNIT].given ? v[UNIT].text : "ns");
        if (!o.ticks_to) {
            cli_usage_error(args->command,
                            "--time-unit %s: with --frequency it is one of fs, ps, ns, us, ms, s",
                            v[UNIT].text);
            return false;
        }
    }
    bool fine = ct_watches_new(args->ctx, &w->watches) == CT_OK;
    for (size_t i = 0; fine && i < w->programs.count; i++) {
        const struct ct_watch_program program = {w->programs.all[i].symbols, w->programs.all[i].lines, NULL};
        fine = ct_watches_add_program(w->watches, &program) == CT_OK;
    }
    if (!fine || ct_verifier_new(args->ctx, &o, w->watches, &w->verifier) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    return true;
}

/* The texts of a list option, cut in two at the first '='; `room` holds them. False: said why. */
static bool split(const struct cli_args *args, size_t option, bool needed, char *room, size_t size,
                  struct ct_verify_bind *pairs, size_t *count)
{
    *count = 0;
    for (size_t i = 0; i < args->list_count; i++) {
        const char *text = args->list[i].text;
        if (args->list[i].option != option)
            continue;
        const size_t length = strlen(text) + 1;
        const char *equal = strchr(text, '=');
        if (length > size || equal == text || (needed && !equal)) {
            cli_usage_error(args->command, "--%s %s: is not %s", options[option].name, text,
                            options[option].arg);
            return false;
        }
        memcpy(room, text, length);
        if (equal)
            room[equal - text] = '\0';
        pairs[(*count)++] = (struct ct_verify_bind){room, equal ? room + (equal - text) + 1 : NULL};
        room += length;
        size -= length;
    }
    return true;
}

static bool has_input(const struct ct_monitor_spec *spec, const char *name)
{
    struct ct_monitor_stream in = {.name = ""};
    bool found = false;
    for (size_t k = 0; !found && k < ct_monitor_input_count(spec); k++) {
        ct_monitor_input(spec, k, &in);
        found = strcmp(in.name, name) == 0;
    }
    return found;
}

/* Binds count for the specifications that have the input; one that none has is a mistake. */
static bool add_spec(struct watched *w, const struct cli_args *args, const struct ct_monitor_spec *spec,
                     const char *name, const struct ct_verify_bind *binds, bool *used, size_t count)
{
    struct ct_verify_bind mine[CLI_LIST_MAX];
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        if (!has_input(spec, binds[i].input))
            continue;
        mine[n++] = binds[i];
        used[i] = true;
    }
    if (ct_verifier_add(w->verifier, spec, name, mine, n) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

static bool load_specs(struct watched *w, const struct cli_args *args, const struct ct_verify_bind *binds,
                       size_t count)
{
    const struct ct_monitor_options o = {.size = sizeof o,
                                         .changes_only = !w->all,
                                         .engine = (uint8_t)args->values[ENGINE].number,
                                         .time_unit = args->values[UNIT].given ? args->values[UNIT].text
                                                      : args->values[FREQUENCY].given ? "ns"
                                                                                      : NULL};
    bool used[CLI_LIST_MAX] = {false};
    bool fine = (w->specs = calloc(args->list_count, sizeof *w->specs)) != NULL;
    for (size_t i = 0; fine && i < args->list_count; i++) {
        const char *path = args->list[i].text;
        if (args->list[i].option != SPEC)
            continue;
        struct ct_monitor_spec **spec = &w->specs[w->spec_count++];
        fine = cli_spec_load(args, path, &o, spec) == CLI_SPEC_FINE &&
               add_spec(w, args, *spec, path, binds, used, count);
    }
    for (size_t i = 0; fine && i < count; i++) {
        fine = used[i];
        if (!fine)
            cli_usage_error(args->command, "--bind %s=%s: no specification has an input %s", binds[i].input,
                            binds[i].place, binds[i].input);
    }
    return fine;
}

static bool set_violations(struct watched *w, const struct cli_args *args)
{
    struct ct_verify_bind rules[CLI_LIST_MAX];
    char room[16384];
    size_t count;
    bool fine = split(args, VIOLATION, false, room, sizeof room, rules, &count);
    for (size_t i = 0; fine && i < count; i++) {
        fine = ct_verifier_violation(w->verifier, rules[i].input, rules[i].place) == CT_OK;
        if (!fine)
            cli_library_error(args->ctx);
    }
    return fine;
}

static bool prepare(struct watched *w, const struct cli_args *args)
{
    struct ct_verify_bind binds[CLI_LIST_MAX];
    char room[16384];
    size_t count;
    return split(args, BIND, true, room, sizeof room, binds, &count) &&
           cli_elfs_load(&w->programs, args, ELF, CLI_ELF_SYMBOLS | CLI_ELF_LINES) &&
           make_verifier(w, args) && load_specs(w, args, binds, count) && set_violations(w, args);
}

static void tell_sum(const struct watched *w, const struct cli_args *args)
{
    if (args->quiet)
        return;
    if (!w->violations)
        cli_say("%s: no violation in %llu results", args->operand, (unsigned long long)w->results);
    else
        cli_say("%s: %llu violations, %llu of them uncertain, in %llu results", args->operand,
                (unsigned long long)w->violations, (unsigned long long)w->uncertain,
                (unsigned long long)w->results);
}

static void release(struct watched *w)
{
    ct_verifier_free(w->verifier);
    for (size_t i = 0; i < w->spec_count; i++)
        ct_monitor_spec_free(w->specs[i]);
    free(w->specs);
    ct_watches_free(w->watches);
    cli_elfs_free(&w->programs);
}

static int run(const struct cli_args *args)
{
    static struct watched w;
    const char *names[CLI_LIST_MAX];
    struct ct_verdict_program programs[CLI_LIST_MAX];
    size_t specs = 0;
    for (size_t i = 0; i < args->list_count; i++)
        if (args->list[i].option == SPEC)
            names[specs++] = args->list[i].text;
    if (!specs)
        return cli_usage_error(args->command, "monitor what? give --spec FILE");
    w.all = args->values[ALL].given;
    w.passes.headings = args->values[FORMAT].number == CT_VERDICT_TEXT;
    w.passes.user = &w;
    w.passes.begin = begin;
    w.passes.end = end;
    int code = CLI_FAILED;
    if (prepare(&w, args)) {
        for (size_t i = 0; i < w.programs.count; i++)
            programs[i] = (struct ct_verdict_program){w.programs.all[i].symbols, w.programs.all[i].lines};
        w.text.format = (enum ct_verdict_format)args->values[FORMAT].number;
        w.text.specs = names;
        w.text.many_specs = specs > 1;
        w.text.watches = w.watches;
        w.text.programs = programs;
        w.text.program_count = w.programs.count;
        code = fractal_source_is_log(args->operand) ? run_log(&w, args) : cli_passes_run(&w.passes, args);
        if (code != CLI_FAILED)
            tell_sum(&w, args);
        if (code == CLI_CLEAN && w.violations)
            code = CLI_DAMAGED;
        if (w.failed)
            code = CLI_FAILED;
    }
    release(&w);
    return code;
}

const struct cli_command cli_command_monitor = {
    .name = "monitor",
    .summary = "check specifications along a trace",
    .operand = "CAPTURE",
    .synopsis = "--spec FILE",
    .exit_text =
        "0: no violation, and the trace is clean. 1: there was a violation, or the trace is damaged. 2: "
        "wrong "
        "usage, a specification that does not compile or failed, or something could not be opened, read or "
        "written.",
    .about =
        "Follows the trace along the program, feeds TeSSLa specifications with the places that "
        "execution comes by, "
        "and prints each violation with its time, function and source line.\n"
        "CAPTURE may be an event log of 'coretap fractal' (docs/fractal.md): its places are addresses and "
        "entry:FUNCTION, at each access to their line of 64 bytes that the log has, its cycles those of the "
        "interconnect, and behind dropped events results are uncertain.\n"
        "Inputs are fed by their sources (codeLine, function_call, function_return, onExecuting), by "
        "--bind, or by "
        "their names when these are exception, exception_return, gap, overflow, no_access or context. "
        "Each place that "
        "execution comes by is an instant of its own: one that the clock does not tell from the one "
        "before is one "
        "later.\n"
        "Where trace is missing the specifications do not see what ran: results behind it that this could "
        "have changed are marked uncertain. Each trace ID is a run of its own.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
