/* SPDX-License-Identifier: Apache-2.0 */
/* What ranks have to have alike: each difference is told by name. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "mpi/hello.h"

static struct ct_hello make(void)
{
    const uint32_t number = 0x01020304;
    struct ct_hello hello = {
        .version = "1.2.3", .decoder = "1.2.3", .host = "here", .words = 7, .captures = 8};
    memcpy(hello.order, &number, sizeof hello.order);
    return hello;
}

/* Holds that a rank is refused in words that name it. */
static void expect(const struct ct_hello *other, const char *words)
{
    const struct ct_hello first = make();
    char why[CT_HELLO_WHY];
    assert_true(ct_hello_differs(&first, other, 5, why));
    assert_non_null(strstr(why, "rank 5 on "));
    assert_non_null(strstr(why, words));
}

static void the_same(void **state)
{
    (void)state;
    struct ct_hello first = make(), other = make();
    char why[CT_HELLO_WHY];
    strcpy(other.host, "there");
    assert_false(ct_hello_differs(&first, &other, 1, why));
    assert_int_equal(sizeof first, 256);
}

static void byte_order(void **state)
{
    (void)state;
    struct ct_hello other = make();
    uint8_t swapped[4];
    for (int i = 0; i < 4; i++)
        swapped[i] = other.order[3 - i];
    memcpy(other.order, swapped, sizeof swapped);
    /* nothing behind it is believed: its numbers are swapped, too */
    other.words = __builtin_bswap64(other.words);
    expect(&other, "another byte order than rank 0 on here");
}

static void versions(void **state)
{
    (void)state;
    struct ct_hello other = make();
    strcpy(other.version, "1.2.4");
    expect(&other, "has coretap 1.2.4, rank 0 on here has 1.2.3; install one version");
    other = make();
    strcpy(other.decoder, "1.1");
    expect(&other, "has coretap-mpi 1.2.3 and beside it coretap 1.1, which decodes");
    memset(other.host, 'x', sizeof other.host); /* no end */
    memset(other.version, 'y', sizeof other.version);
    expect(&other, "yyy, rank 0 on here");
}

static void work(void **state)
{
    (void)state;
    struct ct_hello other = make();
    other.words++;
    expect(&other, "another command line than rank 0");
    other = make();
    other.captures++;
    expect(&other, "another manifest than rank 0 on here");
}

/* Asks a program that runs `script`. */
static bool ask(const char *script, char version[32])
{
    char path[] = "/tmp/test_hello.XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_true(dprintf(fd, "#!/bin/sh\n%s\n", script) > 0);
    assert_int_equal(fchmod(fd, 0700), 0);
    close(fd);
    const bool known = ct_hello_ask(path, version, 32);
    unlink(path);
    return known;
}

static void asking(void **state)
{
    (void)state;
    char version[32];
    assert_true(ask("echo \"coretap 4.5.6\"; echo more", version));
    assert_string_equal(version, "4.5.6");
    assert_true(ask("echo coretap $1 0123456789012345678901234567890123456789", version));
    assert_string_equal(version, "--version 012345678901234567890");
    assert_true(ask("echo coretap 1; head -c 100000 /dev/zero", version));
    assert_string_equal(version, "1");
    assert_false(ask("echo \"coretap 4.5.6\"; exit 1", version));
    assert_false(ask("echo another 4.5.6", version));
    assert_false(ask("echo \"coretap \"", version));
    assert_false(ask("kill -9 $$", version));
    assert_false(ct_hello_ask("/nowhere/coretap", version, sizeof version));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same), cmocka_unit_test(byte_order), cmocka_unit_test(versions),
        cmocka_unit_test(work),     cmocka_unit_test(asking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
