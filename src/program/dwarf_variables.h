/* SPDX-License-Identifier: Apache-2.0 */
/* What finding a variable and finding its type share. */
#ifndef CT_PROGRAM_DWARF_VARIABLES_H
#define CT_PROGRAM_DWARF_VARIABLES_H

#include "coretap/variable.h"
#include "program/dwarf_split.h"

#define CT_VARIABLE_DEPTH 64 /* of scopes in scopes; deeper ones are left out */

/* A variable that is looked for, and what is known of it. */
struct ct_variable_search {
    struct ct_dwarf_reader reader; /* must come first: the reader's callback finds the search by it */
    struct ct_arena *arena;
    const char *name;   /* as it was asked for */
    const char *file;   /* that it is declared in, or NULL */
    const char *scoped; /* its name, with the scopes that were given */
    const char *last;   /* the last part of that */
    const char *path;   /* fields and indices behind it: "", ".a[2]" */
    size_t budget;      /* entries that may still be looked at; there cannot be more of them than bytes */
    struct ct_variable *out;
    struct ct_variable_candidate *candidates;
    size_t candidate_count;
    struct ct_variable_declaration *declarations; /* declarations in the unit that is read */
    size_t declaration_count;
    Dwarf_Die *definitions; /* definitions that may complete a declaration */
    size_t definition_count;
    const char *scopes[CT_VARIABLE_DEPTH]; /* around the entry that is looked at; NULL: one without a name */
    unsigned depth;
    const char *unit;                 /* file that the unit was made of */
    struct ct_split_finder split;     /* finds units in files of their own */
    struct ct_variable_split *splits; /* those files that have candidates */
};

/* Fills in out->type, form and all that belongs to it for what lies at `addr` with the type of `variable`,
 * and moves along the path of the search. CT_ERR_UNSUPPORTED: there is no such part; CT_ERR_NOMEM. */
int ct_dwarf_read_type(struct ct_variable_search *search, Dwarf_Die *variable, uint64_t addr);

#endif
