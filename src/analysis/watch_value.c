/* SPDX-License-Identifier: Apache-2.0 */
/* Watchpoints of values: writes of software trace, data trace, and events of trace units. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/number.h"
#include "analysis/watch.h"
#include "base/ctx.h"
#include "base/require.h"

#define MOST_LISTED 400 /* bytes of names in an error message */

/* The prefix of a place, and the numbers that may follow. */
struct family {
    const char *prefix;
    uint64_t most;
    uint8_t kind;
    const char *numbers;
};

static const struct family families[] = {
    {"itm:", 255, CT_WATCH_ITM, "a stimulus port, 0 to 255: itm:3, itm:3.signed"},
    {"stm:", 0xffff, CT_WATCH_STM,
     "a channel, 0 to 65535, after the number of a master to select one: stm:7, stm:0x10:7, stm:7.signed"},
    {"dwt:", 3, CT_WATCH_DWT,
     "a comparator with data trace, 0 to 3: dwt:0, dwt:0.read, dwt:0.write, dwt:0.address, dwt:0.pc, "
     "dwt:0.signed"},
    {"event:", 7, CT_WATCH_EVENT,
     "an event of the trace unit, 0 to 7 or its name, or the trigger: event:0, event:L1D_CACHE_REFILL, "
     "event:trigger"},
};

static int wrong(const struct ct_watches *w, const char *spec, const struct family *f)
{
    return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                   "watchpoint '%s': the number or name after %s is wrong; write %s", spec, f->prefix,
                   f->numbers);
}

/* Reads a number up to `most`, and moves *text behind it. */
static bool number(const char **text, uint64_t most, uint64_t *out)
{
    return ct_number_take(text, out) && *out <= most;
}

static bool take(const char **text, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0 || ((*text)[length] && (*text)[length] != '.'))
        return false;
    *text += length;
    return true;
}

/* Reads what follows the number: the packet of a DWT, and whether a value is signed. Returns false when
 * anything is left. */
static bool suffix(const char *text, uint8_t kind, uint64_t *packet, uint8_t *form)
{
    static const char *const packets[] = {".read", ".write", ".pc", ".address"};
    *packet = CT_WATCH_PACKET_DATA;
    for (size_t i = 0; kind == CT_WATCH_DWT && i < sizeof packets / sizeof *packets; i++)
        if (*packet == CT_WATCH_PACKET_DATA && take(&text, packets[i]))
            *packet = CT_WATCH_PACKET_READ + i;
    const bool is_written = kind <= CT_WATCH_DWT && *packet <= CT_WATCH_PACKET_WRITE;
    *form = is_written && take(&text, ".signed") ? CT_WATCH_SIGNED : CT_WATCH_RAW;
    return !*text;
}

/* Returns whether the name of an event is known already. */
static bool has_event(const struct ct_watches *w, const struct ct_source *source, unsigned number)
{
    for (size_t i = 0; i < w->event_count; i++)
        if (w->events[i].number == number && strcmp(w->events[i].name, source->events[number]) == 0 &&
            source->name && strcmp(w->events[i].source, source->name) == 0)
            return true;
    return false;
}

static int add_event(struct ct_watches *w, const struct ct_source *source, unsigned number)
{
    if (has_event(w, source, number))
        return CT_OK;
    const char *name = ct_arena_strdup(&w->arena, source->events[number]);
    const char *of = ct_arena_strdup(&w->arena, source->name ? source->name : "a source");
    struct ct_watched_event *all =
        name && of ? ct_arena_push(&w->arena, w->events, &w->event_count, sizeof *all) : NULL;
    if (!all)
        return ct_fail_nomem(w->ctx, "watchpoints");
    w->events = all;
    all[w->event_count - 1] = (struct ct_watched_event){name, of, number};
    return CT_OK;
}

/* Notes the addresses of the comparators of a DWT. An address that differs between two DWTs becomes unknown,
 * because a watchpoint is of both. */
static void note_comparators(struct ct_watches *w, const uint32_t comparators[4])
{
    for (unsigned i = 0; i < 4; i++)
        w->dwt_comp[i] = w->dwt_seen && w->dwt_comp[i] != comparators[i] ? 0 : comparators[i];
    w->dwt_seen = true;
}

int ct_watches_events(struct ct_watches *w, const struct ct_buffer *buffer)
{
    CT_REQUIRE_OF(w, buffer);
    int rc = CT_OK;
    w->events_known = true;
    for (size_t i = 0; i < buffer->source_count; i++)
        if (buffer->sources[i].protocol == CT_PROTOCOL_ITM)
            note_comparators(w, buffer->sources[i].regs.dwt_comp);
    for (size_t i = 0; i < buffer->source_count; i++)
        for (unsigned n = 0; n < CT_SOURCE_EVENTS && !rc; n++)
            if (buffer->sources[i].events[n])
                rc = add_event(w, &buffer->sources[i], n);
    return rc ? rc : ct_watches_contexts(w, buffer);
}

