/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads sums of times as lines of text (docs/formats.md). */
#define _GNU_SOURCE /* stpcpy */
#include "analysis/dist.h"
#include "analysis/saved.h"
#include "analysis/timing_sums.h"
#include "base/ctx.h"
#include "base/printable.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_NAME (64u << 10) /* longest name of a function or a pair, in bytes */

/* ---- writing ---- */

/* longest line of a distribution and of an edge, in bytes: their numbers with the spaces before them, a word,
 * and what writing the last number may overwrite */
#define DIST_MOST ((6 + 2 * CT_DIST_BUCKETS) * CT_SAVE_NUMBER + 16 + CT_DIGITS_SLACK)
#define EDGE_MOST (13 * CT_SAVE_NUMBER + 16 + CT_DIGITS_SLACK)

/* Writes a distribution. Most lines are of distributions and edges, so both are written without format
 * strings. */
static void save_dist(struct ct_save *to, const char *name, const struct ct_dist *d)
{
    char *p = d->count ? ct_save_begin(to, DIST_MOST) : NULL;
    if (!p)
        return;
    p = ct_save_put_dec(ct_save_put_dec(stpcpy(p, name), d->count), d->sum);
    p = ct_save_put_dec(ct_save_put_dec(p, d->min), d->max);
    p = ct_save_put_hex(ct_save_put_hex(p, d->square_hi), d->square_lo);
    for (unsigned i = 0; i < d->buckets; i++)
        if (d->histogram[i])
            p = ct_save_put_dec(ct_save_put_dec(p, i), d->histogram[i]);
    ct_save_end(to, p);
}

/* Returns the word for a program's number, or "-". */
static const char *program_word(char word[12], uint32_t program)
{
    if (program == CT_TIMING_NO_PROGRAM)
        return "-";
    snprintf(word, 12, "%" PRIu32, program);
    return word;
}

/* Returns a name escaped so that it can be read again, to be freed by the caller. Returns NULL when out of
 * memory. */
static char *escaped(const char *name)
{
    char *text = malloc(CT_PRINTABLE_ROOM(strlen(name) + 1));
    if (text)
        ct_escape_to_read(name, text);
    return text;
}

/* Returns a text as a single word without spaces, to be freed by the caller. Returns NULL when out of memory.
 */
static char *word_of(const char *text)
{
    char *plain = escaped(text);
    char *word = plain ? malloc(CT_PRINTABLE_ROOM(strlen(plain) + 1)) : NULL;
    char *to = word;
    for (const char *at = plain; word && *at; at++) {
        const bool space = *at == ' ';
        memcpy(to, space ? "\\x20" : at, space ? 4 : 1);
        to += space ? 4 : 1;
    }
    if (word)
        *to = '\0';
    free(plain);
    return word;
}

static int save_longest(struct ct_save *to, const struct ct_timing_longest *longest)
{
    if (!longest->cycles)
        return CT_OK;
    char *capture = longest->capture ? word_of(longest->capture) : NULL;
    char *buffer = capture ? word_of(longest->buffer) : NULL;
    const bool fine = !longest->capture || buffer;
    if (fine)
        ct_save_line(to, "longest %" PRIu64 " %" PRIu64 " %" PRIu64 " %x%s%s%s%s", longest->cycles,
                     longest->from, longest->to, longest->id, capture ? " " : "", capture ? capture : "",
                     capture ? " " : "", capture ? buffer : "");
    free(capture);
    free(buffer);
    return fine ? CT_OK : CT_ERR_NOMEM;
}

static int save_function(struct ct_save *to, const struct ct_timing_function *f)
{
    char word[12];
    char *name = escaped(f->name);
    if (!name)
        return CT_ERR_NOMEM;
    ct_save_line(to, "function %s %" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %s",
                 program_word(word, f->program), f->addr, f->steps, f->cycles, f->runs, f->cut, name);
    free(name);
    save_dist(to, "inclusive", &f->inclusive);
    save_dist(to, "self", &f->self);
    save_dist(to, "recursive", &f->recursive);
    save_dist(to, "preempted", &f->preempted);
    return save_longest(to, &f->longest);
}

