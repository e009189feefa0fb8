/* SPDX-License-Identifier: Apache-2.0 */
/* Binds specifications: which watchpoints feed which inputs, and which output values are violations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "verify/group.h"
#include "base/require.h"
#include "verify/place.h"
#include "base/ctx.h"
#include "base/options.h"

/* places that are always watched, because losses make results uncertain */
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
    CT_REQUIRE_OUT(ctx, out, watches);
    struct ct_verify_options o;
    const int read = ct_options_read(ctx, "ct_verifier_new", options, &o, sizeof o);
    if (read)
        return read;
    if (o.clock > CT_VERIFY_TIMESTAMPS || o.history > CT_VERIFY_HISTORY_MAX)
        return ct_fail(ctx, CT_ERR_ARG, "verifier: options.clock or options.history is out of range");
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

void ct_verifier_free(struct ct_verifier *v)
{
    if (!v)
        return;
    ct_verify_groups_free(v);
    for (size_t i = 0; i < v->spec_count; i++)
        ct_verify_spec_free(v->specs[i]);
    free(v->first);
    free(v->came);
    free(v->targets);
    free(v->fed);
    ct_arena_free(&v->arena);
    free(v);
}

/* ---- inputs ---- */

/* Finds the watchpoints of a place, or adds them. */
static int watch_place(struct ct_verifier *v, const char *place, bool has_text, uint32_t *first,
                       uint32_t *count)
{
    for (size_t i = 0; i < v->bound_count; i++) {
        if (strcmp(v->bound[i].place, place) != 0 || v->bound[i].has_text != has_text)
            continue;
        *first = v->bound[i].first;
        *count = v->bound[i].count;
        return CT_OK;
    }
    int rc = ct_watches_add(v->watches, place, first, count);
    for (uint32_t i = 0; i < *count && has_text && !rc; i++)
        rc = ct_watches_want_text(v->watches, *first + i);
    if (rc)
        return rc;
    const char *copy = ct_arena_strdup(&v->arena, place);
    struct ct_verify_bound *bound =
        copy ? ct_arena_push(&v->arena, v->bound, &v->bound_count, sizeof *bound) : NULL;
    if (!bound)
        return ct_fail_nomem(v->ctx, "verifier");
    v->bound = bound;
    bound[v->bound_count - 1] = (struct ct_verify_bound){copy, *first, *count, has_text};
    return CT_OK;
}

/* Prefixes the context's error with the place of the input that it is about. Returns rc. */
static int misplaced(const struct ct_verifier *v, const struct ct_monitor_spec *spec, uint32_t input, int rc)
{
    char why[500];
    char text[1000];
    snprintf(why, sizeof why, "%s", ct_ctx_error(v->ctx));
    size_t size = ct_monitor_input_print(spec, input, why, text, sizeof text);
    size = size < sizeof text ? size : sizeof text - 1;
    while (size && text[size - 1] == '\n')
        text[--size] = '\0';
    return ct_fail(v->ctx, rc, "%s", text);
}

/* The watchpoints that feed an input, and the form of their values. */
struct feeding {
    struct ct_verify_feed feed; /* its core may be CT_VERIFY_EACH_CORE */
    const struct ct_watchpoint *point;
    bool is_kept; /* only losses feed the input */
};

/* Finds the watchpoints that feed an input. */
static int find_feed(struct ct_verifier *v, const struct ct_monitor_spec *spec, uint32_t input,
                     const struct ct_verify_bind *binds, size_t count, struct feeding *out)
{
    struct ct_monitor_stream in;
    char room[CT_VERIFY_PLACE_MAX];
    char bare[CT_VERIFY_PLACE_MAX];
    uint32_t all;
    *out = (struct feeding){0};
    ct_monitor_input(spec, input, &in);
    const char *place = ct_verify_place_of(&in, binds, count, room);
    if (!place)
        return misplaced(v, spec, input,
                         ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                                 "input %s%s%s: nothing in the trace feeds it, so it would never have an "
                                 "event; bind it to a place",
                                 in.name, in.source ? " of the source " : "", in.source ? in.source : ""));
    out->feed.type = in.type;
    out->feed.core = ct_verify_place_core(v, &place, bare);
    const int rc = watch_place(v, place, in.type == CT_MONITOR_STRING, &out->feed.first, &out->feed.count);
    if (rc)
        return misplaced(v, spec, input, ct_verify_no_core(v, place, rc));
    out->point = &ct_watches_all(v->watches, &all)[out->feed.first];
    out->is_kept = is_loss(place);
    const uint32_t core =
        out->feed.core == CT_VERIFY_EACH_CORE || !v->source_count ? CT_VERIFY_ANY_CORE : out->feed.core;
    const int fits = ct_verify_check_value(v, &in, out->point, core);
    return fits ? misplaced(v, spec, input, fits) : CT_OK;
}

