/* SPDX-License-Identifier: Apache-2.0 */
/* coretap frame: splits CoreSight frames into one run of bytes for each trace ID. Their layout is that of the
 * CoreSight Architecture Specification, ARM IHI 0029, chapter "Trace formatter"; footers of DSTREAM:
 * docs/formats.md.
 *
 *     struct ct_demux_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
 *     ct_demux_new(ctx, &options, &demux);
 *     ct_demux_push(demux, bytes, size, &used);
 *     ct_demux_run(demux, 0x10, &run);
 *     fwrite(run.data, 1, run.size, file);
 *     ct_demux_consume(demux, 0x10, run.size);
 *     ct_demux_free(demux); */
#ifndef CORETAP_FRAME_H
#define CORETAP_FRAME_H

#include "coretap/base.h"
#include "coretap/input.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Offsets in this header count the bytes of the capture, including synchronisation words. In a DSTREAM
 * capture the footers are removed first and do not count; ct_framing_file_offset gives the offset in the
 * file. */

/* A span: one entry of the map from positions in an ID's stream to offsets in the capture. It covers stream
 * position `pos` up to the `pos` of the next span, which may be the same. `place` is the offset of the byte
 * at `pos`, shifted left by five bits. The uppermost of the five is CT_SPAN_FRAMES. Where it is clear,
 * consecutive bytes are adjacent. Where it is set, the bytes are those of frames without an ID byte: 15 bytes
 * each, followed by one that is not data; the other four bits say how many of the 15 come before `pos`, 15
 * when the next byte is the one that is not data. ct_span_offset decodes it. */
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
        span->place & CT_SPAN_FRAMES ? (n + span->place % 16) / 15 : 0; /* division by a constant: cheap */
    return (span->place >> CT_SPAN_BITS) + n + gaps;
}

/* Bytes of one trace ID that wait to be decoded. Borrowed until the next call with the demultiplexer. */
struct ct_run {
    const uint8_t *data;
    size_t size;
    uint64_t pos;                /* stream position of data[0]: number of bytes of this ID before it */
    const struct ct_span *spans; /* the first begins at or before `pos` */
    size_t span_count;
};

/* Returns the index of the span that contains stream position `pos`: the last one that begins at or before
 * it. 0 for an empty run. */
CT_API size_t ct_run_span(const struct ct_run *run, uint64_t pos);

/* Returns the offset in the capture of stream position `pos`. The position is in the run or directly after
 * its end. Where bit 0 of the byte is in the last byte of the frame, it is the offset of the other seven
 * bits. 0 for an empty run. */
CT_API uint64_t ct_run_offset(const struct ct_run *run, uint64_t pos);

/* Returns the offset in the file of the byte at `offset` of the capture. The two differ only for DSTREAM. */
CT_API uint64_t ct_framing_file_offset(enum ct_framing framing, uint64_t offset);

/* What a frame stream contains besides trace, counted since the demultiplexer was made. */
struct ct_frame_stats {
    uint64_t input_bytes;    /* bytes taken, including footers */
    uint64_t frames;         /* whole frames */
    uint64_t fsyncs, hsyncs; /* synchronisation words, half-synchronisation halfwords */
    uint64_t footer_bytes;
    uint64_t resets;         /* runs of four or more FSYNC */
    uint64_t null_bytes;     /* data of ID 0, and frames of zeros before the first ID */
    uint64_t reserved_bytes; /* data of the reserved IDs 0x70 to 0x7a, 0x7c, 0x7e, 0x7f */
    uint64_t trigger_bytes;  /* data of ID 0x7d, triggers, and 0x7b, flushes */
    uint64_t no_id_bytes;    /* data before the first ID, or after a cut frame and before the next ID */
    uint64_t lost_bytes;     /* bytes in no frame: before the first FSYNC, in cut frames */
    uint64_t edge_bytes;     /* of lost_bytes, those at the two ends of a TPIU stream, which seldom are frame
                                boundaries */
    uint64_t id_bytes[128];  /* data bytes of each ID */
};

