/* SPDX-License-Identifier: Apache-2.0 */
/* Software trace of an STM or ITM in a trace of Perfetto: lines of text, values, and named events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/fnv.h"
#include "format/perfetto_lane.h"
#include "format/port_text.h"
#include "format/software_note.h"

/* most bytes of a text that are shown */
#define TEXT 300

/* What a track is for: the second key of the map. */
enum {
    PORT_TEXT,  /* lines of a port; key: the port */
    PORT_VALUE, /* numbers of a port */
    NAME_VALUE, /* values with a name; key: hash of the name */
    NAME_SPAN,  /* spans with a name; key: hash of the name */
};

struct ct_perfetto_software {
    struct ct_perfetto_lane *lane;
    struct ct_events *events;
    struct ct_port_text ports;
    struct ct_pair_map tracks;
    struct ct_pair_map open; /* numbers of open spans, by track */
    uint64_t time;           /* of the event being written */
    int rc;                  /* result of writing lines of text */
};

int ct_perfetto_software_new(struct ct_perfetto_lane *lane, struct ct_perfetto_software **out)
{
    struct ct_perfetto_software *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(lane->of->ctx, "software trace");
    s->lane = lane;
    const int rc = ct_events_new(lane->of->ctx, lane->source, &s->events);
    if (rc)
        free(s);
    *out = rc ? NULL : s;
    return rc;
}

void ct_perfetto_software_free(struct ct_perfetto_software *s)
{
    if (!s)
        return;
    ct_events_free(s->events);
    ct_pair_map_free(&s->tracks);
    ct_pair_map_free(&s->open);
    free(s);
}

int ct_perfetto_software_take(struct ct_perfetto_software *s, const struct ct_step_mark *mark)
{
    struct ct_event events[CT_EVENTS_MIN];
    size_t count;
    int rc = CT_OK;
    (void)ct_events_from_elems(s->events, &mark->elem, 1, mark->offset, events, CT_EVENTS_MIN, &count);
    for (size_t i = 0; i < count && !rc; i++)
        if (events[i].type != CT_EVENT_END) /* the stream itself has an end */
            rc = ct_perfetto_lane_push(s->lane, &events[i]);
    return rc;
}

/* ---- tracks ---- */

static void name_port(const struct ct_perfetto_software *s, uint64_t port, char text[64])
{
    if (port == CT_SW_PORT_UNKNOWN)
        snprintf(text, 64, "port not known");
    else if (s->lane->source->protocol == CT_PROTOCOL_ITM)
        snprintf(text, 64, "port %" PRIu64, port & 0xffff);
    else
        snprintf(text, 64, "master %" PRIu64 " channel %" PRIu64, port >> 16, port & 0xffff);
}

/* Returns the track of a key, and makes it at the first use; 0 when out of memory. */
static uint64_t find_track(struct ct_perfetto_software *s, uint64_t key, uint32_t of, const char *name,
                           bool counts)
{
    struct ct_perfetto *to = &s->lane->of->to;
    const uint32_t known = ct_pair_map_get(&s->tracks, key, of);
    if (known != CT_PAIR_NONE)
        return known;
    const uint64_t track =
        counts ? ct_perfetto_counter(to, s->lane->track, name) : ct_perfetto_track(to, s->lane->track, name);
    if (ct_pair_map_put(&s->tracks, key, of, (uint32_t)track) == CT_OK)
        return track;
    (void)ct_fail_nomem(s->lane->of->ctx, "tracks");
    return 0;
}

static int put_text(struct ct_perfetto_software *s, uint64_t port, const char *text)
{
    char name[64];
    name_port(s, port, name);
    const uint64_t track = find_track(s, port, PORT_TEXT, name, false);
    if (track)
        ct_perfetto_instant(&s->lane->of->to, track, s->time, text);
    s->lane->of->seen.instants++;
    return track ? CT_OK : CT_ERR_NOMEM;
}

/* Writes a value. NaN has no place on an axis, and is left out. */
static int put_value(struct ct_perfetto_software *s, uint64_t track, double value)
{
    if (track && value == value)
        ct_perfetto_value(&s->lane->of->to, track, s->time, value);
    s->lane->of->seen.values++;
    return track ? CT_OK : CT_ERR_NOMEM;
}

/* ---- named events ---- */

/* Returns the track of a name; 0 when out of memory. */
static uint64_t find_named(struct ct_perfetto_software *s, const struct ct_named_event *event, uint32_t of)
{
    const char *name = event->entry->text;
    return find_track(s, ct_fnv(CT_FNV_BEGIN, name, strlen(name)), of, name, of == NAME_VALUE);
}

