/* SPDX-License-Identifier: Apache-2.0 */
/* Checks by brute force what is certain after a loss: compares a run that lost events with all runs that got
 * them. A result marked certain must be in each of these. A verdict of a formula that is in each must be
 * marked certain. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "monitor/run.h"
#include "property/random_spec.h"
#include "support/unit.h"

enum {
    RESULTS = 4000,
    EVENTS = 64,
    BEFORE = 8, /* time of the loss */
    LOST = 2,   /* instants whose events may be lost */
};

struct record {
    struct ct_monitor_result results[RESULTS];
    size_t count;
    bool failed; /* ended with a runtime error; only results before it count */
    int64_t end;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct record *r = user;
    assert_true(r->count + count <= RESULTS);
    memcpy(r->results + r->count, results, count * sizeof *results);
    r->count += count;
}

/* Runs a specification on the events, with a loss before event `lose`, or none for SIZE_MAX. */
static void run(const struct ct_monitor_spec *spec, const struct ct_monitor_event *events, size_t count,
                size_t lose, struct record *r)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor *m;
    int rc = ct_monitor_new(ctx, spec, NULL, take, r, &m);
    r->count = 0;
    r->failed = false;
    assert_int_equal(rc, CT_OK);
    for (size_t i = 0; !rc && i < count; i++) {
        if (i == lose)
            rc = ct_monitor_lose(m, NULL);
        if (!rc)
            rc = ct_monitor_feed(m, &events[i], 1);
        r->end = (int64_t)events[i].time;
    }
    if (!rc && lose == count)
        rc = ct_monitor_lose(m, NULL);
    if (!rc)
        rc = ct_monitor_finish(m);
    r->failed = rc != CT_OK;
    ct_monitor_free(m);
    ct_ctx_free(ctx);
}

static const struct ct_monitor_result *find(const struct record *r, uint64_t time, uint32_t output, bool held)
{
    const struct ct_monitor_result *found = NULL;
    for (size_t i = 0; i < r->count && r->results[i].time <= time; i++)
        if (r->results[i].output == output && (held || r->results[i].time == time))
            found = &r->results[i];
    return found;
}

/* Returns whether this run has the result, too. For a signal, the value counts, whenever it began. */
static bool agrees(const struct record *r, const struct ct_monitor_result *x, bool signal)
{
    if (r->failed && (uint64_t)r->end <= x->time)
        return true;
    const struct ct_monitor_result *same = find(r, x->time, x->output, signal);
    return same && same->v.i == x->v.i;
}

/* Makes the events of a filling from its number: for each lost instant and input, no event or one with some
 * value. Returns how many. */
static size_t filling(uint32_t number, struct ct_monitor_event *events)
{
    static const int64_t values[] = {-9, 0, 2, 50};
    const uint32_t choices = 1 + sizeof values / sizeof *values;
    size_t n = 0;
    for (uint64_t time = BEFORE + 1; time <= BEFORE + LOST; time++)
        for (uint32_t i = 0; i < SPEC_INPUTS; i++, number /= choices)
            if (number % choices)
                events[n++] =
                    (struct ct_monitor_event){.time = time, .input = i, .v.i = values[number % choices - 1]};
    return n;
}

enum {
    FILLINGS = 625
};

struct tally {
    uint64_t certain, invariant, results;
};

static void one_specification(uint32_t seed, struct record *all, struct tally *tally)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    struct ct_monitor_event head[EVENTS];
    struct ct_monitor_event tail[EVENTS];
    struct ct_monitor_event events[3 * EVENTS];
    char text[SPEC_TEXT];
    bool signals[SPEC_STREAMS];
    const uint32_t start = seed;
    const size_t size = random_spec(seed, text, signals);
    if (ct_monitor_compile(ctx, "random", text, size, NULL, &spec))
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    const size_t before = spec_events(&seed, spec_random(&seed) % 3, BEFORE, head);
    const size_t behind = spec_events(&seed, BEFORE + LOST + 1, BEFORE + LOST + 12, tail);
    struct record *lost = &all[FILLINGS];
    for (uint32_t k = 0; k <= FILLINGS; k++) {
        size_t n = before;
        memcpy(events, head, before * sizeof *head);
        if (k < FILLINGS)
            n += filling(k, events + n);
        memcpy(events + n, tail, behind * sizeof *tail);
        run(spec, events, n + behind, k < FILLINGS ? SIZE_MAX : before, &all[k]);
    }
    for (size_t i = 0; i < lost->count; i++) {
        const struct ct_monitor_result *x = &lost->results[i];
        bool invariant = true;
        uint32_t k = 0;
        for (; invariant && k < FILLINGS; k++)
            invariant = agrees(&all[k], x, signals[SPEC_INPUTS + x->output]);
        const bool certain = ct_monitor_certain(x);
        if (certain && !invariant)
            fail_msg("seed %u: %llu: s%u = %lld is called certain, and filling %u has another\n%s", start,
                     (unsigned long long)x->time, SPEC_INPUTS + x->output, (long long)x->v.i, k - 1, text);
        if (x->time > BEFORE) {
            tally->certain += certain;
            tally->invariant += invariant;
            tally->results++;
        }
    }
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

