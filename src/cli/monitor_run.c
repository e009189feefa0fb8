/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor_run.h"

#include "cli/fractal_source.h"
#include "cli/output.h"
#include "coretap/fractal_watch.h"

const char *const cli_relations[] = {"together", "apart", NULL};

static void note(struct cli_monitor_run *r, int rc)
{
    r->told = r->told ? r->told : rc;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct cli_monitor_run *r = user;
    r->results++;
    r->violations += result->violation;
    r->uncertain += result->violation && result->uncertain;
    note(r, r->result(r->user, result));
}

/* Reports the specifications that failed. The others go on. */
static void tell_failures(struct cli_monitor_run *r)
{
    uint32_t spec;
    for (const char *why; (why = ct_verifier_next_failure(r->verifier, &spec));) {
        r->failed = true;
        cli_say("%s; the specification takes no more events", why);
        if (r->stopped)
            note(r, r->stopped(r->user, spec, why));
    }
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct cli_monitor_run *r = user;
    size_t count;
    int rc, more;
    (void)stream;
    do {
        rc = ct_watcher_run(r->watcher, batch, r->batch, CLI_MONITOR_BATCH, &count, &more);
        if (ct_verifier_feed(r->verifier, r->batch, count) != CT_OK)
            tell_failures(r);
    } while (!rc && more);
    return rc ? rc : r->told;
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct cli_monitor_run *r = user;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    r->origin.buffer = turn->buffer->name;
    r->origin.source = turn->source;
    r->origin.id = turn->id;
    ct_watcher_free(r->watcher);
    r->watcher = NULL;
    const int rc = ct_watcher_new(r->streams.read.args->ctx, r->watches, &r->watcher);
    return rc ? rc : ct_verifier_begin(r->verifier, on_result, r);
}

static int end(void *user)
{
    struct cli_monitor_run *r = user;
    if (ct_verifier_finish(r->verifier) != CT_OK)
        tell_failures(r);
    return CT_OK;
}

/* ---- preparations ---- */

static int on_failed(void *user)
{
    struct cli_monitor_run *r = user;
    tell_failures(r);
    return r->told;
}

/* Finds whether the sources of a capture are one run. Returns false after a message. */
static bool find_sources(struct cli_monitor_run *r)
{
    struct cli_results *read = &r->streams.read;
    const struct cli_args *args = read->args;
    const struct cli_value *clock = &args->values[CLI_MONITOR_CLOCK + r->monitors.shift];
    r->axis = (struct cli_axis){.args = args,
                                .read = read,
                                .alone = r->apart,
                                .cycles = clock->given && clock->number == CT_VERIFY_CYCLES,
                                .software = cli_monitors_need_software(&r->monitors),
                                .failed = on_failed,
                                .user = r};
    if (!r->per_core && !cli_axis_open(&r->axis, &r->several))
        return false;
    r->origin.several = r->several;
    r->origin.sources = r->axis.sources;
    r->origin.source_count = r->axis.count;
    if (r->several) {
        for (size_t i = 0; r->apart && i < r->axis.count; i++)
            r->axis.sources[i].capture = r->origin.capture;
    } else if (clock->number != CT_VERIFY_TIMESTAMPS) {
        read->filter.filter.frequency = 0; /* --frequency is that of the cycles */
    }
    return true;
}

/* Sets the core and the protocols of the only source of a run. Returns an enum ct_error. */
static int describe_alone(struct cli_monitor_run *r)
{
    const struct cli_capture *capture = &r->streams.read.capture;
    const char *core = cli_axis_only_core(&r->axis);
    uint8_t all[256] = {0};
    size_t count = 0, known;
    const struct ct_together_source *sources = ct_together_sources(r->axis.together, &known);
    const bool looked = r->axis.software && known; /* to have trace */
    for (size_t i = 0; looked && i < known && count < sizeof all; i++)
        all[count++] = sources[i].protocol;
    for (size_t i = 0; !looked && i < capture->count; i++)
        for (size_t k = 0; k < capture->buffers[i].source_count && count < sizeof all; k++)
            all[count++] = cli_monitors_protocol(&capture->buffers[i].sources[k]);
    const int rc = core ? ct_verifier_core(r->verifier, core) : CT_OK;
    return rc ? rc : ct_verifier_protocols(r->verifier, all, count);
}

