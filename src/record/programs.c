/* SPDX-License-Identifier: Apache-2.0 */
#include "record/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/room.h"

static int add(struct ct_ctx *ctx, struct ct_record_programs *p, const char *path, uint64_t bias,
               const struct ct_build_id *id)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->all[i].path, path) == 0 && p->all[i].bias == bias)
            return CT_OK;
    char *copy = CT_PUSH_ROOM(p->all, p->count) ? strdup(path) : NULL;
    if (!copy)
        return ct_fail_nomem(ctx, path);
    p->all[p->count] = (struct ct_snapshot_program){.path = copy, .bias = bias};
    ct_build_id_text(id, p->all[p->count++].build_id);
    return CT_OK;
}

int ct_record_programs_map(struct ct_ctx *ctx, struct ct_record_programs *p, uint64_t addr,
                           const struct trace_file *file)
{
    struct ct_elf_look elf;
    const uint64_t offset = file->offset[0] | (uint64_t)file->offset[1] << 32;
    const uint64_t length = file->length[0] | (uint64_t)file->length[1] << 32;
    uint64_t bias;
    if (!ct_elf_look(&ct_files_system, file->path, &elf) ||
        !ct_elf_code_bias(elf.code, elf.code_count, addr, offset, length, &bias))
        return CT_OK;
    return add(ctx, p, file->path, bias, &elf.id);
}

int ct_record_programs_first(struct ct_ctx *ctx, struct ct_record_programs *p, const char *path,
                             uint64_t bias)
{
    struct ct_elf_look elf = {0};
    (void)ct_elf_look(&ct_files_system, path, &elf); /* an unreadable file has no build id */
    const int rc = add(ctx, p, path, bias, &elf.id);
    if (rc)
        return rc;
    size_t at = 0;
    while (strcmp(p->all[at].path, path) != 0 || p->all[at].bias != bias)
        at++;
    const struct ct_snapshot_program first = p->all[at];
    memmove(p->all + 1, p->all, at * sizeof *p->all);
    p->all[0] = first;
    return CT_OK;
}

void ct_record_programs_free(struct ct_record_programs *p)
{
    for (size_t i = 0; i < p->count; i++)
        free((char *)p->all[i].path);
    free(p->all);
}
