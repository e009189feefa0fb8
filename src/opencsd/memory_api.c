/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the interface that give a tree access to memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "opencsd/tree.h"

enum {
    LEAST_BUFFER = 4, /* smallest buffer in bytes */
};

/* Notes that the client gives a tree access to memory. Returns false when there is no tree. */
static bool use_memory(struct ct_ocsd_tree *tree)
{
    if (tree)
        tree->memory.used = true;
    return tree != NULL;
}

/* Returns whether a range contains an end of the other range. A range that encloses it does not count. */
static bool meet(uint64_t first, uint64_t last, uint64_t other_first, uint64_t other_last)
{
    return (other_first >= first && other_first <= last) || (other_last >= first && other_last <= last);
}

/* Returns whether a new accessor begins or ends inside an existing one. Of the regions of a new file, 1.3.3
 * checks only the one at its begin. */
static bool overlaps(const struct ct_ocsd_memory *memory, const struct ct_ocsd_accessor *other)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct ct_ocsd_accessor *a = &memory->accessors[i];
        if (!(a->space & other->space))
            continue;
        if (!a->path && meet(a->first, a->last, other->first, other->last))
            return true;
        for (size_t k = 0; k < a->region_count; k++)
            if (meet(a->regions[k].first, a->regions[k].last, other->first, other->last))
                return true;
    }
    return false;
}

/* Returns whether an accessor can have this range: it must consist of whole halfwords. */
static bool is_range(uint64_t first, uint64_t last)
{
    return first < last && !(first & 1) && last & 1;
}

static ocsd_err_t add(struct ct_ocsd_tree *tree, const struct ct_ocsd_accessor *accessor)
{
    struct ct_ocsd_memory *memory = &tree->memory;
    if (overlaps(memory, accessor))
        return OCSD_ERR_MEM_ACC_OVERLAP;
    if (!CT_MAKE_ROOM(memory->accessors, memory->room, memory->count + 1))
        return OCSD_ERR_MEM;
    memory->accessors[memory->count++] = *accessor;
    tree->epoch++;
    return OCSD_OK;
}

/* Adds an accessor with a single range. */
static ocsd_err_t add_range(struct ct_ocsd_tree *tree, const struct ct_ocsd_accessor *accessor)
{
    return is_range(accessor->first, accessor->last) ? add(tree, accessor) : OCSD_ERR_MEM_ACC_RANGE_INVALID;
}

static ocsd_err_t add_callback(dcd_tree_handle_t handle, struct ct_ocsd_accessor accessor)
{
    if (!use_memory(handle) || (!accessor.read && !accessor.read_id))
        return OCSD_ERR_INVALID_PARAM_VAL;
    accessor.kind = "CB";
    return add_range(handle, &accessor);
}

ocsd_err_t ocsd_dt_add_callback_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                        const ocsd_vaddr_t en_address, const ocsd_mem_space_acc_t mem_space,
                                        Fn_MemAcc_CB p_cb_func, const void *p_context)
{
    return add_callback(handle, (struct ct_ocsd_accessor){.first = st_address,
                                                          .last = en_address,
                                                          .space = (uint32_t)mem_space,
                                                          .read = p_cb_func,
                                                          .context = p_context});
}

ocsd_err_t ocsd_dt_add_callback_trcid_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                              const ocsd_vaddr_t en_address,
                                              const ocsd_mem_space_acc_t mem_space, Fn_MemAccID_CB p_cb_func,
                                              const void *p_context)
{
    return add_callback(handle, (struct ct_ocsd_accessor){.first = st_address,
                                                          .last = en_address,
                                                          .space = (uint32_t)mem_space,
                                                          .read_id = p_cb_func,
                                                          .context = p_context});
}

ocsd_err_t ocsd_dt_add_buffer_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                      const ocsd_mem_space_acc_t mem_space, const uint8_t *p_mem_buffer,
                                      const uint32_t mem_length)
{
    if (!use_memory(handle) || !p_mem_buffer || mem_length < LEAST_BUFFER)
        return OCSD_ERR_INVALID_PARAM_VAL;
    return add_range(handle, &(struct ct_ocsd_accessor){.first = address,
                                                        .last = address + mem_length - 1,
                                                        .space = (uint32_t)mem_space,
                                                        .bytes = p_mem_buffer,
                                                        .kind = "Buff"});
}

/* ---- files ---- */

/* Returns the size of a file rounded down to halfwords, or 0. */
static uint64_t size_of(FILE *file)
{
    const long end = fseek(file, 0, SEEK_END) ? 0 : ftell(file);
    return end > 0 ? (uint64_t)end & ~UINT64_C(1) : 0;
}

/* Reads a region of a file. Returns NULL when it cannot be read completely. */
static uint8_t *read_region(FILE *file, const ocsd_file_mem_region_t *region)
{
    uint8_t *bytes = malloc(region->region_size);
    if (bytes && (fseek(file, (long)region->file_offset, SEEK_SET) ||
                  fread(bytes, 1, region->region_size, file) != region->region_size)) {
        free(bytes);
        bytes = NULL;
    }
    return bytes;
}

