/* SPDX-License-Identifier: Apache-2.0 */
/* Opens ELF files of supported Arm targets, and adds their PT_LOAD segments to a memory. */
#include "program/elf.h"
#include "base/ctx.h"
#include "base/elf_strings.h"
#include "program/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

/* The largest segment with a tail of zeros, which gets its own pages, in bytes. */
#define MOST_PAGES (UINT64_C(1) << 32)

static int check_header(struct ct_ctx *ctx, const char *name, const struct ct_elf *elf)
{
    const unsigned machine = elf->header.e_machine;
    const bool is_be8 = machine == EM_ARM && elf->header.e_flags & EF_ARM_BE8;
    if (elf->header.e_ident[EI_DATA] != ELFDATA2LSB && !is_be8)
        return ct_fail(ctx, CT_ERR_UNSUPPORTED,
                       "%s: the code in this ELF file is big-endian, which is not supported; link it with "
                       "--be8, or use a little-endian program",
                       name);
    if (machine != EM_AARCH64 && machine != EM_ARM)
        return ct_fail(ctx, CT_ERR_UNSUPPORTED,
                       "%s: this ELF file is for machine %u, which is neither AArch64 (%u) nor Arm (%u); use "
                       "the program that ran on the target",
                       name, machine, (unsigned)EM_AARCH64, (unsigned)EM_ARM);
    if (ct_elf_has_packed_strings(elf->elf))
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: a string table of the file is compressed, which no linker does; the file was not "
                       "read; use the file that the linker wrote",
                       name);
    return CT_OK;
}

/* Returns the number of segments. The header may claim up to 2^32 - 1, so it is limited by the size of the
 * file. */
static size_t count_segments(Elf *elf, size_t size)
{
    const size_t room = size / gelf_fsize(elf, ELF_T_PHDR, 1, EV_CURRENT);
    size_t count;
    if (elf_getphdrnum(elf, &count))
        return 0;
    return count < room ? count : room;
}

static int check(struct ct_ctx *ctx, const char *name, size_t size, struct ct_elf *out)
{
    if (!out->elf || elf_kind(out->elf) != ELF_K_ELF || !gelf_getehdr(out->elf, &out->header))
        return ct_fail(
            ctx, CT_ERR_FORMAT,
            "%s: the ELF header is damaged or truncated after %zu bytes of the file; use a complete copy",
            name, size);
    out->segments = count_segments(out->elf, size);
    return check_header(ctx, name, out);
}

/* Checks what libelf opened, and closes it when it is refused. errno was set to 0 before. */
static int take(struct ct_ctx *ctx, const char *name, Elf *elf, size_t size, struct ct_elf *out)
{
    *out = (struct ct_elf){.elf = elf};
    int result = ct_unless_nomem(ctx, name, check(ctx, name, size, out));
    if (result != CT_OK)
        ct_elf_close(out);
    return result;
}

/* Prepares for opening a file: sets errno to 0, by which `take` recognises missing memory. */
static int check_libelf(struct ct_ctx *ctx, const char *name)
{
    if (elf_version(EV_CURRENT) == EV_NONE)
        return ct_fail(ctx, CT_ERR_UNSUPPORTED,
                       "%s: the installed libelf does not support the current ELF version, so no ELF file "
                       "can be read; install a newer libelf",
                       name);
    errno = 0;
    return CT_OK;
}

int ct_elf_open(struct ct_ctx *ctx, const char *name, const uint8_t *bytes, size_t size, struct ct_elf *out)
{
    if (size < SELFMAG || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: this is neither an ELF file nor Intel HEX nor S-records; to use a raw memory "
                       "dump, name it with its address in the .ini file of a raw trace (file =)",
                       name);
    return check_libelf(ctx, name) ?: take(ctx, name, elf_memory((char *)bytes, size), size, out);
}

int ct_elf_open_fd(struct ct_ctx *ctx, const char *name, int fd, size_t size, struct ct_elf *out)
{
    return check_libelf(ctx, name) ?: take(ctx, name, elf_begin(fd, ELF_C_READ, NULL), size, out);
}

void ct_elf_close(struct ct_elf *elf)
{
    elf_end(elf->elf);
    elf->elf = NULL;
}

/* Makes the bytes of a segment that is longer in memory than in the file: zero pages with the file's bytes at
 * the start. Zero pages that are only read take no memory. */
static int with_tail(struct ct_ctx *ctx, const struct ct_mapped_file *file, const GElf_Phdr *segment,
                     const uint8_t **out)
{
    if (segment->p_memsz > MOST_PAGES)
        return ct_fail(ctx, CT_ERR_LIMIT,
                       "%s: the segment at 0x%" PRIx64 " takes 0x%" PRIx64
                       " bytes with its zero-filled tail, more than the limit of 4 GiB; the image was not "
                       "added; check that the file is undamaged",
                       file->path, segment->p_vaddr, segment->p_memsz);
    void *pages = mmap(NULL, (size_t)segment->p_memsz, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED)
        return ct_fail_nomem(ctx, file->path);
    if (segment->p_filesz)
        memcpy(pages, file->bytes + segment->p_offset, (size_t)segment->p_filesz);
    *out = pages;
    return CT_OK;
}