/* Reports that no source has an event of that name, and lists the names. */
static int no_event(const struct ct_watches *w, const char *spec)
{
    char names[MOST_LISTED] = "";
    size_t used = 0;
    if (!w->events_known)
        return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                       "watchpoint '%s': there is no capture yet, so the names of its events are unknown; "
                       "use the number of the event, such as event:0",
                       spec);
    for (size_t i = 0; i < w->event_count && used < sizeof names; i++)
        used +=
            (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", w->events[i].name);
    return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                   "watchpoint '%s': the capture has no event with this name%s%s; use a number (event:0), or "
                   "name events in the [event] section of its .ini (docs/formats.md)",
                   spec, used ? "; there are " : "", names);
}

/* Finds the number of an event by its name. All sources with names must agree on the number, because a
 * watchpoint applies to all of them. */
static int named_event(const struct ct_watches *w, const char *spec, const char *name, uint64_t *number)
{
    const struct ct_watched_event *found = NULL;
    for (size_t i = 0; i < w->event_count && !found; i++)
        if (strcmp(w->events[i].name, name) == 0)
            found = &w->events[i];
    if (!found)
        return no_event(w, spec);
    for (size_t i = 0; i < w->event_count; i++) {
        const struct ct_watched_event *e = &w->events[i];
        if ((e->number == found->number) != (strcmp(e->name, name) == 0))
            return ct_fail(w->ctx, CT_ERR_NOT_FOUND,
                           "watchpoint '%s': this name is event %u of %s, but event %u of %s is %s; use the "
                           "number of the event with a core: event:%u@CORE",
                           spec, (unsigned)found->number, found->source, (unsigned)e->number, e->source,
                           e->name, (unsigned)found->number);
    }
    *number = found->number;
    return CT_OK;
}

static int add(struct ct_watches *w, const char *spec, const struct family *f)
{
    const char *text = spec + strlen(f->prefix);
    uint64_t value = 0, second, packet = 0;
    uint8_t form = CT_WATCH_NO_VALUE;
    bool fine = true;
    if (f->kind == CT_WATCH_EVENT && strcmp(text, "trigger") == 0) {
        value = CT_WATCH_ANY;
        text = "";
    } else if (f->kind == CT_WATCH_EVENT && *text && !isdigit((unsigned char)*text)) {
        const int named = named_event(w, spec, text, &value);
        if (named)
            return named;
        text = "";
    } else {
        fine = number(&text, f->most, &value);
    }
    if (fine && f->kind == CT_WATCH_STM && *text == ':') {
        text++;
        fine = number(&text, f->most, &second);
        value = CT_SW_PORT(value, fine ? second : 0);
    } else if (fine && f->kind == CT_WATCH_STM) {
        value |= CT_WATCH_ANY_MASTER;
    }
    if (fine && f->kind >= CT_WATCH_ITM && f->kind <= CT_WATCH_DWT)
        fine = suffix(text, f->kind, &packet, &form);
    else
        fine = fine && !*text;
    if (!fine)
        return wrong(w, spec, f);
    if (f->kind == CT_WATCH_DWT)
        value = 8 * value + packet;
    const int rc = ct_watches_point(w, spec, (enum ct_watch_kind)f->kind, value);
    if (!rc)
        w->points[w->count - 1].form = form;
    return rc;
}

int ct_watches_add_value(struct ct_watches *w, const char *spec, bool *is_value)
{
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        *is_value = strncmp(spec, families[i].prefix, strlen(families[i].prefix)) == 0;
        if (*is_value)
            return add(w, spec, &families[i]);
    }
    int rc = ct_watches_add_context(w, spec, is_value);
    if (!rc && !*is_value)
        rc = ct_watches_add_memory(w, spec, is_value);
    if (!rc && !*is_value)
        rc = ct_watches_add_variable(w, spec, is_value);
    return rc || *is_value ? rc : ct_watches_add_named(w, spec, is_value);
}

static bool wants_packet(uint64_t wanted, uint64_t number)
{
    const uint64_t packet = number % 8;
    if (wanted / 8 != number / 8)
        return false;
    return wanted == number || (wanted % 8 == CT_WATCH_PACKET_DATA &&
                                (packet == CT_WATCH_PACKET_READ || packet == CT_WATCH_PACKET_WRITE));
}

bool ct_watch_wants(const struct ct_watches *watches, const struct ct_watchpoint *point,
                    const struct ct_watch_event *event, uint64_t number)
{
    switch (point->kind) {
    case CT_WATCH_EXCEPTION:
        return point->number == CT_WATCH_ANY || point->number == event->number;
    case CT_WATCH_CONTEXT:
        if (point->number != CT_WATCH_ANY && point->number & CT_WATCH_CONTEXT_NAME)
            return ct_watches_is_context(watches, point, event);
        return point->number == CT_WATCH_ANY ||
               (event->known & CT_CONTEXT_CTXT && point->number == event->ctxt);
    case CT_WATCH_STM:
        return point->number & CT_WATCH_ANY_MASTER ? (point->number & 0xffff) == (number & 0xffff)
                                                   : point->number == number;
    case CT_WATCH_DWT:
        return wants_packet(point->number, number);
    case CT_WATCH_EVENT:
        return point->number == CT_WATCH_ANY ? number == CT_WATCH_ANY
                                             : number != CT_WATCH_ANY && number >> point->number & 1;
    case CT_WATCH_ITM:
    case CT_WATCH_NAMED:
        return point->number == number;
    default:
        return true;
    }
}
