/* SPDX-License-Identifier: Apache-2.0 */
/* One weight-balanced tree (Adams; constants 3 and 2 by Hirai and Yamamoto) implements all collections,
 * ordered by key or by position. Versions share subtrees. */
#include "monitor/collection.h"
#include "base/search.h"

#include <string.h>

/* Cells of an OBJ_COLLECTION. A list has only ORDER; its trees hold the element in X. A map has ORDER, from
 * sequence number to key and value, and INDEX, from key to sequence number. */
enum {
    ORDER,
    INDEX,
    NEXT,
    COLLECTION_CELLS
};
enum {
    KEY,
    X,
    Y
};

static uint64_t size(const struct ct_mon_obj_tree *t)
{
    return t ? t->count : 0;
}

static struct ct_mon_obj_tree *node(struct ct_mon_heap *h, struct ct_mon_obj_tree *left,
                                    const struct ct_mon_cell *cells, struct ct_mon_obj_tree *right)
{
    struct ct_mon_obj_tree *t = (struct ct_mon_obj_tree *)ct_mon_heap_alloc(h, OBJ_TREE, 3);
    if (!t)
        return NULL;
    t->left = left;
    t->right = right;
    t->count = size(left) + size(right) + 1;
    memcpy(t->cells, cells, sizeof t->cells);
    return t;
}

static struct ct_mon_obj_tree *balance(struct ct_mon_heap *h, struct ct_mon_obj_tree *l,
                                       const struct ct_mon_cell *cells, struct ct_mon_obj_tree *r)
{
    uint64_t nl = size(l), nr = size(r);
    if (nl + nr < 2)
        return node(h, l, cells, r);
    if (nr > 3 * nl) {
        if (size(r->left) < 2 * size(r->right))
            return node(h, node(h, l, cells, r->left), r->cells, r->right);
        struct ct_mon_obj_tree *m = r->left;
        return node(h, node(h, l, cells, m->left), m->cells, node(h, m->right, r->cells, r->right));
    }
    if (nl > 3 * nr) {
        if (size(l->right) < 2 * size(l->left))
            return node(h, l->left, l->cells, node(h, l->right, cells, r));
        struct ct_mon_obj_tree *m = l->right;
        return node(h, node(h, l->left, l->cells, m->left), m->cells, node(h, m->right, cells, r));
    }
    return node(h, l, cells, r);
}

/* Inserts an entry, or replaces the one with the same key. */
static struct ct_mon_obj_tree *insert(struct ct_mon_heap *h, struct ct_mon_obj_tree *t,
                                      const struct ct_mon_cell *cells)
{
    if (!t)
        return node(h, NULL, cells, NULL);
    int c = ct_mon_value_compare(h, &cells[KEY], &t->cells[KEY]);
    if (c < 0)
        return balance(h, insert(h, t->left, cells), t->cells, t->right);
    if (c > 0)
        return balance(h, t->left, t->cells, insert(h, t->right, cells));
    return node(h, t->left, cells, t->right);
}

static struct ct_mon_obj_tree *insert_end(struct ct_mon_heap *h, struct ct_mon_obj_tree *t,
                                          const struct ct_mon_cell *cells, bool last)
{
    if (!t)
        return node(h, NULL, cells, NULL);
    if (last)
        return balance(h, t->left, t->cells, insert_end(h, t->right, cells, last));
    return balance(h, insert_end(h, t->left, cells, last), t->cells, t->right);
}

static struct ct_mon_obj_tree *remove_end(struct ct_mon_heap *h, struct ct_mon_obj_tree *t, bool last)
{
    if (last)
        return t->right ? balance(h, t->left, t->cells, remove_end(h, t->right, last)) : t->left;
    return t->left ? balance(h, remove_end(h, t->left, last), t->cells, t->right) : t->right;
}

static struct ct_mon_obj_tree *remove_key(struct ct_mon_heap *h, struct ct_mon_obj_tree *t,
                                          const struct ct_mon_cell *key)
{
    if (!t)
        return NULL;
    int c = ct_mon_value_compare(h, key, &t->cells[KEY]);
    if (c < 0)
        return balance(h, remove_key(h, t->left, key), t->cells, t->right);
    if (c > 0)
        return balance(h, t->left, t->cells, remove_key(h, t->right, key));
    if (!t->left || !t->right)
        return t->left ? t->left : t->right;
    const struct ct_mon_obj_tree *first = t->right;
    while (first->left)
        first = first->left;
    return balance(h, t->left, first->cells, remove_end(h, t->right, false));
}