static int check_segment(struct ct_ctx *ctx, const struct ct_mapped_file *file, const GElf_Phdr *segment,
                         uint64_t addr)
{
    bool inside = segment->p_offset <= file->size && segment->p_filesz <= file->size - segment->p_offset;
    if (!inside && segment->p_filesz) /* a segment of only zeros may have any offset */
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: the segment at 0x%" PRIx64 " has 0x%" PRIx64 " bytes at offset 0x%" PRIx64
                       ", beyond the end of the file at 0x%zx; the file is truncated; use a complete copy",
                       file->path, segment->p_vaddr, segment->p_filesz, segment->p_offset, file->size);
    if (segment->p_filesz > segment->p_memsz)
        return ct_fail(
            ctx, CT_ERR_FORMAT,
            "%s: the segment at 0x%" PRIx64
            " is larger in the file than in memory; the program headers are damaged; use an undamaged copy",
            file->path, segment->p_vaddr);
    if (addr + (segment->p_memsz - 1) < addr)
        return ct_fail(ctx, CT_ERR_CONFIG,
                       "%s: the segment at 0x%" PRIx64 " with its 0x%" PRIx64
                       " bytes extends beyond the address space; correct the load address of the image",
                       file->path, addr, segment->p_memsz);
    return CT_OK;
}

static int add_segment(struct ct_memory *memory, const struct ct_mapped_file *file, const GElf_Phdr *segment,
                       uint64_t bias, uint32_t space)
{
    struct ct_ctx *ctx = ct_memory_ctx(memory);
    uint64_t addr = segment->p_vaddr + bias;
    int result = check_segment(ctx, file, segment, addr);
    if (result != CT_OK)
        return result;
    struct ct_region region = {.addr = addr,
                               .last = addr + (segment->p_memsz - 1),
                               .bytes = segment->p_filesz ? file->bytes + segment->p_offset : NULL,
                               .file = file,
                               .image_addr = bias,
                               .space = space,
                               .kind = CT_REGION_FILE,
                               .of_elf = true};
    if (segment->p_memsz == segment->p_filesz)
        return ct_memory_insert(memory, &region);
    result = with_tail(ctx, file, segment, &region.bytes);
    if (result != CT_OK)
        return result;
    region.kind = CT_REGION_PAGES;
    result = ct_memory_insert(memory, &region);
    if (result != CT_OK)
        munmap((void *)region.bytes, (size_t)segment->p_memsz);
    return result;
}

static int add_segments(struct ct_memory *memory, const struct ct_elf *elf, const struct ct_mapped_file *file,
                        uint64_t bias, uint32_t space)
{
    struct ct_ctx *ctx = ct_memory_ctx(memory);
    size_t count;
    if (elf_getphdrnum(elf->elf, &count) != 0)
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: the program headers cannot be read: %s; use an undamaged copy", file->path,
                       elf_errmsg(-1));
    unsigned stated = elf->header.e_phnum;
    if (stated != PN_XNUM && count < stated)
        return ct_fail(
            ctx, CT_ERR_FORMAT,
            "%s: the file contains only %zu of its %u program headers; it is truncated; use a complete copy",
            file->path, count, stated);
    size_t loads = 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (i > INT32_MAX || !gelf_getphdr(elf->elf, (int)i, &segment))
            return ct_fail(ctx, CT_ERR_FORMAT,
                           "%s: program header %zu of %zu cannot be read; the file is truncated or damaged; "
                           "use a complete copy",
                           file->path, i, count);
        if (segment.p_type != PT_LOAD || segment.p_memsz == 0)
            continue;
        int result = add_segment(memory, file, &segment, bias, space);
        if (result != CT_OK)
            return result;
        loads++;
    }
    if (loads == 0)
        return ct_fail(ctx, CT_ERR_FORMAT,
                       "%s: the ELF file has no PT_LOAD segment, so it contains no code that ran; use the "
                       "linked program, not an object file or a file with only debug information",
                       file->path);
    return CT_OK;
}

int ct_memory_add_elf(struct ct_memory *memory, const struct ct_mapped_file *file, uint64_t bias,
                      uint32_t space)
{
    struct ct_elf elf = {0};
    int result = ct_elf_open(ct_memory_ctx(memory), file->path, file->bytes, file->size, &elf);
    if (result != CT_OK)
        return result;
    errno = 0;
    result =
        ct_unless_nomem(ct_memory_ctx(memory), file->path, add_segments(memory, &elf, file, bias, space));
    ct_elf_close(&elf);
    return result;
}
