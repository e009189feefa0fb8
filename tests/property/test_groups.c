/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that random specifications which run together, in groups, give the same results at the same places
 * as each one alone, even when some fail, some are replaced, trace is missing, or the order of events of
 * several sources is in doubt. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "coretap/verify.h"
#include "support/part.h"
#include "support/unit.h"
#include "verify/due.h"
#include "verify/group.h"

enum {
    SPECS = 9,
    PLACES = 3,
    STREAMS = 8,
    TEXT = 1 << 16,
    SOURCES = 3,
    EVENTS = 400,
};

struct record {
    char *text;
    size_t size;
    bool failed;
};

struct one {
    struct ct_monitor_spec *spec;
    struct ct_verifier *verifier; /* of the specification alone */
    struct ct_watches *watches;
    struct record together, alone;
    char text[4096];
};

struct trial {
    struct ct_ctx *ctx;
    struct rng rng;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct one ones[SPECS];
    size_t count;
    struct ct_verify_options options;
    struct ct_monitor_limits limits;
    uint64_t cycle;
    size_t sources;        /* number on the axis; 0: no axis */
    uint64_t end[SOURCES]; /* time of the last event of each source */
    bool sleeps;           /* losses of a source last until its next event */
    uint32_t reach;        /* length of intervals that are not points in time */
    bool exchanged;
};

static void note(struct record *r, const struct ct_verify_result *x)
{
    if (r->size > TEXT - 400)
        return;
    r->size +=
        (size_t)snprintf(r->text + r->size, 400, "%llu %s = %.200s%s%s", (unsigned long long)x->time, x->name,
                         x->value, x->violation ? " violation" : "", x->uncertain ? " uncertain" : "");
    if (x->place)
        r->size += (size_t)snprintf(r->text + r->size, 100, " at %llu/%u", (unsigned long long)x->place->time,
                                    x->place->event.number);
    for (size_t i = 0; i < x->before_count && i < 3; i++)
        r->size += (size_t)snprintf(r->text + r->size, 60, " %llu", (unsigned long long)x->before[i].time);
    for (size_t i = 0; i < 2 && x->doubt[0]; i++)
        r->size += (size_t)snprintf(r->text + r->size, 60, " ?%llu", (unsigned long long)x->doubt[i]->time);
    r->text[r->size++] = '\n';
    r->text[r->size] = '\0';
}

static void take_together(void *user, const struct ct_verify_result *x)
{
    note(&((struct trial *)user)->ones[x->spec].together, x);
}

static void take_alone(void *user, const struct ct_verify_result *x)
{
    note(&((struct one *)user)->alone, x);
}

/* ---- random specifications ---- */

/* %1$d, %2$d: earlier streams of Ints; %3$d: a small number; %4$d: any stream */
static const char *const forms[] = {
    "s%1$d + s%2$d",
    "s%1$d * s%2$d",
    "s%1$d / (s%2$d %% 7)",
    "default(s%1$d, %3$d)",
    "defaultFrom(s%1$d, s%2$d)",
    "time(s%1$d) - time(s%2$d)",
    "last(s%4$d, s%2$d)",
    "merge(s%1$d, s%2$d)",
    "filter(s%1$d, s%2$d %% 3 > %3$d)",
    "on(s%1$d, s%2$d)",
    "if s%1$d > s%2$d then s%1$d else %3$d",
    "pure(s%1$d %% 4)",
    "fold(s%1$d, %3$d, (r: Int, e: Int) => r + e)",
    "reduce(s%1$d, max)",
    "count(s%1$d)",
    "const(%3$d, delay(const(%3$d + 1, s%1$d), s%2$d))",
    "resetCount(s%1$d, s%2$d)",
    "if toString(s%1$d) == \"1\" then 1 else 0",
    "lift(s%1$d, s%2$d, (x: Option[Int], y: Option[Int]) => if isNone(x) then y else Some(%3$d))",
};

