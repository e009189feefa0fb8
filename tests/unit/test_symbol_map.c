/* SPDX-License-Identifier: Apache-2.0 */
/* Checks symbol maps: the rows that name generated code, also when they overlap, or are damaged. */
#include <sys/stat.h>

#include "coretap/programs.h"
#include "symbols_fixture.h"

static int begin(void **state)
{
    static struct symbols_fixture f;
    *state = &f;
    return symbols_begin(&f, "/tmp/coretap-map");
}

static int finish(void **state)
{
    return symbols_finish(*state);
}

FIXTURE(struct symbols_fixture, begin, finish);

static void load(struct symbols_fixture *f, const void *text, size_t size)
{
    symbols_write(f, text, size);
    assert_int_equal(ct_symbols_load_map(f->ctx, f->path, &f->symbols), CT_OK);
}

static void load_text(struct symbols_fixture *f, const char *text)
{
    load(f, text, strlen(text));
}

TEST_WITH(rows_may_be_unsorted_and_have_any_line_end, f)
{
    char text[256];
    load_text(f, "5500002000 10 last of file.js:3\r\n0x1000 0x8 first\nFFFFFFFFFFFFFFF0 f _Z3foov");
    assert_string_equal(f->said, "");
    assert_string_equal(name_at(f, 0xffc), MISSING);
    assert_string_equal(name_at(f, 0x1004), "first");
    assert_string_equal(name_at(f, 0x1008), MISSING);
    assert_string_equal(name_at(f, UINT64_C(0x550000200c)), "last of file.js:3");
    assert_string_equal(name_at(f, UINT64_MAX - 4), "foo()");
    assert_string_equal(ct_symbols_describe(f->symbols, 0x1004, text, sizeof text), "first+0x4");
}

TEST_WITH(the_last_of_overlapping_rows_counts, f)
{
    load_text(f, "100 100 old\n180 100 new\n120 10 inner\n"
                 "1000 100 small\nff0 200 large\n"
                 "2000 10 first\n2000 20 second\n");
    assert_string_equal(name_at(f, 0x11c), "old");
    assert_string_equal(name_at(f, 0x120), "inner");
    assert_string_equal(name_at(f, 0x130), "old");
    assert_string_equal(name_at(f, 0x180), "new");
    assert_string_equal(name_at(f, 0x27c), "new");
    assert_string_equal(name_at(f, 0x280), MISSING);
    assert_string_equal(name_at(f, 0x1080), "large");
    assert_string_equal(name_at(f, 0x11ec), "large");
    assert_string_equal(name_at(f, 0x11f0), MISSING);
    assert_string_equal(name_at(f, 0x2000), "second");
}

/* Compares with the rule itself: of the rows with an address the last one counts. */
TEST_WITH(any_rows_are_as_the_rule_says, f)
{
    enum {
        ROWS = 40,
        SPACE = 256
    };
    char text[ROWS * 32], *at, want[16];
    srand(1);
    for (int round = 0; round < 200; round++) {
        int owner[SPACE];
        memset(owner, -1, sizeof owner);
        at = text;
        for (int i = 0; i < ROWS; i++) {
            const int from = rand() % (SPACE / 2) * 2, size = 1 + rand() % (round % 2 ? 8 : SPACE - from);
            at += sprintf(at, "%x %x f%d\n", from, size, i);
            for (int k = from; k < from + size && k < SPACE; k++)
                owner[k] = i;
        }
        load_text(f, text);
        for (int i = 0; i < SPACE; i++) {
            snprintf(want, sizeof want, "f%d", owner[i]);
            assert_string_equal(name_at(f, (uint64_t)i), owner[i] < 0 ? MISSING : want);
        }
    }
}

