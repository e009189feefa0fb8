/* SPDX-License-Identifier: Apache-2.0 */
/* coretap decode: a chain of all layers, which decodes a buffer of a capture up to the chosen level. Here
 * `on_elems` is called with each batch of elements:
 *
 *     struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
 *     struct ct_chain_sink sink = {.user = mine, .elems = on_elems};
 *     ct_capture_open(ctx, path, &capture);
 *     for (size_t i = 0; i < capture->buffer_count; i++)
 *         if (ct_chain_new(ctx, &capture->buffers[i], &options, &sink, &chain) == CT_OK) {
 *             rc = ct_chain_run(chain);
 *             ct_chain_free(chain);
 *         } */
#ifndef CORETAP_DECODE_H
#define CORETAP_DECODE_H

#include "coretap/base.h"
#include "coretap/edges.h"
#include "coretap/elem.h"
#include "coretap/event.h"
#include "coretap/flow.h"
#include "coretap/frame.h"
#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/packet.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How far the chain decodes; each level includes the levels before it. */
enum ct_level {
    CT_LEVEL_FRAME,   /* bytes per trace ID */
    CT_LEVEL_PACKET,  /* protocol packets; losses are counted from this level on */
    CT_LEVEL_ELEMENT, /* what the trace unit reported, with speculation resolved */
    CT_LEVEL_FLOW,    /* instruction ranges */
    CT_LEVEL_STEPS,   /* edges of the program graph, with cycles. Source address ranges are split (flow.h) */
};

/* How the program is followed. All engines give the same results. */
enum ct_engine {
    CT_ENGINE_AUTO,  /* FAST, unless the sink receives flow records or events */
    CT_ENGINE_PLAIN, /* ct_walk and ct_steps, one after the other: gives everything, and is slower */
    CT_ENGINE_FAST,  /* ct_fast: gives no flow records; events from level FLOW on are CT_ERR_ARG */
};

/* What is counted for each edge. */
enum ct_edges_level {
    CT_EDGES_NONE,
    CT_EDGES_CYCLES, /* traversals and cycles */
    CT_EDGES_COUNTS, /* traversals alone */
};

/* Maximal number of packet types of a protocol. */
#define CT_PACKET_TYPES 96

/* Statistics of one trace ID since the chain was made. */
struct ct_stream_stats {
    uint64_t bytes;
    uint64_t packets;
    uint64_t elements;
    uint64_t atoms;
    uint64_t branches;     /* flow: ranges that end with an executed branch */
    uint64_t instructions; /* flow: in ranges */
    uint64_t ranges;
    struct ct_losses losses;                /* without bytes between frames, which belong to no stream */
    struct ct_holes holes;                  /* flow: where the instructions of losses.no_access were */
    uint64_t packet_types[CT_PACKET_TYPES]; /* by type: enum ct_etm4_type, ct_ptm_type, … */
};

/* One trace ID of the buffer. */
struct ct_stream {
    const struct ct_source *source;
    uint8_t id; /* as listed: 0 in a buffer without frames */
    struct ct_stream_stats stats;
    const struct ct_graph *graph; /* STEPS: owned by the chain and valid as long as it; else NULL */
    const struct ct_edges *edges; /* counts of the edges of the graph; NULL unless options.edges is set */
};

/* Packets in order. The `pos` of each packet is a position in the stream; its bytes are at data[pos -
 * run->pos]. */
struct ct_packet_batch {
    const void *packets; /* an array of the packet records of the protocol: struct ct_etm4_packet, … */
    size_t stride;       /* size of one packet record */
    size_t count;
    uint8_t protocol;         /* enum ct_protocol */
    const uint64_t *offsets;  /* offset of each packet in the capture */
    const struct ct_run *run; /* where the bytes are */
};

struct ct_elem_batch {
    const struct ct_elem *elems;
    size_t count;
    uint64_t end; /* for ct_elem_offset */
};

struct ct_flow_batch {
    const struct ct_flow *records;
    size_t count;
    uint32_t memory; /* number of the memory that the code was read from, as in the nodes of the graph */
};

