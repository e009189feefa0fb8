/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/monitor_axis.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/filter.h"
#include "cli/monitors.h"
#include "cli/output.h"
#include "cli/programs.h"

/* remedy for captures that are not one run */
#define APART "check each capture alone with --captures apart"

struct cli_axis_part {
    struct cli_capture *capture;
    struct cli_capture own; /* for the captures behind the first one */
    struct ct_filter settled;
    bool opened;
};

/* Returns the number of operands in the run. */
static size_t operands(const struct cli_axis *a)
{
    return a->alone ? 1 : (size_t)a->args->rest_count;
}

static int on_progress(void *user, size_t capture, uint64_t bytes)
{
    const struct cli_axis *a = user;
    cli_progress_update(&a->parts[capture].capture->progress, bytes);
    return 0;
}

static int on_failed(void *user)
{
    const struct cli_axis *a = user;
    return a->failed ? a->failed(a->user) : CT_OK;
}

/* ---- opening ---- */

static bool make_run(struct cli_axis *a)
{
    const struct ct_chain_options chain = cli_capture_chain_options(&a->read->capture, CT_LEVEL_STEPS);
    const struct ct_together_options how = {.size = sizeof how,
                                            .ids = {chain.ids[0], chain.ids[1]},
                                            .programs = a->read->programs,
                                            .user = a,
                                            .progress = on_progress,
                                            .failed = on_failed,
                                            .threads = a->read->threads,
                                            .software = a->software};
    return ct_together_new(a->args->ctx, &how, &a->together) == CT_OK ||
           cli_library_error(a->args->ctx) == CLI_CLEAN;
}

static bool add_capture(struct cli_axis *a, struct cli_axis_part *part)
{
    const struct cli_capture *c = part->capture;
    return (ct_filter_settle(a->args->ctx, &a->read->filter.filter, c->capture, c->buffers, c->count,
                             &part->settled) == CT_OK &&
            ct_together_add(a->together, c->capture, c->buffers, c->count, &part->settled) == CT_OK) ||
           cli_library_error(a->args->ctx) == CLI_CLEAN;
}

static bool open_part(struct cli_axis *a, size_t index)
{
    struct cli_axis_part *part = &a->parts[index];
    part->capture = &a->read->capture;
    if (index) {
        part->capture = &part->own;
        part->opened = cli_capture_open_path(&part->own, a->args, a->args->rest[index]);
        if (!part->opened || !cli_capture_spool_always(&part->own) ||
            !cli_programs_of(a->read->programs, a->args, a->read->elf, &part->own))
            return false;
    }
    return add_capture(a, part);
}

static bool list_sources(struct cli_axis *a)
{
    const struct ct_together_source *all = ct_together_sources(a->together, &a->count);
    a->sources = calloc(a->count + 1, sizeof *a->sources);
    for (size_t i = 0; a->sources && i < a->count; i++)
        a->sources[i] = (struct ct_verdict_source){.buffer = all[i].buffer->name,
                                                   .source = all[i].source,
                                                   .id = all[i].id,
                                                   .capture = operands(a) > 1 ? all[i].capture->path : NULL};
    if (!a->sources)
        cli_no_memory();
    return a->sources != NULL;
}

