/* SPDX-License-Identifier: Apache-2.0 */
/* Inserts the commits that OpenCSD 1.3.3 leaves out. It lists the commits of a cycle count but does not carry
 * them out, although IHI 0064H 6.4.7 says that they count like those of a commit packet. Here each such cycle
 * count is followed by a commit packet with the same number. With MAXSPEC 0 nothing is inserted: there
 * everything is committed already, formats 2 and 3 cannot express zero commits, and coretap ignores such a
 * commit, too. */
#pragma once

#include "coretap/packet.h"

struct spelled {
    uint8_t *bytes;
    uint32_t *origin; /* of each byte, and of the end: its offset before; of an inserted byte, that of the
                       *                          cycle count */
    size_t size, room;
    uint64_t count; /* commits inserted in all calls */
};

/* Copies bytes[0..size), a trace of `source` whose packets are `packets`, with the commits inserted. */
void spell_commits(struct spelled *spelled, const struct ct_source *source, const uint8_t *bytes, size_t size,
                   const struct ct_etm4_packet *packets, size_t count);

void spelled_free(struct spelled *spelled);