static int bind_input(struct ct_verifier *v, struct ct_verify_spec *s, uint32_t input,
                      const struct ct_verify_bind *binds, size_t count)
{
    struct feeding f;
    const int rc = find_feed(v, s->spec, input, binds, count, &f);
    if (rc)
        return rc;
    if (f.feed.core == CT_VERIFY_EACH_CORE)
        f.feed.core = s->core;
    s->types[input] = f.feed.type;
    s->forms[input] = f.point->form;
    s->may_misfit |=
        f.point->kind == CT_WATCH_LOAD || f.point->kind == CT_WATCH_STORE ||
        (f.point->form == CT_WATCH_RAW && (f.feed.type == CT_MONITOR_FLOAT ||
                                           (f.feed.type == CT_MONITOR_INT && f.point->kind == CT_WATCH_STM)));
    s->kept[input] = f.is_kept;
    s->feeds[input] = f.feed;
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
    while (s) {
        struct ct_verify_spec *next = s->next;
        ct_monitor_free(s->monitor);
        free(s->places);
        free(s->waiting);
        free(s->spans);
        free(s->doubts);
        free(s->due);
        ct_arena_free(&s->arena);
        free(s);
        s = next;
    }
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
    s->core = CT_VERIFY_ANY_CORE;
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
    s->places = calloc(s->kept_places + CT_VERIFY_WAITING + room, sizeof *s->places);
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

/* The specification and bindings to be bound. */
struct binding {
    const struct ct_monitor_spec *spec;
    const char *name;
    const struct ct_verify_bind *binds;
    size_t count;
    uint32_t number;
};

/* Checks that each binding names an existing input. */
static int check_binds(const struct ct_verifier *v, const struct binding *b)
{
    for (size_t i = 0; i < b->count; i++) {
        struct ct_monitor_stream in = {.name = ""};
        const char *wanted = b->binds[i].input;
        for (size_t k = 0; k < ct_monitor_input_count(b->spec) && strcmp(in.name, wanted) != 0; k++)
            ct_monitor_input(b->spec, k, &in);
        if (strcmp(in.name, wanted) != 0)
            return ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                           "%s: has no input %s that could be bound to %s; correct "
                           "the name",
                           b->name, wanted, b->binds[i].place);
    }
    return CT_OK;
}

/* Makes a specification, or its instance for a core. */
static int bind_instance(struct ct_verifier *v, const struct binding *b, uint32_t core, uint32_t instance,
                         struct ct_verify_spec **out)
{
    struct ct_verify_spec *s = ct_verify_spec_new(v, b->number, b->spec, b->name);
    if (!s)
        return ct_fail_nomem(v->ctx, "verifier");
    s->core = core;
    s->instance = instance;
    int rc = CT_OK;
    if (core != CT_VERIFY_ANY_CORE) {
        s->name = ct_arena_printf(&s->arena, "%s@%s", b->name, v->cores[core]);
        rc = s->name ? CT_OK : ct_fail_nomem(v->ctx, "verifier");
    }
    for (size_t i = 0; !rc && i < s->input_count; i++)
        rc = bind_input(v, s, (uint32_t)i, b->binds, b->count);
    if (rc) {
        ct_verify_spec_free(s);
        return rc;
    }
    ct_verify_group_fits(s);
    *out = s;
    return CT_OK;
}

