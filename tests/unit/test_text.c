/* SPDX-License-Identifier: Apache-2.0 */
/* Compares numbers and atoms as text with printf, and with the same written one at a time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "support/rng.h"
#include "format/text.h"
#include "support/unit.h"

static struct ct_text text;

static void expect(const char *wanted)
{
    text.data[text.used] = 0;
    assert_string_equal(text.data, wanted);
    text.used = 0;
}

/* Checks all widths, and both sides of each power of ten and of sixteen. */
TEST(numbers)
{
    char wanted[32];
    struct rng rng = {1};
    uint64_t ten = 1;
    for (unsigned i = 0; i < 20000; i++) {
        uint64_t value = rng_wide(&rng, 64);
        if (i < 60) {
            value = ten - 1 + i % 3;
            ten *= i % 3 == 2 ? 10 : 1;
        } else if (i < 260) {
            value = (UINT64_C(1) << (i - 60) % 64) - (i & 1);
        }
        snprintf(wanted, sizeof wanted, "%" PRIu64, value);
        ct_text_dec(&text, value);
        expect(wanted);
        snprintf(wanted, sizeof wanted, "%" PRIx64, value);
        ct_text_hex(&text, value);
        expect(wanted);
    }
}

TEST(fixed_width)
{
    char wanted[32];
    struct rng rng = {3};
    for (unsigned i = 0; i < 2000; i++) {
        const int digits = 1 + (int)(i % 16);
        const uint64_t value = rng_next(&rng) >> (64 - 4 * digits);
        snprintf(wanted, sizeof wanted, "%0*" PRIx64, digits, value);
        ct_text_hex_digits(&text, value, (unsigned)digits);
        expect(wanted);
    }
}

/* Offsets increase by a little, jump to another width, and return. */
TEST(offsets)
{
    char wanted[32];
    struct rng rng = {4};
    uint64_t value = 0;
    for (unsigned i = 0; i < 200000; i++) {
        value = i % 1000 ? value + rng_below(&rng, 20) : rng_wide(&rng, 63);
        snprintf(wanted, sizeof wanted, "%" PRIu64, value);
        ct_text_offset(&text, value);
        expect(wanted);
    }
}

TEST(atoms)
{
    struct rng rng = {2};
    for (unsigned i = 0; i < 2000; i++) {
        char wanted[33] = {0};
        const unsigned count = i % 33;
        const uint32_t bits = (uint32_t)rng_next(&rng);
        for (unsigned at = 0; at < count; at++)
            wanted[at] = bits >> at & 1 ? 'E' : 'N';
        ct_text_atoms(&text, bits, count);
        expect(wanted);
    }
}

/* A word is copied whole, and its kind is counted. */
TEST(words)
{
    static const struct ct_word names[] = {CT_WORD("a64"), CT_WORD("i_addr_ctxt_l_64is1")};
    ct_text_word(&text, &names[0]);
    ct_text_word(&text, &names[1]);
    expect("a64i_addr_ctxt_l_64is1");
}

/* Strings with each kind of character, and their escaped forms. */
static const struct {
    const char *text, *printable, *csv, *json;
} samples[] = {
    {"plain \xc3\xa4\xe2\x82\xac", "plain \xc3\xa4\xe2\x82\xac", "plain \xc3\xa4\xe2\x82\xac",
     "plain \xc3\xa4\xe2\x82\xac"},
    {"a\nb\x1b[2J\x7f", "a\\x0ab\\x1b[2J\\x7f", "a\\x0ab\\x1b[2J\\x7f", "a\\u000ab\\u001b[2J\\u007f"},
    {"\xc2\x9b"
     "1m",
     "\\xc2\\x9b1m", "\\xc2\\x9b1m", "\\u009b1m"},
    {"\xe2\x80\xae\xe2\x80\xa8\xd8\x9c", "\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xd8\\x9c",
     "\\xe2\\x80\\xae\\xe2\\x80\\xa8\\xd8\\x9c", "\\u202e\\u2028\\u061c"},
    {"\x9b\xff\xc0\xaf\xed\xa0\x80", "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80",
     "\\x9b\\xff\\xc0\\xaf\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd\\ufffd"},
    {"say \"\\x\"", "say \"\\x\"", "say \"\"\\x\"\"", "say \\\"\\\\x\\\""},
    {"cut \xe2\x82", "cut \\xe2\\x82", "cut \\xe2\\x82", "cut \\ufffd\\ufffd"},
};

TEST(escapes)
{
    struct ct_arena arena = {0};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        char room[CT_PRINTABLE_ROOM(64)];
        ct_escape(samples[i].text, room);
        assert_string_equal(room, samples[i].printable);
        assert_string_equal(ct_printable(&arena, samples[i].text), samples[i].printable);
        assert_int_equal(ct_is_printable(samples[i].text),
                         strcmp(samples[i].text, samples[i].printable) == 0);
        ct_text_printable(&text, samples[i].text);
        expect(samples[i].printable);
        ct_text_csv(&text, samples[i].text);
        expect(samples[i].csv);
        ct_text_json(&text, samples[i].text);
        expect(samples[i].json);
    }
    ct_arena_free(&arena);
}

/* Every string can be read back from what ct_escape_to_read wrote, which is printable. */
TEST(escaped_and_back)
{
    struct rng rng = {2};
    for (unsigned i = 0; i < 2000; i++) {
        char name[33] = "", written[CT_PRINTABLE_ROOM(sizeof name)];
        for (unsigned k = 0; k < i % 32; k++)
            name[k] = i & 1 ? (char)(1 + rng_below(&rng, 255)) : "\\x41 \xc3"[rng_below(&rng, 6)];
        ct_escape_to_read(name, written);
        assert_true(ct_is_printable(written));
        assert_true(ct_unescape(written));
        assert_string_equal(written, name);
    }
    char zero[] = "a\\x00b";
    assert_false(ct_unescape(zero));
}

/* A string is longer than the room between two checks. */
TEST(long_text)
{
    static char name[3 * CT_TEXT_SIZE];
    struct ct_text kept;
    memset(name, '\x1b', sizeof name - 1);
    ct_text_init(&kept, NULL);
    ct_text_printable(&kept, name);
    assert_true(ct_text_flush(&kept));
    assert_int_equal(kept.kept_size, 4 * (sizeof name - 1));
    free(kept.kept);
}
