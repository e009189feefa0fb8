/* SPDX-License-Identifier: Apache-2.0 */
#include "format/watch_text.h"

#include "format/exception_name.h"

void ct_watch_head(struct ct_watch_text *t)
{
    ct_text_room(t->out);
    if (t->format == CT_WATCH_CSV)
        ct_text_lit(t->out, "cycle,timestamp,buffer,id,core,el,ctxt,vmid,event,value,watch\n");
    else if (t->format == CT_WATCH_TSV)
        ct_text_lit(t->out, "# cycle\ttimestamp\tcore\tel\tctxt\tvmid\tevent\tvalue\twatch\n");
}

static const char *core_of(const struct ct_watch_text *t)
{
    return t->source->core ? t->source->core : t->source->name;
}

/* What the value is of exceptions and gaps, in words. */
static const char *value_name(const struct ct_watch_text *t, const struct ct_watch_event *e, char *room,
                              size_t size)
{
    static const char *const gaps[] = {"init",       "reset",     "overflow", "discard",
                                       "bad-packet", "bad-image", "limit",    "end"};
    if (e->kind == CT_WATCH_EXCEPTION)
        return ct_exception_name(t->source, e->number, room, size);
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

/* CSV: in quotes when it has to be. */
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

static void put_value(struct ct_watch_text *t, const struct ct_watch_event *e)
{
    char room[32];
    const char *name = value_name(t, e, room, sizeof room);
    bool has_address = e->kind <= CT_WATCH_EDGE || e->kind == CT_WATCH_NO_ACCESS;
    if (name)
        ct_text_string(t->out, name);
    else
        put_number(t->out, has_address, true, e->value);
}

static void columns(struct ct_watch_text *t, const struct ct_watch_event *e, const char *name)
{
    bool csv = t->format == CT_WATCH_CSV;
    char gap = csv ? ',' : '\t';
    ct_text_dec(t->out, e->cycle);
    ct_text_char(t->out, gap);
    put_number(t->out, e->has_timestamp, false, e->timestamp);
    if (csv) {
        ct_text_char(t->out, gap);
        put_name(t->out, t->buffer, csv);
        ct_text_char(t->out, gap);
        ct_text_hex_digits(t->out, t->id, 2);
    }
    ct_text_char(t->out, gap);
    put_name(t->out, core_of(t), csv);
    ct_text_char(t->out, gap);
    put_number(t->out, e->known & CT_CONTEXT_EL, false, e->el_sec & 3u);
    ct_text_char(t->out, gap);
    put_number(t->out, e->known & CT_CONTEXT_CTXT, true, e->ctxt);
    ct_text_char(t->out, gap);
    put_number(t->out, e->known & CT_CONTEXT_VMID, true, e->vmid);
    ct_text_char(t->out, gap);
    ct_text_string(t->out, ct_watch_kind_name((enum ct_watch_kind)e->kind));
    ct_text_char(t->out, gap);
    put_value(t, e);
    ct_text_char(t->out, gap);
    put_name(t->out, name, csv);
    ct_text_char(t->out, '\n');
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

static void json(struct ct_watch_text *t, const struct ct_watch_event *e, const char *name)
{
    char room[32];
    const char *value = value_name(t, e, room, sizeof room);
    ct_text_lit(t->out, "{\"cycle\":");
    ct_text_dec(t->out, e->cycle);
    json_number(t->out, "timestamp", e->has_timestamp, e->timestamp);
    json_text(t->out, "buffer", t->buffer);
    ct_text_lit(t->out, ",\"id\":\"");
    ct_text_hex_digits(t->out, t->id, 2);
    ct_text_char(t->out, '"');
    json_text(t->out, "core", core_of(t));
    json_number(t->out, "el", e->known & CT_CONTEXT_EL, e->el_sec & 3u);
    json_number(t->out, "ctxt", e->known & CT_CONTEXT_CTXT, e->ctxt);
    json_number(t->out, "vmid", e->known & CT_CONTEXT_VMID, e->vmid);
    json_text(t->out, "event", ct_watch_kind_name((enum ct_watch_kind)e->kind));
    if (value)
        json_text(t->out, "value", value);
    if (e->kind <= CT_WATCH_EDGE || e->kind == CT_WATCH_NO_ACCESS || e->value) {
        ct_text_lit(t->out, ",\"addr\":\"0x");
        ct_text_hex(t->out, e->value);
        ct_text_char(t->out, '"');
    }
    json_text(t->out, "watch", name);
    ct_text_lit(t->out, "}\n");
}

void ct_watch_line(struct ct_watch_text *t, const struct ct_watch_event *event)
{
    uint32_t count;
    const char *name = ct_watches_all(t->watches, &count)[event->watch].name;
    ct_text_room(t->out);
    if (t->format == CT_WATCH_JSONL)
        json(t, event, name);
    else
        columns(t, event, name);
}
