/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes ETMv3 packets and elements: 12 bytes of configuration, one byte that selects how to cut, trace. */
#include "base/bytes.h"
#include "fuzz.h"
#include "pieces.h"

#define HEAD_BYTES 13

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_BYTES || size > 4096)
        return 0;
    const struct ct_source source = {
        .name = "fuzz",
        .core = "core",
        .protocol = CT_PROTOCOL_ETM3,
        .arch = {.major = 7, .profile = data[11] & 0x80 ? CT_PROFILE_M : CT_PROFILE_A},
        .regs = {.etmcr = ct_load32(data), .etmccer = ct_load32(data + 4), .etmidr = ct_load32(data + 8)},
    };
    pieces_check(&source, data + HEAD_BYTES, size - HEAD_BYTES, data[HEAD_BYTES - 1]);
    return 0;
}
