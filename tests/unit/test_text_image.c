/* SPDX-License-Identifier: Apache-2.0 */
/* Checks firmware as text: Intel HEX and S-records. */
#include <string.h>

#include "coretap/program.h"
#include "support/test_file.h"
#include "support/unit.h"

/* Eight bytes at 0x08000000 and four at 0x20000000, with an entry address. */
static const char two_places[] = ":020000042000DA\r\n"
                                 ":04000000AABBCCDDEE\r\n"
                                 "\r\n"
                                 ":020000040800F2\r\n"
                                 ":0400000001020304F2\r\n"
                                 ":0400040005060708DE\r\n"
                                 ":0400000508000001EE\r\n"
                                 ":00000001FF\r\n"
                                 "what follows the end is no record\r\n";
static const char records[] = "S00600004844521B\n"
                              "S107000001020304EE\n"
                              "S206000004AABB90\n"
                              "S30920000000AABBCCDDC8\n"
                              "S5030003F9\n"
                              "S9030000FC\n";

/* Adds the image of a text and returns the result. */
static int add(struct ct_memory *memory, const char *text, uint8_t is_elf)
{
    char path[40];
    FILE *file = test_file(text, strlen(text), path);
    assert_non_null(file);
    const struct ct_image image = {.path = path, .is_elf = is_elf};
    const int rc = ct_memory_add_image(memory, &image);
    fclose(file);
    return rc;
}

static void expect_bytes(const struct ct_memory *memory, uint64_t addr, const char *want, size_t count)
{
    size_t size;
    const uint8_t *bytes = ct_memory_at(memory, addr, CT_SPACE_ANY, &size);
    assert_true(size == count);
    assert_true(!count || !memcmp(bytes, want, count));
}

TEST(pieces_lie_where_they_say)
{
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(NULL, &memory), CT_OK);
    assert_int_equal(add(memory, two_places, 1), CT_OK);
    expect_bytes(memory, 0x08000000, "\1\2\3\4\5\6\7\10", 8);
    expect_bytes(memory, 0x20000000, "\xaa\xbb\xcc\xdd", 4);
    expect_bytes(memory, 0x08000008, NULL, 0);
    ct_memory_free(memory);
}

TEST(records_of_each_size)
{
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(NULL, &memory), CT_OK);
    assert_int_equal(add(memory, records, 1), CT_OK);
    expect_bytes(memory, 0, "\1\2\3\4\xaa\xbb", 6);
    expect_bytes(memory, 0x20000000, "\xaa\xbb\xcc\xdd", 4);
    ct_memory_free(memory);
}

static void refuse(const char *text, uint8_t is_elf, const char *want)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_memory *memory;
    assert_int_equal(ct_memory_new(ctx, &memory), CT_OK);
    assert_true(add(memory, text, is_elf) != CT_OK);
    if (!strstr(ct_ctx_error(ctx), want))
        fail_msg("'%s' is not in: %s", want, ct_ctx_error(ctx));
    expect_bytes(memory, 0, NULL, 0);
    ct_memory_free(memory);
    ct_ctx_free(ctx);
}

TEST(damage_is_told)
{
    refuse(two_places, 0, "the file is Intel HEX, a text that contains its own addresses");
    refuse(records, 0, "the file is S-records, a text");
    refuse(":0400000001020304F2\n:04000000010203", 1, "line 2 is damaged");
    refuse(":0400000001020304F2\n:04000000010203040\n", 1, "line 2 is damaged");
    refuse(":0400000001020304F2\n:0400000601020304EC\n", 1, "line 2 is damaged");
    refuse(":0400000001020304F2\n:0400020001020304F0\n", 1, "gives the byte at 0x2 twice");
    refuse(":00000001FF\n", 1, "no data record");
    refuse("S00600004844521C\n", 1, "neither an ELF file nor Intel HEX nor S-records");
    refuse(":", 1, "neither an ELF file");
}

/* Keeps the last warning. */
static void keep(void *user, enum ct_log_level level, const char *text)
{
    (void)level;
    snprintf(user, 512, "%s", text);
}

static void warn(const char *text, const char *want)
{
    char said[512] = "";
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_memory *memory;
    ct_ctx_set_log(ctx, keep, said, CT_LOG_WARNING);
    assert_int_equal(ct_memory_new(ctx, &memory), CT_OK);
    assert_int_equal(add(memory, text, 1), CT_OK);
    if (*want ? !strstr(said, want) : *said)
        fail_msg("'%s' is not what is said: %s", want, said);
    ct_memory_free(memory);
    ct_ctx_free(ctx);
}

TEST(what_is_not_read_is_told)
{
    warn(two_places, "");
    warn(records, "");
    warn(":0400000001020304F2\n", "may be truncated after line 1");
    warn(":0400000001020304F2\n:00000001FF\n\n:0400020001020304F0\n", "line 4 follows the end record");
}
