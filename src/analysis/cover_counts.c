/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by program and context. Items are appended; equal ones are combined each time their number has
 * doubled. So adding is cheap, and memory is proportional to the number of different items. */
#include "analysis/cover.h"
#include "analysis/saved.h"
#include "analysis/program_table.h"
#include "base/array_of.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "base/table_memory.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CONTEXTS 65536u
#define FIRST_ITEMS   256u /* room of a cell that has any */
#define ITEMS_OF_EDGE 2u

/* The items of one program in one context. */
struct cell {
    struct ct_cover_item *items;
    size_t count, room;
    size_t settled; /* items at the front that are sorted and without duplicates */
    uint32_t program, context;
};

/* A program in the place where it was loaded. */
struct place {
    struct ct_cover_place at;
    uint32_t program;
};

struct ct_cover {
    struct ct_analysis analysis; /* must be the first member */
    struct ct_program_table programs;
    struct ct_edge_context *contexts;
    size_t context_count;
    struct cell *cells;
    size_t cell_count;
    struct place *places;
    size_t place_count;
    struct ct_cover_share share;
};

int ct_cover_new(struct ct_ctx *ctx, struct ct_cover **out)
{
    CT_REQUIRE_OUT(ctx, out);
    struct ct_cover *cover = calloc(1, sizeof *cover);
    if (!cover)
        return ct_fail_nomem(ctx, "coverage");
    cover->analysis = (struct ct_analysis){.kind = ct_cover_kind(), .ctx = ctx};
    *out = cover;
    return CT_OK;
}

static void free_items(struct cell *cell)
{
    ct_array_free(cell->items, cell->room, sizeof *cell->items);
}

void ct_cover_free(struct ct_cover *cover)
{
    if (!cover)
        return;
    for (size_t i = 0; i < cover->cell_count; i++)
        free_items(&cover->cells[i]);
    ct_runs_free(&cover->analysis);
    ct_program_table_clear(&cover->programs);
    free(cover->contexts);
    free(cover->cells);
    free(cover->places);
    free(cover);
}

/* ---- programs and contexts ---- */

int ct_cover_program(struct ct_cover *cover, const struct ct_program_identity *program, uint32_t *number)
{
    CT_REQUIRE(NULL, cover, program, number);
    return ct_program_table_add(&cover->programs, &cover->analysis, program, number);
}

struct ct_program_table *ct_cover_table(struct ct_cover *cover)
{
    return &cover->programs;
}

int ct_cover_sort_programs(struct ct_cover *cover, uint32_t **numbers)
{
    const int rc = ct_program_table_sort(&cover->programs, numbers);
    for (size_t i = 0; *numbers && i < cover->cell_count; i++)
        cover->cells[i].program = (*numbers)[cover->cells[i].program];
    for (size_t i = 0; *numbers && i < cover->place_count; i++)
        cover->places[i].program = (*numbers)[cover->places[i].program];
    return rc;
}

size_t ct_cover_programs(const struct ct_cover *cover)
{
    return cover ? cover->programs.count : 0;
}

struct ct_program_identity ct_cover_program_at(const struct ct_cover *cover, uint32_t number)
{
    return cover && number < cover->programs.count ? ct_program_table_at(&cover->programs, number)
                                                   : (struct ct_program_identity){0};
}

static int find_context(struct ct_cover *cover, const struct ct_edge_context *context, uint32_t *number)
{
    for (size_t i = 0; i < cover->context_count; i++) {
        if (ct_edge_context_order(&cover->contexts[i], context) == 0) {
            *number = (uint32_t)i;
            return CT_OK;
        }
    }
    if (cover->context_count == MOST_CONTEXTS)
        return ct_fail(
            cover->analysis.ctx, CT_ERR_LIMIT,
            "coverage: the captures have more than %u contexts, which is the limit; add up fewer captures",
            MOST_CONTEXTS);
    if (!CT_PUSH_ROOM(cover->contexts, cover->context_count))
        return ct_fail_nomem(cover->analysis.ctx, "coverage");
    struct ct_edge_context *fresh = &cover->contexts[cover->context_count];
    *fresh = *context;
    fresh->edges = 0;
    fresh->steps = 0;
    *number = (uint32_t)cover->context_count++;
    return CT_OK;
}

const struct ct_edge_context *ct_cover_contexts(const struct ct_cover *cover, size_t *count)
{
    return CT_ARRAY_OF(cover, contexts, context_count, count);
}

