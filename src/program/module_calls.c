/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves calls from a kernel module to the kernel, and to other modules. */
#include "program/module.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/ctx.h"
#include "base/names.h"
#include "base/room.h"
#include "program/elf.h"

#define KERNEL_SPLIT UINT64_C(0x3f000000) /* no 32-bit kernel has modules below this address */
#define MODULES      UINT64_C(0x800000)   /* alignment of the kernel's area for modules */

/* A function that modules call. */
struct callee {
    uint64_t addr[2]; /* in programs and in the kernel; 0: unknown */
};

/* A module whose calls are resolved. */
struct caller {
    struct ct_module module;
    uint64_t base;
    uint32_t *callee;  /* by symbol: its number + 1; 0: none */
    uint64_t *plt;     /* by symbol: its entry in .plt; 0: none yet */
    uint64_t plt_used; /* entries */
};

struct finding {
    struct ct_memory *memory;
    struct caller *callers;
    size_t count;
    struct ct_names names;  /* of the callees */
    struct callee *callees; /* by number of the name */
    size_t room;
    struct caller *now;    /* the module whose relocations are visited */
    uint64_t kernel_begin; /* addresses from here on are the kernel's */
    bool has_kernel;       /* there is a file of the kernel besides the modules */
};

/* Returns 1 when an address is the kernel's, 0 when it is a program's. */
static unsigned half_of(const struct finding *f, uint64_t addr)
{
    return addr >= f->kernel_begin;
}

/* Finds the start of the kernel's addresses. A 32-bit kernel has its modules first, then itself, with
 * programs below; the boundary is a build option. */
static void find_kernel(struct finding *f)
{
    uint64_t lowest = UINT64_MAX;
    f->kernel_begin = 0;
    for (size_t i = 0; i < f->count; i++) {
        if (f->callers[i].module.arch->wide)
            f->kernel_begin = UINT64_C(1) << 63;
        lowest = f->callers[i].base < lowest ? f->callers[i].base : lowest;
    }
    if (!f->kernel_begin && lowest >= KERNEL_SPLIT)
        f->kernel_begin = lowest & ~(MODULES - 1);
}

/* ---- names ---- */

/* Returns whether a relocation is a call of a function outside of the module. */
static bool is_call(const struct ct_module *m, const struct ct_module_reloc *r)
{
    return r->outside && m->arch->far_branch(r->type);
}

static int note_callee(void *user, const struct ct_module_reloc *r)
{
    struct finding *f = user;
    const struct ct_module *m = &f->now->module;
    const struct ct_module_scn *names = &m->sections[m->symbols->link];
    if (!is_call(m, r) || f->now->callee[r->symbol])
        return CT_OK;
    const char *name = ct_module_name(m, names, ct_module_symbol_at(m, r->symbol).name_at);
    const uint32_t number = ct_names_add(&f->names, name, strlen(name));
    if (number == CT_NAMES_NONE || !CT_MAKE_ZEROED_ROOM(f->callees, f->room, f->names.count))
        return ct_fail_nomem(ct_memory_ctx(f->memory), "kernel modules");
    f->now->callee[r->symbol] = number + 1;
    return CT_OK;
}

/* Visits the relocations of a module's code. */
static int each_reloc(struct finding *f, struct caller *caller,
                      int (*take)(void *, const struct ct_module_reloc *))
{
    const struct ct_module *m = &caller->module;
    int rc = CT_OK;
    f->now = caller;
    for (size_t i = 0; i < m->count && !rc; i++)
        if (m->sections[i].type == m->arch->relocs && m->sections[i].info < m->count &&
            m->sections[m->sections[i].info].code)
            rc = ct_module_relocs(m, &m->sections[i], take, f);
    return rc;
}

static int add_caller(struct finding *f, const struct ct_mapped_file *file, uint64_t base)
{
    struct caller *c = &f->callers[f->count++];
    *c = (struct caller){.base = base,
                         .module = {.ctx = ct_memory_ctx(f->memory),
                                    .path = file->path,
                                    .bytes = (uint8_t *)(uintptr_t)file->bytes,
                                    .size = file->size,
                                    .arch = ct_module_arch_of(file->bytes, file->size),
                                    .linked = true}};
    const int rc = ct_module_read(&c->module);
    if (rc)
        return rc;
    const size_t symbols = ct_module_symbol_count(&c->module);
    c->callee = calloc(symbols + 1, sizeof *c->callee);
    c->plt = calloc(symbols + 1, sizeof *c->plt);
    if (!c->callee || !c->plt)
        return ct_fail_nomem(c->module.ctx, file->path);
    return each_reloc(f, c, note_callee);
}