static const char *const formulas[] = {
    "always (p implies next[%d] (not p until q))",
    "not q until (p and next[%d] p)",
    "always ((p and next[%d] q) implies next (not q until weak p))",
    "eventually (p and next[%d] q)",
};

static size_t write_streams(struct rng *r, char *text)
{
    char *p = text;
    const unsigned inputs = 1 + rng_below(r, PLACES);
    for (unsigned i = 0; i < inputs; i++)
        p += sprintf(p, "in s%u: Events[Int]\n", i);
    const unsigned all = inputs + 1 + rng_below(r, STREAMS - inputs);
    for (unsigned i = inputs; i < all; i++) {
        /* few forms, so that specifications have common streams */
        const char *form = forms[rng_below(r, sizeof forms / sizeof *forms)];
        p += sprintf(p, "def s%u: Events[Int] = ", i);
        const int a = (int)rng_below(r, rng_chance(r, 128) ? inputs : i);
        p += sprintf(p, form, a, (int)rng_below(r, i), (int)rng_below(r, 4), (int)rng_below(r, all));
        p += sprintf(p, "\n");
        if (i + 1 == all || rng_chance(r, 128))
            p += sprintf(p, rng_chance(r, 60) ? "out toString(s%1$u) as t%1$u\n" : "out s%1$u\n", i);
    }
    return (size_t)(p - text);
}

static size_t write_formulas(struct rng *r, char *text)
{
    char *p = text;
    p += sprintf(p, "define p := function_call p\ndefine q := function_call q\n");
    const unsigned count = 1 + rng_below(r, 3);
    for (unsigned i = 0; i < count; i++) {
        p += sprintf(p, "define m%u := monitor(", i);
        p += sprintf(p, formulas[rng_below(r, 4)], 1 + (int)rng_below(r, 2));
        p += sprintf(p, ", x%u := %s)\nout m%u\n", i, rng_chance(r, 128) ? "p" : "q", i);
    }
    return (size_t)(p - text);
}

/* Compiles another random specification. Tries again while the text is invalid (two streams that need each
 * other). */
static struct ct_monitor_spec *specification(struct trial *t, struct one *o)
{
    char *text = o->text;
    for (;;) {
        const size_t size =
            rng_chance(&t->rng, 80) ? write_formulas(&t->rng, text) : write_streams(&t->rng, text);
        const struct ct_monitor_options o = {.size = sizeof o, .time_unit = "ns", .changes_only = 1};
        struct ct_monitor_spec *spec;
        const int rc = ct_monitor_compile(t->ctx, "random", text, size, &o, &spec);
        if (!rc)
            return spec;
        ct_monitor_spec_free(spec);
    }
}

/* Binds the inputs to places. Two inputs may have the same one. */
static size_t bindings(struct rng *r, const struct ct_monitor_spec *spec, struct ct_verify_bind *binds)
{
    static const char *const places[] = {"exception:1", "exception:2", "exception:3"};
    const size_t count = ct_monitor_input_count(spec);
    const uint32_t shift = rng_below(r, 4) ? 0 : rng_below(r, PLACES);
    for (size_t i = 0; i < count; i++) {
        struct ct_monitor_stream in;
        ct_monitor_input(spec, i, &in);
        binds[i] = (struct ct_verify_bind){in.name, places[rng_chance(r, 20) ? 0 : (i + shift) % PLACES]};
    }
    return count;
}

/* ---- a trial ---- */

static void set_sources(const struct trial *t, struct ct_verifier *verifier)
{
    static const char *const cores[SOURCES] = {"a", "b", "c"};
    if (t->sources)
        assert_int_equal(ct_verifier_sources(verifier, cores, t->sources), CT_OK);
}

static void begin_alone(struct trial *t, struct one *o, const struct ct_verify_bind *binds, size_t count)
{
    assert_int_equal(ct_watches_new(t->ctx, NULL, &o->watches), CT_OK);
    assert_int_equal(ct_verifier_new(t->ctx, &t->options, o->watches, &o->verifier), CT_OK);
    set_sources(t, o->verifier);
    assert_int_equal(ct_verifier_add(o->verifier, o->spec, "alone", binds, count), CT_OK);
    assert_int_equal(ct_verifier_begin(o->verifier, take_alone, o), CT_OK);
}

