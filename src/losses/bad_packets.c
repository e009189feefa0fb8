/* SPDX-License-Identifier: Apache-2.0 */
/* The packet types that a protocol does not allow, each of which counts as a loss. */
#include "coretap/decode.h"
#include "coretap/packet.h"
#include "coretap/packet_etm3.h"
#include "coretap/packet_itm.h"
#include "coretap/packet_ptm.h"
#include "coretap/packet_stm.h"

#define BIT(type) (UINT64_C(1) << (type))
#define ETM4                                                                                                 \
    (BIT(CT_ETM4_BAD_SEQUENCE) | BIT(CT_ETM4_BAD_TRACEMODE) | BIT(CT_ETM4_RESERVED) |                        \
     BIT(CT_ETM4_RESERVED_CFG) | BIT(CT_ETM4_INCOMPLETE_EOT))

/* By protocol: a bit for each bad type. All types are below 64. */
static const uint64_t bad_types[] = {
    [CT_PROTOCOL_ETM4] = ETM4,
    [CT_PROTOCOL_ETE] = ETM4,
    [CT_PROTOCOL_ETM3] = BIT(CT_ETM3_BAD_SEQUENCE) | BIT(CT_ETM3_BAD_TRACEMODE) | BIT(CT_ETM3_RESERVED),
    [CT_PROTOCOL_PTM] = BIT(CT_PTM_BAD_SEQUENCE) | BIT(CT_PTM_RESERVED) | BIT(CT_PTM_INCOMPLETE_EOT),
    [CT_PROTOCOL_STM] = BIT(CT_STM_BAD_SEQUENCE) | BIT(CT_STM_RESERVED) | BIT(CT_STM_INCOMPLETE_EOT),
    [CT_PROTOCOL_ITM] = BIT(CT_ITM_BAD_SEQUENCE) | BIT(CT_ITM_RESERVED) | BIT(CT_ITM_INCOMPLETE_EOT),
};

int ct_packet_type_is_bad(enum ct_protocol protocol, unsigned type)
{
    return (size_t)protocol < sizeof bad_types / sizeof *bad_types && type < 64 &&
           bad_types[protocol] >> type & 1;
}
