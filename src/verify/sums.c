/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of the results of specifications: the object and its table. The order of additions does not matter:
 * counts saturate, ranges take the extremes, and of violations the least is kept. */
#include "verify/sums.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array_of.h"
#include "base/ctx.h"
#include "base/fnv.h"
#include "base/options.h"
#include "base/path.h"
#include "base/require.h"
#include "base/room.h"
#include "base/saturate.h"
#include "base/search.h"

static struct ct_verify_sums *of(struct ct_analysis *analysis)
{
    return (struct ct_verify_sums *)analysis;
}

static int no_memory(const struct ct_verify_sums *s)
{
    return ct_fail_nomem(s->analysis.ctx, "monitors");
}

/* ---- violations ---- */

/* Orders violations by run, time, buffer and ID. The other fields make the order total. */
static int compare_violations(const struct ct_verify_violation *a, const struct ct_verify_violation *b)
{
    return strcmp(a->run, b->run)
           ?: ct_order(a->time, b->time)
           ?: strcmp(a->buffer, b->buffer)
           ?: ct_order(a->id, b->id)
           ?: strcmp(a->value, b->value)
           ?: ct_order(a->addr, b->addr)
           ?: strcmp(a->watch, b->watch)
           ?: strcmp(a->function, b->function)
           ?: strcmp(a->file, b->file)
           ?: ct_order(a->line, b->line)
           ?: ct_order(a->uncertain, b->uncertain);
}

/* Returns how many bytes of a text are kept. */
static size_t length(const char *text)
{
    return strnlen(text, CT_VERIFY_SUMS_NAME);
}

static const char *copy_text(char **at, const char *text)
{
    const size_t size = length(text);
    char *copy = memcpy(*at, text, size);
    copy[size] = '\0';
    *at += size + 1;
    return copy;
}

/* Copies a violation into one allocation. NULL: out of memory. */
static struct ct_verify_violation *copy_violation(const struct ct_verify_violation *v)
{
    const size_t texts = length(v->run) + length(v->buffer) + length(v->value) + length(v->watch) +
                         length(v->function) + length(v->file) + 6;
    struct ct_verify_violation *copy = malloc(sizeof *copy + texts);
    if (!copy)
        return NULL;
    char *at = (char *)(copy + 1);
    *copy = *v;
    copy->run = copy_text(&at, v->run);
    copy->buffer = copy_text(&at, v->buffer);
    copy->value = copy_text(&at, v->value);
    copy->watch = copy_text(&at, v->watch);
    copy->function = copy_text(&at, v->function);
    copy->file = copy_text(&at, v->file);
    return copy;
}

int ct_verify_sum_first(struct ct_verify_sum *sum, const struct ct_verify_violation *first)
{
    if (sum->first && compare_violations(sum->first, first) <= 0)
        return CT_OK;
    struct ct_verify_violation *copy = copy_violation(first);
    if (!copy)
        return CT_ERR_NOMEM;
    free((void *)(uintptr_t)sum->first);
    sum->first = copy;
    return CT_OK;
}

/* ---- numbers ---- */

static void add_wide(struct ct_wide_sum *sum, const struct ct_wide_sum *more)
{
    const uint64_t low = sum->low + more->low;
    const uint64_t carry = low < sum->low;
    const bool over = more->high > UINT64_MAX - sum->high || (carry && sum->high + more->high == UINT64_MAX);
    *sum = over ? (struct ct_wide_sum){UINT64_MAX, UINT64_MAX}
                : (struct ct_wide_sum){sum->high + more->high + carry, low};
}

/* Extends the range of a sum by another range. */
static void add_range(struct ct_verify_sum *sum, union ct_monitor_value low, union ct_monitor_value high)
{
    const bool real = sum->type == CT_MONITOR_FLOAT;
    if (!sum->numbers || (real ? low.f < sum->low.f : low.i < sum->low.i))
        sum->low = low;
    if (!sum->numbers || (real ? high.f > sum->high.f : high.i > sum->high.i))
        sum->high = high;
}

