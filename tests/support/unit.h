/* SPDX-License-Identifier: Apache-2.0 */
/* Unit tests with cmocka. A test is a function that registers itself; `main` is in unit_main.c and runs the
 * tests of the program in the order of the file.
 *
 *     TEST(the_sum_of_nothing_is_zero)
 *     {
 *         assert_int_equal(sum(NULL, 0), 0);
 *     }
 *
 *     TEST_WITH(the_file_has_a_header, open_file, close_file)
 *     {
 *         struct fixture *f = *state;
 *         ...
 *     }
 *
 *     GROUP_FIXTURE(make_folder, remove_folder) */
#ifndef CT_TESTS_UNIT_H
#define CT_TESTS_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Begins a test. */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Begins a test between a set-up and a tear-down; `*state` is what the set-up made. */
#define TEST_WITH(name, setup, teardown)                                                                     \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void unit_register_##name(void)                                      \
    {                                                                                                        \
        unit_add(&(struct CMUnitTest){#name, name, setup, teardown, NULL});                                  \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)

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

#endif
