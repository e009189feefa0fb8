/* SPDX-License-Identifier: Apache-2.0 */
/* coretap elem: what a trace unit said, after speculation has been resolved. Sixteen bytes an element, the
 * same for all instruction trace protocols. */
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

/* Kinds, with what their members mean. */
enum ct_elem_kind {
    CT_ELEM_GAP,      /* trace is missing from here on. n: enum ct_gap; aux: CT_GAP_WHOLE, or 0 */
    CT_ELEM_SYNC,     /* trace info. n: 1 when decoding (re)starts here, and then v: bytes since the GAP that
                             could not be used; 0 for the periodic ones in between */
    CT_ELEM_TRACE_ON, /* n: enum ct_trace_on; aux: 1 when trace was lost before it and no GAP says so (ETMv3,
                         PTM) */
    CT_ELEM_END, /* end of the trace. n: enum ct_gap, why; v: bytes that could not be used before it; aux: 0,
                    or 1 and enum ct_gap of a GAP that no packet came after to tell of */
    CT_ELEM_ATOMS,        /* n (0 to 32) atoms, oldest in bit 0 of v, 1 = E; aux: enum ct_elem_atoms */
    CT_ELEM_ADDRESS,      /* execution is at v. n: enum ct_isa_select; aux: known low bits */
    CT_ELEM_SOURCE,       /* ETE: execution went on up to the waypoint at v */
    CT_ELEM_WAYPOINT,     /* PTM: execution went on up to the instruction at v, which was executed */
    CT_ELEM_LOST_ADDRESS, /* ETMv3: instructions were executed, but the trace has not said yet where */
    CT_ELEM_CONTEXT,      /* v: context ID in bits 31:0, VMID in 63:32; n: el_sec as in packets; aux: enum
                             ct_elem_context */
    CT_ELEM_EXCEPTION,    /* aux: number; v: preferred return address; n: enum ct_elem_exception */
    CT_ELEM_RETURN,       /* return from an exception */
    CT_ELEM_FUNC_RET,     /* M profile: function return into another security state */
    CT_ELEM_CYCLES,       /* v: cycles; n: enum ct_elem_cycles; aux: 1 when the count is unknown */
    CT_ELEM_TIMESTAMP,    /* v: timestamp; n: enum ct_timestamp; aux: as of SW, or 0 */
    CT_ELEM_EVENT,        /* n: event bits; aux: 1 for the trigger of an ETMv3 or PTM, which has no bits */
    CT_ELEM_MARKER,       /* timestamp marker. v: value */
    CT_ELEM_Q_COUNT,      /* v: instructions executed; aux: 1 when unknown. Comes before its Q */
    CT_ELEM_Q,            /* v: the address afterwards; n: enum ct_isa_select */
    CT_ELEM_TRANS,        /* n: enum ct_trans */
    CT_ELEM_ITE,          /* software instrumentation. v: payload; n: exception level */
    CT_ELEM_DATA, /* ETMv3: a data transfer. n: enum ct_data; aux: enum ct_elem_data; v: value in bits 31:0,
                          address in 63:32 */
    /* STM, ITM: where the SW elements behind it come from, up to the next SW_SOURCE. v: master; aux: channel,
     * or stimulus port with the page in the bits above 4; n: 1 when the trace tells the source, else 0. */
    CT_ELEM_SW_SOURCE,
    /* STM, ITM: software trace. n: enum ct_sw; v: payload; aux: its bits, 0 to 64, and enum ct_sw_flag. One
     * with CT_SW_TIMED has its TIMESTAMP (attached) right behind it. */
    CT_ELEM_SW,
    CT_ELEM_DWT, /* DWT: hardware trace. n: discriminator, 0 to 31; v: payload; aux: as of SW */
    /* ITM: the time of what was traced since the last LOCAL_TIME. v: prescaled cycles since then; n: TC as in
     * packets; aux: as of SW, but a shift in place of the bits: cycles are v << shift. The TIMESTAMP
     * (attached) behind it has the sum, in cycles. */
    CT_ELEM_LOCAL_TIME,
};

/* What a timestamp belongs to. */
enum ct_timestamp {
    CT_TIMESTAMP_STREAM,   /* all that came before it */
    CT_TIMESTAMP_ATTACHED, /* the element right before it */
    CT_TIMESTAMP_GLOBAL,   /* ITM: all that came before it, in the time that all sources share */
};

/* Software trace. */
enum ct_sw {
    CT_SW_DATA,
    CT_SW_FLAG,
    CT_SW_TRIGGER,
    CT_SW_FREQUENCY, /* of the timestamps, in Hz; of all sources */
    CT_SW_TIME,      /* nothing but a timestamp */
    CT_SW_ERROR,     /* of the source; v says which. Something that it wrote is missing */
    CT_SW_ERROR_ANY, /* of a source that is not known. From here on the source is not known */
    CT_SW_USER,
    CT_SW_XSYNC,    /* cross-synchronisation with another trace */
    CT_SW_STIMULUS, /* ITM: written to a stimulus port */
};

