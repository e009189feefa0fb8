/* SPDX-License-Identifier: Apache-2.0 */
/* The ELF files that ran, with where they were loaded: the capture names them. */
#include <stdlib.h>
#include <string.h>

#include "cli/record.h"
#include "input/elf_look.h"

static int add(struct cli_record_programs *p, const char *path, uint64_t bias, const struct ct_build_id *id)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->all[i].path, path) == 0 && p->all[i].bias == bias)
            return CLI_CLEAN;
    char *copy = strdup(path);
    struct ct_snapshot_program *all = copy ? realloc(p->all, (p->count + 1) * sizeof *all) : NULL;
    if (!all) {
        free(copy);
        cli_no_memory();
        return CLI_FAILED;
    }
    p->all = all;
    all[p->count] = (struct ct_snapshot_program){.path = copy, .bias = bias};
    ct_build_id_text(id, all[p->count++].build_id);
    return CLI_CLEAN;
}

int cli_record_programs_map(struct cli_record_programs *p, uint64_t addr, const struct trace_file *file)
{
    struct ct_elf_look elf;
    const uint64_t offset = file->offset[0] | (uint64_t)file->offset[1] << 32;
    const uint64_t length = file->length[0] | (uint64_t)file->length[1] << 32;
    uint64_t bias;
    if (!ct_elf_look(&ct_files_system, file->path, &elf) ||
        !ct_elf_code_bias(elf.code, elf.code_count, addr, offset, length, &bias))
        return CLI_CLEAN;
    return add(p, file->path, bias, &elf.id);
}

int cli_record_programs_first(struct cli_record_programs *p, const char *path, uint64_t bias)
{
    struct ct_elf_look elf = {0};
    (void)ct_elf_look(&ct_files_system, path, &elf); /* then it has no build id */
    if (add(p, path, bias, &elf.id))
        return CLI_FAILED;
    size_t at = 0;
    while (strcmp(p->all[at].path, path) != 0 || p->all[at].bias != bias)
        at++;
    const struct ct_snapshot_program first = p->all[at];
    memmove(p->all + 1, p->all, at * sizeof *p->all);
    p->all[0] = first;
    return CLI_CLEAN;
}

void cli_record_programs_free(struct cli_record_programs *p)
{
    for (size_t i = 0; i < p->count; i++)
        free((char *)p->all[i].path);
    free(p->all);
}
