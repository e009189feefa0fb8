/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a part of a file, and writes to one. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Reads `size` bytes at an offset, or fewer where the file ends before. Returns their number, or -1 with
 * errno. */
ssize_t ct_read_at(int fd, void *bytes, size_t size, uint64_t offset);

/* Writes all bytes. Returns 0 or an errno value. */
int ct_write_all(int fd, const void *bytes, size_t size);