static char *put_program(char *p, uint32_t program)
{
    return program == CT_TIMING_NO_PROGRAM ? stpcpy(p, " -") : ct_save_put_dec(p, program);
}

static void save_edge(struct ct_save *to, const struct ct_timing_edge *e)
{
    char *p = ct_save_begin(to, EDGE_MOST);
    if (!p)
        return;
    p = ct_save_put_hex(put_program(stpcpy(p, "edge"), e->program), e->start);
    p = ct_save_put_hex(ct_save_put_hex(ct_save_put_hex(p, e->last), e->end), e->flags);
    p = ct_save_put_hex(put_program(p, e->next_program), e->next);
    p = ct_save_put_hex(ct_save_put_hex(p, e->kind), e->exec);
    p = ct_save_put_dec(ct_save_put_dec(ct_save_put_dec(p, e->count), e->shared), e->n);
    ct_save_end(to, ct_save_put_hex(p, e->branch));
    save_dist(to, "cycles", &e->cycles);
}

static int save_pair(struct ct_save *to, const struct ct_timing_pair *pair)
{
    char *name = escaped(pair->name);
    if (!name)
        return CT_ERR_NOMEM;
    ct_save_line(to, "pair %" PRIu64 " %" PRIu64 " %s", pair->lost, pair->restarted, name);
    free(name);
    save_dist(to, "direct", &pair->direct);
    save_dist(to, "preempted", &pair->preempted);
    return CT_OK;
}

int ct_timing_sums_save(struct ct_analysis *analysis, struct ct_save *to)
{
    struct ct_timing_sums *s = (struct ct_timing_sums *)analysis;
    struct ct_timing_found all;
    int rc = ct_timing_sums_find(s, &all);
    const struct ct_timing_totals *t = &all.totals;
    for (uint32_t i = 0; i < all.program_count && !rc; i++) {
        const struct ct_program_identity program = ct_timing_sums_program(s, i);
        ct_save_program(to, &program);
    }
    ct_save_line(to,
                 "totals %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                 " %" PRIu64 " %" PRIu64,
                 t->cycles, t->edges, t->unplaced, t->steps, t->untimed, t->gaps, t->exceptions, t->switches,
                 t->renewed);
    for (size_t i = 0; i < all.function_count && !rc; i++)
        rc = save_function(to, &all.functions[i]);
    for (size_t i = 0; i < all.edge_count && !rc; i++)
        save_edge(to, &all.edges[i]);
    for (size_t i = 0; i < all.pair_count && !rc; i++)
        rc = save_pair(to, &all.pairs[i]);
    return rc ? ct_fail_nomem(analysis->ctx, "timing") : CT_OK;
}

/* ---- reading ---- */

/* The item to which the next lines of distributions belong. */
enum of {
    NOTHING,
    FUNCTION,
    EDGE,
    PAIR,
};

struct reader {
    struct ct_timing_sums *sums;
    struct ct_load *from;
    enum of of;
    char *name; /* of the function or pair */
    struct ct_timing_function function;
    struct ct_timing_edge edge;
    struct ct_timing_pair pair;
};

/* Drops the item that was read last. */
static void drop(struct reader *r)
{
    ct_sum_functions.clear(&r->function);
    ct_sum_edges.clear(&r->edge);
    ct_sum_pairs.clear(&r->pair);
    free(r->name);
    *r = (struct reader){.sums = r->sums, .from = r->from};
}

/* Adds the item that was read, with its distributions, to the sums. */
static int put(struct reader *r)
{
    int rc = CT_OK;
    if (r->of == FUNCTION)
        rc = ct_timing_sums_add_function(r->sums, &r->function);
    else if (r->of == EDGE)
        rc = ct_timing_sums_add_edge(r->sums, &r->edge);
    else if (r->of == PAIR)
        rc = ct_timing_sums_put_pair(r->sums, &r->pair);
    drop(r);
    return rc;
}

