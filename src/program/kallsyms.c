/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a kernel's functions, for a copy of its memory: from the file kallsyms beside it, to which perf
 * copies /proc/kallsyms. */
#include "base/ctx.h"
#include "base/kallsyms.h"
#include "base/path.h"
#include "program/symbols.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MOST      (INT64_C(256) << 20) /* bytes of the file */
#define NO_RANK   UINT8_MAX            /* rank of a symbol that is no function, and only ends one */
#define FUNCTIONS "TtWw"               /* types of symbols: global, local, weak */

/* Statistics of the lines read. */
struct lines {
    size_t symbols, zeros;        /* symbols, and those with a hidden address */
    size_t damaged, first_damage; /* damaged lines, and the number of the first one */
};

/* Adds a function under its name, followed by "[module]": modules may have functions with the same name. */
static int add_symbol(struct ct_collector *c, const struct ct_kallsyms_symbol *symbol)
{
    const uint64_t addr = symbol->addr + c->bias;
    const char type = symbol->type;
    if (!ct_collect_is_code(c, addr, 0))
        return CT_OK;
    symbol->name[symbol->name_length] = symbol->module_length ? ' ' : '\0';
    if (symbol->module_length)
        symbol->module[symbol->module_length + 1] = '\0';
    const struct ct_function function = {
        .symbol = {.name = symbol->name,
                   .addr = addr,
                   .isa = c->elf->header.e_machine == EM_ARM ? CT_ISA_A32 : CT_ISA_A64,
                   .source = CT_SYMBOL_DEBUG_FILE},
        .rank = !strchr(FUNCTIONS, type)     ? NO_RANK
                : type == 'T'                ? 0
                : type == 'W' || type == 'w' ? 1
                                             : 2};
    return ct_collect(c, &function);
}

static int add_lines(struct ct_collector *c, char *text, size_t size, struct lines *lines)
{
    char *const end = text + size;
    int result = CT_OK;
    for (size_t number = 1; text < end && result == CT_OK; number++) {
        struct ct_kallsyms_symbol symbol;
        if (!ct_kallsyms_read(&text, end, &symbol)) {
            lines->first_damage = lines->damaged++ ? lines->first_damage : number;
            continue;
        }
        lines->symbols++;
        lines->zeros += symbol.addr == 0;
        result = add_symbol(c, &symbol);
    }
    return result;
}

/* Ends each function at the next symbol, or at the end of its code, and removes symbols that are no
 * functions. */
static void end_functions(struct ct_collector *c, size_t first)
{
    struct ct_function *all = c->functions;
    const size_t count = c->count;
    c->count = first;
    if (first < count)
        qsort(all + first, count - first, sizeof *all, ct_function_order);
    for (size_t i = first, next = first; i < count; i++) {
        struct ct_function function = all[i];
        while (next < count && all[next].symbol.addr == function.symbol.addr)
            next++;
        const uint64_t code_end = ct_collect_code_end(c, function.symbol.addr);
        const uint64_t end =
            next < count && all[next].symbol.addr < code_end ? all[next].symbol.addr : code_end;
        function.symbol.size = end - function.symbol.addr;
        if (function.rank != NO_RANK)
            all[c->count++] = function;
    }
}

static void tell(const struct ct_collector *c, const char *path, const struct lines *lines, size_t used)
{
    if (lines->damaged)
        ct_log(c->ctx, CT_LOG_WARNING,
               "%s: line %zu is not a symbol (address, type, name); it is the first of %zu such lines, which "
               "were ignored; copy /proc/kallsyms again",
               path, lines->first_damage, lines->damaged);
    if (lines->symbols && lines->zeros == lines->symbols)
        ct_log(c->ctx, CT_LOG_WARNING,
               "%s: all addresses are 0, because the kernel hides them from unprivileged users; the "
               "functions in %s have no names; record, or copy /proc/kallsyms, as root and with "
               "kernel.kptr_restrict at 0 or 1",
               path, c->name);
    else if (!used)
        ct_log(c->ctx, CT_LOG_WARNING,
               "%s: none of its %zu symbols is a function in %s, so the functions there have no names; use a "
               "kallsyms file from the same boot",
               path, lines->symbols, c->name);
}

static int read_text(struct ct_collector *c, const char *path, const struct ct_mapped_file *file)
{
    struct lines lines = {0};
    const size_t before = c->count;
    char *text = ct_arena_strndup(c->arena, (const char *)file->bytes, file->size);
    int result = text ? add_lines(c, text, file->size, &lines) : ct_fail_nomem(c->ctx, c->name);
    if (result != CT_OK)
        return result;
    end_functions(c, before);
    tell(c, path, &lines, c->count - before);
    return CT_OK;
}

int ct_collect_kallsyms(struct ct_collector *c, const char *path)
{
    struct ct_mapped_file *file;
    struct stat st;
    const char *beside = ct_arena_printf(c->arena, "%.*skallsyms", (int)(ct_base_name(path) - path), path);
    if (!beside)
        return ct_fail_nomem(c->ctx, c->name);
    if (stat(beside, &st) != 0)
        return CT_OK;
    int result = st.st_size > MOST ? CT_ERR_LIMIT : ct_mapped_file_open(NULL, beside, NULL, &file);
    if (result == CT_ERR_NOMEM)
        return ct_fail_nomem(c->ctx, c->name);
    if (result != CT_OK) {
        ct_log(c->ctx, CT_LOG_WARNING,
               "%s: the file %s, so the functions in %s have no names; copy /proc/kallsyms there", beside,
               result == CT_ERR_LIMIT ? "is larger than 256 MiB" : "is empty or cannot be read", c->name);
        return CT_OK;
    }
    result = read_text(c, beside, file);
    ct_mapped_file_close(file);
    return result;
}
