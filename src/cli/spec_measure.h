/* SPDX-License-Identifier: Apache-2.0 */
/* Times from one place to another, measured in captures by a specification. */
#pragma once

#include "cli/cli.h"
#include "cli/ran.h"

enum {
    SPEC_WAYS = 256,
    SPEC_NAME = 80,      /* most bytes of the identifier for a function, with its NUL */
    SPEC_FUNCTION = 400, /* most bytes of the name of a function */
    SPEC_TEXT = SPEC_WAYS * 2400
};

/* An interval from one place to another that is measured. */
struct cli_spec_way {
    char name[SPEC_NAME];
    uint64_t count, least, most;
};

/* The intervals. All zeros is an empty list. */
struct cli_spec_ways {
    struct cli_spec_way all[SPEC_WAYS];
    size_t count;
    char text[SPEC_TEXT]; /* definitions of both ends of all intervals */
    size_t size;
    bool timed;        /* a capture has cycle counts */
    struct ct_ran ran; /* over all captures */
    bool kept_nothing; /* the filter kept nothing, which was reported */
};

/* Add an interval: from a function's call to its return, or of a pair "FROM TO". Returns false after a
 * message. */
bool cli_spec_add_function(struct cli_spec_ways *ways, const char *name);
bool cli_spec_add_pair(struct cli_spec_ways *ways, const char *text);

/* Measures the intervals in the captures of `args`. `elf` is the number of the option. Returns an enum
 * cli_exit. */
int cli_spec_measure(struct cli_spec_ways *ways, const struct cli_args *args, size_t elf);

/* ---- spec_functions.c ---- */

/* Functions and the time of their complete runs. All zeros is an empty list. */
struct cli_spec_functions {
    struct cli_spec_function {
        char *name;
        uint64_t cycles;
    } * all;
    size_t count;
    struct ct_ran ran; /* over all captures */
    bool kept_nothing; /* the filter kept nothing, which was reported */
};

/* Adds the functions that ran in the captures of `args`. Returns an enum cli_exit. */
int cli_spec_functions_find(struct cli_spec_functions *functions, const struct cli_args *args, size_t elf);

/* Sorts the functions: the longest time first, then by name. */
void cli_spec_functions_sort(struct cli_spec_functions *functions);
void cli_spec_functions_free(struct cli_spec_functions *functions);
