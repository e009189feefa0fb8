/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files mapped in the program's memory: QEMU maps them as they are, so they are in the kernel's
 * list for this process. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A file that is mapped. */
struct mapping {
    uint64_t start, end; /* addresses in this process */
    uint64_t offset;     /* offset in the file */
    uint64_t inode;
    char path[4096]; /* ends with " (deleted)" when the file was deleted */
};

/* Finds the mapping of a file at an address of this process. Returns false when there is none. */
bool mapping_at(const void *address, struct mapping *out);

/* Does what mapping_at does, from the first to the last mapping of that file; `offset` is that of the mapping
 * found first. Returns false when the file was deleted, too. */
bool mapping_of_file(const void *address, struct mapping *out);
