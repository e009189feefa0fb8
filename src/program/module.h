/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules (.ko): object files that the kernel lays out and relocates when it loads them. The same is
 * done here with the bytes of the file, so that all other code sees a program: sections and symbols have
 * addresses, relative to the start of the module's memory, and code is in segments.
 *
 * The rules are those of Linux for 64-bit and 32-bit Arm: sections of code in the order of the file, each
 * aligned, followed by data. Sections whose names begin with .init are loaded elsewhere, and freed after the
 * start: they have addresses only if the recording contains them (struct ct_module_place). The kernel fills
 * .plt with jumps to functions that a branch cannot reach. */
#pragma once

#include "program/memory.h"

/* One section of a module. */
struct ct_module_scn {
    uint8_t *header; /* in the bytes of the file */
    const char *name;
    uint64_t flags, addr, offset, size, align;
    uint32_t name_at; /* offset of its name in the section of names */
    uint32_t type, link, info;
    bool placed; /* it has an address: addr */
    bool code;   /* it is executable, and at `offset` of the linked file */
};

/* A module that is being linked. */
struct ct_module {
    struct ct_ctx *ctx;
    const char *path;
    uint8_t *bytes;
    size_t size;
    const struct ct_module_arch *arch;
    bool linked; /* the bytes were made by ct_module_link */
    struct ct_module_scn *sections;
    size_t count;
    uint64_t calls; /* address after all code, where nothing is executed: calls of functions outside of the
                       module lead there until the functions are found */
    const struct ct_module_scn *plt; /* NULL: it has none, or it has no address */
    struct ct_module_scn *symbols;   /* NULL: it has none */
};

/* One relocation. */
struct ct_module_reloc {
    uint64_t place;  /* the address that it changes */
    uint64_t offset; /* of it in the file */
    uint32_t type;
    uint32_t symbol;
    uint64_t addend; /* of a branch: 0 when it leads to the symbol itself */
    uint64_t value;  /* of the symbol; 0 when it is outside of the module */
    bool outside;    /* the symbol is not in the module */
    bool known;      /* its value is known */
};

/* One symbol. */
struct ct_module_symbol {
    uint64_t value;
    uint32_t name_at; /* offset of its name in the section of names */
    uint16_t section;
};

/* The operations for modules of one architecture. Types are those of relocations. */
struct ct_module_arch {
    bool wide; /* files are ELF64, with addends in relocations; else ELF32, with addends in the relocated
                  bytes */
    uint32_t relocs;  /* type of sections of relocations */
    uint16_t machine; /* as in the header of the file */

    /* Returns the number of data bytes that a relocation changes; 0: it changes an instruction, or
     * nothing. */
    unsigned (*data_size)(uint32_t type);

    /* Returns whether a relocation is a direct branch; and, for a branch that may use .plt, its kind from 1
     * to 7, else 0. */
    bool (*is_branch)(uint32_t type);
    unsigned (*far_branch)(uint32_t type);

    /* Reads the addend from the relocated bytes. NULL: it is in the relocation. */
    uint64_t (*addend)(const uint8_t *bytes, uint32_t type);

    /* Writes the target of a direct branch into the instruction at `bytes`. Returns false when the target is
     * out of range. */
    bool (*branch)(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t target);

    /* Applies a relocation that is no branch to its bytes. */
    void (*set)(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t value);

    /* Returns the size of .plt for so many branches that may need an entry. */
    uint64_t (*plt_size)(uint64_t entries);

    /* Writes entry `number` of .plt, which is at address `plt` and at `bytes`, as a jump to a function.
     * Returns the address of the entry; 0 when it is outside of the `size` bytes. */
    uint64_t (*plt_entry)(uint8_t *bytes, uint64_t size, uint64_t plt, uint64_t number, uint64_t target);
};

extern const struct ct_module_arch ct_module_a64; /* module_a64.c */
extern const struct ct_module_arch ct_module_arm; /* module_arm.c: A32 and T32 */

