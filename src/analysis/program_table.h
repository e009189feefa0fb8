/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that a result is of, each once, whatever its name was and wherever it lay. */
#ifndef CT_ANALYSIS_PROGRAM_TABLE_H
#define CT_ANALYSIS_PROGRAM_TABLE_H

#include "coretap/analysis.h"
#include "coretap/programs.h"

#include <stdbool.h>

#define CT_MOST_BUILD_ID 64
#define CT_MOST_NAME     4096

struct ct_tabled_program;

struct ct_program_table {
    struct ct_tabled_program *programs;
    size_t count;
};

void ct_program_table_clear(struct ct_program_table *table);

/* Finds the number of a program, which is added when it is new. Programs are equal when their build ids are;
 * those without one, when their names are. Messages go to the context of `analysis`, which owns the table.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_program_table_add(struct ct_program_table *table, const struct ct_analysis *analysis,
                         const struct ct_program_identity *program, uint32_t *number);

/* Adds the programs of `from`. Returns, by their numbers there, their numbers in `table`, which the caller
 * frees; NULL after an error, which is *rc. The errors of ct_program_table_add. */
uint32_t *ct_program_table_join(struct ct_program_table *table, const struct ct_analysis *analysis,
                                const struct ct_program_table *from, int *rc);

/* Returns a program by its number. The table owns what it points to. */
struct ct_program_identity ct_program_table_at(const struct ct_program_table *table, uint32_t number);

/* Returns the numbers of the programs sorted by build id and name, an order that does not depend on the one
 * in which they were added. The caller frees it. NULL without memory. */
uint32_t *ct_program_table_order(const struct ct_program_table *table);

/* Numbers the programs in that order. *numbers has the new numbers by the old ones, for the caller to free;
 * NULL when nothing changed. CT_ERR_NOMEM. */
int ct_program_table_sort(struct ct_program_table *table, uint32_t **numbers);

/* Finds what a program that ran is known by. The errors of ct_program_symbols. */
int ct_program_identify(struct ct_program *program, struct ct_program_identity *identity);

/* Makes the name of a function for people, which the caller frees; *plain is NULL when it equals the name in
 * the file. CT_ERR_NOMEM. */
int ct_plain_name(struct ct_ctx *ctx, const char *name, char **plain);

/* Writes the lines of one program. */
void ct_save_program(struct ct_save *to, const struct ct_program_identity *program);

/* Takes a line that begins with "program", or with "started", which belongs to the program before it.
 * CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_load_program(struct ct_load *from, struct ct_program_table *table, const struct ct_analysis *analysis,
                    bool started, uint32_t *number);
int ct_load_started(struct ct_load *from, struct ct_program_table *table, uint32_t number);

#endif
