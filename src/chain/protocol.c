/* SPDX-License-Identifier: Apache-2.0 */
#include "chain/protocol.h"

static const struct ct_protocol_ops *const table[] = {
    [CT_PROTOCOL_ETM4] = &ct_etm4_ops, [CT_PROTOCOL_ETE] = &ct_etm4_ops, [CT_PROTOCOL_ETM3] = &ct_etm3_ops,
    [CT_PROTOCOL_PTM] = &ct_ptm_ops,   [CT_PROTOCOL_STM] = &ct_stm_ops,  [CT_PROTOCOL_ITM] = &ct_itm_ops,
};

const struct ct_protocol_ops *ct_protocol_ops(enum ct_protocol protocol)
{
    return (size_t)protocol < sizeof table / sizeof *table ? table[protocol] : NULL;
}
