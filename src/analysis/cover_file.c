/* SPDX-License-Identifier: Apache-2.0 */
/* Saves and loads coverage as lines of text (docs/formats.md). */
#define _GNU_SOURCE
#include "analysis/cover.h"
#include "analysis/program_table.h"
#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/digits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

/* Programs and contexts, sorted so that the file does not depend on the order of their insertion. */
struct order {
    struct ct_cover *cover;
    uint32_t *programs;
    size_t *contexts;
    size_t context_count;
};

static int by_who(const void *a, const void *b, void *user)
{
    const struct ct_edge_context *contexts = user;
    return ct_edge_context_order(&contexts[*(const size_t *)a], &contexts[*(const size_t *)b]);
}

static int find_order(struct order *o)
{
    const struct ct_edge_context *contexts = ct_cover_contexts(o->cover, &o->context_count);
    o->programs = ct_program_table_order(ct_cover_table(o->cover));
    o->contexts = calloc(o->context_count + 1, sizeof *o->contexts);
    if (!o->programs || !o->contexts)
        return ct_fail_nomem(ct_cover_analysis(o->cover)->ctx, "coverage");
    for (size_t i = 0; i < o->context_count; i++)
        o->contexts[i] = i;
    qsort_r(o->contexts, o->context_count, sizeof *o->contexts, by_who, (void *)contexts);
    return CT_OK;
}

/* longest line, in bytes: words, three numbers, and what writing the last number may overwrite */
#define ITEM_MOST (16 + 3 * CT_DIGITS_MOST + CT_DIGITS_SLACK)

/* Writes the line of an item. A file has many, so it is written without format strings. */
static void save_item(struct ct_save *to, const struct ct_cover_item *item)
{
    static const char *const kinds[] = {
        [CT_COVER_RUN] = "run ", [CT_COVER_TAKEN] = "taken ", [CT_COVER_NOT] = "not "};
    static const char *const isas[] = {[CT_ISA_A32] = " a32", [CT_ISA_T32] = " t32"};
    const bool is_known = item->isa < sizeof isas / sizeof *isas && isas[item->isa];
    char *p = ct_save_begin(to, ITEM_MOST);
    if (!p)
        return;
    p = ct_digits_hex(stpcpy(p, kinds[item->kind]), item->from);
    if (item->kind != CT_COVER_NOT)
        p = ct_digits_hex(stpcpy(p, " "), item->to);
    p = ct_digits_dec(stpcpy(p, " "), item->count);
    if (item->kind == CT_COVER_RUN && is_known)
        p = stpcpy(p, isas[item->isa]);
    ct_save_end(to, p);
}

/* Writes the counts of a program in one context, after a line that names the context. */
static void save_context(struct ct_save *to, struct ct_cover *cover, uint32_t program, size_t context)
{
    size_t count, contexts;
    const struct ct_edge_context *c = &ct_cover_contexts(cover, &contexts)[context];
    const struct ct_cover_item *items = ct_cover_items_in(cover, program, context, &count);
    if (count)
        ct_save_line(to, "context %x %" PRIx32 " %" PRIx32 " %x %x", c->known, c->ctxt, c->vmid, c->el_sec,
                     c->others);
    for (size_t i = 0; i < count; i++)
        save_item(to, &items[i]);
}

int ct_cover_save_items(struct ct_save *to, struct ct_cover *cover, uint32_t program)
{
    struct ct_cover_item *items;
    size_t count;
    const int result = ct_cover_items(cover, program, CT_EDGES_ALL, &items, &count);
    if (result != CT_OK)
        return result;
    for (size_t i = 0; i < count; i++)
        save_item(to, &items[i]);
    free(items);
    return CT_OK;
}

/* Writes how many instructions ran, and the addresses of those in no program. */
static void save_share(struct ct_save *to, const struct ct_cover_share *share)
{
    const struct ct_holes *outside = &share->outside;
    if (share->ran)
        ct_save_line(to, "ran %" PRIu64, share->ran);
    for (uint64_t i = 0; i < outside->count; i++)
        ct_save_line(to, "outside %" PRIx64 " %" PRIx64 " %" PRIu64, outside->all[i].low,
                     outside->all[i].high, outside->all[i].count);
    if (outside->others)
        ct_save_line(to, "outside %" PRIu64, outside->others);
    if (share->untold)
        ct_save_line(to, "untold");
}

static int save(struct ct_analysis *analysis, struct ct_save *to)
{
    struct order o = {.cover = (struct ct_cover *)analysis};
    int result = find_order(&o);
    save_share(to, ct_cover_ran(o.cover));
    for (size_t i = 0; i < ct_cover_programs(o.cover) && result == CT_OK; i++) {
        const struct ct_program_identity program = ct_cover_program_at(o.cover, o.programs[i]);
        ct_save_program(to, &program);
        for (size_t k = 0; k < o.context_count; k++)
            save_context(to, o.cover, o.programs[i], o.contexts[k]);
    }
    free(o.programs);
    free(o.contexts);
    return result;
}

