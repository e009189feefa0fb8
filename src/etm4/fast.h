/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes an ETMv4 or ETE straight to elements: common packets in bursts, and each other packet with the
 * plain decoder and resolver. The elements are those of the plain layers, byte for byte. */
#pragma once

#include "analysis/event_columns.h"
#include "coretap/decode.h"
#include "etm4/events.h"
#include "etm4/work.h"

struct ct_etm4_fast;

/* Makes the object for the decoder and resolver of a stream, which it shares and does not own. *out is NULL
 * when bursts are of no use, because the source traces speculation. Returns CT_ERR_NOMEM when memory runs
 * out. */
int ct_etm4_fast_new(struct ct_ctx *ctx, struct ct_etm4_decoder *decoder, struct ct_etm4_resolver *resolver,
                     struct ct_etm4_fast **out);
void ct_etm4_fast_free(struct ct_etm4_fast *fast);

/* Drops the pending packet and elements; call it after the decoder and the resolver were reset. */
void ct_etm4_fast_reset(struct ct_etm4_fast *fast);

/* Decodes to at most `cap` elements (at least CT_RESOLVE_MIN), with the offsets of their packets in the
 * capture. Counts packets and elements in `stats`. Returns the number of elements. */
size_t ct_etm4_fast_run(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                        struct ct_stream_stats *stats);

/* Decodes to events, which are added to the columns as long as there is room. `events` is the state of the
 * event stream. */
void ct_etm4_fast_events(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats);

/* Decodes packets as ct_etm4_decode does, without regard to the state of the resolver. *count is the number
 * of packets; when it is more than `cap` less CT_SCAN_BLOCK, there may be more to decode. `cap` is at least
 * CT_SCAN_BLOCK. Returns the number of bytes that are decoded. */
size_t ct_etm4_fast_packets(struct ct_etm4_fast *fast, const uint8_t *data, size_t size, uint64_t pos,
                            bool final, struct ct_etm4_packet *packets, size_t cap, size_t *count);

/* Decodes all bytes of the run when nobody wants packets or elements: only counts both, and the losses. */
void ct_etm4_fast_count(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_stream_stats *stats);

/* Returns whether chunks can be scanned. Hops need that, since they decode bytes without making elements. The
 * two functions below give hops the tables of the scan, and the burst with its counts of packets. */
bool ct_etm4_fast_scans(const struct ct_etm4_fast *fast);
const struct ct_etm4_event_tables *ct_etm4_fast_tables(const struct ct_etm4_fast *fast);
struct ct_etm4_burst *ct_etm4_fast_burst(struct ct_etm4_fast *fast);

/* Copies the state of the decoder into the burst, for hops. Returns false when a burst could not begin here:
 * when the resolver holds more than what the last burst left behind its last atom, or when its last address
 * has another instruction set than that of the decoder. */
#define CT_FAST_TAIL 16u
bool ct_etm4_fast_enter(struct ct_etm4_fast *fast);

/* Takes the held elements out of the resolver, because an atom follows, and returns their number. */
size_t ct_etm4_fast_release(struct ct_etm4_fast *fast, struct ct_elem elems[CT_FAST_TAIL]);

/* Finds the last three addresses (as in ct_etm4_fast_leave) with which a burst begins after the
 * synchronisation point at `data`. Returns the number of bytes up to its begin, or 0 when the addresses are
 * not known. */
size_t ct_etm4_fast_peek(const struct ct_etm4_fast *fast, const uint8_t *data, size_t size,
                         uint64_t address[3]);

/* Decodes `size` bytes at `data`, which are whole packets of a burst; CT_ETM4_BURST_AHEAD bytes behind them
 * can be read. An atom follows, so no element is held. Returns the number of elements, at most `size`. */
size_t ct_etm4_fast_read(struct ct_etm4_fast *fast, const uint8_t *data, size_t size, struct ct_elem *elems);

/* Removes the packets at `data` that are neither atoms nor addresses from the packet counts, and returns
 * their number. */
size_t ct_etm4_fast_forget(struct ct_etm4_fast *fast, const uint8_t *data, size_t size);

/* Takes over the state from hops: the last three addresses, newest first, with the instruction set in bit
 * 0. */
void ct_etm4_fast_leave(struct ct_etm4_fast *fast, const uint64_t address[3]);

/* Adds the packets that were counted by header to the statistics, and sets those counts to zero. */
void ct_etm4_fast_count_packets(struct ct_etm4_fast *fast, struct ct_stream_stats *stats);
