/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the section addresses of kernel modules in files of the target: /sys/module/NAME/sections, or the
 * addresses of the modules' symbols in /proc/kallsyms, of which perf keeps a copy in its cache. */
#include "base/ctx.h"
#include "base/elf_strings.h"
#include "base/kallsyms.h"
#include "base/module_name.h"
#include "base/path.h"
#include "base/unpack.h"
#include "input/perf.h"

#include <stdlib.h>
#include <string.h>

#define KALLSYMS_MAX (UINT64_C(256) << 20) /* bytes */
#define MODULE_NAME  64u                   /* of a module, limited by Linux */

/* A symbol of a module in kallsyms. */
struct listed_symbol {
    const char *name;
    uint64_t addr;
};

/* One module. */
struct module {
    struct ct_perf *perf;
    const struct ct_perf_event *map;
    const char *path; /* of its file here */
    char name[MODULE_NAME];
    Elf *elf;
    struct ct_module_section *sections;
    size_t count;
};

/* Derives the name of a module: its file name without the ending, with _ for each -. Returns false when the
 * file is no module. */
static bool find_name(struct module *m)
{
    const char *name = ct_base_name(m->map->name);
    name += *name == '[';
    const size_t length = strcspn(name, ".]");
    if (length >= sizeof m->name)
        return false;
    for (size_t i = 0; i < length; i++)
        m->name[i] = name[i] == '-' ? '_' : name[i];
    m->name[length] = 0;
    return length > 0;
}

static int add_section(struct module *m, const char *name, uint64_t addr)
{
    struct ct_arena *arena = m->perf->opening->arena;
    const char *copy = ct_arena_strdup(arena, name);
    struct ct_module_section *sections = ct_arena_push(arena, m->sections, &m->count, sizeof *sections);
    if (!copy || !sections)
        return ct_fail_nomem(m->perf->opening->ctx, m->path);
    m->sections = sections;
    sections[m->count - 1] = (struct ct_module_section){copy, addr - m->map->addr};
    return CT_OK;
}

/* ---- /sys/module ---- */

/* Reads the address in one of the files there. Returns false when the file does not exist or the address is
 * hidden. */
static bool read_address(const struct ct_perf *p, const char *path, uint64_t *addr)
{
    char text[32];
    char *end;
    const ssize_t n =
        path ? p->opening->files->read(p->opening->files->user, path, text, sizeof text - 1) : -1;
    if (n <= 0)
        return false;
    text[n] = 0;
    *addr = strtoull(text, &end, 16);
    return end != text && *addr;
}

static int read_sections(struct module *m)
{
    struct ct_perf *p = m->perf;
    size_t names;
    int rc = elf_getshdrstrndx(m->elf, &names) ? CT_ERR_FORMAT : CT_OK;
    for (Elf_Scn *scn = elf_nextscn(m->elf, NULL); scn && !rc; scn = elf_nextscn(m->elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(m->elf, names, header.sh_name) : NULL;
        uint64_t addr;
        if (name && *name && !strchr(name, '/') && header.sh_flags & SHF_ALLOC &&
            read_address(
                p,
                ct_arena_printf(&p->arena, "%s/sys/module/%s/sections/%s", p->options->symfs, m->name, name),
                &addr))
            rc = add_section(m, name, addr);
    }
    return rc == CT_ERR_FORMAT ? CT_OK : rc;
}

/* ---- kallsyms ---- */

/* Finds the target's kallsyms: beside kcore, below --symfs, or in the build-id cache. NULL: none. */
static const char *find_kallsyms(const struct ct_perf *p, uint64_t *size)
{
    static const char *const cached[] = {"kallsyms", NULL};
    struct ct_arena *arena = p->opening->arena;
    const struct ct_files *files = p->opening->files;
    const char *symfs = p->options->symfs;
    const char *const places[] = {
        p->kcore ? ct_arena_printf(arena, "%.*skallsyms", (int)(ct_base_name(p->kcore) - p->kcore), p->kcore)
                 : NULL,
        symfs ? ct_path_join(arena, symfs, "proc/kallsyms") : NULL,
        ct_perf_cached(p, ct_perf_listed_id(p, "[kernel.kallsyms]"), cached),
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (places[i] && files->look(files->user, places[i], size) == CT_FILE_REGULAR && *size)
            return places[i];
    return NULL;
}

/* Reads the target's kallsyms, once. p->kallsyms stays NULL when there is none. */
static int load_kallsyms(struct ct_perf *p)
{
    const struct ct_files *files = p->opening->files;
    uint64_t size = 0;
    if (p->kallsyms_read)
        return CT_OK;
    p->kallsyms_read = true;
    const char *path = find_kallsyms(p, &size);
    if (!path || size > KALLSYMS_MAX)
        return CT_OK;
    char *text = ct_arena_alloc(&p->arena, size + 1);
    if (!text)
        return ct_fail_nomem(p->opening->ctx, path);
    const ssize_t n = files->read(files->user, path, text, size);
    if (n > 0) {
        p->kallsyms = text;
        p->kallsyms_end = text + n;
    }
    return CT_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct listed_symbol *)a)->name, ((const struct listed_symbol *)b)->name);
}