/* Ends a span, unless its begin is missing in the trace. */
static void end_span(struct ct_perfetto_software *s, uint64_t track, uint32_t open)
{
    if (open == CT_PAIR_NONE || !open)
        return;
    ct_perfetto_end(&s->lane->of->to, track, s->time);
    (void)ct_pair_map_put(&s->open, track, 0, open - 1); /* cannot fail, because the pair exists */
}

static int put_span(struct ct_perfetto_software *s, const struct ct_named_event *event)
{
    const uint64_t track = find_named(s, event, NAME_SPAN);
    const uint32_t open = ct_pair_map_get(&s->open, track, 0);
    if (!track)
        return CT_ERR_NOMEM;
    if (event->entry->kind == CT_NAMED_END) {
        end_span(s, track, open);
        return CT_OK;
    }
    ct_perfetto_begin_named(&s->lane->of->to, track, s->time, event->entry->text);
    return ct_pair_map_put(&s->open, track, 0, open == CT_PAIR_NONE ? 1 : open + 1)
               ? ct_fail_nomem(s->lane->of->ctx, "spans")
               : CT_OK;
}

static int on_named(void *user, const struct ct_named_event *event)
{
    struct ct_perfetto_software *s = user;
    const struct ct_named_lines *lines = &s->lane->of->lines;
    char text[TEXT + 1];
    if (event->cut)
        return CT_OK; /* a cut event has no meaning */
    if (event->entry->kind == CT_NAMED_VALUE)
        return put_value(s, find_named(s, event, NAME_VALUE), ct_named_number(event, 0));
    if (event->entry->kind != CT_NAMED_TEXT)
        return put_span(s, event);
    (void)ct_named_event_text(event, lines->table, lines->shift, text, sizeof text);
    return put_text(s, event->port, text);
}

/* ---- ports ---- */

static void on_line(void *user, const struct ct_port_line *line)
{
    struct ct_perfetto_software *s = user;
    char text[CT_PORT_LINE_SIZE + 1];
    snprintf(text, sizeof text, "%.*s", (int)line->size, line->text);
    if (!s->rc)
        s->rc = put_text(s, line->port, text);
}

/* Returns whether a write is text: it has only characters, and no number was written to its port before. */
static bool is_text(const struct ct_perfetto_software *s, const struct ct_event *event)
{
    const unsigned bits = event->b & CT_SW_BITS;
    for (unsigned bit = 0; bit < bits; bit += 8) {
        const unsigned char c = (unsigned char)(event->value >> bit);
        if (c && c < ' ' && c != '\n' && c != '\r' && c != '\t')
            return false;
    }
    return (event->value || bits == 8) &&
           ct_pair_map_get(&s->tracks, event->extra, PORT_VALUE) == CT_PAIR_NONE;
}

/* Writes data of a port: text for its lines, or a number. */
static int put_data(struct ct_perfetto_software *s, const struct ct_event *event)
{
    char name[64];
    if (is_text(s, event)) {
        ct_port_text_add(&s->ports, event, on_line, s);
        return s->rc;
    }
    name_port(s, event->extra, name);
    return put_value(s, find_track(s, event->extra, PORT_VALUE, name, true), (double)event->value);
}

/* Writes other events: packets of the DWT, triggers, errors. */
static int put_note(struct ct_perfetto_software *s, const struct ct_event *event)
{
    char note[160];
    char text[256];
    ct_software_note(event, s->lane->source, note, sizeof note);
    snprintf(text, sizeof text, "%s 0x%" PRIx64, *note ? note : "payload", event->value);
    ct_perfetto_instant(&s->lane->of->to, s->lane->track, s->time, text);
    s->lane->of->seen.instants++;
    return CT_OK;
}

int ct_perfetto_software_put(struct ct_perfetto_software *s, const struct ct_event *event, uint64_t time)
{
    const struct ct_event_origin origin = {
        .buffer = s->lane->buffer->name, .source = s->lane->source, .id = s->lane->id};
    bool taken;
    s->time = time;
    const int rc = ct_named_lines_take(&s->lane->of->lines, &origin, event, &taken, on_named, s);
    if (rc || taken)
        return rc;
    if (event->type == CT_EVENT_END) {
        ct_port_text_end(&s->ports, on_line, s);
        return s->rc;
    }
    if (ct_port_text_wants(event))
        return put_data(s, event);
    return event->type == CT_EVENT_SW || event->type == CT_EVENT_DWT ? put_note(s, event) : CT_OK;
}
