/* SPDX-License-Identifier: Apache-2.0 */
/* Loads saved files, which are lines of words. Checks each word, because a file may contain anything. */
#include "coretap/analysis.h"

#include "analysis/saved.h"
#include "base/ctx.h"
#include "base/fnv.h"
#include "base/require.h"
#include "base/word_sum.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char prefix[] = "coretap-";

struct file {
    struct ct_load load; /* must be the first member */
    struct ct_analysis *part;
    const char *name, *text;
    size_t size, at; /* `at` is the offset behind the current line */
    size_t line;     /* number of the line, from 1 */
    const char *begin;
    size_t length;
    bool ended; /* the last line was read */
    int result;
};

/* ---- words ---- */

void ct_load_split(struct ct_load *load, size_t most)
{
    if (!load)
        return;
    const struct file *f = (const struct file *)load;
    const char *at = f->begin, *const end = f->begin + f->length;
    size_t count = 0;
    for (; at < end && count + 1 < most; count++) {
        const char *begin = at;
        while (at < end && *at != ' ')
            at++;
        load->words[count] = (struct ct_load_word){begin, (size_t)(at - begin)};
        at++;
    }
    if (at < end && count < most)
        load->words[count++] = (struct ct_load_word){at, (size_t)(end - at)};
    load->word_count = count;
}

/* Compares byte by byte: most comparisons fail at the first letter, so strlen and memcmp would cost more. */
static bool is(const struct ct_load_word *word, const char *text)
{
    size_t i = 0;
    while (i < word->size && text[i] && word->text[i] == text[i])
        i++;
    return i == word->size && !text[i];
}

int ct_load_is(const struct ct_load *load, size_t index, const char *text)
{
    if (!load || !text)
        return 0;
    return index < load->word_count && is(&load->words[index], text);
}

/* A number with at most so many digits, of any base up to 16, fits 64 bits. */
#define SHORT_NUMBER 15

/* Returns the value of a digit, or UINT_MAX. Uses a table, because a processor cannot predict whether the
 * next digit of an address is a letter. */