/* Feeds events to the watchpoints at their places. */
static void feed(const struct ct_watches *watches, struct ct_verifier *verifier,
                 const struct ct_watch_event *events, size_t count)
{
    uint32_t all;
    struct ct_watch_event mine[EVENTS * 4];
    size_t n = 0;
    const struct ct_watchpoint *w = ct_watches_all(watches, &all);
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < all; k++) {
            const bool loss = events[i].kind == CT_WATCH_GAP && w[k].kind == CT_WATCH_GAP;
            const bool place = events[i].kind == CT_WATCH_EXCEPTION && w[k].kind == CT_WATCH_EXCEPTION &&
                               w[k].number == events[i].number;
            if (!loss && !place)
                continue;
            mine[n] = events[i];
            mine[n++].watch = k;
        }
    }
    ct_verifier_feed(verifier, mine, n);
}

/* Feeds events on an axis. `items` give the intervals of the events. */
static void feed_axis(const struct trial *t, const struct ct_watches *watches, struct ct_verifier *verifier,
                      const struct ct_verify_item *items, size_t count)
{
    uint32_t all;
    const struct ct_watchpoint *w = ct_watches_all(watches, &all);
    for (size_t i = 0; i < count; i++) {
        struct ct_verify_item item = items[i];
        item.event.watch = UINT32_MAX;
        for (uint32_t k = 0; k < all; k++)
            if (item.event.kind == w[k].kind && w[k].number == item.event.number)
                item.event.watch = k;
        assert_int_equal(ct_verify_due_take(verifier, &item), CT_OK);
    }
    ct_verify_due_run(verifier, t->cycle);
}

/* Puts events into intervals, of which most are points in time. */
static void random_items(struct trial *t, const struct ct_watch_event *events, struct ct_verify_item *items,
                         size_t count, unsigned doubts)
{
    for (size_t i = 0; i < count; i++) {
        struct ct_verify_item *x = &items[i];
        *x = (struct ct_verify_item){.event = events[i], .begin = events[i].cycle};
        x->event.source = (uint16_t)rng_below(&t->rng, (uint32_t)t->sources);
        x->end = x->begin + (rng_chance(&t->rng, doubts) ? rng_below(&t->rng, t->reach) : 0);
        uint64_t *last = &t->end[x->event.source];
        *last = x->end = x->end > *last ? x->end : *last;
        if (t->sleeps && x->event.kind == CT_WATCH_GAP && rng_chance(&t->rng, 170))
            x->end = UINT64_MAX;
    }
}

static size_t random_events(struct trial *t, struct ct_watch_event *events, bool clock, unsigned losses)
{
    const size_t count = rng_below(&t->rng, rng_chance(&t->rng, 20) ? EVENTS : 20);
    for (size_t i = 0; i < count; i++) {
        if (clock)
            t->cycle += rng_below(&t->rng, 4);
        events[i] = (struct ct_watch_event){.cycle = t->cycle,
                                            .kind = CT_WATCH_EXCEPTION,
                                            .value = rng_below(&t->rng, 2),
                                            .number = 1 + rng_below(&t->rng, PLACES)};
        if (rng_below(&t->rng, 1000) < losses)
            events[i].kind = CT_WATCH_GAP;
    }
    return count;
}

static void exchange(struct trial *t, size_t i)
{
    struct one *o = &t->ones[i];
    struct ct_verify_bind binds[8];
    struct ct_monitor_spec *before = o->spec;
    o->spec = specification(t, o);
    const size_t count = bindings(&t->rng, o->spec, binds);
    ct_verifier_exchange(t->verifier, (uint32_t)i, o->spec, "together", binds, count);
    ct_verifier_exchange(o->verifier, 0, o->spec, "alone", binds, count);
    ct_monitor_spec_free(before);
}

