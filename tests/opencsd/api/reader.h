/* SPDX-License-Identifier: Apache-2.0 */
/* A decoder of the client's own that does nothing but read memory through the library. */
#ifndef CT_TEST_OPENCSD_READER_H
#define CT_TEST_OPENCSD_READER_H

#include "opencsd/api/api.h"

/* Adds it to a tree. */
void reader_add(dcd_tree_handle_t tree);

/* Reads memory in the last tree that it was added to, and prints what came of it. Up to 1024 bytes. */
void reader_read(uint64_t addr, ocsd_mem_space_acc_t space, uint32_t size);

#endif
