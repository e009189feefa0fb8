/* SPDX-License-Identifier: Apache-2.0 */
/* Checks named events: the table in a file, joining writes, text. */
#include <stdlib.h>
#include <string.h>

#include "coretap/named_event.h"
#include "support/named_elf.h"
#include "support/unit.h"

/* Writes an entry with its padding and returns its size. `kinds` has the kind of the event and those of its
 * arguments. */
static size_t put_entry(char *at, const char *kinds, const char *text)
{
    memset(at, 0, 8);
    memcpy(at, kinds, strlen(kinds));
    const size_t size = 8 + strlen(text) + 1;
    memcpy(at + 8, text, size - 8);
    memset(at + size, 0, 8);
    return (size + 7) / 8 * 8;
}

static int load(const void *section, size_t size, uint64_t claimed, struct ct_named_table **table)
{
    char path[40];
    uint8_t *file = malloc(NAMED_SECTION + size);
    assert_non_null(file);
    FILE *opened = test_file(file, named_elf_build(file, section, size, claimed), path);
    assert_non_null(opened);
    const int rc = ct_named_table_load(NULL, path, table);
    fclose(opened);
    free(file);
    return rc;
}

/* Makes a table with one entry for a text. */
static struct ct_named_table *table_of(const char *kinds, const char *text)
{
    char section[512];
    struct ct_named_table *table;
    const size_t size = put_entry(section, kinds, text);
    assert_int_equal(load(section, size, size, &table), CT_OK);
    return table;
}

TEST(entries_have_numbers)
{
    char section[256];
    struct ct_named_table *table;
    size_t count;
    size_t size = put_entry(section, "tip", "%d %s");
    memset(section + size, 0, 16); /* linkers insert this between two files */
    size += 16;
    size += put_entry(section + size, "vd", "speed");
    assert_int_equal(load(section, size, size, &table), CT_OK);
    const struct ct_named_entry *entries = ct_named_table_entries(table, &count);
    assert_int_equal(count, 2);
    assert_string_equal(entries[0].text, "%d %s");
    assert_int_equal(entries[0].number, 0xc000);
    assert_int_equal(entries[0].words, 3);
    assert_int_equal(entries[1].number, 0xc004);
    assert_int_equal(entries[1].kind, CT_NAMED_VALUE);
    assert_ptr_equal(ct_named_table_find(table, 0xc004), &entries[1]);
    assert_null(ct_named_table_find(table, 0xc001));
    assert_null(ct_named_table_find(table, 0x1c004));
    assert_string_equal(ct_named_table_string(table, NAMED_ADDR + NAMED_SECTION + 8), "%d %s");
    assert_null(ct_named_table_string(table, NAMED_ADDR - 1));
    ct_named_table_free(table);
}

TEST(damaged_sections_are_refused)
{
    static const struct {
        const char *bytes;
        size_t size;
        uint64_t claimed;
        int rc;
    } rows[] = {
        {"ti\0\0\0\0\0\0%d\0", 11, 11, CT_OK},
        {"ti\0\0\0\0\0\0%d", 10, 10, CT_ERR_FORMAT},       /* no NUL */
        {"ti\0\0\0\0\0\0", 8, 8, CT_ERR_FORMAT},           /* no text */
        {"xi\0\0\0\0\0\0%d\0", 11, 11, CT_ERR_FORMAT},     /* no such kind */
        {"t?\0\0\0\0\0\0%d\0", 11, 11, CT_ERR_FORMAT},     /* no such type */
        {"tiiiiiii%d\0", 11, 11, CT_ERR_FORMAT},           /* seven arguments */
        {"v\0\0\0\0\0\0\0speed\0", 14, 14, CT_ERR_FORMAT}, /* a value without one */
        {"bi\0\0\0\0\0\0span\0", 13, 13, CT_ERR_FORMAT},   /* a span with one */
        {"ti\0\0\0\0\0\0%d\0", 11, 12, CT_ERR_FORMAT},     /* longer than the file */
        {"ti\0\0\0\0\0\0%d\0", 11, UINT64_MAX - 8, CT_ERR_FORMAT},
        {"", 0, 0, CT_OK},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct ct_named_table *table = NULL;
        assert_int_equal(load(rows[i].bytes, rows[i].size, rows[i].claimed, &table), rows[i].rc);
        assert_int_equal(table != NULL, rows[i].rc == CT_OK);
        ct_named_table_free(table);
    }
    char *large = calloc(1, 0x20008);
    struct ct_named_table *table;
    assert_non_null(large);
    assert_int_equal(load(large, 0x20000, 0x20000, &table), CT_OK);
    ct_named_table_free(table);
    assert_int_equal(load(large, 0x20008, 0x20008, &table), CT_ERR_LIMIT);
    free(large);
}

