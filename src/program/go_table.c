/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the table of functions and lines of Go programs. It may be damaged, so every offset is checked to be
 * inside of the table. */
#include "program/go_table.h"
#include "base/bytes.h"

#include <string.h>

#define GO_1_2  0xfffffffb
#define GO_1_16 0xfffffffa
#define GO_1_18 0xfffffff0
#define GO_1_20 0xfffffff1

#define HEADER_WORDS 8    /* at most, after the first eight bytes */
#define TEXT_MOST    4096 /* maximal bytes of a name or a path */

static uint64_t load(const uint8_t *bytes, unsigned size)
{
    return size == 8 ? ct_load64(bytes) : ct_load32(bytes);
}

/* Reads a number of 4 or 8 bytes. Returns false outside of the table. */
static bool number_at(const struct ct_go_table *t, uint64_t at, unsigned size, uint64_t *out)
{
    if (at > t->size || t->size - at < size)
        return false;
    *out = load(t->bytes + at, size);
    return true;
}

/* Returns the offset of the text `at` bytes after `from`; 0 when no text of a sensible length is there. */
static uint64_t text_at(const struct ct_go_table *t, uint64_t from, uint64_t at)
{
    if (from > t->text_end || at >= t->text_end - from)
        return 0;
    const size_t length = strnlen((const char *)t->bytes + from + at, TEXT_MOST);
    return length && length < TEXT_MOST ? from + at : 0;
}

/* ---- the header ---- */

static bool begins_table(const uint8_t *bytes, size_t size, uint8_t pointer)
{
    if (size < 8 + (size_t)HEADER_WORDS * pointer)
        return false;
    const uint32_t version = ct_load32(bytes);
    const bool known = version == GO_1_2 || version == GO_1_16 || version == GO_1_18 || version == GO_1_20;
    return known && !bytes[4] && !bytes[5] && (bytes[6] == 1 || bytes[6] == 2 || bytes[6] == 4) &&
           bytes[7] == pointer;
}

/* Returns the value that a word of a position-independent program will have, which is only in the relocations
 * of the file; 0 without one. */
static uint64_t relocated(const struct ct_elf *elf, uint64_t addr)
{
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        Elf_Data *data = NULL;
        if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA)
            data = elf_getdata(scn, NULL);
        const size_t count = data && data->d_buf ? data->d_size / gelf_fsize(elf->elf, ELF_T_RELA, 1, 1) : 0;
        for (size_t i = 0; i < count && i < INT32_MAX; i++) {
            GElf_Rela rela;
            if (gelf_getrela(data, (int)i, &rela) && rela.r_offset == addr)
                return (uint64_t)rela.r_addend;
        }
    }
    return 0;
}

/* Reads the header of Go 1.2 to 1.15, whose offsets are all relative to the start of the table. */
static bool read_first_header(struct ct_go_table *t)
{
    const uint64_t most = t->size / (2u * t->pointer);
    t->count = load(t->bytes + 8, t->pointer);
    t->index = 8u + t->pointer;
    return t->count && t->count <= most &&
           number_at(t, t->index + (2 * t->count + 1) * t->pointer, 4, &t->files);
}

static bool read_header(const struct ct_elf *elf, uint64_t addr, struct ct_go_table *t)
{
    const uint32_t version = ct_load32(t->bytes);
    const bool relative = version == GO_1_18 || version == GO_1_20;
    uint64_t words[HEADER_WORDS];
    t->quantum = t->bytes[6];
    t->pointer = t->address_size = t->bytes[7];
    if (version == GO_1_2)
        return read_first_header(t);
    for (size_t i = 0; i < HEADER_WORDS; i++)
        words[i] = load(t->bytes + 8 + i * t->pointer, t->pointer);
    const uint64_t *offsets = words + 2 + relative;
    t->has_units = true;
    t->count = words[0];
    t->names = offsets[0];
    t->units = offsets[1];
    t->files = offsets[2];
    t->values = offsets[3];
    t->records = t->index = offsets[4];
    if (relative) {
        t->address_size = 4;
        t->base = words[2] ? words[2] : relocated(elf, addr + 8u + 2u * t->pointer);
    }
    return t->count && t->count <= t->size / (2u * t->address_size) && t->records <= t->size;
}

/* ---- finding the table ---- */

/* Returns whether the section is one that only Go programs have. */
static bool is_go(const char *section)
{
    return strcmp(section, ".go.buildinfo") == 0 || strcmp(section, ".note.go.buildid") == 0;
}

/* Returns the offset of a table in a section with other contents; the size of the section when there is
 * none. */
static size_t look_for_table(const uint8_t *bytes, size_t size, uint8_t pointer)
{
    for (size_t at = 0; at < size; at += 8)
        if (bytes[at + (size - at > 3 ? 3 : 0)] == 0xff && begins_table(bytes + at, size - at, pointer))
            return at;
    return size;
}