static const struct ct_mon_obj_tree *find(struct ct_mon_heap *h, const struct ct_mon_obj_tree *t,
                                          const struct ct_mon_cell *key)
{
    while (t) {
        int c = ct_mon_value_compare(h, key, &t->cells[KEY]);
        if (!c)
            return t;
        t = c < 0 ? t->left : t->right;
    }
    return NULL;
}

static const struct ct_mon_obj_tree *at_place(const struct ct_mon_obj_tree *t, uint64_t at)
{
    while (t) {
        uint64_t n = size(t->left);
        if (at == n)
            return t;
        if (at < n) {
            t = t->left;
        } else {
            at -= n + 1;
            t = t->right;
        }
    }
    return NULL;
}

static struct ct_mon_obj_tree *set_place(struct ct_mon_heap *h, struct ct_mon_obj_tree *t, uint64_t at,
                                         const struct ct_mon_cell *cells)
{
    uint64_t n = size(t->left);
    if (at < n)
        return node(h, set_place(h, t->left, at, cells), t->cells, t->right);
    if (at > n)
        return node(h, t->left, t->cells, set_place(h, t->right, at - n - 1, cells));
    return node(h, t->left, cells, t->right);
}

static struct ct_mon_obj_tree *tree_of(const struct ct_mon_obj *o, int which)
{
    return (struct ct_mon_obj_tree *)((const struct ct_mon_obj_cells *)o)->cells[which].v.o;
}

static struct ct_mon_cell tree_cell(struct ct_mon_obj_tree *t)
{
    return (struct ct_mon_cell){.v.o = (struct ct_mon_obj *)t, .meta = t ? META_PTR : 0};
}

static struct ct_mon_cell collection(struct ct_mon_heap *h, struct ct_mon_obj_tree *order,
                                     struct ct_mon_obj_tree *index, int64_t next)
{
    struct ct_mon_obj_cells *o =
        (struct ct_mon_obj_cells *)ct_mon_heap_alloc(h, OBJ_COLLECTION, COLLECTION_CELLS);
    if (!o)
        return cell_error(E_MEMORY);
    o->cells[ORDER] = tree_cell(order);
    o->cells[INDEX] = tree_cell(index);
    o->cells[NEXT] = cell_int(next);
    return (struct ct_mon_cell){.v.o = &o->o, .meta = META_PTR};
}

struct ct_mon_cell ct_mon_list_empty(struct ct_mon_heap *h)
{
    return collection(h, NULL, NULL, -1);
}

struct ct_mon_cell ct_mon_list_append(struct ct_mon_heap *h, const struct ct_mon_cell *list,
                                      const struct ct_mon_cell *x)
{
    const struct ct_mon_cell cells[3] = {[X] = *x};
    return collection(h, insert_end(h, tree_of(list->v.o, ORDER), cells, true), NULL, -1);
}

struct ct_mon_cell ct_mon_list_prepend(struct ct_mon_heap *h, const struct ct_mon_cell *list,
                                       const struct ct_mon_cell *x)
{
    const struct ct_mon_cell cells[3] = {[X] = *x};
    return collection(h, insert_end(h, tree_of(list->v.o, ORDER), cells, false), NULL, -1);
}

struct ct_mon_cell ct_mon_list_get(const struct ct_mon_cell *list, int64_t at)
{
    const struct ct_mon_obj_tree *t = at < 0 ? NULL : at_place(tree_of(list->v.o, ORDER), (uint64_t)at);
    return t ? t->cells[X] : cell_error(E_INDEX);
}

struct ct_mon_cell ct_mon_list_set(struct ct_mon_heap *h, const struct ct_mon_cell *list, int64_t at,
                                   const struct ct_mon_cell *x)
{
    struct ct_mon_obj_tree *t = tree_of(list->v.o, ORDER);
    if (at < 0 || (uint64_t)at >= size(t))
        return cell_error(E_INDEX);
    const struct ct_mon_cell cells[3] = {[X] = *x};
    return collection(h, set_place(h, t, (uint64_t)at, cells), NULL, -1);
}

