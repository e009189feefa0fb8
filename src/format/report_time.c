/* SPDX-License-Identifier: Apache-2.0 */
/* Writes where the time went: stacks by weight, functions, edges. */
#include "base/search.h"
#include "format/report_page.h"

#include <inttypes.h>
#include <stdlib.h>

#include "format/lanes.h"
#include "format/number.h"
#include "format/page.h"
#include "format/xml.h"

/* most rows of the tables and bars of the chart; and the least share of the whole, one in LEAST, for a bar */
#define FUNCTIONS 200
#define EDGES     60
#define BARS      4000
#define LEAST     5000

/* the same share for a thread; all threads together have as many bars as the whole */
#define LEAST_OF_THREAD 1000

/* ---- stacks ---- */

struct tree {
    const struct ct_stack_place *places;
    size_t count;
    uint64_t *weight; /* of each place with everything below it */
    uint64_t *next;   /* where the next place below it begins on the axis */
    uint32_t *depth;
    struct place_order *order;
};

/* The order in which places are laid out. The order of the places themselves depends on how the streams of a
 * buffer were decoded. */
struct place_order {
    uint32_t depth, parent, rank;
    uint32_t place;
};

/* Adds up the weight of each place with everything below it. Callers stand before their callees. */
static void weigh(const struct ct_report_page *r, struct tree *t)
{
    for (size_t i = t->count; i-- > 0;) {
        const uint32_t parent = t->places[i].parent;
        t->weight[i] += r->cycles ? t->places[i].cycles : t->places[i].insns;
        if (parent != CT_STACK_NONE)
            t->weight[parent] += t->weight[i];
    }
}

static int by_order(const void *a, const void *b)
{
    const struct place_order *x = a, *y = b;
    return ct_order(x->depth, y->depth) ?: ct_order(x->parent, y->parent) ?: ct_order(x->rank, y->rank);
}

/* Puts callers before their callees, and callees of one function in the order of their ranks. */
static void put_in_order(struct tree *t, const uint32_t *ranks)
{
    for (size_t i = 0; i < t->count; i++) {
        const uint32_t parent = t->places[i].parent;
        t->depth[i] = parent == CT_STACK_NONE ? 0 : t->depth[parent] + 1;
        t->order[i] = (struct place_order){t->depth[i], parent, ranks[t->places[i].function], (uint32_t)i};
    }
    qsort(t->order, t->count, sizeof *t->order, by_order);
}

/* Assigns a part of the axis to each place. Places that weigh `least` or more become bars. Returns the number
 * of bars. */
static size_t lay_out(struct tree *t, uint64_t least, const uint32_t *ranks, struct ct_lane_bar *bars)
{
    uint64_t end = 0;
    size_t count = 0;
    for (size_t k = 0; k < t->count; k++) {
        const uint32_t i = t->order[k].place;
        const uint32_t parent = t->places[i].parent;
        uint64_t *begin = parent == CT_STACK_NONE ? &end : &t->next[parent];
        t->next[i] = *begin;
        if (t->weight[i] >= least)
            bars[count++] = (struct ct_lane_bar){ranks[t->places[i].function], t->depth[i], *begin,
                                                 *begin + t->weight[i]};
        *begin += t->weight[i];
    }
    return count;
}

static int by_begin(const void *a, const void *b)
{
    const struct ct_lane_bar *x = a, *y = b;
    return ct_order(x->from, y->from) ?: ct_order(x->depth, y->depth);
}

static int by_depth(const void *a, const void *b)
{
    const struct ct_lane_bar *x = a, *y = b;
    return ct_order(x->depth, y->depth) ?: by_begin(a, b);
}

/* Drops the deepest bars if there are too many, and sorts the rest by their begin. Returns the number of bars
 * left. */
static size_t limit_bars(struct ct_lane_bar *bars, size_t count, size_t most)
{
    qsort(bars, count, sizeof *bars, by_depth);
    const size_t kept = count < most ? count : most;
    qsort(bars, kept, sizeof *bars, by_begin);
    return kept;
}

