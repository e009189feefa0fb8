/* SPDX-License-Identifier: Apache-2.0 */
/* Binds specifications: which watchpoints feed which inputs, and which values of outputs are violations. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/group.h"
#include "base/ctx.h"
#include "base/options.h"

#define PLACE_MAX 512

/* watched in any case, because they make results uncertain */
static const char *const losses[] = {"gap", "overflow", "no-access"};
#define LOSSES (sizeof losses / sizeof *losses)

static bool is_loss(const char *place)
{
    for (size_t i = 0; i < LOSSES; i++)
        if (strcmp(place, losses[i]) == 0)
            return true;
    return false;
}

int ct_verifier_new(struct ct_ctx *ctx, const struct ct_verify_options *options, struct ct_watches *watches,
                    struct ct_verifier **out)
{
    if (!watches || !out)
        return ct_fail_null(ctx, __func__);
    struct ct_verify_options o;
    const int read = ct_options_read(ctx, "ct_verifier_new", options, &o, sizeof o);
    if (read)
        return read;
    if (o.clock > CT_VERIFY_TIMESTAMPS || o.history > CT_VERIFY_HISTORY_MAX)
        return ct_fail(ctx, CT_ERR_ARG, "verifier: options that cannot be; clock and history have limits");
    struct ct_verifier *v = calloc(1, sizeof *v);
    if (!v)
        return ct_fail_nomem(ctx, "verifier");
    v->ctx = ctx;
    v->options = o;
    v->watches = watches;
    ct_verify_groups_tune(v, CT_VERIFY_WASTE, CT_VERIFY_JOURNAL);
    for (size_t i = 0; i < LOSSES; i++) {
        const int rc = ct_watches_add(watches, losses[i], NULL, NULL);
        if (rc) {
            ct_verifier_free(v);
            return rc;
        }
    }
    *out = v;
    return CT_OK;
}

int ct_verifier_sources(struct ct_verifier *v, const char *const *cores, size_t count)
{
    if (!v || (!cores && count))
        return CT_ERR_ARG;
    if (v->spec_count || count > UINT16_MAX)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "%s: specifications were added before, or there are too many sources", __func__);
    v->cores = ct_arena_alloc(&v->arena, (count + 1) * sizeof *v->cores);
    for (size_t i = 0; v->cores && i < count; i++) {
        v->cores[i] = ct_arena_strdup(&v->arena, cores[i]);
        if (!v->cores[i])
            v->cores = NULL;
    }
    v->source_count = v->cores ? count : 0;
    return v->cores ? CT_OK : ct_fail_nomem(v->ctx, "verifier");
}

void ct_verifier_free(struct ct_verifier *v)
{
    if (!v)
        return;
    ct_verify_groups_free(v);
    for (size_t i = 0; i < v->spec_count; i++)
        ct_verify_spec_free(v->specs[i]);
    free(v->first);
    free(v->targets);
    free(v->fed);
    ct_arena_free(&v->arena);
    free(v);
}

/* ---- inputs ---- */

static const struct ct_verify_bind *bind_of(const struct ct_verify_bind *binds, size_t count,
                                            const char *input)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(binds[i].input, input) == 0)
            return &binds[i];
    return NULL;
}

