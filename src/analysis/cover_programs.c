/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the programs of a capture, with the places where they were loaded, to coverage. */
#include "analysis/cover.h"
#include "analysis/program_table.h"
#include "coretap/programs.h"

int ct_cover_number(struct ct_cover *cover, struct ct_program *program, uint32_t *number)
{
    struct ct_program_identity known;
    const int rc = ct_program_identify(program, &known);
    return rc ? rc : ct_cover_program(cover, &known, number);
}

static int place(struct ct_cover *cover, struct ct_program *program)
{
    struct ct_cover_place place = {.bias = program->bias, .memories = program->memories};
    uint32_t number = 0;
    int rc = ct_cover_number(cover, program, &number);
    if (!rc)
        rc = ct_program_code(program, &place.code, &place.code_count);
    return rc ? rc : ct_cover_add_place(cover, number, &place);
}

int ct_cover_set_programs(struct ct_analysis *analysis, struct ct_programs *programs)
{
    struct ct_cover *cover = (struct ct_cover *)analysis;
    int rc = CT_OK;
    ct_cover_clear_places(cover);
    for (size_t i = 0; i < ct_programs_count(programs) && !rc; i++)
        rc = place(cover, ct_programs_at(programs, i));
    return rc;
}