/* ---- reading ---- */

struct reader {
    struct ct_cover *cover;
    struct ct_load *from;
    uint32_t program;
    bool has_program;
    struct ct_edge_context context;
};

static int read_program(struct reader *r)
{
    /* Older files do not say which program was started. It is their first one. */
    const bool started = r->from->version < 3 && !r->has_program;
    r->has_program = true;
    r->context = (struct ct_edge_context){0};
    return ct_load_program(r->from, ct_cover_table(r->cover), ct_cover_analysis(r->cover), started,
                           &r->program);
}

/* Reads a line: context KNOWN CTXT VMID EL OTHERS */
static int read_context(struct reader *r)
{
    uint64_t values[5];
    for (size_t i = 0; i < 5; i++)
        if (r->from->word_count != 6 || !ct_load_number(r->from, i + 1, 16, &values[i]) ||
            values[i] > UINT32_MAX)
            return ct_load_bad(r->from, "the line is not 'context KNOWN CTXT VMID EL OTHERS' in hexadecimal");
    r->context = (struct ct_edge_context){.known = (uint8_t)values[0],
                                          .ctxt = (uint32_t)values[1],
                                          .vmid = (uint32_t)values[2],
                                          .el_sec = (uint8_t)values[3],
                                          .others = values[4] != 0};
    return CT_OK;
}

/* Reads a line about everything that ran: ran N, outside LOW HIGH N, outside N, untold */
static int read_share(struct reader *r)
{
    const size_t words = r->from->word_count;
    const bool ran = ct_load_is(r->from, 0, "ran");
    struct ct_cover_share more = {0};
    struct ct_hole hole = {0};
    bool good = words == 1;
    if (ct_load_is(r->from, 0, "untold")) {
        more.untold = 1;
    } else if (words == 4 && !ran) {
        good = ct_load_number(r->from, 1, 16, &hole.low) && ct_load_number(r->from, 2, 16, &hole.high) &&
               ct_load_number(r->from, 3, 10, &hole.count) && hole.low <= hole.high;
        ct_holes_add(&more.outside, &hole);
    } else {
        good = words == 2 && ct_load_number(r->from, 1, 10, ran ? &more.ran : &more.outside.others);
    }
    if (!good)
        return ct_load_bad(r->from, "the line is not 'ran N', 'outside LOW HIGH N', 'outside N' or 'untold'");
    ct_cover_add_share(r->cover, &more);
    return CT_OK;
}

/* Returns whether a line is about everything that ran. */
static bool is_share(const struct ct_load *from)
{
    return from->version >= 4 &&
           (ct_load_is(from, 0, "ran") || ct_load_is(from, 0, "outside") || ct_load_is(from, 0, "untold"));
}

/* Reads and removes the last word when it names A32 or T32. Returns the instruction set, A64 without such a
 * word. */
static uint8_t read_isa(struct reader *r)
{
    const size_t last = r->from->word_count - 1;
    const bool a32 = ct_load_is(r->from, last, "a32");
    if (!a32 && !ct_load_is(r->from, last, "t32"))
        return CT_ISA_A64;
    r->from->word_count--;
    return a32 ? CT_ISA_A32 : CT_ISA_T32;
}

static int read_item(struct reader *r, uint32_t kind)
{
    struct ct_cover_item item = {.kind = kind};
    const bool two = kind != CT_COVER_NOT;
    if (kind == CT_COVER_RUN)
        item.isa = read_isa(r);
    if (r->from->word_count != (two ? 4u : 3u) || !ct_load_number(r->from, 1, 16, &item.from) ||
        (two && !ct_load_number(r->from, 2, 16, &item.to)) ||
        !ct_load_number(r->from, two ? 3 : 2, 10, &item.count))
        return ct_load_bad(r->from,
                           "the line is not 'run FROM TO N [a32|t32]', 'taken FROM TO N' or 'not FROM N'");
    if (!r->has_program)
        return ct_load_bad(r->from, "a count comes before the first 'program'");
    return ct_cover_add_item(r->cover, r->program, &r->context, &item);
}

/* ---- reading many lines ---- */

/* bytes that a line read here has at most, and that may be looked at behind its begin */
#define LINE_MOST 96

#define ITEMS 128 /* that are added at once */

static uint64_t eight_at(const char *text)
{
    uint64_t characters;
    memcpy(&characters, text, sizeof characters);
    return ct_le64(characters);
}

/* Reads a hexadecimal number of up to sixteen digits and the space behind it. Returns where the text goes on,
 * or NULL. */
