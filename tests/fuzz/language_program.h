/* SPDX-License-Identifier: Apache-2.0 */
/* The small program that texts in the small languages refer to: main calls work, which has a loop and in it
 * calls leaf, and then a function whose address is in a register. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "unit/elf_build.h"

static const uint32_t language_code[] = {
    0x94000002, /* 0 main: bl work */
    0xd65f03c0, /* 1: ret */
    0x52800013, /* 2 work: mov w19, #0 */
    0x94000009, /* 3: bl leaf */
    0x11000673, /* 4: add w19, w19, #1 */
    0x71002a7f, /* 5: cmp w19, #10 */
    0x54ffffa1, /* 6: b.ne 3 */
    0xd63f0020, /* 7: blr x1 */
    0xb4000040, /* 8: cbz x0, 10 */
    0xd61f0040, /* 9: br x2 */
    0xd65f03c0, /* 10: ret */
    0xd503201f, /* 11: nop */
    0xd503201f, /* 12 leaf: nop */
    0xd65f03c0, /* 13: ret */
};

static const struct test_symbol language_symbols[] = {
    {.name = "main", .value = 0x400000, .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "work", .value = 0x400008, .size = 36, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "leaf", .value = 0x400030, .size = 8, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
};

static inline void language_program(uint8_t file[ELF_SIZE])
{
    elf64_build(file, language_symbols, 3);
    memcpy(file + ELF_TEXT, language_code, sizeof language_code);
    ((Elf64_Ehdr *)file)->e_entry = 0x400000;
}

/* Returns the input as a text with a NUL, which the caller frees. */
static inline char *language_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        exit(1);
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}
