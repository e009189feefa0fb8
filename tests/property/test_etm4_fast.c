/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that elements and events made directly from bytes equal those made from packets, that packets are
 * counted the same, and that packets made in bursts equal those of the plain decoder: for streams of common
 * packets, of all packets, and damaged ones; with and without frames; whole and in pieces. CT_SEED sets the
 * first seed, CT_COUNT the number of packets, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "coretap/decode.h"
#include "coretap/event.h"
#include "support/best_simd.h"
#include "support/damage.h"
#include "support/etm4_gen.h"
#include "support/part.h"
#include "support/seeds.h"

enum {
    STREAM = 1000,
    ROOM = STREAM * 24,
    FRAMED = ROOM * 3,
    ELEMS = ROOM * 2,
    EVENTS = ELEMS * 2
};

struct stream {
    struct ct_source sources[2];
    struct ct_buffer buffer;
    uint8_t bytes[FRAMED];
    size_t size;
};

struct result {
    struct ct_elem elems[2][ELEMS];
    uint64_t offsets[2][ELEMS];
    size_t count[2];
    struct ct_stream_stats stats[2];
};

/* Makes a packet, mostly of the types that bursts consist of. */
static unsigned common_packet(struct gen *gen, struct ct_etm4_packet *out)
{
    static const uint8_t types[] = {
        CT_ETM4_ATOM_F1,      CT_ETM4_ATOM_F1,        CT_ETM4_ATOM_F2,      CT_ETM4_ATOM_F3,
        CT_ETM4_ATOM_F4,      CT_ETM4_ATOM_F5,        CT_ETM4_ATOM_F6,      CT_ETM4_ADDR_S_IS0,
        CT_ETM4_ADDR_S_IS0,   CT_ETM4_ADDR_S_IS1,     CT_ETM4_ADDR_L_32IS0, CT_ETM4_ADDR_L_32IS1,
        CT_ETM4_ADDR_L_64IS0, CT_ETM4_ADDR_MATCH,     CT_ETM4_ADDR_MATCH,   CT_ETM4_ADDR_L_64IS1,
        CT_ETM4_CCNT_F1,      CT_ETM4_CCNT_F2,        CT_ETM4_CCNT_F3,      CT_ETM4_CCNT_F3,
        CT_ETM4_EVENT,        CT_ETM4_SRC_ADDR_MATCH, CT_ETM4_TIMESTAMP};
    unsigned most = rng_chance(gen->rng, 20) ? sizeof types : sizeof types - 2;
    return gen_packet(gen, types[rng_below(gen->rng, most)], out) ? 1 : 0;
}

/* Makes packets as with branch broadcast: an address after each atom of a taken branch and an atom after each
 * address, with a cycle count in `counts` of 256 cases. With `dense`, addresses are as short as possible. */
static unsigned broadcast_packet(struct gen *gen, unsigned counts, bool dense, bool *atom,
                                 struct ct_etm4_packet *out)
{
    static const uint8_t addresses[] = {CT_ETM4_ADDR_MATCH,   CT_ETM4_ADDR_MATCH,   CT_ETM4_ADDR_S_IS0,
                                        CT_ETM4_ADDR_S_IS1,   CT_ETM4_ADDR_L_32IS0, CT_ETM4_ADDR_L_32IS1,
                                        CT_ETM4_ADDR_L_64IS0, CT_ETM4_ADDR_L_64IS1};
    static const uint8_t others[] = {CT_ETM4_CCNT_F1, CT_ETM4_CCNT_F2, CT_ETM4_CCNT_F3, CT_ETM4_EVENT};
    if (rng_chance(gen->rng, counts))
        return gen_packet(gen, others[rng_wide(gen->rng, 2) % sizeof others], out) != 0;
    *atom = !*atom;
    if (*atom)
        return gen_packet(gen, CT_ETM4_ATOM_F1, out) != 0;
    return gen_packet(gen, addresses[dense ? 0 : rng_below(gen->rng, sizeof addresses)], out) != 0;
}

