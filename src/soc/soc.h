/* SPDX-License-Identifier: Apache-2.0 */
/* The simulated cluster beyond its public header: its latencies, its clock, and operations of its operating
 * system. */
#pragma once

#include "coretap/soc.h"

/* Cycles of the cores' clock. docs/fractal.md names the sources of the numbers. */
struct ct_soc_latency {
    uint16_t issue, l2, row_hit, row_miss, snoop, command, tlbi, fault, burst;
};
extern const struct ct_soc_latency ct_soc_latency;

/* Replaces zeros by defaults, except the seed, where 0 is a valid value. */
void ct_soc_config_fill(struct ct_soc_config *config);

/* ---- processes ---- */

/* Returns 1 when the last-level cache has the line. */
int ct_soc_cached(const struct ct_soc *soc, uint64_t pa);

/* ---- operations of an operating system; 0 when they do not apply (more are in tests/support/soc_mm.h)
 * ---- */

/* Splits a block of the level above the last into pages. */
int ct_soc_split(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t va);

/* Gives every process a new address space ID. */
void ct_soc_asid_rollover(struct ct_soc *soc);
