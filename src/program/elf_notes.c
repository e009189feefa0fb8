/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the build id of an ELF file, and the name of its separate file. */
#include "base/bytes.h"
#include "program/symbols.h"

#include <limits.h>
#include <string.h>

/* Returns the size of the build id among the notes in `data`; 0 without one. */
static size_t find_note(Elf_Data *data, uint8_t *id)
{
    size_t at = 0;
    size_t name;
    size_t desc;
    GElf_Nhdr note;
    while ((at = gelf_getnote(data, at, &note, &name, &desc)) > 0) {
        const char *bytes = data->d_buf;
        if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof ELF_NOTE_GNU ||
            memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        if (note.n_descsz == 0 || note.n_descsz > CT_BUILD_ID_MOST)
            continue;
        memcpy(id, bytes + desc, note.n_descsz);
        return note.n_descsz;
    }
    return 0;
}

/* Searches sections first, then segments, which stripped files also have. Reads at most as many bytes as the
 * file has: overlapping notes come from a hostile file, and the rest of them is ignored. */
size_t ct_elf_build_id(const struct ct_elf *elf, size_t file_size, uint8_t id[CT_BUILD_ID_MOST])
{
    uint64_t budget = file_size;
    size_t size = 0;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn && !size; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_NOTE || header.sh_size > budget)
            continue;
        budget -= header.sh_size;
        Elf_Data *data = elf_getdata(scn, NULL);
        if (data && data->d_buf)
            size = find_note(data, id);
    }
    budget = file_size;
    for (size_t i = 0; i < elf->segments && !size; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_NOTE || header.p_filesz > budget)
            continue;
        budget -= header.p_filesz;
        Elf_Data *data = elf_getdata_rawchunk(elf->elf, (int64_t)header.p_offset, (size_t)header.p_filesz,
                                              header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        if (data && data->d_buf)
            size = find_note(data, id);
    }
    return size;
}

const char *ct_elf_debug_link(const struct ct_elf *elf, uint32_t *crc)
{
    GElf_Shdr header;
    Elf_Scn *scn = ct_elf_section(elf, ".gnu_debuglink", &header);
    Elf_Data *data = scn ? elf_rawdata(scn, NULL) : NULL;
    const char *name = data ? data->d_buf : NULL;
    const size_t length = name ? strnlen(name, data->d_size) : 0;
    const size_t at = (length + 4) & ~(size_t)3; /* of the checksum, aligned to four bytes */
    if (length == 0 || length > NAME_MAX || data->d_size < 4 || at > data->d_size - 4 || strchr(name, '/'))
        return NULL;
    *crc = ct_load32((const uint8_t *)name + at);
    return name;
}
