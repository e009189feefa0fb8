/* SPDX-License-Identifier: Apache-2.0 */
/* coretap decode: the layers tied into one chain, from a buffer of a capture to what the caller wants of it.
 * `on_elems` is called with each batch of elements:
 *
 *     struct ct_chain_options options = {.size = sizeof options, .level = CT_LEVEL_ELEMENT};
 *     struct ct_chain_sink sink = {.user = mine, .elems = on_elems};
 *     ct_capture_open(ctx, path, &capture);
 *     for (size_t i = 0; i < capture->buffer_count; i++)
 *         if (ct_chain_new(ctx, &capture->buffers[i], &options, &sink, &chain) == CT_OK) {
 *             rc = ct_chain_run(chain);
 *             ct_chain_free(chain);
 *         }
 */
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

/* How far the chain goes; each level includes those before it. */
enum ct_level {
    CT_LEVEL_FRAME,   /* bytes per trace ID */
    CT_LEVEL_PACKET,  /* protocol packets; what was lost is counted from here on */
    CT_LEVEL_ELEMENT, /* what the trace unit said, speculation resolved */
    CT_LEVEL_FLOW,    /* instruction ranges */
    CT_LEVEL_STEPS,   /* edges of the program graph, with cycles. Source address ranges are split (flow.h) */
};

/* How instructions are followed; the answers are the same. */
enum ct_engine {
    CT_ENGINE_AUTO,  /* FAST, unless the receiver wants records of the walk, or events */
    CT_ENGINE_PLAIN, /* ct_walk and ct_steps */
    CT_ENGINE_FAST,  /* ct_fast: no records of the walk are given, and no events from level FLOW on */
};

/* What is counted for each edge. */
enum ct_edges_level {
    CT_EDGES_NONE,
    CT_EDGES_CYCLES, /* traversals and cycles */
    CT_EDGES_COUNTS, /* traversals alone */
};

/* Packet types of a protocol at most. */
#define CT_PACKET_TYPES 96

/* What was seen of one trace ID, since the chain was made. */
struct ct_stream_stats {
    uint64_t bytes;
    uint64_t packets;
    uint64_t elements;
    uint64_t atoms;
    uint64_t branches;     /* flow: ranges that end with an executed branch */
    uint64_t instructions; /* flow: in ranges */
    uint64_t ranges;
    struct ct_losses losses;                /* without the bytes between frames, which are no stream's */
    struct ct_holes holes;                  /* flow: where losses.no_access was */
    uint64_t packet_types[CT_PACKET_TYPES]; /* by type: enum ct_etm4_type, ct_ptm_type, … */
};

/* One trace ID of the buffer. */
struct ct_stream {
    const struct ct_source *source;
    uint8_t id; /* as listed: 0 in a buffer without frames */
    struct ct_stream_stats stats;
    const struct ct_graph *graph; /* STEPS: the chain's, as long as it is there; else NULL */
    const struct ct_edges *edges; /* counts of the edges of the graph; NULL unless the options ask for it */
};

/* Packets in order. `pos` of each is a stream position; its bytes are at data[pos - run->pos]. */
struct ct_packet_batch {
    const void *packets; /* an array of the packet records of the protocol: struct ct_etm4_packet, … */
    size_t stride;       /* size of such a record */
    size_t count;
    uint8_t protocol;         /* enum ct_protocol */
    const uint64_t *offsets;  /* of each packet in the capture */
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
    uint32_t memory; /* that they were read in: the number that nodes have */
};

/* Receivers, one call a batch, which is borrowed for the call; those that are NULL are not called. A result
 * other than 0 stops the chain for good, which then returns it. They may ask the chain for its streams and
 * losses, but give it no bytes. `events` are made along the program from level FLOW on, so that no branch is
 * missing; below it from the elements, which have all branches of streams with branch broadcast alone. A
 * receiver of them alone at level ELEMENT is served fastest, but then not all elements, atoms and types of
 * packets are counted. `bytes` gets the input bytes taken so far, once a piece of input. */
