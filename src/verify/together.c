/* SPDX-License-Identifier: Apache-2.0 */
/* Runs specifications over captures of one system. */
#include "coretap/together.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/require.h"

/* A capture and its decoder. The object stays in place, because the decoder has its address. */
struct part {
    struct ct_together *whole;
    const struct ct_capture *capture;
    struct ct_merge *merge;
    size_t number; /* of the capture */
    size_t first;  /* number of its first source */
};

struct ct_together {
    struct ct_ctx *ctx;
    struct ct_together_options options;
    struct part **parts;
    size_t part_count;
    struct ct_together_source *sources;
    size_t count;
    struct ct_verify_axis *axis;
};

/* Returns whether a source belongs to the run. */
static bool is_part(const struct ct_together *t, const struct ct_merge_source *s)
{
    return s->has_trace && (t->options.software || !ct_protocol_is_software(s->source->protocol));
}

/* Returns the number of a source of a capture among those of the run. */
static size_t number_of(const struct part *part, size_t index)
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
    const struct part *part = user;
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    return is_part(part->whole, &all[source])
               ? ct_verify_axis_take(part->whole->axis, number_of(part, source), batch)
               : CT_OK;
}

static int on_progress(void *user, uint64_t bytes)
{
    const struct part *part = user;
    const struct ct_together_options *o = &part->whole->options;
    return o->progress ? o->progress(o->user, part->number, bytes) : CT_OK;
}

int ct_together_new(struct ct_ctx *ctx, const struct ct_together_options *options, struct ct_together **out)
{
    struct ct_together_options mine;
    CT_REQUIRE_OUT(ctx, out);
    if (ct_options_read(ctx, __func__, options, &mine, sizeof mine))
        return CT_ERR_ARG;
    struct ct_together *t = calloc(1, sizeof *t);
    if (!t)
        return ct_fail_nomem(ctx, "captures");
    t->ctx = ctx;
    t->options = mine;
    *out = t;
    return CT_OK;
}

static void free_part(struct part *part)
{
    if (part)
        ct_merge_free(part->merge);
    free(part);
}

void ct_together_free(struct ct_together *t)
{
    if (!t)
        return;
    ct_verify_axis_free(t->axis);
    for (size_t i = 0; i < t->part_count; i++)
        free_part(t->parts[i]);
    free(t->parts);
    free(t->sources);
    free(t);
}

/* Adds a capture whose sources are known. */
static int add_part(struct ct_together *t, struct part *part)
{
    size_t count;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    struct part **parts = realloc(t->parts, (t->part_count + 1) * sizeof(struct part *));
    t->parts = parts ? parts : t->parts;
    struct ct_together_source *sources = realloc(t->sources, (t->count + count + 1) * sizeof *sources);
    t->sources = sources ? sources : t->sources;
    if (!parts || !sources)
        return ct_fail_nomem(t->ctx, part->capture->path);
    for (size_t i = 0; i < count; i++) {
        const struct ct_source *source = all[i].source;
        if (is_part(t, &all[i]))
            sources[t->count++] = (struct ct_together_source){
                .capture = part->capture,
                .buffer = all[i].buffer,
                .source = source,
                .core = ct_source_core(source),
                .id = all[i].id,
                .protocol =
                    (uint8_t)(source->protocol | (ct_source_traces_data(source) ? CT_VERIFY_TRACES_DATA : 0)),
                .timed = all[i].timed};
    }
    parts[t->part_count++] = part;
    return CT_OK;
}

int ct_together_add(struct ct_together *t, const struct ct_capture *capture, const struct ct_buffer *buffers,
                    size_t count, const struct ct_filter *filter)
{
    CT_REQUIRE_OF(t, capture, buffers || !count);
    if (t->axis)
        return ct_fail_ended(t->ctx, __func__);
    struct part *part = calloc(1, sizeof *part);
    if (!part)
        return ct_fail_nomem(t->ctx, capture->path);
    *part = (struct part){.whole = t, .capture = capture, .number = t->part_count, .first = t->count};
    const struct ct_merge_options how = {.size = sizeof how,
                                         .ids = {t->options.ids[0], t->options.ids[1]},
                                         .user = part,
                                         .progress = on_progress,
                                         .threads = t->options.threads,
                                         .filter = filter,
                                         .maps = capture->maps,
                                         .steps = on_steps,
                                         .programs = t->options.programs};
    int rc = ct_merge_new(t->ctx, buffers, count, &how, &part->merge);
    if (!rc)
        rc = add_part(t, part);
    if (rc)
        free_part(part);
    return rc;
}

