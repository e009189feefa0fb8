/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzzes the fast ways of decoding ETMv4 and ETE against the plain one: 24 bytes of configuration (source.h),
 * one byte that selects how to cut, trace. What must hold, with any vector instructions: elements, packets
 * and statistics directly from bytes equal those by way of packets, packets in bursts equal those of the
 * plain decoder, events in columns equal those of the elements, and the byte-wise decoder makes the packets
 * of the packet decoder. */
#include <stdlib.h>
#include <string.h>

#include "coretap/decode.h"
#include "fuzz.h"
#include "bytewise/etm4_bytewise.h"
#include "source.h"

#define HEAD_BYTES (FUZZ_SOURCE_BYTES + 1)
#define SIZE_MAX_  4096
#define ROOM       (2 * SIZE_MAX_ + 512)

struct seen {
    struct ct_elem elems[ROOM];
    size_t elem_count;
    struct ct_event events[2 * ROOM];
    size_t event_count;
    struct ct_etm4_packet packets[ROOM];
    size_t packet_count;
    struct ct_stream_stats stats;
};

static int on_packets(void *user, const struct ct_stream *stream, const struct ct_packet_batch *batch)
{
    struct seen *seen = user;
    (void)stream;
    require(seen->packet_count + batch->count <= ROOM);
    memcpy(seen->packets + seen->packet_count, batch->packets, batch->count * batch->stride);
    seen->packet_count += batch->count;
    return 0;
}

static int on_elems(void *user, const struct ct_stream *stream, const struct ct_elem_batch *batch)
{
    struct seen *seen = user;
    (void)stream;
    require(seen->elem_count + batch->count <= ROOM);
    memcpy(seen->elems + seen->elem_count, batch->elems, batch->count * sizeof *batch->elems);
    seen->elem_count += batch->count;
    return 0;
}

static void add_event(struct seen *seen, struct ct_event event)
{
    require(seen->event_count < 2 * ROOM);
    if (event.type == CT_EVENT_BRANCH && !event.unknown)
        event.offset = 0; /* columns have none */
    seen->events[seen->event_count++] = event;
}

static int on_events(void *user, const struct ct_stream *stream, const struct ct_event_batch *batch)
{
    size_t branch = 0;
    (void)stream;
    for (size_t i = 0; i <= batch->mark_count; i++) {
        size_t before = i < batch->mark_count ? batch->marks[i].before : batch->count;
        require(before >= branch && before <= batch->count);
        for (; branch < before; branch++)
            add_event(user, (struct ct_event){.type = CT_EVENT_BRANCH,
                                              .value = batch->targets[branch],
                                              .cycle = batch->cycles[branch]});
        if (i < batch->mark_count)
            add_event(user, batch->marks[i].event);
    }
    return 0;
}

/* Decodes in pieces of `step` bytes. */
static void run(const struct ct_source *source, const struct ct_chain_sink *sink, const uint8_t *data,
                size_t size, size_t step, struct seen *seen)
{
    struct ct_source sources[1] = {*source};
    const struct ct_buffer buffer = {
        .name = "fuzz", .path = "-", .framing = CT_FRAMING_NONE, .sources = sources, .source_count = 1};
    const enum ct_level level = sink->elems || sink->events ? CT_LEVEL_ELEMENT : CT_LEVEL_PACKET;
    const struct ct_chain_options options = {
        .size = sizeof options, .level = (uint8_t)level, .framing = CT_FRAMING_NONE};
    struct ct_chain *chain;
    size_t count;
    seen->elem_count = seen->event_count = seen->packet_count = 0;
    if (ct_chain_new(NULL, &buffer, &options, sink, &chain) != CT_OK)
        exit(1);
    for (size_t at = 0; at < size; at += step)
        require(ct_chain_push(chain, data + at, size - at < step ? size - at : step) == 0);
    require(ct_chain_finish(chain) == 0);
    seen->stats = ct_chain_streams(chain, &count)->stats;
    ct_chain_free(chain);
}

