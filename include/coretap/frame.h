/* SPDX-License-Identifier: Apache-2.0 */
/* coretap frame: CoreSight frames taken apart into one run of bytes per trace ID. Their layout is that of the
 * CoreSight Architecture Specification, ARM IHI 0029, chapter "Trace formatter"; footers of DSTREAM:
 * docs/formats.md. */
#ifndef CORETAP_FRAME_H
#define CORETAP_FRAME_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Offsets in this header count the bytes of the capture, synchronisation words included. In a DSTREAM capture
 * the footers are taken out first and do not count; ct_framing_file_offset gives the place in the file. */

/* A piece of the map from positions in an ID's stream to offsets in the capture: from stream position
 * `pos` up to the `pos` of the next piece, which may be the same. `place` is the offset of the byte at `pos`,
 * with five bits behind it. Where the uppermost of them (CT_SPAN_FRAMES) is clear, consecutive bytes lie side
 * by side; where it is set, they are those of frames without an ID byte, each 15 bytes followed by one that
 * is not data, and the other four say how many of the 15 there are before `pos`, 15 when the next byte is the
 * one that is not data. ct_span_offset reads it. */
struct ct_span {
    uint64_t pos;
    uint64_t place;
};

#define CT_SPAN_BITS   5
#define CT_SPAN_FRAMES 16u

/* Returns the offset in the capture that a span gives to stream position `pos`. */
static inline uint64_t ct_span_offset(const struct ct_span *span, uint64_t pos)
{
    const uint64_t n = pos - span->pos;
    const uint64_t gaps =
        span->place & CT_SPAN_FRAMES ? (n + span->place % 16) / 15 : 0; /* by a constant: cheap */
    return (span->place >> CT_SPAN_BITS) + n + gaps;
}

/* Bytes of one trace ID that are there to be decoded. Borrowed until the next call with the demultiplexer. */
struct ct_run {
    const uint8_t *data;
    size_t size;
    uint64_t pos;                /* stream position of data[0]: bytes of this ID before it */
    const struct ct_span *spans; /* the first begins at or before `pos` */
    size_t span_count;
};

/* Returns the index of the span that stream position `pos` is in: the last that begins at or before it. 0 for
 * an empty run. */
CT_API size_t ct_run_span(const struct ct_run *run, uint64_t pos);

/* Returns the offset in the capture of stream position `pos`. It lies in the run or right behind its end.
 * Where the byte's bit 0 is kept in the last byte of the frame, this is where the other seven are. 0 for an
 * empty run. */
CT_API uint64_t ct_run_offset(const struct ct_run *run, uint64_t pos);

/* Returns where in the file the byte at `offset` of the capture is: the same, but for DSTREAM. */
CT_API uint64_t ct_framing_file_offset(enum ct_framing framing, uint64_t offset);

/* Things in a frame stream that are no trace, counted since the demultiplexer was made. */
struct ct_frame_stats {
    uint64_t input_bytes;    /* bytes taken, footers included */
    uint64_t frames;         /* whole frames */
    uint64_t fsyncs, hsyncs; /* synchronisation words, half-synchronisation halfwords */
    uint64_t footer_bytes;
    uint64_t resets;         /* runs of four or more FSYNC */
    uint64_t null_bytes;     /* data of ID 0, and frames of zeros before the first ID */
    uint64_t reserved_bytes; /* data of the reserved IDs 0x70 to 0x7a, 0x7c, 0x7e, 0x7f */
    uint64_t trigger_bytes;  /* data of ID 0x7d, triggers, and 0x7b, flushes */
    uint64_t no_id_bytes;    /* data before the first ID, or after a cut frame and before the next one */
    uint64_t lost_bytes;     /* bytes that belonged to no frame: before the first FSYNC, cut frames */
    uint64_t edge_bytes;    /* of these, at the two ends of a TPIU stream, which seldom begins and ends with a
                               frame */
    uint64_t id_bytes[128]; /* data per ID, of all IDs */
};

