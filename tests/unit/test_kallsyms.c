/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names of functions in a copy of a kernel's memory, from the kallsyms file next to it. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/program.h"
#include "support/unit.h"

#define KERNEL  UINT64_C(0xffff800010000000)
#define MODULE  UINT64_C(0xffff800008000000)
#define SIZE    0x1000
#define LISTED  "ffff800010000100 T start\n"
#define MISSING "[none]"

struct fixture {
    char folder[32], kcore[48], kallsyms[48], said[1024];
    struct ct_ctx *ctx;
    struct ct_symbols *symbols;
};

static void keep(void *user, enum ct_log_level level, const char *text)
{
    struct fixture *f = user;
    (void)level;
    snprintf(f->said + strlen(f->said), sizeof f->said - strlen(f->said), "%s\n", text);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Makes a folder with a kcore of two segments, of a module and of the kernel. */
static int begin(void **state)
{
    static struct fixture f;
    static struct {
        Elf64_Ehdr head;
        Elf64_Phdr segments[2];
        uint8_t code[2][SIZE];
    } core;
    f = (struct fixture){.folder = "/tmp/coretap-kallsyms-XXXXXX", .ctx = ct_ctx_new()};
    *state = &f;
    if (!f.ctx || !mkdtemp(f.folder))
        return 1;
    snprintf(f.kcore, sizeof f.kcore, "%s/kcore", f.folder);
    snprintf(f.kallsyms, sizeof f.kallsyms, "%s/kallsyms", f.folder);
    core.head = (Elf64_Ehdr){.e_ident = ELFMAG "\2\1\1",
                             .e_type = ET_CORE,
                             .e_machine = EM_AARCH64,
                             .e_version = 1,
                             .e_phoff = sizeof core.head,
                             .e_ehsize = sizeof core.head,
                             .e_phentsize = sizeof(Elf64_Phdr),
                             .e_phnum = 2};
    for (size_t i = 0; i < 2; i++)
        core.segments[i] = (Elf64_Phdr){.p_type = PT_LOAD,
                                        .p_flags = PF_R | PF_W | PF_X,
                                        .p_offset = (uint64_t)((uint8_t *)core.code[i] - (uint8_t *)&core),
                                        .p_vaddr = i ? KERNEL : MODULE,
                                        .p_filesz = SIZE,
                                        .p_memsz = SIZE};
    write_file(f.kcore, &core, sizeof core);
    ct_ctx_set_log(f.ctx, keep, &f, CT_LOG_WARNING);
    return 0;
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_symbols_free(f->symbols);
    ct_ctx_free(f->ctx);
    unlink(f->kcore);
    unlink(f->kallsyms);
    return rmdir(f->folder);
}

FIXTURE(struct fixture, begin, finish);

static void load(struct fixture *f, const void *text, size_t size)
{
    write_file(f->kallsyms, text, size);
    ct_symbols_free(f->symbols);
    f->symbols = NULL;
    *f->said = 0;
    assert_int_equal(ct_symbols_load(f->ctx, f->kcore, 0, &f->symbols), CT_OK);
}

static void load_text(struct fixture *f, const char *text)
{
    load(f, text, strlen(text));
}

static const char *name_at(const struct fixture *f, uint64_t addr)
{
    const struct ct_symbol *symbol = ct_symbols_at(f->symbols, addr, NULL);
    return symbol ? ct_symbols_label(f->symbols, symbol) : MISSING;
}

TEST_WITH(a_function_ends_where_the_next_symbol_begins, f)
{
    load_text(f, "ffff800010000100 T start\n"
                 "ffff800010000200 t helper\n"
                 "ffff800010000180 W weak\n"
                 "ffff800010000300 D table\n"
                 "ffff800010000400 w last\n"
                 "ffff800020000000 T elsewhere\n");
    assert_string_equal(f->said, "");
    assert_string_equal(name_at(f, KERNEL + 0xfc), MISSING);
    assert_string_equal(name_at(f, KERNEL + 0x100), "start");
    assert_string_equal(name_at(f, KERNEL + 0x17c), "start");
    assert_string_equal(name_at(f, KERNEL + 0x180), "weak");
    assert_string_equal(name_at(f, KERNEL + 0x2fc), "helper");
    assert_string_equal(name_at(f, KERNEL + 0x300), MISSING);
    assert_string_equal(name_at(f, KERNEL + SIZE - 4), "last");
}

TEST_WITH(a_global_name_comes_before_a_local_one, f)
{
    load_text(f, "ffff800010000100 t a\nffff800010000100 W b\nffff800010000100 T c\nffff800010000100 D _d\n");
    assert_string_equal(name_at(f, KERNEL + 0x100), "c");
}

TEST_WITH(functions_of_modules_have_its_name, f)
{
    load_text(f, LISTED "ffff800008000000 t probe\t[one]\nffff800008000010 t probe\t[two]");
    assert_string_equal(f->said, "");
    assert_string_equal(name_at(f, MODULE + 0xc), "probe [one]");
    assert_string_equal(name_at(f, MODULE + 0x10), "probe [two]");
    assert_string_equal(name_at(f, MODULE + SIZE - 4), "probe [two]");
}

TEST_WITH(damaged_lines_are_left_out_and_the_first_is_named, f)
{
    static const char *const damaged[] = {"\n",
                                          "x",
                                          "ffff800010000100",
                                          "ffff800010000100 T",
                                          "ffff800010000100 T ",
                                          "-1 T name",
                                          "fffff800010000100 T name",
                                          "ffff800010000100 T name\t[cut",
                                          "ffff800010000100 T name\t[one]x",
                                          "ffff800010000100 T name one",
                                          "ffff800010000100  T name"};
    char text[256];
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        snprintf(text, sizeof text, "ffff800010000200 T other\n%s\nffff800010000300 T third\n", damaged[i]);
        load_text(f, text);
        assert_non_null(strstr(f->said, "/kallsyms: line 2 is not a symbol"));
        assert_string_equal(name_at(f, KERNEL + 0x100), MISSING);
        assert_string_equal(name_at(f, KERNEL + 0x200), "other");
        assert_string_equal(name_at(f, KERNEL + 0x300), "third");
    }
    load(f, LISTED "\0\0\n\377\376\n", sizeof LISTED + 5);
    assert_non_null(
        strstr(f->said, "line 2 is not a symbol (address, type, name); it is the first of 2 such"));
    assert_string_equal(name_at(f, KERNEL + 0x100), "start");
}

