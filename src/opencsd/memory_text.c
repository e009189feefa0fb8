/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the memory that a tree has access to. */
#include <inttypes.h>
#include <stdio.h>

#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    LINE_SIZE = 4352, /* longest line: a path, and a bit */
};

static const struct {
    uint32_t space;
    const char *name;
} spaces[] = {
    {OCSD_MEM_SPACE_ANY, "Any"},   {OCSD_MEM_SPACE_S, "Any S"},   {OCSD_MEM_SPACE_N, "Any NS"},
    {OCSD_MEM_SPACE_EL1S, "EL1S"}, {OCSD_MEM_SPACE_EL1N, "EL1N"}, {OCSD_MEM_SPACE_EL2, "EL2"},
    {OCSD_MEM_SPACE_EL3, "EL3"},   {OCSD_MEM_SPACE_EL2S, "EL2S"},
};

static const char *space_name(uint32_t space)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (spaces[i].space == space)
            return spaces[i].name;
    return "None";
}

static void print_accessor(const struct ct_ocsd_accessor *a)
{
    char line[LINE_SIZE];
    const int used = snprintf(line, sizeof line,
                              "Gen_Info : %-4sAcc; Range::0x%02" PRIx64 ":%02" PRIx64 "; Mem Space::%s\n",
                              a->kind, a->first, a->last, space_name(a->space));
    if (a->path)
        snprintf(line + used, sizeof line - (size_t)used, "Filename=%s\n", a->path);
    ct_ocsd_print(line);
}

void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle)
{
    const struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return;
    ct_ocsd_print("Gen_Info : Mapped Memory Accessors\n");
    for (size_t i = 0; i < tree->memory.count; i++)
        print_accessor(&tree->memory.accessors[i]);
    ct_ocsd_print("Gen_Info : ========================\n");
}
