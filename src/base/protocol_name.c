/* SPDX-License-Identifier: Apache-2.0 */
/* Names of protocols, needed for captures and for messages about registers. */
#include "coretap/input.h"

static const char *const protocol_names[] = {
    [CT_PROTOCOL_NONE] = "none",  [CT_PROTOCOL_ETM4] = "etmv4i", [CT_PROTOCOL_ETE] = "ete",
    [CT_PROTOCOL_ETM3] = "etmv3", [CT_PROTOCOL_PTM] = "ptm",     [CT_PROTOCOL_STM] = "stm",
    [CT_PROTOCOL_ITM] = "itm",
};

const char *ct_protocol_name(enum ct_protocol protocol)
{
    size_t i = (size_t)protocol;
    return i < sizeof protocol_names / sizeof *protocol_names ? protocol_names[i] : "unknown";
}
