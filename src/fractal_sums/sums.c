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

static int compare_names(const void *a, const void *b)
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

static uint64_t key_of_name(const void *key)
{
    const struct ct_fractal_sum *row = key;
    const uint64_t texts = ct_fnv_text(ct_fnv_text(CT_FNV_BEGIN, row->program), row->name);
    return add_number(add_number(texts, row->kind), row->offset);
}

static uint64_t key_of_point(const void *key)
{
    const struct ct_fractal_point_sum *row = key;
    const uint64_t texts = ct_fnv_text(ct_fnv_text(CT_FNV_BEGIN, row->program), row->name);
    return add_number(add_number(texts, row->offset), row->clock_hz);
}

/* The rows of a table. */
struct kind {
    size_t size;
    uint64_t (*key_of)(const void *row);
    int (*compare)(const void *a, const void *b);
};

static const struct kind names = {sizeof(struct ct_fractal_sum), key_of_name, compare_names};
static const struct kind points = {sizeof(struct ct_fractal_point_sum), key_of_point, compare_points};

/* ---- tables ---- */

static void *row_at(const struct ct_fractal_table *t, const struct kind *kind, size_t row)
{
    return (char *)t->rows + row * kind->size;
}

/* Enters a row in the first free slot for its key. */
static void enter(struct ct_fractal_table *t, const struct kind *kind, size_t row)
{
    size_t at = kind->key_of(row_at(t, kind, row));
    while (t->slots[at & (t->slot_count - 1)])
        at++;
    t->slots[at & (t->slot_count - 1)] = (uint32_t)row + 1;
}

/* Makes the index anew, with room for more than the rows of now. On CT_ERR_NOMEM the old index stays. */
static int make_index(struct ct_fractal_table *t, const struct kind *kind)
{
    size_t count = t->slot_count ? t->slot_count : 64;
    while (count < 2 * (t->count + 2))
        count *= 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (!slots)
        return CT_ERR_NOMEM;
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    for (size_t i = 0; i < t->count; i++)
        enter(t, kind, i);
    return CT_OK;
}

/* Returns the row with the key of `like`; NULL: there is none. */
static void *find(const struct ct_fractal_table *t, const struct kind *kind, const void *like)
{
    for (size_t at = kind->key_of(like); t->slot_count; at++) {
        const uint32_t row = t->slots[at & (t->slot_count - 1)];
        if (!row)
            break;
        if (kind->compare(row_at(t, kind, row - 1), like) == 0)
            return row_at(t, kind, row - 1);
    }
    return NULL;
}

/* Sets *program and *name to copies of themselves, and adds the row of which they are the texts. */
static int insert(struct ct_fractal_sums *s, struct ct_fractal_table *t, const struct kind *kind,
                  const void *row, const char **program, const char **name)
{
    if (t->count == CT_FRACTAL_SUMS_MOST)
        return ct_fail(s->analysis.ctx, CT_ERR_LIMIT,
                       "fractal: there are more than %d different names and pages, which is the limit; add "
                       "up fewer logs",
                       CT_FRACTAL_SUMS_MOST);
    *program = ct_arena_strdup(&s->texts, *program);
    *name = ct_arena_strdup(&s->texts, *name);
    if (!*program || !*name || !ct_make_room(&t->rows, &t->room, t->count + 1, kind->size, false) ||
        (2 * (t->count + 2) > t->slot_count && make_index(t, kind)))
        return no_memory(s);
    memcpy(row_at(t, kind, t->count), row, kind->size);
    enter(t, kind, t->count++);
    s->sorted = false;
    return CT_OK;
}

int ct_fractal_sums_put(struct ct_fractal_sums *s, const struct ct_fractal_sum *more)
{
    struct ct_fractal_sum *row = find(&s->names, &names, more);
    if (!row) {
        struct ct_fractal_sum new = {
            .program = more->program, .name = more->name, .offset = more->offset, .kind = more->kind};
        const int rc = insert(s, &s->names, &names, &new, &new.program, &new.name);
        if (rc)
            return rc;
        row = row_at(&s->names, &names, s->names.count - 1);
    }
    ct_add_up(&row->events, more->events);
    ct_add_up(&row->insns, more->insns);
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
    struct ct_fractal_point_sum *row = find(&s->points, &points, more);
    if (!row) {
        struct ct_fractal_point_sum new = {
            .program = more->program, .name = more->name, .offset = more->offset, .clock_hz = more->clock_hz};
        const int rc = insert(s, &s->points, &points, &new, &new.program, &new.name);
        if (rc)
            return rc;
        row = row_at(&s->points, &points, s->points.count - 1);
    }
    add_point(row, more);
    return CT_OK;
}

static int sort(struct ct_fractal_table *t, const struct kind *kind)
{
    if (t->count)
        qsort(t->rows, t->count, kind->size, kind->compare);
    return make_index(t, kind);
}

int ct_fractal_sums_sort(struct ct_fractal_sums *s)
{
    if (s->sorted)
        return CT_OK;
    if (sort(&s->names, &names) || sort(&s->points, &points))
        return no_memory(s);
    s->sorted = true;
    return CT_OK;
}

const struct ct_fractal_sum *ct_fractal_sums_all(struct ct_fractal_sums *s, size_t *count)
{
    if (ct_no_array(s, count) || ct_fractal_sums_sort(s))
        return NULL;
    *count = s->names.count;
    return s->names.rows;
}

const struct ct_fractal_point_sum *ct_fractal_sums_points(struct ct_fractal_sums *s, size_t *count)
{
    if (ct_no_array(s, count) || ct_fractal_sums_sort(s))
        return NULL;
    *count = s->points.count;
    return s->points.rows;
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
    free(s->names.rows);
    free(s->names.slots);
    free(s->points.rows);
    free(s->points.slots);
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
    for (size_t i = 0; i < from->names.count && !rc; i++)
        rc = ct_fractal_sums_put(of(into), row_at(&from->names, &names, i));
    for (size_t i = 0; i < from->points.count && !rc; i++)
        rc = ct_fractal_sums_put_point(of(into), row_at(&from->points, &points, i));
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
