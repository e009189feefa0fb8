/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/live_run.h"
#include "cli/output.h"
#include "cli/timing_view.h"

#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* ---- preparations ---- */

static bool is_fine(const struct cli_live *l, int rc)
{
    if (rc)
        cli_library_error(l->ctx);
    return rc == CT_OK;
}

static bool open_capture(struct cli_live *l)
{
    if (l->wishes->fractal)
        return cli_live_fractal_describe(l);
    if (l->wishes->cover)
        return cli_counts_open(&l->counts, l->args, l->wishes->elf_option) == CLI_CLEAN;
    l->counts.read.args = l->args;
    l->counts.read.has_capture = cli_capture_open(&l->counts.read.capture, l->args);
    return l->counts.read.has_capture;
}

/* Lists the cores of the described sources that --id selects. Returns their number. */
static size_t list_cores(const struct cli_live *l, const char *cores[128])
{
    const struct cli_capture *capture = &l->counts.read.capture;
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_STEPS);
    const struct ct_buffer *buffer = &capture->buffers[0];
    const bool framed = buffer->framing != CT_FRAMING_NONE;
    size_t count = 0;
    for (size_t i = 0; i < buffer->source_count && (framed || !i) && count < 128; i++) {
        const struct ct_source *source = &buffer->sources[i];
        const uint8_t id = framed ? source->trace_id & 127 : 0;
        if (!(chain.ids[0] | chain.ids[1]) || chain.ids[id / 64] >> id % 64 & 1)
            cores[count++] = source->core ? source->core : source->name;
    }
    return count;
}

/* Sets the possible cores of a verifier. Returns an enum ct_error. */
static int tell_cores(const struct cli_live *l, struct ct_verifier *verifier)
{
    const char *cores[128];
    const size_t count = list_cores(l, cores);
    return l->one_run   ? ct_verifier_sources(verifier, cores, count)
           : count == 1 ? ct_verifier_core(verifier, cores[0])
                        : CT_OK;
}

/* Checks that the options about specifications fit together, with the messages of 'coretap monitor'. */
static bool check_specs(struct cli_live *l)
{
    struct ct_watches *watches = NULL;
    struct ct_verifier *verifier = NULL;
    int rc = ct_watches_new(l->ctx, l->programs, &watches);
    if (!rc && l->wishes->fractal)
        rc = ct_watches_any_context(watches);
    if (!rc)
        rc = ct_verifier_new(l->ctx, &l->monitors.verify, watches, &verifier);
    if (!rc)
        rc = tell_cores(l, verifier);
    const bool fine = is_fine(l, rc) && cli_capture_name_events(&l->counts.read.capture, watches) &&
                      cli_programs_name_events(l->programs, l->args, watches) &&
                      cli_monitors_add(&l->monitors, verifier);
    ct_verifier_free(verifier);
    ct_watches_free(watches);
    return fine;
}

static void say(void *user, enum ct_log_level level, const char *text)
{
    (void)user;
    if (level == CT_LOG_ERROR)
        cli_no_memory();
    else
        cli_say("%s", text);
}

/* Returns whether the registers of a source enable timestamps. */
static bool is_timed(const struct ct_source *source)
{
    switch (source->protocol) {
    case CT_PROTOCOL_ITM:
        return (source->regs.itmtcr >> 10 & 3) != 0;
    case CT_PROTOCOL_STM:
        return source->regs.stmtcsr >> 1 & 1;
    case CT_PROTOCOL_ETM3:
    case CT_PROTOCOL_PTM:
        return source->regs.etmcr >> 28 & 1;
    default:
        return source->regs.configr >> 11 & 1;
    }
}

/* Returns whether software trace may feed the specifications: a given one needs it, or a later one may. */
static bool may_take_software(const struct cli_live *l)
{
    return cli_monitors_need_software(&l->monitors) ||
           (l->wishes->http && !cli_monitors_named(l->args, CLI_MONITOR_SPEC));
}

/* Returns whether the described sources that --id selects are one run: several cores, or software trace with
 * timestamps that specifications take, with or without a core. Reports when the order of their events will
 * not be known. */
