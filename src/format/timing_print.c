/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "format/timing_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/path.h"
#include "base/printable.h"
#include "coretap/format.h"

/* ---- tables of the largest items ---- */

struct place {
    size_t index;
    uint64_t weight;
};

static int by_weight(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ct_order(y->weight, x->weight) ?: ct_order(x->index, y->index);
}

/* Returns the weight of an item. Sets *ran when it was executed, because without cycle counts its weight may
 * be 0 nevertheless. */
typedef uint64_t weigh_fn(const struct ct_timing_view *view, size_t index, bool *ran);
typedef void line_fn(FILE *out, const struct ct_timing_view *view, size_t index);

/* Writes the `top` of `count` items with the largest weights, without those that never ran. CT_ERR_NOMEM. */
static int table(FILE *out, const struct ct_timing_view *view, size_t count, size_t top, weigh_fn *weigh,
                 line_fn *line)
{
    struct place *places = calloc(count + 1, sizeof *places);
    size_t used = 0;
    if (!places)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        bool ran;
        places[used] = (struct place){i, weigh(view, i, &ran)};
        used += ran;
    }
    if (used)
        qsort(places, used, sizeof *places, by_weight);
    for (size_t i = 0; i < used && i < top; i++)
        line(out, view, places[i].index);
    if (used > top)
        fprintf(out, "# %zu more\n", used - top);
    free(places);
    return CT_OK;
}

static void dist(FILE *out, const struct ct_dist *d)
{
    fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%.2f\t%" PRIu64 "\t%.2f", d->count, d->min, ct_dist_mean(d),
            d->max, ct_dist_deviation(d));
}

/* ---- text ---- */

struct ct_timing_found ct_timing_found_in(const struct ct_timing *timing)
{
    struct ct_timing_found found = {.totals = ct_timing_totals_of(timing)};
    found.functions = ct_timing_functions(timing, &found.function_count);
    found.edges = ct_timing_edges(timing, &found.edge_count);
    found.pairs = ct_timing_pairs(timing, &found.pair_count);
    return found;
}

/* Returns the name of a program of the sums. */
static const char *module(const struct ct_timing_view *view, uint32_t program)
{
    return program == CT_TIMING_NO_PROGRAM ? NULL
                                           : ct_base_name(ct_timing_sums_program(view->sums, program).name);
}

/* Returns the weight of a function: its cycles or, without cycle counts, its steps. */
static uint64_t function_weight(const struct ct_timing_view *view, size_t index, bool *ran)
{
    const struct ct_timing_function *f = &view->found.functions[index];
    *ran = f->steps;
    return view->found.totals.edges ? f->cycles : f->steps;
}

static void function_line(FILE *out, const struct ct_timing_view *view, size_t index)
{
    const struct ct_timing_function *f = &view->found.functions[index];
    fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64, f->label, f->cycles, f->runs, f->cut);
    dist(out, &f->self);
    dist(out, &f->inclusive);
    fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", f->recursive.count, f->preempted.count,
            f->preempted.sum);
}

static uint64_t longest_weight(const struct ct_timing_view *view, size_t index, bool *ran)
{
    const uint64_t cycles = view->found.functions[index].longest.cycles;
    *ran = cycles > 0;
    return cycles;
}

static void longest_line(FILE *out, const struct ct_timing_view *view, size_t index)
{
    const struct ct_timing_function *f = &view->found.functions[index];
    const struct ct_timing_longest *l = &f->longest;
    fprintf(out, "%s\t%" PRIu64 "\t%" PRIu64 "cyc\t%" PRIu64 "cyc\t%02x\t", f->label, l->cycles, l->from,
            l->to, l->id);
    ct_put_printable(out, l->buffer ? l->buffer : "-");
    fputc('\t', out);
    ct_put_printable(out, l->capture ? l->capture : "-");
    fputc('\n', out);
}

static uint64_t edge_weight(const struct ct_timing_view *view, size_t index, bool *ran)
{
    const struct ct_timing_edge *e = &view->found.edges[index];
    *ran = e->count;
    return view->found.totals.edges ? e->cycles.sum : e->count;
}

