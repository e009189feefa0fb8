/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "coretap/program.h"
#include "elf_build.h"
#include "support/unit.h"

static const struct test_symbol symbols[] = {
    {"outer", 0x400010, 0x40, STT_FUNC, STB_GLOBAL, 1},
    {"inner", 0x400020, 0x10, STT_FUNC, STB_LOCAL, 1},
    {"local_alias", 0x400010, 0x40, STT_FUNC, STB_LOCAL, 1},
    {"object", 0x400060, 4, STT_OBJECT, STB_GLOBAL, 1},
    {"unsized", 0x400060, 0, STT_FUNC, STB_GLOBAL, 1},
    {"last", 0x4000f0, 0, STT_FUNC, STB_GLOBAL, 1},
    {"undefined", 0, 0, STT_FUNC, STB_GLOBAL, SHN_UNDEF},
    {"weak", 0x400080, 8, STT_FUNC, STB_WEAK, 1},
    {"stub", 0x400080, 0, STT_FUNC, STB_GLOBAL, 1},
    {"overlap", 0x400048, 0x10, STT_FUNC, STB_GLOBAL, 1},
};
enum {
    SYMBOLS = sizeof symbols / sizeof symbols[0]
};

struct fixture {
    struct ct_ctx *ctx;
    uint8_t file[ELF_SIZE];
    char path[32];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->ctx = ct_ctx_new();
    elf64_build(f->file, symbols, SYMBOLS);
    strcpy(f->path, "/tmp/ct-elf-XXXXXX");
    close(mkstemp(f->path));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unlink(f->path);
    ct_ctx_free(f->ctx);
    free(f);
    return 0;
}

FIXTURE(struct fixture, set_up, tear_down);

static void store(const struct fixture *f, size_t size)
{
    FILE *out = fopen(f->path, "wb");
    assert_non_null(out);
    assert_true(fwrite(f->file, 1, size, out) == size);
    assert_int_equal(fclose(out), 0);
}

/* Adds the file to an empty memory and returns the result. *there: whether the first byte of the text can be
 * read. */
static int add(const struct fixture *f, uint64_t bias, int *there)
{
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(f->ctx, &memory), CT_OK);
    const struct ct_image image = {.path = f->path, .addr = bias, .is_elf = 1};
    int result = ct_memory_add_image(memory, &image);
    size_t size;
    *there = ct_memory_at(memory, 0x400000 + bias, CT_SPACE_EL1N, &size) != NULL;
    ct_memory_free(memory);
    return result;
}

TEST_WITH(segments, f)
{
    store(f, ELF_SIZE);
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(f->ctx, &memory), CT_OK);
    const struct ct_image image = {.path = f->path, .addr = 0x10000000, .is_elf = 1, .space = CT_SPACE_EL1N};
    assert_int_equal(ct_memory_add_image(memory, &image), CT_OK);
    assert_int_equal(ct_memory_add_image(memory, &image), CT_OK);
    size_t size;
    const uint8_t *text = ct_memory_at(memory, 0x10400004, CT_SPACE_EL1N, &size);
    assert_true(size == 0xfc && memcmp(text, f->file + ELF_TEXT + 4, size) == 0);
    const uint8_t *data = ct_memory_at(memory, 0x10500000, CT_SPACE_EL1N, &size);
    assert_true(size == 0x40 && memcmp(data, f->file + ELF_TEXT + 0x100, 0x10) == 0);
    for (unsigned i = 0x10; i < 0x40; i++)
        assert_int_equal(data[i], 0);
    assert_null(ct_memory_at(memory, 0x400004, CT_SPACE_EL1N, &size));
    assert_null(ct_memory_at(memory, 0x10400004, CT_SPACE_EL1S, &size));
    ct_memory_free(memory);
}

