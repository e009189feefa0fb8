/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of logs: the object and its tables. A hash index finds a row by its key; rows are sorted only when a
 * caller asks for them. */
#include "fractal_sums/sums.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "base/require.h"
#include "base/saturate.h"
#include "base/room.h"
#include "base/search.h"

static struct ct_fractal_sums *of(struct ct_analysis *analysis)
{
    return (struct ct_fractal_sums *)analysis;
}

static int no_memory(const struct ct_fractal_sums *s)
{
    return ct_fail_nomem(s->analysis.ctx, "fractal");
}

/* ---- keys ---- */

static int compare(const void *a, const void *b)
{
    const struct ct_fractal_sum *x = a, *y = b;
    return strcmp(x->program, y->program)
           ?: ct_order(x->kind, y->kind)
           ?: strcmp(x->name, y->name)
           ?: ct_order(x->offset, y->offset);
}

static int compare_points(const void *a, const void *b)
{
    const struct ct_fractal_point_sum *x = a, *y = b;
    return strcmp(x->program, y->program)
           ?: strcmp(x->name, y->name)
           ?: ct_order(x->offset, y->offset)
           ?: ct_order(x->clock_hz, y->clock_hz);
}

/* Adds a number to a hash. Mixes all bits, because page offsets have equal low bits and the low bits choose
 * the slot. */
static uint64_t add_number(uint64_t sum, uint64_t number)
{
    const uint64_t mixed = (sum ^ number) * UINT64_C(0x9e3779b97f4a7c15);
    return mixed ^ mixed >> 32;
}

static uint64_t key_of(const struct ct_fractal_sum *row)
{
    const uint64_t texts = ct_fnv_text(ct_fnv_text(CT_FNV_BEGIN, row->program), row->name);
    return add_number(add_number(texts, row->kind), row->offset);
}

static uint64_t key_of_point(const struct ct_fractal_point_sum *row)
{
    const uint64_t texts = ct_fnv_text(ct_fnv_text(CT_FNV_BEGIN, row->program), row->name);
    return add_number(add_number(texts, row->offset), row->clock_hz);
}

/* ---- indexes ---- */

/* Replaces the index by an empty one with room for more than `rows` rows. On CT_ERR_NOMEM the old index
 * stays. */
static int clear_index(struct ct_fractal_index *index, size_t rows)
{
    size_t room = index->room ? index->room : 64;
    while (room < 2 * (rows + 2))
        room *= 2;
    uint32_t *slots = calloc(room, sizeof *slots);
    if (!slots)
        return CT_ERR_NOMEM;
    free(index->slots);
    *index = (struct ct_fractal_index){slots, room};
    return CT_OK;
}

/* Returns the first free slot for a key. */
static uint32_t *free_slot(const struct ct_fractal_index *index, uint64_t key)
{
    size_t at = key & (index->room - 1);
    while (index->slots[at])
        at = (at + 1) & (index->room - 1);
    return &index->slots[at];
}

static int index_names(struct ct_fractal_sums *s)
{
    const int rc = clear_index(&s->index, s->count);
    for (size_t i = 0; i < s->count && !rc; i++)
        *free_slot(&s->index, key_of(&s->all[i])) = (uint32_t)i + 1;
    return rc;
}

static int index_points(struct ct_fractal_sums *s)
{
    const int rc = clear_index(&s->point_index, s->point_count);
    for (size_t i = 0; i < s->point_count && !rc; i++)
        *free_slot(&s->point_index, key_of_point(&s->points[i])) = (uint32_t)i + 1;
    return rc;
}

/* ---- rows ---- */

/* Makes room for one more row and for its number in the index. Rebuilds a full index with `make`. */
static int make_room(struct ct_fractal_sums *s, void **rows, size_t count, size_t *room, size_t size,
                     const struct ct_fractal_index *index, int (*make)(struct ct_fractal_sums *))
{
    if (count == CT_FRACTAL_SUMS_MOST)
        return ct_fail(s->analysis.ctx, CT_ERR_LIMIT,
                       "fractal: there are more than %d different names and pages, which is the limit; add "
                       "up fewer logs",
                       CT_FRACTAL_SUMS_MOST);
    if (!ct_make_room(rows, room, count + 1, size, false))
        return no_memory(s);
    return 2 * (count + 2) > index->room && make(s) ? no_memory(s) : CT_OK;
}

