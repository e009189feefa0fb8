/* SPDX-License-Identifier: Apache-2.0 */
#include "base/search.h"
#include "program/module.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/ctx.h"

#define NEAR 4096u /* sections of code with smaller gaps share a segment */
#define WORD 4u    /* segments are whole words, because a fetch reads whole words */

/* Returns whether the bytes are an object file. */
static bool is_object(const uint8_t *bytes, size_t size)
{
    return ct_module_arch_of(bytes, size) && ct_load16(bytes + offsetof(Elf64_Ehdr, e_type)) == ET_REL;
}

int ct_module_is(struct ct_ctx *ctx, const char *path, const uint8_t *bytes, size_t size, bool *is)
{
    struct ct_module m = {.path = path,
                          .bytes = (uint8_t *)(uintptr_t)bytes,
                          .size = size,
                          .arch = ct_module_arch_of(bytes, size)};
    *is = false;
    if (!is_object(bytes, size))
        return CT_OK;
    const int rc = ct_module_read(&m);
    for (size_t i = 0; !rc && i < m.count; i++)
        *is |= !strcmp(m.sections[i].name, ".modinfo");
    free(m.sections);
    return rc == CT_ERR_NOMEM ? ct_fail_nomem(ctx, path) : CT_OK;
}

/* ---- segments ---- */

/* A piece of code whose sections are close together. */
struct part {
    uint64_t addr, end;
    uint64_t offset; /* in the linked file */
};

/* The state of linking. */
struct linking {
    struct ct_module *module;
    struct ct_module_scn **code; /* by address */
    size_t code_count;
    struct part *parts;
    size_t part_count;
    uint64_t programs; /* offset of the program headers */
    uint64_t end;
};

static int by_address(const void *a, const void *b)
{
    const struct ct_module_scn *x = *(struct ct_module_scn *const *)a;
    const struct ct_module_scn *y = *(struct ct_module_scn *const *)b;
    return ct_order(x->addr, y->addr);
}

/* Plans the segments and their offsets in the linked file: after the bytes of the old one. */
static int plan(struct linking *l)
{
    struct ct_module *m = l->module;
    l->code = calloc(m->count + 1, sizeof(struct ct_module_scn *));
    l->parts = calloc(m->count + 1, sizeof *l->parts);
    if (!l->code || !l->parts)
        return ct_fail_nomem(m->ctx, m->path);
    for (size_t i = 0; i < m->count; i++)
        if (m->sections[i].code)
            l->code[l->code_count++] = &m->sections[i];
    qsort(l->code, l->code_count, sizeof *l->code, by_address);
    l->end = (m->size + 15) & ~UINT64_C(15);
    for (size_t i = 0; i < l->code_count; i++) {
        const struct ct_module_scn *s = l->code[i];
        struct part *last = l->part_count ? &l->parts[l->part_count - 1] : NULL;
        if (!last || s->addr - last->end >= NEAR) {
            last = &l->parts[l->part_count++];
            l->end += WORD;
            *last = (struct part){s->addr, s->addr, l->end};
        }
        l->end += s->addr + s->size - last->end;
        last->end = s->addr + s->size;
    }
    for (size_t i = 0; i < l->part_count; i++)
        l->parts[i].end = (l->parts[i].end + WORD - 1) & ~(uint64_t)(WORD - 1);
    l->end += WORD;
    l->programs = (l->end + 15) & ~UINT64_C(15);
    l->end = l->programs + l->part_count * ct_module_segment_size(m);
    return CT_OK;
}

/* ---- writing ---- */

/* Copies code to its place, and updates its section. */
static void move_code(struct linking *l, uint8_t *bytes)
{
    size_t part = 0;
    for (size_t i = 0; i < l->code_count; i++) {
        struct ct_module_scn *s = l->code[i];
        while (s->addr >= l->parts[part].end)
            part++;
        const uint64_t to = l->parts[part].offset + (s->addr - l->parts[part].addr);
        if (s->type != SHT_NOBITS)
            memcpy(bytes + to, bytes + s->offset, s->size);
        s->offset = to;
        s->type = SHT_PROGBITS;
    }
}

/* Writes the changed sections into their headers, which are in `bytes` now. */
static void write_sections(struct ct_module *m, uint8_t *bytes)
{
    for (size_t i = 0; i < m->count; i++) {
        struct ct_module_scn *s = &m->sections[i];
        s->header = bytes + (s->header - m->bytes);
        ct_module_write_section(m, s);
    }
}

/* Adds the addresses of their sections to symbols. Symbols of sections without an address become
 * undefined. */
static void move_symbols(const struct ct_module *m)
{
    const size_t count = ct_module_symbol_count(m);
    for (size_t i = 0; i < count; i++) {
        struct ct_module_symbol symbol = ct_module_symbol_at(m, i);
        if (symbol.section == SHN_UNDEF || symbol.section >= m->count ||
            !(m->sections[symbol.section].flags & SHF_ALLOC))
            continue;
        if (m->sections[symbol.section].placed)
            symbol.value += m->sections[symbol.section].addr;
        else
            symbol.section = SHN_UNDEF;
        ct_module_write_symbol(m, i, &symbol);
    }
}

static void write_segments(const struct linking *l)
{
    const struct ct_module *m = l->module;
    for (size_t i = 0; i < l->part_count; i++)
        ct_module_write_segment(m, m->bytes + l->programs + i * ct_module_segment_size(m), l->parts[i].offset,
                                l->parts[i].addr, l->parts[i].end - l->parts[i].addr);
    ct_module_write_header(m, l->programs, l->part_count);
}

static int write_linked(struct linking *l, uint8_t **out)
{
    struct ct_module *m = l->module;
    uint8_t *bytes = mmap(NULL, l->end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return ct_fail_nomem(m->ctx, m->path);
    memcpy(bytes, m->bytes, m->size);
    move_code(l, bytes);
    write_sections(m, bytes);
    m->bytes = bytes;
    move_symbols(m);
    write_segments(l);
    const int rc = ct_module_relocate(m);
    if (rc)
        munmap(bytes, l->end);
    else
        *out = bytes;
    return rc;
}

int ct_module_link(struct ct_ctx *ctx, const char *path, const struct ct_module_place *place,
                   const uint8_t *bytes, size_t size, uint8_t **out, size_t *out_size)
{
    struct ct_module m = {.ctx = ctx,
                          .path = path,
                          .bytes = (uint8_t *)(uintptr_t)bytes,
                          .size = size,
                          .arch = ct_module_arch_of(bytes, size)};
    struct linking l = {.module = &m};
    int rc = ct_module_read(&m) ?: ct_module_lay_out(&m, place) ?: plan(&l) ?: write_linked(&l, out);
    *out_size = l.end;
    free(l.code);
    free(l.parts);
    free(m.sections);
    return rc;
}