/* The same file for more spaces: its segments are added to all of the spaces or to none. */
TEST_WITH(more_spaces, f)
{
    store(f, ELF_SIZE);
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(f->ctx, &memory), CT_OK);
    struct ct_image image = {.path = f->path, .is_elf = 1, .space = CT_SPACE_EL1N};
    assert_int_equal(ct_memory_add_image(memory, &image), CT_OK);
    assert_int_equal(ct_memory_add_bytes(memory, "x", 1, 0x500000, CT_SPACE_EL1S), CT_OK);
    image.space = CT_SPACE_EL1S;
    assert_int_equal(ct_memory_add_image(memory, &image), CT_ERR_CONFIG);
    size_t size;
    assert_null(ct_memory_at(memory, 0x400000, CT_SPACE_EL1S, &size));
    image.space = CT_SPACE_EL3;
    assert_int_equal(ct_memory_add_image(memory, &image), CT_OK);
    assert_non_null(ct_memory_at(memory, 0x400000, CT_SPACE_EL3 | CT_SPACE_EL1N, &size));
    assert_non_null(ct_memory_at(memory, 0x50003f, CT_SPACE_EL3, &size));
    assert_int_equal(size, 1);
    ct_memory_free(memory);
}

/* Every damage is reported, and nothing of the file is left in memory. */
TEST_WITH(damaged, f)
{
    Elf64_Ehdr *header = (Elf64_Ehdr *)f->file;
    Elf64_Phdr *segment = (Elf64_Phdr *)(f->file + 0x40);
    int there;
#define EXPECT(change, size, bias, code, text)                                                               \
    do {                                                                                                     \
        elf64_build(f->file, symbols, SYMBOLS);                                                              \
        change;                                                                                              \
        store(f, size);                                                                                      \
        assert_int_equal(add(f, bias, &there), code);                                                        \
        assert_int_equal(there, code == CT_OK);                                                              \
        if ((code) != CT_OK) {                                                                               \
            assert_non_null(strstr(ct_ctx_error(f->ctx), f->path));                                          \
            if (!strstr(ct_ctx_error(f->ctx), text))                                                         \
                fail_msg("%s", ct_ctx_error(f->ctx));                                                        \
        }                                                                                                    \
    } while (0)
    EXPECT((void)0, ELF_SIZE, 0, CT_OK, "");
    EXPECT(header->e_ident[EI_MAG1] = 'x', ELF_SIZE, 0, CT_ERR_FORMAT, "neither an ELF file");
    EXPECT((void)0, 3, 0, CT_ERR_FORMAT, "neither an ELF file");
    EXPECT((void)0, 40, 0, CT_ERR_FORMAT, "header");
    EXPECT(header->e_ident[EI_DATA] = ELFDATA2MSB, ELF_SIZE, 0, CT_ERR_UNSUPPORTED, "big-endian");
    EXPECT(header->e_machine = EM_X86_64, ELF_SIZE, 0, CT_ERR_UNSUPPORTED, "machine 62");
    EXPECT((void)0, 0x60, 0, CT_ERR_FORMAT, "program header");
    EXPECT((void)0, ELF_TEXT + 0x80, 0, CT_ERR_FORMAT, "the file is truncated");
    EXPECT(segment[1].p_filesz = 0x4000, ELF_SIZE, 0, CT_ERR_FORMAT, "the file is truncated");
    EXPECT(segment[1].p_offset = UINT64_MAX - 3, ELF_SIZE, 0, CT_ERR_FORMAT, "the file is truncated");
    EXPECT(segment[1].p_filesz = 0x50, ELF_SIZE, 0, CT_ERR_FORMAT, "larger in the file");
    EXPECT(segment[1].p_vaddr = 0x4000ff, ELF_SIZE, 0, CT_ERR_CONFIG, "overlaps");
    EXPECT(segment[1].p_memsz = UINT64_C(1) << 40, ELF_SIZE, 0, CT_ERR_LIMIT, "4 GiB");
    EXPECT((void)0, ELF_SIZE, UINT64_MAX - 0x400080, CT_ERR_CONFIG, "beyond");
    EXPECT(segment[0].p_type = segment[1].p_type = PT_NULL, ELF_SIZE, 0, CT_ERR_FORMAT, "no PT_LOAD");
    EXPECT(header->e_phnum = 0, ELF_SIZE, 0, CT_ERR_FORMAT, "no PT_LOAD");
}

static const char *name_at(const struct ct_symbols *s, uint64_t addr, uint64_t offset)
{
    uint64_t got = 99;
    const struct ct_symbol *symbol = ct_symbols_at(s, addr, &got);
    if (!symbol)
        return "";
    assert_true(got == offset && got == addr - symbol->addr);
    return symbol->name;
}

