/* SPDX-License-Identifier: Apache-2.0 */
/* The list of the memory that a tree has access to. */
#include <inttypes.h>

#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    TEXT_SIZE = 8192, /* longest text of an accessor: a path, and some fifty regions */
};

static const struct space {
    uint32_t space;
    const char *name;
} spaces[] = {
    {OCSD_MEM_SPACE_EL1S, "EL1S"}, {OCSD_MEM_SPACE_EL1N, "EL1N"}, {OCSD_MEM_SPACE_EL2, "EL2"},
    {OCSD_MEM_SPACE_EL3, "EL3"},   {OCSD_MEM_SPACE_ANY, "Any"},   {OCSD_MEM_SPACE_S, "Any S"},
    {OCSD_MEM_SPACE_N, "Any NS"},
};

enum {
    SINGLE_SPACES = 4, /* the first of them; 1.3.3 has no word for OCSD_MEM_SPACE_EL2S */
};

static void add_space(struct ct_ocsd_line *line, uint32_t space)
{
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++)
        if (spaces[i].space == space) {
            ct_ocsd_line_say(line, spaces[i].name);
            return;
        }
    for (size_t i = 0; i < SINGLE_SPACES; i++)
        if (space & spaces[i].space)
            ct_ocsd_line_add(line, "%s,", spaces[i].name);
}

static void add_range(struct ct_ocsd_line *line, const char *kind, uint64_t first, uint64_t last,
                      uint32_t space)
{
    ct_ocsd_line_add(line, "%-4sAcc; Range::0x%02" PRIx64 ":%" PRIx64 "; Mem Space::", kind, first, last);
    add_space(line, space);
    ct_ocsd_line_say(line, "\n");
}

static void print_accessor(const struct ct_ocsd_accessor *a)
{
    char text[TEXT_SIZE];
    struct ct_ocsd_line line = {.text = text, .size = sizeof text};
    ct_ocsd_line_say(&line, "Gen_Info : ");
    if (!a->path)
        add_range(&line, a->kind, a->first, a->last, a->space);
    for (size_t i = 0; i < a->region_count; i++)
        add_range(&line, a->kind, a->regions[i].first, a->regions[i].last,
                  i || !a->has_base ? OCSD_MEM_SPACE_ANY : a->space);
    if (a->path)
        ct_ocsd_line_add(&line, "Filename=%s\n", a->path);
    ct_ocsd_log_text(OCSD_ERR_SEV_INFO, text);
}

void ocsd_tl_log_mapped_mem_ranges(const dcd_tree_handle_t handle)
{
    const struct ct_ocsd_tree *tree = handle;
    if (!tree || !tree->memory.used)
        return;
    ct_ocsd_log_text(OCSD_ERR_SEV_INFO, "Gen_Info : Mapped Memory Accessors\n");
    for (size_t i = 0; i < tree->memory.count; i++)
        print_accessor(&tree->memory.accessors[i]);
    ct_ocsd_log_text(OCSD_ERR_SEV_INFO, "Gen_Info : ========================\n");
}
