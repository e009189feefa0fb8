/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's user emulation for each machine with recordable programs. */
#pragma once

#include <elf.h>
#include <stddef.h>
#include <string.h>

struct emulator {
    unsigned machine;    /* e_machine of its programs' files */
    unsigned char class; /* EI_CLASS of its programs' files */
    const char *command;
    const char *sysroot; /* Debian's folder with libraries for this machine */
    const char *visible; /* processor for memory accesses: QEMU's default without SVE, whose loads and stores
                            QEMU does not report to plugins; NULL: the default itself */
};

static const struct emulator emulators[] = {
    {EM_AARCH64, ELFCLASS64, "qemu-aarch64", "/usr/aarch64-linux-gnu", "max,sve=off"},
    {EM_ARM, ELFCLASS32, "qemu-arm", "/usr/arm-linux-gnueabihf", NULL},
};

/* Bytes of a file that determine its machine. */
#define EMULATOR_HEAD 20

/* Returns the emulator for a program with these first bytes of its file; NULL for another machine, or when it
 * is no program. */
static inline const struct emulator *emulator_of(const unsigned char *head, size_t size)
{
    if (size < EMULATOR_HEAD || memcmp(head, ELFMAG, SELFMAG) != 0 || head[EI_DATA] != ELFDATA2LSB)
        return NULL;
    for (size_t i = 0; i < sizeof emulators / sizeof *emulators; i++)
        if ((head[18] | (unsigned)head[19] << 8) == emulators[i].machine &&
            head[EI_CLASS] == emulators[i].class)
            return &emulators[i];
    return NULL;
}
