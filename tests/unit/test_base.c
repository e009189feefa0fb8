/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/open_resolved.h"
#include "base/places.h"
#include "base/table_memory.h"
#include "base/unpack.h"
#include "coretap/cfg.h"
#include "coretap/watch.h"
#include "coretap/wcet.h"
#include "support/unit.h"

TEST(error_text_survives)
{
    struct ct_ctx *ctx = ct_ctx_new();
    assert_string_equal(ct_ctx_error(ctx), "");
    assert_int_equal(ct_fail(ctx, CT_ERR_IO, "%s: %d", "file", 7), CT_ERR_IO);
    assert_string_equal(ct_ctx_error(ctx), "file: 7");
    assert_string_equal(ct_error_name(CT_ERR_IO), "CT_ERR_IO");
    assert_int_equal(ct_fail(NULL, CT_ERR_ARG, "x"), CT_ERR_ARG);
    ct_ctx_free(ctx);
}

TEST(bit_fields)
{
    assert_int_equal(ct_bits(0xdeadbeef, 31, 0), 0xdeadbeef);
    assert_int_equal(ct_bits(0xdeadbeef, 31, 28), 0xd);
    assert_int_equal(ct_bits(0xdeadbeef, 3, 0), 0xf);
    assert_true(ct_mask64(64) == ~UINT64_C(0) && ct_mask64(0) == 0 && ct_mask64(33) == 0x1ffffffffu);
    assert_true(ct_sext(0x800, 12) == -2048 && ct_sext(0x7ff, 12) == 2047);
    const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 0x88};
    assert_int_equal(ct_load16(bytes), 0x0201);
    assert_int_equal(ct_load32(bytes), 0x04030201);
    assert_true(ct_load64(bytes) == UINT64_C(0x8807060504030201));
}

