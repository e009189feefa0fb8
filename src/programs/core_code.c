/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns code addresses to programs: a copy of memory (kcore) gets what is in no file. */
#include "programs/programs.h"

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/require.h"

static bool is_core(struct ct_known_program *p)
{
    struct ct_elf_look elf;
    if (!p->is_looked_at)
        p->is_core = ct_elf_look(&ct_files_system, p->is.path, &elf) && elf.is_core;
    p->is_looked_at = true;
    return p->is_core;
}

/* Removes `hole` from the ranges. CT_ERR_NOMEM. */
static int cut_out(struct ct_known_program *p, struct ct_code_range hole)
{
    const size_t count = p->rest_count;
    for (size_t i = 0; i < count; i++) {
        const struct ct_code_range range = p->rest[i];
        const struct ct_code_range behind = {hole.high, range.high};
        if (hole.high <= range.low || hole.low >= range.high)
            continue;
        p->rest[i].high = hole.low > range.low ? hole.low : range.low;
        if (hole.high >= range.high)
            continue;
        struct ct_code_range *more = ct_arena_push(&p->set->arena, p->rest, &p->rest_count, sizeof *more);
        if (!more)
            return ct_fail_nomem(p->set->ctx, "programs");
        p->rest = more;
        more[p->rest_count - 1] = behind;
    }
    return CT_OK;
}

/* Removes the code of another program from the rest of a copy of memory. */
static int cut_program(struct ct_known_program *p, struct ct_known_program *other)
{
    const struct ct_symbols *symbols;
    size_t count;
    if (other == p || other->is.memories.has || is_core(other) ||
        ct_program_headers(&other->is, &symbols) != CT_OK)
        return CT_OK;
    const struct ct_code_range *code = ct_symbols_code(symbols, &count);
    const uint64_t moved = other->is.shift - p->is.shift;
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++)
        rc = cut_out(p, (struct ct_code_range){code[i].low + moved, code[i].high + moved});
    return rc;
}

static int find_rest(struct ct_known_program *p, const struct ct_code_range *code, size_t count)
{
    int rc = CT_OK;
    p->rest_count = 0;
    p->rest = NULL;
    for (size_t i = 0; i < count; i++) {
        struct ct_code_range *more = ct_arena_push(&p->set->arena, p->rest, &p->rest_count, sizeof *more);
        if (!more)
            return ct_fail_nomem(p->set->ctx, "programs");
        p->rest = more;
        more[i] = code[i];
    }
    for (size_t i = 0; i < p->set->count && !rc; i++)
        rc = cut_program(p, p->set->all[i]);
    if (rc)
        p->rest = NULL;
    return rc;
}

void ct_programs_forget_rests(struct ct_programs *p)
{
    for (size_t i = 0; i < p->count; i++)
        p->all[i]->rest = NULL;
}

int ct_program_code(struct ct_program *program, const struct ct_code_range **out, size_t *count)
{
    const struct ct_symbols *symbols;
    struct ct_known_program *p = (struct ct_known_program *)program;
    CT_REQUIRE_OUT(p ? p->set->ctx : NULL, out, program, count);
    *count = 0;
    int rc = ct_program_headers(program, &symbols);
    if (rc)
        return rc;
    *out = ct_symbols_code(symbols, count);
    if (!is_core(p))
        return CT_OK;
    if (!p->rest)
        rc = find_rest(p, *out, *count);
    *out = rc ? NULL : p->rest;
    *count = rc ? 0 : p->rest_count;
    return rc;
}
