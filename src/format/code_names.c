/* SPDX-License-Identifier: Apache-2.0 */
#include "format/code_names.h"

#include "base/ctx.h"

/* Loads the names of programs that were added since the last call. */
static int load(struct ct_code_names *n)
{
    struct ct_program *program;
    const struct ct_symbols *symbols;
    int rc = CT_OK;
    for (; !rc && (program = ct_programs_at(n->programs, n->known)); n->known++) {
        const int loaded = ct_program_symbols(program, &symbols);
        if (loaded && program->named)
            rc = loaded;
        else if (loaded && n->unnamed)
            rc = n->unnamed(n->user, program);
    }
    return rc;
}

static int list_programs(struct ct_code_names *n)
{
    const int rc = load(n);
    if (rc)
        return rc;
    /* lists only programs with names */
    (void)ct_programs_places(n->programs, &n->places, &n->place_count);
    if (!n->places)
        return ct_fail_nomem(n->ctx, "names of addresses");
    ct_address_names_set(n->names, n->places, n->place_count);
    n->renewals++;
    return CT_OK;
}

/* Finds the programs that were loaded in a memory, once for each memory. */
static int find_programs(struct ct_code_names *n, uint32_t memory)
{
    uint64_t *word = &n->memories[memory / 64];
    const uint64_t bit = UINT64_C(1) << memory % 64;
    if (*word & bit)
        return CT_OK;
    *word |= bit;
    return ct_programs_in(n->programs, n->maps, memory) ?: list_programs(n);
}

int ct_code_names_open(struct ct_code_names *n, const struct ct_capture *capture)
{
    if (!n->programs)
        return CT_OK;
    const int rc = ct_address_names_new(n->ctx, &n->names);
    if (rc)
        return rc;
    n->maps = capture && ct_programs_by_memory(capture) ? capture->maps : NULL;
    return n->maps ? find_programs(n, 0) : list_programs(n);
}

void ct_code_names_close(struct ct_code_names *n)
{
    ct_address_names_free(n->names);
}

int ct_code_names_find(struct ct_code_names *n, uint64_t addr, uint32_t memory,
                       const struct ct_address_name **out)
{
    *out = NULL;
    if (!n->names || memory >= CT_EVENT_MEMORY_MOST)
        return CT_OK;
    const int rc = n->maps ? find_programs(n, memory) : CT_OK;
    if (rc)
        return rc;
    const struct ct_address_name *name = ct_address_names_find(n->names, addr, memory);
    *out = name->label ? name : NULL;
    return CT_OK;
}

const struct ct_program_place *ct_code_names_place(const struct ct_code_names *n, uint64_t addr,
                                                   uint32_t memory)
{
    for (size_t i = 0; i < n->place_count; i++) {
        const struct ct_program_place *place = &n->places[i];
        if (ct_memory_set_has(&place->memories, memory) &&
            ct_symbols_code_at(place->symbols, addr - place->shift, NULL))
            return place;
    }
    return NULL;
}
