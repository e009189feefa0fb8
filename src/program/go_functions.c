/* SPDX-License-Identifier: Apache-2.0 */
/* Names and bounds of the functions of a stripped program of Go. */
#include "base/ctx.h"
#include "program/go_table.h"
#include "program/name_limit.h"
#include "program/symbols.h"

/* Adds the functions of a table, whose names are in `texts`, a copy of it. */
static int add_functions(struct ct_collector *c, const struct ct_go_table *t, const char *texts)
{
    const bool is_a64 = c->elf->header.e_machine != EM_ARM;
    struct ct_name_limit limit = ct_name_limit_of(t->text_end);
    int result = CT_OK;
    for (uint64_t i = 0; result == CT_OK && i < t->count; i++) {
        struct ct_go_function f;
        if (!ct_go_table_function(t, i, &f) || !f.name ||
            !ct_collect_is_code(c, f.addr + c->bias, f.end - f.addr))
            continue;
        const char *name = ct_name_limit_apply(&limit, c->ctx, c->arena, c->name, texts + f.name);
        if (!name)
            return ct_fail_nomem(c->ctx, c->name);
        const struct ct_function function = {.symbol = {.name = name,
                                                        .addr = f.addr + c->bias,
                                                        .size = f.end - f.addr,
                                                        .isa = is_a64 ? CT_ISA_A64 : CT_ISA_A32,
                                                        .source = CT_SYMBOL_GO},
                                             .rank = 2};
        result = ct_collect(c, &function);
    }
    return result;
}

int ct_collect_go(struct ct_collector *c)
{
    struct ct_go_table table;
    const size_t before = c->count;
    int result = ct_go_table_find(c->elf, &table);
    if (result == CT_ERR_NOT_FOUND)
        return CT_OK;
    if (result == CT_OK) {
        const char *texts = ct_arena_strndup(c->arena, (const char *)table.bytes, table.text_end);
        result = texts ? add_functions(c, &table, texts) : ct_fail_nomem(c->ctx, c->name);
    }
    if (result == CT_ERR_NOMEM)
        return result;
    if (c->count == before)
        ct_log(c->ctx, CT_LOG_WARNING,
               "%s: its table of Go functions (.gopclntab) is damaged, or of a newer Go version than coretap "
               "reads; the names of its functions are unknown; use an undamaged file with a symbol table",
               c->name);
    return CT_OK;
}
