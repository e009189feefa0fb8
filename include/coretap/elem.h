/* SPDX-License-Identifier: Apache-2.0 */
/* coretap elem: what a trace unit reported, with speculation resolved. Elements are the same for all
 * instruction trace protocols, sixteen bytes each. A chain (decode.h) gives them in batches. By hand, from
 * packets of an ETMv4:
 *
 *     ct_etm4_resolver_new(ctx, source, &resolver);
 *     taken = ct_etm4_resolve(resolver, packets, packet_count, 0, elems, 512, &count);
 *     for (size_t i = 0; i < count; i++)
 *         if (elems[i].kind == CT_ELEM_GAP)
 *             puts("trace is missing here");
 *     ct_etm4_resolver_free(resolver); */
#ifndef CORETAP_ELEM_H
#define CORETAP_ELEM_H

#include "coretap/base.h"
#include "coretap/input.h"
#include "coretap/packet.h"
#include "coretap/packet_etm3.h"
#include "coretap/packet_ptm.h"
#include "coretap/packet_itm.h"
#include "coretap/packet_stm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Kinds of elements, with the meaning of their members. */
enum ct_elem_kind {
    CT_ELEM_GAP,      /* trace is missing from here on. n: enum ct_gap; aux: CT_GAP_WHOLE, or 0 */
    CT_ELEM_SYNC,     /* trace info. n: 1 when decoding (re)starts here, and v: bytes since the GAP that could
                         not be used; n is 0 for the periodic ones in between */
    CT_ELEM_TRACE_ON, /* n: enum ct_trace_on; aux: 1 when trace before it was lost without a GAP (ETMv3,
                         PTM) */
    CT_ELEM_END,   /* end of the trace. n: enum ct_gap, the reason; v: bytes before it that could not be used;
                      aux: 1 + enum ct_gap of a GAP that no packet followed, or 0 */
    CT_ELEM_ATOMS, /* n (0 to 32) atoms, oldest in bit 0 of v, 1 = E; aux: enum ct_elem_atoms */
    CT_ELEM_ADDRESS,      /* execution is at v. n: enum ct_isa_select; aux: known low bits */
    CT_ELEM_SOURCE,       /* ETE: execution continued up to the waypoint at v */
    CT_ELEM_WAYPOINT,     /* PTM: execution continued up to the instruction at v, which was executed */
    CT_ELEM_LOST_ADDRESS, /* ETMv3: instructions were executed at an address that the trace has not given
                             yet */
    CT_ELEM_CONTEXT,      /* v: context ID in bits 31:0, VMID in 63:32; n: el_sec as in packets; aux: enum
                             ct_elem_context */
    CT_ELEM_EXCEPTION,    /* aux: number; v: preferred return address; n: enum ct_elem_exception */
    CT_ELEM_RETURN,       /* return from an exception */
    CT_ELEM_FUNC_RET,     /* M profile: function return into another security state */
    CT_ELEM_CYCLES,       /* v: cycles; n: enum ct_elem_cycles; aux: 1 when the count is unknown */
    CT_ELEM_TIMESTAMP,    /* v: timestamp; n: enum ct_timestamp; aux: flags as for SW, or 0 */
    CT_ELEM_EVENT,        /* n: event bits; aux: 1 for the trigger of an ETMv3 or PTM, which has no bits */
    CT_ELEM_MARKER,       /* timestamp marker. v: value */
    CT_ELEM_Q_COUNT,      /* v: instructions executed; aux: 1 when unknown. Comes before its Q */
    CT_ELEM_Q,            /* v: the address after the instructions; n: enum ct_isa_select */
    CT_ELEM_TRANS,        /* n: enum ct_trans */
    CT_ELEM_ITE,          /* software instrumentation. v: payload; n: exception level */
    CT_ELEM_DATA, /* ETMv3: a data transfer. n: enum ct_data; aux: enum ct_elem_data; v: value in bits 31:0,
                          address in 63:32 */
    /* STM, ITM: the source of the SW elements that follow, up to the next SW_SOURCE. v: master; aux: channel,
     * or stimulus port with the page in the bits above 4; n: 1 when the trace gives the source, else 0. */
    CT_ELEM_SW_SOURCE,
    /* STM, ITM: software trace. n: enum ct_sw; v: payload; aux: number of payload bits, 0 to 64, and enum
     * ct_sw_flag. The TIMESTAMP (attached) of one with CT_SW_TIMED follows it directly. */
    CT_ELEM_SW,
    CT_ELEM_DWT, /* DWT: hardware trace. n: discriminator, 0 to 31; v: payload; aux: as for SW */
    /* ITM: the time of what was traced since the last LOCAL_TIME. v: prescaled cycles since then; n: TC as in
     * packets; aux: flags as for SW, with a shift instead of the number of bits: cycles are v << shift. The
     * TIMESTAMP (attached) after it has the sum, in cycles. */
    CT_ELEM_LOCAL_TIME,
};

