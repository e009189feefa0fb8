/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations of kernel modules, by Arm's ELF for the 64-bit architecture (IHI 0056). */
#include "program/module.h"

#include <elf.h>
#include <stddef.h>

#include "base/bytes.h"

#define CALL_SLOTS 1024u /* addresses behind the code for functions that are not in the module */

/* Replaces `count` bits of an instruction, from bit `low` on. */
static void set_bits(uint8_t *p, unsigned low, unsigned count, uint64_t value)
{
    const uint32_t mask = (uint32_t)ct_mask64(count) << low;
    ct_store(p, (ct_load32(p) & ~mask) | ((uint32_t)(value << low) & mask), 4);
}

static bool fits(int64_t distance, unsigned bits)
{
    return distance >= -(INT64_C(1) << (bits - 1)) && distance < INT64_C(1) << (bits - 1);
}

bool ct_module_branch(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t target)
{
    const int64_t distance = (int64_t)(target - place);
    const unsigned bits = type == R_AARCH64_TSTBR14 ? 14 : type == R_AARCH64_CONDBR19 ? 19 : 26;
    if (!fits(distance, bits + 2))
        return false;
    set_bits(bytes, bits == 26 ? 0 : 5, bits, (uint64_t)distance >> 2);
    return true;
}

static void set_adr(uint8_t *p, uint64_t value)
{
    set_bits(p, 29, 2, value);
    set_bits(p, 5, 19, value >> 2);
}

/* How an absolute address goes into 12 bits of a load or store: log2 of what it is divided by; -1: not so. */
static int low12_shift(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        return 0;
    case R_AARCH64_LDST16_ABS_LO12_NC:
        return 1;
    case R_AARCH64_LDST32_ABS_LO12_NC:
        return 2;
    case R_AARCH64_LDST64_ABS_LO12_NC:
        return 3;
    case R_AARCH64_LDST128_ABS_LO12_NC:
        return 4;
    default:
        return -1;
    }
}

/* Bytes of data that a relocation changes; 0: it changes an instruction, or nothing. */
static unsigned data_size(uint32_t type)
{
    switch (type) {
    case R_AARCH64_ABS64:
    case R_AARCH64_PREL64:
        return 8;
    case R_AARCH64_ABS32:
    case R_AARCH64_PREL32:
        return 4;
    case R_AARCH64_ABS16:
    case R_AARCH64_PREL16:
        return 2;
    default:
        return 0;
    }
}

void ct_module_target(uint8_t *bytes, uint32_t type, uint64_t place, uint64_t value)
{
    const unsigned size = data_size(type);
    const int shift = low12_shift(type);
    const bool relative = type >= R_AARCH64_PREL64 && type <= R_AARCH64_PREL16;
    if (size)
        ct_store(bytes, relative ? value - place : value, size);
    else if (shift >= 0)
        set_bits(bytes, 10, 12, (value & 0xfff) >> shift);
    else if (type == R_AARCH64_ADR_PREL_LO21)
        set_adr(bytes, value - place);
    else if (type == R_AARCH64_ADR_PREL_PG_HI21 || type == R_AARCH64_ADR_PREL_PG_HI21_NC)
        set_adr(bytes, (value >> 12) - (place >> 12));
    else if (type == R_AARCH64_LD_PREL_LO19)
        set_bits(bytes, 5, 19, (value - place) >> 2);
}

static bool is_branch(uint32_t type)
{
    return type == R_AARCH64_CALL26 || type == R_AARCH64_JUMP26 || type == R_AARCH64_CONDBR19 ||
           type == R_AARCH64_TSTBR14;
}

/* ---- reading ---- */

/* Finds what a relocation refers to. */
static void find_symbol(const struct ct_module *m, struct ct_module_reloc *r)
{
    const uint8_t *p = m->bytes + m->symbols->offset + r->symbol * sizeof(Elf64_Sym);
    const uint16_t section = ct_load16(p + offsetof(Elf64_Sym, st_shndx));
    r->outside = section == SHN_UNDEF && r->symbol;
    r->known = section == SHN_ABS || (section < m->count && section && m->sections[section].placed);
    r->value = r->known ? ct_load64(p + offsetof(Elf64_Sym, st_value)) : 0;
    /* A section without an address, as of debug information: what is in it counts from its own begin. */
    if (section && section < m->count && !(m->sections[section].flags & SHF_ALLOC)) {
        r->known = true;
        r->value = ct_load64(p + offsetof(Elf64_Sym, st_value));
    }
}

int ct_module_relocs(const struct ct_module *m, const struct ct_module_scn *section,
                     int (*take)(void *, const struct ct_module_reloc *), void *user)
{
    const struct ct_module_scn *target = section->info < m->count ? &m->sections[section->info] : NULL;
    if (!target || !m->symbols || section->link >= m->count || &m->sections[section->link] != m->symbols)
        return CT_OK;
    const size_t symbols = m->symbols->size / sizeof(Elf64_Sym);
    int rc = CT_OK;
    for (uint64_t at = 0; section->size - at >= sizeof(Elf64_Rela) && !rc; at += sizeof(Elf64_Rela)) {
        const uint8_t *p = m->bytes + section->offset + at;
        const uint64_t place = ct_load64(p), info = ct_load64(p + 8);
        struct ct_module_reloc r = {.type = (uint32_t)info,
                                    .symbol = (uint32_t)(info >> 32),
                                    .addend = ct_load64(p + 16),
                                    .place = target->addr + place,
                                    .offset = target->offset + place};
        const unsigned size = data_size(r.type) ? data_size(r.type) : 4;
        if (r.symbol >= symbols || target->size < size || place > target->size - size ||
            target->type == SHT_NOBITS)
            continue;
        find_symbol(m, &r);
        rc = take(user, &r);
    }
    return rc;
}

/* ---- applying ---- */

static int take(void *user, const struct ct_module_reloc *r)
{
    const struct ct_module *m = user;
    uint8_t *p = m->bytes + r->offset;
    const uint64_t value = r->value + r->addend;
    if (!is_branch(r->type)) {
        if (r->known)
            ct_module_target(p, r->type, r->place, value);
    } else if (!r->known || !ct_module_branch(p, r->type, r->place, value)) {
        (void)ct_module_branch(p, r->type, r->place, m->calls + r->symbol % CALL_SLOTS * 4);
    }
    return CT_OK;
}

int ct_module_relocate(struct ct_module *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct ct_module_scn *s = &m->sections[i];
        const struct ct_module_scn *target = s->info < m->count ? &m->sections[s->info] : NULL;
        if (s->type != SHT_RELA || !target || target->flags & SHF_COMPRESSED ||
            (target->flags & SHF_ALLOC && !target->placed))
            continue;
        const int rc = ct_module_relocs(m, s, take, m);
        if (rc)
            return rc;
    }
    return CT_OK;
}
