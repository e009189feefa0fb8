/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a source from the first bytes of a fuzz input: a configuration that the decoder accepts for most
 * values, so that the other bytes are trace. The protocol is ETMv4 or ETE unless the fourth byte says
 * otherwise. */
#pragma once

#include "base/bytes.h"
#include "coretap/input.h"

#define FUZZ_SOURCE_BYTES 24

static inline struct ct_source fuzz_source(const uint8_t *data)
{
    static const uint8_t others[] = {CT_PROTOCOL_ETM3, CT_PROTOCOL_PTM, CT_PROTOCOL_STM, CT_PROTOCOL_ITM};
    const uint8_t etm4 = data[0] & 1 ? CT_PROTOCOL_ETE : CT_PROTOCOL_ETM4;
    return (struct ct_source){
        .name = "fuzz",
        .core = "core",
        .protocol = data[3] % 5 ? others[data[3] % 5 - 1] : etm4,
        .trace_id = data[1] & 0x7f,
        .arch = {.major = data[0] & 8 ? 7 : 8,
                 .minor = data[0] >> 4,
                 .profile = data[0] & 2 ? CT_PROFILE_M : CT_PROFILE_A,
                 .newest = data[0] >> 2 & 1},
        .regs = {.configr = ct_load32(data + 4),
                 .idr0 = ct_load32(data + 8),
                 .idr1 = 0x4100f400u | (data[2] & 0xffu),
                 .idr2 = ct_load32(data + 12),
                 .idr8 = ct_load32(data + 16),
                 .devarch = ct_load32(data + 20),
                 .etmcr = ct_load32(data + 4),
                 .etmccer = ct_load32(data + 8),
                 .etmidr = ct_load32(data + 12),
                 .itmtcr = ct_load32(data + 4)},
    };
}
