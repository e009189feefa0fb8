/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "format/wcet_html.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "format/number.h"
#include "format/page.h"
#include "format/wcet_source.h"
#include "format/xml.h"

/* most rows of a table, and most lines of source; the page says how many more there are */
#define MOST_ROWS  200
#define MOST_LINES 4000

static double part_of(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

static void place_cell(FILE *out, const struct ct_wcet_view *v, struct ct_wcet_place place, const char *class)
{
    const struct ct_cfg_block *b = ct_wcet_view_block(v, place.block);
    fprintf(out, "<td class=\"%s\" data-tip=\"block %" PRIu32 ", 0x%" PRIx64 " to 0x%" PRIx64 "\">", class,
            place.block, b->start, b->last);
    ct_xml_text(out, ct_wcet_view_function(v, place.block));
    if (place.file) {
        fputs(" <span class=\"soft\">", out);
        ct_xml_text(out, place.file);
        fprintf(out, ":%" PRIu32 "</span>", place.line);
    }
    fputs("</td>", out);
}

static void left_out(FILE *out, size_t count, const char *what)
{
    char text[CT_NUMBER_SIZE];
    if (count > MOST_ROWS)
        fprintf(out, "<p class=\"more\">%s more %s are left out.</p>\n",
                ct_number_count(text, count - MOST_ROWS), what);
}

/* ---- the bound and the observed times ---- */

static void measure(FILE *out, const char *what, const char *entry, uint64_t cycles, uint64_t all,
                    const char *class)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out, "<tr><th scope=\"row\">%s <code>", what);
    ct_xml_text(out, entry);
    fprintf(out,
            "</code></th><td class=\"num\">%s cycles</td><td class=\"wide\"><span class=\"bar long %s\" "
            "aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></span></td></tr>\n",
            ct_number_count(text, cycles), class, 100 * part_of(cycles, all));
}

static size_t count_assumed(const struct ct_wcet_result *r, uint32_t kind)
{
    size_t count = 0;
    for (size_t i = 0; i < r->assumed_count; i++)
        count += r->assumed[i].kind == kind;
    return count;
}

/* Writes how much is in no path because it has no bound. */
static void never_ran(FILE *out, const struct ct_wcet_result *r)
{
    const size_t loops = count_assumed(r, CT_WCET_LEFT_OUT);
    const size_t functions = count_assumed(r, CT_WCET_UNCALLED);
    if (loops || functions)
        fprintf(out,
                "<p>The path leaves out code that never ran and has no bound: %zu loops, %zu functions that "
                "call themselves. <code>coretap wcet</code> lists them.</p>\n",
                loops, functions);
}

/* Writes why another run may take longer. */
static void no_bound(FILE *out, const struct ct_wcet_result *r)
{
    const bool rounds = count_assumed(r, CT_WCET_LOOP) + count_assumed(r, CT_WCET_TOTAL) +
                        count_assumed(r, CT_WCET_DEPTH) + count_assumed(r, CT_WCET_LEFT_OUT) +
                        count_assumed(r, CT_WCET_UNCALLED);
    const bool targets = count_assumed(r, CT_WCET_CALL) + count_assumed(r, CT_WCET_WAY_OUT);
    const bool calls = count_assumed(r, CT_WCET_MEASURED);
    char text[CT_NUMBER_SIZE];
    fputs("<p><span class=\"badge bad\">no bound</span> Another run may take longer.", out);
    if (rounds)
        fputs(" Some loop or recursion has no other bound than what was observed, or none and is left out: "
              "give one with <code>--bounds</code>, or in a comment of the source.",
              out);
    if (targets)
        fputs(" Some computed branch or call was never observed, and where it goes is not in the time: "
              "give its targets with <code>--targets</code>.",
              out);
    if (calls)
        fprintf(out,
                " %s cycles of it are of calls that are measured and not modelled, as of shared libraries.",
                ct_number_count(text, r->measured));
    if (!rounds && !targets && !calls)
        fputs(" The time leaves out what was never observed (<code>--unobserved exclude</code>), or a "
              "part of what was measured (<code>--quantile</code>).",
              out);
    fputs("</p>\n", out);
}