void ct_verify_sum_number(struct ct_verify_sum *sum, union ct_monitor_value value)
{
    if (sum->type == CT_MONITOR_FLOAT) {
        if (isnan(value.f)) {
            ct_add_up(&sum->others, 1);
            return;
        }
        if (value.f == 0)
            value.f = 0; /* -0 becomes 0: they are equal, and the order of additions must not matter */
    } else {
        const struct ct_wide_sum one = {.low = value.i < 0 ? UINT64_C(0) - (uint64_t)value.i
                                                           : (uint64_t)value.i};
        add_wide(value.i < 0 ? &sum->below : &sum->above, &one);
    }
    add_range(sum, value, value);
    ct_add_up(&sum->numbers, 1);
}

/* ---- the table ---- */

static int compare(const struct ct_verify_sum *a, const struct ct_verify_sum *b)
{
    return strcmp(a->spec, b->spec)
           ?: ct_order(a->sum, b->sum)
           ?: strcmp(a->output, b->output)
           ?: ct_order(a->type, b->type);
}

/* Returns the index of a sum, or the index where it belongs. */
static size_t find(const struct ct_verify_sums *s, const struct ct_verify_sum *key)
{
    return CT_COUNT_WHILE(s->count, i, compare(&s->all[i], key) < 0);
}

static int insert(struct ct_verify_sums *s, size_t at, const struct ct_verify_sum *key)
{
    if (s->count == CT_VERIFY_SUMS_MOST)
        return ct_fail(s->analysis.ctx, CT_ERR_LIMIT,
                       "monitors: there are results of more than %d outputs, "
                       "which is the limit; use fewer specifications",
                       CT_VERIFY_SUMS_MOST);
    if (!CT_MAKE_ROOM(s->all, s->room, s->count + 1))
        return no_memory(s);
    char *names = malloc(length(key->spec) + length(key->output) + 2);
    if (!names)
        return no_memory(s);
    char *end = names;
    memmove(&s->all[at + 1], &s->all[at], (s->count - at) * sizeof *s->all);
    s->all[at] = (struct ct_verify_sum){.spec = copy_text(&end, key->spec),
                                        .output = copy_text(&end, key->output),
                                        .sum = key->sum,
                                        .type = key->type};
    s->count++;
    return CT_OK;
}

static void add_counts(struct ct_verify_sum *sum, const struct ct_verify_sum *more)
{
    if (more->numbers)
        add_range(sum, more->low, more->high);
    ct_add_up(&sum->events, more->events);
    ct_add_up(&sum->violations, more->violations);
    ct_add_up(&sum->uncertain, more->uncertain);
    ct_add_up(&sum->streams, more->streams);
    ct_add_up(&sum->failed, more->failed);
    ct_add_up(&sum->violated, more->violated);
    ct_add_up(&sum->doubtful, more->doubtful);
    ct_add_up(&sum->undecided, more->undecided);
    ct_add_up(&sum->satisfied, more->satisfied);
    for (size_t i = 0; i < sizeof sum->values / sizeof *sum->values; i++)
        ct_add_up(&sum->values[i], more->values[i]);
    ct_add_up(&sum->numbers, more->numbers);
    ct_add_up(&sum->others, more->others);
    add_wide(&sum->above, &more->above);
    add_wide(&sum->below, &more->below);
}

int ct_verify_sums_put(struct ct_verify_sums *s, const struct ct_verify_sum *more)
{
    const size_t at = find(s, more);
    const bool is_known = at < s->count && compare(&s->all[at], more) == 0;
    int rc = is_known ? CT_OK : insert(s, at, more);
    if (!rc && more->first && ct_verify_sum_first(&s->all[at], more->first))
        rc = no_memory(s);
    if (!rc)
        add_counts(&s->all[at], more);
    return rc;
}

const struct ct_verify_sum *ct_verify_sums_all(const struct ct_verify_sums *s, size_t *count)
{
    return CT_ARRAY_OF(s, all, count, count);
}

/* ---- specifications ---- */

static bool is_name(const char *name)
{
    return name && *name && strlen(name) <= CT_VERIFY_SUMS_NAME;
}

/* Returns whether all outputs have names that can be saved. */
static bool are_names(const struct ct_monitor_spec *spec)
{
    struct ct_monitor_stream out;
    bool fine = true;
    for (size_t i = 0; i < ct_monitor_output_count(spec) && fine; i++)
        fine = ct_monitor_output(spec, i, &out) == CT_OK && is_name(out.name);
    return fine;
}

