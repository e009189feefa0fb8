/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of stacks over streams and captures: the object and its operations of the contract of analyses. */
#include "analysis/stack_sums.h"

#include "analysis/cover.h"
#include "analysis/saved.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"

static struct ct_stack_sums *of(struct ct_analysis *analysis)
{
    return (struct ct_stack_sums *)analysis;
}

int ct_stack_sums_new(struct ct_ctx *ctx, const struct ct_stack_sums_options *options,
                      struct ct_stack_sums **out)
{
    struct ct_stack_sums_options o;
    CT_REQUIRE_OUT(ctx, out);
    const int rc = ct_options_read(ctx, "ct_stack_sums_new", options, &o, sizeof o);
    struct ct_stack_sums *s = rc ? NULL : calloc(1, sizeof *s);
    if (!s)
        return rc ? rc : ct_fail_nomem(ctx, "stacks");
    s->analysis = (struct ct_analysis){.kind = ct_stack_sums_kind(), .ctx = ctx};
    s->options = o;
    s->settled = true;
    const int made = ct_cover_new(ctx, &s->cover);
    if (made) {
        free(s);
        return made;
    }
    s->table = ct_cover_table(s->cover);
    *out = s;
    return CT_OK;
}

void ct_stack_sums_free(struct ct_stack_sums *s)
{
    if (!s)
        return;
    ct_stack_streams_free(s);
    ct_runs_free(&s->analysis);
    for (size_t i = 0; i < s->function_count; i++) {
        if (s->functions[i].label != s->functions[i].name)
            free((char *)(uintptr_t)s->functions[i].label);
        free((char *)(uintptr_t)s->functions[i].name);
    }
    free(s->functions);
    free(s->places);
    free(s->calls);
    ct_pair_map_free(&s->numbers);
    ct_pair_map_free(&s->children);
    ct_cover_free(s->cover);
    free(s);
}

struct ct_analysis *ct_stack_sums_analysis(struct ct_stack_sums *s)
{
    return s ? &s->analysis : NULL;
}

struct ct_cover *ct_stack_sums_cover(struct ct_stack_sums *s)
{
    return s ? s->cover : NULL;
}

/* ---- adding ---- */

/* Refuses an item whose number would not fit in 32 bits. */
static int check_count(const struct ct_stack_sums *s, size_t count)
{
    return count < CT_PAIR_NONE ? CT_OK
                                : ct_fail(s->analysis.ctx, CT_ERR_LIMIT,
                                          "stacks: there are more than 2^32 - 1 different call stacks, which "
                                          "is the limit; add up fewer captures");
}

/* Sets the names of a function and frees the old ones. CT_ERR_NOMEM. */
static int set_name(const struct ct_stack_sums *s, struct ct_stack_function *function, const char *name)
{
    char *plain = NULL;
    const int rc = s->options.raw_names ? CT_OK : ct_plain_name(s->analysis.ctx, name, &plain);
    char *copy = rc ? NULL : strdup(name);
    if (!copy) {
        free(plain);
        return rc ? rc : ct_fail_nomem(s->analysis.ctx, "stacks");
    }
    if (function->label != function->name)
        free((char *)(uintptr_t)function->label);
    free((char *)(uintptr_t)function->name);
    function->name = copy;
    function->label = plain ? plain : copy;
    return CT_OK;
}

int ct_stack_sums_add_function(struct ct_stack_sums *s, const struct ct_stack_function *function,
                               uint32_t *number)
{
    *number = ct_pair_map_get(&s->numbers, function->addr, function->program);
    if (*number != CT_PAIR_NONE) {
        struct ct_stack_function *have = &s->functions[*number];
        return strcmp(function->name, have->name) < 0 ? set_name(s, have, function->name) : CT_OK;
    }
    int rc = check_count(s, s->function_count);
    if (!rc && !CT_MAKE_ROOM(s->functions, s->function_room, s->function_count + 1))
        rc = ct_fail_nomem(s->analysis.ctx, "stacks");
    if (rc)
        return rc;
    struct ct_stack_function *fresh = &s->functions[s->function_count];
    *fresh = (struct ct_stack_function){.addr = function->addr, .program = function->program};
    rc = set_name(s, fresh, function->name);
    if (rc)
        return rc;
    *number = (uint32_t)s->function_count++;
    s->settled = false;
    return ct_pair_map_put(&s->numbers, function->addr, function->program, *number)
               ? ct_fail_nomem(s->analysis.ctx, "stacks")
               : CT_OK;
}

/* Finds or makes the place of a function called from place `parent`. CT_ERR_NOMEM, CT_ERR_LIMIT. */
static int find_place(struct ct_stack_sums *s, uint32_t parent, uint32_t function, uint32_t *number)
{
    const uint32_t known = ct_pair_map_get(&s->children, parent, function);
    *number = known == CT_PAIR_NONE ? (uint32_t)s->place_count : known;
    if (known != CT_PAIR_NONE)
        return CT_OK;
    int rc = check_count(s, s->place_count);
    if (!rc && (!CT_MAKE_ROOM(s->places, s->place_room, s->place_count + 1) ||
                ct_pair_map_put(&s->children, parent, function, *number)))
        rc = ct_fail_nomem(s->analysis.ctx, "stacks");
    if (rc)
        return rc;
    s->places[s->place_count++] = (struct ct_stack_place){.parent = parent, .function = function};
    s->settled = false;
    return CT_OK;
}

int ct_stack_sums_add_place(struct ct_stack_sums *s, const struct ct_stack_place *place, uint32_t *number)
{
    const int rc = find_place(s, place->parent, place->function, number);
    if (rc)
        return rc;
    struct ct_stack_place *sum = &s->places[*number];
    ct_add_up(&sum->calls, place->calls);
    ct_add_up(&sum->insns, place->insns);
    ct_add_up(&sum->cycles, place->cycles);
    return CT_OK;
}