TEST_WITH(functions, f)
{
    store(f, ELF_SIZE);
    struct ct_symbols *s;
    assert_int_equal(ct_symbols_load(f->ctx, f->path, 0x1000, &s), CT_OK);
    size_t count;
    const struct ct_symbol *all = ct_symbols_all(s, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(all[i].isa, CT_ISA_A64);
        assert_true(i == 0 || all[i - 1].addr < all[i].addr);
    }
    assert_string_equal(name_at(s, 0x40100f, 0), "");
    assert_string_equal(name_at(s, 0x401010, 0), "outer");
    assert_string_equal(name_at(s, 0x40101f, 0xf), "outer");
    assert_string_equal(name_at(s, 0x401020, 0), "inner");
    assert_string_equal(name_at(s, 0x40102f, 0xf), "inner");
    assert_string_equal(name_at(s, 0x401030, 0x20), "outer");
    assert_string_equal(name_at(s, 0x401048, 0), "overlap");
    assert_string_equal(name_at(s, 0x401057, 0xf), "overlap");
    assert_string_equal(name_at(s, 0x401058, 0), "");
    assert_string_equal(name_at(s, 0x401060, 0), "unsized");
    assert_string_equal(name_at(s, 0x40107f, 0x1f), "unsized");
    assert_string_equal(name_at(s, 0x401087, 7), "weak");
    assert_string_equal(name_at(s, 0x401088, 0), "");
    assert_string_equal(name_at(s, 0x4010ff, 0xf), "last");
    assert_string_equal(name_at(s, 0x401100, 0), "");
    assert_non_null(ct_symbols_at(s, 0x401010, NULL));
    size_t size;
    const uint8_t *id = ct_symbols_build_id(s, &size);
    assert_int_equal(size, 20);
    assert_true(id[0] == 1 && id[19] == 20);
    assert_int_equal(ct_symbols_base(s), 0x401000);
    ct_symbols_free(s);
}

/* The name chosen for an address does not depend on the order of the table. */
TEST_WITH(one_name, f)
{
    static const char *const names[] = {"__memcpy", "mempcpy@@V_2", "memcpy@@V_1", "_memcpy"};
    for (unsigned first = 0; first < 4; first++) {
        struct test_symbol some[4];
        struct ct_symbols *s;
        for (unsigned i = 0; i < 4; i++)
            some[i] = (struct test_symbol){names[(first + i) % 4], 0x400010, 8, STT_FUNC, STB_GLOBAL, 1};
        elf64_build(f->file, some, 4);
        assert_int_equal(ct_symbols_load_bytes(f->ctx, "x", f->file, ELF_SIZE, 0, &s), CT_OK);
        assert_string_equal(name_at(s, 0x400010, 0), "memcpy");
        ct_symbols_free(s);
    }
}

/* Code outside of all functions has the name of the file and an address; padding is separate. */
/* Compares what a span says of each address of [from, end), in that order, with what the symbols say of the
 * address. Returns how often the symbols were searched. */
static unsigned check_spans(const struct ct_symbols *s, uint64_t from, uint64_t end)
{
    struct ct_symbol_span span = {0};
    unsigned searches = 0;
    for (uint64_t addr = from; addr < end; addr++) {
        if (addr < span.from || addr >= span.end) {
            ct_symbols_around(s, addr, &span);
            searches++;
        }
        assert_ptr_equal(span.function, ct_symbols_at(s, addr, NULL));
        assert_ptr_equal(span.code, ct_symbols_code_at(s, addr, NULL));
        assert_int_equal(span.isa, ct_symbols_isa_at(s, addr));
    }
    return searches;
}

