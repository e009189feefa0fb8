/* SPDX-License-Identifier: Apache-2.0 */
/* The target's memory: regions of bytes, and look-ups by address and space.
 *
 * Regions in one space do not overlap; those of different spaces may. So each of the eight spaces has a
 * sorted array of its regions, and a look-up is a binary search in the array of one of its spaces. */
#include "program/memory.h"
#include "base/ctx.h"
#include "base/require.h"
#include "base/room.h"
#include "base/search.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define SPACES 8

struct index {
    struct ct_region **regions; /* sorted by address */
    size_t count;
    size_t cap;
};

struct ct_memory {
    struct ct_ctx *ctx;
    struct ct_region **regions; /* in the order of adding */
    size_t count;
    size_t cap;
    struct index spaces[SPACES];
    struct ct_memory_files own;
    struct ct_memory_files *shared; /* with other memories; NULL: all files are its own */
};

int ct_memory_new(struct ct_ctx *ctx, struct ct_memory **out)
{
    if (!out)
        return ct_fail(ctx, CT_ERR_ARG, "ct_memory_new: no place for the result");
    struct ct_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return ct_fail_nomem(ctx, "memory");
    memory->ctx = ctx;
    *out = memory;
    return CT_OK;
}

int ct_memory_new_sharing(struct ct_ctx *ctx, struct ct_memory_files *files, struct ct_memory **out)
{
    const int rc = ct_memory_new(ctx, out);
    if (!rc)
        (*out)->shared = files;
    return rc;
}

void ct_memory_files_free(struct ct_memory_files *files)
{
    while (files->first) {
        struct ct_mapped_file *next = files->first->next;
        ct_mapped_file_close(files->first);
        files->first = next;
    }
    ct_small_files_free(&files->small);
}

static void region_free(struct ct_region *region)
{
    if (region->kind == CT_REGION_HEAP)
        free((void *)region->bytes);
    else if (region->kind == CT_REGION_PAGES)
        munmap((void *)region->bytes, (size_t)(region->last - region->addr + 1));
    free(region);
}

void ct_memory_free(struct ct_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++)
        region_free(memory->regions[i]);
    free(memory->regions);
    for (unsigned s = 0; s < SPACES; s++)
        free(memory->spaces[s].regions);
    ct_memory_files_free(&memory->own);
    free(memory);
}

struct ct_ctx *ct_memory_ctx(const struct ct_memory *memory)
{
    return memory->ctx;
}

/* Returns the file after `file`, of all that the memory may use: its own, then the shared ones. */
static const struct ct_mapped_file *file_after(const struct ct_memory *memory,
                                               const struct ct_mapped_file *file)
{
    const bool of_own = !file || !memory->shared || file->is_module;
    const struct ct_mapped_file *next = file ? file->next : memory->own.first;
    return !next && of_own && memory->shared ? memory->shared->first : next;
}

const struct ct_mapped_file *ct_memory_next_file(const struct ct_memory *memory,
                                                 const struct ct_mapped_file *file, uint64_t *bias)
{
    while ((file = file_after(memory, file)))
        for (size_t i = 0; i < memory->count; i++)
            if (memory->regions[i]->file == file && memory->regions[i]->of_elf) {
                *bias = memory->regions[i]->image_addr;
                return file;
            }
    return NULL;
}

/* Returns how many regions of the index start at or below addr. */
static size_t upper_bound(const struct index *index, uint64_t addr)
{
    return CT_COUNT_WHILE(index->count, i, index->regions[i]->addr <= addr);
}

static const char *region_name(const struct ct_region *region)
{
    return region->file ? region->file->path : "memory region";
}

/* Refuses a region that overlaps another one in its space. Regions in a space do not overlap, so only the
 * last one that starts at or below the new one's end needs a check. */
static int check_overlap(struct ct_memory *memory, const struct ct_region *region, uint32_t space)
{
    for (unsigned s = 0; s < SPACES; s++) {
        if (!(space >> s & 1))
            continue;
        size_t below = upper_bound(&memory->spaces[s], region->last);
        const struct ct_region *old = below ? memory->spaces[s].regions[below - 1] : NULL;
        if (old && old->last >= region->addr)
            return ct_fail(
                memory->ctx, CT_ERR_CONFIG,
                "%s: 0x%" PRIx64 " to 0x%" PRIx64 " overlaps %s at 0x%" PRIx64 " to 0x%" PRIx64
                " in the same memory space; it was not added; give each its own addresses or memory space",
                region_name(region), region->addr, region->last, region_name(old), old->addr, old->last);
    }
    return CT_OK;
}

