/* SPDX-License-Identifier: Apache-2.0 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/program.h"
#include "support/unit.h"

struct fixture {
    struct ct_ctx *ctx;
    struct ct_memory *memory;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    f->ctx = ct_ctx_new();
    *state = f;
    return ct_memory_new(f->ctx, &f->memory);
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    ct_memory_free(f->memory);
    ct_ctx_free(f->ctx);
    free(f);
    return 0;
}

FIXTURE(struct fixture, set_up, tear_down);

/* Returns the first readable byte at addr, or -1. */
static int byte_at(const struct fixture *f, uint64_t addr, uint32_t space, size_t expected)
{
    size_t size = 99;
    const uint8_t *bytes = ct_memory_at(f->memory, addr, space, &size);
    assert_true(size == expected);
    assert_true((bytes != NULL) == (size != 0));
    return bytes ? bytes[0] : -1;
}

/* Makes a file with these bytes, which the caller unlinks. */
static void make_file(char path[32], const void *bytes, size_t size)
{
    strcpy(path, "/tmp/ct-memory-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(write(fd, bytes, size) == (ssize_t)size);
    close(fd);
}

TEST_WITH(one_region, f)
{
    assert_int_equal(byte_at(f, 0x1000, CT_SPACE_EL1N, 0), -1);
    assert_int_equal(ct_memory_add_bytes(f->memory, "abcd", 4, 0x1000, 0), CT_OK);
    assert_int_equal(byte_at(f, 0xfff, CT_SPACE_EL1N, 0), -1);
    assert_int_equal(byte_at(f, 0x1000, CT_SPACE_EL1N, 4), 'a');
    assert_int_equal(byte_at(f, 0x1003, CT_SPACE_ANY, 1), 'd');
    assert_int_equal(byte_at(f, 0x1004, CT_SPACE_EL1N, 0), -1);
    assert_int_equal(byte_at(f, 0x1000, 0, 0), -1);
}

TEST_WITH(spaces, f)
{
    assert_int_equal(ct_memory_add_bytes(f->memory, "ssss", 4, 0x1000, CT_SPACE_ANY_S), CT_OK);
    assert_int_equal(ct_memory_add_bytes(f->memory, "nn", 2, 0x1001, CT_SPACE_EL1N), CT_OK);
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_EL1S, 3), 's');
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_EL3 | CT_SPACE_EL1S, 3), 's');
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_EL1N, 2), 'n');
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_ANY_NS, 0), -1);
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_ANY, 0), -1);
    assert_int_equal(byte_at(f, 0x1001, CT_SPACE_ROOT, 0), -1);
    assert_int_equal(ct_memory_add_bytes(f->memory, "x", 1, 0x2000, 0x100), CT_ERR_ARG);
}

TEST_WITH(overlaps, f)
{
    assert_int_equal(ct_memory_add_bytes(f->memory, "12345678", 8, 0x1000, CT_SPACE_ANY_NS), CT_OK);
    static const struct {
        uint64_t addr;
        size_t size;
    } bad[] = {{0x1000, 8}, {0xffc, 5}, {0x1007, 1}, {0x1002, 2}, {0xf00, 0x1000}};
    char *bytes = calloc(1, 0x1000);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(ct_memory_add_bytes(f->memory, bytes, bad[i].size, bad[i].addr, CT_SPACE_ANY),
                         CT_ERR_CONFIG);
        assert_non_null(strstr(ct_ctx_error(f->ctx), "0x1000"));
        assert_int_equal(byte_at(f, 0x1000, CT_SPACE_EL1N, 8), '1');
    }
    assert_int_equal(ct_memory_add_bytes(f->memory, bytes, 4, 0xffc, CT_SPACE_ANY), CT_OK);
    assert_int_equal(ct_memory_add_bytes(f->memory, bytes, 4, 0x1008, CT_SPACE_ANY), CT_OK);
    assert_int_equal(ct_memory_add_bytes(f->memory, bytes, 4, 0x1000, CT_SPACE_ANY_S), CT_OK);
    assert_int_equal(byte_at(f, 0x1007, CT_SPACE_EL1N, 1), '8');
    free(bytes);
}

TEST_WITH(ends_of_the_address_space, f)
{
    assert_int_equal(ct_memory_add_bytes(f->memory, "wxyz", 4, 0xfffffffffffffffc, 0), CT_OK);
    assert_int_equal(byte_at(f, 0xffffffffffffffff, CT_SPACE_EL1N, 1), 'z');
    assert_int_equal(byte_at(f, 0, CT_SPACE_EL1N, 0), -1);
    assert_int_equal(ct_memory_add_bytes(f->memory, "abcd", 4, 0xfffffffffffffffd, 0), CT_ERR_CONFIG);
    assert_int_equal(ct_memory_add_bytes(f->memory, "abcd", 4, 0, 0), CT_OK);
    assert_int_equal(byte_at(f, 0, CT_SPACE_EL1N, 4), 'a');
    assert_int_equal(ct_memory_add_bytes(f->memory, "abcd", 0, 0x100, 0), CT_ERR_ARG);
    assert_int_equal(ct_memory_add_bytes(f->memory, NULL, 1, 0x100, 0), CT_ERR_ARG);
}

