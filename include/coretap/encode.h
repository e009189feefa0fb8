/* SPDX-License-Identifier: Apache-2.0 */
/* coretap encode: the inverse of the decoders. It turns packets, elements and per-ID runs of bytes into
 * trace: decode(encode(x)) == x. Here elements of an ETMv4 (elem.h) become trace:
 *
 *     ct_etm4_emitter_new(ctx, source, NULL, &emitter);
 *     while (size && !ct_etm4_emit(emitter, elems, size, 1, &taken, out, sizeof out, &length)) {
 *         fwrite(out, 1, length, file);
 *         elems += taken;
 *         size -= taken;
 *     }
 *     ct_etm4_emitter_free(emitter); */
#ifndef CORETAP_ENCODE_H
#define CORETAP_ENCODE_H

#include "coretap/base.h"
#include "coretap/elem.h"
#include "coretap/frame.h"
#include "coretap/input.h"
#include "coretap/packet.h"
#include "coretap/packet_itm.h"
#include "coretap/packet_ptm.h"
#include "coretap/packet_stm.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- packets to bytes ---- */

struct ct_etm4_encoder;

/* Makes an encoder of one stream of `source`. CT_ERR_ARG when the source is neither ETMv4 nor ETE,
 * CT_ERR_NOMEM. */
CT_API int ct_etm4_encoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                               struct ct_etm4_encoder **out);
CT_API void ct_etm4_encoder_free(struct ct_etm4_encoder *encoder);

/* Writes the bytes of one packet to out[0..cap), their number to *len. The encoder keeps the address history,
 * timestamp and cycle count threshold like a decoder, so packets must come in the order of the stream.
 * Members are those of packet.h; pos, valid and FIRST_INFO are not read.
 *   size   0: the shortest encoding. Else the wanted number of bytes, for packets of variable length (short
 *          addresses, timestamps, exceptions); fewer than the value needs are not possible.
 *   addresses must be reachable by the packet type: a short address keeps the upper bits of the previous
 *          one, a 32-bit one keeps or clears them as IHI 0064H 6.4.12 says.
 *   header is read for conditional and data synchronisation packets and cycle counts of format 2, where it
 *          holds fields; a value that does not belong to the type stands for the type's first header.
 * CT_ERR_ARG: the packet is impossible in this configuration or state; the context says why, nothing is
 * written and the state does not change. CT_ERR_LIMIT: `cap` is too small; CT_ETM4_PACKET_MAX always
 * suffices. */
CT_API int ct_etm4_encode_packet(struct ct_etm4_encoder *encoder, const struct ct_etm4_packet *packet,
                                 uint8_t *out, size_t cap, size_t *len);

struct ct_ptm_encoder;

/* Makes an encoder of one stream of `source`, which must be a PTM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_ptm_encoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_ptm_encoder **out);
CT_API void ct_ptm_encoder_free(struct ct_ptm_encoder *encoder);

/* Writes the bytes of one packet to out[0..cap), their number to *len. The encoder keeps the address,
 * instruction set and timestamp like a decoder, so packets must come in the order of the stream. Members are
 * those of packet_ptm.h; pos, valid and ISA_CHANGED are not read.
 *   size   0: the shortest encoding. Else the wanted number of bytes, for packets of variable length:
 *          alignment, addresses, exception information after a full address, timestamps. The packet is
 *          extended as far as possible. A waypoint update to A32 or Jazelle has its information byte only
 *          when the size asks for it.
 *   cc     is set exactly where the source traces one: with ETMCR.CycleAccurate, but not in periodic i-syncs.
 * CT_ERR_ARG: the packet is impossible in this configuration or state; the context says why, nothing is
 * written and the state does not change. CT_ERR_LIMIT: `cap` is too small; CT_PTM_PACKET_MAX always
 * suffices. */
