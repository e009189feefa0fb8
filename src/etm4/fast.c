/* SPDX-License-Identifier: Apache-2.0 */
#include "etm4/fast.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/events.h"
#include "base/ctx.h"
#include "elem/etm4_state.h"
#include "etm4/elems.h"
#include "etm4/packets.h"
#include "losses/losses.h"

/* Elements that are made at a time on the way to events. Each makes three events at most, besides the events
 * that waited for it. */
#define ELEMS 64

_Static_assert(3 * ELEMS + 2 * CT_EVENTS_WAITING <= CT_COLUMNS_STEP, "columns with room have room for these");

/* packets that ct_etm4_fast_forget decodes at a time */
#define FORGOTTEN 256u

/* most packets from a synchronisation point up to the address where execution goes on */
#define PEEK_PACKETS 8u

struct ct_etm4_fast {
    struct ct_etm4_decoder *decoder;
    struct ct_etm4_resolver *resolver;
    struct ct_etm4_packet packet; /* the packet that the resolver has not taken yet, if `pending` */
    bool pending;                 /* `packet` is there */
    bool owing;                   /* the resolver has more elements, for which there was no room */
    bool dense;                   /* timestamps are frequent at present, so bursts take them too */
    bool scan;                    /* this machine can scan, so events can be made straight from bytes */
    struct ct_etm4_burst burst;
    struct ct_etm4_event_tables tables;
    struct ct_etm4_elem_tables elem_tables;
    struct ct_etm4_packet_tables packet_tables;
    bool packets_ready; /* packet_tables is up to date */
    /* buffers between packets and events */
    struct ct_elem elems[ELEMS];
    struct ct_event events[CT_COLUMNS_STEP];
};

static void make_tables(struct ct_etm4_fast *f)
{
    ct_etm4_event_tables_init(&f->tables, &f->burst);
    ct_etm4_elem_tables_init(&f->elem_tables, &f->burst);
    f->packets_ready = false;
}

int ct_etm4_fast_new(struct ct_ctx *ctx, struct ct_etm4_decoder *decoder, struct ct_etm4_resolver *resolver,
                     struct ct_etm4_fast **out)
{
    *out = NULL;
    if (decoder->config.max_spec)
        return CT_OK;
    struct ct_etm4_fast *f = calloc(1, sizeof *f);
    if (!f)
        return ct_fail_nomem(ctx, "ETMv4 elements");
    f->decoder = decoder;
    f->resolver = resolver;
    f->scan = ct_etm4_scan_there();
    ct_etm4_burst_init(&f->burst, decoder);
    make_tables(f);
    *out = f;
    return CT_OK;
}

void ct_etm4_fast_free(struct ct_etm4_fast *f)
{
    free(f);
}

void ct_etm4_fast_reset(struct ct_etm4_fast *f)
{
    f->pending = f->owing = false;
}

/* Returns whether the resolver waits for nothing: elements can leave as soon as a P0 element follows. */
static bool is_clear(const struct ct_etm4_resolver *r)
{
    return r->state == CT_ETM4_DECODE && !ct_held_count(&r->held) && !r->depth && !r->unseen &&
           !r->pending_address;
}

/* Turns positions in the stream into offsets in the capture, for those of the elements that lie less than
 * `end` bytes behind `from`, all in one span. Looks up the offset of the first one only. Returns the number
 * of such elements. */
static size_t place_span(const struct ct_span *span, uint64_t from, uint32_t end, struct ct_elem *elems,
                         size_t count)
{
    const uint32_t first = elems[0].pos;
    const uint64_t pos = from + (uint32_t)(first - (uint32_t)from);
    const uint32_t offset = (uint32_t)ct_span_offset(span, pos);
    const uint32_t rest = (uint32_t)((pos - span->pos + span->place % 16) % 15);
    size_t i = 0;
    if (!(span->place & CT_SPAN_FRAMES)) {
        for (; i < count && elems[i].pos - (uint32_t)from < end; i++)
            elems[i].pos += offset - first;
        return i;
    }
    for (; i < count && elems[i].pos - (uint32_t)from < end; i++) {
        const uint32_t ahead = elems[i].pos - first;
        elems[i].pos = offset + ahead + (rest + ahead) / 15;
    }
    return i;
}