static int copy_binds(struct ct_verify_sums *s, struct ct_verify_sums_spec *spec,
                      const struct ct_verify_bind *binds, size_t count)
{
    spec->binds = ct_arena_alloc(&s->arena, (count + 1) * sizeof *spec->binds);
    for (size_t i = 0; spec->binds && i < count; i++) {
        struct ct_verify_bind *bind = &spec->binds[spec->bind_count];
        bind->input = ct_arena_strdup(&s->arena, binds[i].input);
        bind->place = ct_arena_strdup(&s->arena, binds[i].place);
        if (bind->input && bind->place)
            spec->bind_count++;
    }
    return spec->binds && spec->bind_count == count ? CT_OK : no_memory(s);
}

/* Adds the inputs and their places to a hash. */
static uint64_t add_binds(uint64_t sum, const struct ct_verify_sums_spec *spec)
{
    for (size_t i = 0; i < ct_monitor_input_count(spec->spec); i++) {
        struct ct_monitor_stream in;
        ct_monitor_input(spec->spec, i, &in);
        const char *place = NULL;
        for (size_t k = spec->bind_count; k-- > 0;)
            if (strcmp(spec->binds[k].input, in.name) == 0)
                place = spec->binds[k].place;
        if (place)
            sum = ct_fnv_text(ct_fnv_text(sum, in.name), place);
    }
    return sum;
}

/* Adds the outputs that have violation rules to a hash. Of several rules for one output the last one
 * applies. */
static uint64_t add_rules(uint64_t sum, const struct ct_verify_sums *s, const struct ct_monitor_spec *spec)
{
    for (size_t i = 0; i < ct_monitor_output_count(spec); i++) {
        struct ct_monitor_stream out;
        ct_monitor_output(spec, i, &out);
        const struct ct_verify_bind *rule = NULL;
        for (size_t k = 0; k < s->rule_count; k++)
            if (strcmp(s->rules[k].input, out.name) == 0)
                rule = &s->rules[k];
        if (rule)
            sum = ct_fnv_text(ct_fnv_text(ct_fnv_text(sum, out.name), rule->place ? "=" : "each"),
                              rule->place ? rule->place : "");
    }
    return sum;
}

uint64_t ct_verify_sums_key(const struct ct_verify_sums *s, size_t number)
{
    const struct ct_verify_options *o = &s->options;
    const struct ct_verify_sums_spec *spec = &s->specs[number];
    const bool scaled = o->ticks && o->ticks_to;
    char fed[160];
    snprintf(fed, sizeof fed, "%016" PRIx64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64,
             ct_monitor_sum(spec->spec), o->clock, scaled ? o->ticks : 0, scaled ? o->ticks_to : 0,
             o->forget);
    return add_rules(add_binds(ct_fnv_text(CT_FNV_BEGIN, fed), spec), s, spec->spec);
}

/* Returns whether the last specification equals an earlier one, so that its results would count twice. */
static bool is_twice(const struct ct_verify_sums *s)
{
    const size_t last = s->spec_count - 1;
    const char *name = ct_base_name(s->specs[last].name);
    for (size_t i = 0; i < last; i++)
        if (strcmp(ct_base_name(s->specs[i].name), name) == 0 &&
            ct_verify_sums_key(s, i) == ct_verify_sums_key(s, last))
            return true;
    return false;
}

int ct_verify_sums_add(struct ct_verify_sums *s, const struct ct_monitor_spec *spec, const char *name,
                       const struct ct_verify_bind *binds, size_t count)
{
    CT_REQUIRE(NULL, s, spec, name, is_name(ct_base_name(name)), are_names(spec), binds || !count);
    struct ct_verify_sums_spec added = {.spec = spec, .name = ct_arena_strdup(&s->arena, name)};
    if (!added.name || copy_binds(s, &added, binds, count))
        return no_memory(s);
    struct ct_verify_sums_spec *specs = ct_arena_push(&s->arena, s->specs, &s->spec_count, sizeof *s->specs);
    if (!specs)
        return no_memory(s);
    s->specs = specs;
    specs[s->spec_count - 1] = added;
    if (!is_twice(s))
        return CT_OK;
    s->spec_count--;
    return ct_fail(s->analysis.ctx, CT_ERR_ARG,
                   "%s: the specification with this name and text was already given, so it would count "
                   "twice; give it once",
                   name);
}