TEST_WITH(hidden_addresses_are_told_with_the_remedy, f)
{
    load_text(f, "0000000000000000 T start\n0000000000000000 t probe\t[one]\n");
    assert_non_null(strstr(f->said, "all addresses are 0"));
    assert_non_null(strstr(f->said, "kernel.kptr_restrict"));
    assert_string_equal(name_at(f, KERNEL + 0x100), MISSING);
}

TEST_WITH(a_list_of_another_boot_or_an_empty_one_is_told, f)
{
    load_text(f, "ffff800020000100 T start\n");
    assert_non_null(strstr(f->said, "none of its 1 symbols is a function in"));
    load_text(f, "");
    assert_non_null(strstr(f->said, "/kallsyms: the file is empty or cannot be read"));
}

TEST_WITH(a_list_that_is_too_large_is_not_read, f)
{
    write_file(f->kallsyms, LISTED, strlen(LISTED));
    assert_int_equal(truncate(f->kallsyms, (INT64_C(256) << 20) + 1), 0);
    assert_int_equal(ct_symbols_load(f->ctx, f->kcore, 0, &f->symbols), CT_OK);
    assert_non_null(strstr(f->said, "is larger than 256 MiB"));
    assert_string_equal(name_at(f, KERNEL + 0x100), MISSING);
}

TEST_WITH(without_a_list_nothing_is_said, f)
{
    assert_int_equal(ct_symbols_load(f->ctx, f->kcore, 0, &f->symbols), CT_OK);
    assert_string_equal(f->said, "");
    assert_string_equal(name_at(f, KERNEL + 0x100), MISSING);
}
