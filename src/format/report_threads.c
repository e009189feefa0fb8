/* SPDX-License-Identifier: Apache-2.0 */
/* Separates the times of each thread on each core, so that readers can select them. */
#include <stdlib.h>

#include "base/pair_map.h"
#include "base/room.h"
#include "base/search.h"
#include "format/report_page.h"

/* A tree of stacks in the making. */
struct tree {
    struct ct_stack_place *places;
    size_t count, room;
    struct ct_pair_map children; /* maps (parent, function) to a place */
};

/* A thread on a core, before those with the most time are known. */
struct group {
    size_t stream;
    uint32_t context;
    uint32_t number; /* in the order of discovery */
    uint64_t weight;
};

struct work {
    const struct ct_stacks *stacks;
    const uint32_t *stream_of;
    const struct ct_stack_place *places;
    size_t count;
    bool cycles;
    struct ct_pair_map numbers; /* maps (stream, context) to a group */
    struct group *groups;
    size_t group_count, group_room;
    uint32_t *group_of; /* by place */
    uint32_t *tree_of;  /* by group: its tree, or CT_PAIR_NONE */
    uint32_t *node_of[2];
};

/* Finds or makes the group of a place. CT_ERR_NOMEM. */
static int find_group(struct work *w, size_t place, uint32_t *number)
{
    struct ct_stack_owner owner = {0};
    (void)ct_stacks_owner(w->stacks, place, &owner);
    const uint32_t stream = w->stream_of[owner.lane];
    *number = ct_pair_map_get(&w->numbers, stream, (uint32_t)owner.context);
    if (*number != CT_PAIR_NONE)
        return CT_OK;
    if (!CT_MAKE_ROOM(w->groups, w->group_room, w->group_count + 1))
        return CT_ERR_NOMEM;
    *number = (uint32_t)w->group_count;
    w->groups[w->group_count++] =
        (struct group){.stream = stream, .context = (uint32_t)owner.context, .number = *number};
    return ct_pair_map_put(&w->numbers, stream, (uint32_t)owner.context, *number);
}

/* Finds all groups, and the time of each. CT_ERR_NOMEM. */
static int weigh_groups(struct work *w)
{
    int rc = CT_OK;
    for (size_t i = 0; i < w->count && !rc; i++) {
        rc = find_group(w, i, &w->group_of[i]);
        if (!rc)
            w->groups[w->group_of[i]].weight += w->cycles ? w->places[i].cycles : w->places[i].insns;
    }
    return rc;
}

static int by_weight(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return ct_order(y->weight, x->weight)
           ?: ct_order(x->stream, y->stream)
           ?: ct_order(x->context, y->context);
}

static int by_place(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return ct_order(x->stream, y->stream) ?: ct_order(x->context, y->context);
}

/* Chooses the groups with the most time, and sorts them by stream and context. Returns their number. */
static size_t choose(struct work *w)
{
    const size_t kept = w->group_count < CT_REPORT_THREADS ? w->group_count : CT_REPORT_THREADS;
    if (!kept)
        return 0;
    qsort(w->groups, w->group_count, sizeof *w->groups, by_weight);
    qsort(w->groups, kept, sizeof *w->groups, by_place);
    for (size_t i = 0; i < w->group_count; i++)
        w->tree_of[w->groups[i].number] = i < kept ? (uint32_t)i : CT_PAIR_NONE;
    return kept;
}

/* Adds a place to a tree that has its parent. Sets *node to its place in the tree. CT_ERR_NOMEM. */
static int add(struct tree *tree, const struct ct_stack_place *place, const uint32_t *node_of, uint32_t *node)
{
    const uint32_t parent = place->parent == CT_STACK_NONE ? CT_STACK_NONE : node_of[place->parent];
    *node = ct_pair_map_get(&tree->children, parent, place->function);
    if (*node == CT_PAIR_NONE) {
        if (!CT_MAKE_ROOM(tree->places, tree->room, tree->count + 1))
            return CT_ERR_NOMEM;
        *node = (uint32_t)tree->count;
        if (ct_pair_map_put(&tree->children, parent, place->function, *node))
            return CT_ERR_NOMEM;
        tree->places[tree->count++] = (struct ct_stack_place){.parent = parent, .function = place->function};
    }
    struct ct_stack_place *to = tree->places ? &tree->places[*node] : NULL;
    if (!to)
        return CT_ERR_NOMEM;
    to->calls += place->calls;
    to->insns += place->insns;
    to->cycles += place->cycles;
    return CT_OK;
}

/* Builds the tree of all threads, and that of each chosen thread. CT_ERR_NOMEM. */
static int build(struct work *w, struct tree *all, struct tree *trees)
{
    int rc = CT_OK;
    for (size_t i = 0; i < w->count && !rc; i++) {
        const uint32_t tree = w->tree_of[w->group_of[i]];
        rc = add(all, &w->places[i], w->node_of[0], &w->node_of[0][i]);
        if (!rc && tree != CT_PAIR_NONE)
            rc = add(&trees[tree], &w->places[i], w->node_of[1], &w->node_of[1][i]);
    }
    return rc;
}

static int make(struct work *w, struct ct_report_threads *out)
{
    struct tree all = {0};
    int rc = weigh_groups(w);
    w->tree_of = calloc(w->group_count + 1, sizeof *w->tree_of);
    if (rc || !w->tree_of)
        return CT_ERR_NOMEM;
    const size_t count = choose(w);
    struct tree *trees = calloc(count + 1, sizeof *trees);
    out->threads = calloc(count + 1, sizeof *out->threads);
    rc = trees && out->threads ? build(w, &all, trees) : CT_ERR_NOMEM;
    out->places = all.places;
    out->place_count = all.count;
    ct_pair_map_free(&all.children);
    for (size_t i = 0; trees && i < count; i++) {
        ct_pair_map_free(&trees[i].children);
        if (out->threads)
            out->threads[out->count++] = (struct ct_report_thread){.stream = w->groups[i].stream,
                                                                   .context = w->groups[i].context,
                                                                   .weight = w->groups[i].weight,
                                                                   .places = trees[i].places,
                                                                   .place_count = trees[i].count};
    }
    out->left_out = w->group_count - count;
    free(trees);
    return rc;
}

int ct_report_threads_make(const struct ct_stacks *stacks, const uint32_t *stream_of, bool cycles,
                           struct ct_report_threads *out)
{
    struct work w = {.stacks = stacks, .stream_of = stream_of, .cycles = cycles};
    w.places = ct_stacks_places(stacks, &w.count);
    w.group_of = calloc(w.count + 1, sizeof *w.group_of);
    w.node_of[0] = calloc(w.count + 1, sizeof *w.node_of[0]);
    w.node_of[1] = calloc(w.count + 1, sizeof *w.node_of[1]);
    const int rc = w.group_of && w.node_of[0] && w.node_of[1] ? make(&w, out) : CT_ERR_NOMEM;
    free(w.group_of);
    free(w.node_of[0]);
    free(w.node_of[1]);
    free(w.groups);
    free(w.tree_of);
    ct_pair_map_free(&w.numbers);
    return rc;
}

void ct_report_threads_free(struct ct_report_threads *threads)
{
    for (size_t i = 0; i < threads->count; i++)
        free(threads->threads[i].places);
    free(threads->threads);
    free(threads->places);
    *threads = (struct ct_report_threads){0};
}
