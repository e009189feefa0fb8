/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the programs that watchpoints are of each process of an event log runs, and where. */
#ifndef CT_FRACTAL_SUMS_PROCESS_PROGRAMS_H
#define CT_FRACTAL_SUMS_PROCESS_PROGRAMS_H

#include <stdbool.h>

#include "coretap/programs.h"
#include "fractal_sums/process_names.h"

/* A process. */
struct ct_fractal_process_program {
    bool known;      /* the log said what it runs, and that is looked up */
    bool stranger;   /* the process runs none of the programs, and has none of their places */
    uint8_t program; /* number in struct ct_watch_place; 0: places of all programs count */
    uint64_t moved;  /* what is added to the addresses of that program as it is in the set */
};

/* All zero: the log said nothing yet. */
struct ct_fractal_process_programs {
    struct ct_fractal_process_program all[256];
};

/* Looks a process up once the log has said what it runs. A process runs the program whose file has the same
 * name. If there is none, the first program stands for that of process 0. */
const struct ct_fractal_process_program *
ct_fractal_process_program(struct ct_fractal_process_programs *programs,
                           const struct ct_fractal_process_names *names, struct ct_programs *set,
                           uint32_t process);

/* Tells whether a place can be one of the process. */
static inline bool ct_fractal_process_has(const struct ct_fractal_process_program *p, uint8_t program)
{
    return !program || (!p->stranger && (!p->program || program == p->program));
}

#endif
