/* SPDX-License-Identifier: Apache-2.0 */
/* coretap session: one pass over a capture for any number of analyses. It decodes only as far as they need,
 * finds the programs that ran, and counts losses.
 *
 *     struct ct_session_options options = {.size = sizeof options, .programs = programs, .threads = 4};
 *     ct_session_new(ctx, &options, &session);
 *     ct_session_add(session, ct_cover_analysis(cover));
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     printf("%llu gaps\n", (unsigned long long)ct_session_seen(session)->losses.gaps); */
#ifndef CORETAP_SESSION_H
#define CORETAP_SESSION_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/decode.h"
#include "coretap/event.h"
#include "coretap/filter.h"
#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/programs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Statistics of a capture, as far as it was decoded. */
struct ct_seen {
    struct ct_losses losses;
    struct ct_holes holes; /* where losses.no_access was */
    uint64_t bytes;        /* of input */
    uint64_t instructions; /* executed */
    uint8_t has_trace;     /* 1: there was a byte of trace */
    uint8_t ran;           /* 1: something was executed, or this is unknown: STM, ITM, or levels below FLOW */
    uint8_t misframed;     /* 1: a buffer that should have frames has none */
    uint8_t pad[5];        /* 0 */
};

/* Adds the statistics of a chain of `level` whose trace has ended. `frames` 1: also counts the bytes between
 * frames; of several chains over one buffer only one should. */
CT_API void ct_seen_add(struct ct_seen *seen, const struct ct_chain *chain, enum ct_level level, int frames);

/* Returns 1 when the trace of a capture is incomplete: trace was lost, contradicts the program, or the file
 * is damaged; also when nothing ran and trace was lost in overflows, or memory was missing. With `strict` 1
 * overflows and missing memory always count. */
CT_API int ct_seen_is_damaged(const struct ct_seen *seen, const struct ct_capture *capture, int strict);

/* Result of a receiver that wants no more of a stream in its turn: the session continues with the next
 * stream. */
#define CT_SESSION_NEXT 0x6e657874

/* A stream whose turn it is (options.begin). */
struct ct_session_turn {
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    struct ct_chain_sink sink;   /* to be filled in: receivers of its records. `user` is that of the options,
                                    unless it is set. A result other than 0 and CT_SESSION_NEXT ends the run
                                    and becomes its result */
    uint8_t id;                  /* as listed: 0 in a buffer without frames */
    uint8_t level;               /* to be set, FLOW otherwise: enum ct_level */
    uint8_t split_source_ranges; /* to be set, as in struct ct_chain_options */
    uint8_t bytewise;            /* to be set, as in struct ct_chain_options */
    uint8_t pad[4];              /* 0 */
};

struct ct_ran;   /* ran.h */
struct ct_shard; /* shard.h */

struct ct_session_options {
    size_t size;                  /* sizeof(struct ct_session_options) */
    struct ct_programs *programs; /* the programs that ran (not owned); those of memories that change are
                                     added to them. May be NULL */
    uint16_t threads;             /* as in struct ct_chain_options */
    uint8_t edges;                /* as in struct ct_chain_options: counts for `decoded`, beside what analyses
                                     need */
    uint8_t index;   /* 1: an index of the times of streams is kept in a file beside each buffer in which a
                        window is searched, FILE.ctx; an existing one for the same file is used */
    uint64_t ids[2]; /* as in struct ct_chain_options */
    void *user;      /* passed to the functions below, which may be NULL */
    /* Receives the number of input bytes of this capture read so far. A result other than 0 ends the run and
     * becomes its result. */
    int (*progress)(void *user, uint64_t bytes);
    /* Receives steps, in order, beside the analyses. A result other than 0 ends the run and becomes its
     * result. */
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    /* Receives the chain of each buffer at the end of its trace, after all its steps, with its programs
     * known. The same result. */
    int (*decoded)(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain);
    /* Which part of the captures is analysed (not owned); NULL: all. Steps and counts are those that it
     * keeps. The statistics cover what was decoded: not excluded streams, nor, except for a little, what is
     * outside of the windows of others. */
    const struct ct_filter *filter;
    const char *part; /* the part that the filter keeps, in words, for saved results; must stay valid; or
                         NULL */
    /* With it streams are decoded one after the other, each in its own pass over the buffer, so that the
     * records of a stream come together. It is called before each stream, in the order of buffers and IDs,
     * and sets the receivers. A result other than 0 ends the run and becomes its result. There are no
     * analyses then, `steps` is not called, and `decoded` is called for each stream; programs that the filter
     * needs must be known before. With a filter that excludes single steps, receivers of anything but steps,
     * marks and bytes are CT_ERR_ARG. */
    int (*begin)(void *user, struct ct_session_turn *turn);
    /* Receives the events that the filter keeps of the stream whose turn it is, in order. `begin` sets the
     * level that they come from, ELEMENT or FLOW (see ct_events_level), and may set no receivers but those of
     * marks and bytes, else CT_ERR_ARG. `user` and the result are like those of a turn. */
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count);
    struct ct_shard *shard; /* decode only this part of the capture (shard.h, not owned); NULL: all of it.
                               With it the capture is not added to the analyses, and `begin` must not be
                               set */
    struct ct_ran *ran; /* receives what ran in each buffer, before `decoded` (ran.h, not owned); the session
                           only adds to it. NULL: not needed */
};

struct ct_session;

/* Makes a session without analyses. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_session_new(struct ct_ctx *ctx, const struct ct_session_options *options,
                          struct ct_session **out);
CT_API void ct_session_free(struct ct_session *session);

/* Adds an analysis (not owned). CT_ERR_ARG after the first run has begun, and for one that was added before;
 * CT_ERR_NOMEM. */
CT_API int ct_session_add(struct ct_session *session, struct ct_analysis *analysis);

/* Decodes buffers of a capture for all analyses. They are those of the capture, or copies of them; the
 * capture is added to those of the analyses. Several captures can be run one after the other. What analyses
 * took before an error stays in them. Errors: those of the chain and of the analyses, CT_ERR_ARG, also from a
 * receiver of the session, and what a receiver returned. */
CT_API int ct_session_run(struct ct_session *session, const struct ct_capture *capture,
                          const struct ct_buffer *buffers, size_t count);

/* Gives an analysis the counts of a chain so far, and the programs. For a caller that runs a chain itself, of
 * level STEPS with counted edges. The errors of the analysis, CT_ERR_ARG. */
CT_API int ct_session_give(struct ct_analysis *analysis, struct ct_programs *programs,
                           const struct ct_chain *chain);

/* Returns the number of the stream with this ID, as in batches, while a receiver is called. It is unique in
 * the session (struct ct_analysis_batch). */
CT_API uint32_t ct_session_lane(const struct ct_session *session, uint8_t id);

/* Returns the statistics of the last capture that was run; after an error, of what was decoded before it. */
CT_API const struct ct_seen *ct_session_seen(const struct ct_session *session);

/* Returns the statistics of the sieves of the last capture that was run, for all streams together; zeros when
 * no stream was filtered. */
CT_API const struct ct_sieve_seen *ct_session_sieved(const struct ct_session *session);

#ifdef __cplusplus
}
#endif
#endif
