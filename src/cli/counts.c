/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/counts.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- all operands ---- */

/* Whether one of the programs is what counts know by this number. */
static bool has_program(struct cli_counts *c, uint32_t number)
{
    for (size_t i = 0; i < ct_programs_count(c->read.programs); i++) {
        uint32_t other;
        if (ct_cover_number(c->cover, ct_programs_at(c->read.programs, i), &other) == CT_OK &&
            other == number)
            return true;
    }
    return false;
}

/* The programs of coverage files are read from where the files name them. One that is not there is told of;
 * that nothing is there at all is an error. */
static int find_programs(struct cli_counts *c)
{
    const size_t count = ct_cover_programs(c->cover);
    for (uint32_t i = 0; i < count; i++) {
        const struct ct_program_identity program = ct_cover_program_at(c->cover, i);
        const bool here = access(program.name, R_OK) == 0;
        const bool last = i + 1 == count && !ct_programs_count(c->read.programs);
        if (has_program(c, i))
            continue;
        if (!here && !last && !c->read.args->quiet)
            cli_say("%s: is not there; its counts are left out. Name the program with --elf", program.name);
        struct ct_program *added = NULL;
        if ((here || last) && ct_programs_add(c->read.programs, program.name, NULL, NULL, &added) != CT_OK)
            return cli_library_error(c->read.args->ctx);
        if (added) {
            added->started = (uint8_t)program.started;
            added->named = 0; /* nobody did */
        }
    }
    return CLI_CLEAN;
}

/* Programs that were named may not be those that were counted. */
static int check_programs(struct cli_counts *c)
{
    const size_t known = ct_cover_programs(c->cover);
    for (size_t i = 0; i < ct_programs_count(c->read.programs); i++) {
        uint32_t number;
        if (ct_cover_number(c->cover, ct_programs_at(c->read.programs, i), &number) != CT_OK)
            return cli_library_error(c->read.args->ctx);
    }
    if (ct_cover_programs(c->cover) != known)
        cli_say("%s: has no counts of one of the programs, or counts of another build of it; they stay zero",
                c->read.args->operand);
    return CLI_CLEAN;
}

static bool is_named(const struct cli_counts *c)
{
    for (size_t i = 0; i < c->read.args->list_count; i++)
        if (c->read.args->list[i].option == c->read.elf)
            return true;
    return false;
}

static bool start(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    c->read.args = args;
    c->read.elf = elf;
    c->read.needs_program = true;
    c->read.file_option = "context";
    c->read.file_why = "a coverage file has counts of whole captures, by context";
    if (ct_cover_new(args->ctx, &c->cover) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    c->read.analysis = ct_cover_analysis(c->cover);
    return cli_programs_new(&c->read.programs, args, NULL);
}

int cli_counts_read(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    const int code = start(c, args, elf) ? cli_results_read(&c->read) : CLI_FAILED;
    if (!c->read.has_file || code == CLI_FAILED || c->read.kept_nothing)
        return code;
    if (is_named(c) ? !c->read.has_capture && !cli_programs_of(c->read.programs, args, elf, NULL)
                    : find_programs(c) == CLI_FAILED)
        return CLI_FAILED;
    return check_programs(c) == CLI_FAILED ? CLI_FAILED : code;
}

/* ---- a chain that others run ---- */

int cli_counts_open(struct cli_counts *c, const struct cli_args *args, size_t elf)
{
    return start(c, args, elf) && cli_results_open(&c->read, args->operand) &&
                   cli_programs_any(c->read.programs, args->operand)
               ? CLI_CLEAN
               : CLI_FAILED;
}

int cli_counts_take(struct cli_counts *c, const struct ct_chain *chain)
{
    ct_cover_free(c->cover);
    c->cover = NULL;
    int rc = ct_cover_new(c->read.args->ctx, &c->cover);
    c->read.analysis = rc ? NULL : ct_cover_analysis(c->cover);
    if (!rc)
        rc = ct_session_give(ct_cover_analysis(c->cover), c->read.programs, chain);
    if (rc) { /* counts of a part of the trace are none */
        ct_cover_free(c->cover);
        c->cover = NULL;
        c->read.analysis = NULL;
    }
    return rc ? cli_library_error(c->read.args->ctx) : CLI_CLEAN;
}

struct ct_analysis_captures cli_counts_captures(const struct cli_counts *c)
{
    const struct ct_analysis_captures all = ct_cover_analysis(c->cover)->captures;
    if (all.known || all.unknown || !c->read.has_capture)
        return all;
    return (struct ct_analysis_captures){.known = 1,
                                         .damaged = cli_capture_is_damaged(&c->read.capture, false),
                                         .losses = c->read.capture.seen.losses};
}

void cli_counts_close(struct cli_counts *c)
{
    cli_results_close(&c->read);
    ct_cover_free(c->cover);
}

/* ---- reports ---- */

bool cli_counts_is_first(struct cli_counts *c, struct ct_program *p)
{
    uint32_t number = 0;
    uint32_t other = 0;
    (void)ct_cover_number(c->cover, p, &number); /* all are in the counts */
    for (size_t i = 0; ct_programs_at(c->read.programs, i) != p; i++)
        if (ct_cover_number(c->cover, ct_programs_at(c->read.programs, i), &other) == CT_OK &&
            other == number)
            return false;
    return true;
}

/* Captures were filtered already; of coverage files the counts of other contexts are still there. */
static bool in_context(const struct cli_counts *c, const struct ct_edge_context *context)
{
    const struct ct_filter *filter = &c->read.filter.filter;
    bool found = filter->context_count == 0;
    for (size_t i = 0; i < filter->context_count && !found; i++)
        found = context->known & CT_CONTEXT_CTXT && context->ctxt == filter->contexts[i] && !context->others;
    return found;
}

int cli_counts_items(struct cli_counts *c, struct ct_program *p, struct ct_cover_item **items, size_t *count)
{
    uint32_t program;
    int result = ct_cover_number(c->cover, p, &program);
    if (result != CT_OK)
        return result;
    if (!c->read.filter.filter.context_count)
        return ct_cover_items(c->cover, program, CT_EDGES_ALL, items, count);
    struct ct_cover *chosen;
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    result = ct_cover_new(c->read.args->ctx, &chosen);
    if (result != CT_OK)
        return result;
    struct ct_program_identity id = ct_cover_program_at(c->cover, program);
    uint32_t number = 0;
    result = ct_cover_program(chosen, &id, &number);
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        struct ct_cover_item *some = NULL;
        size_t n = 0;
        if (!in_context(c, &all[i]))
            continue;
        result = ct_cover_items(c->cover, program, i, &some, &n);
        for (size_t k = 0; result == CT_OK && k < n; k++)
            result = ct_cover_add_item(chosen, number, &all[i], &some[k]);
        free(some);
    }
    if (result == CT_OK)
        result = ct_cover_items(chosen, number, CT_EDGES_ALL, items, count);
    ct_cover_free(chosen);
    return result;
}

