/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the places of events of two cores on one axis, made of timestamps, cycles and exceptions alone. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/axis.h"
#include "support/unit.h"

enum {
    MARKS = 32,
    TEXT = 2000,
};

/* Reads the trace of a core, a word per mark: T10 is a timestamp, C5 a cycle count, X an exception, G a loss.
 * Returns the number of marks. */
static size_t parse(const char *text, struct ct_step_mark marks[MARKS])
{
    size_t count = 0;
    for (const char *p = text; *p; p++) {
        if (*p == ' ')
            continue;
        struct ct_step_mark *mark = &marks[count++];
        *mark = (struct ct_step_mark){.kind = CT_MARK_ELEM};
        mark->elem.kind = *p == 'T'   ? CT_ELEM_TIMESTAMP
                          : *p == 'C' ? CT_ELEM_CYCLES
                          : *p == 'G' ? CT_ELEM_GAP
                                      : CT_ELEM_EXCEPTION;
        if (*p == 'G')
            mark->elem.n = CT_GAP_OVERFLOW;
        char *end = (char *)(uintptr_t)p + 1;
        if (*p == 'T' || *p == 'C')
            mark->elem.v = strtoull(p + 1, &end, 10);
        p = end - 1;
    }
    return count;
}

struct seen {
    char text[TEXT];
    size_t size;
};

static void put(struct seen *s, const char *text)
{
    s->size += (size_t)snprintf(s->text + s->size, TEXT - s->size, "%s", text);
}

static void on_result(void *user, const struct ct_verify_result *r)
{
    struct seen *s = user;
    char line[200];
    snprintf(line, sizeof line, "%llu %s%s%s %s%s%s", (unsigned long long)r->time, r->name,
             r->core ? "@" : "", r->core ? r->core : "", r->value, r->violation ? " !" : "",
             r->uncertain ? " ?" : "");
    put(s, line);
    if (r->place)
        put(s, r->place->event.source ? " right" : " left");
    if (r->doubt[0] && r->doubt[1])
        put(s, r->doubt[0]->event.source < r->doubt[1]->event.source ? " (left, right)" : " (right, left)");
    put(s, "\n");
}

/* Two cores, whose marks are taken `pieces` at a time. */
struct cores {
    struct ct_step_mark marks[2][MARKS];
    size_t count[2], done[2];
    struct ct_graph *graph;
    struct ct_verify_axis *axis;
    size_t pieces;
};

static void take_more(struct cores *c, size_t core)
{
    const size_t left = c->count[core] - c->done[core];
    const size_t n = left < c->pieces ? left : c->pieces;
    const struct ct_step_batch batch = {
        .graph = c->graph, .marks = c->marks[core] + c->done[core], .mark_count = n};
    assert_int_equal(ct_verify_axis_take(c->axis, core, &batch), CT_OK);
    c->done[core] += n;
    if (c->done[core] == c->count[core])
        assert_int_equal(ct_verify_axis_end(c->axis, core), CT_OK);
}

/* Runs a specification over two cores. Its inputs are x, the exceptions of any core or of each, and with
 * `fixed` also l and r, those of one core. */
struct bound {
    const char *x;
    bool fixed;
};

