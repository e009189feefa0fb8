/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage as rows of tables. */
#include <stdlib.h>

#include "base/require.h"
#include "export/tables.h"

/* ---- counts ---- */

static const char *item_kind(const struct ct_cover_item *item)
{
    return item->kind == CT_COVER_RUN ? "run" : item->kind == CT_COVER_TAKEN ? "taken" : "not-taken";
}

/* Writes one count as an edge without times. A run of instructions lies in a single program. */
static void put_item(const struct ct_table_rows *rows, const struct ct_program_identity *program,
                     const struct ct_cover_item *item)
{
    struct ct_rows *file = ct_table_row(rows, CT_TABLE_EDGES, program);
    ct_rows_text(file, ct_cover_kind()->name);
    ct_rows_text(file, item_kind(item));
    ct_rows_number(file, item->from);
    if (item->to)
        ct_rows_number(file, item->to);
    else
        ct_rows_nothing(file);
    ct_table_put_program(file, item->kind == CT_COVER_RUN ? program : NULL);
    ct_rows_number(file, item->count);
    for (int i = 0; i < 5; i++) /* instructions and times */
        ct_rows_nothing(file);
}

static int put_items(const struct ct_table_rows *rows, struct ct_cover *cover, uint32_t number)
{
    const struct ct_program_identity program = ct_cover_program_at(cover, number);
    struct ct_cover_item *items;
    size_t count;
    const int rc = ct_cover_items(cover, number, CT_EDGES_ALL, &items, &count);
    if (rc)
        return rc;
    for (size_t i = 0; i < count; i++)
        put_item(rows, &program, &items[i]);
    free(items);
    return ct_tables_result(rows->tables);
}

/* ---- functions and lines ---- */

static void put_line_of(struct ct_rows *file, const struct ct_lines *lines, uint32_t path, uint32_t line)
{
    ct_rows_text(file, line ? ct_lines_file(lines, path) : NULL);
    if (line)
        ct_rows_number(file, line);
    else
        ct_rows_nothing(file);
}

static void put_function(const struct ct_table_rows *rows, const struct ct_program_identity *program,
                         const struct ct_lines *lines, const struct ct_cover_function *f)
{
    struct ct_rows *file = ct_table_row(rows, CT_TABLE_FUNCTIONS, program);
    ct_rows_text(file, f->name);
    ct_rows_text(file, f->linkage_name);
    ct_rows_number(file, f->addr);
    put_line_of(file, lines, f->file, f->line);
    ct_rows_number(file, f->count);
    ct_rows_number(file, f->insns);
    ct_rows_number(file, f->insns_run);
    ct_rows_number(file, f->branches);
    ct_rows_number(file, f->branches_run);
    ct_rows_number(file, f->lines);
    ct_rows_number(file, f->lines_run);
}

static void put_line(const struct ct_table_rows *rows, const struct ct_program_identity *program,
                     const struct ct_lines *lines, const struct ct_cover_report *report,
                     const struct ct_cover_line *line)
{
    struct ct_rows *file = ct_table_row(rows, CT_TABLE_LINES, program);
    uint64_t taken = 0;
    uint64_t not_taken = 0;
    for (uint32_t i = 0; i < line->branches; i++) {
        const struct ct_cover_insn *branch = &report->insns[report->branches[line->first_branch + i]];
        taken += branch->taken;
        not_taken += branch->not_taken;
    }
    ct_rows_text(file, ct_lines_file(lines, line->file));
    ct_rows_number(file, line->line);
    ct_rows_text(file, line->function == CT_COVER_NONE ? NULL : report->functions[line->function].name);
    ct_rows_number(file, line->count);
    ct_rows_number(file, line->insns);
    ct_rows_number(file, line->insns_run);
    ct_rows_number(file, line->branches);
    ct_rows_number(file, taken);
    ct_rows_number(file, not_taken);
}

static void put_report(const struct ct_table_rows *rows, const struct ct_program_identity *program,
                       const struct ct_lines *lines, const struct ct_cover_report *report)
{
    for (size_t i = 0; i < report->function_count; i++)
        put_function(rows, program, lines, &report->functions[i]);
    for (size_t i = 0; i < report->line_count; i++)
        put_line(rows, program, lines, report, &report->lines[i]);
}

/* Computes and writes the functions and lines of a program that was found for the counts with this number, if
 * it has any. */
static int put_program(const struct ct_table_rows *rows, struct ct_cover *cover, uint32_t number,
                       struct ct_program *program)
{
    const struct ct_program_identity identity = ct_cover_program_at(cover, number);
    struct ct_cover_source source = {.size = sizeof source, .all_functions = rows->origin.all_functions};
    struct ct_cover_report *report;
    struct ct_cover_item *items;
    size_t count;
    if (rows->origin.arch)
        source.arch = *rows->origin.arch;
    else
        (void)ct_arch_by_name("ARM-AA64", &source.arch);
    int rc = ct_program_memory(program, &source.memory); /* first: the other parts are read from its bytes */
    if (!rc)
        rc = ct_program_symbols(program, &source.symbols);
    if (!rc)
        rc = ct_program_code(program, &source.code, &source.code_count);
    if (!rc)
        rc = ct_program_lines(program, &source.lines);
    if (!rc)
        rc = ct_cover_items(cover, number, CT_EDGES_ALL, &items, &count);
    if (rc)
        return rc;
    if (count)
        rc = ct_cover_report_new(rows->tables->ctx, &source, items, count, &report);
    free(items);
    if (rc || !count)
        return rc;
    put_report(rows, &identity, source.lines, report);
    ct_cover_report_free(report);
    return ct_tables_result(rows->tables);
}

/* ---- coverage ---- */

/* Returns whether one of the first `end` programs has the same counts, because it was mapped elsewhere. */
static bool is_there(struct ct_cover *cover, struct ct_programs *programs, size_t end, uint32_t number)
{
    uint32_t other;
    for (size_t i = 0; i < end; i++)
        if (ct_cover_number(cover, ct_programs_at(programs, i), &other) == CT_OK && other == number)
            return true;
    return false;
}

int ct_tables_add_cover(struct ct_tables *tables, struct ct_cover *cover, struct ct_programs *programs,
                        const struct ct_tables_origin *origin)
{
    struct ct_table_rows rows;
    CT_REQUIRE_OF(tables, cover, programs, origin);
    /* before asking for programs adds more of them, without counts */
    const size_t known = ct_cover_programs(cover);
    int rc = ct_table_rows_begin(tables, origin, ct_cover_analysis(cover), __func__, &rows);
    for (uint32_t i = 0; i < known && !rc; i++)
        rc = put_items(&rows, cover, i);
    for (size_t i = 0; i < ct_programs_count(programs) && !rc; i++) {
        uint32_t number;
        rc = ct_cover_number(cover, ct_programs_at(programs, i), &number);
        if (!rc && number < known && !is_there(cover, programs, i, number))
            rc = put_program(&rows, cover, number, ct_programs_at(programs, i));
    }
    return rc;
}