struct places {
    Elf_Scn *table, *mixed;
    bool is_go;
};

static struct places look_at_sections(const struct ct_elf *elf)
{
    struct places places = {0};
    size_t names;
    if (elf_getshdrstrndx(elf->elf, &names) != 0)
        return places;
    for (Elf_Scn *scn = elf_nextscn(elf->elf, NULL); scn; scn = elf_nextscn(elf->elf, scn)) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(scn, &header) ? elf_strptr(elf->elf, names, header.sh_name) : NULL;
        if (!name)
            continue;
        if (strcmp(name, ".gopclntab") == 0 || strcmp(name, ".data.rel.ro.gopclntab") == 0)
            places.table = scn;
        if (strcmp(name, ".data.rel.ro") == 0)
            places.mixed = scn;
        places.is_go |= is_go(name);
    }
    return places;
}

int ct_go_table_find(const struct ct_elf *elf, struct ct_go_table *t)
{
    const struct places places = look_at_sections(elf);
    Elf_Scn *scn = places.table ? places.table : places.is_go ? places.mixed : NULL;
    GElf_Shdr header;
    const Elf_Data *data = scn && gelf_getshdr(scn, &header) ? elf_rawdata(scn, NULL) : NULL;
    const uint8_t pointer = elf->header.e_machine == EM_ARM ? 4 : 8;
    *t = (struct ct_go_table){0};
    if (!data || !data->d_buf)
        return places.table ? CT_ERR_FORMAT : CT_ERR_NOT_FOUND;
    const uint8_t *bytes = data->d_buf;
    const size_t at = places.table ? 0 : look_for_table(bytes, data->d_size, pointer);
    if (!places.table && at == data->d_size)
        return CT_ERR_NOT_FOUND;
    t->bytes = bytes + at;
    t->size = t->text_end = data->d_size - at;
    while (t->text_end && t->bytes[t->text_end - 1])
        t->text_end--;
    return begins_table(t->bytes, t->size, pointer) && read_header(elf, header.sh_addr + at, t)
               ? CT_OK
               : CT_ERR_FORMAT;
}

/* ---- functions ---- */

bool ct_go_table_function(const struct ct_go_table *t, uint64_t number, struct ct_go_function *f)
{
    const unsigned size = t->address_size;
    const uint64_t entry = t->index + 2 * number * size; /* both are below the size of the table */
    uint64_t record, name;
    *f = (struct ct_go_function){0};
    if (!number_at(t, entry, size, &f->addr) || !number_at(t, entry + size, size, &record) ||
        !number_at(t, entry + 2u * size, size, &f->end) || record > t->size - t->records)
        return false;
    f->addr += t->base;
    f->end += t->base;
    record += t->records + size;
    if (f->end <= f->addr || !number_at(t, record, 4, &name) || !number_at(t, record + 16, 4, &f->file) ||
        !number_at(t, record + 20, 4, &f->line))
        return false;
    if (t->has_units && !number_at(t, record + 28, 4, &f->unit))
        return false;
    f->name = text_at(t, t->names, name);
    return true;
}

const char *ct_go_table_file(const struct ct_go_table *t, const struct ct_go_function *f, int64_t number)
{
    uint64_t text;
    if (number < 0 || number > INT32_MAX)
        return NULL;
    const uint64_t list = t->has_units ? t->units : t->files;
    if (list > t->size || !number_at(t, list + 4 * (f->unit + (uint64_t)number), 4, &text))
        return NULL;
    text = text_at(t, t->has_units ? t->files : 0, text);
    return text ? (const char *)t->bytes + text : NULL;
}

/* ---- values by address ---- */

struct ct_go_values ct_go_values_of(const struct ct_go_function *f, uint64_t values)
{
    return (struct ct_go_values){.at = values, .addr = f->addr, .value = -1};
}

/* Reads a number in groups of seven bits, the lowest first. */
static bool read_pieces(const struct ct_go_table *t, uint64_t *at, uint32_t *out)
{
    *out = 0;
    for (unsigned shift = 0; *at < t->size && shift < 32; shift += 7) {
        const uint8_t byte = t->bytes[(*at)++];
        *out |= (uint32_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

bool ct_go_values_next(const struct ct_go_table *t, struct ct_go_values *v)
{
    uint32_t difference, length;
    uint64_t at = v->at + t->values;
    if (v->at > t->size || t->values > t->size || !read_pieces(t, &at, &difference) ||
        (!difference && v->begun) || !read_pieces(t, &at, &length) || !length)
        return false;
    v->value += difference & 1 ? -(int64_t)(difference >> 1) - 1 : (int64_t)(difference >> 1);
    v->addr += (uint64_t)length * t->quantum;
    v->at = at - t->values;
    v->begun = true;
    return true;
}