static struct ct_event write_of(unsigned bits, uint64_t port, uint64_t value)
{
    return (struct ct_event){
        .type = CT_EVENT_SW, .a = CT_SW_STIMULUS, .b = (uint16_t)bits, .extra = port, .value = value};
}

static int take(struct ct_named_reader *reader, unsigned bits, uint64_t port, uint64_t value,
                struct ct_named_event *out)
{
    const struct ct_event event = write_of(bits, port, value);
    return ct_named_reader_take(reader, &event, out);
}

TEST(writes_nest_by_port)
{
    struct ct_named_table *table = table_of("tii", "%d %d");
    struct ct_named_reader *reader;
    struct ct_named_event e;
    assert_int_equal(ct_named_reader_new(NULL, table, &reader), CT_OK);
    assert_int_equal(take(reader, 32, 1, 5, &e), CT_NAMED_OTHER); /* belongs to no event */
    assert_int_equal(take(reader, 16, 1, 0xc001, &e), CT_NAMED_OTHER);
    assert_int_equal(take(reader, 16, 1, 0xc000, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 32, 1, 1, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 8, 1, 'x', &e), CT_NAMED_OTHER);
    assert_int_equal(take(reader, 32, 2, 9, &e), CT_NAMED_OTHER);
    assert_int_equal(take(reader, 16, 1, 0xc000, &e), CT_NAMED_PART); /* an interrupt */
    assert_int_equal(take(reader, 32, 1, 3, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 32, 1, (uint32_t)-4, &e), CT_NAMED_WHOLE);
    assert_int_equal(e.arguments[0].i, 3);
    assert_int_equal(e.arguments[1].i, -4);
    assert_int_equal(take(reader, 32, 1, 2, &e), CT_NAMED_WHOLE);
    assert_int_equal(e.arguments[0].i, 1);
    assert_int_equal(e.arguments[1].i, 2);
    assert_int_equal(ct_named_reader_cut(reader, &e), 0);
    ct_named_reader_free(reader);
    ct_named_table_free(table);
}

TEST(what_is_not_whole_is_told)
{
    struct ct_named_table *table = table_of("tdi", "%g %d");
    struct ct_named_reader *reader;
    struct ct_named_event e;
    char text[40];
    assert_int_equal(ct_named_reader_new(NULL, table, &reader), CT_OK);
    for (unsigned i = 0; i < CT_NAMED_OPEN; i++)
        assert_int_equal(take(reader, 16, i, 0xc000, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 32, 0, 0, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 32, 0, 0x40000000, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 32, 1, 0, &e), CT_NAMED_PART);
    assert_int_equal(take(reader, 16, 99, 0xc000, &e), CT_NAMED_WHOLE); /* one too many */
    assert_int_equal(e.port, 0);
    assert_int_equal(e.cut, 1);
    assert_int_equal(ct_named_event_text(&e, table, 0, text, sizeof text), 3);
    assert_string_equal(text, "2 ?");
    for (unsigned i = 1; i <= CT_NAMED_OPEN; i++) {
        assert_int_equal(ct_named_reader_cut(reader, &e), 1);
        assert_int_equal(e.port, i < CT_NAMED_OPEN ? i : 99);
        assert_int_equal(e.count, 0);
        assert_int_equal(e.cut, 1);
    }
    assert_int_equal(ct_named_reader_cut(reader, &e), 0);
    ct_named_reader_free(reader);
    ct_named_table_free(table);
}

