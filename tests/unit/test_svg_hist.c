/* SPDX-License-Identifier: Apache-2.0 */
/* Checks plots of times. */
#include <stdlib.h>
#include <string.h>

#include "format/svg_hist.h"
#include "support/unit.h"

/* Returns the plot of `count` times from `least` to `most`, with one measurement at each end: one inside of a
 * page, with this name, or with NULL a file of its own. */
static char *plot(uint64_t count, uint64_t sum, uint64_t least, uint64_t most, const char *name)
{
    uint32_t histogram[CT_DIST_BUCKETS] = {0};
    char *text = NULL;
    size_t size = 0;
    const struct ct_dist dist = {.count = count,
                                 .sum = sum,
                                 .min = least,
                                 .max = most,
                                 .histogram = histogram,
                                 .buckets = CT_DIST_BUCKETS};
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    histogram[ct_dist_bucket(least)]++;
    histogram[ct_dist_bucket(most)]++;
    if (name)
        ct_svg_histogram_inside(out, name, &dist);
    else
        ct_svg_histogram(out, 0, "times", "cpu 0", &dist);
    fclose(out);
    return text;
}

/* Compared with a large value, the width of its place would be lost in a double, and coordinates would not be
 * numbers. */
TEST(test_one_value)
{
    static const uint64_t values[] = {0, 1, 1000, UINT64_C(1) << 53, UINT64_C(1) << 60, UINT64_MAX / 3};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *text = plot(2, 2 * values[i], values[i], values[i], NULL);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
    }
}

/* Labels on the axis of a small plot, over several powers of ten, do not overlap. */
TEST(labels_keep_apart)
{
    char *text = plot(2, 265547, 1147, 264400, "times");
    size_t labels = 0;
    double end = 0;
    for (const char *at = text; (at = strstr(at, "class=\"tick\"")); labels++) {
        double x;
        char label[32];
        at = strstr(at, "/>");
        if (sscanf(at, "/><text x=\"%lf\" y=\"%*f\" text-anchor=\"middle\">%31[^<]", &x, label) != 2)
            continue;
        const double half = 3.2 * (double)strlen(label);
        assert_true(x - half >= end);
        end = x + half;
    }
    assert_true(labels >= 4 && end > 200);
    free(text);
}

/* Cycle numbers in one plot are all complete or all abbreviated. */
TEST(numbers_are_alike)
{
    char *text = plot(2, 21900, 7000, 14900, NULL);
    assert_non_null(strstr(text, ">8,000<"));
    assert_non_null(strstr(text, ">10,000<"));
    assert_non_null(strstr(text, "min 7,000, mean 10,950, max 14,900 cycles"));
    assert_null(strstr(text, " k<"));
    free(text);
    text = plot(2, 3001000, 1000, 3000000, NULL);
    assert_non_null(strstr(text, ">1.00 k<"));
    assert_non_null(strstr(text, ">10.00 k<"));
    assert_null(strstr(text, ">1,000<"));
    free(text);
}

/* A long name is cut between two letters, before the number of measurements; a tooltip has all of it. A mean
 * has as many digits as its extremes. */
TEST(long_names_are_cut)
{
    char title[128], times[32], name[256] = "";
    for (unsigned i = 0; i < 50; i++)
        strcat(name, "\xc3\xa9");
    char *text = plot(1943, UINT64_C(1943) * 5203839, 4757, 31200000, name);
    assert_int_equal(
        sscanf(strstr(text, "class=\"title\""), "class=\"title\" x=\"44.0\" y=\"18\"%*[^>]>%127[^<]", title),
        1);
    assert_int_equal(sscanf(strstr(text, "text-anchor=\"end\">1,943"), "text-anchor=\"end\">%31[^<]", times),
                     1);
    const size_t letters = (strlen(title) - strlen("\u2026")) / 2 + 1;
    assert_string_equal(title + strlen(title) - 3, "\u2026");
    assert_memory_equal(title, name, strlen(title) - 3);
    assert_int_equal(strlen(title) % 2, 1);
    assert_true(letters > 20 && 44 + 7 * letters + 7 * strlen(times) < 372);
    assert_non_null(strstr(text, "data-tip=\"\xc3\xa9"));
    assert_non_null(strstr(text, "min 4,757, mean 5.20 M, max 31.20 M cycles"));
    free(text);
}

/* Wide letters take more room: a W of this bold font is 13.2 wide. */
TEST(wide_names_are_cut_earlier)
{
    char title[128], name[101] = "";
    memset(name, 'W', 100);
    char *text = plot(20, 2000, 90, 110, name);
    assert_int_equal(
        sscanf(strstr(text, "class=\"title\""), "class=\"title\" x=\"44.0\" y=\"18\"%*[^>]>%127[W]", title),
        1);
    assert_true(strlen(title) > 12);
    assert_true(44 + 13.2 * (double)strlen(title) + 12 + 7 * (double)strlen("20 times") < 372);
    free(text);
}
