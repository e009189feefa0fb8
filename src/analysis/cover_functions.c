/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the function of each instruction, and its name and line. */
#include "analysis/cover.h"
#include "base/ctx.h"

#include <stdlib.h>

/* Makes an array of function numbers, indexed by scope and then by symbol. All are CT_COVER_NONE until the
 * function is found. Returns NULL when out of memory. */
static uint32_t *new_numbers(size_t count)
{
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    for (size_t i = 0; numbers && i < count; i++)
        numbers[i] = CT_COVER_NONE;
    return numbers;
}

/* Returns whether a name is mangled by C++ or Rust (of which it has one underscore here), or by D. Such a
 * name has modules, classes and parameters. */
static bool is_mangled(const char *name)
{
    return name[0] == '_' &&
           (name[1] == 'Z' || name[1] == 'R' || (name[1] == 'D' && name[2] >= '0' && name[2] <= '9'));
}

/* Returns the symbol of a function that tells more than its debug information: one with a mangled name, and
 * that of a function whose name is in a file that is missing. NULL for others. */
static const struct ct_symbol *better_symbol(const struct ct_cover_work *work,
                                             const struct ct_line_scope *scope)
{
    uint64_t offset;
    const struct ct_symbol *symbol = ct_symbols_at(work->source.symbols, scope->entry, &offset);
    const char *name = symbol && !offset ? symbol->name : "";
    name += name[0] == '_' && name[1] == '_';
    return is_mangled(name) || (name[0] && !scope->name[0]) ? symbol : NULL;
}

static void name_by_scope(const struct ct_cover_work *work, const struct ct_line_scope *scope,
                          struct ct_cover_function *function)
{
    const struct ct_symbol *symbol = better_symbol(work, scope);
    function->name = symbol ? ct_symbols_label(work->source.symbols, symbol) : scope->name;
    /* A constructor has two symbols at one address. The debug information names the one that the compiler
     * wrote. */
    function->linkage_name = scope->linkage_name ? scope->linkage_name : symbol ? symbol->name : scope->name;
}

static struct ct_cover_function describe(const struct ct_cover_work *work, uint32_t scope,
                                         const struct ct_symbol *symbol, const struct ct_cover_insn *first)
{
    size_t count;
    const struct ct_line_scope *scopes = ct_lines_scopes(work->source.lines, &count);
    struct ct_cover_function function = {.addr = first->addr, .file = first->file, .line = first->line};
    if (scope == CT_LINE_NONE) {
        function.name = symbol ? ct_symbols_label(work->source.symbols, symbol) : CT_SYMBOL_UNKNOWN;
        function.linkage_name = symbol ? symbol->name : function.name;
        return function;
    }
    name_by_scope(work, &scopes[scope], &function);
    function.addr = scopes[scope].entry;
    if (scopes[scope].decl_file != CT_LINE_NONE && scopes[scope].decl_line) {
        function.file = scopes[scope].decl_file;
        function.line = scopes[scope].decl_line;
    }
    return function;
}

/* Adds the functions before `addr` whose instructions were not stored, from index `next` on. Returns the
 * index of the next one. */
static size_t add_unrun(struct ct_cover_work *work, size_t next, uint64_t addr)
{
    for (; next < work->unrun_count && work->unrun[next].addr < addr; next++) {
        const struct ct_cover_unrun *unrun = &work->unrun[next];
        const struct ct_cover_insn first = {.addr = unrun->addr, .file = CT_LINE_NONE};
        struct ct_cover_function *function = &work->functions[work->report.function_count++];
        *function = describe(work, CT_LINE_NONE, unrun->symbol, &first);
        function->insns = unrun->insns;
        function->branches = 2 * unrun->decisions;
    }
    return next;
}

static int number_functions(struct ct_cover_work *work)
{
    size_t scope_count;
    size_t symbol_count;
    const struct ct_line_scope *scopes = ct_lines_scopes(work->source.lines, &scope_count);
    const struct ct_symbol *symbols = ct_symbols_all_code(work->source.symbols, &symbol_count);
    size_t most = scope_count + symbol_count; /* the additional one is for code in no function */
    if (most >= INT32_MAX)
        return ct_fail(
            work->ctx, CT_ERR_LIMIT,
            "coverage: the program has more than 2^31 functions, which is the limit; use a smaller program");
    uint32_t *numbers = new_numbers(most + 1);
    work->functions = calloc(most + 1, sizeof *work->functions);
    if (!numbers || !work->functions) {
        free(numbers);
        return ct_fail_nomem(work->ctx, "coverage");
    }
    struct ct_symbol_span span = {0};
    size_t unrun = 0;
    for (size_t i = 0; i < work->report.insn_count; i++) {
        struct ct_cover_insn *insn = &work->insns[i];
        unrun = add_unrun(work, unrun, insn->addr);
        uint32_t scope = ct_cover_outermost(scopes, work->scopes[i]);
        const struct ct_symbol *symbol = NULL;
        size_t key = scope;
        if (scope == CT_LINE_NONE) {
            symbol = ct_cover_span_at(work, insn->addr, &span)->code;
            key = scope_count + (symbol ? (size_t)(symbol - symbols) : symbol_count);
        }
        if (numbers[key] == CT_COVER_NONE) {
            numbers[key] = (uint32_t)work->report.function_count;
            work->functions[work->report.function_count++] = describe(work, scope, symbol, insn);
        }
        insn->function = numbers[key];
    }
    add_unrun(work, unrun, UINT64_MAX);
    free(numbers);
    return CT_OK;
}

/* Counts the prologue of a function for the line of its declaration, although the compiler assigns it to the
 * line of the opening brace. The prologue is the function's first row, unless a row without instructions
 * stands before it. */
static void move_prologue(struct ct_cover_work *work, const struct ct_cover_function *function)
{
    size_t count;
    const struct ct_line *rows = ct_lines_all(work->source.lines, &count);
    const struct ct_line *row = ct_lines_at(work->source.lines, function->addr);
    if (!row || row->addr != function->addr || row->file != function->file || row->line <= function->line ||
        (row > rows && row[-1].addr == row->addr))
        return;
    for (size_t i = ct_cover_find(work, row->addr); i < work->report.insn_count; i++) {
        if (work->insns[i].addr >= row->end)
            return;
        work->insns[i].line = function->line;
    }
}

int ct_cover_make_functions(struct ct_cover_work *work)
{
    const int result = number_functions(work);
    for (size_t i = 0; result == CT_OK && work->functions && i < work->report.function_count; i++)
        move_prologue(work, &work->functions[i]);
    return result;
}