/* Reports why sources are not one run with a common clock. Returns false. */
static bool refuse(const struct cli_axis *a, const char *remedy, bool repeats, const char *format, ...)
{
    char why[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (a->refused)
        a->refused(a->user, why, repeats);
    else
        cli_say("%s; %s", why, remedy);
    return false;
}

/* Checks that the sources are one run with a common clock. Returns false after a message. */
static bool check(const struct cli_axis *a)
{
    enum ct_together_trouble trouble;
    const int rc = ct_together_check(a->together, &trouble);
    if (a->cycles && trouble != CT_TOGETHER_SAME_CORE) {
        cli_say("%s: --clock cycles cannot order the events of %zu sources, because each counts its own "
                "cycles; leave it out, or check each source alone with --per-core",
                a->read->capture.path, a->count);
        return false;
    }
    if (rc && trouble == CT_TOGETHER_FINE)
        return cli_library_error(a->args->ctx) == CLI_CLEAN;
    return !rc || refuse(a,
                         trouble == CT_TOGETHER_NO_TIMESTAMPS
                             ? "check each source alone with --per-core, or record with timestamps"
                             : APART,
                         trouble == CT_TOGETHER_SAME_CORE, "%s", ct_ctx_error(a->args->ctx));
}

/* Returns whether a capture can be read once for each source, and may have several sources. */
static bool may_be_several(const struct cli_axis *a)
{
    const struct cli_capture *capture = &a->read->capture;
    size_t count = 0;
    for (size_t i = 0; i < capture->count; i++) {
        const struct ct_buffer *buffer = &capture->buffers[i];
        if (cli_is_standard(buffer->path))
            return false;
        count += a->args->values[CLI_CAPTURE_ID].given || buffer->framing == CT_FRAMING_NONE
                     ? 1
                     : buffer->source_count;
    }
    return count > 1 || operands(a) > 1 || a->software;
}

/* Returns whether the only source is software trace with timestamps, which has no other clock. */
static bool is_timed_software(const struct cli_axis *a)
{
    size_t count;
    const struct ct_together_source *all = ct_together_sources(a->together, &count);
    return count == 1 && ct_protocol_is_software(all->protocol) && all->timed;
}

bool cli_axis_open(struct cli_axis *a, bool *several)
{
    *several = false;
    a->code = CLI_CLEAN;
    /* the clock of software trace is only found by reading it */
    if (a->software && operands(a) == 1 && !cli_capture_spool_always(&a->read->capture))
        return false;
    if (!may_be_several(a)) {
        if (operands(a) > 1)
            (void)refuse(a, "write it to a file, or check each capture alone with --captures apart", false,
                         "%s: it can be read only once, so it cannot be one run with other captures",
                         a->read->capture.path);
        return operands(a) == 1;
    }
    a->parts = calloc(operands(a), sizeof *a->parts);
    bool fine = a->parts != NULL;
    if (!fine)
        cli_no_memory();
    fine = fine && make_run(a);
    for (; fine && a->part_count < operands(a); a->part_count++)
        fine = open_part(a, a->part_count);
    for (size_t i = 0; fine && i + 1 < a->part_count; i++) /* the programs are those of the last capture */
        fine = cli_programs_also_of(a->read->programs, a->args, a->parts[i].capture);
    fine = fine && list_sources(a);
    *several = fine && (a->count > 1 || a->part_count > 1 || (!a->cycles && is_timed_software(a)));
    return fine && (!*several || check(a));
}

/* Returns the only described source that the options select, or NULL. */
static const struct ct_source *only_source(const struct cli_capture *capture)
{
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_STEPS);
    const bool all = !(chain.ids[0] | chain.ids[1]);
    const struct ct_source *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < capture->count; i++) {
        const struct ct_buffer *buffer = &capture->buffers[i];
        /* without frames there is only the first source */
        const bool framed = buffer->framing != CT_FRAMING_NONE;
        for (size_t k = 0; k < buffer->source_count && (framed || !k); k++) {
            const uint8_t id = framed ? buffer->sources[k].trace_id & 127 : 0;
            if (!all && !(chain.ids[id / 64] >> id % 64 & 1))
                continue;
            found = &buffer->sources[k];
            count++;
        }
    }
    return count == 1 ? found : NULL;
}

const struct cli_capture *cli_axis_capture(const struct cli_axis *a, size_t index)
{
    return index < a->part_count ? a->parts[index].capture : NULL;
}

const char *cli_axis_only_core(const struct cli_axis *a)
{
    if (a->count)
        return a->count == 1 ? ct_source_core(a->sources->source) : NULL;
    const struct ct_source *source = only_source(&a->read->capture);
    return !source ? NULL : source->core ? source->core : source->name;
}

void cli_axis_close(struct cli_axis *a)
{
    ct_together_free(a->together);
    for (size_t i = 0; a->parts && i < operands(a); i++)
        if (a->parts[i].opened)
            cli_capture_close(&a->parts[i].own);
    free(a->parts);
    free(a->sources);
    *a = (struct cli_axis){0};
}

/* ---- running ---- */

/* Adds the losses of the sources to those of their capture. Returns false after a message. */
static bool count_losses(struct cli_axis *a, size_t index)
{
    struct cli_axis_part *part = &a->parts[index];
    const bool fine =
        cli_filter_count_merge(&a->read->filter, part->capture, ct_together_merge(a->together, index),
                               &a->read->ran, a->read->programs);
    if (part->opened)
        a->code = cli_worse(a->code, cli_capture_code(part->capture, CLI_CLEAN));
    return fine;
}

/* Reports the sources whose timestamps went back. */
static void tell_restarts(const struct cli_axis *a)
{
    for (size_t i = 0; i < a->count; i++) {
        const char *core = ct_source_core(a->sources[i].source);
        struct ct_verify_axis_restarts restarts;
        if (ct_verify_axis_restarts_of(ct_together_axis(a->together), i, &restarts) != CT_OK ||
            !restarts.times)
            continue;
        cli_say(
            "%s, ID %02x (%s): its timestamps went back %" PRIu64 " %s, last from %" PRIu64 " to %" PRIu64
            ", as when the target starts again; times of the specifications go on from there, and results "
            "that look back beyond it are uncertain",
            a->sources[i].buffer, a->sources[i].id, core ? core : "no core", restarts.times,
            restarts.times == 1 ? "time" : "times", restarts.from, restarts.to);
    }
}

int cli_axis_run(struct cli_axis *a, struct ct_verifier *verifier, struct ct_watches *watches)
{
    const int rc = ct_together_run(a->together, verifier, watches);
    tell_restarts(a);
    bool fine = true;
    for (size_t i = 0; i < a->part_count && fine && !rc; i++)
        fine = count_losses(a, i);
    if (rc == CT_ERR_IO && ferror(stdout)) /* reported at the end of the command */
        return CLI_FAILED;
    return rc ? cli_library_error(a->args->ctx) : fine ? CLI_CLEAN : CLI_FAILED;
}