/* Collects the symbols of a module in kallsyms, by name. */
static int list_symbols(struct module *m, struct listed_symbol **out, size_t *count)
{
    struct ct_arena *arena = &m->perf->arena;
    const size_t length = strlen(m->name);
    *out = NULL;
    *count = 0;
    for (char *at = m->perf->kallsyms; at < m->perf->kallsyms_end;) {
        struct ct_kallsyms_symbol symbol;
        if (!ct_kallsyms_read(&at, m->perf->kallsyms_end, &symbol) || !symbol.addr ||
            symbol.module_length != length || strncmp(symbol.module, m->name, length) != 0)
            continue;
        const char *name = ct_arena_strndup(arena, symbol.name, symbol.name_length);
        struct listed_symbol *all = ct_arena_push(arena, *out, count, sizeof **out);
        if (!name || !all)
            return ct_fail_nomem(m->perf->opening->ctx, m->path);
        all[*count - 1] = (struct listed_symbol){name, symbol.addr};
        *out = all;
    }
    if (*count)
        qsort(*out, *count, sizeof **out, by_name);
    return CT_OK;
}

/* Returns the only symbol with a name; NULL when there is none, or more than one. */
static const struct listed_symbol *find_symbol(const struct listed_symbol *all, size_t count,
                                               const char *name)
{
    const struct listed_symbol key = {.name = name};
    const struct listed_symbol *found = !all ? NULL : bsearch(&key, all, count, sizeof *all, by_name);
    if (!found || (found > all && !by_name(found - 1, &key)) ||
        (found + 1 < all + count && !by_name(found + 1, &key)))
        return NULL;
    return found;
}

/* The start of a section, according to most of its functions. */
struct begin {
    uint64_t addr;
    size_t votes; /* during the vote: the lead of addr */
    size_t agree, all;
};

/* Counts the vote of one function. A few have the name of a function that is no longer in memory. */
static void vote(struct begin *begin, uint64_t addr, bool last)
{
    if (last) {
        begin->all++;
        begin->agree += begin->addr == addr;
    } else if (!begin->votes) {
        *begin = (struct begin){.addr = addr, .votes = 1};
    } else {
        begin->votes = begin->addr == addr ? begin->votes + 1 : begin->votes - 1;
    }
}

/* Lets all functions of the file vote for the start of their sections. The first pass finds the starts, the
 * last one counts how many agree. */
static void place_by_symbols(const struct module *m, struct begin *begins, size_t sections,
                             const struct listed_symbol *all, size_t count, bool last)
{
    /* Functions of T32 are odd in the file, and even in kallsyms. */
    const uint64_t thumb = gelf_getclass(m->elf) == ELFCLASS32;
    for (Elf_Scn *scn = elf_nextscn(m->elf, NULL); scn; scn = elf_nextscn(m->elf, scn)) {
        GElf_Shdr header;
        GElf_Sym sym;
        if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_SYMTAB)
            continue;
        Elf_Data *data = elf_getdata(scn, NULL);
        for (int i = 0; data && gelf_getsym(data, i, &sym); i++) {
            const char *name = elf_strptr(m->elf, header.sh_link, sym.st_name);
            const bool is_function =
                name && GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_shndx && sym.st_shndx < sections;
            const struct listed_symbol *found = is_function ? find_symbol(all, count, name) : NULL;
            if (found)
                vote(&begins[sym.st_shndx], found->addr - (sym.st_value & ~thumb), last);
        }
    }
}

/* Returns whether kallsyms belongs to the same version of the module. */
static bool fits(const struct begin *begins, size_t sections)
{
    size_t agree = 0, all = 0;
    for (size_t i = 0; i < sections; i++) {
        agree += begins[i].agree;
        all += begins[i].all;
    }
    return agree >= all - all / 10;
}

