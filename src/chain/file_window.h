/* SPDX-License-Identifier: Apache-2.0 */
/* A mapped part of a file: bytes are used from the kernel's memory without a copy. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A window. All zero: nothing is mapped yet. */
struct ct_file_window {
    uint8_t *map;
    uint64_t at; /* offset of the first byte that is mapped */
    size_t size;
};

/* Returns `size` bytes of a file at `offset`, borrowed until the next call. NULL with errno 0 when the file
 * is too short, or with the reason why it cannot be mapped. If the file is truncated afterwards, an access
 * raises SIGBUS. */
const uint8_t *ct_file_window_at(struct ct_file_window *window, int fd, uint64_t offset, size_t size);

/* Unmaps the window. */
void ct_file_window_close(struct ct_file_window *window);
