/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of a program with four functions. */
#pragma once

#include "elf_build.h"

#define TEXT UINT64_C(0x400000)
#define MAIN (TEXT + 0x00)
#define WORK (TEXT + 0x20)
#define LEAF (TEXT + 0x40)
#define IRQ  (TEXT + 0x60)

static const struct test_symbol four_functions[] = {
    {.name = "main", .value = MAIN, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "work", .value = WORK, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "leaf", .value = LEAF, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "irq", .value = IRQ, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
};
