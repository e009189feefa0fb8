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
    struct cli_axis *whole;
    struct cli_capture *capture;
    struct cli_capture own; /* for the captures behind the first one */
    struct ct_filter settled;
    struct ct_merge *merge;
    size_t first; /* number of its first source with trace of a core */
    bool opened;
};

static bool is_software(const struct ct_merge_source *s)
{
    return ct_protocol_is_software(s->source->protocol);
}

/* Returns whether a source belongs to the run. */
static bool is_part(const struct cli_axis *a, const struct ct_merge_source *s)
{
    return s->has_trace && (a->software || !is_software(s));
}

/* Returns the number of operands in the run. */
static size_t operands(const struct cli_axis *a)
{
    return a->alone ? 1 : (size_t)a->args->rest_count;
}

/* Returns the number of a source among those of the run. */
static size_t number_of(const struct cli_axis_part *part, size_t index)
{
    size_t count;
    size_t number = part->first;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < index; i++)
        number += is_part(part->whole, &all[i]);
    return number;
}

static int on_steps(void *user, size_t source, const struct ct_step_batch *batch)
{
    const struct cli_axis_part *part = user;
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    return is_part(part->whole, &all[source])
               ? ct_verify_axis_take(part->whole->axis, number_of(part, source), batch)
               : CT_OK;
}

static int on_progress(void *user, uint64_t bytes)
{
    const struct cli_axis_part *part = user;
    cli_progress_update(&part->capture->progress, bytes);
    return 0;
}

/* ---- opening ---- */

static bool open_merge(struct cli_axis_part *part)
{
    const struct cli_axis *a = part->whole;
    const struct cli_capture *capture = part->capture;
    const struct ct_chain_options chain = cli_capture_chain_options(capture, CT_LEVEL_STEPS);
    const struct ct_merge_options how = {.size = sizeof how,
                                         .ids = {chain.ids[0], chain.ids[1]},
                                         .user = part,
                                         .progress = on_progress,
                                         .threads = a->read->threads,
                                         .filter = &part->settled,
                                         .maps = capture->capture->maps,
                                         .steps = on_steps,
                                         .programs = a->read->programs};
    if (ct_filter_settle(a->args->ctx, &a->read->filter.filter, capture->capture, capture->buffers,
                         capture->count, &part->settled) == CT_OK &&
        ct_merge_new(a->args->ctx, capture->buffers, capture->count, &how, &part->merge) == CT_OK)
        return true;
    cli_library_error(a->args->ctx);
    return false;
}

static bool open_part(struct cli_axis *a, size_t index)
{
    struct cli_axis_part *part = &a->parts[index];
    *part = (struct cli_axis_part){.whole = a, .capture = &a->read->capture};
    if (index) {
        part->capture = &part->own;
        part->opened = cli_capture_open_path(&part->own, a->args, a->args->rest[index]);
        if (!part->opened || !cli_capture_spool_always(&part->own) ||
            !cli_programs_of(a->read->programs, a->args, a->read->elf, &part->own))
            return false;
    }
    return open_merge(part);
}

