/* SPDX-License-Identifier: Apache-2.0 */
/* coretap packet: the protocol packets of ETMv4 and ETE as plain fixed-size records. Terms and encodings:
 * Embedded Trace Macrocell Architecture Specification ETMv4, ARM IHI 0064H, chapter 6; Arm ARM DDI 0487, part
 * D (ETE). The encoder (encode.h) takes the same records.
 *
 *     ct_etm4_decoder_new(ctx, source, &decoder);
 *     used = ct_etm4_decode(decoder, bytes, size, 0, 1, packets, 64, &count);
 *     for (size_t i = 0; i < count; i++)
 *         printf("type %u\n", packets[i].type);
 *     ct_etm4_decoder_free(decoder); */
#ifndef CORETAP_PACKET_H
#define CORETAP_PACKET_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

enum ct_etm4_type {
    CT_ETM4_NOT_SYNC, /* bytes before an alignment packet; `value` is their number */
    CT_ETM4_INCOMPLETE_EOT,
    CT_ETM4_BAD_SEQUENCE,
    CT_ETM4_BAD_TRACEMODE,
    CT_ETM4_RESERVED,
    CT_ETM4_RESERVED_CFG,
    CT_ETM4_EXTENSION,
    CT_ETM4_ASYNC,
    CT_ETM4_DISCARD,
    CT_ETM4_OVERFLOW,
    CT_ETM4_TRACE_INFO,
    CT_ETM4_TRACE_ON,
    CT_ETM4_TIMESTAMP,
    CT_ETM4_TS_MARKER,
    CT_ETM4_CTXT,
    CT_ETM4_ADDR_S_IS0,
    CT_ETM4_ADDR_S_IS1,
    CT_ETM4_ADDR_L_32IS0,
    CT_ETM4_ADDR_L_32IS1,
    CT_ETM4_ADDR_L_64IS0,
    CT_ETM4_ADDR_L_64IS1,
    CT_ETM4_ADDR_CTXT_L_32IS0,
    CT_ETM4_ADDR_CTXT_L_32IS1,
    CT_ETM4_ADDR_CTXT_L_64IS0,
    CT_ETM4_ADDR_CTXT_L_64IS1,
    CT_ETM4_ADDR_MATCH,
    CT_ETM4_SRC_ADDR_S_IS0,
    CT_ETM4_SRC_ADDR_S_IS1,
    CT_ETM4_SRC_ADDR_L_32IS0,
    CT_ETM4_SRC_ADDR_L_32IS1,
    CT_ETM4_SRC_ADDR_L_64IS0,
    CT_ETM4_SRC_ADDR_L_64IS1,
    CT_ETM4_SRC_ADDR_MATCH,
    CT_ETM4_ATOM_F1,
    CT_ETM4_ATOM_F2,
    CT_ETM4_ATOM_F3,
    CT_ETM4_ATOM_F4,
    CT_ETM4_ATOM_F5,
    CT_ETM4_ATOM_F6,
    CT_ETM4_Q,
    CT_ETM4_CCNT_F1,
    CT_ETM4_CCNT_F2,
    CT_ETM4_CCNT_F3,
    CT_ETM4_COMMIT,
    CT_ETM4_CANCEL_F1,
    CT_ETM4_CANCEL_F1_MISPRED,
    CT_ETM4_CANCEL_F2,
    CT_ETM4_CANCEL_F3,
    CT_ETM4_MISPREDICT,
    CT_ETM4_COND_I_F1,
    CT_ETM4_COND_I_F2,
    CT_ETM4_COND_I_F3,
    CT_ETM4_COND_FLUSH,
    CT_ETM4_COND_RES_F1,
    CT_ETM4_COND_RES_F2,
    CT_ETM4_COND_RES_F3,
    CT_ETM4_COND_RES_F4,
    CT_ETM4_EXCEPT,
    CT_ETM4_EXCEPT_RTN,
    CT_ETM4_FUNC_RET,
    CT_ETM4_EVENT,
    CT_ETM4_NUM_DS_MKR,
    CT_ETM4_UNNUM_DS_MKR,
    CT_ETM4_ITE,
    CT_ETM4_TRANS_ST,
    CT_ETM4_TRANS_COMMIT,
    CT_ETM4_TRANS_FAIL,
    CT_ETM4_PE_RESET,
    CT_ETM4_IGNORE,
    CT_ETM4_TYPE_COUNT,
};

/* Security state in ct_etm4_packet.sec. */
enum ct_security {
    CT_SEC_S,
    CT_SEC_NS,
    CT_SEC_ROOT,
    CT_SEC_REALM,
};

/* Instruction set of an address in the packets of ETMv3 and PTM. */
enum ct_v7_isa {
    CT_V7_A32,
    CT_V7_T32,
    CT_V7_TEE, /* ThumbEE */
    CT_V7_JAZ, /* Jazelle */
    CT_V7_ISA_UNKNOWN,
};

