/* Twins. Each input's own program against the one for any inputs; operators that are one node against their
 * definitions from the core; one feed against any cut of the input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/run.h"

struct record {
    char *text;
    size_t size;
    struct ct_monitor *monitor;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct record *r = user;
    while (count) {
        char line[65536];
        size_t done, n = ct_monitor_print(r->monitor, results, count, line, sizeof line, &done);
        assert_true(done > 0);
        r->text = realloc(r->text, r->size + n + 1);
        memcpy(r->text + r->size, line, n);
        r->size += n;
        r->text[r->size] = 0;
        results += done;
        count -= done;
    }
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 8;
}

/* Events of random inputs; several at one time now and then. */
static size_t make_events(const struct ct_monitor_spec *spec, uint32_t seed, struct ct_monitor_event *events,
                          size_t most)
{
    uint32_t inputs = (uint32_t)ct_monitor_input_count(spec);
    uint64_t time = next(&seed) % 3;
    size_t n = 0;
    while (n + inputs <= most) {
        uint32_t which = next(&seed) % 4 ? 1u << next(&seed) % inputs : next(&seed) % (1u << inputs);
        for (uint32_t i = 0; i < inputs; i++) {
            struct ct_monitor_stream s;
            if (!(which >> i & 1))
                continue;
            ct_monitor_input(spec, i, &s);
            int64_t v = (int64_t)(next(&seed) % 7) - 2;
            events[n] = (struct ct_monitor_event){
                .time = time, .input = i, .v.i = s.type == CT_MONITOR_BOOL ? v > 0 : v};
            if (s.type == CT_MONITOR_FLOAT)
                events[n].v.f = (double)v / 2;
            n++;
        }
        time += 1 + next(&seed) % 6;
    }
    return n;
}

static struct ct_monitor_spec *compile(const char *text)
{
    struct ct_monitor_options o = {.size = sizeof o, .time_unit = "ns"};
    struct ct_monitor_spec *spec;
    struct ct_ctx *ctx = ct_ctx_new();
    if (ct_monitor_compile(ctx, "twin", text, strlen(text), &o, &spec))
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    ct_ctx_free(ctx);
    return spec;
}

static struct record run(const struct ct_monitor_spec *spec, const struct ct_monitor_event *events, size_t n,
                         size_t piece)
{
    struct record r = {.text = calloc(1, 1)};
    assert_int_equal(ct_monitor_new(NULL, spec, NULL, take, &r, &r.monitor), CT_OK);
    for (size_t i = 0; i < n; i += piece)
        assert_int_equal(ct_monitor_feed(r.monitor, events + i, n - i < piece ? n - i : piece), CT_OK);
    assert_int_equal(ct_monitor_finish(r.monitor), CT_OK);
    ct_monitor_free(r.monitor);
    return r;
}

