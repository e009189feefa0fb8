/* SPDX-License-Identifier: Apache-2.0 */
/* Checks by brute force what is certain when the order of events is unknown: compares a run with intervals to
 * the runs in all orders that they allow. A result is certain exactly when each of these runs has it. A
 * result that only some of them have is reported as possible. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "property/random_spec.h"
#include "support/unit.h"

enum {
    RESULTS = 4000,
    EVENTS = 64,
    INSTANTS = 24, /* instants whose order is in doubt */
    FIRST = 20,    /* time of the first of them */
    TAIL = 1000,   /* time from which the order is known again */
    ORDERS = 720,
    LONG = 200000, /* bytes of a text of which a few make the monitor collect its memory */
};

/* the longest text that an input of Strings gets */
static const char *longest = "a text that is longer than a cell";

struct record {
    struct ct_monitor_result results[RESULTS];
    uint64_t tags[RESULTS][2]; /* tags of results that are in doubt */
    bool named[RESULTS];
    size_t count;
    bool failed; /* ended with a runtime error; only results before it count */
    uint64_t end;
    const struct ct_monitor *m;
    bool prints; /* the outputs are Strings: their hashes stand for them */
};

/* Returns a hash of the length and some letters of the text of a result. */
static int64_t hash_of(const struct ct_monitor *m, const struct ct_monitor_result *result)
{
    static char line[3 * LONG];
    size_t done;
    const size_t size = ct_monitor_print(m, result, 1, line, sizeof line, &done);
    assert_int_equal(done, 1);
    const char *value = strchr(line, '=');
    uint32_t hash = (uint32_t)(line + size - value);
    for (const char *c = value; c < line + size; c += 1 + (c - value) / 100)
        hash = hash * 31 + (uint8_t)*c;
    return hash;
}

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct record *r = user;
    assert_true(r->count + count <= RESULTS);
    for (size_t i = 0; i < count; i++, r->count++) {
        r->results[r->count] = results[i];
        if (r->prints)
            r->results[r->count].v.i = hash_of(r->m, &results[i]);
        r->named[r->count] = ct_monitor_doubted(r->m, &results[i], r->tags[r->count]) == CT_OK;
    }
}

/* An instant whose place is in doubt. */
struct instant {
    struct ct_monitor_event events[SPEC_INPUTS];
    size_t count;
    struct ct_monitor_span span;
    uint64_t time; /* of its place in the order of the run */
};

struct scene {
    const struct ct_monitor_spec *spec;
    struct ct_monitor_event head[EVENTS], tail[EVENTS];
    size_t before, behind;
    struct instant instants[INSTANTS];
    size_t count;
};

/* Feeds the instants in an order, each at the time of its place there. */
static int feed_in(struct ct_monitor *m, const struct scene *scene, const uint8_t *order, struct record *r)
{
    int rc = CT_OK;
    for (size_t i = 0; i < scene->count && !rc; i++) {
        const struct instant *x = &scene->instants[order ? order[i] : i];
        struct ct_monitor_event events[SPEC_INPUTS];
        struct ct_monitor_span spans[SPEC_INPUTS];
        for (size_t k = 0; k < x->count; k++) {
            events[k] = x->events[k];
            events[k].time = scene->instants[i].time;
            spans[k] = x->span;
        }
        r->end = scene->instants[i].time;
        rc = order ? ct_monitor_feed(m, events, x->count)
                   : ct_monitor_feed_doubtful(m, events, spans, x->count);
    }
    return rc;
}

/* Runs a scene with its instants in an order, or in the given one with their spans if `order` is NULL. */
static void run(const struct scene *scene, const uint8_t *order, struct record *r)
{
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor *m;
    r->count = 0;
    int rc = ct_monitor_new(ctx, scene->spec, NULL, take, r, &m);
    assert_int_equal(rc, CT_OK);
    r->m = m;
    for (size_t i = 0; i < scene->before && !rc; i++) {
        r->end = scene->head[i].time;
        rc = ct_monitor_feed(m, &scene->head[i], 1);
    }
    if (!rc)
        rc = feed_in(m, scene, order, r);
    for (size_t i = 0; i < scene->behind && !rc; i++) {
        r->end = scene->tail[i].time;
        rc = ct_monitor_feed(m, &scene->tail[i], 1);
    }
    if (!rc)
        rc = ct_monitor_finish(m);
    r->failed = rc != CT_OK;
    ct_monitor_free(m);
    ct_ctx_free(ctx);
}

