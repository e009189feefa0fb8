/* SPDX-License-Identifier: Apache-2.0 */
#include "base/padding.h"

#include <stdint.h>
#include <string.h>

size_t ct_padding(const uint8_t *bytes, size_t size, bool wide)
{
    static const uint8_t words[][4] = {{0, 0, 0, 0},
                                       {0x1f, 0x20, 0x03, 0xd5},
                                       {0, 0, 0xa0, 0xe1},
                                       {0, 0xf0, 0x20, 0xe3},
                                       {0xaf, 0xf3, 0, 0x80}};
    const size_t count = wide ? 2 : sizeof words / sizeof *words;
    for (size_t i = 0; size >= 4 && i < count; i++)
        if (memcmp(bytes, words[i], 4) == 0)
            return 4;
    if (size >= 2 && !wide && ((bytes[0] == 0 && bytes[1] == 0xbf) || (bytes[0] == 0xc0 && bytes[1] == 0x46)))
        return 2;
    if (size >= 2 && !wide && bytes[0] == 0 && bytes[1] == 0)
        return 2;
    /* a zero byte may be the beginning of an instruction */
    return size > 0 && size < (wide ? 4 : 2) && bytes[0] == 0 ? 1 : 0;
}
