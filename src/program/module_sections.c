/* SPDX-License-Identifier: Apache-2.0 */
/* The sections of a kernel module, and where the kernel loads them. */
#include "program/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"

#define TRAMPOLINE 12u                 /* bytes of .text.ftrace_trampoline */
#define PLT_ALIGN  64u                 /* a line of the first-level cache */
#define MOST_BYTES (UINT64_C(1) << 31) /* of memory that a module may use */
#define PAGE       4096u

/* Returns whether the bytes of a section are in the file, after its header. */
static bool is_inside(const struct ct_module *m, const struct ct_module_scn *s)
{
    return s->type == SHT_NOBITS || (s->offset <= m->size && s->size <= m->size - s->offset &&
                                     (!s->size || s->offset >= ct_module_header_size(m)));
}

static int damaged(const struct ct_module *m, const char *what)
{
    return ct_fail(m->ctx, CT_ERR_FORMAT,
                   "%s: %s of the kernel module is truncated or damaged, so the module was not read; use a "
                   "complete copy",
                   m->path, what);
}

const char *ct_module_name(const struct ct_module *m, const struct ct_module_scn *names, uint32_t at)
{
    if (at >= names->size || names->type != SHT_STRTAB ||
        !memchr(m->bytes + names->offset + at, 0, names->size - at))
        return "";
    return (const char *)m->bytes + names->offset + at;
}

int ct_module_read(struct ct_module *m)
{
    const uint64_t at = ct_module_sections_at(m);
    const size_t names = ct_module_section_names(m);
    const size_t entry = ct_module_section_size(m);
    m->count = ct_module_section_count(m);
    if (at > m->size || m->count > (m->size - at) / entry || names >= m->count ||
        ct_module_section_entry(m) != entry)
        return damaged(m, "the section table");
    m->sections = calloc(m->count, sizeof *m->sections);
    if (!m->sections)
        return ct_fail_nomem(m->ctx, m->path);
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        *s = ct_module_read_section(m, m->bytes + at + i * entry);
        if (s->type == SHT_NULL) /* its members have no meaning */
            s->flags = s->offset = s->size = 0;
        if (!is_inside(m, s))
            return damaged(m, "a section");
        if (s->align & (s->align - 1) || s->align > PAGE * 16)
            return damaged(m, "the alignment of a section");
    }
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        s->name = ct_module_name(m, &m->sections[names], s->name_at);
        s->placed = m->linked && s->flags & SHF_ALLOC;
        s->code = s->placed && s->flags & SHF_EXECINSTR && s->size;
        if (s->code && !strcmp(s->name, ".plt"))
            m->plt = s;
        if (s->type == SHT_SYMTAB && s->link < m->count && !m->symbols)
            m->symbols = s;
    }
    return CT_OK;
}

/* ---- the size of .plt ---- */

/* Counts the branches of one section that may need an entry: one for each kind and symbol, and one for each
 * with an addend. */
struct plt_count {
    const struct ct_module *module;
    const struct ct_module_scn *target;
    uint8_t *seen; /* by symbol: a bit for each kind of branch */
    uint64_t entries;
};

static int count_branch(void *user, const struct ct_module_reloc *r)
{
    struct plt_count *c = user;
    const unsigned kind = c->module->arch->far_branch(r->type);
    const uint8_t bit = (uint8_t)(1u << kind);
    if (!kind || ct_module_symbol_at(c->module, r->symbol).section == c->target - c->module->sections)
        return CT_OK;
    c->entries += r->addend || !(c->seen[r->symbol] & bit);
    if (!r->addend)
        c->seen[r->symbol] |= bit;
    return CT_OK;
}

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* Returns whether a section is only needed for loading, such as .init; in 32-bit Arm also its unwind
 * table. */
static bool is_init(const struct ct_module_scn *s)
{
    return begins(s->name, ".init") || begins(s->name, ".ARM.exidx.init") ||
           begins(s->name, ".ARM.extab.init");
}

static int count_entries(const struct ct_module *m, bool init, uint64_t *entries)
{
    int rc = CT_OK;
    *entries = 0;
    for (size_t i = 0; m->symbols && i < m->count && !rc; i++) {
        const struct ct_module_scn *s = &m->sections[i];
        if (s->type != m->arch->relocs || s->info >= m->count)
            continue;
        struct plt_count c = {.module = m, .target = &m->sections[s->info]};
        if (!(c.target->flags & SHF_EXECINSTR) || is_init(c.target) != init)
            continue;
        c.seen = calloc(ct_module_symbol_count(m) + 1, 1);
        rc = c.seen ? ct_module_relocs(m, s, count_branch, &c) : ct_fail_nomem(m->ctx, m->path);
        free(c.seen);
        *entries += c.entries;
    }
    return rc;
}

