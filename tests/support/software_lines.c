/* SPDX-License-Identifier: Apache-2.0 */
#include "support/software_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/protocol.h"
#include "format/event_text.h"
#include "format/listing.h"
#include "support/pieces.h"

enum {
    ROOM = 1024
};

static unsigned digit(char c)
{
    return c >= 'a' ? (unsigned)(c - 'a' + 10) : (unsigned)(c - '0');
}

static size_t parse(const char *digits, int units, uint8_t *bytes)
{
    size_t n = 0;
    for (; *digits; digits++) {
        if (*digits == ' ')
            continue;
        int high = units ? n & 1 : !(n & 1);
        bytes[n / 2] |= (uint8_t)(high ? digit(*digits) << 4 : digit(*digits));
        n++;
    }
    return (n + 1) / 2;
}

struct trace {
    const struct ct_source *source;
    const struct ct_protocol_ops *ops;
    uint8_t bytes[ROOM];
    size_t size;
    _Alignas(8) uint8_t packets[2 * ROOM * CT_PACKET_SIZE_MAX];
    size_t count;
};

static void list_packets(const struct trace *trace, struct ct_text *text)
{
    uint64_t offsets[2 * ROOM];
    for (size_t i = 0; i < trace->count; i++)
        memcpy(&offsets[i], trace->packets + i * trace->ops->packet_size, sizeof *offsets);
    struct ct_stream stream = {.source = trace->source};
    struct ct_run run = {.data = trace->bytes, .size = trace->size};
    struct ct_packet_batch batch = {.packets = trace->packets,
                                    .stride = trace->ops->packet_size,
                                    .count = trace->count,
                                    .protocol = trace->source->protocol,
                                    .offsets = offsets,
                                    .run = &run};
    ct_list_packets(text, NULL, &stream, &batch);
}

static void list_elements(const struct trace *trace, struct ct_text *text)
{
    static struct ct_elem elems[6 * ROOM];
    struct ct_element_lister lister = {.text = text};
    size_t count =
        pieces_resolve(trace->ops, trace->source, trace->packets, trace->count, NULL, elems, 6 * ROOM);
    for (size_t i = 0; i < count; i++) {
        struct ct_flow record = {.kind = CT_FLOW_ELEM, .offset = elems[i].pos, .elem = elems[i]};
        ct_list_flow(&lister, &record);
    }
    ct_list_flow_end(&lister);
}

struct printer {
    struct ct_text *text;
    enum ct_event_format format;
    struct ct_event_place place;
};

static void print_line(void *user, const struct ct_port_line *line)
{
    const struct printer *p = user;
    ct_event_text_line(p->text, p->format, &p->place, line);
}

static void list_events(const struct trace *trace, struct ct_text *text, enum lines_kind kind)
{
    static struct ct_elem elems[6 * ROOM];
    static struct ct_event list[6 * ROOM + CT_EVENTS_MIN];
    static struct ct_port_text ports;
    const struct ct_event_origin origin = {.buffer = "b", .source = trace->source};
    struct printer p = {.text = text,
                        .format = kind == LINES_TEXT ? CT_EVENT_FORMAT_JSONL : CT_EVENT_FORMAT_TSV,
                        .place = {.origin = &origin}};
    struct ct_events *events;
    size_t event_count;
    size_t count =
        pieces_resolve(trace->ops, trace->source, trace->packets, trace->count, NULL, elems, 6 * ROOM);
    if (ct_events_new(NULL, trace->source, &events))
        abort();
    if (ct_events_from_elems(events, elems, count, trace->size, list, sizeof list / sizeof *list,
                             &event_count) != count)
        abort();
    ct_events_free(events);
    ports = (struct ct_port_text){0};
    for (size_t i = 0; i < event_count; i++) {
        if (kind == LINES_TEXT && ct_port_text_wants(&list[i]))
            ct_port_text_add(&ports, &list[i], print_line, &p);
        else if (kind == LINES_EVENTS)
            ct_event_line(text, p.format, &p.place, &list[i]);
    }
    ct_port_text_end(&ports, print_line, &p);
}

char *lines_of(const struct ct_source *source, const char *digits, enum lines_kind kind)
{
    static struct trace trace;
    static struct ct_text text;
    char *out = NULL;
    size_t out_size;
    FILE *file = open_memstream(&out, &out_size);
    if (!file)
        abort();
    trace = (struct trace){.source = source, .ops = ct_protocol_ops((enum ct_protocol)source->protocol)};
    trace.size = parse(digits, source->protocol == CT_PROTOCOL_STM, trace.bytes);
    trace.count = pieces_decode(trace.ops, source, trace.bytes, trace.size, NULL, trace.packets, 2 * ROOM);
    ct_text_init(&text, file);
    if (kind == LINES_PACKETS)
        list_packets(&trace, &text);
    else if (kind == LINES_ELEMENTS)
        list_elements(&trace, &text);
    else
        list_events(&trace, &text, kind);
    ct_text_flush(&text);
    fclose(file);
    return out;
}
