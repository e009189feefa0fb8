/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of hash tables. */
#ifndef CT_BASE_TABLE_MEMORY_H
#define CT_BASE_TABLE_MEMORY_H

#include <stddef.h>

/* Allocates zeros as calloc does, with the pages of a large table ready to be written. A table is read before
 * it is written: pages that calloc leaves to the kernel would fault twice, and the second fault interrupts
 * all threads of the process. A table that fills large pages is in large pages, as that of
 * ct_table_of_records. Result: to be freed with free, or NULL. */
void *ct_table_memory(size_t count, size_t size);

/* Allocates memory that is not cleared, aligned to cache lines, for records that are looked up in no order.
 * Large tables are in large pages where the kernel has some: with small ones the processor looks for the page
 * of nearly each record, too. Result: to be freed with free, or NULL. */
void *ct_table_of_records(size_t count, size_t size);

/* Gets the memory of a table in the same way, and clears it. */
void *ct_table_of_zeros(size_t count, size_t size);

/* Makes an array larger, from `count` records of `size` bytes to `more`; NULL and 0 are an array without
 * memory. What is added is zeros. A large array keeps its pages: nothing is copied, in whichever thread.
 * Result: to be freed with ct_array_free, or NULL, and the array is as before. */
void *ct_array_grow(void *array, size_t count, size_t more, size_t size);

/* Frees an array of `count` records of `size` bytes that ct_array_grow made. */
void ct_array_free(void *array, size_t count, size_t size);

#endif
