/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files with a section coretap_events, built byte by byte. */
#pragma once

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "support/test_file.h"

enum {
    NAMED_ADDR = 0x10000, /* where the whole file is in memory, read-only */
    NAMED_SECTION = 0x400,
    NAMED_HEADERS = 0x100,
    NAMED_STRINGS = 0x200
};

/* Builds an AArch64 file that ends with a section of `size` bytes, and returns the size of the file. `file`
 * has room for NAMED_SECTION bytes more than the section. The header of the section claims a size of
 * `claimed` bytes. */
static inline size_t named_elf_build(uint8_t *file, const void *section, size_t size, uint64_t claimed)
{
    static const char strings[] = "\0coretap_events\0.shstrtab";
    memset(file, 0, NAMED_SECTION);
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_EXEC;
    header->e_machine = EM_AARCH64;
    header->e_version = EV_CURRENT;
    header->e_phoff = sizeof *header;
    header->e_shoff = NAMED_HEADERS;
    header->e_ehsize = sizeof *header;
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 1;
    header->e_shentsize = sizeof(Elf64_Shdr);
    header->e_shnum = 3;
    header->e_shstrndx = 2;
    *(Elf64_Phdr *)(file + header->e_phoff) =
        (Elf64_Phdr){PT_LOAD, PF_R, 0, NAMED_ADDR, NAMED_ADDR, NAMED_SECTION + size, NAMED_SECTION + size, 8};
    Elf64_Shdr *sections = (Elf64_Shdr *)(file + NAMED_HEADERS);
    sections[1] = (Elf64_Shdr){.sh_name = 1,
                               .sh_type = SHT_PROGBITS,
                               .sh_flags = SHF_ALLOC,
                               .sh_addr = NAMED_ADDR + NAMED_SECTION,
                               .sh_offset = NAMED_SECTION,
                               .sh_size = claimed,
                               .sh_addralign = 8};
    sections[2] = (Elf64_Shdr){.sh_name = 16,
                               .sh_type = SHT_STRTAB,
                               .sh_offset = NAMED_STRINGS,
                               .sh_size = sizeof strings,
                               .sh_addralign = 1};
    memcpy(file + NAMED_STRINGS, strings, sizeof strings);
    if (size)
        memcpy(file + NAMED_SECTION, section, size);
    return NAMED_SECTION + size;
}
