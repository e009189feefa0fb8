/* SPDX-License-Identifier: Apache-2.0 */
/* Checks functions and lines of stripped Go programs, for each version of the table that has them, and for
 * damaged tables. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "coretap/program.h"
#include "coretap/source_lines.h"
#include "elf_build.h"
#include "support/unit.h"

#define TEXT  UINT64_C(0x400000)
#define TABLE ELF_SYMBOLS /* offset of the table in the file */
#define ROOM  (ELF_NAMES - ELF_SYMBOLS)

enum {
    GO_2 = 0xfb,
    GO_16 = 0xfa,
    GO_18 = 0xf0,
    GO_20 = 0xf1,
};

/* A table being written. */
struct table {
    uint8_t *bytes;
    size_t at;
};

static size_t put(struct table *t, uint64_t value, size_t size)
{
    ct_store(t->bytes + t->at, value, size);
    t->at += size;
    return t->at - size;
}

static size_t put_bytes(struct table *t, const void *bytes, size_t size)
{
    memcpy(t->bytes + t->at, bytes, size);
    t->at += size;
    return t->at - size;
}

/* main.main has lines 10 and 12 of a.go in its first 16 bytes, then line 3 of b.go; main.add is line 7 of
 * b.go. */
static const uint8_t lines_of_main[] = {22, 2, 4, 2, 17, 4, 0};
static const uint8_t files_of_main[] = {4, 4, 2, 4, 0}; /* number 1, then 2 */
static const uint8_t line_of_add[] = {16, 2, 0};
static const uint8_t file_of_add[] = {6, 2, 0};

static void align(struct table *t)
{
    while (t->at % 8)
        t->at++;
}

static size_t put_record(struct table *t, unsigned size, uint64_t addr, size_t name, size_t file, size_t line)
{
    const size_t at = put(t, addr, size);
    const uint64_t fields[] = {name, 0, 0, 0, file, line, 0, 0};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        put(t, fields[i], 4);
    return at;
}

/* Writes a table of a version. Before Go 1.18 addresses have eight bytes; before 1.16 all offsets count from
 * the start of the table. */
static size_t write_table(uint8_t *bytes, uint8_t version)
{
    struct table t = {bytes, 0};
    const bool is_first = version == GO_2;
    const bool is_relative = version == GO_18 || version == GO_20;
    const unsigned size = is_relative ? 4 : 8;
    const uint64_t text = is_relative ? 0 : TEXT;
    put(&t, 0xffffff00u | version, 4);
    put(&t, 4 << 16 | 8u << 24, 4);
    put(&t, 2, 8); /* number of functions */
    const size_t header = t.at;
    t.at += is_first ? (2 * 2 + 1) * 8 + 4 : 56;
    align(&t);
    const size_t names = is_first ? 0 : t.at;
    const size_t name_main = put_bytes(&t, "main.main", 10) - names;
    const size_t name_add = put_bytes(&t, "main.add", 9) - names;
    align(&t);
    const size_t units = t.at;
    t.at += 16;
    const size_t files = is_first ? 0 : t.at;
    put(&t, 0, 1); /* so that no file has offset 0 */
    const size_t file_a = put_bytes(&t, "/go/a.go", 9) - files;
    const size_t file_b = put_bytes(&t, "/go/b.go", 9) - files;
    const uint64_t numbers[] = {UINT32_MAX, file_a, file_b, file_b};
    for (size_t i = 0; i < 4; i++)
        ct_store(bytes + units + 4 * i, numbers[i], 4);
    const size_t values = is_first ? 0 : t.at;
    const size_t main_lines = put_bytes(&t, lines_of_main, sizeof lines_of_main) - values;
    const size_t main_files = put_bytes(&t, files_of_main, sizeof files_of_main) - values;
    const size_t add_line = put_bytes(&t, line_of_add, sizeof line_of_add) - values;
    const size_t add_file = put_bytes(&t, file_of_add, sizeof file_of_add) - values;
    align(&t);
    const size_t index = is_first ? header : t.at;
    const size_t records = is_first ? 0 : t.at;
    if (!is_first)
        t.at += 5 * size;
    align(&t);
    const size_t of_main = put_record(&t, size, text, name_main, main_files, main_lines) - records;
    const size_t of_add = put_record(&t, size, text + 32, name_add, add_file, add_line) - records;
    const uint64_t entries[] = {text, of_main, text + 32, of_add, text + 40};
    for (size_t i = 0; i < 5; i++)
        ct_store(bytes + index + i * size, entries[i], size);
    if (is_first) {
        ct_store(bytes + index + 5 * size, units, 4);
        return t.at;
    }
    const uint64_t words[] = {2, TEXT, names, units, files, values, records};
    for (size_t i = 0, to = header; i < 7; i++)
        if (i != 1 || is_relative) {
            ct_store(bytes + to, words[i], 8);
            to += 8;
        }
    return t.at;
}

