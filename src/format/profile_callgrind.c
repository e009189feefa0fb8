/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles for KCachegrind and callgrind_annotate: cost by line, and calls with their inclusive
 * cost. */
#include "base/printable.h"
#include "base/search.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct callgrind {
    FILE *out;
    const struct ct_stacks *stacks;
    const struct ct_profile_view *view;
    const struct ct_stack_call **calls; /* sorted by site */
    size_t call_count;
    size_t view_count;
    uint64_t functions; /* how many were written */
};

static const char *file_of(const struct callgrind *c, uint32_t file)
{
    const char *path = ct_lines_file(c->view->source.lines, file);
    return path ? path : "???";
}

static int by_site(const void *a, const void *b)
{
    const struct ct_stack_call *const *x = a;
    const struct ct_stack_call *const *y = b;
    if ((*x)->site != (*y)->site)
        return (*x)->site < (*y)->site ? -1 : 1;
    return (*x)->callee < (*y)->callee ? -1 : (*x)->callee > (*y)->callee;
}

static void put_object(const struct callgrind *c, const char *key, const char *path)
{
    fprintf(c->out, "%s=", key);
    ct_put_printable(c->out, path);
    fputc('\n', c->out);
}

/* Writes where a called function is: program, file, name and first line. */
static void put_callee(struct callgrind *c, const struct ct_profile_view *views, uint32_t callee,
                       uint32_t *line)
{
    size_t program;
    const struct ct_symbol *symbol = ct_stacks_symbol(c->stacks, callee, &program);
    const bool known = symbol && program < c->view_count; /* else it is memory that no program is in */
    const struct ct_line *row = known ? ct_lines_at(views[program].source.lines, symbol->addr) : NULL;
    *line = row ? row->line : 0;
    if (known)
        put_object(c, "cob", views[program].program);
    fprintf(c->out, "cfi=%s\n", row ? ct_lines_file(views[program].source.lines, row->file) : "???");
    fprintf(c->out, "cfn=%s\n", ct_stacks_name(c->stacks, callee));
}

static void put_calls(struct callgrind *c, const struct ct_profile_view *views,
                      const struct ct_cover_insn *insn)
{
    uint64_t site = insn->addr + c->view->bias;
    size_t low = CT_COUNT_WHILE(c->call_count, i, c->calls[i]->site < site);
    for (; low < c->call_count && c->calls[low]->site == site; low++) {
        uint32_t line;
        put_callee(c, views, c->calls[low]->callee, &line);
        fprintf(c->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n", c->calls[low]->count,
                line, insn->line, c->calls[low]->insns);
    }
}

/* Writes the instructions [first, end) of one function. */
static void put_function(struct callgrind *c, const struct ct_profile_view *views, const char *name,
                         size_t first, size_t end)
{
    const struct ct_cover_insn *insns = c->view->report->insns;
    uint32_t file = insns[first].file;
    fprintf(c->out, "\nfl=%s\nfn=%s\n", file_of(c, file), name);
    c->functions++;
    for (size_t i = first; i < end;) {
        if (insns[i].file != file) {
            file = insns[i].file;
            fprintf(c->out, "fi=%s\n", file_of(c, file));
        }
        uint64_t cost = 0;
        size_t k = i;
        for (; k < end && insns[k].file == file && insns[k].line == insns[i].line; k++)
            cost += insns[k].count;
        if (cost)
            fprintf(c->out, "%" PRIu32 " %" PRIu64 "\n", insns[i].line, cost);
        for (; i < k; i++)
            put_calls(c, views, &insns[i]);
    }
}

static void put_program(struct callgrind *c, const struct ct_profile_view *views)
{
    const struct ct_cover_report *report = c->view->report;
    fputc('\n', c->out);
    put_object(c, "ob", c->view->program);
    for (size_t i = 0; i < report->insn_count;) {
        const struct ct_symbol *symbol =
            ct_symbols_code_at(c->view->source.symbols, report->insns[i].addr, NULL);
        size_t end = i;
        bool ran = false;
        while (end < report->insn_count &&
               ct_symbols_code_at(c->view->source.symbols, report->insns[end].addr, NULL) == symbol)
            ran |= report->insns[end++].count > 0;
        if (ran)
            put_function(c, views,
                         symbol ? ct_symbols_label(c->view->source.symbols, symbol) : CT_SYMBOL_UNKNOWN, i,
                         end);
        i = end;
    }
}

/* Tells whether a function belongs to a program. */
static bool is_known(const struct callgrind *c, uint32_t function)
{
    size_t program;
    return ct_stacks_symbol(c->stacks, function, &program) && program < c->view_count;
}

/* Writes the instructions that are in no function of a program. */
static int put_rest(const struct callgrind *c)
{
    size_t count;
    const struct ct_stack_place *places = ct_stacks_places(c->stacks, &count);
    uint32_t first = UINT32_MAX;
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_known(c, places[i].function))
            continue;
        first = places[i].function < first ? places[i].function : first;
        last = places[i].function > last ? places[i].function : last;
    }
    /* Their numbers are consecutive and follow those of all programs. */
    if (first > last)
        return CT_OK;
    uint64_t *sums = calloc(last - first + (size_t)1, sizeof *sums);
    if (!sums)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        if (!is_known(c, places[i].function))
            sums[places[i].function - first] += places[i].insns;
    for (uint32_t f = first; f <= last; f++)
        if (sums[f - first])
            fprintf(c->out, "\nob=???\nfl=???\nfn=%s\n0 %" PRIu64 "\n", ct_stacks_name(c->stacks, f),
                    sums[f - first]);
    free(sums);
    return CT_OK;
}

int ct_profile_callgrind(FILE *out, const struct ct_stacks *stacks, const struct ct_profile_view *views,
                         size_t count, uint64_t *entries)
{
    struct callgrind c = {.out = out, .stacks = stacks, .view_count = count};
    const struct ct_stack_call *calls = ct_stacks_calls(stacks, &c.call_count);
    c.calls = malloc((c.call_count + 1) * sizeof(struct ct_stack_call *));
    if (!c.calls)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < c.call_count; i++)
        c.calls[i] = &calls[i];
    if (c.call_count)
        qsort(c.calls, c.call_count, sizeof(struct ct_stack_call *), by_site);
    fprintf(out, "# callgrind format\nversion: 1\ncreator: coretap\npositions: line\nevents: Instructions\n");
    for (size_t i = 0; i < count; i++) {
        c.view = &views[i];
        put_program(&c, views);
    }
    const int rc = put_rest(&c);
    *entries += c.functions;
    free(c.calls);
    return rc;
}