/* Receivers, called once for each batch, which is borrowed for the call; NULL: not called. A result other
 * than 0 stops the chain for good and becomes its result. Receivers may ask the chain for its streams and
 * losses; pushing, running and finishing are CT_ERR_ARG from here. From level FLOW on, `events` are made
 * along the program, so that no branch is missing. Below FLOW they are made from the elements, which have all
 * branches only in streams with branch broadcast. A sink that only has `events`, at level ELEMENT, is the
 * fastest, but then not all elements, atoms and packet types are counted. `bytes` gets the number of input
 * bytes taken so far, once for each piece. */
struct ct_chain_sink {
    void *user;
    int (*packets)(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch);
    int (*elems)(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch);
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch);
    int (*flow)(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch);
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    int (*mark)(void *user, const struct ct_frame_mark *mark);
    int (*bytes)(void *user, uint64_t bytes);

    /* Optional, with threads, for receivers whose work is worth sharing. `part_new` makes an object that
     * replaces `user` for the batches of one part of a stream. It and the receivers called with it run in any
     * thread, several at a time, in no order between parts. `part_end` gets the parts in order, in the thread
     * that calls the chain, and frees them; with `keep` 0 the batches of the part were wrong and must be
     * dropped. `part_new` returns NULL when the part cannot be made (CT_ERR_NOMEM). Some batches may still
     * come to `user` itself, in order with the parts; without these two functions all do. */
    void *(*part_new)(void *user, const struct ct_stream *stream);
    int (*part_end)(void *user, const struct ct_stream *stream, void *part, int keep);
};

struct ct_chain_options {
    size_t size;                 /* sizeof(struct ct_chain_options) */
    uint8_t level;               /* enum ct_level */
    uint8_t framing;             /* enum ct_framing; AUTO: as the capture says, else as the bytes show */
    uint8_t split_source_ranges; /* see flow.h */
    uint8_t edges;               /* STEPS: enum ct_edges_level, what ct_chain_streams returns for each edge */
    uint8_t engine;              /* enum ct_engine */
    uint8_t bytewise; /* 1 to 8: decodes ETMv4 and ETE so many bytes at a time with the function D(b, S, T) of
                         paper 1, with the same result, but more slowly; CT_ERR_UNSUPPORTED when another
                         protocol is chosen as well. 0: the fastest way */
    uint16_t threads; /* threads to decode with, at most as many as the process has processors; 0 and 1: only
                         the caller's. The result is the same, but batches may come later, and input is held
                         for longer */
    uint64_t ids[2];  /* bit i of ids[i / 64]: decode ID i. Both 0: all IDs that have a source */
    uint16_t stream_threads; /* for a sink that only receives steps. Not 0: streams are decoded side by side,
                                in slices, by so many threads, at most as many as the process has processors.
                                Steps come in the caller's thread, in order within a stream; the order of
                                streams does not depend on the number of threads. No thread works between two
                                calls. Has no effect when `threads` is 2 or more, and where memory changes. 0:
                                the caller's thread decodes each stream as far as there are bytes */
    uint8_t pad[6];          /* 0 */
};

struct ct_chain;

/* Makes a chain for one buffer of a capture. Neither the buffer nor the sink is owned: both must stay valid
 * as long as the chain. `sink` NULL: only statistics and edges are wanted. Loads the memory images when the
 * level is FLOW or more. CT_ERR_UNSUPPORTED for a protocol that is not decoded. Errors: also those of the
 * layers. */
CT_API int ct_chain_new(struct ct_ctx *ctx, const struct ct_buffer *buffer,
                        const struct ct_chain_options *options, const struct ct_chain_sink *sink,
                        struct ct_chain **out);
CT_API void ct_chain_free(struct ct_chain *chain);

/* Reads the whole buffer through the chain: its file, or standard input for "-". At most once for each chain,
 * and not together with ct_chain_push. CT_ERR_IO, CT_ERR_ARG, or what a receiver returned. */
CT_API int ct_chain_run(struct ct_chain *chain);

/* The same with bytes from the caller: any number of pieces of any size, then the end, once. A piece is not
 * needed after the call. With framing AUTO the first piece decides the framing. CT_ERR_ARG after the end, and
 * from a receiver. After another error nothing more is decoded, and each call returns that error. */
CT_API int ct_chain_push(struct ct_chain *chain, const void *data, size_t size);
CT_API int ct_chain_finish(struct ct_chain *chain);

