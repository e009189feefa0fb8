/* SPDX-License-Identifier: Apache-2.0 */
/* QEMU's user emulation for each machine whose programs can be recorded. */
#ifndef RECORDER_EMULATORS_H
#define RECORDER_EMULATORS_H

#include <elf.h>
#include <stddef.h>
#include <string.h>

struct emulator {
    unsigned machine;    /* e_machine of its programs' files … */
    unsigned char class; /* … and EI_CLASS */
    const char *command;
    const char *sysroot; /* where Debian has the libraries of programs for this machine */
};

static const struct emulator emulators[] = {
    {EM_AARCH64, ELFCLASS64, "qemu-aarch64", "/usr/aarch64-linux-gnu"},
    {EM_ARM, ELFCLASS32, "qemu-arm", "/usr/arm-linux-gnueabihf"},
};

/* Bytes of a file that tell its machine. */
#define EMULATOR_HEAD 20

/* Returns the emulator of a program by the first bytes of its file; NULL when it is for another machine, or
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

#endif