/* Returns the place of an input that has the name of something that a trace has besides execution. */
static const char *place_by_name(const char *input)
{
    static const char *const names[][2] = {
        {"exception", "exception"},
        {"exception_return", "exception-return"},
        {"gap", "gap"},
        {"overflow", "overflow"},
        {"no_access", "no-access"},
        {"context", "context"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(input, names[i][0]) == 0)
            return names[i][1];
    return NULL;
}

/* Returns the place that a source names, in `room`; NULL when a trace of instructions has none. */
static const char *place_by_source(const struct ct_monitor_stream *in, char room[PLACE_MAX])
{
    if (strcmp(in->source, "codeLine") == 0)
        snprintf(room, PLACE_MAX, "%s:%" PRIu64, in->source_arg, in->source_number);
    else if (strcmp(in->source, "function_call") == 0)
        snprintf(room, PLACE_MAX, "entry:%s", in->source_arg);
    else if (strcmp(in->source, "function_return") == 0)
        snprintf(room, PLACE_MAX, "return:%s", in->source_arg);
    else if (strcmp(in->source, "onExecuting") == 0)
        snprintf(room, PLACE_MAX, "0x%" PRIx64, in->source_number);
    else if (strcmp(in->source, "itm_trace") == 0)
        snprintf(room, PLACE_MAX, "itm:%" PRIu64, in->source_number);
    else if (strcmp(in->source, "variable_value") == 0)
        snprintf(room, PLACE_MAX, "store:%s", in->source_arg);
    else
        return NULL;
    return room;
}

/* Finds the watchpoints of a place, or adds them. */
static int watch_place(struct ct_verifier *v, const char *place, uint32_t *first, uint32_t *count)
{
    for (size_t i = 0; i < v->bound_count; i++) {
        if (strcmp(v->bound[i].place, place) != 0)
            continue;
        *first = v->bound[i].first;
        *count = v->bound[i].count;
        return CT_OK;
    }
    const int rc = ct_watches_add(v->watches, place, first, count);
    if (rc)
        return rc;
    const char *copy = ct_arena_strdup(&v->arena, place);
    struct ct_verify_bound *bound =
        copy ? ct_arena_push(&v->arena, v->bound, &v->bound_count, sizeof *bound) : NULL;
    if (!bound)
        return ct_fail_nomem(v->ctx, "verifier");
    v->bound = bound;
    bound[v->bound_count - 1] = (struct ct_verify_bound){copy, *first, *count};
    return CT_OK;
}

/* Gives the context's error the place of the input that it is about. Returns rc. */
static int misplaced(const struct ct_verifier *v, const struct ct_verify_spec *s, uint32_t input, int rc)
{
    char why[500];
    char text[1000];
    snprintf(why, sizeof why, "%s", ct_ctx_error(v->ctx));
    size_t size = ct_monitor_input_print(s->spec, input, why, text, sizeof text);
    size = size < sizeof text ? size : sizeof text - 1;
    while (size && text[size - 1] == '\n')
        text[--size] = '\0';
    return ct_fail(v->ctx, rc, "%s", text);
}

/* Tells whether some place gives values of the type of an input. */
static bool is_of_place(const struct ct_monitor_stream *in)
{
    return in->type == CT_MONITOR_UNIT || in->type == CT_MONITOR_INT || in->type == CT_MONITOR_FLOAT ||
           in->type == CT_MONITOR_BOOL;
}

int ct_verify_input_place(const struct ct_monitor_stream *in, char *place, size_t cap)
{
    char room[PLACE_MAX];
    if (!in || !place || !cap)
        return CT_ERR_ARG;
    const char *found = in->source ? place_by_source(in, room) : place_by_name(in->name);
    place[0] = '\0';
    if (!is_of_place(in))
        return CT_ERR_ARG;
    if (!found)
        return CT_ERR_NOT_FOUND;
    return (size_t)snprintf(place, cap, "%s", found) < cap ? CT_OK : CT_ERR_LIMIT;
}

/* Cuts the core off a place, which then stands in `room`. Result: its number. What is behind an @ may be part
 * of a symbol's name, too. */
static uint32_t place_core(const struct ct_verifier *v, const char **place, char room[PLACE_MAX])
{
    const char *at = strrchr(*place, '@');
    for (size_t i = 0; at && i < v->source_count; i++) {
        if (strcmp(v->cores[i], at + 1) != 0)
            continue;
        snprintf(room, PLACE_MAX, "%.*s", (int)(at - *place), *place);
        *place = room;
        return (uint32_t)i;
    }
    return CT_VERIFY_ANY_SOURCE;
}

/* Says of a place that is not found, and may have a core, that there is no such core. Returns rc. */
static int no_core(const struct ct_verifier *v, const char *place, int rc)
{
    const char *at = strrchr(place, '@');
    if (rc != CT_ERR_NOT_FOUND || !at)
        return rc;
    return ct_fail(v->ctx, rc, "place '%s': there is no core %s in this run, so nothing comes by there; %s",
                   place, at + 1, v->source_count ? "'coretap info' lists the cores" : "leave out the core");
}

static int bind_input(struct ct_verifier *v, struct ct_verify_spec *s, uint32_t input,
                      const struct ct_verify_bind *binds, size_t count)
{
    struct ct_monitor_stream in;
    char room[PLACE_MAX];
    uint32_t first;
    uint32_t places;
    uint32_t all;
    ct_monitor_input(s->spec, input, &in);
    s->types[input] = in.type;
    const struct ct_verify_bind *bind = bind_of(binds, count, in.name);
    const char *place = bind ? bind->place : in.source ? place_by_source(&in, room) : place_by_name(in.name);
    if (!place)
        return misplaced(v, s, input,
                         ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                                 "input %s%s%s: nothing in the trace feeds it; bind it to a place", in.name,
                                 in.source ? " of the source " : "", in.source ? in.source : ""));
    char bare[PLACE_MAX];
    const uint32_t source = place_core(v, &place, bare);
    const int rc = watch_place(v, place, &first, &places);
    if (rc)
        return misplaced(v, s, input, no_core(v, place, rc));
    const struct ct_watchpoint *point = &ct_watches_all(v->watches, &all)[first];
    const int fits = ct_verify_check_value(v, &in, point, source);
    if (fits)
        return misplaced(v, s, input, fits);
    s->forms[input] = point->form;
    s->may_misfit |=
        point->kind == CT_WATCH_LOAD || point->kind == CT_WATCH_STORE ||
        (point->form == CT_WATCH_RAW &&
         (in.type == CT_MONITOR_FLOAT || (in.type == CT_MONITOR_INT && point->kind == CT_WATCH_STM)));
    s->kept[input] = is_loss(place);
    s->feeds[input] = (struct ct_verify_feed){first, places, source, in.type};
    return CT_OK;
}

