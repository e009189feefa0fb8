/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of one trace ID, one packet after the other: what a packet lacks at the end of a call is kept up
 * to the next. A packet's place is the trace index of its first byte, which frames set apart. */
#ifndef CT_OPENCSD_FEED_H
#define CT_OPENCSD_FEED_H

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum {
    CT_OCSD_PACKET_MAX = 4096,                   /* bytes of a packet that can be cut */
    CT_OCSD_FEED_ROOM = CT_OCSD_PACKET_MAX + 32, /* bytes of such a packet and of the frame that ends it */
};

/* Decodes one packet, as the functions of packet.h do with room for one. `packet` is of the protocol's type.
 */
typedef size_t ct_ocsd_decode_fn(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,
                                 void *packet, size_t *count);

struct ct_ocsd_feed {
    ct_ocsd_decode_fn *decode;
    void *decoder;
    uint64_t pos;  /* stream position of the first byte that no packet has */
    uint32_t size; /* bytes that are kept */
    uint8_t bytes[CT_OCSD_FEED_ROOM];
    ocsd_trc_index_t indices[CT_OCSD_FEED_ROOM];
    uint8_t last[CT_OCSD_FEED_ROOM]; /* bytes of the packet that came out last, when some were kept */
};

/* A packet that came out, and where. */
struct ct_ocsd_fed {
    bool have;              /* there is one */
    ocsd_trc_index_t first; /* index of the first byte that was taken */
    uint64_t taken;         /* bytes that are done with */
    uint32_t kept;          /* of them, those kept from the call before */
    const uint8_t
        *bytes; /* those that are done with, and what the decoder saw behind them, until the next call */
};

/* Takes bytes that lie side by side from `index` on, up to the end of one packet. Returns how many were
 * taken; when no packet came out that is all of them. */
uint32_t ct_ocsd_feed_next(struct ct_ocsd_feed *feed, const uint8_t *data, uint32_t size,
                           ocsd_trc_index_t index, void *packet, struct ct_ocsd_fed *fed);

/* Keeps the byte behind the last packet, which has a part of it, for the next one. Returns 1, or 0 when it is
 * kept already. */
uint32_t ct_ocsd_feed_share(struct ct_ocsd_feed *feed, uint8_t byte, ocsd_trc_index_t index);

/* Ends the stream: a packet that is cut comes out. Returns true when there was one. */
bool ct_ocsd_feed_finish(struct ct_ocsd_feed *feed, void *packet, struct ct_ocsd_fed *fed);

/* Forgets what is kept. */
void ct_ocsd_feed_reset(struct ct_ocsd_feed *feed);

#endif