/* Sets the cores and protocols of the sources in the verifier. Returns false after a message. */
static bool describe(struct cli_monitor_run *r)
{
    const int rc = r->several ? ct_together_describe(r->axis.together, r->verifier) : describe_alone(r);
    return rc == CT_OK || cli_library_error(r->streams.read.args->ctx) == CLI_CLEAN;
}

/* Returns whether a watchpoint is of something written or signalled, where no event may mean a wrong place.
 * An address that is not reached means nothing of the kind. */
static bool is_said(const struct ct_watchpoint *watch)
{
    switch (watch->kind) {
    case CT_WATCH_ITM:
    case CT_WATCH_STM:
    case CT_WATCH_DWT:
    case CT_WATCH_EVENT:
    case CT_WATCH_NAMED:
    case CT_WATCH_LOAD:
    case CT_WATCH_STORE:
    case CT_WATCH_ACCESS:
        return true;
    default:
        return false;
    }
}

/* Reports the places without events. */
static void tell_silence(const struct cli_monitor_run *r)
{
    uint32_t count = 0;
    const struct ct_watchpoint *all = r->verifier ? ct_watches_all(r->watches, &count) : NULL;
    for (uint32_t i = 0; i < count; i++)
        if (is_said(&all[i]) && !ct_verifier_came(r->verifier, i))
            cli_say("%s%sthe trace has no event for '%s'; results that depend on it were not checked; '%s' "
                    "shows the events of the trace",
                    r->origin.capture ? r->origin.capture : "", r->origin.capture ? ": " : "", all[i].name,
                    all[i].kind == CT_WATCH_ACCESS ? "coretap fractal report" : "coretap decode --merge");
}

/* Frees the state of the last run, and begins with the next capture, whose results are kept apart. Returns
 * false after a message. */
static bool begin_capture(struct cli_monitor_run *r)
{
    const struct cli_args *args = r->streams.read.args;
    tell_silence(r);
    ct_watcher_free(r->watcher);
    ct_verifier_free(r->verifier);
    ct_watches_free(r->watches);
    r->watcher = NULL;
    r->verifier = NULL;
    r->watches = NULL;
    cli_axis_close(&r->axis);
    if (!r->apart || args->rest_count < 2)
        return true;
    r->origin.capture = r->streams.read.capture.path;
    r->streams.buffer = NULL;
    return !r->capture || r->capture(r->user);
}

/* Makes the verifier, once the programs are known in which specifications have places. Returns false after a
 * message. */
static bool prepare(void *user)
{
    struct cli_monitor_run *r = user;
    struct ct_ctx *ctx = r->streams.read.args->ctx;
    if (!begin_capture(r))
        return false;
    if (r->streams.read.has_capture && !find_sources(r))
        return false;
    if (ct_watches_new(ctx, r->streams.read.programs, &r->watches) != CT_OK ||
        ct_verifier_new(ctx, &r->monitors.verify, r->watches, &r->verifier) != CT_OK) {
        cli_library_error(ctx);
        return false;
    }
    if (r->streams.read.has_capture && !describe(r))
        return false;
    if (cli_monitors_need_software(&r->monitors) &&
        !cli_programs_name_events(r->streams.read.programs, r->streams.read.args, r->watches))
        return false;
    r->origin.watches = r->watches;
    r->origin.programs = r->streams.read.programs;
    return cli_monitors_add(&r->monitors, r->verifier);
}

/* ---- all sources in one run ---- */

static int flush(void *user)
{
    const struct cli_monitor_run *r = user;
    return r->flush ? r->flush(r->user) : CT_OK;
}

static int decode_axis(void *user)
{
    struct cli_monitor_run *r = user;
    const struct cli_args *args = r->streams.read.args;
    if (!r->several)
        return -1;
    if (ct_verifier_begin(r->verifier, on_result, r) != CT_OK)
        return cli_library_error(args->ctx);
    const int code = cli_axis_run(&r->axis, r->verifier, r->watches);
    if (code != CLI_FAILED && ct_verifier_finish(r->verifier) != CT_OK)
        tell_failures(r);
    return code == CLI_FAILED || flush(r) != CT_OK ? CLI_FAILED : code;
}

/* Skips captures behind the first one when they are part of its run. */
static int pass_over(void *user, const char *path)
{
    struct cli_monitor_run *r = user;
    (void)path;
    return r->opened++ && !r->apart ? r->axis.code : -1;
}