struct ct_mon_cell ct_mon_list_drop(struct ct_mon_heap *h, const struct ct_mon_cell *list, bool last)
{
    struct ct_mon_obj_tree *t = tree_of(list->v.o, ORDER);
    return t ? collection(h, remove_end(h, t, last), NULL, -1) : *list;
}

struct ct_mon_cell ct_mon_map_empty(struct ct_mon_heap *h)
{
    return collection(h, NULL, NULL, 0);
}

static int64_t next_of(const struct ct_mon_cell *map)
{
    return ((const struct ct_mon_obj_cells *)map->v.o)->cells[NEXT].v.i;
}

struct ct_mon_cell ct_mon_map_add(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                  const struct ct_mon_cell *key, const struct ct_mon_cell *x)
{
    struct ct_mon_obj_tree *order = tree_of(map->v.o, ORDER), *index = tree_of(map->v.o, INDEX);
    const struct ct_mon_obj_tree *old = find(h, index, key);
    int64_t next = next_of(map);
    struct ct_mon_cell cells[3] = {old ? old->cells[X] : cell_int(next), *key, *x};
    cells[KEY].stamp = 0;
    order = insert(h, order, cells);
    if (!old) {
        const struct ct_mon_cell entry[3] = {*key, cells[KEY]};
        index = insert(h, index, entry);
        next++;
    }
    return collection(h, order, index, next);
}

bool ct_mon_map_find(struct ct_mon_heap *h, const struct ct_mon_cell *map, const struct ct_mon_cell *key,
                     struct ct_mon_cell *x)
{
    const struct ct_mon_obj_tree *t = find(h, tree_of(map->v.o, INDEX), key);
    if (!t)
        return false;
    t = find(h, tree_of(map->v.o, ORDER), &t->cells[X]);
    if (t && x)
        *x = t->cells[Y];
    return t;
}

struct ct_mon_cell ct_mon_map_remove(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                     const struct ct_mon_cell *key)
{
    struct ct_mon_obj_tree *index = tree_of(map->v.o, INDEX);
    const struct ct_mon_obj_tree *t = find(h, index, key);
    if (!t)
        return *map;
    struct ct_mon_obj_tree *order = remove_key(h, tree_of(map->v.o, ORDER), &t->cells[X]);
    return collection(h, order, remove_key(h, index, key), next_of(map));
}

uint64_t ct_mon_collection_size(const struct ct_mon_obj *o)
{
    return size(tree_of(o, ORDER));
}

void ct_mon_collection_at(const struct ct_mon_obj *o, uint64_t at, struct ct_mon_cell *key,
                          struct ct_mon_cell *x)
{
    const struct ct_mon_obj_tree *t = at_place(tree_of(o, ORDER), at);
    bool list = ((const struct ct_mon_obj_cells *)o)->cells[NEXT].v.i < 0;
    struct ct_mon_cell none = {0};
    if (key)
        *key = t ? t->cells[X] : none;
    if (x)
        *x = t ? t->cells[list ? X : Y] : none;
}

/* Compares lists in their order, sets and maps in the order of their keys: insertion order does not count. */
int ct_mon_collection_compare(struct ct_mon_heap *h, const struct ct_mon_obj *a, const struct ct_mon_obj *b)
{
    uint64_t n = ct_mon_collection_size(a), m = ct_mon_collection_size(b);
    bool list = ((const struct ct_mon_obj_cells *)a)->cells[NEXT].v.i < 0;
    int which = list ? ORDER : INDEX;
    for (uint64_t i = 0; i < n && i < m && !h->exhausted; i++) {
        const struct ct_mon_obj_tree *x = at_place(tree_of(a, which), i), *y = at_place(tree_of(b, which), i);
        int c = ct_mon_value_compare(h, &x->cells[list ? X : KEY], &y->cells[list ? X : KEY]);
        if (!c && !list) {
            const struct ct_mon_obj_tree *u = find(h, tree_of(a, ORDER), &x->cells[X]);
            const struct ct_mon_obj_tree *v = find(h, tree_of(b, ORDER), &y->cells[X]);
            c = u && v ? ct_mon_value_compare(h, &u->cells[Y], &v->cells[Y]) : 0;
        }
        if (c)
            return c;
    }
    return ct_order(n, m);
}