/* Returns the cell of a program and a context, or NULL. */
static struct cell *look_up(const struct ct_cover *cover, uint32_t program, size_t context)
{
    for (size_t i = cover->cell_count; i > 0; i--)
        if (cover->cells[i - 1].program == program && cover->cells[i - 1].context == context)
            return &cover->cells[i - 1];
    return NULL;
}

static int find_cell(struct ct_cover *cover, uint32_t program, uint32_t context, struct cell **out)
{
    *out = look_up(cover, program, context);
    if (*out)
        return CT_OK;
    if (!CT_PUSH_ROOM(cover->cells, cover->cell_count))
        return ct_fail_nomem(cover->analysis.ctx, "coverage");
    *out = &cover->cells[cover->cell_count++];
    **out = (struct cell){.program = program, .context = context};
    return CT_OK;
}

/* ---- items ---- */

/* Returns the number of items at the front that are sorted and without duplicates. */
static size_t count_ordered(const struct ct_cover_item *items, size_t count)
{
    size_t n = count ? 1 : 0;
    while (n < count && ct_cover_compare(&items[n - 1], &items[n]) < 0)
        n++;
    return n;
}

/* Checks first whether the items are in order already, as those of a saved file or a settled cell are. */
size_t ct_cover_add_up(struct ct_cover_item *items, size_t count)
{
    if (!items)
        return 0;
    if (count_ordered(items, count) == count)
        return count;
    ct_cover_sort(items, count);
    size_t n = 0;
    for (size_t i = 1; i < count; i++) {
        if (ct_cover_compare(&items[n], &items[i]) == 0)
            ct_add_up(&items[n].count, items[i].count);
        else
            items[++n] = items[i];
    }
    return n + 1;
}

static void settle_cell(struct cell *cell)
{
    if (cell->settled < cell->count)
        cell->count = cell->settled = ct_cover_add_up(cell->items, cell->count);
}

/* Makes room for `count` items. Uses ct_array_grow because those of a large program fill many megabytes,
 * which should not be copied. CT_ERR_NOMEM. */
static int make_room(struct ct_cover *cover, struct cell *cell, size_t count)
{
    if (cell->room >= count)
        return CT_OK;
    const size_t twice = 2 * cell->room > FIRST_ITEMS ? 2 * cell->room : FIRST_ITEMS;
    const size_t room = count > twice ? count : twice;
    struct ct_cover_item *items = ct_array_grow(cell->items, cell->room, room, sizeof *items);
    if (!items)
        return ct_fail_nomem(cover->analysis.ctx, "coverage");
    cell->items = items;
    cell->room = room;
    return CT_OK;
}

static int push(struct ct_cover *cover, struct cell *cell, const struct ct_cover_item *item)
{
    if (cell->count == cell->room)
        settle_cell(cell);
    const bool is_full = cell->settled == cell->count && cell->count >= cell->room / 2;
    const int result = is_full ? make_room(cover, cell, cell->room + 1) : CT_OK;
    if (result)
        return result;
    struct ct_cover_item *fresh = &cell->items[cell->count++];
    *fresh = *item;
    memset(fresh->pad, 0, sizeof fresh->pad);
    return CT_OK;
}

int ct_cover_add_items(struct ct_cover *cover, uint32_t program, const struct ct_edge_context *context,
                       const struct ct_cover_item *items, size_t count)
{
    uint32_t number = 0;
    struct cell *cell = NULL;
    int result = count ? find_context(cover, context, &number) : CT_OK;
    if (count && result == CT_OK)
        result = find_cell(cover, program, number, &cell);
    for (size_t i = 0; i < count && result == CT_OK; i++)
        result = push(cover, cell, &items[i]);
    return result;
}

int ct_cover_add_item(struct ct_cover *cover, uint32_t program, const struct ct_edge_context *context,
                      const struct ct_cover_item *item)
{
    CT_REQUIRE(NULL, cover, context, item);
    if (program >= cover->programs.count || item->kind > CT_COVER_NOT)
        return ct_fail(cover->analysis.ctx, CT_ERR_ARG,
                       "coverage: program %u or kind %u does not exist; nothing was added", program,
                       item->kind);
    return ct_cover_add_items(cover, program, context, item, 1);
}

