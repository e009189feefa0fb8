/* SPDX-License-Identifier: Apache-2.0 */
/* Writes LLVM's sample profile as text: for each function the counts of lines, relative to its declaration,
 * its calls, and its inlined functions. */
#include "base/pair_map.h"
#include "base/search.h"
#include "format/profile.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A function, or an inlined copy of one. */
struct body {
    const char *name;
    uint64_t total;         /* samples, including those of inlined bodies */
    uint32_t parent;        /* body into which it is inlined; CT_PAIR_NONE for a function */
    uint32_t offset;        /* line of that body where it is inlined, relative to the body's first line */
    uint32_t discriminator; /* block of that line */
    uint32_t scope;         /* the scope whose declaration its lines are relative to */
    uint32_t depth;
    uint32_t first, last; /* bodies inlined into it, or CT_PAIR_NONE */
    uint32_t next;        /* next body with the same parent */
    uint32_t twin;        /* another function inlined at the same place, or CT_PAIR_NONE */
    uint32_t pad;
};

/* The count of a place in a body. */
struct place {
    uint32_t body;
    uint32_t offset;
    uint32_t discriminator;
    uint32_t first; /* first instruction, for its calls */
    uint64_t count;
};

/* How often a place called a function. */
struct call {
    const char *name;
    uint64_t count;
};

struct llvm {
    FILE *out;
    const struct ct_profile_view *view;
    const struct ct_line_scope *scopes;
    struct body *bodies; /* with room for one body of each scope */
    uint32_t body_count;
    uint32_t *body_of;          /* by scope */
    struct ct_pair_map inlined; /* maps (body and discriminator, line) to the body inlined there */
    struct place *places;
    size_t place_count;
    struct call *calls; /* of a place; with room for one call of each arc */
    size_t call_count;
    bool failed; /* memory was missing */
};

/* ---- discriminators (DILocation of LLVM, "Discriminator encoding") ---- */

/* Returns the first part of a composed discriminator: 1 bit for 0, 7 bits, or 14 bits for 32 and more. */
static uint32_t first_part(uint32_t composed)
{
    if (composed & 1)
        return 0;
    const uint32_t low = composed >> 1 & 0x1f;
    return composed & 0x40 ? (composed >> 2 & 0xfe0) | low : low;
}

/* Returns what follows the first part. */
static uint32_t behind_first(uint32_t composed)
{
    return composed >> (composed & 1 ? 1 : composed & 0x40 ? 14 : 7);
}

/* Returns the block of its line that an instruction or a call is in, by which LLVM identifies it. */
static uint32_t block_of(const struct llvm *l, uint32_t scope, uint32_t discriminator)
{
    return ct_lines_is_llvm(l->view->source.lines, scope) ? first_part(discriminator) : discriminator;
}

/* Returns the number of copies that an instruction of an unrolled loop stands for: each copy ran once in that
 * many rounds of the source. */
static uint32_t copies(const struct llvm *l, uint32_t scope, uint32_t discriminator)
{
    const bool composed = ct_lines_is_llvm(l->view->source.lines, scope);
    const uint32_t number = composed ? first_part(behind_first(discriminator)) : 0;
    return number ? number : 1;
}

/* ---- bodies and places ---- */

static const char *name_of(const struct ct_line_scope *scope)
{
    return scope->linkage_name ? scope->linkage_name : scope->name;
}

/* Returns a line relative to that of the declaration, in 16 bits. */
static uint32_t offset_in(const struct ct_line_scope *scope, uint32_t line)
{
    return (line - scope->decl_line) & 0xffff;
}

/* Returns the body with this name among those inlined at the same place, or else the last one of them. */
static uint32_t find_twin(const struct llvm *l, uint32_t at, const char *name)
{
    while (strcmp(l->bodies[at].name, name) != 0 && l->bodies[at].twin != CT_PAIR_NONE)
        at = l->bodies[at].twin;
    return at;
}

/* Adds a body to its parent. Copies of code give one inlined function several scopes, which become one body.
 * Returns the number of the body. */
static uint32_t put_inlined(struct llvm *l, const struct body *body)
{
    const uint64_t place = (uint64_t)body->parent << 32 | body->discriminator;
    const uint32_t before = ct_pair_map_get(&l->inlined, place, body->offset);
    const uint32_t twin = before == CT_PAIR_NONE ? before : find_twin(l, before, body->name);
    if (twin != CT_PAIR_NONE && !strcmp(l->bodies[twin].name, body->name))
        return twin;
    const uint32_t number = l->body_count++;
    l->bodies[number] = *body;
    if (twin != CT_PAIR_NONE)
        l->bodies[twin].twin = number;
    else
        l->failed = l->failed || ct_pair_map_put(&l->inlined, place, body->offset, number) != CT_OK;
    struct body *parent = &l->bodies[body->parent];
    uint32_t *link = parent->first == CT_PAIR_NONE ? &parent->first : &l->bodies[parent->last].next;
    *link = parent->last = number;
    return number;
}

