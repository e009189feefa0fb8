/* SPDX-License-Identifier: Apache-2.0 */
#include "format/verdict_text.h"

#include "base/path.h"

/* Where an address is; names are NULL when nothing is known. */
static struct ct_program_where where_is(const struct ct_verdict_text *t, uint64_t addr)
{
    struct ct_program_where w = {0};
    if (t->programs && (ct_programs_where(t->programs, addr, &w) != CT_OK || !w.program))
        w = (struct ct_program_where){0};
    return w;
}

static bool is_code(const struct ct_watch_event *e)
{
    return e->kind <= CT_WATCH_EXCEPTION && e->value;
}

/* ---- text ---- */

static void put_place(struct ct_verdict_text *t, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(t, e->value);
    if (w.function) {
        ct_text_lit(t->out, " in ");
        ct_text_printable(t->out, w.function);
    }
    if (w.file) {
        ct_text_string(t->out, w.function ? " (" : " at ");
        ct_text_printable(t->out, ct_base_name(w.file));
        ct_text_char(t->out, ':');
        ct_text_dec(t->out, w.line);
        if (w.function)
            ct_text_char(t->out, ')');
    } else {
        ct_text_lit(t->out, " at 0x");
        ct_text_hex(t->out, e->value);
    }
}

static const char *watch_name(const struct ct_verdict_text *t, const struct ct_watch_event *e)
{
    uint32_t count;
    return ct_watches_all(t->watches, &count)[e->watch].name;
}

static void put_before(struct ct_verdict_text *t, const struct ct_verify_place *place)
{
    ct_text_room(t->out);
    ct_text_lit(t->out, "    ");
    ct_text_dec(t->out, place->time);
    ct_text_lit(t->out, ": ");
    ct_text_printable(t->out, watch_name(t, &place->event));
    if (is_code(&place->event))
        put_place(t, &place->event);
    ct_text_char(t->out, '\n');
}

static void text_line(struct ct_verdict_text *t, const struct ct_verify_result *r)
{
    ct_text_dec(t->out, r->time);
    ct_text_lit(t->out, ": ");
    if (t->many_specs) {
        ct_text_printable(t->out, ct_base_name(t->specs[r->spec]));
        ct_text_lit(t->out, ": ");
    }
    ct_text_printable(t->out, r->name);
    ct_text_lit(t->out, " = ");
    ct_text_printable(t->out, r->value);
    if (r->violation)
        ct_text_lit(t->out, ", violation");
    if (r->uncertain)
        ct_text_lit(t->out, ", uncertain");
    if (r->place && is_code(&r->place->event))
        put_place(t, &r->place->event);
    ct_text_char(t->out, '\n');
    for (size_t i = 0; r->violation && i < r->before_count; i++)
        put_before(t, &r->before[i]);
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

static void json_place(struct ct_verdict_text *t, const struct ct_watch_event *e)
{
    const struct ct_program_where w = where_is(t, e->value);
    json_text(t->out, "watch", watch_name(t, e));
    if (!is_code(e))
        return;
    ct_text_lit(t->out, ",\"addr\":\"0x");
    ct_text_hex(t->out, e->value);
    ct_text_char(t->out, '"');
    if (w.function)
        json_text(t->out, "function", w.function);
    if (w.file) {
        json_text(t->out, "file", w.file);
        ct_text_lit(t->out, ",\"line\":");
        ct_text_dec(t->out, w.line);
    }
}

/* Whose result it is. */
static void json_origin(struct ct_verdict_text *t, uint32_t spec)
{
    ct_text_lit(t->out, "\"buffer\":\"");
    ct_text_json(t->out, t->buffer);
    ct_text_lit(t->out, "\",\"id\":\"");
    ct_text_hex_digits(t->out, t->id, 2);
    ct_text_char(t->out, '"');
    json_text(t->out, "core", t->source->core ? t->source->core : t->source->name);
    json_text(t->out, "spec", t->specs[spec]);
}

static void json_line(struct ct_verdict_text *t, const struct ct_verify_result *r)
{
    ct_text_lit(t->out, "{\"time\":");
    ct_text_dec(t->out, r->time);
    ct_text_char(t->out, ',');
    json_origin(t, r->spec);
    json_text(t->out, "output", r->name);
    json_text(t->out, "value", r->value);
    if (r->violation)
        ct_text_lit(t->out, ",\"violation\":true");
    if (r->uncertain)
        ct_text_lit(t->out, ",\"uncertain\":true");
    if (r->place)
        json_place(t, &r->place->event);
    const size_t before = r->violation ? r->before_count : 0;
    for (size_t i = 0; i < before; i++) {
        ct_text_room(t->out);
        ct_text_string(t->out, i ? ",{\"time\":" : ",\"before\":[{\"time\":");
        ct_text_dec(t->out, r->before[i].time);
        json_place(t, &r->before[i].event);
        ct_text_char(t->out, '}');
    }
    ct_text_string(t->out, before ? "]}\n" : "}\n");
}

void ct_verdict_line(struct ct_verdict_text *t, const struct ct_verify_result *result)
{
    ct_text_room(t->out);
    if (t->format == CT_VERDICT_JSONL)
        json_line(t, result);
    else
        text_line(t, result);
}

void ct_verdict_stopped(struct ct_verdict_text *t, uint32_t spec, const char *why)
{
    ct_text_room(t->out);
    if (t->format == CT_VERDICT_JSONL) {
        ct_text_char(t->out, '{');
        json_origin(t, spec);
        json_text(t->out, "stopped", why);
        ct_text_lit(t->out, "}\n");
    } else {
        ct_text_lit(t->out, "stopped: ");
        ct_text_string(t->out, why);
        ct_text_char(t->out, '\n');
    }
}