/* Returns the edge of the control flow graph at the end of a step, or CT_CFG_NONE. */
static uint32_t cfg_edge(const struct ct_timing_view *view, const struct ct_timing_edge *edge)
{
    if (!view->cfg || edge->kind == CT_EDGE_OPEN || edge->program != view->cfg_program)
        return CT_CFG_NONE;
    return ct_cfg_edge_between(view->cfg, edge->last - view->cfg_shift, edge->next - view->cfg_shift);
}

static const char *way_out(const struct ct_timing_edge *edge)
{
    static const char *const names[] = {"next", "interrupted", "open"};
    return names[edge->kind];
}

/* Writes the module of an address of the sums, followed by "+". */
static void print_module(FILE *out, const struct ct_timing_view *view, uint32_t program)
{
    const char *name = module(view, program);
    if (name)
        ct_put_printable(out, name);
    if (name)
        fputc('+', out);
}

static void edge_line(FILE *out, const struct ct_timing_view *view, size_t index)
{
    const struct ct_timing_edge *e = &view->found.edges[index];
    uint32_t number = cfg_edge(view, e);
    if (number != CT_CFG_NONE)
        fprintf(out, "e%" PRIu32 "\t", number);
    else
        fputs("-\t", out);
    print_module(out, view, e->program);
    fprintf(out, "0x%" PRIx64 "..0x%" PRIx64 "\t%s\t", e->start, e->last, way_out(e));
    print_module(out, view, e->next_program);
    fprintf(out, "0x%" PRIx64 "\t%" PRIu64, e->next, e->count);
    dist(out, &e->cycles);
    fprintf(out, "\t%" PRIu64 "\n", e->shared);
}

static uint64_t block_weight(const struct ct_timing_view *view, size_t index, bool *ran)
{
    const struct ct_timing_block *b = &view->blocks[index];
    *ran = b->count;
    return view->found.totals.edges ? b->sum : b->count;
}

static void block_line(FILE *out, const struct ct_timing_view *view, size_t index)
{
    size_t count;
    const struct ct_timing_block *b = &view->blocks[index];
    const struct ct_cfg_block *block = &ct_cfg_blocks(view->cfg, &count)[index];
    fprintf(out,
            "b%zu\t0x%" PRIx64 "..0x%" PRIx64 "\t%" PRIu64 "\t%" PRIu64 "\t%.2f\t%" PRIu64 "\t%" PRIu64 "\n",
            index, block->start + view->cfg_shift, block->last + view->cfg_shift, b->count, b->min,
            b->timed ? (double)b->sum / (double)b->timed : 0, b->max, b->sum);
}

static void pairs(FILE *out, const struct ct_timing_view *view)
{
    const size_t count = view->found.pair_count;
    const struct ct_timing_pair *all = view->found.pairs;
    if (count)
        fputs("# from .. to\tcount\tmin\tmean\tmax\tdeviation\tpreempted "
              "count\tmin\tmean\tmax\tdeviation\tlost\t"
              "restarted\n",
              out);
    for (size_t i = 0; i < count; i++) {
        fputs(all[i].name, out);
        dist(out, &all[i].direct);
        dist(out, &all[i].preempted);
        fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\n", all[i].lost, all[i].restarted);
    }
}

static void totals(FILE *out, const struct ct_timing_view *view)
{
    const struct ct_timing_totals t = view->found.totals;
    if (view->buffer)
        fprintf(out, "# buffer %s, id %02x, core %s\n", view->buffer, view->id, view->core);
    else
        fprintf(out, "# captures=%" PRIu64 " damaged=%" PRIu64 " unknown=%" PRIu64 " failed=%" PRIu64 "\n",
                view->captures->known, view->captures->damaged, view->captures->unknown,
                view->captures->failed);
    fprintf(out,
            "# cycles=%" PRIu64 " edges=%" PRIu64 " unplaced=%" PRIu64 " steps=%" PRIu64 " untimed=%" PRIu64
            " ",
            t.cycles, t.edges, t.unplaced, t.steps, t.untimed);
    (void)ct_losses_keys(&view->losses, CT_LOSSES_PROGRAM, ' ', ct_write_file, out);
    fprintf(out, " exceptions=%" PRIu64 " switches=%" PRIu64 "\n", t.exceptions, t.switches);
}