/* Returns whether the offset in the capture differs from the position in the stream by the same number in the
 * whole run. */
static bool is_straight(const struct ct_run *run)
{
    return run->span_count == 1 && !(run->spans[0].place & CT_SPAN_FRAMES);
}

/* Turns positions in the stream into offsets in the capture. The elements are in ascending order and do not
 * lie before `from`. */
static void place(const struct ct_run *run, uint64_t from, struct ct_elem *elems, size_t count)
{
    for (size_t at = ct_run_span(run, from), i = 0; i < count; at++) {
        const bool last = at + 1 == run->span_count;
        const uint64_t end = last ? UINT32_MAX : run->spans[at + 1].pos - from;
        if (elems[i].pos - (uint32_t)from < end)
            i += place_span(&run->spans[at], from, end < UINT32_MAX ? (uint32_t)end : UINT32_MAX, elems + i,
                            count - i);
    }
}

/* Moves the elements behind the last atoms, which a later packet may still cancel, to the resolver. Returns
 * how many elements are certain. */
static size_t hold_tail(struct ct_etm4_resolver *r, const struct ct_elem *elems, size_t count)
{
    size_t n = count;
    while (n && elems[n - 1].kind != CT_ELEM_ATOMS)
        n--;
    for (size_t i = n; i < count; i++)
        ct_held_push(&r->held, &elems[i], 0);
    return n;
}

/* Adds the packets of bursts, and the atoms in them, to the statistics. */
static void count_packets(struct ct_etm4_burst *b, const struct ct_etm4_decoder *d,
                          struct ct_stream_stats *stats)
{
    for (unsigned h = 0; h < 256; h++) {
        stats->packets += b->packets[h];
        stats->packet_types[d->headers[h].type] += b->packets[h];
        stats->atoms += b->packets[h] * d->headers[h].natoms;
        b->packets[h] = 0;
    }
}

/* Copies the state of the decoder into the burst, and makes the tables again when the rows of the burst
 * changed. Returns false when bursts cannot decode in that state. */
static bool enter_packets(struct ct_etm4_fast *f)
{
    const uint32_t threshold = f->burst.threshold;
    const bool sf = f->burst.sf;
    if (!ct_etm4_burst_enter(&f->burst, f->decoder))
        return false;
    if (f->burst.threshold != threshold || f->burst.sf != sf)
        make_tables(f);
    return true;
}

static bool enter(struct ct_etm4_fast *f)
{
    return is_clear(f->resolver) && enter_packets(f);
}

/* Decodes common packets to elements, as ct_etm4_burst_elems does. */
static size_t burst_bytes(struct ct_etm4_fast *f, const uint8_t *data, size_t size, uint32_t pos,
                          struct ct_elem *elems, size_t cap, size_t *count)
{
    size_t bytes = 0;
    size_t more;
    *count = 0;
    if (f->scan)
        bytes = ct_etm4_burst_elems_fast(&f->burst, &f->elem_tables, &f->tables, data, size, pos, elems, cap,
                                         count);
    if (f->scan && size - bytes >= CT_SCAN_BYTES && cap - *count >= CT_SCAN_BLOCK)
        return bytes; /* a rare packet comes next */
    bytes += ct_etm4_burst_elems(&f->burst, data + bytes, size - bytes, pos + (uint32_t)bytes, elems + *count,
                                 cap - *count, &more);
    *count += more;
    return bytes;
}

/* Returns whether bursts may take timestamps. They may not where timestamps only count after a marker, which
 * may not have come yet. */
static bool takes_stamps(const struct ct_etm4_fast *f)
{
    return !f->decoder->config.ts_markers;
}