/* Returns whether a region of an accessor contains an address. */
static bool has_address(const struct ct_ocsd_accessor *accessor, uint64_t addr)
{
    for (size_t i = 0; i < accessor->region_count; i++)
        if (addr >= accessor->regions[i].first && addr <= accessor->regions[i].last)
            return true;
    return false;
}

/* Adds a region to the accessor of a file of `size` bytes. Skips a region that begins or ends inside another,
 * and one outside the file unless it is the first. */
static ocsd_err_t add_region(struct ct_ocsd_accessor *a, FILE *file, uint64_t size,
                             ocsd_file_mem_region_t region)
{
    if (!region.file_offset && !region.region_size)
        region.region_size = (size_t)size;
    const uint64_t last = region.start_address + region.region_size - 1;
    if (!is_range(region.start_address, last))
        return OCSD_ERR_MEM_ACC_RANGE_INVALID;
    if (region.file_offset > size || region.region_size > size - region.file_offset)
        return a->region_count ? OCSD_OK : OCSD_ERR_NOT_INIT;
    if (has_address(a, region.start_address) || has_address(a, last))
        return OCSD_OK;
    uint8_t *bytes = read_region(file, &region);
    if (!bytes)
        return OCSD_ERR_MEM;
    struct ct_ocsd_region *added = &a->regions[a->region_count++];
    *added = (struct ct_ocsd_region){region.start_address, last, bytes};
    if (!region.file_offset && !a->has_base) {
        const struct ct_ocsd_region first = a->regions[0];
        a->regions[0] = *added;
        *added = first;
        a->has_base = true;
        a->first = region.start_address;
        a->last = last;
    }
    return OCSD_OK;
}

/* Returns the accessor of a file, or NULL. */
static const struct ct_ocsd_accessor *find_file(const struct ct_ocsd_memory *memory, const char *path)
{
    for (size_t i = 0; i < memory->count; i++)
        if (memory->accessors[i].path && !strcmp(memory->accessors[i].path, path))
            return &memory->accessors[i];
    return NULL;
}

/* Adds regions of a file to an empty accessor, and the accessor to the tree. */
static ocsd_err_t fill(struct ct_ocsd_tree *tree, struct ct_ocsd_accessor *accessor,
                       const ocsd_file_mem_region_t *regions, int count)
{
    FILE *file = fopen(accessor->path, "rb");
    ocsd_err_t err = file ? OCSD_OK : OCSD_ERR_NOT_INIT;
    const uint64_t size = file ? size_of(file) : 0;
    if (!size)
        err = OCSD_ERR_NOT_INIT;
    for (int i = 0; i < count && !err; i++)
        err = add_region(accessor, file, size, regions[i]);
    if (file)
        fclose(file);
    return err ? err : add(tree, accessor);
}

static ocsd_err_t add_file(struct ct_ocsd_tree *tree, const char *path, const ocsd_file_mem_region_t *regions,
                           int count, ocsd_mem_space_acc_t space)
{
    const struct ct_ocsd_accessor *same = find_file(&tree->memory, path);
    if (same && !has_address(same, regions[0].start_address))
        return OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE;
    if (same) /* the file was added before, and stays as it is */
        return same->has_base ? OCSD_ERR_MEM_ACC_OVERLAP : OCSD_OK;
    struct ct_ocsd_accessor accessor = {.space = (uint32_t)space,
                                        .kind = "File",
                                        .path = strdup(path),
                                        .regions = calloc((size_t)count, sizeof *accessor.regions)};
    const ocsd_err_t err =
        accessor.path && accessor.regions ? fill(tree, &accessor, regions, count) : OCSD_ERR_MEM;
    if (err)
        ct_ocsd_accessor_deinit(&accessor);
    return err;
}

ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                       const ocsd_mem_space_acc_t mem_space, const char *filepath)
{
    const ocsd_file_mem_region_t all = {.start_address = address};
    return ocsd_dt_add_binfile_region_mem_acc(handle, &all, 1, mem_space, filepath);
}

ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_file_mem_region_t *region_array,
                                              const int num_regions, const ocsd_mem_space_acc_t mem_space,
                                              const char *filepath)
{
    if (!use_memory(handle) || !filepath || !*filepath || !region_array || !num_regions)
        return OCSD_ERR_INVALID_PARAM_VAL;
    return add_file(handle, filepath, region_array, num_regions < 0 ? 1 : num_regions, mem_space);
}

ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                  const ocsd_mem_space_acc_t mem_space)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct ct_ocsd_memory *memory = &tree->memory;
    if (!memory->used)
        return OCSD_ERR_NOT_INIT;
    for (size_t i = 0; i < memory->count; i++) {
        struct ct_ocsd_accessor *a = &memory->accessors[i];
        const bool is_here =
            a->path ? has_address(a, st_address) : st_address >= a->first && st_address <= a->last;
        if (!is_here || !(a->space & (uint32_t)mem_space))
            continue;
        ct_ocsd_accessor_deinit(a);
        memmove(a, a + 1, (--memory->count - i) * sizeof *a);
        tree->epoch++;
        return OCSD_OK;
    }
    return OCSD_ERR_INVALID_PARAM_VAL;
}