/* A few places are kept as they were added; with more, the whole table is used. */
TEST(places)
{
    static struct ct_places p;
    assert_int_equal(ct_places_count(&p, 5000), 0);
    for (size_t i = 0; i < CT_PLACES_LISTED; i++)
        ct_places_add(&p, 4999 - i);
    assert_int_equal(ct_places_count(&p, 5000), CT_PLACES_LISTED);
    assert_int_equal(ct_places_at(&p, CT_PLACES_LISTED - 1), 5000 - CT_PLACES_LISTED);
    ct_places_add(&p, 7);
    assert_int_equal(ct_places_count(&p, 5000), 5000);
    assert_int_equal(ct_places_at(&p, 17), 17);
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* Returns the first bytes of the file, or "" when it cannot be opened. */
static const char *opened(const char *path)
{
    static char text[16];
    memset(text, 0, sizeof text);
    const int fd = ct_open_resolved(path);
    if (fd >= 0) {
        assert_true(read(fd, text, sizeof text - 1) >= 0);
        close(fd);
    }
    return text;
}

/* A checked path is exchanged before it is opened: the file, or a folder on the way to it. */
TEST(exchanged_paths_are_not_opened)
{
    char made[] = "/tmp/coretap-XXXXXX", cwd[4096];
    assert_non_null(getcwd(cwd, sizeof cwd));
    assert_non_null(mkdtemp(made));
    char *top = realpath(made, NULL), path[4200];
    assert_non_null(top);
    assert_int_equal(chdir(top), 0);
    assert_true(mkdir("in", 0700) == 0 && mkdir("in/sub", 0700) == 0 && mkdir("out", 0700) == 0);
    write_file("in/sub/file", "ours");
    write_file("out/file", "secret");
    snprintf(path, sizeof path, "%s/in/sub/file", top);
    assert_string_equal(opened(path), "ours");
    assert_string_equal(opened("in/sub/file"), ""); /* not resolved */

    assert_true(rename("in/sub", "kept") == 0 && symlink("../out", "in/sub") == 0);
    assert_string_equal(opened(path), "");
    assert_true(unlink("in/sub") == 0 && rename("kept", "in/sub") == 0);
    assert_string_equal(opened(path), "ours");

    assert_true(unlink("in/sub/file") == 0 && symlink("../../out/file", "in/sub/file") == 0);
    assert_string_equal(opened(path), "");
    assert_true(unlink("in/sub/file") == 0 && mkfifo("in/sub/file", 0600) == 0);
    assert_string_equal(opened(path), ""); /* and opening does not wait for a writer */
    assert_true(unlink("in/sub/file") == 0 && mkdir("in/sub/file", 0700) == 0);
    assert_string_equal(opened(path), "");

    assert_true(rmdir("in/sub/file") == 0 && rmdir("in/sub") == 0 && rmdir("in") == 0);
    assert_true(unlink("out/file") == 0 && rmdir("out") == 0 && chdir(cwd) == 0 && rmdir(top) == 0);
    free(top);
}

/* Grows arrays from bytes to several large pages. */
TEST(arrays_grow_with_zeros)
{
    size_t count = 3;
    uint64_t *array = ct_array_grow(NULL, 0, count, sizeof *array);
    assert_non_null(array);
    while (count < (size_t)3 << 20) {
        for (size_t i = 0; i < count; i++)
            array[i] = i + 1;
        array = ct_array_grow(array, count, count * 3, sizeof *array);
        assert_non_null(array);
        for (size_t i = 0; i < count * 3; i++)
            if (array[i] != (i < count ? i + 1 : 0))
                fail_msg("place %zu of %zu", i, count * 3);
        count *= 3;
    }
    ct_array_free(array, count, sizeof *array);
}

/* "ab" and "cd", packed by each of the tools and joined, unpack to one file, as with gzip and others. */
TEST(packed_parts_are_one_file)
{
    static const struct {
        const char *bytes;
        size_t size;
    } packed[] = {
        {"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4c\x02\x00\x6d\x48\x83\x9e\x02\x00\x00\x00"
         "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x4b\x4e\x01\x00\xda\x8f\xd6\x45\x02\x00\x00\x00",
         44},
        {"\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00\x61\x62\x28\xb5\x2f\xfd\x20\x02\x11\x00\x00\x63\x64", 22},
        {"\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22\xde\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f"
         "\xe5\xa3\x01\x00\x01\x61\x62\x00\x00\x00\x6d\x48\x83\x9e\x00\x01\x16\x02\xd0\x61\x10\xd2"
         "\x90\x42\x99\x0d\x01\x00\x00\x00\x00\x01\x59\x5a\xfd\x37\x7a\x58\x5a\x00\x00\x01\x69\x22"
         "\xde\x36\x02\x00\x21\x01\x16\x00\x00\x00\x74\x2f\xe5\xa3\x01\x00\x01\x63\x64\x00\x00\x00"
         "\xda\x8f\xd6\x45\x00\x01\x16\x02\xd0\x61\x10\xd2\x90\x42\x99\x0d\x01\x00\x00\x00\x00\x01"
         "\x59\x5a",
         112},
    };
    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++) {
        struct ct_ctx *ctx = ct_ctx_new();
        uint8_t *out;
        size_t size;
        const int rc =
            ct_unpack(ctx, "packed", (const uint8_t *)packed[i].bytes, packed[i].size, 64, &out, &size);
        assert_true(rc == CT_OK || rc == CT_ERR_UNSUPPORTED); /* without liblzma */
        assert_true(rc || (size == 4 && memcmp(out, "abcd", 4) == 0));
        free(out);
        /* cut off in the second part */
        assert_int_equal(
            ct_unpack(ctx, "packed", (const uint8_t *)packed[i].bytes, packed[i].size - 3, 64, &out, &size),
            rc ? CT_ERR_UNSUPPORTED : CT_ERR_FORMAT);
        assert_null(out);
        ct_ctx_free(ctx);
    }
}

TEST(mistyped_names_are_guessed)
{
    static const char *const names[] = {"count", "runtime", "Signal", "x", NULL};
    assert_string_equal(ct_nearest_name("cuont", names), "count");
    assert_string_equal(ct_nearest_name("runtme", names), "runtime");
    assert_string_equal(ct_nearest_name("SIGNAL", names), "Signal");
    assert_string_equal(ct_nearest_name("X", names), "x");
    assert_null(ct_nearest_name("y", names));
    assert_null(ct_nearest_name("frobnicate", names));
    assert_null(ct_nearest_name("", names));
    assert_null(ct_nearest_name(NULL, names));
    assert_null(ct_nearest_name("count", NULL));
}

/* A number of a newer library has no name in an older one. */
TEST(unknown_numbers_have_a_name)
{
    assert_string_equal(ct_cfg_kind_name((enum ct_cfg_kind)99), "?");
    assert_string_equal(ct_cfg_origin_name((enum ct_cfg_origin)99), "?");
    assert_string_equal(ct_watch_kind_name((enum ct_watch_kind)99), "?");
    assert_string_equal(ct_wcet_origin_name((enum ct_wcet_origin)99), "?");
}
