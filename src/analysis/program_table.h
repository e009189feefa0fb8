/* SPDX-License-Identifier: Apache-2.0 */
/* The programs that a result is about, each once, whatever its name and load address. */
#pragma once

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

/* Returns whether two programs are the same: by build id and the addresses of their code; without build ids,
 * by name. */
bool ct_program_is_same(const struct ct_program_identity *a, const struct ct_program_identity *b);

/* Finds the number of a program, and adds it when it is new. Messages go to the context of `analysis`, which
 * owns the table. CT_ERR_ARG, CT_ERR_NOMEM. */
int ct_program_table_add(struct ct_program_table *table, const struct ct_analysis *analysis,
                         const struct ct_program_identity *program, uint32_t *number);

/* Adds the programs of `from`. Returns an array, to be freed by the caller, that maps their numbers to those
 * in `table`. Returns NULL after an error and sets *rc to it: those of ct_program_table_add. */
uint32_t *ct_program_table_join(struct ct_program_table *table, const struct ct_analysis *analysis,
                                const struct ct_program_table *from, int *rc);

/* Returns a program by its number. The table owns the strings. */
struct ct_program_identity ct_program_table_at(const struct ct_program_table *table, uint32_t number);

/* Returns the numbers of the programs sorted by build id and addresses, or by name, so that the order does
 * not depend on that of insertion. The caller frees the array. Returns NULL when out of memory. */
uint32_t *ct_program_table_order(const struct ct_program_table *table);

/* Renumbers the programs in the order of ct_program_table_order. *numbers maps old numbers to new ones, to be
 * freed by the caller; NULL when nothing changed. CT_ERR_NOMEM. */
int ct_program_table_sort(struct ct_program_table *table, uint32_t **numbers);

/* Finds the identity of a program that ran. The errors of ct_program_symbols. */
int ct_program_identify(struct ct_program *program, struct ct_program_identity *identity);

/* Makes the readable name of a function, to be freed by the caller. *plain is NULL when it equals the name in
 * the file. CT_ERR_NOMEM. */
int ct_plain_name(struct ct_ctx *ctx, const char *name, char **plain);

/* Writes the lines of a program. */
void ct_save_program(struct ct_save *to, const struct ct_program_identity *program);

/* Load a line that begins with "program", and one that begins with "started", which belongs to the program
 * before it. CT_ERR_FORMAT, CT_ERR_NOMEM. */
int ct_load_program(struct ct_load *from, struct ct_program_table *table, const struct ct_analysis *analysis,
                    bool started, uint32_t *number);
int ct_load_started(struct ct_load *from, struct ct_program_table *table, uint32_t number);