/* The reason for an i-sync packet of ETMv3 and PTM, as numbered in the packet. */
enum ct_sync_reason {
    CT_SYNC_PERIODIC,
    CT_SYNC_TRACE_ENABLE,
    CT_SYNC_OVERFLOW,
    CT_SYNC_DEBUG_EXIT,
};

enum ct_etm4_flag {
    CT_ETM4_HAS_CONTEXT = 0x001, /* a context payload: sf, el, sec are from this packet */
    CT_ETM4_HAS_CTXT = 0x002,    /* the packet has a context ID */
    CT_ETM4_HAS_VMID = 0x004,    /* the packet has a VMID */
    CT_ETM4_HAS_ADDR = 0x008,    /* Q: an address is in `value` */
    CT_ETM4_HAS_COUNT = 0x010,   /* timestamp: cycle count; Q: instruction count; ccnt: the count is known */
    CT_ETM4_HAS_COMMIT = 0x020,  /* ccnt: a number of commits in `count2` */
    CT_ETM4_HAS_CCTHR = 0x040,   /* trace info: `count` is a cycle count threshold */
    CT_ETM4_HAS_SPEC = 0x080,    /* trace info: `count2` is a speculation depth */
    CT_ETM4_FIRST_INFO = 0x100,  /* trace info: the first one since synchronisation */
    CT_ETM4_MATCH = 0x200,       /* Q: the address is one of the last three, with its index in `idx` */
    CT_ETM4_FAULT_PENDING = 0x400, /* exception, M profile */
    CT_ETM4_SF = 0x800,            /* 64-bit state */
    CT_ETM4_TSTATE = 0x1000,       /* trace info: the first traced instruction is in a transaction */
};

/* One packet. `type` decides which members are used; the others are 0.
 *   value   address, timestamp, ITE payload, bytes of a NOT_SYNC run
 *   count   cycle count (threshold added), Q instruction count, trace info CCTHR, context ID is in ctxt
 *   count2  commit count, cancel count, speculation depth
 *   atoms   bit i is atom i in order of execution, 1 = E; natoms of them
 *   header  bits of the header that distinguish packets of one type (cycle count F2, conditional packets)
 * Conditional packets keep their payload bits, as transmitted without continuation bits, in `value`. */
struct ct_etm4_packet {
    uint64_t pos; /* of the first byte: stream position, or offset in the capture after translation */
    uint64_t value;
    uint32_t count;
    uint32_t count2;
    uint32_t ctxt;
    uint32_t vmid;
    uint32_t atoms;
    uint16_t flags; /* enum ct_etm4_flag */
    uint16_t info;  /* trace info: low 8 bits of INFO; exception: its type, 10 bits; event: 4 bits */
    uint8_t type;   /* enum ct_etm4_type */
    uint8_t err;    /* enum ct_etm4_type announced by the header of a bad, cut or reserved packet */
    uint8_t size;   /* bytes in the trace; 0 for NOT_SYNC */
    uint8_t natoms;
    uint8_t valid;  /* low bits of the address that are known; 64 when all are */
    uint8_t is;     /* addresses: instruction set IS0 or IS1 */
    uint8_t idx;    /* match: 0 to 2; exception: E1:E0 */
    uint8_t el_sec; /* exception level in bits 3:0, enum ct_security in bits 7:4 */
    uint8_t header; /* the header byte */
    uint8_t pad[7];
};

struct ct_etm4_decoder;

/* Makes a decoder of one stream of `source`, which must be ETMv4 or ETE. CT_ERR_CONFIG names a register with
 * an impossible value; CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_etm4_decoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_etm4_decoder **out);
CT_API void ct_etm4_decoder_free(struct ct_etm4_decoder *decoder);

/* Resets the decoder to the state after _new: not synchronised. */
CT_API void ct_etm4_decoder_reset(struct ct_etm4_decoder *decoder);

/* Decodes bytes into packets. data[0..size) begins at stream position `pos`, and `packets` has room for
 * `cap`; *count receives the number of packets. A packet cut by the end of the data is left for the next
 * call, which must pass its bytes again with more after them. With `final` no more come, and it becomes
 * INCOMPLETE_EOT. At most CT_ETM4_PACKET_MAX bytes are ever left. Never fails: damage becomes packets.
 * Returns the number of bytes consumed. */
CT_API size_t ct_etm4_decode(struct ct_etm4_decoder *decoder, const uint8_t *data, size_t size, uint64_t pos,
                             int final, struct ct_etm4_packet *packets, size_t cap, size_t *count);

#define CT_ETM4_PACKET_MAX 96

#ifdef __cplusplus
}
#endif
#endif