int ct_timing_print_text(FILE *out, const struct ct_timing_view *view, const struct ct_timing_wish *wish)
{
    size_t count;
    int rc;
    totals(out, view);
    fputs("# function\tcycles\truns\tcut\tself count\tmin\tmean\tmax\tdeviation\tinclusive "
          "count\tmin\tmean\tmax\t"
          "deviation\trecursive\tpreempted\tcycles of others\n",
          out);
    rc = table(out, view, view->found.function_count, wish->top, function_weight, function_line);
    if (!rc && wish->longest) {
        fputs("# longest run of\tcycles\tfrom\tto\tid\tbuffer\tcapture\n", out);
        rc = table(out, view, view->found.function_count, wish->top, longest_weight, longest_line);
    }
    pairs(out, view);
    if (!rc && wish->edges) {
        fputs("# edge\tcode\tway out\tto\tcount\ttimed\tmin\tmean\tmax\tdeviation\tshared\n", out);
        rc = table(out, view, view->found.edge_count, wish->top, edge_weight, edge_line);
    }
    if (!rc && wish->blocks && view->cfg) {
        fputs("# block\tcode\tcount\tmin\tmean\tmax\tcycles\n", out);
        ct_cfg_blocks(view->cfg, &count);
        rc = table(out, view, count, wish->top, block_weight, block_line);
    }
    return rc;
}

/* ---- JSON ---- */

static void json_dist(struct ct_json *json, const char *key, const struct ct_dist *d)
{
    ct_json_object(json, key);
    ct_json_number(json, "count", d->count);
    ct_json_number(json, "sum", d->sum);
    ct_json_number(json, "min", d->min);
    ct_json_number(json, "max", d->max);
    ct_json_real(json, "mean", ct_dist_mean(d));
    ct_json_real(json, "deviation", ct_dist_deviation(d));
    ct_json_array(json, "histogram");
    for (unsigned i = 0; i < d->buckets; i++)
        if (d->histogram[i]) {
            ct_json_object(json, NULL);
            ct_json_number(json, "from", ct_dist_bucket_start(i));
            ct_json_number(json, "count", d->histogram[i]);
            ct_json_object_end(json);
        }
    ct_json_array_end(json);
    ct_json_object_end(json);
}

static void json_module(struct ct_json *json, const char *key, const struct ct_timing_view *view,
                        uint32_t program)
{
    const char *name = module(view, program);
    if (name)
        ct_json_text(json, key, name);
}

/* Writes where the longest run was. Writes its stream only for sums, because otherwise there is only one. */
static void json_longest(struct ct_json *json, const struct ct_timing_view *view,
                         const struct ct_timing_longest *longest)
{
    if (!longest->cycles)
        return;
    ct_json_object(json, "longest");
    ct_json_number(json, "cycles", longest->cycles);
    ct_json_number(json, "from", longest->from);
    ct_json_number(json, "to", longest->to);
    if (view->sums && longest->capture) {
        ct_json_number(json, "id", longest->id);
        ct_json_text(json, "buffer", longest->buffer);
        ct_json_text(json, "capture", longest->capture);
    }
    ct_json_object_end(json);
}