/* Determines whether the bytes are a kernel module that is not linked. CT_ERR_NOMEM. */
int ct_module_is(struct ct_ctx *ctx, const char *path, const uint8_t *bytes, size_t size, bool *is);

/* Links a module, with sections where `place` says; NULL: by the kernel's rules. The new bytes are separate
 * pages, which ct_whole_file_free frees. CT_ERR_FORMAT, CT_ERR_CONFIG: the given sections do not match;
 * CT_ERR_NOMEM. */
int ct_module_link(struct ct_ctx *ctx, const char *path, const struct ct_module_place *place,
                   const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size);

/* ---- module_elf.c ---- */

/* Returns the operations for an ELF file's architecture; NULL when its modules are not supported. */
const struct ct_module_arch *ct_module_arch_of(const uint8_t *bytes, size_t size);

/* Returns the size of a header: of the file, a section, a program. */
size_t ct_module_header_size(const struct ct_module *module);
size_t ct_module_section_size(const struct ct_module *module);
size_t ct_module_segment_size(const struct ct_module *module);

/* Returns the offset of the section headers in the file. */
uint64_t ct_module_sections_at(const struct ct_module *module);

/* Returns, as stated by the file, the number of sections, the index of the one with their names, and the size
 * of their headers. */
size_t ct_module_section_count(const struct ct_module *module);
size_t ct_module_section_names(const struct ct_module *module);
size_t ct_module_section_entry(const struct ct_module *module);

/* Reads the header of a section at `header`, and writes it there. */
struct ct_module_scn ct_module_read_section(const struct ct_module *module, uint8_t *header);
void ct_module_write_section(const struct ct_module *module, const struct ct_module_scn *section);

/* Writes a program header for code. */
void ct_module_write_segment(const struct ct_module *module, uint8_t *header, uint64_t offset, uint64_t addr,
                             uint64_t size);

/* Changes the file into a shared object with program headers. */
void ct_module_write_header(const struct ct_module *module, uint64_t segments_at, size_t segments);

/* Returns how many symbols there are. */
size_t ct_module_symbol_count(const struct ct_module *module);

/* Reads a symbol, and writes its value and section. */
struct ct_module_symbol ct_module_symbol_at(const struct ct_module *module, size_t number);
void ct_module_write_symbol(const struct ct_module *module, size_t number,
                            const struct ct_module_symbol *symbol);

/* Returns the size of a relocation, and reads the one at `bytes`; its place is relative to the section. */
size_t ct_module_reloc_size(const struct ct_module *module);
struct ct_module_reloc ct_module_read_reloc(const struct ct_module *module, const uint8_t *bytes);

/* Replaces `count` bits of a 32-bit instruction, from bit `low` on. */
void ct_module_set_bits(uint8_t *instruction, unsigned low, unsigned count, uint64_t value);

/* Returns whether a signed number fits into `bits` bits. */
bool ct_module_fits(int64_t number, unsigned bits);

/* ---- module_sections.c ---- */

/* Reads the section headers of module->bytes, whose architecture is known. The caller frees
 * module->sections. */
int ct_module_read(struct ct_module *module);

/* Returns the name at an offset of a section of names; "" when there is none. */
const char *ct_module_name(const struct ct_module *module, const struct ct_module_scn *names, uint32_t at);

/* Assigns addresses to sections: the known ones, or by the kernel's rules. */
int ct_module_lay_out(struct ct_module *module, const struct ct_module_place *known);

/* ---- module_relocate.c ---- */

/* Calls `take` with each relocation of a section of relocations, until it does not return CT_OK. */
int ct_module_relocs(const struct ct_module *module, const struct ct_module_scn *section,
                     int (*take)(void *user, const struct ct_module_reloc *reloc), void *user);

/* Applies all relocations whose symbols are known. */
int ct_module_relocate(struct ct_module *module);
