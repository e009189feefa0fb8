/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations of kernel modules: finds what each refers to, and applies those whose value is known. */
#include "program/module.h"

#include <elf.h>

#define CALL_SLOTS 1024u /* addresses after the code for functions outside of the module */

/* ---- reading ---- */

/* Finds the symbol of a relocation. */
static void find_symbol(const struct ct_module *m, struct ct_module_reloc *r)
{
    const struct ct_module_symbol symbol = ct_module_symbol_at(m, r->symbol);
    const uint16_t section = symbol.section;
    r->outside = section == SHN_UNDEF && r->symbol;
    r->known = section == SHN_ABS || (section < m->count && section && m->sections[section].placed);
    r->value = r->known ? symbol.value : 0;
    /* In a section without an address, such as debug information, values count from the beginning of the
     * section. */
    if (section && section < m->count && !(m->sections[section].flags & SHF_ALLOC)) {
        r->known = true;
        r->value = symbol.value;
    }
}

int ct_module_relocs(const struct ct_module *m, const struct ct_module_scn *section,
                     int (*take)(void *, const struct ct_module_reloc *), void *user)
{
    const struct ct_module_scn *target = section->info < m->count ? &m->sections[section->info] : NULL;
    if (!target || !m->symbols || section->link >= m->count || &m->sections[section->link] != m->symbols)
        return CT_OK;
    const size_t symbols = ct_module_symbol_count(m), entry = ct_module_reloc_size(m);
    int rc = CT_OK;
    for (uint64_t at = 0; section->size - at >= entry && !rc; at += entry) {
        struct ct_module_reloc r = ct_module_read_reloc(m, m->bytes + section->offset + at);
        const uint64_t place = r.place;
        const unsigned data = m->arch->data_size(r.type), size = data ? data : 4;
        r.place += target->addr;
        r.offset = target->offset + place;
        if (r.symbol >= symbols || target->size < size || place > target->size - size ||
            target->type == SHT_NOBITS)
            continue;
        find_symbol(m, &r);
        if (m->arch->addend && !m->linked)
            r.addend = m->arch->addend(m->bytes + r.offset, r.type);
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
    if (!m->arch->is_branch(r->type)) {
        if (r->known)
            m->arch->set(p, r->type, r->place, value);
    } else if (!r->known || !m->arch->branch(p, r->type, r->place, value)) {
        (void)m->arch->branch(p, r->type, r->place, m->calls + r->symbol % CALL_SLOTS * 4);
    }
    return CT_OK;
}

int ct_module_relocate(struct ct_module *m)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct ct_module_scn *s = &m->sections[i];
        const struct ct_module_scn *target = s->info < m->count ? &m->sections[s->info] : NULL;
        if (s->type != m->arch->relocs || !target || target->flags & SHF_COMPRESSED ||
            (target->flags & SHF_ALLOC && !target->placed))
            continue;
        const int rc = ct_module_relocs(m, s, take, m);
        if (rc)
            return rc;
    }
    return CT_OK;
}
