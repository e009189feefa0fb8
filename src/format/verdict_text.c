/* SPDX-License-Identifier: Apache-2.0 */
#include "format/verdict_text.h"

#include "base/path.h"

/* Returns the place of an event. Its names are NULL when unknown. */
static struct ct_program_where where_is(const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    struct ct_program_where w = {0};
    if (o->programs && (ct_watches_where(o->watches, e, &w) != CT_OK || !w.program))
        w = (struct ct_program_where){0};
    return w;
}

/* Returns whether the value of an event is an address. */
static bool is_address(const struct ct_watch_event *e)
{
    return (e->kind <= CT_WATCH_EXCEPTION || e->kind == CT_WATCH_ACCESS) && e->value;
}

/* ---- text ---- */

static const struct ct_verdict_source *source_of(const struct ct_verdict_origin *o,
                                                 const struct ct_watch_event *e)
{
    return o->several && e->source < o->source_count ? &o->sources[e->source] : NULL;
}

static void put_core(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    const struct ct_verdict_source *source = source_of(o, e);
    if (!source)
        return;
    ct_text_lit(out, " on ");
    ct_text_printable(out, ct_source_core(source->source));
}

static void put_place(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(o, e);
    if (w.function) {
        ct_text_lit(out, " in ");
        ct_text_printable(out, w.function);
    }
    if (w.file) {
        ct_text_string(out, w.function ? " (" : " at ");
        ct_text_printable(out, ct_base_name(w.file));
        ct_text_char(out, ':');
        ct_text_dec(out, w.line);
        if (w.function)
            ct_text_char(out, ')');
    } else {
        ct_text_lit(out, " at 0x");
        ct_text_hex(out, e->value);
    }
}

static const char *watch_name(const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    uint32_t count;
    return ct_watches_all(o->watches, &count)[e->watch].name;
}

static void put_event(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    ct_text_printable(out, watch_name(o, e));
    if (is_address(e))
        put_place(out, o, e);
    put_core(out, o, e);
}

static void put_before(struct ct_text *out, const struct ct_verdict_origin *o,
                       const struct ct_verify_place *place)
{
    ct_text_room(out);
    ct_text_lit(out, "    ");
    ct_text_dec(out, place->time);
    ct_text_lit(out, ": ");
    put_event(out, o, &place->event);
    ct_text_char(out, '\n');
}

/* Writes the two events whose unknown order makes a result uncertain. */
static void put_doubt(struct ct_text *out, const struct ct_verdict_origin *o,
                      const struct ct_verify_result *r)
{
    if (!r->doubt[0] || !r->doubt[1])
        return;
    ct_text_room(out);
    ct_text_lit(out, "    which came first is not known: ");
    put_event(out, o, &r->doubt[0]->event);
    ct_text_room(out);
    ct_text_lit(out, ", or ");
    put_event(out, o, &r->doubt[1]->event);
    ct_text_char(out, '\n');
}

static void text_line(struct ct_text *out, const struct ct_verdict_origin *o,
                      const struct ct_verify_result *r)
{
    ct_text_dec(out, r->time);
    ct_text_lit(out, ": ");
    if (o->named) {
        ct_text_printable(out, ct_base_name(o->specs[r->spec]));
        ct_text_lit(out, ": ");
    }
    ct_text_printable(out, r->name);
    if (r->core) {
        ct_text_char(out, '@');
        ct_text_printable(out, r->core);
    }
    ct_text_lit(out, " = ");
    ct_text_printable(out, r->value);
    if (r->violation)
        ct_text_lit(out, ", violation");
    if (r->uncertain)
        ct_text_lit(out, ", uncertain");
    if (r->place && is_address(&r->place->event))
        put_place(out, o, &r->place->event);
    if (r->place)
        put_core(out, o, &r->place->event);
    ct_text_char(out, '\n');
    put_doubt(out, o, r);
    for (size_t i = 0; r->violation && i < r->before_count; i++)
        put_before(out, o, &r->before[i]);
}

/* ---- JSON ---- */

static void json_place(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(o, e);
    ct_text_json_text(out, "watch", watch_name(o, e));
    if (!is_address(e))
        return;
    ct_text_json_address(out, "addr", e->value);
    if (w.function)
        ct_text_json_text(out, "function", w.function);
    if (w.file) {
        ct_text_json_text(out, "file", w.file);
        ct_text_json_number(out, "line", w.line);
    }
}

