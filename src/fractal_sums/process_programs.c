/* SPDX-License-Identifier: Apache-2.0 */
#include "fractal_sums/process_programs.h"

#include <string.h>

#include "base/path.h"

/* Returns the index of the program whose file has this name, or the number of programs when none has it. */
static size_t with_name(struct ct_programs *set, const char *name)
{
    const struct ct_program *program;
    size_t p = 0;
    while ((program = ct_programs_at(set, p)) && strcmp(ct_base_name(program->path), name) != 0)
        p++;
    return p;
}

const struct ct_fractal_process_program *
ct_fractal_process_program(struct ct_fractal_process_programs *programs,
                           const struct ct_fractal_process_names *names, struct ct_programs *set,
                           uint32_t process)
{
    struct ct_fractal_process_program *p = &programs->all[process];
    const char *file = names->files[process], *first = names->files[0];
    if (p->known || !file || !ct_programs_count(set))
        return p;
    size_t at = with_name(set, file);
    if (at == ct_programs_count(set) && first && strcmp(file, first) == 0)
        at = 0;
    p->known = true;
    p->stranger = at == ct_programs_count(set);
    if (p->stranger || at >= UINT8_MAX - 1)
        return p;
    p->program = (uint8_t)(at + 1);
    p->moved = names->placed[process] ? names->bias[process] - ct_programs_at(set, at)->bias : 0;
    return p;
}