/* Makes bars of a tree of stacks, from places that weigh at least `least`, and at most `most` bars. Sets
 * *count to their number. CT_ERR_NOMEM. */
static int make_bars(const struct ct_report_page *r, const struct ct_stack_place *places, size_t place_count,
                     const uint32_t *ranks, uint64_t least, size_t most, struct ct_lane_bar **bars,
                     size_t *count)
{
    struct tree t = {.places = places, .count = place_count};
    t.weight = calloc(t.count + 1, sizeof *t.weight);
    t.next = calloc(t.count + 1, sizeof *t.next);
    t.depth = calloc(t.count + 1, sizeof *t.depth);
    t.order = calloc(t.count + 1, sizeof *t.order);
    *bars = calloc(t.count + 1, sizeof **bars);
    const bool fine = t.weight && t.next && t.depth && t.order && *bars;
    if (fine) {
        weigh(r, &t);
        put_in_order(&t, ranks);
        *count = limit_bars(*bars, lay_out(&t, least, ranks, *bars), most);
    }
    free(t.order);
    free(t.depth);
    free(t.next);
    free(t.weight);
    return fine ? CT_OK : CT_ERR_NOMEM;
}

/* The chart of stacks: a lane of all threads, followed by one of each thread. */
struct chart {
    struct ct_chart_lane lanes[CT_REPORT_THREADS + 1];
    struct ct_lane_bar *bars[CT_REPORT_THREADS + 1];
    char cores[CT_REPORT_THREADS][CT_REPORT_STREAM_NAME];
    char threads[CT_REPORT_THREADS][CT_REPORT_THREAD_NAME];
    size_t count;
};

static int add_lane(const struct ct_report_page *r, struct chart *c, const uint32_t *ranks,
                    const struct ct_report_thread *thread)
{
    struct ct_chart_lane *lane = &c->lanes[c->count];
    const uint64_t all = thread ? thread->weight : ct_report_all(r);
    const size_t most = thread ? BARS / r->threads->count : BARS;
    const int rc = make_bars(
        r, thread ? thread->places : r->places, thread ? thread->place_count : r->place_count, ranks,
        all / (thread ? LEAST_OF_THREAD : LEAST) + 1, most, &c->bars[c->count], &lane->count);
    lane->bars = c->bars[c->count];
    lane->weight = all;
    if (thread) {
        char *core = c->cores[c->count - 1];
        lane->core = ct_report_stream_name(r, &r->streams[thread->stream], core, sizeof c->cores[0]);
        lane->thread = ct_report_thread_name(r, thread->stream, thread->context, c->threads[c->count - 1]);
    }
    c->count++;
    return rc;
}

/* Returns whether a saved result, which tells no core and thread, contributes to the stacks. */
static bool has_saved(const struct ct_report_page *r)
{
    for (size_t i = 0; i < r->input_count; i++)
        if (r->inputs[i].tells & CT_REPORT_STACKS && !(r->inputs[i].tells & CT_REPORT_STREAMS))
            return true;
    return false;
}

static int draw(FILE *out, const struct ct_report_page *r, const struct chart *c, const char **names)
{
    const struct ct_lanes lanes = {.label = "Stacks of functions, as wide as the time spent in them",
                                   .unit = ct_report_unit(r),
                                   .kind = "weight",
                                   .names = names,
                                   .name_count = r->function_count,
                                   .functions = true,
                                   .lanes = c->lanes,
                                   .lane_count = c->count};
    fprintf(
        out,
        "<p>Each bar is a function, called by the function above it. Its width is the %s spent in it and in "
        "the functions that it called. Click a bar to zoom in; its callers are listed below the table of "
        "functions.%s%s</p>\n<div class=\"panel\">\n",
        ct_report_unit(r), r->threads ? " The choice of a core or thread applies to the tables, too." : "",
        r->threads && has_saved(r) ? " Saved results are not assigned to a core or thread." : "");
    const int rc = ct_lanes_html(out, &lanes);
    fputs("</div>\n", out);
    return rc;
}

