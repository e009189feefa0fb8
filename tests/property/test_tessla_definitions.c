/* SPDX-License-Identifier: Apache-2.0 */
/* Compares random specifications on random traces with an interpreter that consists only of the definitions:
 * a stream is "event now" and "value before now", and all streams are evaluated in order at every instant
 * (docs/tessla-language.md A.1 to A.3). */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "support/part.h"
#include "support/unit.h"

enum {
    INPUTS = 3,
    STREAMS = 16,
    EVENTS = 60,
    ROUNDS = 1500
};

enum op {
    DEFAULT,
    DEFAULT_FROM,
    TIME,
    LAST, /* its first operand may be any stream, even itself or a later one */
    MERGE,
    FILTER,
    ON,
    ADD,
    LIFT,
    LIFT3,
    PURE,
    FOLD,
    REDUCE,
    CONST,
    DELAY,
    COUNT,
    CHOOSE,
    CONSTANT,
    OPS,
};

struct stream {
    enum op op; /* unused for inputs */
    int a, b, c, k;
    bool now, before; /* has an event at this instant; had any before it */
    int64_t value, old;
    int64_t timer; /* time, or -1 when it does not run */
};

struct oracle {
    struct stream s[STREAMS];
    bool begun;
    char *text;
    size_t size;
};

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

static void make(struct oracle *o, uint32_t *seed)
{
    memset(o, 0, sizeof *o);
    for (int i = INPUTS; i < STREAMS; i++) {
        struct stream *s = &o->s[i];
        s->op = (enum op)(next(seed) % OPS);
        s->a = (int)(next(seed) % (uint32_t)(s->op == LAST ? STREAMS : i));
        s->b = (int)(next(seed) % (uint32_t)i);
        s->c = (int)(next(seed) % (uint32_t)i);
        s->k = (int)(next(seed) % 5);
        s->timer = -1;
    }
}

static void definition(const struct stream *s, char *out)
{
    static const char *const forms[OPS] = {
        [DEFAULT] = "default(s%1$d, %4$d)",
        [DEFAULT_FROM] = "defaultFrom(s%1$d, s%2$d)",
        [TIME] = "time(s%1$d)",
        [LAST] = "last(s%1$d, s%2$d)",
        [MERGE] = "merge(s%1$d, s%2$d)",
        [FILTER] = "filter(s%1$d, s%2$d > %4$d)",
        [ON] = "on(s%1$d, s%2$d)",
        [ADD] = "(s%1$d + s%2$d) %% 101",
        [LIFT] = "lift(s%1$d, s%2$d, (x: Option[Int], y: Option[Int]) => if isNone(x) then None[Int] else "
                 "Some((getSomeOrElse(y, %4$d) - getSome(x)) %% 101))",
        [LIFT3] = "lift3(s%1$d, s%2$d, s%3$d, (x: Option[Int], y: Option[Int], z: Option[Int]) => if "
                  "isSome(x) && isSome(y) "
                  "then z else if isSome(z) || !isNone(y) then Some(%4$d) else x)",
        [PURE] = "pure(s%1$d)",
        [FOLD] = "fold(s%1$d, %4$d, (r: Int, e: Int) => (r * 3 + e) %% 101)",
        [REDUCE] = "reduce(s%1$d, (r: Int, e: Int) => if e > %4$d then r else (r - e) %% 101)",
        [CONST] = "const(%4$d, s%1$d)",
        [DELAY] = "const(%4$d, delay(const(%4$d + 1, s%1$d), s%2$d))",
        [COUNT] = "count(s%1$d)",
        [CHOOSE] = "if s%1$d > %4$d then s%2$d else s%3$d",
        [CONSTANT] = "default(nil[Int], %4$d)",
    };
    sprintf(out, forms[s->op], s->a, s->b, s->c, s->k);
}

/* Returns whether a stream has a value at this instant, from now or before, and stores it. */
static bool held(const struct stream *s, int64_t *value)
{
    *value = s->now ? s->value : s->old;
    return s->now || s->before;
}

static void set(struct stream *s, bool now, int64_t value)
{
    s->now = now;
    s->value = value;
}

static void evaluate(struct oracle *o, struct stream *s, int64_t t)
{
    const struct stream *a = &o->s[s->a], *b = &o->s[s->b], *c = &o->s[s->c];
    int64_t x, y, z;
    bool hx = held(a, &x), hy = held(b, &y), hz = held(c, &z);
    switch (s->op) {
    case DEFAULT:
        set(s, a->now || t == 0, a->now ? a->value : s->k);
        break;
    case DEFAULT_FROM:
        set(s, a->now || (b->now && !a->before && !b->before), a->now ? a->value : b->value);
        break;
    case TIME:
        set(s, a->now, t);
        break;
    case LAST:
        set(s, b->now && a->before, a->old);
        break;
    case MERGE:
        set(s, a->now || b->now, a->now ? a->value : b->value);
        break;
    case FILTER:
        set(s, a->now && hy && y > s->k, a->value);
        break;
    case ON:
        set(s, a->now && hy, y);
        break;
    case ADD:
        set(s, (a->now || b->now) && hx && hy, (x + y) % 101);
        break;
    case LIFT:
        set(s, a->now, ((b->now ? b->value : s->k) - a->value) % 101);
        break;
    case LIFT3:
        if (a->now && b->now)
            set(s, c->now, c->value);
        else if (c->now || b->now)
            set(s, true, s->k);
        else
            set(s, a->now, a->value);
        break;
    case PURE:
        set(s, a->now && !(a->before && a->old == a->value), a->value);
        break;
    case FOLD:
        y = s->before ? s->old : s->k;
        set(s, a->now || t == 0, a->now ? (y * 3 + a->value) % 101 : s->k);
        break;
    case REDUCE:
        set(s, a->now, !s->before ? a->value : a->value > s->k ? s->old : (s->old - a->value) % 101);
        break;
    case CONST:
        set(s, a->now, s->k);
        break;
    case DELAY:
        set(s, s->timer == t, s->k);
        break;
    case COUNT:
        set(s, a->now || t == 0, (s->before ? s->old : 0) + a->now);
        break;
    case CHOOSE:
        set(s, (a->now || b->now || c->now) && hx && hy && hz, x > s->k ? y : z);
        break;
    default:
        set(s, t == 0, s->k);
        break;
    }
}

