/* SPDX-License-Identifier: Apache-2.0 */
/* Checks names from jitdump files: code that is loaded, moved and replaced, and damaged files. */
#include <stdbool.h>

#include "symbols_fixture.h"

#define HEADER 40
#define VMA    UINT64_C(0x7000000000) /* where the program sees the code: not the address that counts */

struct fixture {
    struct symbols_fixture names;
    uint8_t bytes[1024];
    size_t size;
};

static void put(struct fixture *f, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        f->bytes[f->size++] = (uint8_t)(value >> 8 * i);
}

static int begin(void **state)
{
    static struct fixture f;
    *state = &f;
    f.size = 0;
    memset(f.bytes, 0, sizeof f.bytes);
    put(&f, 0x4a695444, 4);
    put(&f, 1, 4);
    put(&f, HEADER, 4);
    put(&f, 183 /* AArch64 */, 4);
    f.size = HEADER;
    return symbols_begin(&f.names, "/tmp/coretap-jit");
}

static int finish(void **state)
{
    struct fixture *f = *state;
    return symbols_finish(&f->names);
}

FIXTURE(struct fixture, begin, finish);

static void head(struct fixture *f, uint32_t id, size_t size)
{
    put(f, id, 4);
    put(f, size, 4);
    put(f, f->size, 8); /* time */
}

static void code_load(struct fixture *f, const char *name, uint64_t addr, uint64_t size, uint64_t index)
{
    head(f, 0, 56 + strlen(name) + 1 + size);
    put(f, 0, 8);
    put(f, VMA, 8);
    put(f, addr, 8);
    put(f, size, 8);
    put(f, index, 8);
    memcpy(f->bytes + f->size, name, strlen(name) + 1);
    f->size += strlen(name) + 1 + size;
}

static void code_move(struct fixture *f, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
    head(f, 1, 64);
    put(f, 0, 8);
    put(f, VMA, 8);
    put(f, from, 8);
    put(f, to, 8);
    put(f, size, 8);
    put(f, index, 8);
}

static void load(struct fixture *f, size_t size)
{
    struct symbols_fixture *names = &f->names;
    symbols_write(names, f->bytes, size);
    assert_int_equal(ct_symbols_load_map(names->ctx, names->path, &names->symbols), CT_OK);
}

TEST_WITH(code_is_loaded_moved_and_replaced, f)
{
    code_load(f, "empty", 0x5000, 0, 9);
    code_load(f, "JS:one a.js:1", 0x1000, 0x20, 0);
    head(f, 2, 16); /* debug information */
    code_load(f, "two", 0x2000, 0x10, 1);
    code_move(f, 0x1000, 0x3000, 0x20, 0);
    code_load(f, "three", 0x1000, 0x10, 2);
    code_move(f, 0x3000, 0x4000, 0x20, 0);
    load(f, f->size);
    assert_string_equal(f->names.said, "");
    assert_string_equal(name_at(&f->names, 0x100c), "three");
    assert_string_equal(name_at(&f->names, 0x1010), "JS:one a.js:1"); /* not replaced */
    assert_string_equal(name_at(&f->names, 0x200c), "two");
    assert_string_equal(name_at(&f->names, 0x2010), "");
    assert_string_equal(name_at(&f->names, 0x401c), "JS:one a.js:1");
    assert_string_equal(name_at(&f->names, VMA), "");
    assert_string_equal(name_at(&f->names, 0x5000), "");
}

TEST_WITH(code_that_was_not_loaded_is_moved, f)
{
    code_load(f, "one", 0x1000, 0x10, 0);
    code_move(f, 0x2000, 0x3000, 0x10, 7);
    load(f, f->size);
    assert_non_null(strstr(f->names.said, "code was moved 1 times that is not in the file"));
    assert_string_equal(name_at(&f->names, 0x1000), "one");
    assert_string_equal(name_at(&f->names, 0x3000), "");
}

/* A file that is cut anywhere names what comes before. */
TEST_WITH(cut_files, f)
{
    code_load(f, "one", 0x1000, 0x10, 0);
    const size_t first = f->size;
    code_load(f, "two", 0x2000, 0x10, 1);
    const size_t second = f->size;
    code_move(f, 0x2000, 0x3000, 0x10, 1);
    for (size_t size = HEADER; size <= f->size; size++) {
        load(f, size);
        assert_string_equal(name_at(&f->names, 0x1000), size >= first ? "one" : "");
        assert_string_equal(name_at(&f->names, 0x2000), size >= second ? "two" : "");
        assert_string_equal(name_at(&f->names, 0x3000), size == f->size ? "two" : "");
        const bool whole = size == HEADER || size == first || size == second || size == f->size;
        assert_int_equal(strstr(f->names.said, "damaged or cut") == NULL, whole);
    }
}

TEST_WITH(damaged_records, f)
{
    code_load(f, "one", 0x1000, 0x10, 0);
    const size_t at = f->size;
    code_load(f, "two", UINT64_MAX - 3, 0x10, 1); /* beyond the last address */
    code_load(f, "three", 0x3000, 0x10, 2);
    load(f, f->size);
    char want[40];
    snprintf(want, sizeof want, "the record at byte %zu is damaged", at);
    assert_non_null(strstr(f->names.said, want));
    assert_string_equal(name_at(&f->names, 0x1000), "one");
    assert_string_equal(name_at(&f->names, 0x3000), "");
}

TEST_WITH(damaged_length_of_the_header, f)
{
    code_load(f, "one", 0x1000, 0x10, 0);
    memset(f->bytes + 8, 0x7f, 4);
    load(f, f->size);
    assert_non_null(strstr(f->names.said, "the record at byte 0 is damaged"));
    assert_string_equal(name_at(&f->names, 0x1000), "");
}