static unsigned digit_of(char c)
{
    static const uint8_t digits[UCHAR_MAX + 1] = {
        ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
        ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
    return digits[(uint8_t)c] - 1u;
}

/* Reads a number. Returns false when it is too large or not one. */
static bool read_long(const struct ct_load_word *word, unsigned base, uint64_t *value)
{
    for (size_t i = 0; i < word->size; i++) {
        const unsigned digit = digit_of(word->text[i]);
        if (digit >= base || __builtin_mul_overflow(*value, base, value) ||
            __builtin_add_overflow(*value, digit, value))
            return false;
    }
    return true;
}

static bool read_short(const struct ct_load_word *word, unsigned base, uint64_t *value)
{
    uint64_t number = 0;
    unsigned most = 0;
    for (size_t i = 0; i < word->size; i++) {
        const unsigned digit = digit_of(word->text[i]);
        most = digit > most ? digit : most;
        number = number * base + digit;
    }
    *value = number;
    return most < base;
}

int ct_load_number(const struct ct_load *load, size_t index, unsigned base, uint64_t *value)
{
    if (!load || !value)
        return 0;
    if (index >= load->word_count || base < 2 || base > 16)
        return 0;
    const struct ct_load_word *word = &load->words[index];
    *value = 0;
    if (word->size > SHORT_NUMBER)
        return read_long(word, base, value);
    return word->size > 0 && read_short(word, base, value);
}

int ct_load_bad(struct ct_load *load, const char *what)
{
    CT_REQUIRE(NULL, load, what);
    struct file *f = (struct file *)load;
    const struct ct_analysis_kind *kind = f->part->kind;
    f->result =
        ct_fail(f->part->ctx, CT_ERR_FORMAT, "%s:%zu: %s; the file was not loaded; write it again with '%s'",
                f->name, f->line, what, kind->writer);
    return f->result;
}

/* ---- captures ---- */

struct named {
    const char *name;
    size_t offset;
};

/* Returns the field of `captures` that the word at `index` names, or NULL when the word is not in `names`. */
static uint64_t *find(struct ct_load *load, size_t index, const struct named *names, size_t count,
                      struct ct_analysis_captures *captures)
{
    for (size_t i = 0; i < count; i++)
        if (ct_load_is(load, index, names[i].name))
            return (uint64_t *)((char *)captures + names[i].offset);
    return NULL;
}

/* Takes a line about captures. Returns 1, 0 when the line is about something else, or CT_ERR_FORMAT. */
static int take_captures(struct ct_load *load, struct ct_analysis_captures *captures)
{
    static const struct named numbers[] = {
        {"captures", offsetof(struct ct_analysis_captures, known)},
        {"damaged", offsetof(struct ct_analysis_captures, damaged)},
        {"unknown", offsetof(struct ct_analysis_captures, unknown)},
        {"failed", offsetof(struct ct_analysis_captures, failed)},
    };
    static const struct named kinds[] = {
        {"gaps", offsetof(struct ct_analysis_captures, losses.gaps)},
        {"overflows", offsetof(struct ct_analysis_captures, losses.overflows)},
        {"contradictions", offsetof(struct ct_analysis_captures, losses.contradictions)},
        {"bad_packets", offsetof(struct ct_analysis_captures, losses.bad_packets)},
        {"lost_bytes", offsetof(struct ct_analysis_captures, losses.lost_bytes)},
        {"no_access", offsetof(struct ct_analysis_captures, losses.no_access)},
    };
    const bool lost = ct_load_is(load, 0, "lost");
    struct ct_analysis_captures more = {0};
    uint64_t *number = lost ? find(load, 1, kinds, sizeof kinds / sizeof *kinds, &more)
                            : find(load, 0, numbers, sizeof numbers / sizeof *numbers, &more);
    if (!number && !lost)
        return 0;
    if (!number || load->word_count != (lost ? 3u : 2u) ||
        !ct_load_number(load, load->word_count - 1, 10, number))
        return ct_load_bad(load,
                           lost ? "the line is not 'lost KIND N', where KIND is gaps, overflows, "
                                  "contradictions, bad_packets, lost_bytes or no_access"
                                : "the line is not 'captures N', 'damaged N', 'unknown N' or 'failed N'");
    ct_captures_add(captures, &more);
    return 1;
}

/* ---- lines ---- */

/* Advances to the next line. Returns false at the end of the file. */
static bool next_line(struct file *f)
{
    if (f->at >= f->size)
        return false;
    const char *newline = memchr(f->text + f->at, '\n', f->size - f->at);
    const size_t end = newline ? (size_t)(newline - f->text) : f->size;
    f->begin = f->text + f->at;
    f->length = end - f->at;
    f->at = end + 1;
    f->line++;
    ct_load_split(&f->load, CT_LOAD_WORDS);
    return true;
}

const char *ct_load_rest(const struct ct_load *load, const char **end)
{
    const struct file *f = (const struct file *)load;
    *end = f->text + f->size;
    return f->at < f->size ? f->text + f->at : *end;
}

void ct_load_skip(struct ct_load *load, const char *to, size_t lines)
{
    struct file *f = (struct file *)load;
    f->at = (size_t)(to - f->text);
    f->line += lines;
}

/* Returns the sum over all bytes before the current line. */
static uint64_t find_sum(const struct file *f)
{
    const size_t size = (size_t)(f->begin - f->text);
    struct ct_word_sum words = {0};
    if (!ct_saved_has_words(f->part->kind, f->load.version))
        return ct_fnv(CT_FNV_BEGIN, f->text, size);
    ct_word_sum_add(&words, f->text, size);
    return ct_word_sum_end(&words);
}

static int check_end(struct file *f)
{
    uint64_t sum;
    const bool good = f->load.word_count == 2 && ct_load_number(&f->load, 1, 16, &sum);
    if (!good || sum != find_sum(f))
        return ct_load_bad(&f->load,
                           "the checksum does not match, because the file was changed after it was written");
    if (f->at != f->size)
        return ct_load_bad(&f->load, "the file continues after its line 'end'");
    f->ended = true;
    return CT_OK;
}

/* Returns whether the line may be one that every kind of file has. Checks only the first letter, because most
 * lines are not. */
static bool may_be_of_captures(char first)
{
    static const char letters[] = "cdufl"; /* captures, damaged, unknown, failed, lost, capture, failure */
    return memchr(letters, first, sizeof letters - 1) != NULL;
}

int ct_load_line(struct ct_load *load)
{
    if (!load)
        return 0;
    struct file *f = (struct file *)load;
    const struct ct_analysis_kind *kind = f->part->kind;
    while (!f->result && !f->ended && next_line(f)) {
        if (!f->length)
            continue;
        if (load->version >= kind->checked && ct_load_is(load, 0, "end")) {
            check_end(f);
            return 0;
        }
        const bool tells = load->version >= kind->told && may_be_of_captures(*f->begin);
        int taken = tells ? take_captures(load, &f->part->captures) : 0;
        if (!taken && tells)
            taken = ct_load_run(load, f->part);
        if (!taken)
            return 1;
        if (taken < 0)
            f->result = taken;
    }
    return 0;
}

int ct_analysis_is_saved(const struct ct_analysis_kind *kind, const void *data, size_t size)
{
    const size_t name = kind ? strlen(kind->name) : 0;
    const size_t head = sizeof prefix - 1;
    const char *text = data;
    if (!kind)
        return data && size > head && memcmp(text, prefix, head) == 0;
    return name && data && size > head + name && memcmp(text, prefix, head) == 0 &&
           memcmp(text + head, kind->name, name) == 0 && text[head + name] == ' ';
}

/* Returns whether a file is a shard of a capture, which has a format of its own (coretap/shard.h). */
static bool is_shard(const struct file *f)
{
    static const char shard[] = "coretap-shard ";
    return f->size >= sizeof shard - 1 && memcmp(f->text, shard, sizeof shard - 1) == 0;
}

static int read_start(struct file *f)
{
    const struct ct_analysis_kind *kind = f->part->kind;
    char what[160];
    uint64_t version;
    f->line = 0;
    if (!next_line(f)) {
        f->line = 1;
        return ct_load_bad(&f->load, "the file is empty");
    }
    const bool fits = ct_analysis_is_saved(kind, f->text, f->size);
    if (!fits && is_shard(f))
        return ct_fail(f->part->ctx, CT_ERR_FORMAT,
                       "%s: this is a part of a capture, as --shard writes it, and not a result; the file "
                       "was not loaded; join the parts with coretap-mpi",
                       f->name);
    snprintf(what, sizeof what, "this is not a %s file, because its first line is not 'coretap-%s %u'",
             kind->name, kind->name, kind->version);
    if (!fits || f->load.word_count != 2)
        return ct_load_bad(&f->load, what);
    snprintf(what, sizeof what, "the %s file does not have a version from 1 to %u", kind->name,
             kind->version);
    if (!ct_load_number(&f->load, 1, 10, &version) || !version || version > kind->version)
        return ct_load_bad(&f->load, what);
    f->load.version = (unsigned)version;
    if (version < kind->told)
        f->part->captures.unknown = 1;
    return CT_OK;
}

/* Loads into an empty part first, so that nothing is added from an invalid file. */
int ct_analysis_load(struct ct_analysis *into, const char *name, const void *data, size_t size)
{
    CT_REQUIRE_OF(into, name, data || !size);
    struct file f = {.name = name, .text = data, .size = size};
    int rc = ct_analysis_part(into, &f.part);
    if (rc)
        return rc;
    rc = read_start(&f);
    if (!rc)
        rc = into->kind->load(f.part, &f.load);
    if (!rc)
        rc = f.result;
    if (!rc && f.load.version >= into->kind->checked && !f.ended)
        rc = ct_load_bad(&f.load, "the file is truncated: its last line is not 'end'");
    if (!rc)
        rc = ct_analysis_merge(into, f.part);
    ct_analysis_free(f.part);
    return rc;
}
