/* SPDX-License-Identifier: Apache-2.0 */
/* coretap live --fractal: an event log of FRACTAL while it is being written. */
#include "cli/live_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* represents the log in place of a described trace */
static const struct ct_source source = {.name = "fractal", .protocol = CT_PROTOCOL_ETE};

bool cli_live_fractal_check(const struct cli_args *args, const struct cli_live_wishes *wishes)
{
    bool milestones = false;
    for (size_t i = 0; i < args->list_count; i++)
        milestones |= args->list[i].option == wishes->milestone_option;
    if (!wishes->fractal && milestones)
        cli_usage_error(args->command,
                        "--milestone works only with --fractal, because other trace has no clock that starts "
                        "with the program; add --fractal, or leave --milestone out");
    else if (wishes->fractal && (args->values[CLI_CAPTURE_CONFIG].given || wishes->cover || wishes->timing ||
                                 wishes->tee || wishes->per_core || wishes->idle || wishes->threads))
        cli_usage_error(
            args->command,
            "--fractal cannot be used with --config, --cover, --timing, --pair, --tee, --threads, --per-core "
            "or --assume-idle, because an event log has only memory accesses; leave these out");
    else
        return true;
    return false;
}

bool cli_live_fractal_describe(struct cli_live *l)
{
    struct ct_buffer *buffer = calloc(1, sizeof *buffer);
    if (!buffer) {
        cli_no_memory();
        return false;
    }
    *buffer = (struct ct_buffer){
        .name = l->input, .path = "-", .framing = CT_FRAMING_NONE, .source_count = 1, .sources = &source};
    l->counts.read.args = l->args;
    l->counts.read.capture.buffers = l->log_buffer = buffer;
    l->counts.read.capture.count = 1;
    l->counts.read.capture.args = l->args;
    return true;
}

/* Reads a time such as "20ms". Returns seconds, or a negative number when the text is no time. */
static double seconds_of(const char *text)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    char *end;
    const double number = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].unit) == 0 && isfinite(number) && number > 0)
            return number * units[i].seconds;
    return -1;
}

/* Adds a milestone. Returns false after a message. */
static bool add(struct cli_live *l, const char *text)
{
    const char *equals = strrchr(text, '=');
    const double deadline = equals ? seconds_of(equals + 1) : 0;
    if (deadline < 0) {
        cli_say("--milestone %s: '%s' is not a time; write a number above 0 with ns, us, ms or s", text,
                equals + 1);
        return false;
    }
    char *place = equals ? strndup(text, (size_t)(equals - text)) : strdup(text);
    if (!place) {
        cli_no_memory();
        return false;
    }
    const int rc = ct_live_add_milestone(l->live, place, deadline);
    free(place);
    if (rc)
        cli_library_error(l->ctx);
    return rc == CT_OK;
}

bool cli_live_fractal_milestones(struct cli_live *l)
{
    for (size_t i = 0; i < l->args->list_count; i++)
        if (l->args->list[i].option == l->wishes->milestone_option && !add(l, l->args->list[i].text))
            return false;
    return true;
}

int cli_live_fractal_report(struct cli_live *l)
{
    const int rc = ct_live_progress_write(l->live, cli_output_write, stdout);
    return rc ? cli_library_error(l->ctx) : CLI_CLEAN;
}