/* Compares regions added in any order with a map that is searched byte by byte. */
TEST_WITH(random_regions, f)
{
    enum {
        ADDRESSES = 4096,
        SPACE_COUNT = 8
    };
    static uint8_t map[SPACE_COUNT][ADDRESSES];
    memset(map, 0, sizeof map);
    uint32_t seed = 12345;
    unsigned added = 0;
    for (unsigned round = 0; round < 3000; round++) {
        seed = seed * 1664525 + 1013904223;
        uint32_t addr = seed >> 8 & (ADDRESSES - 1);
        uint32_t size = 1 + (seed >> 20) % 20;
        seed = seed * 1664525 + 1013904223;
        uint32_t space = 1 + (seed >> 16) % 255;
        uint8_t bytes[20];
        memset(bytes, (int)(round % 255 + 1), sizeof bytes);
        int free_there = addr + size <= ADDRESSES;
        for (unsigned s = 0; s < SPACE_COUNT && free_there; s++)
            for (uint32_t i = 0; i < size && (space >> s & 1); i++)
                free_there &= map[s][addr + i] == 0;
        if (addr + size > ADDRESSES)
            continue;
        int result = ct_memory_add_bytes(f->memory, bytes, size, addr, space);
        assert_int_equal(result, free_there ? CT_OK : CT_ERR_CONFIG);
        added += free_there != 0;
        for (unsigned s = 0; s < SPACE_COUNT && free_there; s++)
            if (space >> s & 1)
                memset(&map[s][addr], bytes[0], size);
    }
    assert_true(added > 300);
    for (uint32_t addr = 0; addr < ADDRESSES; addr++) {
        for (unsigned s = 0; s < SPACE_COUNT; s++) {
            size_t size;
            const uint8_t *bytes = ct_memory_at(f->memory, addr, 1u << s, &size);
            assert_int_equal(bytes ? *bytes : 0, map[s][addr]);
        }
    }
}

TEST_WITH(files, f)
{
    char path[32];
    make_file(path, "0123456789", 10);
    struct ct_image image = {.path = path, .addr = 0x4000, .offset = 2, .size = 4, .space = CT_SPACE_EL1N};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    assert_int_equal(byte_at(f, 0x4000, CT_SPACE_EL1N, 4), '2');
    /* the same image again adds nothing, except to another space */
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    assert_int_equal(byte_at(f, 0x4000, CT_SPACE_EL1S, 0), -1);
    image.space = CT_SPACE_EL1S | CT_SPACE_EL1N;
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    assert_int_equal(byte_at(f, 0x4003, CT_SPACE_EL1S | CT_SPACE_EL1N, 1), '5');
    /* another address, up to the end of the file */
    image = (struct ct_image){.path = path, .addr = 0x8000, .offset = 7};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    unlink(path);
    assert_int_equal(byte_at(f, 0x8000, CT_SPACE_EL2N, 3), '7');
}

#define MANY      40u
#define MANY_SIZE 300000u /* so that they fill several blocks */

/* Many small files are loaded next to each other. A repeated one is not loaded again. */
TEST_WITH(many_files, f)
{
    static uint8_t bytes[MANY_SIZE];
    char path[32];
    for (unsigned i = 0; i < MANY; i++) {
        const size_t size = MANY_SIZE - i;
        struct ct_image image = {.path = path, .addr = i * UINT64_C(0x100000)};
        memset(bytes, (int)i + 1, size);
        make_file(path, bytes, size);
        assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
        image = (struct ct_image){.path = path, .addr = image.addr + 0x80000, .offset = size - 7};
        assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
        unlink(path);
    }
    for (unsigned i = 0; i < MANY; i++) {
        const uint64_t addr = i * UINT64_C(0x100000);
        const size_t size = MANY_SIZE - i;
        assert_int_equal(byte_at(f, addr, CT_SPACE_EL1N, size), (int)i + 1);
        assert_int_equal(byte_at(f, addr + size - 1, CT_SPACE_EL1N, 1), (int)i + 1);
        assert_int_equal(byte_at(f, addr + 0x80000, CT_SPACE_EL1N, 7), (int)i + 1);
    }
}

/* An unlinked kernel module with 8 bytes of code. */
struct small_module {
    Elf64_Ehdr header;
    Elf64_Shdr sections[4];
    char names[24];
    uint8_t code[8];
};

