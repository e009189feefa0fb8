/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of a session: passes for analyses (session.c, pass.c), and passes for single streams
 * (turns.c). */
#pragma once

#include <stdbool.h>

#include "coretap/session.h"
#include "session/index.h"

enum {
    CT_SESSION_LANES = 128, /* of a buffer: one for each trace ID */
};

/* A stream under a filter. */
struct ct_sieved {
    struct ct_sieve *sieve;
    struct ct_edges *edges; /* counts of the kept steps */
    bool over;              /* its window has ended */
};

struct ct_session {
    struct ct_ctx *ctx;
    struct ct_session_options options;
    struct ct_analysis **analyses;
    size_t count;
    uint32_t inputs; /* enum ct_analysis_input of all analyses together */
    struct ct_seen seen;
    uint32_t lanes;      /* number of lanes of the buffers so far */
    uint32_t first_lane; /* the first lane of the current buffer */
    uint8_t *memories;   /* by number of the memory: 1 when its programs were searched */
    size_t memory_count;
    struct ct_filter filter;                   /* the filter of this run, with times converted to ticks */
    bool sieves;                               /* the filter excludes steps */
    bool ran, running;                         /* a run has begun; one is in progress */
    struct ct_sieved sieved[CT_SESSION_LANES]; /* streams of the current buffer, by trace ID */
    struct ct_sieve_seen sieve_seen;
    uint64_t turned;                    /* bytes of finished turns in this run */
    struct ct_index *index;             /* the last index made in this run, or NULL */
    const struct ct_buffer *index_of;   /* the buffer of that index, or NULL */
    uint64_t looked;                    /* bytes of the buffers before that one */
    uint64_t apart;                     /* minimal distance between points of an index, in bytes; 0: chosen by
                                           the size of the buffer */
    char run[CT_ANALYSIS_RUN_NAME + 1]; /* name of the capture in results; empty when too long */
};

/* Finds the wanted IDs of a buffer, as in struct ct_chain_options. Returns false when no stream of it is
 * wanted. */
bool ct_session_ids(const struct ct_session *session, const struct ct_buffer *buffer, uint64_t ids[2]);

/* Makes the sieve of one stream. The errors of ct_sieve_new. */
int ct_session_sieve(const struct ct_session *session, const struct ct_source *source,
                     const struct ct_maps *maps, struct ct_sieve **out);

/* Sets the minimal distance between points of an index, for tests. To be called before the first run. */
void ct_session_tune(struct ct_session *session, uint64_t apart);

/* Finds where to begin decoding some IDs of a buffer for the window of the filter (window.c). `before`: bytes
 * of the previous buffers. The errors of ct_index_make and ct_index_find. */
int ct_session_begin(struct ct_session *session, const struct ct_buffer *buffer, const uint64_t ids[2],
                     uint64_t before, struct ct_index_begin *begin);

/* Adds what ran in a buffer, and hands its chain to the receiver. CT_ERR_NOMEM, what the receiver returned.
 */
int ct_session_decoded(const struct ct_session *session, const struct ct_capture *capture,
                       const struct ct_buffer *buffer, const struct ct_chain *chain);

void ct_session_forget_index(struct ct_session *session);

/* Decodes the streams of a buffer one after the other (turns.c). The errors of ct_session_run. */
int ct_session_turns(struct ct_session *session, const struct ct_capture *capture,
                     const struct ct_buffer *buffer, uint32_t first_lane);
