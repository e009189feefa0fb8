/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of hash tables. */
#ifndef CT_BASE_TABLE_MEMORY_H
#define CT_BASE_TABLE_MEMORY_H

#include <stddef.h>

/* Allocates zeros as calloc does, with the pages of a large table ready to be written. A table is read before
 * it is written: pages that calloc leaves to the kernel would fault twice, and the second fault interrupts
 * all threads of the process. Result: to be freed with free, or NULL. */
void *ct_table_memory(size_t count, size_t size);

#endif