/* ---- all orders ---- */

static bool comes_before(const struct instant *a, const struct instant *b)
{
    return a->span.source == b->span.source || a->span.end < b->span.begin;
}

struct orders {
    uint8_t order[ORDERS][INSTANTS];
    size_t count;
    bool all; /* no order is missing */
};

/* Lists the orders that begin with the first `done` instants of `order`. */
static void list_orders(const struct scene *scene, uint8_t *order, size_t done, struct orders *out)
{
    if (done == scene->count) {
        out->all = out->count < ORDERS;
        if (out->all)
            memcpy(out->order[out->count++], order, done);
        return;
    }
    for (size_t i = 0; i < scene->count && out->all; i++) {
        bool next = true;
        for (size_t k = 0; k < done; k++)
            next &= order[k] != i;
        for (size_t k = 0; k < i && next; k++) {
            bool taken = false;
            for (size_t n = 0; n < done; n++)
                taken |= order[n] == k;
            next = taken || !comes_before(&scene->instants[k], &scene->instants[i]);
        }
        order[done] = (uint8_t)i;
        if (next)
            list_orders(scene, order, done + 1, out);
    }
}

/* Makes a random order. */
static void random_order(const struct scene *scene, uint32_t *seed, uint8_t *order)
{
    uint32_t taken = 0;
    for (size_t done = 0; done < scene->count;) {
        const size_t i = spec_random(seed) % scene->count;
        bool next = !(taken >> i & 1);
        for (size_t k = 0; k < i && next; k++)
            next = (taken >> k & 1) || !comes_before(&scene->instants[k], &scene->instants[i]);
        if (!next)
            continue;
        order[done++] = (uint8_t)i;
        taken |= UINT32_C(1) << i;
    }
}

/* ---- results in other orders ---- */

static const struct ct_monitor_result *find_at(const struct record *r, uint64_t time, uint32_t output,
                                               bool held)
{
    const struct ct_monitor_result *found = NULL;
    for (size_t i = 0; i < r->count && r->results[i].time <= time; i++)
        if (r->results[i].output == output && !ct_monitor_possible(&r->results[i]) &&
            (held || r->results[i].time == time))
            found = &r->results[i];
    return found;
}

/* Returns the number of the instant at this time in the run, or the count if there is none. */
static size_t instant_at(const struct scene *scene, uint64_t time)
{
    size_t i = 0;
    while (i < scene->count && scene->instants[i].time != time)
        i++;
    return i;
}

/* Returns whether another order has a result of the run. */
static bool agrees(const struct scene *scene, const uint8_t *order, const struct record *r,
                   const struct ct_monitor_result *x, bool signal)
{
    const size_t number = instant_at(scene, x->time);
    size_t place = number;
    for (size_t i = 0; i < scene->count; i++)
        if (order[i] == number)
            place = i;
    const uint64_t time = number < scene->count ? scene->instants[place].time : x->time;
    if (r->failed && r->end <= time)
        return true;
    const struct ct_monitor_result *same = find_at(r, time, x->output, signal);
    bool found = same && same->v.i == x->v.i;
    /* a signal only has to take the value at some time during the doubt */
    for (size_t i = 0; i < scene->count && signal && !found && x->time >= FIRST && x->time < TAIL; i++) {
        same = find_at(r, scene->instants[i].time, x->output, true);
        found = same && same->v.i == x->v.i;
    }
    return found;
}

struct tally {
    uint64_t certain, invariant, results, possible;
};

static const struct ct_monitor_result *find_possible(const struct record *r, uint64_t time,
                                                     const struct ct_monitor_result *x)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->results[i].output == x->output && r->results[i].v.i == x->v.i &&
            ct_monitor_possible(&r->results[i]) && r->results[i].time == time)
            return &r->results[i];
    return NULL;
}