static void begin(struct trial *t, uint64_t seed, bool axis)
{
    *t = (struct trial){.ctx = ct_ctx_new(), .rng = {seed}};
    t->sources = axis ? 2 + rng_below(&t->rng, SOURCES - 1) : 0;
    t->limits = (struct ct_monitor_limits){.size = sizeof t->limits};
    if (rng_chance(&t->rng, 40))
        t->limits.budget = 40 + rng_below(&t->rng, 400);
    t->options = (struct ct_verify_options){
        .size = sizeof t->options, .history = rng_below(&t->rng, 4), .limits = &t->limits};
    if (rng_chance(&t->rng, 40))
        t->options.forget = 1 + rng_below(&t->rng, 50);
    assert_int_equal(ct_watches_new(t->ctx, NULL, &t->watches), CT_OK);
    assert_int_equal(ct_verifier_new(t->ctx, &t->options, t->watches, &t->verifier), CT_OK);
    set_sources(t, t->verifier);
    ct_verify_groups_tune(t->verifier, rng_below(&t->rng, 60), 1 + rng_below(&t->rng, 40));
    t->count = 2 + rng_below(&t->rng, SPECS - 1);
    for (size_t i = 0; i < t->count; i++) {
        struct one *o = &t->ones[i];
        struct ct_verify_bind binds[8];
        o->together.text = calloc(1, TEXT);
        o->alone.text = calloc(1, TEXT);
        o->spec = specification(t, o);
        const size_t count = bindings(&t->rng, o->spec, binds);
        assert_int_equal(ct_verifier_add(t->verifier, o->spec, "together", binds, count), CT_OK);
        begin_alone(t, o, binds, count);
    }
    assert_int_equal(ct_verifier_begin(t->verifier, take_together, t), CT_OK);
}

static void check(const struct trial *t, uint64_t seed)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct one *o = &t->ones[i];
        const bool fell = ct_verifier_failure(t->verifier, (uint32_t)i) != NULL;
        const bool failed = ct_verifier_failure(o->verifier, 0) != NULL;
        /* one that was added later shares with others what these had missed before */
        const bool same =
            t->exchanged || fell ||
            ct_verify_is_unseen(t->verifier->specs[i]) == ct_verify_is_unseen(o->verifier->specs[0]);
        if (fell == failed && same && !strcmp(o->together.text, o->alone.text))
            continue;
        const char *x = o->together.text;
        const char *y = o->alone.text;
        size_t line = 0;
        for (size_t k = 0; x[k] && x[k] == y[k]; k++)
            line = x[k] == '\n' ? k + 1 : line;
        print_error("%s", o->text);
        print_error("seed %llu, specification %zu\ntogether (%s):\n%.300s\nalone (%s):\n%.300s\n",
                    (unsigned long long)seed, i, fell ? "failed" : "ran", x + line, failed ? "failed" : "ran",
                    y + line);
        fail();
    }
}

static void end(struct trial *t)
{
    ct_verifier_free(t->verifier);
    ct_watches_free(t->watches);
    for (size_t i = 0; i < t->count; i++) {
        struct one *o = &t->ones[i];
        ct_verifier_free(o->verifier);
        ct_watches_free(o->watches);
        ct_monitor_spec_free(o->spec);
        free(o->together.text);
        free(o->alone.text);
    }
    ct_ctx_free(t->ctx);
}

/* Feeds the same random events to all specifications. */
static void give(struct trial *t, bool clock, unsigned losses, unsigned doubts)
{
    static struct ct_watch_event events[EVENTS];
    static struct ct_verify_item items[EVENTS];
    const size_t count = random_events(t, events, clock, losses);
    if (t->sources)
        random_items(t, events, items, count, doubts);
    for (size_t i = 0; i <= t->count; i++) {
        const struct ct_watches *watches = i < t->count ? t->ones[i].watches : t->watches;
        struct ct_verifier *verifier = i < t->count ? t->ones[i].verifier : t->verifier;
        if (t->sources)
            feed_axis(t, watches, verifier, items, count);
        else
            feed(watches, verifier, events, count);
    }
}