static int stacks(FILE *out, const struct ct_report_page *r)
{
    char text[CT_NUMBER_SIZE];
    struct chart *c = calloc(1, sizeof *c);
    const char **names = ct_report_names(r);
    uint32_t *ranks = ct_report_ranks(r);
    int rc = c && names && ranks ? add_lane(r, c, ranks, NULL) : CT_ERR_NOMEM;
    for (size_t i = 0; r->threads && i < r->threads->count && !rc; i++)
        rc = add_lane(r, c, ranks, &r->threads->threads[i]);
    if (!rc)
        rc = draw(out, r, c, names);
    const size_t hidden = rc ? 0 : r->place_count - c->lanes[0].count;
    if (hidden && !c->lanes[0].weight)
        fprintf(out, "<p class=\"more\">No %s were counted, so the chart has no bars.</p>\n",
                ct_report_unit(r));
    else if (hidden)
        fprintf(out, "<p class=\"more\">%s smaller stack%s left out of the chart, not of the table.</p>\n",
                ct_number_count(text, hidden), hidden == 1 ? " is" : "s are");
    if (!rc && r->threads && r->threads->left_out)
        fprintf(out, "<p class=\"more\">%zu more threads, with less time, cannot be chosen.</p>\n",
                r->threads->left_out);
    for (size_t i = 0; c && i < c->count; i++)
        free(c->bars[i]);
    free(c);
    free(ranks);
    free(names);
    return rc;
}

/* ---- tables ---- */

static void place_cell(FILE *out, const struct ct_report_place *p, const char *class)
{
    fprintf(out, "<td class=\"%s\" data-tip=\"", class);
    ct_xml_text(out, p->function);
    fprintf(out, "\n0x%" PRIx64 "\">", p->addr);
    ct_xml_text(out, p->function);
    if (p->file) {
        fputs(" <span class=\"soft\">", out);
        ct_xml_text(out, p->file);
        fprintf(out, ":%" PRIu32 "</span>", p->line);
    } else if (p->offset) {
        fprintf(out, "<span class=\"soft\">+0x%" PRIx64 "</span>", p->offset);
    }
    fputs("</td>", out);
}

static void function_row(FILE *out, const struct ct_report_page *r, const struct ct_report_function *f,
                         uint64_t all)
{
    fputs("<tr>", out);
    ct_page_part_cells(out, ct_report_self(r, f), all);
    ct_page_count_cell(out, ct_report_self(r, f));
    ct_page_count_cell(out, ct_report_inclusive(r, f));
    ct_page_count_cell(out, f->calls);
    place_cell(out, &f->place, "wide name first");
    fputs("</tr>\n", out);
}

static void functions(FILE *out, const struct ct_report_page *r)
{
    const uint64_t all = ct_report_all(r);
    uint64_t rest = 0;
    char text[CT_NUMBER_SIZE];
    char count[CT_NUMBER_SIZE];
    fprintf(
        out,
        "<h3>Functions</h3>\n<div class=\"panel scroll tall\" tabindex=\"0\"><table class=\"list byname\" "
        "id=\"functions\"><thead><tr><th "
        "scope=\"col\" class=\"num\" aria-sort=\"descending\"><button>Part</button></th><th "
        "scope=\"col\"></th>"
        "<th scope=\"col\" class=\"num\"><button>%s alone</button></th><th scope=\"col\" "
        "class=\"num\"><button>With callees</button></th><th scope=\"col\" "
        "class=\"num\"><button>Calls</button>"
        "</th><th scope=\"col\" class=\"first\"><button>Function</button></th></tr></thead><tbody>\n",
        r->cycles ? "Cycles" : "Instructions");
    for (size_t i = 0; i < r->ran_count; i++) {
        if (i < FUNCTIONS)
            function_row(out, r, &r->functions[i], all);
        else
            rest += ct_report_self(r, &r->functions[i]);
    }
    fputs("</tbody></table></div>\n", out);
    if (r->ran_count > FUNCTIONS)
        fprintf(out,
                "<p class=\"more\">%s more functions, with %s of the %s, are left out; the search finds "
                "them.</p>\n",
                ct_number_count(count, r->ran_count - FUNCTIONS), ct_page_percent(text, rest, all),
                ct_report_unit(r));
}

