/* SPDX-License-Identifier: Apache-2.0 */
/* A custom decoder that only reads memory through the library. */
#pragma once

#include "opencsd/api/api.h"

/* Adds the decoder to a tree. */
void reader_add(dcd_tree_handle_t tree);

/* Reads at most 1024 bytes of memory in the tree that the decoder was last added to, and prints the
 * result. */
void reader_read(uint64_t addr, ocsd_mem_space_acc_t space, uint32_t size);