/* Reads numbers of one base, from word `first` of the line on. */
static bool read_numbers(const struct ct_load *from, size_t first, unsigned base, uint64_t *const *into,
                         size_t count)
{
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = ct_load_number(from, first + i, base, into[i]);
    return fine;
}

static bool read_small(const struct ct_load *from, size_t index, uint8_t *into, uint64_t most)
{
    uint64_t value;
    const bool fine = ct_load_number(from, index, 16, &value) && value <= most;
    *into = fine ? (uint8_t)value : 0;
    return fine;
}

static bool read_program(const struct reader *r, size_t index, uint32_t *program)
{
    uint64_t number;
    *program = CT_TIMING_NO_PROGRAM;
    if (ct_load_is(r->from, index, "-"))
        return true;
    if (!ct_load_number(r->from, index, 10, &number) || number >= r->sums->table.count)
        return false;
    *program = (uint32_t)number;
    return true;
}

/* Reads the last word of the line, and undoes escaped(). */
static int read_name(struct reader *r, size_t index)
{
    const struct ct_load_word *word = &r->from->words[index];
    if (!word->size || word->size > CT_PRINTABLE_ROOM(MOST_NAME) || memchr(word->text, '\0', word->size))
        return ct_load_bad(r->from, "the name must have 1 to 65536 bytes, none of them zero");
    r->name = strndup(word->text, word->size);
    if (!r->name)
        return ct_fail_nomem(r->sums->analysis.ctx, "timing");
    return ct_unescape(r->name) && *r->name
               ? CT_OK
               : ct_load_bad(r->from, "the name has an escape sequence that cannot be read");
}

/* Reads a line: function PROGRAM ADDR STEPS CYCLES RUNS CUT NAME */
static int read_function(struct reader *r)
{
    struct ct_timing_function *f = &r->function;
    uint64_t *const numbers[] = {&f->steps, &f->cycles, &f->runs, &f->cut};
    ct_load_split(r->from, 8);
    if (r->from->word_count != 8 || !read_program(r, 1, &f->program) ||
        !ct_load_number(r->from, 2, 16, &f->addr) || !read_numbers(r->from, 3, 10, numbers, 4))
        return ct_load_bad(r->from, "the line is not 'function PROGRAM ADDR STEPS CYCLES RUNS CUT NAME'");
    const int rc = read_name(r, 7);
    f->name = r->name;
    r->of = FUNCTION;
    return rc;
}

/* Reads one word of the line into the arena, and undoes word_of(). */
static int read_word(struct reader *r, size_t index, const char **text)
{
    const struct ct_load_word *word = &r->from->words[index];
    if (!word->size || word->size > CT_PRINTABLE_ROOM(MOST_NAME) || memchr(word->text, '\0', word->size))
        return ct_load_bad(r->from, "the name must have 1 to 65536 bytes, none of them zero");
    char *copy = ct_arena_strndup(&r->sums->arena, word->text, word->size);
    if (!copy)
        return ct_fail_nomem(r->sums->analysis.ctx, "timing");
    *text = copy;
    return ct_unescape(copy) ? CT_OK
                             : ct_load_bad(r->from, "the name has an escape sequence that cannot be read");
}

/* Reads a line: longest CYCLES FROM TO ID [CAPTURE BUFFER] */
static int read_longest(struct reader *r)
{
    struct ct_timing_longest *l = &r->function.longest;
    uint64_t *const numbers[] = {&l->cycles, &l->from, &l->to};
    const size_t words = r->from->word_count;
    if (r->of != FUNCTION || l->cycles || (words != 5 && words != 7) ||
        !read_numbers(r->from, 1, 10, numbers, 3) || !read_small(r->from, 4, &l->id, UINT8_MAX) ||
        !l->cycles || l->to < l->from)
        return ct_load_bad(
            r->from, "the line is not 'longest CYCLES FROM TO ID [CAPTURE BUFFER]', once after a function");
    if (words == 5)
        return CT_OK;
    const int rc = read_word(r, 5, &l->capture);
    return rc ? rc : read_word(r, 6, &l->buffer);
}

