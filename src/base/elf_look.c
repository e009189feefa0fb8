/* SPDX-License-Identifier: Apache-2.0 */
#include "base/elf_look.h"

#include <elf.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/module_name.h"
#include "base/unpack.h"

#define NOTES 4096u /* bytes of a segment in which notes are searched */

/* Finds a note by its name and type (ELF, "Note Section"). Returns its description, of *found bytes; NULL:
 * there is none. */
static const uint8_t *find_note(const uint8_t *notes, size_t size, const char *wanted, uint32_t type,
                                size_t *found)
{
    const size_t wanted_size = strlen(wanted) + 1;
    for (size_t at = 0; size - at >= 12;) {
        size_t name = ct_load32(notes + at);
        size_t description = ct_load32(notes + at + 4);
        size_t name_room = (name + 3) & ~(size_t)3;
        size_t room = (description + 3) & ~(size_t)3;
        at += 12;
        if (name > size || description > size || name_room > size - at || room > size - at - name_room)
            return NULL;
        if (ct_load32(notes + at - 4) == type && name == wanted_size &&
            memcmp(notes + at, wanted, wanted_size) == 0) {
            *found = description;
            return notes + at + name_room;
        }
        at += name_room + room;
    }
    return NULL;
}

struct program_header {
    uint32_t type, flags;
    uint64_t offset, addr, size, memory_size;
};

static struct program_header load_header(const uint8_t *p, bool wide)
{
    if (wide)
        return (struct program_header){ct_load32(p),      ct_load32(p + 4),  ct_load64(p + 8),
                                       ct_load64(p + 16), ct_load64(p + 32), ct_load64(p + 40)};
    return (struct program_header){ct_load32(p),     ct_load32(p + 24), ct_load32(p + 4),
                                   ct_load32(p + 8), ct_load32(p + 16), ct_load32(p + 20)};
}

/* Returns whether these are the first `size` bytes of a little-endian ELF file. */
static bool is_elf(const uint8_t head[64], size_t size)
{
    return size >= 64 && memcmp(head, ELFMAG, SELFMAG) == 0 && head[EI_DATA] == ELFDATA2LSB;
}

/* Returns the number of program headers that an ELF file says it has. */
static size_t header_count(const uint8_t head[64])
{
    return ct_load16(head + (head[EI_CLASS] == ELFCLASS64 ? 56 : 44));
}

/* Reads the first program headers of an ELF file. Returns their number. */
static size_t read_headers(const struct ct_files *files, const char *path, const uint8_t head[64],
                           struct program_header headers[CT_ELF_LOOK_HEADERS])
{
    uint8_t bytes[CT_ELF_LOOK_HEADERS * sizeof(Elf64_Phdr)];
    const bool wide = head[EI_CLASS] == ELFCLASS64;
    const size_t entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), all = header_count(head);
    const size_t count = all < CT_ELF_LOOK_HEADERS ? all : CT_ELF_LOOK_HEADERS;
    const uint64_t at = wide ? ct_load64(head + 32) : ct_load32(head + 28);
    const ssize_t n = files->read_at(files->user, path, at, (char *)bytes, count * entry);
    const size_t read = n > 0 ? (size_t)n / entry : 0;
    for (size_t i = 0; i < read; i++)
        headers[i] = load_header(bytes + i * entry, wide);
    return read;
}

/* Reads the beginning of a segment or section. Returns the number of bytes. */
static size_t read_segment(const struct ct_files *files, const char *path,
                           const struct program_header *header, uint8_t bytes[NOTES])
{
    const size_t want = header->size < NOTES ? (size_t)header->size : NOTES;
    const ssize_t n = files->read_at(files->user, path, header->offset, (char *)bytes, want);
    return n > 0 ? (size_t)n : 0;
}

static void read_notes(const struct ct_files *files, const char *path, const struct program_header *header,
                       struct ct_elf_look *out)
{
    uint8_t notes[NOTES];
    size_t size = 0;
    const size_t read = read_segment(files, path, header, notes);
    const uint8_t *id = find_note(notes, read, "GNU", NT_GNU_BUILD_ID, &size);
    if (!id || !size || size > CT_BUILD_ID_MAX)
        return;
    out->id.size = (uint8_t)size;
    memcpy(out->id.bytes, id, size);
}

static void take_header(const struct ct_files *files, const char *path, const struct program_header *header,
                        struct ct_elf_look *out)
{
    if (header->type == PT_NOTE && !out->id.size)
        read_notes(files, path, header, out);
    if (header->type == PT_LOAD && !header->offset && header->size) {
        out->maps_head = true;
        out->head_addr = header->addr;
    }
    if (header->type == PT_LOAD && header->flags & PF_X && header->size)
        out->code[out->code_count++] = (struct ct_elf_code){header->offset, header->size, header->addr,
                                                            header->memory_size, header->flags & PF_W};
}

/* Returns the location of the notes of a section; all zero: it has none. */
static struct program_header load_note(const uint8_t *p, bool wide)
{
    if (ct_load32(p + offsetof(Elf64_Shdr, sh_type)) != SHT_NOTE)
        return (struct program_header){0};
    if (wide)
        return (struct program_header){.offset = ct_load64(p + offsetof(Elf64_Shdr, sh_offset)),
                                       .size = ct_load64(p + offsetof(Elf64_Shdr, sh_size))};
    return (struct program_header){.offset = ct_load32(p + offsetof(Elf32_Shdr, sh_offset)),
                                   .size = ct_load32(p + offsetof(Elf32_Shdr, sh_size))};
}