CT_API int ct_ptm_encode_packet(struct ct_ptm_encoder *encoder, const struct ct_ptm_packet *packet,
                                uint8_t *out, size_t cap, size_t *len);

/* Writes the bytes of one ITM packet to out[0..cap), their number to *len. No state is kept between packets.
 * Members are those of packet_itm.h; pos, header and err are not read.
 *   size   0: the shortest encoding. Else the wanted number of bytes, for packets of variable length:
 *          alignment, timestamps.
 * CT_ERR_ARG: the packet is impossible, nothing is written. CT_ERR_LIMIT: `cap` is too small;
 * CT_ITM_PACKET_MAX always suffices. Encodings: ARMv7-M ARM DDI 0403E, appendix D4. */
CT_API int ct_itm_encode_packet(struct ct_ctx *ctx, const struct ct_itm_packet *packet, uint8_t *out,
                                size_t cap, size_t *len);

struct ct_stm_encoder;

/* Makes an encoder of one stream of `source`, which must be an STM. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stm_encoder_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_stm_encoder **out);
CT_API void ct_stm_encoder_free(struct ct_stm_encoder *encoder);

/* Writes the bytes of one STM packet to out[0..cap), their number to *len. Packets consist of half bytes: an
 * odd one is held until the next packet completes the byte; CT_STM_NULL is half a byte without meaning. The
 * encoder keeps version and timestamp like a decoder, so packets must come in the order of the stream.
 * Members are those of packet_stm.h; pos, size, master, channel and HALF are not read, and units only for
 * CT_STM_USER. Timestamps contain the units that changed. CT_ERR_ARG: the packet is impossible, or needs a
 * version packet before it; nothing is written and the state does not change. CT_ERR_LIMIT: `cap` is too
 * small; CT_STM_PACKET_MAX always suffices. */
CT_API int ct_stm_encode_packet(struct ct_stm_encoder *encoder, const struct ct_stm_packet *packet,
                                uint8_t *out, size_t cap, size_t *len);

/* Returns 1 when half a byte is held, else 0. */
CT_API int ct_stm_encoder_holds(const struct ct_stm_encoder *encoder);

/* ---- elements to bytes ---- */

struct ct_etm4_emitter;

struct ct_etm4_emit_options {
    size_t size;           /* sizeof(struct ct_etm4_emit_options) */
    uint32_t sync_period;  /* bytes between alignment packets; 0: only where an element asks for one */
    uint32_t cc_threshold; /* TRCCCCTLR.THRESHOLD as the trace info packets state it */
    uint32_t noise;        /* probability, in 256ths, of wrong speculation that is cancelled later; 0: none */
    uint64_t seed;         /* seed of the random wrong speculation */
};

/* Makes an emitter, which writes elements like a trace unit with the registers of `source`. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_etm4_emitter_new(struct ct_ctx *ctx, const struct ct_source *source,
                               const struct ct_etm4_emit_options *options, struct ct_etm4_emitter **out);
CT_API void ct_etm4_emitter_free(struct ct_etm4_emitter *emitter);

/* Maximal number of bytes for one element. */
#define CT_ETM4_EMIT_MAX 512

/* Writes elements as packets, as far as `cap` allows, which is at least CT_ETM4_EMIT_MAX. *taken elements are
 * used and *len bytes written. Call again while elements are left. With `final` nothing is held back after
 * the last one. CT_ERR_ARG: elems[*taken] cannot be expressed in this configuration. */
CT_API int ct_etm4_emit(struct ct_etm4_emitter *emitter, const struct ct_elem *elems, size_t size, int final,
                        size_t *taken, uint8_t *out, size_t cap, size_t *len);

struct ct_ptm_emitter;

/* Makes an emitter, which writes elements like a PTM with the registers of `source`. CT_ERR_ARG: the source
 * is no PTM. CT_ERR_NOMEM. */
CT_API int ct_ptm_emitter_new(struct ct_ctx *ctx, const struct ct_source *source,
                              struct ct_ptm_emitter **out);
