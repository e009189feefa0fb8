/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle/v7/v7_code.h"

void v7_drop_blx(uint8_t *code, uint32_t size, int thumb)
{
    for (unsigned i = 0; i + 4 <= size; i += thumb ? 2 : 4) {
        if (!thumb && code[i + 3] >> 1 == 0xfa >> 1)
            code[i + 3] = 0xea;
        if (thumb && (code[i + 1] & 0xf8) == 0xf0 && (code[i + 3] & 0xd0) == 0xc0)
            code[i + 3] |= 0x10;
    }
}

void v7_drop_odd_loads(uint8_t *code, uint32_t size)
{
    for (unsigned i = 0; i + 4 <= size; i += 2) {
        int is_load = (code[i] & 0xf0) == 0x50 && code[i + 1] == 0xf8 && (code[i + 3] & 0xf8) == 0xf8;
        int undefined = (code[i + 3] & 5) == 0;
        int unprivileged = (code[i + 3] & 7) == 6;
        if (is_load && (undefined || unprivileged))
            code[i + 3] &= 0xef;
    }
}