static void run(const char *text, struct bound bound, const char *left, const char *right, size_t pieces,
                struct seen *seen)
{
    static const char *const names[] = {"left", "right"};
    const struct ct_verify_bind binds[] = {{"x", bound.x}, {"l", "exception@left"}, {"r", "exception@right"}};
    const struct ct_verify_options options = {.size = sizeof options};
    struct cores c = {.pieces = pieces};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor_spec *spec;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    char whole[TEXT];
    snprintf(whole, sizeof whole, "in x: Events[Unit]\n%s%s",
             bound.fixed ? "in l: Events[Unit]\nin r: Events[Unit]\n" : "", text);
    if (ct_monitor_compile(ctx, "axis", whole, strlen(whole), NULL, &spec))
        fail_msg("%s", ct_ctx_error(ctx));
    assert_int_equal(ct_watches_new(ctx, NULL, &watches), CT_OK);
    assert_int_equal(ct_verifier_new(ctx, &options, watches, &verifier), CT_OK);
    assert_int_equal(ct_verifier_sources(verifier, names, 2), CT_OK);
    if (ct_verifier_add(verifier, spec, "axis", binds, bound.fixed ? 3 : 1))
        fail_msg("%s", ct_ctx_error(ctx));
    assert_int_equal(ct_verifier_begin(verifier, on_result, seen), CT_OK);
    assert_int_equal(ct_verify_axis_new(ctx, verifier, watches, 1, &c.axis), CT_ERR_ARG);
    assert_int_equal(ct_verify_axis_new(ctx, verifier, watches, 2, &c.axis), CT_OK);
    assert_int_equal(ct_graph_new(ctx, &c.graph), CT_OK);
    c.count[0] = parse(left, c.marks[0]);
    c.count[1] = parse(right, c.marks[1]);
    for (int next; (next = ct_verify_axis_next(c.axis)) >= 0;) {
        take_more(&c, (size_t)next);
        assert_int_equal(ct_verify_axis_run(c.axis), CT_OK);
    }
    assert_int_equal(ct_verifier_finish(verifier), CT_OK);
    ct_graph_free(c.graph);
    ct_verify_axis_free(c.axis);
    ct_verifier_free(verifier);
    ct_watches_free(watches);
    ct_monitor_spec_free(spec);
    ct_ctx_free(ctx);
}

/* Expects the same results however the trace is cut. */
static void expect_with(struct bound bound, const char *text, const char *left, const char *right,
                        const char *wanted)
{
    for (size_t pieces = 1; pieces < 6; pieces++) {
        struct seen seen = {.text = ""};
        run(text, bound, left, right, pieces, &seen);
        assert_string_equal(seen.text, wanted);
    }
}

static void expect(const char *text, const char *left, const char *right, const char *wanted)
{
    expect_with((struct bound){"exception", true}, text, left, right, wanted);
}

#define AHEAD "def error = count(r) > count(l)\nout error\n"

/* An event is between the timestamps around it, whichever core is decoded first. */
TEST(order_of_timestamps)
{
    expect(AHEAD, "T10 X T20 T50 X T60", "T30 X T40 T70 X T80",
           "0 error false\n10 error false left\n30 error false right\n50 error false left\n"
           "70 error false right\n");
    expect(AHEAD, "T30 X T40 T70 X T80", "T10 X T20 T50 X T60",
           "0 error false\n10 error true ! right\n30 error false left\n50 error true ! right\n"
           "70 error false left\n");
}

/* Intervals overlap: a result that depends on the order is uncertain, and the result of another order is
 * reported. */
TEST(order_in_doubt)
{
    expect(AHEAD, "T10 X T20 T50 X T60", "T15 X T40 T70 X T80",
           "0 error false\n10 error false left\n15 error false ? right (left, right)\n"
           "15 error true ! ? right (left, right)\n50 error false left\n70 error false right\n");
    /* Which event is which depends on the order; their number does not. */
    expect(
        "out count(x) as n\nout count(l) as m\n", "T10 X X T20 T50 X T60", "T15 X T40",
        "0 n 0\n0 m 0\n10 n 1 ? left (left, right)\n10 m 1 left\n11 n 2 ? left (left, right)\n11 m 2 left\n"
        "15 n 3 ? right (left, right)\n50 n 4 left\n50 m 3 left\n");
    /* A core that does not feed the specification causes no doubt. */
    expect("out count(l) as m\n", "T10 X T20", "T15 X T40", "0 m 0\n10 m 1 left\n");
    /* After the last timestamp nothing is known. */
    expect(AHEAD, "T10 X", "T20 T900 X",
           "0 error false\n10 error false left\n"
           "900 error false ? right (left, right)\n"
           "900 error true ! ? right (left, right)\n");
}

/* Cycles between two timestamps narrow the interval. */
TEST(order_of_cycles)
{
    expect(AHEAD, "T100 C10 X C1 C9 X C1 C79 T200", "T100 C30 X C1 C59 X C1 C9 T200",
           "0 error false\n110 error false left\n120 error false left\n130 error false right\n"
           "190 error false right\n");
    /* Each core has its own rate. */
    expect("def error = count(r) >= count(l) && count(l) > 0\nout error\n", "T100 C1 X C1 X C8 T200",
           "T100 C300 X C700 T200",
           "0 error false\n110 error false left\n120 error false left\n"
           "130 error false ? right (left, right)\n130 error true ! ? right (left, right)\n");
}

