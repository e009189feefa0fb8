/* Coverage as one page: sums, files, functions, and the source with counts. A line of it opens into its instructions. */
#include "report/cover.h"
#include "report/cover_page.h"
#include "report/disasm.h"
#include "report/xml.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* An instruction by the line it was made from. */
struct made {
    uint32_t file, line, insn;
};

struct page {
    FILE *out;
    const struct ct_cover_view *view;
    size_t number; /* of the program, for names of anchors */
    struct ct_disasm *disasm;
    struct made *made;
};

/* The text of a source file, NULL when it is not there. */
struct source {
    char *text;
    size_t size;
    size_t at; /* of the next line */
};

#define MOST_SOURCE (64u << 20)

static struct source read_source(const char *path)
{
    struct source source = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return source;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size > 0 && (unsigned long)size <= MOST_SOURCE && fseek(file, 0, SEEK_SET) == 0) {
        source.text = malloc((size_t)size);
        source.size = source.text ? fread(source.text, 1, (size_t)size, file) : 0;
    }
    fclose(file);
    return source;
}

/* The next line, without its end; false behind the last. */
static bool next_line(struct source *source, const char **text, size_t *size)
{
    if (source->at >= source->size)
        return false;
    *text = source->text + source->at;
    const char *newline = memchr(*text, '\n', source->size - source->at);
    *size = newline ? (size_t)(newline - *text) : source->size - source->at;
    source->at += *size + 1;
    if (*size && (*text)[*size - 1] == '\r')
        --*size;
    return true;
}

static int by_line(const void *a, const void *b)
{
    const struct made *x = a;
    const struct made *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->insn < y->insn ? -1 : x->insn > y->insn;
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

/* The first instruction of the line, in `made`. */
static size_t first_made(const struct page *p, const struct ct_cover_line *line)
{
    struct made wanted = {line->file, line->line, 0};
    size_t low = 0;
    size_t high = p->view->report->insn_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_line(&p->made[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- tables ---- */

static void bar(FILE *out, struct ct_cover_ratio ratio)
{
    fprintf(out, "<td><span class=\"bar\" aria-hidden=\"true\"><i style=\"width:%.1f%%\"></i></span></td>",
            100 * ct_cover_rate(ratio));
}

static void sum(FILE *out, const char *what, struct ct_cover_ratio ratio)
{
    char text[16];
    fprintf(out,
            "<tr><th scope=\"row\">%s</th><td class=\"num\">%" PRIu64 " of %" PRIu64
            "</td><td class=\"num\">%s</td>",
            what, ratio.seen, ratio.all, ct_cover_percent(text, ratio));
    bar(out, ratio);
    fprintf(out, "</tr>\n");
}

static void sums(const struct page *p)
{
    const struct ct_cover_sums *s = &p->view->report->sums;
    fprintf(p->out, "<table>\n");
    sum(p->out, "Functions", s->functions);
    sum(p->out, "Lines", s->lines);
    sum(p->out, "Instructions", s->insns);
    sum(p->out, "Branches", s->branches);
    sum(p->out, "Conditions", s->conditions);
    sum(p->out, "Calls", s->calls);
    fprintf(p->out,
            "</table>\n<p>%" PRIu64 " lines ran in part. %" PRIu64
            " instructions have a condition that no branch shows.</p>\n",
            s->partial_lines, s->hidden);
}

static void percent_cell(FILE *out, struct ct_cover_ratio ratio)
{
    char text[16];
    fprintf(out, "<td class=\"num\">%s</td>", ct_cover_percent(text, ratio));
}

static void file_table(const struct page *p)
{
    struct ct_cover_slice slice = {0};
    fprintf(p->out,
            "<h3>Files</h3>\n<table class=\"list\"><tr><th scope=\"col\" class=\"num\">Lines</th><th "
            "scope=\"col\" "
            "class=\"num\">Branches</th><th scope=\"col\" class=\"num\">Functions</th><th scope=\"col\"></th>"
            "<th scope=\"col\">File</th></tr>\n");
    while (ct_cover_next_file(p->view, &slice)) {
        struct ct_cover_sums s = ct_cover_file_sums(p->view, &slice);
        fprintf(p->out, "<tr>");
        percent_cell(p->out, s.lines);
        percent_cell(p->out, s.branches);
        percent_cell(p->out, s.functions);
        bar(p->out, s.lines);
        fprintf(p->out, "<td><a href=\"#p%zuf%" PRIu32 "\">", p->number, slice.file);
        ct_xml_text(p->out, slice.path);
        fprintf(p->out, "</a></td></tr>\n");
    }
    fprintf(p->out, "</table>\n");
}

static void function_table(const struct page *p)
{
    const struct ct_cover_report *report = p->view->report;
    fprintf(p->out,
            "<h3>Functions</h3>\n<table class=\"list\"><tr><th scope=\"col\" class=\"num\">Runs</th><th "
            "scope=\"col\" class=\"num\">Lines</th><th scope=\"col\" class=\"num\">Branches</th><th "
            "scope=\"col\">Function</th></tr>\n");
    for (size_t i = 0; i < report->function_count; i++) {
        const struct ct_cover_function *f = &report->functions[i];
        fprintf(p->out, "<tr><td class=\"num\">%" PRIu64 "</td>", f->count);
        percent_cell(p->out, (struct ct_cover_ratio){f->lines_run, f->lines});
        percent_cell(p->out, (struct ct_cover_ratio){f->branches_run, f->branches});
        fprintf(p->out, "<td>");
        if (f->file != CT_LINE_NONE)
            fprintf(p->out, "<a href=\"#p%zuf%" PRIu32 "l%" PRIu32 "\">", p->number, f->file, f->line);
        ct_xml_text(p->out, f->name);
        fprintf(p->out, "%s</td></tr>\n", f->file != CT_LINE_NONE ? "</a>" : "");
    }
    fprintf(p->out, "</table>\n");
}

/* ---- source ---- */

static void instruction(const struct page *p, const struct ct_cover_insn *insn)
{
    char text[192];
    size_t size;
    const uint8_t *bytes = ct_memory_at(p->view->memory, insn->addr, CT_SPACE_EL1N, &size);
    if (!bytes || size < insn->size)
        return;
    ct_disasm_text(p->disasm, insn->isa, insn->addr, bytes, insn->size, text);
    fprintf(p->out, "<span%s>%10" PRIu64 "</span>  <b>%" PRIx64 "</b>  ", insn->count ? "" : " class=\"no\"",
            insn->count, insn->addr);
    ct_xml_text(p->out, text);
    bool branch = insn->type == CT_INSN_BR || insn->type == CT_INSN_IBR;
    if (branch && (insn->cond || insn->not_taken))
        fprintf(p->out, "  <b>taken %" PRIu64 ", passed by %" PRIu64 "</b>", insn->taken, insn->not_taken);
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
            fprintf(p->out, "<b>");
            ct_xml_text(p->out, report->functions[function].name);
            fprintf(p->out, ":</b>\n");
        }
        instruction(p, insn);
    }
    fprintf(p->out, "</pre>");
}

/* Conditional branches of the line that only ever went one way. */
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
            "<tr class=\"%s\" id=\"p%zuf%" PRIu32 "l%" PRIu32
            "\"><td class=\"m\">%s</td><td class=\"n\">%" PRIu32 "</td><td class=\"c\">",
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
        fprintf(p->out, "</summary>");
        instructions(p, line);
        fprintf(p->out, "</details>");
    } else {
        put_source(p->out, text, size);
    }
    fprintf(p->out, "</td></tr>\n");
}