/* Reads a line: edge PROGRAM START LAST END FLAGS PROGRAM NEXT KIND EXEC COUNT SHARED [INSTRUCTIONS
 * [BRANCH]]. Versions 2 and 3 of the file brought the last two words. */
static int read_edge(struct reader *r)
{
    struct ct_timing_edge *e = &r->edge;
    const size_t words = r->from->version > 2 ? 14 : r->from->version > 1 ? 13 : 12;
    uint64_t n = 0;
    uint64_t *const places[] = {&e->start, &e->last, &e->end};
    uint64_t *const counts[] = {&e->count, &e->shared};
    if (r->from->word_count != words || !read_program(r, 1, &e->program) ||
        !read_numbers(r->from, 2, 16, places, 3) ||
        !read_small(r->from, 5, &e->flags, CT_NODE_CUT | CT_NODE_NOPATH) ||
        !read_program(r, 6, &e->next_program) || !ct_load_number(r->from, 7, 16, &e->next) ||
        !read_small(r->from, 8, &e->kind, CT_EDGE_OPEN) || !read_small(r->from, 9, &e->exec, 1) ||
        !read_numbers(r->from, 10, 10, counts, 2) ||
        (words > 12 && (!ct_load_number(r->from, 12, 10, &n) || n > UINT32_MAX)) ||
        (words > 13 && !read_small(r->from, 13, &e->branch, CT_TIMING_BRANCH_RETURN)))
        return ct_load_bad(r->from, "the line is not 'edge PROGRAM START LAST END FLAGS PROGRAM NEXT KIND "
                                    "EXEC COUNT SHARED INSTRUCTIONS BRANCH'");
    e->n = (uint32_t)n;
    r->of = EDGE;
    return CT_OK;
}

/* Reads a line: pair LOST RESTARTED NAME */
static int read_pair(struct reader *r)
{
    uint64_t *const numbers[] = {&r->pair.lost, &r->pair.restarted};
    ct_load_split(r->from, 4);
    if (r->from->word_count != 4 || !read_numbers(r->from, 1, 10, numbers, 2))
        return ct_load_bad(r->from, "the line is not 'pair LOST RESTARTED NAME'");
    const int rc = read_name(r, 3);
    r->pair.name = r->name;
    r->of = PAIR;
    return rc;
}

static int read_totals(struct reader *r)
{
    struct ct_timing_totals t = {0};
    uint64_t *const numbers[] = {&t.cycles, &t.edges,      &t.unplaced, &t.steps,  &t.untimed,
                                 &t.gaps,   &t.exceptions, &t.switches, &t.renewed};
    if (r->from->word_count != 10 || !read_numbers(r->from, 1, 10, numbers, 9))
        return ct_load_bad(
            r->from,
            "the line is not 'totals CYCLES EDGES UNPLACED STEPS UNTIMED GAPS EXCEPTIONS SWITCHES RENEWED'");
    ct_timing_sums_add_totals(r->sums, &t);
    return CT_OK;
}

