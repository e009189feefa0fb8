/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the entries of procedure linkage tables: the code through which a program calls functions of other
 * files. Each loads an address from a slot of the global offset table, and a relocation of that slot names
 * the function. */
#include "base/bytes.h"
#include "base/ctx.h"
#include "base/room.h"
#include "base/search.h"
#include "program/symbols.h"

#include <stdlib.h>
#include <string.h>

#define BTI_C       0xd503245fu
#define MOST_CHOSEN 4096u       /* a C library has some tens */
#define MOST_NAMES  (64u << 20) /* bytes */

/* A slot of the global offset table, and the function whose address the dynamic linker writes there. */
struct slot {
    uint64_t addr; /* without load bias */
    const char *name;
};

struct slots {
    struct slot *all;
    size_t count, room;
    size_t chosen;      /* slots of functions that are chosen by processor features */
    size_t name_budget; /* bytes of names that may still be built */
};

static int by_address(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return ct_order(x->addr, y->addr);
}

static int add_slot(struct ct_collector *c, struct slots *slots, uint64_t addr, const char *name)
{
    if (!CT_MAKE_ROOM(slots->all, slots->room, slots->count + 1))
        return ct_fail_nomem(c->ctx, c->name);
    slots->all[slots->count++] = (struct slot){addr, name};
    return CT_OK;
}

/* ---- relocations ---- */

/* Returns the name of the function that starts at an address of the file; NULL when there is none. Only used
 * for static programs, for the few functions that are chosen by processor features. */
static const char *name_at(const struct ct_collector *c, uint64_t addr)
{
    const struct ct_function *best = NULL;
    for (size_t i = 0; i < c->count; i++)
        if (c->functions[i].symbol.addr == addr + c->bias && c->functions[i].symbol.name &&
            (!best || ct_function_order(&c->functions[i], best) < 0))
            best = &c->functions[i];
    return best ? best->symbol.name : NULL;
}

static bool fills_slot(unsigned machine, uint64_t type)
{
    return machine == EM_AARCH64 ? type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT
                                 : type == R_ARM_JUMP_SLOT || type == R_ARM_GLOB_DAT;
}

/* The tables of a relocation section: its entries, and their symbols. */
struct relocations {
    Elf_Data *entries;
    Elf_Data *symbols;
    size_t strings; /* section of the names */
    bool with_addends;
};

static bool chooses(unsigned machine, uint64_t type)
{
    return machine == EM_AARCH64 ? type == R_AARCH64_IRELATIVE : type == R_ARM_IRELATIVE;
}

/* Returns the word of 32 bits in a segment, at an address of the file; 0 when there is none. */
static uint32_t word_at(const struct ct_collector *c, uint64_t addr)
{
    size_t size;
    const char *bytes = elf_rawfile(c->elf->elf, &size);
    for (size_t i = 0; bytes && i < c->elf->segments; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(c->elf->elf, (int)i, &p) || p.p_type != PT_LOAD || addr < p.p_vaddr)
            continue;
        const uint64_t at = addr - p.p_vaddr;
        if (at < p.p_filesz && p.p_filesz - at >= 4 && p.p_offset <= size && at + 4 <= size - p.p_offset)
            return ct_load32((const uint8_t *)bytes + p.p_offset + at);
    }
    return 0;
}

/* Returns the address of the code that chooses the function of a slot. Relocations without addends have it in
 * the slot, in T32 with bit 0 set. */
static uint64_t chooser_of(const struct ct_collector *c, const GElf_Rela *rela, const GElf_Rel *rel,
                           bool with_addends)
{
    const uint64_t addr = with_addends ? (uint64_t)rela->r_addend : word_at(c, rel->r_offset);
    return c->elf->header.e_machine == EM_AARCH64 ? addr : addr & ~UINT64_C(1);
}