static void events_of(const struct ct_source *source, struct seen *seen)
{
    struct ct_event events[CT_EVENTS_MIN];
    struct ct_events *ev;
    if (ct_events_new(NULL, source, &ev) != CT_OK)
        exit(1);
    for (size_t done = 0, n; done < seen->elem_count;) {
        done += ct_events_from_elems(ev, seen->elems + done, seen->elem_count - done, SIZE_MAX_, events,
                                     CT_EVENTS_MIN, &n);
        for (size_t i = 0; i < n; i++)
            add_event(seen, events[i]);
    }
    ct_events_free(ev);
}

static void check_bytewise(const struct ct_source *source, const uint8_t *data, size_t size, size_t step,
                           const struct seen *plain)
{
    static struct ct_etm4_bytewise b;
    static struct ct_etm4_packet packets[ROOM];
    size_t n = 0;
    size_t count;
    if (ct_etm4_bytewise_init(NULL, source, &b) != CT_OK)
        exit(1);
    for (size_t at = 0; at < size; n += count) {
        size_t piece = size - at < step ? size - at : step;
        at += ct_etm4_bytewise_run(&b, (unsigned)(1 + step % CT_ETM4_UNROLL_MAX), data + at, piece, at,
                                   packets + n, ROOM - n, &count);
    }
    n += ct_etm4_bytewise_finish(&b, packets + n);
    require(n == plain->packet_count && !memcmp(packets, plain->packets, n * sizeof *packets));
}

/* Compares the fast ways of one implementation with the plain one. */
static void check_fast(const struct ct_source *source, const uint8_t *data, size_t size, size_t step,
                       const struct seen *plain)
{
    static struct seen fast;
    const struct ct_chain_sink elem_sink = {.user = &fast, .elems = on_elems};
    const struct ct_chain_sink event_sink = {.user = &fast, .events = on_events};
    const struct ct_chain_sink packet_sink = {.user = &fast, .packets = on_packets};
    const struct ct_chain_sink no_sink = {.user = &fast};
    run(source, &elem_sink, data, size, step, &fast);
    require(fast.elem_count == plain->elem_count &&
            !memcmp(fast.elems, plain->elems, fast.elem_count * sizeof *fast.elems) &&
            !memcmp(&fast.stats, &plain->stats, sizeof fast.stats));
    run(source, &event_sink, data, size, step, &fast);
    if (ct_source_has_data_atoms(source)) /* such a trace has no events, and counts as lost */
        require(fast.event_count == 0 && fast.stats.losses.lost_bytes == size);
    else
        require(fast.event_count == plain->event_count &&
                !memcmp(fast.events, plain->events, fast.event_count * sizeof *fast.events) &&
                fast.stats.packets == plain->stats.packets);
    run(source, &packet_sink, data, size, step, &fast);
    require(fast.packet_count == plain->packet_count &&
            !memcmp(fast.packets, plain->packets, fast.packet_count * sizeof *fast.packets) &&
            !memcmp(&fast.stats, &plain->stats, sizeof fast.stats));
    run(source, &no_sink, data, size, step, &fast);
    require(!memcmp(&fast.stats, &plain->stats, sizeof fast.stats));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct seen plain;
    static const char *const versions[] = {"", "avx2", "none"};
    const struct ct_chain_sink plain_sink = {.user = &plain, .packets = on_packets, .elems = on_elems};
    struct ct_etm4_decoder *decoder;
    if (size < HEAD_BYTES || size > SIZE_MAX_)
        return 0;
    const struct ct_source source = fuzz_source(data);
    const size_t step = data[FUZZ_SOURCE_BYTES] & 1 ? size : data[FUZZ_SOURCE_BYTES] + 1u;
    data += HEAD_BYTES;
    size -= HEAD_BYTES;
    if (source.protocol != CT_PROTOCOL_ETM4 && source.protocol != CT_PROTOCOL_ETE)
        return 0;
    if (ct_etm4_decoder_new(NULL, &source, &decoder) != CT_OK)
        return 0;
    ct_etm4_decoder_free(decoder);
    run(&source, &plain_sink, data, size, SIZE_MAX_, &plain);
    events_of(&source, &plain);
    check_bytewise(&source, data, size, step, &plain);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        setenv("CORETAP_SIMD", versions[i], 1);
        check_fast(&source, data, size, step, &plain);
    }
    return 0;
}
