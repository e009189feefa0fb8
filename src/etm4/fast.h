/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes an ETMv4 or ETE straight to elements: bursts of common packets, and the plain decoder and resolver
 * for one packet where something else comes. The elements are those of the plain layers, byte for byte. */
#ifndef CT_ETM4_FAST_H
#define CT_ETM4_FAST_H

#include "analysis/event_columns.h"
#include "coretap/decode.h"
#include "etm4/events.h"
#include "etm4/work.h"

struct ct_etm4_fast;

/* Makes the object for the decoder and resolver of a stream, which it shares and does not own. *out is NULL
 * when bursts are of no use, because the source traces speculation. CT_ERR_NOMEM. */
int ct_etm4_fast_new(struct ct_ctx *ctx, struct ct_etm4_decoder *decoder, struct ct_etm4_resolver *resolver,
                     struct ct_etm4_fast **out);
void ct_etm4_fast_free(struct ct_etm4_fast *fast);

/* Forgets what is pending, after the decoder and the resolver were reset. */
void ct_etm4_fast_reset(struct ct_etm4_fast *fast);

/* Decodes to elements, at most `cap` (at least CT_RESOLVE_MIN), with the offsets of their packets. Packets
 * and elements are counted in `stats`. Result: how many elements. */
size_t ct_etm4_fast_run(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_elem *elems, size_t cap,
                        struct ct_stream_stats *stats);

/* Decodes to events in columns, which are added as long as there is room. `events` is the state of the event
 * stream. */
void ct_etm4_fast_events(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats);

/* Decodes packets as ct_etm4_decode does, whatever state the resolver is in, which is not asked. *count is
 * how many; more than `cap` less CT_SCAN_BLOCK when there was not room for all. `cap` is CT_SCAN_BLOCK at
 * least. Result: bytes that are done with. */
size_t ct_etm4_fast_packets(struct ct_etm4_fast *fast, const uint8_t *data, size_t size, uint64_t pos,
                            bool final, struct ct_etm4_packet *packets, size_t cap, size_t *count);

/* Takes all that there is, where nobody wants packets or elements: both are only counted, with the losses. */
void ct_etm4_fast_count(struct ct_etm4_fast *fast, struct ct_work *work, struct ct_stream_stats *stats);

/* Tells whether chunks can be scanned, for hops, which decode bytes without making elements. The functions
 * below give them the tables of scanning and the counts of packets. */
bool ct_etm4_fast_scans(const struct ct_etm4_fast *fast);
const struct ct_etm4_event_tables *ct_etm4_fast_tables(const struct ct_etm4_fast *fast);
struct ct_etm4_burst *ct_etm4_fast_burst(struct ct_etm4_fast *fast);

/* Lets hops take the state, which is then in the burst. Returns false when a burst could not begin here: when
 * the resolver holds more than what the last burst left behind its last atom, or knows another last address
 * than the decoder. */
#define CT_FAST_TAIL 16u
bool ct_etm4_fast_enter(struct ct_etm4_fast *fast);

/* Takes the held elements out of the resolver, because an atom follows. Result: how many. */
size_t ct_etm4_fast_release(struct ct_etm4_fast *fast, struct ct_elem elems[CT_FAST_TAIL]);

/* Finds the addresses, as in ct_etm4_fast_leave, that a burst will begin with behind the synchronisation
 * point at `data`. Result: bytes up to where it begins; 0 when the addresses are not known. */
size_t ct_etm4_fast_peek(const struct ct_etm4_fast *fast, const uint8_t *data, size_t size,
                         uint64_t address[3]);

/* Decodes `size` bytes at `data`, which are whole packets of a burst with CT_ETM4_BURST_AHEAD bytes behind
 * them. An atom follows, so no element is held. Result: how many elements, at most as many as bytes. */
size_t ct_etm4_fast_read(struct ct_etm4_fast *fast, const uint8_t *data, size_t size, struct ct_elem *elems);

/* Takes packets that are neither atoms nor addresses out of the packet counts. Result: how many. */
size_t ct_etm4_fast_forget(struct ct_etm4_fast *fast, const uint8_t *data, size_t size);

/* Takes the state back from hops: the last addresses, newest first, with the instruction set in bit 0. */
void ct_etm4_fast_leave(struct ct_etm4_fast *fast, const uint64_t address[3]);

/* Adds the packets that were counted by header to the statistics. */
void ct_etm4_fast_count_packets(struct ct_etm4_fast *fast, struct ct_stream_stats *stats);

#endif
