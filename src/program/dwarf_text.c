/* SPDX-License-Identifier: Apache-2.0 */
/* Checks texts in debug information. libdw returns pointers into the file without checking where the text
 * ends; this makes sure that nothing after a section is read. */
#include "program/dwarf_lines.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

const char *ct_dwarf_unended_strings(Elf *elf)
{
    size_t names;
    if (elf_getshdrstrndx(elf, &names) != 0)
        return NULL;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;
        if (!name || (!strstr(name, "debug_str") && !strstr(name, "debug_line_str")))
            continue;
        const Elf_Data *data = elf_getdata(scn, NULL);
        const char *text = data ? data->d_buf : NULL;
        if (text && data->d_size && text[data->d_size - 1])
            return name;
    }
    return NULL;
}

static bool in_section(const struct ct_dwarf_reader *reader, const char *text)
{
    return (uintptr_t)text - (uintptr_t)reader->section < reader->section_size;
}

/* Remembers the section that contains `text`, or none. */
static void find_section(struct ct_dwarf_reader *reader, Elf *elf, const char *text)
{
    reader->section_size = 0;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
        const Elf_Data *data = elf_getdata(scn, NULL);
        if (!data || !data->d_buf)
            continue;
        reader->section = data->d_buf;
        reader->section_size = data->d_size;
        if (in_section(reader, text))
            return;
    }
    reader->section_size = 0;
}

const char *ct_dwarf_text(struct ct_dwarf_reader *reader, Dwarf_Attribute *value)
{
    const char *text = dwarf_formstring(value);
    /* any other form is an offset into a string table, which ct_dwarf_unended_strings has checked */
    if (!text || dwarf_whatform(value) != DW_FORM_string)
        return text;
    if (!in_section(reader, text))
        find_section(reader, dwarf_getelf(dwarf_cu_getdwarf(value->cu)), text);
    const bool ends = in_section(reader, text) &&
                      memchr(text, '\0', reader->section_size - (size_t)(text - reader->section));
    return ends ? text : NULL;
}
