/* SPDX-License-Identifier: Apache-2.0 */
#include "format/report_sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

static int compare(const struct ct_report_key *a, const struct ct_report_key *b)
{
    if (a->addr != b->addr)
        return a->addr < b->addr ? -1 : 1;
    const int program = strcmp(a->program, b->program);
    return program ? program : strcmp(a->name, b->name);
}

/* Gives the place of a key in the order, and in *there whether it is taken by that key. */
static size_t find(const struct ct_report_sums *sums, const struct ct_report_key *key, bool *there)
{
    size_t low = 0;
    size_t high = sums->function_count;
    *there = false;
    while (low < high && !*there) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(&sums->keys[sums->order[middle]], key);
        *there = order == 0;
        low = order < 0 ? middle + 1 : *there ? middle : low;
        high = order > 0 ? middle : high;
    }
    return low;
}

/* Makes room for one more function. */
static bool grow(struct ct_report_sums *sums)
{
    const size_t count = sums->function_count;
    size_t counts[] = {count, count, count};
    void *functions = ct_arena_push(&sums->arena, sums->functions, &counts[0], sizeof *sums->functions);
    void *keys = ct_arena_push(&sums->arena, sums->keys, &counts[1], sizeof *sums->keys);
    void *order = ct_arena_push(&sums->arena, sums->order, &counts[2], sizeof *sums->order);
    if (!functions || !keys || !order)
        return false;
    sums->functions = functions;
    sums->keys = keys;
    sums->order = order;
    return true;
}

int ct_report_keep_place(struct ct_arena *arena, struct ct_report_place *place)
{
    const char *file = place->file;
    place->function = ct_arena_strdup(arena, place->function);
    place->file = file ? ct_arena_strdup(arena, file) : NULL;
    return place->function && (place->file || !file) ? CT_OK : CT_ERR_NOMEM;
}

static int insert(struct ct_report_sums *sums, size_t at, const struct ct_report_key *key,
                  const struct ct_report_place *place)
{
    if (!grow(sums))
        return CT_ERR_NOMEM;
    const uint32_t number = (uint32_t)sums->function_count;
    struct ct_report_key *kept = &sums->keys[number];
    struct ct_report_function *into = &sums->functions[number];
    *into = (struct ct_report_function){.number = number, .place = *place};
    *kept = (struct ct_report_key){.program = ct_arena_strdup(&sums->arena, key->program),
                                   .addr = key->addr,
                                   .name = ct_arena_strdup(&sums->arena, key->name)};
    if (!kept->program || !kept->name || ct_report_keep_place(&sums->arena, &into->place))
        return CT_ERR_NOMEM;
    memmove(&sums->order[at + 1], &sums->order[at], (sums->function_count - at) * sizeof *sums->order);
    sums->order[at] = number;
    sums->function_count++;
    return CT_OK;
}

int ct_report_sums_function(struct ct_report_sums *sums, const struct ct_report_key *key,
                            const struct ct_report_function *from, uint32_t *number)
{
    bool there;
    const size_t at = find(sums, key, &there);
    int rc = there ? CT_OK : insert(sums, at, key, &from->place);
    if (rc)
        return rc;
    *number = sums->order[at];
    struct ct_report_function *into = &sums->functions[*number];
    into->insns += from->insns;
    into->cycles += from->cycles;
    into->all_insns += from->all_insns;
    into->all_cycles += from->all_cycles;
    into->calls += from->calls;
    rc = ct_dist_merge(&into->inclusive, &from->inclusive);
    return rc ? rc : ct_dist_merge(&into->self, &from->self);
}

/* ---- stacks ---- */

/* Children of the places of the sums: the first of each, and the next one of the same caller. */
struct links {
    uint32_t *first, *next;
    uint32_t roots;
};

static struct links link_places(const struct ct_report_sums *sums, size_t room)
{
    struct links l = {.first = calloc(room + 1, sizeof *l.first),
                      .next = calloc(room + 1, sizeof *l.next),
                      .roots = CT_STACK_NONE};
    for (size_t i = 0; l.first && i < room; i++)
        l.first[i] = CT_STACK_NONE;
    for (size_t i = sums->place_count; l.first && l.next && i-- > 0;) {
        const uint32_t parent = sums->places[i].parent;
        uint32_t *head = parent == CT_STACK_NONE ? &l.roots : &l.first[parent];
        l.next[i] = *head;
        *head = (uint32_t)i;
    }
    return l;
}

/* The place of a function below its caller, which is made where there is none. The caller has made room. */
static uint32_t place_of(struct ct_report_sums *sums, struct links *l, uint32_t parent, uint32_t function)
{
    uint32_t *head = parent == CT_STACK_NONE ? &l->roots : &l->first[parent];
    for (uint32_t at = *head; at != CT_STACK_NONE; at = l->next[at])
        if (sums->places[at].function == function)
            return at;
    const uint32_t made = (uint32_t)sums->place_count++;
    sums->places[made] = (struct ct_stack_place){.parent = parent, .function = function};
    l->next[made] = *head;
    *head = made;
    return made;
}

/* The first capture's tree is that of the sums. */
static int copy_places(struct ct_report_sums *sums, const struct ct_stack_place *places, size_t count,
                       const uint32_t *numbers)
{
    free(sums->places);
    sums->places = calloc(count + 1, sizeof *sums->places);
    if (!sums->places)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < count; i++) {
        sums->places[i] = places[i];
        sums->places[i].function = numbers[places[i].function];
    }
    sums->place_count = count;
    return CT_OK;
}

int ct_report_sums_places(struct ct_report_sums *sums, const struct ct_stack_place *places, size_t count,
                          const uint32_t *numbers)
{
    const size_t room = sums->place_count + count;
    if (room >= CT_STACK_NONE)
        return CT_ERR_LIMIT;
    if (!sums->place_count)
        return copy_places(sums, places, count, numbers);
    struct ct_stack_place *larger = realloc(sums->places, (room + 1) * sizeof *larger);
    uint32_t *at = calloc(count + 1, sizeof *at); /* of the sums, for each place of the capture */
    struct links l = {0};
    sums->places = larger ? larger : sums->places;
    if (larger && at)
        l = link_places(sums, room);
    const bool fine = l.first && l.next;
    for (size_t i = 0; fine && i < count; i++) {
        const uint32_t caller = places[i].parent == CT_STACK_NONE ? CT_STACK_NONE : at[places[i].parent];
        at[i] = place_of(sums, &l, caller, numbers[places[i].function]);
        struct ct_stack_place *into = &sums->places[at[i]];
        into->calls += places[i].calls;
        into->insns += places[i].insns;
        into->cycles += places[i].cycles;
    }
    free(l.first);
    free(l.next);
    free(at);
    return fine ? CT_OK : CT_ERR_NOMEM;
}

void ct_report_sums_free(struct ct_report_sums *sums)
{
    for (size_t i = 0; i < sums->function_count; i++) {
        ct_dist_free(&sums->functions[i].inclusive);
        ct_dist_free(&sums->functions[i].self);
    }
    free(sums->places);
    ct_arena_free(&sums->arena);
}