/* Sets the sizes of the sections that the kernel fills. */
static int size_plts(struct ct_module *m)
{
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        const bool init = !strcmp(s->name, ".init.plt");
        const bool trampoline = !strcmp(s->name, ".text.ftrace_trampoline");
        uint64_t entries = 0;
        if ((!init && !trampoline && strcmp(s->name, ".plt") != 0) ||
            (s->type != SHT_PROGBITS && s->type != SHT_NOBITS))
            continue;
        const int rc = trampoline ? CT_OK : count_entries(m, init, &entries);
        if (rc)
            return rc;
        s->type = SHT_NOBITS;
        s->flags = SHF_ALLOC | SHF_EXECINSTR;
        s->size = trampoline ? TRAMPOLINE : m->arch->plt_size(entries);
        s->align = trampoline ? 4 : PLT_ALIGN;
    }
    return CT_OK;
}

/* ---- addresses ---- */

/* Returns whether the kernel keeps a section in memory. */
static bool is_loaded(const struct ct_module_scn *s)
{
    return s->flags & SHF_ALLOC && strcmp(s->name, ".modinfo") != 0 && strcmp(s->name, "__versions") != 0 &&
           strcmp(s->name, ".data..percpu") != 0;
}

/* Returns in which of several passes a section is placed. */
static int turn_of(const struct ct_module_scn *s)
{
    if (s->flags & SHF_EXECINSTR)
        return 0;
    if (!strcmp(s->name, ".data..ro_after_init") || !strcmp(s->name, "__jump_table"))
        return 2;
    return s->flags & SHF_WRITE ? 3 : 1;
}

static uint64_t align_up(uint64_t at, uint64_t to)
{
    return to > 1 ? (at + to - 1) & ~(to - 1) : at;
}

static int too_large(const struct ct_module *m)
{
    return ct_fail(
        m->ctx, CT_ERR_LIMIT,
        "%s: the kernel module takes more than 2 GiB of memory, so it was not read; use an undamaged copy",
        m->path);
}

static int lay_out_by_rules(struct ct_module *m)
{
    uint64_t at = 0;
    for (int turn = 0; turn < 4; turn++, at = align_up(at, PAGE))
        for (size_t i = 0; i < m->count; i++) {
            struct ct_module_scn *s = &m->sections[i];
            if (!is_loaded(s) || is_init(s) || turn_of(s) != turn)
                continue;
            s->addr = align_up(at, s->align);
            s->placed = true;
            if (s->size > MOST_BYTES || s->addr > MOST_BYTES)
                return too_large(m);
            at = s->addr + s->size;
        }
    return CT_OK;
}

static void lay_out_as_known(struct ct_module *m, const struct ct_module_place *known)
{
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        for (size_t k = 0; k < known->count && !s->placed; k++) {
            /* The file of a 32-bit module cannot represent addresses before the module itself. */
            s->placed = is_loaded(s) && !strcmp(known->sections[k].name, s->name) &&
                        (m->arch->wide || known->sections[k].addr <= UINT32_MAX);
            s->addr = s->placed ? known->sections[k].addr : 0;
        }
    }
}

/* Finds the end of code, and checks that its size is allowed and that its sections do not overlap. */
static int find_code(struct ct_module *m)
{
    uint64_t all = 0;
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        s->code = s->placed && s->flags & SHF_EXECINSTR && s->size;
        if (!s->code)
            continue;
        all += s->size < MOST_BYTES ? s->size : MOST_BYTES;
        if (all >= MOST_BYTES)
            return too_large(m);
        if (!is_init(s) && s->addr < MOST_BYTES && s->addr + s->size > m->calls)
            m->calls = s->addr + s->size;
        if (s->addr + (s->size - 1) < s->addr)
            return ct_fail(m->ctx, CT_ERR_CONFIG,
                           "%s: section %s would extend beyond the address space, so the module was not "
                           "added; correct its address",
                           m->path, s->name);
        for (size_t k = 0; k < i; k++) {
            const struct ct_module_scn *o = &m->sections[k];
            if (o->code && s->addr < o->addr + o->size && o->addr < s->addr + s->size)
                return ct_fail(
                    m->ctx, CT_ERR_CONFIG,
                    "%s: sections %s and %s would overlap, so the module was not added; the recorded section "
                    "addresses belong to another module; name the module that was loaded",
                    m->path, o->name, s->name);
        }
    }
    m->calls = align_up(m->calls, PAGE);
    return CT_OK;
}

int ct_module_lay_out(struct ct_module *m, const struct ct_module_place *known)
{
    int rc = size_plts(m);
    if (!rc && !known)
        rc = lay_out_by_rules(m);
    else if (!rc)
        lay_out_as_known(m, known);
    return rc ? rc : find_code(m);
}