/* The architecture of the first core of the capture; of a newest A profile without a capture. */
static struct ct_arch arch_of(const struct cli_counts *c)
{
    struct ct_arch arch = {0};
    for (size_t i = 0; c->read.has_capture && i < c->read.capture.count; i++)
        if (c->read.capture.buffers[i].source_count)
            return c->read.capture.buffers[i].sources[0].arch;
    (void)ct_arch_by_name("ARM-AA64", &arch);
    return arch;
}

static int source_of(const struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source)
{
    *source = (struct ct_cover_source){
        .size = sizeof *source, .arch = arch_of(c), .all_functions = c->all_functions};
    int rc = ct_program_symbols(p, &source->symbols);
    if (!rc)
        rc = ct_program_lines(p, &source->lines);
    return rc ? rc : ct_program_memory(p, &source->memory);
}

bool cli_counts_report(struct cli_counts *c, struct ct_program *p, struct ct_cover_source *source,
                       struct ct_cover_report **report)
{
    struct ct_cover_item *items;
    size_t count;
    int result = source_of(c, p, source);
    if (result == CT_OK)
        result = cli_counts_items(c, p, &items, &count);
    if (result == CT_OK) {
        result = ct_cover_report_new(c->read.args->ctx, source, items, count, report);
        free(items);
    }
    if (result != CT_OK)
        cli_library_error(c->read.args->ctx);
    return result == CT_OK;
}

/* The sums of one context, unless nothing of the program ran in it. */
static int sum_context(struct cli_counts *c, struct ct_program *p, size_t context, struct ct_cover_sums *sums,
                       bool *ran)
{
    struct ct_cover_source source;
    struct ct_cover_report *report;
    struct ct_cover_item *items = NULL;
    uint32_t number;
    size_t count = 0;
    *ran = false;
    int result = source_of(c, p, &source);
    if (result == CT_OK)
        result = ct_cover_number(c->cover, p, &number);
    if (result == CT_OK)
        result = ct_cover_items(c->cover, number, context, &items, &count);
    if (result != CT_OK || count == 0) {
        free(items);
        return result;
    }
    result = ct_cover_report_new(c->read.args->ctx, &source, items, count, &report);
    free(items);
    if (result != CT_OK)
        return result;
    *sums = report->sums;
    *ran = true;
    ct_cover_report_free(report);
    return CT_OK;
}

static int by_who(const void *a, const void *b)
{
    const struct ct_cover_context *x = a;
    const struct ct_cover_context *y = b;
    return ct_edge_context_order(&x->context, &y->context);
}

bool cli_counts_contexts(struct cli_counts *c, struct ct_program *p, struct ct_cover_context **out,
                         size_t *count)
{
    size_t contexts;
    const struct ct_edge_context *all = ct_cover_contexts(c->cover, &contexts);
    struct ct_cover_context *rows = calloc(contexts + 1, sizeof *rows);
    int result = CT_OK;
    *out = rows;
    *count = 0;
    if (!rows) {
        cli_no_memory();
        return false;
    }
    for (size_t i = 0; i < contexts && result == CT_OK; i++) {
        bool ran = false;
        if (in_context(c, &all[i]))
            result = sum_context(c, p, i, &rows[*count].sums, &ran);
        if (ran)
            rows[(*count)++].context = all[i];
    }
    qsort(rows, *count, sizeof *rows, by_who);
    if (result != CT_OK)
        cli_library_error(c->read.args->ctx);
    return result == CT_OK;
}