/* ---- an event log in place of a capture ---- */

static int on_log(void *user, const struct ct_watch_event *events, size_t count)
{
    struct cli_monitor_run *r = user;
    if (ct_verifier_feed(r->verifier, events, count) != CT_OK)
        tell_failures(r);
    return r->told;
}

static int run_log(struct cli_monitor_run *r, const struct cli_args *args)
{
    static const struct ct_source source = {.name = "fractal"};
    struct ct_programs **programs = &r->streams.read.programs;
    if (!cli_fractal_source_programs(programs, args, r->streams.read.elf, args->operand))
        return CLI_FAILED;
    if (cli_monitors_need_contexts(&r->monitors) &&
        ct_fractal_watch_names(args->ctx, args->operand, *programs) != CT_OK)
        return cli_library_error(args->ctx);
    if (!prepare(r))
        return CLI_FAILED;
    r->origin.buffer = args->operand;
    r->origin.source = &source;
    if (ct_verifier_begin(r->verifier, on_result, r) != CT_OK)
        return cli_library_error(args->ctx);
    int code =
        cli_fractal_source_run(args, args->operand, r->watches, FRACTAL_SOURCE_LOSSES, on_log, r, NULL);
    if (code != CLI_FAILED && ct_verifier_finish(r->verifier) != CT_OK)
        tell_failures(r);
    return flush(r) == CT_OK ? code : CLI_FAILED;
}

static int run_capture(struct cli_monitor_run *r, const struct cli_args *args)
{
    struct cli_results *read = &r->streams.read;
    if (!cli_filter_read(&read->filter, args, false) || !cli_programs_new_moved(&read->programs, args, NULL))
        return CLI_FAILED;
    read->other = pass_over;
    return cli_streams_run(&r->streams);
}

/* ---- the whole run ---- */

static int heading(void *user, const char *buffer, int id)
{
    const struct cli_monitor_run *r = user;
    return r->heading ? r->heading(r->user, buffer, id) : CT_OK;
}

int cli_monitor_run(struct cli_monitor_run *r)
{
    const struct cli_args *args = r->streams.read.args;
    r->streams.user = r;
    r->streams.opened = prepare;
    r->streams.begin = begin;
    r->streams.end = end;
    r->streams.decode = decode_axis;
    r->streams.heading = heading;
    r->streams.flush = flush;
    if (!cli_monitors_load(&r->monitors, args))
        return CLI_FAILED;
    r->origin.specs = r->monitors.names;
    r->origin.named = r->monitors.count > 1;
    return cli_fractal_source_is_log(args->operand) ? run_log(r, args) : run_capture(r, args);
}

int cli_monitor_run_tell(const struct cli_monitor_run *r, int code)
{
    const struct cli_args *args = r->streams.read.args;
    const bool checked = ct_verifier_may_violate(r->verifier);
    const bool empty = !checked && !r->monitors.all; /* no violation, which means nothing here */
    const char *more = args->rest_count > 1 ? " and others" : "";
    tell_silence(r);
    if (args->quiet && !empty)
        return code;
    if (!checked)
        cli_say("%s%s: none of %llu results could be a violation; nothing was checked; add a SALT formula, a "
                "Bool output or a Unit output with error in its name, or name an output with --violation%s",
                args->operand, more, (unsigned long long)r->results,
                r->monitors.all ? "" : "; 'coretap monitor --all' prints all results");
    else if (!r->violations)
        cli_say("%s%s: no violation in %llu result%s", args->operand, more, (unsigned long long)r->results,
                r->results == 1 ? "" : "s");
    else
        cli_say("%s%s: %llu violation%s, %llu of them uncertain, in %llu result%s", args->operand, more,
                (unsigned long long)r->violations, r->violations == 1 ? "" : "s",
                (unsigned long long)r->uncertain, (unsigned long long)r->results, r->results == 1 ? "" : "s");
    return empty && code == CLI_CLEAN ? CLI_DAMAGED : code;
}

void cli_monitor_run_close(struct cli_monitor_run *r)
{
    cli_axis_close(&r->axis);
    ct_watcher_free(r->watcher);
    ct_verifier_free(r->verifier);
    cli_monitors_free(&r->monitors);
    ct_watches_free(r->watches);
    cli_results_close(&r->streams.read);
}