struct ct_chain_sink {
    void *user;
    int (*packets)(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch);
    int (*elems)(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch);
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch);
    int (*flow)(void *user, const struct ct_stream *stream, const struct ct_flow_batch *batch);
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    int (*mark)(void *user, const struct ct_frame_mark *mark);
    int (*bytes)(void *user, uint64_t bytes);

    /* With threads, for receivers whose work is worth sharing: `part_new` makes an object that stands in for
     * `user` with the batches of a part of a stream. It and the receivers called with it run in any thread,
     * several at a time, in no order between parts. `part_end` gets the parts in order, in the thread that
     * calls the chain, and frees them; with `keep` 0 what the part got was wrong and counts for nothing. A
     * part that cannot be made is NULL (CT_ERR_NOMEM). Batches may still come to `user` itself, in order with
     * the parts. Without these two they all do. */
    void *(*part_new)(void *user, const struct ct_stream *stream);
    int (*part_end)(void *user, const struct ct_stream *stream, void *part, int keep);
};

struct ct_chain_options {
    size_t size;     /* sizeof(struct ct_chain_options) */
    uint8_t level;   /* enum ct_level */
    uint8_t framing; /* enum ct_framing; AUTO: what the capture says, or else what the bytes show */
    uint8_t split_source_ranges; /* see flow.h */
    uint8_t edges;               /* STEPS: enum ct_edges_level, for ct_chain_streams to give */
    uint8_t engine;              /* enum ct_engine */
    uint8_t bytewise; /* 1 to 8: ETMv4 and ETE are decoded so many bytes a turn by the function D(b, S, T) of
                         paper 1, with the same result, more slowly; CT_ERR_UNSUPPORTED where another protocol
                         is chosen too. 0: by the fastest way */
    uint16_t threads; /* decode with so many, with the same result, but with no more than there are
                         processors for the process; 0 and 1: the caller's alone. A batch may come later
                         than without, and what is read is held for longer */
    uint64_t ids[2];  /* bit i of ids[i / 64]: decode ID i. Both 0: all that have a source */
    uint16_t stream_threads; /* for a receiver of steps alone: not 0, streams are decoded side by side, in
                                slices, with so many threads, but with no more than there are processors for
                                the process. Steps come in the caller's thread, those of a stream in order,
                                and the order of streams does not depend on the number; no thread is at work
                                between two calls. It has no effect beside `threads` from 2 on, and where
                                memory changes. 0: each stream is decoded as far as there are bytes of it, by
                                the caller's thread */
    uint8_t pad[6];          /* 0 */
};

struct ct_chain;

/* Makes a chain for one buffer of a capture (not owned, neither is the sink). Loads the memory images when
 * the level is FLOW or more. CT_ERR_UNSUPPORTED for a protocol that is not decoded. Errors: also those of the
 * layers. */
CT_API int ct_chain_new(struct ct_ctx *ctx, const struct ct_buffer *buffer,
                        const struct ct_chain_options *options, const struct ct_chain_sink *sink,
                        struct ct_chain **out);
CT_API void ct_chain_free(struct ct_chain *chain);

/* Reads the whole buffer through the chain: its file, or standard input for "-". Once a chain; bytes do not
 * come before or behind it. CT_ERR_IO, CT_ERR_ARG, or what a receiver returned. */
CT_API int ct_chain_run(struct ct_chain *chain);

/* The same with bytes that the caller has: any number of pieces of any size, then the end, once. A piece is
 * not needed after the call. With framing AUTO the first piece decides it. CT_ERR_ARG behind the end, and
 * from a receiver. After another error nothing more is decoded, and each call returns that error. */
CT_API int ct_chain_push(struct ct_chain *chain, const void *data, size_t size);
CT_API int ct_chain_finish(struct ct_chain *chain);

