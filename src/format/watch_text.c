/* SPDX-License-Identifier: Apache-2.0 */
#include "format/watch_text.h"

#include "base/c_locale.h"
#include "format/exception_name.h"

#include <inttypes.h>
#include <stdio.h>

const char *ct_watch_head(enum ct_watch_format format)
{
    if (format == CT_WATCH_FORMAT_CSV)
        return "cycle,timestamp,buffer,id,core,el,ctxt,vmid,event,value,watch\n";
    return format == CT_WATCH_FORMAT_TSV ? "# cycle\ttimestamp\tcore\tel\tctxt\tvmid\tevent\tvalue\twatch\n"
                                         : NULL;
}

/* Returns whether the value of an event is a traced number. */
static bool has_number(const struct ct_watch_event *e)
{
    return e->kind >= CT_WATCH_ITM && e->kind <= CT_WATCH_EVENT;
}

/* Returns whether the value of an event is an address. */
static bool has_address(const struct ct_watch_event *e)
{
    return e->kind <= CT_WATCH_EDGE || e->kind == CT_WATCH_NO_ACCESS;
}

/* Returns the meaning of the value of an exception or a gap, or NULL. */
static const char *value_name(const struct ct_event_origin *o, const struct ct_watch_event *e, char *room,
                              size_t size)
{
    static const char *const gaps[] = {"init",       "reset",     "overflow", "discard",
                                       "bad-packet", "bad-image", "limit",    "end"};
    if (e->kind == CT_WATCH_EXCEPTION)
        return ct_exception_name(o->source, e->number, room, size);
    if (e->kind == CT_WATCH_GAP || e->kind == CT_WATCH_OVERFLOW)
        return gaps[e->number & 7];
    return NULL;
}

static void put_number(struct ct_text *out, bool known, bool hex, uint64_t value)
{
    if (!known)
        ct_text_char(out, '-');
    else if (!hex)
        ct_text_dec(out, value);
    if (known && hex) {
        ct_text_lit(out, "0x");
        ct_text_hex(out, value);
    }
}

/* Writes a name, in CSV with quotes if necessary. */
static void put_name(struct ct_text *out, const char *name, bool csv)
{
    const bool quoted = csv && strpbrk(name, ",\"");
    if (!quoted) {
        ct_text_printable(out, name);
        return;
    }
    ct_text_char(out, '"');
    ct_text_csv(out, name);
    ct_text_char(out, '"');
}

/* The content of a line. */
struct line {
    const struct ct_event_origin *origin;
    const struct ct_watch_event *event;
    const struct ct_watchpoint *point;
    const struct ct_variable *variable; /* or NULL */
};

/* Returns whether the watchpoint has a form that types the value of its events: of variables, and of named
 * values. */
static bool is_typed(const struct ct_watchpoint *point, const struct ct_variable *variable)
{
    return point->form != CT_WATCH_NO_VALUE && (variable || point->kind == CT_WATCH_NAMED);
}

/* Writes a value of is_typed() as a number. "" when it has none. */
static const char *typed_number(const struct ct_watchpoint *point, const struct ct_watch_event *e, char *room,
                                size_t size)
{
    CT_C_LOCALE;
    double real;
    *room = '\0';
    if (point->form == CT_WATCH_REAL) {
        memcpy(&real, &e->value, sizeof real);
        snprintf(room, size, "%.15g", real);
    } else if (point->form == CT_WATCH_SIGNED) {
        snprintf(room, size, "%" PRId64, (int64_t)e->value);
    } else {
        snprintf(room, size, "%" PRIu64, e->value);
    }
    return e->number & CT_WATCH_BITS ? room : "";
}

const char *ct_watch_value(const struct ct_event_origin *o, const struct ct_watchpoint *point,
                           const struct ct_variable *variable, const struct ct_watch_event *e, char *room,
                           size_t size)
{
    if (is_typed(point, variable)) {
        const char *name = variable ? ct_variable_value_name(variable, e->value) : NULL;
        const char *text = typed_number(point, e, room, size);
        return !*text ? "-" : name ? name : text;
    }
    if (!variable && !has_number(e))
        return value_name(o, e, room, size);
    snprintf(room, size, "0x%" PRIx64, e->value);
    return room;
}

