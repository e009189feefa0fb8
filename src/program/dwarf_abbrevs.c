/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the abbreviation tables of debug information before libdw reads them. For each unit, libdw stores
 * the abbreviations that the unit uses, and all before them in their table: many small units with one long
 * table would take hours and all memory. */
#include "program/dwarf_lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

/* Limit for the tables that units may read, in bytes: a constant, plus a multiple of the size of their
 * entries. Units share tables after link-time optimisation and after dwz, but then each uses most of its
 * table. */
#define FEW_BYTES      (UINT64_C(16) << 20)
#define BYTES_PER_BYTE 16

struct section {
    const uint8_t *bytes;
    size_t size;
};

/* Returns the uncompressed contents of the section whose name ends with `ending`; without bytes when there is
 * none. */
static struct section section_of(Elf *elf, const char *ending)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return (struct section){0};
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || !strstr(name, ending))
            continue;
        const Elf_Data *data = elf_getdata(scn, NULL);
        if (data && data->d_buf)
            return (struct section){data->d_buf, data->d_size};
    }
    return (struct section){0};
}

/* Reads a LEB128 number (its low 64 bits; all numbers that matter are smaller). 0 at the end. */
static uint64_t next_number(const struct section *s, uint64_t *at)
{
    uint64_t value = 0;
    for (unsigned shift = 0; *at < s->size; shift += 7) {
        const uint8_t byte = s->bytes[(*at)++];
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

/* Returns the size of the abbreviation table at an offset, or a number above `most` if it is larger. */
static uint64_t table_size(const struct section *s, uint64_t offset, uint64_t most)
{
    uint64_t at = offset;
    while (at < s->size && at - offset <= most && next_number(s, &at)) {
        uint64_t name, form;
        next_number(s, &at);
        at++; /* the byte that says whether it has children */
        do {
            name = next_number(s, &at);
            form = next_number(s, &at);
            if (form == DW_FORM_implicit_const)
                next_number(s, &at);
        } while (name || form);
    }
    return at - offset;
}

/* The budget of a section of units: what is left for the tables that they use. */
struct budget {
    struct section tables;
    uint64_t left;
    uint64_t offset, size; /* of the previous unit's table */
};

/* Subtracts the tables of all units from the budget. Returns false when it does not suffice. */
static bool spend(struct budget *b, Dwarf *dwarf, bool types)
{
    Dwarf_Off at = 0, next, offset, type;
    size_t header;
    uint64_t signature;
    while (dwarf_next_unit(dwarf, at, &next, &header, NULL, &offset, NULL, NULL, types ? &signature : NULL,
                           types ? &type : NULL) == 0) {
        at = next;
        if (offset != b->offset || !b->size)
            b->size = table_size(&b->tables, offset, b->left);
        b->offset = offset;
        if (b->size > b->left)
            return false;
        b->left -= b->size;
    }
    return true;
}

bool ct_dwarf_abbrevs_fit(Dwarf *dwarf, Elf *elf)
{
    struct budget b = {.tables = section_of(elf, "debug_abbrev")};
    const uint64_t entries = section_of(elf, "debug_info").size + section_of(elf, "debug_types").size;
    b.left = FEW_BYTES + BYTES_PER_BYTE * entries;
    return spend(&b, dwarf, false) && spend(&b, dwarf, true);
}