/* What a timestamp belongs to. */
enum ct_timestamp {
    CT_TIMESTAMP_STREAM,   /* all elements before it */
    CT_TIMESTAMP_ATTACHED, /* the element directly before it */
    CT_TIMESTAMP_GLOBAL,   /* ITM: all elements before it, in the time that all sources share */
};

/* Software trace. */
enum ct_sw {
    CT_SW_DATA,
    CT_SW_FLAG,
    CT_SW_TRIGGER,
    CT_SW_FREQUENCY, /* frequency of the timestamps of all sources, in Hz */
    CT_SW_TIME,      /* only a timestamp */
    CT_SW_ERROR,     /* an error of the source; v says which. Something it wrote is missing */
    CT_SW_ERROR_ANY, /* an error of an unknown source. The source is unknown from here on */
    CT_SW_USER,
    CT_SW_XSYNC,    /* cross-synchronisation with another trace */
    CT_SW_STIMULUS, /* ITM: written to a stimulus port */
};

enum ct_sw_flag {
    CT_SW_BITS = 0x7f,      /* mask: number of payload bits */
    CT_SW_MARKED = 0x80,    /* STM: with a marker */
    CT_SW_TIMED = 0x100,    /* a timestamp follows */
    CT_SW_OVERFLOW = 0x200, /* ITM: the first element after an overflow lost trace */
};

/* Why trace is missing. */
enum ct_gap {
    CT_GAP_INIT,       /* nothing was decoded before it */
    CT_GAP_RESET,      /* the stream was reset */
    CT_GAP_OVERFLOW,   /* the trace unit lost trace */
    CT_GAP_DISCARD,    /* the trace unit discarded buffered trace */
    CT_GAP_BAD_PACKET, /* an impossible packet */
    CT_GAP_BAD_IMAGE,  /* the program in memory differs from the one that ran */
    CT_GAP_LIMIT,      /* more uncommitted trace than the decoder holds */
    CT_GAP_END,        /* only in END: the end of the input */
};

/* In the aux of a GAP (reset): one recording ended and another began, with nothing missing in between. */
#define CT_GAP_WHOLE 1

enum ct_trace_on {
    CT_TRACE_ON_FILTER,   /* tracing began, or a filter let it continue */
    CT_TRACE_ON_OVERFLOW, /* after an overflow */
    CT_TRACE_ON_DEBUG,    /* after debug state */
};

enum ct_trans {
    CT_TRANS_INIT, /* a transaction had begun before the trace */
    CT_TRANS_START,
    CT_TRANS_COMMIT,
    CT_TRANS_FAIL,
};

/* Instruction set of an address. ETMv4 gives IS0 or IS1, whose meaning depends on the context. In ETMv3 and
 * PTM IS0 is A32, IS1 is T32, and two more exist. */
enum ct_isa_select {
    CT_IS0,
    CT_IS1,
    CT_IS_TEE,
    CT_IS_JAZ,
    CT_IS_UNKNOWN,
    CT_IS_SAME = 7, /* in a context: the instruction set does not change */
};

/* How atoms are to be read. With CT_ATOMS_CYCLES bits 63:32 of v are the cycles of all atoms of the element,
 * which may have none. */
enum ct_elem_atoms {
    CT_ATOMS_TARGET = 1, /* the address that follows is the branch target, not the address on the return
                            stack */
    CT_ATOMS_INSN = 2,   /* each atom is one instruction (ETMv3), not all instructions up to the next
                            waypoint */
    CT_ATOMS_CYCLES = 4, /* the cycles belong to the first atom */
    CT_ATOMS_EACH = 8,   /* the cycles belong to each of the atoms */
};

/* Data transfers of the previous instruction. Values out of order belong to the last placeholder before them
 * with the same tag. */
