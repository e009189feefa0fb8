/* SPDX-License-Identifier: Apache-2.0 */
#include "format/perfetto.h"

#include "base/protobuf.h"
#include "coretap/base.h"

/* size of packets that are compressed together, and dropped together at the size limit; readers take less
 * than 512 KiB */
#define PIECE (32u << 10)

/* all packets belong to one sequence, whose names are complete from its first packet on */
#define SEQUENCE 1

/* Numbers of the fields, by message, and of enumerators. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE_ID = 10,
    PACKET_TRACK_EVENT,
    PACKET_INTERNED_DATA,
    PACKET_SEQUENCE_FLAGS,
    PACKET_COMPRESSED_PACKETS = 50,
    PACKET_TRACK_DESCRIPTOR = 60,
    STATE_CLEARED = 1,
    NEEDS_STATE = 2,
    INTERNED_EVENT_NAMES = 2,
    NAME_IID = 1,
    NAME_NAME,
    EVENT_TYPE = 9,
    EVENT_NAME_IID,
    EVENT_TRACK_UUID,
    EVENT_CATEGORIES = 22,
    EVENT_NAME,
    EVENT_DOUBLE_COUNTER_VALUE = 44,
    EVENT_FLOW_IDS = 47,
    SLICE_BEGIN = 1,
    SLICE_END,
    INSTANT,
    COUNTER,
    TRACK_UUID = 1,
    TRACK_NAME,
    TRACK_PROCESS,
    TRACK_THREAD,
    TRACK_PARENT_UUID,
    TRACK_COUNTER = 8,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID,
    THREAD_NAME = 5,
};

/* ---- pieces ---- */

/* Writes the pending packets, unless the file would become too large. */
static void flush(struct ct_perfetto *to)
{
    struct ct_grown whole = {0};
    if (to->packets.failed)
        return; /* the last packet is incomplete */
    to->size += to->packets.size;
    ct_deflate_run(to->deflate, to->packets.bytes, to->packets.size, true, &to->packed);
    const size_t packet = ct_protobuf_begin(&whole, TRACE_PACKET);
    ct_protobuf_bytes(&whole, PACKET_COMPRESSED_PACKETS, to->packed.bytes, to->packed.size);
    ct_protobuf_end(&whole, packet);
    to->full |= to->most && to->written + whole.size > to->most;
    to->packed.failed |= whole.failed;
    if (!to->full && !to->packed.failed) {
        fwrite(whole.bytes, 1, whole.size, to->out);
        to->written += whole.size;
        to->kept = to->slices;
    }
    ct_grown_free(&whole);
    to->packets.size = 0;
    to->packed.size = 0;
}

/* Begins a packet. */
static size_t begin_packet(struct ct_perfetto *to)
{
    const size_t packet = ct_protobuf_begin(&to->packets, TRACE_PACKET);
    ct_protobuf_number(&to->packets, PACKET_SEQUENCE_ID, SEQUENCE);
    return packet;
}

static void end_packet(struct ct_perfetto *to, size_t packet)
{
    ct_protobuf_end(&to->packets, packet);
    if (to->full)
        to->packets.size = 0;
    else if (to->packets.size >= PIECE)
        flush(to);
}

