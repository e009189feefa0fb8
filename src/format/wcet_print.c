/* SPDX-License-Identifier: Apache-2.0 */
#include "format/wcet_print.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/path.h"
#include "base/printable.h"
#include "coretap/format.h"
#include "format/dot.h"
#include "format/json.h"
#include "format/wcet_source.h"

/* ---- text ---- */

static void text_place(FILE *out, const struct ct_wcet_view *v, struct ct_wcet_place place)
{
    const struct ct_cfg_block *block = ct_wcet_view_block(v, place.block);
    fprintf(out, "%s b%" PRIu32 " 0x%" PRIx64 "..0x%" PRIx64, ct_wcet_view_function(v, place.block),
            place.block, block->start, block->last);
    if (place.file)
        fprintf(out, " %s:%" PRIu32, place.file, place.line);
}

static void text_loops(FILE *out, const struct ct_wcet_view *v)
{
    size_t count;
    const struct ct_wcet_loop *loops = ct_wcet_loops(v->wcet, &count);
    fputs("# loop\tbound\torigin\tobserved\n", out);
    for (uint32_t l = 0; l < count; l++) {
        if (!loops[l].used)
            continue;
        fprintf(out, "l%" PRIu32 " ", l);
        text_place(out, v, ct_wcet_view_at_loop(v, l));
        fprintf(out, "\t%" PRIu64 "\t%s\t%" PRIu64 "\n", loops[l].bound,
                ct_wcet_origin_name((enum ct_wcet_origin)loops[l].origin), loops[l].observed);
    }
}

void ct_wcet_print_text(FILE *out, const struct ct_wcet_view *v)
{
    const struct ct_wcet_result *r = v->result;
    char why[CT_WCET_TEXT];
    fprintf(out,
            "entry=%s\nwcet_cycles=%" PRIu64 "\nis_bound=%s\nobserved_max_cycles=%" PRIu64
            "\nobserved_runs=%" PRIu64 "\n",
            v->entry, r->wcet, r->is_bound ? "true" : "false", r->observed_max, r->observed_runs);
    fprintf(out, "measured_calls_cycles=%" PRIu64 "\nrelaxed=%s\n", r->measured,
            r->relaxed ? "true" : "false");
    (void)ct_losses_keys(&v->losses, CT_LOSSES_PROGRAM, '\n', ct_write_file, out);
    fputs("\n# block\texecutions\tcycles\tpart\tmeasured_calls\n", out);
    for (size_t i = 0; i < r->path_count; i++) {
        const struct ct_wcet_step *s = &r->path[i];
        text_place(out, v, ct_wcet_view_at_block(v, s->block));
        fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%.1f%%\t%" PRIu64 "%s\n", s->count, s->cycles,
                r->wcet ? 100.0 * (double)s->cycles / (double)r->wcet : 0, s->measured,
                s->assumed ? "\tassumed" : "");
    }
    text_loops(out, v);
    if (r->assumed_count)
        fputs("# assumed\tvalue\twhy\n", out);
    for (size_t i = 0; i < r->assumed_count; i++) {
        text_place(out, v, ct_wcet_view_at_assumed(v, &r->assumed[i]));
        fprintf(out, "\t%" PRIu64 "\t%s", r->assumed[i].value,
                ct_wcet_view_assumed_text(v, &r->assumed[i], why));
        if (r->assumed[i].runs)
            fprintf(out, " (%" PRIu64 " measured)", r->assumed[i].runs);
        fputc('\n', out);
    }
}

/* ---- JSON ---- */

static void json_place(struct ct_json *json, const struct ct_wcet_view *v, struct ct_wcet_place place)
{
    ct_json_text(json, "function", ct_wcet_view_function(v, place.block));
    ct_json_number(json, "block", place.block);
    ct_json_address(json, "start", ct_wcet_view_block(v, place.block)->start);
    ct_json_address(json, "last", ct_wcet_view_block(v, place.block)->last);
    if (place.file) {
        ct_json_text(json, "file", place.file);
        ct_json_number(json, "line", place.line);
    }
}

