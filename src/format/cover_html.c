/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as one page: sums, files, functions, and the source with counts. A source line unfolds into
 * its instructions. */
#include "format/cover.h"
#include "base/search.h"
#include "format/disasm.h"
#include "format/it_block.h"
#include "format/page.h"
#include "format/source_text.h"
#include "format/xml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An instruction and its source line. */
struct made {
    uint32_t file, line, insn;
};

struct page {
    FILE *out;
    const struct ct_cover_view *view;
    size_t number; /* number of the program, for the names of anchors */
    const struct ct_cover_shape *shape;
    bool *annotated; /* by file: its source is in the page */
    struct ct_disasm *disasm;
    struct made *made;
};

static int by_line(const void *a, const void *b)
{
    const struct made *x = a, *y = b;
    return ct_order(x->file, y->file) ?: ct_order(x->line, y->line) ?: ct_order(x->insn, y->insn);
}

static bool sort_insns(struct page *p)
{
    const struct ct_cover_report *report = p->view->report;
    p->made = malloc((report->insn_count + 1) * sizeof *p->made);
    if (!p->made)
        return false;
    for (size_t i = 0; i < report->insn_count; i++)
        p->made[i] = (struct made){report->insns[i].file, report->insns[i].line, (uint32_t)i};
    if (report->insn_count)
        qsort(p->made, report->insn_count, sizeof *p->made, by_line);
    return true;
}

/* Returns the index in `made` of the first instruction of a line. */
static size_t first_made(const struct page *p, const struct ct_cover_line *line)
{
    struct made wanted = {line->file, line->line, 0};
    return CT_COUNT_WHILE(p->view->report->insn_count, i, by_line(&p->made[i], &wanted) < 0);
}

/* ---- tables ---- */

static void bar(FILE *out, struct ct_cover_ratio ratio)
{
    fputs("<td>", out);
    if (ratio.all)
        ct_page_bar(out, ct_cover_rate(ratio));
    fputs("</td>", out);
}

/* Writes the heading of a section of a program. */
static void heading(const struct page *p, const char *text)
{
    fprintf(p->out, "<h%u>%s</h%u>\n", p->shape->level + 1, text, p->shape->level + 1);
}

static void sum(FILE *out, const char *what, struct ct_cover_ratio ratio)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out,
            "<tr><th scope=\"row\">%s</th><td class=\"num\">%" PRIu64 " of %" PRIu64
            "</td><td class=\"num\">%s</td>",
            what, ratio.seen, ratio.all, ct_page_percent(text, ratio.seen, ratio.all));
    bar(out, ratio);
    fprintf(out, "</tr>\n");
}

/* Tells that the branches of optimised code are not the conditions of the source. */
static void optimised(const struct page *p)
{
    const struct ct_cover_report *report = p->view->report;
    if (report->optimised_units)
        fprintf(
            p->out,
            "<p class=\"one\">⚠ %" PRIu32 " of %" PRIu32
            " compile units are optimised code: its branches are not always the conditions of the source, "
            "and can be complete although a condition never changed. Measure conditions and MC/DC with a "
            "build at -O0.</p>\n",
            report->optimised_units, report->units);
}

/* What is seldom found has a sentence only where there is some. */
static void remark(FILE *out, uint64_t count, const char *what)
{
    if (count)
        fprintf(out, "%s: %" PRIu64 ". ", what, count);
}

static void sums(const struct page *p)
{
    const struct ct_cover_sums *s = &p->view->report->sums;
    fprintf(p->out, "<div class=\"panel\"><table class=\"sums\">\n");
    sum(p->out, "Functions", s->functions);
    sum(p->out, "Lines", s->lines);
    sum(p->out, "Instructions", s->insns);
    sum(p->out, "Branches", s->branches);
    sum(p->out, "Conditions", s->conditions);
    sum(p->out, "Calls", s->calls);
    fprintf(p->out, "</table>\n");
    optimised(p);
    fprintf(p->out, "<p class=\"more\">");
    remark(p->out, s->partial_lines, "Lines that ran in part");
    remark(p->out, s->hidden.all, "Conditions that are not observable, because no branch shows them");
    remark(p->out, s->hidden.seen, "Of them executed");
    remark(p->out, s->joined_lines, "Lines with joined conditions, whose both ways do not prove MC/DC");
    remark(p->out, p->view->report->unread_files,
           "Source files that were not read, so that decisions end there with the line");
    fprintf(p->out, "</p></div>\n");
}

static void percent_cell(FILE *out, struct ct_cover_ratio ratio)
{
    char text[CT_NUMBER_SIZE];
    fprintf(out, "<td class=\"num\">%s</td>", ct_page_percent(text, ratio.seen, ratio.all));
}

