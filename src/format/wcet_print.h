/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the longest path of a function as text, as JSON, and for graphviz. */
#pragma once

#include <stdio.h>

#include "format/wcet_view.h"

void ct_wcet_print_text(FILE *out, const struct ct_wcet_view *view);
void ct_wcet_print_json(FILE *out, const struct ct_wcet_view *view);
void ct_wcet_print_dot(FILE *out, const struct ct_wcet_view *view);

/* Writes a file of bounds (wcet_bounds.c). */
void ct_wcet_print_bounds(FILE *out, const struct ct_wcet_view *view);

/* Writes the source of the path, with executions and cycles of each line. CT_ERR_NOMEM. */
int ct_wcet_print_source(FILE *out, const struct ct_wcet_view *view);
