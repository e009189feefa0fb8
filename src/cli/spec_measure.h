/* SPDX-License-Identifier: Apache-2.0 */
/* Times from one place to another, measured along captures by a specification. */
#ifndef CT_CLI_SPEC_MEASURE_H
#define CT_CLI_SPEC_MEASURE_H

#include "cli/cli.h"
#include "cli/ran.h"

enum {
    SPEC_WAYS = 256,
    SPEC_NAME = 80,      /* bytes of a word that stands for a function, its zero included */
    SPEC_FUNCTION = 400, /* bytes of the name of a function */
    SPEC_TEXT = SPEC_WAYS * 2400
};

/* One way that is measured. */
struct cli_spec_way {
    char name[SPEC_NAME];
    uint64_t count, least, most;
};

/* Start with all zero. */
struct cli_spec_ways {
    struct cli_spec_way all[SPEC_WAYS];
    size_t count;
    char text[SPEC_TEXT]; /* definitions of the ends of all ways */
    size_t size;
    bool timed;         /* a capture has cycle counts */
    struct cli_ran ran; /* in all captures */
    bool kept_nothing;  /* the filter kept nothing, which was reported */
};

/* Adds a way: of a function from its call to its return, or of a pair "FROM TO". False after a message. */
bool cli_spec_add_function(struct cli_spec_ways *ways, const char *name);
bool cli_spec_add_pair(struct cli_spec_ways *ways, const char *text);

/* Measures the ways in the captures of `args`; `elf` is the number of the option. Result: enum cli_exit. */
int cli_spec_measure(struct cli_spec_ways *ways, const struct cli_args *args, size_t elf);

/* ---- spec_functions.c ---- */

/* Functions by the time that whole runs of them took. Start with all zero. */
struct cli_spec_functions {
    struct cli_spec_function {
        char *name;
        uint64_t cycles;
    } * all;
    size_t count;
    struct cli_ran ran; /* in all captures */
    bool kept_nothing;  /* the filter kept nothing, which was reported */
};

/* Adds the functions that ran in the captures of `args`. Result: enum cli_exit. */
int cli_spec_functions_find(struct cli_spec_functions *functions, const struct cli_args *args, size_t elf);

/* Sorts the functions: the longest time first, then by name. */
void cli_spec_functions_sort(struct cli_spec_functions *functions);
void cli_spec_functions_free(struct cli_spec_functions *functions);

#endif
