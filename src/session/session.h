/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of a session share: passes for analyses (session.c), and streams in their turn (turns.c). */
#ifndef CT_SESSION_SESSION_H
#define CT_SESSION_SESSION_H

#include <stdbool.h>

#include "coretap/session.h"
#include "session/index.h"

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
    uint64_t turned;                    /* bytes of the turns that are over, of this run */
    struct ct_index *index;             /* that was made last, in this run … */
    const struct ct_buffer *index_of;   /* … of this buffer; or both are NULL */
    uint64_t looked;                    /* bytes of the buffers before that one */
    uint64_t apart;                     /* bytes between points of an index; 0: as it is best */
    char run[CT_ANALYSIS_RUN_NAME + 1]; /* what the capture is called in results; "": a name too long */
};

/* Writes the IDs of a buffer that are wanted, as in struct ct_chain_options. False: none is. */
bool ct_session_ids(const struct ct_session *session, const struct ct_buffer *buffer, uint64_t ids[2]);

/* Makes the sieve of one stream. The errors of ct_sieve_new. */
int ct_session_sieve(const struct ct_session *session, const struct ct_source *source,
                     const struct ct_maps *maps, struct ct_sieve **out);

/* Says how many bytes there are between the points of an index, for tests; before the first run. */
void ct_session_tune(struct ct_session *session, uint64_t apart);

/* Finds where decoding of some IDs of a buffer begins for the window of the filter (window.c). `before`:
 * bytes of the buffers that are over. The errors of ct_index_make and ct_index_find. */
int ct_session_begin(struct ct_session *session, const struct ct_buffer *buffer, const uint64_t ids[2],
                     uint64_t before, struct ct_index_begin *begin);

void ct_session_forget_index(struct ct_session *session);

/* Decodes the streams of a buffer one after the other (turns.c). The errors of ct_session_run. */
int ct_session_turns(struct ct_session *session, const struct ct_capture *capture,
                     const struct ct_buffer *buffer, uint32_t first_lane);

#endif
