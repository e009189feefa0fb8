/* SPDX-License-Identifier: Apache-2.0 */
/* The code of a recorded program is both in its ELF file and in the capture's images. Other tools prefer the
 * file, since it has names. It is used only where both have equal bytes. */
#include "export/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/elf_look.h"
#include "base/room.h"
#include "program/memory.h"

#define PAGE UINT64_C(4096)

/* Images of memory are whole pages, and a few bytes more, which complete the last instruction. */
static uint64_t whole_pages(const struct ct_image *image)
{
    return image->addr % PAGE == 0 && image->size % PAGE <= 4 ? image->size / PAGE * PAGE : image->size;
}

/* Returns whether an image and the code have equal bytes where they overlap. */
static bool agree(struct ct_ctx *ctx, const struct ct_perf_map *map, const struct ct_mapped_file *elf,
                  const struct ct_image *image)
{
    const uint64_t image_end = image->addr + whole_pages(image);
    const uint64_t low = image->addr > map->addr ? image->addr : map->addr;
    const uint64_t high = image_end < map->addr + map->size ? image_end : map->addr + map->size;
    if (image->is_elf || low >= high)
        return true;
    struct ct_mapped_file *file = NULL;
    if (ct_mapped_file_open(ctx, image->path, NULL, &file))
        return false;
    const uint64_t in_image = image->offset + (low - image->addr);
    const uint64_t in_elf = map->offset + (low - map->addr);
    const bool there = in_image + (high - low) <= file->size && in_elf + (high - low) <= elf->size;
    const bool same = there && memcmp(file->bytes + in_image, elf->bytes + in_elf, high - low) == 0;
    ct_mapped_file_close(file);
    return same;
}

static bool all_agree(const struct ct_perf_export_of *of, const struct ct_perf_map *map,
                      const struct ct_mapped_file *elf)
{
    bool same = true;
    for (size_t i = 0; same && i < of->count; i++)
        for (size_t k = 0; same && k < of->buffers[i].image_count; k++)
            same = agree(of->ctx, map, elf, &of->buffers[i].images[k]);
    return same;
}

static int add(struct ct_ctx *ctx, struct ct_perf_codes *codes, const struct ct_perf_map *map)
{
    if (!CT_PUSH_ROOM(codes->all, codes->count))
        return ct_fail_nomem(ctx, map->path);
    char *path = realpath(map->path, NULL);
    if (!path)
        return ct_fail(ctx, CT_ERR_IO, "%s: its absolute path cannot be found: %s", map->path,
                       strerror(errno));
    codes->all[codes->count] = (struct ct_perf_code){.map = *map, .path = path};
    codes->all[codes->count++].map.path = path;
    return CT_OK;
}

/* Returns the pages of a segment, as Linux maps them. */
static struct ct_perf_map map_of(const struct ct_image *program, const struct ct_elf_look *elf,
                                 const struct ct_elf_code *code)
{
    const uint64_t before = code->offset % PAGE;
    return (struct ct_perf_map){.addr = program->addr + code->addr - before,
                                .offset = code->offset - before,
                                .size = (code->size + before + PAGE - 1) / PAGE * PAGE,
                                .path = program->path,
                                .id = elf->id};
}

static int add_program(const struct ct_perf_export_of *of, struct ct_perf_codes *codes,
                       const struct ct_image *program)
{
    struct ct_elf_look elf;
    struct ct_mapped_file *file = NULL;
    if (!ct_elf_look(&ct_files_system, program->path, &elf) ||
        ct_mapped_file_open(of->ctx, program->path, program->placed, &file))
        return CT_OK; /* its images are used */
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < elf.code_count; i++) {
        const struct ct_perf_map map = map_of(program, &elf, &elf.code[i]);
        if (all_agree(of, &map, file))
            rc = add(of->ctx, codes, &map);
    }
    ct_mapped_file_close(file);
    return rc;
}

int ct_perf_codes_find(const struct ct_perf_export_of *of, struct ct_perf_codes *codes)
{
    int rc = CT_OK;
    *codes = (struct ct_perf_codes){0};
    for (size_t i = 0; i < of->capture->program_count && !rc; i++)
        rc = add_program(of, codes, &of->capture->programs[i]);
    return rc;
}

bool ct_perf_codes_hold(const struct ct_perf_codes *codes, const struct ct_image *image)
{
    for (size_t i = 0; !image->is_elf && i < codes->count; i++) {
        const struct ct_perf_map *map = &codes->all[i].map;
        if (map->addr <= image->addr && image->addr + whole_pages(image) <= map->addr + map->size)
            return true;
    }
    return false;
}

void ct_perf_codes_free(struct ct_perf_codes *codes)
{
    for (size_t i = 0; i < codes->count; i++)
        free(codes->all[i].path);
    free(codes->all);
}