/* Adds the items of an edge, at most ITEMS_OF_EDGE, with `bias` subtracted from the addresses. */
static int add_edge(struct ct_cover *cover, struct cell *cell, uint64_t bias, const struct ct_node *node,
                    const struct ct_edge *edge, uint64_t count)
{
    struct ct_cover_item item = {
        .from = node->start - bias, .to = node->end - bias, .count = count, .isa = node->isa};
    int result = push(cover, cell, &item);
    bool branch = node->type == CT_INSN_BR || node->type == CT_INSN_IBR;
    if (result != CT_OK || !branch || node->flags & CT_NODE_CUT)
        return result;
    item.from = node->last - bias;
    item.isa = 0;
    item.kind = edge->exec ? CT_COVER_TAKEN : CT_COVER_NOT;
    item.to = edge->exec && edge->kind != CT_EDGE_OPEN ? edge->next - bias : 0;
    return push(cover, cell, &item);
}

static bool is_code(const struct ct_program_identity *program, const struct ct_cover_place *place,
                    uint64_t addr)
{
    if (!place->code)
        return addr >= program->low && addr < program->high;
    return ct_code_has(place->code, place->code_count, addr);
}

static bool is_in(const struct ct_program_identity *program, const struct ct_cover_place *place,
                  const struct ct_node *node)
{
    return is_code(program, place, node->start - place->bias) &&
           ct_memory_set_has(&place->memories, node->memory) && !(node->flags & CT_NODE_NOPATH) &&
           node->end > node->start;
}

/* Numbers of the edges of a batch whose nodes lie in one place. */
struct edge_list {
    uint32_t *numbers;
    size_t count;
};

static void find_edges(const struct ct_cover *cover, const struct place *place,
                       const struct ct_analysis_batch *batch, struct edge_list *list)
{
    const struct ct_program_identity identity = ct_program_table_at(&cover->programs, place->program);
    uint32_t edge_count, node_count;
    const struct ct_edge *all = ct_graph_edges(batch->graph, &edge_count);
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &node_count);
    list->count = 0;
    for (uint32_t i = 0; i < edge_count; i++)
        if (is_in(&identity, &place->at, &nodes[all[i].from]))
            list->numbers[list->count++] = i;
}

/* Returns how many of the listed edges were taken in a context. */
static size_t count_taken(const struct ct_edges *edges, size_t context, uint32_t limit,
                          const struct edge_list *list)
{
    size_t taken = 0;
    for (size_t i = 0; i < list->count && list->numbers[i] < limit; i++)
        taken += ct_edges_get(edges, context, list->numbers[i]).count > 0;
    return taken;
}

static int add_context(struct ct_cover *cover, const struct place *place,
                       const struct ct_analysis_batch *batch, const struct edge_list *list, size_t context)
{
    size_t context_count;
    const struct ct_edge_context *from = &ct_edges_contexts(batch->edges, &context_count)[context];
    struct cell *cell = NULL;
    uint32_t edge_count, node_count, number = 0;
    const struct ct_edge *all = ct_graph_edges(batch->graph, &edge_count);
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &node_count);
    const size_t taken = count_taken(batch->edges, context, from->edges, list);
    int result = taken ? find_context(cover, from, &number) : CT_OK;
    if (taken && !result)
        result = find_cell(cover, place->program, number, &cell);
    if (cell) /* reserved at once, because a full cell is sorted before it grows */
        result = make_room(cover, cell, cell->count + ITEMS_OF_EDGE * taken);
    for (size_t i = 0; cell && i < list->count && !result; i++) {
        const struct ct_edge *edge = &all[list->numbers[i]];
        const uint64_t count =
            list->numbers[i] < from->edges ? ct_edges_get(batch->edges, context, list->numbers[i]).count : 0;
        if (count)
            result = add_edge(cover, cell, place->at.bias, &nodes[edge->from], edge, count);
    }
    return result;
}

static int add_place_counts(struct ct_cover *cover, const struct place *place,
                            const struct ct_analysis_batch *batch, struct edge_list *list)
{
    size_t count;
    (void)ct_edges_contexts(batch->edges, &count);
    int result = CT_OK;
    find_edges(cover, place, batch, list);
    for (size_t i = 0; i < count && list->count && result == CT_OK; i++)
        result = add_context(cover, place, batch, list, i);
    return result;
}