static void file_table(const struct page *p)
{
    struct ct_cover_slice slice = {0};
    if (!ct_cover_next_file(p->view, &slice))
        return;
    heading(p, "Files");
    fprintf(p->out,
            "<div class=\"panel scroll\"><table class=\"list byname\"><tr><th scope=\"col\" "
            "class=\"num\">Lines</th><th "
            "scope=\"col\" "
            "class=\"num\">Branches</th><th scope=\"col\" class=\"num\">Functions</th><th scope=\"col\"></th>"
            "<th scope=\"col\" class=\"first\">File</th></tr>\n");
    do {
        struct ct_cover_sums s = ct_cover_file_sums(p->view, &slice);
        fprintf(p->out, "<tr>");
        percent_cell(p->out, s.lines);
        percent_cell(p->out, s.branches);
        percent_cell(p->out, s.functions);
        bar(p->out, s.lines);
        fprintf(p->out, "<td class=\"wide first\">");
        if (p->annotated[slice.file])
            fprintf(p->out, "<a href=\"#p%zuf%" PRIu32 "\">", p->number, slice.file);
        ct_xml_text(p->out, slice.path);
        fprintf(p->out, "%s</td></tr>\n", p->annotated[slice.file] ? "</a>" : "");
    } while (ct_cover_next_file(p->view, &slice));
    fprintf(p->out, "</table></div>\n");
}

/* Writes a cell with a ratio, by which it is sorted. */
static void part_cell(FILE *out, uint64_t seen, uint64_t all)
{
    char text[CT_NUMBER_SIZE];
    const struct ct_cover_ratio ratio = {seen, all};
    fprintf(out, "<td class=\"num\" data-v=\"%.4g\">%s</td>", all ? ct_cover_rate(ratio) : -1.0,
            ct_page_percent(text, ratio.seen, ratio.all));
}

/* Writes the row of a function. Without source lines, it has the ratio of instructions. */
static void function_row(const struct page *p, const struct ct_cover_function *f)
{
    const bool lines = p->view->report->line_count;
    fprintf(p->out, "<tr><td class=\"num\">%" PRIu64 "</td>", f->count);
    part_cell(p->out, lines ? f->lines_run : f->insns_run, lines ? f->lines : f->insns);
    part_cell(p->out, f->branches_run, f->branches);
    fprintf(p->out, "<td class=\"wide name first\">");
    const bool linked = f->file != CT_LINE_NONE && p->annotated[f->file];
    if (linked)
        fprintf(p->out, "<a href=\"#" CT_COVER_LINE_ANCHOR "\">", p->number, f->file, f->line);
    ct_xml_text(p->out, f->name);
    fprintf(p->out, "%s</td></tr>\n", linked ? "</a>" : "");
}

/* Writes the table of functions. When there are too many, writes only those that ran. */
static void function_table(const struct page *p)
{
    const struct ct_cover_report *report = p->view->report;
    const bool all = report->function_count <= p->shape->functions;
    size_t rows = 0;
    heading(p, "Functions");
    fprintf(p->out,
            "<div class=\"panel scroll tall\" tabindex=\"0\"><table class=\"list byname\"><thead><tr><th "
            "scope=\"col\" class=\"num\"><button>Runs</button></th><th scope=\"col\" "
            "class=\"num\"><button>%s</button></th><th scope=\"col\" "
            "class=\"num\"><button>Branches</button></th><th scope=\"col\" "
            "class=\"first\"><button>Function</button></th></tr></thead><tbody>\n",
            report->line_count ? "Lines" : "Instructions");
    for (size_t i = 0; i < report->function_count && rows < p->shape->functions; i++) {
        if (!all && !report->functions[i].insns_run)
            continue;
        function_row(p, &report->functions[i]);
        rows++;
    }
    fprintf(p->out, "</tbody></table></div>\n");
    if (!all)
        fprintf(p->out, "<p class=\"more\">%zu functions are left out.</p>\n", report->function_count - rows);
}

/* ---- source ---- */

/* Returns an address from which on there are only instructions up to this one. */
static uint64_t code_begin(const struct page *p, const struct ct_cover_insn *insn)
{
    const struct ct_cover_insn *first = insn;
    while (first > p->view->report->insns && first[-1].addr + first[-1].size == first->addr &&
           insn->addr - first->addr < CT_IT_BLOCK_WINDOW)
        first--;
    return first->addr;
}

/* Writes an instruction as text. Marks one that did not run only where others of its line did: pages of large
 * programs have hundreds of thousands of instructions, and browsers open them as fast as they have few
 * elements. */
