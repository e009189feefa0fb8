/* SPDX-License-Identifier: Apache-2.0 */
/* Checks what must be equal on all ranks: each difference is reported by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/capture_list.h"
#include "mpi/hello.h"
#include "mpi/inputs.h"
#include "support/unit.h"

static struct ct_hello make(void)
{
    const uint32_t number = 0x01020304;
    struct ct_hello hello = {.version = "1.2.3", .host = "here", .words = 7, .captures = 8};
    memcpy(hello.order, &number, sizeof hello.order);
    return hello;
}

/* Checks that a rank is refused with text that contains `words`. */
static void expect(const struct ct_hello *other, const char *words)
{
    const struct ct_hello first = make();
    char why[CT_HELLO_WHY];
    assert_true(ct_hello_differs(&first, other, 5, why));
    assert_non_null(strstr(why, "rank 5 on "));
    assert_non_null(strstr(why, words));
}

TEST(the_same)
{
    struct ct_hello first = make(), other = make();
    char why[CT_HELLO_WHY];
    strcpy(other.host, "there");
    assert_false(ct_hello_differs(&first, &other, 1, why));
    assert_int_equal(sizeof first, 256);
}

TEST(byte_order)
{
    struct ct_hello other = make();
    uint8_t swapped[4];
    for (int i = 0; i < 4; i++)
        swapped[i] = other.order[3 - i];
    memcpy(other.order, swapped, sizeof swapped);
    /* what follows is not used: its numbers are swapped, too */
    other.words = __builtin_bswap64(other.words);
    expect(&other, "another byte order than rank 0 on here");
}

TEST(versions)
{
    struct ct_hello other = make();
    strcpy(other.version, "1.2.4");
    expect(&other, "has coretap 1.2.4, but rank 0 on here has 1.2.3; the job ends; install");
    memset(other.host, 'x', sizeof other.host); /* without an end */
    memset(other.version, 'y', sizeof other.version);
    expect(&other, "yyy, but rank 0 on here");
}

TEST(work)
{
    struct ct_hello other = make();
    other.words++;
    expect(&other, "another command line than rank 0");
    other = make();
    other.captures++;
    expect(&other, "another manifest than rank 0 on here");
}

/* ---- files ---- */

static void add(struct ct_inputs *inputs, const char *path, uint8_t first)
{
    const uint8_t digest[CT_FLEET_DIGEST] = {first};
    assert_int_equal(ct_inputs_add(inputs, path, digest), CT_OK);
}

struct said {
    char text[4096];
    unsigned lines;
};

static void note(void *user, const char *words)
{
    struct said *said = user;
    const size_t used = strlen(said->text);
    snprintf(said->text + used, sizeof said->text - used, "%s\n", words);
    said->lines++;
}

static struct said compare(const struct ct_inputs *first, const struct ct_inputs *other)
{
    struct said said = {0};
    ct_inputs_compare(first, (struct ct_inputs_rank){0, "here"}, other, (struct ct_inputs_rank){3, "there"},
                      note, &said);
    return said;
}

TEST(files)
{
    struct ct_inputs first = {0}, same = {0}, other = {0};
    assert_int_equal(compare(&first, &same).lines, 0);
    for (const char *const *path = (const char *const[]){"a", "b", "lib/c", "d", NULL}; *path; path++) {
        add(&first, *path, 1);
        add(&same, *path, 1);
    }
    assert_int_equal(ct_inputs_sum(&first), ct_inputs_sum(&same));
    assert_int_equal(compare(&first, &same).lines, 0);
    add(&other, "e", 1); /* more, fewer, changed, and in another order */
    add(&other, "lib/c", 2);
    add(&other, "a", 1);
    add(&other, "d", 1);
    assert_true(ct_inputs_sum(&first) != ct_inputs_sum(&other));
    const struct said said = compare(&first, &other);
    assert_string_equal(
        said.text,
        "rank 3 on there has no b, which exists on rank 0 on here; share the file between the machines, or "
        "copy it again\n"
        "rank 3 on there has another lib/c than rank 0 on here; share the file between the machines, "
        "or copy it again\n"
        "rank 3 on there has a file e, which does not exist on rank 0 on here; share the file "
        "between the machines, or copy it again\n");
    free(first.data);
    free(same.data);
    free(other.data);
}

/* A few differences are reported, with as much of a long name as fits; a list may end anywhere. */
TEST(many_files)
{
    struct ct_inputs first = {0}, other = {0};
    char path[1000] = {0};
    memset(path, 'x', sizeof path - 8);
    for (int i = 0; i < 20; i++) {
        snprintf(path + 990, 8, "%d", i);
        add(&first, path, 1);
        add(&other, path, 2);
    }
    assert_int_equal(compare(&first, &other).lines, CT_INPUTS_MOST + 1);
    assert_non_null(strstr(compare(&first, &other).text, "differs from rank 0 in more files"));
    for (size_t size = other.size; size > other.size - 1000; size--) {
        struct ct_inputs cut = {.data = malloc(size), .size = size, .room = size};
        memcpy(cut.data, other.data, size);
        assert_int_equal(compare(&other, &cut).lines, size < other.size);
        free(cut.data);
    }
    free(first.data);
    free(other.data);
}

/* ---- captures ---- */

/* Returns how many captures a list has, in memory of just its size. */
static unsigned count_captures(const char *list, size_t size)
{
    char *copy = malloc(size + !size);
    const char *at = copy;
    struct ct_fleet_capture capture;
    unsigned count = 0;
    assert_non_null(copy);
    memcpy(copy, list, size);
    while (at < copy + size && ct_capture_list_next(&at, copy + size, &capture))
        count++;
    free(copy);
    return count;
}

/* A list that another version sent may end anywhere, and have something else in the place of a size. */
TEST(captures)
{
    static const char digest[CT_FLEET_DIGEST + 1] = "0123456789abcdef0123456789abcdef";
    static const char *const none[] = {" path", "12path", "12 ", "x path", "99999999999999999999 path", ""};
    struct ct_fleet_capture capture;
    char list[128];
    const size_t size = CT_FLEET_DIGEST + sizeof "4096 a path";
    snprintf(list, sizeof list, "%s4096 a path", digest);
    const char *at = list;
    assert_true(ct_capture_list_next(&at, list + size, &capture));
    assert_ptr_equal(at, list + size);
    assert_int_equal(capture.size, 4096);
    assert_string_equal(capture.path, "a path");
    assert_memory_equal(capture.digest, digest, CT_FLEET_DIGEST);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(count_captures(list, cut), 0);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        snprintf(list, sizeof list, "%s%s", digest, none[i]);
        assert_int_equal(count_captures(list, strlen(list) + 1), 0);
    }
}