static bool add_sources(struct cli_axis *a, struct cli_axis_part *part)
{
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    struct ct_verdict_source *sources = realloc(a->sources, (a->count + count + 1) * sizeof *sources);
    a->sources = sources ? sources : a->sources;
    const char **cores = realloc(a->cores, (a->count + count + 1) * sizeof *cores);
    a->cores = cores ? cores : a->cores;
    uint8_t *protocols = realloc(a->protocols, a->count + count + 1);
    a->protocols = protocols ? protocols : a->protocols;
    if (!sources || !cores || !protocols) {
        cli_no_memory();
        return false;
    }
    part->first = a->count;
    for (size_t i = 0; i < count; i++) {
        const struct ct_source *source = all[i].source;
        if (!is_part(a, &all[i]))
            continue;
        a->cores[a->count] = ct_source_core(source);
        a->protocols[a->count] = cli_monitors_protocol(source);
        a->sources[a->count++] =
            (struct ct_verdict_source){.buffer = all[i].buffer->name,
                                       .source = source,
                                       .id = all[i].id,
                                       .capture = operands(a) > 1 ? part->capture->path : NULL};
    }
    return true;
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

/* Checks that no core is in two captures: each capture of one system has other cores. Returns false after a
 * message. */
static bool check_cores(const struct cli_axis *a)
{
    for (size_t p = 1; p < a->part_count; p++) {
        const size_t end = p + 1 < a->part_count ? a->parts[p + 1].first : a->count;
        for (size_t i = a->parts[p].first; i < end; i++) {
            size_t k = 0;
            while (k < a->parts[p].first &&
                   (ct_protocol_is_software(a->protocols[i]) || strcmp(a->cores[k], a->cores[i]) != 0))
                k++;
            if (k == a->parts[p].first)
                continue;
            return refuse(a, APART, true,
                          "%s, %s: both have trace of %s, so they cannot be parts of the same run",
                          a->sources[k].capture, a->sources[i].capture, a->cores[i]);
        }
    }
    return true;
}

/* Checks that all sources have one clock. Returns false after a message. */
static bool check_clock(const struct cli_axis *a)
{
    if (a->cycles) {
        cli_say("%s: --clock cycles cannot order the events of %zu sources, because each counts its own "
                "cycles; leave it out, or check each source alone with --per-core",
                a->read->capture.path, a->count);
        return false;
    }
    for (size_t i = 0; i < a->part_count; i++) {
        size_t count;
        const struct ct_merge_source *all = ct_merge_sources(a->parts[i].merge, &count);
        for (size_t k = 0; k < count; k++) {
            if (!is_part(a, &all[k]) || all[k].timed)
                continue;
            return refuse(a, "check each source alone with --per-core, or record with timestamps", false,
                          "%s: %s, ID %02x: the source has no timestamps, so the order of the events of the "
                          "%zu sources is not known",
                          a->parts[i].capture->path, all[k].buffer->name, all[k].id, a->count);
        }
    }
    return true;
}

/* Returns the first timestamp of a capture's sources in the run, or UINT64_MAX without any. */
static uint64_t begin_of(const struct cli_axis_part *part)
{
    size_t count;
    uint64_t begin = UINT64_MAX;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < count; i++)
        if (is_part(part->whole, &all[i]) && all[i].first_time < begin)
            begin = all[i].first_time;
    return begin;
}

/* Finds whether a source of a capture has a timestamp at or after a time. Returns false after a message. */
static bool reaches(const struct cli_axis_part *part, uint64_t time, bool *found)
{
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < count && !*found; i++) {
        int reaches_it = 0;
        if (!is_part(part->whole, &all[i]))
            continue;
        if (ct_merge_reaches(part->merge, i, time, &reaches_it) != CT_OK)
            return cli_library_error(part->whole->args->ctx) == CLI_CLEAN;
        *found = reaches_it;
    }
    return true;
}

/* Checks that each capture overlaps in time with one that begins before it. Otherwise nothing shows that they
 * are of one run. Returns false after a message. */
static bool check_common_time(const struct cli_axis *a)
{
    for (size_t p = 0; p < a->part_count; p++) {
        const uint64_t begin = begin_of(&a->parts[p]);
        const struct cli_axis_part *before = NULL;
        bool found = false;
        for (size_t k = 0; k < a->part_count && !found && begin < UINT64_MAX; k++) {
            const uint64_t other = begin_of(&a->parts[k]);
            if (k == p || other > begin || (other == begin && k > p))
                continue;
            before = &a->parts[k];
            if (!reaches(before, begin, &found))
                return false;
        }
        if (!before || found)
            continue;
        return refuse(a, APART, false,
                      "%s, %s: the timestamps of one end before those of the other begin (at %llu), so they "
                      "come from different times or clocks, and cannot be one run",
                      before->capture->path, a->parts[p].capture->path, (unsigned long long)begin);
    }
    return true;
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
    const struct ct_merge_source *all = ct_merge_sources(a->parts[0].merge, &count);
    for (size_t i = 0; i < count && a->count == 1; i++)
        if (is_part(a, &all[i]))
            return is_software(&all[i]) && all[i].timed;
    return false;
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
    for (; fine && a->part_count < operands(a); a->part_count++)
        fine = open_part(a, a->part_count);
    for (size_t i = 0; fine && i + 1 < a->part_count; i++) /* the programs are those of the last capture */
        fine = cli_programs_also_of(a->read->programs, a->args, a->parts[i].capture);
    for (size_t i = 0; fine && i < a->part_count; i++)
        fine = add_sources(a, &a->parts[i]);
    *several = fine && (a->count > 1 || a->part_count > 1 || (!a->cycles && is_timed_software(a)));
    return fine && (!*several || (check_cores(a) && check_clock(a) && check_common_time(a)));
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
        return a->count == 1 ? a->cores[0] : NULL;
    const struct ct_source *source = only_source(&a->read->capture);
    return !source ? NULL : source->core ? source->core : source->name;
}