enum ct_data {
    CT_DATA_VALUE,
    CT_DATA_NOT_TRACED,   /* a transfer whose value is not traced */
    CT_DATA_LATER,        /* a placeholder: the value comes later */
    CT_DATA_LATE,         /* the value of the last placeholder with its tag */
    CT_DATA_STORE_FAILED, /* the store exclusive stored nothing */
    CT_DATA_SUPPRESSED,   /* the trace unit dropped data trace here to avoid an overflow */
};

enum ct_elem_data {
    CT_DATA_HAS_VALUE = 1,
    CT_DATA_HAS_ADDR = 2,
    CT_DATA_BIG_ENDIAN = 4,
    CT_DATA_TAG = 0x30,    /* 1 to 3, for values out of order; shifted by CT_DATA_TAG_SHIFT */
    CT_DATA_BYTES = 0x700, /* number of bytes in the trace, without leading zeros; shifted by
                              CT_DATA_BYTES_SHIFT */
};

#define CT_DATA_TAG_SHIFT   4
#define CT_DATA_BYTES_SHIFT 8

/* What cycles are counted for. */
enum ct_elem_cycles {
    CT_CYCLES_ALONE,    /* nothing in particular */
    CT_CYCLES_ATTACHED, /* the element before it */
    CT_CYCLES_UNPLACED, /* instructions that were cancelled, that no range has, or in a gap */
    CT_CYCLES_LEFT_OUT, /* what a filter left out (filter.h): these cycles are in no sum */
};

enum ct_elem_context {
    CT_CONTEXT_SF = 1,        /* 64-bit state */
    CT_CONTEXT_CTXT = 2,      /* the context ID in v is known */
    CT_CONTEXT_VMID = 4,      /* the VMID in v is known */
    CT_CONTEXT_EL = 8,        /* the exception level is known; never set for PTM, where n has level 2 in Hyp
                                 mode */
    CT_CONTEXT_IS1 = 16,      /* the instruction set is IS1 (from an address with context) */
    CT_CONTEXT_IS = 0x70,     /* the instruction set, enum ct_isa_select; shifted by CT_CONTEXT_IS_SHIFT */
    CT_CONTEXT_SILENT = 0x80, /* repeats what is known; listings print no line for it */
};

#define CT_CONTEXT_IS_SHIFT 4

enum ct_elem_exception {
    CT_EXCEPTION_HAS_RET = 1, /* v is the preferred return address */
    CT_EXCEPTION_IS1 = 2,     /* the return address is in IS1 */
    CT_EXCEPTION_TARGET = 4,  /* the return address is also the target of the previous branch (E1:E0 = 2) */
    CT_EXCEPTION_PENDING = 8, /* M profile: fault pending */
    CT_EXCEPTION_HERE = 16,   /* PTM: the return address is the current one; flow records have it in v */
};

/* An element. `pos` is the low half of the offset of its packet. An element lies less than 4 GiB before the
 * end of what was decoded, so ct_elem_offset can compute the whole offset. */
struct ct_elem {
    uint8_t kind; /* enum ct_elem_kind */
    uint8_t n;
    uint16_t aux;
    uint32_t pos;
    uint64_t v;
};

/* Returns the context ID of a CONTEXT element, 0 when it has none. */
static inline uint32_t ct_elem_ctxt(const struct ct_elem *context)
{
    return context->aux & CT_CONTEXT_CTXT ? (uint32_t)context->v : 0;
}

/* Returns the VMID, or virtual context ID, of a CONTEXT element, 0 when it has none. */
static inline uint32_t ct_elem_vmid(const struct ct_elem *context)
{
    return context->aux & CT_CONTEXT_VMID ? (uint32_t)(context->v >> 32) : 0;
}

/* Returns the whole offset of an element. `end` is any offset at or after it, less than 4 GiB away. */
static inline uint64_t ct_elem_offset(const struct ct_elem *elem, uint64_t end)
{
    return end - ((uint32_t)end - elem->pos);
}

/* Returns why trace is missing at the element (enum ct_gap), or -1 when the element reports no loss. Bytes
 * before the first synchronisation are no loss. */
