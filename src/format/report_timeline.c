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
    char titles[LANES][CT_REPORT_STREAM_NAME];
    size_t count;
    size_t left_out; /* how many lanes are left out */
};

static void name_lane(const struct ct_report_page *r, struct chart *c, const struct ct_slice *first)
{
    const struct ct_report_stream *s = &r->streams[first->lane];
    char core[CT_REPORT_STREAM_NAME - 32];
    ct_report_stream_name(r, s, core, sizeof core);
    char *title = c->titles[c->count];
    if (first->ctxt)
        snprintf(title, sizeof c->titles[0], "%s, context 0x%" PRIx32, core, first->ctxt);
    else
        snprintf(title, sizeof c->titles[0], "%s", core);
    c->lanes[c->count].title = title;
}

static void fill(const struct ct_report_page *r, struct chart *c, const uint32_t *ranks)
{
    const struct ct_slices *s = r->slices;
    for (size_t i = 0; i < s->count;) {
        size_t end = i;
        while (end < s->count && s->slices[end].lane == s->slices[i].lane &&
               s->slices[end].ctxt == s->slices[i].ctxt) {
            const struct ct_slice *slice = &s->slices[end];
            c->bars[end++] = (struct ct_lane_bar){ranks ? ranks[slice->function] : slice->function,
                                                  slice->depth, slice->from, slice->to};
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

static int draw(FILE *out, const struct ct_report_page *r, struct chart *c, const char **names)
{
    char most[CT_NUMBER_SIZE];
    char few[CT_NUMBER_SIZE];
    const char *unit = r->slice_cycles ? "cycles" : "instructions";
    const struct ct_lanes lanes = {.label = "Function calls over time",
                                   .unit = unit,
                                   .kind = "time",
                                   .names = names,
                                   .name_count = r->slice_names ? r->slice_name_count : r->function_count,
                                   .functions = !r->slice_names,
                                   .lanes = c->lanes,
                                   .lane_count = c->count};
    fprintf(out,
            "<p>Each bar is one execution of a function, below the one that called it; time is in %s since "
            "the stream "
            "began. A click on a bar makes it fill the chart; drag to move; Ctrl and the wheel, or + and -, "
            "zoom; 0 shows "
            "all.</p>\n<div class=\"panel\">\n",
            unit);
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
