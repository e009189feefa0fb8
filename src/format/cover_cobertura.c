/* SPDX-License-Identifier: Apache-2.0 */
/* Writes coverage as Cobertura XML (coverage-04.dtd). */
#include "base/path.h"
#include "format/cover.h"
#include "format/xml.h"

#include <inttypes.h>
#include <string.h>

static void branch_attributes(FILE *out, const struct ct_cover_report *report,
                              const struct ct_cover_line *line)
{
    const struct ct_cover_ratio ratio = ct_cover_line_branches(report, line);
    if (ratio.all)
        fprintf(out, " branch=\"true\" condition-coverage=\"%u%% (%" PRIu64 "/%" PRIu64 ")\"",
                (unsigned)(ratio.seen * 100 / ratio.all), ratio.seen, ratio.all);
    else
        fprintf(out, " branch=\"false\"");
}

static void conditions(FILE *out, const struct ct_cover_report *report, const struct ct_cover_line *line)
{
    fprintf(out, "<conditions>");
    for (uint32_t i = 0; i < line->branches; i++) {
        const struct ct_cover_insn *insn = &report->insns[report->branches[line->first_branch + i]];
        unsigned seen = (insn->taken > 0 ? 50u : 0u) + (insn->not_taken > 0 ? 50u : 0u);
        fprintf(out, "<condition number=\"%" PRIu32 "\" type=\"jump\" coverage=\"%u%%\"/>", i, seen);
    }
    fprintf(out, "</conditions>");
}

static void line(FILE *out, const struct ct_cover_report *report, const struct ct_cover_line *line)
{
    fprintf(out, "            <line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"", line->line, line->count);
    branch_attributes(out, report, line);
    if (line->branches == 0) {
        fprintf(out, "/>\n");
        return;
    }
    fprintf(out, ">");
    conditions(out, report, line);
    fprintf(out, "</line>\n");
}

static void rates(FILE *out, const struct ct_cover_sums *sums)
{
    fprintf(out, " line-rate=\"%.4f\" branch-rate=\"%.4f\" complexity=\"0\"", ct_cover_rate(sums->lines),
            ct_cover_rate(sums->branches));
}

static void methods(FILE *out, const struct ct_cover_view *view, const struct ct_cover_slice *slice)
{
    struct ct_cover_function f;
    fprintf(out, "          <methods>\n");
    for (size_t i = 0; ct_cover_next_function(view, slice->file, CT_COVER_PLAIN_NAMES, &i, &f);) {
        struct ct_cover_sums sums = {.lines = {f.lines_run, f.lines},
                                     .branches = {f.branches_run, f.branches}};
        fprintf(out, "          <method name=\"");
        ct_xml_text(out, f.name);
        fprintf(out, "\" signature=\"\"");
        rates(out, &sums);
        fprintf(out, "><lines><line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"/></lines></method>\n", f.line,
                f.count);
    }
    fprintf(out, "          </methods>\n");
}

static void file(FILE *out, const struct ct_cover_view *view, const struct ct_cover_slice *slice)
{
    struct ct_cover_sums sums = ct_cover_file_sums(view, slice);
    fprintf(out, "        <class name=\"");
    ct_xml_text(out, ct_base_name(slice->path));
    fprintf(out, "\" filename=\"");
    ct_xml_text(out, slice->path);
    fprintf(out, "\"");
    rates(out, &sums);
    fprintf(out, ">\n");
    methods(out, view, slice);
    fprintf(out, "          <lines>\n");
    for (size_t i = 0; i < slice->count; i++)
        line(out, view->report, &slice->lines[i]);
    fprintf(out, "          </lines>\n        </class>\n");
}

static void add_sums(struct ct_cover_sums *sums, const struct ct_cover_sums *more)
{
    sums->lines.seen += more->lines.seen;
    sums->lines.all += more->lines.all;
    sums->branches.seen += more->branches.seen;
    sums->branches.all += more->branches.all;
}

/* Returns the sums of the lines of a program. Readers add up the lines that they find, so the sums have
 * neither branches without a line nor programs without lines. */
static struct ct_cover_sums line_sums(const struct ct_cover_view *view)
{
    struct ct_cover_sums sums = {0};
    struct ct_cover_slice slice = {0};
    while (ct_cover_next_file(view, &slice)) {
        const struct ct_cover_sums one = ct_cover_file_sums(view, &slice);
        add_sums(&sums, &one);
    }
    return sums;
}

static void program(FILE *out, const struct ct_cover_view *view)
{
    const struct ct_cover_sums sums = line_sums(view);
    fprintf(out, "    <package name=\"");
    ct_xml_text(out, ct_base_name(view->program));
    fprintf(out, "\"");
    rates(out, &sums);
    fprintf(out, ">\n      <classes>\n");
    struct ct_cover_slice slice = {0};
    while (ct_cover_next_file(view, &slice))
        file(out, view, &slice);
    fprintf(out, "      </classes>\n    </package>\n");
}

void ct_cover_cobertura(FILE *out, const struct ct_cover_views *views, uint64_t seconds)
{
    struct ct_cover_sums sums = {0};
    for (size_t i = 0; i < views->count; i++) {
        const struct ct_cover_sums one = line_sums(&views->views[i]);
        add_sums(&sums, &one);
    }
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<!DOCTYPE coverage SYSTEM \"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage");
    rates(out, &sums);
    fprintf(out,
            " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64 "\" branches-covered=\"%" PRIu64
            "\" branches-valid=\"%" PRIu64 "\" version=\"1\" timestamp=\"%" PRIu64 "\">\n",
            sums.lines.seen, sums.lines.all, sums.branches.seen, sums.branches.all, seconds * 1000);
    fprintf(out, "  <sources><source>/</source></sources>\n  <packages>\n");
    for (size_t i = 0; i < views->count; i++)
        if (views->views[i].report->line_count)
            program(out, &views->views[i]);
    fprintf(out, "  </packages>\n</coverage>\n");
}
