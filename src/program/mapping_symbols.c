/* SPDX-License-Identifier: Apache-2.0 */
/* Reads mapping symbols: ELF for the Arm architecture, IHI 0044, 5.5.5; for AArch64, IHI 0056, 5.5.4. */
#include "program/mapping_symbols.h"
#include "base/ctx.h"
#include "base/search.h"
#include "coretap/program.h"

#include <stdbool.h>
#include <stdlib.h>

/* Returns true for "$d" or "$d.anything", and likewise for the other letters. */
static bool is_mapping(const char *name, uint32_t *isa)
{
    if (!name || name[0] != '$' || name[1] == '\0' || (name[2] != '\0' && name[2] != '.'))
        return false;
    switch (name[1]) {
    case 'a':
        *isa = CT_ISA_A32;
        return true;
    case 't':
        *isa = CT_ISA_T32;
        return true;
    case 'x':
        *isa = CT_ISA_A64;
        return true;
    case 'd':
        *isa = CT_ISA_UNKNOWN;
        return true;
    default:
        return false;
    }
}

static int by_address(const void *a, const void *b)
{
    const struct ct_map_point *x = a, *y = b;
    return ct_order(x->addr, y->addr) ?: ct_order(x->order, y->order);
}

/* Reads the mapping symbols of one table, which has room for `room` symbols. */
static void read_table(const struct ct_elf *elf, Elf_Data *table, size_t strings, size_t room, uint64_t bias,
                       struct ct_mapping_symbols *out)
{
    for (size_t i = 0; i < room && i < INT32_MAX; i++) {
        GElf_Sym sym;
        uint32_t isa;
        if (!gelf_getsym(table, (int)i, &sym) || GELF_ST_TYPE(sym.st_info) != STT_NOTYPE ||
            sym.st_shndx == SHN_UNDEF || !is_mapping(elf_strptr(elf->elf, strings, sym.st_name), &isa))
            continue;
        out->points[out->count] =
            (struct ct_map_point){.addr = sym.st_value + bias, .isa = isa, .order = (uint32_t)out->count};
        out->count++;
    }
}

int ct_mapping_read(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf, uint64_t bias,
                    struct ct_mapping_symbols *out)
{
    *out = (struct ct_mapping_symbols){0};
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *table = elf_getdata(scn, NULL);
        size_t room = table ? table->d_size / gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT) : 0;
        if (room == 0)
            return CT_OK;
        out->points = malloc(room * sizeof *out->points);
        if (!out->points)
            return ct_fail_nomem(ctx, name);
        read_table(elf, table, header.sh_link, room, bias, out);
        if (out->count)
            qsort(out->points, out->count, sizeof *out->points, by_address);
        return CT_OK;
    }
    return CT_OK;
}

void ct_mapping_free(struct ct_mapping_symbols *mapping)
{
    free(mapping->points);
    *mapping = (struct ct_mapping_symbols){0};
}

const struct ct_map_point *ct_mapping_at(const struct ct_mapping_symbols *mapping, uint64_t addr)
{
    const size_t low = CT_COUNT_UP_TO(mapping->points, mapping->count, addr, addr);
    return low ? &mapping->points[low - 1] : NULL;
}

void ct_mapping_around(const struct ct_mapping_symbols *mapping, uint64_t addr, uint64_t *from, uint64_t *end)
{
    const size_t low = CT_COUNT_UP_TO(mapping->points, mapping->count, addr, addr);
    if (low && mapping->points[low - 1].addr > *from)
        *from = mapping->points[low - 1].addr;
    if (low < mapping->count && mapping->points[low].addr < *end)
        *end = mapping->points[low].addr;
}