void cli_axis_close(struct cli_axis *a)
{
    ct_verify_axis_free(a->axis);
    for (size_t i = 0; a->parts && i < operands(a); i++) {
        ct_merge_free(a->parts[i].merge);
        if (a->parts[i].opened)
            cli_capture_close(&a->parts[i].own);
    }
    free(a->parts);
    free(a->sources);
    free(a->cores);
    free(a->protocols);
    *a = (struct cli_axis){0};
}

/* ---- running ---- */

/* Finds the source with this number. */
static struct cli_axis_part *find(const struct cli_axis *a, size_t number, size_t *index)
{
    size_t i = a->part_count;
    while (--i && a->parts[i].first > number)
        continue;
    *index = 0;
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(a->parts[i].merge, &count);
    for (size_t k = a->parts[i].first; *index < count; ++*index) {
        if (is_part(a, &all[*index]) && k++ == number)
            break;
    }
    return &a->parts[i];
}

/* Decodes more of the source for which the others wait. */
static int pull(struct cli_axis *a, size_t number)
{
    size_t index;
    int more;
    const struct cli_axis_part *part = find(a, number, &index);
    const int rc = ct_merge_pull(part->merge, index, &more);
    return rc || more ? rc : ct_verify_axis_end(a->axis, number);
}

/* Decodes the sources that are not in the run, to count their losses. */
static int pull_others(const struct cli_axis_part *part)
{
    size_t count;
    int rc = CT_OK;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < count && !rc; i++) {
        int more = all[i].has_trace && !is_part(part->whole, &all[i]);
        while (more && !rc)
            rc = ct_merge_pull(part->merge, i, &more);
    }
    return rc;
}

/* Adds the losses of the sources to those of their capture. Returns false after a message. */
static bool count_losses(struct cli_axis *a, struct cli_axis_part *part)
{
    const bool fine = cli_filter_count_merge(&a->read->filter, part->capture, part->merge, &a->read->ran,
                                             a->read->programs);
    if (part->opened)
        a->code = cli_worse(a->code, cli_capture_code(part->capture, CLI_CLEAN));
    return fine;
}

/* Reports the sources whose timestamps went back. */
static void tell_restarts(const struct cli_axis *a)
{
    for (size_t i = 0; i < a->count; i++) {
        struct ct_verify_axis_restarts restarts;
        if (ct_verify_axis_restarts_of(a->axis, i, &restarts) != CT_OK || !restarts.times)
            continue;
        cli_say(
            "%s, ID %02x (%s): its timestamps went back %" PRIu64 " %s, last from %" PRIu64 " to %" PRIu64
            ", as when the target starts again; times of the specifications go on from there, and results "
            "that look back beyond it are uncertain",
            a->sources[i].buffer, a->sources[i].id, a->cores[i] ? a->cores[i] : "no core", restarts.times,
            restarts.times == 1 ? "time" : "times", restarts.from, restarts.to);
    }
}

/* Passes on to the specifications all events whose order is known by now. Returns an enum ct_error. */
static int give(const struct cli_axis *a)
{
    int rc = CT_OK;
    int told = CT_OK;
    do {
        rc = ct_verify_axis_run(a->axis);
        if ((rc == CT_ERR_FORMAT || rc == CT_ERR_LIMIT) && a->failed)
            told = a->failed(a->user);
    } while ((rc == CT_ERR_FORMAT || rc == CT_ERR_LIMIT) && !told); /* other specifications go on */
    return told ? told : rc;
}

int cli_axis_run(struct cli_axis *a, struct ct_verifier *verifier, struct ct_watches *watches)
{
    int number;
    int rc = ct_verify_axis_new(a->args->ctx, verifier, watches, a->count, &a->axis);
    for (size_t i = 0; i < a->count && !rc; i++)
        rc = ct_verify_axis_source(a->axis, i, a->sources[i].source);
    while (!rc && (number = ct_verify_axis_next(a->axis)) >= 0) {
        rc = pull(a, (size_t)number) ?: give(a);
    }
    for (size_t i = 0; i < a->part_count && !rc; i++)
        rc = pull_others(&a->parts[i]);
    tell_restarts(a);
    bool fine = true;
    for (size_t i = 0; i < a->part_count && fine && !rc; i++)
        fine = count_losses(a, &a->parts[i]);
    if (rc == CT_ERR_IO && ferror(stdout)) /* reported at the end of the command */
        return CLI_FAILED;
    return rc ? cli_library_error(a->args->ctx) : fine ? CLI_CLEAN : CLI_FAILED;
}
