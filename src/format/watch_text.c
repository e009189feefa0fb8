/* SPDX-License-Identifier: Apache-2.0 */
#include "format/watch_text.h"

#include "format/exception_name.h"

const char *ct_watch_head(enum ct_watch_format format)
{
    if (format == CT_WATCH_FORMAT_CSV)
        return "cycle,timestamp,buffer,id,core,el,ctxt,vmid,event,value,watch\n";
    return format == CT_WATCH_FORMAT_TSV ? "# cycle\ttimestamp\tcore\tel\tctxt\tvmid\tevent\tvalue\twatch\n"
                                         : NULL;
}

static const char *core_of(const struct ct_event_origin *o)
{
    return o->source->core ? o->source->core : o->source->name;
}

/* Tells whether the value of an event is a number that was traced. */
static bool has_number(const struct ct_watch_event *e)
{
    return e->kind >= CT_WATCH_ITM && e->kind <= CT_WATCH_EVENT;
}

/* Tells whether the value of an event is an address. */
static bool has_address(const struct ct_watch_event *e)
{
    return e->kind <= CT_WATCH_EDGE || e->kind == CT_WATCH_NO_ACCESS;
}

/* Returns what the value of an exception or a gap means, in words. */
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

/* Writes a name, for CSV in quotes when it needs them. */
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

static void put_value(struct ct_text *out, const struct ct_event_origin *o, const struct ct_watch_event *e)
{
    char room[32];
    const char *name = value_name(o, e, room, sizeof room);
    if (name)
        ct_text_string(out, name);
    else
        put_number(out, has_address(e) || has_number(e), true, e->value);
}

static void columns(struct ct_text *out, bool csv, const struct ct_event_origin *o,
                    const struct ct_watch_event *e, const char *name)
{
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
    put_name(out, core_of(o), csv);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_EL, false, e->el_sec & 3u);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_CTXT, true, e->ctxt);
    ct_text_char(out, gap);
    put_number(out, e->known & CT_CONTEXT_VMID, true, e->vmid);
    ct_text_char(out, gap);
    ct_text_string(out, ct_watch_kind_name((enum ct_watch_kind)e->kind));
    ct_text_char(out, gap);
    put_value(out, o, e);
    ct_text_char(out, gap);
    put_name(out, name, csv);
    ct_text_char(out, '\n');
}

static void json_text(struct ct_text *out, const char *key, const char *value)
{
    ct_text_lit(out, ",\"");
    ct_text_string(out, key);
    ct_text_lit(out, "\":\"");
    ct_text_json(out, value);
    ct_text_char(out, '"');
}

static void json_number(struct ct_text *out, const char *key, bool known, uint64_t value)
{
    if (!known)
        return;
    ct_text_lit(out, ",\"");
    ct_text_string(out, key);
    ct_text_lit(out, "\":");
    ct_text_dec(out, value);
}

static void json(struct ct_text *out, const struct ct_event_origin *o, const struct ct_watch_event *e,
                 const char *name)
{
    char room[32];
    const char *value = value_name(o, e, room, sizeof room);
    ct_text_lit(out, "{\"cycle\":");
    ct_text_dec(out, e->cycle);
    json_number(out, "timestamp", e->has_timestamp, e->timestamp);
    json_text(out, "buffer", o->buffer);
    ct_text_lit(out, ",\"id\":\"");
    ct_text_hex_digits(out, o->id, 2);
    ct_text_char(out, '"');
    json_text(out, "core", core_of(o));
    json_number(out, "el", e->known & CT_CONTEXT_EL, e->el_sec & 3u);
    json_number(out, "ctxt", e->known & CT_CONTEXT_CTXT, e->ctxt);
    json_number(out, "vmid", e->known & CT_CONTEXT_VMID, e->vmid);
    json_text(out, "event", ct_watch_kind_name((enum ct_watch_kind)e->kind));
    if (value)
        json_text(out, "value", value);
    json_number(out, "value", has_number(e), e->value);
    if (has_address(e) || (e->kind == CT_WATCH_EXCEPTION && e->value)) {
        ct_text_lit(out, ",\"addr\":\"0x");
        ct_text_hex(out, e->value);
        ct_text_char(out, '"');
    }
    json_text(out, "watch", name);
    ct_text_lit(out, "}\n");
}

void ct_watch_line(struct ct_text *out, enum ct_watch_format format, const struct ct_event_origin *origin,
                   const char *name, const struct ct_watch_event *event)
{
    ct_text_room(out);
    if (format == CT_WATCH_FORMAT_JSONL)
        json(out, origin, event, name);
    else
        columns(out, format == CT_WATCH_FORMAT_CSV, origin, event, name);
}
