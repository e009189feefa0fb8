/* SPDX-License-Identifier: Apache-2.0 */
/* What finding a variable and finding its type share. */
#ifndef CT_PROGRAM_DWARF_VARIABLES_H
#define CT_PROGRAM_DWARF_VARIABLES_H

#include "base/arena.h"
#include "coretap/variable.h"
#include "program/dwarf_lines.h"

#define CT_VARIABLE_DEPTH 64 /* of scopes in scopes; deeper ones are left out */

/* The addresses of a unit that lies in another file: they are in the program, by number. */
struct ct_variable_addresses {
    const uint8_t *all; /* NULL: the unit is in the program itself */
    size_t size;
    uint8_t bytes; /* of each */
};

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
    struct ct_variable_declaration *declarations; /* in the unit that is read … */
    size_t declaration_count;
    Dwarf_Die *definitions; /* … and what may complete one of them */
    size_t definition_count;
    const char *scopes[CT_VARIABLE_DEPTH]; /* around the entry that is looked at; NULL: one without a name */
    unsigned depth;
    const char *unit;                       /* file that the unit was made of */
    struct ct_variable_split *splits;       /* files of their own that candidates are in (.dwo) */
    struct ct_mapped_file *package;         /* with such files beside the program (.dwp), or NULL … */
    bool no_package;                        /* … because there is none */
    const char *missing;                    /* the first such file that is not there, or NULL */
    const char *stale;                      /* … that is there, and of another compilation */
    struct ct_variable_addresses addresses; /* of the unit that is read */
};

/* Reads the unit that the compiler left in a file of its own, for which `skeleton` stands. Units whose file
 * is not there are noted. CT_ERR_NOMEM, CT_ERR_LIMIT. */
int ct_dwarf_read_split(struct ct_variable_search *search, Dwarf_CU *unit, Dwarf_Die *skeleton);
void ct_dwarf_free_splits(struct ct_variable_search *search);

/* Gives the address that an operation of a unit in another file has by its number. False: there is none. */
bool ct_dwarf_split_address(const struct ct_variable_search *search, uint64_t number, uint64_t *addr);

/* Reads the variables of a unit. CT_ERR_NOMEM. */
int ct_dwarf_read_variables(struct ct_variable_search *search, Dwarf_Die *unit);

/* Fills in out->type, form and all that belongs to it for what lies at `addr` with the type of `variable`,
 * and moves along the path of the search. CT_ERR_UNSUPPORTED: there is no such part; CT_ERR_NOMEM. */
int ct_dwarf_read_type(struct ct_variable_search *search, Dwarf_Die *variable, uint64_t addr);

#endif
