/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the state of a live run's specifications: short for lists, full for the page, and their last results
 * as lines. */
#include "live/live.h"
#include "base/search.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHORT_OUTPUTS 4    /* outputs of a specification shown in the list */
#define LOOKED_S      15.0 /* seconds that a request marks a specification as shown */
#define DETAILS       16   /* most specifications with details at the end */

static const char *const type_names[] = {
    [CT_MONITOR_UNIT] = "Unit",   [CT_MONITOR_INT] = "Int",       [CT_MONITOR_FLOAT] = "Float",
    [CT_MONITOR_BOOL] = "Bool",   [CT_MONITOR_STRING] = "String", [CT_MONITOR_VERDICT] = "verdict",
    [CT_MONITOR_OTHER] = "other",
};

/* ---- short form ---- */

static void put_last_value(struct ct_json *j, const struct ct_live_output *o)
{
    ct_json_text(j, "name", o->name);
    ct_json_number(j, "count", o->count);
    ct_json_number(j, "violations", o->violations);
    if (o->unit[0])
        ct_json_text(j, "unit", o->unit);
    if (!o->count)
        return;
    ct_json_text(j, "value", o->value);
    ct_json_number(j, "time", o->time);
    if (o->doubtful)
        ct_json_number(j, "doubt", o->doubt_since);
}

static void put_members(struct ct_json *j, const struct ct_live_spec *s)
{
    uint64_t since;
    ct_json_number(j, "number", s->number);
    ct_json_text(j, "name", s->name);
    ct_json_number(j, "since", s->since);
    ct_json_number(j, "results", s->results);
    ct_json_number(j, "violations", s->violations);
    ct_json_number(j, "uncertain", s->uncertain);
    ct_json_text(j, "failure", s->failure[0] ? s->failure : NULL);
    if (ct_live_view_doubt(s->view, &since))
        ct_json_number(j, "doubt", since);
}

