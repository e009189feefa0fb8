/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves a filter before anything is decoded: which streams are wanted, and where its window is. */
#include "coretap/filter.h"

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "coretap/decode.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int ct_filter_steps(const struct ct_filter *f)
{
    return f && (f->context_count || f->tid_count || f->pid_count || f->module_count || f->function_count ||
                 f->from.kind || f->to.kind || f->levels);
}

/* ---- streams ---- */

/* Returns whether a source belongs to the wanted core: by the capture's name of it, or by the number at the
 * end of the name. */
static bool is_core(const struct ct_source *source, const char *wanted)
{
    const char *name = source->core;
    if (!name)
        return false;
    if (strcmp(name, wanted) == 0)
        return true;
    const char *digits = name + strlen(name);
    while (digits > name && isdigit((unsigned char)digits[-1]))
        digits--;
    return *digits && *wanted && wanted[strspn(wanted, "0123456789")] == '\0' &&
           strtoul(digits, NULL, 10) == strtoul(wanted, NULL, 10);
}

int ct_filter_ids(const struct ct_filter *f, const struct ct_buffer *buffer, uint64_t ids[2])
{
    if (!buffer || !ids)
        return 0;
    const bool framed = buffer->framing != CT_FRAMING_NONE;
    const size_t count = framed ? buffer->source_count : buffer->source_count > 0;
    const bool any_id = !f || !(f->ids[0] | f->ids[1]);
    ids[0] = ids[1] = 0;
    if (any_id && !(f && f->core)) /* IDs without a source are passed on, so that the chain reports them */
        return 1;
    for (size_t i = 0; i < count; i++) {
        const unsigned id = framed ? buffer->sources[i].trace_id : 0;
        const uint64_t bit = UINT64_C(1) << id % 64;
        if ((any_id || f->ids[id / 64] & bit) && (!f->core || is_core(&buffer->sources[i], f->core)))
            ids[id / 64] |= bit;
    }
    if (!f->core) { /* the chain reports an ID that does not exist */
        ids[0] = f->ids[0];
        ids[1] = f->ids[1];
    }
    return (ids[0] | ids[1]) != 0;
}

/* Appends the names of a capture's cores to a text. */
static void list_cores(const struct ct_buffer *buffers, size_t count, char *text, size_t size)
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < buffers[i].source_count; k++) {
            const char *core = buffers[i].sources[k].core;
            if (!core || strstr(text, core))
                continue;
            const int n = snprintf(text + used, size - used, "%s%s", used ? ", " : "", core);
            if (n < 0 || (size_t)n >= size - used)
                return;
            used += (size_t)n;
        }
}

static int check_core(struct ct_ctx *ctx, const struct ct_filter *f, const struct ct_capture *capture,
                      const struct ct_buffer *buffers, size_t count)
{
    uint64_t ids[2];
    char cores[512];
    if (!f->core)
        return CT_OK;
    for (size_t i = 0; i < count; i++)
        if (ct_filter_ids(f, &buffers[i], ids))
            return CT_OK;
    list_cores(buffers, count, cores, sizeof cores);
    return ct_fail(ctx, CT_ERR_NOT_FOUND,
                   "%s: the capture has no trace of core '%s'; nothing is decoded; choose one of "
                   "its cores: %s",
                   capture->path, f->core, *cores ? cores : "none of them has a name");
}

/* ---- the first timestamp ---- */

struct search {
    const struct ct_chain *chain;
    uint64_t first; /* the earliest of all streams so far */
    bool any;
    size_t missing;   /* streams without a timestamp so far */
    uint64_t done[2]; /* a bit for each ID with a timestamp */
};

#define FOUND 1 /* result of on_elems that ends the chain */

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct search *s = user;
    const uint64_t bit = UINT64_C(1) << stream->id % 64;
    for (size_t i = 0; i < batch->count && !(s->done[stream->id / 64] & bit); i++) {
        if (batch->elems[i].kind != CT_ELEM_TIMESTAMP)
            continue;
        if (!s->any || batch->elems[i].v < s->first)
            s->first = batch->elems[i].v;
        s->any = true;
        s->done[stream->id / 64] |= bit;
        s->missing--;
    }
    return s->missing ? 0 : FOUND;
}