static void json_source(struct ct_text *out, const struct ct_verdict_source *s)
{
    if (s->capture) {
        ct_text_lit(out, "\"capture\":\"");
        ct_text_json(out, s->capture);
        ct_text_lit(out, "\",");
    }
    ct_text_lit(out, "\"buffer\":\"");
    ct_text_json(out, s->buffer);
    ct_text_lit(out, "\",\"id\":\"");
    ct_text_hex_digits(out, s->id, 2);
    ct_text_char(out, '"');
    ct_text_json_text(out, "core", ct_source_core(s->source));
}

/* Writes the origin of a result. `place`: the event of the result, which tells its source among several;
 * NULL: before any event. */
static void json_origin(struct ct_text *out, const struct ct_verdict_origin *o, uint32_t spec,
                        const struct ct_verify_place *place)
{
    const struct ct_verdict_source one = {
        .buffer = o->buffer, .source = o->source, .id = o->id, .capture = o->capture};
    const struct ct_verdict_source *source = !o->several ? &one : place ? source_of(o, &place->event) : NULL;
    if (source) {
        json_source(out, source);
        ct_text_char(out, ',');
    }
    ct_text_lit(out, "\"spec\":\"");
    ct_text_json(out, o->specs[spec]);
    ct_text_char(out, '"');
}

/* Writes an event beside a result. */
static void json_event(struct ct_text *out, const struct ct_verdict_origin *o,
                       const struct ct_verify_place *place)
{
    const struct ct_verdict_source *source = source_of(o, &place->event);
    ct_text_room(out);
    ct_text_lit(out, "{\"time\":");
    ct_text_dec(out, place->time);
    if (source) {
        ct_text_char(out, ',');
        json_source(out, source);
    }
    json_place(out, o, &place->event);
    ct_text_char(out, '}');
}

static void json_line(struct ct_text *out, const struct ct_verdict_origin *o,
                      const struct ct_verify_result *r)
{
    ct_text_lit(out, "{\"time\":");
    ct_text_dec(out, r->time);
    ct_text_char(out, ',');
    json_origin(out, o, r->spec, r->place);
    ct_text_json_text(out, "output", r->name);
    if (r->core)
        ct_text_json_text(out, "instance", r->core);
    ct_text_json_text(out, "value", r->value);
    if (r->violation)
        ct_text_lit(out, ",\"violation\":true");
    if (r->uncertain)
        ct_text_lit(out, ",\"uncertain\":true");
    if (r->place)
        json_place(out, o, &r->place->event);
    if (r->doubt[0] && r->doubt[1]) {
        ct_text_lit(out, ",\"doubt\":[");
        json_event(out, o, r->doubt[0]);
        ct_text_char(out, ',');
        json_event(out, o, r->doubt[1]);
        ct_text_char(out, ']');
    }
    const size_t before = r->violation ? r->before_count : 0;
    for (size_t i = 0; i < before; i++) {
        ct_text_string(out, i ? "," : ",\"before\":[");
        json_event(out, o, &r->before[i]);
    }
    ct_text_string(out, before ? "]}\n" : "}\n");
}

void ct_verdict_line(struct ct_text *out, enum ct_verdict_format format,
                     const struct ct_verdict_origin *origin, const struct ct_verify_result *result)
{
    ct_text_room(out);
    if (format == CT_VERDICT_FORMAT_JSONL)
        json_line(out, origin, result);
    else
        text_line(out, origin, result);
}

void ct_verdict_stopped(struct ct_text *out, enum ct_verdict_format format,
                        const struct ct_verdict_origin *origin, uint32_t spec, const char *why)
{
    ct_text_room(out);
    if (format == CT_VERDICT_FORMAT_JSONL) {
        ct_text_char(out, '{');
        json_origin(out, origin, spec, NULL);
        ct_text_json_text(out, "stopped", why);
        ct_text_lit(out, "}\n");
    } else {
        ct_text_lit(out, "stopped: ");
        ct_text_string(out, why);
        ct_text_char(out, '\n');
    }
}
