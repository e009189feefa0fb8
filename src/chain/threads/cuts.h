/* SPDX-License-Identifier: Apache-2.0 */
/* Where a stream can be cut, so that threads decode its parts. */
#ifndef CT_CHAIN_THREADS_CUTS_H
#define CT_CHAIN_THREADS_CUTS_H

#include "chain/protocol.h"
#include "chain/threads/stream_bytes.h"

/* The first synchronisation point of a piece at or behind `from`, of those that end before `to`; SIZE_MAX
 * without one. */
int ct_cuts_first(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t from, size_t to,
                  size_t *at);

/* Where an object is warmed up from for what begins at `cut`: the last synchronisation point at or behind
 * `begin` that is `least` bytes before it, looked for first no more than `most` bytes before it; `begin`
 * without one. */
int ct_cuts_warm_up(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t begin,
                    size_t cut, size_t least, size_t most, size_t *at);

#endif
