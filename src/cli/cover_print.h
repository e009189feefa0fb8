/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage in the formats of 'coretap cover'. */
#pragma once

#include "cli/counts.h"

enum cli_cover_format {
    CLI_COVER_TEXT,
    CLI_COVER_LCOV,
    CLI_COVER_COBERTURA,
    CLI_COVER_JSON,
    CLI_COVER_HTML,
    CLI_COVER_DATA,
    CLI_COVER_SONARQUBE,
};

/* Reports that all views are empty although instructions ran. Returns CLI_DAMAGED then, else CLI_CLEAN. */
int cli_cover_check(struct cli_counts *counts, const struct ct_cover_views *views);

/* Returns whether there are any counts. */
bool cli_cover_has_counts(const struct ct_cover *cover);

/* Prints coverage, but nothing that would be empty. `functions`: with TEXT, a line for each function. Returns
 * an enum cli_exit. */
int cli_cover_print(FILE *out, struct cli_counts *counts, enum cli_cover_format format, bool functions);