static int read_kallsyms(struct module *m)
{
    struct listed_symbol *all;
    size_t count, sections, names;
    int rc = load_kallsyms(m->perf);
    if (rc || !m->perf->kallsyms || elf_getshdrnum(m->elf, &sections) || elf_getshdrstrndx(m->elf, &names))
        return rc;
    rc = list_symbols(m, &all, &count);
    struct begin *begins =
        rc || !count ? NULL : ct_arena_alloc(&m->perf->arena, (sections + 1) * sizeof *begins);
    if (rc || !count)
        return rc;
    if (!begins)
        return ct_fail_nomem(m->perf->opening->ctx, m->path);
    place_by_symbols(m, begins, sections, all, count, false);
    place_by_symbols(m, begins, sections, all, count, true);
    if (!fits(begins, sections))
        return ct_perf_missing(
            m->perf,
            "%s: the functions of this kernel module have other addresses in kallsyms, which is of another "
            "version of the module; kallsyms is not used for it",
            m->path);
    for (size_t i = 1; i < sections && !rc; i++) {
        GElf_Shdr header;
        Elf_Scn *scn = begins[i].agree ? elf_getscn(m->elf, i) : NULL;
        const char *name =
            scn && gelf_getshdr(scn, &header) ? elf_strptr(m->elf, names, header.sh_name) : NULL;
        if (name)
            rc = add_section(m, name, begins[i].addr);
    }
    return rc;
}

/* ---- both ---- */

/* Returns whether the sections belong to this boot: .text is where the module was. */
static bool is_there(const struct module *m)
{
    for (size_t i = 0; i < m->count; i++)
        if (!strcmp(m->sections[i].name, ".text"))
            return m->sections[i].addr < m->map->size;
    return m->count > 0;
}

static int give_place(const struct module *m, const struct ct_module_place **out)
{
    struct ct_module_place *place = ct_arena_alloc(m->perf->opening->arena, sizeof *place);
    if (!place)
        return ct_fail_nomem(m->perf->opening->ctx, m->path);
    *place = (struct ct_module_place){m->sections, m->count};
    *out = place;
    return CT_OK;
}

static int find_sections(struct module *m, const struct ct_module_place **place)
{
    int rc = m->perf->options->symfs ? read_sections(m) : CT_OK;
    if (!rc && !m->count)
        rc = read_kallsyms(m);
    if (rc || !m->count)
        return rc;
    if (!is_there(m))
        return ct_perf_missing(m->perf,
                               "%s: the given section addresses of this kernel module do not match the "
                               "recording, where it was loaded at 0x%llx; they are not used",
                               m->path, (unsigned long long)m->map->addr);
    return give_place(m, place);
}

/* Reads the file, and uncompresses it if necessary. *bytes stays NULL when that fails; the reader of its code
 * reports this. CT_ERR_NOMEM. */
static int read_file(struct ct_perf *p, const char *path, uint8_t **bytes, size_t *size)
{
    const struct ct_files *files = p->opening->files;
    uint64_t there = 0;
    *bytes = NULL;
    if (files->look(files->user, path, &there) != CT_FILE_REGULAR || there > CT_MODULE_UNPACKED)
        return CT_OK;
    uint8_t *whole = malloc((size_t)there + 1);
    if (!whole)
        return ct_fail_nomem(p->opening->ctx, path);
    const ssize_t n = files->read_at(files->user, path, 0, (char *)whole, (size_t)there);
    *size = n > 0 ? (size_t)n : 0;
    if (!ct_unpack_is(whole, *size)) {
        *bytes = whole;
        return CT_OK;
    }
    const int rc = ct_unpack(NULL, path, whole, *size, CT_MODULE_UNPACKED, bytes, size);
    free(whole);
    return rc == CT_ERR_NOMEM ? ct_fail_nomem(p->opening->ctx, path) : CT_OK;
}

int ct_perf_place_module(struct ct_perf *p, const char *path, const struct ct_perf_event *map,
                         const struct ct_module_place **place)
{
    struct module m = {.perf = p, .map = map, .path = path};
    uint8_t *bytes;
    size_t size;
    *place = NULL;
    if (!find_name(&m) || elf_version(EV_CURRENT) == EV_NONE)
        return CT_OK;
    int rc = read_file(p, path, &bytes, &size);
    m.elf = bytes && size ? elf_memory((char *)bytes, size) : NULL;
    if (m.elf && elf_kind(m.elf) == ELF_K_ELF && !ct_elf_has_packed_strings(m.elf))
        rc = find_sections(&m, place);
    elf_end(m.elf);
    free(bytes);
    return rc;
}