/* Sets *each to whether inputs are bound to each core, and `fits` to the cores that provide all inputs.
 * `fits` has an entry per source, true only for the first source of such a core. */
static int find_cores(struct ct_verifier *v, const struct binding *b, bool *fits, bool *each)
{
    uint32_t last = 0;
    int rc = CT_OK;
    *each = false;
    for (size_t k = 0; k < v->core_count; k++)
        fits[k] = v->core_of[k] == k;
    for (uint32_t i = 0; i < ct_monitor_input_count(b->spec) && !rc; i++) {
        struct feeding f;
        rc = find_feed(v, b->spec, i, b->binds, b->count, &f);
        if (rc || f.feed.core != CT_VERIFY_EACH_CORE)
            continue;
        *each = true;
        last = i;
        for (size_t k = 0; k < v->source_count; k++)
            fits[k] &= ct_verify_core_gives(v, (uint32_t)k, f.point->kind);
    }
    bool any = !v->source_count;
    for (size_t k = 0; k < v->source_count; k++)
        any |= fits[k];
    if (rc || !*each || any)
        return rc;
    return misplaced(v, b->spec, last,
                     ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                             "@each: no core feeds all inputs that are bound to each core, so the "
                             "specification would run for none; for an input that only one source feeds, "
                             "name its core"));
}

/* Makes an instance for each core that fits. */
static int bind_each(struct ct_verifier *v, const struct binding *b, const bool *fits,
                     struct ct_verify_spec **out)
{
    struct ct_verify_spec **at = out;
    uint32_t count = 0;
    int rc = CT_OK;
    *out = NULL;
    if (!v->core_count) /* a run with one source has one instance, whatever the core's name */
        return bind_instance(v, b, CT_VERIFY_ANY_CORE, 0, out);
    for (uint32_t k = 0; k < v->core_count && !rc; k++) {
        if (!fits[k])
            continue;
        rc = bind_instance(v, b, k, count++, at);
        if (*at)
            at = &(*at)->next;
    }
    if (rc)
        ct_verify_spec_free(*out);
    return rc;
}

/* Makes specification `number`, in as many instances as its places require, and binds their inputs. Returns
 * the errors of ct_verifier_add. */
static int bind_spec(struct ct_verifier *v, uint32_t number, const struct ct_monitor_spec *spec,
                     const char *name, const struct ct_verify_bind *binds, size_t count,
                     struct ct_verify_spec **out)
{
    const struct binding b = {spec, name, binds, count, number};
    bool each = false;
    bool *fits = calloc(v->core_count + 1, sizeof *fits);
    if (!fits)
        return ct_fail_nomem(v->ctx, "verifier");
    int rc = check_binds(v, &b);
    if (!rc)
        rc = find_cores(v, &b, fits, &each);
    if (!rc)
        rc = each ? bind_each(v, &b, fits, out) : bind_instance(v, &b, CT_VERIFY_ANY_CORE, 0, out);
    free(fits);
    return rc;
}

/* ---- adding, removing, exchanging ---- */

/* Finds a number for a specification: that of a removed one, or a new one. Error: CT_ERR_NOMEM. */
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

/* Makes specification `number`. During a run it begins at once. After an error it does not exist. */
static int make(struct ct_verifier *v, uint32_t number, const struct ct_monitor_spec *spec, const char *name,
                const struct ct_verify_bind *binds, size_t count, struct ct_verify_spec **out)
{
    int rc = bind_spec(v, number, spec, name, binds, count, out);
    if (rc || !v->running)
        return rc;
    for (struct ct_verify_spec *s = *out; s && !rc; s = s->next) {
        ct_verify_reset(s);
        rc = ct_verify_monitor(s);
    }
    if (!rc)
        rc = ct_verify_reserve(v, *out);
    if (rc)
        ct_verify_spec_free(*out);
    return rc;
}