enum ct_sw_flag {
    CT_SW_BITS = 0x7f,      /* mask: bits of payload */
    CT_SW_MARKED = 0x80,    /* STM: with a marker */
    CT_SW_TIMED = 0x100,    /* a timestamp follows */
    CT_SW_OVERFLOW = 0x200, /* ITM: the first after trace was lost in an overflow */
};

/* Why trace is missing. */
enum ct_gap {
    CT_GAP_INIT,       /* nothing was decoded before */
    CT_GAP_RESET,      /* the stream was reset */
    CT_GAP_OVERFLOW,   /* the trace unit lost trace */
    CT_GAP_DISCARD,    /* the trace unit threw away what it had not written */
    CT_GAP_BAD_PACKET, /* a packet that cannot be */
    CT_GAP_BAD_IMAGE,  /* the program in memory is not the one that ran */
    CT_GAP_LIMIT,      /* more uncommitted trace than the decoder holds */
    CT_GAP_END,        /* only in END: the input is over */
};

/* In the aux of a GAP (reset): one recording ended and another began, and nothing is missing between them. */
#define CT_GAP_WHOLE 1

enum ct_trace_on {
    CT_TRACE_ON_FILTER,   /* tracing began, or a filter let it begin again */
    CT_TRACE_ON_OVERFLOW, /* after an overflow */
    CT_TRACE_ON_DEBUG,    /* after debug state */
};

enum ct_trans {
    CT_TRANS_INIT, /* already in a transaction when the trace began */
    CT_TRANS_START,
    CT_TRANS_COMMIT,
    CT_TRANS_FAIL,
};

/* Instruction set of an address: ETMv4 says IS0 or IS1, and the context which of them are meant. In ETMv3 and
 * PTM IS0 is A32, IS1 is T32, and there are two more. */
enum ct_isa_select {
    CT_IS0,
    CT_IS1,
    CT_IS_TEE,
    CT_IS_JAZ,
    CT_IS_UNKNOWN,
    CT_IS_SAME = 7, /* in a context: the instruction set is the one before */
};

/* How atoms are meant. With CT_ATOMS_CYCLES bits 63:32 of v are the cycles of
 * all of them, which may be none. */
enum ct_elem_atoms {
    CT_ATOMS_TARGET = 1, /* the address behind it is the target, not what the return stack says */
    CT_ATOMS_INSN = 2,   /* each atom is one instruction (ETMv3), not all up to the next waypoint */
    CT_ATOMS_CYCLES = 4, /* cycles are counted for the first of the atoms */
    CT_ATOMS_EACH = 8,   /* cycles are counted for each of the atoms */
};

/* Data transfers of the last instruction before. Values that come out of order belong to the placeholder
 * before them that has the same tag. */
enum ct_data {
    CT_DATA_VALUE,
    CT_DATA_NOT_TRACED,   /* there was a transfer, its value is not traced */
    CT_DATA_LATER,        /* a placeholder: the value comes later */
    CT_DATA_LATE,         /* the value for the last placeholder with its tag */
    CT_DATA_STORE_FAILED, /* the store exclusive stored nothing */
    CT_DATA_SUPPRESSED,   /* the trace unit dropped data trace here, so as not to overflow */
};

enum ct_elem_data {
    CT_DATA_HAS_VALUE = 1,
    CT_DATA_HAS_ADDR = 2,
    CT_DATA_BIG_ENDIAN = 4,
    CT_DATA_TAG = 0x30,    /* shifted by CT_DATA_TAG_SHIFT: 1 to 3, of values out of order */
    CT_DATA_BYTES = 0x700, /* shifted by CT_DATA_BYTES_SHIFT: bytes in the trace, without leading zeros */
};

#define CT_DATA_TAG_SHIFT   4
#define CT_DATA_BYTES_SHIFT 8

/* What cycles are counted for. */
enum ct_elem_cycles {
    CT_CYCLES_ALONE,    /* for nothing else in particular */
    CT_CYCLES_ATTACHED, /* for the element before */
    CT_CYCLES_UNPLACED, /* for instructions that were cancelled, that no range could be made of, or in a gap
                         */
    CT_CYCLES_LEFT_OUT, /* for what a filter left out (filter.h): they went by, but belong to no sum */
};

enum ct_elem_context {
    CT_CONTEXT_SF = 1,    /* 64-bit state */
    CT_CONTEXT_CTXT = 2,  /* the context ID in v is known */
    CT_CONTEXT_VMID = 4,  /* the VMID in v is known */
    CT_CONTEXT_EL = 8,    /* the exception level is known; PTM: never, but in Hyp mode n has level 2 */
    CT_CONTEXT_IS1 = 16,  /* the instruction set is IS1 (an address with context says so) */
    CT_CONTEXT_IS = 0x70, /* the instruction set as in enum ct_isa_select, shifted by CT_CONTEXT_IS_SHIFT */
    CT_CONTEXT_SILENT = 0x80, /* repeats what is known; it makes no line in listings */
};