enum ct_frame_trouble {
    CT_FRAME_NO_SYNC, /* bytes before the first FSYNC of a TPIU stream */
    CT_FRAME_CUT,     /* a frame ended early: by an FSYNC inside it or by the end of input */
    CT_FRAME_RESET,   /* four or more FSYNC: decoders start afresh */
};

/* One piece of trouble (or reset), at `offset` in the capture; `lost` bytes could not be used. */
struct ct_frame_mark {
    uint64_t offset;
    uint32_t lost; /* 0xffffffff: that many or more */
    uint8_t kind;  /* enum ct_frame_trouble */
};

struct ct_demux;

struct ct_demux_options {
    size_t size;            /* sizeof(struct ct_demux_options) */
    uint8_t framing;        /* enum ct_framing, not AUTO */
    uint8_t no_fsync_reset; /* 1: rows of FSYNC are only filling; go on as before after four of them */
};

/* Makes a demultiplexer. CT_ERR_ARG for options that cannot be, CT_ERR_NOMEM. */
CT_API int ct_demux_new(struct ct_ctx *ctx, const struct ct_demux_options *options, struct ct_demux **out);
CT_API void ct_demux_free(struct ct_demux *demux);

/* Says whether the bytes of `id` (0 to 127) are kept; with `keep` 0 they are counted only, and its run stays
 * empty. All are kept unless this is called. */
CT_API void ct_demux_keep(struct ct_demux *demux, uint8_t id, int keep);

/* Takes bytes, in pieces of any size; cutting the input elsewhere changes no result. *used bytes were taken:
 * less than `size` only when there is a mark (ct_demux_marks). What the runs hold then came before it: drain
 * them, tell the decoders, go on with the rest. Runs grow until ct_demux_consume, so drain them after each
 * call. CT_ERR_NOMEM: then the demultiplexer can only be freed. */
CT_API int ct_demux_push(struct ct_demux *demux, const uint8_t *data, size_t size, size_t *used);

/* Ends the input: what is left of a frame becomes a mark. CT_ERR_NOMEM: then the demultiplexer can only be
 * freed. */
CT_API int ct_demux_finish(struct ct_demux *demux);

/* Goes to another place of the capture: what is pushed next lies at `offset` and has nothing to do with what
 * came before. Synchronisation and ID are forgotten, and so is a frame in work (which ct_demux_finish makes a
 * mark of). Runs stay. */
CT_API void ct_demux_restart(struct ct_demux *demux, uint64_t offset);

/* Says where in the capture the bytes pushed next lie, though they follow what came before. */
CT_API void ct_demux_move(struct ct_demux *demux, uint64_t offset);

/* Gives the bytes of `id` that were not consumed yet (0 to 127; without frames everything is ID 0). With
 * frames there is never a run of ID 0 and 0x70 to 0x7f: their bytes are counted only. */
CT_API void ct_demux_run(const struct ct_demux *demux, uint8_t id, struct ct_run *out);

/* Takes the first `count` bytes off the run of `id`; more than there are means all. */
CT_API void ct_demux_consume(struct ct_demux *demux, uint8_t id, size_t count);

/* Returns the marks of the last ct_demux_push or ct_demux_finish, in order: at most one. Borrowed until the
 * next call. */
CT_API const struct ct_frame_mark *ct_demux_marks(const struct ct_demux *demux, size_t *count);

/* Returns what was counted so far. Borrowed from the demultiplexer, which goes on counting in it. */
CT_API const struct ct_frame_stats *ct_demux_stats(const struct ct_demux *demux);

/* Returns what is wrong with the first bytes of a framed capture, for people. It sees synchronisation words
 * or IDs that make sense only when the bytes of each 32-bit word are reversed; else NULL. */
CT_API const char *ct_framing_trouble(const uint8_t *data, size_t size);

/* Finds out the framing from the first bytes of a framed capture: CT_FRAMING_FRAMES, TPIU or DSTREAM. Give it
 * all there are, or 64 KiB; it has to see two synchronisation words or more to tell TPIU from DSTREAM. */
CT_API enum ct_framing ct_framing_probe(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
