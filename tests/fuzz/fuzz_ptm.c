/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes PTM packets and elements. */
#include "fuzz_v7.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_v7(CT_PROTOCOL_PTM, data, size);
}
