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

/* Finds the build id (ELF note "GNU", type 3) among notes. */
static void find_id(const uint8_t *notes, size_t size, struct ct_elf_look *out)
{
    for (size_t at = 0; size - at >= 12;) {
        size_t name = ct_load32(notes + at);
        size_t description = ct_load32(notes + at + 4);
        size_t name_room = (name + 3) & ~(size_t)3;
        size_t room = (description + 3) & ~(size_t)3;
        at += 12;
        if (name > size || description > size || name_room > size - at || room > size - at - name_room)
            return;
        if (ct_load32(notes + at - 4) == NT_GNU_BUILD_ID && name == 4 && memcmp(notes + at, "GNU", 4) == 0 &&
            description && description <= CT_BUILD_ID_MAX) {
            out->id.size = (uint8_t)description;
            memcpy(out->id.bytes, notes + at + name_room, description);
            return;
        }
        at += name_room + room;
    }
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

static void read_notes(const struct ct_files *files, const char *path, const struct program_header *header,
                       struct ct_elf_look *out)
{
    uint8_t notes[4096];
    size_t want = header->size < sizeof notes ? (size_t)header->size : sizeof notes;
    ssize_t n = files->read_at(files->user, path, header->offset, (char *)notes, want);
    if (n > 0)
        find_id(notes, (size_t)n, out);
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
    uint8_t headers[CT_ELF_LOOK_HEADERS * sizeof(Elf64_Phdr)];
    *out = (struct ct_elf_look){0};
    ssize_t n = files->read_at(files->user, path, 0, (char *)head, sizeof head);
    if (n < 0)
        return false;
    if (files->look && ct_module_is_named(path) && ct_unpack_is(head, (size_t)n))
        return look_in_packed(files, path, out);
    if ((size_t)n < sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
        return true;
    bool wide = head[EI_CLASS] == ELFCLASS64;
    size_t entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    size_t count = ct_load16(head + (wide ? 56 : 44));
    uint64_t at = wide ? ct_load64(head + 32) : ct_load32(head + 28);
    out->is_elf = true;
    out->is_core = ct_load16(head + 16) == ET_CORE;
    out->is_fixed = ct_load16(head + 16) == ET_EXEC;
    out->machine = ct_load16(head + 18);
    count = count < CT_ELF_LOOK_HEADERS ? count : CT_ELF_LOOK_HEADERS;
    n = files->read_at(files->user, path, at, (char *)headers, count * entry);
    for (size_t i = 0; n > 0 && i < (size_t)n / entry; i++) {
        struct program_header header = load_header(headers + i * entry, wide);
        take_header(files, path, &header, out);
    }
    if (!count)
        look_in_sections(files, path, head, wide, out);
    return true;
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