const struct ct_together_source *ct_together_sources(const struct ct_together *t, size_t *count)
{
    if (count)
        *count = t ? t->count : 0;
    return t ? t->sources : NULL;
}

/* ---- one run? ---- */

/* Returns the number of the first source behind a capture. */
static size_t end_of(const struct ct_together *t, size_t p)
{
    return p + 1 < t->part_count ? t->parts[p + 1]->first : t->count;
}

/* Checks that no core is in two captures: each capture of one system has other cores. */
static int check_cores(const struct ct_together *t, enum ct_together_trouble *trouble)
{
    const struct ct_together_source *s = t->sources;
    for (size_t p = 1; p < t->part_count; p++)
        for (size_t i = t->parts[p]->first; i < end_of(t, p); i++)
            for (size_t k = 0; k < t->parts[p]->first; k++) {
                if (ct_protocol_is_software(s[i].protocol) || strcmp(s[k].core, s[i].core) != 0)
                    continue;
                *trouble = CT_TOGETHER_SAME_CORE;
                return ct_fail(t->ctx, CT_ERR_UNSUPPORTED,
                               "%s, %s: both have trace of %s, so they cannot be parts of the same run",
                               s[k].capture->path, s[i].capture->path, s[i].core);
            }
    return CT_OK;
}

static int check_timestamps(const struct ct_together *t, enum ct_together_trouble *trouble)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct ct_together_source *s = &t->sources[i];
        if (s->timed)
            continue;
        *trouble = CT_TOGETHER_NO_TIMESTAMPS;
        return ct_fail(t->ctx, CT_ERR_UNSUPPORTED,
                       "%s: %s, ID %02x: the source has no timestamps, so the order of the events of the %zu "
                       "sources is not known",
                       s->capture->path, s->buffer->name, s->id, t->count);
    }
    return CT_OK;
}

/* Returns the first timestamp of a capture's sources in the run, or UINT64_MAX without any. */
static uint64_t begin_of(const struct part *part)
{
    size_t count;
    uint64_t begin = UINT64_MAX;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < count; i++)
        if (is_part(part->whole, &all[i]) && all[i].first_time < begin)
            begin = all[i].first_time;
    return begin;
}

/* Finds whether a source of a capture has a timestamp at or after a time. */
static int reaches(const struct part *part, uint64_t time, bool *found)
{
    size_t count;
    int rc = CT_OK;
    const struct ct_merge_source *all = ct_merge_sources(part->merge, &count);
    for (size_t i = 0; i < count && !*found && !rc; i++) {
        int reaches_it = 0;
        if (is_part(part->whole, &all[i]))
            rc = ct_merge_reaches(part->merge, i, time, &reaches_it);
        *found = reaches_it;
    }
    return rc;
}

/* Finds whether a capture overlaps in time with one that begins before it. *before receives one that does
 * not, if there is any. */
static int find_overlap(const struct ct_together *t, size_t p, const struct part **before, bool *found)
{
    const uint64_t begin = begin_of(t->parts[p]);
    int rc = CT_OK;
    for (size_t k = 0; k < t->part_count && !*found && !rc && begin < UINT64_MAX; k++) {
        const uint64_t other = begin_of(t->parts[k]);
        if (k == p || other > begin || (other == begin && k > p))
            continue;
        *before = t->parts[k];
        rc = reaches(*before, begin, found);
    }
    return rc;
}

/* Checks that each capture overlaps in time with one that begins before it. Otherwise nothing shows that they
 * are of one run. */
static int check_common_time(const struct ct_together *t, enum ct_together_trouble *trouble)
{
    for (size_t p = 0; p < t->part_count; p++) {
        const struct part *before = NULL;
        bool found = false;
        const int rc = find_overlap(t, p, &before, &found);
        if (rc)
            return rc;
        if (!before || found)
            continue;
        *trouble = CT_TOGETHER_NO_COMMON_TIME;
        return ct_fail(t->ctx, CT_ERR_UNSUPPORTED,
                       "%s, %s: the timestamps of one end before those of the other begin (at %" PRIu64
                       "), so they come from different times or clocks, and cannot be one run",
                       before->capture->path, t->parts[p]->capture->path, begin_of(t->parts[p]));
    }
    return CT_OK;
}

