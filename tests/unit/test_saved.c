/* SPDX-License-Identifier: Apache-2.0 */
/* Checks lines of saved files: lines are written whole wherever the buffer ends, and only numbers are read as
 * numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/analysis.h"
#include "support/output.h"
#include "support/unit.h"

enum {
    LINES = 900, /* the last ones are longer than the buffer of a file */
    STEP = 101,  /* letters by which a line is longer than the one before */
};

/* ---- numbers ---- */

static int read_number(const char *word, unsigned base, uint64_t *value)
{
    const struct ct_load line = {.words = {{word, strlen(word)}}, .word_count = 1};
    return ct_load_number(&line, 0, base, value);
}

TEST(numbers)
{
    uint64_t value;
    assert_true(read_number("18446744073709551615", 10, &value) && value == UINT64_MAX);
    assert_true(read_number("ffffffffffffffff", 16, &value) && value == UINT64_MAX);
    assert_true(read_number("0000000000000000000000000000012", 10, &value) && value == 12);
    assert_false(read_number("18446744073709551616", 10, &value)); /* the last digit is too large */
    assert_false(read_number("18446744073709551620", 10, &value)); /* the digit before it is */
    assert_false(read_number("99999999999999999999", 10, &value));
    assert_false(read_number("10000000000000000", 16, &value));
    assert_false(read_number("", 10, &value));
    assert_false(read_number("1a", 10, &value));
    assert_false(read_number("A", 16, &value));
    assert_false(read_number("2", 2, &value));
}

/* ---- lines ---- */

static int put_lines(struct ct_save *to, int apart)
{
    char *letters = malloc((size_t)LINES * STEP + 1);
    assert_non_null(letters);
    memset(letters, 'x', (size_t)LINES * STEP);
    for (int i = 0; i < LINES; i += apart)
        ct_save_line(to, "line %d %.*s", i, i * STEP, letters);
    free(letters);
    return CT_OK;
}

static int save_lines(struct ct_analysis *analysis, struct ct_save *to)
{
    (void)analysis;
    return put_lines(to, 1);
}

/* Saves lines of all lengths, but few: 1 MB, which is loaded hundreds of times. */
static int save_few_lines(struct ct_analysis *analysis, struct ct_save *to)
{
    (void)analysis;
    return put_lines(to, 40);
}

TEST(lines)
{
    const struct ct_analysis_kind kind = {
        .size = sizeof kind, .name = "lines", .version = 1, .save = save_lines};
    struct ct_analysis analysis = {.kind = &kind};
    struct output text = {0};
    assert_int_equal(ct_analysis_save(&analysis, output_append, &text), CT_OK);
    char *at = strstr(text.text, "line 0 ");
    for (int i = 0; i < LINES; i++) {
        char head[32];
        const int begin = snprintf(head, sizeof head, "line %d ", i);
        assert_non_null(at);
        assert_int_equal(strncmp(at, head, (size_t)begin), 0);
        assert_int_equal(strspn(at + begin, "x"), (size_t)i * STEP);
        at += begin + i * STEP;
        assert_int_equal(*at++, '\n');
    }
    assert_int_equal(strncmp(at, "end ", 4), 0);
    output_free(&text);
}

/* ---- sums ---- */

static int make_part(const struct ct_analysis *whole, struct ct_analysis **part)
{
    *part = calloc(1, sizeof **part);
    assert_non_null(*part);
    (*part)->kind = whole->kind;
    return CT_OK;
}

static int merge_nothing(struct ct_analysis *into, struct ct_analysis *from)
{
    (void)into, (void)from;
    return CT_OK;
}

static int load_lines(struct ct_analysis *part, struct ct_load *from)
{
    (void)part;
    while (ct_load_line(from))
        assert_true(ct_load_is(from, 0, "line"));
    return CT_OK;
}

static void free_part(struct ct_analysis *part)
{
    free(part);
}

/* Kinds whose files have a sum over bytes (1), and over words (2). */
#define KIND(VERSION)                                                                                        \
    {                                                                                                        \
        .size = sizeof(struct ct_analysis_kind), .name = "lines", .writer = "a test", .version = (VERSION),  \
        .part = make_part, .merge = merge_nothing, .save = save_few_lines, .load = load_lines,               \
        .free = free_part, .words = 2                                                                        \
    }

static struct output save(const struct ct_analysis_kind *kind)
{
    struct ct_analysis analysis = {.kind = kind};
    struct output saved = {0};
    assert_int_equal(ct_analysis_save(&analysis, output_append, &saved), CT_OK);
    return saved;
}

static int load(const struct ct_analysis_kind *kind, const char *text, size_t size)
{
    struct ct_analysis analysis = {.kind = kind};
    return ct_analysis_load(&analysis, "lines", text, size);
}

/* Where a file is written in pieces, its sum is that of all of it; and every change is found. */
TEST(sums)
{
    const struct ct_analysis_kind kinds[] = {KIND(1), KIND(2)};
    for (int i = 0; i < 2; i++) {
        struct output saved = save(&kinds[i]);
        char *text = saved.text;
        const size_t size = saved.size;
        assert_int_equal(load(&kinds[1], text, size), CT_OK);
        const size_t sum = size - sizeof "end 0123456789abcdef"; /* the line break before it */
        for (size_t at = sum - 40; at < sum; at++) {
            for (unsigned bit = 0; bit < 4; bit++) { /* x becomes no line break by one of these */
                text[at] ^= (char)(1 << bit);
                assert_int_equal(load(&kinds[1], text, size), CT_ERR_FORMAT);
                text[at] ^= (char)(1 << bit);
            }
        }
        const size_t middle = (size_t)(strstr(text, "line 400 ") - text) + 9;
        for (size_t at = middle; at < middle + 50; at++) { /* the same bit of two words one block apart */
            text[at] ^= 1;
            text[at + 32] ^= 1;
            assert_int_equal(load(&kinds[1], text, size), CT_ERR_FORMAT);
            text[at] ^= 1;
            text[at + 32] ^= 1;
        }
        assert_int_equal(load(&kinds[1], text, size), CT_OK);
        output_free(&saved);
    }
}

/* A kind that was compiled before sums were over words writes and reads those over bytes. */
TEST(older_kind)
{
    const struct ct_analysis_kind kind = KIND(2);
    struct ct_analysis_kind older = kind;
    older.size = offsetof(struct ct_analysis_kind, words);
    struct output saved = save(&older);
    assert_int_equal(load(&older, saved.text, saved.size), CT_OK);
    assert_int_equal(load(&kind, saved.text, saved.size), CT_ERR_FORMAT);
    output_free(&saved);
}
