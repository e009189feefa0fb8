/* SPDX-License-Identifier: Apache-2.0 */
/* OpenCSD 1.3.3 lists the commits of a cycle count but does not carry them out (it puts nothing out for them,
 * and they never are more than there is), although IHI 0064H 6.4.7 says that they count like those of a
 * commit packet. For it they are spelled out: a commit packet with the same number is put behind the cycle
 * count. Not so with MAXSPEC 0: there all has been committed before, and formats 2 and 3 cannot say that
 * nothing is left; to coretap too such a commit is none. */
#ifndef CT_TEST_COMMITS_H
#define CT_TEST_COMMITS_H

#include "coretap/packet.h"

struct spelled {
    uint8_t *bytes;
    uint32_t *origin; /* of each byte, and of the end: its offset before; of what was put in, that of the
                         cycle count */
    size_t size, room;
    uint64_t count; /* commits put in, in all calls */
};

/* `packets` are those of bytes[0..size), a trace of `source`. */
void spell_commits(struct spelled *spelled, const struct ct_source *source, const uint8_t *bytes, size_t size,
                   const struct ct_etm4_packet *packets, size_t count);

void spelled_free(struct spelled *spelled);

#endif