int ct_cover_add_place(struct ct_cover *cover, uint32_t program, const struct ct_cover_place *place)
{
    CT_REQUIRE(NULL, cover, place);
    if (program >= cover->programs.count)
        return ct_fail(cover->analysis.ctx, CT_ERR_ARG, "coverage: program %u does not exist", program);
    if (!CT_PUSH_ROOM(cover->places, cover->place_count))
        return ct_fail_nomem(cover->analysis.ctx, "coverage");
    cover->places[cover->place_count++] = (struct place){*place, program};
    return CT_OK;
}

void ct_cover_clear_places(struct ct_cover *cover)
{
    if (!cover)
        return;
    cover->place_count = 0;
}

int ct_cover_items(struct ct_cover *cover, uint32_t program, size_t context, struct ct_cover_item **items,
                   size_t *count)
{
    CT_REQUIRE_OUT(NULL, items, cover, count);
    if (program >= cover->programs.count || (context != CT_EDGES_ALL && context >= cover->context_count))
        return ct_fail(cover->analysis.ctx, CT_ERR_ARG, "coverage: program %u or context %zu does not exist",
                       program, context);
    size_t total = 0;
    for (size_t i = 0; i < cover->cell_count; i++) {
        settle_cell(&cover->cells[i]);
        total += cover->cells[i].count;
    }
    struct ct_cover_item *all = malloc((total + 1) * sizeof *all);
    if (!all)
        return ct_fail_nomem(cover->analysis.ctx, "coverage");
    size_t n = 0;
    for (size_t i = 0; i < cover->cell_count; i++) {
        const struct cell *cell = &cover->cells[i];
        if (cell->program != program || (context != CT_EDGES_ALL && cell->context != context) ||
            cell->count == 0)
            continue;
        memcpy(all + n, cell->items, cell->count * sizeof *all);
        n += cell->count;
    }
    *count = ct_cover_add_up(all, n);
    *items = all;
    return CT_OK;
}

const struct ct_cover_item *ct_cover_items_in(struct ct_cover *cover, uint32_t program, size_t context,
                                              size_t *count)
{
    struct cell *cell = look_up(cover, program, context);
    if (cell)
        settle_cell(cell);
    *count = cell ? cell->count : 0;
    return cell ? cell->items : NULL;
}

/* ---- the operations of the contract of analyses ---- */

static struct ct_cover *of(struct ct_analysis *analysis)
{
    return (struct ct_cover *)analysis;
}

struct ct_analysis *ct_cover_analysis(struct ct_cover *cover)
{
    return cover ? &cover->analysis : NULL;
}

static int copy_place(struct ct_cover *part, const struct ct_cover *whole, const struct place *place)
{
    const struct ct_program_identity program = ct_cover_program_at(whole, place->program);
    uint32_t number = 0;
    const int result = ct_cover_program(part, &program, &number);
    return result ? result : ct_cover_add_place(part, number, &place->at);
}

int ct_cover_part(const struct ct_analysis *analysis, struct ct_analysis **out)
{
    const struct ct_cover *whole = (const struct ct_cover *)analysis;
    struct ct_cover *part = NULL;
    int result = ct_cover_new(analysis->ctx, &part);
    if (!part)
        return result;
    for (size_t i = 0; i < whole->place_count && result == CT_OK; i++)
        result = copy_place(part, whole, &whole->places[i]);
    if (result == CT_OK)
        *out = &part->analysis;
    else
        ct_cover_free(part);
    return result;
}

/* Returns the index of the place that contains the node, or place_count. Tries `last` first, because nodes
 * that follow each other are mostly in the same place. */
static size_t place_of(const struct ct_cover *cover, const struct ct_node *node, size_t last)
{
    size_t tried = 0;
    while (tried < cover->place_count) {
        const struct place *place = &cover->places[(last + tried) % cover->place_count];
        const struct ct_program_identity program = ct_program_table_at(&cover->programs, place->program);
        if (is_in(&program, &place->at, node))
            return (last + tried) % cover->place_count;
        tried++;
    }
    return cover->place_count;
}

/* Counts the instructions that ran, and notes those outside of all places. Nodes without a known path are not
 * counted: it is unknown which of their instructions ran. */
static void note_share(struct ct_cover *cover, const struct ct_analysis_batch *batch)
{
    uint32_t edge_count, node_count;
    const struct ct_edge *all = ct_graph_edges(batch->graph, &edge_count);
    const struct ct_node *nodes = ct_graph_nodes(batch->graph, &node_count);
    size_t last = 0;
    for (uint32_t i = 0; i < edge_count; i++) {
        const struct ct_node *node = &nodes[all[i].from];
        const uint64_t count = node->n * ct_edges_get(batch->edges, CT_EDGES_ALL, i).count;
        if (!count || node->flags & CT_NODE_NOPATH)
            continue;
        ct_add_up(&cover->share.ran, count);
        last = place_of(cover, node, last);
        if (last == cover->place_count)
            ct_holes_add(&cover->share.outside, &(struct ct_hole){node->start, node->last, count});
    }
}

