/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the interface that make the library print frames and elements. */
#include "opencsd/tree.h"

ocsd_err_t ocsd_dt_set_raw_frame_printer(const dcd_tree_handle_t handle, int flags)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    if (!tree->framed)
        return OCSD_ERR_DCDT_NO_FORMATTER;
    tree->frame_text |= (uint32_t)flags & CT_OCSD_FRAME_TEXT;
    tree->frames.flags |= tree->frame_text;
    const bool had_printer = tree->prints_frames;
    tree->prints_frames = true;
    return had_printer ? OCSD_ERR_ATTACH_TOO_MANY : OCSD_OK;
}

ocsd_err_t ocsd_dt_set_gen_elem_printer(const dcd_tree_handle_t handle)
{
    struct ct_ocsd_tree *tree = handle;
    if (!tree)
        return OCSD_ERR_NOT_INIT;
    ct_ocsd_tree_set_output(tree, NULL, NULL, true);
    return OCSD_OK;
}
