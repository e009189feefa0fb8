/* SPDX-License-Identifier: Apache-2.0 */
/* Writes profiles for KCachegrind and callgrind_annotate: cost by line, and calls with their inclusive
 * cost. */
#define _GNU_SOURCE /* qsort_r */
#include "base/printable.h"
#include "base/saturate.h"
#include "base/search.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

/* The program and symbol of a function of the stacks. */
struct placed {
    size_t view;                    /* of its program; the number of views when it is in none */
    const struct ct_symbol *symbol; /* or NULL */
};

struct callgrind {
    FILE *out;
    const struct ct_stack_found *stacks;
    const struct ct_stack_sums *sums; /* the sums of the stacks */
    const struct ct_profile_view *views;
    size_t view_count;
    const struct ct_profile_view *view; /* the view being written */
    struct placed *functions;           /* by number */
    struct ct_stack_call *calls;        /* all calls, sorted by program and site */
    const struct ct_stack_call *own;    /* the calls from the view's program */
    size_t own_count;
    uint64_t written; /* functions written */
    uint64_t total;   /* instructions written, without those of calls */
};

static const char *file_of(const struct callgrind *c, uint32_t file)
{
    const char *path = ct_lines_file(c->view->source.lines, file);
    return path ? path : "???";
}

/* Finds the views and symbols of functions. CT_ERR_NOMEM. */
static int place_functions(struct callgrind *c)
{
    const struct ct_stack_found *all = c->stacks;
    c->functions = calloc(all->function_count + 1, sizeof *c->functions);
    if (!c->functions)
        return CT_ERR_NOMEM;
    for (size_t f = 0; f < all->function_count; f++) {
        struct placed *placed = &c->functions[f];
        const uint32_t program = all->functions[f].program;
        placed->view = 0;
        while (placed->view < c->view_count &&
               (program == CT_STACK_NONE || c->views[placed->view].number != program))
            placed->view++;
        if (placed->view < c->view_count)
            placed->symbol =
                ct_symbols_code_at(c->views[placed->view].source.symbols, all->functions[f].addr, NULL);
    }
    return CT_OK;
}

/* Compares calls by the caller's program, site and callee: programs in the order of writing, and functions in
 * the order of their program's symbols. */
static int by_site(const void *a, const void *b, void *user)
{
    const struct ct_stack_call *x = a, *y = b;
    const struct placed *functions = user;
    const struct placed *to_x = &functions[x->callee], *to_y = &functions[y->callee];
    int result = ct_order(functions[x->caller].view, functions[y->caller].view)
                 ?: ct_order(x->site, y->site)
                 ?: ct_order(to_x->view, to_y->view);
    if (!result && to_x->symbol && to_y->symbol)
        result = ct_order((uintptr_t)to_x->symbol, (uintptr_t)to_y->symbol);
    return result ? result : ct_order(x->callee, y->callee);
}

static int sort_calls(struct callgrind *c)
{
    const size_t count = c->stacks->call_count;
    c->calls = malloc((count + 1) * sizeof *c->calls);
    if (!c->calls)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++)
        c->calls[i] = c->stacks->calls[i];
    if (count)
        qsort_r(c->calls, count, sizeof *c->calls, by_site, c->functions);
    return CT_OK;
}

static void put_object(const struct callgrind *c, const char *key, const char *path)
{
    fprintf(c->out, "%s=", key);
    ct_put_printable(c->out, path);
    fputc('\n', c->out);
}

/* Returns the program of a function, even if its file is not available. */
static const char *object_of(const struct callgrind *c, uint32_t function)
{
    const uint32_t program = c->stacks->functions[function].program;
    const size_t view = c->functions[function].view;
    if (view < c->view_count)
        return c->views[view].program;
    return program == CT_STACK_NONE ? "???" : ct_stack_sums_program(c->sums, program).name;
}

/* Writes the location of a called function: program, file, name and first line. */
static void put_callee(struct callgrind *c, uint32_t callee, uint32_t *line)
{
    const struct ct_stack_function *function = &c->stacks->functions[callee];
    const struct ct_symbol *symbol = c->functions[callee].symbol;
    const struct ct_profile_view *view = symbol ? &c->views[c->functions[callee].view] : NULL;
    const struct ct_line *row = symbol ? ct_lines_at(view->source.lines, symbol->addr) : NULL;
    *line = row ? row->line : 0;
    put_object(c, "cob", object_of(c, callee));
    fprintf(c->out, "cfi=%s\n", row ? ct_lines_file(view->source.lines, row->file) : "???");
    fprintf(c->out, "cfn=%s\n", symbol ? ct_symbols_label(view->source.symbols, symbol) : function->label);
}

