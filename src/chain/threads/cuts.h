/* SPDX-License-Identifier: Apache-2.0 */
/* Finds where a stream can be cut so that threads decode its parts. */
#pragma once

#include "chain/protocol.h"
#include "chain/threads/stream_bytes.h"

/* Finds the first synchronisation point at or after `from` that ends before `to`; *at is SIZE_MAX when there
 * is none. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_cuts_first(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t from, size_t to,
                  size_t *at);

/* Finds the start of the warm-up for a task that begins at `cut`: the last synchronisation point at or after
 * `begin` that is at least `least` bytes before `cut`, or `begin` when there is none. Searches `most` bytes
 * before `cut` first. CT_ERR_NOMEM, CT_ERR_IO. */
int ct_cuts_warm_up(struct ct_stream_bytes *piece, const struct ct_protocol_ops *ops, size_t begin,
                    size_t cut, size_t least, size_t most, size_t *at);