/* Adds the region to the spaces of the mask; the caller has checked that it overlaps nothing. */
static int enter(struct ct_memory *memory, struct ct_region *region, uint32_t space)
{
    for (unsigned s = 0; s < SPACES; s++) {
        struct index *index = &memory->spaces[s];
        if ((space >> s & 1) && !CT_MAKE_ROOM(index->regions, index->cap, index->count + 1))
            return ct_fail_nomem(memory->ctx, "memory regions");
    }
    for (unsigned s = 0; s < SPACES; s++) {
        if (!(space >> s & 1))
            continue;
        struct index *index = &memory->spaces[s];
        size_t at = upper_bound(index, region->addr);
        memmove(index->regions + at + 1, index->regions + at,
                (index->count - at) * sizeof(struct ct_region *));
        index->regions[at] = region;
        index->count++;
    }
    return CT_OK;
}

int ct_memory_insert(struct ct_memory *memory, const struct ct_region *region)
{
    int result = check_overlap(memory, region, region->space);
    if (result == CT_OK && !CT_MAKE_ROOM(memory->regions, memory->cap, memory->count + 1))
        result = ct_fail_nomem(memory->ctx, "memory regions");
    if (result != CT_OK)
        return result;
    struct ct_region *copy = malloc(sizeof *copy);
    if (!copy)
        return ct_fail_nomem(memory->ctx, region_name(region));
    *copy = *region;
    result = enter(memory, copy, region->space);
    if (result != CT_OK) {
        free(copy);
        return result;
    }
    memory->regions[memory->count++] = copy;
    return CT_OK;
}

/* Removes the regions that were added after the first `count`. */
static void roll_back(struct ct_memory *memory, size_t count)
{
    while (memory->count > count) {
        struct ct_region *region = memory->regions[--memory->count];
        for (unsigned s = 0; s < SPACES; s++) {
            if (!(region->space >> s & 1))
                continue;
            struct index *index = &memory->spaces[s];
            size_t at = upper_bound(index, region->addr) - 1;
            index->count--;
            memmove(index->regions + at, index->regions + at + 1,
                    (index->count - at) * sizeof(struct ct_region *));
        }
        region_free(region);
    }
}

/* Checks the spaces of a region; 0 becomes all. */
static int check_space(struct ct_memory *memory, uint32_t *space)
{
    if (*space & ~(uint32_t)CT_SPACE_ANY)
        return ct_fail(memory->ctx, CT_ERR_ARG,
                       "memory space 0x%" PRIx32
                       ": only the bits of 0x%x are defined; nothing was added; use the CT_SPACE_ constants",
                       *space, CT_SPACE_ANY);
    if (*space == 0)
        *space = CT_SPACE_ANY;
    return CT_OK;
}

static int check_end(struct ct_memory *memory, const char *name, uint64_t addr, uint64_t size)
{
    if (addr + (size - 1) >= addr)
        return CT_OK;
    return ct_fail(memory->ctx, CT_ERR_CONFIG,
                   "%s: 0x%" PRIx64 " bytes starting at 0x%" PRIx64
                   " extend beyond the 64-bit address space; they were not added; correct the address",
                   name, size, addr);
}

int ct_memory_add_bytes(struct ct_memory *memory, const void *bytes, size_t size, uint64_t addr,
                        uint32_t space)
{
    CT_REQUIRE(NULL, memory);
    if (!bytes || size == 0)
        return ct_fail(memory->ctx, CT_ERR_ARG,
                       "memory region at 0x%" PRIx64
                       ": the region has no bytes, so it was not added; give at least one byte",
                       addr);
    int result = check_space(memory, &space);
    if (result == CT_OK)
        result = check_end(memory, "memory region", addr, size);
    if (result != CT_OK)
        return result;
    void *copy = malloc(size);
    if (!copy)
        return ct_fail_nomem(memory->ctx, "memory region");
    memcpy(copy, bytes, size);
    const struct ct_region region = {.addr = addr,
                                     .last = addr + (size - 1),
                                     .bytes = copy,
                                     .image_addr = addr,
                                     .space = space,
                                     .kind = CT_REGION_HEAP};
    result = ct_memory_insert(memory, &region);
    if (result != CT_OK)
        free(copy);
    return result;
}

/* Returns whether both are the same bytes of one file. A module may have been linked for different
 * addresses. */
static bool is_same_file(const struct ct_mapped_file *a, const struct ct_mapped_file *b)
{
    return a->dev == b->dev && a->ino == b->ino && a->offset == b->offset && a->size == b->size &&
           (!a->is_module || memcmp(a->bytes, b->bytes, a->size) == 0);
}

/* Finds a file that was read from this path. A module is read again, because it may be linked otherwise. */
static struct ct_mapped_file *find_path(const struct ct_memory_files *files, const char *path)
{
    struct ct_mapped_file *file = files->first;
    while (file && (file->is_module || strcmp(file->path, path) != 0))
        file = file->next;
    return file;
}

static struct ct_mapped_file *find_same(const struct ct_memory_files *files,
                                        const struct ct_mapped_file *wanted)
{
    struct ct_mapped_file *file = files->first;
    while (file && !is_same_file(file, wanted))
        file = file->next;
    return file;
}

