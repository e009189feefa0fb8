/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads sums of stacks as lines of text (docs/formats.md). */
#define _GNU_SOURCE /* stpcpy */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/cover.h"
#include "analysis/saved.h"
#include "analysis/stack_sums.h"
#include "base/ctx.h"
#include "base/printable.h"
#include "base/saturate.h"

#define MOST_NAME (64u << 10) /* longest name of a function, in bytes */

/* ---- writing ---- */

static int save_function(struct ct_save *to, const struct ct_stack_function *function)
{
    char program[12] = "-"; /* for none */
    char *name = malloc(CT_PRINTABLE_ROOM(strlen(function->name) + 1));
    if (!name)
        return CT_ERR_NOMEM;
    ct_escape_to_read(function->name, name);
    if (function->program != CT_STACK_NONE)
        snprintf(program, sizeof program, "%" PRIu32, function->program);
    ct_save_line(to, "function %s %" PRIx64 " %s", program, function->addr, name);
    free(name);
    return CT_OK;
}

/* longest line of a place or a call, in bytes */
#define ITEM_MOST (6 * CT_SAVE_NUMBER + 16 + CT_DIGITS_SLACK)

/* Writes a place. Most lines are of places and calls, so both are written without format strings. */
static void save_place(struct ct_save *to, const struct ct_stack_place *place)
{
    char *p = ct_save_begin(to, ITEM_MOST);
    if (!p)
        return;
    p = stpcpy(p, "place");
    p = place->parent == CT_STACK_NONE ? stpcpy(p, " -") : ct_save_put_dec(p, place->parent);
    p = ct_save_put_dec(ct_save_put_dec(p, place->function), place->calls);
    ct_save_end(to, ct_save_put_dec(ct_save_put_dec(p, place->insns), place->cycles));
}

static void save_call(struct ct_save *to, const struct ct_stack_call *call)
{
    char *p = ct_save_begin(to, ITEM_MOST);
    if (!p)
        return;
    p = ct_save_put_hex(ct_save_put_dec(stpcpy(p, "call"), call->caller), call->site);
    p = ct_save_put_dec(ct_save_put_dec(p, call->callee), call->count);
    ct_save_end(to, ct_save_put_dec(ct_save_put_dec(p, call->insns), call->cycles));
}

int ct_stack_sums_save(struct ct_analysis *analysis, struct ct_save *to)
{
    struct ct_stack_sums *s = (struct ct_stack_sums *)analysis;
    struct ct_stack_found all;
    int rc = ct_stack_sums_find(s, &all);
    for (uint32_t i = 0; i < all.program_count && !rc; i++) {
        const struct ct_program_identity program = ct_stack_sums_program(s, i);
        ct_save_program(to, &program);
        rc = ct_cover_save_items(to, s->cover, i);
    }
    ct_save_line(to, "renewed %" PRIu64, all.renewed);
    if (all.lacks_calls)
        ct_save_line(to, "no-calls");
    for (size_t i = 0; i < all.function_count && !rc; i++)
        rc = save_function(to, &all.functions[i]);
    for (size_t i = 0; i < all.place_count && !rc; i++)
        save_place(to, &all.places[i]);
    for (size_t i = 0; i < all.call_count && !rc; i++)
        save_call(to, &all.calls[i]);
    return rc ? ct_fail_nomem(analysis->ctx, "stacks") : CT_OK;
}

/* ---- reading ---- */

/* Reads word `index`: a number below `count`, or "-" for CT_STACK_NONE. */
static bool read_number(const struct ct_load *from, size_t index, size_t count, uint32_t *number)
{
    uint64_t value;
    *number = CT_STACK_NONE;
    if (ct_load_is(from, index, "-"))
        return true;
    if (!ct_load_number(from, index, 10, &value) || value >= count)
        return false;
    *number = (uint32_t)value;
    return true;
}