void ct_cover_add_share(struct ct_cover *cover, const struct ct_cover_share *more)
{
    ct_add_up(&cover->share.ran, more->ran);
    ct_holes_merge(&cover->share.outside, &more->outside);
    cover->share.untold |= more->untold;
}

const struct ct_cover_share *ct_cover_ran(const struct ct_cover *cover)
{
    return cover ? &cover->share : NULL;
}

int ct_cover_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch)
{
    struct ct_cover *cover = of(analysis);
    uint32_t edge_count;
    (void)ct_graph_edges(batch->graph, &edge_count);
    struct edge_list list = {malloc((edge_count + (size_t)1) * sizeof *list.numbers), 0};
    int result = list.numbers ? CT_OK : ct_fail_nomem(cover->analysis.ctx, "coverage");
    note_share(cover, batch);
    for (size_t i = 0; i < cover->place_count && result == CT_OK; i++)
        result = add_place_counts(cover, &cover->places[i], batch, &list);
    free(list.numbers);
    return result;
}

/* Adds the counts of items that both lists have, which are in order. Returns how many `from` has besides. */
static size_t add_common(struct cell *into, const struct cell *from)
{
    size_t i = 0, missing = 0;
    for (size_t k = 0; k < from->count; k++) {
        int order = -1;
        while (i < into->count && (order = ct_cover_compare(&into->items[i], &from->items[k])) < 0)
            i++;
        if (i < into->count && order == 0)
            ct_add_up(&into->items[i++].count, from->items[k].count);
        else
            missing++;
    }
    return missing;
}

/* Puts the items that `from` alone has, as many as `missing`, between those of a list with room for them:
 * from the last one on, so that none is written over before it is read. */
static void insert(struct cell *into, const struct cell *from, size_t missing)
{
    size_t i = into->count, k = from->count;
    into->count = into->settled = i + missing;
    while (missing) {
        const int order = i ? ct_cover_compare(&into->items[i - 1], &from->items[k - 1]) : -1;
        into->items[i + missing - 1] = order < 0 ? from->items[k - 1] : into->items[i - 1];
        missing -= order < 0;
        i -= order >= 0;
        k -= order <= 0;
    }
}

/* Finds or makes the cell of `cover` with the program and context of `cell`, which belongs to `from`. */
static int find_same_cell(struct ct_cover *cover, const struct ct_cover *from, const struct cell *cell,
                          struct cell **out)
{
    const struct ct_program_identity program = ct_cover_program_at(from, cell->program);
    uint32_t number = 0, context = 0;
    int result = ct_cover_program(cover, &program, &number);
    if (!result)
        result = find_context(cover, &from->contexts[cell->context], &context);
    return result ? result : find_cell(cover, number, context, out);
}

static int merge_cell(struct ct_cover *cover, const struct ct_cover *from, struct cell *cell)
{
    struct cell *into = NULL;
    settle_cell(cell);
    int result = cell->count ? find_same_cell(cover, from, cell, &into) : CT_OK;
    if (!into)
        return result;
    settle_cell(into);
    const size_t missing = add_common(into, cell);
    result = make_room(cover, into, into->count + missing);
    if (!result)
        insert(into, cell, missing);
    return result;
}

/* Adds all programs first, because programs of which nothing ran belong to the sum, too. */
int ct_cover_merge(struct ct_analysis *into, struct ct_analysis *other)
{
    struct ct_cover *from = of(other);
    int result = CT_OK;
    for (uint32_t i = 0; i < from->programs.count && result == CT_OK; i++) {
        const struct ct_program_identity program = ct_cover_program_at(from, i);
        uint32_t number;
        result = ct_cover_program(of(into), &program, &number);
    }
    for (size_t i = 0; i < from->cell_count && result == CT_OK; i++)
        result = merge_cell(of(into), from, &from->cells[i]);
    ct_cover_add_share(of(into), &from->share);
    return result;
}

void ct_cover_free_analysis(struct ct_analysis *analysis)
{
    ct_cover_free(of(analysis));
}