/* Decodes common packets, and timestamps too where these are frequent. */
static size_t burst_all(struct ct_etm4_fast *f, const uint8_t *data, size_t size, uint32_t pos,
                        struct ct_elem *elems, size_t cap, size_t *count)
{
    size_t bytes = 0;
    size_t more;
    *count = 0;
    if (!f->dense) {
        bytes = burst_bytes(f, data, size, pos, elems, cap, count);
        f->dense =
            takes_stamps(f) && *count < CT_ETM4_STAMPS_APART && bytes < size && ct_etm4_is_stamp(data[bytes]);
    }
    if (f->dense) {
        bytes += ct_etm4_burst_stamped(&f->burst, f->decoder, data + bytes, size - bytes,
                                       pos + (uint32_t)bytes, elems + *count, cap - *count, &more, &f->dense);
        *count += more;
    }
    return bytes;
}

static bool is_rare(const struct ct_etm4_fast *f, uint8_t header)
{
    return f->burst.rows[header]->form == CT_BURST_RARE;
}

/* Returns whether the next packet is a rare one, so that beginning a burst would cost more than it gains. */
static bool comes_rare(const struct ct_etm4_fast *f, const struct ct_work *work)
{
    return work->at == work->run->size || is_rare(f, work->run->data[work->at]);
}

/* Returns whether the next packet is a timestamp that a burst may take. */
static bool comes_stamp(const struct ct_etm4_fast *f, const struct ct_work *work)
{
    return work->at < work->run->size && takes_stamps(f) && ct_etm4_is_stamp(work->run->data[work->at]);
}

/* Decodes common packets from work->at on, and returns how many of the elements are certain. */
static size_t burst(struct ct_etm4_fast *f, struct ct_work *work, struct ct_elem *elems, size_t cap)
{
    const struct ct_run *run = work->run;
    if ((comes_rare(f, work) && !comes_stamp(f, work)) || !enter(f))
        return 0;
    uint64_t addresses = f->burst.address_count;
    const bool straight = is_straight(run);
    const uint64_t from = run->pos + work->at;
    /* where offsets differ from positions by a constant, elements are made with their offsets */
    const uint64_t begin = straight ? ct_run_offset(run, from) : from;
    size_t count;
    work->at += burst_all(f, run->data + work->at, run->size - work->at, (uint32_t)begin, elems, cap, &count);
    if (!count)
        return 0;
    ct_etm4_burst_leave(&f->burst, f->decoder);
    if (f->burst.address_count != addresses)
        f->resolver->last_is = f->decoder->history[0].is;
    const uint64_t last = begin + (uint32_t)(elems[count - 1].pos - (uint32_t)begin);
    work->last_offset = straight ? last : ct_run_offset(run, last);
    if (!straight)
        place(run, from, elems, count);
    return hold_tail(f->resolver, elems, count);
}

/* Decodes one packet with the plain decoder, for the resolver. Returns false when no whole packet is
 * there. */
static bool next_packet(struct ct_etm4_fast *f, struct ct_work *work, struct ct_stream_stats *stats)
{
    const struct ct_run *run = work->run;
    struct ct_etm4_packet *p = &f->packet;
    size_t count;
    /* the run that ends the stream is empty and may have no data pointer */
    work->at += ct_etm4_decode(f->decoder, run->data ? run->data + work->at : NULL, run->size - work->at,
                               run->pos + work->at, work->behind != CT_BEHIND_MORE, p, 1, &count);
    if (!count)
        return false;
    stats->packets++;
    stats->packet_types[p->type]++;
    p->pos = p->type == CT_ETM4_NOT_SYNC ? work->start_offset : ct_run_offset(run, p->pos);
    work->last_offset = p->pos;
    f->pending = true;
    return true;
}

/* Resolves the pending packet, the elements that had no room before and, at the end, those that are held.
 * Returns the number of elements. */
static size_t resolve(struct ct_etm4_fast *f, bool final, struct ct_elem *elems, size_t cap)
{
    size_t count;
    size_t taken = ct_etm4_resolve(f->resolver, &f->packet, f->pending, final, elems, cap, &count);
    f->pending = f->pending && !taken;
    f->owing = count > cap - CT_RESOLVE_MIN;
    return count;
}