static void instant(struct oracle *o, int64_t t)
{
    for (int i = INPUTS; i < STREAMS; i++)
        evaluate(o, &o->s[i], t);
    for (int i = INPUTS; i < STREAMS; i++) {
        struct stream *s = &o->s[i];
        if (s->op == DELAY && (o->s[s->b].now || s->timer == t))
            s->timer = o->s[s->a].now ? t + s->k + 1 : -1;
        if (s->now)
            o->size += (size_t)sprintf(o->text + o->size, "%lld: s%d = %lld\n", (long long)t, i,
                                       (long long)s->value);
    }
    for (int i = 0; i < STREAMS; i++) {
        struct stream *s = &o->s[i];
        if (s->now)
            s->old = s->value;
        s->before |= s->now;
        s->now = false;
    }
}

/* Evaluates the instants before `until`: 0, and those of timers. */
static void catch_up(struct oracle *o, int64_t until)
{
    if (!o->begun && until > 0)
        instant(o, 0);
    o->begun = true;
    for (;;) {
        int64_t first = until;
        for (int i = INPUTS; i < STREAMS; i++)
            if (o->s[i].op == DELAY && o->s[i].timer >= 0 && o->s[i].timer < first)
                first = o->s[i].timer;
        if (first == until)
            return;
        instant(o, first);
    }
}

static void interpret(struct oracle *o, const struct ct_monitor_event *events, size_t n)
{
    o->text = malloc(1 << 22);
    o->text[0] = 0;
    for (size_t i = 0; i < n;) {
        int64_t t = (int64_t)events[i].time;
        catch_up(o, t);
        for (; i < n && (int64_t)events[i].time == t; i++)
            set(&o->s[events[i].input], true, events[i].v.i);
        instant(o, t);
    }
}

struct record {
    char *text;
    size_t size;
    struct ct_monitor *monitor;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct record *r = user;
    size_t done;
    r->size += ct_monitor_print(r->monitor, results, count, r->text + r->size, (1 << 22) - r->size, &done);
    assert_int_equal(done, count);
    r->text[r->size] = 0;
}

static size_t make_events(uint32_t *seed, struct ct_monitor_event *events)
{
    uint64_t time = next(seed) % 3;
    size_t n = 0;
    while (n + INPUTS <= EVENTS) {
        uint32_t which = 1 + next(seed) % 7;
        if (next(seed) % 3)
            which = 1u << next(seed) % INPUTS;
        for (uint32_t i = 0; i < INPUTS; i++)
            if (which >> i & 1)
                events[n++] =
                    (struct ct_monitor_event){.time = time, .input = i, .v.i = (int64_t)(next(seed) % 7) - 1};
        time += 1 + next(seed) % 5;
    }
    return n;
}

static void one_round(uint32_t seed, enum ct_monitor_engine engine)
{
    const struct ct_monitor_options options = {.size = sizeof options, .engine = (uint8_t)engine};
    struct ct_monitor_event events[EVENTS];
    struct oracle o;
    struct ct_monitor_spec *spec;
    struct record r = {.text = malloc(1 << 22)};
    struct ct_ctx *ctx = ct_ctx_new();
    char text[8000], *p = text;
    uint32_t start = seed;
    make(&o, &seed);
    for (int i = 0; i < INPUTS; i++)
        p += sprintf(p, "in s%d: Events[Int]\n", i);
    for (int i = INPUTS; i < STREAMS; i++) {
        char body[600];
        definition(&o.s[i], body);
        p += sprintf(p, "def s%d: Events[Int] = %s\nout s%d\n", i, body, i);
    }
    if (ct_monitor_compile(ctx, "random", text, strlen(text), &options, &spec))
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    size_t n = make_events(&seed, events);
    interpret(&o, events, n);
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, take, &r, &r.monitor), CT_OK);
    assert_int_equal(ct_monitor_feed(r.monitor, events, n), CT_OK);
    assert_int_equal(ct_monitor_finish(r.monitor), CT_OK);
    if (strcmp(r.text, o.text) != 0) {
        size_t at = 0;
        while (r.text[at] == o.text[at])
            at++;
        while (at && r.text[at - 1] != '\n')
            at--;
        fputs(text, stderr);
        fail_msg("seed %u: got %.80s, by definition %.80s", start, r.text + at, o.text + at);
    }
    ct_monitor_free(r.monitor);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
    free(r.text);
    free(o.text);
}

TEST(random_specifications)
{
    const uint32_t rounds = getenv("CT_LONG") ? 40 * ROUNDS : (uint32_t)test_part(ROUNDS);
    for (uint32_t i = 0; i < rounds; i++)
        one_round(i * 7919, i % 300 ? CT_MONITOR_BYTECODE : CT_MONITOR_NATIVE);
}
