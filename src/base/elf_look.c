/* SPDX-License-Identifier: Apache-2.0 */
#include "base/elf_look.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

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
    uint64_t offset, addr, size;
};

static struct program_header load_header(const uint8_t *p, bool wide)
{
    if (wide)
        return (struct program_header){ct_load32(p), ct_load32(p + 4), ct_load64(p + 8), ct_load64(p + 16),
                                       ct_load64(p + 32)};
    return (struct program_header){ct_load32(p), ct_load32(p + 24), ct_load32(p + 4), ct_load32(p + 8),
                                   ct_load32(p + 16)};
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
    if (header->type == PT_LOAD && header->flags & PF_X && header->size)
        out->code[out->code_count++] = (struct ct_elf_code){header->offset, header->size, header->addr};
}

bool ct_elf_look(const struct ct_files *files, const char *path, struct ct_elf_look *out)
{
    uint8_t head[64];
    uint8_t headers[CT_ELF_LOOK_HEADERS * sizeof(Elf64_Phdr)];
    *out = (struct ct_elf_look){0};
    ssize_t n = files->read_at(files->user, path, 0, (char *)head, sizeof head);
    if (n < 0)
        return false;
    if ((size_t)n < sizeof head || memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
        return true;
    bool wide = head[EI_CLASS] == ELFCLASS64;
    size_t entry = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
    size_t count = ct_load16(head + (wide ? 56 : 44));
    uint64_t at = wide ? ct_load64(head + 32) : ct_load32(head + 28);
    out->is_elf = true;
    out->machine = ct_load16(head + 18);
    count = count < CT_ELF_LOOK_HEADERS ? count : CT_ELF_LOOK_HEADERS;
    n = files->read_at(files->user, path, at, (char *)headers, count * entry);
    for (size_t i = 0; n > 0 && i < (size_t)n / entry; i++) {
        struct program_header header = load_header(headers + i * entry, wide);
        take_header(files, path, &header, out);
    }
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