static inline int ct_elem_loss(const struct ct_elem *elem)
{
    switch (elem->kind) {
    case CT_ELEM_GAP:
        return elem->n == CT_GAP_INIT || elem->aux == CT_GAP_WHOLE ? -1 : elem->n;
    case CT_ELEM_TRACE_ON:
        return elem->aux ? CT_GAP_OVERFLOW : -1;
    case CT_ELEM_END:
        return elem->aux > CT_GAP_INIT + 1 ? elem->aux - 1 : -1;
    case CT_ELEM_DATA:
        return elem->n == CT_DATA_SUPPRESSED ? CT_GAP_OVERFLOW : -1;
    case CT_ELEM_SW:
        if (elem->n == CT_SW_ERROR || elem->n == CT_SW_ERROR_ANY)
            return CT_GAP_OVERFLOW;
        return elem->aux & CT_SW_OVERFLOW ? CT_GAP_OVERFLOW : -1;
    case CT_ELEM_DWT:
    case CT_ELEM_LOCAL_TIME:
    case CT_ELEM_TIMESTAMP:
        return elem->aux & CT_SW_OVERFLOW ? CT_GAP_OVERFLOW : -1;
    default:
        return -1;
    }
}

struct ct_etm4_resolver;

/* Makes a resolver, which turns the packets of one ETMv4 or ETE stream into elements. CT_ERR_CONFIG for
 * impossible register values, CT_ERR_NOMEM. */
CT_API int ct_etm4_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                                struct ct_etm4_resolver **out);
CT_API void ct_etm4_resolver_free(struct ct_etm4_resolver *resolver);

/* Announces a reset of the stream: drops what is uncommitted; the next packet gives a GAP (reset) first. */
CT_API void ct_etm4_resolver_reset(struct ct_etm4_resolver *resolver);

/* The smallest capacity of the array of elements, for all protocols. */
#define CT_RESOLVE_MIN 16

/* Turns packets into elements. `elems` has room for `cap`, at least CT_RESOLVE_MIN; *count receives the
 * number of elements. With `final` these are the last packets, and END follows them. Call again while packets
 * are left or *count > cap - CT_RESOLVE_MIN. Returns the number of packets taken. */
CT_API size_t ct_etm4_resolve(struct ct_etm4_resolver *resolver, const struct ct_etm4_packet *packets,
                              size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_ptm_resolver;

/* Makes, frees, resets and runs a resolver of one PTM stream, like the functions for ETMv4. CT_ERR_CONFIG,
 * CT_ERR_NOMEM. */
CT_API int ct_ptm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_ptm_resolver **out);
CT_API void ct_ptm_resolver_free(struct ct_ptm_resolver *resolver);
CT_API void ct_ptm_resolver_reset(struct ct_ptm_resolver *resolver);
CT_API size_t ct_ptm_resolve(struct ct_ptm_resolver *resolver, const struct ct_ptm_packet *packets,
                             size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_etm3_resolver;

/* Makes, frees, resets and runs a resolver of one ETMv3 stream, like the functions for ETMv4.
 * CT_ERR_NOMEM. */
CT_API int ct_etm3_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                                struct ct_etm3_resolver **out);
CT_API void ct_etm3_resolver_free(struct ct_etm3_resolver *resolver);
CT_API void ct_etm3_resolver_reset(struct ct_etm3_resolver *resolver);
CT_API size_t ct_etm3_resolve(struct ct_etm3_resolver *resolver, const struct ct_etm3_packet *packets,
                              size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_stm_resolver;
struct ct_itm_resolver;

/* Makes, frees, resets and runs a resolver of one STM stream, like the functions for ETMv4. It only resolves
 * the state that packets share: master, channel and time. CT_ERR_NOMEM. */
CT_API int ct_stm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_stm_resolver **out);
CT_API void ct_stm_resolver_free(struct ct_stm_resolver *resolver);
CT_API void ct_stm_resolver_reset(struct ct_stm_resolver *resolver);
CT_API size_t ct_stm_resolve(struct ct_stm_resolver *resolver, const struct ct_stm_packet *packets,
                             size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

/* Makes, frees, resets and runs a resolver of one ITM stream, like the functions for ETMv4. It only resolves
 * the state that packets share: the page of stimulus ports and the prescaler. CT_ERR_NOMEM. */
CT_API int ct_itm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_itm_resolver **out);
CT_API void ct_itm_resolver_free(struct ct_itm_resolver *resolver);
CT_API void ct_itm_resolver_reset(struct ct_itm_resolver *resolver);
CT_API size_t ct_itm_resolve(struct ct_itm_resolver *resolver, const struct ct_itm_packet *packets,
                             size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
