/* SPDX-License-Identifier: Apache-2.0 */
/* Compares twins: the program of each input with the one for any inputs; operators that are one node with
 * their definitions from the core; one call of feed with any cut of the input. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/run.h"
#include "support/part.h"
#include "support/unit.h"

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

/* Makes events of random inputs. One in `alone` instants may have several. Returns how many there are. */
static size_t make_events_alone(const struct ct_monitor_spec *spec, uint32_t seed,
                                struct ct_monitor_event *events, size_t most, uint32_t alone)
{
    uint32_t inputs = (uint32_t)ct_monitor_input_count(spec);
    uint64_t time = next(&seed) % 3;
    size_t n = 0;
    while (n + inputs <= most) {
        uint32_t which = next(&seed) % alone ? 1u << next(&seed) % inputs : next(&seed) % (1u << inputs);
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

/* Makes events of random inputs. Some instants have several. Returns how many there are. */
static size_t make_events(const struct ct_monitor_spec *spec, uint32_t seed, struct ct_monitor_event *events,
                          size_t most)
{
    return make_events_alone(spec, seed, events, most, 4);
}

static struct ct_monitor_spec *compile_for(const char *text, enum ct_monitor_engine engine)
{
    struct ct_monitor_options o = {.size = sizeof o, .engine = (uint8_t)engine, .time_unit = "ns"};
    struct ct_monitor_spec *spec;
    struct ct_ctx *ctx = ct_ctx_new();
    if (ct_monitor_compile(ctx, "twin", text, strlen(text), &o, &spec))
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    ct_ctx_free(ctx);
    return spec;
}

static struct ct_monitor_spec *compile(const char *text)
{
    return compile_for(text, CT_MONITOR_BYTECODE);
}

/* Runs a specification and returns its results. An error that ends the run is the last line. */
static struct record run_to_error(const struct ct_monitor_spec *spec, const struct ct_monitor_limits *limits,
                                  const struct ct_monitor_event *events, size_t n, size_t piece)
{
    struct record r = {.text = calloc(1, 1)};
    struct ct_ctx *ctx = ct_ctx_new();
    int status = CT_OK;
    assert_int_equal(ct_monitor_new(ctx, spec, limits, take, &r, &r.monitor), CT_OK);
    for (size_t i = 0; i < n && !status; i += piece)
        status = ct_monitor_feed(r.monitor, events + i, n - i < piece ? n - i : piece);
    if (!status)
        status = ct_monitor_finish(r.monitor);
    if (status) {
        char line[300];
        int size = snprintf(line, sizeof line, "%d %s\n", status, ct_ctx_error(ctx));
        r.text = realloc(r.text, r.size + (size_t)size + 1);
        memcpy(r.text + r.size, line, (size_t)size + 1);
    }
    ct_monitor_free(r.monitor);
    ct_ctx_free(ctx);
    return r;
}

static struct record run(const struct ct_monitor_spec *spec, const struct ct_monitor_event *events, size_t n,
                         size_t piece)
{
    struct record r = run_to_error(spec, NULL, events, n, piece);
    const char *last = strrchr(r.text, ' ');
    assert_true(!last || r.text[0] != '-');
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
    "define pa := monitor(always (p implies occurringinpast[>=2] q) accepton p and ip)\n"
    "define ti := monitor(always (p implies eventually timed[<7] q) and eventually timed[>=20] s > 1)\n"
    "define tp := monitor(always (q implies not (p untilinpast timed[>=4] q)) or never timed[<30] e)\n"
    "define sc := monitor(always (p implies (holding[<=2] q upto incl opt p)), clock := *)\n"
    "define t := monitor(p until (q and not ip), clock := *)\ndefine v := p implies not inPast(q, 3)\ndefine "
    "a := sma(e, 3)\nout *\n",
};

static void need_machine_code(void)
{
    struct ct_monitor_spec *probe = compile_for(SPECS[0], CT_MONITOR_NATIVE);
    bool there = ct_monitor_engine_of(probe) == CT_MONITOR_NATIVE;
    ct_monitor_spec_free(probe);
    if (!there)
        tap_skip("no machine code: libgccjit or its header is missing (Debian: libgccjit-12-dev)");
}

/* Checks that without the compiler library a run uses bytecode and reports why. In another process, because
 * the library is looked up only once; and before the tests that look it up in this one. */
TEST(bytecode_without_the_library)
{
    const pid_t child = fork();
    if (child == 0) {
        setenv("CORETAP_GCCJIT", "/nowhere/libgccjit.so", 1);
        struct ct_monitor_spec *spec = compile_for(SPECS[0], CT_MONITOR_NATIVE);
        _exit(ct_monitor_engine_of(spec) == CT_MONITOR_BYTECODE ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    need_machine_code(); /* else the test checks nothing */
}

TEST(programs_of_inputs)
{
    struct ct_monitor_event events[400];
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++) {
        struct ct_monitor_spec *own = compile(SPECS[k]), *all = compile(SPECS[k]);
        for (size_t i = 0; i < all->program.ninputs; i++)
            all->program.inputs[i].code = all->program.code_all;
        for (size_t i = 0; i < all->program.ntimers; i++)
            all->program.timers[i].code = all->program.code_all;
        for (uint32_t seed = 0; seed < test_count(test_part(50), 200); seed++) {
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

TEST(cuts_change_nothing)
{
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

/* name(arguments) of the library, and the same from only default, last, lift and time. */
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

TEST(nodes_and_their_definitions)
{
    static const char inputs[] =
        "in x: Events[Int]\nin y: Events[Int]\nin b: Events[Bool]\nin u: Events[Unit]\n";
    struct ct_monitor_event events[200];
    for (size_t k = 0; k < sizeof DEFINITIONS / sizeof *DEFINITIONS; k++) {
        char library[1000], core[1000];
        snprintf(library, sizeof library, "%s%s\n", inputs, DEFINITIONS[k].library);
        snprintf(core, sizeof core, "%s%s\n", inputs, DEFINITIONS[k].core);
        struct ct_monitor_spec *a = compile(library), *b = compile(core);
        for (uint32_t seed = 0; seed < test_count(test_part(25), 100); seed++) {
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

/* Compares every operation that has its own instructions with ct_mon_op_eval, which folds constants: x op y
 * for values from events, and the same values as constants in the specification. */
TEST(instructions_and_folding)
{
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

/* What SPECS does not have: operations on all types of values; errors that are held, needed and skipped;
 * values near the limits of 64 bits; endless recursion; delays that are not positive. */
static const char *const HARD[] = {
    "in x: Events[Int]\nin y: Events[Int]\nin f: Events[Float]\nin b: Events[Bool]\n"
    "out x - y as s\nout x * y as p\nout x & y as an\nout x | y as o\nout x ^ y as xo\nout x << 3 as sl\n"
    "out x >> 1 as sr\nout ~x as inv\nout -x as neg\nout !b as no\nout x < y && b as lt\n"
    "out x > y || b as gt\nout x <= y as le\nout x >= y as ge\nout x == y as eq\nout x != y as ne\n"
    "out f +. f *. 0.5 -. 1.5 /. f as fl\nout f <. 0.5 as fa\nout f >. 0.5 as fb\nout f <=. 0.5 as fc\n"
    "out f >=. 0.5 as fd\nout f == f as fe\nout pure(f) as pf\nout -.f as fn\n"
    "def o2 = slift(x, y, (a: Int, c: Int) => if a > c then Some(Some(a)) else if a == c then "
    "Some(None[Int]) else None[Option[Int]])\nout o2\nout pure(o2) as po\n"
    "out slift1(o2, (v: Option[Option[Int]]) => if isSome(v) then isNone(getSome(v)) else false) as q\n",
    "in x: Events[Int]\nin y: Events[Int]\ndef d = x / y\ndef r = x % y\nout const(1, d) as c\n"
    "out count(r) as n\nout time(last(d, x)) as t\n"
    "out slift(x, y, (a: Int, c: Int) => if c == 0 then 0 else a / c + a % c) as safe\n"
    "out isFirst(d) as i\nout default(filter(d, y > 0), 7) as f\n"
    "out slift1(d, (v: Int) => isSome(Some(v))) as w\n",
    "in x: Events[Int]\nin y: Events[Int]\nout x / (y + 2) as d\n",
    "in x: Events[Int]\ndef p: Events[Int] = default(last(p, x) * (x * x + 2), 3)\nout p\n",
    "in x: Events[Int]\nin y: Events[Int]\ndef up(n: Int): Int = if n == 0 then 0 else 1 + up(n - 1)\n"
    "def down(n: Int): Int = if n == 0 then 0 else down(n - 1)\nout x + y as s\n"
    "out slift(x, y, (a: Int, c: Int) => up(a * a * 40) + down(c)) as f\n",
    "in x: Events[Int]\nin u: Events[Unit]\nout delay(x + 1, u) as d\nout time(u) as t\n",
    ("in p: Events[Bool]\nin x: Events[Int]\nin y: Events[Int]\ndefine a := x > y\ndefine c := x / y > 0\n"
     "out a\ndefine m := monitor(always (p implies next (not a until p)))\nout m\n"),
    "in x: Events[Int]\n", /* nothing to compute, so there is no code that bytecode could replace */
};

static void hold_equal(const char *text, uint64_t seeds)
{
    const struct ct_monitor_limits limits = {.size = sizeof limits, .budget = 20000};
    struct ct_monitor_event events[400];
    struct ct_monitor_spec *reference = compile(text), *fast = compile_for(text, CT_MONITOR_NATIVE);
    assert_int_equal(ct_monitor_engine_of(fast), CT_MONITOR_NATIVE);
    for (uint32_t seed = 0; seed < seeds; seed++) {
        size_t n = make_events_alone(reference, seed, events, seed % 2 ? 400 : 12, seed % 3 ? 4 : 100);
        for (size_t i = 0; i < n && seed % 8 == 7; i++) /* near the limit of 64 bits */
            if (events[i].v.i == 4)
                events[i].v.i = INT64_MAX - seed;
        struct record a = run_to_error(reference, &limits, events, n, 400);
        struct record b = run_to_error(fast, &limits, events, n, 1 + seed % 60);
        size_t at = 0;
        while (a.text[at] && a.text[at] == b.text[at])
            at++;
        if (a.text[at] != b.text[at])
            fail_msg("seed %u, at byte %zu: bytecode '%.80s', machine code '%.80s'\n%.400s", seed, at,
                     a.text + at, b.text + at, text);
        free(a.text);
        free(b.text);
    }
    ct_monitor_spec_free(reference);
    ct_monitor_spec_free(fast);
}

TEST(native_and_bytecode)
{
    need_machine_code();
    for (size_t k = 0; k < sizeof SPECS / sizeof *SPECS; k++)
        hold_equal(SPECS[k], test_count(test_part(50), 200));
    for (size_t k = 0; k < sizeof HARD / sizeof *HARD; k++)
        hold_equal(HARD[k], test_count(test_part(50), 200));
}

/* Specifications that one function runs for a batch of events, with all cells in variables: streams that
 * never had an event, were saved, or are options, floats and results that leave the function. */
static const char *const BATCHES[] = {
    "in x: Events[Int]\nin y: Events[Int]\nin u: Events[Unit]\ndef n = count(x)\n"
    "def level = fold(merge(const(1, x), const(-1, y)), 0, (n: Int, d: Int) => n + d)\n"
    "out pure(maximum(level)) as deepest\nout runtime(x, y) > 3 as slow\n"
    "out on(u, level * 100 / (n + 1)) as load\nout filter(y, n > 3) as late\nout prev(x) as before\n"
    "out last(x, y) as held\nout time(u) - last(time(u), x) as ago\n",
    "in x: Events[Int]\nin f: Events[Float]\nin b: Events[Bool]\n"
    "out f +. f *. 0.5 -. 1.5 /. f as fl\nout f <. 0.5 as fa\nout prev(f) as fp\n"
    "out fold(f, 0.0, (a: Float, v: Float) => a *. 0.5 +. v) as ff\nout x % 3 == 0 && b as c\n"
    "out if b then x else 0 - x as i\nout default(filter(x, b), 5) as d\n",
    "in x: Events[Int]\nin y: Events[Int]\nout sum(x * x * x * 1000000000) as s\nout x / y as d\n"
    "out slift1(x, (v: Int) => if v > 2 then Some(v) else None[Int]) as o\n"
    "out lift(x, y, (a: Option[Int], c: Option[Int]) => if isNone(c) then a else c) as l\n"
    "out slift(x, y, (a: Int, c: Int) => if c == 0 then 0 else a / c) as safe\n",
};

TEST(batches_and_bytecode)
{
    need_machine_code();
    for (size_t k = 0; k < sizeof BATCHES / sizeof *BATCHES; k++) {
        struct ct_monitor_spec *spec = compile_for(BATCHES[k], CT_MONITOR_NATIVE);
        if (!ct_mon_native_code(spec->native)->batch)
            fail_msg("no function for batches: %s", BATCHES[k]);
        ct_monitor_spec_free(spec);
        hold_equal(BATCHES[k], test_count(test_part(200), 600));
    }
}

/* Waits until the machine code of a running specification is made. */
static void await_machine_code(const struct ct_monitor_spec *spec)
{
    const struct timespec moment = {.tv_nsec = 2000000};
    for (int i = 0; i < 30000 && ct_monitor_engine_of(spec) != CT_MONITOR_NATIVE; i++)
        nanosleep(&moment, NULL);
    assert_int_equal(ct_monitor_engine_of(spec), CT_MONITOR_NATIVE);
}

/* Checks that a run that begins with bytecode continues with machine code. */
TEST(native_in_the_middle)
{
    need_machine_code();
    for (size_t k = 0; k < (test_number("CT_WHOLE", 0) ? 4 : 1); k++) {
        struct ct_monitor_event events[400];
        struct ct_monitor_spec *reference = compile(SPECS[k]);
        struct ct_monitor_spec *later = compile_for(SPECS[k], CT_MONITOR_BACKGROUND);
        const size_t n = make_events(reference, 5, events, 400);
        struct record a = run(reference, events, n, 400);
        struct record b = {.text = calloc(1, 1)};
        struct ct_ctx *ctx = ct_ctx_new();
        assert_int_equal(ct_monitor_engine_of(later), CT_MONITOR_BYTECODE);
        assert_int_equal(ct_monitor_new(ctx, later, NULL, take, &b, &b.monitor), CT_OK);
        assert_int_equal(ct_monitor_feed(b.monitor, events, n / 2), CT_OK);
        await_machine_code(later);
        assert_int_equal(ct_monitor_feed(b.monitor, events + n / 2, n - n / 2), CT_OK);
        assert_non_null(b.monitor->native);
        assert_int_equal(ct_monitor_finish(b.monitor), CT_OK);
        assert_string_equal(a.text, b.text);
        ct_monitor_free(b.monitor);
        ct_monitor_spec_free(reference);
        ct_monitor_spec_free(later);
        ct_ctx_free(ctx);
        free(a.text);
        free(b.text);
    }
}

/* Checks specifications too large for the compiler: some parts are machine code, the others bytecode. */
TEST(native_and_bytecode_of_many)
{
    static const unsigned groups[] = {12, 200};
    static const unsigned inputs[] = {1, 3};
    need_machine_code();
    for (size_t k = 0; k < sizeof groups / sizeof *groups; k++) {
        char *text = malloc(groups[k] * 600 + 600);
        char *p = text;
        for (unsigned i = 0; i < inputs[k]; i++)
            p += sprintf(p, "in x%u: Events[Int]\n", i);
        for (unsigned g = 0; g < groups[k]; g++) {
            const unsigned x = g % inputs[k];
            p += sprintf(p,
                         "def a%u = sum(x%u) / (count(x%u) + 1)\ndef d%u = x%u - prev(x%u) + %u\n"
                         "def q%u = if d%u > a%u then d%u else maximum(x%u)\nout q%u\n"
                         "out filter(x%u, a%u > %u) as f%u\n%sout merge(q%u, x%u) + x%u as m%u\n",
                         g, x, x, g, x, x, g, g, g, g, g, x, g, x, g, g, g, g % 8 ? "--" : "", g,
                         (x + 1) % inputs[k], x, g);
        }
        hold_equal(text, 8);
        free(text);
    }
}