static void instruction(const struct page *p, const struct ct_cover_insn *insn, bool line_ran)
{
    char text[192];
    size_t size;
    const uint8_t *bytes = ct_memory_at(p->view->memory, insn->addr, CT_SPACE_EL1N, &size);
    if (!bytes || size < insn->size)
        return;
    const uint8_t it = insn->isa == CT_ISA_T32
                           ? ct_it_block_at(p->view->memory, CT_SPACE_EL1N, code_begin(p, insn), insn->addr)
                           : 0;
    ct_disasm_text(p->disasm, insn->isa, it, insn->addr, bytes, insn->size, text);
    if (insn->count || !line_ran)
        fprintf(p->out, "%10" PRIu64, insn->count);
    else
        fputs("<span class=\"no\">         0</span>", p->out);
    fprintf(p->out, "  %" PRIx64 "  ", insn->addr);
    ct_xml_text(p->out, text);
    bool branch = insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR;
    if (branch && (insn->cond || insn->not_taken))
        fprintf(p->out, "  taken %" PRIu64 ", passed by %" PRIu64, insn->taken, insn->not_taken);
    fputc('\n', p->out);
}

static void instructions(const struct page *p, const struct ct_cover_line *line)
{
    const struct ct_cover_report *report = p->view->report;
    uint32_t function = CT_COVER_NONE;
    fprintf(p->out, "<pre class=\"asm\">");
    for (size_t i = first_made(p, line); i < report->insn_count; i++) {
        const struct ct_cover_insn *insn = &report->insns[p->made[i].insn];
        if (insn->file != line->file || insn->line != line->line)
            break;
        if (insn->function != function) {
            function = insn->function;
            ct_xml_text(p->out, report->functions[function].name);
            fprintf(p->out, ":\n");
        }
        instruction(p, insn, line->count > 0);
    }
    fprintf(p->out, "</pre>");
}

/* Returns the number of conditional branches of a line that went only one way. */
static uint32_t one_way(const struct page *p, const struct ct_cover_line *line)
{
    const struct ct_cover_report *report = p->view->report;
    uint32_t n = 0;
    for (uint32_t i = 0; i < line->branches; i++) {
        const struct ct_cover_insn *insn = &report->insns[report->branches[line->first_branch + i]];
        n += insn->count && (!insn->taken || !insn->not_taken);
    }
    return n;
}

static void put_source(FILE *out, const char *text, size_t size)
{
    if (size)
        ct_xml_bytes(out, text, size);
    else
        fputs("&nbsp;", out);
}

static void row(const struct page *p, uint32_t file, uint32_t number, const struct ct_cover_line *line,
                const char *text, size_t size)
{
    uint32_t ways = line ? one_way(p, line) : 0;
    bool part = line && line->count && (line->insns_run < line->insns || ways);
    const char *class = !line ? "" : !line->count ? "miss" : part ? "part" : "hit";
    const char *mark = !line ? "" : !line->count ? "✗" : part ? "◐" : "✓";
    fprintf(p->out,
            "<tr class=\"%s\" id=\"" CT_COVER_LINE_ANCHOR "\"><td class=\"m\">%s</td><td class=\"n\">%" PRIu32
            "</td><td class=\"c\">",
            class, p->number, file, number, mark, number);
    if (line)
        fprintf(p->out, "%" PRIu64, line->count);
    fprintf(p->out, "</td><td class=\"s\">");
    if (line && line->insns) {
        fprintf(p->out, "<details><summary>");
        put_source(p->out, text, size);
        if (ways)
            fprintf(p->out,
                    "  <span class=\"one\">◂ %" PRIu32 " of %" PRIu32 " conditions one way only</span>", ways,
                    line->branches);
        if (line->hidden_run)
            fprintf(p->out, "  <span class=\"one\">◂ %" PRIu32 " condition%s that no branch shows</span>",
                    line->hidden_run, line->hidden_run == 1 ? "" : "s");
        fprintf(p->out, "</summary>");
        instructions(p, line);
        fprintf(p->out, "</details>");
    } else {
        put_source(p->out, text, size);
    }
    fprintf(p->out, "</td></tr>\n");
}

#define TABLE_BEGIN "<table class=\"src\">\n"
#define TABLE_END   "</table>"
#define PART_BEGIN  "<div class=\"lines\">" TABLE_BEGIN
#define PART_END    TABLE_END "</div>"
#define PART_LINES  1000 /* page.css has their height */

