/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet_etm3: the protocol packets of ETMv3.0 to ETMv3.5 as plain fixed-size records. Terms and
 * encodings: Embedded Trace Macrocell Architecture Specification, ARM IHI 0014Q, chapter 7.
 *
 *     ct_etm3_decoder_new(ctx, source, &decoder);
 *     used = ct_etm3_decode(decoder, bytes, size, 0, 1, packets, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("type %u\n", packets[i].type);
 *     ct_etm3_decoder_free(decoder); */
#ifndef CORETAP_PACKET_ETM3_H
#define CORETAP_PACKET_ETM3_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/packet.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_etm3_type {
    CT_ETM3_NOT_SYNC, /* bytes before an alignment packet; `value` is their number */
    CT_ETM3_BAD_SEQUENCE,
    CT_ETM3_BAD_TRACEMODE, /* a data packet although the registers say that no data is traced */
    CT_ETM3_RESERVED,
    CT_ETM3_A_SYNC,
    CT_ETM3_I_SYNC,
    CT_ETM3_I_SYNC_CYCLE,
    CT_ETM3_P_HDR,
    CT_ETM3_BRANCH_ADDRESS,
    CT_ETM3_CYCLE_COUNT,
    CT_ETM3_TRIGGER,
    CT_ETM3_CONTEXT_ID,
    CT_ETM3_VMID,
    CT_ETM3_TIMESTAMP,
    CT_ETM3_EXCEPTION_ENTRY,
    CT_ETM3_EXCEPTION_EXIT,
    CT_ETM3_NORM_DATA,
    CT_ETM3_OOO_DATA,
    CT_ETM3_OOO_ADDR_PLC,
    CT_ETM3_VAL_NOT_TRACED,
    CT_ETM3_STORE_FAIL,
    CT_ETM3_DATA_SUPPRESSED,
    CT_ETM3_IGNORE,
    CT_ETM3_TYPE_COUNT,
};

enum ct_etm3_flag {
    CT_ETM3_HAS_ADDR = 0x001,    /* `value` is an address: of an instruction, of data in data packets */
    CT_ETM3_HAS_CURR = 0x002,    /* i-sync with a load or store in progress: `curr` is the current address */
    CT_ETM3_HAS_CTXT = 0x004,    /* i-sync: with a context ID */
    CT_ETM3_HAS_SEC = 0x008,     /* NS and HYP are from this packet */
    CT_ETM3_HAS_EXC = 0x010,     /* `exc` is an exception number */
    CT_ETM3_HAS_DATA = 0x020,    /* `data` is a value of a data transfer */
    CT_ETM3_ISA_CHANGED = 0x040, /* this packet changes `isa` */
    CT_ETM3_NS = 0x080,          /* non-secure state */
    CT_ETM3_HYP = 0x100,         /* Hyp mode */
    CT_ETM3_CANCEL = 0x200,      /* branch: the last instruction was cancelled */
    CT_ETM3_BIG_ENDIAN = 0x400,  /* data packets with a whole address: the transfer is big-endian */
    CT_ETM3_OLD_EXC = 0x1000,    /* `exc` is one of the eight exceptions that ETMv3.0 encodes in the fifth
                                    address byte */
    CT_ETM3_CUT = 0x800,         /* cut by the end of the trace: only the type is from this packet */
};

/* One packet. `type` decides which members are used; the others are 0.
 *   value   address, timestamp, VMID, bytes of a NOT_SYNC run
 *   cc      cycles: of cycle counts, i-sync with cycle count, P-headers
 *   atoms   bit i is atom i in order of execution, 1 = E; natoms of them */
struct ct_etm3_packet {
    uint64_t pos; /* of the first byte: stream position, or offset in the capture after translation */
    uint64_t value;
    uint32_t curr;
    uint32_t cc;
    uint32_t ctxt;
    uint32_t data;
    uint32_t atoms;
    uint16_t exc;
    uint16_t flags; /* enum ct_etm3_flag */
    uint8_t type;   /* enum ct_etm3_type */
    uint8_t err;    /* enum ct_etm3_type announced by the header of a bad packet */
    uint8_t size;   /* bytes in the trace; 0 for NOT_SYNC */
    uint8_t natoms;
    uint8_t format; /* P-header: 1 to 4; 0 for any other */
    uint8_t valid;  /* low bits of the address that are known, 32 when all are */
    uint8_t isa;    /* enum ct_v7_isa: of instruction addresses */
    uint8_t reason; /* i-sync: enum ct_sync_reason */
    uint8_t resume; /* branch: the instruction at which an interrupted load or store resumes */
    uint8_t tag;    /* out-of-order data: 1 to 3 */
    uint8_t bytes;  /* of the data value: 0 (value is zero), 1, 2, 4 */
    uint8_t pad[5];
};

struct ct_etm3_decoder;

/* Makes a decoder of one stream of `source`, which must be an ETMv3. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_etm3_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_etm3_decoder **out);
CT_API void ct_etm3_decoder_free(struct ct_etm3_decoder *decoder);

/* Resets the decoder to the state after _new: not synchronised. */
CT_API void ct_etm3_decoder_reset(struct ct_etm3_decoder *decoder);

/* Decodes bytes into packets. data[0..size) begins at stream position `pos`, and `packets` has room for
 * `cap`; *count receives the number of packets. A packet cut by the end of the data is left for the next
 * call, which must pass its bytes again with more after them. With `final` no more come, and it becomes a
 * packet with CT_ETM3_CUT. At most CT_ETM3_PACKET_MAX bytes are ever left. Never fails: damage becomes
 * packets. Returns the number of bytes consumed. */
CT_API size_t ct_etm3_decode(struct ct_etm3_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                             int final, struct ct_etm3_packet *packets, size_t cap, size_t *count);

#define CT_ETM3_PACKET_MAX 32

/* Returns 1 when the number in a branch packet of `source` is that of no exception: docs/listing.md. */
CT_API int ct_etm3_exception_reserved(const struct ct_source *source, const struct ct_etm3_packet *packet);

#ifdef __cplusplus
}
#endif
#endif
