/* SPDX-License-Identifier: Apache-2.0 */
#include "record/states.h"

#include <stdlib.h>

#include "base/ctx.h"

/* Most versions in all states, so that their description stays readable. */
#define ENTRIES_MAX ((size_t)1 << 18)

/* Versions by number of the place minus one; places beyond `count` have their first version. The last one
 * here is not a first version. */
struct state {
    uint32_t *versions;
    uint32_t count;
    uint64_t hash;
};

struct ct_states {
    struct ct_ctx *ctx;
    const struct ct_code *code;
    struct ct_arena arena;
    uint32_t count;
    struct state state[CT_STATES_MAX];
};

int ct_states_new(struct ct_ctx *ctx, struct ct_code *code, struct ct_states **out)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return ct_fail_nomem(ctx, "states of memory");
    (*out)->ctx = ctx;
    (*out)->code = code;
    (*out)->count = 1;
    return CT_OK;
}

void ct_states_free(struct ct_states *states)
{
    if (!states)
        return;
    ct_arena_free(&states->arena);
    free(states);
}

static struct state state_of(const struct ct_states *states, const struct ct_code_view *view)
{
    struct state state = {.count = *ct_code_changing(states->code)};
    while (state.count && !ct_code_view_version(view, state.count))
        state.count--;
    for (uint32_t i = state.count; i > 0; i--)
        state.hash = (state.hash + ct_code_view_version(view, i)) * UINT64_C(0x9e3779b97f4a7c15);
    return state;
}

static bool is_state(const struct state *state, const struct state *wanted, const struct ct_code_view *view)
{
    if (state->count != wanted->count || state->hash != wanted->hash)
        return false;
    for (uint32_t i = 0; i < state->count; i++)
        if (state->versions[i] != ct_code_view_version(view, i + 1))
            return false;
    return true;
}

int ct_states_find(struct ct_states *states, const struct ct_code_view *view, uint32_t *number)
{
    struct state state = state_of(states, view);
    for (*number = 0; *number < states->count; ++*number)
        if (is_state(&states->state[*number], &state, view))
            return CT_OK;
    if (states->count == CT_STATES_MAX || (size_t)states->count * state.count > ENTRIES_MAX) {
        *number = CT_STATES_MAX;
        return CT_OK;
    }
    state.versions = ct_arena_alloc(&states->arena, state.count * sizeof *state.versions);
    if (!state.versions)
        return ct_fail_nomem(states->ctx, "states of memory");
    for (uint32_t i = 0; i < state.count; i++)
        state.versions[i] = ct_code_view_version(view, i + 1);
    states->state[states->count++] = state;
    return CT_OK;
}

void ct_states_restore(const struct ct_states *states, uint32_t number, struct ct_code_view *view)
{
    ct_code_view_set(view, states->state[number].versions, states->state[number].count);
}

uint32_t ct_states_count(const struct ct_states *states)
{
    return states->count;
}

uint32_t ct_states_version(const struct ct_states *states, uint32_t number, const struct ct_code_place *place)
{
    const struct state *state = &states->state[number];
    return place->changing && place->changing <= state->count ? state->versions[place->changing - 1] : 0;
}

bool ct_states_differ(const struct ct_states *states, const struct ct_code_place *place)
{
    for (uint32_t i = 1; i < states->count; i++)
        if (ct_states_version(states, i, place) != ct_states_version(states, 0, place))
            return true;
    return false;
}
