/* SPDX-License-Identifier: Apache-2.0 */
/* What all kinds of saved files have in common. */
#pragma once

#include <stdbool.h>

#include "base/digits.h"
#include "coretap/analysis.h"

/* Tells whether the sum at the end of files of a version is one over words (base/word_sum.h). A kind that was
 * compiled against an older header does not say. */
static inline bool ct_saved_has_words(const struct ct_analysis_kind *kind, unsigned version)
{
    return kind->size >= sizeof *kind && kind->words && version >= kind->words;
}

/* Adds captures and their losses to a sum. */
void ct_captures_add(struct ct_analysis_captures *sum, const struct ct_analysis_captures *more);

/* Begins a line of at most `most` bytes, which the caller writes itself. Replaces ct_save_line where lines
 * are many. Returns where to write, or NULL after an error, which ct_save remembers. */
char *ct_save_begin(struct ct_save *to, size_t most);

/* Ends the line that was begun. `end` is behind its last byte. */
void ct_save_end(struct ct_save *to, char *end);

/* Write a space and a number, into such a line. Return the position behind it. */
static inline char *ct_save_put_dec(char *to, uint64_t value)
{
    *to = ' ';
    return ct_digits_dec(to + 1, value);
}

static inline char *ct_save_put_hex(char *to, uint64_t value)
{
    *to = ' ';
    return ct_digits_hex(to + 1, value);
}

/* bytes that a number needs there, without CT_DIGITS_SLACK behind the last one */
#define CT_SAVE_NUMBER (CT_DIGITS_MOST + 1)

/* Returns the text behind the current line, which ends at *end, for kinds that read very many lines by
 * themselves. */
const char *ct_load_rest(const struct ct_load *load, const char **end);

/* Goes on behind `lines` lines of that text, the last of which ends before `to`. */
void ct_load_skip(struct ct_load *load, const char *to, size_t lines);

/* Writes the lines that name runs and failures. */
void ct_save_runs(struct ct_save *to, const struct ct_analysis *analysis);

/* Takes a line that names a run or a failure. Returns 1, 0 when the line is about something else,
 * CT_ERR_FORMAT or CT_ERR_NOMEM. */
int ct_load_run(struct ct_load *load, struct ct_analysis *analysis);

/* Adds the names of the runs of `from`, and its failures. CT_ERR_NOMEM. */
int ct_runs_add(struct ct_analysis *into, const struct ct_analysis *from);

void ct_runs_free(struct ct_analysis *analysis);