static void json_path(struct ct_json *json, const struct ct_wcet_view *v)
{
    ct_json_array(json, "path");
    for (size_t i = 0; i < v->result->path_count; i++) {
        const struct ct_wcet_step *s = &v->result->path[i];
        ct_json_object(json, NULL);
        json_place(json, v, ct_wcet_view_at_block(v, s->block));
        ct_json_number(json, "count", s->count);
        ct_json_number(json, "cycles", s->cycles);
        ct_json_number(json, "measured_calls_cycles", s->measured);
        ct_json_bool(json, "assumed", s->assumed);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

static void json_loops(struct ct_json *json, const struct ct_wcet_view *v)
{
    size_t count;
    const struct ct_wcet_loop *loops = ct_wcet_loops(v->wcet, &count);
    ct_json_array(json, "loops");
    for (uint32_t l = 0; l < count; l++) {
        if (!loops[l].used)
            continue;
        ct_json_object(json, NULL);
        ct_json_number(json, "id", l);
        json_place(json, v, ct_wcet_view_at_loop(v, l));
        ct_json_number(json, "bound", loops[l].bound);
        ct_json_text(json, "origin", ct_wcet_origin_name((enum ct_wcet_origin)loops[l].origin));
        ct_json_number(json, "observed", loops[l].observed);
        ct_json_object_end(json);
    }
    ct_json_array_end(json);
}

void ct_wcet_print_json(FILE *out, const struct ct_wcet_view *v)
{
    const struct ct_wcet_result *r = v->result;
    struct ct_json json = {.out = out};
    char why[CT_WCET_TEXT];
    ct_json_object(&json, NULL);
    ct_json_text(&json, "entry", v->entry);
    ct_json_number(&json, "wcet_cycles", r->wcet);
    ct_json_bool(&json, "is_bound", r->is_bound);
    ct_json_number(&json, "observed_max_cycles", r->observed_max);
    ct_json_number(&json, "observed_runs", r->observed_runs);
    ct_json_number(&json, "measured_calls_cycles", r->measured);
    ct_json_bool(&json, "relaxed", r->relaxed);
    ct_losses_json(&json, &v->losses, CT_LOSSES_PROGRAM);
    json_path(&json, v);
    json_loops(&json, v);
    ct_json_array(&json, "assumed");
    for (size_t i = 0; i < r->assumed_count; i++) {
        ct_json_object(&json, NULL);
        ct_json_text(&json, "kind", ct_wcet_view_assumed_name(r->assumed[i].kind));
        json_place(&json, v, ct_wcet_view_at_assumed(v, &r->assumed[i]));
        ct_json_number(&json, "value", r->assumed[i].value);
        if (r->assumed[i].runs)
            ct_json_number(&json, "runs", r->assumed[i].runs);
        if (r->assumed[i].within != CT_CFG_NONE && r->assumed[i].kind != CT_WCET_CYCLES)
            ct_json_number(&json, "within_loop", r->assumed[i].within);
        ct_json_text(&json, "why", ct_wcet_view_assumed_text(v, &r->assumed[i], why));
        ct_json_object_end(&json);
    }
    ct_json_array_end(&json);
    ct_json_object_end(&json);
}

/* ---- graphviz ---- */

static bool is_on_path(const struct ct_wcet_view *v, uint32_t block)
{
    for (size_t i = 0; i < v->result->path_count; i++)
        if (v->result->path[i].block == block)
            return true;
    return false;
}

static void dot_block(FILE *out, const struct ct_wcet_view *v, const struct ct_wcet_step *s)
{
    const struct ct_wcet_place place = ct_wcet_view_at_block(v, s->block);
    double part = v->result->wcet ? (double)s->cycles / (double)v->result->wcet : 0;
    fprintf(out, "  b%" PRIu32 " [label=\"", s->block);
    ct_dot_text(out, ct_wcet_view_function(v, s->block));
    fprintf(out, " b%" PRIu32 "\\n", s->block);
    if (place.file) {
        ct_dot_text(out, place.file);
        fprintf(out, ":%" PRIu32 "\\n", place.line);
    }
    fprintf(out,
            "%" PRIu64 " times, %" PRIu64 " cycles\", style=\"filled%s\", fillcolor=\"0.0 %.3f 1.0\"];\n",
            s->count, s->cycles, s->assumed ? ",dashed" : "", part);
}

void ct_wcet_print_dot(FILE *out, const struct ct_wcet_view *v)
{
    size_t count;
    const struct ct_cfg_edge *edges = ct_cfg_edges(v->cfg, &count);
    fputs("digraph longest_path {\n  node [shape=box, fontname=monospace];\n", out);
    for (size_t i = 0; i < v->result->path_count; i++)
        dot_block(out, v, &v->result->path[i]);
    for (size_t e = 0; e < count; e++)
        if (edges[e].to != CT_CFG_NONE && is_on_path(v, edges[e].from) && is_on_path(v, edges[e].to))
            fprintf(out, "  b%" PRIu32 " -> b%" PRIu32 "%s;\n", edges[e].from, edges[e].to,
                    edges[e].kind == CT_CFG_CALLED ? " [style=dotted]"
                    : edges[e].kind == CT_CFG_CALL ? " [style=dashed]"
                                                   : "");
    fputs("}\n", out);
}

/* ---- source ---- */

static void source_row(void *user, const struct ct_wcet_source_row *row)
{
    FILE *out = user;
    if (!row->number) {
        fputs("...\t\t\t\t\n", out);
        return;
    }
    fprintf(out, "%s:%" PRIu32, ct_base_name(row->path), row->number);
    if (row->line)
        fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%.1f%%\t", row->line->count, row->line->cycles,
                row->all ? 100.0 * (double)row->line->cycles / (double)row->all : 0);
    else
        fputs("\t\t\t\t", out);
    ct_put_printable_line(out, row->text, row->size);
    fputc('\n', out);
}

int ct_wcet_print_source(FILE *out, const struct ct_wcet_view *view)
{
    struct ct_wcet_source source;
    int rc = ct_wcet_source_make(view, &source);
    if (rc)
        return rc;
    fputs("# line\texecutions\tcycles\tpart\tsource\n", out);
    ct_wcet_source_walk(&source, source_row, out);
    if (source.elsewhere)
        fprintf(out, "-\t\t%" PRIu64 "\t%.1f%%\t(code of no line)\n", source.elsewhere,
                100.0 * (double)source.elsewhere / (double)view->result->wcet);
    ct_wcet_source_free(&source);
    return CT_OK;
}
