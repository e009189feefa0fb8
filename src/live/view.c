/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem */
#include "live/view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ct_live_view *ct_live_view_new(const struct ct_monitor_spec *spec)
{
    struct ct_live_view *v = calloc(1, sizeof *v);
    if (!v)
        return NULL;
    v->all_outputs = ct_monitor_output_count(spec);
    v->output_count = v->all_outputs < VIEW_OUTPUTS ? v->all_outputs : VIEW_OUTPUTS;
    for (size_t i = 0; i < v->output_count; i++) {
        struct ct_monitor_stream out;
        if (ct_monitor_output(spec, i, &out) != CT_OK)
            continue;
        snprintf(v->outputs[i].name, sizeof v->outputs[i].name, "%s", out.name);
        v->outputs[i].type = out.type;
    }
    return v;
}

void ct_live_view_free(struct ct_live_view *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->output_count; i++)
        free(v->outputs[i].plot);
    free(v->text);
    free(v);
}

/* ---- units ---- */

static size_t word_length(const char *text)
{
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_')
        length++;
    return length;
}

/* Finds the name of the output in a statement "out EXPRESSION [as NAME]", which ends with its line. NULL: it
 * is no such statement. */
static const char *output_name(const char *at, size_t *length)
{
    at += strspn(at, " \t\r\n#-");
    if (strncmp(at, "out", 3) != 0 || word_length(at) != 3)
        return NULL;
    at += 3 + strspn(at + 3, " \t");
    const char *end = at + strcspn(at, "\n");
    for (const char *as = end - 4; as > at; as--)
        if (strncmp(as, " as ", 4) == 0) {
            at = as + 4 + strspn(as + 4, " ");
            break;
        }
    *length = word_length(at);
    return at;
}

static void set_unit(struct ct_live_view *v, const char *name, size_t length, const char *unit, size_t size)
{
    for (size_t i = 0; i < v->output_count; i++) {
        struct ct_live_output *o = &v->outputs[i];
        if (length && strlen(o->name) == length && memcmp(o->name, name, length) == 0 &&
            size < sizeof o->unit)
            snprintf(o->unit, sizeof o->unit, "%.*s", (int)size, unit);
    }
}

static void find_units(struct ct_live_view *v)
{
    static const char mark[] = "@unit(\"";
    for (const char *at = strstr(v->text, mark); at; at = strstr(at, mark)) {
        const char *unit = at + sizeof mark - 1, *end = strchr(unit, '"');
        size_t length = 0;
        at = unit;
        if (!end || strncmp(end, "\")", 2) != 0)
            continue;
        const char *name = output_name(end + 2, &length);
        if (name)
            set_unit(v, name, length, unit, (size_t)(end - unit));
    }
}

bool ct_live_view_text(struct ct_live_view *v, const char *text, size_t size)
{
    if (size > VIEW_TEXT || memchr(text, 0, size))
        return true;
    char *copy = malloc(size + 1);
    if (!copy)
        return false;
    memcpy(copy, text, size);
    copy[size] = '\0';
    free(v->text);
    v->text = copy;
    find_units(v);
    return true;
}

/* ---- results ---- */

/* Copies a value, cut at a character boundary to LIVE_VALUE bytes. */
static void copy_value(char to[LIVE_VALUE], const char *value)
{
    size_t size = strnlen(value, LIVE_VALUE);
    if (size == LIVE_VALUE)
        for (size--; size && ((unsigned char)value[size] & 0xc0) == 0x80;)
            size--;
    memcpy(to, value, size);
    to[size] = '\0';
}

static void keep_doubt(struct ct_live_doubt *to, const struct ct_verify_result *from)
{
    to->known = from->doubt[0] && from->doubt[1];
    for (size_t i = 0; i < 2 && to->known; i++) {
        const struct ct_watch_event *e = &from->doubt[i]->event;
        to->times[i] = from->doubt[i]->time;
        to->kinds[i] = e->kind;
        to->sources[i] = e->source;
        to->watches[i] = e->watch;
        to->values[i] = e->value;
    }
}

void ct_live_keep(struct ct_live_kept *k, const struct ct_verify_result *r, uint8_t id, uint64_t serial)
{
    k->serial = serial;
    k->time = r->time;
    k->output = (uint16_t)r->output;
    k->id = id;
    k->placed = r->place != NULL;
    k->violation = r->violation;
    k->uncertain = r->uncertain;
    if (r->place)
        k->event = r->place->event;
    k->core = r->core;
    keep_doubt(&k->doubt, r);
    copy_value(k->value, r->value);
}

/* Returns whether a value is a number that can be plotted. */
static bool number_of(const struct ct_verify_result *r, double *value)
{
    if (r->type == CT_MONITOR_INT && !r->big)
        *value = (double)r->number.i;
    else if (r->type == CT_MONITOR_FLOAT)
        *value = r->number.f;
    else
        return false;
    return isfinite(*value);
}

static void plot(struct ct_live_view *v, struct ct_live_output *o, const struct ct_verify_result *r)
{
    double value;
    if (!number_of(r, &value))
        return;
    if (!o->plot && v->plots < VIEW_PLOTS && !v->lacks) {
        o->plot = calloc(1, sizeof *o->plot);
        v->lacks = !o->plot;
        v->plots += o->plot != NULL;
    }
    if (o->plot)
        ct_live_plot_add(o->plot, r->time, value);
}

static void note_doubt(struct ct_live_output *o, const struct ct_verify_result *r)
{
    if (r->uncertain && !o->doubtful)
        o->doubt_since = r->time;
    o->doubtful = r->uncertain;
}

void ct_live_view_add(struct ct_live_view *v, const struct ct_verify_result *r, uint8_t id, uint64_t serial,
                      bool page)
{
    if (page)
        ct_live_keep(&v->last[v->last_count++ % VIEW_LAST], r, id, serial);
    if (page && r->violation)
        ct_live_keep(&v->bad[v->bad_count++ % VIEW_BAD], r, id, serial);
    if (r->output >= v->output_count)
        return;
    struct ct_live_output *o = &v->outputs[r->output];
    o->count++;
    o->violations += r->violation;
    o->time = r->time;
    o->id = id;
    copy_value(o->value, r->value);
    note_doubt(o, r);
    if (page)
        plot(v, o, r);
}

bool ct_live_view_doubt(const struct ct_live_view *v, uint64_t *since)
{
    bool found = false;
    for (size_t i = 0; i < v->output_count; i++) {
        const struct ct_live_output *o = &v->outputs[i];
        if (!o->doubtful || (found && o->doubt_since >= *since))
            continue;
        *since = o->doubt_since;
        found = true;
    }
    return found;
}