/* Checks that a result of an order that the run does not have was reported as possible. */
static void check_possible(const struct scene *scene, const uint8_t *order, const struct record *other,
                           const struct record *mine, const bool *signals, uint32_t seed)
{
    for (size_t i = 0; i < other->count; i++) {
        const struct ct_monitor_result *x = &other->results[i];
        const size_t place = instant_at(scene, x->time);
        if (signals[SPEC_INPUTS + x->output] || (place == scene->count && x->time < TAIL))
            continue;
        const uint64_t time = place < scene->count ? scene->instants[order[place]].time : x->time;
        const struct ct_monitor_result *same = find_at(mine, time, x->output, false);
        if (!(same && same->v.i == x->v.i) && !find_possible(mine, time, x))
            fail_msg("seed %u: at %llu, %llu in the run, another order has s%u = %lld, which is not possible",
                     seed, (unsigned long long)x->time, (unsigned long long)time, SPEC_INPUTS + x->output,
                     (long long)x->v.i);
    }
}

static void check_run(const struct scene *scene, const struct orders *orders, struct record *all,
                      const bool *signals, uint32_t seed, const char *text, struct tally *tally)
{
    const struct record *mine = &all[orders->count];
    bool failed = mine->failed;
    for (size_t k = 0; k < orders->count; k++)
        failed |= all[k].failed;
    for (size_t i = 0; i < mine->count; i++) {
        const struct ct_monitor_result *x = &mine->results[i];
        const bool signal = signals[SPEC_INPUTS + x->output];
        const bool certain = ct_monitor_certain(x);
        bool invariant = !ct_monitor_possible(x);
        size_t k = 0;
        for (; k < orders->count && invariant; k++)
            invariant = agrees(scene, orders->order[k], &all[k], x, signal);
        if (i && x->time < x[-1].time)
            fail_msg("seed %u: time runs back\n%s", seed, text);
        if (certain && !invariant)
            fail_msg("seed %u: %llu: s%u = %lld is called certain, and order %zu has another\n%s", seed,
                     (unsigned long long)x->time, SPEC_INPUTS + x->output, (long long)x->v.i, k - 1, text);
        const bool exact = orders->all && !failed && !signal &&
                           (instant_at(scene, x->time) < scene->count || x->time >= TAIL || x->time < FIRST);
        if (exact && invariant && !certain)
            fail_msg("seed %u: %llu: s%u = %lld is in all orders, and not called certain\n%s", seed,
                     (unsigned long long)x->time, SPEC_INPUTS + x->output, (long long)x->v.i, text);
        if (orders->all && !certain && !mine->named[i])
            fail_msg("seed %u: %llu: no pair is named for s%u", seed, (unsigned long long)x->time,
                     SPEC_INPUTS + x->output);
        tally->certain += certain;
        tally->invariant += invariant;
        tally->possible += ct_monitor_possible(x) != 0;
        tally->results++;
    }
    for (size_t k = 0; k < orders->count && orders->all && !failed; k++)
        check_possible(scene, orders->order[k], &all[k], mine, signals, seed);
}

/* ---- scenes ---- */

/* Makes instants of some sources, with spans so long that many overlap. Within a source, spans begin and end
 * in order. */
static void some_instants(uint32_t *seed, struct scene *scene, size_t count, uint32_t sources)
{
    uint64_t begin = 100, time = FIRST, ends[8] = {0};
    scene->count = count;
    for (size_t i = 0; i < count; i++) {
        struct instant *x = &scene->instants[i];
        const uint32_t source = spec_random(seed) % sources;
        const uint64_t end = begin + spec_random(seed) % 12;
        ends[source] = end > ends[source] ? end : ends[source];
        *x = (struct instant){
            .span = {.begin = begin, .end = ends[source], .source = source, .tag = 7000 + i}, .time = time};
        for (uint32_t k = 0; k < SPEC_INPUTS; k++)
            if (spec_random(seed) % 3 == 0 || (k + 1 == SPEC_INPUTS && !x->count))
                x->events[x->count++] =
                    (struct ct_monitor_event){.input = k, .v.i = (int64_t)(spec_random(seed) % 3)};
        begin += spec_random(seed) % 5;
        time += 1 + spec_random(seed) % 4;
    }
}

