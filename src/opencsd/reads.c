/* SPDX-License-Identifier: Apache-2.0 */
#include "opencsd/reads.h"

#include <string.h>

void ct_ocsd_reads_clear(struct ct_ocsd_reads *reads)
{
    reads->last += CT_OCSD_READS_KEPT; /* so that no number of before is kept again */
    reads->count = 0;
}

void ct_ocsd_reads_add(struct ct_ocsd_reads *reads, uint64_t addr)
{
    memmove(reads->addrs + 1, reads->addrs, (CT_OCSD_READS_KEPT - 1) * sizeof *reads->addrs);
    reads->addrs[0] = addr;
    reads->last++;
    reads->count += reads->count < CT_OCSD_READS_KEPT;
}

void ct_ocsd_reads_fail(struct ct_ocsd_reads *reads)
{
    reads->count -= reads->count == CT_OCSD_READS_KEPT;
}