/* Returns the room for elements that a burst or a packet needs to begin: the blocks of a chunk have to fit,
 * or few elements may be left without room at the end. */
static size_t least_room(const struct ct_etm4_fast *f, size_t cap)
{
    if (f->scan && cap >= 2 * CT_SCAN_BYTES)
        return CT_SCAN_BYTES;
    return cap >= 3 * CT_RESOLVE_MIN ? 2 * CT_RESOLVE_MIN : CT_RESOLVE_MIN;
}

size_t ct_etm4_fast_run(struct ct_etm4_fast *f, struct ct_work *work, struct ct_elem *elems, size_t cap,
                        struct ct_stream_stats *stats)
{
    size_t n = 0;
    const size_t least = least_room(f, cap);
    bool final = false;
    work->more = true;
    while (cap - n >= (f->owing ? CT_RESOLVE_MIN : least)) {
        if (f->pending || f->owing || final) {
            size_t count = resolve(f, final, elems + n, cap - n);
            ct_losses_count_elems(stats, work->whole, elems + n, count);
            n += count;
            if (final && !f->owing) {
                work->more = false;
                break;
            }
            continue;
        }
        size_t count = burst(f, work, elems + n, cap - n);
        stats->elements += count;
        n += count;
        if (cap - n < least)
            break;
        if (next_packet(f, work, stats))
            continue;
        final = work->behind == CT_BEHIND_END;
        work->more = final;
        if (!final)
            break;
    }
    count_packets(&f->burst, f->decoder, stats);
    return n;
}

static void burst_events(struct ct_etm4_fast *f, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats)
{
    const struct ct_run *run = work->run;
    if (!f->scan || events->count || comes_rare(f, work) || !enter(f))
        return;
    size_t marks = columns->mark_count;
    struct ct_etm4_event_burst burst = {
        .tables = &f->tables, .columns = columns, .cycle = events->cycle, .branched = events->branched};
    size_t bytes = ct_etm4_burst_events(&burst, &f->burst, run->data + work->at, run->size - work->at,
                                        run->pos + work->at);
    if (!bytes)
        return;
    ct_etm4_burst_leave(&f->burst, f->decoder);
    if (burst.addresses)
        f->resolver->last_is = f->decoder->history[0].is;
    events->cycle = burst.cycle;
    events->branched = burst.branched;
    stats->packets += burst.packets;
    work->at += bytes;
    work->last_offset = ct_run_offset(run, run->pos + work->at - 1); /* an atom has one byte */
    for (size_t i = marks; i < columns->mark_count; i++)
        columns->marks[i].event.offset = ct_run_offset(run, columns->marks[i].event.offset);
}

/* Resolves as resolve() does, and adds the events that the elements make to the columns. */
static void resolve_events(struct ct_etm4_fast *f, bool final, const struct ct_work *work,
                           struct ct_events *events, struct ct_event_columns *columns,
                           struct ct_stream_stats *stats)
{
    size_t count = resolve(f, final, f->elems, ELEMS);
    ct_losses_count_elems(stats, work->whole, f->elems, count);
    for (size_t done = 0; done < count;) {
        size_t made;
        done += ct_events_from_elems(events, f->elems + done, count - done, work->last_offset, f->events,
                                     CT_COLUMNS_STEP, &made);
        ct_event_columns_add(columns, f->events, made);
    }
}

void ct_etm4_fast_events(struct ct_etm4_fast *f, struct ct_work *work, struct ct_events *events,
                         struct ct_event_columns *columns, struct ct_stream_stats *stats)
{
    bool final = false;
    work->more = true;
    while (ct_event_columns_have_room(columns)) {
        if (f->pending || f->owing || final) {
            resolve_events(f, final, work, events, columns, stats);
            if (final && !f->owing) {
                work->more = false;
                break;
            }
            continue;
        }
        burst_events(f, work, events, columns, stats);
        if (!ct_event_columns_have_room(columns))
            break;
        if (next_packet(f, work, stats))
            continue;
        final = work->behind == CT_BEHIND_END;
        work->more = final;
        if (!final)
            break;
    }
}

