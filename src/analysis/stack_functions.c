/* SPDX-License-Identifier: Apache-2.0 */
/* Finds functions of several programs, by number and by address. */
#include "analysis/stacks.h"
#include "base/ctx.h"

#include <stdlib.h>

int ct_stack_number_functions(struct ct_stacks *s)
{
    s->first = malloc((s->program_count + 1) * sizeof *s->first);
    if (!s->first)
        return ct_fail_nomem(s->ctx, "stacks");
    uint32_t sum = 0;
    for (size_t i = 0; i < s->program_count; i++) {
        size_t count;
        (void)ct_symbols_all_code(s->programs[i].symbols, &count);
        s->first[i] = sum;
        sum += (uint32_t)count;
    }
    s->first[s->program_count] = sum;
    return CT_OK;
}

uint32_t ct_stack_function_at(const struct ct_stacks *s, uint64_t addr, uint32_t memory)
{
    for (size_t i = 0; i < s->program_count; i++) {
        size_t count;
        if (!ct_memory_set_has(&s->programs[i].memories, memory))
            continue;
        const struct ct_symbol *all = ct_symbols_all_code(s->programs[i].symbols, &count);
        const struct ct_symbol *symbol =
            ct_symbols_code_at(s->programs[i].symbols, addr - s->programs[i].shift, NULL);
        if (symbol)
            return s->first[i] + (uint32_t)(symbol - all);
    }
    return s->first[s->program_count];
}

const uint8_t *ct_stack_code_at(const struct ct_stacks *s, uint64_t addr, uint32_t memory, size_t *size)
{
    for (size_t i = 0; i < s->program_count; i++) {
        const struct ct_program_place *place = &s->programs[i];
        const struct ct_memory *code;
        if (!place->program || !ct_memory_set_has(&place->memories, memory) ||
            !ct_program_has(place->program, addr, memory))
            continue;
        return ct_program_memory(place->program, &code) == CT_OK
                   ? ct_memory_at(code, addr - place->shift, CT_SPACE_ANY, size)
                   : NULL;
    }
    return NULL;
}

const struct ct_symbol *ct_stacks_symbol(const struct ct_stacks *s, uint32_t function, size_t *program)
{
    if (!s)
        return NULL;
    for (size_t i = 0; i < s->program_count; i++) {
        if (function >= s->first[i + 1])
            continue;
        size_t count;
        if (program)
            *program = i;
        return &ct_symbols_all_code(s->programs[i].symbols, &count)[function - s->first[i]];
    }
    return NULL;
}

const char *ct_stacks_name(const struct ct_stacks *s, uint32_t function)
{
    if (!s)
        return NULL;
    size_t program;
    const struct ct_symbol *symbol = ct_stacks_symbol(s, function, &program);
    return symbol ? ct_symbols_label(s->programs[program].symbols, symbol) : CT_SYMBOL_UNKNOWN;
}

bool ct_stack_begins(const struct ct_stacks *s, uint32_t function, uint64_t addr)
{
    size_t program;
    const struct ct_symbol *symbol = ct_stacks_symbol(s, function, &program);
    return symbol && symbol->addr + s->programs[program].shift == addr;
}

bool ct_stack_starts(const struct ct_stacks *s, uint32_t function, uint64_t addr)
{
    size_t program;
    if (!ct_stacks_symbol(s, function, &program))
        return false;
    const uint64_t entry = ct_symbols_entry(s->programs[program].symbols);
    return entry && entry + s->programs[program].shift == addr;
}