/* Writes a call made at a line. */
static void put_call(struct callgrind *c, const struct ct_stack_call *call, uint32_t from)
{
    uint32_t line;
    put_callee(c, call->callee, &line);
    fprintf(c->out, "calls=%" PRIu64 " %" PRIu32 "\n%" PRIu32 " %" PRIu64 "\n", call->count, line, from,
            call->insns);
}

static void put_calls(struct callgrind *c, const struct ct_cover_insn *insn)
{
    size_t at = CT_COUNT_WHILE(c->own_count, i, c->own[i].site < insn->addr);
    for (; at < c->own_count && c->own[at].site == insn->addr; at++)
        put_call(c, &c->own[at], insn->line);
}

/* Writes the instructions [first, end) of one function. */
static void put_function(struct callgrind *c, const char *name, size_t first, size_t end)
{
    const struct ct_cover_insn *insns = c->view->report->insns;
    uint32_t file = insns[first].file;
    fprintf(c->out, "\nfl=%s\nfn=%s\n", file_of(c, file), name);
    c->written++;
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
        ct_add_up(&c->total, cost);
        for (; i < k; i++)
            put_calls(c, &insns[i]);
    }
}

/* Finds the calls made in the program of a view. The number of views stands for calls in none of them. */
static void find_calls(struct callgrind *c, size_t view)
{
    const struct placed *functions = c->functions;
    const size_t first = CT_COUNT_WHILE(c->stacks->call_count, i, functions[c->calls[i].caller].view < view);
    c->own = c->calls + first;
    c->own_count = CT_COUNT_WHILE(c->stacks->call_count - first, i, functions[c->own[i].caller].view == view);
}

static void put_program(struct callgrind *c)
{
    const struct ct_cover_report *report = c->view->report;
    find_calls(c, (size_t)(c->view - c->views));
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
            put_function(c, symbol ? ct_symbols_label(c->view->source.symbols, symbol) : CT_SYMBOL_UNKNOWN, i,
                         end);
        i = end;
    }
}

/* Begins a function without known lines. */
static void put_bare(struct callgrind *c, uint32_t function)
{
    fputc('\n', c->out);
    put_object(c, "ob", object_of(c, function));
    fprintf(c->out, "fl=???\nfn=%s\n", c->stacks->functions[function].label);
}

/* Writes the calls made in programs that are not available. */
static void put_bare_calls(struct callgrind *c)
{
    find_calls(c, c->view_count);
    for (size_t i = 0; i < c->own_count; i++) {
        if (!i || c->own[i].caller != c->own[i - 1].caller)
            put_bare(c, c->own[i].caller);
        put_call(c, &c->own[i], 0);
    }
}

/* Writes what ran in functions of programs that are not available. CT_ERR_NOMEM. */
static int put_rest(struct callgrind *c)
{
    const struct ct_stack_found *all = c->stacks;
    uint64_t *sums = calloc(all->function_count + 1, sizeof *sums);
    if (!sums)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < all->place_count; i++)
        ct_add_up(&sums[all->places[i].function], all->places[i].insns);
    for (uint32_t f = 0; f < all->function_count; f++) {
        if (!sums[f] || c->functions[f].view < c->view_count)
            continue;
        put_bare(c, f);
        fprintf(c->out, "0 %" PRIu64 "\n", sums[f]);
        ct_add_up(&c->total, sums[f]);
    }
    put_bare_calls(c);
    free(sums);
    return CT_OK;
}

/* Writes the head, with the started programs as the profiled command. */
static void put_head(const struct callgrind *c)
{
    const char *before = "cmd: ";
    fputs("# callgrind format\nversion: 1\ncreator: coretap\n", c->out);
    for (uint32_t i = 0; i < c->stacks->program_count; i++) {
        const struct ct_program_identity program = ct_stack_sums_program(c->sums, i);
        if (!program.started)
            continue;
        fputs(before, c->out);
        ct_put_printable(c->out, program.name);
        before = " ";
    }
    fputs(*before == ' ' ? "\npositions: line\n" : "positions: line\n", c->out);
    fputs("events: Instructions\n", c->out);
}

int ct_profile_callgrind(FILE *out, const struct ct_profile_stacks *stacks,
                         const struct ct_profile_view *views, size_t count, uint64_t *entries)
{
    struct callgrind c = {
        .out = out, .stacks = &stacks->found, .sums = stacks->sums, .views = views, .view_count = count};
    int rc = place_functions(&c) ?: sort_calls(&c);
    if (!rc)
        put_head(&c);
    for (size_t i = 0; i < count && !rc; i++) {
        c.view = &views[i];
        put_program(&c);
    }
    if (!rc)
        rc = put_rest(&c);
    /* Without it callgrind_annotate adds up the inclusive costs when it is asked for these. */
    if (!rc)
        fprintf(out, "\ntotals: %" PRIu64 "\n", c.total);
    *entries += c.written;
    free(c.functions);
    free(c.calls);
    return rc;
}