static int read_relocation(struct ct_collector *c, const struct relocations *r, int index,
                           struct slots *slots)
{
    const unsigned machine = c->elf->header.e_machine;
    GElf_Rela rela = {0};
    GElf_Rel rel = {0};
    GElf_Sym sym;
    const char *name = NULL;
    if (r->with_addends ? !gelf_getrela(r->entries, index, &rela) : !gelf_getrel(r->entries, index, &rel))
        return CT_OK;
    const uint64_t info = r->with_addends ? rela.r_info : rel.r_info;
    if (chooses(machine, GELF_R_TYPE(info)) && slots->chosen < MOST_CHOSEN) {
        slots->chosen++;
        name = name_at(c, chooser_of(c, &rela, &rel, r->with_addends));
    } else if (fills_slot(machine, GELF_R_TYPE(info)) && r->symbols && GELF_R_SYM(info) <= INT32_MAX &&
               gelf_getsym(r->symbols, (int)GELF_R_SYM(info), &sym)) {
        name = elf_strptr(c->elf->elf, r->strings, sym.st_name);
    }
    return name && *name ? add_slot(c, slots, r->with_addends ? rela.r_offset : rel.r_offset, name) : CT_OK;
}

/* Reads the slots named by relocations. No bytes are read twice: relocation sections that overlap are
 * skipped. */
static int read_slots(struct ct_collector *c, struct slots *slots)
{
    uint64_t budget = 0;
    size_t file_size;
    if (elf_rawfile(c->elf->elf, &file_size))
        budget = file_size;
    for (Elf_Scn *scn = elf_nextscn(c->elf->elf, NULL); scn; scn = elf_nextscn(c->elf->elf, scn)) {
        GElf_Shdr header;
        GElf_Shdr linked;
        if (!gelf_getshdr(scn, &header) || (header.sh_type != SHT_RELA && header.sh_type != SHT_REL) ||
            header.sh_size > budget)
            continue;
        budget -= header.sh_size;
        Elf_Scn *table = elf_getscn(c->elf->elf, header.sh_link);
        struct relocations r = {.entries = elf_getdata(scn, NULL),
                                .with_addends = header.sh_type == SHT_RELA};
        if (table && gelf_getshdr(table, &linked)) {
            r.symbols = elf_getdata(table, NULL);
            r.strings = linked.sh_link;
        }
        size_t entry = gelf_fsize(c->elf->elf, r.with_addends ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT);
        size_t count = r.entries ? r.entries->d_size / entry : 0;
        for (size_t i = 0; i < count && i < INT32_MAX; i++) {
            int result = read_relocation(c, &r, (int)i, slots);
            if (result != CT_OK)
                return result;
        }
    }
    if (slots->count)
        qsort(slots->all, slots->count, sizeof *slots->all, by_address);
    return CT_OK;
}

/* ---- entries ---- */

/* A procedure linkage table. */
struct plt {
    const uint8_t *bytes;
    size_t size;
    uint64_t addr; /* without load bias */
};

/* Returns the slot read by the entry whose first significant instruction is the word at `at`; 0 when no entry
 * is there. *start is moved to an earlier instruction of the entry, if any. */
static uint64_t slot_a64(const struct plt *plt, size_t at, size_t *start)
{
    if (plt->size - at < 8)
        return 0;
    uint32_t page = ct_load32(plt->bytes + at);
    uint32_t load = ct_load32(plt->bytes + at + 4);
    if ((page & 0x9f00001f) != 0x90000010) /* ADRP X16 */
        return 0;
    if ((load & 0xffc003ff) != 0xf9400211) /* LDR X17, [X16, #…] */
        return 0;
    uint64_t distance = (page >> 29 & 3) | (page >> 5 & 0x7ffff) << 2;
    int64_t pages = (int64_t)(distance << 43) >> 43;
    if (at >= 4 && ct_load32(plt->bytes + at - 4) == BTI_C)
        *start = at - 4;
    return ((plt->addr + at) & ~UINT64_C(0xfff)) + ((uint64_t)pages << 12) + (load >> 10 & 0xfff) * 8;
}

static uint32_t rotated(uint32_t opcode)
{
    uint32_t value = opcode & 0xff;
    unsigned by = (opcode >> 8 & 0xf) * 2;
    return by ? value >> by | value << (32 - by) : value;
}