TEST_WITH(pieces, f)
{
    char text[64];
    struct ct_symbols *s;
    memset(f->file + ELF_TEXT, 0, 0x100);
    f->file[ELF_TEXT + 0x68] = 1;
    Elf64_Shdr *section = (Elf64_Shdr *)(f->file + ((Elf64_Ehdr *)f->file)->e_shoff);
    section[1].sh_type = SHT_PROGBITS;
    section[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    Elf64_Sym *symbols_of = (Elf64_Sym *)(f->file + ELF_SYMBOLS);
    for (unsigned i = 1; i <= SYMBOLS; i++)
        if (symbols_of[i].st_value == 0x400060)
            symbols_of[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
    const struct ct_symbol_options options = {
        .size = sizeof options, .bias = 0x7000000000, .module = "firmware"};
    store(f, ELF_SIZE);
    assert_int_equal(ct_symbols_load_with(f->ctx, f->path, &options, &s), CT_OK);
    size_t functions;
    size_t count;
    ct_symbols_all(s, &functions);
    const struct ct_symbol *all = ct_symbols_all_code(s, &count);
    static const uint64_t begins[] = {0, 0x58, 0x68, 0x88};
    assert_int_equal(count, functions + 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(all[functions + i].addr, 0x7000400000 + begins[i]);
        assert_int_equal(all[functions + i].source, CT_SYMBOL_CODE);
    }
    assert_int_equal(all[functions + 2].size, 0x80 - 0x68);
    assert_string_equal(all[functions + 2].name, "firmware+0x400068");
    assert_null(ct_symbols_at(s, 0x7000400070, NULL));
    assert_ptr_equal(ct_symbols_code_at(s, 0x7000400070, NULL), &all[functions + 2]);
    assert_ptr_equal(ct_symbols_code_at(s, 0x7000400064, NULL), &all[functions + 1]);
    assert_null(ct_symbols_code_at(s, 0x7000400100, NULL));
    assert_string_equal(ct_symbols_describe(s, 0x7000400070, text, sizeof text), "firmware+0x400070");
    assert_string_equal(ct_symbols_describe(s, 0x7000400014, text, sizeof text), "outer+0x4");
    assert_string_equal(ct_symbols_describe(s, 0x7000400010, text, sizeof text), "outer");
    assert_string_equal(ct_symbols_describe(s, 0x10, text, sizeof text), "firmware+0xffffff9000000010");
    assert_string_equal(ct_symbols_describe(s, 0x7000400070, text, 8), "firmwar");
    assert_in_range(check_spans(s, 0x6fffffff00, 0x7000400200), 4, 16);
    ct_symbols_free(s);
}

/* Checks readable names, and texts that are no mangled names, hostile or not. */
TEST_WITH(labels, f)
{
    const struct test_symbol some[] = {
        {"_ZN4core3fmt9Formatter3pad17h1234567890abcdefE", 0x400010, 4, STT_FUNC, STB_GLOBAL, 1},
        {"_RNvC6_123foo3bar", 0x400020, 4, STT_FUNC, STB_GLOBAL, 1},
        {"_Z3fooi.cold", 0x400030, 4, STT_FUNC, STB_GLOBAL, 1},
        {"_Z3ab", 0x400040, 4, STT_FUNC, STB_GLOBAL, 1},
        {"main", 0x400050, 4, STT_FUNC, STB_GLOBAL, 1},
    };
    static const char *const expected[] = {"core::fmt::Formatter::pad", "123foo::bar",
                                           "foo(int) [clone .cold]", "_Z3ab", "main"};
    struct ct_symbols *s;
    size_t count;
    char *probe = ct_demangle("_Z1fv");
    if (!probe)
        tap_skip("coretap was built without libiberty (Debian: libiberty-dev)");
    free(probe);
    elf64_build(f->file, some, 5);
    store(f, ELF_SIZE);
    for (unsigned raw = 0; raw < 2; raw++) {
        const struct ct_symbol_options options = {.size = sizeof options, .raw_names = (uint8_t)raw};
        assert_int_equal(ct_symbols_load_with(f->ctx, f->path, &options, &s), CT_OK);
        const struct ct_symbol *all = ct_symbols_all(s, &count);
        assert_int_equal(count, 5);
        for (unsigned i = 0; i < 5; i++) {
            assert_string_equal(all[i].name, some[i].name);
            assert_string_equal(ct_symbols_label(s, &all[i]), raw ? some[i].name : expected[i]);
            assert_ptr_equal(ct_symbols_label(s, &all[i]), ct_symbols_label(s, &all[i]));
        }
        ct_symbols_free(s);
    }
    /* each argument is twice as long as the one before: 2^34 characters */
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1aIiiE";
    size_t used = strlen(name);
    for (unsigned i = 0; i < 34; i++)
        used += (size_t)snprintf(name + used, sizeof name - used, "S_IS%c_S%c_E", digits[i], digits[i]);
    assert_null(ct_demangle(name));
    assert_null(ct_demangle(NULL));
    assert_null(ct_demangle(""));
}

/* Assembly rarely marks symbols as functions. Its labels count as such where code is in no function. */
TEST_WITH(assembly, f)
{
    const struct test_symbol some[] = {
        {"$x", 0x400000, 0, STT_NOTYPE, STB_LOCAL, 1},
        {"start", 0x400000, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {".Lloop", 0x400008, 0, STT_NOTYPE, STB_LOCAL, 1},
        {"handler", 0x400010, 0, STT_NOTYPE, STB_LOCAL, 1},
        {"handler2", 0x400010, 0, STT_NOTYPE, STB_LOCAL, 1},
        {"work", 0x400020, 0x20, STT_FUNC, STB_GLOBAL, 1},
        {"alias", 0x400020, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {"inside", 0x400028, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {"tail", 0x400080, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {"etext", 0x400100, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {"data", 0x500000, 0, STT_NOTYPE, STB_GLOBAL, 1},
        {"unsized", 0x4000c0, 0, STT_FUNC, STB_GLOBAL, SHN_ABS},
        {"same", 0x4000c0, 0, STT_NOTYPE, STB_GLOBAL, 1},
    };
    static const struct {
        const char *name;
        uint64_t addr, size;
    } expected[] = {{"start", 0x400000, 0x10},
                    {"handler", 0x400010, 0x10},
                    {"work", 0x400020, 0x20},
                    {"tail", 0x400080, 0x40},
                    {"unsized", 0x4000c0, 0}};
    struct ct_symbols *s;
    size_t count;
    elf64_build(f->file, some, sizeof some / sizeof *some);
    ((Elf64_Shdr *)(f->file + 0x200))[1].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    assert_int_equal(ct_symbols_load_bytes(f->ctx, "test", f->file, sizeof f->file, 0, &s), CT_OK);
    const struct ct_symbol *all = ct_symbols_all(s, &count);
    assert_int_equal(count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(all[i].name, expected[i].name);
        assert_int_equal(all[i].addr, expected[i].addr);
        assert_int_equal(all[i].size, expected[i].size);
        assert_int_equal(all[i].isa, CT_ISA_A64);
    }
    ct_symbols_free(s);
}

/* Bit 0 of an address of Arm's older processors tells the instruction set: what it belongs to may lie in
 * front of a section that begins at an odd address, where there is no code. */
TEST_WITH(odd_label, f)
{
    const struct test_symbol one = {"odd", 0x400001, 0, STT_NOTYPE, STB_GLOBAL, 1};
    struct ct_symbols *s;
    size_t count;
    elf64_build(f->file, &one, 1);
    Elf64_Shdr *text = (Elf64_Shdr *)(f->file + 0x200) + 1;
    text->sh_flags = SHF_ALLOC | SHF_EXECINSTR;
    text->sh_addr = 0x400001;
    ((Elf64_Ehdr *)f->file)->e_machine = EM_ARM;
    assert_int_equal(ct_symbols_load_bytes(f->ctx, "test", f->file, sizeof f->file, 0, &s), CT_OK);
    ct_symbols_all(s, &count);
    assert_int_equal(count, 0);
    ct_symbols_free(s);
}

/* Checks names of gfortran, ocamlopt and GHC, and names of C that only look like them. */
TEST_WITH(rules, f)
{
    static const char *const names[][2] = {
        {"__grid_MOD_work", "grid::work"},
        {"__grid.inner_MOD_work.part.0", "grid.inner::work.part.0"},
        {"__grid_MOD_work@plt", "grid::work@plt"},
        {"camlStdlib__List__map_2_345", "Stdlib.List.map_2_345"},
        {"camlStdlib__Bigarray__entry", "Stdlib.Bigarray.entry"},
        {"camlStdlib__$3e$3e$3d_123", "Stdlib.>>=_123"},
        {"base_GHCziBase_zpzp_info", "base_GHC.Base_++_info"},
        {"ghczmprim_GHCziClasses_zdfOrdZLz2cUZRzuzdccompare_slow",
         "ghc-prim_GHC.Classes_$fOrd(,)_$ccompare_slow"},
        {"Main_zdwgo_info", "Main_$wgo_info"},
        {"base_GHCziWordziz0U_info", "base_GHC.Word.z0U_info"},
        {"__x_MOD_", NULL},
        {"___MOD_x", NULL},
        {"__X_MOD_x", NULL},
        {"__x__y", NULL},
        {"camlibrary_open", NULL},
        {"caml_main", NULL},
        {"camlFoo__$0a_1", NULL},
        {"png_Resize_info", NULL},
        {"g_zlib_compressor_get_file_info", NULL},
        {"base_GHCziBase_map_closure", NULL},
    };
    const struct test_symbol one = {"camlStdlib__List__map_487", 0x400010, 4, STT_FUNC, STB_GLOBAL, 1};
    struct ct_symbols *s;
    size_t count;
    elf64_build(f->file, &one, 1);
    store(f, ELF_SIZE);
    assert_int_equal(ct_symbols_load(f->ctx, f->path, 0, &s), CT_OK);
    const struct ct_symbol *symbol = ct_symbols_all(s, &count);
    assert_string_equal(ct_symbols_label(s, symbol), "Stdlib.List.map_487");
    assert_true(ct_symbols_is_named(s, symbol, "Stdlib.List.map_487"));
    ct_symbols_free(s);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *plain = ct_demangle(names[i][0]);
        if (names[i][1] && plain)
            assert_string_equal(plain, names[i][1]);
        else if (names[i][1] || plain)
            fail_msg("%s: %s", names[i][0], plain ? plain : "none");
        free(plain);
    }
}

TEST_WITH(no_functions, f)
{
    elf64_build(f->file, symbols, 0);
    ((Elf64_Phdr *)(f->file + 0x40))[2].p_type = PT_NULL;
    struct ct_symbols *s;
    assert_int_equal(ct_symbols_load_bytes(f->ctx, "x", f->file, ELF_SIZE, 0, &s), CT_OK);
    size_t size;
    ct_symbols_all(s, &size);
    assert_int_equal(size, 0);
    assert_null(ct_symbols_at(s, 0x400000, NULL));
    assert_null(ct_symbols_build_id(s, &size));
    ct_symbols_free(s);
    ((Elf64_Ehdr *)f->file)->e_type = ET_REL;
    assert_int_equal(ct_symbols_load_bytes(f->ctx, "obj.o", f->file, ELF_SIZE, 0, &s), CT_ERR_UNSUPPORTED);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "obj.o"));
    assert_int_equal(ct_symbols_load(f->ctx, "/nonexistent", 0, &s), CT_ERR_IO);
    assert_int_equal(ct_symbols_load(f->ctx, NULL, 0, &s), CT_ERR_ARG);
}

/* A32 and T32 functions of a 32-bit file, which bit 0 of the address distinguishes. */
TEST_WITH(arm_functions, f)
{
    uint8_t *file = f->file;
    memset(file, 0, ELF_SIZE);
    Elf32_Ehdr *header = (Elf32_Ehdr *)file;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS32;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_EXEC;
    header->e_machine = EM_ARM;
    header->e_version = EV_CURRENT;
    header->e_shoff = 0x200;
    header->e_ehsize = sizeof *header;
    header->e_shentsize = sizeof(Elf32_Shdr);
    header->e_shnum = 3;
    Elf32_Shdr *section = (Elf32_Shdr *)(file + 0x200);
    section[1] = (Elf32_Shdr){.sh_type = SHT_DYNSYM,
                              .sh_offset = ELF_SYMBOLS,
                              .sh_size = 3 * sizeof(Elf32_Sym),
                              .sh_entsize = sizeof(Elf32_Sym),
                              .sh_link = 2};
    section[2] = (Elf32_Shdr){.sh_type = SHT_STRTAB, .sh_offset = ELF_NAMES, .sh_size = 9};
    memcpy(file + ELF_NAMES, "\0a32\0t32", 9);
    Elf32_Sym *sym = (Elf32_Sym *)(file + ELF_SYMBOLS);
    sym[1] = (Elf32_Sym){.st_name = 1,
                         .st_value = 0x8000,
                         .st_size = 8,
                         .st_shndx = SHN_ABS,
                         .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)};
    sym[2] = (Elf32_Sym){.st_name = 5,
                         .st_value = 0x8009,
                         .st_size = 6,
                         .st_shndx = SHN_ABS,
                         .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC)};
    struct ct_symbols *s;
    assert_int_equal(ct_symbols_load_bytes(f->ctx, "x", file, ELF_SIZE, 0, &s), CT_OK);
    assert_string_equal(name_at(s, 0x8007, 7), "a32");
    assert_string_equal(name_at(s, 0x8008, 0), "t32");
    assert_int_equal(ct_symbols_at(s, 0x8000, NULL)->isa, CT_ISA_A32);
    assert_int_equal(ct_symbols_at(s, 0x8008, NULL)->isa, CT_ISA_T32);
    assert_null(ct_symbols_at(s, 0x800e, NULL));
    assert_int_equal(check_spans(s, 0x7ff0, 0x8020), 4);
    ct_symbols_free(s);
}

/* Compares random functions with the definition: of those that contain the address, the one that begins last.
 * Some symbols are no functions but mark where code and data begin. */
TEST_WITH(random_functions, f)
{
    enum {
        FUNCTIONS = 24,
        ROUNDS = 200
    };
    uint32_t seed = 7;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct test_symbol some[FUNCTIONS];
        char names[FUNCTIONS][8];
        for (unsigned i = 0; i < FUNCTIONS; i++) {
            seed = seed * 1664525 + 1013904223;
            snprintf(names[i], sizeof names[i], "f%u", i);
            some[i] = (struct test_symbol){.name = names[i],
                                           .value = 0x400000 + (seed >> 24),
                                           .size = 1 + (seed >> 16 & 63),
                                           .type = STT_FUNC,
                                           .bind = STB_GLOBAL,
                                           .section = 1};
            if (i % 6 == round % 7)
                some[i] = (struct test_symbol){
                    .name = i & 1 ? "$x" : "$d", .value = some[i].value, .bind = STB_LOCAL, .section = 1};
        }
        elf64_build(f->file, some, FUNCTIONS);
        struct ct_symbols *s;
        assert_int_equal(ct_symbols_load_bytes(f->ctx, "x", f->file, ELF_SIZE, 0, &s), CT_OK);
        size_t count;
        const struct ct_symbol *all = ct_symbols_all(s, &count);
        for (uint64_t addr = 0x400000; addr < 0x400160; addr++) {
            const struct ct_symbol *expected = NULL;
            for (size_t i = 0; i < count && all[i].addr <= addr; i++)
                if (addr < all[i].addr + all[i].size)
                    expected = &all[i];
            assert_ptr_equal(ct_symbols_at(s, addr, NULL), expected);
        }
        check_spans(s, 0x3fff00, 0x400200);
        ct_symbols_free(s);
    }
}

/* Whatever is cut off or changed gives a result, or an error with a text. */
TEST_WITH(hostile, f)
{
    struct ct_symbols *s;
    uint8_t *copy = malloc(ELF_SIZE);
    uint32_t seed = 99;
    for (unsigned round = 0; round < 6000; round++) {
        elf64_build(copy, symbols, SYMBOLS);
        size_t size = round < ELF_SIZE / 2 ? round * 2 : ELF_SIZE;
        for (unsigned i = 0; i < round % 5; i++) {
            seed = seed * 1664525 + 1013904223;
            unsigned at = seed >> 20;
            copy[at < 0x340 ? at : at & 0x3f] ^= (uint8_t)(seed >> 8);
        }
        uint8_t *exact = malloc(size + 1);
        memcpy(exact, copy, size);
        int result = ct_symbols_load_bytes(f->ctx, "x", exact, size, seed, &s);
        if (result == CT_OK)
            ct_symbols_free(s);
        else
            assert_true(strncmp(ct_ctx_error(f->ctx), "x: ", 3) == 0);
        free(exact);
    }
    free(copy);
}
