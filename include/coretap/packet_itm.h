/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet_itm: the protocol packets of an ITM and its DWT as plain fixed-size records. Encodings:
 * ARMv7-M ARM DDI 0403E, appendix D4; ARMv8-M ARM DDI 0553, part D (the same packets).
 *
 *     ct_itm_decoder_new(ctx, source, &decoder);
 *     used = ct_itm_decode(decoder, bytes, size, 0, 1, packets, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("type %u\n", packets[i].type);
 *     ct_itm_decoder_free(decoder); */
#ifndef CORETAP_PACKET_ITM_H
#define CORETAP_PACKET_ITM_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_itm_type {
    CT_ITM_NOT_SYNC, /* bytes before an alignment packet; `value` is their number */
    CT_ITM_INCOMPLETE_EOT,
    CT_ITM_BAD_SEQUENCE,
    CT_ITM_RESERVED,
    CT_ITM_ASYNC,
    CT_ITM_OVERFLOW,
    CT_ITM_SWIT,      /* written by software to a stimulus port */
    CT_ITM_DWT,       /* hardware source */
    CT_ITM_TS_LOCAL,  /* cycles since the last one, prescaled */
    CT_ITM_GTS_1,     /* global timestamp, bits 25:0 */
    CT_ITM_GTS_2,     /* global timestamp, bits 47:26 or 63:26 */
    CT_ITM_EXTENSION, /* of the stimulus port number, or of what follows */
    CT_ITM_TYPE_COUNT,
};

/* Flags of global timestamps and extensions. */
enum ct_itm_flag {
    CT_ITM_CLOCK_CHANGED = 1, /* the frequency of the clock changed */
    CT_ITM_WRAP = 2,          /* the bits above 25 changed: a second packet follows */
    CT_ITM_PAGE = 4,          /* extension: `value` is the page of stimulus ports from here on */
    CT_ITM_HARDWARE = 8,      /* extension: of the hardware source */
};

/* One packet. Unused members are 0.
 *   value   payload; bits of a timestamp that are in this packet (GTS_2: not shifted); bytes of a NOT_SYNC
 *           run
 *   source  SWIT: port, low five bits; DWT: discriminator; TS_LOCAL: TC, the relation of the timestamp to
 *           the packet before it (0 at the same time, 1 timestamp delayed, 2 packet delayed, 3 both) */
struct ct_itm_packet {
    uint64_t pos; /* of the first byte: stream position, or offset in the capture after translation */
    uint64_t value;
    uint16_t size; /* bytes in the trace; 0 for NOT_SYNC */
    uint8_t type;  /* enum ct_itm_type */
    uint8_t err;   /* enum ct_itm_type announced by the header of a bad or cut packet */
    uint8_t source;
    uint8_t bits;   /* of payload: SWIT, DWT 8, 16, 32; EXTENSION 3, 10, 17, 24, 32 */
    uint8_t flags;  /* enum ct_itm_flag */
    uint8_t header; /* the header byte */
};

struct ct_itm_decoder;

/* Makes a decoder of one stream of `source`, which must be an ITM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_itm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_itm_decoder **out);
CT_API void ct_itm_decoder_free(struct ct_itm_decoder *decoder);

/* Resets the decoder to the state after _new: not synchronised, unless the source is without_sync. */
CT_API void ct_itm_decoder_reset(struct ct_itm_decoder *decoder);

/* Decodes bytes into packets. data[0..size) begins at stream position `pos`, and `packets` has room for
 * `cap`; *count receives the number of packets. A packet cut by the end of the data is left for the next
 * call, which must pass its bytes again with more after them. With `final` no more come, and it becomes
 * INCOMPLETE_EOT. At most CT_ITM_PACKET_MAX bytes are ever left. Never fails: damage becomes packets. Returns
 * the number of bytes consumed. */
CT_API size_t ct_itm_decode(struct ct_itm_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                            int final, struct ct_itm_packet *packets, size_t cap, size_t *count);

/* Maximal size of a packet. Only alignment packets with extra zeros are longer than 7 bytes. Of a longer row
 * of zeros, the beginning belongs to the run without synchronisation, or becomes a bad sequence. */
#define CT_ITM_PACKET_MAX 256

#ifdef __cplusplus
}
#endif
#endif
