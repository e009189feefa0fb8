/* SPDX-License-Identifier: Apache-2.0 */
#include "format/verdict_text.h"

#include "base/path.h"

/* Returns where an address is; names are NULL when nothing is known. */
static struct ct_program_where where_is(const struct ct_verdict_origin *o, uint64_t addr)
{
    struct ct_program_where w = {0};
    if (o->programs && (ct_programs_where(o->programs, addr, &w) != CT_OK || !w.program))
        w = (struct ct_program_where){0};
    return w;
}

static bool is_code(const struct ct_watch_event *e)
{
    return e->kind <= CT_WATCH_EXCEPTION && e->value;
}

/* ---- text ---- */

static void put_place(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(o, e->value);
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

static void put_before(struct ct_text *out, const struct ct_verdict_origin *o,
                       const struct ct_verify_place *place)
{
    ct_text_room(out);
    ct_text_lit(out, "    ");
    ct_text_dec(out, place->time);
    ct_text_lit(out, ": ");
    ct_text_printable(out, watch_name(o, &place->event));
    if (is_code(&place->event))
        put_place(out, o, &place->event);
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
    ct_text_lit(out, " = ");
    ct_text_printable(out, r->value);
    if (r->violation)
        ct_text_lit(out, ", violation");
    if (r->uncertain)
        ct_text_lit(out, ", uncertain");
    if (r->place && is_code(&r->place->event))
        put_place(out, o, &r->place->event);
    ct_text_char(out, '\n');
    for (size_t i = 0; r->violation && i < r->before_count; i++)
        put_before(out, o, &r->before[i]);
}

/* ---- JSON ---- */

static void json_text(struct ct_text *out, const char *key, const char *value)
{
    ct_text_lit(out, ",\"");
    ct_text_string(out, key);
    ct_text_lit(out, "\":\"");
    ct_text_json(out, value);
    ct_text_char(out, '"');
}

static void json_place(struct ct_text *out, const struct ct_verdict_origin *o, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(o, e->value);
    json_text(out, "watch", watch_name(o, e));
    if (!is_code(e))
        return;
    ct_text_lit(out, ",\"addr\":\"0x");
    ct_text_hex(out, e->value);
    ct_text_char(out, '"');
    if (w.function)
        json_text(out, "function", w.function);
    if (w.file) {
        json_text(out, "file", w.file);
        ct_text_lit(out, ",\"line\":");
        ct_text_dec(out, w.line);
    }
}

/* Writes whose result it is. */
static void json_origin(struct ct_text *out, const struct ct_verdict_origin *o, uint32_t spec)
{
    ct_text_lit(out, "\"buffer\":\"");
    ct_text_json(out, o->buffer);
    ct_text_lit(out, "\",\"id\":\"");
    ct_text_hex_digits(out, o->id, 2);
    ct_text_char(out, '"');
    json_text(out, "core", o->source->core ? o->source->core : o->source->name);
    json_text(out, "spec", o->specs[spec]);
}

static void json_line(struct ct_text *out, const struct ct_verdict_origin *o,
                      const struct ct_verify_result *r)
{
    ct_text_lit(out, "{\"time\":");
    ct_text_dec(out, r->time);
    ct_text_char(out, ',');
    json_origin(out, o, r->spec);
    json_text(out, "output", r->name);
    json_text(out, "value", r->value);
    if (r->violation)
        ct_text_lit(out, ",\"violation\":true");
    if (r->uncertain)
        ct_text_lit(out, ",\"uncertain\":true");
    if (r->place)
        json_place(out, o, &r->place->event);
    const size_t before = r->violation ? r->before_count : 0;
    for (size_t i = 0; i < before; i++) {
        ct_text_room(out);
        ct_text_string(out, i ? ",{\"time\":" : ",\"before\":[{\"time\":");
        ct_text_dec(out, r->before[i].time);
        json_place(out, o, &r->before[i].event);
        ct_text_char(out, '}');
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
        json_origin(out, origin, spec);
        json_text(out, "stopped", why);
        ct_text_lit(out, "}\n");
    } else {
        ct_text_lit(out, "stopped: ");
        ct_text_string(out, why);
        ct_text_char(out, '\n');
    }
}
