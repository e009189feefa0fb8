/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of hash tables. */
#pragma once

#include <stddef.h>

/* Allocates zeros like calloc, with the pages of a large table ready to be written. A table is read before it
 * is written: pages that calloc leaves to the kernel would fault twice, and the second fault interrupts all
 * threads of the process. A table that fills large pages uses them, like ct_table_of_records. Returns memory
 * to be freed with free, or NULL. */
void *ct_table_memory(size_t count, size_t size);

/* Allocates uncleared memory, aligned to cache lines, for records that are accessed in random order. Large
 * tables use large pages where the kernel has them: with small ones the processor also searches the page of
 * nearly every record. Returns memory to be freed with free, or NULL. */
void *ct_table_of_records(size_t count, size_t size);

/* Allocates the memory of a table like ct_table_of_records, and clears it. */
void *ct_table_of_zeros(size_t count, size_t size);

/* Grows an array from `count` to `more` records of `size` bytes; NULL and 0 are an empty array. New records
 * are zeros. A large array keeps its pages: nothing is copied, in any thread. Returns memory to be freed with
 * ct_array_free, or NULL, when the array does not change. */
void *ct_array_grow(void *array, size_t count, size_t more, size_t size);

/* Frees an array of `count` records of `size` bytes that ct_array_grow made. */
void ct_array_free(void *array, size_t count, size_t size);