int ct_verifier_add(struct ct_verifier *v, const struct ct_monitor_spec *spec, const char *name,
                    const struct ct_verify_bind *binds, size_t count)
{
    CT_REQUIRE_OF(v, spec, name, binds || !count);
    struct ct_verify_spec *s = NULL;
    uint32_t number = 0;
    int rc = ct_verify_not_in_result(v, __func__) ?: free_number(v, &number);
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

/* Ends a specification that is being removed, and takes it out of its group. On CT_ERR_NOMEM it stays. */
static int end_alone(struct ct_verifier *v, struct ct_verify_spec *s)
{
    int rc = ct_verify_group_leave(s);
    v->regroup = true;
    for (; s && v->running && rc != CT_ERR_NOMEM; s = s->next)
        rc = ct_verify_first(rc, ct_verify_end(s));
    return rc;
}

int ct_verifier_remove(struct ct_verifier *v, uint32_t number)
{
    CT_REQUIRE(NULL, v);
    struct ct_verify_spec *s = number < v->spec_count ? v->specs[number] : NULL;
    if (ct_verify_not_in_result(v, __func__))
        return CT_ERR_ARG;
    if (!s)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "verifier: specification %u does not exist, so it cannot be "
                       "removed",
                       number);
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
    CT_REQUIRE_OF(v, spec, name, binds || !count);
    struct ct_verify_spec *s = NULL;
    struct ct_verify_spec *old = number < v->spec_count ? v->specs[number] : NULL;
    if (ct_verify_not_in_result(v, __func__))
        return CT_ERR_ARG;
    if (!old || !v->running)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "verifier: specification %u does not exist or has not begun, so "
                       "it cannot be replaced",
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

/* Returns whether results of the stream can have the value `text`. Accepts anything for types other than Int:
 * a Bool that never has the value is simply never a violation. */
static bool is_value(const struct ct_monitor_stream *stream, const char *text)
{
    const char *digits = text + (*text == '-');
    if (stream->type != CT_MONITOR_INT)
        return true;
    return *digits && !digits[strspn(digits, "0123456789")] && (*digits != '0' || !strcmp(text, "0"));
}

/* Sets which value of the outputs with this name is a violation. Returns false when there is no such output.
 * Sets *fits if one of them can have the value `wanted`. */
static bool set_rule(struct ct_verify_spec *s, const char *output, uint8_t rule, const char *wanted,
                     bool *fits)
{
    bool found = false;
    for (size_t k = 0; k < s->output_count; k++) {
        struct ct_verify_output *out = &s->outputs[k];
        if (strcmp(out->stream.name, output) != 0)
            continue;
        out->rule = rule;
        out->wanted = wanted;
        found = true;
        *fits |= !wanted || is_value(&out->stream, wanted);
    }
    return found;
}

int ct_verifier_may_violate(const struct ct_verifier *v)
{
    bool may = false;
    for (size_t i = 0; v && i < v->spec_count; i++)
        for (size_t k = 0; v->specs[i] && k < v->specs[i]->output_count; k++)
            may |= v->specs[i]->outputs[k].rule != CT_VERIFY_NEVER;
    return may;
}

int ct_verifier_came(const struct ct_verifier *v, uint32_t watch)
{
    return v && watch < v->watch_count && v->came[watch];
}

int ct_verifier_violation(struct ct_verifier *v, const char *output, const char *value)
{
    CT_REQUIRE_OF(v, output);
    bool found = false, fits = false;
    char *wanted = value ? ct_arena_strdup(&v->arena, value) : NULL;
    if (value && !wanted)
        return ct_fail_nomem(v->ctx, "verifier");
    for (size_t i = 0; i < v->spec_count; i++)
        for (struct ct_verify_spec *s = v->specs[i]; s; s = s->next)
            found |= set_rule(s, output, value ? CT_VERIFY_TEXT : CT_VERIFY_EACH, wanted, &fits);
    if (found && !fits)
        return ct_fail(v->ctx, CT_ERR_ARG,
                       "output %s: can never have the value '%s', so nothing would be a violation; give a "
                       "value of its type (an Int in decimal digits)",
                       output, value);
    return found ? CT_OK
                 : ct_fail(v->ctx, CT_ERR_NOT_FOUND,
                           "output %s: no specification has an output with this name that could be a "
                           "violation; choose one of their out statements",
                           output);
}
