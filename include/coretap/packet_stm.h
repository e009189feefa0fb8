/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet_stm: the protocol packets of a System Trace Macrocell as plain fixed-size records.
 * Encodings: MIPI System Trace Protocol version 2 (STPv2); ARM IHI 0054 says which of them an Arm STM
 * sends.
 *
 *     ct_stm_decoder_new(ctx, source, &decoder);
 *     used = ct_stm_decode(decoder, bytes, size, 0, 1, packets, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("type %u\n", packets[i].type);
 *     ct_stm_decoder_free(decoder); */
#ifndef CORETAP_PACKET_STM_H
#define CORETAP_PACKET_STM_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_stm_type {
    CT_STM_NOT_SYNC, /* bytes before an alignment packet; `value` is their number */
    CT_STM_INCOMPLETE_EOT,
    CT_STM_BAD_SEQUENCE,
    CT_STM_RESERVED, /* an undefined header, or one whose payload is undefined (TIME) */
    CT_STM_ASYNC,
    CT_STM_VERSION,
    CT_STM_NULL,
    CT_STM_FREQ,
    CT_STM_TRIG,
    CT_STM_GERR, /* an error of an unknown master */
    CT_STM_MERR, /* an error of the current master */
    CT_STM_M8,
    CT_STM_M16, /* not sent by an Arm STM */
    CT_STM_C8,
    CT_STM_C16,
    CT_STM_FLAG,
    CT_STM_D4,
    CT_STM_D8,
    CT_STM_D16,
    CT_STM_D32,
    CT_STM_D64,
    CT_STM_USER,  /* not sent by an Arm STM; 1 to 16 units of payload */
    CT_STM_XSYNC, /* not sent by an Arm STM */
    CT_STM_TYPE_COUNT,
};

enum ct_stm_flag {
    CT_STM_HAS_TS = 1, /* `ts` is from this packet */
    CT_STM_MARKER = 2, /* data packets: marked */
    CT_STM_HALF = 4,   /* the packet begins in the high half of its first byte */
};

/* Encoding of timestamps, in `value` of a version packet. Other values are bad sequences. */
enum ct_stm_version {
    CT_STM_VERSION_DELTA = 2, /* difference to the last one. Not sent by an Arm STM */
    CT_STM_VERSION_NATURAL = 3,
    CT_STM_VERSION_GRAY = 4,
};

/* One packet. Unused members are 0.
 *   value   payload, first unit in the highest bits; bytes of a NOT_SYNC run
 *   ts      the complete timestamp in binary: bits that are not in the packet are those of the last one */
struct ct_stm_packet {
    uint64_t pos; /* of the first byte, shared or not: stream position, or offset in the capture after
                     translation */
    uint64_t value;
    uint64_t ts;
    uint16_t master;  /* the master after this packet */
    uint16_t channel; /* the channel after this packet */
    uint8_t type;     /* enum ct_stm_type */
    uint8_t err;      /* enum ct_stm_type announced by the header of a bad or cut packet; RESERVED: none */
    uint8_t size;     /* bytes in the trace, including those shared with a neighbour; 0 for NOT_SYNC */
    uint8_t units;    /* 4-bit units of payload */
    uint8_t flags;    /* enum ct_stm_flag */
    uint8_t pad[7];
};

struct ct_stm_decoder;

/* Makes a decoder of one stream of `source`, which must be an STM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_stm_decoder **out);
CT_API void ct_stm_decoder_free(struct ct_stm_decoder *decoder);

/* Resets the decoder to the state after _new: not synchronised. */
CT_API void ct_stm_decoder_reset(struct ct_stm_decoder *decoder);

/* Decodes bytes into packets. data[0..size) begins at stream position `pos`, and `packets` has room for
 * `cap`; *count receives the number of packets. A packet cut by the end of the data, and a byte whose high
 * half is still to come, are left for the next call, which must pass these bytes again with more after them.
 * With `final` no more come. At most CT_STM_PACKET_MAX bytes are ever left. Never fails: damage becomes
 * packets. Returns the number of bytes consumed. */
CT_API size_t ct_stm_decode(struct ct_stm_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                            int final, struct ct_stm_packet *packets, size_t cap, size_t *count);

/* Maximal size of a packet. Only alignment packets with extra units are longer than 20 bytes. Of a longer
 * row, the surplus units become bad sequences. */
#define CT_STM_PACKET_MAX 64

#ifdef __cplusplus
}
#endif
#endif
