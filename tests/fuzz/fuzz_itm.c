/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes ITM packets and elements: one byte that selects how to cut, trace. */
#include "fuzz_software.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_software(CT_PROTOCOL_ITM, data, size);
}