static struct small_module make_module(void)
{
    struct small_module m = {.header = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                                        .e_type = ET_REL,
                                        .e_machine = EM_AARCH64,
                                        .e_version = EV_CURRENT,
                                        .e_shoff = offsetof(struct small_module, sections),
                                        .e_ehsize = sizeof m.header,
                                        .e_shentsize = sizeof *m.sections,
                                        .e_shnum = 4,
                                        .e_shstrndx = 3},
                             .names = "\0.text\0.modinfo\0.names",
                             .code = "12345678"};
    m.sections[1] = (Elf64_Shdr){.sh_name = 1,
                                 .sh_type = SHT_PROGBITS,
                                 .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
                                 .sh_offset = offsetof(struct small_module, code),
                                 .sh_size = sizeof m.code,
                                 .sh_addralign = 4};
    m.sections[2] = (Elf64_Shdr){.sh_name = 7, .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC};
    m.sections[3] = (Elf64_Shdr){.sh_name = 16,
                                 .sh_type = SHT_STRTAB,
                                 .sh_offset = offsetof(struct small_module, names),
                                 .sh_size = sizeof m.names};
    return m;
}

TEST_WITH(modules_lie_where_their_image_says, f)
{
    const struct small_module module = make_module();
    const struct ct_module_section text[] = {{".text", 0x40}};
    const struct ct_module_place placed = {text, 1};
    char path[32];
    make_file(path, &module, sizeof module);
    struct ct_image image = {
        .path = path, .addr = 0x10000, .space = CT_SPACE_EL1N, .is_elf = 1, .placed = &placed};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    assert_int_equal(byte_at(f, 0x10000, CT_SPACE_EL1N, 0), -1);
    assert_int_equal(byte_at(f, 0x10040, CT_SPACE_EL1N, 8), '1');
    /* Another image of the same file has no such place; neither has another memory. */
    image = (struct ct_image){.path = path, .addr = 0x20000, .space = CT_SPACE_EL1N, .is_elf = 1};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    assert_int_equal(byte_at(f, 0x20000, CT_SPACE_EL1N, 8), '1');
    assert_int_equal(byte_at(f, 0x20040, CT_SPACE_EL1N, 0), -1);
    struct ct_symbols *symbols;
    size_t count;
    assert_int_equal(ct_symbols_load(f->ctx, path, 0, &symbols), CT_OK);
    assert_int_equal(ct_symbols_code(symbols, &count)[0].low, 0);
    ct_symbols_free(symbols);
    const struct ct_symbol_options options = {.size = sizeof options, .placed = &placed};
    assert_int_equal(ct_symbols_load_with(f->ctx, path, &options, &symbols), CT_OK);
    assert_int_equal(ct_symbols_code(symbols, &count)[0].low, 0x40);
    ct_symbols_free(symbols);
    unlink(path);
}

TEST_WITH(widening_stops_at_others, f)
{
    char path[32];
    make_file(path, "0123456789", 10);
    assert_int_equal(ct_memory_add_bytes(f->memory, "x", 1, 0x4005, CT_SPACE_EL1S), CT_OK);
    struct ct_image image = {.path = path, .addr = 0x4000, .size = 10, .space = CT_SPACE_EL1N};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_OK);
    image.space = CT_SPACE_ANY;
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_CONFIG);
    assert_non_null(strstr(ct_ctx_error(f->ctx), path));
    assert_int_equal(byte_at(f, 0x4005, CT_SPACE_EL1S, 1), 'x');
    assert_int_equal(byte_at(f, 0x4005, CT_SPACE_EL1N, 5), '5');
    assert_int_equal(byte_at(f, 0x4005, CT_SPACE_EL3, 0), -1);
    unlink(path);
}

TEST_WITH(bad_files, f)
{
    struct ct_image image = {.path = "/nonexistent/image.bin", .addr = 0, .size = 4};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_IO);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "/nonexistent/image.bin"));
    image.path = "/tmp";
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_IO);
    image.path = NULL;
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_ARG);
    char path[32];
    make_file(path, "", 0);
    image.path = path;
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_FORMAT);
    unlink(path);
    make_file(path, "0123456789", 10);
    static const struct {
        uint64_t offset, size;
    } beyond[] = {{0, 11}, {10, 0}, {10, 1}, {5, 6}, {UINT64_MAX, 2}, {2, UINT64_MAX}};
    for (size_t i = 0; i < sizeof beyond / sizeof beyond[0]; i++) {
        image.offset = beyond[i].offset;
        image.size = beyond[i].size;
        assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_CONFIG);
        assert_non_null(strstr(ct_ctx_error(f->ctx), "the file has only 10"));
    }
    image = (struct ct_image){.path = path, .addr = UINT64_MAX - 8, .size = 10};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_CONFIG);
    image = (struct ct_image){.path = path, .addr = 0, .size = 10, .is_elf = 1};
    assert_int_equal(ct_memory_add_image(f->memory, &image), CT_ERR_FORMAT);
    unlink(path);
    assert_int_equal(byte_at(f, 0, CT_SPACE_EL1N, 0), -1);
}