/* Makes a timestamp in one of `apart` packets: one with each cycle count, or just dense or just not dense
 * enough for bursts. */
static unsigned stamped_packet(struct gen *gen, unsigned apart, struct ct_etm4_packet *out)
{
    static const uint8_t types[] = {CT_ETM4_ATOM_F1, CT_ETM4_ATOM_F1,    CT_ETM4_ATOM_F3,
                                    CT_ETM4_CCNT_F1, CT_ETM4_CCNT_F2,    CT_ETM4_CCNT_F3,
                                    CT_ETM4_EVENT,   CT_ETM4_ADDR_S_IS0, CT_ETM4_ADDR_MATCH};
    const uint8_t type =
        rng_below(gen->rng, apart) ? types[rng_below(gen->rng, sizeof types)] : CT_ETM4_TIMESTAMP;
    return gen_packet(gen, type, out) ? 1 : 0;
}

/* Makes a packet of a time without execution: a hardware event, now and then a cycle count, or a series of
 * counts with a large sum. */
static unsigned calm_packet(struct gen *gen, bool counting, struct ct_etm4_packet *out)
{
    const bool count = counting || rng_chance(gen->rng, 20);
    return gen_packet(gen, count ? CT_ETM4_CCNT_F3 : CT_ETM4_EVENT, out) != 0;
}

/* Writes a trace in which `rare` of 256 packets are not common. */
static size_t trace(struct rng *rng, const struct ct_source *source, unsigned rare, uint8_t *bytes)
{
    struct ct_etm4_encoder *encoder;
    struct ct_etm4_packet packets[4];
    struct gen gen;
    size_t size = 0, len;
    bool counting = false;
    const bool broadcast = rng_chance(rng, 100);
    const unsigned apart = rng_chance(rng, 100) ? 2 + rng_below(rng, rng_chance(rng, 128) ? 4 : 70) : 0;
    const bool dense = rng_chance(rng, 64);
    const unsigned counts = rng_below(rng, 256);
    bool atom = false;
    if (ct_etm4_encoder_new(NULL, source, &encoder))
        return 0;
    gen_init(&gen, rng, source);
    for (unsigned count = 0, calm = 0; count < STREAM; calm -= calm != 0) {
        if (!calm && rng_chance(rng, 1)) { /* perhaps more waits than an event stream holds */
            calm = rng_chance(rng, 128) ? 60 + rng_below(rng, 10) : rng_below(rng, 150);
            counting = rng_chance(rng, 64);
        }
        unsigned n = !count                  ? gen_prologue(&gen, packets)
                     : calm                  ? calm_packet(&gen, counting, packets)
                     : rng_chance(rng, rare) ? gen_sensible(&gen, packets)
                     : apart                 ? stamped_packet(&gen, apart, packets)
                     : broadcast             ? broadcast_packet(&gen, counts, dense, &atom, packets)
                                             : common_packet(&gen, packets);
        count += !n;
        for (unsigned i = 0; i < n; i++, count++)
            if (!ct_etm4_encode_packet(encoder, &packets[i], bytes + size, ROOM - size, &len))
                size += len;
    }
    ct_etm4_encoder_free(encoder);
    if (rng_chance(rng, 100))
        size = damage(rng, bytes, size, ROOM);
    return size;
}

/* Frames two streams, which alternate in pieces. */
static size_t frame(struct rng *rng, uint8_t bytes[2][ROOM], const size_t size[2], uint8_t *out)
{
    struct ct_framer_options options = {.size = sizeof options, .framing = CT_FRAMING_FRAMES};
    struct ct_framer *framer;
    size_t at[2] = {0}, total = 0, used, len;
    if (ct_framer_new(NULL, &options, &framer))
        return 0;
    while (at[0] < size[0] || at[1] < size[1]) {
        unsigned i = rng_below(rng, 2);
        size_t give = rng_wide(rng, 11);
        give = give < size[i] - at[i] ? give : size[i] - at[i];
        if (ct_framer_push(framer, (uint8_t)(0x10 + i), bytes[i] + at[i], give, &used, out + total,
                           FRAMED - total, &len))
            break;
        at[i] += used;
        total += len;
    }
    ct_framer_finish(framer, out + total, FRAMED - total, &len);
    ct_framer_free(framer);
    return total + len;
}

