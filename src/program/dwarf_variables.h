/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the search for a variable and the search for its type. */
#pragma once

#include "coretap/variable.h"
#include "program/dwarf_split.h"

#define CT_VARIABLE_DEPTH 64 /* maximal nesting of scopes; deeper ones are left out */

/* A search for a variable. */
struct ct_variable_search {
    struct ct_dwarf_reader reader; /* must come first: the reader's callback finds the search by it */
    struct ct_arena *arena;
    const char *name;   /* as requested */
    const char *file;   /* file that declares it, or NULL */
    const char *scoped; /* its name, with the requested scopes */
    const char *last;   /* the last component of `scoped` */
    const char *path;   /* fields and indices after the name: "", ".a[2]" */
    size_t budget;      /* entries that may still be read; there cannot be more than bytes */
    struct ct_variable *out;
    struct ct_variable_candidate *candidates;
    size_t candidate_count;
    struct ct_variable_declaration *declarations; /* declarations in the current unit */
    size_t declaration_count;
    Dwarf_Die *definitions; /* definitions that may complete a declaration */
    size_t definition_count;
    const char *scopes[CT_VARIABLE_DEPTH]; /* around the current entry; NULL: a scope without a name */
    unsigned depth;
    const char *unit;                 /* source file of the unit */
    struct ct_split_finder split;     /* finds split units */
    struct ct_variable_split *splits; /* the split files with candidates */
};

/* Returns the name of an entry; NULL when it has none. */
const char *ct_dwarf_name(struct ct_variable_search *search, Dwarf_Die *die);

/* Sets out->type, form and related members for the variable at `addr` with the type of `variable`, after
 * following the search's path. CT_ERR_UNSUPPORTED: there is no such part; CT_ERR_NOMEM. */
int ct_dwarf_read_type(struct ct_variable_search *search, Dwarf_Die *variable, uint64_t addr);
