/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds of saved files have in common. */
#ifndef CT_ANALYSIS_SAVED_H
#define CT_ANALYSIS_SAVED_H

#include <stdbool.h>

#include "coretap/analysis.h"

/* Adds captures and their losses to a sum. */
void ct_captures_add(struct ct_analysis_captures *sum, const struct ct_analysis_captures *more);

/* Begins a line of `most` bytes at most, which the caller writes: in place of ct_save_line where there are
 * very many. Returns where it goes, or NULL after an error, which is kept. */
char *ct_save_begin(struct ct_save *to, size_t most);

/* Ends the line that was begun, whose last byte is before `end`. */
void ct_save_end(struct ct_save *to, char *end);

/* Writes the lines that name runs and failures. */
void ct_save_runs(struct ct_save *to, const struct ct_analysis *analysis);

/* Takes a line that names a run or a failure. Result: 1, 0 for another line, CT_ERR_FORMAT or CT_ERR_NOMEM.
 */
int ct_load_run(struct ct_load *load, struct ct_analysis *analysis);

/* Adds the names of the runs of `from`, and its failures. CT_ERR_NOMEM. */
int ct_runs_add(struct ct_analysis *into, const struct ct_analysis *from);

void ct_runs_free(struct ct_analysis *analysis);

#endif