static const char *const SPECS[] = {
    "in x: Events[Int]\nin y: Events[Int]\nin b: Events[Bool]\nin u: Events[Unit]\n"
    "out x + y as a\nout count(x)\nout average(y)\nout prev(x)\nout filter(x, b) as f\nout on(u, x) as "
    "o\nout merge(x, y) as m\n"
    "out if b then x else y as i\nout pure(y) as p\nout last(x, u) as l\nout last(prev(x), y) as lp\nout "
    "sum(merge(x, y)) as s\n",
    "in x: Events[Int]\nin u: Events[Unit]\nin r: Events[Unit]\n"
    "out resetCount(u, r) as c\nout noEvent(u, r) as n\nout sample(x, 4) as s\nout bursts(u, 3, 2, 2) as b\n"
    "out burstsSince(u, 3, 2, 2, r) as bs\nout isFirst(x) as i\nout defaultFrom(x, const(7, u)) as d\nout "
    "period(3) as p\n"
    "out delay(const(4, u), r) as de\nout delay(const(2, x), merge(u, r)) as df\nout last(x, period(5)) as "
    "lp\nout runtime(u, r) as rt\n",
    "in x: Events[Int]\nin y: Events[Int]\n"
    "def fib(n: Int): Int = if n <= 1 then n else fib(n - 1) + fib(n - 2)\n"
    "out slift1(x, (a: Int) => fib(a + 3)) as f\nout Set.collect(x) as s\nout Map.collectCount(y) as m\n"
    "out fold(x, List.empty[Int], (l: List[Int], e: Int) => if List.size(l) > 4 then "
    "List.tail(List.append(l, e)) else List.append(l, e)) as l\n"
    "out \"$x and $y\" as t\nout lift(x, y, (a: Option[Int], b: Option[Int]) => if isNone(a) then b else if "
    "isNone(b) then None[Int] else Some(getSome(a) * getSome(b))) as li\n"
    "def c: Events[Int] = default(last(c, merge(x, y)) * 3 % 101 + 1, 0)\nout c\ndef pair = slift(x, y, (a: "
    "Int, b: Int) => (a, Some(b)))\nout pair\nout pair == prev(pair) as e\nout pair._2 as q\n",
    "in p: Events[Unit]\nin q: Events[Unit]\nin s: Signal<Int>\nin e: Events[Int]\n"
    "define ip := inPast(p, 5)\ndefine d := delayEventByTime(e, 4)\ndefine w := within(-6, -2, q)\ndefine n "
    ":= eventCount(p, q)\n"
    "define m := monitor(always (p implies next (not p until q)))\ndefine k := monitor(always (ip or s > 1 "
    "implies eventually q), clock := p)\n"
    "define t := monitor(p until (q and not ip), clock := *)\ndefine v := p implies not inPast(q, 3)\ndefine "
    "a := sma(e, 3)\nout *\n",
};

static void programs_of_inputs(void **state)
{
    (void)state;
    struct ct_monitor_event events[400];
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++) {
        struct ct_monitor_spec *own = compile(SPECS[k]), *all = compile(SPECS[k]);
        for (size_t i = 0; i < all->program.ninputs; i++)
            all->program.inputs[i].code = all->program.code_all;
        for (size_t i = 0; i < all->program.ntimers; i++)
            all->program.timers[i].code = all->program.code_all;
        for (uint32_t seed = 0; seed < 200; seed++) {
            size_t n = make_events(own, seed, events, seed % 2 ? 400 : 12);
            struct record a = run(own, events, n, 400), b = run(all, events, n, 400);
            assert_string_equal(a.text, b.text);
            free(a.text);
            free(b.text);
        }
        ct_monitor_spec_free(own);
        ct_monitor_spec_free(all);
    }
}

static void cuts_change_nothing(void **state)
{
    (void)state;
    struct ct_monitor_event events[100];
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++) {
        struct ct_monitor_spec *spec = compile(SPECS[k]);
        size_t n = make_events(spec, (uint32_t)k, events, 100);
        struct record whole = run(spec, events, n, 100);
        for (size_t piece = 1; piece < 10; piece++) {
            struct record parts = run(spec, events, n, piece);
            assert_string_equal(whole.text, parts.text);
            free(parts.text);
        }
        free(whole.text);
        ct_monitor_spec_free(spec);
    }
}

/* name(arguments) of the library, and the same from default, last, lift, time and nothing else. */
static const struct {
    const char *library, *core;
} DEFINITIONS[] = {
    {"out merge(x, y) as o",
     "out lift(x, y, (a: Option[Int], b: Option[Int]) => if isSome(a) then a else b) as o"},
    {"out filter(x, b) as o",
     "def last1: Events[Bool] = lift(b, last(b, x), (n: Option[Bool], o: Option[Bool]) => "
     "if isSome(n) then n else o)\nout lift(x, last1, (a: Option[Int], c: Option[Bool]) => if isSome(a) && "
     "isSome(c) && "
     "getSome(c) then a else None[Int]) as o"},
    {"out on(u, x) as o", "out lift3(u, x, last(x, u), (t: Option[Unit], n: Option[Int], o: Option[Int]) => "
                          "if isNone(t) then None[Int] else "
                          "if isSome(n) then n else o) as o"},
    {"out pure(x) as o", "out lift(x, last(x, x), (n: Option[Int], o: Option[Int]) => if isSome(o) && "
                         "getSome(o) == getSome(n) then None[Int] "
                         "else n) as o"},
    {"out fold(x, 5, (a: Int, e: Int) => a * 2 - e) as o",
     "def f: Events[Int] = default(lift(default(last(f, x), 5), x, (a: Option[Int], e: Option[Int]) => if "
     "isNone(e) then "
     "None[Int] else Some(getSomeOrElse(a, 5) * 2 - getSome(e))), 5)\nout f as o"},
    {"out reduce(x, Operators.sub) as o",
     "def r: Events[Int] = lift(x, last(r, x), (e: Option[Int], a: Option[Int]) => if isNone(a) then e else "
     "Some(getSome(a) - getSome(e)))\nout r as o"},
    {"out x * y as o", "def any = lift(x, y, (a: Option[Int], c: Option[Int]) => Some(()))\ndef xs = lift(x, "
                       "last(x, any), (n: Option[Int], o: "
                       "Option[Int]) => if isSome(n) then n else o)\ndef ys = lift(y, last(y, any), (n: "
                       "Option[Int], o: Option[Int]) => if "
                       "isSome(n) then n else o)\nout lift(xs, ys, (a: Option[Int], c: Option[Int]) => if "
                       "isSome(a) && isSome(c) then "
                       "Some(getSome(a) * getSome(c)) else None[Int]) as o"},
    {"out x - 3 as o", "out lift1(x, (a: Option[Int]) => Some(getSome(a) - 3)) as o"},
    {"out period(4) as o", "def p: Events[Int] = default(const(4, delay(p, ())), 4)\nout const((), p) as o"},
};