/* Returns the slot of an A32 entry: ADD ip, pc, #…; ADD ip, ip, #… (once or twice); LDR pc, [ip, #…]!. BX pc
 * and NOP come before it when T32 code calls it. */
static uint64_t slot_a32(const struct plt *plt, size_t at, size_t *start)
{
    if (plt->size - at < 12)
        return 0;
    uint32_t word = ct_load32(plt->bytes + at);
    if ((word & 0xfffff000) != 0xe28fc000)
        return 0;
    uint32_t slot = (uint32_t)(plt->addr + at) + 8 + rotated(word);
    for (size_t i = at + 4; i + 4 <= plt->size && i <= at + 12; i += 4) {
        word = ct_load32(plt->bytes + i);
        if ((word & 0xfffff000) == 0xe5bcf000) {
            if (at >= 4 && (ct_load32(plt->bytes + at - 4) & 0xffff) == 0x4778)
                *start = at - 4;
            return slot + (word & 0xfff);
        }
        if ((word & 0xfffff000) != 0xe28cc000)
            return 0;
        slot += rotated(word);
    }
    return 0;
}

/* Adds an entry, which ends where the next one starts; `from` and `end` are offsets in the table. */
static int add_entry(struct ct_collector *c, const struct plt *plt, struct slots *slots, uint64_t slot,
                     size_t from, size_t end)
{
    const struct slot key = {.addr = slot};
    const struct slot *found =
        slots->count && slot ? bsearch(&key, slots->all, slots->count, sizeof key, by_address) : NULL;
    const bool wide = c->elf->header.e_machine == EM_AARCH64;
    size_t room = found ? strlen(found->name) + sizeof "@plt" : 0;
    if (!found || end <= from || room > slots->name_budget)
        return CT_OK;
    slots->name_budget -= room;
    const char *name = ct_arena_printf(c->arena, "%s@plt", found->name);
    if (!name)
        return ct_fail_nomem(c->ctx, c->name);
    const struct ct_function function = {.symbol = {.name = name,
                                                    .addr = plt->addr + from + c->bias,
                                                    .size = end - from,
                                                    .isa = wide ? CT_ISA_A64 : CT_ISA_A32,
                                                    .source = CT_SYMBOL_PLT},
                                         .rank = 3};
    return ct_collect(c, &function);
}

static int read_plt(struct ct_collector *c, const struct plt *plt, struct slots *slots)
{
    const bool wide = c->elf->header.e_machine == EM_AARCH64;
    uint64_t slot = 0;
    size_t from = 0;
    int result = CT_OK;
    for (size_t at = 0; at + 4 <= plt->size && result == CT_OK; at += 4) {
        size_t start = at;
        uint64_t next = wide ? slot_a64(plt, at, &start) : slot_a32(plt, at, &start);
        if (!next)
            continue;
        result = add_entry(c, plt, slots, slot, from, start);
        slot = next;
        from = start;
    }
    return result == CT_OK ? add_entry(c, plt, slots, slot, from, plt->size) : result;
}

int ct_collect_plt(struct ct_collector *c)
{
    static const char *const names[] = {".plt", ".iplt", ".plt.got", ".plt.sec"};
    struct slots slots = {.name_budget = MOST_NAMES};
    int result = CT_OK;
    bool is_read = false;
    for (size_t i = 0; i < sizeof names / sizeof *names && result == CT_OK; i++) {
        GElf_Shdr header;
        Elf_Scn *scn = ct_elf_section(c->elf, names[i], &header);
        Elf_Data *data = scn && header.sh_type == SHT_PROGBITS ? elf_rawdata(scn, NULL) : NULL;
        if (!data || !data->d_buf)
            continue;
        if (!is_read)
            result = read_slots(c, &slots);
        is_read = true;
        const struct plt plt = {data->d_buf, data->d_size, header.sh_addr};
        if (result == CT_OK)
            result = read_plt(c, &plt, &slots);
    }
    free(slots.all);
    return result;
}
