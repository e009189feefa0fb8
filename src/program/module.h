/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel modules (.ko): object files that the kernel lays out and relocates when it loads them. Here the same
 * is done with the bytes of the file, so that all else sees a program: sections and symbols have addresses,
 * which count from the begin of the module's memory on, and code lies in segments.
 *
 * The rules are those of Linux for A64: sections of code in the order of the file, each aligned, and behind
 * them data. Those whose names begin with .init lie elsewhere, and are gone after the start: they have
 * addresses only where the recording knows them (base/module_places.h). The kernel fills .plt with jumps to
 * functions that a branch does not reach. */
#ifndef CT_PROGRAM_MODULE_H
#define CT_PROGRAM_MODULE_H

#include "base/module_places.h"
#include "program/memory.h"

/* One section of a module. */
struct ct_module_scn {
    uint8_t *header; /* in the bytes of the file */
    const char *name;
    uint64_t flags, addr, offset, size, align;
    uint32_t type, link, info;
    bool placed; /* it has an address: addr */
    bool code;   /* it is executed, and lies at `offset` of the linked file */
};

/* A module in work. */
struct ct_module {
    struct ct_ctx *ctx;
    const char *path;
    uint8_t *bytes;
    size_t size;
    struct ct_module_scn *sections;
    size_t count;
    uint64_t calls; /* address behind all code, where nothing is executed: there lead calls of
                       functions that are not in the module, until these are found */
    const struct ct_module_scn *plt; /* NULL: it has none, or has no address */
    struct ct_module_scn *symbols;   /* NULL: it has none */
};

/* One relocation. */
struct ct_module_reloc {
    uint64_t place;  /* the address that it changes */
    uint64_t offset; /* of it in the file */
    uint32_t type;
    uint32_t symbol;
    uint64_t addend;
    uint64_t value; /* of the symbol; where it is not in the module, 0 */
    bool outside;   /* the symbol is not in the module */
    bool known;     /* its value is known */
};

/* Finds out whether the bytes are those of a kernel module for A64 that is not linked. CT_ERR_NOMEM. */
int ct_module_is(struct ct_ctx *ctx, const char *path, const uint8_t *bytes, size_t size, bool *is);

/* Links a module. The new bytes are pages of their own, which ct_whole_file_free frees. CT_ERR_FORMAT,
 * CT_ERR_CONFIG: the sections that are known do not fit; CT_ERR_NOMEM. */
int ct_module_link(struct ct_ctx *ctx, const char *path, const uint8_t *bytes, size_t size, uint8_t **out,
                   size_t *out_size);

/* ---- module_sections.c ---- */

/* Reads the section headers of module->bytes. The caller frees module->sections. */
int ct_module_read(struct ct_module *module);

/* Returns the name at an offset of a section of names; "" when there is none. */
const char *ct_module_name(const struct ct_module *module, const struct ct_module_scn *names, uint32_t at);

/* Gives sections addresses: those that are known, or by the kernel's rules. */
int ct_module_lay_out(struct ct_module *module, const struct ct_module_place *known);

/* ---- module_relocate.c ---- */

/* Calls `take` with each relocation of a section of relocations. Stops when it does not return CT_OK. */
int ct_module_relocs(const struct ct_module *module, const struct ct_module_scn *section,
                     int (*take)(void *user, const struct ct_module_reloc *reloc), void *user);

/* Applies all relocations, as far as what they refer to is known. */
int ct_module_relocate(struct ct_module *module);

/* Writes the target of a direct branch into the instruction at `bytes`. Returns false when the branch does
 * not reach it. */
bool ct_module_branch(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t target);

/* Applies a relocation that is none of a branch to the bytes that it changes. */
void ct_module_target(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t value);

#endif
