/* The longest path of a function as text, JSON, and in graphviz's language. */
#ifndef CT_REPORT_WCET_PRINT_H
#define CT_REPORT_WCET_PRINT_H

#include <stdio.h>

#include "coretap/wcet.h"

struct ct_wcet_view {
    const char *entry;
    const struct ct_wcet *wcet;
    const struct ct_cfg *cfg;
    const struct ct_lines *lines; /* or NULL */
    const struct ct_wcet_result *result;
};

void ct_wcet_print_text(FILE *out, const struct ct_wcet_view *view);
void ct_wcet_print_json(FILE *out, const struct ct_wcet_view *view);
void ct_wcet_print_dot(FILE *out, const struct ct_wcet_view *view);

#endif
