/* SPDX-License-Identifier: Apache-2.0 */
/* The set of watchpoints, and the watchpoints that an edge of the program graph reaches. */
#include <stdbool.h>
#include <stdlib.h>

#include "analysis/watch.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/search.h"

int ct_watches_new(struct ct_ctx *ctx, struct ct_programs *programs, struct ct_watches **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_watches *w = calloc(1, sizeof *w);
    if (!w)
        return ct_fail_nomem(ctx, "watchpoints");
    w->ctx = ctx;
    w->programs = programs;
    size_t count = 0;
    const struct ct_buffer *sources = programs ? ct_programs_sources(programs, &count) : NULL;
    int rc = CT_OK;
    for (size_t i = 0; i < count && !rc; i++)
        rc = ct_watches_events(w, &sources[i]);
    if (rc)
        ct_watches_free(w);
    else
        *out = w;
    return rc;
}

void ct_watches_free(struct ct_watches *w)
{
    if (!w)
        return;
    ct_watches_free_texts(w);
    ct_arena_free(&w->arena);
    free(w);
}

int ct_watches_point(struct ct_watches *w, const char *name, enum ct_watch_kind kind, uint64_t number)
{
    const char *copy = ct_arena_strdup(&w->arena, name);
    struct ct_watchpoint *points =
        copy ? ct_arena_push(&w->arena, w->points, &w->count, sizeof *points) : NULL;
    if (!points)
        return ct_fail_nomem(w->ctx, "watchpoints");
    w->points = points;
    points[w->count - 1] = (struct ct_watchpoint){.name = copy, .number = number, .kind = (uint8_t)kind};
    if (kind >= CT_WATCH_EXCEPTION)
        w->marks |= 1u << kind;
    return CT_OK;
}

const struct ct_watch_place *ct_watches_places(const struct ct_watches *w, size_t *count)
{
    return CT_ARRAY_OF(w, points_at, point_count, count);
}

uint8_t ct_watches_program_byte(size_t number)
{
    return number < UINT8_MAX - 1 ? (uint8_t)(number + 1) : 0;
}

struct ct_programs *ct_watches_programs(const struct ct_watches *w)
{
    return w ? w->programs : NULL;
}

int ct_watches_place(struct ct_watches *w, const struct ct_watch_place *place)
{
    bool is_return = place->kind == CT_WATCH_RETURN;
    struct ct_watch_place **list = is_return ? &w->returns : &w->points_at;
    size_t *count = is_return ? &w->return_count : &w->point_count;
    struct ct_watch_place *places = ct_arena_push(&w->arena, *list, count, sizeof *places);
    if (!places)
        return ct_fail_nomem(w->ctx, "watchpoints");
    *list = places;
    places[*count - 1] = *place;
    places[*count - 1].watch = (uint32_t)w->count - 1;
    w->points[w->count - 1].places++;
    w->sorted = 0;
    return CT_OK;
}

/* Returns ct_watch_place.program for the place of an event. */
static uint8_t program_of(const struct ct_watches *w, const struct ct_watch_event *e)
{
    size_t i = w->sorted ? CT_COUNT_WHILE(w->point_count, at, w->points_at[at].addr < e->value) : 0;
    for (; i < w->point_count && (!w->sorted || w->points_at[i].addr == e->value); i++) {
        const struct ct_watch_place *p = &w->points_at[i];
        if (p->watch == e->watch && p->addr == e->value)
            return p->program;
    }
    return 0;
}

int ct_watches_where(const struct ct_watches *w, const struct ct_watch_event *e, struct ct_program_where *out)
{
    CT_REQUIRE_OF(w, e, out);
    *out = (struct ct_program_where){0};
    if (!w->programs)
        return CT_OK;
    const bool is_place = e->kind == CT_WATCH_ENTRY || e->kind == CT_WATCH_LINE || e->kind == CT_WATCH_ADDR;
    const uint8_t program = is_place && ct_programs_count(w->programs) > 1 ? program_of(w, e) : 0;
    return program ? ct_program_at(ct_programs_at(w->programs, program - 1u), e->value, out)
                   : ct_programs_where(w->programs, e->value, out);
}

static int by_address(const void *a, const void *b)
{
    const struct ct_watch_place *x = a;
    const struct ct_watch_place *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return x->watch < y->watch ? -1 : x->watch > y->watch;
}

int ct_watches_sort(struct ct_watches *w)
{
    if (w->sorted)
        return CT_OK;
    uint64_t *reach = ct_arena_alloc(&w->arena, (w->return_count + 1) * sizeof *reach);
    if (!reach)
        return ct_fail_nomem(w->ctx, "watchpoints");
    w->reach = reach;
    if (w->point_count)
        qsort(w->points_at, w->point_count, sizeof *w->points_at, by_address);
    if (w->return_count)
        qsort(w->returns, w->return_count, sizeof *w->returns, by_address);
    for (size_t i = 0; i < w->return_count; i++) {
        uint64_t before = i ? w->reach[i - 1] : 0;
        w->reach[i] = w->returns[i].end > before ? w->returns[i].end : before;
    }
    w->sorted = 1;
    return CT_OK;
}

const struct ct_watchpoint *ct_watches_all(const struct ct_watches *w, uint32_t *count)
{
    if (count)
        *count = 0;
    if (!w || !count)
        return NULL;
    *count = (uint32_t)w->count;
    return w->points;
}