/* Takes the addresses of functions from one file of the memory. */
static void look_in(struct finding *f, const struct ct_mapped_file *file, uint64_t bias)
{
    struct ct_elf elf;
    if (ct_elf_open(NULL, file->path, file->bytes, file->size, &elf))
        return;
    for (Elf_Scn *scn = elf_nextscn(elf.elf, NULL); scn; scn = elf_nextscn(elf.elf, scn)) {
        GElf_Shdr header;
        GElf_Sym sym;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
            if (sym.st_shndx == SHN_UNDEF || GELF_ST_BIND(sym.st_info) == STB_LOCAL)
                continue;
            const char *name = elf_strptr(elf.elf, header.sh_link, sym.st_name);
            const uint32_t number = name ? ct_names_find(&f->names, name) : CT_NAMES_NONE;
            const uint64_t addr = sym.st_value + bias;
            const unsigned half = half_of(f, addr);
            f->has_kernel |= half && !file->is_module;
            if (number != CT_NAMES_NONE && !f->callees[number].addr[half])
                f->callees[number].addr[half] = addr;
        }
    }
    ct_elf_close(&elf);
}

/* ---- calls ---- */

/* Writes the entry of .plt that jumps to a function. Returns its address; 0 when there is no room. */
static uint64_t add_plt(struct caller *c, uint32_t symbol, uint64_t target)
{
    const struct ct_module *m = &c->module;
    if (c->plt[symbol] || !m->plt)
        return c->plt[symbol];
    const uint64_t entry = m->arch->plt_entry(m->bytes + m->plt->offset, m->plt->size, m->plt->addr + c->base,
                                              c->plt_used, target);
    c->plt_used += entry != 0;
    c->plt[symbol] = entry ? entry - c->base : 0;
    return c->plt[symbol];
}

static int lead(void *user, const struct ct_module_reloc *r)
{
    const struct finding *f = user;
    struct caller *c = f->now;
    const struct ct_module_arch *arch = c->module.arch;
    const uint32_t number = c->callee[r->symbol];
    const uint64_t target = number ? f->callees[number - 1].addr[half_of(f, c->base)] : 0;
    if (!is_call(&c->module, r) || !target)
        return CT_OK;
    uint8_t *p = c->module.bytes + r->offset;
    if (arch->branch(p, r->type, r->place + c->base, target + r->addend))
        return CT_OK;
    const uint64_t plt = add_plt(c, r->symbol, target);
    if (plt)
        (void)arch->branch(p, r->type, r->place, plt);
    return CT_OK;
}

/* Logs how many functions are in no file, if there are files of the kernel. */
static void tell(const struct finding *f)
{
    const char *example = NULL;
    size_t unknown = 0;
    for (size_t i = 0; f->has_kernel && i < f->names.count; i++)
        if (!f->callees[i].addr[0] && !f->callees[i].addr[1]) {
            example = example ? example : f->names.names[i];
            unknown++;
        }
    if (unknown)
        ct_log(
            ct_memory_ctx(f->memory), CT_LOG_NOTE,
            "%zu functions that kernel modules call are in none of the given files (for example %s), so the "
            "code that ran in them is not listed; name the kernel image (vmlinux) and all modules with --elf",
            unknown, example);
}

static int find_all(struct finding *f)
{
    const struct ct_mapped_file *file = NULL;
    uint64_t base;
    int rc = CT_OK;
    while (!rc && (file = ct_memory_next_file(f->memory, file, &base)))
        rc = file->is_module ? add_caller(f, file, base) : CT_OK;
    find_kernel(f);
    while (!rc && f->names.count && (file = ct_memory_next_file(f->memory, file, &base)))
        look_in(f, file, base);
    for (size_t i = 0; i < f->count && !rc; i++)
        rc = each_reloc(f, &f->callers[i], lead);
    if (!rc)
        tell(f);
    return rc;
}

int ct_memory_link(struct ct_memory *memory)
{
    struct finding f = {.memory = memory};
    const struct ct_mapped_file *file = NULL;
    uint64_t base;
    size_t modules = 0;
    while ((file = ct_memory_next_file(memory, file, &base)))
        modules += file->is_module;
    if (!modules)
        return CT_OK;
    f.callers = calloc(modules, sizeof *f.callers);
    const int rc = f.callers ? find_all(&f) : ct_fail_nomem(ct_memory_ctx(memory), "kernel modules");
    for (size_t i = 0; i < f.count; i++) {
        free(f.callers[i].callee);
        free(f.callers[i].plt);
        free(f.callers[i].module.sections);
    }
    free(f.callers);
    free(f.callees);
    ct_names_free(&f.names);
    return rc;
}
