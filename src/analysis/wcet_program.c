/* SPDX-License-Identifier: Apache-2.0 */
/* Identifies the program whose longest time is wanted, by what stays the same from capture to capture. */
#include <string.h>

#include "analysis/program_table.h"
#include "analysis/timing_sums.h"
#include "analysis/wcet.h"
#include "base/require.h"
#include "coretap/learn.h"

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

/* ---- targets of computed branches ---- */

int ct_wcet_learn(struct ct_wcet *w, const struct ct_graph *graph)
{
    CT_REQUIRE_OF(w, graph);
    struct ct_program *program;
    int rc = w->programs ? CT_OK : ct_cfg_learn(w->ctx, w->cfg, graph, 0);
    for (size_t i = 0; !rc && (program = ct_programs_at(w->programs, i)); i++)
        if (ct_wcet_is_of(w, program))
            rc = ct_cfg_learn(w->ctx, w->cfg, graph, 0 - program->bias);
    return rc;
}

int ct_wcet_learn_times(struct ct_wcet *w, struct ct_timing_sums *sums)
{
    CT_REQUIRE_OF(w, sums);
    struct ct_timing_found found;
    const int rc = ct_timing_sums_find(sums, &found);
    const uint32_t program = rc ? CT_TIMING_NO_PROGRAM : ct_wcet_program(w, sums);
    return program == CT_TIMING_NO_PROGRAM ? rc : ct_cfg_learn_times(w->ctx, w->cfg, &found, program);
}