const char *ct_watch_kind_name(enum ct_watch_kind kind)
{
    static const char *const names[] = {
        "addr",    "line",  "entry",    "return",    "edge",      "exception", "exception-return",
        "context", "gap",   "overflow", "no-access", "timestamp", "itm",       "stm",
        "dwt",     "event", "named",    "load",      "store",     "access"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

/* ---- the places that an edge passes ---- */

/* Returns the index of the first place at or behind `addr`. */
static size_t lower_bound(const struct ct_watch_place *places, size_t count, uint64_t addr)
{
    return CT_COUNT_WHILE(count, i, places[i].addr < addr);
}

/* Returns whether a run of `node` that left it by `edge` traversed the watched edge. */
static bool traverses(const struct ct_watch_place *place, const struct ct_node *node,
                      const struct ct_edge *edge)
{
    bool at_end = place->addr == node->last;
    switch (place->edge) {
    case CT_CFG_NEXT:
        if (place->branches)
            return at_end && !edge->exec && node->type == CT_INSN_BR;
        return place->end < node->end || (at_end && edge->kind == CT_EDGE_NEXT && edge->next == place->end);
    case CT_CFG_CALLED:
        return false;
    case CT_CFG_RETURN:
    case CT_CFG_UNKNOWN:
        return at_end && edge->exec;
    default:
        if (node->type == CT_INSN_BR)
            return at_end && edge->exec;
        return at_end && edge->exec && edge->kind == CT_EDGE_NEXT && edge->next == place->end;
    }
}

static bool leaves_function(const struct ct_watch_place *place, const struct ct_node *node,
                            const struct ct_edge *edge, const struct ct_watches *w)
{
    if (node->type == CT_INSN_IBR && node->sub != CT_INSN_SUB_NONE)
        return node->sub != CT_INSN_SUB_LINK;
    if (node->sub == CT_INSN_SUB_LINK || edge->kind != CT_EDGE_NEXT ||
        edge->next - place->addr < place->end - place->addr)
        return false;
    const uint32_t parts = w->points[place->watch].places;
    /* other parts of the function, as "name.cold" */
    for (size_t i = 0; parts > 1 && i < w->return_count; i++)
        if (w->returns[i].watch == place->watch &&
            edge->next - w->returns[i].addr < w->returns[i].end - w->returns[i].addr)
            return false;
    return true;
}

struct hits {
    struct ct_watch_hit *out;
    size_t most;
    size_t count;
    uint32_t size; /* of the node */
};

static void add(struct hits *h, const struct ct_watch_place *place, uint64_t addr, uint64_t before,
                bool first)
{
    if (h->count < h->most)
        h->out[h->count] = (struct ct_watch_hit){.addr = addr,
                                                 .watch = place->watch,
                                                 .before = before > h->size ? h->size : (uint32_t)before,
                                                 .kind = place->kind,
                                                 .first = first,
                                                 .size = h->size,
                                                 .end = place->end};
    h->count++;
}

static void add_returns(const struct ct_watches *w, const struct ct_node *node, const struct ct_edge *edge,
                        struct hits *h)
{
    bool jumps = node->type == CT_INSN_BR || node->type == CT_INSN_IBR;
    if (!jumps || !edge->exec || node->flags)
        return;
    size_t i = lower_bound(w->returns, w->return_count, node->last + 1);
    while (i-- > 0 && w->reach[i] > node->last)
        if (w->returns[i].end > node->last && leaves_function(&w->returns[i], node, edge, w))
            add(h, &w->returns[i], node->last, h->size, false);
}

/* Sorts hits by order of execution. Insertion sort, because they are few and nearly sorted. */
static void sort_hits(struct ct_watch_hit *hits, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        const struct ct_watch_hit hit = hits[i];
        size_t at = i;
        for (; at > 0 && hits[at - 1].before > hit.before; at--)
            hits[at] = hits[at - 1];
        hits[at] = hit;
    }
    if (count)
        hits[count - 1].last = 1;
}

size_t ct_watch_hits(const struct ct_watches *w, const struct ct_node *node, const struct ct_edge *edge,
                     struct ct_watch_hit *out, size_t most)
{
    uint64_t size = node->end - node->start;
    struct hits h = {.out = out,
                     .most = most,
                     .size = size == 0           ? 1
                             : size > UINT32_MAX ? UINT32_MAX
                                                 : (uint32_t)size};
    if (node->flags & CT_NODE_NOPATH)
        return 0;
    for (size_t i = lower_bound(w->points_at, w->point_count, node->start);
         i < w->point_count && w->points_at[i].addr < node->end; i++) {
        const struct ct_watch_place *place = &w->points_at[i];
        uint64_t before = place->addr - node->start;
        if (place->kind == CT_WATCH_ACCESS)
            continue;
        if (place->kind != CT_WATCH_EDGE)
            add(&h, place, place->addr, before, place->kind == CT_WATCH_ENTRY && before == 0);
        else if (traverses(place, node, edge))
            add(&h, place, place->addr,
                place->edge == CT_CFG_NEXT && place->end < node->end ? place->end - node->start : h.size,
                false);
    }
    add_returns(w, node, edge, &h);
    if (h.count <= most)
        sort_hits(out, h.count);
    return h.count;
}