TEST(random_specifications)
{
    const uint32_t rounds = getenv("CT_LONG") ? 6000 : 80;
    struct record *all = calloc(FILLINGS + 1, sizeof *all);
    struct tally tally = {0};
    for (uint32_t i = 0; i < rounds; i++)
        one_specification(i * 7919, all, &tally);
    print_message("# of %llu results behind a loss %llu are in all runs, and %llu of these are known to be\n",
                  (unsigned long long)tally.results, (unsigned long long)tally.invariant,
                  (unsigned long long)tally.certain);
    assert_true(tally.certain * 100 >= tally.invariant * 70);
    free(all);
}

/* ---- formulas ---- */

static const char *const formulas[] = {
    "always p",
    "eventually p",
    "never p",
    "p until q",
    "always (p implies next q)",
    "always (p implies next (not p until q))",
    "always (p implies eventually q)",
    "next (p or q)",
    "(never q) or (p until q)",
    "next[2] p",
    "always (p implies (q or next q))",
    "eventually (p and next q)",
    "p releases q",
    "always (p iff next q)",
    "(eventually p) and (never q)",
    "always (q implies nextinpast p)",
    "always (q implies (not q untilinpast p))",
    "(eventually p) upto q",
    "next p accepton q",
};

/* Formulas for which events may be lost at other times than those tried here. */
static const char *const timed_formulas[] = {
    "always (p implies eventually timed[<3] q)",       "eventually timed[<4] q",
    "always (q implies eventuallyinpast timed[<3] p)", "always (q implies always timed[>=2] p)",
    "always (q implies (p untilinpast timed[>=4] q))", "p until timed[<12] q",
};

enum {
    LETTERS = 3,                 /* p, q, both */
    WORDS = 1 + 3 + 9 + 27 + 81, /* of at most four letters */
    FEW_WORDS = 1 + 3 + 9 + 27,
    TAIL_WORDS = 1 + 3 + 9,
};

/* Makes the events of a word of the letters p, q and both. Shorter words come first. Returns how many. */
static size_t word(uint32_t number, uint64_t time, struct ct_monitor_event *events)
{
    uint32_t length = 0;
    size_t n = 0;
    for (uint32_t count = 1; number >= count; count *= LETTERS, length++)
        number -= count;
    for (; length; length--, number /= LETTERS, time++)
        for (uint32_t atom = 0; atom < 2; atom++)
            if ((number % LETTERS + 1) >> atom & 1)
                events[n++] = (struct ct_monitor_event){.time = time, .input = atom};
    return n;
}

