/* SPDX-License-Identifier: Apache-2.0 */
/* Lists objects and sections of an ELF file. */
#include "base/arena.h"
#include "base/ctx.h"
#include "base/require.h"
#include "program/elf.h"
#include "program/layout.h"
#include "program/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

struct owned_layout {
    struct ct_layout is;
    struct ct_arena arena;
};

/* The state of the reader. */
struct reader {
    struct owned_layout *out;
    Elf *elf;
    uint64_t bias;
};

/* Adds an area to a list. Returns false when out of memory. */
static bool add(struct reader *r, const struct ct_area **list, size_t *count, const struct ct_area *area)
{
    struct ct_area *areas = ct_arena_push(&r->out->arena, *list, count, sizeof *areas);
    const char *name = areas ? ct_arena_strdup(&r->out->arena, area->name) : NULL;
    if (!name)
        return false;
    *list = areas;
    areas[*count - 1] = (struct ct_area){.name = name, .addr = area->addr + r->bias, .size = area->size};
    return true;
}

/* Adds the data objects of one symbol table. */
static bool add_objects(struct reader *r, Elf_Scn *scn, const GElf_Shdr *header)
{
    Elf_Data *data = elf_getdata(scn, NULL);
    const size_t total = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < total && i < INT32_MAX; i++) {
        GElf_Sym sym;
        if (!gelf_getsym(data, (int)i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_value ||
            GELF_ST_TYPE(sym.st_info) != STT_OBJECT)
            continue;
        const char *name = elf_strptr(r->elf, header->sh_link, sym.st_name);
        const struct ct_area area = {.name = name, .addr = sym.st_value, .size = sym.st_size};
        if (name && *name && !add(r, &r->out->is.objects, &r->out->is.object_count, &area))
            return false;
    }
    return true;
}

/* Adds the data objects of all tables of a type; *found says whether there is one. */
static bool add_tables(struct reader *r, uint32_t type, bool *found)
{
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || header.sh_type != type)
            continue;
        *found = true;
        if (!add_objects(r, scn, &header))
            return false;
    }
    return true;
}

static bool add_sections(struct reader *r)
{
    size_t strings;
    if (elf_getshdrstrndx(r->elf, &strings))
        return true;
    for (Elf_Scn *scn = NULL; (scn = elf_nextscn(r->elf, scn));) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header) || !(header.sh_flags & SHF_ALLOC) || header.sh_flags & SHF_TLS ||
            !header.sh_size)
            continue;
        const char *name = elf_strptr(r->elf, strings, header.sh_name);
        const struct ct_area area = {.name = name, .addr = header.sh_addr, .size = header.sh_size};
        if (name && !add(r, &r->out->is.sections, &r->out->is.section_count, &area))
            return false;
    }
    return true;
}

static void find_end(struct reader *r, size_t segments)
{
    for (size_t i = 0; i < segments && i < INT32_MAX; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(r->elf, (int)i, &segment) || segment.p_type != PT_LOAD)
            continue;
        const uint64_t end = segment.p_vaddr + segment.p_filesz + r->bias;
        r->out->is.end = end > r->out->is.end ? end : r->out->is.end;
    }
}

static int read_layout(struct ct_ctx *ctx, const char *path, const struct ct_elf *elf, uint64_t bias,
                       struct owned_layout *out)
{
    struct reader r = {.out = out, .elf = elf->elf, .bias = bias};
    bool has_table = false;
    errno = 0;
    find_end(&r, elf->segments);
    if (!add_tables(&r, SHT_SYMTAB, &has_table) || (!has_table && !add_tables(&r, SHT_DYNSYM, &has_table)) ||
        !add_sections(&r))
        return ct_fail_nomem(ctx, path);
    return ct_unless_nomem(ctx, path, CT_OK);
}

int ct_layout_make(struct ct_ctx *ctx, const char *name, const void *bytes, size_t size, uint64_t bias,
                   struct ct_layout **out)
{
    struct ct_elf elf = {0};
    int rc = ct_elf_open(ctx, name, bytes, size, &elf);
    if (rc)
        return rc;
    struct owned_layout *made = calloc(1, sizeof *made);
    rc = made ? read_layout(ctx, name, &elf, bias, made) : ct_fail_nomem(ctx, name);
    ct_elf_close(&elf);
    if (rc)
        ct_layout_free(made ? &made->is : NULL);
    else
        *out = &made->is;
    return rc;
}

int ct_layout_load(struct ct_ctx *ctx, const struct ct_image *image, struct ct_layout **out)
{
    CT_REQUIRE_OUT(ctx, out, image, image->path);
    struct ct_mapped_file *file;
    int rc = ct_mapped_file_open(ctx, image->path, image->placed, &file);
    if (rc)
        return rc;
    rc = ct_layout_make(ctx, image->path, file->bytes, file->size, image->addr, out);
    ct_mapped_file_close(file);
    return rc;
}

void ct_layout_free(struct ct_layout *layout)
{
    struct owned_layout *owned = (struct owned_layout *)layout;
    if (!owned)
        return;
    ct_arena_free(&owned->arena);
    free(owned);
}