int ct_perfetto_open(struct ct_perfetto *to, struct ct_ctx *ctx, FILE *out, uint64_t most)
{
    const int rc = ct_deflate_new(ctx, CT_DEFLATE_ZLIB, &to->deflate);
    if (rc)
        return rc;
    to->out = out;
    to->most = most;
    const size_t packet = begin_packet(to);
    ct_protobuf_number(&to->packets, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
    end_packet(to, packet);
    return CT_OK;
}

int ct_perfetto_close(struct ct_perfetto *to)
{
    if (to->deflate && to->packets.size)
        flush(to);
    const bool failed = to->packets.failed || to->packed.failed;
    ct_deflate_free(to->deflate);
    to->deflate = NULL;
    ct_grown_free(&to->packets);
    ct_grown_free(&to->packed);
    return failed ? CT_ERR_NOMEM : CT_OK;
}

/* ---- tracks ---- */

/* The open messages of a packet that describes a track. */
struct description {
    size_t packet, track;
};

static struct description begin_track(struct ct_perfetto *to, uint64_t parent, const char *name)
{
    struct description made = {.packet = begin_packet(to)};
    made.track = ct_protobuf_begin(&to->packets, PACKET_TRACK_DESCRIPTOR);
    ct_protobuf_number(&to->packets, TRACK_UUID, ++to->track_count);
    if (parent)
        ct_protobuf_number(&to->packets, TRACK_PARENT_UUID, parent);
    if (name)
        ct_protobuf_text(&to->packets, TRACK_NAME, name);
    return made;
}

static uint64_t end_track(struct ct_perfetto *to, struct description made)
{
    ct_protobuf_end(&to->packets, made.track);
    end_packet(to, made.packet);
    return to->track_count;
}

uint64_t ct_perfetto_track(struct ct_perfetto *to, uint64_t parent, const char *name)
{
    return end_track(to, begin_track(to, parent, name));
}

uint64_t ct_perfetto_counter(struct ct_perfetto *to, uint64_t parent, const char *name)
{
    const struct description made = begin_track(to, parent, name);
    const size_t counter = ct_protobuf_begin(&to->packets, TRACK_COUNTER);
    ct_protobuf_end(&to->packets, counter);
    return end_track(to, made);
}

/* Adds a number of type int32, extended to 64 bits. */
static void put_int32(struct ct_grown *to, unsigned field, int32_t value)
{
    ct_protobuf_number(to, field, (uint64_t)(int64_t)value);
}

uint64_t ct_perfetto_process(struct ct_perfetto *to, int32_t pid, const char *name)
{
    const struct description made = begin_track(to, 0, NULL);
    const size_t process = ct_protobuf_begin(&to->packets, TRACK_PROCESS);
    put_int32(&to->packets, PROCESS_PID, pid);
    ct_protobuf_text(&to->packets, PROCESS_NAME, name);
    ct_protobuf_end(&to->packets, process);
    return end_track(to, made);
}

uint64_t ct_perfetto_thread(struct ct_perfetto *to, uint64_t process, const int32_t ids[2], const char *name)
{
    const struct description made = begin_track(to, process, NULL);
    const size_t thread = ct_protobuf_begin(&to->packets, TRACK_THREAD);
    put_int32(&to->packets, THREAD_PID, ids[0]);
    put_int32(&to->packets, THREAD_TID, ids[1]);
    ct_protobuf_text(&to->packets, THREAD_NAME, name);
    ct_protobuf_end(&to->packets, thread);
    return end_track(to, made);
}

/* ---- events ---- */

/* The open messages of an event. */
struct event {
    size_t packet, event;
};

static struct event begin_event(struct ct_perfetto *to, unsigned type, uint64_t track, uint64_t time)
{
    struct event made = {.packet = begin_packet(to)};
    ct_protobuf_number(&to->packets, PACKET_TIMESTAMP, time);
    ct_protobuf_number(&to->packets, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
    made.event = ct_protobuf_begin(&to->packets, PACKET_TRACK_EVENT);
    ct_protobuf_number(&to->packets, EVENT_TYPE, type);
    ct_protobuf_number(&to->packets, EVENT_TRACK_UUID, track);
    return made;
}

static void end_event(struct ct_perfetto *to, struct event made)
{
    ct_protobuf_end(&to->packets, made.event);
    end_packet(to, made.packet);
}

void ct_perfetto_begin(struct ct_perfetto *to, uint64_t track, uint64_t time, uint64_t number,
                       const char *name)
{
    const struct event made = begin_event(to, SLICE_BEGIN, track, time);
    to->slices++;
    ct_protobuf_number(&to->packets, EVENT_NAME_IID, number);
    ct_protobuf_end(&to->packets, made.event);
    if (name) {
        const size_t data = ct_protobuf_begin(&to->packets, PACKET_INTERNED_DATA);
        const size_t entry = ct_protobuf_begin(&to->packets, INTERNED_EVENT_NAMES);
        ct_protobuf_number(&to->packets, NAME_IID, number);
        ct_protobuf_text(&to->packets, NAME_NAME, name);
        ct_protobuf_end(&to->packets, entry);
        ct_protobuf_end(&to->packets, data);
    }
    end_packet(to, made.packet);
}

void ct_perfetto_end(struct ct_perfetto *to, uint64_t track, uint64_t time)
{
    end_event(to, begin_event(to, SLICE_END, track, time));
}

static void put_named(struct ct_perfetto *to, unsigned type, uint64_t track, uint64_t time, const char *name)
{
    const struct event made = begin_event(to, type, track, time);
    ct_protobuf_text(&to->packets, EVENT_NAME, name);
    end_event(to, made);
}

void ct_perfetto_begin_named(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name)
{
    to->slices++;
    put_named(to, SLICE_BEGIN, track, time, name);
}

void ct_perfetto_instant(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name)
{
    put_named(to, INSTANT, track, time, name);
}

void ct_perfetto_note(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *category,
                      const char *name)
{
    const struct event made = begin_event(to, INSTANT, track, time);
    ct_protobuf_text(&to->packets, EVENT_CATEGORIES, category);
    ct_protobuf_text(&to->packets, EVENT_NAME, name);
    end_event(to, made);
}

void ct_perfetto_flow(struct ct_perfetto *to, uint64_t track, uint64_t time, const char *name,
                      uint64_t number)
{
    const struct event made = begin_event(to, INSTANT, track, time);
    ct_protobuf_text(&to->packets, EVENT_NAME, name);
    ct_protobuf_fixed64(&to->packets, EVENT_FLOW_IDS, number);
    end_event(to, made);
}

void ct_perfetto_value(struct ct_perfetto *to, uint64_t track, uint64_t time, double value)
{
    const struct event made = begin_event(to, COUNTER, track, time);
    ct_protobuf_double(&to->packets, EVENT_DOUBLE_COUNTER_VALUE, value);
    end_event(to, made);
}
