/* SPDX-License-Identifier: Apache-2.0 */
/* What an operating system does to address spaces in use, for tests that drive the simulated cluster. A
 * function that does not apply does nothing and returns 0. */
#pragma once

#include "soc/soc.h"

/* Maps the page of `from` a second time at `to`. */
int soc_mm_alias(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint32_t to_pid,
                 uint64_t to);

/* Joins pages into a block of the level above the last. */
int soc_mm_merge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Maps a group of pages with the contiguous hint. */
int soc_mm_map_contiguous(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Frees the last-level table of an address with all its pages. */
int soc_mm_reclaim_table(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Clears the access flag of a page without telling the TLBs, as Linux does. */
int soc_mm_age(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
