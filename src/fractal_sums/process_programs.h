/* SPDX-License-Identifier: Apache-2.0 */
/* Maps each process of an event log to one of the programs that have watchpoints, and to its load address. */
#pragma once

#include <stdbool.h>

#include "coretap/programs.h"
#include "fractal_sums/process_names.h"

/* The program that one process runs. */
struct ct_fractal_process_program {
    bool known;      /* the log has named the program, and the lookup is done */
    bool stranger;   /* the process runs none of the programs, so it has none of their places */
    uint8_t program; /* program number as in struct ct_watch_place; 0: places of all programs count */
    uint64_t moved;  /* difference between the process's addresses and the program's addresses in the set */
};

/* Programs by process number. All zero: the log has named none yet. */
struct ct_fractal_process_programs {
    struct ct_fractal_process_program all[256];
};

/* Looks up the program of a process, once the log has named it: the program whose file has the same name. If
 * none has that name, process 0 gets the first program. */
const struct ct_fractal_process_program *
ct_fractal_process_program(struct ct_fractal_process_programs *programs,
                           const struct ct_fractal_process_names *names, struct ct_programs *set,
                           uint32_t process);

/* Returns whether places of `program` can belong to the process. Program 0 belongs to every process. */
static inline bool ct_fractal_process_has(const struct ct_fractal_process_program *p, uint8_t program)
{
    return !program || (!p->stranger && (!p->program || program == p->program));
}
