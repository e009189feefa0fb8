/* SPDX-License-Identifier: Apache-2.0 */
#include "format/address_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

#define CACHE_BITS 12

#define PLAIN_MOST 200u /* longest label, in bytes, that is written without checking for room */

struct slot {
    struct ct_address_name name;
    uint64_t addr;
    uint32_t memory;
    bool used;
};

struct ct_address_names {
    const struct ct_program_place *programs;
    size_t count;
    struct slot cache[1u << CACHE_BITS];
};

int ct_address_names_new(struct ct_ctx *ctx, struct ct_address_names **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? CT_OK : ct_fail_nomem(ctx, "names of addresses");
}

void ct_address_names_free(struct ct_address_names *names)
{
    free(names);
}

void ct_address_names_set(struct ct_address_names *names, const struct ct_program_place *programs,
                          size_t count)
{
    names->programs = programs;
    names->count = count;
    memset(names->cache, 0, sizeof names->cache);
}

static bool is_plain(const char *label, size_t size)
{
    bool plain = size <= PLAIN_MOST;
    for (size_t i = 0; plain && i < size; i++)
        plain = label[i] >= 0x20 && label[i] < 0x7f && label[i] != '"' && label[i] != '\\';
    return plain;
}

static struct ct_address_name look_up(const struct ct_address_names *names, uint64_t addr, uint32_t memory)
{
    struct ct_address_name name = {0};
    for (size_t i = 0; i < names->count && !name.label; i++) {
        const struct ct_program_place *program = &names->programs[i];
        const struct ct_symbol *symbol =
            ct_memory_set_has(&program->memories, memory)
                ? ct_symbols_code_at(program->symbols, addr - program->shift, &name.offset)
                : NULL;
        name.is_place = symbol && (symbol->source == CT_SYMBOL_UNWIND || symbol->source == CT_SYMBOL_CODE);
        if (name.is_place)
            name.offset = addr - program->shift - ct_symbols_bias(program->symbols);
        if (symbol)
            name.label = name.is_place ? ct_symbols_module(program->symbols)
                                       : ct_symbols_label(program->symbols, symbol);
    }
    if (name.label) {
        name.size = (uint32_t)strlen(name.label);
        name.is_plain = is_plain(name.label, name.size);
    }
    return name;
}

const struct ct_address_name *ct_address_names_find(struct ct_address_names *names, uint64_t addr,
                                                    uint32_t memory)
{
    /* Fibonacci hashing, because addresses of code differ in their low bits. */
    struct slot *slot = &names->cache[(addr ^ memory) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - CACHE_BITS)];
    if (!slot->used || slot->addr != addr || slot->memory != memory)
        *slot = (struct slot){look_up(names, addr, memory), addr, memory, true};
    return &slot->name;
}

void ct_address_name_put(struct ct_text *t, enum ct_address_style style, const struct ct_address_name *name)
{
    if (name->is_plain) {
        ct_text_bytes(t, name->label, name->size);
    } else if (style == CT_ADDRESS_JSON) {
        ct_text_json(t, name->label);
    } else if (style == CT_ADDRESS_CSV) {
        ct_text_csv(t, name->label);
    } else {
        ct_text_printable(t, name->label);
    }
    if (name->offset || name->is_place) {
        ct_text_lit(t, "+0x");
        ct_text_hex(t, name->offset);
    }
}