static void json_functions(struct ct_json *json, const struct ct_timing_view *view)
{
    const size_t count = view->found.function_count;
    const struct ct_timing_function *all = view->found.functions;
    ct_json_array(json, "functions");
    for (size_t i = 0; i < count; i++) {
        if (!all[i].steps)
            continue;
        ct_json_object(json, NULL);
        ct_json_text(json, "name", all[i].label);
        if (view->sums)
            json_module(json, "module", view, all[i].program);
        ct_json_address(json, "addr", all[i].addr);
        ct_json_number(json, "cycles", all[i].cycles);
        ct_json_number(json, "steps", all[i].steps);
        ct_json_number(json, "runs", all[i].runs);
        ct_json_number(json, "cut", all[i].cut);
        json_dist(json, "self", &all[i].self);
        json_dist(json, "inclusive", &all[i].inclusive);
        json_dist(json, "recursive", &all[i].recursive);
        json_dist(json, "preempted", &all[i].preempted);
        json_longest(json, view, &all[i].longest);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void json_edges(struct ct_json *json, const struct ct_timing_view *view)
{
    ct_json_array(json, "edges");
    for (size_t i = 0; i < view->found.edge_count; i++) {
        const struct ct_timing_edge *e = &view->found.edges[i];
        uint32_t number = cfg_edge(view, e);
        ct_json_object(json, NULL);
        if (number != CT_CFG_NONE)
            ct_json_number(json, "id", number);
        json_module(json, "module", view, e->program);
        ct_json_address(json, "start", e->start);
        ct_json_address(json, "last", e->last);
        ct_json_text(json, "way", way_out(e));
        ct_json_bool(json, "taken", e->exec);
        json_module(json, "next_module", view, e->next_program);
        ct_json_address(json, "next", e->next);
        ct_json_number(json, "count", e->count);
        ct_json_number(json, "shared", e->shared);
        json_dist(json, "cycles", &e->cycles);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void json_blocks(struct ct_json *json, const struct ct_timing_view *view)
{
    size_t count = 0;
    const struct ct_cfg_block *all = view->cfg ? ct_cfg_blocks(view->cfg, &count) : NULL;
    ct_json_array(json, "blocks");
    for (size_t i = 0; i < count; i++) {
        const struct ct_timing_block *b = &view->blocks[i];
        if (!b->count && !b->timed)
            continue;
        ct_json_object(json, NULL);
        ct_json_number(json, "id", i);
        ct_json_address(json, "start", all[i].start + view->cfg_shift);
        ct_json_address(json, "last", all[i].last + view->cfg_shift);
        ct_json_number(json, "count", b->count);
        ct_json_number(json, "sum", b->sum);
        ct_json_number(json, "min", b->min);
        ct_json_number(json, "max", b->max);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void json_pairs(struct ct_json *json, const struct ct_timing_view *view)
{
    const size_t count = view->found.pair_count;
    const struct ct_timing_pair *all = view->found.pairs;
    ct_json_array(json, "pairs");
    for (size_t i = 0; i < count; i++) {
        ct_json_object(json, NULL);
        ct_json_text(json, "name", all[i].name);
        json_dist(json, "direct", &all[i].direct);
        json_dist(json, "preempted", &all[i].preempted);
        ct_json_number(json, "lost", all[i].lost);
        ct_json_number(json, "restarted", all[i].restarted);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void json_totals(struct ct_json *json, const struct ct_timing_totals *t,
                        const struct ct_losses *losses)
{
    ct_json_object(json, "totals");
    ct_json_number(json, "cycles", t->cycles);
    ct_json_number(json, "edges", t->edges);
    ct_json_number(json, "unplaced", t->unplaced);
    ct_json_number(json, "steps", t->steps);
    ct_json_number(json, "untimed", t->untimed);
    ct_losses_members(json, losses, CT_LOSSES_PROGRAM);
    ct_json_number(json, "exceptions", t->exceptions);
    ct_json_number(json, "switches", t->switches);
    ct_json_object_end(json);
}

static void json_stream(struct ct_json *json, const struct ct_timing_view *view)
{
    char id[8];
    snprintf(id, sizeof id, "%02x", view->id);
    ct_json_text(json, "buffer", view->buffer);
    ct_json_text(json, "id", id);
    ct_json_text(json, "core", view->core);
}

static void json_captures(struct ct_json *json, const struct ct_analysis_captures *captures)
{
    ct_json_object(json, "captures");
    ct_json_number(json, "known", captures->known);
    ct_json_number(json, "damaged", captures->damaged);
    ct_json_number(json, "unknown", captures->unknown);
    ct_json_number(json, "failed", captures->failed);
    ct_json_object_end(json);
}

void ct_timing_print_json(struct ct_json *json, const struct ct_timing_view *view)
{
    ct_json_object(json, NULL);
    if (view->buffer)
        json_stream(json, view);
    else
        json_captures(json, view->captures);
    json_totals(json, &view->found.totals, &view->losses);
    json_functions(json, view);
    json_edges(json, view);
    json_blocks(json, view);
    json_pairs(json, view);
    ct_json_object_end(json);
}
