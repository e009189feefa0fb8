/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulated cluster: what an operating system does beside the calls of the public header, for
 * tests that drive it. */
#ifndef CT_SOC_H
#define CT_SOC_H

#include "coretap/soc.h"

/* Cycles of the cores' clock. docs/fractal.md says where the numbers come from. */
struct ct_soc_latency {
    uint16_t issue, l2, row_hit, row_miss, snoop, command, tlbi, fault;
};
extern const struct ct_soc_latency ct_soc_latency;

uint64_t ct_soc_now(const struct ct_soc *soc);

/* ---- processes ---- */

void ct_soc_exit(struct ct_soc *soc, unsigned core, uint32_t pid);

/* 1 when the last-level cache holds the line. */
int ct_soc_cached(const struct ct_soc *soc, uint64_t pa);

/* ---- what an operating system does; 0 when it does not apply ---- */

/* Maps the page of `from` a second time at `to`. */
int ct_soc_alias(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t from, uint32_t to_pid,
                 uint64_t to);
/* Copies the address space; pages become copy-on-write. Returns the child. */
uint32_t ct_soc_fork(struct ct_soc *soc, unsigned core, uint32_t pid);
/* Moves a page. Between begin and end cores go on with what their TLBs hold. */
int ct_soc_migrate_begin(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_migrate_end(struct ct_soc *soc, unsigned core);
/* A block of the level above the last: maps one, splits one into pages, joins pages into one. */
int ct_soc_map_huge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_split(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
int ct_soc_merge(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* A group of pages with the contiguous hint. */
int ct_soc_map_contiguous(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* Frees the last-level table of va with all its pages. */
int ct_soc_reclaim_table(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
/* Pages age: clears the access flag without telling the TLBs, as Linux does. */
int ct_soc_age(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);
void ct_soc_asid_rollover(struct ct_soc *soc);

#endif