/* Reads the file of an image, unless an earlier image did. */
static int file_of(struct ct_memory *memory, const struct ct_image *image, struct ct_mapped_file **out)
{
    struct ct_memory_files *files = memory->shared ? memory->shared : &memory->own;
    struct ct_mapped_file *file;
    *out = find_path(files, image->path);
    if (*out)
        return CT_OK;
    const int result = ct_mapped_file_open_one(memory->ctx, image->path, image->placed, &files->small, &file);
    if (result != CT_OK)
        return result;
    if (file->is_module)
        files = &memory->own;
    *out = find_same(files, file);
    if (*out) {
        ct_mapped_file_close(file);
        return CT_OK;
    }
    file->next = files->first;
    files->first = file;
    *out = file;
    return CT_OK;
}

/* Counts the regions of the image of `file` at `addr`, and returns the first error of those that would
 * overlap others if they were also in the given spaces. */
static int find_image(struct ct_memory *memory, const struct ct_mapped_file *file, uint64_t addr,
                      uint32_t space, size_t *found)
{
    *found = 0;
    for (size_t i = 0; i < memory->count; i++) {
        const struct ct_region *region = memory->regions[i];
        if (region->file != file || region->image_addr != addr)
            continue;
        ++*found;
        int result = check_overlap(memory, region, space & ~region->space);
        if (result != CT_OK)
            return result;
    }
    return CT_OK;
}

/* Adds spaces to the regions of an image that was added before. */
static int widen(struct ct_memory *memory, const struct ct_mapped_file *file, uint64_t addr, uint32_t space)
{
    for (size_t i = 0; i < memory->count; i++) {
        struct ct_region *region = memory->regions[i];
        if (region->file != file || region->image_addr != addr)
            continue;
        uint32_t more = space & ~region->space;
        if (enter(memory, region, more) != CT_OK)
            return CT_ERR_NOMEM;
        region->space |= more;
    }
    return CT_OK;
}

static int add_dump(struct ct_memory *memory, const struct ct_mapped_file *file, const struct ct_image *image,
                    uint32_t space)
{
    if (file->text)
        return ct_fail(memory->ctx, CT_ERR_CONFIG,
                       "%s: the file is %s, a text that contains its own addresses, and not a raw memory "
                       "dump; the image was not added; name it with elf = instead of file =, or with --elf",
                       file->path, file->text);
    if (image->offset >= file->size || image->size > file->size - image->offset)
        return ct_fail(memory->ctx, CT_ERR_CONFIG,
                       "%s: %" PRIu64 " bytes from offset %" PRIu64
                       " were requested, but the file has only %zu; the image was not added; correct its "
                       "offset and length",
                       file->path, image->size, image->offset, file->size);
    uint64_t size = image->size ? image->size : file->size - image->offset;
    int result = check_end(memory, file->path, image->addr, size);
    if (result != CT_OK)
        return result;
    const struct ct_region region = {.addr = image->addr,
                                     .last = image->addr + (size - 1),
                                     .bytes = file->bytes + image->offset,
                                     .file = file,
                                     .image_addr = image->addr,
                                     .space = space,
                                     .kind = CT_REGION_FILE};
    return ct_memory_insert(memory, &region);
}

int ct_memory_add_image(struct ct_memory *memory, const struct ct_image *image)
{
    CT_REQUIRE(NULL, memory);
    if (!image || !image->path)
        return ct_fail(memory->ctx, CT_ERR_ARG,
                       "memory image: the image has no path, so it was not added; set its path");
    if (image->is_elf == CT_IMAGE_OF_NAMES)
        return CT_OK;
    uint32_t space = image->space;
    struct ct_mapped_file *file = NULL;
    int result = check_space(memory, &space);
    if (result == CT_OK)
        result = file_of(memory, image, &file);
    size_t found = 0;
    if (result == CT_OK)
        result = find_image(memory, file, image->addr, space, &found);
    if (result != CT_OK)
        return result;
    if (found)
        return widen(memory, file, image->addr, space);
    size_t before = memory->count;
    result = image->is_elf ? ct_memory_add_elf(memory, file, image->addr, space)
                           : add_dump(memory, file, image, space);
    if (result != CT_OK)
        roll_back(memory, before);
    return result;
}

const uint8_t *ct_memory_at(const struct ct_memory *memory, uint64_t addr, uint32_t space, size_t *size)
{
    if (!memory)
        return NULL;
    *size = 0;
    if ((space & CT_SPACE_ANY) == 0)
        return NULL;
    const struct index *index = &memory->spaces[__builtin_ctz(space & CT_SPACE_ANY)];
    size_t below = upper_bound(index, addr);
    if (below == 0)
        return NULL;
    const struct ct_region *region = index->regions[below - 1];
    if (addr > region->last || (region->space & space) != space)
        return NULL;
    *size = (size_t)(region->last - addr + 1);
    return region->bytes + (addr - region->addr);
}
