/* SPDX-License-Identifier: Apache-2.0 */
/* List, Set and Map: persistent, so that last() can keep an old version at the cost of its differences. */
#ifndef CT_MONITOR_COLLECTION_H
#define CT_MONITOR_COLLECTION_H

#include "monitor/value.h"

/* Makes an empty list. Functions of collections give a new version and leave their arguments as they are. A
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
                                    bool last); /* of an empty one: empty */

/* Makes an empty Map. A Set is a Map to units. Both keep the order of insertion; adding a key again keeps its
 * place. */
struct ct_mon_cell ct_mon_map_empty(struct ct_mon_heap *h);
struct ct_mon_cell ct_mon_map_add(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                  const struct ct_mon_cell *key, const struct ct_mon_cell *x);
bool ct_mon_map_find(struct ct_mon_heap *h, const struct ct_mon_cell *map, const struct ct_mon_cell *key,
                     struct ct_mon_cell *x);
struct ct_mon_cell ct_mon_map_remove(struct ct_mon_heap *h, const struct ct_mon_cell *map,
                                     const struct ct_mon_cell *key);

/* Gives the key and the value at a place from 0 on, below the size. Either pointer may be NULL. */
void ct_mon_collection_at(const struct ct_mon_obj *o, uint64_t at, struct ct_mon_cell *key,
                          struct ct_mon_cell *x);
uint64_t ct_mon_collection_size(const struct ct_mon_obj *o);
int ct_mon_collection_compare(struct ct_mon_heap *h, const struct ct_mon_obj *a, const struct ct_mon_obj *b);

#endif