/* Checks the text of an event with a format and arguments. */
static void expect_text(const char *kinds, const char *format, const union ct_named_argument *arguments,
                        const char *text)
{
    struct ct_named_table *table = table_of(kinds, format);
    size_t count;
    char got[700];
    struct ct_named_event e = {.entry = ct_named_table_entries(table, &count)};
    e.count = e.entry->count;
    if (e.count)
        memcpy(e.arguments, arguments, e.count * sizeof *arguments);
    assert_int_equal(ct_named_event_text(&e, table, 0, got, sizeof got), strlen(text));
    assert_string_equal(got, text);
    ct_named_table_free(table);
}

/* Formats and arguments that match give the output of printf. */
TEST(text_is_that_of_printf)
{
    static const char *const flags[] = {"", "-", "+", " ", "0", "#", "-+", "+0", "#0", "- "};
    static const char *const sizes[] = {"", "1", "12", ".0", ".3", "12.3", "3.12"};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const struct {
                const char *letter, *kinds;
                union ct_named_argument a;
            } rows[] = {
                {"d", "ti", {.i = -1234}},      {"lld", "tl", {.i = INT64_MIN}}, {"u", "tu", {.u = 1234}},
                {"llx", "tw", {.u = 0xabcdef}}, {"o", "tu", {.u = 8}},           {"X", "tu", {.u = 0}},
                {"f", "td", {.f = -1234.5678}}, {"e", "tf", {.f = 1e-9}},        {"g", "td", {.f = 1e300}},
                {"a", "td", {.f = 1}},
            };
            for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
                char format[40];
                char want[700];
                const char letter = rows[n].letter[strlen(rows[n].letter) - 1];
                if (strchr(flags[i], '#') && strchr("du", letter))
                    continue; /* undefined in C */
                snprintf(format, sizeof format, "<%%%s%s%s>", flags[i], sizes[k], rows[n].letter);
                if (strchr("fega", letter))
                    snprintf(want, sizeof want, format, rows[n].a.f);
                else if (rows[n].letter[0] == 'l')
                    snprintf(want, sizeof want, format, rows[n].a.u);
                else
                    snprintf(want, sizeof want, format, (unsigned)rows[n].a.u);
                expect_text(rows[n].kinds, format, &rows[n].a, want);
            }
        }
}

/* An argument that does not match is shown by its own type, and nothing is read that does not exist. */
TEST(odd_formats)
{
    const union ct_named_argument real = {.f = 1.5};
    const union ct_named_argument minus = {.i = -1};
    const union ct_named_argument wild = {.u = 0x1234};
    const union ct_named_argument text = {.u = NAMED_ADDR + NAMED_SECTION + 8};
    expect_text("td", "%d", &real, "1.5");
    expect_text("ti", "%f", &minus, "-1.000000");
    expect_text("ti", "%x %d", &minus, "ffffffff ?");
    expect_text("t", "%d %s", NULL, "? ?");
    expect_text("t", "100%", NULL, "100?");
    expect_text("t", "100%%", NULL, "100%");
    expect_text("tp", "%s", &wild, "0x1234");
    expect_text("tp", "%p", &wild, "0x1234");
    expect_text("tp", "<%4.2s>", &text, "<  <%>");
    expect_text("ti", "%n", &minus, "-1");
    expect_text("vf", "speed", &real, "speed = 1.5");
    expect_text("vi", "%d", &minus, "%d = -1");
    expect_text("b", "filter", NULL, "filter");
    expect_text(
        "ti", "%999999999999d", &minus,
        "                                                                                             "
        "    -1");
}
