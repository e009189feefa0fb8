/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cluster beyond its public header: its latencies, its clock, and what its operating system
 * does. */
#ifndef CT_SOC_H
#define CT_SOC_H

#include "coretap/soc.h"

/* Cycles of the cores' clock. docs/fractal.md says where the numbers come from. */
struct ct_soc_latency {
    uint16_t issue, l2, row_hit, row_miss, snoop, command, tlbi, fault, burst;
};
extern const struct ct_soc_latency ct_soc_latency;

/* Replaces zeros by defaults, but for the seed, where 0 is a number like another. */
void ct_soc_config_fill(struct ct_soc_config *config);

/* ---- processes ---- */

/* Returns 1 when the last-level cache holds the line. */
int ct_soc_cached(const struct ct_soc *soc, uint64_t pa);

/* ---- what an operating system does; 0 when it does not apply (tests/support/soc_mm.h has more of it) ----
 */

/* Splits a block of the level above the last into pages. */
int ct_soc_split(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Gives every process a new address space ID. */
void ct_soc_asid_rollover(struct ct_soc *soc);

#endif