/* A lost event may have been anywhere between the timestamps around the loss. */
TEST(order_of_losses)
{
    expect(
        "out count(x) as n\nout count(l) as m\n", "T10 X T20 G T50 X T60", "T5 X T8 T30 X T40 T70 X T80",
        "0 n 0\n0 m 0\n5 n 1 right\n10 n 2 left\n10 m 1 left\n30 n 3 ? right\n50 n 4 ? left\n50 m 2 ? left\n"
        "70 n 5 ? right\n");
    /* A result that depended on an order depends on the loss, too: no two events are named. */
    expect("def turn = merge(const(1, l), const(2, r))\n"
           "out fold(turn, 0, (a: Int, b: Int) => 2 * a + b) as n\n",
           "T10 X T20 T50 X T60 T70 G T80 X T90", "T15 X T40",
           "0 n 0\n10 n 1 ? left (left, right)\n15 n 4 ? right (left, right)\n"
           "50 n 9 ? left (left, right)\n80 n 19 ? left\n");
}

/* With an input of each core there is an instance for each. It takes the events of its own core and of the
 * fixed ones, and its results name its core. */
TEST(of_each_core)
{
    const struct bound alone = {"exception@each", false};
    const struct bound both = {"exception@each", true};
    expect_with(alone, "out count(x) as n\n", "T10 X T20 T50 X T60", "T30 X T40",
                "0 n@left 0\n10 n@left 1 left\n0 n@right 0\n50 n@left 2 left\n30 n@right 1 right\n");
    expect_with(both, "def error = count(x) > count(l)\nout error\n", "T10 X T20 T70 X T80",
                "T30 X T40 T50 X T60",
                "0 error@left false\n10 error@left false left\n"
                "0 error@right false\n10 error@right false left\n30 error@right false right\n"
                "50 error@right true ! right\n70 error@left false left\n70 error@right false left\n");
    /* Doubt about the order in one instance does not concern the other one. */
    expect_with(both, "def error = count(x) > count(l)\nout error\n", "T10 X T20", "T15 X T40",
                "0 error@left false\n0 error@right false\n10 error@left false left\n"
                "10 error@right false left\n15 error@right false ? right (left, right)\n"
                "15 error@right true ! ? right (left, right)\n");
    /* A loss of one core does not concern the instance of another one. */
    expect_with(alone, "out count(x) as n\n", "T10 X T20 G T50 X T60", "T30 X T40 T70 X T80",
                "0 n@left 0\n10 n@left 1 left\n0 n@right 0\n30 n@right 1 right\n"
                "50 n@left 2 ? left\n70 n@right 2 right\n");
}

/* The target starts again, and the timestamps of both cores go back: times go on, in the order of the new
 * timestamps, and what happened in between is lost. */
TEST(clocks_start_again)
{
    expect("out count(x) as n\n", "T100 X T110 T120 X T130 T5 X T15 T60 X T70", "T100 T105 T20 X T40 X T50",
           "0 n 0\n100 n 1 left\n120 n 2 left\n131 n 3 ? left\n146 n 4 ? right\n166 n 5 ? right\n186 n 6 ? "
           "left\n");
}

/* A timestamp that the next ones contradict is damaged: it moves nothing. */
TEST(damaged_timestamp)
{
    static const char wanted[] = "0 n 0\n10 n 1 left\n20 n 2 right\n30 n 3 left\n50 n 4 left\n";
    const char *const right = "T15 T20 X T28 T80";
    expect("out count(x) as n\n", "T10 X T15 T30 X T40 T50 X T60", right, wanted);
    expect("out count(x) as n\n", "T10 X T15 T30 X T1125899906842624 T40 T50 X T60", right, wanted);
    expect("out count(x) as n\n", "T10 X T15 T30 X T2 T40 T50 X T60", right, wanted);
    expect("out count(x) as n\n", "T10 X T15 T30 X T2 T1125899906842624 T40 T50 X T60", right, wanted);
}

