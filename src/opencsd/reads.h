/* SPDX-License-Identifier: Apache-2.0 */
/* The reads of code that OpenCSD 1.3.3 would have made. It asks for 256 bytes from the address that it lacks,
 * and keeps the last twelve answers until the context changes. A client may answer with bytes of behind the
 * end of memory, as perf does with those of a file behind its mapping. 1.3.3 follows code there as long as it
 * keeps the answer. Here only the addresses are kept. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    CT_OCSD_READ_SIZE = 256, /* bytes that are asked for */
    CT_OCSD_READ_NEED = 4,   /* bytes needed of each instruction */
    CT_OCSD_READS_KEPT = 12,
};

struct ct_ocsd_reads {
    uint32_t last;                      /* number of the newest read; numbers wrap */
    uint32_t count;                     /* reads that are kept: numbers last, last - 1 and so on */
    uint64_t addrs[CT_OCSD_READS_KEPT]; /* their addresses, newest first */
};

/* Drops all reads. */
void ct_ocsd_reads_clear(struct ct_ocsd_reads *reads);

/* Adds a read, in place of the oldest. */
void ct_ocsd_reads_add(struct ct_ocsd_reads *reads, uint64_t addr);

/* Notes a read that got no answer: 1.3.3 drops the oldest for it when it keeps as many as it can. */
void ct_ocsd_reads_fail(struct ct_ocsd_reads *reads);

/* Returns whether the read with this number is kept. */
static inline bool ct_ocsd_reads_keeps(const struct ct_ocsd_reads *reads, uint32_t number)
{
    return reads->last - number < reads->count;
}

/* Returns how many reads are newer than one that has an instruction at `addr`; CT_OCSD_READS_KEPT: there is
 * none. */
static inline uint32_t ct_ocsd_reads_find(const struct ct_ocsd_reads *reads, uint64_t addr)
{
    for (uint32_t i = 0; i < reads->count; i++)
        if (addr - reads->addrs[i] <= CT_OCSD_READ_SIZE - CT_OCSD_READ_NEED)
            return i;
    return CT_OCSD_READS_KEPT;
}
