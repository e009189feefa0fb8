/* SPDX-License-Identifier: Apache-2.0 */
/* coretap session: one pass over a capture for any number of analyses. It decodes as far as they need and
 * no further, finds the programs that ran, and counts what was lost.
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

/* What was seen of a capture, as far as it was decoded. */
struct ct_seen {
    struct ct_losses losses;
    struct ct_holes holes; /* where losses.no_access was */
    uint64_t bytes;        /* of input */
    uint64_t instructions; /* executed */
    uint8_t has_trace;     /* 1: there was a byte of trace */
    uint8_t ran; /* 1: something was executed, or could not be known to be: STM, ITM, or levels below FLOW */
    uint8_t misframed; /* 1: a buffer has no frame, and should */
    uint8_t pad[5];    /* 0 */
};

/* Adds what a chain of `level`, whose trace is over, lost and saw. `frames` 1: the bytes between frames count
 * too; of several chains over one buffer one does. */
CT_API void ct_seen_add(struct ct_seen *seen, const struct ct_chain *chain, enum ct_level level, int frames);

/* Returns 1 when the trace of a capture is not whole: trace was lost, contradicts the program, or the file is
 * damaged; also where nothing ran and trace was lost in overflows, or memory was missing. With `strict` 1
 * these two do it in any case. */
CT_API int ct_seen_is_damaged(const struct ct_seen *seen, const struct ct_capture *capture, int strict);

/* What a receiver of a stream in its turn returns when it wants no more of it: the session goes on with the
 * next one. */
#define CT_SESSION_NEXT 0x6e657874

/* One stream whose turn it is (options.begin). */
struct ct_session_turn {
    const struct ct_buffer *buffer;
    const struct ct_source *source;
    struct ct_chain_sink sink;   /* to be filled in: who takes its records. `user` is that of the options,
                                    unless it is set too. A result other than 0 and CT_SESSION_NEXT ends the
                                    run, which returns it */
    uint8_t id;                  /* as listed: 0 in a buffer without frames */
    uint8_t level;               /* to be set, FLOW otherwise: enum ct_level */
    uint8_t split_source_ranges; /* to be set: as in struct ct_chain_options */
    uint8_t bytewise;            /* to be set: the same */
    uint8_t pad[4];              /* 0 */
};

struct ct_shard; /* shard.h */

struct ct_session_options {
    size_t size;                  /* sizeof(struct ct_session_options) */
    struct ct_programs *programs; /* that ran (not owned); those of memories that change are added
                                     to them. May be NULL */
    uint16_t threads;             /* as in struct ct_chain_options */
    uint8_t edges;                /* the same: what `decoded` finds counted, beside what analyses need */
    uint8_t index;   /* 1: where streams are at which time is kept in a file beside that of each buffer that a
                        window is looked for in, FILE.ctx; one that is there and of this file is used */
    uint64_t ids[2]; /* as in struct ct_chain_options */
    void *user;      /* of the following, which may be NULL */
    /* Input bytes read so far, of this capture. A result other than 0 ends the run, which returns it. */
    int (*progress)(void *user, uint64_t bytes);
    /* Steps, in order, beside what analyses take. A result other than 0 ends the run, which returns it. */
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    /* The chain of each buffer when its trace is over, its steps were given and the
     * programs in it are known. The same. */
    int (*decoded)(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain);
    /* What of the captures is wanted (not owned); NULL: all. Steps and counts are of what it keeps. What was
     * seen is of all that was decoded: not streams that are left out, nor what comes before and behind the
     * windows of the others, but for a little. */
    const struct ct_filter *filter;
    const char *part; /* what the filter keeps, in words, for saved results; it has to stay; or NULL */
    /* With it streams are decoded one after the other, each in a pass of its own over the buffer, so that the
     * records of one come together: it is called before each, in the order of buffers and IDs, and says who
     * takes which records. A result other than 0 ends the run, which returns it. Then there are no analyses,
     * `steps` is not called, and `decoded` is called for each stream; programs have to be known before, where
     * the filter asks for them. Of a filter that leaves out steps all receivers but those of steps, marks and
     * bytes are CT_ERR_ARG. */
    int (*begin)(void *user, struct ct_session_turn *turn);
    /* Events of the stream whose turn it is, in order: those that the filter keeps. `begin` chooses the level
     * that they come from, ELEMENT or FLOW (see ct_events_level), and the only receivers beside this one are
     * those of marks and bytes, else CT_ERR_ARG. `user` and the result are as those of a turn. */
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count);
    struct ct_shard *shard; /* decode this part of the capture alone (shard.h, not owned); NULL: all of it.
                               Then the analyses do not get the capture, and `begin` is not set */
};

struct ct_session;

/* Makes a session without analyses. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_session_new(struct ct_ctx *ctx, const struct ct_session_options *options,
                          struct ct_session **out);
CT_API void ct_session_free(struct ct_session *session);

/* Adds an analysis (not owned). CT_ERR_ARG after the first run has begun, and for one that the session has;
 * CT_ERR_NOMEM. */
CT_API int ct_session_add(struct ct_session *session, struct ct_analysis *analysis);

/* Decodes buffers of a capture for all analyses. They are those of the capture, or copies of them; the
 * capture is added to those of the analyses. Captures can be run one after the other. What analyses had taken
 * before an error stays in them. Errors: those of the chain and of the analyses, CT_ERR_ARG, also from a
 * receiver of the session, and what a receiver returned. */
CT_API int ct_session_run(struct ct_session *session, const struct ct_capture *capture,
                          const struct ct_buffer *buffers, size_t count);

/* Gives an analysis what a chain has counted so far, and tells it of the programs. It is for who runs a chain
 * himself, of level STEPS with edges counted. The errors of the analysis, CT_ERR_ARG. */
CT_API int ct_session_give(struct ct_analysis *analysis, struct ct_programs *programs,
                           const struct ct_chain *chain);

/* Returns the number of the stream with this ID, as batches have it, while a receiver is called. No other
 * stream of the session has it (struct ct_analysis_batch). */
CT_API uint32_t ct_session_lane(const struct ct_session *session, uint8_t id);

/* Returns what was seen of the last capture that was run. */
CT_API const struct ct_seen *ct_session_seen(const struct ct_session *session);

/* Returns what came through the sieves of the last capture that was run, of all streams together; all zero
 * where nothing had to be left out of a stream. */
CT_API const struct ct_sieve_seen *ct_session_sieved(const struct ct_session *session);

#ifdef __cplusplus
}
#endif
#endif