TEST_WITH(damaged_lines_are_left_out_and_the_first_is_named, f)
{
    static const char *const damaged[] = {"",          "x",
                                          "100",       "100 8",
                                          "100 8 ",    "-100 8 name",
                                          " 100 8",    "100 name",
                                          "100\t8 a",  "fffffffffffffffff 8 name",
                                          "10 g name", "ffffffffffffff00 101 name"};
    char text[256];
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        snprintf(text, sizeof text, "200 8 other\n%s\n300 8 third\n", damaged[i]);
        load_text(f, text);
        snprintf(text, sizeof text, "%s:2: this is not a row of a symbol map", f->path);
        assert_non_null(strstr(f->said, text));
        assert_string_equal(name_at(f, 0x100), MISSING);
        assert_string_equal(name_at(f, 0x200), "other");
        assert_string_equal(name_at(f, 0x304), "third");
    }
    load(f, "200 8 other\n100 8 a\0b\n\377\376\n", 24);
    assert_non_null(strstr(f->said, ":2: this is not"));
    assert_non_null(strstr(f->said, "the first of 2 such lines"));
}

TEST_WITH(rows_without_code_and_files_without_rows_are_told, f)
{
    char text[256];
    load_text(f, "100 8 a\n200 0 b\n300 0 c\n");
    snprintf(text, sizeof text, "%s:2: this row has the size 0; it is the first of 2 such rows", f->path);
    assert_non_null(strstr(f->said, text));
    assert_string_equal(name_at(f, 0x200), MISSING);
    load_text(f, "");
    assert_non_null(strstr(f->said, "the symbol map has no row"));
}

TEST_WITH(names_of_any_length_and_bytes_are_printable, f)
{
    char text[20032];
    memset(text, 'n', sizeof text);
    memcpy(text, "100 8 ", 6);
    text[sizeof text - 1] = '\0';
    load_text(f, text);
    assert_int_equal(strlen(name_at(f, 0x100)), sizeof text - 7);
    load_text(f, "100 8 a\033[31m\n");
    assert_string_equal(name_at(f, 0x100), "a\\x1b[31m");
}

TEST_WITH(a_map_that_cannot_be_read_is_an_error, f)
{
    struct ct_symbols *symbols;
    assert_int_equal(ct_symbols_load_map(f->ctx, "/nowhere/perf-1.map", &symbols), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "/nowhere/perf-1.map: the symbol map cannot be read"));
    assert_int_equal(ct_symbols_load_map(f->ctx, "/", &symbols), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "it is not a regular file"));
}

/* A map of one capture must not name the code of the next one. */
TEST_WITH(the_map_of_a_capture_names_only_its_code, f)
{
    struct ct_programs *programs;
    struct ct_program_where where;
    const struct ct_program_place *places;
    size_t count;
    const char *maps[] = {f->path};
    const struct ct_capture capture = {.path = "capture", .symbol_map_count = 1, .symbol_maps = maps};
    load_text(f, "100 8 made\n");
    assert_int_equal(ct_programs_new(f->ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_programs_add_capture(programs, &capture), CT_OK);
    assert_int_equal(ct_programs_where(programs, 0x104, &where), CT_OK);
    assert_string_equal(where.function, "made");
    assert_int_equal(where.offset, 4);
    ct_programs_next_capture(programs);
    assert_int_equal(ct_programs_where(programs, 0x104, &where), CT_OK);
    assert_null(where.function);
    assert_int_equal(ct_programs_places(programs, &places, &count), CT_OK);
    assert_int_equal(count, 0);
    assert_int_equal(ct_programs_add_symbol_map(programs, f->path), CT_OK); /* now of all captures */
    ct_programs_next_capture(programs);
    assert_int_equal(ct_programs_places(programs, &places, &count), CT_OK);
    assert_int_equal(count, 1);
    ct_programs_free(programs);
}

TEST_WITH(a_capture_without_its_map_is_read_with_a_warning, f)
{
    struct ct_programs *programs;
    const char *maps[] = {"/nowhere/symbols.map"};
    const struct ct_capture capture = {.path = "capture", .symbol_map_count = 1, .symbol_maps = maps};
    assert_int_equal(ct_programs_new(f->ctx, NULL, &programs), CT_OK);
    assert_int_equal(ct_programs_add_capture(programs, &capture), CT_OK);
    assert_non_null(strstr(f->said, "capture: generated code has no names: /nowhere/symbols.map"));
    ct_programs_free(programs);
}
