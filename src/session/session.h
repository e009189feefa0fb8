/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a session share: passes for analyses (session.c), and streams in their turn (turns.c). */
#ifndef CT_SESSION_SESSION_H
#define CT_SESSION_SESSION_H

#include <stdbool.h>

#include "coretap/session.h"

enum {
    CT_SESSION_LANES = 128, /* of a buffer: as many as there are trace IDs */
};

/* A stream that is filtered. */
struct ct_sieved {
    struct ct_sieve *sieve;
    struct ct_edges *edges; /* that were kept */
    bool over;              /* the window is */
};

struct ct_session {
    struct ct_ctx *ctx;
    struct ct_session_options options;
    struct ct_analysis **analyses;
    size_t count;
    uint32_t inputs; /* enum ct_analysis_input, of all */
    struct ct_seen seen;
    uint32_t lanes;      /* of the buffers that were run */
    uint32_t first_lane; /* of the buffer whose chain is looked at */
    uint8_t *memories;   /* of the capture, by number: 1 for those whose programs were looked for */
    size_t memory_count;
    struct ct_filter filter;                   /* of this run, settled */
    bool sieves;                               /* it leaves steps out */
    struct ct_sieved sieved[CT_SESSION_LANES]; /* by trace ID, of the buffer that is being decoded */
    struct ct_sieve_seen sieve_seen;
    uint64_t turned; /* bytes of the turns that are over, of this run */
};

/* Writes the IDs of a buffer that are wanted, as in struct ct_chain_options. False: none is. */
bool ct_session_ids(const struct ct_session *session, const struct ct_buffer *buffer, uint64_t ids[2]);

/* Makes the sieve of one stream. The errors of ct_sieve_new. */
int ct_session_sieve(const struct ct_session *session, const struct ct_source *source,
                     const struct ct_maps *maps, struct ct_sieve **out);

/* Decodes the streams of a buffer one after the other (turns.c). The errors of ct_session_run. */
int ct_session_turns(struct ct_session *session, const struct ct_capture *capture,
                     const struct ct_buffer *buffer, uint32_t first_lane);

#endif