/* Reads a line: function PROGRAM|- ADDRESS NAME */
static int read_function(struct ct_stack_sums *s, struct ct_load *from)
{
    struct ct_stack_function function = {0};
    uint32_t number = 0;
    const size_t count = s->function_count;
    ct_load_split(from, 4);
    if (from->word_count != 4 || !read_number(from, 1, s->table->count, &function.program) ||
        !ct_load_number(from, 2, 16, &function.addr) || from->words[3].size > MOST_NAME)
        return ct_load_bad(
            from, "the line is not 'function PROGRAM ADDRESS NAME' with the number of an earlier program");
    char *name = strndup(from->words[3].text, from->words[3].size);
    if (!name)
        return ct_fail_nomem(s->analysis.ctx, "stacks");
    function.name = name;
    const bool whole = strlen(name) == from->words[3].size && *name && ct_unescape(name);
    int rc = whole ? ct_stack_sums_add_function(s, &function, &number)
                   : ct_load_bad(from, "the name of a function must have bytes, none of them zero");
    if (!rc && number < count)
        rc = ct_load_bad(from, "the function is there twice");
    free(name);
    return rc;
}

/* Reads a line: place PARENT|- FUNCTION CALLS INSTRUCTIONS CYCLES */
static int read_place(struct ct_stack_sums *s, struct ct_load *from)
{
    struct ct_stack_place place;
    uint32_t number = 0;
    const size_t count = s->place_count;
    if (from->word_count != 6 || !read_number(from, 1, count, &place.parent) ||
        !read_number(from, 2, s->function_count, &place.function) || place.function == CT_STACK_NONE ||
        !ct_load_number(from, 3, 10, &place.calls) || !ct_load_number(from, 4, 10, &place.insns) ||
        !ct_load_number(from, 5, 10, &place.cycles))
        return ct_load_bad(from, "the line is not 'place PARENT FUNCTION CALLS INSTRUCTIONS CYCLES' with the "
                                 "numbers of an earlier place and function");
    const int rc = ct_stack_sums_add_place(s, &place, &number);
    return !rc && number < count ? ct_load_bad(from, "the place is there twice") : rc;
}

/* Reads a line: call CALLER SITE CALLEE COUNT INSTRUCTIONS CYCLES */
static int read_call(struct ct_stack_sums *s, struct ct_load *from)
{
    struct ct_stack_call call;
    if (from->word_count != 7 || !read_number(from, 1, s->function_count, &call.caller) ||
        call.caller == CT_STACK_NONE || !ct_load_number(from, 2, 16, &call.site) ||
        !read_number(from, 3, s->function_count, &call.callee) || call.callee == CT_STACK_NONE ||
        !ct_load_number(from, 4, 10, &call.count) || !ct_load_number(from, 5, 10, &call.insns) ||
        !ct_load_number(from, 6, 10, &call.cycles))
        return ct_load_bad(from, "the line is not 'call CALLER SITE CALLEE COUNT INSTRUCTIONS CYCLES' with "
                                 "the numbers of earlier functions");
    return ct_stack_sums_add_call(s, &call);
}

static int read_program(struct ct_stack_sums *s, struct ct_load *from, uint32_t *program)
{
    const size_t count = s->table->count;
    const int rc = ct_load_program(from, s->table, &s->analysis, false, program);
    return !rc && *program < count ? ct_load_bad(from, "the program is there twice") : rc;
}

static int read_line(struct ct_stack_sums *s, struct ct_load *from, uint32_t *program)
{
    uint64_t renewed;
    if (ct_load_is(from, 0, "place"))
        return read_place(s, from);
    if (ct_load_is(from, 0, "function"))
        return read_function(s, from);
    if (ct_load_is(from, 0, "program"))
        return read_program(s, from, program);
    if (ct_load_is(from, 0, "started"))
        return ct_load_started(from, s->table, *program);
    if (ct_load_is(from, 0, "run"))
        return ct_cover_load_run(from, s->cover, *program);
    if (ct_load_is(from, 0, "call"))
        return read_call(s, from);
    if (ct_load_is(from, 0, "no-calls") && from->word_count == 1) {
        s->lacks_calls = true;
        return CT_OK;
    }
    if (!ct_load_is(from, 0, "renewed") || from->word_count != 2 || !ct_load_number(from, 1, 10, &renewed))
        return ct_load_bad(from, "the line begins with none of captures, damaged, unknown, lost, program, "
                                 "started, run, renewed (and a number), no-calls, function, place, call");
    ct_add_up(&s->renewed, renewed);
    return CT_OK;
}

int ct_stack_sums_load(struct ct_analysis *part, struct ct_load *from)
{
    struct ct_stack_sums *s = (struct ct_stack_sums *)part;
    uint32_t program = UINT32_MAX;
    int rc = CT_OK;
    s->lacks_calls = from->version < 2;
    while (!rc && ct_load_line(from))
        rc = read_line(s, from, &program);
    return rc;
}