static void verdict(FILE *out, const struct ct_wcet_result *r)
{
    if (!r->is_bound)
        no_bound(out, r);
    else if (r->assumed_count)
        fprintf(
            out,
            "<p><span class=\"badge warn\">%zu assumed</span> Some of the longest path was never observed; "
            "what was assumed for it is listed below.</p>\n",
            r->assumed_count);
    else
        fputs("<p><span class=\"badge good\">all observed</span> Each piece of the longest path was "
              "measured, and "
              "each of its loops has a bound.</p>\n",
              out);
}

static void comparison(FILE *out, const struct ct_wcet_view *v)
{
    const struct ct_wcet_result *r = v->result;
    const uint64_t all = r->wcet > r->observed_max ? r->wcet : r->observed_max;
    char runs[CT_NUMBER_SIZE];
    fputs("<div class=\"panel\">\n<table class=\"compare\">\n", out);
    measure(out, "Longest path of", v->entry, r->wcet, all, "");
    if (r->observed_runs)
        measure(out, "Longest observed run of", v->entry, r->observed_max, all, "seen");
    fprintf(out,
            "</table>\n<p>%s whole run%s observed. The path is made of the largest time of each piece of "
            "code and of "
            "the bounds of the loops; it may never have run as a whole.</p>\n",
            r->observed_runs ? ct_number_count(runs, r->observed_runs) : "No",
            r->observed_runs > 1 ? "s were" : " was");
    verdict(out, r);
    never_ran(out, r);
    fputs("</div>\n", out);
}

/* ---- tables ---- */

/* The blocks of a function on the path. */
struct of_function {
    uint32_t block; /* first of the blocks */
    uint64_t cycles;
    uint64_t count; /* executions of the function's entry */
    size_t blocks;
};

static int by_cycles(const void *a, const void *b)
{
    const struct of_function *x = a, *y = b;
    return ct_order(y->cycles, x->cycles) ?: ct_order(x->block, y->block);
}

/* Adds up the path by function. The path is sorted by function. */
static size_t add_up(const struct ct_wcet_view *v, struct of_function *all)
{
    size_t count = 0;
    size_t functions;
    uint32_t last = CT_CFG_NONE;
    const struct ct_cfg_function *f = ct_cfg_functions(v->cfg, &functions);
    for (size_t i = 0; i < v->result->path_count; i++) {
        const struct ct_wcet_step *step = &v->result->path[i];
        const uint32_t function = ct_wcet_view_block(v, step->block)->function;
        if (!count || function != last)
            all[count++] = (struct of_function){.block = step->block};
        last = function;
        all[count - 1].cycles += step->cycles;
        all[count - 1].blocks++;
        if (function != CT_CFG_NONE && f[function].block == step->block)
            all[count - 1].count = step->count;
    }
    qsort(all, count, sizeof *all, by_cycles);
    return count;
}