/* Decodes common packets, as ct_etm4_burst_packets does. */
static size_t burst_packets(struct ct_etm4_fast *f, const uint8_t *data, size_t size, uint64_t pos,
                            struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    *count = 0;
    if (!f->scan || !size || is_rare(f, *data) || !enter_packets(f))
        return 0;
    if (!f->packets_ready)
        ct_etm4_packet_tables_init(&f->packet_tables, f->decoder, &f->tables);
    f->packets_ready = true;
    const size_t bytes =
        ct_etm4_burst_packets(&f->burst, &f->packet_tables, &f->tables, data, size, pos, packets, cap, count);
    ct_etm4_burst_leave(&f->burst, f->decoder);
    return bytes;
}

size_t ct_etm4_fast_packets(struct ct_etm4_fast *f, const uint8_t *data, size_t size, uint64_t pos,
                            bool final, struct ct_etm4_packet *packets, size_t cap, size_t *count)
{
    size_t at = 0;
    size_t n = 0;
    data = data ? data : (const uint8_t *)""; /* the run that ends the stream may have no data pointer */
    while (cap - n >= CT_SCAN_BLOCK) {
        size_t more;
        at += burst_packets(f, data + at, size - at, pos + at, packets + n, cap - n, &more);
        n += more;
        if (cap - n < CT_SCAN_BLOCK)
            break;
        /* decode one packet, the rare one, unless the burst ended because few bytes are left */
        const size_t most = size - at < CT_SCAN_BLOCK + CT_ETM4_BURST_AHEAD || !f->scan ? cap - n : 1;
        at += ct_etm4_decode(f->decoder, data + at, size - at, pos + at, final, packets + n, most, &more);
        n += more;
        if (more < most)
            break;
    }
    *count = n;
    return at;
}

/* Counts common packets up to the last atoms, without making packets or elements. */
static void burst_counts(struct ct_etm4_fast *f, struct ct_work *work, struct ct_stream_stats *stats)
{
    const struct ct_run *run = work->run;
    if (!f->scan || comes_rare(f, work) || !enter(f))
        return;
    const uint64_t addresses = f->burst.address_count;
    uint64_t count;
    const size_t bytes =
        ct_etm4_burst_counts(&f->burst, &f->tables, run->data + work->at, run->size - work->at, &count);
    if (!bytes)
        return;
    ct_etm4_burst_leave(&f->burst, f->decoder);
    if (f->burst.address_count != addresses)
        f->resolver->last_is = f->decoder->history[0].is;
    stats->elements += count; /* each packet is one element, and all of these are certain */
    work->at += bytes;
    work->last_offset = ct_run_offset(run, run->pos + work->at - 1); /* an atom has one byte */
}

void ct_etm4_fast_count(struct ct_etm4_fast *f, struct ct_work *work, struct ct_stream_stats *stats)
{
    bool more;
    do {
        burst_counts(f, work, stats);
        stats->elements += burst(f, work, f->elems, ELEMS); /* the common packets before a rare one */
        more = next_packet(f, work, stats);
        const bool final = !more && work->behind == CT_BEHIND_END;
        do {
            const size_t count = resolve(f, final, f->elems, ELEMS);
            ct_losses_count_elems(stats, work->whole, f->elems, count);
        } while (f->pending || f->owing);
    } while (more);
    work->more = false;
    count_packets(&f->burst, f->decoder, stats);
}

bool ct_etm4_fast_scans(const struct ct_etm4_fast *f)
{
    return f->scan;
}

const struct ct_etm4_event_tables *ct_etm4_fast_tables(const struct ct_etm4_fast *f)
{
    return &f->tables;
}

struct ct_etm4_burst *ct_etm4_fast_burst(struct ct_etm4_fast *f)
{
    return &f->burst;
}

