/* SPDX-License-Identifier: Apache-2.0 */
/* Splits the bytes of one trace ID into packets. Bytes of an incomplete packet at the end of a call are kept
 * for the next call. A packet's index is the trace index of its first byte; in framed trace, indices have
 * gaps. */
#pragma once

#include <opencsd/c_api/opencsd_c_api.h>
#include <stdbool.h>

enum {
    CT_OCSD_PACKET_MAX = 4096,                   /* longest packet that can be split between calls */
    CT_OCSD_FEED_ROOM = CT_OCSD_PACKET_MAX + 32, /* bytes of such a packet and of the frame that completes
                                                  * it */
};

/* Decodes one packet, like the functions of packet.h with room for one. `packet` has the protocol's type. */
typedef size_t ct_ocsd_decode_fn(void *decoder, const uint8_t *data, size_t size, uint64_t pos, int final,
                                 void *packet, size_t *count);

struct ct_ocsd_feed {
    ct_ocsd_decode_fn *decode;
    void *decoder;
    uint64_t pos;  /* stream position of the first byte not in a packet yet */
    uint32_t size; /* number of kept bytes */
    uint8_t bytes[CT_OCSD_FEED_ROOM];
    ocsd_trc_index_t indices[CT_OCSD_FEED_ROOM];
    uint8_t last[CT_OCSD_FEED_ROOM]; /* bytes of the last packet, if some had been kept */
};

/* A decoded packet and its bytes. */
struct ct_ocsd_fed {
    bool have;              /* a packet was decoded */
    ocsd_trc_index_t first; /* index of the first byte that was taken */
    uint64_t taken;         /* bytes finished */
    uint32_t kept;          /* how many of these were kept from the previous call */
    const uint8_t
        *bytes; /* the finished bytes, followed by what else the decoder saw; valid until the next call */
};

/* Takes bytes that are contiguous from `index` on, up to the end of one packet. Returns how many were taken;
 * without a packet all of them. */
uint32_t ct_ocsd_feed_next(struct ct_ocsd_feed *feed, const uint8_t *data, uint32_t size,
                           ocsd_trc_index_t index, void *packet, struct ct_ocsd_fed *fed);

/* Keeps the byte after the last packet for the next packet, because both share it. Returns 1, or 0 if it is
 * kept already. */
uint32_t ct_ocsd_feed_share(struct ct_ocsd_feed *feed, uint8_t byte, ocsd_trc_index_t index);

/* Ends the stream: outputs an incomplete packet. Returns whether there was one. */
bool ct_ocsd_feed_finish(struct ct_ocsd_feed *feed, void *packet, struct ct_ocsd_fed *fed);

/* Drops the kept bytes. */
void ct_ocsd_feed_reset(struct ct_ocsd_feed *feed);
