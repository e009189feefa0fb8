/* SPDX-License-Identifier: Apache-2.0 */
/* A fuzz target for a protocol of Armv7: 12 bytes of configuration, one byte that selects how to cut, trace.
 */
#pragma once

#include "base/bytes.h"
#include "fuzz.h"
#include "pieces.h"

static inline int fuzz_v7(enum ct_protocol protocol, const uint8_t *data, size_t size)
{
    enum {
        HEAD_BYTES = 13,
    };
    if (size < HEAD_BYTES || size > 4096)
        return 0;
    const struct ct_source source = {
        .name = "fuzz",
        .core = "core",
        .protocol = (uint8_t)protocol,
        .arch = {.major = 7, .profile = data[11] & 0x80 ? CT_PROFILE_M : CT_PROFILE_A},
        .regs = {.etmcr = ct_load32(data), .etmccer = ct_load32(data + 4), .etmidr = ct_load32(data + 8)},
    };
    pieces_check(&source, data + HEAD_BYTES, size - HEAD_BYTES, data[HEAD_BYTES - 1]);
    return 0;
}
