/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the list of memory accessors of a tree. */
#include <inttypes.h>

#include "opencsd/layout.h"
#include "opencsd/line.h"
#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    TEXT_SIZE = 8192, /* longest text of an accessor: a path and about fifty regions */
};

struct space {
    uint32_t space;
    const char *name; /* NULL ends the list */
};

/* names of 1.3.3, which has none for OCSD_MEM_SPACE_EL2S; single spaces come last */
static const struct space early_spaces[] = {
    {OCSD_MEM_SPACE_ANY, "Any"},   {OCSD_MEM_SPACE_S, "Any S"},
    {OCSD_MEM_SPACE_N, "Any NS"},  {OCSD_MEM_SPACE_EL1S, "EL1S"},
    {OCSD_MEM_SPACE_EL1N, "EL1N"}, {OCSD_MEM_SPACE_EL2, "EL2"},
    {OCSD_MEM_SPACE_EL3, "EL3"},   {0, NULL},
};

/* names of 1.5.5, whose headers include the Realm Management Extension */
static const struct space late_spaces[] = {
    {0xff, "Any"},  {0x19, "Any S"}, {0x06, "Any NS"}, {0x60, "Any R"}, {0x01, "EL1S"},
    {0x02, "EL1N"}, {0x04, "EL2N"},  {0x08, "EL3"},    {0x10, "EL2S"},  {0x20, "EL1R"},
    {0x40, "EL2R"}, {0x80, "Root"},  {0, NULL},
};

void ct_ocsd_line_space(struct ct_ocsd_line *line, uint32_t space)
{
    const struct space *spaces = ct_ocsd_version() >= CT_OCSD_LATE_VERSION ? late_spaces : early_spaces;
    for (const struct space *s = spaces; s->name; s++)
        if (s->space == space) {
            ct_ocsd_line_say(line, s->name);
            return;
        }
    for (const struct space *s = spaces; s->name; s++)
        if (space & s->space && !(s->space & (s->space - 1)))
            ct_ocsd_line_add(line, "%s,", s->name);
}

static void add_range(struct ct_ocsd_line *line, const char *kind, uint64_t first, uint64_t last,
                      uint32_t space)
{
    ct_ocsd_line_add(line, "%-4sAcc; Range::0x%02" PRIx64 ":%" PRIx64 "; Mem Space::", kind, first, last);
    ct_ocsd_line_space(line, space);
    ct_ocsd_line_say(line, "\n");
}

/* Returns the memory space of a file's further regions. */
static uint32_t any_space(void)
{
    return ct_ocsd_version() >= CT_OCSD_LATE_VERSION ? late_spaces[0].space : early_spaces[0].space;
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
                  i || !a->has_base ? any_space() : a->space);
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