/* Makes room for one more call. Combines equal calls first, and grows the array only when more than half of
 * it remains in use. CT_ERR_NOMEM. */
static int make_room_for_call(struct ct_stack_sums *s)
{
    if (s->call_count < s->call_room)
        return CT_OK;
    ct_stack_sums_add_up_calls(s);
    if (s->call_count < s->call_room / 2)
        return CT_OK;
    if (!CT_MAKE_ROOM(s->calls, s->call_room, s->call_room + 1))
        return ct_fail_nomem(s->analysis.ctx, "stacks");
    return CT_OK;
}

int ct_stack_sums_add_call(struct ct_stack_sums *s, const struct ct_stack_call *call)
{
    const int rc = make_room_for_call(s);
    if (rc)
        return rc;
    s->calls[s->call_count++] = *call;
    s->settled = false;
    return CT_OK;
}

int ct_stack_sums_find(struct ct_stack_sums *s, struct ct_stack_found *found)
{
    CT_REQUIRE(NULL, s, found);
    const int rc = ct_stack_sums_settle(s);
    *found = (struct ct_stack_found){.functions = s->functions,
                                     .function_count = s->function_count,
                                     .places = s->places,
                                     .place_count = s->place_count,
                                     .renewed = s->renewed,
                                     .program_count = s->table->count,
                                     .calls = s->calls,
                                     .call_count = s->call_count,
                                     .lacks_calls = s->lacks_calls};
    return rc;
}

struct ct_program_identity ct_stack_sums_program(const struct ct_stack_sums *s, uint32_t number)
{
    return s && number < s->table->count ? ct_program_table_at(s->table, number)
                                         : (struct ct_program_identity){0};
}

/* ---- the operations of the contract of analyses ---- */

static int part(const struct ct_analysis *analysis, struct ct_analysis **out)
{
    const struct ct_stack_sums *whole = (const struct ct_stack_sums *)analysis;
    struct ct_stack_sums *s = NULL;
    const int rc = ct_stack_sums_new(analysis->ctx, &whole->options, &s);
    if (!s)
        return rc;
    s->programs = whole->programs;
    *out = &s->analysis;
    return CT_OK;
}

static int set_programs(struct ct_analysis *analysis, struct ct_programs *programs)
{
    of(analysis)->programs = programs;
    return CT_OK;
}

static int take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    return ct_stack_streams_take(of(analysis), batch);
}

static int end(struct ct_analysis *analysis, uint32_t lane)
{
    return ct_stack_streams_end(of(analysis), lane);
}

/* Adds the functions of `from`. Sets numbers[i] to the number in `into` of function i. */
static int add_functions(struct ct_stack_sums *into, const struct ct_stack_sums *from, uint32_t *numbers)
{
    int rc;
    uint32_t *programs = ct_program_table_join(into->table, &into->analysis, from->table, &rc);
    for (size_t i = 0; i < from->function_count && !rc; i++) {
        struct ct_stack_function function = from->functions[i];
        if (function.program != CT_STACK_NONE)
            function.program = programs[function.program];
        rc = ct_stack_sums_add_function(into, &function, &numbers[i]);
    }
    free(programs);
    return rc;
}

/* Adds the tree, calls and counts of `from`. `functions` and `places` have room for one number of each
 * function and place of `from`: they receive the numbers in `into`. */
static int add_all(struct ct_stack_sums *into, const struct ct_stack_sums *from, uint32_t *functions,
                   uint32_t *places)
{
    int rc = add_functions(into, from, functions);
    for (size_t i = 0; i < from->place_count && !rc; i++) {
        struct ct_stack_place place = from->places[i];
        place.function = functions[place.function];
        if (place.parent != CT_STACK_NONE)
            place.parent = places[place.parent];
        rc = ct_stack_sums_add_place(into, &place, &places[i]);
    }
    for (size_t i = 0; i < from->call_count && !rc; i++) {
        struct ct_stack_call call = from->calls[i];
        call.caller = functions[call.caller];
        call.callee = functions[call.callee];
        rc = ct_stack_sums_add_call(into, &call);
    }
    if (!rc)
        ct_add_up(&into->renewed, from->renewed);
    into->lacks_calls |= from->lacks_calls;
    return rc ? rc : ct_cover_merge(ct_cover_analysis(into->cover), ct_cover_analysis(from->cover));
}

static int merge(struct ct_analysis *analysis, struct ct_analysis *other)
{
    const struct ct_stack_sums *from = of(other);
    uint32_t *functions = calloc(from->function_count + 1, sizeof *functions);
    uint32_t *places = calloc(from->place_count + 1, sizeof *places);
    const int rc = functions && places ? add_all(of(analysis), from, functions, places)
                                       : ct_fail_nomem(analysis->ctx, "stacks");
    free(functions);
    free(places);
    return rc;
}

static void free_analysis(struct ct_analysis *analysis)
{
    ct_stack_sums_free(of(analysis));
}

static const struct ct_analysis_kind kind = {
    .size = sizeof(struct ct_analysis_kind),
    .name = "stacks",
    .writer = "coretap profile --format data",
    .version = 3,
    .words = 3,
    .inputs = CT_INPUT_STEPS,
    .part = part,
    .programs = set_programs,
    .take = take,
    .end = end,
    .merge = merge,
    .save = ct_stack_sums_save,
    .load = ct_stack_sums_load,
    .free = free_analysis,
};

const struct ct_analysis_kind *ct_stack_sums_kind(void)
{
    return &kind;
}