#define CT_CONTEXT_IS_SHIFT 4

enum ct_elem_exception {
    CT_EXCEPTION_HAS_RET = 1, /* v is the preferred return address */
    CT_EXCEPTION_IS1 = 2,     /* the return address is in IS1 */
    CT_EXCEPTION_TARGET = 4,  /* the return address is also the target of the branch before (E1:E0 = 2) */
    CT_EXCEPTION_PENDING = 8, /* M profile: fault pending */
    CT_EXCEPTION_HERE = 16,   /* PTM: the return address is where the walk is; flow records have it in v */
};

/* `pos` is the low half of the offset of the packet that the element stems from. An element never lies
 * 4 GiB or more before the end of what was decoded, so ct_elem_offset gives all of it. */
struct ct_elem {
    uint8_t kind; /* enum ct_elem_kind */
    uint8_t n;
    uint16_t aux;
    uint32_t pos;
    uint64_t v;
};

/* Returns the context ID that a CONTEXT element tells, 0 where it tells none. */
static inline uint32_t ct_elem_ctxt(const struct ct_elem *context)
{
    return context->aux & CT_CONTEXT_CTXT ? (uint32_t)context->v : 0;
}

/* Returns the VMID, or virtual context ID, that a CONTEXT element tells, 0 where it tells none. */
static inline uint32_t ct_elem_vmid(const struct ct_elem *context)
{
    return context->aux & CT_CONTEXT_VMID ? (uint32_t)(context->v >> 32) : 0;
}

/* Returns the whole offset of an element; `end` is any offset at or after it and less than 4 GiB away. */
static inline uint64_t ct_elem_offset(const struct ct_elem *elem, uint64_t end)
{
    return end - ((uint32_t)end - elem->pos);
}

/* Returns why trace is missing at the element (enum ct_gap), or -1 when it tells of no loss. The wait for the
 * first synchronisation is none. */
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
 * registers that cannot be, CT_ERR_NOMEM. */
CT_API int ct_etm4_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                                struct ct_etm4_resolver **out);
CT_API void ct_etm4_resolver_free(struct ct_etm4_resolver *resolver);

/* Says that the stream was reset: what is uncommitted is gone, and a GAP (reset) comes with the
 * next packet. */
CT_API void ct_etm4_resolver_reset(struct ct_etm4_resolver *resolver);

/* Room that the array of elements must have, of all protocols. */
#define CT_RESOLVE_MIN 16

/* Takes packets and gives elements. `elems` has room for `cap`, at least CT_RESOLVE_MIN; *count is how many
 * were given. With `final` the packets are the last ones, and after them comes the END. Call again while
 * packets are left or *count > cap - CT_RESOLVE_MIN. Result: packets taken. */
CT_API size_t ct_etm4_resolve(struct ct_etm4_resolver *resolver, const struct ct_etm4_packet *packets,
                              size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_ptm_resolver;

/* Makes, frees, resets and runs a resolver of one PTM stream, as those of ETMv4 do. CT_ERR_CONFIG,
 * CT_ERR_NOMEM. */
CT_API int ct_ptm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_ptm_resolver **out);
CT_API void ct_ptm_resolver_free(struct ct_ptm_resolver *resolver);
CT_API void ct_ptm_resolver_reset(struct ct_ptm_resolver *resolver);
CT_API size_t ct_ptm_resolve(struct ct_ptm_resolver *resolver, const struct ct_ptm_packet *packets,
                             size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_etm3_resolver;

/* Makes, frees, resets and runs a resolver of one ETMv3 stream, as those of ETMv4 do. CT_ERR_NOMEM. */
CT_API int ct_etm3_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                                struct ct_etm3_resolver **out);
CT_API void ct_etm3_resolver_free(struct ct_etm3_resolver *resolver);
CT_API void ct_etm3_resolver_reset(struct ct_etm3_resolver *resolver);
CT_API size_t ct_etm3_resolve(struct ct_etm3_resolver *resolver, const struct ct_etm3_packet *packets,
                              size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

struct ct_stm_resolver;
struct ct_itm_resolver;

/* Makes, frees, resets and runs a resolver of one STM stream, as those of ETMv4 do. There is nothing to
 * resolve but the state that packets share: master, channel and time. CT_ERR_NOMEM. */
CT_API int ct_stm_resolver_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_stm_resolver **out);
CT_API void ct_stm_resolver_free(struct ct_stm_resolver *resolver);
CT_API void ct_stm_resolver_reset(struct ct_stm_resolver *resolver);
CT_API size_t ct_stm_resolve(struct ct_stm_resolver *resolver, const struct ct_stm_packet *packets,
                             size_t size, int final, struct ct_elem *elems, size_t cap, size_t *count);

/* Makes, frees, resets and runs a resolver of one ITM stream, as those of ETMv4 do. There is nothing to
 * resolve but the state that packets share: the page of stimulus ports and the prescaler. CT_ERR_NOMEM. */
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