static void one_formula(const char *formula, bool exactly, bool changes_only, struct record *all)
{
    const struct ct_monitor_options options = {.size = sizeof options, .changes_only = changes_only};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    struct ct_monitor_event events[EVENTS];
    const bool thorough = getenv("CT_LONG") != NULL;
    const uint32_t words = thorough ? WORDS : FEW_WORDS;
    const uint32_t heads = thorough ? TAIL_WORDS : 4;
    struct record *lost = &all[words];
    char text[300];
    const int size = sprintf(text,
                             "in p: Events[Unit]\nin q: Events[Unit]\n"
                             "define m := monitor(%s)\nout m\n",
                             formula);
    assert_int_equal(ct_monitor_compile(ctx, "formula", text, (size_t)size, &options, &spec), CT_OK);
    for (uint32_t head = 0; head < heads; head++) {
        for (uint32_t tail = 0; tail < TAIL_WORDS; tail++) {
            size_t before = 0;
            for (uint32_t k = 0; k <= words; k++) {
                size_t n = before = word(head, 1, events);
                if (k < words)
                    n += word(k, 10, events + n);
                n += word(tail, 20, events + n);
                run(spec, events, n, k < words ? SIZE_MAX : before, &all[k]);
            }
            for (size_t i = 0; i < lost->count; i++) {
                const struct ct_monitor_result *x = &lost->results[i];
                bool invariant = true;
                for (uint32_t k = 0; invariant && k < words; k++)
                    invariant = agrees(&all[k], x, changes_only);
                if (invariant != ct_monitor_certain(x) && (exactly || !invariant))
                    fail_msg("%s, words %u and %u: the verdict %lld at %llu is %sin all runs", formula, head,
                             tail, (long long)x->v.i, (unsigned long long)x->time, invariant ? "" : "not ");
            }
        }
    }
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

TEST(verdicts_exactly)
{
    struct record *all = calloc(WORDS + 1, sizeof *all);
    for (size_t i = 0; i < sizeof formulas / sizeof *formulas; i++) {
        one_formula(formulas[i], true, false, all);
        one_formula(formulas[i], true, true, all);
    }
    for (size_t i = 0; i < sizeof timed_formulas / sizeof *timed_formulas; i++)
        one_formula(timed_formulas[i], false, i % 2, all);
    free(all);
}

/* ---- how far a specification looks back ---- */

struct marks {
    char text[2000];
    size_t size;
    struct ct_monitor *m;
};

static void mark(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct marks *marks = user;
    for (size_t i = 0; i < count; i++) {
        size_t done;
        marks->size += ct_monitor_print(marks->m, &results[i], 1, marks->text + marks->size,
                                        sizeof marks->text - marks->size, &done);
        if (!ct_monitor_certain(&results[i]))
            marks->size += (size_t)sprintf(marks->text + marks->size - 1, " ?\n") - 1;
    }
}

/* Checks the marks of results for events of the inputs in order. A time of 0 stands for a loss. */
static void expect(const char *text, const uint64_t *times, const uint32_t *inputs, size_t count,
                   const char *wanted)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    struct marks marks = {.text = ""};
    assert_int_equal(ct_monitor_compile(ctx, "text", text, strlen(text), NULL, &spec), CT_OK);
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, mark, &marks, &marks.m), CT_OK);
    for (size_t i = 0; i < count; i++) {
        const struct ct_monitor_event e = {.time = times[i], .input = inputs[i]};
        const int rc = times[i] ? ct_monitor_feed(marks.m, &e, 1) : ct_monitor_lose(marks.m, NULL);
        assert_int_equal(rc, CT_OK);
    }
    assert_int_equal(ct_monitor_finish(marks.m), CT_OK);
    marks.text[marks.size] = '\0';
    assert_string_equal(marks.text, wanted);
    ct_monitor_free(marks.m);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

/* A call may have been lost until the interval of inPast has passed. */
TEST(certain_when_the_interval_is_over)
{
    const uint64_t times[] = {10, 20, 0, 25, 35, 45, 46, 50};
    const uint32_t inputs[] = {0, 1, 0, 1, 1, 1, 0, 1};
    expect("in call: Events[Unit]\nin check: Events[Unit]\n"
           "define recent := check implies inPast(call, 15)\nout recent\n"
           "define bound := check implies not inPast(call, 15)\nout bound\n",
           times, inputs, 8,
           "20: recent = true\n20: bound = false\n"
           "25: recent = false ?\n25: bound = true ?\n"
           "35: recent = false ?\n35: bound = true ?\n"
           "45: recent = false\n45: bound = true\n"
           "50: recent = true\n50: bound = false\n");
}

/* As a signal, inPast has a timer, which may be running for a call that was lost. */
TEST(certain_when_the_timer_is_over)
{
    const uint64_t times[] = {10, 0, 28, 40, 60};
    const uint32_t inputs[] = {0, 0, 1, 1, 0};
    expect("in call: Events[Unit]\nin check: Events[Unit]\n"
           "define recent := inPast(call, 15)\nout recent\n"
           "define now := sample(recent, check)\nout now\n",
           times, inputs, 5,
           "0: recent = false\n10: recent = true\n25: recent = false ?\n28: now = false ?\n"
           "40: now = false ?\n60: recent = true\n");
}

