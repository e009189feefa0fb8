/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names of addresses in FRACTAL's event logs, and reports of logs. */
#include <stdio.h>
#include <string.h>

#include "coretap/fractal_names.h"
#include "coretap/fractal_report.h"
#include "elf_build.h"
#include "fractal_log/label.h"
#include "support/file_fixture.h"
#include "support/output.h"
#include "support/unit.h"

#define MAIN UINT64_C(0x400000)

/* Regions are found by address alone. The name of addresses without a region is the last one. */
TEST(regions)
{
    struct ct_fractal_names *names;
    size_t count;
    assert_int_equal(ct_fractal_names_new(NULL, NULL, &names), CT_OK);
    assert_int_equal(ct_fractal_names_at(names, 0)->kind, CT_FRACTAL_ELSEWHERE);
    assert_int_equal(ct_fractal_names_region(names, 0x4000, 0x5000, "[stack]"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0x1000, 0x2000, "a\033b"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 2, 1, "backwards"), CT_ERR_ARG);
    assert_string_equal(ct_fractal_names_at(names, 0x4fff)->text, "[stack]");
    assert_string_equal(ct_fractal_names_at(names, 0x1000)->text, "a\\x1bb");
    assert_int_equal(ct_fractal_names_at(names, 0x1000)->kind, CT_FRACTAL_REGION);
    assert_int_equal(ct_fractal_names_at(names, 0x2000)->kind, CT_FRACTAL_ELSEWHERE);
    const struct ct_fractal_name *all = ct_fractal_names_all(names, &count);
    assert_int_equal(count, 3);
    assert_ptr_equal(ct_fractal_names_at(names, 0x2000), &all[2]);
    assert_null(ct_fractal_names_find(names, "[stack]", 0));
    ct_fractal_names_free(names);
}

/* An inner region is found where it is, and the outer one on both sides. A region that grows is still the
 * same. */
TEST(nested_regions)
{
    struct ct_fractal_names *names;
    size_t count;
    assert_int_equal(ct_fractal_names_new(NULL, NULL, &names), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0x1000, 0x9000, "[mmap]"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0x3000, 0x5000, "[file]"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0xa000, 0xb000, "[heap]"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0xa000, 0xc000, "[heap]"), CT_OK);
    assert_int_equal(ct_fractal_names_region(names, 0xa000, 0xa800, "[heap]"), CT_OK);
    assert_string_equal(ct_fractal_names_at(names, 0x2fff)->text, "[mmap]");
    assert_string_equal(ct_fractal_names_at(names, 0x3000)->text, "[file]");
    assert_string_equal(ct_fractal_names_at(names, 0x5000)->text, "[mmap]");
    assert_string_equal(ct_fractal_names_at(names, 0xbfff)->text, "[heap]");
    assert_int_equal(ct_fractal_names_at(names, 0xc000)->kind, CT_FRACTAL_ELSEWHERE);
    ct_fractal_names_all(names, &count);
    assert_int_equal(count, 4);
    ct_fractal_names_free(names);
}

