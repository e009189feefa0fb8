/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the images of memory as mapping records. */
#include "export/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/archive.h"
#include "base/ctx.h"
#include "program/elf.h"
#include "program/layout.h"
#include "program/memory.h"

#define PAGE UINT64_C(4096)

/* The mappings to write, and a stamp for each of their processes. */
struct maps {
    const struct ct_perf_export_of *of;
    struct ct_perf_writer *writer;
    const struct ct_perf_stamp *stamps;
    size_t count;
};

static int put_map(const struct maps *m, const struct ct_perf_map *map)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < m->count; i++)
        rc = ct_perf_write_map(m->writer, &m->stamps[i], map);
    return rc;
}

static int put_segments(const struct maps *m, const char *path, const struct ct_mapped_file *file,
                        uint64_t bias)
{
    struct ct_elf elf = {0};
    struct ct_elf_look look;
    int rc = CT_OK;
    if (!ct_elf_look(&ct_files_system, path, &look) ||
        ct_elf_open(m->of->ctx, path, file->bytes, file->size, &elf))
        return CT_ERR_FORMAT;
    for (size_t i = 0; !rc && i < elf.segments; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf.elf, (int)i, &segment) || segment.p_type != PT_LOAD || !segment.p_filesz)
            continue;
        const uint64_t addr = segment.p_vaddr + bias;
        rc = put_map(m, &(struct ct_perf_map){.addr = addr,
                                              .size = segment.p_filesz,
                                              .offset = segment.p_offset,
                                              .path = path,
                                              .kernel = ct_perf_is_kernel(addr),
                                              .id = look.id});
    }
    ct_elf_close(&elf);
    return rc;
}

/* Writes the map of a kernel module as perf does: from the beginning of its memory to the end of its code. */
static int put_module(const struct maps *m, const char *path, const struct ct_mapped_file *file,
                      uint64_t base)
{
    struct ct_layout *layout;
    struct ct_elf_look look;
    uint64_t end = 0;
    int rc = ct_elf_look(&ct_files_system, path, &look)
                 ? ct_layout_make(m->of->ctx, path, file->bytes, file->size, 0, &layout)
                 : CT_ERR_FORMAT;
    if (rc)
        return rc;
    for (size_t i = 0; i < layout->section_count; i++) {
        const struct ct_area *section = &layout->sections[i];
        if (section->addr < INT64_MAX && section->addr + section->size > end)
            end = section->addr + section->size;
    }
    ct_layout_free(layout);
    return put_map(m, &(struct ct_perf_map){.addr = base,
                                            .size = (end + PAGE - 1) & ~(PAGE - 1),
                                            .path = path,
                                            .kernel = ct_perf_is_kernel(base),
                                            .id = look.id});
}

static int put_elf(const struct maps *m, const char *path, const struct ct_image *image)
{
    struct ct_mapped_file *file = NULL;
    int rc = ct_mapped_file_open(m->of->ctx, path, image->placed, &file);
    if (!rc && file->text)
        rc = ct_fail(
            m->of->ctx, CT_ERR_UNSUPPORTED,
            "%s: the file is %s, which perf cannot read; nothing was exported; convert it with 'objcopy -I "
            "%s -O binary', and name the result in the capture with the address of its first byte",
            path, file->text, file->text[0] == 'I' ? "ihex" : "srec");
    if (!rc)
        rc = file->is_module ? put_module(m, path, file, image->addr)
                             : put_segments(m, path, file, image->addr);
    ct_mapped_file_close(file);
    return rc;
}

/* Writes a part of a file. A part of an ELF file gets its build id. */
static int put_part(const struct maps *m, const char *path, const struct ct_image *image)
{
    struct ct_elf_look look;
    struct ct_perf_map map = {.addr = image->addr,
                              .size = image->size,
                              .offset = image->offset,
                              .path = path,
                              .kernel = ct_perf_is_kernel(image->addr)};
    if (ct_elf_look(&ct_files_system, path, &look))
        map.id = look.id;
    return put_map(m, &map);
}

/* Writes a part of a file in an archive as a part of the archive. */
static int put_archived(const struct maps *m, const struct ct_image *image, const char *entry)
{
    struct ct_image part = *image;
    struct ct_archived where;
    const int fd = ct_archive_open(image->path, &where);
    char *path = fd < 0 ? NULL : strndup(image->path, (size_t)(entry - 2 - image->path));
    char *whole = path ? realpath(path, NULL) : NULL;
    int rc = CT_ERR_IO;
    if (fd >= 0)
        close(fd);
    part.offset += where.offset;
    if (whole)
        rc = put_part(m, whole, &part);
    else
        ct_fail(m->of->ctx, CT_ERR_IO, "%s: %s", image->path, strerror(errno));
    free(path);
    free(whole);
    return rc;
}

/* Writes the map of an image. perf needs absolute paths. */
static int put_image(const struct maps *m, const struct ct_image *image)
{
    const char *entry = ct_archive_entry(image->path);
    if (entry && !image->is_elf && access(image->path, F_OK))
        return put_archived(m, image, entry);
    char *path = realpath(image->path, NULL);
    if (!path)
        return ct_fail(m->of->ctx, CT_ERR_IO, "%s: %s", image->path, strerror(errno));
    const int rc = image->is_elf ? put_elf(m, path, image) : put_part(m, path, image);
    free(path);
    return rc;
}

static bool is_earlier(const struct ct_perf_export_of *of, size_t buffer, const struct ct_image *image)
{
    for (size_t i = 0; i < buffer; i++)
        for (size_t k = 0; k < of->buffers[i].image_count; k++) {
            const struct ct_image *other = &of->buffers[i].images[k];
            if (other->addr == image->addr && other->offset == image->offset &&
                strcmp(other->path, image->path) == 0)
                return true;
        }
    return false;
}

int ct_perf_images_write(const struct ct_perf_export_of *of, const struct ct_perf_codes *codes,
                         struct ct_perf_writer *writer, const struct ct_perf_stamp *stamps, size_t count)
{
    const struct maps m = {of, writer, stamps, count};
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < codes->count; i++)
        rc = put_map(&m, &codes->all[i].map);
    for (size_t i = 0; i < of->count; i++)
        for (size_t k = 0; !rc && k < of->buffers[i].image_count; k++)
            if (of->buffers[i].images[k].is_elf != CT_IMAGE_OF_NAMES &&
                !is_earlier(of, i, &of->buffers[i].images[k]) &&
                !ct_perf_codes_hold(codes, &of->buffers[i].images[k]))
                rc = put_image(&m, &of->buffers[i].images[k]);
    return rc;
}

int ct_perf_generation_write(const struct ct_perf_export_of *of, const struct ct_generation *generation,
                             struct ct_perf_writer *writer, const struct ct_perf_stamp *stamp)
{
    const struct maps m = {of, writer, stamp, 1};
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < generation->image_count; i++)
        rc = put_image(&m, &generation->images[i]);
    return rc;
}

bool ct_perf_images_have_kernel(const struct ct_perf_export_of *of)
{
    for (size_t i = 0; i < of->count; i++)
        for (size_t k = 0; k < of->buffers[i].image_count; k++)
            if (ct_perf_is_kernel(of->buffers[i].images[k].addr))
                return true;
    return false;
}
