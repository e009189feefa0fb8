/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files of split units, and the parts that belong to each unit. */
#include "program/dwarf_split.h"
#include "base/ctx.h"
#include "base/path.h"
#include "program/memory.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

static const char *text_of(struct ct_split_finder *f, Dwarf_Die *die, unsigned attribute)
{
    Dwarf_Attribute value;
    return dwarf_attr(die, attribute, &value) ? ct_dwarf_text(f->reader, &value) : NULL;
}

/* ---- the parts of a unit ---- */

/* Returns the bytes of a section from `at` on. */
static struct ct_split_bytes section(Elf *elf, const char *wanted, uint64_t at)
{
    size_t names;
    struct ct_split_bytes found = {0};
    if (elf_getshdrstrndx(elf, &names) != 0)
        return found;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn && !found.all; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        const Elf_Data *data = name && strstr(name, wanted) ? elf_getdata(scn, NULL) : NULL;
        if (data && data->d_buf && at <= data->d_size)
            found = (struct ct_split_bytes){(const uint8_t *)data->d_buf + at, data->d_size - at};
    }
    return found;
}

static uint64_t offset_of(Dwarf_Die *skeleton, unsigned attribute, unsigned gnu)
{
    Dwarf_Attribute value;
    Dwarf_Word offset = 0;
    if (dwarf_attr(skeleton, attribute, &value) || dwarf_attr(skeleton, gnu, &value))
        (void)dwarf_formudata(&value, &offset);
    return offset;
}

/* Finds the parts of the unit in `file` for which a skeleton stands. */
static void find_parts(struct ct_split_finder *f, Dwarf_Die *skeleton, const struct ct_dwarf_split *file)
{
    Elf *program = dwarf_getelf(f->reader->dwarf), *own = dwarf_getelf(ct_dwarf_split_dwarf(file));
    Dwarf_Die unit;
    Dwarf_Half version = 0;
    uint8_t bytes = 0;
    f->reads = true;
    f->bytes = 0;
    f->entries = f->texts = f->numbered = f->ranges = (struct ct_split_bytes){0};
    if (!dwarf_diecu(skeleton, &unit, &bytes, NULL) || (bytes != 4 && bytes != 8) ||
        dwarf_cu_info(skeleton->cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) != 0)
        return;
    f->bytes = bytes;
    f->entries = section(own, "debug_info", 0);
    f->texts = section(own, "debug_str.dwo", 0);
    f->numbered = section(program, "debug_addr", offset_of(skeleton, DW_AT_addr_base, DW_AT_GNU_addr_base));
    f->ranges = version < 5 ? section(program, "debug_ranges",
                                      offset_of(skeleton, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base))
                            : section(own, "debug_rnglists", 0);
    if (dwarf_lowpc(skeleton, &f->base) != 0)
        f->base = 0;
}

/* ---- files ---- */

/* Opens the file of a unit: by its name in the folder of the compilation, else beside the program. *path
 * receives the expected path. */
static int open_file(struct ct_split_finder *f, const char *folder, const char *name, const char **path,
                     struct ct_dwarf_split **out)
{
    const bool in_folder = folder && name[0] != '/';
    *path = in_folder ? ct_arena_printf(f->arena, "%s/%s", folder, name) : ct_arena_strdup(f->arena, name);
    if (!*path)
        return ct_fail_nomem(f->reader->ctx, f->reader->name);
    int rc = ct_dwarf_split_open(f->reader, *path, out);
    if (rc || *out || !f->reader->path)
        return rc;
    const int length = (int)(ct_base_name(f->reader->path) - f->reader->path);
    const char *beside = ct_arena_printf(f->arena, "%.*s%s", length, f->reader->path, ct_base_name(name));
    return beside ? ct_dwarf_split_open(f->reader, beside, out)
                  : ct_fail_nomem(f->reader->ctx, f->reader->name);
}

static uint64_t id_of(Dwarf_CU *unit)
{
    uint64_t id = 0;
    return dwarf_cu_info(unit, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 ? id : 0;
}

/* Opens the unit of a skeleton in the package beside the program. */
static int open_packed(struct ct_split_finder *f, Dwarf_CU *unit, struct ct_dwarf_split **out)
{
    const char *program = f->reader->path;
    const char *path = program && !f->no_package ? ct_arena_printf(f->arena, "%s.dwp", program) : NULL;
    int rc = CT_OK;
    *out = NULL;
    if (program && !f->no_package && !path)
        return ct_fail_nomem(f->reader->ctx, f->reader->name);
    f->no_package |= !path || access(path, R_OK) != 0;
    if (!f->no_package && !f->package)
        rc = ct_mapped_file_open(f->reader->ctx, path, NULL, &f->package);
    f->no_package |= !f->package;
    return rc || f->no_package ? (rc == CT_ERR_NOMEM ? rc : CT_OK)
                               : ct_dwarf_split_packed(f->reader, path, f->package, id_of(unit), out);
}

/* Reads the unit of an ID in a file. */
static int read_file(const struct ct_split_finder *f, struct ct_dwarf_split *file, uint64_t id,
                     int (*read)(void *user, Dwarf_Die *die), void *user, bool *found)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Die die;
    uint8_t type;
    int rc = CT_OK;
    *found = false;
    while (!rc && dwarf_get_units(ct_dwarf_split_dwarf(file), unit, &unit, NULL, &type, &die, NULL) == 0 &&
           ct_dwarf_status(f->reader, CT_OK) == CT_OK) {
        if (type == DW_UT_split_type || type == DW_UT_type || id_of(unit) != id)
            continue;
        *found = true;
        rc = read(user, &die);
    }
    return rc;
}

int ct_split_read(struct ct_split_finder *f, Dwarf_CU *unit, Dwarf_Die *skeleton,
                  int (*read)(void *user, Dwarf_Die *die), void *user, struct ct_dwarf_split **kept)
{
    const char *name = text_of(f, skeleton, DW_AT_dwo_name);
    name = name ? name : text_of(f, skeleton, DW_AT_GNU_dwo_name);
    if (!name)
        return CT_OK;
    const char *path;
    struct ct_dwarf_split *file = NULL;
    int rc = open_file(f, text_of(f, skeleton, DW_AT_comp_dir), name, &path, &file);
    if (!rc && !file)
        rc = open_packed(f, unit, &file);
    if (rc)
        return rc;
    if (!file) {
        f->missing = f->missing ? f->missing : path;
        return CT_OK;
    }
    bool found;
    find_parts(f, skeleton, file);
    rc = read_file(f, file, id_of(unit), read, user, &found);
    f->reads = false;
    if (!found && !f->stale)
        f->stale = path;
    f->reader->section_size = 0; /* it may be in the file, which is closed next */
    if (kept)
        *kept = file;
    else
        ct_dwarf_split_free(file);
    return rc;
}

void ct_split_end(struct ct_split_finder *f)
{
    ct_mapped_file_close(f->package);
    f->package = NULL;
}
