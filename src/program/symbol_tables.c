/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the functions of ELF symbol tables. The file may contain anything: libelf checks the tables against
 * the file, names point into one copy of the string table, and time and memory are bounded by the size of the
 * file. */
#include "base/ctx.h"
#include "program/name_limit.h"
#include "program/symbols.h"

#include <string.h>

#define STT_ARM_TFUNC_ 13 /* T32 function of the old Arm ABI */

/* The state of the reader of one symbol table. */
struct table {
    Elf *elf;
    Elf_Data *symbols;
    char *names;
    size_t name_size;
    struct ct_name_limit limit;
    enum ct_symbol_source source;
};

static uint64_t section_end(const struct table *table, size_t section)
{
    GElf_Shdr header;
    Elf_Scn *scn = section < SHN_LORESERVE ? elf_getscn(table->elf, section) : NULL;
    return scn && gelf_getshdr(scn, &header) ? header.sh_addr + header.sh_size : 0;
}

static bool is_function(const GElf_Sym *sym)
{
    unsigned type = GELF_ST_TYPE(sym->st_info);
    return (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_ARM_TFUNC_) &&
           sym->st_shndx != SHN_UNDEF;
}

/* Returns the address of a function or a label in the file: bit 0 of that of an Arm tells the instruction
 * set.
 */
static uint64_t address_of(const struct ct_collector *c, const GElf_Sym *sym)
{
    return c->elf->header.e_machine == EM_ARM ? sym->st_value & ~UINT64_C(1) : sym->st_value;
}

/* Returns whether a symbol is a label in code: without a type, and neither a mapping symbol nor an
 * assembler-local one. */
static bool is_label(const struct ct_collector *c, const struct table *table, const GElf_Sym *sym)
{
    const char *name = table->names + sym->st_name;
    return GELF_ST_TYPE(sym->st_info) == STT_NOTYPE && sym->st_shndx != SHN_UNDEF &&
           sym->st_shndx < SHN_LORESERVE && *name && *name != '$' && strncmp(name, ".L", 2) != 0 &&
           ct_collect_is_code(c, address_of(c, sym) + c->bias, 1);
}

/* Returns the name without the version that linkers append in .symtab: "name@@VERSION", "name@VERSION". The
 * copy is cut in place, because names that share its end have the same version. */
static const char *plain_name(const struct table *table, const GElf_Sym *sym)
{
    char *name = table->names + sym->st_name;
    char *version = *name ? strchr(name + 1, '@') : NULL;
    if (version)
        *version = '\0';
    return name;
}

static struct ct_function make_function(const struct ct_collector *c, const struct table *table,
                                        const GElf_Sym *sym)
{
    unsigned bind = GELF_ST_BIND(sym->st_info);
    unsigned machine = c->elf->header.e_machine;
    bool t32 = machine == EM_ARM && ((sym->st_value & 1) || GELF_ST_TYPE(sym->st_info) == STT_ARM_TFUNC_);
    uint64_t value = address_of(c, sym);
    uint64_t end = section_end(table, sym->st_shndx);
    enum ct_isa isa = t32 ? CT_ISA_T32 : machine == EM_ARM ? CT_ISA_A32 : CT_ISA_A64;
    return (struct ct_function){
        .symbol = {.name = plain_name(table, sym),
                   .addr = value + c->bias,
                   .size = sym->st_size,
                   .isa = (uint8_t)isa,
                   .source = (uint8_t)table->source},
        .section_end = end > value ? end + c->bias : 0,
        .rank = bind == STB_LOCAL  ? 2
                : bind == STB_WEAK ? 1
                                   : 0,
    };
}

static int read_functions(struct ct_collector *c, struct table *table, size_t *found)
{
    size_t entry = gelf_fsize(table->elf, ELF_T_SYM, 1, EV_CURRENT);
    size_t total = table->symbols->d_size / entry;
    GElf_Sym sym;
    if (total > INT32_MAX)
        return ct_fail(
            c->ctx, CT_ERR_LIMIT,
            "%s: the symbol table has %zu entries, more than the limit of 2^31; no symbol was read", c->name,
            total);
    for (size_t i = 0; i < total; i++) {
        if (!gelf_getsym(table->symbols, (int)i, &sym) || sym.st_name >= table->name_size)
            continue;
        const bool function = is_function(&sym);
        if (!function && !is_label(c, table, &sym))
            continue;
        struct ct_function made = make_function(c, table, &sym);
        made.symbol.name = ct_name_limit_apply(&table->limit, c->ctx, c->arena, c->name, made.symbol.name);
        if (!made.symbol.name)
            return ct_fail_nomem(c->ctx, c->name);
        int result = function ? ct_collect(c, &made) : ct_collect_label(c, &made);
        if (result != CT_OK)
            return result;
        *found += function;
    }
    return CT_OK;
}

int ct_collect_table(struct ct_collector *c, const struct ct_elf *elf, uint32_t type,
                     enum ct_symbol_source source, size_t *found)
{
    struct table table = {.elf = elf->elf, .source = source};
    *found = 0;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != type)
            continue;
        Elf_Scn *strings = elf_getscn(elf->elf, header.sh_link);
        Elf_Data *text = strings ? elf_getdata(strings, NULL) : NULL;
        table.symbols = elf_getdata(scn, NULL);
        if (!table.symbols || !text || (text->d_size && !text->d_buf))
            return ct_fail(c->ctx, CT_ERR_FORMAT,
                           "%s: the symbol table or its string table cannot be read; the file is truncated "
                           "or damaged; use a complete copy",
                           c->name);
        table.name_size = text->d_size;
        table.limit = ct_name_limit_of(text->d_size);
        table.names = ct_arena_strndup(c->arena, text->d_size ? text->d_buf : "", text->d_size);
        if (!table.names)
            return ct_fail_nomem(c->ctx, c->name);
        return read_functions(c, &table, found);
    }
    return CT_OK;
}
