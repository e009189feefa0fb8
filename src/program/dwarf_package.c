/* SPDX-License-Identifier: Apache-2.0 */
#include "program/dwarf_package.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "program/elf.h"

enum {
    COLUMNS = 8, /* kinds of sections of which units have parts */
    HEADER = 16, /* bytes of an index before its table of IDs */
    ALIGN = 8,   /* alignment of sections in an image */
};

/* The columns of an index: section names by number, from 1. */
static const char *const KINDS[][COLUMNS + 1] = {
    /* version 2 */
    {NULL, ".debug_info.dwo", ".debug_types.dwo", ".debug_abbrev.dwo", ".debug_line.dwo", ".debug_loc.dwo",
     ".debug_str_offsets.dwo", ".debug_macinfo.dwo", ".debug_macro.dwo"},
    /* version 5 */
    {NULL, ".debug_info.dwo", NULL, ".debug_abbrev.dwo", ".debug_line.dwo", ".debug_loclists.dwo",
     ".debug_str_offsets.dwo", ".debug_macro.dwo", ".debug_rnglists.dwo"},
};

/* The parts of a unit, by kind of section. */
struct parts {
    const char *const *kinds;
    uint32_t offset[COLUMNS + 1], size[COLUMNS + 1];
};

struct package {
    const uint8_t *bytes;
    size_t size;
    struct ct_elf elf;
    size_t names; /* number of the section with the section names */
    struct parts parts;
};

/* ---- the index ---- */

/* Finds the row of an ID, from 1; 0 when there is none. */
static uint32_t find_row(const uint8_t *ids, uint32_t slots, uint64_t id)
{
    const uint8_t *rows = ids + (size_t)slots * 8;
    for (uint32_t i = 0; i < slots; i++)
        if (ct_load64(ids + (size_t)i * 8) == id && ct_load32(rows + (size_t)i * 4))
            return ct_load32(rows + (size_t)i * 4);
    return 0;
}

/* Reads the parts of a unit from an index. False: it does not have the unit, or is malformed. */
static bool read_index(const uint8_t *index, size_t size, uint64_t id, struct parts *parts)
{
    if (size < HEADER)
        return false;
    const bool five = ct_load16(index) == 5;
    const uint64_t columns = ct_load32(index + 4), units = ct_load32(index + 8),
                   slots = ct_load32(index + 12);
    const uint64_t cells = (units * 2 + 1) * columns;
    if ((!five && ct_load32(index) != 2) || columns > COLUMNS || units > size || slots > size ||
        HEADER + slots * 12 + cells * 4 > size)
        return false;
    const uint32_t row = find_row(index + HEADER, (uint32_t)slots, id);
    const uint8_t *kinds = index + HEADER + slots * 12, *offsets = kinds + columns * 4 * row;
    if (!row || row > units)
        return false;
    *parts = (struct parts){.kinds = KINDS[five]};
    for (uint32_t i = 0; i < columns; i++) {
        const uint32_t kind = ct_load32(kinds + (size_t)i * 4);
        if (kind == 0 || kind > COLUMNS)
            return false;
        parts->offset[kind] = ct_load32(offsets + (size_t)i * 4);
        parts->size[kind] = ct_load32(offsets + (units * columns + i) * 4);
    }
    return true;
}

/* ---- sections ---- */

static const char *name_of(const struct package *p, const GElf_Shdr *header)
{
    const char *name = elf_strptr(p->elf.elf, p->names, header->sh_name);
    return name ? name : "";
}

static bool find_parts(struct package *p, uint64_t id)
{
    GElf_Shdr header;
    for (Elf_Scn *scn = elf_nextscn(p->elf.elf, NULL); scn; scn = elf_nextscn(p->elf.elf, scn)) {
        if (!gelf_getshdr(scn, &header) || strcmp(name_of(p, &header), ".debug_cu_index") != 0)
            continue;
        const Elf_Data *data = elf_rawdata(scn, NULL);
        return data && data->d_buf && read_index(data->d_buf, data->d_size, id, &p->parts);
    }
    return false;
}

