/* SPDX-License-Identifier: Apache-2.0 */
/* Writes calls over time, with a lane for each context of each stream. */
#include "format/report_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/lanes.h"
#include "format/number.h"

#define LANES 64

struct chart {
    struct ct_lane_bar *bars;
    struct ct_chart_lane lanes[LANES];
    char titles[LANES][CT_REPORT_STREAM_NAME + CT_REPORT_THREAD_NAME];
    char cores[LANES][CT_REPORT_STREAM_NAME];
    char threads[LANES][CT_REPORT_THREAD_NAME];
    size_t count;
    bool aligned; /* time is that of timestamps, since `begin`; else that of each stream */
    uint64_t begin;
    size_t left_out; /* lanes left out */
};

const char *ct_report_thread_name(const struct ct_report_page *r, size_t stream, uint32_t context,
                                  char text[CT_REPORT_THREAD_NAME])
{
    const struct ct_buffer *source = r->streams[stream].source;
    const struct ct_context_name *name = source ? ct_context_name_find(source, context, CT_NO_TIME) : NULL;
    if (name)
        snprintf(text, CT_REPORT_THREAD_NAME, "%.100s (0x%" PRIx32 ")", name->name, context);
    else
        snprintf(text, CT_REPORT_THREAD_NAME, "context 0x%" PRIx32, context);
    return context ? text : NULL;
}

static void name_lane(const struct ct_report_page *r, struct chart *c, const struct ct_slice *first)
{
    struct ct_chart_lane *lane = &c->lanes[c->count];
    char *core = c->cores[c->count];
    char *title = c->titles[c->count];
    lane->thread = ct_report_thread_name(r, first->lane, first->ctxt, c->threads[c->count]);
    lane->core = ct_report_stream_name(r, &r->streams[first->lane], core, sizeof c->cores[0]);
    snprintf(title, sizeof c->titles[0], lane->thread ? "%s, %s" : "%s", lane->core, lane->thread);
    lane->title = title;
}

/* ---- time ---- */

/* Returns whether the streams of the chart share an axis of time: there are several, and each has
 * timestamps. */
static bool is_aligned(const struct ct_report_page *r)
{
    const struct ct_slices *s = r->slices;
    bool known = r->together;
    for (size_t i = 0; i < s->count && known; i++)
        known = ct_report_clock_is_known(&r->streams[s->slices[i].lane].clock);
    return known && s->count && s->slices[0].lane != s->slices[s->count - 1].lane;
}

static uint64_t begin_of(const struct ct_report_page *r, const struct ct_slice *slice)
{
    return ct_report_clock_time(&r->streams[slice->lane].clock, slice->from, false);
}

/* Sets the beginning of time to the first slice of all. */
static void align(const struct ct_report_page *r, struct chart *c)
{
    const struct ct_slices *s = r->slices;
    c->aligned = is_aligned(r);
    c->begin = UINT64_MAX;
    for (size_t i = 0; i < s->count && c->aligned; i++) {
        const uint64_t time = begin_of(r, &s->slices[i]);
        c->begin = time < c->begin ? time : c->begin;
    }
}

static struct ct_lane_bar bar_of(const struct ct_report_page *r, const struct chart *c,
                                 const struct ct_slice *slice, const uint32_t *ranks)
{
    struct ct_lane_bar bar = {ranks ? ranks[slice->function] : slice->function, slice->depth, slice->from,
                              slice->to};
    if (c->aligned) {
        bar.from = begin_of(r, slice) - c->begin;
        bar.to = ct_report_clock_time(&r->streams[slice->lane].clock, slice->to, true) - c->begin;
    }
    return bar;
}

static void fill(const struct ct_report_page *r, struct chart *c, const uint32_t *ranks)
{
    const struct ct_slices *s = r->slices;
    for (size_t i = 0; i < s->count;) {
        size_t end = i;
        while (end < s->count && s->slices[end].lane == s->slices[i].lane &&
               s->slices[end].ctxt == s->slices[i].ctxt) {
            c->bars[end] = bar_of(r, c, &s->slices[end], ranks);
            end++;
        }
        if (c->count < LANES) {
            c->lanes[c->count] = (struct ct_chart_lane){.bars = &c->bars[i], .count = end - i};
            name_lane(r, c, &s->slices[i]);
            c->count++;
        } else {
            c->left_out++;
        }
        i = end;
    }
}

/* Explains the chart, and the time of its axis. */
static void explain(FILE *out, const struct ct_report_page *r, const struct chart *c, const char *unit)
{
    const struct ct_slices *s = r->slices;
    const bool several = s->slices[0].lane != s->slices[s->count - 1].lane;
    fputs("<p>Each bar is one execution of a function, drawn below its caller. Time is in ", out);
    if (c->aligned)
        fputs("ticks of the timestamps since the first bar, the same for all lanes", out);
    else
        fprintf(out, "%s since the stream began", unit);
    if (several && !c->aligned && r->together)
        fputs(". Lanes of different cores cannot be compared, because one of them has no timestamps", out);
    fputs(". Click a bar to zoom in; drag to move; Ctrl and the wheel, or + and -, zoom; 0 shows "
          "everything.</p>\n",
          out);
}

static int draw(FILE *out, const struct ct_report_page *r, struct chart *c, const char **names)
{
    char most[CT_NUMBER_SIZE];
    char few[CT_NUMBER_SIZE];
    const char *unit = r->slice_cycles ? "cycles" : "instructions";
    const struct ct_lanes lanes = {.label = "Function calls over time",
                                   .unit = c->aligned ? "ticks" : unit,
                                   .kind = "time",
                                   .names = names,
                                   .name_count = r->slice_names ? r->slice_name_count : r->function_count,
                                   .functions = !r->slice_names,
                                   .lanes = c->lanes,
                                   .lane_count = c->count};
    explain(out, r, c, unit);
    fputs("<div class=\"panel\">\n", out);
    const int rc = ct_lanes_html(out, &lanes);
    fputs("</div>\n", out);
    if (r->slices->left_out)
        fprintf(out,
                "<p class=\"more\">%s executions shorter than %s %s are left out; <code>--from</code> and "
                "<code>--to</code> cut out a window with more detail.</p>\n",
                ct_number_count(most, r->slices->left_out), ct_number_count(few, r->slices->shortest), unit);
    if (c->left_out)
        fprintf(out, "<p class=\"more\">%zu more contexts are left out.</p>\n", c->left_out);
    return rc;
}

int ct_report_timeline(FILE *out, const struct ct_report_page *r)
{
    if (!ct_report_told(out, r, CT_REPORT_STREAMS))
        return CT_OK;
    struct chart *c = calloc(1, sizeof *c);
    const char **names = r->slice_names ? r->slice_names : ct_report_names(r);
    uint32_t *ranks = r->slice_names ? NULL : ct_report_ranks(r);
    if (c)
        c->bars = calloc(r->slices->count + 1, sizeof *c->bars);
    bool fine = c && c->bars && names && (ranks || r->slice_names);
    if (fine && r->slices->count) {
        align(r, c);
        fill(r, c, ranks);
        fine = draw(out, r, c, names) == CT_OK;
    } else if (fine) {
        fputs("<p>No execution of a function is in this window.</p>\n", out);
    }
    free(ranks);
    if (!r->slice_names)
        free(names);
    if (c)
        free(c->bars);
    free(c);
    return fine ? CT_OK : CT_ERR_NOMEM;
}