/* Returns the body of a scope, and makes it and its parents if necessary. Parents have smaller numbers. */
static uint32_t find_body(struct llvm *l, uint32_t scope)
{
    if (l->body_of[scope] != CT_PAIR_NONE)
        return l->body_of[scope];
    const struct ct_line_scope *s = &l->scopes[scope];
    struct body body = {.name = name_of(s),
                        .parent = CT_PAIR_NONE,
                        .scope = scope,
                        .depth = s->depth,
                        .first = CT_PAIR_NONE,
                        .last = CT_PAIR_NONE,
                        .next = CT_PAIR_NONE,
                        .twin = CT_PAIR_NONE};
    if (s->parent == CT_LINE_NONE) {
        l->bodies[l->body_count] = body;
        return l->body_of[scope] = l->body_count++;
    }
    body.parent = find_body(l, s->parent);
    body.offset = offset_in(&l->scopes[s->parent], s->call_line);
    body.discriminator = block_of(l, scope, ct_lines_call_discriminator(l->view->source.lines, scope));
    return l->body_of[scope] = put_inlined(l, &body);
}

static void read_insns(struct llvm *l)
{
    const struct ct_cover_report *report = l->view->report;
    for (size_t i = 0; i < report->insn_count; i++) {
        const struct ct_cover_insn *insn = &report->insns[i];
        uint32_t scope = ct_lines_scope_at(l->view->source.lines, insn->addr);
        const struct ct_line *row = ct_lines_at(l->view->source.lines, insn->addr);
        if (insn->count == 0 || scope == CT_LINE_NONE || !row || row->line == 0 ||
            !l->scopes[scope].decl_line)
            continue;
        const struct ct_line_scope *s = &l->scopes[scope];
        l->places[l->place_count++] =
            (struct place){.body = find_body(l, scope),
                           .offset = offset_in(s, row->line),
                           .discriminator = block_of(l, scope, row->discriminator),
                           .first = (uint32_t)i,
                           .count = insn->count * copies(l, scope, row->discriminator)};
    }
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return ct_order(x->body, y->body)
           ?: ct_order(x->offset, y->offset)
           ?: ct_order(x->discriminator, y->discriminator)
           ?: ct_order(x->first, y->first);
}

static bool same(const struct place *a, const struct place *b)
{
    return a->body == b->body && a->offset == b->offset && a->discriminator == b->discriminator;
}

/* Returns the count of a place: that of its most frequent instruction. */
static uint64_t most(const struct llvm *l, size_t first, size_t *end)
{
    uint64_t count = 0;
    size_t i = first;
    for (; i < l->place_count && same(&l->places[i], &l->places[first]); i++)
        count = l->places[i].count > count ? l->places[i].count : count;
    *end = i;
    return count;
}

static void add_totals(struct llvm *l)
{
    for (size_t i = 0; i < l->place_count;) {
        size_t end;
        uint64_t count = most(l, i, &end);
        for (uint32_t body = l->places[i].body; body != CT_PAIR_NONE; body = l->bodies[body].parent)
            l->bodies[body].total += count;
        i = end;
    }
}

static size_t first_place(const struct llvm *l, uint32_t body)
{
    return CT_COUNT_WHILE(l->place_count, i, l->places[i].body < body);
}

static const char *callee_name(const struct llvm *l, uint64_t addr)
{
    uint32_t scope = ct_lines_scope_at(l->view->source.lines, addr);
    while (scope != CT_LINE_NONE && l->scopes[scope].parent != CT_LINE_NONE)
        scope = l->scopes[scope].parent;
    if (scope != CT_LINE_NONE)
        return name_of(&l->scopes[scope]);
    const struct ct_symbol *symbol = ct_symbols_at(l->view->source.symbols, addr, NULL);
    const bool is_named = symbol && (symbol->source < CT_SYMBOL_PLT || symbol->source == CT_SYMBOL_GO);
    return is_named ? symbol->name : NULL;
}