/* Returns whether the resolver holds nothing but what a burst left behind its last atom. */
static bool holds_tail(const struct ct_held *held)
{
    uint32_t count = ct_held_count(held);
    bool simple = count <= CT_FAST_TAIL;
    for (uint32_t i = 0; i < count && simple; i++) {
        uint8_t kind = ct_held_at(held, i)->elem.kind;
        simple = kind == CT_ELEM_CYCLES || kind == CT_ELEM_EVENT || kind == CT_ELEM_ADDRESS;
    }
    return simple;
}

bool ct_etm4_fast_enter(struct ct_etm4_fast *f)
{
    struct ct_etm4_resolver *r = f->resolver;
    uint32_t oldest = r->held.oldest;
    if (f->pending || f->owing || !holds_tail(&r->held))
        return false;
    r->held.oldest = r->held.newest;
    bool could = enter(f);
    r->held.oldest = oldest;
    return could && r->last_is == (f->burst.address[0] & 1);
}

size_t ct_etm4_fast_release(struct ct_etm4_fast *f, struct ct_elem elems[CT_FAST_TAIL])
{
    struct ct_held *held = &f->resolver->held;
    size_t count = 0;
    for (; ct_held_count(held); ct_held_pop_oldest(held))
        elems[count++] = ct_held_at(held, 0)->elem;
    return count;
}

static bool is_address(unsigned type)
{
    return type >= CT_ETM4_ADDR_S_IS0 && type <= CT_ETM4_ADDR_MATCH;
}

size_t ct_etm4_fast_peek(const struct ct_etm4_fast *f, const uint8_t *data, size_t size, uint64_t address[3])
{
    struct ct_etm4_decoder d = *f->decoder;
    struct ct_etm4_packet packet = {.type = CT_ETM4_NOT_SYNC};
    size_t at = 0;
    size_t count = 1;
    for (unsigned i = 0; i < PEEK_PACKETS && count && !is_address(packet.type); i++)
        at += ct_etm4_decode(&d, data + at, size - at, at, false, &packet, 1, &count);
    bool known = is_address(packet.type);
    for (unsigned i = 0; i < 3; i++) {
        address[i] = d.history[i].value | d.history[i].is;
        known = known && d.history[i].valid == 64;
    }
    return known ? at : 0;
}

size_t ct_etm4_fast_read(struct ct_etm4_fast *f, const uint8_t *data, size_t size, struct ct_elem *elems)
{
    uint64_t addresses = f->burst.address_count;
    size_t count;
    ct_etm4_burst_elems(&f->burst, data, size + CT_ETM4_BURST_AHEAD, 0, elems, size, &count);
    ct_etm4_burst_leave(&f->burst, f->decoder);
    if (f->burst.address_count != addresses)
        f->resolver->last_is = f->decoder->history[0].is;
    return count;
}

size_t ct_etm4_fast_forget(struct ct_etm4_fast *f, const uint8_t *data, size_t size)
{
    struct ct_elem elems[FORGOTTEN];
    uint64_t address[3];
    size_t at = 0;
    size_t count = 1;
    size_t forgotten = 0;
    memcpy(address, f->burst.address, sizeof address);
    while (at < size && count) {
        const uint8_t *from = data + at;
        at += ct_etm4_burst_elems(&f->burst, from, size - at + CT_ETM4_BURST_AHEAD, 0, elems, FORGOTTEN,
                                  &count);
        for (size_t i = 0; i < count; i++) {
            bool other = elems[i].kind == CT_ELEM_CYCLES || elems[i].kind == CT_ELEM_EVENT;
            f->burst.packets[from[elems[i].pos]] -= 1 + other; /* takes back the count of decoding it here */
            forgotten += other;
        }
    }
    memcpy(f->burst.address, address, sizeof address);
    return forgotten;
}

void ct_etm4_fast_leave(struct ct_etm4_fast *f, const uint64_t address[3])
{
    memcpy(f->burst.address, address, sizeof f->burst.address);
    ct_etm4_burst_leave(&f->burst, f->decoder);
    f->resolver->last_is = address[0] & 1;
}

void ct_etm4_fast_count_packets(struct ct_etm4_fast *f, struct ct_stream_stats *stats)
{
    count_packets(&f->burst, f->decoder, stats);
}