static int functions(FILE *out, const struct ct_wcet_view *v)
{
    struct of_function *all = calloc(v->result->path_count + 1, sizeof *all);
    if (!all)
        return CT_ERR_NOMEM;
    const size_t count = add_up(v, all);
    fputs("<h3>By function</h3>\n<div class=\"panel scroll\"><table class=\"list byname\"><thead><tr><th "
          "scope=\"col\" "
          "class=\"num\">Part</th><th scope=\"col\"></th><th scope=\"col\" class=\"num\">Cycles</th><th "
          "scope=\"col\" class=\"num\">Runs</th><th scope=\"col\" "
          "class=\"first\">Function</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < count && i < MOST_ROWS; i++) {
        fputs("<tr>", out);
        ct_page_part_cells(out, all[i].cycles, v->result->wcet);
        ct_page_count_cell(out, all[i].cycles);
        ct_page_count_cell(out, all[i].count);
        fputs("<td class=\"wide name first\">", out);
        ct_xml_text(out, ct_wcet_view_function(v, all[i].block));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    left_out(out, count, "functions");
    free(all);
    return CT_OK;
}

static const char *origin_text(uint8_t origin)
{
    static const char *const texts[] = {"none", "told with --bounds", "comment in the source",
                                        "counted by the code", "observed only"};
    return texts[origin];
}

static void loops(FILE *out, const struct ct_wcet_view *v)
{
    size_t count;
    size_t shown = 0;
    const struct ct_wcet_loop *all = ct_wcet_loops(v->wcet, &count);
    for (uint32_t l = 0; l < count; l++) {
        if (!all[l].used || shown++ >= MOST_ROWS)
            continue;
        if (shown == 1)
            fputs("<h3>Loops</h3>\n<p>How often the head of a loop runs for each time that the loop is "
                  "entered.</p>\n<div class=\"panel scroll\"><table class=\"list byname\"><thead><tr><th "
                  "scope=\"col\" "
                  "class=\"num\">Bound</th><th scope=\"col\" class=\"num\">Observed</th><th "
                  "scope=\"col\">Bound known from</th><th scope=\"col\" "
                  "class=\"first\">Head</th></tr></thead><tbody>\n",
                  out);
        fputs("<tr>", out);
        ct_page_count_cell(out, all[l].bound);
        ct_page_count_cell(out, all[l].observed);
        fprintf(out, "<td><span class=\"badge %s\">%s</span></td>",
                all[l].origin == CT_WCET_OBSERVED ? "bad" : "good", origin_text(all[l].origin));
        place_cell(out, v, ct_wcet_view_at_loop(v, l), "wide name first");
        fputs("</tr>\n", out);
    }
    if (shown)
        fputs("</tbody></table></div>\n", out);
    left_out(out, shown, "loops");
}

static void assumptions(FILE *out, const struct ct_wcet_view *v)
{
    const struct ct_wcet_result *r = v->result;
    char why[CT_WCET_TEXT];
    if (!r->assumed_count)
        return;
    fputs("<h3>What was assumed</h3>\n<div class=\"panel scroll\"><table class=\"list byname\" "
          "id=\"assumed\"><thead><tr><th scope=\"col\" class=\"num\">Value</th><th scope=\"col\" "
          "class=\"first\">Where</th><th scope=\"col\" class=\"wide\">Why</th></tr></thead><tbody>\n",
          out);
    for (size_t i = 0; i < r->assumed_count && i < MOST_ROWS; i++) {
        fputs("<tr>", out);
        ct_page_count_cell(out, r->assumed[i].value);
        place_cell(out, v, ct_wcet_view_at_assumed(v, &r->assumed[i]), "name keep first");
        fputs("<td class=\"wide\">", out);
        ct_xml_text(out, ct_wcet_view_assumed_text(v, &r->assumed[i], why));
        fputs("</td></tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
    left_out(out, r->assumed_count, "assumptions");
}

static void blocks(FILE *out, const struct ct_wcet_view *v)
{
    const struct ct_wcet_result *r = v->result;
    fprintf(
        out,
        "<details class=\"file\"><summary>The %zu blocks of the path</summary>\n<div class=\"scroll inside\" "
        "tabindex=\"0\"><table class=\"list byname\"><thead><tr><th scope=\"col\" "
        "class=\"num\"><button>Part</button>"
        "</th><th scope=\"col\"></th><th scope=\"col\" class=\"num\"><button>Cycles</button></th><th "
        "scope=\"col\" class=\"num\"><button>Runs</button></th><th scope=\"col\" "
        "class=\"first\">Block</th></tr></thead>"
        "<tbody>\n",
        r->path_count);
    for (size_t i = 0; i < r->path_count && i < MOST_ROWS; i++) {
        const struct ct_wcet_step *step = &r->path[i];
        fputs("<tr>", out);
        ct_page_part_cells(out, step->cycles, r->wcet);
        ct_page_count_cell(out, step->cycles);
        ct_page_count_cell(out, step->count);
        place_cell(out, v, ct_wcet_view_at_block(v, step->block), "wide name first");
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table>\n", out);
    left_out(out, r->path_count, "blocks");
    fputs("</div></details>\n", out);
}

/* ---- source ---- */

struct source_out {
    FILE *out;
    uint64_t most; /* most cycles of a line */
    size_t rows;
    bool is_open;
};

static void begin_file(struct source_out *s, const char *path)
{
    if (s->is_open)
        fputs("</tbody></table></div></details>\n", s->out);
    s->is_open = true;
    fputs("<details class=\"file\" open><summary>", s->out);
    ct_xml_text(s->out, path);
    fputs("</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"src\"><thead><tr><th></th><th "
          "class=\"c\" "
          "scope=\"col\">runs</th><th class=\"c\" scope=\"col\">cycles</th><th class=\"c\" "
          "scope=\"col\">part</th><th "
          "scope=\"col\"></th></tr></thead><tbody>\n",
          s->out);
}

static void line_cells(FILE *out, const struct ct_wcet_source_row *row, uint64_t most)
{
    char count[CT_NUMBER_SIZE];
    char cycles[CT_NUMBER_SIZE];
    char part[CT_NUMBER_SIZE];
    const struct ct_wcet_line *line = row->line;
    fprintf(
        out,
        "<td class=\"c\">%s</td><td class=\"c\">%s</td><td class=\"c heat\" style=\"--w:%.1f%%\">%s%s</td>",
        ct_number_count(count, line->count), ct_number_count(cycles, line->cycles),
        100 * part_of(line->cycles, most),
        line->assumed ? "<span class=\"one\" data-tip=\"Some of these cycles were never observed.\">?</span> "
                      : "",
        ct_page_percent(part, line->cycles, row->all));
}

static void source_row(void *user, const struct ct_wcet_source_row *row)
{
    struct source_out *s = user;
    if (s->rows++ >= MOST_LINES)
        return;
    if (row->first)
        begin_file(s, row->path);
    if (!row->number) {
        fputs("<tr class=\"gap\"><td class=\"n\">⋯</td><td></td><td></td><td></td><td></td></tr>\n", s->out);
        return;
    }
    fprintf(s->out, "<tr%s><td class=\"n\">%" PRIu32 "</td>", row->line ? " class=\"path\"" : "",
            row->number);
    if (row->line)
        line_cells(s->out, row, s->most);
    else
        fputs("<td></td><td></td><td></td>", s->out);
    fputs("<td class=\"s\">", s->out);
    if (row->size)
        ct_xml_bytes(s->out, row->text, row->size);
    else
        fputs("&nbsp;", s->out);
    fputs("</td></tr>\n", s->out);
}

static int source(FILE *out, const struct ct_wcet_view *v)
{
    struct ct_wcet_source by_line;
    char part[CT_NUMBER_SIZE];
    int rc = ct_wcet_source_make(v, &by_line);
    if (rc)
        return rc;
    struct source_out s = {.out = out};
    for (size_t i = 0; i < by_line.count; i++)
        if (by_line.lines[i].cycles > s.most)
            s.most = by_line.lines[i].cycles;
    fputs("<h3>Source of the path</h3>\n<p>How often each line runs on the longest path, and the cycles that "
          "it "
          "takes in all. Lines that are not on it have no numbers.</p>\n",
          out);
    ct_wcet_source_walk(&by_line, source_row, &s);
    if (s.is_open)
        fputs("</tbody></table></div></details>\n", out);
    if (s.rows > MOST_LINES)
        fprintf(out, "<p class=\"more\">%zu more lines are left out.</p>\n", s.rows - MOST_LINES);
    if (by_line.elsewhere)
        fprintf(out, "<p class=\"more\">%s of the cycles are in code of which no line is known.</p>\n",
                ct_page_percent(part, by_line.elsewhere, v->result->wcet));
    ct_wcet_source_free(&by_line);
    return CT_OK;
}

int ct_wcet_html_parts(FILE *out, const struct ct_wcet_view *view)
{
    comparison(out, view);
    int rc = functions(out, view);
    loops(out, view);
    assumptions(out, view);
    if (!rc)
        rc = source(out, view);
    blocks(out, view);
    return rc;
}

int ct_wcet_html(FILE *out, const struct ct_wcet_view *view)
{
    int rc = ct_page_begin_of(out, "Longest path of ", view->entry);
    if (rc)
        return rc;
    rc = ct_wcet_html_parts(out, view);
    fputs("</main>\n", out);
    ct_page_script(out, ct_page_js, ct_page_js_size);
    ct_page_end(out);
    return rc;
}