/* Says that the bytes pushed next are those of `piece`, one of the buffer's. Unless it joins the one before,
 * decoders start afresh; offsets are from now on those of the piece. ct_chain_run does this by itself. */
CT_API int ct_chain_begin_piece(struct ct_chain *chain, const struct ct_piece *piece);

/* What of the streams is followed along the program. What is zero leaves nothing out. */
struct ct_chain_want {
    size_t size;              /* sizeof(struct ct_chain_want) */
    uint64_t ids[2];          /* bit i of ids[i / 64]: trace ID i. Both 0: all */
    const uint32_t *contexts; /* context IDs, as traced */
    size_t context_count;     /* number of `contexts`, 16 at most */
    uint8_t levels;           /* bit i: exception level i. 0: all */
    uint8_t keep_clocks;      /* 1: streams of other IDs still tell their timestamps and cycles */
    uint8_t pad[6];           /* 0 */
};

/* Lets a chain of level STEPS follow only what is wanted (NULL: all), from the next byte on. Streams of other
 * IDs are not decoded. Of an ETMv4 or ETE what ran in other contexts is decoded to elements and no further;
 * of what runs now, that is from the next context on that the trace tells. Receivers see what a trace unit
 * that filters would have shown. A stream that is wanted again is decoded from its next synchronisation point
 * on, a context followed from the next address in it. CT_ERR_LIMIT: too many contexts; CT_ERR_ARG, also for a
 * chain with threads, or of another level. */
CT_API int ct_chain_narrow(struct ct_chain *chain, const struct ct_chain_want *want);

/* Tells of a stream that was narrowed, was wanted again and is followed since: its ID, and the offset in the
 * capture from which on. Result: 1, each stream once, or 0 when there is none. */
CT_API int ct_chain_resumed(struct ct_chain *chain, uint8_t *id, uint64_t *offset);

/* What events of a source are made from. */
enum ct_events_from {
    CT_EVENTS_FROM_AUTO,    /* the program, where the buffer has any memory of it; else the trace */
    CT_EVENTS_FROM_PROGRAM, /* the program, along which every branch is found */
    CT_EVENTS_FROM_TRACE,   /* the trace alone: all branches of sources with branch broadcast */
};

/* Returns the level that gives the events of a source: CT_LEVEL_FLOW along the program, or
 * CT_LEVEL_ELEMENT from the trace. That of software trace is always ELEMENT. */
CT_API enum ct_level ct_events_level(const struct ct_buffer *buffer, const struct ct_source *source,
                                     enum ct_events_from from);

/* Returns 1 when no branch is missing in events that are made from the trace alone: the source has branch
 * broadcast, or is software trace. */
CT_API int ct_source_has_branches(const struct ct_source *source);

/* Returns 1 for types of packets that cannot be: reserved headers, bad sequences, packets cut by the end. */
CT_API int ct_packet_type_is_bad(enum ct_protocol protocol, unsigned type);

/* Returns the streams of the chain, by ID; those without a byte of trace included. Statistics and edges are
 * brought up to date by this call; the stream that receivers get has those of instructions from the last such
 * call. */
CT_API const struct ct_stream *ct_chain_streams(const struct ct_chain *chain, size_t *count);

/* Returns what was lost so far, in all streams that are decoded and between frames. Brings statistics up to
 * date as ct_chain_streams does. */
CT_API struct ct_losses ct_chain_losses(const struct ct_chain *chain);

/* Returns what the demultiplexer counted in the frames; NULL before the first byte. */
CT_API const struct ct_frame_stats *ct_chain_frame_stats(const struct ct_chain *chain);

/* Returns the framing in force; CT_FRAMING_AUTO before the first byte when it is still to be found out. */
CT_API enum ct_framing ct_chain_framing(const struct ct_chain *chain);

#ifdef __cplusplus
}
#endif
#endif
