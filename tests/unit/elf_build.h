/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files, built byte by byte. */
#pragma once

#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "support/test_file.h"

enum {
    ELF_TEXT = 0x1000,
    ELF_SIZE = 0x1800,
    ELF_SYMBOLS = 0x1200,
    ELF_NAMES = 0x1600,
    ELF_NOTE = 0x1700
};

struct test_symbol {
    const char *name;
    uint64_t value, size;
    uint8_t type, bind;
    uint16_t section;
};

/* Builds an AArch64 program: header, two PT_LOAD (text at 0x400000, 0x100 bytes; data at 0x500000, 0x10 bytes
 * and zeros up to 0x40) and a PT_NOTE with a build ID of 1 … 20, then sections: none, .text, .symtab,
 * .strtab. */
static inline void elf64_build(uint8_t file[ELF_SIZE], const struct test_symbol *symbols, size_t count)
{
    memset(file, 0, ELF_SIZE);
    Elf64_Ehdr *header = (Elf64_Ehdr *)file;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_EXEC;
    header->e_machine = EM_AARCH64;
    header->e_version = EV_CURRENT;
    header->e_phoff = 0x40;
    header->e_shoff = 0x200;
    header->e_ehsize = sizeof *header;
    header->e_phentsize = sizeof(Elf64_Phdr);
    header->e_phnum = 3;
    header->e_shentsize = sizeof(Elf64_Shdr);
    header->e_shnum = 4;
    Elf64_Phdr *segment = (Elf64_Phdr *)(file + 0x40);
    segment[0] = (Elf64_Phdr){PT_LOAD, PF_R | PF_X, ELF_TEXT, 0x400000, 0x400000, 0x100, 0x100, 4};
    segment[1] = (Elf64_Phdr){PT_LOAD, PF_R | PF_W, ELF_TEXT + 0x100, 0x500000, 0x500000, 0x10, 0x40, 4};
    segment[2] = (Elf64_Phdr){PT_NOTE, PF_R, ELF_NOTE, 0, 0, 36, 36, 4};
    for (unsigned i = 0; i < 0x110; i++)
        file[ELF_TEXT + i] = (uint8_t)(i ^ 0x5a);
    static const uint8_t note[16] = {4, 0, 0, 0, 20, 0, 0, 0, NT_GNU_BUILD_ID, 0, 0, 0, 'G', 'N', 'U', 0};
    memcpy(file + ELF_NOTE, note, sizeof note);
    for (uint8_t i = 0; i < 20; i++)
        file[ELF_NOTE + 16 + i] = (uint8_t)(i + 1);

    Elf64_Shdr *section = (Elf64_Shdr *)(file + 0x200);
    section[1].sh_type = SHT_PROGBITS;
    section[1].sh_addr = 0x400000;
    section[1].sh_offset = ELF_TEXT;
    section[1].sh_size = 0x100;
    Elf64_Sym *sym = (Elf64_Sym *)(file + ELF_SYMBOLS);
    char *names = (char *)file + ELF_NAMES;
    size_t at = 1;
    for (size_t i = 0; i < count; i++) {
        sym[i + 1] = (Elf64_Sym){.st_name = (uint32_t)at,
                                 .st_info = ELF64_ST_INFO(symbols[i].bind, symbols[i].type),
                                 .st_shndx = symbols[i].section,
                                 .st_value = symbols[i].value,
                                 .st_size = symbols[i].size};
        strcpy(names + at, symbols[i].name);
        at += strlen(symbols[i].name) + 1;
    }
    section[2].sh_type = SHT_SYMTAB;
    section[2].sh_offset = ELF_SYMBOLS;
    section[2].sh_size = (count + 1) * sizeof *sym;
    section[2].sh_entsize = sizeof *sym;
    section[2].sh_link = 3;
    section[3].sh_type = SHT_STRTAB;
    section[3].sh_offset = ELF_NAMES;
    section[3].sh_size = at;
}