/* A core sleeps for long. */
TEST(timestamps_far_apart)
{
    expect("out count(x) as n\n", "T10 X T20 T1125899906842624 X T1125899906842634",
           "T30 X T40 T1125899906842644 X T1125899906842654",
           "0 n 0\n10 n 1 left\n30 n 2 right\n1125899906842624 n 3 left\n1125899906842644 n 4 right\n");
}

/* ---- sources that are not waited for ---- */

/* A run of one specification over x, the exceptions of both cores, whose trace is given by the test. */
struct by_hand {
    struct ct_ctx *ctx;
    struct ct_monitor_spec *spec;
    struct ct_watches *watches;
    struct ct_verifier *verifier;
    struct ct_graph *graph;
    struct ct_verify_axis *axis;
    struct seen seen;
};

/* Times go on when the timestamps of the only source go back; what happened in between is lost. */
TEST(clock_starts_again)
{
    static const uint64_t times[] = {100, 130, 5, 60};
    const struct ct_verify_bind bind = {"x", "exception"};
    const struct ct_verify_options options = {.size = sizeof options, .clock = CT_VERIFY_TIMESTAMPS};
    static const char text[] = "in x: Events[Unit]\nout count(x) as n\n";
    struct by_hand h = {.ctx = ct_ctx_new()};
    uint32_t watch;
    assert_int_equal(ct_monitor_compile(h.ctx, "axis", text, strlen(text), NULL, &h.spec), CT_OK);
    assert_int_equal(ct_watches_new(h.ctx, NULL, &h.watches), CT_OK);
    assert_int_equal(ct_verifier_new(h.ctx, &options, h.watches, &h.verifier), CT_OK);
    assert_int_equal(ct_verifier_add(h.verifier, h.spec, "axis", &bind, 1), CT_OK);
    assert_int_equal(ct_verifier_begin(h.verifier, on_result, &h.seen), CT_OK);
    ct_watches_all(h.watches, &watch); /* the last one is that of x */
    for (size_t i = 0; i < 4; i++) {
        const struct ct_watch_event e = {
            .watch = watch - 1, .kind = CT_WATCH_EXCEPTION, .timestamp = times[i], .has_timestamp = 1};
        assert_int_equal(ct_verifier_feed(h.verifier, &e, 1), CT_OK);
    }
    assert_int_equal(ct_verifier_finish(h.verifier), CT_OK);
    assert_string_equal(h.seen.text, "0 n 0\n100 n 1 left\n130 n 2 left\n131 n 3 ? left\n186 n 4 ? left\n");
    ct_verifier_free(h.verifier);
    ct_watches_free(h.watches);
    ct_monitor_spec_free(h.spec);
    ct_ctx_free(h.ctx);
}

static void begin(struct by_hand *h)
{
    static const char *const names[] = {"left", "right"};
    const struct ct_verify_bind bind = {"x", "exception"};
    const struct ct_verify_options options = {.size = sizeof options};
    static const char text[] = "in x: Events[Unit]\nout count(x) as n\n";
    *h = (struct by_hand){.ctx = ct_ctx_new()};
    assert_int_equal(ct_monitor_compile(h->ctx, "axis", text, strlen(text), NULL, &h->spec), CT_OK);
    assert_int_equal(ct_watches_new(h->ctx, NULL, &h->watches), CT_OK);
    assert_int_equal(ct_verifier_new(h->ctx, &options, h->watches, &h->verifier), CT_OK);
    assert_int_equal(ct_verifier_sources(h->verifier, names, 2), CT_OK);
    assert_int_equal(ct_verifier_add(h->verifier, h->spec, "axis", &bind, 1), CT_OK);
    assert_int_equal(ct_verifier_begin(h->verifier, on_result, &h->seen), CT_OK);
    assert_int_equal(ct_verify_axis_new(h->ctx, h->verifier, h->watches, 2, &h->axis), CT_OK);
    for (size_t i = 0; i < 2; i++) /* a timestamp is as far as a source of software trace has come */
        assert_int_equal(
            ct_verify_axis_source(h->axis, i, &(const struct ct_source){.protocol = CT_PROTOCOL_ITM}), CT_OK);
    assert_int_equal(ct_graph_new(h->ctx, &h->graph), CT_OK);
}