/* Only inputs that are not kept lose events. */
TEST(kept_inputs)
{
    static const char text[] = "in a: Events[Int]\nin b: Events[Int]\nout count(a)\nout count(b)\n";
    const struct ct_monitor_event events[] = {
        {.time = 1}, {.time = 2, .input = 1}, {.time = 5}, {.time = 6, .input = 1}};
    const uint8_t kept[] = {1, 0};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    struct marks marks = {.text = ""};
    assert_int_equal(ct_monitor_compile(ctx, "text", text, sizeof text - 1, NULL, &spec), CT_OK);
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, mark, &marks, &marks.m), CT_OK);
    assert_int_equal(ct_monitor_feed(marks.m, events, 2), CT_OK);
    assert_int_equal(ct_monitor_lose(marks.m, kept), CT_OK);
    assert_int_equal(ct_monitor_feed(marks.m, events + 2, 2), CT_OK);
    assert_int_equal(ct_monitor_finish(marks.m), CT_OK);
    marks.text[marks.size] = '\0';
    assert_string_equal(marks.text, "0: count(a) = 0\n0: count(b) = 0\n1: count(a) = 1\n2: count(b) = 1\n"
                                    "5: count(a) = 2\n6: count(b) = 2 ?\n");
    ct_monitor_free(marks.m);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

/* ---- fast and plain implementation ---- */

static void take_first(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct record *r = user;
    for (size_t i = 0; i < count && r->count < RESULTS; i++)
        r->results[r->count++] = results[i];
}

/* Makes a long run with several losses, which may spare some inputs. */
static void run_losses(const struct ct_monitor_spec *spec, uint32_t seed, bool plain, struct record *r)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor *m;
    uint64_t time = 0;
    const uint32_t apart = seed % 2 ? 60 : 4; /* events between two losses */
    r->count = 0;
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, take_first, r, &m), CT_OK);
    m->plain_losses = plain;
    int rc = CT_OK;
    for (int i = 0; i < 300 && !rc; i++) {
        const uint8_t kept[SPEC_INPUTS] = {spec_random(&seed) % 3 == 0, 0};
        const struct ct_monitor_event e = {.time = time += 1 + spec_random(&seed) % 3,
                                           .input = spec_random(&seed) % SPEC_INPUTS,
                                           .v.i = spec_random(&seed) % 6};
        if (spec_random(&seed) % apart == 0)
            rc = ct_monitor_lose(m, kept);
        if (!rc)
            rc = ct_monitor_feed(m, &e, 1);
    }
    r->failed = rc != CT_OK;
    ct_monitor_free(m);
    ct_ctx_free(ctx);
}

TEST(quickly_as_plainly)
{
    const uint32_t rounds = getenv("CT_LONG") ? 20000 : 400;
    struct record *both = calloc(2, sizeof *both);
    uint64_t uncertain = 0;
    for (uint32_t i = 0; i < rounds; i++) {
        struct ct_ctx *ctx = ct_ctx_new();
        struct ct_monitor_spec *spec;
        char text[SPEC_TEXT];
        bool signals[SPEC_STREAMS];
        const size_t size = random_spec(i * 104729, text, signals);
        if (ct_monitor_compile(ctx, "random", text, size, NULL, &spec))
            fail_msg("%s\n%s", ct_ctx_error(ctx), text);
        run_losses(spec, i, false, &both[0]);
        run_losses(spec, i, true, &both[1]);
        assert_int_equal(both[0].failed, both[1].failed);
        assert_int_equal(both[0].count, both[1].count);
        for (size_t k = 0; k < both[0].count; k++) {
            const struct ct_monitor_result *x = &both[0].results[k];
            const struct ct_monitor_result *y = &both[1].results[k];
            uncertain += !ct_monitor_certain(x);
            if (x->time != y->time || x->output != y->output || x->v.i != y->v.i || x->form != y->form)
                fail_msg("round %u: s%u at %llu is certain: %d, plainly %d\n%s", i, SPEC_INPUTS + x->output,
                         (unsigned long long)x->time, ct_monitor_certain(x), ct_monitor_certain(y), text);
        }
        ct_monitor_spec_free(spec);
        ct_ctx_free(ctx);
    }
    assert_true(uncertain > 100);
    free(both);
}
