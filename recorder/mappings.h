/* SPDX-License-Identifier: Apache-2.0 */
/* Which file lies where in the memory of the program: QEMU maps its files as they are, so the kernel's list
 * of this process has them. */
#ifndef RECORDER_MAPPINGS_H
#define RECORDER_MAPPINGS_H

#include <stdbool.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end; /* in this process */
    uint64_t offset;     /* in the file */
    char path[4096];
};

/* The mapping of a file at an address of this process. False: there is none, or the file was deleted. */
bool mapping_at(const void *address, struct mapping *out);

/* The same from the first to the last mapping of that file; `offset` is of the first one that was found. */
bool mapping_of_file(const void *address, struct mapping *out);

#endif