static int search_buffer(struct ct_ctx *ctx, const struct ct_filter *f, const struct ct_buffer *buffer,
                         struct search *s)
{
    struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
    const struct ct_chain_sink sink = {.user = s, .elems = on_elems};
    struct ct_chain *chain = NULL;
    if (buffer->path && strcmp(buffer->path, "-") == 0)
        return ct_fail(
            ctx, CT_ERR_CONFIG,
            "%s: this is standard input, which can be read only once; a window in time needs a first "
            "pass that finds the first timestamp; save the trace to a file, or give the window in "
            "ticks",
            buffer->name);
    if (!ct_filter_ids(f, buffer, options.ids))
        return CT_OK;
    int rc = ct_chain_new(ctx, buffer, &options, &sink, &chain);
    s->done[0] = s->done[1] = 0;
    if (!rc)
        (void)ct_chain_streams(chain, &s->missing);
    if (!rc && s->missing)
        rc = ct_chain_run(chain);
    ct_chain_free(chain);
    return rc == FOUND ? CT_OK : rc;
}

/* ---- times to ticks ---- */

static uint64_t clip(unsigned __int128 ticks)
{
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}

/* Converts a point of time to the first timestamp that is not before it. */
static void settle_point(struct ct_filter_point *point, const struct ct_filter *f,
                         const struct ct_clock *clock, uint64_t first)
{
    if (point->kind != CT_POINT_TIME)
        return;
    const unsigned __int128 ns = point->value;
    unsigned __int128 ticks;
    if (f->frequency)
        ticks = (ns * f->frequency + 999999999) / 1000000000;
    else
        ticks = ((ns << clock->shift) + clock->mult - 1) / clock->mult;
    point->kind = CT_POINT_TICKS;
    point->value = clip(ticks + first);
}

int ct_filter_settle(struct ct_ctx *ctx, const struct ct_filter *filter, const struct ct_capture *capture,
                     const struct ct_buffer *buffers, size_t count, struct ct_filter *out)
{
    CT_REQUIRE(ctx, capture, buffers || !count, out);
    struct ct_filter f;
    struct search search = {0};
    int rc = ct_options_read(ctx, "ct_filter_settle", filter, &f, sizeof f);
    if (!rc)
        rc = check_core(ctx, &f, capture, buffers, count);
    if (rc)
        return rc;
    /* A window from time 0 on includes what comes before the first timestamp. */
    if (f.from.kind == CT_POINT_TIME && !f.from.value)
        f.from = (struct ct_filter_point){0};
    if (f.from.kind == CT_POINT_TIME || f.to.kind == CT_POINT_TIME) {
        const struct ct_clock none = {0};
        const struct ct_clock *clock = capture->maps ? &capture->maps->clock : &none;
        if (!f.frequency && !(clock->known && clock->mult))
            return ct_fail(ctx, CT_ERR_CONFIG,
                           "%s: the capture does not contain the frequency of its timestamps, so a time "
                           "cannot be converted to "
                           "ticks; give the frequency with --frequency HZ, or the window in ticks, cycles or "
                           "instructions",
                           capture->path);
        for (size_t i = 0; i < count && !rc; i++)
            rc = search_buffer(ctx, &f, &buffers[i], &search);
        if (!rc && !search.any)
            rc = ct_fail(
                ctx, CT_ERR_NOT_FOUND,
                "%s: the trace has no timestamps, so a window in time selects nothing; give the window in "
                "cycles or instructions, or by places",
                capture->path);
        if (rc)
            return rc;
        settle_point(&f.from, &f, clock, search.first);
        settle_point(&f.to, &f, clock, search.first);
    }
    *out = f;
    return CT_OK;
}
