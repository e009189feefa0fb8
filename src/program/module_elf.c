/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes the structures of kernel modules' files, which are ELF32 or ELF64. */
#include "program/module.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

/* The offset of a member in a structure that both classes have. */
#define AT(m, type, member)                                                                                  \
    ((m)->arch->wide ? offsetof(Elf64_##type, member) : offsetof(Elf32_##type, member))

/* The size of such a structure. */
#define SIZE(m, type) ((m)->arch->wide ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static uint64_t load_word(const struct ct_module *m, const uint8_t *p)
{
    return m->arch->wide ? ct_load64(p) : ct_load32(p);
}

static void store_word(const struct ct_module *m, uint8_t *p, uint64_t value)
{
    ct_store(p, value, m->arch->wide ? 8 : 4);
}

const struct ct_module_arch *ct_module_arch_of(const uint8_t *bytes, size_t size)
{
    static const struct ct_module_arch *const all[] = {&ct_module_a64, &ct_module_arm};
    if (size < sizeof(Elf64_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_DATA] != ELFDATA2LSB)
        return NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (bytes[EI_CLASS] == (all[i]->wide ? ELFCLASS64 : ELFCLASS32) &&
            ct_load16(bytes + offsetof(Elf64_Ehdr, e_machine)) == all[i]->machine)
            return all[i];
    return NULL;
}

/* ---- headers ---- */

size_t ct_module_header_size(const struct ct_module *m)
{
    return SIZE(m, Ehdr);
}

size_t ct_module_section_size(const struct ct_module *m)
{
    return SIZE(m, Shdr);
}

size_t ct_module_segment_size(const struct ct_module *m)
{
    return SIZE(m, Phdr);
}

uint64_t ct_module_sections_at(const struct ct_module *m)
{
    return load_word(m, m->bytes + AT(m, Ehdr, e_shoff));
}

size_t ct_module_section_count(const struct ct_module *m)
{
    return ct_load16(m->bytes + AT(m, Ehdr, e_shnum));
}

size_t ct_module_section_names(const struct ct_module *m)
{
    return ct_load16(m->bytes + AT(m, Ehdr, e_shstrndx));
}

size_t ct_module_section_entry(const struct ct_module *m)
{
    return ct_load16(m->bytes + AT(m, Ehdr, e_shentsize));
}

struct ct_module_scn ct_module_read_section(const struct ct_module *m, uint8_t *header)
{
    return (struct ct_module_scn){.header = header,
                                  .name_at = ct_load32(header + AT(m, Shdr, sh_name)),
                                  .type = ct_load32(header + AT(m, Shdr, sh_type)),
                                  .flags = load_word(m, header + AT(m, Shdr, sh_flags)),
                                  .addr = load_word(m, header + AT(m, Shdr, sh_addr)),
                                  .offset = load_word(m, header + AT(m, Shdr, sh_offset)),
                                  .size = load_word(m, header + AT(m, Shdr, sh_size)),
                                  .link = ct_load32(header + AT(m, Shdr, sh_link)),
                                  .info = ct_load32(header + AT(m, Shdr, sh_info)),
                                  .align = load_word(m, header + AT(m, Shdr, sh_addralign))};
}

void ct_module_write_section(const struct ct_module *m, const struct ct_module_scn *s)
{
    uint8_t *p = s->header;
    ct_store(p + AT(m, Shdr, sh_type), s->type, 4);
    store_word(m, p + AT(m, Shdr, sh_flags),
               s->flags & SHF_ALLOC && !s->placed ? s->flags & ~(uint64_t)SHF_ALLOC : s->flags);
    store_word(m, p + AT(m, Shdr, sh_addr), s->placed ? s->addr : 0);
    store_word(m, p + AT(m, Shdr, sh_offset), s->offset);
    store_word(m, p + AT(m, Shdr, sh_size), s->size);
}

void ct_module_write_segment(const struct ct_module *m, uint8_t *header, uint64_t offset, uint64_t addr,
                             uint64_t size)
{
    ct_store(header + AT(m, Phdr, p_type), PT_LOAD, 4);
    ct_store(header + AT(m, Phdr, p_flags), PF_R | PF_X, 4);
    store_word(m, header + AT(m, Phdr, p_offset), offset);
    store_word(m, header + AT(m, Phdr, p_vaddr), addr);
    store_word(m, header + AT(m, Phdr, p_paddr), addr);
    store_word(m, header + AT(m, Phdr, p_filesz), size);
    store_word(m, header + AT(m, Phdr, p_memsz), size);
    store_word(m, header + AT(m, Phdr, p_align), 16);
}

void ct_module_write_header(const struct ct_module *m, uint64_t segments_at, size_t segments)
{
    ct_store(m->bytes + AT(m, Ehdr, e_type), ET_DYN, 2);
    store_word(m, m->bytes + AT(m, Ehdr, e_phoff), segments_at);
    ct_store(m->bytes + AT(m, Ehdr, e_phnum), segments, 2);
    ct_store(m->bytes + AT(m, Ehdr, e_phentsize), SIZE(m, Phdr), 2);
}

/* ---- symbols and relocations ---- */

size_t ct_module_symbol_count(const struct ct_module *m)
{
    return m->symbols ? m->symbols->size / SIZE(m, Sym) : 0;
}

static uint8_t *symbol(const struct ct_module *m, size_t number)
{
    return m->bytes + m->symbols->offset + number * SIZE(m, Sym);
}

struct ct_module_symbol ct_module_symbol_at(const struct ct_module *m, size_t number)
{
    const uint8_t *p = symbol(m, number);
    return (struct ct_module_symbol){.value = load_word(m, p + AT(m, Sym, st_value)),
                                     .name_at = ct_load32(p + AT(m, Sym, st_name)),
                                     .section = ct_load16(p + AT(m, Sym, st_shndx))};
}

void ct_module_write_symbol(const struct ct_module *m, size_t number, const struct ct_module_symbol *s)
{
    uint8_t *p = symbol(m, number);
    store_word(m, p + AT(m, Sym, st_value), s->value);
    ct_store(p + AT(m, Sym, st_shndx), s->section, 2);
}

size_t ct_module_reloc_size(const struct ct_module *m)
{
    return m->arch->wide ? sizeof(Elf64_Rela) : sizeof(Elf32_Rel);
}

struct ct_module_reloc ct_module_read_reloc(const struct ct_module *m, const uint8_t *bytes)
{
    const uint64_t info = load_word(m, bytes + (m->arch->wide ? 8 : 4));
    return (struct ct_module_reloc){.place = load_word(m, bytes),
                                    .type = m->arch->wide ? (uint32_t)info : info & 0xff,
                                    .symbol = (uint32_t)(info >> (m->arch->wide ? 32 : 8)),
                                    .addend = m->arch->wide ? ct_load64(bytes + 16) : 0};
}

/* ---- instructions ---- */

void ct_module_set_bits(uint8_t *instruction, unsigned low, unsigned count, uint64_t value)
{
    const uint32_t mask = (uint32_t)ct_mask64(count) << low;
    ct_store(instruction, (ct_load32(instruction) & ~mask) | ((uint32_t)(value << low) & mask), 4);
}

bool ct_module_fits(int64_t number, unsigned bits)
{
    return number >= -(INT64_C(1) << (bits - 1)) && number < INT64_C(1) << (bits - 1);
}