/* Returns whether edges have a stream. Those of sums have none. */
static bool has_core(const struct ct_report_page *r)
{
    return r->stream_count > 1 && !r->input_count;
}

static void edge_row(FILE *out, const struct ct_report_page *r, const struct ct_report_edge *e, uint64_t all)
{
    char mean[CT_NUMBER_SIZE];
    fputs("<tr>", out);
    if (r->cycles) {
        ct_page_part_cells(out, e->cycles.sum, all);
        ct_page_count_cell(out, e->count);
        ct_page_count_cell(out, e->cycles.min);
        fprintf(out, "<td class=\"num\">%s</td>", ct_number_mean(mean, ct_dist_mean(&e->cycles)));
        ct_page_count_cell(out, e->cycles.max);
    } else {
        ct_page_count_cell(out, e->count);
    }
    place_cell(out, &e->from, "name keep first");
    fprintf(out, "<td class=\"keep first\">%s</td>", e->way);
    place_cell(out, &e->to, "name keep first");
    if (has_core(r)) {
        char name[CT_REPORT_STREAM_NAME];
        fputs("<td class=\"keep\">", out);
        ct_xml_text(out, ct_report_stream_name(r, &r->streams[e->stream], name, sizeof name));
        fputs("</td>", out);
    }
    fputs("<td class=\"wide\"></td></tr>\n", out);
}

static void edges(FILE *out, const struct ct_report_page *r)
{
    const uint64_t all = r->input_count ? r->all_cycles : ct_report_all(r);
    const size_t shown = r->edge_count < EDGES ? r->edge_count : EDGES;
    const uint64_t rest = r->edges_left_out + r->edge_count - shown;
    char text[CT_NUMBER_SIZE];
    fputs("<h3>Hottest branches</h3>\n", out);
    if (!ct_report_told(out, r, CT_REPORT_TIMES))
        return;
    fputs("<p>Each line starts at the target of a branch, follows straight code to the next branch, and "
          "tells how that branch ends.</p>\n<div class=\"panel scroll tall\" tabindex=\"0\"><table "
          "class=\"list byname\" "
          "id=\"edges\"><thead><tr>",
          out);
    if (r->cycles)
        fputs("<th scope=\"col\" class=\"num\"><button>Part</button></th><th scope=\"col\"></th>", out);
    fputs("<th scope=\"col\" class=\"num\"><button>Times</button></th>", out);
    if (r->cycles)
        fputs("<th scope=\"col\" class=\"num\"><button>Min</button></th><th scope=\"col\" "
              "class=\"num\"><button>Mean</button></th><th scope=\"col\" "
              "class=\"num\"><button>Max</button></th>",
              out);
    fprintf(out,
            "<th scope=\"col\" class=\"first\">From</th><th scope=\"col\" class=\"first\">Branch</th><th "
            "scope=\"col\" class=\"first\">To</th>%s</tr></thead><tbody>\n",
            has_core(r) ? "<th scope=\"col\">Core</th>" : "");
    for (size_t i = 0; i < shown; i++)
        edge_row(out, r, &r->edges[i], all);
    fputs("</tbody></table></div>\n", out);
    if (rest)
        fprintf(out, "<p class=\"more\">%s more are left out: <code>coretap timing --edges</code>.</p>\n",
                ct_number_count(text, rest));
}

int ct_report_time(FILE *out, const struct ct_report_page *r)
{
    int rc = CT_OK;
    if (ct_report_told(out, r, CT_REPORT_STACKS)) {
        if (!r->ran_count) {
            fputs("<p>No instruction was followed.</p>\n", out);
            return CT_OK;
        }
        rc = stacks(out, r);
        functions(out, r);
        if (!rc)
            rc = ct_report_modules(out, r);
    }
    edges(out, r);
    return rc;
}