static void nodes_and_their_definitions(void **state)
{
    (void)state;
    static const char inputs[] =
        "in x: Events[Int]\nin y: Events[Int]\nin b: Events[Bool]\nin u: Events[Unit]\n";
    struct ct_monitor_event events[200];
    for (size_t k = 0; k < sizeof DEFINITIONS / sizeof *DEFINITIONS; k++) {
        char library[1000], core[1000];
        snprintf(library, sizeof library, "%s%s\n", inputs, DEFINITIONS[k].library);
        snprintf(core, sizeof core, "%s%s\n", inputs, DEFINITIONS[k].core);
        struct ct_monitor_spec *a = compile(library), *b = compile(core);
        for (uint32_t seed = 0; seed < 100; seed++) {
            size_t n = make_events(a, seed, events, 200);
            struct record x = run(a, events, n, 200), y = run(b, events, n, 200);
            assert_string_equal(x.text, y.text);
            free(x.text);
            free(y.text);
        }
        ct_monitor_spec_free(a);
        ct_monitor_spec_free(b);
    }
}

/* Every operation with instructions of its own against op_eval, which folds constants: x op y for values that
 * come in, and the same values written into the specification. */
static void instructions_and_folding(void **state)
{
    (void)state;
    static const char *const ops[] = {"+",  "-",  "*", "/", "%",  "&",  "|",  "^",
                                      "<<", ">>", "<", ">", "<=", ">=", "==", "!="};
    static const int64_t values[] = {0, 1, -1, 2, 7, -7, 63, 64, -64, INT64_MAX, INT64_MIN, INT64_C(1) << 32};
    enum {
        N = sizeof values / sizeof *values
    };
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        for (size_t i = 0; i < N * N; i++) {
            char text[400];
            int64_t x = values[i / N], y = values[i % N];
            snprintf(text, sizeof text,
                     "in x: Events[Int]\nin y: Events[Int]\ndef folded = Some(%lld %s %lld)\n"
                     "def run = slift(x, y, (a: Int, b: Int) => Some(a %s b))\n"
                     "out on(run, time(run)) as t\nout run == folded as same\n",
                     (long long)x, ops[k], (long long)y, ops[k]);
            struct ct_monitor_spec *spec = compile(text);
            const struct ct_monitor_event events[2] = {{.time = 1, .input = 0, .v.i = x},
                                                       {.time = 1, .input = 1, .v.i = y}};
            struct record r = run(spec, events, 2, 2);
            if (strcmp(r.text, "1: t = 1\n1: same = true\n") != 0)
                fail_msg("%lld %s %lld: %s", (long long)x, ops[k], (long long)y, r.text);
            free(r.text);
            ct_monitor_spec_free(spec);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_of_inputs),
        cmocka_unit_test(cuts_change_nothing),
        cmocka_unit_test(nodes_and_their_definitions),
        cmocka_unit_test(instructions_and_folding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
