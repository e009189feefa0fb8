/* SPDX-License-Identifier: Apache-2.0 */
#include "format/it_block.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

/* most bytes from an IT instruction to the last one of its block */
#define LONGEST_BLOCK 14u

/* Returns whether an instruction with this first halfword has two halfwords. Second halfwords may look the
 * same. */
static bool is_wide(const uint8_t *halfword)
{
    return ct_load16(halfword) >> 11 >= 29;
}

static bool is_it(const uint8_t *halfword)
{
    return halfword[1] == 0xbf && halfword[0] & 15;
}

/* Returns whether an instruction begins at an offset. One begins behind each halfword that is not wide, and
 * wide halfwords from there on form pairs. */
static bool begins(const uint8_t *code, size_t offset)
{
    size_t at = offset;
    while (at && is_wide(code + at - 2))
        at -= 2;
    return (offset - at) % 4 == 0;
}

/* Returns the ITSTATE after the code from an IT instruction up to an offset, or 0 when its block has
 * ended. */
static uint8_t state_behind(const uint8_t *code, size_t it_offset, size_t offset)
{
    uint8_t state = code[it_offset];
    size_t at = it_offset + 2;
    for (; at < offset && state; at += is_wide(code + at) ? 4 : 2)
        state = state & 7 ? (uint8_t)((state & 0xe0) | (state << 1 & 0x1f)) : 0;
    return at == offset ? state : 0;
}

uint8_t ct_it_block_at(const struct ct_memory *memory, uint32_t space, uint64_t from, uint64_t addr)
{
    const uint8_t *code = NULL;
    size_t known = addr - from < CT_IT_BLOCK_WINDOW ? (size_t)(addr - from) & ~(size_t)1 : CT_IT_BLOCK_WINDOW;
    for (size_t size = 0; known; known -= 2) {
        code = ct_memory_at(memory, addr - known, space, &size);
        if (code && size >= known)
            break;
    }
    uint8_t state = 0;
    for (size_t back = 2; back <= known && back <= LONGEST_BLOCK && !state; back += 2)
        if (is_it(code + known - back) && begins(code, known - back))
            state = state_behind(code, known - back, known);
    return state;
}
