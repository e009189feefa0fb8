/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of the interface for byte statistics. Decoders of ETMv4 and ETE count bytes; the others have
 * zeros. */
#include "opencsd/tree.h"

ocsd_err_t ocsd_dt_get_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID,
                                    ocsd_decode_stats_t **p_stats_block)
{
    struct ct_ocsd_tree *tree = handle;
    struct ct_ocsd_decoder *decoder = tree ? ct_ocsd_tree_find(tree, CSID) : NULL;
    if (p_stats_block)
        *p_stats_block = NULL;
    if (!decoder || !p_stats_block)
        return OCSD_ERR_INVALID_PARAM_VAL;
    decoder->stats.version = ocsd_get_version();
    decoder->stats.revision = OCSD_STATS_REVISION;
    if (decoder->counts)
        decoder->stats.demux = tree->frames.stats;
    *p_stats_block = &decoder->stats;
    return decoder->counts ? OCSD_OK : OCSD_ERR_NOT_INIT;
}

ocsd_err_t ocsd_dt_reset_decode_stats(const dcd_tree_handle_t handle, const unsigned char CSID)
{
    struct ct_ocsd_tree *tree = handle;
    struct ct_ocsd_decoder *decoder = tree ? ct_ocsd_tree_find(tree, CSID) : NULL;
    if (!decoder)
        return OCSD_ERR_INVALID_PARAM_VAL;
    decoder->stats = (ocsd_decode_stats_t){0};
    tree->frames.stats = (ocsd_demux_stats_t){0};
    return OCSD_OK;
}
