/* SPDX-License-Identifier: Apache-2.0 */
/* Measures many specifications side by side, in CPU time of one core (docs/tessla.md): 256 specifications
 * beside one file with the same formulas, and how long it takes to exchange one of them. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coretap/monitor.h"
#include "coretap/verify.h"

enum {
    EVENTS = 200000,
    BATCH = 256,
    TEXT = 600, /* room for one specification */
};

/* A set of specifications, which are written each to a file of its own or all to one. */
struct set {
    const char *name;
    const char *head; /* begin of each file, with its inputs p, q, r */
    size_t (*write)(char *at, int number);
};

struct run {
    struct ct_ctx *ctx;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct ct_monitor_spec **specs;
    size_t count;
    uint64_t results;
    struct ct_watch_event batch[BATCH];
    uint32_t random;
    uint64_t cycle;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void on_result(void *user, const struct ct_verify_result *result)
{
    (void)result;
    ((struct run *)user)->results++;
}

static void check(struct ct_ctx *ctx, int rc)
{
    if (!rc)
        return;
    fprintf(stderr, "bench_verify: %s\n", ct_ctx_error(ctx));
    exit(1);
}

static const char FORMULA_HEAD[] =
    "define p := function_call p\ndefine q := function_call q\ndefine r := function_call r\n";

/* Writes one of 240 different formulas: each form with each order of the atoms and each distance. */
static size_t write_formula(char *at, int i)
{
    static const char *const forms[] = {
        "always (%1$s implies next[%4$d] (not %1$s until %2$s or %3$s))",
        "always (%1$s and next %2$s implies next[%4$d] (eventually (%3$s or %1$s)) or never %2$s)",
        "not %3$s until (%2$s and next[%4$d] (always (%2$s implies not next %1$s)))",
        "always ((%1$s and next[%4$d] %2$s) implies next (not %2$s until weak %1$s))",
        "eventually (%1$s and next[%4$d] (%2$s until %3$s))",
        "always (%1$s implies eventually (%2$s and next[%4$d] %3$s))",
        "(%1$s until weak %2$s) or next[%4$d] (never (%3$s and next %1$s))",
        "always (%2$s implies next (%1$s releases next[%4$d] %3$s))",
    };
    static const char *const atoms[][3] = {{"p", "q", "r"}, {"p", "r", "q"}, {"q", "p", "r"},
                                           {"q", "r", "p"}, {"r", "p", "q"}, {"r", "q", "p"}};
    const char *const *a = atoms[i / 8 % 6];
    char *p = at;
    p += sprintf(p, "define m%d := monitor(", i);
    p += sprintf(p, forms[i % 8], a[0], a[1], a[2], 1 + i / 48 % 5);
    p += sprintf(p, ")\nout m%d\n", i);
    return (size_t)(p - at);
}

static const char STREAM_HEAD[] = "in p: Events[Int]\nin q: Events[Int]\nin r: Events[Int]\n";

/* Writes a specification with a threshold of its own for values that all specifications calculate. */
static size_t write_threshold(char *at, int i)
{
    return (size_t)sprintf(at,
                           "def open%d = count(p) - count(q)\ndef cost%d = runtime(p, q)\n"
                           "def late%d = open%d > %d || cost%d > %d\nout pure(late%d) as late_error%d\n",
                           i, i, i, i, 100000 + i, i, 60 + i % 8, i, i);
}

/* Writes a specification that has nothing in common with the others but its inputs. */
static size_t write_own(char *at, int i)
{
    return (size_t)sprintf(
        at,
        "def load%d = fold(merge(const(%d, p), const(-%d, q)), 0, (a: Int, b: Int) => a + b)\n"
        "out pure(load%d > on(r, %d)) as load_error%d\n",
        i, i + 1, i + 2, i, 1000 * i, i);
}

static const struct set sets[] = {
    {"formulas", FORMULA_HEAD, write_formula},
    {"thresholds of one value", STREAM_HEAD, write_threshold},
    {"values of their own", STREAM_HEAD, write_own},
};

static void add(struct run *r, const char *text)
{
    static const struct ct_verify_bind binds[] = {
        {"p", "exception:1"}, {"q", "exception:2"}, {"r", "exception:3"}};
    const struct ct_monitor_options o = {
        .size = sizeof o, .time_unit = "ns", .changes_only = 1, .memory = (size_t)1 << 30};
    struct ct_monitor_spec **spec = &r->specs[r->count++];
    check(r->ctx, ct_monitor_compile(r->ctx, "bench", text, strlen(text), &o, spec));
    check(r->ctx, ct_verifier_add(r->verifier, *spec, "bench", binds, 3));
}

static void begin(struct run *r, const struct set *set, int count, bool together)
{
    const struct ct_verify_options o = {.size = sizeof o};
    *r = (struct run){.ctx = ct_ctx_new(), .random = 12345};
    char *text = malloc((size_t)count * TEXT);
    r->specs = calloc((size_t)count, sizeof *r->specs);
    if (!r->ctx || !text || !r->specs)
        exit(1);
    check(r->ctx, ct_watches_new(r->ctx, NULL, &r->watches));
    check(r->ctx, ct_verifier_new(r->ctx, &o, r->watches, &r->verifier));
    size_t size = (size_t)sprintf(text, "%s", set->head);
    for (int i = 0; i < count; i++) {
        size += set->write(text + size, i);
        if (together)
            continue;
        add(r, text);
        size = strlen(set->head);
    }
    if (together)
        add(r, text);
    free(text);
    check(r->ctx, ct_verifier_begin(r->verifier, on_result, r));
}

/* Feeds random events and returns the seconds that took, without making the events. */
static double feed(struct run *r, size_t total)
{
    uint32_t first;
    double took = 0;
    check(r->ctx, ct_watches_add(r->watches, "exception:1", &first, NULL));
    for (size_t fed = 0; fed < total; fed += BATCH) {
        for (size_t i = 0; i < BATCH; i++) {
            r->random = r->random * 1664525 + 1013904223;
            const uint32_t which = (r->random >> 16) % 3;
            r->cycle += 1 + (r->random >> 28);
            r->batch[i] = (struct ct_watch_event){.cycle = r->cycle,
                                                  .value = which,
                                                  .watch = 3 + which, /* after the watches of losses */
                                                  .number = which + 1,
                                                  .kind = CT_WATCH_EXCEPTION};
        }
        const double before = seconds();
        check(r->ctx, ct_verifier_feed(r->verifier, r->batch, BATCH));
        took += seconds() - before;
    }
    return took;
}

static void end(struct run *r)
{
    ct_verifier_free(r->verifier);
    for (size_t i = 0; i < r->count; i++)
        ct_monitor_spec_free(r->specs[i]);
    free(r->specs);
    ct_watches_free(r->watches);
    ct_ctx_free(r->ctx);
}

/* Returns the seconds of the best of three runs, because other programs run beside this one. */
static double best(const struct set *set, int count, bool together, size_t total, uint64_t *results)
{
    double least = 1e9;
    for (int i = 0; i < 3; i++) {
        struct run r;
        begin(&r, set, count, together);
        const double took = feed(&r, total);
        least = took < least ? took : least;
        *results = r.results;
        end(&r);
    }
    return least;
}

static void compare(const struct set *set, int count)
{
    uint64_t results[2];
    const double one = best(set, count, true, EVENTS, &results[0]);
    const double many = best(set, count, false, EVENTS, &results[1]);
    printf("%4d %-24s one file %8.3f M events/s, files of their own %8.3f: %6.2f x   %s\n", count, set->name,
           EVENTS / one / 1e6, EVENTS / many / 1e6, many / one,
           results[0] == results[1] ? "same results" : "OTHER RESULTS");
}

/* Prints how long exchanging one specification takes, on average and at most, and the events a second
 * afterwards. */
static void exchange(const struct set *set, int count)
{
    struct run r;
    char text[TEXT];
    begin(&r, set, count, false);
    feed(&r, 4096);
    double longest = 0;
    double all = 0;
    for (int i = 0; i < count; i++) {
        const struct ct_verify_bind binds[] = {
            {"p", "exception:1"}, {"q", "exception:2"}, {"r", "exception:3"}};
        const struct ct_monitor_options o = {.size = sizeof o, .time_unit = "ns", .changes_only = 1};
        struct ct_monitor_spec *spec;
        const double before = seconds();
        set->write(text + sprintf(text, "%s", set->head), (i + 7) % count);
        check(r.ctx, ct_monitor_compile(r.ctx, "bench", text, strlen(text), &o, &spec));
        check(r.ctx, ct_verifier_exchange(r.verifier, (uint32_t)i, spec, "bench", binds, 3));
        ct_monitor_spec_free(r.specs[i]);
        r.specs[i] = spec;
        feed(&r, BATCH);
        const double took = seconds() - before;
        longest = took > longest ? took : longest;
        all += took;
    }
    const double took = feed(&r, EVENTS);
    printf("%4d %-24s exchanged one by one: %6.2f ms each, %6.2f at most; then %8.3f M events/s\n", count,
           set->name, all / count * 1e3, longest * 1e3, EVENTS / took / 1e6);
    end(&r);
}

int main(void)
{
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        compare(&sets[i], 256);
        exchange(&sets[i], 256);
    }
    compare(&sets[0], 1024);
    exchange(&sets[0], 1024);
    return 0;
}