/* Adds the calls of an instruction to those of its place. Arcs are sorted by their origin. */
static void add_calls(struct llvm *l, const struct ct_cover_insn *insn)
{
    const struct ct_cover_report *report = l->view->report;
    if (insn->sub != CT_INSN_SUB_LINK)
        return;
    size_t low = CT_COUNT_WHILE(report->arc_count, i, report->arcs[i].from < insn->addr);
    for (; low < report->arc_count && report->arcs[low].from == insn->addr; low++) {
        const char *name = callee_name(l, report->arcs[low].to);
        if (name)
            l->calls[l->call_count++] = (struct call){name, report->arcs[low].count};
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct call *)a)->name, ((const struct call *)b)->name);
}

/* Writes the calls of a place, each function once, because LLVM would only keep the last of two. */
static void put_calls(struct llvm *l)
{
    if (l->call_count)
        qsort(l->calls, l->call_count, sizeof *l->calls, by_name);
    for (size_t i = 0; i < l->call_count;) {
        const struct call *first = &l->calls[i];
        uint64_t count = 0;
        for (; i < l->call_count && !by_name(first, &l->calls[i]); i++)
            count += l->calls[i].count;
        fprintf(l->out, " %s:%" PRIu64, first->name, count);
    }
    l->call_count = 0;
}

/* Writes the line and block of a body at which something is. */
static void put_line(const struct llvm *l, int indent, uint32_t offset, uint32_t discriminator)
{
    fprintf(l->out, "%*s%" PRIu32, indent, "", offset);
    if (discriminator)
        fprintf(l->out, ".%" PRIu32, discriminator);
    fputs(": ", l->out);
}

static void put_body(struct llvm *l, uint32_t body)
{
    int indent = (int)l->bodies[body].depth + 1;
    for (size_t i = first_place(l, body); i < l->place_count && l->places[i].body == body;) {
        size_t end;
        uint64_t count = most(l, i, &end);
        put_line(l, indent, l->places[i].offset, l->places[i].discriminator);
        fprintf(l->out, "%" PRIu64, count);
        for (; i < end; i++)
            add_calls(l, &l->view->report->insns[l->places[i].first]);
        put_calls(l);
        fputc('\n', l->out);
    }
    for (uint32_t i = l->bodies[body].first; i != CT_PAIR_NONE; i = l->bodies[i].next) {
        if (l->bodies[i].total == 0)
            continue;
        put_line(l, indent, l->bodies[i].offset, l->bodies[i].discriminator);
        fprintf(l->out, "%s:%" PRIu64 "\n", l->bodies[i].name, l->bodies[i].total);
        put_body(l, i);
    }
}

/* Returns how often a function was entered: the executions of its first instruction. */
static uint64_t times_entered(const struct llvm *l, uint32_t scope)
{
    const struct ct_cover_report *report = l->view->report;
    size_t low = CT_COUNT_WHILE(report->insn_count, i, report->insns[i].addr < l->scopes[scope].entry);
    return low < report->insn_count && report->insns[low].addr == l->scopes[scope].entry
               ? report->insns[low].count
               : 0;
}

int ct_profile_llvm(FILE *out, const struct ct_profile_view *view, uint64_t *entries)
{
    struct llvm l = {.out = out, .view = view};
    size_t scope_count;
    l.scopes = ct_lines_scopes(view->source.lines, &scope_count);
    l.bodies = calloc(scope_count + 1, sizeof *l.bodies);
    l.body_of = malloc((scope_count + 1) * sizeof *l.body_of);
    l.places = calloc(view->report->insn_count + 1, sizeof *l.places);
    l.calls = calloc(view->report->arc_count + 1, sizeof *l.calls);
    bool good = l.bodies && l.body_of && l.places && l.calls;
    for (size_t i = 0; good && i < scope_count; i++)
        l.body_of[i] = CT_PAIR_NONE;
    if (good)
        read_insns(&l);
    good = good && !l.failed;
    if (good && l.place_count) {
        qsort(l.places, l.place_count, sizeof *l.places, by_place);
        add_totals(&l);
    }
    for (uint32_t i = 0; good && i < l.body_count; i++) {
        if (l.bodies[i].parent != CT_PAIR_NONE || l.bodies[i].total == 0)
            continue;
        fprintf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", l.bodies[i].name, l.bodies[i].total,
                times_entered(&l, l.bodies[i].scope));
        put_body(&l, i);
        ++*entries;
    }
    free(l.bodies);
    free(l.body_of);
    free(l.places);
    free(l.calls);
    ct_pair_map_free(&l.inlined);
    return good ? CT_OK : CT_ERR_NOMEM;
}
