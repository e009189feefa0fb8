/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of strings in ELF files. */
#pragma once

#include <gelf.h>
#include <stdbool.h>

/* Returns whether a string table is compressed. No linker writes one, but elf_strptr would uncompress it, to
 * whatever size it claims. */
static inline bool ct_elf_has_packed_strings(Elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn))
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_STRTAB && header.sh_flags & SHF_COMPRESSED)
            return true;
    return false;
}