static void take(struct by_hand *h, size_t core, const char *text)
{
    struct ct_step_mark marks[MARKS];
    const struct ct_step_batch batch = {.graph = h->graph, .marks = marks, .mark_count = parse(text, marks)};
    assert_int_equal(ct_verify_axis_take(h->axis, core, &batch), CT_OK);
    assert_int_equal(ct_verify_axis_settle(h->axis), CT_OK);
}

/* Ends the run and compares the results. */
static void end(struct by_hand *h, const char *wanted)
{
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(ct_verify_axis_end(h->axis, i), CT_OK);
    assert_int_equal(ct_verify_axis_run(h->axis), CT_OK);
    assert_int_equal(ct_verifier_finish(h->verifier), CT_OK);
    assert_string_equal(h->seen.text, wanted);
    ct_graph_free(h->graph);
    ct_verify_axis_free(h->axis);
    ct_verifier_free(h->verifier);
    ct_watches_free(h->watches);
    ct_monitor_spec_free(h->spec);
    ct_ctx_free(h->ctx);
}

static struct ct_verify_axis_passed passed(const struct by_hand *h, size_t core)
{
    struct ct_verify_axis_passed p;
    assert_int_equal(ct_verify_axis_passed_of(h->axis, core, &p), CT_OK);
    return p;
}

/* A core is silent for long: the others go on, and their results are uncertain until it has caught up. Its
 * events of that time come too late. */
TEST(silent_core)
{
    struct by_hand h;
    begin(&h);
    take(&h, 0, "T10 X T11");
    take(&h, 1, "T12 T13 X T14");
    take(&h, 0, "T30 X T40 T50 X T60");
    assert_int_equal(ct_verify_axis_held(h.axis), 2);
    assert_int_equal(ct_verify_axis_next(h.axis), 1);
    assert_int_equal(ct_verify_axis_pass(h.axis), CT_OK);
    assert_int_equal(ct_verify_axis_settle(h.axis), CT_OK);
    assert_int_equal(ct_verify_axis_next(h.axis), 0);
    take(&h, 0, "T70");
    assert_int_equal(ct_verify_axis_held(h.axis), 0);
    take(&h, 1, "X T45 X T90 X T100");
    take(&h, 0, "T200 X T210");
    assert_int_equal(passed(&h, 1).times, 1);
    assert_int_equal(passed(&h, 1).late, 2);
    assert_int_equal(passed(&h, 0).times + passed(&h, 0).late, 0);
    end(&h, "0 n 0\n10 n 1 left\n13 n 2 right\n30 n 3 ? left\n50 n 4 ? left\n90 n 5 ? right\n"
            "200 n 6 ? left\n");
}

/* A specification added while a core is silent knows no more of that core than an earlier one. */
TEST(exchanged_in_silence)
{
    const struct ct_verify_bind bind = {"x", "exception"};
    struct by_hand h;
    begin(&h);
    take(&h, 1, "T5 X T6");
    take(&h, 0, "T10 X T20 T30 X T40");
    assert_int_equal(ct_verify_axis_pass(h.axis), CT_OK);
    take(&h, 0, "T50 X T60");
    assert_int_equal(ct_verifier_exchange(h.verifier, 0, h.spec, "later", &bind, 1), CT_OK);
    take(&h, 0, "T70 X T80 T90");
    take(&h, 1, "T100 T110 X T120");
    take(&h, 0, "T130");
    end(&h, "0 n 0\n5 n 1 right\n10 n 2 ? left\n30 n 3 ? left\n50 n 4 ? left\n"
            "0 n 0 ?\n70 n 1 ? left\n110 n 2 ? right\n");
}

/* A core that never had trace is not waited for. */
TEST(core_without_trace)
{
    struct by_hand h;
    begin(&h);
    take(&h, 0, "T10 X T20 T30 X T40");
    assert_int_equal(ct_verify_axis_held(h.axis), 2);
    assert_int_equal(ct_verify_axis_pass(h.axis), CT_OK);
    take(&h, 0, "T50");
    assert_int_equal(ct_verify_axis_held(h.axis), 0);
    assert_int_equal(passed(&h, 1).late, 0);
    end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n");
    /* … until it has, which may be too late. */
    begin(&h);
    take(&h, 0, "T10 X T20 T30 X T40");
    assert_int_equal(ct_verify_axis_pass(h.axis), CT_OK);
    take(&h, 0, "T50");
    take(&h, 1, "T25 X T27 T60 X T70");
    take(&h, 0, "T80 X T90");
    assert_int_equal(passed(&h, 1).late, 1);
    end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n60 n 3 ? right\n80 n 4 ? left\n");
}

