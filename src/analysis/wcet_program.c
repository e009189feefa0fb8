/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the program whose longest time is wanted, by what stays the same from capture to capture. */
#include <string.h>

#include "analysis/program_table.h"
#include "analysis/timing_sums.h"
#include "analysis/wcet.h"
#include "base/require.h"

int ct_wcet_set_programs(struct ct_wcet *w, struct ct_program *program, struct ct_programs *programs)
{
    CT_REQUIRE(NULL, w);
    w->programs = programs;
    w->identity = (struct ct_program_identity){0};
    return program ? ct_program_identify(program, &w->identity) : CT_OK;
}

/* Returns whether a program is the one whose control flow is analysed. */
static bool is_program(const struct ct_wcet *w, const struct ct_program_identity *program)
{
    return !w->identity.name || ct_program_is_same(&w->identity, program);
}

int ct_wcet_is_of(const struct ct_wcet *w, struct ct_program *program)
{
    struct ct_program_identity identity;
    return w && program && ct_program_identify(program, &identity) == CT_OK && is_program(w, &identity);
}

uint32_t ct_wcet_program(const struct ct_wcet *w, const struct ct_timing_sums *sums)
{
    const size_t count = w && sums && w->identity.name ? sums->table.count : 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct ct_program_identity program = ct_timing_sums_program(sums, i);
        if (is_program(w, &program))
            return i;
    }
    return CT_TIMING_NO_PROGRAM;
}
