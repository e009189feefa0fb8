/* SPDX-License-Identifier: Apache-2.0 */
/* Checks numbers in the form for people. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "format/number.h"

static void test_count(void **state)
{
    char text[CT_NUMBER_SIZE];
    (void)state;
    assert_string_equal(ct_number_count(text, 0), "0");
    assert_string_equal(ct_number_count(text, 999), "999");
    assert_string_equal(ct_number_count(text, 1000), "1,000");
    assert_string_equal(ct_number_count(text, 12345678), "12,345,678");
    assert_string_equal(ct_number_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

static void test_short(void **state)
{
    char text[CT_NUMBER_SIZE];
    (void)state;
    assert_string_equal(ct_number_short(text, 9999), "9,999");
    assert_string_equal(ct_number_short(text, 10000), "10.00 k");
    assert_string_equal(ct_number_short(text, 123456), "123.5 k");
    assert_string_equal(ct_number_short(text, 999949), "999.9 k");
    assert_string_equal(ct_number_short(text, 999950), "1.00 M");
    assert_string_equal(ct_number_short(text, 12345678), "12.35 M");
    assert_string_equal(ct_number_short(text, UINT64_MAX), "18.45 E");
}

static void test_percent(void **state)
{
    char text[CT_NUMBER_SIZE];
    (void)state;
    assert_string_equal(ct_number_percent(text, 0, 0), "-");
    assert_string_equal(ct_number_percent(text, 1, 8), "12.5 %");
    assert_string_equal(ct_number_percent(text, 9999999, 10000000), "99.9 %");
    assert_string_equal(ct_number_percent(text, UINT64_MAX, UINT64_MAX), "100.0 %");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_percent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