/* The others do not wait for a core that has not begun, but they do wait for their own events since they were
 * last asked. Its events from before that come too late; later ones are placed as if all had waited. */
TEST(core_that_begins_later)
{
    struct by_hand h;
    assert_int_equal(ct_verify_axis_presume(NULL), CT_ERR_ARG);
    assert_int_equal(ct_verify_axis_mute(NULL, 0, 1), CT_ERR_ARG);
    begin(&h);
    assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
    take(&h, 0, "T10 X T20 T30 X T40");
    assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
    take(&h, 0, "T50 X T60");
    assert_int_equal(ct_verify_axis_held(h.axis), 3);
    assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
    take(&h, 0, "T70");
    assert_int_equal(ct_verify_axis_held(h.axis), 1);
    take(&h, 1, "T45 X T47");
    assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
    take(&h, 0, "X T80");
    assert_int_equal(ct_verify_axis_held(h.axis), 2); /* it is waited for from now on */
    assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
    take(&h, 1, "T90 X T100");
    assert_int_equal(passed(&h, 1).times + passed(&h, 1).late + passed(&h, 1).unforeseen, 0);
    end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n45 n 3 right\n50 n 4 left\n70 n 5 left\n90 n 6 right\n");
    for (int settles = 0; settles < 2; settles++) { /* 0 and 1: whatever was delivered by then */
        begin(&h);
        take(&h, 0, "T10 X T20 T30 X T35 X T40");
        for (int i = 0; i < 2; i++)
            assert_int_equal(ct_verify_axis_presume(h.axis), CT_OK);
        if (settles)
            assert_int_equal(ct_verify_axis_settle(h.axis), CT_OK);
        take(&h, 1, "G T25 X T27 T60 X T70");
        take(&h, 0, "T80 X T90");
        assert_int_equal(passed(&h, 1).late, 1);
        assert_int_equal(passed(&h, 1).unforeseen, 2);
        end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n35 n 3 ? left\n60 n 4 ? right\n80 n 5 ? left\n");
    }
}

/* A muted core holds up no other, and its losses make nothing uncertain, until it is heard again. */
TEST(core_that_is_muted)
{
    struct by_hand h;
    begin(&h);
    assert_int_equal(ct_verify_axis_mute(h.axis, 2, 1), CT_ERR_ARG);
    assert_int_equal(ct_verify_axis_mute(h.axis, 1, 1), CT_OK);
    take(&h, 1, "T5 X T7 G");
    take(&h, 0, "T10 X T20 T30 X T40");
    assert_int_equal(ct_verify_axis_held(h.axis), 0);
    assert_int_equal(ct_verify_axis_mute(h.axis, 1, 0), CT_OK);
    take(&h, 0, "T70 X T80");
    assert_int_equal(ct_verify_axis_held(h.axis), 1);
    take(&h, 1, "T50 X T60 T90");
    end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n50 n 3 right\n70 n 4 left\n");
}

static int only_left(void *user, size_t source, const struct ct_watch_event *event)
{
    (void)user;
    (void)event;
    return source == 0;
}

/* An event that the filter leaves out reaches no specification; one that reaches no specification is not
 * waited for. */
TEST(filtered_core)
{
    struct by_hand h;
    begin(&h);
    assert_int_equal(ct_verify_axis_filter(h.axis, only_left, NULL), CT_OK);
    take(&h, 1, "T5 X T40 X T60");
    take(&h, 0, "T10 X T20 T30 X T50");
    end(&h, "0 n 0\n10 n 1 left\n30 n 2 left\n");
    begin(&h);
    assert_int_equal(ct_verifier_remove(h.verifier, 0), CT_OK);
    assert_int_equal(ct_verify_axis_renew(h.axis), CT_OK);
    take(&h, 0, "T10 X T20 T30 X T50");
    assert_int_equal(ct_verify_axis_next(h.axis), -1);
    assert_int_equal(ct_verify_axis_held(h.axis), 0);
    end(&h, "0 n 0\n");
}
