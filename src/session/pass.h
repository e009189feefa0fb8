/* SPDX-License-Identifier: Apache-2.0 */
/* One pass of a session over a buffer. */
#pragma once

#include "chain/shard.h"
#include "session/session.h"

/* A chain over one buffer, and the data of its receivers. */
struct ct_pass {
    struct ct_session *session;
    struct ct_chain_sink sink;
    struct ct_chain *chain;
    uint64_t before;     /* bytes of the previous buffers */
    uint32_t first_lane; /* lane of ID 0; other IDs follow */
    const struct ct_maps *maps;
    const struct ct_buffer *buffer;
    uint64_t ids[2];
    bool stopped;                /* the windows of all streams have ended */
    struct ct_index_begin begin; /* where decoding of the buffer begins */
    struct ct_chain_shard part;  /* the part of the buffer to decode; all of it when `end` is 0 */
};

/* Makes the chain of a pass over one buffer and runs it. The chain keeps the address of its sink, so both are
 * in `pass`, whose owner frees the chain, also after an error. `counts`: edges are counted; `steps`: analyses
 * get steps; `is_last`: they get events, too, which are given only in the last pass. */
int ct_pass_run(const struct ct_session *s, struct ct_pass *pass, const struct ct_buffer *buffer, bool counts,
                bool steps, bool is_last);

/* Adds up the statistics of a buffer's sieves, and frees them. */
void ct_pass_end_sieves(struct ct_session *s);

/* Returns whether an analysis can give the state of a stream. One compiled with an older header cannot. */
bool ct_pass_can_say_state(const struct ct_analysis *analysis);
