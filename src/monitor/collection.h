/* SPDX-License-Identifier: Apache-2.0 */
/* List, Set and Map: persistent, so that last() can keep an old version at the cost of its differences. */
#ifndef CT_MONITOR_COLLECTION_H
#define CT_MONITOR_COLLECTION_H

#include "monitor/value.h"

/* All results are new versions; arguments stay as they are. Empty results and exhausted heaps are told apart
 * by heap.exhausted only. */
struct cell ct_mon_list_empty(struct heap *h);
struct cell ct_mon_list_append(struct heap *h, const struct cell *list, const struct cell *x);
struct cell ct_mon_list_prepend(struct heap *h, const struct cell *list, const struct cell *x);
struct cell ct_mon_list_get(const struct cell *list, int64_t at); /* E_INDEX */
struct cell ct_mon_list_set(struct heap *h, const struct cell *list, int64_t at, const struct cell *x);
struct cell ct_mon_list_drop(struct heap *h, const struct cell *list, bool last); /* of empty: empty */

/* A Set is a Map to units; both keep the order of insertion, re-adding keeps the place. */
struct cell ct_mon_map_empty(struct heap *h);
struct cell ct_mon_map_add(struct heap *h, const struct cell *map, const struct cell *key,
                           const struct cell *x);
bool ct_mon_map_find(struct heap *h, const struct cell *map, const struct cell *key, struct cell *x);
struct cell ct_mon_map_remove(struct heap *h, const struct cell *map, const struct cell *key);

/* Elements by place, 0 up to size: *key and *x (either may be NULL). */
void ct_mon_collection_at(const struct obj *o, uint64_t at, struct cell *key, struct cell *x);
uint64_t ct_mon_collection_size(const struct obj *o);
int ct_mon_collection_compare(struct heap *h, const struct obj *a, const struct obj *b);

#endif
