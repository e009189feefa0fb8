/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the longest path of a function as a page, or as a part of one. */
#pragma once

#include <stdio.h>

#include "format/wcet_view.h"

/* Writes the page. CT_ERR_NOMEM. */
int ct_wcet_html(FILE *out, const struct ct_wcet_view *view);

/* Writes the content of the page, with headings from <h3> on. CT_ERR_NOMEM. */
int ct_wcet_html_parts(FILE *out, const struct ct_wcet_view *view);