static struct ct_fractal_sum *find(const struct ct_fractal_sums *s, const struct ct_fractal_sum *key)
{
    for (size_t at = key_of(key); s->index.room; at++) {
        const uint32_t row = s->index.slots[at & (s->index.room - 1)];
        if (!row)
            break;
        if (compare(&s->all[row - 1], key) == 0)
            return &s->all[row - 1];
    }
    return NULL;
}

/* Adds an empty row with copies of the key's texts. */
static int insert(struct ct_fractal_sums *s, const struct ct_fractal_sum *key)
{
    void *rows = s->all;
    const int rc = make_room(s, &rows, s->count, &s->room, sizeof *s->all, &s->index, index_names);
    s->all = rows;
    if (rc)
        return rc;
    const struct ct_fractal_sum row = {.program = ct_arena_strdup(&s->texts, key->program),
                                       .name = ct_arena_strdup(&s->texts, key->name),
                                       .offset = key->offset,
                                       .kind = key->kind};
    if (!row.program || !row.name)
        return no_memory(s);
    s->all[s->count] = row;
    s->sorted = false;
    *free_slot(&s->index, key_of(&row)) = (uint32_t)++s->count;
    return CT_OK;
}

int ct_fractal_sums_put(struct ct_fractal_sums *s, const struct ct_fractal_sum *more)
{
    struct ct_fractal_sum *row = find(s, more);
    if (!row) {
        const int rc = insert(s, more);
        if (rc)
            return rc;
        row = &s->all[s->count - 1];
    }
    ct_add_up(&row->events, more->events);
    ct_add_up(&row->insns, more->insns);
    return CT_OK;
}

static struct ct_fractal_point_sum *find_point(const struct ct_fractal_sums *s,
                                               const struct ct_fractal_point_sum *key)
{
    for (size_t at = key_of_point(key); s->point_index.room; at++) {
        const uint32_t row = s->point_index.slots[at & (s->point_index.room - 1)];
        if (!row)
            break;
        if (compare_points(&s->points[row - 1], key) == 0)
            return &s->points[row - 1];
    }
    return NULL;
}

static int insert_point(struct ct_fractal_sums *s, const struct ct_fractal_point_sum *key)
{
    void *rows = s->points;
    const int rc =
        make_room(s, &rows, s->point_count, &s->point_room, sizeof *s->points, &s->point_index, index_points);
    s->points = rows;
    if (rc)
        return rc;
    const struct ct_fractal_point_sum row = {.program = ct_arena_strdup(&s->texts, key->program),
                                             .name = ct_arena_strdup(&s->texts, key->name),
                                             .offset = key->offset,
                                             .clock_hz = key->clock_hz};
    if (!row.program || !row.name)
        return no_memory(s);
    s->points[s->point_count] = row;
    s->sorted = false;
    *free_slot(&s->point_index, key_of_point(&row)) = (uint32_t)++s->point_count;
    return CT_OK;
}

static void add_point(struct ct_fractal_point_sum *p, const struct ct_fractal_point_sum *more)
{
    if (more->intervals && (!p->intervals || more->shortest < p->shortest))
        p->shortest = more->shortest;
    if (more->longest > p->longest)
        p->longest = more->longest;
    ct_add_up(&p->hits, more->hits);
    ct_add_up(&p->intervals, more->intervals);
    ct_add_up(&p->total, more->total);
}

int ct_fractal_sums_put_point(struct ct_fractal_sums *s, const struct ct_fractal_point_sum *more)
{
    struct ct_fractal_point_sum *row = find_point(s, more);
    if (!row) {
        const int rc = insert_point(s, more);
        if (rc)
            return rc;
        row = &s->points[s->point_count - 1];
    }
    add_point(row, more);
    return CT_OK;
}