static int check_binds(struct ct_verifier *v, const struct ct_verify_spec *s,
                       const struct ct_verify_bind *binds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct ct_monitor_stream in = {.name = ""};
        for (size_t k = 0; k < s->input_count && strcmp(in.name, binds[i].input) != 0; k++)
            ct_monitor_input(s->spec, k, &in);
        if (strcmp(in.name, binds[i].input) != 0)
            return ct_fail(v->ctx, CT_ERR_NOT_FOUND, "%s: has no input %s to bind to %s", s->name,
                           binds[i].input, binds[i].place);
    }
    return CT_OK;
}

/* ---- outputs ---- */

static bool is_or_ends_in(const char *name, const char *word)
{
    const size_t n = strlen(name);
    const size_t k = strlen(word);
    return n >= k && strcmp(name + n - k, word) == 0 && (n == k || name[n - k - 1] == '_');
}

static uint8_t rule_of(const struct ct_monitor_stream *out)
{
    if (out->type == CT_MONITOR_BOOL &&
        (is_or_ends_in(out->name, "error") || is_or_ends_in(out->name, "violation")))
        return CT_VERIFY_TRUE;
    if (out->type == CT_MONITOR_VERDICT || out->type == CT_MONITOR_BOOL)
        return CT_VERIFY_FALSE;
    if (out->type == CT_MONITOR_UNIT && (strstr(out->name, "error") || strstr(out->name, "violation")))
        return CT_VERIFY_EACH;
    return CT_VERIFY_NEVER;
}

void ct_verify_spec_free(struct ct_verify_spec *s)
{
    if (!s)
        return;
    ct_monitor_free(s->monitor);
    free(s->places);
    free(s->waiting);
    free(s->spans);
    free(s->doubts);
    free(s->due);
    ct_arena_free(&s->arena);
    free(s);
}