static void trial(uint64_t seed, bool axis)
{
    static struct trial t;
    begin(&t, seed, axis);
    const bool clock = rng_chance(&t.rng, 180);
    const unsigned losses = rng_chance(&t.rng, 128) ? 0 : rng_below(&t.rng, 20);
    const unsigned doubts = rng_below(&t.rng, 12);
    const unsigned exchanges = rng_chance(&t.rng, 128) ? 0 : 60;
    t.sleeps = rng_chance(&t.rng, 128);
    t.reach = rng_chance(&t.rng, 200) ? 6 : 400; /* 400: more orders than are followed */
    for (int batch = 0; batch < 20; batch++) {
        give(&t, clock, losses, doubts);
        if (!rng_chance(&t.rng, exchanges))
            continue;
        exchange(&t, rng_below(&t.rng, (uint32_t)t.count));
        t.exchanged = true;
    }
    ct_verifier_finish(t.verifier);
    for (size_t i = 0; i < t.count; i++)
        ct_verifier_finish(t.ones[i].verifier);
    check(&t, seed);
    end(&t);
}

TEST(together_as_alone)
{
    const uint64_t count = test_count(test_part(300), 100000);
    const uint64_t first = test_number("CT_SEED", 1);
    for (uint64_t i = 0; i < count; i++)
        trial(first + i, false);
}

TEST(together_as_alone_on_an_axis)
{
    const uint64_t count = test_count(test_part(300), 100000);
    const uint64_t first = test_number("CT_SEED", 1);
    for (uint64_t i = 0; i < count; i++)
        trial(first + i, true);
}

/* Feeds events of the first source, each at another time. */
static void give_more(struct trial *t)
{
    struct ct_verify_item items[EVENTS];
    for (size_t i = 0; i < EVENTS; i++, t->cycle += 3)
        items[i] = (struct ct_verify_item){
            .event = {.cycle = t->cycle, .kind = CT_WATCH_EXCEPTION, .number = 1 + (uint32_t)(i % 2)},
            .begin = t->cycle,
            .end = t->cycle};
    feed_axis(t, t->watches, t->verifier, items, EVENTS);
}

/* Checks that the uncertainty from a sleeping core is followed once for all specifications, also for one that
 * is added meanwhile. */
TEST(one_run_beside_a_core_that_sleeps)
{
    static const struct ct_verify_bind binds[] = {{"p", "exception:1"}, {"q", "exception:2"}};
    static struct trial t;
    struct ct_monitor_spec *specs[SPECS];
    begin(&t, 1, true);
    for (size_t i = 0; i < t.count; i++)
        assert_int_equal(ct_verifier_remove(t.verifier, (uint32_t)i), CT_OK);
    for (size_t i = 0; i < t.count; i++) {
        char *text = t.ones[i].text;
        const size_t size = write_formulas(&t.rng, text);
        assert_int_equal(ct_monitor_compile(t.ctx, "formulas", text, size, NULL, &specs[i]), CT_OK);
        assert_int_equal(ct_verifier_add(t.verifier, specs[i], "together", binds, 2), CT_OK);
    }
    assert_int_equal(ct_verifier_begin(t.verifier, take_together, &t), CT_OK);
    assert_int_equal(t.verifier->fed_count, 1);
    const struct ct_verify_item silence = {.event = {.kind = CT_WATCH_GAP, .source = 1}, .end = UINT64_MAX};
    feed_axis(&t, t.watches, t.verifier, &silence, 1);
    give_more(&t);
    assert_int_equal(t.verifier->fed_count, 1);
    assert_int_equal(ct_verifier_exchange(t.verifier, 0, specs[1], "together", binds, 2), CT_OK);
    assert_int_equal(t.verifier->fed_count, 2);
    for (int i = 0; i < 20; i++)
        give_more(&t);
    assert_int_equal(t.verifier->fed_count, 1);
    const size_t count = t.count;
    end(&t);
    for (size_t i = 0; i < count; i++)
        ct_monitor_spec_free(specs[i]);
}
