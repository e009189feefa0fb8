/* SPDX-License-Identifier: Apache-2.0 */
/* List, Set and Map. They are persistent: last() keeps an old version at the cost of the differences. */
#pragma once

#include "monitor/value.h"

/* Makes an empty list. Functions on collections return a new version and leave their arguments unchanged. A
 * result that is empty because the heap is exhausted shows only in heap.exhausted. */
struct ct_mon_cell ct_mon_list_empty(struct ct_mon_heap *h);
struct ct_mon_cell ct_mon_list_append(struct ct_mon_heap *h, const struct ct_mon_cell *list,
                                      const struct ct_mon_cell *x);
struct ct_mon_cell ct_mon_list_prepend(struct ct_mon_heap *h, const struct ct_mon_cell *list,
                                       const struct ct_mon_cell *x);
struct ct_mon_cell ct_mon_list_get(const struct ct_mon_cell *list, int64_t at); /* E_INDEX */
struct ct_mon_cell ct_mon_list_set(struct ct_mon_heap *h, const struct ct_mon_cell *list, int64_t at,
                                   const struct ct_mon_cell *x);
struct ct_mon_cell ct_mon_list_drop(struct ct_mon_heap *h, const struct ct_mon_cell *list,
                                    bool last); /* an empty list stays empty */

/* Makes an empty Map. A Set is a Map to units. Both keep the order of insertion; adding an existing key keeps
 * its position. */
struct ct_mon_cell ct_mon_map_empty(struct ct_mon_heap *h);
struct ct_mon_cell ct_mon_map_add(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                  const struct ct_mon_cell *key, const struct ct_mon_cell *x);
bool ct_mon_map_find(struct ct_mon_heap *h, const struct ct_mon_cell *map, const struct ct_mon_cell *key,
                     struct ct_mon_cell *x);
struct ct_mon_cell ct_mon_map_remove(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                     const struct ct_mon_cell *key);

/* Gets key and value at position `at`, which counts from 0. Either pointer may be NULL. */
void ct_mon_collection_at(const struct ct_mon_obj *o, uint64_t at, struct ct_mon_cell *key,
                          struct ct_mon_cell *x);
uint64_t ct_mon_collection_size(const struct ct_mon_obj *o);
int ct_mon_collection_compare(struct ct_mon_heap *h, const struct ct_mon_obj *a, const struct ct_mon_obj *b);