/* Turns the numbers of events into Strings, for inputs of that type. */
static void make_texts(struct ct_monitor_event *events, size_t count)
{
    const char *const texts[] = {"", "x", "yy", longest};
    for (size_t i = 0; i < count; i++) {
        const char *text = texts[(events[i].v.i + 1) % 4];
        events[i].v.s = text;
        events[i].size = (uint32_t)strlen(text);
    }
}

static void make_all_texts(struct scene *scene)
{
    struct ct_monitor_stream input;
    ct_monitor_input(scene->spec, 0, &input);
    if (input.type != CT_MONITOR_STRING)
        return;
    make_texts(scene->head, scene->before);
    make_texts(scene->tail, scene->behind);
    for (size_t i = 0; i < scene->count; i++)
        make_texts(scene->instants[i].events, scene->instants[i].count);
}

/* Compiles a specification, makes random events, and compares the run with those of other orders. */
static void one_scene(uint32_t seed, const char *text, const bool *signals, bool changes_only, size_t most,
                      uint32_t sources, struct record *all, struct tally *tally)
{
    static struct orders orders;
    static struct scene scene;
    const struct ct_monitor_options options = {.size = sizeof options, .changes_only = changes_only};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    uint8_t order[INSTANTS];
    const uint32_t start = seed;
    if (ct_monitor_compile(ctx, "random", text, strlen(text), &options, &spec))
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    scene.spec = spec;
    scene.before = spec_events(&seed, spec_random(&seed) % 3, 8, scene.head);
    some_instants(&seed, &scene, most < INSTANTS ? 2 + spec_random(&seed) % (most - 1) : most, sources);
    scene.behind = spec_events(&seed, TAIL, TAIL + 12, scene.tail);
    make_all_texts(&scene);
    orders.count = 0;
    orders.all = most < INSTANTS;
    if (orders.all)
        list_orders(&scene, order, 0, &orders);
    else
        while (orders.count < 40)
            random_order(&scene, &seed, orders.order[orders.count++]);
    for (size_t k = 0; k < orders.count; k++)
        run(&scene, orders.order[k], &all[k]);
    run(&scene, NULL, &all[orders.count]);
    check_run(&scene, &orders, all, signals, start, text, tally);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

static void one_specification(uint32_t seed, size_t most, uint32_t sources, struct record *all,
                              struct tally *tally)
{
    char text[SPEC_TEXT];
    bool signals[SPEC_STREAMS];
    random_spec(seed, text, signals);
    one_scene(seed, text, signals, false, most, sources, all, tally);
}

static void tell(const struct tally *tally)
{
    print_message("# of %llu results %llu are in all orders, %llu of them known to be; %llu only in others\n",
                  (unsigned long long)tally->results, (unsigned long long)tally->invariant,
                  (unsigned long long)tally->certain, (unsigned long long)tally->possible);
}

/* Checks scenes in which every order is followed. */
TEST(few_instants)
{
    const uint32_t rounds = getenv("CT_LONG") ? 6000 : 200;
    struct record *all = calloc(ORDERS + 1, sizeof *all);
    struct tally tally = {0};
    for (uint32_t i = 0; i < rounds; i++)
        one_specification(i * 7919, 6, 2 + i % 2, all, &tally);
    tell(&tally);
    assert_true(tally.possible > 0 && tally.certain < tally.results);
    free(all);
}

/* Checks scenes with more states than are followed: results marked certain must still be certain. */
TEST(many_instants)
{
    const uint32_t rounds = getenv("CT_LONG") ? 600 : 30;
    struct record *all = calloc(ORDERS + 1, sizeof *all);
    struct tally tally = {0};
    for (uint32_t i = 0; i < rounds; i++)
        one_specification(i * 7919 + 1, INSTANTS, 8, all, &tally);
    tell(&tally);
    free(all);
}

static const char *const of_texts[] = {
    "out last(s0, s1) == s1 as s2\n",
    "out count(filter(s0, s0 == \"x\")) as s2\n",
    "def m = merge(s0, s1)\nout last(m, m) == m as s2\nout count(m) as s3\n",
    ("def both = lift(s0, s1, (a: Option[String], b: Option[String]) => if isSome(a) then a else b)\n"
     "out both == last(both, s1) as s2\n"),
    "def last_two = String.concat(last(s0, s1), s1)\nout last_two == \"xyy\" as s2\n",
};

/* Checks inputs of type String. */
TEST(strings)
{
    const uint32_t rounds = getenv("CT_LONG") ? 600 : 20;
    const bool signals[SPEC_STREAMS] = {false};
    struct record *all = calloc(ORDERS + 1, sizeof *all);
    struct tally tally = {0};
    for (uint32_t i = 0; i < rounds * sizeof of_texts / sizeof *of_texts; i++) {
        char text[600];
        snprintf(text, sizeof text, "in s0: Events[String]\nin s1: Events[String]\n%s",
                 of_texts[i % (sizeof of_texts / sizeof *of_texts)]);
        one_scene(i * 7919 + 2, text, signals, false, i % 7 ? 6 : INSTANTS, 2 + i % 2, all, &tally);
    }
    tell(&tally);
    assert_true(tally.possible > 0 && tally.certain > 0);
    free(all);
}

/* Checks Strings that are kept and given in all orders, so long that memory is collected while there are
 * several. */
TEST(collected)
{
    static const char spec[] = "in s0: Events[String]\nin s1: Events[String]\n"
                               "out String.concat(last(s0, s1), last(s1, s0)) as s2\n"
                               "out String.concat(last(s0, s1), s1) as s3\n";
    const bool signals[SPEC_STREAMS] = {false};
    const char *usual = longest;
    struct record *all = calloc(ORDERS + 1, sizeof *all);
    char *text = calloc(1, LONG + 1);
    struct tally tally = {0};
    assert_true(all && text);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (char)('a' + i % 25);
    longest = text;
    for (uint32_t i = 0; i <= ORDERS; i++)
        all[i].prints = true;
    for (uint32_t i = 0; i < (getenv("CT_LONG") ? 600 : 10); i++)
        one_scene(i * 7919 + 3, spec, signals, false, 5, 2, all, &tally);
    tell(&tally);
    assert_true(tally.possible > 0 && tally.certain > 0);
    longest = usual;
    free(text);
    free(all);
}

static const char *const formulas[] = {
    "always p",
    "never q",
    "p until q",
    "always (p implies next q)",
    "always (p implies next (not p until q))",
    "(never q) or (p until q)",
    "next[2] p",
    "always (p implies (q or next q))",
    "eventually (p and next q)",
    "p releases q",
    "always (p iff next q)",
    "always (q implies nextinpast p)",
    "(eventually p) upto q",
    "next p accepton q",
    "always (p implies eventually timed[<3] q)",
    "always (q implies (p untilinpast timed[>=2] q))",
};

/* Checks verdicts of formulas: all, or only the changes. */
TEST(verdicts)
{
    const uint32_t rounds = getenv("CT_LONG") ? 600 : 20;
    struct record *all = calloc(ORDERS + 1, sizeof *all);
    struct tally tally = {0};
    for (uint32_t i = 0; i < rounds * sizeof formulas / sizeof *formulas; i++) {
        const bool changes_only = i % 2;
        const bool signals[SPEC_STREAMS] = {[SPEC_INPUTS] = changes_only};
        char text[300];
        snprintf(text, sizeof text,
                 "in p: Events[Unit]\nin q: Events[Unit]\ndefine m := monitor(%s)\nout m\n",
                 formulas[i % (sizeof formulas / sizeof *formulas)]);
        one_scene(i * 7919, text, signals, changes_only, 6, 2 + i % 2, all, &tally);
    }
    tell(&tally);
    assert_true(tally.possible > 0 && tally.certain < tally.results);
    free(all);
}
