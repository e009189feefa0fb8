/* SPDX-License-Identifier: Apache-2.0 */
/* Writes how long functions take, with plots for those with the most time. */
#include "base/search.h"
#include "format/report_page.h"

#include <stdlib.h>

#include "format/number.h"
#include "format/svg_hist.h"

#define PLOTS 12

static int by_sum(const void *a, const void *b)
{
    const struct ct_report_function *x = *(const struct ct_report_function *const *)a;
    const struct ct_report_function *y = *(const struct ct_report_function *const *)b;
    return ct_order(y->inclusive.sum, x->inclusive.sum) ?: ct_order((uintptr_t)x, (uintptr_t)y);
}

static void plots(FILE *out, const struct ct_report_function **all, size_t count)
{
    char text[CT_NUMBER_SIZE];
    fputs("<p>Cycles from call to return, with everything called in between, but without exceptions and "
          "other threads. The dashed line is the mean.</p>\n<div class=\"plots\">\n",
          out);
    for (size_t i = 0; i < count && i < PLOTS; i++) {
        fputs("<figure class=\"panel\">", out);
        ct_svg_histogram_inside(out, all[i]->place.function, &all[i]->inclusive);
        fputs("</figure>\n", out);
    }
    fputs("</div>\n", out);
    if (count > PLOTS)
        fprintf(
            out,
            "<p class=\"more\">%s more functions are left out: <code>coretap timing --format svg --function "
            "NAME</code> plots any.</p>\n",
            ct_number_count(text, count - PLOTS));
}

/* Writes the plots of functions that ran more than once. A single run has no distribution. */
int ct_report_timing(FILE *out, const struct ct_report_page *r)
{
    if (!ct_report_told(out, r, CT_REPORT_TIMES))
        return CT_OK;
    const struct ct_report_function **all = calloc(r->function_count + 1, sizeof *all);
    size_t count = 0;
    if (!all)
        return CT_ERR_NOMEM;
    for (size_t i = 0; i < r->function_count; i++)
        if (r->functions[i].inclusive.count > 1)
            all[count++] = &r->functions[i];
    if (count)
        qsort(all, count, sizeof *all, by_sum);
    if (count)
        plots(out, all, count);
    else
        fputs("<p>No function has two whole runs whose cycles were counted.</p>\n", out);
    free(all);
    return CT_OK;
}
