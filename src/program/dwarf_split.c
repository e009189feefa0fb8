/* SPDX-License-Identifier: Apache-2.0 */
/* Units of debug information that the compiler left in files of their own (-gsplit-dwarf, .dwo), or
 * that stand in a package of such files (.dwp). In the
 * program stands a skeleton for each, with the name of the file, and the addresses that the unit has by
 * number (DWARF 5, 3.1.2 and 7.3.2; before it GNU's extension of DWARF 4). */
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/path.h"
#include "program/dwarf_variables.h"
#include "program/memory.h"

#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct ct_variable_split {
    struct ct_variable_split *next;
    struct ct_dwarf_split *file;
};

static const char *text_of(struct ct_variable_search *s, Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return dwarf_attr(die, attribute, &value) ? ct_dwarf_text(&s->reader, &value) : NULL;
}

/* ---- addresses ---- */

/* Finds the addresses of the unit that a skeleton stands for. */
static void find_addresses(struct ct_variable_search *s, Dwarf_Die *skeleton)
{
    Dwarf_Attribute value;
    Dwarf_Word base = 0;
    Elf *elf = dwarf_getelf(s->reader.dwarf);
    size_t names;
    uint8_t bytes = 0;
    s->addresses = (struct ct_variable_addresses){.all = (const uint8_t *)"", .bytes = 8};
    if (dwarf_attr(skeleton, DW_AT_addr_base, &value) || dwarf_attr(skeleton, DW_AT_GNU_addr_base, &value))
        (void)dwarf_formudata(&value, &base);
    Dwarf_Die unit;
    if (!dwarf_diecu(skeleton, &unit, &bytes, NULL) || (bytes != 4 && bytes != 8) ||
        elf_getshdrstrndx(elf, &names) != 0)
        return;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = name && strstr(name, "debug_addr") ? elf_getdata(scn, NULL) : NULL;
        if (data && data->d_buf && base <= data->d_size)
            s->addresses = (struct ct_variable_addresses){
                .all = (const uint8_t *)data->d_buf + base, .size = data->d_size - base, .bytes = bytes};
    }
}

bool ct_dwarf_split_address(const struct ct_variable_search *s, uint64_t number, uint64_t *addr)
{
    const struct ct_variable_addresses *a = &s->addresses;
    if (number >= a->size / a->bytes)
        return false;
    const uint8_t *at = a->all + number * a->bytes;
    *addr = a->bytes == 8 ? ct_load64(at) : ct_load32(at);
    return true;
}

/* ---- files ---- */

/* Opens the file of a unit: by its name in the folder of the compilation, else beside the program. *path is
 * where it should be. */
static int open_file(struct ct_variable_search *s, const char *folder, const char *name, const char **path,
                     struct ct_dwarf_split **out)
{
    const bool in_folder = folder && name[0] != '/';
    *path = in_folder ? ct_arena_printf(s->arena, "%s/%s", folder, name) : ct_arena_strdup(s->arena, name);
    if (!*path)
        return ct_fail_nomem(s->reader.ctx, s->reader.name);
    int rc = ct_dwarf_split_open(&s->reader, *path, out);
    if (rc || *out || !s->reader.path)
        return rc;
    const int length = (int)(ct_base_name(s->reader.path) - s->reader.path);
    const char *beside = ct_arena_printf(s->arena, "%.*s%s", length, s->reader.path, ct_base_name(name));
    return beside ? ct_dwarf_split_open(&s->reader, beside, out)
                  : ct_fail_nomem(s->reader.ctx, s->reader.name);
}

static uint64_t id_of(Dwarf_CU *unit)
{
    uint64_t id = 0;
    return dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 ? id : 0;
}

/* Opens the unit of a skeleton in the package beside the program. */
static int open_packed(struct ct_variable_search *s, Dwarf_CU *unit, struct ct_dwarf_split **out)
{
    const char *program = s->reader.path;
    const char *path = program && !s->no_package ? ct_arena_printf(s->arena, "%s.dwp", program) : NULL;
    int rc = CT_OK;
    *out = NULL;
    if (program && !s->no_package && !path)
        return ct_fail_nomem(s->reader.ctx, s->reader.name);
    s->no_package |= !path || access(path, R_OK) != 0;
    if (!s->no_package && !s->package)
        rc = ct_mapped_file_open(s->reader.ctx, path, &s->package);
    s->no_package |= !s->package;
    return rc || s->no_package ? (rc == CT_ERR_NOMEM ? rc : CT_OK)
                               : ct_dwarf_split_packed(&s->reader, path, s->package, id_of(unit), out);
}

/* Reads the unit of an ID in a file. */
static int read_file(struct ct_variable_search *s, struct ct_dwarf_split *file, uint64_t id, bool *found)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int rc = CT_OK;
    *found = false;
    while (!rc && dwarf_get_units(ct_dwarf_split_dwarf(file), unit, &unit, NULL, &type, &die, NULL) == 0 &&
           ct_dwarf_status(&s->reader, CT_OK) == CT_OK) {
        if (type == DW_UT_split_type || type == DW_UT_type || id_of(unit) != id)
            continue;
        *found = true;
        rc = ct_dwarf_read_variables(s, &die);
    }
    return rc;
}

/* Keeps a file open that candidates are in. */
static int keep(struct ct_variable_search *s, struct ct_dwarf_split *file)
{
    struct ct_variable_split *split = ct_arena_alloc(s->arena, sizeof *split);
    if (!split) {
        ct_dwarf_split_free(file);
        return ct_fail_nomem(s->reader.ctx, s->reader.name);
    }
    *split = (struct ct_variable_split){.next = s->splits, .file = file};
    s->splits = split;
    return CT_OK;
}

int ct_dwarf_read_split(struct ct_variable_search *s, Dwarf_CU *unit, Dwarf_Die *skeleton)
{
    const char *name = text_of(s, skeleton, DW_AT_dwo_name);
    name = name ? name : text_of(s, skeleton, DW_AT_GNU_dwo_name);
    if (!name)
        return CT_OK;
    const char *path;
    struct ct_dwarf_split *file = NULL;
    int rc = open_file(s, text_of(s, skeleton, DW_AT_comp_dir), name, &path, &file);
    if (!rc && !file)
        rc = open_packed(s, unit, &file);
    if (rc)
        return rc;
    if (!file) {
        s->missing = s->missing ? s->missing : path;
        return CT_OK;
    }
    const size_t before = s->candidate_count;
    const size_t budget = s->budget;
    bool found;
    s->budget = SIZE_MAX; /* entries cannot be more than bytes, of which there are less than 4 GiB */
    find_addresses(s, skeleton);
    rc = read_file(s, file, id_of(unit), &found);
    s->addresses = (struct ct_variable_addresses){0};
    s->budget = budget;
    if (!found && !s->stale)
        s->stale = path;
    s->reader.section_size = 0; /* it may be one of the file */
    if (!rc && s->candidate_count > before)
        return keep(s, file);
    ct_dwarf_split_free(file);
    return rc;
}

void ct_dwarf_free_splits(struct ct_variable_search *s)
{
    for (; s->splits; s->splits = s->splits->next)
        ct_dwarf_split_free(s->splits->file);
    ct_mapped_file_close(s->package);
    s->package = NULL;
}