static void put_value(struct ct_text *out, const struct line *line, bool csv)
{
    char room[64];
    const struct ct_watch_event *e = line->event;
    const char *value = ct_watch_value(line->origin, line->point, line->variable, e, room, sizeof room);
    if (value)
        put_name(out, value, csv);
    else
        put_number(out, has_address(e), true, e->value);
}

static void columns(struct ct_text *out, bool csv, const struct line *line)
{
    const struct ct_event_origin *o = line->origin;
    const struct ct_watch_event *e = line->event;
    char gap = csv ? ',' : '\t';
    ct_text_dec(out, e->cycle);
    ct_text_char(out, gap);
    put_number(out, e->has_timestamp, false, e->timestamp);
    if (csv) {
        ct_text_char(out, gap);
        put_name(out, o->buffer, csv);
        ct_text_char(out, gap);
        ct_text_hex_digits(out, o->id, 2);
    }
    ct_text_char(out, gap);
    put_name(out, ct_source_core(o->source), csv);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_EL, false, e->el_sec & 3u);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_CTXT, true, e->ctxt);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_VMID, true, e->vmid);
    ct_text_char(out, gap);
    ct_text_string(out, ct_watch_kind_name((enum ct_watch_kind)e->kind));
    ct_text_char(out, gap);
    put_value(out, line, csv);
    ct_text_char(out, gap);
    put_name(out, line->point->name, csv);
    ct_text_char(out, '\n');
}

static void json_number(struct ct_text *out, const char *key, bool known, uint64_t value)
{
    if (known)
        ct_text_json_number(out, key, value);
}

/* Writes a value of is_typed(), and the name that a variable's type has for it. */
static void json_typed(struct ct_text *out, const struct line *line)
{
    char room[32];
    const char *name = line->variable ? ct_variable_value_name(line->variable, line->event->value) : NULL;
    const char *text = typed_number(line->point, line->event, room, sizeof room);
    const bool is_finite = !strpbrk(text, "nN"); /* JSON has neither infinity nor NaN */
    if (*text) {
        ct_text_lit(out, ",\"value\":");
        ct_text_string(out, is_finite ? text : "null");
    }
    if (*text && name)
        ct_text_json_text(out, "name", name);
}

static void json(struct ct_text *out, const struct line *line)
{
    const struct ct_event_origin *o = line->origin;
    const struct ct_watch_event *e = line->event;
    char room[32];
    const char *value = value_name(o, e, room, sizeof room);
    ct_text_lit(out, "{\"cycle\":");
    ct_text_dec(out, e->cycle);
    json_number(out, "timestamp", e->has_timestamp, e->timestamp);
    ct_text_json_text(out, "buffer", o->buffer);
    ct_text_lit(out, ",\"id\":\"");
    ct_text_hex_digits(out, o->id, 2);
    ct_text_char(out, '"');
    ct_text_json_text(out, "core", ct_source_core(o->source));
    json_number(out, "el", e->known & CT_CONTEXT_EL, e->el_sec & 3u);
    json_number(out, "ctxt", e->known & CT_CONTEXT_CTXT, e->ctxt);
    json_number(out, "vmid", e->known & CT_CONTEXT_VMID, e->vmid);
    ct_text_json_text(out, "event", ct_watch_kind_name((enum ct_watch_kind)e->kind));
    if (value)
        ct_text_json_text(out, "value", value);
    json_number(out, "value", has_number(e), e->value);
    if (is_typed(line->point, line->variable))
        json_typed(out, line);
    const bool is_block = line->variable && line->point->form == CT_WATCH_NO_VALUE;
    if (has_address(e) || is_block || (e->kind == CT_WATCH_EXCEPTION && e->value))
        ct_text_json_address(out, "addr", e->value);
    ct_text_json_text(out, "watch", line->point->name);
    ct_text_lit(out, "}\n");
}

void ct_watch_line(struct ct_text *out, enum ct_watch_format format, const struct ct_event_origin *origin,
                   const struct ct_watchpoint *point, const struct ct_variable *variable,
                   const struct ct_watch_event *event)
{
    const struct line line = {origin, event, point, variable};
    ct_text_room(out);
    if (format == CT_WATCH_FORMAT_JSONL)
        json(out, &line);
    else
        columns(out, format == CT_WATCH_FORMAT_CSV, &line);
}
