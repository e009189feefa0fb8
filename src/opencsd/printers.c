/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the interface that make the library print frames and elements. */
#include "opencsd/log.h"
#include "opencsd/tree.h"

enum {
    FRAME_FLAGS = OCSD_DFRMTR_PACKED_RAW_OUT | OCSD_DFRMTR_UNPACKED_RAW_OUT,
};

ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    if (!tree->framed)
        return OCSD_ERR_DCDT_NO_FORMATTER;
    tree->frames.flags = (tree->frames.flags & ~(uint32_t)FRAME_FLAGS) | ((uint32_t)flags & FRAME_FLAGS);
    return OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_INVALID_PARAM_VAL;
    tree->prints_elements = true;
    tree->take_element = NULL;
    return OCSD_OK;
}
