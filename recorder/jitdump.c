/* SPDX-License-Identifier: Apache-2.0 */
#include "jitdump.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void jitdump_find(int64_t number, int arm32, uint64_t protection, uint64_t file, char *path, size_t size)
{
    enum {
        A64_MMAP = 222,
        A32_MMAP2 = 192,
    };
    char link[64], found[4096], wanted[64];
    if (number != (arm32 ? A32_MMAP2 : A64_MMAP) || !(protection & PROT_EXEC) || (int)file < 0)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", (int)file); /* the program's descriptors are QEMU's */
    const ssize_t length = readlink(link, found, sizeof found - 1);
    if (length <= 0 || (size_t)length >= size)
        return;
    found[length] = 0;
    snprintf(wanted, sizeof wanted, "/jit-%d.dump", (int)getpid());
    const char *name = strrchr(found, '/');
    if (name && strcmp(name, wanted) == 0)
        memcpy(path, found, (size_t)length + 1);
}