static void rows(const struct page *p, const struct ct_cover_slice *slice)
{
    struct source source = read_source(slice->path);
    size_t next = 0;
    const char *text = "";
    size_t size = 0;
    for (uint32_t number = 1; next_line(&source, &text, &size); number++) {
        bool has = next < slice->count && slice->lines[next].line == number;
        row(p, slice->file, number, has ? &slice->lines[next] : NULL, text, size);
        next += has;
    }
    for (; next < slice->count; next++)
        row(p, slice->file, slice->lines[next].line, &slice->lines[next], "", 0);
    free(source.text);
}

static void files(const struct page *p)
{
    struct ct_cover_slice slice = {0};
    char text[16];
    fprintf(
        p->out,
        "<h3>Source</h3>\n<p>✓ ran, ◐ ran in part or some condition went one way only, ✗ did not run. A line "
        "opens into its instructions, with how often each was executed.</p>\n");
    bool open = true;
    while (ct_cover_next_file(p->view, &slice)) {
        struct ct_cover_sums s = ct_cover_file_sums(p->view, &slice);
        fprintf(p->out, "<details class=\"file\"%s id=\"p%zuf%" PRIu32 "\"><summary>", open ? " open" : "",
                p->number, slice.file);
        ct_xml_text(p->out, slice.path);
        fprintf(p->out,
                " · %s of lines</summary>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"src\">\n",
                ct_cover_percent(text, s.lines));
        rows(p, &slice);
        fprintf(p->out, "</table></div>\n</details>\n");
        open = false;
    }
}

void ct_cover_html(FILE *out, const struct ct_cover_views *views)
{
    ct_cover_page_begin(out, views->title);
    for (size_t i = 0; i < views->count; i++) {
        struct page p = {.out = out, .view = &views->views[i], .number = i, .disasm = ct_disasm_new()};
        fprintf(out, "<section>\n<h2>");
        ct_xml_text(out, p.view->program);
        fprintf(out, "</h2>\n");
        sums(&p);
        if (p.disasm && sort_insns(&p)) {
            file_table(&p);
            function_table(&p);
            files(&p);
        } else {
            fprintf(out, "<p>There was no memory for the rest.</p>\n");
        }
        fprintf(out, "</section>\n");
        free(p.made);
        ct_disasm_free(p.disasm);
    }
    ct_cover_page_end(out);
}