/* Announces that the bytes pushed next belong to `piece`: one of the buffer's pieces, or one of the caller's.
 * Decoders start afresh unless it continues the previous piece; offsets are those of the piece from now on.
 * ct_chain_run does this by itself. A caller that pushed the bytes before `from`, lost some, and goes on at
 * `to` announces two pieces, so that each stream has a gap there:
 *
 *     struct ct_piece piece = {.offset = from, .joins = 1, .cut = 1};
 *     piece.time = CT_NO_TIME;
 *     piece.tid = CT_NO_THREAD;
 *     ct_chain_begin_piece(chain, &piece);
 *     piece.offset = to;
 *     piece.joins = piece.cut = 0;
 *     ct_chain_begin_piece(chain, &piece);
 *
 * With memory-aligned frames, `to` is the offset of a frame. */
CT_API int ct_chain_begin_piece(struct ct_chain *chain, const struct ct_piece *piece);

/* Which part of the streams is followed along the program. Zero members exclude nothing. */
struct ct_chain_want {
    size_t size;              /* sizeof(struct ct_chain_want) */
    uint64_t ids[2];          /* bit i of ids[i / 64]: trace ID i. Both 0: all */
    const uint32_t *contexts; /* context IDs, as traced */
    size_t context_count;     /* number of `contexts`, at most 16 */
    uint8_t levels;           /* bit i: exception level i. 0: all */
    uint8_t keep_clocks;      /* 1: streams of other IDs still give their timestamps and cycles */
    uint8_t pad[6];           /* 0 */
};

/* Restricts a chain of level STEPS to what is wanted (NULL: everything), from the next byte on. Streams of
 * other IDs are not decoded. ETMv4 and ETE trace of other contexts is decoded only to elements; the
 * restriction of contexts takes effect at the next context in the trace. Receivers see what a trace unit with
 * such a filter would have produced. A stream that is wanted again is decoded from its next synchronisation
 * point on, a context is followed from the next address in it. CT_ERR_LIMIT: too many contexts; CT_ERR_ARG,
 * also for a chain with threads, or of another level. */
CT_API int ct_chain_narrow(struct ct_chain *chain, const struct ct_chain_want *want);

/* Returns a stream that is followed again after ct_chain_narrow had excluded it: its ID, and the offset in
 * the capture where that begins. Returns 1, once for each stream, or 0 when there is none. */
CT_API int ct_chain_resumed(struct ct_chain *chain, uint8_t *id, uint64_t *offset);

/* What the events of a source are made from. */
enum ct_events_from {
    CT_EVENTS_FROM_AUTO,    /* the program, if the buffer has any memory of it; else the trace */
    CT_EVENTS_FROM_PROGRAM, /* the program, which shows every branch */
    CT_EVENTS_FROM_TRACE,   /* the trace alone, which has all branches only of sources with branch
                               broadcast */
};

/* Returns the level that gives the events of a source: CT_LEVEL_FLOW along the program, or CT_LEVEL_ELEMENT
 * from the trace. For software trace it is always ELEMENT. */
CT_API enum ct_level ct_events_level(const struct ct_buffer *buffer, const struct ct_source *source,
                                     enum ct_events_from from);

/* Returns 1 when events made from the trace alone lack no branch: the source has branch broadcast, or is
 * software trace. */
CT_API int ct_source_has_branches(const struct ct_source *source);

/* Returns 1 for packet types that mean damage: reserved headers, bad sequences, packets cut by the end. */
CT_API int ct_packet_type_is_bad(enum ct_protocol protocol, unsigned type);

/* Returns the streams of the chain by ID, including those without trace. The call updates statistics and
 * edges; the stream passed to receivers has the instruction counts of the last such call. */
CT_API const struct ct_stream *ct_chain_streams(const struct ct_chain *chain, size_t *count);

/* Returns what was lost so far, in all decoded streams and between frames. Updates statistics like
 * ct_chain_streams. */
CT_API struct ct_losses ct_chain_losses(const struct ct_chain *chain);

/* Returns the statistics of the frame demultiplexer; NULL before the first byte. */
CT_API const struct ct_frame_stats *ct_chain_frame_stats(const struct ct_chain *chain);

/* Returns the framing in use; CT_FRAMING_AUTO before the first byte when it is not known yet. */
CT_API enum ct_framing ct_chain_framing(const struct ct_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