/* Reads the notes of a file without program headers from its sections. */
static void look_in_sections(const struct ct_files *files, const char *path, const uint8_t head[64],
                             bool wide, struct ct_elf_look *out)
{
    uint8_t headers[64 * sizeof(Elf64_Shdr)] = {0};
    const size_t entry = wide ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
    const uint64_t at = wide ? ct_load64(head + offsetof(Elf64_Ehdr, e_shoff))
                             : ct_load32(head + offsetof(Elf32_Ehdr, e_shoff));
    const size_t count =
        ct_load16(head + (wide ? offsetof(Elf64_Ehdr, e_shnum) : offsetof(Elf32_Ehdr, e_shnum)));
    for (size_t i = 0; i < count && !out->id.size; i++) {
        if (i % 64 == 0) {
            const size_t want = (count - i < 64 ? count - i : 64) * entry;
            if (files->read_at(files->user, path, at + i * entry, (char *)headers, want) < (ssize_t)want)
                return;
        }
        const struct program_header note = load_note(headers + i % 64 * entry, wide);
        if (note.size)
            read_notes(files, path, &note, out);
    }
}

/* A file in memory that replaces all other files. */
struct in_memory {
    const uint8_t *bytes;
    size_t size;
};

static ssize_t read_memory(void *user, const char *path, uint64_t offset, char *buf, size_t cap)
{
    const struct in_memory *m = user;
    const size_t left = offset < m->size ? m->size - (size_t)offset : 0;
    const size_t n = left < cap ? left : cap;
    (void)path;
    if (n)
        memcpy(buf, m->bytes + offset, n);
    return (ssize_t)n;
}

/* Reads the headers of a compressed kernel module. */
static bool look_in_packed(const struct ct_files *files, const char *path, struct ct_elf_look *out)
{
    uint64_t size = 0;
    struct in_memory unpacked = {0};
    uint8_t *bytes = NULL;
    if (files->look(files->user, path, &size) == CT_FILE_REGULAR && size <= CT_MODULE_UNPACKED)
        bytes = malloc((size_t)size);
    if (bytes && files->read_at(files->user, path, 0, (char *)bytes, (size_t)size) == (ssize_t)size) {
        uint8_t *whole = NULL;
        (void)ct_unpack(NULL, path, bytes, (size_t)size, CT_MODULE_UNPACKED, &whole, &unpacked.size);
        unpacked.bytes = whole;
    }
    free(bytes);
    if (unpacked.bytes) {
        const struct ct_files memory = {.user = &unpacked, .read_at = read_memory};
        (void)ct_elf_look(&memory, path, out);
    }
    free((void *)(uintptr_t)unpacked.bytes);
    return true;
}

bool ct_elf_look(const struct ct_files *files, const char *path, struct ct_elf_look *out)
{
    uint8_t head[64];
    struct program_header headers[CT_ELF_LOOK_HEADERS];
    *out = (struct ct_elf_look){0};
    ssize_t n = files->read_at(files->user, path, 0, (char *)head, sizeof head);
    if (n < 0)
        return false;
    if (files->look && ct_module_is_named(path) && ct_unpack_is(head, (size_t)n))
        return look_in_packed(files, path, out);
    if (!is_elf(head, (size_t)n))
        return true;
    out->is_elf = true;
    out->is_core = ct_load16(head + 16) == ET_CORE;
    out->is_fixed = ct_load16(head + 16) == ET_EXEC;
    out->machine = ct_load16(head + 18);
    const size_t count = read_headers(files, path, head, headers);
    for (size_t i = 0; i < count; i++)
        take_header(files, path, &headers[i], out);
    if (!header_count(head))
        look_in_sections(files, path, head, head[EI_CLASS] == ELFCLASS64, out);
    return true;
}

size_t ct_elf_note(const struct ct_files *files, const char *path, const char *name, uint32_t type, char *out,
                   size_t room)
{
    uint8_t head[64], notes[NOTES];
    struct program_header headers[CT_ELF_LOOK_HEADERS];
    size_t size = 0;
    const ssize_t n = files->read_at(files->user, path, 0, (char *)head, sizeof head);
    const size_t count = n > 0 && is_elf(head, (size_t)n) ? read_headers(files, path, head, headers) : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t read = headers[i].type == PT_NOTE ? read_segment(files, path, &headers[i], notes) : 0;
        const uint8_t *found = find_note(notes, read, name, type, &size);
        if (!found)
            continue;
        size = size < room ? size : room;
        memcpy(out, found, size);
        return size;
    }
    return 0;
}

bool ct_elf_code_bias(const struct ct_elf_code *code, size_t count, uint64_t addr, uint64_t offset,
                      uint64_t size, uint64_t *bias)
{
    for (; count; code++, count--) {
        bool common =
            offset < code->offset ? code->offset - offset < size : offset - code->offset < code->size;
        if (!common)
            continue;
        *bias = addr - offset + code->offset - code->addr;
        return true;
    }
    return false;
}

void ct_build_id_text(const struct ct_build_id *id, char text[2 * CT_BUILD_ID_MAX + 1])
{
    text[0] = 0;
    for (size_t i = 0; i < id->size; i++)
        snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
}