struct ct_verify_spec *ct_verify_spec_new(struct ct_verifier *v, uint32_t number,
                                          const struct ct_monitor_spec *spec, const char *name)
{
    struct ct_verify_spec *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->verifier = v;
    s->spec = spec;
    s->number = number;
    s->input_count = ct_monitor_input_count(spec);
    s->output_count = ct_monitor_output_count(spec);
    s->name = ct_arena_strdup(&s->arena, name);
    s->types = ct_arena_alloc(&s->arena, s->input_count + 1);
    s->forms = ct_arena_alloc(&s->arena, s->input_count + 1);
    s->kept = ct_arena_alloc(&s->arena, s->input_count + 1);
    s->feeds = ct_arena_alloc(&s->arena, (s->input_count + 1) * sizeof *s->feeds);
    s->inputs = ct_arena_alloc(&s->arena, (s->input_count + 1) * sizeof *s->inputs);
    s->used = ct_arena_alloc(&s->arena, (s->input_count + 1) * sizeof *s->used);
    s->outputs = ct_arena_alloc(&s->arena, (s->output_count + 1) * sizeof *s->outputs);
    const size_t room = CT_VERIFY_WAITING + s->input_count;
    s->kept_places =
        v->options.history + 1 + (v->source_count ? CT_VERIFY_DOUBTFUL * (s->input_count + 1) : 0);
    s->places = calloc(s->kept_places + room, sizeof *s->places);
    s->waiting = calloc(room, sizeof *s->waiting);
    if (v->source_count)
        s->spans = calloc(room, sizeof *s->spans);
    s->events_until = ct_arena_alloc(&s->arena, (v->source_count + 1) * sizeof *s->events_until);
    s->lost_until = ct_arena_alloc(&s->arena, (v->source_count + 1) * sizeof *s->lost_until);
    if (!s->waiting || (v->source_count && !s->spans) || !s->events_until || !s->lost_until || !s->name ||
        !s->types || !s->forms || !s->kept || !s->feeds || !s->inputs || !s->used || !s->outputs ||
        !s->places) {
        ct_verify_spec_free(s);
        return NULL;
    }
    for (size_t i = 0; i < s->output_count; i++) {
        ct_monitor_output(spec, i, &s->outputs[i].stream);
        s->outputs[i].rule = rule_of(&s->outputs[i].stream);
    }
    return s;
}

int ct_verify_bind_spec(struct ct_verifier *v, uint32_t number, const struct ct_monitor_spec *spec,
                        const char *name, const struct ct_verify_bind *binds, size_t count,
                        struct ct_verify_spec **out)
{
    struct ct_verify_spec *s = ct_verify_spec_new(v, number, spec, name);
    if (!s)
        return ct_fail_nomem(v->ctx, "verifier");
    int rc = check_binds(v, s, binds, count);
    for (size_t i = 0; !rc && i < s->input_count; i++)
        rc = bind_input(v, s, (uint32_t)i, binds, count);
    if (rc) {
        ct_verify_spec_free(s);
        return rc;
    }
    ct_verify_group_fits(s);
    *out = s;
    return CT_OK;
}

/* ---- coming, going, exchange ---- */

/* Finds a number for a specification, that of a removed one or a new one. CT_ERR_NOMEM. */
static int free_number(struct ct_verifier *v, uint32_t *number)
{
    for (*number = 0; *number < v->spec_count; ++*number)
        if (!v->specs[*number])
            return CT_OK;
    struct ct_verify_spec **all = ct_arena_push(&v->arena, v->specs, &v->spec_count, sizeof *all);
    if (!all)
        return ct_fail_nomem(v->ctx, "verifier");
    v->specs = all;
    return CT_OK;
}

