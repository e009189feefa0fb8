/* SPDX-License-Identifier: Apache-2.0 */
/* Checks numbers in the form for people. */
#include "format/number.h"
#include "support/unit.h"

TEST(test_count)
{
    char text[CT_NUMBER_SIZE];
    assert_string_equal(ct_number_count(text, 0), "0");
    assert_string_equal(ct_number_count(text, 999), "999");
    assert_string_equal(ct_number_count(text, 1000), "1,000");
    assert_string_equal(ct_number_count(text, 12345678), "12,345,678");
    assert_string_equal(ct_number_count(text, UINT64_MAX), "18,446,744,073,709,551,615");
}

TEST(test_short)
{
    char text[CT_NUMBER_SIZE];
    assert_string_equal(ct_number_short(text, 9999), "9,999");
    assert_string_equal(ct_number_short(text, 10000), "10.00 k");
    assert_string_equal(ct_number_short(text, 123456), "123.5 k");
    assert_string_equal(ct_number_short(text, 999949), "999.9 k");
    assert_string_equal(ct_number_short(text, 999950), "1.00 M");
    assert_string_equal(ct_number_short(text, 12345678), "12.35 M");
    assert_string_equal(ct_number_short(text, UINT64_MAX), "18.45 E");
}

TEST(test_percent)
{
    char text[CT_NUMBER_SIZE];
    assert_string_equal(ct_number_percent(text, 0, 0), "-");
    assert_string_equal(ct_number_percent(text, 0, 8), "0.0 %");
    assert_string_equal(ct_number_percent(text, 1, 1001), "<0.1 %");
    assert_string_equal(ct_number_percent(text, 1, 1000), "0.1 %");
    assert_string_equal(ct_number_percent(text, 1, 8), "12.5 %");
    assert_string_equal(ct_number_percent(text, 9999999, 10000000), "99.9 %");
    assert_string_equal(ct_number_percent(text, UINT64_MAX, UINT64_MAX), "100.0 %");
}