/* Narrows a section to the part of the unit. Returns false when the part is outside of it. */
static bool narrow(const struct package *p, GElf_Shdr *header)
{
    const char *name = name_of(p, header);
    const bool is_index = !strcmp(name, ".debug_cu_index") || !strcmp(name, ".debug_tu_index");
    uint64_t from = 0, size = header->sh_type == SHT_NOBITS || is_index ? 0 : header->sh_size;
    for (unsigned kind = 1; kind <= COLUMNS; kind++)
        if (p->parts.kinds[kind] && strcmp(name, p->parts.kinds[kind]) == 0) {
            from = p->parts.offset[kind];
            size = p->parts.size[kind];
        }
    if (from > header->sh_size || size > header->sh_size - from || header->sh_offset > p->size ||
        from + size > p->size - header->sh_offset || header->sh_flags & SHF_COMPRESSED)
        return false;
    header->sh_offset += from;
    header->sh_size = size;
    return true;
}

/* ---- the image ---- */

/* Copies the unit's part of each section, and the headers with new offsets. The image has room for the whole
 * package. Returns its size, or 0 when the package is damaged. */
static size_t fill(const struct package *p, uint8_t *image)
{
    const bool wide = gelf_getclass(p->elf.elf) == ELFCLASS64;
    const GElf_Ehdr *file = &p->elf.header;
    const size_t width = wide ? 8 : 4, entry = file->e_shentsize;
    size_t at = file->e_ehsize, count = 0;
    if (elf_getshdrnum(p->elf.elf, &count) != 0 || entry != (wide ? 64 : 40) ||
        file->e_ehsize != (wide ? 64 : 52) || file->e_shoff > p->size ||
        count > (p->size - file->e_shoff) / entry)
        return 0;
    memcpy(image, p->bytes, file->e_ehsize);
    uint8_t *headers = image + p->size + count * (ALIGN - 1);
    memcpy(headers, p->bytes + file->e_shoff, count * entry);
    for (size_t i = 1; i < count; i++) {
        GElf_Shdr header;
        Elf_Scn *scn = elf_getscn(p->elf.elf, i);
        if (!scn || !gelf_getshdr(scn, &header) || !narrow(p, &header) || header.sh_size > p->size)
            return 0;
        at += -at % ALIGN;
        if (at + header.sh_size > p->size + i * (ALIGN - 1))
            return 0; /* sections overlap */
        memcpy(image + at, p->bytes + header.sh_offset, header.sh_size);
        if (!header.sh_size) { /* libdw would treat a file with an index as one without split units */
            ct_store(headers + i * entry, 0, 4);
            ct_store(headers + i * entry + 4, SHT_NOBITS, 4);
        }
        ct_store(headers + i * entry + (wide ? 24 : 16), at, width);
        ct_store(headers + i * entry + (wide ? 32 : 20), header.sh_size, width);
        at += header.sh_size;
    }
    at += -at % ALIGN;
    memmove(image + at, headers, count * entry);
    ct_store(image + (wide ? 40 : 32), at, width);
    return at + count * entry;
}

static int make_image(const struct package *p, uint8_t **image, size_t *image_size)
{
    size_t count = 0;
    (void)elf_getshdrnum(p->elf.elf, &count);
    /* room for the aligned sections, followed by their headers */
    *image = calloc(1, p->size + (count + 1) * (64 + ALIGN));
    if (!*image)
        return CT_ERR_NOMEM;
    *image_size = fill(p, *image);
    if (!*image_size) {
        free(*image);
        *image = NULL;
    }
    return CT_OK;
}

int ct_dwarf_package_unit(const uint8_t *bytes, size_t size, uint64_t id, uint8_t **image, size_t *image_size)
{
    struct package p = {.bytes = bytes, .size = size};
    int rc = CT_OK;
    *image = NULL;
    if (ct_elf_open(NULL, "package", bytes, size, &p.elf) != CT_OK)
        return CT_OK;
    if (elf_getshdrstrndx(p.elf.elf, &p.names) == 0 && find_parts(&p, id))
        rc = make_image(&p, image, image_size);
    ct_elf_close(&p.elf);
    return rc;
}