static bool is_one_run(const struct cli_live *l)
{
    const struct cli_capture *capture = &l->counts.read.capture;
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_STEPS);
    const struct ct_buffer *buffer = &capture->buffers[0];
    const bool framed = buffer->framing != CT_FRAMING_NONE;
    size_t cores = 0, timed = 0, timed_software = 0;
    for (size_t i = 0; i < buffer->source_count && (framed || !i); i++) {
        const struct ct_source *source = &buffer->sources[i];
        const uint8_t id = source->trace_id & 127;
        const bool is_software = ct_protocol_is_software(source->protocol);
        if (framed && (chain.ids[0] | chain.ids[1]) && !(chain.ids[id / 64] >> id % 64 & 1))
            continue;
        cores += !is_software;
        timed += is_timed(source);
        timed_software += is_software && is_timed(source);
    }
    const bool one = (framed && cores > 1) || (timed_software && may_take_software(l));
    if (one && !timed && cli_monitors_named(l->args, CLI_MONITOR_SPEC))
        cli_say("%s: none of the %zu cores has timestamps according to its registers; the order of their "
                "events is not known, and results come only at the end; record with timestamps (coretap "
                "record --timestamps), or check each core alone with --per-core",
                l->args->values[CLI_CAPTURE_CONFIG].text, cores);
    return one;
}

/* Checks that all sources can be one run. Returns false after a message. */
static bool check_clock(const struct cli_live *l)
{
    const struct cli_value *clock = &l->args->values[CLI_MONITOR_CLOCK];
    if (!l->one_run || !cli_monitors_named(l->args, CLI_MONITOR_SPEC) || !clock->given ||
        clock->number != CT_VERIFY_CYCLES)
        return true;
    cli_say("%s: --clock cycles cannot order the events of several sources, because each counts its own "
            "cycles; leave it out, or check each source alone with --per-core",
            l->input);
    return false;
}

static bool make_live(struct cli_live *l)
{
    const struct cli_capture *capture = &l->counts.read.capture;
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_STEPS);
    const struct ct_live_sink sink = cli_live_sink(l);
    const struct ct_live_options options = {.size = sizeof options,
                                            .buffer = &capture->buffers[0],
                                            .programs = l->programs,
                                            .covered = l->wishes->cover ? l->counts.read.programs : NULL,
                                            .ids = {chain.ids[0], chain.ids[1]},
                                            .verify = &l->monitors.verify,
                                            .compile = &l->monitors.compile,
                                            .violations = l->monitors.violations.pairs,
                                            .violation_count = l->monitors.violations.count,
                                            .timing = l->wishes->timing,
                                            .one_run = l->one_run,
                                            .idle = l->wishes->idle,
                                            .log = l->wishes->fractal,
                                            .threads = l->wishes->threads,
                                            .all =
                                                l->args->values[CLI_MONITOR_ALL].given || l->wishes->outputs,
                                            .sink = &sink,
                                            .say = say};
    return is_fine(l, ct_live_new(l->ctx, &options, &l->live));
}

static bool add_specs(struct cli_live *l)
{
    struct cli_monitors *m = &l->monitors;
    struct ct_verify_bind binds[CLI_LIST_MAX];
    for (size_t i = 0; i < m->count; i++) {
        const size_t count = cli_monitors_binds(m->specs[i], &m->binds, binds, NULL);
        if (!is_fine(l, ct_live_add_spec(l->live, m->names[i], m->specs[i], binds, count)))
            return false;
        m->specs[i] = NULL; /* the run owns it now */
        const struct cli_spec_text *text = &m->texts[i];
        if (!is_fine(l, ct_live_set_text(l->live, m->names[i], text->text, text->size)))
            return false;
    }
    return true;
}

static bool add_places(struct cli_live *l)
{
    for (size_t i = 0; i < l->args->list_count; i++)
        if (l->args->list[i].option == l->wishes->at_option &&
            !is_fine(l, ct_live_add_place(l->live, l->args->list[i].text)))
            return false;
    return true;
}

static bool add_hooks(struct cli_live *l)
{
    const struct ct_live_hook_options options = {.size = sizeof options,
                                                 .command = l->wishes->on_violation,
                                                 .url = l->wishes->post,
                                                 .ca = l->wishes->post_ca,
                                                 .at_once = l->wishes->hook_jobs};
    return (!options.command && !options.url) || is_fine(l, ct_live_hook(l->live, &options));
}

static bool prepare(struct cli_live *l)
{
    l->monitors.keeps_texts = true;
    l->monitors.all = l->args->values[CLI_MONITOR_ALL].given;
    l->monitors.history = (uint32_t)l->args->values[CLI_MONITOR_HISTORY].number;
    if (!open_capture(l))
        return false;
    if (!cli_monitors_load(&l->monitors, l->args))
        return false;
    l->one_run = !l->wishes->per_core && is_one_run(l);
    if (l->wishes->idle && !l->one_run) {
        cli_usage_error(l->args->command,
                        "--assume-idle needs several cores in one run; describe several cores in --config "
                        "and leave out --per-core, or leave out --assume-idle");
        return false;
    }
    return cli_programs_describe(&l->programs, l->args, l->wishes->elf_option, l->wishes->targets) &&
           check_clock(l) && check_specs(l) && make_live(l) &&
           cli_timing_live_pairs(l->live, l->args, l->wishes->pair_option) && add_specs(l) && add_places(l) &&
           cli_live_fractal_milestones(l) && add_hooks(l) && cli_live_lines_open(l);
}