CT_API void ct_ptm_emitter_free(struct ct_ptm_emitter *emitter);

/* Maximal number of bytes for one element. */
#define CT_PTM_EMIT_MAX 64

/* As ct_etm4_emit, with a `cap` of at least CT_PTM_EMIT_MAX. The elements are those of ct_ptm_resolve, in the
 * same order; the elements of one packet may come in several calls:
 *   i-sync     SYNC [TRACE_ON [CYCLES]] CONTEXT ADDRESS. n of the SYNC is 1 where tracing begins, with
 *              TRACE_ON for the reason; later TRACE_ON comes with all i-syncs except periodic ones. CYCLES
 *              with ETMCR.CycleAccurate. The walk along the program clears its return stack here.
 *   atoms      ATOMS; with ETMCR.CycleAccurate one at a time, followed by CYCLES.
 *   branch     ATOMS (one E, CT_ATOMS_TARGET) [CYCLES] [CONTEXT] ADDRESS: a taken indirect branch whose
 *              target is not on the return stack, or any taken branch with branch broadcast; the context
 *              where the security state or Hyp mode changes.
 *   exception  EXCEPTION (CT_EXCEPTION_HERE) [CYCLES] [CONTEXT] ADDRESS. A WAYPOINT before it moves
 *              execution to the last instruction that ran.
 *   identifier CONTEXT with CT_IS_SAME: a context ID, a VMID, or both.
 *   timestamp  TIMESTAMP [CYCLES].
 *   others     WAYPOINT, RETURN, EVENT (the trigger), GAP (CT_GAP_INIT) at the beginning, END.
 * CT_ERR_ARG: elems[*taken] cannot be expressed in this configuration or not here, or with `final` the last
 * packet is incomplete. Alignment packets come before the first i-sync and before periodic ones. The address
 * of a periodic i-sync is known only from following the program, so the caller inserts one each time as many
 * bytes were written as the synchronisation period has (ETMSYNCFR). */
CT_API int ct_ptm_emit(struct ct_ptm_emitter *emitter, const struct ct_elem *elems, size_t size, int final,
                       size_t *taken, uint8_t *out, size_t cap, size_t *len);

/* ---- runs of bytes to frames ---- */

struct ct_framer;

struct ct_framer_options {
    size_t size;           /* sizeof(struct ct_framer_options) */
    uint8_t framing;       /* CT_FRAMING_FRAMES, CT_FRAMING_TPIU or CT_FRAMING_DSTREAM */
    uint32_t fsync_period; /* TPIU, DSTREAM: frames between FSYNC words; 0: only the first one */
    uint32_t hsync_period; /* TPIU: number of frames per HSYNC halfword, which goes to the pair boundary after
                              the sixth byte; 0: none */
    uint64_t id_period;    /* frames after which a trace ID that does not change is repeated, so that a cut
                              before it does not leave the rest without an ID; 0: never */
};

/* Makes a framer that has written nothing yet. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_framer_new(struct ct_ctx *ctx, const struct ct_framer_options *options, struct ct_framer **out);
CT_API void ct_framer_free(struct ct_framer *framer);

/* Appends data[0..size) of trace ID `id` (0 to 126; ID 0 is padding). *used bytes are taken and *len written
 * to out[0..cap); `cap` is at least CT_FRAMER_OUT_MIN. Call again while bytes are left. */
CT_API int ct_framer_push(struct ct_framer *framer, uint8_t id, const uint8_t *data, size_t size,
                          size_t *used, uint8_t *out, size_t cap, size_t *len);

/* Fills the last frame with padding and, for DSTREAM, the last block. `cap` is at least 1024. */
CT_API int ct_framer_finish(struct ct_framer *framer, uint8_t *out, size_t cap, size_t *len);

#define CT_FRAMER_OUT_MIN 64

#ifdef __cplusplus
}
#endif
#endif