int ct_fractal_sums_sort(struct ct_fractal_sums *s)
{
    if (s->sorted)
        return CT_OK;
    if (s->count)
        qsort(s->all, s->count, sizeof *s->all, compare);
    if (s->point_count)
        qsort(s->points, s->point_count, sizeof *s->points, compare_points);
    if (index_names(s) || index_points(s))
        return no_memory(s);
    s->sorted = true;
    return CT_OK;
}

const struct ct_fractal_sum *ct_fractal_sums_all(struct ct_fractal_sums *s, size_t *count)
{
    if (ct_no_array(s, count) || ct_fractal_sums_sort(s))
        return NULL;
    *count = s->count;
    return s->all;
}

const struct ct_fractal_point_sum *ct_fractal_sums_points(struct ct_fractal_sums *s, size_t *count)
{
    if (ct_no_array(s, count) || ct_fractal_sums_sort(s))
        return NULL;
    *count = s->point_count;
    return s->points;
}

const struct ct_fractal_totals *ct_fractal_sums_totals(const struct ct_fractal_sums *s)
{
    return s ? &s->totals : NULL;
}

/* ---- the contract of analyses ---- */

int ct_fractal_sums_new(struct ct_ctx *ctx, struct ct_fractal_sums **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_fractal_sums *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "fractal");
    s->analysis = (struct ct_analysis){.kind = ct_fractal_sums_kind(), .ctx = ctx};
    *out = s;
    return CT_OK;
}

static void free_sums(struct ct_analysis *analysis)
{
    struct ct_fractal_sums *s = of(analysis);
    ct_arena_free(&s->texts);
    free(s->all);
    free(s->index.slots);
    free(s->points);
    free(s->point_index.slots);
    free(s->hits);
    free(s);
}

void ct_fractal_sums_free(struct ct_fractal_sums *s)
{
    ct_analysis_free(ct_fractal_sums_analysis(s));
}

static int part_of(const struct ct_analysis *whole, struct ct_analysis **out)
{
    struct ct_fractal_sums *s = NULL;
    const int rc = ct_fractal_sums_new(whole->ctx, &s);
    *out = ct_fractal_sums_analysis(s);
    return rc;
}

void ct_fractal_totals_add(struct ct_fractal_totals *sum, const struct ct_fractal_totals *more)
{
    ct_add_up(&sum->events, more->events);
    ct_add_up(&sum->aliases, more->aliases);
    ct_add_up(&sum->insns, more->insns);
    for (size_t i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        ct_add_up(&sum->by_op[i], more->by_op[i]);
    for (size_t i = 0; i < sizeof sum->by_initiator / sizeof *sum->by_initiator; i++)
        ct_add_up(&sum->by_initiator[i], more->by_initiator[i]);
}

static int merge(struct ct_analysis *into, struct ct_analysis *other)
{
    const struct ct_fractal_sums *from = of(other);
    int rc = CT_OK;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = ct_fractal_sums_put(of(into), &from->all[i]);
    for (size_t i = 0; i < from->point_count && !rc; i++)
        rc = ct_fractal_sums_put_point(of(into), &from->points[i]);
    if (!rc)
        ct_fractal_totals_add(&of(into)->totals, &from->totals);
    return rc;
}

const struct ct_analysis_kind *ct_fractal_sums_kind(void)
{
    static const struct ct_analysis_kind kind = {.size = sizeof kind,
                                                 .name = "fractal",
                                                 .writer = "coretap fractal report --data",
                                                 .version = 1,
                                                 .part = part_of,
                                                 .merge = merge,
                                                 .save = ct_fractal_sums_save,
                                                 .load = ct_fractal_sums_load,
                                                 .free = free_sums};
    return &kind;
}

struct ct_analysis *ct_fractal_sums_analysis(struct ct_fractal_sums *s)
{
    return s ? &s->analysis : NULL;
}