static bool open_input(struct cli_live *l)
{
    const struct cli_value *v = l->args->values;
    const struct ct_live_input input = {.size = sizeof input,
                                        .name = l->input,
                                        .ring = l->wishes->ring,
                                        .tee = l->wishes->tee,
                                        .config = v[CLI_CAPTURE_CONFIG].text,
                                        .framing = (uint8_t)v[CLI_CAPTURE_FRAMING].number,
                                        .drop = l->wishes->drop,
                                        .reconnect = l->wishes->again};
    return is_fine(l, ct_live_open(l->live, &input));
}

void cli_live_note_file(const struct cli_live *l, const char *path)
{
    char whole[PATH_MAX];
    (void)ct_live_note_file(l->live, realpath(path, whole) ? whole : path);
}

/* ---- signals ---- */

static struct ct_live *signalled; /* the run that a signal ends */

static void on_signal(int number)
{
    (void)number;
    ct_live_hurry(signalled);
    signal(SIGINT, SIG_DFL); /* a second signal also ends the final reports */
    signal(SIGTERM, SIG_DFL);
    /* not SIGHUP, which both the kernel and a shell send when a terminal is closed */
}

static void catch_signals(struct ct_live *live)
{
    const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;
    signalled = live;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN) /* nohup ignores it */
        sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a reader of the page may close its connection */
}

static void release_signals(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_IGN); /* the rest takes no time, and nohup may have been used */
}

/* ---- from the first byte to the last ---- */

static bool start(struct cli_live *l)
{
    if ((l->wishes->output && !cli_output_folder(l->wishes->output)) || !cli_live_violations_open(l) ||
        !prepare(l) || !open_input(l))
        return false;
    catch_signals(l->live);
    return !l->wishes->http || is_fine(l, ct_live_page(l->live, l->wishes->http, l->wishes->token));
}

static int run(struct cli_live *l)
{
    const bool ran = is_fine(l, ct_live_run(l->live));
    int code = ran ? CLI_CLEAN : CLI_FAILED;
    const struct ct_live_seen *seen = ct_live_seen_of(l->live);
    if (seen->trouble)
        cli_say("%s: reading failed: %s; the results end there", l->input, seen->trouble);
    if (seen->trouble || seen->tee_trouble || l->failed) /* the others were reported when they happened */
        code = CLI_FAILED;
    cli_live_lines_close(l, ran);
    if (l->failed)
        code = CLI_FAILED;
    const int reported = cli_live_report(l);
    return cli_worse(code, reported);
}

static bool connects(const char *input)
{
    return strncmp(input, "tcp:", 4) == 0 || strncmp(input, "listen:", 7) == 0;
}

static bool check(const struct cli_args *args, const struct cli_live_wishes *wishes)
{
    if (!cli_live_fractal_check(args, wishes))
        return false;
    if (!args->values[CLI_CAPTURE_CONFIG].given && !wishes->fractal)
        cli_usage_error(args->command,
                        "--config FILE.ini is missing; it describes the stream (docs/formats.md)");
    else if (wishes->again && !connects(args->operand))
        cli_usage_error(args->command,
                        "--reconnect works only with tcp:HOST:PORT and listen:PORT, but the input is '%s'; "
                        "leave --reconnect out",
                        args->operand);
    else if (wishes->post_ca && !wishes->post)
        cli_usage_error(
            args->command,
            "--post-ca works only with --post-violations https://…; add that, or leave --post-ca out");
    else
        return true;
    return false;
}

int cli_live_run(const struct cli_args *args, const struct cli_live_wishes *wishes)
{
    struct cli_args described = *args; /* a copy with the operand that the description requires */
    struct cli_live *l;
    if (!check(args, wishes))
        return CLI_FAILED;
    l = calloc(1, sizeof *l);
    if (!l) {
        cli_no_memory();
        return CLI_FAILED;
    }
    described.operand = "-"; /* the bytes come from the input, and --config describes them */
    l->args = &described;
    l->input = args->operand;
    l->wishes = wishes;
    l->ctx = args->ctx;
    const int code = start(l) ? run(l) : CLI_FAILED;
    release_signals();
    cli_counts_lend(&l->counts, NULL);
    cli_live_lines_close(l, false);
    ct_live_free(l->live);
    cli_live_violations_close(l);
    cli_monitors_free(&l->monitors);
    ct_programs_free(l->programs);
    free(l->log_buffer);
    cli_counts_close(&l->counts);
    free(l);
    return code;
}
