/* SPDX-License-Identifier: Apache-2.0 */
/* A part of a file, mapped: bytes are used where the kernel holds them and not copied. */
#ifndef CT_CHAIN_FILE_WINDOW_H
#define CT_CHAIN_FILE_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero: nothing is mapped yet. */
struct ct_file_window {
    uint8_t *map;
    uint64_t at; /* offset of the first byte that is mapped */
    size_t size;
};

/* Returns `size` bytes of a file at `offset`, borrowed until the next call. NULL with errno 0 when the file
 * is shorter than that, or with the cause why it cannot be mapped. Whoever makes the file shorter afterwards
 * makes an access a SIGBUS. */
const uint8_t *ct_file_window_at(struct ct_file_window *window, int fd, uint64_t offset, size_t size);

/* Unmaps what is mapped. */
void ct_file_window_close(struct ct_file_window *window);

#endif