static void fill(struct rng *rng, struct stream *s)
{
    static uint8_t bytes[2][ROOM];
    size_t size[2];
    int framed = rng_chance(rng, 128);
    for (unsigned i = 0; i < 2; i++) {
        gen_source(rng, rng_chance(rng, 20) ? GEN_DECODABLE : GEN_UNSPECULATED, &s->sources[i]);
        if (rng_chance(rng, 200))
            s->sources[i].regs.idr0 |= UINT32_C(1)
                                       << 29; /* COMMOPT: without it bursts have no cycle counts */
        s->sources[i].trace_id = (uint8_t)(0x10 + i);
        size[i] = trace(rng, &s->sources[i], (unsigned)rng_wide(rng, 8), bytes[i]);
    }
    s->buffer = (struct ct_buffer){.name = "random",
                                   .path = "-",
                                   .framing = framed ? CT_FRAMING_FRAMES : CT_FRAMING_NONE,
                                   .sources = s->sources,
                                   .source_count = 2};
    s->size = framed ? frame(rng, bytes, size, s->bytes) : size[0];
    if (!framed)
        memcpy(s->bytes, bytes[0], size[0]);
}

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    (void)user, (void)stream, (void)batch;
    return 0;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct result *r = user;
    unsigned id = stream->id == 0x11;
    for (size_t i = 0; i < batch->count && r->count[id] < ELEMS; i++) {
        r->elems[id][r->count[id]] = batch->elems[i];
        r->offsets[id][r->count[id]++] = ct_elem_offset(&batch->elems[i], batch->end);
    }
    return 0;
}

/* Pushes a stream through a chain, whole or in pieces. */
static int feed(const struct stream *s, enum ct_level level, const struct ct_chain_sink *sink,
                struct rng *cuts, struct ct_stream_stats stats[2])
{
    const struct ct_chain_options options = {
        .size = sizeof options, .level = (uint8_t)level, .framing = s->buffer.framing};
    struct ct_chain *chain;
    size_t count;
    if (ct_chain_new(NULL, &s->buffer, &options, sink, &chain))
        return 0;
    for (size_t at = 0; at < s->size;) {
        size_t piece = cuts ? 1 + rng_wide(cuts, 12) : s->size;
        piece = piece < s->size - at ? piece : s->size - at;
        ct_chain_push(chain, s->bytes + at, piece);
        at += piece;
    }
    ct_chain_finish(chain);
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    memset(stats, 0, 2 * sizeof *stats);
    for (size_t i = 0; i < count; i++)
        stats[streams[i].id == 0x11] = streams[i].stats;
    ct_chain_free(chain);
    return 1;
}

/* Decodes to elements. With `packets` the chain has to make packets as well. */
static int run(const struct stream *s, int packets, struct rng *cuts, struct result *out)
{
    const struct ct_chain_sink sink = {
        .user = out, .packets = packets ? on_packets : NULL, .elems = on_elems};
    memset(out, 0, sizeof *out);
    return feed(s, CT_LEVEL_ELEMENT, &sink, cuts, out->stats);
}

/* Events of ID 0x10. */
struct events {
    struct ct_event events[EVENTS];
    size_t count;
    struct ct_stream_stats stats[2];
    struct ct_events *plain;
};

/* Collects events. Their batches may begin anywhere, so branches are compared without their offset. */
static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    struct events *e = user;
    size_t branch = 0;
    if (stream->id == 0x11)
        return 0;
    for (size_t i = 0; i <= batch->mark_count; i++) {
        size_t before = i < batch->mark_count ? batch->marks[i].before : batch->count;
        for (; branch < before && e->count < EVENTS; branch++)
            e->events[e->count++] = (struct ct_event){
                .type = CT_EVENT_BRANCH, .value = batch->targets[branch], .cycle = batch->cycles[branch]};
        if (i < batch->mark_count && e->count < EVENTS)
            e->events[e->count++] = batch->marks[i].event;
    }
    return 0;
}

