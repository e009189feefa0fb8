/* SPDX-License-Identifier: Apache-2.0 */
/* Adapts the decoders and resolvers of protocols without fast paths to the operations of a chain. */
#include "chain/adapt.h"
#include "chain/seam_v7.h"
#include "elem/v7_seam.h"
#include "proto/v7_seam.h"

CT_ADAPT_DECODER(etm3, ETM3)
CT_ADAPT_RESOLVER(etm3)
CT_ADAPT_DECODER(itm, ITM)
CT_ADAPT_RESOLVER(itm)
CT_ADAPT_DECODER(ptm, PTM)
CT_ADAPT_RESOLVER(ptm)
CT_ADAPT_DECODER(stm, STM)
CT_ADAPT_RESOLVER(stm)

const struct ct_protocol_ops ct_etm3_ops = {
    CT_ADAPTED_PACKETS(etm3, ETM3),
    CT_ADAPTED_DECODER(etm3),
    CT_ADAPTED_RESOLVER(etm3),
    .find_sync = ct_etm3_find_sync,
    .decoder_seam = ct_etm3_decoder_seam,
    .resolver_seam = ct_etm3_resolver_seam,
};

const struct ct_protocol_ops ct_ptm_ops = {
    CT_ADAPTED_PACKETS(ptm, PTM),
    CT_ADAPTED_DECODER(ptm),
    CT_ADAPTED_RESOLVER(ptm),
    .find_sync = ct_ptm_find_sync,
    .decoder_seam = ct_ptm_decoder_seam,
    .resolver_seam = ct_ptm_resolver_seam,
};

const struct ct_protocol_ops ct_itm_ops = {
    CT_ADAPTED_PACKETS(itm, ITM),
    CT_ADAPTED_DECODER(itm),
    CT_ADAPTED_RESOLVER(itm),
};

const struct ct_protocol_ops ct_stm_ops = {
    CT_ADAPTED_PACKETS(stm, STM),
    CT_ADAPTED_DECODER(stm),
    CT_ADAPTED_RESOLVER(stm),
};
