/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes firmware as text: Intel HEX and S-records. What must hold: a file that is read becomes an ELF file
 * whose segments follow each other in memory and can be read byte by byte; any other is refused with a text.
 * The checksum of each line is corrected, so that changes get further. */
#include <elf.h>
#include <string.h>

#include "base/whole_file.h"
#include "fuzz.h"
#include "program/memory.h"
#include "program/text_image.h"

#define MOST_BYTES 16384

static int digit(uint8_t c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Sets the two digits at the end of a line to the checksum of the pairs before them. */
static void mend_line(uint8_t *line, size_t size)
{
    const size_t first = size && line[0] == ':' ? 1 : 2;
    uint8_t sum = 0;
    if (size < first + 4 || (size - first) % 2)
        return;
    for (size_t at = first; at + 4 <= size; at += 2) {
        if (digit(line[at]) < 0 || digit(line[at + 1]) < 0)
            return;
        sum = (uint8_t)(sum + 16 * digit(line[at]) + digit(line[at + 1]));
    }
    sum = line[0] == ':' ? (uint8_t)-sum : (uint8_t)~sum;
    line[size - 2] = (uint8_t) "0123456789ABCDEF"[sum >> 4];
    line[size - 1] = (uint8_t) "0123456789ABCDEF"[sum & 15];
}

static void mend(uint8_t *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        const uint8_t *newline = memchr(text + at, '\n', size - at);
        const size_t length = newline ? (size_t)(newline - text) - at : size - at;
        mend_line(text + at, length);
        at += length + 1;
    }
}

/* Reads a segment of a 32-bit or 64-bit file. */
static Elf64_Phdr segment_at(const uint8_t *elf, size_t index)
{
    Elf64_Phdr segment;
    Elf32_Phdr small;
    if (elf[EI_CLASS] == ELFCLASS64) {
        memcpy(&segment, elf + sizeof(Elf64_Ehdr) + index * sizeof segment, sizeof segment);
        return segment;
    }
    memcpy(&small, elf + sizeof(Elf32_Ehdr) + index * sizeof small, sizeof small);
    return (Elf64_Phdr){.p_offset = small.p_offset, .p_vaddr = small.p_vaddr, .p_filesz = small.p_filesz};
}

static size_t segment_count(const uint8_t *elf)
{
    Elf64_Ehdr wide;
    Elf32_Ehdr small;
    memcpy(&small, elf, sizeof small);
    if (elf[EI_CLASS] != ELFCLASS64)
        return small.e_phnum;
    memcpy(&wide, elf, sizeof wide);
    return wide.e_phnum;
}

static void look_at(const uint8_t *elf, size_t size)
{
    struct ct_mapped_file *file = calloc(1, sizeof *file + sizeof "fuzz");
    struct ct_memory *memory;
    uint64_t end = 0;
    require(file != NULL);
    require(ct_memory_new(NULL, &memory) == CT_OK);
    file->bytes = elf;
    file->size = size;
    memcpy(file->path, "fuzz", sizeof "fuzz");
    require(ct_memory_add_elf(memory, file, 0, CT_SPACE_ANY) == CT_OK);
    require(segment_count(elf) > 0);
    for (size_t i = 0; i < segment_count(elf); i++) {
        const Elf64_Phdr segment = segment_at(elf, i);
        require(segment.p_filesz && segment.p_vaddr >= end && segment.p_offset <= size &&
                segment.p_filesz <= size - segment.p_offset);
        end = segment.p_vaddr + segment.p_filesz;
        for (uint64_t at = 0, length; at < segment.p_filesz; at += length) {
            size_t there;
            const uint8_t *bytes = ct_memory_at(memory, segment.p_vaddr + at, CT_SPACE_EL1N, &there);
            require(bytes && there);
            length = there < segment.p_filesz - at ? there : segment.p_filesz - at;
            require(memcmp(bytes, elf + segment.p_offset + at, length) == 0);
        }
    }
    ct_memory_free(memory);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size || size > MOST_BYTES)
        return 0;
    struct ct_ctx *ctx = ct_ctx_new();
    uint8_t *text = fuzz_file(data, size), *elf;
    size_t elf_size;
    require(ctx != NULL);
    mend(text, size);
    if (ct_text_image_kind(text, size)) {
        if (ct_text_image_read(ctx, "fuzz", text, size, &elf, &elf_size) == CT_OK) {
            look_at(elf, elf_size);
            ct_whole_file_free(elf, elf_size);
        } else
            require(*ct_ctx_error(ctx) != '\0');
    }
    free(text);
    ct_ctx_free(ctx);
    return 0;
}
