/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet_ptm: the protocol packets of the Program Trace Macrocell (PTM) as plain
 * fixed-size records. Terms and encodings: Program Flow Trace Architecture Specification PFTv1.0
 * and PFTv1.1, ARM IHI 0035B, chapter 4.
 *
 *     ct_ptm_decoder_new(ctx, source, &decoder);
 *     used = ct_ptm_decode(decoder, bytes, size, 0, 1, packets, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("type %u\n", packets[i].type);
 *     ct_ptm_decoder_free(decoder); */
#ifndef CORETAP_PACKET_PTM_H
#define CORETAP_PACKET_PTM_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_ptm_type {
    CT_PTM_NOT_SYNC, /* bytes before an alignment packet; `value` is their number */
    CT_PTM_INCOMPLETE_EOT,
    CT_PTM_BAD_SEQUENCE,
    CT_PTM_RESERVED,
    CT_PTM_ASYNC,
    CT_PTM_ISYNC,
    CT_PTM_ATOM,
    CT_PTM_BRANCH_ADDRESS,
    CT_PTM_WP_UPDATE,
    CT_PTM_TRIGGER,
    CT_PTM_CTXTID,
    CT_PTM_VMID,
    CT_PTM_TIMESTAMP,
    CT_PTM_ERET,
    CT_PTM_IGNORE,
    CT_PTM_TYPE_COUNT,
};

enum ct_ptm_flag {
    CT_PTM_HAS_CC = 0x01,      /* `cc` is a cycle count, which may be 0 */
    CT_PTM_HAS_CTXT = 0x02,    /* i-sync: with a context ID */
    CT_PTM_HAS_SEC = 0x04,     /* i-sync, or an exception information byte: NS and HYP are from this packet */
    CT_PTM_HAS_EXC = 0x08,     /* `exc` is an exception number */
    CT_PTM_ISA_CHANGED = 0x10, /* this packet changes `isa` */
    CT_PTM_NS = 0x20,          /* non-secure state */
    CT_PTM_HYP = 0x40,         /* Hyp mode */
};

/* One packet. `type` decides which members are used; the others are 0.
 *   value   address, timestamp, VMID, bytes of a NOT_SYNC run
 *   atoms   bit i is atom i in order of execution, 1 = E; natoms of them */
struct ct_ptm_packet {
    uint64_t pos; /* of the first byte: stream position, or offset in the capture after translation */
    uint64_t value;
    uint32_t cc;   /* cycles */
    uint32_t ctxt; /* context ID */
    uint16_t exc;
    uint8_t type;  /* enum ct_ptm_type */
    uint8_t err;   /* enum ct_ptm_type announced by the header of a bad or cut packet */
    uint8_t size;  /* bytes in the trace; 0 for NOT_SYNC */
    uint8_t flags; /* enum ct_ptm_flag */
    uint8_t atoms;
    uint8_t natoms;
    uint8_t valid;  /* known low bits of the address, 32 when all are; for a timestamp: bits in the packet */
    uint8_t isa;    /* enum ct_v7_isa: of addresses */
    uint8_t reason; /* i-sync: enum ct_sync_reason */
    uint8_t pad[5];
};

struct ct_ptm_decoder;

/* Makes a decoder of one stream of `source`, which must be a PTM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_ptm_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_ptm_decoder **out);
CT_API void ct_ptm_decoder_free(struct ct_ptm_decoder *decoder);

/* Resets the decoder to the state after _new: not synchronised. */
CT_API void ct_ptm_decoder_reset(struct ct_ptm_decoder *decoder);

/* Decodes bytes into packets. data[0..size) begins at stream position `pos`, and `packets` has room for
 * `cap`; *count receives the number of packets. A packet cut by the end of the data is left for the next
 * call, which must pass its bytes again with more after them. With `final` no more come, and it becomes
 * INCOMPLETE_EOT. At most CT_PTM_PACKET_MAX bytes are ever left. Never fails: damage becomes packets. Returns
 * the number of bytes consumed. */
CT_API size_t ct_ptm_decode(struct ct_ptm_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                            int final, struct ct_ptm_packet *packets, size_t cap, size_t *count);

#define CT_PTM_PACKET_MAX 32

#ifdef __cplusplus
}
#endif
#endif