/* Makes a stripped program with the table of a version. Returns the size of the table. */
static size_t make_program(uint8_t file[ELF_SIZE], uint8_t version)
{
    static const char names[] = "\0.text\0.gopclntab\0.shstrtab";
    elf64_build(file, NULL, 0);
    Elf64_Shdr *section = (Elf64_Shdr *)(file + 0x200);
    memset(file + TABLE, 0, ROOM);
    const size_t size = write_table(file + TABLE, version);
    assert_in_range(size, 1, ROOM);
    section[1].sh_name = 1;
    section[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    section[2] = (Elf64_Shdr){.sh_name = 7,
                              .sh_type = SHT_PROGBITS,
                              .sh_flags = SHF_ALLOC,
                              .sh_addr = 0x600000,
                              .sh_offset = TABLE,
                              .sh_size = size};
    memcpy(file + ELF_NAMES, names, sizeof names);
    section[3] =
        (Elf64_Shdr){.sh_name = 18, .sh_type = SHT_STRTAB, .sh_offset = ELF_NAMES, .sh_size = sizeof names};
    ((Elf64_Ehdr *)file)->e_shstrndx = 3;
    return size;
}

#define BIAS 0x10000

static const uint8_t versions[] = {GO_2, GO_16, GO_18, GO_20};

TEST(functions_have_names)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    for (size_t i = 0; i < sizeof versions; i++) {
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_symbols *symbols;
        size_t count;
        make_program(file, versions[i]);
        assert_int_equal(ct_symbols_load_bytes(ctx, "test", file, sizeof file, BIAS, &symbols), CT_OK);
        const struct ct_symbol *all = ct_symbols_all(symbols, &count);
        assert_int_equal(count, 2);
        assert_string_equal(all[0].name, "main.main");
        assert_int_equal(all[0].addr, TEXT + BIAS);
        assert_int_equal(all[0].size, 32);
        assert_int_equal(all[0].source, CT_SYMBOL_GO);
        assert_string_equal(all[1].name, "main.add");
        assert_int_equal(all[1].addr, TEXT + BIAS + 32);
        assert_int_equal(all[1].size, 8);
        ct_symbols_free(symbols);
        ct_ctx_free(ctx);
    }
}

TEST(addresses_have_lines)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    const struct {
        uint64_t from, end;
        uint32_t line;
        const char *file;
    } wanted[] = {
        {0, 8, 10, "/go/a.go"}, {8, 16, 12, "/go/a.go"}, {16, 32, 3, "/go/b.go"}, {32, 40, 7, "/go/b.go"}};
    for (size_t i = 0; i < sizeof versions; i++) {
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_lines *lines;
        size_t count;
        make_program(file, versions[i]);
        assert_int_equal(ct_lines_load_bytes(ctx, "test", file, sizeof file, BIAS, &lines), CT_OK);
        const struct ct_line *all = ct_lines_all(lines, &count);
        assert_int_equal(count, 4);
        for (size_t k = 0; k < 4; k++) {
            assert_int_equal(all[k].addr, TEXT + BIAS + wanted[k].from);
            assert_int_equal(all[k].end, TEXT + BIAS + wanted[k].end);
            assert_int_equal(all[k].line, wanted[k].line);
            assert_string_equal(ct_lines_file(lines, all[k].file), wanted[k].file);
        }
        ct_lines_free(lines);
        ct_ctx_free(ctx);
    }
}

/* Reads a program with a damaged table, from memory that ends with the file. */
static void read_damaged(const uint8_t *file)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_symbols *symbols;
    struct ct_lines *lines;
    size_t count;
    uint8_t *copy = malloc(ELF_SIZE);
    memcpy(copy, file, ELF_SIZE);
    assert_int_equal(ct_symbols_load_bytes(ctx, "test", copy, ELF_SIZE, 0, &symbols), CT_OK);
    const struct ct_symbol *all = ct_symbols_all(symbols, &count);
    for (size_t i = 0; i < count; i++)
        assert_in_range(all[i].addr + all[i].size, TEXT, TEXT + 0x100);
    ct_symbols_free(symbols);
    assert_int_equal(ct_lines_load_bytes(ctx, "test", copy, ELF_SIZE, 0, &lines), CT_OK);
    const struct ct_line *rows = ct_lines_all(lines, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(rows[i].addr < rows[i].end && (i == 0 || rows[i - 1].end <= rows[i].addr));
    ct_lines_free(lines);
    ct_ctx_free(ctx);
    free(copy);
}

TEST(damaged_tables)
{
    static uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < sizeof versions; i++) {
        const size_t size = make_program(file, versions[i]);
        for (size_t at = 0; at < size; at++)
            for (size_t k = 0; k < sizeof bytes; k++) {
                const uint8_t before = file[TABLE + at];
                file[TABLE + at] = bytes[k];
                read_damaged(file);
                file[TABLE + at] = before;
            }
        for (size_t end = 0; end < size; end++) {
            ((Elf64_Shdr *)(file + 0x200))[2].sh_size = end;
            read_damaged(file);
        }
    }
}
