/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet: the protocol packets of a System Trace Macrocell as plain fixed-size records. Encodings:
 * MIPI System Trace Protocol version 2 (STPv2); what of it an Arm STM sends: ARM IHI 0054. */
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
    CT_STM_RESERVED, /* a header that is not defined, or one whose payload is not (TIME) */
    CT_STM_ASYNC,
    CT_STM_VERSION,
    CT_STM_NULL,
    CT_STM_FREQ,
    CT_STM_TRIG,
    CT_STM_GERR, /* an error of a master that is not known */
    CT_STM_MERR, /* an error of the current master */
    CT_STM_M8,
    CT_STM_M16, /* not of an Arm STM */
    CT_STM_C8,
    CT_STM_C16,
    CT_STM_FLAG,
    CT_STM_D4,
    CT_STM_D8,
    CT_STM_D16,
    CT_STM_D32,
    CT_STM_D64,
    CT_STM_USER,  /* not of an Arm STM; 1 to 16 units of payload */
    CT_STM_XSYNC, /* not of an Arm STM */
    CT_STM_TYPE_COUNT,
};

enum ct_stm_flag {
    CT_STM_HAS_TS = 1, /* `ts` came with this packet */
    CT_STM_MARKER = 2, /* data packets: marked */
    CT_STM_HALF = 4,   /* the packet begins in the high half of its first byte */
};

/* In `value` of a version packet: how timestamps are coded. Others are bad sequences. */
enum ct_stm_version {
    CT_STM_VERSION_DELTA = 2, /* difference to the last one. Not of an Arm STM */
    CT_STM_VERSION_NATURAL = 3,
    CT_STM_VERSION_GRAY = 4,
};

/* One packet. Members that do not count are 0.
 *   value   payload, first unit in the highest bits; bytes of a NOT_SYNC run
 *   ts      the complete timestamp in binary: bits that are not in the packet are those of the
 * last one */
struct ct_stm_packet {
    uint64_t pos; /* of the first byte, shared or not: stream position, or offset in the capture after
                     translation */
    uint64_t value;
    uint64_t ts;
    uint16_t master;  /* the master in force after this packet */
    uint16_t channel; /* the channel in force after this packet */
    uint8_t type;     /* enum ct_stm_type */
    uint8_t err;   /* enum ct_stm_type announced by the header of a bad or cut packet; RESERVED: none was */
    uint8_t size;  /* bytes in the trace, those shared with a neighbour included; 0 for NOT_SYNC */
    uint8_t units; /* 4-bit units of payload */
    uint8_t flags; /* enum ct_stm_flag */
    uint8_t pad[7];
};

struct ct_stm_decoder;

/* Makes a decoder of one stream of `source`, which must be an STM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_stm_decoder **out);
CT_API void ct_stm_decoder_free(struct ct_stm_decoder *decoder);

/* Takes the decoder back to the state after _new: not synchronised. */
CT_API void ct_stm_decoder_reset(struct ct_stm_decoder *decoder);

/* Decodes bytes into packets. data[0..size) lies at stream position `pos`, and `packets` has room for `cap`;
 * *count is how many there are. A packet cut by the end of the data, and a byte whose high half is still to
 * come, are left for the next call, which must present these bytes again with more behind them; with `final`
 * there is no more. At most CT_STM_PACKET_MAX bytes are ever left. Never fails: damage becomes packets.
 * Result: bytes that are done with. */
CT_API size_t ct_stm_decode(struct ct_stm_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                            int final, struct ct_stm_packet *packets, size_t cap, size_t *count);

/* Only alignment packets with surplus units are longer than 20 bytes. Of a longer row of them, units are
 * taken off as bad sequences. */
#define CT_STM_PACKET_MAX 64

#ifdef __cplusplus
}
#endif
#endif