static int on_plain(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct events *e = user;
    for (size_t done = 0, n; done < batch->count && stream->id != 0x11 && EVENTS - e->count >= CT_EVENTS_MIN;
         e->count += n)
        done += ct_events_from_elems(e->plain, batch->elems + done, batch->count - done, batch->end,
                                     e->events + e->count, CT_EVENTS_MIN, &n);
    return 0;
}

static int same_events(const struct events *a, const struct events *b)
{
    for (size_t i = 0; i < a->count || i < b->count; i++) {
        struct ct_event x = a->events[i], y = b->events[i];
        if (x.type == CT_EVENT_BRANCH && !x.unknown)
            x.offset = y.offset = 0;
        if (i < a->count && i < b->count && !memcmp(&x, &y, sizeof x))
            continue;
        printf("# event %zu of %zu and %zu: type %u value %" PRIx64 " cycle %" PRIu64 " at %" PRIu64
               ", straight type %u value %" PRIx64 " cycle %" PRIu64 " at %" PRIu64 "\n",
               i, a->count, b->count, x.type, x.value, x.cycle, x.offset, y.type, y.value, y.cycle, y.offset);
        return 0;
    }
    const uint64_t packets = a->stats[0].packets, others = b->stats[0].packets;
    if (packets != others)
        printf("# %" PRIu64 " packets and %" PRIu64 " on the way to events\n", packets, others);
    return packets == others;
}

static int check_events(const struct stream *s, struct rng *cuts)
{
    static struct events plain, whole, pieces;
    const struct ct_chain_sink plain_sink = {.user = &plain, .packets = on_packets, .elems = on_plain};
    const struct ct_chain_sink whole_sink = {.user = &whole, .events = on_events};
    const struct ct_chain_sink pieces_sink = {.user = &pieces, .events = on_events};
    plain.count = whole.count = pieces.count = 0;
    if (ct_events_new(NULL, &s->sources[0], &plain.plain))
        return 0;
    int ok = feed(s, CT_LEVEL_ELEMENT, &plain_sink, NULL, plain.stats) &&
             feed(s, CT_LEVEL_ELEMENT, &whole_sink, NULL, whole.stats) &&
             feed(s, CT_LEVEL_ELEMENT, &pieces_sink, cuts, pieces.stats);
    ct_events_free(plain.plain);
    return ok && same_events(&plain, &whole) && same_events(&plain, &pieces);
}

/* ---- packets ---- */

struct packets {
    struct ct_etm4_packet packets[2][ROOM];
    uint64_t offsets[2][ROOM];
    size_t count[2];
    struct ct_stream_stats stats[2];
};

static int keep_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct packets *p = user;
    const unsigned id = stream->id == 0x11;
    const struct ct_etm4_packet *packets = batch->packets;
    for (size_t i = 0; i < batch->count && p->count[id] < ROOM; i++) {
        p->packets[id][p->count[id]] = packets[i];
        p->offsets[id][p->count[id]++] = batch->offsets[i];
    }
    return 0;
}

static int keep_no_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    (void)user, (void)stream, (void)batch;
    return 0;
}

/* Decodes to packets, which come in bursts when no elements are made, or only counts them when there is no
 * receiver. */
static int run_packets(const struct stream *s, enum ct_level level, bool wanted, struct rng *cuts,
                       struct packets *out)
{
    const struct ct_chain_sink sink = {.user = out,
                                       .packets = wanted ? keep_packets : NULL,
                                       .elems = level == CT_LEVEL_ELEMENT ? keep_no_elems : NULL};
    memset(out->count, 0, sizeof out->count);
    return feed(s, level, &sink, cuts, out->stats);
}

