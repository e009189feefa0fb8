/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cover_print.h"
#include "cli/cover_views.h"

#include <stdlib.h>
#include <time.h>

/* CT_ERR_NOMEM: something is missing. */
static int print(FILE *out, const struct ct_cover_views *views, enum cli_cover_format format, bool functions)
{
    switch (format) {
    case CLI_COVER_TEXT:
        ct_cover_text(out, views, functions);
        break;
    case CLI_COVER_LCOV:
        ct_cover_lcov(out, views);
        break;
    case CLI_COVER_COBERTURA:
        ct_cover_cobertura(out, views, (uint64_t)time(NULL));
        break;
    case CLI_COVER_JSON:
        ct_cover_json(out, views);
        break;
    case CLI_COVER_HTML:
        return ct_cover_html(out, views);
    case CLI_COVER_DATA:
        break;
    }
    return CT_OK;
}

int cli_cover_check(const struct cli_counts *c, const struct ct_cover_views *views)
{
    uint64_t seen = 0;
    uint64_t elsewhere = 0;
    for (size_t i = 0; i < views->count; i++) {
        seen += views->views[i].report->sums.insns.seen;
        elsewhere += views->views[i].report->elsewhere;
    }
    if (seen)
        return CLI_CLEAN;
    const char *why = elsewhere ? "what ran is in functions without source lines"
                      : c->read.filter.filter.context_count
                          ? "nothing is known of this context in the programs"
                          : "none of them is in a program that is known";
    const char *remedy = elsewhere ? "--all-functions counts these too"
                         : c->read.filter.filter.context_count
                             ? "'coretap cover --contexts' shows those there are"
                             : "name the program that ran with --elf FILE[@HEX]";
    return cli_ran_but_empty(&c->read.ran, c->read.args, CLI_CLEAN, "the coverage is", why, remedy);
}

/* Says so when no program has lines, of which lcov's format is. Result: enum cli_exit. */
static int check_lines(const struct cli_counts *c, const struct ct_cover_views *views)
{
    for (size_t i = 0; i < views->count; i++)
        if (views->views[i].report->sums.lines.all)
            return CLI_CLEAN;
    cli_say("%s: the tracefile is empty: its format is of source lines, and none is known of the programs; "
            "compile "
            "them with -g, or name their debug information with --symdir",
            c->read.args->operand);
    return CLI_DAMAGED;
}

/* Whether no program has counts. */
static int check_data(const struct cli_counts *c)
{
    for (uint32_t i = 0; i < ct_cover_programs(c->cover); i++) {
        struct ct_cover_item *items;
        size_t count = 0;
        if (ct_cover_items(c->cover, i, CT_EDGES_ALL, &items, &count) != CT_OK)
            return cli_library_error(c->read.args->ctx);
        free(items);
        if (count)
            return CLI_CLEAN;
    }
    return cli_ran_but_empty(&c->read.ran, c->read.args, CLI_CLEAN, "the coverage file is",
                             "none of them is in a program that is known",
                             "name the program that ran with --elf FILE[@HEX]");
}

static int print_data(FILE *out, struct cli_counts *c)
{
    struct ct_analysis *all = ct_cover_analysis(c->cover);
    const struct ct_analysis_captures captures = cli_counts_captures(c);
    const int code = check_data(c);
    if (code != CLI_CLEAN)
        return code;
    if (!all->captures.known && !all->captures.unknown) /* those of a live run */
        ct_analysis_add_captures(all, &captures);
    return cli_results_save(c->read.args->ctx, all, out);
}

int cli_cover_print(FILE *out, struct cli_counts *c, enum cli_cover_format format, bool functions)
{
    if (format == CLI_COVER_DATA)
        return print_data(out, c);
    struct cli_cover_views views;
    int code = cli_cover_views_make(c, &views) ? CLI_CLEAN : CLI_FAILED;
    if (code == CLI_CLEAN)
        code = cli_cover_check(c, &views.list);
    if (code == CLI_CLEAN && format == CLI_COVER_LCOV)
        code = check_lines(c, &views.list);
    if (code == CLI_CLEAN && print(out, &views.list, format, functions) != CT_OK) {
        cli_no_memory();
        code = CLI_FAILED;
    }
    cli_cover_views_free(&views);
    return code;
}