int ct_together_check(const struct ct_together *t, enum ct_together_trouble *trouble)
{
    enum ct_together_trouble found = CT_TOGETHER_FINE;
    CT_REQUIRE(t ? t->ctx : NULL, t);
    int rc = check_cores(t, &found);
    if (!rc)
        rc = check_timestamps(t, &found);
    if (!rc)
        rc = check_common_time(t, &found);
    if (trouble)
        *trouble = found;
    return rc;
}

/* ---- running ---- */

int ct_together_describe(const struct ct_together *t, struct ct_verifier *verifier)
{
    CT_REQUIRE(t ? t->ctx : NULL, t, verifier);
    const char **cores = calloc(t->count + 1, sizeof *cores);
    uint8_t *protocols = calloc(t->count + 1, 1);
    for (size_t i = 0; cores && protocols && i < t->count; i++) {
        cores[i] = t->sources[i].core;
        protocols[i] = t->sources[i].protocol;
    }
    int rc = cores && protocols ? ct_verifier_sources(verifier, cores, t->count)
                                : ct_fail_nomem(t->ctx, "sources");
    if (!rc)
        rc = ct_verifier_protocols(verifier, protocols, t->count);
    free(cores);
    free(protocols);
    return rc;
}

/* Finds the source with this number. */
static const struct part *find(const struct ct_together *t, size_t number, size_t *index)
{
    size_t count;
    size_t p = t->part_count - 1;
    while (t->parts[p]->first > number)
        p--;
    const struct ct_merge_source *all = ct_merge_sources(t->parts[p]->merge, &count);
    size_t k = t->parts[p]->first;
    for (*index = 0; *index < count; ++*index)
        if (is_part(t, &all[*index]) && k++ == number)
            break;
    return t->parts[p];
}

/* Decodes more of the source for which the others wait. */
static int pull(const struct ct_together *t, size_t number)
{
    size_t index;
    int more;
    const struct part *part = find(t, number, &index);
    const int rc = ct_merge_pull(part->merge, index, &more);
    return rc || more ? rc : ct_verify_axis_end(t->axis, number);
}

/* Decodes the sources that are not in the run, to count their losses. */
static int pull_others(const struct part *part)
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

/* Passes on to the specifications all events whose order is known by now. */
static int give(const struct ct_together *t)
{
    const struct ct_together_options *o = &t->options;
    int rc = CT_OK;
    int told = CT_OK;
    do {
        rc = ct_verify_axis_run(t->axis);
        if ((rc == CT_ERR_FORMAT || rc == CT_ERR_LIMIT) && o->failed)
            told = o->failed(o->user);
    } while ((rc == CT_ERR_FORMAT || rc == CT_ERR_LIMIT) && !told); /* other specifications go on */
    return told ? told : rc;
}

int ct_together_run(struct ct_together *t, struct ct_verifier *verifier, struct ct_watches *watches)
{
    CT_REQUIRE_OF(t, verifier, watches);
    if (!t->part_count)
        return ct_fail(
            t->ctx, CT_ERR_ARG,
            "ct_together_run: there is no capture, so nothing was decoded; call ct_together_add first");
    if (t->axis)
        return ct_fail_ended(t->ctx, __func__);
    int number;
    int rc = ct_verify_axis_new(t->ctx, verifier, watches, t->count, &t->axis);
    for (size_t i = 0; i < t->count && !rc; i++)
        rc = ct_verify_axis_source(t->axis, i, t->sources[i].source);
    while (!rc && (number = ct_verify_axis_next(t->axis)) >= 0)
        rc = pull(t, (size_t)number) ?: give(t);
    for (size_t i = 0; i < t->part_count && !rc; i++)
        rc = pull_others(t->parts[i]);
    return rc;
}

const struct ct_verify_axis *ct_together_axis(const struct ct_together *t)
{
    return t ? t->axis : NULL;
}

struct ct_merge *ct_together_merge(const struct ct_together *t, size_t capture)
{
    return t && capture < t->part_count ? t->parts[capture]->merge : NULL;
}
