/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests with cmocka. A test is a function that registers itself; `main` is in unit_main.c and runs the
 * tests of the program in the order of the file.
 *
 *     TEST(the_sum_of_nothing_is_zero)
 *     {
 *         assert_int_equal(sum(NULL, 0), 0);
 *     }
 *
 *     FIXTURE(struct fixture, open_file, close_file);
 *
 *     TEST_WITH(the_file_has_a_header, f)
 *     {
 *         assert_int_equal(f->bytes[0], 0x7f);
 *     }
 *
 *     GROUP_FIXTURE(make_folder, remove_folder) */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Begins a test. */
#define TEST(name)                                                                                           \
    static void name(void **state);                                                                          \
    UNIT_REGISTER(name, name, NULL, NULL)                                                                    \
    static void name(__attribute__((unused)) void **state)

/* Says what TEST_WITH gives to each test: the object that `setup` makes and `teardown` ends. */
#define FIXTURE(type, setup, teardown)                                                                       \
    typedef type unit_fixture;                                                                               \
    static const CMFixtureFunction unit_setup = setup, unit_teardown = teardown

/* Begins a test that has an object of its own; `object` is the pointer to it. */
#define TEST_WITH(name, object)                                                                              \
    static void name(unit_fixture *object);                                                                  \
    static void unit_run_##name(void **state)                                                                \
    {                                                                                                        \
        name(*state);                                                                                        \
    }                                                                                                        \
    UNIT_REGISTER(name, unit_run_##name, unit_setup, unit_teardown)                                          \
    static void name(__attribute__((unused)) unit_fixture *object)

#define UNIT_REGISTER(name, run, setup, teardown)                                                            \
    __attribute__((constructor)) static void unit_register_##name(void)                                      \
    {                                                                                                        \
        unit_add(&(struct CMUnitTest){#name, run, setup, teardown, NULL});                                   \
    }

/* Sets what runs before the first test and after the last one. */
#define GROUP_FIXTURE(setup, teardown)                                                                       \
    __attribute__((constructor)) static void unit_register_group(void)                                       \
    {                                                                                                        \
        unit_set_group(setup, teardown);                                                                     \
    }

/* Ends the running test as skipped. `reason` says what is missing and names the Debian package, if there is
 * one. */
#define tap_skip(reason) (print_message(UNIT_SKIP_REASON "%s\n", reason), skip())
#define UNIT_SKIP_REASON "# skipped: "

void unit_add(const struct CMUnitTest *test);
void unit_set_group(CMFixtureFunction setup, CMFixtureFunction teardown);