enum ct_frame_trouble {
    CT_FRAME_NO_SYNC, /* bytes before the first FSYNC of a TPIU stream */
    CT_FRAME_CUT,     /* a frame ended early: by an FSYNC inside it or by the end of input */
    CT_FRAME_RESET,   /* four or more FSYNC in a row: decoders start afresh */
};

/* Damage (or a reset) at `offset` in the capture; `lost` bytes could not be used. */
struct ct_frame_mark {
    uint64_t offset;
    uint32_t lost; /* 0xffffffff: that many or more */
    uint8_t kind;  /* enum ct_frame_trouble */
};

struct ct_demux;

struct ct_demux_options {
    size_t size;            /* sizeof(struct ct_demux_options) */
    uint8_t framing;        /* enum ct_framing, not AUTO */
    uint8_t no_fsync_reset; /* 1: rows of FSYNC are only padding; four of them are no reset */
};

/* Makes a demultiplexer. CT_ERR_ARG for impossible options, CT_ERR_NOMEM. */
CT_API int ct_demux_new(struct ct_ctx *ctx, const struct ct_demux_options *options, struct ct_demux **out);
CT_API void ct_demux_free(struct ct_demux *demux);

/* Chooses whether the bytes of `id` (0 to 127) are kept. With `keep` 0 they are only counted, and the run of
 * the ID stays empty. Initially all are kept. */
CT_API void ct_demux_keep(struct ct_demux *demux, uint8_t id, int keep);

/* Takes bytes, in pieces of any size; how the input is cut changes no result. *used bytes were taken: less
 * than `size` only when there is a mark (ct_demux_marks). The runs then hold what came before the mark: drain
 * them, reset the decoders if needed, and continue with the rest. Runs grow until ct_demux_consume, so drain
 * them after each call. CT_ERR_NOMEM: then the demultiplexer can only be freed. */
CT_API int ct_demux_push(struct ct_demux *demux, const uint8_t *data, size_t size, size_t *used);

/* Ends the input. An incomplete frame becomes a mark. CT_ERR_NOMEM: then the demultiplexer can only be
 * freed. */
CT_API int ct_demux_finish(struct ct_demux *demux);

/* Moves to another place of the capture: the bytes pushed next are at `offset` and unrelated to those before.
 * Drops synchronisation, ID and an incomplete frame (for which ct_demux_finish would make a mark). Runs are
 * kept. */
CT_API void ct_demux_restart(struct ct_demux *demux, uint64_t offset);

/* Sets the offset in the capture of the bytes pushed next, which still continue those before. */
CT_API void ct_demux_move(struct ct_demux *demux, uint64_t offset);

/* Returns the bytes of `id` that were not consumed yet (0 to 127; without frames everything is ID 0). With
 * frames there is never a run of ID 0 and 0x70 to 0x7f: their bytes are only counted. */
CT_API void ct_demux_run(const struct ct_demux *demux, uint8_t id, struct ct_run *out);

/* Removes the first `count` bytes from the run of `id`, all if it has fewer. */
CT_API void ct_demux_consume(struct ct_demux *demux, uint8_t id, size_t count);

/* Returns the marks of the last ct_demux_push or ct_demux_finish, in order: at most one. Borrowed until the
 * next call. */
CT_API const struct ct_frame_mark *ct_demux_marks(const struct ct_demux *demux, size_t *count);

/* Returns the statistics so far. Borrowed from the demultiplexer, which updates them. */
CT_API const struct ct_frame_stats *ct_demux_stats(const struct ct_demux *demux);

/* Returns what is wrong with the first bytes of a capture, in words, or NULL. It detects compressed files;
 * memory that was never written; frames that begin at a later byte, or whose words have their bytes reversed;
 * and another framing than the one that was stated (CT_FRAMING_AUTO: none was). */
CT_API const char *ct_framing_trouble(enum ct_framing framing, const uint8_t *data, size_t size);

/* Detects the framing from the first bytes of a framed capture: CT_FRAMING_FRAMES, TPIU or DSTREAM. Pass all
 * bytes, or 64 KiB; it needs at least two synchronisation words to tell TPIU from DSTREAM. */
CT_API enum ct_framing ct_framing_probe(const uint8_t *data, size_t size);

#ifdef __cplusplus
}
#endif
#endif
