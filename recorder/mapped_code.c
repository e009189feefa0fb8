/* SPDX-License-Identifier: Apache-2.0 */
#include "mapped_code.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "send_files.h"

static void send_to_inbox(const char *name, int file)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    const size_t size = strlen(name);
    memcpy(to.sun_path + 1, name, size); /* after a zero: an abstract name */
    send_files(&to, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + size), &file, 1, 0,
               MSG_DONTWAIT);
}

static void find_jitdump(struct trace_area *area, int file)
{
    char link[64], found[4096], wanted[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file); /* the program's descriptors are QEMU's */
    const ssize_t length = readlink(link, found, sizeof found - 1);
    if (length <= 0)
        return;
    found[length] = 0;
    snprintf(wanted, sizeof wanted, "/jit-%d.dump", (int)getpid());
    const char *name = strrchr(found, '/');
    if (name && strcmp(name, wanted) == 0)
        memcpy(area->jitdump, found, (size_t)length + 1);
}

void mapped_code_look(struct trace_area *area, int64_t number, int arm32, uint64_t protection, uint64_t file)
{
    enum {
        A64_MMAP = 222,
        A32_MMAP2 = 192,
    };
    if (number != (arm32 ? A32_MMAP2 : A64_MMAP) || !(protection & PROT_EXEC) || (int)file < 0)
        return;
    if (*area->inbox)
        send_to_inbox(area->inbox, (int)file);
    find_jitdump(area, (int)file);
}