static void put_short(struct ct_json *j, const struct ct_live_spec *s)
{
    ct_json_object(j, NULL);
    put_members(j, s);
    ct_json_array(j, "outputs");
    for (size_t i = 0; i < s->view->output_count && i < SHORT_OUTPUTS; i++) {
        ct_json_object(j, NULL);
        put_last_value(j, &s->view->outputs[i]);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
    ct_json_object_end(j);
}

void ct_live_put_monitors(struct ct_live *l, struct ct_json *j, struct ct_live_parts *parts)
{
    ct_json_array(j, "numbers");
    for (size_t i = 0; i < l->spec_count; i++)
        if (l->specs[i].name)
            ct_json_number(j, NULL, l->specs[i].number);
    ct_json_array_end(j);
    ct_live_part_end(j, parts, LIVE_PART_NUMBERS);
    ct_json_array(j, "monitors");
    ct_live_part_begin(j, parts);
    for (size_t i = 0; i < l->spec_count; i++) {
        if (!l->specs[i].name)
            continue;
        put_short(j, &l->specs[i]);
        ct_live_part_end(j, parts, (uint64_t)LIVE_PART_MONITOR + l->specs[i].number);
    }
    ct_json_array_end(j);
}

/* ---- full form ---- */

static void put_inputs(struct ct_json *j, const struct ct_live_spec *s)
{
    ct_json_object(j, "bind");
    for (size_t i = 0; i < s->binds->count; i++)
        ct_json_text(j, s->binds->pairs[i].input, s->binds->pairs[i].place);
    ct_json_object_end(j);
}

static void put_outputs(struct ct_json *j, const struct ct_live_view *v)
{
    ct_json_array(j, "outputs");
    for (size_t i = 0; i < v->output_count; i++) {
        const struct ct_live_output *o = &v->outputs[i];
        ct_json_object(j, NULL);
        put_last_value(j, o);
        ct_json_text(j, "type", type_names[o->type <= CT_MONITOR_OTHER ? o->type : CT_MONITOR_OTHER]);
        if (o->count)
            ct_live_put_hex(j, "id", o->id, 2);
        if (o->plot)
            ct_live_plot_json(j, "plot", o->plot);
        ct_json_object_end(j);
    }
    ct_json_array_end(j);
    ct_json_number(j, "outputs_left_out", v->all_outputs - v->output_count);
}

static const char *output_name(const struct ct_live_spec *s, const struct ct_live_kept *k)
{
    struct ct_monitor_stream out;
    return ct_monitor_output(s->spec, k->output, &out) == CT_OK ? out.name : "";
}

static void put_result(const struct ct_live *l, struct ct_json *j, const struct ct_live_spec *s,
                       const struct ct_live_kept *k)
{
    ct_json_object(j, NULL);
    ct_json_number(j, "number", k->serial);
    ct_json_number(j, "time", k->time);
    ct_live_put_hex(j, "id", k->id, 2);
    ct_json_text(j, "output", output_name(s, k));
    ct_live_put_kept(l, j, k);
    ct_json_object_end(j);
}

/* Writes the last results in a ring of `room` entries, newest first. `count` results were added in total. */
static void put_ring(const struct ct_live *l, struct ct_json *j, const char *key,
                     const struct ct_live_spec *s, const struct ct_live_kept *ring, size_t room,
                     uint64_t count)
{
    ct_json_array(j, key);
    for (uint64_t i = count; i > (count > room ? count - room : 0); i--)
        put_result(l, j, s, &ring[(i - 1) % room]);
    ct_json_array_end(j);
}

static void put_full(const struct ct_live *l, struct ct_json *j, const struct ct_live_spec *s)
{
    const struct ct_live_view *v = s->view;
    ct_json_object(j, NULL);
    put_members(j, s);
    ct_json_text(j, "text", v->text);
    put_inputs(j, s);
    put_outputs(j, v);
    put_ring(l, j, "last_violations", s, v->bad, VIEW_BAD, v->bad_count);
    put_ring(l, j, "last_results", s, v->last, VIEW_LAST, v->last_count);
    ct_json_object_end(j);
}

void ct_live_put_details(struct ct_live *l, struct ct_json *j)
{
    size_t count = 0;
    ct_json_array(j, "details");
    for (size_t i = 0; l->ended && i < l->spec_count && count < DETAILS; i++) {
        const struct ct_live_spec *s = &l->specs[i];
        if (!s->name || s->view->looked == 0 || ct_live_now() - s->view->looked > LOOKED_S)
            continue;
        put_full(l, j, s);
        count++;
    }
    ct_json_array_end(j);
}

/* ---- lines ---- */

struct line {
    const struct ct_live_spec *spec;
    const struct ct_live_kept *kept;
};

static int by_serial(const void *a, const void *b)
{
    const uint64_t x = ((const struct line *)a)->kept->serial, y = ((const struct line *)b)->kept->serial;
    return ct_order(x, y);
}

/* Writes a CSV field (RFC 4180). */
static void put_field(struct ct_live_text *out, const char *text)
{
    const bool plain = !strpbrk(text, ",\"\r\n");
    if (plain) {
        (void)ct_live_text_write(out, text, strlen(text));
        return;
    }
    (void)ct_live_text_write(out, "\"", 1);
    for (; *text; text++)
        (void)ct_live_text_write(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    (void)ct_live_text_write(out, "\"", 1);
}

static void csv_line(struct ct_live_text *out, const struct line *line)
{
    const struct ct_live_kept *k = line->kept;
    ct_live_text_print(out, "%" PRIu64 ",%" PRIu64 ",%02x,", k->serial, k->time, k->id);
    put_field(out, line->spec->name);
    ct_live_text_print(out, ",");
    put_field(out, output_name(line->spec, k));
    ct_live_text_print(out, ",");
    put_field(out, k->value);
    ct_live_text_print(out, ",%d,%d,", k->violation, k->uncertain);
    put_field(out, k->core ? k->core : "");
    ct_live_text_print(out, "\n");
}

static void json_line(struct ct_live_text *out, struct ct_json *j, const struct line *line)
{
    const struct ct_live_kept *k = line->kept;
    ct_json_object(j, NULL);
    ct_json_number(j, "number", k->serial);
    ct_json_number(j, "time", k->time);
    ct_live_put_hex(j, "id", k->id, 2);
    ct_json_text(j, "spec", line->spec->name);
    ct_json_text(j, "output", output_name(line->spec, k));
    if (k->core)
        ct_json_text(j, "instance", k->core);
    ct_json_text(j, "value", k->value);
    if (k->violation)
        ct_json_bool(j, "violation", 1);
    if (k->uncertain)
        ct_json_bool(j, "uncertain", 1);
    ct_json_object_end(j);
    out->lacks |= ct_json_flush(j) != CT_OK;
}

static void put_lines(struct ct_live_text *out, const struct line *lines, size_t count,
                      enum ct_live_lines form)
{
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    struct ct_json *j = NULL;
    if (form == LIVE_CSV)
        ct_live_text_print(out, "number,time,id,spec,output,value,violation,uncertain,instance\n");
    else
        out->lacks |= ct_json_new(NULL, &options, ct_live_text_write, out, &j) != CT_OK;
    for (size_t i = 0; i < count && !out->lacks; i++) {
        if (form == LIVE_CSV)
            csv_line(out, &lines[i]);
        else
            json_line(out, j, &lines[i]);
    }
    ct_json_free(j);
}

/* Finds the kept results of one specification, or of all, with larger numbers than c->after. Returns their
 * count, and stores them in `lines` unless it is NULL. */
static size_t find_lines(const struct ct_live *l, const struct ct_live_command *c, struct line *lines)
{
    size_t count = 0;
    for (size_t i = 0; i < l->spec_count; i++) {
        const struct ct_live_spec *s = &l->specs[i];
        if (!s->name || (c->name && strcmp(s->name, c->name) != 0))
            continue;
        for (size_t k = 0; k < VIEW_LAST && k < s->view->last_count; k++) {
            if (s->view->last[k].serial <= c->after)
                continue;
            if (lines)
                lines[count] = (struct line){s, &s->view->last[k]};
            count++;
        }
    }
    return count;
}

static void read_outputs(const struct ct_live *l, struct ct_live_command *c)
{
    const size_t count = find_lines(l, c, NULL);
    struct line *lines = calloc(count + 1, sizeof *lines);
    if (!lines) {
        c->read.lacks = true;
        return;
    }
    find_lines(l, c, lines);
    qsort(lines, count, sizeof *lines, by_serial);
    put_lines(&c->read, lines, count, c->lines);
    free(lines);
}

static void read_monitor(const struct ct_live *l, struct ct_live_spec *s, struct ct_live_text *out)
{
    const struct ct_json_options options = {.size = sizeof options, .script = 1};
    struct ct_json *j = NULL;
    s->view->looked = ct_live_now();
    if (ct_json_new(NULL, &options, ct_live_text_write, out, &j) != CT_OK) {
        out->lacks = true;
        return;
    }
    put_full(l, j, s);
    out->lacks |= ct_json_flush(j) != CT_OK;
    ct_json_free(j);
}

void ct_live_read(struct ct_live *l, struct ct_live_command *c)
{
    const uint16_t slot = c->name ? ct_live_find_spec(l, c->name) : LIVE_NONE;
    c->at = l->analysed;
    c->fine = !c->name || slot != LIVE_NONE;
    if (!c->fine)
        snprintf(c->text, sizeof c->text, LIVE_NO_SPEC, c->name);
    else if (c->action == LIVE_READ_OUTPUTS)
        read_outputs(l, c);
    else
        read_monitor(l, &l->specs[slot], &c->read);
    c->lacking = c->fine && c->read.lacks;
    c->fine &= !c->lacking;
}
