/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of times as lists with keys: of functions, edges and pairs. */
#include "analysis/dist.h"
#include "analysis/timing_sums.h"
#include "base/room.h"
#include "base/saturate.h"

#include <stdlib.h>
#include <string.h>

static int order_of(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

/* ---- functions ---- */

static int by_function(const void *a, const void *b)
{
    const struct ct_timing_function *x = a;
    const struct ct_timing_function *y = b;
    int order = order_of(x->program, y->program);
    if (!order)
        order = order_of(x->addr, y->addr);
    return order ? order : strcmp(x->name, y->name);
}

/* Compares two texts. NULL comes first. */
static int text_order(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

/* Returns whether a run is longer than another one, or as long and before it in order. */
static bool is_longer(const struct ct_timing_longest *a, const struct ct_timing_longest *b)
{
    int order = order_of(b->cycles, a->cycles);
    if (!order)
        order = text_order(a->capture, b->capture);
    if (!order)
        order = text_order(a->buffer, b->buffer);
    if (!order)
        order = order_of(a->id, b->id);
    if (!order)
        order = order_of(a->from, b->from);
    return order ? order < 0 : a->to < b->to;
}

static int add_function(void *to, const void *more)
{
    struct ct_timing_function *into = to;
    const struct ct_timing_function *from = more;
    ct_add_up(&into->cycles, from->cycles);
    ct_add_up(&into->steps, from->steps);
    ct_add_up(&into->runs, from->runs);
    ct_add_up(&into->cut, from->cut);
    if (from->longest.cycles && is_longer(&from->longest, &into->longest))
        into->longest = from->longest;
    int rc = ct_dist_merge(&into->inclusive, &from->inclusive);
    if (!rc)
        rc = ct_dist_merge(&into->self, &from->self);
    if (!rc)
        rc = ct_dist_merge(&into->recursive, &from->recursive);
    return rc ? rc : ct_dist_merge(&into->preempted, &from->preempted);
}

static void clear_function(void *item)
{
    struct ct_timing_function *f = item;
    ct_dist_free(&f->inclusive);
    ct_dist_free(&f->self);
    ct_dist_free(&f->recursive);
    ct_dist_free(&f->preempted);
}

const struct ct_sum_kind ct_sum_functions = {sizeof(struct ct_timing_function), by_function, add_function,
                                             clear_function};

/* ---- edges ---- */

static int by_edge(const void *a, const void *b)
{
    const struct ct_timing_edge *x = a;
    const struct ct_timing_edge *y = b;
    return order_of(x->program, y->program)
               ?: order_of(x->start, y->start)
               ?: order_of(x->last, y->last)
               ?: order_of(x->end, y->end)
               ?: order_of(x->flags, y->flags)
               ?: order_of(x->next_program, y->next_program)
               ?: order_of(x->next, y->next)
               ?: order_of(x->kind, y->kind)
               ?: order_of(x->exec, y->exec);
}

static int add_edge(void *to, const void *more)
{
    struct ct_timing_edge *into = to;
    const struct ct_timing_edge *from = more;
    ct_add_up(&into->count, from->count);
    ct_add_up(&into->shared, from->shared);
    into->n = from->n > into->n ? from->n : into->n; /* files of older versions lack these */
    into->branch = from->branch > into->branch ? from->branch : into->branch;
    return ct_dist_merge(&into->cycles, &from->cycles);
}

static void clear_edge(void *item)
{
    ct_dist_free(&((struct ct_timing_edge *)item)->cycles);
}

const struct ct_sum_kind ct_sum_edges = {sizeof(struct ct_timing_edge), by_edge, add_edge, clear_edge};

/* ---- pairs ---- */

static int by_pair(const void *a, const void *b)
{
    return strcmp(((const struct ct_timing_pair *)a)->name, ((const struct ct_timing_pair *)b)->name);
}

static int add_pair(void *to, const void *more)
{
    struct ct_timing_pair *into = to;
    const struct ct_timing_pair *from = more;
    ct_add_up(&into->lost, from->lost);
    ct_add_up(&into->restarted, from->restarted);
    const int rc = ct_dist_merge(&into->direct, &from->direct);
    return rc ? rc : ct_dist_merge(&into->preempted, &from->preempted);
}

static void clear_pair(void *item)
{
    struct ct_timing_pair *pair = item;
    ct_dist_free(&pair->direct);
    ct_dist_free(&pair->preempted);
}

const struct ct_sum_kind ct_sum_pairs = {sizeof(struct ct_timing_pair), by_pair, add_pair, clear_pair};

/* ---- lists of any kind ---- */

static void *at(const struct ct_sum_list *list, size_t index)
{
    return list->items + index * list->kind->size;
}

void *ct_sum_list_slot(struct ct_sum_list *list, const void *key, bool *fresh)
{
    const size_t size = list->kind->size;
    void *found = list->sorted ? bsearch(key, list->items, list->sorted, size, list->kind->order) : NULL;
    *fresh = !found;
    if (found)
        return found;
    if (!ct_make_room(&list->items, &list->room, list->count + 1, size, false))
        return NULL;
    void *slot = at(list, list->count++);
    memset(slot, 0, size);
    return slot;
}

/* Returns whether the items from `first` on are sorted, each key once. */
static bool is_sorted(const struct ct_sum_list *list, size_t first)
{
    size_t i = first + 1;
    while (i < list->count && list->kind->order(at(list, i - 1), at(list, i)) < 0)
        i++;
    return i >= list->count;
}

/* Sorts the items from `first` on, and adds up those with equal keys. CT_ERR_NOMEM. */
static int sort_from(struct ct_sum_list *list, size_t first)
{
    const struct ct_sum_kind *kind = list->kind;
    size_t kept = first;
    int rc = CT_OK;
    qsort(at(list, first), list->count - first, kind->size, kind->order);
    for (size_t i = first + 1; i < list->count; i++) {
        if (kind->order(at(list, kept), at(list, i)) != 0) {
            kept++;
            if (kept != i)
                memcpy(at(list, kept), at(list, i), kind->size);
            continue;
        }
        const int added = kind->add(at(list, kept), at(list, i));
        kind->clear(at(list, i));
        rc = rc ? rc : added;
    }
    list->count = kept + 1;
    return rc;
}

/* Moves the items behind the sorted ones to their places. They are sorted as well, and have other keys.
 * CT_ERR_NOMEM. */
static int join(struct ct_sum_list *list)
{
    const struct ct_sum_kind *kind = list->kind;
    const size_t size = kind->size;
    size_t left = list->sorted, more = list->count - list->sorted;
    if (!left || kind->order(at(list, left - 1), at(list, left)) < 0)
        return CT_OK;
    char *moved = malloc(more * size);
    if (!moved)
        return CT_ERR_NOMEM;
    memcpy(moved, at(list, left), more * size);
    while (more) {
        const char *last = moved + (more - 1) * size;
        const bool stays = !left || kind->order(at(list, left - 1), last) < 0;
        memcpy(at(list, left + more - 1), stays ? last : at(list, left - 1), size);
        left -= !stays;
        more -= stays;
    }
    free(moved);
    return CT_OK;
}

int ct_sum_list_settle(struct ct_sum_list *list)
{
    int rc = CT_OK;
    if (list->sorted == list->count)
        return rc;
    if (!is_sorted(list, list->sorted))
        rc = sort_from(list, list->sorted);
    const int joined = join(list);
    if (!joined)
        list->sorted = list->count;
    return rc ? rc : joined;
}

void ct_sum_list_clear(struct ct_sum_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        list->kind->clear(at(list, i));
    free(list->items);
}
