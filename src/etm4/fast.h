/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of an ETMv4 or ETE straight to elements: bursts of common packets, and the plain decoder and resolver
 * for one packet where something else comes. The elements are those of the plain layers, byte for byte. */
#ifndef CT_ETM4_FAST_H
#define CT_ETM4_FAST_H

#include "analysis/event_columns.h"
#include "coretap/decode.h"
#include "etm4/events.h"
#include "etm4/work.h"

struct ct_etm4_fast;

/* For the decoder and resolver of a stream, which are shared and not owned. *out is NULL when bursts are of
 * no use to the source: it traces speculation. CT_ERR_NOMEM. */
int ct_etm4_fast_new(struct ct_ctx *ctx, struct ct_etm4_decoder *decoder, struct ct_etm4_resolver *resolver,
                     struct ct_etm4_fast **out);
void ct_etm4_fast_free(struct ct_etm4_fast *fast);

/* The decoder and the resolver were reset. */
void ct_etm4_fast_reset(struct ct_etm4_fast *fast);

/* At most `cap` (at least CT_RESOLVE_MIN) elements with the offsets of their packets; result: how many.
 * Packets and elements are counted in `stats`. */
size_t ct_etm4_fast_run(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                        struct ct_stream_stats *stats);

/* The same to events in columns, added as far as there is room. `events` is the state of the event stream. */
void ct_etm4_fast_events(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats);

/* For ways that take bytes past the elements. Whether chunks can be scanned; by which tables; and what
 * packets are counted in. */
bool ct_etm4_fast_scans(const struct ct_etm4_fast *fast);
const struct ct_etm4_event_tables *ct_etm4_fast_tables(const struct ct_etm4_fast *fast);
struct ct_etm4_burst *ct_etm4_fast_burst(struct ct_etm4_fast *fast);

/* True when a burst could begin, and nothing is held but what the last one left behind its
 * last atom; and when the resolver knows no more of the last address than the decoder does.
 * The state is in the burst then. */
#define CT_FAST_TAIL 16u
bool ct_etm4_fast_enter(struct ct_etm4_fast *fast);

/* What is held leaves, as an atom follows. Result: how many. */
size_t ct_etm4_fast_release(struct ct_etm4_fast *fast, struct ct_elem elems[CT_FAST_TAIL]);

/* The addresses, as below, that a burst will begin with behind the synchronisation point at `data`. Result:
 * the bytes up to there; 0: that is not to be said. */
size_t ct_etm4_fast_peek(const struct ct_etm4_fast *fast, const uint8_t *data, size_t size,
                         uint64_t address[3]);

/* The elements of `size` bytes at `data`, which are whole packets of a burst with CT_ETM4_BURST_AHEAD bytes
 * behind them; an atom follows, so none is held. Result: how many, at most as many as bytes. */
size_t ct_etm4_fast_read(struct ct_etm4_fast *fast, const uint8_t *data, size_t size, struct ct_elem *elems);

/* Packets of such bytes, CT_FAST_FORGET at most, that are neither atoms nor addresses
 * do not count. Result: how many. */
#define CT_FAST_FORGET 1024u
size_t ct_etm4_fast_forget(struct ct_etm4_fast *fast, const uint8_t *data, size_t size);

/* The addresses that were come to, newest first, with the instruction set in bit 0. */
void ct_etm4_fast_leave(struct ct_etm4_fast *fast, const uint64_t address[3]);

/* Packets that were counted by header go to the statistics. */
void ct_etm4_fast_count_packets(struct ct_etm4_fast *fast, struct ct_stream_stats *stats);

#endif