/* Makes specification `number`, which begins at once during a run. After an error it does not exist. */
static int make(struct ct_verifier *v, uint32_t number, const struct ct_monitor_spec *spec, const char *name,
                const struct ct_verify_bind *binds, size_t count, struct ct_verify_spec **out)
{
    int rc = ct_verify_bind_spec(v, number, spec, name, binds, count, out);
    if (rc || !v->running)
        return rc;
    ct_verify_reset(*out);
    rc = ct_verify_monitor(*out);
    if (!rc)
        rc = ct_verify_reserve(v, *out);
    if (rc)
        ct_verify_spec_free(*out);
    return rc;
}

int ct_verifier_add(struct ct_verifier *v, const struct ct_monitor_spec *spec, const char *name,
                    const struct ct_verify_bind *binds, size_t count)
{
    if (!v || !spec || !name || (!binds && count))
        return CT_ERR_ARG;
    struct ct_verify_spec *s = NULL;
    uint32_t number = 0;
    int rc = free_number(v, &number);
    if (!rc)
        rc = make(v, number, spec, name, binds, count, &s);
    if (rc)
        return rc;
    v->specs[number] = s;
    v->regroup = true;
    if (v->running)
        ct_verify_index(v);
    return CT_OK;
}

/* Ends a specification that is to go, and takes it out of its group. CT_ERR_NOMEM: it stays. */
static int end_alone(struct ct_verifier *v, struct ct_verify_spec *s)
{
    const int rc = ct_verify_group_leave(s);
    v->regroup = true;
    return rc || !v->running ? rc : ct_verify_end(s);
}

int ct_verifier_remove(struct ct_verifier *v, uint32_t number)
{
    if (!v)
        return CT_ERR_ARG;
    struct ct_verify_spec *s = number < v->spec_count ? v->specs[number] : NULL;
    if (!s)
        return ct_fail(v->ctx, CT_ERR_ARG, "verifier: there is no specification %u to be removed", number);
    const int ended = end_alone(v, s);
    if (ended == CT_ERR_NOMEM)
        return ended;
    ct_verify_spec_free(s);
    v->specs[number] = NULL;
    if (v->running)
        ct_verify_index(v);
    return ended;
}

int ct_verifier_exchange(struct ct_verifier *v, uint32_t number, const struct ct_monitor_spec *spec,
                         const char *name, const struct ct_verify_bind *binds, size_t count)
{
    if (!v || !spec || !name || (!binds && count))
        return CT_ERR_ARG;
    struct ct_verify_spec *s = NULL;
    struct ct_verify_spec *old = number < v->spec_count ? v->specs[number] : NULL;
    if (!old || !v->running)
        return ct_fail(v->ctx, CT_ERR_ARG, "verifier: there is no specification %u in a run to be exchanged",
                       number);
    int rc = make(v, number, spec, name, binds, count, &s);
    if (rc)
        return rc;
    const int ended = end_alone(v, old);
    if (ended == CT_ERR_NOMEM) {
        ct_verify_spec_free(s);
        return ended;
    }
    ct_verify_spec_free(old);
    v->specs[number] = s;
    ct_verify_index(v);
    return ended;
}

int ct_verifier_violation(struct ct_verifier *v, const char *output, const char *value)
{
    if (!v || !output)
        return CT_ERR_ARG;
    bool found = false;
    char *wanted = value ? ct_arena_strdup(&v->arena, value) : NULL;
    if (value && !wanted)
        return ct_fail_nomem(v->ctx, "verifier");
    for (size_t i = 0; i < v->spec_count; i++) {
        for (size_t k = 0; v->specs[i] && k < v->specs[i]->output_count; k++) {
            struct ct_verify_output *out = &v->specs[i]->outputs[k];
            if (strcmp(out->stream.name, output) != 0)
                continue;
            out->rule = value ? CT_VERIFY_TEXT : CT_VERIFY_EACH;
            out->wanted = wanted;
            found = true;
        }
    }
    return found ? CT_OK
                 : ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                           "no specification has an output %s that could be a violation; look at its out "
                           "statements",
                           output);
}
