/* SPDX-License-Identifier: Apache-2.0 */
#include "record/programs.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/room.h"

/* Adds a program, unless it is there already. Its file is `kept` open, or else found at `path`. */
static int add(struct ct_ctx *ctx, struct ct_record_programs *p, const char *path,
               const struct ct_kept_file *kept, uint64_t bias, const struct ct_build_id *id)
{
    const char *name = kept ? kept->path : path;
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->all[i].path, name) == 0 && p->all[i].bias == bias)
            return CT_OK;
    char *copy = CT_PUSH_ROOM(p->all, p->count) ? strdup(name) : NULL;
    if (!copy)
        return ct_fail_nomem(ctx, path);
    p->all[p->count] = (struct ct_snapshot_program){.path = copy, .kept = kept, .bias = bias};
    ct_build_id_text(id, p->all[p->count++].build_id);
    return CT_OK;
}

/* Reads the headers of a file, which is `kept` open or else at `path`. Returns false when that fails. */
static bool look(const char *path, const struct ct_kept_file *kept, struct ct_elf_look *elf)
{
    char open[CT_KEPT_PATH];
    if (kept)
        ct_kept_path(kept, open);
    return ct_elf_look(&ct_files_system, kept ? open : path, elf);
}

int ct_record_programs_map(struct ct_ctx *ctx, struct ct_record_programs *p, uint64_t addr,
                           const struct trace_file *file)
{
    struct ct_elf_look elf;
    const struct ct_kept_file *kept;
    const uint64_t offset = file->offset[0] | (uint64_t)file->offset[1] << 32;
    const uint64_t length = file->length[0] | (uint64_t)file->length[1] << 32;
    uint64_t bias;
    const uint64_t inode = file->inode[0] | (uint64_t)file->inode[1] << 32;
    const int rc = ct_kept_mapped(ctx, &p->kept, file->path, inode, p->child, &kept);
    if (rc || !look(file->path, kept, &elf) ||
        !ct_elf_code_bias(elf.code, elf.code_count, addr, offset, length, &bias))
        return rc;
    return add(ctx, p, file->path, kept, bias, &elf.id);
}

int ct_record_programs_first(struct ct_ctx *ctx, struct ct_record_programs *p, const char *path,
                             uint64_t bias)
{
    struct ct_elf_look elf = {0};
    const struct ct_kept_file *kept;
    int rc = ct_kept_mapped(ctx, &p->kept, path, 0, p->child, &kept);
    if (!rc) {
        (void)look(path, kept, &elf); /* an unreadable file has no build id */
        rc = add(ctx, p, path, kept, bias, &elf.id);
    }
    if (rc)
        return rc;
    const char *name = kept ? kept->path : path;
    size_t at = 0;
    while (strcmp(p->all[at].path, name) != 0 || p->all[at].bias != bias)
        at++;
    const struct ct_snapshot_program first = p->all[at];
    memmove(p->all + 1, p->all, at * sizeof *p->all);
    p->all[0] = first;
    return CT_OK;
}

/* Copies the file of a program and names the copy in all programs of that file. */
static int keep(struct ct_ctx *ctx, struct ct_record_programs *p, const struct ct_kept_file *kept,
                const char *directory)
{
    char name[300];
    const int rc = ct_kept_copy(ctx, kept, directory, name);
    for (size_t i = 0; i < p->count && !rc; i++) {
        if (p->all[i].kept != kept)
            continue;
        char *path = strdup(name);
        if (!path)
            return ct_fail_nomem(ctx, name);
        free((char *)(uintptr_t)p->all[i].path);
        p->all[i].path = path;
        p->all[i].kept = NULL;
    }
    return rc;
}

int ct_record_programs_keep(struct ct_ctx *ctx, struct ct_record_programs *p, const char *directory)
{
    int rc = CT_OK;
    for (size_t i = 0; i < p->count && !rc; i++)
        if (p->all[i].kept && ct_kept_is_gone(p->all[i].kept))
            rc = keep(ctx, p, p->all[i].kept, directory);
    return rc;
}

void ct_record_programs_free(struct ct_record_programs *p)
{
    for (size_t i = 0; i < p->count; i++)
        free((char *)p->all[i].path);
    free(p->all);
    ct_kept_free(&p->kept);
}