/* Returns the distribution that the line names, of the last item. */
static struct ct_dist *dist_of(struct reader *r)
{
    const struct {
        enum of of;
        const char *name;
        struct ct_dist *dist;
    } all[] = {
        {FUNCTION, "inclusive", &r->function.inclusive},
        {FUNCTION, "self", &r->function.self},
        {FUNCTION, "recursive", &r->function.recursive},
        {FUNCTION, "preempted", &r->function.preempted},
        {EDGE, "cycles", &r->edge.cycles},
        {PAIR, "direct", &r->pair.direct},
        {PAIR, "preempted", &r->pair.preempted},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (r->of == all[i].of && ct_load_is(r->from, 0, all[i].name))
            return all[i].dist;
    return NULL;
}

/* Reads the number at *text, and moves behind it and its space. */
static bool next_number(struct ct_load_word *text, uint64_t most, uint64_t *value)
{
    size_t size = 0;
    *value = 0;
    for (; size < text->size && text->text[size] != ' '; size++) {
        const unsigned digit = (unsigned char)text->text[size] - (unsigned)'0';
        *value = 10 * *value + digit;
        if (digit > 9 || *value > most)
            return false;
    }
    const size_t step = size + (size < text->size);
    text->text += step;
    text->size -= step;
    return size > 0;
}

/* Reads pairs BUCKET N with ascending buckets. The histogram has room for them. */
static bool read_buckets(struct ct_load_word text, struct ct_dist *dist)
{
    uint64_t first = 0;
    while (text.size) {
        uint64_t bucket;
        uint64_t count;
        if (!next_number(&text, ct_dist_bucket(dist->max), &bucket) ||
            !next_number(&text, UINT32_MAX, &count) || bucket < first || !count)
            return false;
        dist->histogram[bucket] = (uint32_t)count;
        first = bucket + 1;
    }
    return true;
}

/* Reads a line: NAME COUNT SUM MIN MAX SQUARE-HIGH SQUARE-LOW [BUCKET N]... */
static int read_dist(struct reader *r, struct ct_dist *dist)
{
    struct ct_dist d = {0};
    uint64_t *const numbers[] = {&d.count, &d.sum, &d.min, &d.max};
    uint64_t *const squares[] = {&d.square_hi, &d.square_lo};
    ct_load_split(r->from, 8);
    if (dist->count || r->from->word_count < 7 || !read_numbers(r->from, 1, 10, numbers, 4) ||
        !read_numbers(r->from, 5, 16, squares, 2) || !d.count || d.min > d.max)
        return ct_load_bad(r->from, "the line is not 'NAME COUNT SUM MIN MAX SQUARES SQUARES [BUCKET N]...' "
                                    "with a count above 0, once after the function, edge or pair");
    *dist = d;
    if (r->from->word_count == 7)
        return CT_OK;
    if (ct_dist_make_room(dist, d.max))
        return ct_fail_nomem(r->sums->analysis.ctx, "timing");
    return read_buckets(r->from->words[7], dist)
               ? CT_OK
               : ct_load_bad(r->from, "the buckets must be in order, up to the bucket of the largest value, "
                                      "each with a count above 0");
}

/* Reads a program. Refuses one that was read before, because other lines name programs by their position. */
static int read_next_program(struct reader *r, uint32_t *program)
{
    const size_t count = r->sums->table.count;
    const int rc = ct_load_program(r->from, &r->sums->table, &r->sums->analysis, false, program);
    return !rc && *program < count ? ct_load_bad(r->from, "the program is there twice") : rc;
}

static int read_line(struct reader *r, uint32_t *program)
{
    struct ct_dist *dist = dist_of(r);
    if (dist)
        return read_dist(r, dist);
    if (ct_load_is(r->from, 0, "longest"))
        return read_longest(r);
    const int rc = put(r);
    if (rc)
        return rc;
    if (ct_load_is(r->from, 0, "program"))
        return read_next_program(r, program);
    if (ct_load_is(r->from, 0, "started"))
        return ct_load_started(r->from, &r->sums->table, *program);
    if (ct_load_is(r->from, 0, "totals"))
        return read_totals(r);
    if (ct_load_is(r->from, 0, "function"))
        return read_function(r);
    if (ct_load_is(r->from, 0, "edge"))
        return read_edge(r);
    if (ct_load_is(r->from, 0, "pair"))
        return read_pair(r);
    return ct_load_bad(r->from, "the line begins with none of captures, damaged, unknown, lost, program, "
                                "started, totals, function, longest, edge, pair, and is not a distribution "
                                "of the previous function, edge or pair");
}

int ct_timing_sums_load(struct ct_analysis *part, struct ct_load *from)
{
    struct reader r = {.sums = (struct ct_timing_sums *)part, .from = from};
    uint32_t program = UINT32_MAX;
    int rc = CT_OK;
    while (!rc && ct_load_line(from))
        rc = read_line(&r, &program);
    if (!rc)
        rc = put(&r);
    drop(&r);
    return rc;
}