static const char *quick_hex(const char *at, uint64_t *value)
{
    /* by character: the value of the digit plus 1; 0: no digit */
    static const uint8_t digits[256] = {
        ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
        ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
    const char *begin = at, *most = at + 16;
    unsigned digit;
    for (*value = 0; at < most && (digit = digits[(uint8_t)*at]); at++)
        *value = *value << 4 | (digit - 1);
    return at > begin && *at == ' ' ? at + 1 : NULL;
}

/* Reads a decimal number of up to eight digits and the line break behind it. Returns where the text goes on,
 * or NULL. */
static const char *quick_dec(const char *at, uint64_t *value)
{
    const uint32_t most = 99999999; /* of what is no number, too: ct_digits_eight takes no larger ones */
    const uint64_t characters = eight_at(at);
    const unsigned count = ct_digits_count(characters);
    if (!count || at[count] != '\n')
        return NULL;
    const uint64_t digits = ct_digits_align(characters, count);
    const uint32_t number = ct_digits_from_dec(digits);
    *value = number;
    return number <= most && (ct_digits_eight(number) | CT_DIGITS_ASCII_ZEROS) == digits ? at + count + 1
                                                                                         : NULL;
}

/* Reads a line as it is mostly written: of a count below 10^8, and without an instruction set. Returns the
 * beginning of the next line; NULL: it may be any other. */
static const char *quick_item(const char *at, struct ct_cover_item *item)
{
    static const struct {
        const char *word;
        size_t size;
    } kinds[] = {
        [CT_COVER_RUN] = {"run ", 4}, [CT_COVER_TAKEN] = {"taken ", 6}, [CT_COVER_NOT] = {"not ", 4}};
    const uint32_t kind = *at == 'r' ? CT_COVER_RUN : *at == 't' ? CT_COVER_TAKEN : CT_COVER_NOT;
    if (memcmp(at, kinds[kind].word, kinds[kind].size) != 0)
        return NULL;
    *item = (struct ct_cover_item){.kind = kind};
    at = quick_hex(at + kinds[kind].size, &item->from);
    if (at && kind != CT_COVER_NOT)
        at = quick_hex(at, &item->to);
    return at ? quick_dec(at, &item->count) : NULL;
}

/* Reads the lines behind a count, as far as they are counts as well. Of some thousand lines each takes a
 * fifth of the time of a single one. */
static int read_items(struct reader *r)
{
    struct ct_cover_item items[ITEMS];
    const char *end;
    const char *at = ct_load_rest(r->from, &end);
    int result = CT_OK;
    for (size_t count = ITEMS; count == ITEMS && result == CT_OK;) {
        for (count = 0; count < ITEMS && end - at >= LINE_MOST; count++) {
            const char *next = quick_item(at, &items[count]);
            if (!next)
                break;
            at = next;
        }
        ct_load_skip(r->from, at, count);
        result = ct_cover_add_items(r->cover, r->program, &r->context, items, count);
    }
    return result;
}

int ct_cover_load_run(struct ct_load *from, struct ct_cover *cover, uint32_t program)
{
    struct reader r = {
        .cover = cover, .from = from, .program = program, .has_program = program != UINT32_MAX};
    return read_item(&r, CT_COVER_RUN);
}

/* Reads a count, and the lines behind it that are counts, too. */
static int read_counts(struct reader *r, uint32_t kind)
{
    const int result = read_item(r, kind);
    return result ? result : read_items(r);
}

static int read_line(struct reader *r)
{
    if (ct_load_is(r->from, 0, "run"))
        return read_counts(r, CT_COVER_RUN);
    if (ct_load_is(r->from, 0, "taken"))
        return read_counts(r, CT_COVER_TAKEN);
    if (ct_load_is(r->from, 0, "not"))
        return read_counts(r, CT_COVER_NOT);
    if (r->from->version >= 3 && ct_load_is(r->from, 0, "started"))
        return ct_load_started(r->from, ct_cover_table(r->cover), r->program);
    if (ct_load_is(r->from, 0, "program"))
        return read_program(r);
    if (ct_load_is(r->from, 0, "context"))
        return read_context(r);
    if (is_share(r->from))
        return read_share(r);
    return ct_load_bad(r->from, r->from->version == 1
                                    ? "the line begins with none of program, context, run, taken, not"
                                    : "the line begins with none of captures, damaged, unknown, lost, ran, "
                                      "outside, untold, program, context, run, taken, not");
}

static int load(struct ct_analysis *part, struct ct_load *from)
{
    struct reader r = {.cover = (struct ct_cover *)part, .from = from, .program = UINT32_MAX};
    int result = CT_OK;
    while (result == CT_OK && ct_load_line(from))
        result = read_line(&r);
    if (from->version < 4)
        ct_cover_add_share(r.cover, &(const struct ct_cover_share){.untold = 1});
    return result;
}

static const struct ct_analysis_kind kind = {
    .size = sizeof(struct ct_analysis_kind),
    .name = "coverage",
    .writer = "coretap cover --format data",
    .version = 5,
    .told = 2,
    .checked = 3,
    .words = 5,
    .inputs = CT_INPUT_COUNTS,
    .part = ct_cover_part,
    .programs = ct_cover_set_programs,
    .take = ct_cover_take,
    .merge = ct_cover_merge,
    .save = save,
    .load = load,
    .free = ct_cover_free_analysis,
};

const struct ct_analysis_kind *ct_cover_kind(void)
{
    return &kind;
}