/* Checks the functions of a program that is moved, and a program that does not exist. */
TEST(program)
{
    static const struct test_symbol symbols[] = {
        {.name = "main", .value = MAIN, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
        {.name = "work", .value = MAIN + 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
        {.name = "leaf", .value = MAIN + 0x30, .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    };
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    char elf[40];
    elf64_build(file, symbols, 3);
    FILE *opened = test_file(file, ELF_SIZE, elf);
    assert_non_null(opened);
    const uint64_t bias = 0x10000000;
    struct ct_fractal_names_options options = {.size = sizeof options, .program = elf, .bias = &bias};
    struct ct_fractal_names *names;
    uint64_t code, end, moved_code, moved_end;
    assert_int_equal(ct_fractal_names_new(NULL, &options, &names), CT_OK);
    assert_int_equal(ct_fractal_names_extent(names, &code, &end), CT_OK);
    assert_int_equal(code, bias + MAIN);
    assert_int_equal(ct_fractal_names_find(names, "main", 0)->lo, bias + MAIN);
    assert_string_equal(ct_fractal_names_at(names, bias + MAIN + 0x2f)->text, "work"); /* to the next one */
    assert_null(ct_fractal_names_find(names, "main", 1));                              /* no section */
    assert_int_equal(ct_fractal_names_region(names, 0, bias, "low"), CT_OK);
    assert_int_equal(ct_fractal_names_move(names, 0x1000), CT_OK);
    assert_string_equal(ct_fractal_names_at(names, bias + MAIN + 0x1000)->text, "main");
    assert_int_equal(ct_fractal_names_at(names, bias + MAIN + 0x1000)->kind, CT_FRACTAL_FUNCTION);
    assert_string_equal(ct_fractal_names_at(names, 0)->text, "low");
    assert_int_equal(ct_fractal_names_extent(names, &moved_code, &moved_end), CT_OK);
    assert_int_equal(moved_code - code, 0x1000);
    assert_int_equal(moved_end - end, 0x1000);
    ct_fractal_names_free(names);
    fclose(opened);
    options.program = "/nowhere/at all";
    assert_int_equal(ct_fractal_names_new(NULL, &options, &names), CT_ERR_IO);
    assert_null(names);
}

/* Writes a log that names its program, a bias, two regions with the same name and a point. */
static void write_log(void)
{
    const struct ct_fractal_log_info info = {
        .clock_hz = 100, .fields = CT_FRACTAL_FIELD_ALL, .text = "program=/opt/canny\nbias=0x100000\n"};
    const struct ct_fractal_event event = {.time = 1, .va = 0x7000, .point = CT_FRACTAL_NO_POINT};
    struct ct_fractal_writer *w;
    assert_int_equal(ct_fractal_writer_new(NULL, path, &info, &w), CT_OK);
    assert_int_equal(ct_fractal_writer_add(w, &event, 1, 0), CT_OK);
    assert_int_equal(ct_fractal_writer_text(w, "point=1 0x100040 step\nregion=0x9000..0xa000 [mmap]\n"
                                               "region=0x7000..0x8000 [mmap]\nregion=0x5..0x5 [none]\n"),
                     CT_OK);
    assert_int_equal(ct_fractal_writer_close(w), CT_OK);
}

TEST(log_places)
{
    char name[CT_FRACTAL_LOG_PROGRAM];
    struct ct_fractal_log *log;
    struct ct_fractal_event event;
    struct ct_fractal_place place;
    write_log();
    assert_int_equal(ct_fractal_log_open(NULL, path, &log), CT_OK);
    while (ct_fractal_reader_next(ct_fractal_log_reader(log), &event, 1))
        continue;
    assert_int_equal(ct_fractal_log_place(log, &event, &place), CT_ERR_ARG); /* it has no names */
    assert_int_equal(ct_fractal_log_program(log, name), CT_OK);
    assert_string_equal(name, "canny");
    assert_int_equal(ct_fractal_log_name(log, NULL), CT_OK);
    assert_int_equal(ct_fractal_log_name(log, NULL), CT_ERR_ARG);
    assert_int_equal(ct_fractal_log_bias(log), 0x100000);
    event = (struct ct_fractal_event){.va = 0x7040, .point = CT_FRACTAL_NO_POINT};
    assert_int_equal(ct_fractal_log_place(log, &event, &place), CT_OK);
    assert_string_equal(place.name, "[mmap]");
    assert_string_equal(place.area, "[mmap] 2"); /* in the order of the log */
    assert_int_equal(place.offset, 0x40);
    assert_null(place.point);
    event = (struct ct_fractal_event){.va = 0x100040, .point = 1};
    assert_int_equal(ct_fractal_log_place(log, &event, &place), CT_OK);
    assert_int_equal(place.kind, CT_FRACTAL_ELSEWHERE);
    assert_null(place.area);
    assert_string_equal(place.point, "step");
    assert_int_equal(place.point_offset, 0x40);
    ct_fractal_log_free(log);
}

TEST(report)
{
    static const char *const begins[] = {
        [CT_FRACTAL_REPORT_TEXT] = "range ",
        [CT_FRACTAL_REPORT_CSV] = "time,va,pa,op,",
        [CT_FRACTAL_REPORT_HTML] = "<!DOCTYPE html>",
        [CT_FRACTAL_REPORT_SVG_TIMELINE] = "<svg ",
        [CT_FRACTAL_REPORT_SVG_PAGES] = "<svg ",
        [CT_FRACTAL_REPORT_SVG_LINES] = "<svg ",
        [CT_FRACTAL_REPORT_PERFETTO] = "{\"displayTimeUnit\"",
        [CT_FRACTAL_REPORT_SVG_SETS] = "<svg ",
    };
    const unsigned formats = sizeof begins / sizeof *begins;
    struct ct_fractal_log *log;
    struct ct_fractal_report *r;
    write_log();
    assert_int_equal(ct_fractal_log_open(NULL, path, &log), CT_OK);
    assert_int_equal(ct_fractal_report_new(NULL, log, NULL, &r), CT_OK);
    assert_int_equal(ct_fractal_sums_totals(ct_fractal_report_sums(r))->events, 1);
    for (unsigned i = 0; i < formats; i++) {
        const struct ct_fractal_report_write_options how = {.size = sizeof how, .format = (uint8_t)i};
        struct output kept = {0};
        assert_int_equal(ct_fractal_report_write(r, &how, output_append, &kept), CT_OK);
        assert_memory_equal(kept.text, begins[i], strlen(begins[i]));
        output_free(&kept);
        assert_int_equal(ct_fractal_report_write(r, &how, output_refuse, NULL), CT_ERR_LIMIT);
    }
    const struct ct_fractal_report_write_options none = {.size = sizeof none, .format = (uint8_t)formats};
    assert_int_equal(ct_fractal_report_write(r, &none, output_refuse, NULL), CT_ERR_ARG);
    ct_fractal_report_free(r);
    assert_int_equal(ct_fractal_report_new(NULL, log, NULL, &r), CT_ERR_ARG); /* it already has names */
    ct_fractal_log_free(log);
}

/* Labels keep what tells names apart: the end of a name, the file of a path, the function without its types.
 */
TEST(labels)
{
    static const struct {
        const char *name, *label; /* NULL: short enough */
    } rows[] = {
        {"main", NULL},
        {"exactly20characters!", NULL},
        {"/usr/lib/aarch64-linux-gnu/libc.so.6", "libc.so.6"},
        {"/usr/lib/aarch64-linux-gnu/", "…/aarch64-linux-gnu/"},
        {"_ZN5outer5inner12a_long_symbolE", "…ner12a_long_symbolE"},
        {"std::vector<int, std::allocator<int> >::at(unsigned long) const", "std::vector::at"},
        {"void std::sort<int*>(int*, int*)", "std::sort"},
        {"bool operator< <char>(S<char> const&)", "operator<"},
        {"operator new(unsigned long, std::align_val_t)", "operator new"},
        {"main::{lambda(auto:1&)#2}::operator()(int) const", "…mbda#2}::operator()"},
        {"ns::Map<K, V>::operator->() const", "ns::Map::operator->"},
        {"ÄÖÜäöüÄÖÜäöüÄÖÜäöüÄÖÜäöü", "…üÄÖÜäöüÄÖÜäöüÄÖÜäöü"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char label[128] = "";
        const bool shorter = ct_fractal_label(rows[i].name, 20, label, sizeof label);
        assert_string_equal(label, rows[i].label ? rows[i].label : "");
        assert_int_equal(shorter, rows[i].label != NULL);
    }
}