int ct_verify_sums_violation(struct ct_verify_sums *s, const char *output, const char *value)
{
    CT_REQUIRE(NULL, s, output);
    const struct ct_verify_bind rule = {ct_arena_strdup(&s->arena, output),
                                        value ? ct_arena_strdup(&s->arena, value) : NULL};
    struct ct_verify_bind *rules = rule.input && (rule.place || !value)
                                       ? ct_arena_push(&s->arena, s->rules, &s->rule_count, sizeof *s->rules)
                                       : NULL;
    if (!rules)
        return no_memory(s);
    s->rules = rules;
    rules[s->rule_count - 1] = rule;
    return CT_OK;
}

/* ---- operations of the contract of analyses ---- */

static int make(struct ct_ctx *ctx, const struct ct_verify_options *options, struct ct_verify_sums **out)
{
    struct ct_verify_sums *s = calloc(1, sizeof *s);
    if (!s)
        return ct_fail_nomem(ctx, "monitors");
    s->analysis = (struct ct_analysis){.kind = ct_verify_sums_kind(), .ctx = ctx};
    s->options = *options;
    *out = s;
    return CT_OK;
}

int ct_verify_sums_new(struct ct_ctx *ctx, const struct ct_verify_options *options,
                       struct ct_verify_sums **out)
{
    struct ct_verify_options o;
    CT_REQUIRE_OUT(ctx, out);
    const int rc = ct_options_read(ctx, __func__, options, &o, sizeof o);
    if (rc)
        return rc;
    if (o.clock > CT_VERIFY_TIMESTAMPS)
        return ct_fail(ctx, CT_ERR_ARG, "%s: options.clock is %u, which is not a clock", __func__, o.clock);
    o.history = 0;
    return make(ctx, &o, out);
}

static void free_sums(struct ct_analysis *analysis)
{
    struct ct_verify_sums *s = of(analysis);
    ct_verify_streams_free(s);
    for (size_t i = 0; i < s->count; i++) {
        free((void *)(uintptr_t)s->all[i].first);
        free((void *)(uintptr_t)s->all[i].spec); /* also frees the output name in the same allocation */
    }
    free(s->all);
    ct_arena_free(&s->arena);
    free(s);
}

void ct_verify_sums_free(struct ct_verify_sums *s)
{
    ct_analysis_free(ct_verify_sums_analysis(s));
}

static int part_of(const struct ct_analysis *analysis, struct ct_analysis **out)
{
    const struct ct_verify_sums *whole = (const struct ct_verify_sums *)analysis;
    struct ct_verify_sums *s = NULL;
    int rc = make(analysis->ctx, &whole->options, &s);
    for (size_t i = 0; i < whole->spec_count && !rc; i++)
        rc = ct_verify_sums_add(s, whole->specs[i].spec, whole->specs[i].name, whole->specs[i].binds,
                                whole->specs[i].bind_count);
    for (size_t i = 0; i < whole->rule_count && !rc; i++)
        rc = ct_verify_sums_violation(s, whole->rules[i].input, whole->rules[i].place);
    if (rc || !s) {
        ct_verify_sums_free(s);
        return rc;
    }
    s->programs = whole->programs;
    *out = &s->analysis;
    return CT_OK;
}

static int take_programs(struct ct_analysis *analysis, struct ct_programs *programs)
{
    of(analysis)->programs = programs;
    return CT_OK;
}

static int merge(struct ct_analysis *into, struct ct_analysis *other)
{
    const struct ct_verify_sums *from = of(other);
    int rc = CT_OK;
    for (size_t i = 0; i < from->count && !rc; i++)
        rc = ct_verify_sums_put(of(into), &from->all[i]);
    return rc;
}

const struct ct_analysis_kind *ct_verify_sums_kind(void)
{
    static const struct ct_analysis_kind kind = {.size = sizeof kind,
                                                 .name = "monitors",
                                                 .writer = "coretap monitor --format data",
                                                 .version = 1,
                                                 .inputs = CT_INPUT_STEPS,
                                                 .part = part_of,
                                                 .programs = take_programs,
                                                 .take = ct_verify_streams_take,
                                                 .end = ct_verify_streams_end,
                                                 .merge = merge,
                                                 .save = ct_verify_sums_save,
                                                 .load = ct_verify_sums_load,
                                                 .free = free_sums};
    return &kind;
}

struct ct_analysis *ct_verify_sums_analysis(struct ct_verify_sums *s)
{
    return s ? &s->analysis : NULL;
}
