/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of the offline commands at the end of a live run, about everything that was analysed. */
#include "cli/cover_print.h"
#include "cli/live_run.h"
#include "cli/output.h"
#include "coretap/format.h"

#include <inttypes.h>

typedef int print_fn(struct cli_live *live, FILE *out);

/* Prints coverage. Prints nothing without counts, which was reported before. */
static int print_cover(struct cli_live *l, FILE *out, enum cli_cover_format format)
{
    return l->counts.cover ? cli_cover_print(out, &l->counts, format, false) : CLI_FAILED;
}

static int cover_text(struct cli_live *l, FILE *out)
{
    return print_cover(l, out, CLI_COVER_TEXT);
}

/* Without source lines the file is empty, which a message reports. The other files are complete, so this is
 * no failure of the run. */
static int cover_lcov(struct cli_live *l, FILE *out)
{
    const int code = print_cover(l, out, CLI_COVER_LCOV);
    return code == CLI_DAMAGED ? CLI_CLEAN : code;
}

static int cover_json(struct cli_live *l, FILE *out)
{
    return print_cover(l, out, CLI_COVER_JSON);
}

static int cover_html(struct cli_live *l, FILE *out)
{
    return print_cover(l, out, CLI_COVER_HTML);
}

static int cover_data(struct cli_live *l, FILE *out)
{
    return print_cover(l, out, CLI_COVER_DATA);
}

static struct ct_losses losses_of(const struct cli_live *l, uint8_t id)
{
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(ct_live_chain(l->live), &count);
    for (size_t i = 0; i < count; i++)
        if (streams[i].id == id)
            return streams[i].stats.losses;
    return (struct ct_losses){0};
}

static int write_timing(struct cli_live *l, struct ct_timing_writer *writer)
{
    int rc = CT_OK;
    for (unsigned i = 0; i < 128 && !rc; i++) {
        const uint8_t id = (uint8_t)i;
        const struct ct_timing *timing = ct_live_timing(l->live, id);
        const struct ct_source *source = ct_live_source(l->live, id);
        if (!timing)
            continue;
        const struct ct_timing_origin origin = {.buffer = l->counts.read.capture.buffers[0].name,
                                                .core = ct_source_core(source),
                                                .losses = losses_of(l, id),
                                                .id = id};
        rc = ct_timing_writer_stream(writer, timing, &origin);
    }
    return rc ? rc : ct_timing_writer_end(writer);
}

static int print_timing(struct cli_live *l, FILE *out, enum ct_timing_format format)
{
    const struct ct_timing_write_options options = {
        .size = sizeof options, .programs = l->programs, .format = (uint8_t)format};
    struct ct_timing_writer *writer = NULL;
    struct ct_ctx *ctx = l->ctx;
    int rc = ct_timing_writer_new(ctx, &options, cli_output_write, out, &writer) ?: write_timing(l, writer);
    ct_timing_writer_free(writer);
    return rc && rc != CT_ERR_IO ? cli_library_error(ctx) : CLI_CLEAN;
}

static int timing_text(struct cli_live *l, FILE *out)
{
    return print_timing(l, out, CT_TIMING_FORMAT_TEXT);
}

static int timing_json(struct cli_live *l, FILE *out)
{
    return print_timing(l, out, CT_TIMING_FORMAT_JSON);
}

/* Prints how often execution came by each watchpoint. */
static int watch_text(struct cli_live *l, FILE *out)
{
    const int rc = ct_live_places_write(l->live, cli_output_write, out);
    return rc && rc != CT_ERR_IO ? cli_library_error(l->ctx) : CLI_CLEAN;
}

static int status_json(struct cli_live *l, FILE *out)
{
    const int rc = ct_live_status(l->live, CT_LIVE_JSON, cli_output_write, out);
    return rc && rc != CT_ERR_IO ? cli_library_error(l->ctx) : CLI_CLEAN;
}

static int write_file(struct cli_live *l, const char *name, print_fn *print)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", l->wishes->output, name);
    struct cli_output output;
    FILE *out = cli_output_open(&output, path);
    const int code = out ? print(l, out) : CLI_FAILED;
    if (!out || !cli_output_close(&output, code != CLI_FAILED))
        return CLI_FAILED;
    cli_live_note_file(l, path);
    return code;
}

static int write_files(struct cli_live *l)
{
    const struct cli_live_wishes *w = l->wishes;
    const struct {
        const char *name;
        print_fn *print;
        bool wanted;
    } files[] = {
        {"cover.txt", cover_text, w->cover},     {"cover.info", cover_lcov, w->cover},
        {"cover.json", cover_json, w->cover},    {"cover.html", cover_html, w->cover},
        {"cover.data", cover_data, w->cover},    {"timing.txt", timing_text, w->timing},
        {"timing.json", timing_json, w->timing}, {"watch.txt", watch_text, w->watch},
    };
    int worst = CLI_CLEAN;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const int code = files[i].wanted ? write_file(l, files[i].name, files[i].print) : CLI_CLEAN;
        worst = cli_worse(worst, code);
    }
    if (w->tee)
        cli_live_note_file(l, w->tee);
    const int code = write_file(l, "live.json", status_json); /* names the others */
    return cli_worse(worst, code);
}

static int print_all(struct cli_live *l)
{
    int code = l->wishes->cover ? cover_text(l, stdout) : CLI_CLEAN;
    if (l->wishes->timing)
        timing_text(l, stdout);
    if (l->wishes->watch && watch_text(l, stdout) != CLI_CLEAN)
        code = CLI_FAILED;
    return code;
}

static void tell_dropped(const struct ct_live_seen *seen)
{
    cli_say("%" PRIu64 " of %" PRIu64 " bytes were dropped, at %" PRIu64
            " places, because they came faster than they could be analysed; use a larger --ring, more "
            "--threads, or fewer analyses",
            seen->dropped, seen->read, seen->drops);
}

/* Reports how the run went, and which parts of the trace were not analysed. */
static void tell(const struct cli_live *l, const struct ct_live_seen *seen)
{
    if (!l->args->quiet)
        cli_say("%.1f MB in %.1f s, %" PRIu64 " violations", (double)seen->read / 1e6, seen->seconds,
                seen->violations);
    if (seen->dropped)
        tell_dropped(seen);
    if (seen->breaks)
        cli_say("%s: there were %" PRIu64 " connections; trace is missing at the %" PRIu64
                " breaks between them",
                l->input, seen->connections, seen->breaks);
    if (seen->left)
        cli_say("%" PRIu64 " bytes in the queue were not analysed, because the run ended before; they are "
                "missing from the results",
                seen->left);
}

int cli_live_report(struct cli_live *l)
{
    if (l->wishes->cover)
        cli_counts_lend(&l->counts, ct_live_cover(l->live));
    if (!l->wishes->fractal)
        cli_capture_count(&l->counts.read.capture, ct_live_chain(l->live), CT_LEVEL_STEPS, true);
    int code = l->wishes->output ? write_files(l) : print_all(l);
    if (l->wishes->fractal && code == CLI_CLEAN)
        code = cli_live_fractal_report(l);
    const struct ct_live_seen *seen = ct_live_seen_of(l->live);
    tell(l, seen);
    if (l->wishes->cover && l->counts.cover)
        cli_counts_tell_outside(&l->counts, "the coverage is");
    if (!l->wishes->fractal)
        code = cli_capture_code(&l->counts.read.capture, code);
    if (seen->dropped || seen->left || seen->violations || seen->log_lost || seen->late)
        code = cli_worse(code, CLI_DAMAGED);
    return seen->failed ? CLI_FAILED : code;
}