static void rows(const struct page *p, const struct ct_cover_slice *slice)
{
    struct ct_source_text source = ct_source_text_read(p->view->lines, slice->file);
    size_t next = 0;
    const char *text = "";
    size_t size = 0;
    const bool in_parts = slice->lines[slice->count - 1].line > PART_LINES;
    fputs(in_parts ? PART_BEGIN : TABLE_BEGIN, p->out);
    for (uint32_t number = 1; ct_source_text_next(&source, &text, &size); number++) {
        if (in_parts && number % PART_LINES == 0)
            fputs(PART_END PART_BEGIN, p->out);
        bool has = next < slice->count && slice->lines[next].line == number;
        row(p, slice->file, number, has ? &slice->lines[next] : NULL, text, size);
        next += has;
    }
    for (; next < slice->count; next++)
        row(p, slice->file, slice->lines[next].line, &slice->lines[next], "", 0);
    fputs(in_parts ? PART_END : TABLE_END, p->out);
    ct_source_text_free(&source);
}

static void file(const struct page *p, const struct ct_cover_slice *slice, bool open)
{
    char text[CT_NUMBER_SIZE];
    const struct ct_cover_ratio lines = ct_cover_file_sums(p->view, slice).lines;
    fprintf(p->out, "<details class=\"file\"%s id=\"p%zuf%" PRIu32 "\"><summary>", open ? " open" : "",
            p->number, slice->file);
    ct_xml_text(p->out, slice->path);
    fprintf(p->out, " · %s of lines</summary>\n<div class=\"scroll\" tabindex=\"0\">",
            ct_page_percent(text, lines.seen, lines.all));
    rows(p, slice);
    fprintf(p->out, "</div>\n</details>\n");
}

static void files(const struct page *p)
{
    struct ct_cover_slice slice = {0};
    size_t shown = 0;
    size_t left_out = 0;
    heading(p, "Source");
    fprintf(p->out, "<p>✓ ran. ◐ ran in part, or a condition had only one outcome. ✗ did not run. Click a "
                    "line to see its "
                    "instructions and how often each was executed.</p>\n");
    while (ct_cover_next_file(p->view, &slice)) {
        if (p->annotated[slice.file])
            file(p, &slice, shown++ == 0);
        else
            left_out++;
    }
    if (left_out)
        fprintf(p->out,
                "<p class=\"more\">The source of %zu files is left out to keep this page small: "
                "<code>coretap cover --format html</code> shows all.</p>\n",
                left_out);
}

/* Chooses the files whose source is in the page: each one that fits completely. Returns false when out of
 * memory. */
static bool choose_files(struct page *p, size_t *lines_left)
{
    struct ct_cover_slice slice = {0};
    p->annotated = calloc(ct_lines_file_count(p->view->lines) + 1, sizeof *p->annotated);
    while (p->annotated && ct_cover_next_file(p->view, &slice)) {
        const size_t last = slice.lines[slice.count - 1].line;
        if (last > *lines_left)
            continue;
        *lines_left -= last;
        p->annotated[slice.file] = true;
    }
    return p->annotated != NULL;
}

/* Writes one program. CT_ERR_NOMEM: it is incomplete. */
static int program(struct page *p, size_t *lines_left)
{
    sums(p);
    if (!p->disasm || !sort_insns(p) || !choose_files(p, lines_left))
        return CT_ERR_NOMEM;
    file_table(p);
    function_table(p);
    files(p);
    return ct_disasm_lacked_memory(p->disasm) ? CT_ERR_NOMEM : CT_OK;
}

int ct_cover_html_programs(FILE *out, const struct ct_cover_views *views, const struct ct_cover_shape *shape)
{
    size_t lines_left = shape->lines;
    int result = CT_OK;
    for (size_t i = 0; i < views->count && result == CT_OK; i++) {
        struct page p = {
            .out = out, .view = &views->views[i], .number = i, .shape = shape, .disasm = ct_disasm_new()};
        fprintf(out, "<section>\n<h%u>", shape->level);
        ct_xml_text(out, p.view->program);
        fprintf(out, "</h%u>\n", shape->level);
        result = program(&p, &lines_left);
        fprintf(out, "</section>\n");
        free(p.annotated);
        free(p.made);
        ct_disasm_free(p.disasm);
    }
    return result;
}

int ct_cover_html(FILE *out, const struct ct_cover_views *views)
{
    const struct ct_cover_shape whole = {.level = 2, .functions = SIZE_MAX, .lines = SIZE_MAX};
    int result = ct_page_begin_of(out, "Coverage of ", views->title);
    if (result)
        return result;
    result = ct_cover_html_programs(out, views, &whole);
    fputs("</main>\n", out);
    ct_page_end(out);
    return result;
}
