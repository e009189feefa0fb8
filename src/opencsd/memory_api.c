/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the interface that give a tree access to memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencsd/tree.h"

static bool overlaps(const struct ct_ocsd_memory *memory, const struct ct_ocsd_accessor *other)
{
    for (size_t i = 0; i < memory->count; i++) {
        const struct ct_ocsd_accessor *a = &memory->accessors[i];
        if (other->first <= a->last && a->first <= other->last && (a->space & other->space))
            return true;
    }
    return false;
}

static ocsd_err_t add(struct ct_ocsd_tree *tree, const struct ct_ocsd_accessor *accessor)
{
    struct ct_ocsd_memory *memory = &tree->memory;
    if (overlaps(memory, accessor))
        return OCSD_ERR_MEM_ACC_OVERLAP;
    if (memory->count == memory->room) {
        const size_t room = 2 * memory->room + 8;
        struct ct_ocsd_accessor *more = realloc(memory->accessors, room * sizeof *more);
        if (!more)
            return OCSD_ERR_MEM;
        memory->accessors = more;
        memory->room = room;
    }
    memory->accessors[memory->count++] = *accessor;
    tree->epoch++;
    return OCSD_OK;
}

static ocsd_err_t add_callback(dcd_tree_handle_t handle, struct ct_ocsd_accessor accessor)
{
    if (!handle || (!accessor.read && !accessor.read_id))
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (accessor.first > accessor.last)
        return OCSD_ERR_MEM_ACC_RANGE_INVALID;
    accessor.kind = "CB";
    return add(handle, &accessor);
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
    if (!handle || !p_mem_buffer || !mem_length)
        return OCSD_ERR_INVALID_PARAM_VAL;
    return add(handle, &(struct ct_ocsd_accessor){.first = address,
                                                  .last = address + mem_length - 1,
                                                  .space = (uint32_t)mem_space,
                                                  .bytes = p_mem_buffer,
                                                  .kind = "Buff"});
}

/* Reads `size` bytes of a file from `offset` on; all that follow for SIZE_MAX, which it sets. NULL when they
 * are not there. */
static uint8_t *read_file(const char *path, size_t offset, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    long end = -1;
    if (file && !fseek(file, 0, SEEK_END))
        end = ftell(file);
    if (end >= 0 && *size == SIZE_MAX && (size_t)end >= offset)
        *size = (size_t)end - offset;
    if (end >= 0 && *size && *size <= (size_t)end && offset <= (size_t)end - *size)
        bytes = malloc(*size);
    if (bytes && (fseek(file, (long)offset, SEEK_SET) || fread(bytes, 1, *size, file) != *size)) {
        free(bytes);
        bytes = NULL;
    }
    if (file)
        fclose(file);
    return bytes;
}

static ocsd_err_t add_region(struct ct_ocsd_tree *tree, const char *path, ocsd_file_mem_region_t region,
                             uint32_t space)
{
    size_t size = region.region_size;
    uint8_t *bytes = read_file(path, region.file_offset, &size);
    if (!bytes)
        return OCSD_ERR_NOT_INIT;
    struct ct_ocsd_accessor accessor = {.first = region.start_address,
                                        .last = region.start_address + size - 1,
                                        .space = space,
                                        .bytes = bytes,
                                        .owned = bytes,
                                        .kind = "File",
                                        .path = strdup(path)};
    const ocsd_err_t err = accessor.path ? add(tree, &accessor) : OCSD_ERR_MEM;
    if (err) {
        free(accessor.path);
        free(bytes);
    }
    return err;
}

ocsd_err_t ocsd_dt_add_binfile_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t address,
                                       const ocsd_mem_space_acc_t mem_space, const char *filepath)
{
    if (!handle || !filepath)
        return OCSD_ERR_INVALID_PARAM_VAL;
    const ocsd_file_mem_region_t all = {.start_address = address, .region_size = SIZE_MAX};
    return add_region(handle, filepath, all, (uint32_t)mem_space);
}

ocsd_err_t ocsd_dt_add_binfile_region_mem_acc(const dcd_tree_handle_t handle,
                                              const ocsd_file_mem_region_t *region_array,
                                              const int num_regions, const ocsd_mem_space_acc_t mem_space,
                                              const char *filepath)
{
    if (!handle || !filepath || !region_array || num_regions <= 0)
        return OCSD_ERR_INVALID_PARAM_VAL;
    ocsd_err_t err = OCSD_OK;
    for (int i = 0; i < num_regions && !err; i++)
        err = add_region(handle, filepath, region_array[i], (uint32_t)mem_space);
    return err;
}

ocsd_err_t ocsd_dt_remove_mem_acc(const dcd_tree_handle_t handle, const ocsd_vaddr_t st_address,
                                  const ocsd_mem_space_acc_t mem_space)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    struct ct_ocsd_memory *memory = &tree->memory;
    for (size_t i = 0; i < memory->count; i++) {
        struct ct_ocsd_accessor *a = &memory->accessors[i];
        if (a->first != st_address || a->space != (uint32_t)mem_space)
            continue;
        free(a->owned);
        free(a->path);
        memmove(a, a + 1, (--memory->count - i) * sizeof *a);
        tree->epoch++;
        return OCSD_OK;
    }
    return OCSD_ERR_INVALID_PARAM_VAL;
}
