/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the software trace of a capture again for a report, in the order of its timestamps and without the
 * trace of cores. */
#include "cli/report_named.h"

#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "coretap/merge.h"

/* The buffers of a capture with only their sources of software trace. */
struct reading {
    struct ct_buffer *buffers;
    struct ct_source *sources; /* sources of all buffers */
    size_t count;
};

static bool is_software(const struct ct_source *source)
{
    return source->protocol == CT_PROTOCOL_ITM || source->protocol == CT_PROTOCOL_STM;
}

/* Copies the buffers that have software trace. Returns false when out of memory. */
static bool choose(struct reading *r, const struct cli_capture *capture)
{
    size_t most = 0;
    size_t used = 0;
    for (size_t i = 0; i < capture->count; i++)
        most += capture->buffers[i].source_count;
    r->buffers = calloc(capture->count + 1, sizeof *r->buffers);
    r->sources = calloc(most + 1, sizeof *r->sources);
    if (!r->buffers || !r->sources)
        return false;
    for (size_t i = 0; i < capture->count; i++) {
        const struct ct_buffer *from = &capture->buffers[i];
        const size_t all = from->framing == CT_FRAMING_NONE ? from->source_count > 0 : from->source_count;
        const size_t first = used;
        for (size_t k = 0; k < all; k++)
            if (is_software(&from->sources[k]))
                r->sources[used++] = from->sources[k];
        if (used == first)
            continue;
        struct ct_buffer *to = &r->buffers[r->count++];
        *to = *from;
        to->sources = &r->sources[first];
        to->source_count = used - first;
    }
    return true;
}

/* Returns whether the filter applies to cores only, and so cannot apply to software trace: it selects what
 * ran where, or a window counted by a core. */
static bool is_of_cores(const struct ct_filter *f)
{
    const struct ct_filter_point *ends[] = {&f->from, &f->to};
    bool of_cores =
        f->context_count || f->tid_count || f->pid_count || f->module_count || f->function_count || f->levels;
    for (size_t i = 0; i < 2; i++)
        of_cores |= ends[i]->kind != CT_POINT_NONE && ends[i]->kind != CT_POINT_TIME &&
                    ends[i]->kind != CT_POINT_TICKS;
    return of_cores;
}

static int take(struct ct_merge *merge, struct ct_report *report, const struct cli_args *args)
{
    struct ct_merge_batch batch;
    int rc;
    while ((rc = ct_merge_next(merge, &batch)) == CT_OK && batch.count) {
        const struct ct_event_origin origin = {.buffer = batch.source->buffer->name,
                                               .source = batch.source->source,
                                               .id = batch.source->id,
                                               .timed = batch.source->timed};
        rc = ct_report_events(report, &origin, batch.events, batch.count);
        if (rc == CT_ERR_NOMEM || rc == CT_ERR_ARG)
            return rc;
        if (rc && !args->quiet)
            cli_say("%s", ct_ctx_error(args->ctx));
    }
    return rc;
}

static int read_events(const struct reading *r, const struct cli_capture *capture,
                       const struct ct_filter *filter, struct ct_report *report)
{
    struct ct_ctx *ctx = capture->args->ctx;
    struct ct_filter settled;
    struct ct_merge *merge = NULL;
    const struct ct_merge_options how = {
        .size = sizeof how, .filter = &settled, .maps = capture->capture->maps, .threads = 1};
    int rc = ct_filter_settle(ctx, filter, capture->capture, capture->buffers, capture->count, &settled);
    if (!rc)
        rc = ct_merge_new(ctx, r->buffers, r->count, &how, &merge);
    if (!rc)
        rc = take(merge, report, capture->args);
    ct_merge_free(merge);
    return rc;
}

bool cli_report_named(const struct cli_capture *capture, const struct cli_filter *filter,
                      struct ct_report *report)
{
    struct reading r = {0};
    bool fine = choose(&r, capture);
    if (!fine)
        cli_no_memory();
    if (fine && r.count && is_of_cores(&filter->filter)) {
        if (!capture->args->quiet)
            cli_say("%s: the selection applies only to what cores executed; the report has no section of "
                    "named events; leave the selection out to see it",
                    capture->path);
    } else if (fine && r.count && read_events(&r, capture, &filter->filter, report)) {
        cli_library_error(capture->args->ctx);
        fine = false;
    }
    free(r.buffers);
    free(r.sources);
    return fine;
}