static int same_packets(const struct packets *a, const struct packets *b, bool wanted)
{
    for (unsigned id = 0; id < 2; id++) {
        for (size_t i = 0; wanted && (i < a->count[id] || i < b->count[id]); i++) {
            const struct ct_etm4_packet *x = &a->packets[id][i], *y = &b->packets[id][i];
            if (i < a->count[id] && i < b->count[id] && !memcmp(x, y, sizeof *x) &&
                a->offsets[id][i] == b->offsets[id][i])
                continue;
            printf("# ID %u, packet %zu of %zu and %zu: header %02x type %u value %" PRIx64 " at %" PRIu64
                   ", in a burst header %02x type %u value %" PRIx64 " at %" PRIu64 "\n",
                   id, i, a->count[id], b->count[id], x->header, x->type, x->value, a->offsets[id][i],
                   y->header, y->type, y->value, b->offsets[id][i]);
            return 0;
        }
        if (memcmp(&a->stats[id], &b->stats[id], sizeof a->stats[id]) != 0) {
            printf("# ID %u: %" PRIu64 " and %" PRIu64 " packets, %" PRIu64 " and %" PRIu64
                   " elements, %" PRIu64 " and %" PRIu64 " atoms are counted\n",
                   id, a->stats[id].packets, b->stats[id].packets, a->stats[id].elements,
                   b->stats[id].elements, a->stats[id].atoms, b->stats[id].atoms);
            return 0;
        }
    }
    return 1;
}

static int check_packets(const struct stream *s, struct rng *cuts)
{
    static struct packets plain, fast;
    if (!run_packets(s, CT_LEVEL_ELEMENT, true, NULL, &plain))
        return 0;
    for (unsigned way = 0; way < 4; way++) {
        const bool wanted = way & 1;
        if (!run_packets(s, CT_LEVEL_PACKET, wanted, way & 2 ? cuts : NULL, &fast) ||
            !same_packets(&plain, &fast, wanted))
            return 0;
    }
    return 1;
}

static int same(const struct result *a, const struct result *b)
{
    for (unsigned id = 0; id < 2; id++) {
        for (size_t i = 0; i < a->count[id] || i < b->count[id]; i++) {
            const struct ct_elem *x = &a->elems[id][i], *y = &b->elems[id][i];
            if (!memcmp(x, y, sizeof *x) && a->offsets[id][i] == b->offsets[id][i])
                continue;
            printf("# ID %u, element %zu of %zu and %zu: kind %u n %u v %" PRIx64 " at %" PRIu64
                   ", straight kind %u n %u v %" PRIx64 " at %" PRIu64 "\n",
                   id, i, a->count[id], b->count[id], x->kind, x->n, x->v, a->offsets[id][i], y->kind, y->n,
                   y->v, b->offsets[id][i]);
            return 0;
        }
        if (memcmp(&a->stats[id], &b->stats[id], sizeof a->stats[id]) != 0) {
            printf("# ID %u: %" PRIu64 " and %" PRIu64 " packets are counted\n", id, a->stats[id].packets,
                   b->stats[id].packets);
            return 0;
        }
    }
    return 1;
}

static int check(uint64_t seed)
{
    static struct stream s;
    static struct result plain, fast;
    struct rng rng = {seed}, cuts = {seed};
    fill(&rng, &s);
    if (!run(&s, 1, NULL, &plain) || !run(&s, 0, NULL, &fast) || !same(&plain, &fast))
        return 0;
    return run(&s, 0, &cuts, &fast) && same(&plain, &fast) && check_events(&s, &cuts) &&
           check_packets(&s, &cuts);
}

int main(void)
{
    if (best_simd_is_named())
        return 0;
    const struct seeds seeds = seeds_begin(1, test_part(300000), 20000000);
    const int ok = seeds_hold(seeds, STREAM, check, 1,
                              "elements, events and packets straight from bytes are the plain ones");
    return ok ? 0 : 1;
}
