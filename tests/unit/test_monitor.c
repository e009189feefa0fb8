/* SPDX-License-Identifier: Apache-2.0 */
/* Checks ct_monitor_* as a program uses it: streams and diagnostics by index, feeding, advancing, limits,
 * misuse. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "coretap/monitor.h"
#include "support/ctx_fixture.h"
#include "support/signals.h"

struct log {
    struct ct_monitor *monitor;
    char text[4000];
    size_t size;
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct log *log = user;
    size_t done;
    log->size += ct_monitor_print(log->monitor, results, count, log->text + log->size,
                                  sizeof log->text - log->size, &done);
    assert_int_equal(done, count);
    log->text[log->size] = 0;
}

static struct ct_monitor_spec *compile(struct ct_ctx *ctx, const char *text)
{
    struct ct_monitor_spec *spec;
    if (ct_monitor_compile(ctx, "test", text, strlen(text), NULL, &spec))
        fail_msg("%s", ct_ctx_error(ctx));
    return spec;
}

static void begin(struct ct_ctx *ctx, const struct ct_monitor_spec *spec,
                  const struct ct_monitor_limits *limits, struct log *log)
{
    log->size = 0;
    log->text[0] = 0;
    assert_int_equal(ct_monitor_new(ctx, spec, limits, take, log, &log->monitor), CT_OK);
}

TEST_WITH(streams_are_described, ctx)
{
    struct ct_monitor_spec *spec =
        compile(ctx, "define a := codeLine main.c:32\ndefine m := monitor(next a)\nout m\nout a\n");
    struct ct_monitor_stream s;
    assert_int_equal(ct_monitor_input_count(spec), 1);
    assert_int_equal(ct_monitor_output_count(spec), 2);
    assert_int_equal(ct_monitor_input(spec, 0, &s), CT_OK);
    assert_string_equal(s.name, "a");
    assert_string_equal(s.source, "codeLine");
    assert_string_equal(s.source_arg, "main.c");
    assert_int_equal(s.source_number, 32);
    assert_int_equal(s.type, CT_MONITOR_UNIT);
    assert_int_equal(ct_monitor_output(spec, 0, &s), CT_OK);
    assert_int_equal(s.type, CT_MONITOR_VERDICT);
    assert_string_equal(s.type_text, "Verdict");
    assert_int_equal(ct_monitor_output(spec, 2, &s), CT_ERR_ARG);
    assert_int_equal(ct_monitor_input(spec, 1, &s), CT_ERR_ARG);
    ct_monitor_spec_free(spec);
}

/* The thread that makes machine code in the background takes no signals of the program. */
TEST_WITH(a_background_thread_takes_no_signals, ctx)
{
    static const char text[] = "in x: Events[Int]\nout count(x)\n";
    const struct ct_monitor_options options = {.size = sizeof options, .engine = CT_MONITOR_BACKGROUND};
    struct ct_monitor_spec *spec;
    struct log log;
    size_t threads;
    assert_int_equal(ct_monitor_compile(ctx, "test", text, strlen(text), &options, &spec), CT_OK);
    begin(ctx, spec, NULL, &log);
    assert_int_equal(signals_count(&threads), 1);
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
}

TEST_WITH(diagnostics_have_places, ctx)
{
    struct ct_monitor_spec *spec;
    struct ct_monitor_diag d;
    static const char text[] = "in x: Events[Int]\nout \"\xc3\xa4\xc3\xb6\" + x\n";
    char out[200], cut[10];
    assert_int_equal(ct_monitor_compile(ctx, "f.tessla", text, strlen(text), NULL, &spec), CT_ERR_FORMAT);
    assert_non_null(spec);
    assert_string_equal(ct_ctx_error(ctx), "f.tessla:2:5: error: Type mismatch: Expected Int, found String; "
                                           "Strings are joined by String.concat");
    assert_int_equal(ct_monitor_diag_count(spec), 1);
    assert_int_equal(ct_monitor_diag_get(spec, 0, &d), CT_OK);
    assert_int_equal(d.line, 2);
    assert_int_equal(d.column, 5);
    assert_int_equal(d.end_column, 9); /* characters, not bytes */
    assert_int_equal(d.warning, 0);
    assert_int_equal(ct_monitor_diag_get(spec, 1, &d), CT_ERR_ARG);
    size_t n = ct_monitor_diag_print(spec, 0, out, sizeof out);
    assert_int_equal(n, strlen(out));
    assert_string_equal(out, "f.tessla:2:5: error: Type mismatch: Expected Int, found String; "
                             "Strings are joined by String.concat\n"
                             "    2 | out \"\xc3\xa4\xc3\xb6\" + x\n      |     ^^^^\n");
    assert_int_equal(ct_monitor_diag_print(spec, 0, cut, sizeof cut), n);
    assert_string_equal(cut, "f.tessla:");
    struct ct_monitor *m;
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, NULL, NULL, &m), CT_ERR_ARG);
    assert_null(m);
    ct_monitor_spec_free(spec);
}

/* Compiles a text and returns the first message, or "" when it compiles. */
static const char *message_of(struct ct_ctx *ctx, const char *text, size_t size)
{
    struct ct_monitor_spec *spec;
    const int rc = ct_monitor_compile(ctx, "s", text, size, NULL, &spec);
    ct_monitor_spec_free(spec);
    return rc == CT_OK ? "" : ct_ctx_error(ctx);
}

TEST_WITH(texts_are_as_editors_write_them, ctx)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"\xef\xbb\xbfin x: Events[Int]\r\nout x\r\n", ""},
        {"\xef\xbb\xbfin x: Event[Int]\r\nout x\r\n",
         "s:1:7: error: Undefined type: Event; did you mean 'Events'?"},
        {"in x: Events[Int]\rout x\r",
         "s:1:18: error: Lines end with a carriage return alone; end them with a line feed"},
        {"in gr\xf6sse: Events[Int]\n",
         "s:1:6: error: A byte that is not UTF-8; write the specification as UTF-8 text"},
        {"in x: Events[Int]\nout x # gr\xf6sse\n", ""},
        {"in gr\xc3\xb6\xc3\x9f"
         "e: Events[Int]\nout gr\xc3\xb6\xc3\x9f"
         "e\n",
         ""},
        {"in \xf0\x9f\x9a\x80: Events[Int]\nout \xf0\x9f\x9a\x80\n", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(message_of(ctx, cases[i].text, strlen(cases[i].text)), cases[i].message);
    static const char wide[] = "i\0n\0";
    assert_string_equal(message_of(ctx, wide, sizeof wide - 1),
                        "s:1:2: error: The specification contains a NUL byte; write it as UTF-8 text");
}

TEST_WITH(options_are_checked, ctx)
{
    struct ct_monitor_spec *spec;
    struct ct_monitor_options o = {.size = sizeof o, .time_unit = "week"};
    assert_int_equal(ct_monitor_compile(ctx, "t", "", 0, &o, &spec), CT_ERR_ARG);
    assert_null(spec);
    o = (struct ct_monitor_options){.size = sizeof o, .dialect = 9};
    assert_int_equal(ct_monitor_compile(ctx, "t", "", 0, &o, &spec), CT_ERR_ARG);
    o = (struct ct_monitor_options){.size = sizeof o, .no_include = 1};
    assert_int_equal(ct_monitor_compile(ctx, "t", "include \"/dev/null\"", 19, &o, &spec), CT_ERR_FORMAT);
    ct_monitor_spec_free(spec);
}

struct caller {
    struct ct_monitor *monitor;
    int calls;
};

static void call_back(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct caller *c = user;
    const struct ct_monitor_event event = {.time = 9};
    (void)results;
    (void)count;
    c->calls++;
    assert_int_equal(ct_monitor_feed(c->monitor, &event, 1), CT_ERR_ARG);
    assert_int_equal(ct_monitor_feed_text(c->monitor, "9: i = 1\n", 9, 0), CT_ERR_ARG);
    assert_int_equal(ct_monitor_advance(c->monitor, 9), CT_ERR_ARG);
    assert_int_equal(ct_monitor_lose(c->monitor, NULL), CT_ERR_ARG);
    assert_int_equal(ct_monitor_finish(c->monitor), CT_ERR_ARG);
}

TEST_WITH(a_receiver_does_not_feed, ctx)
{
    struct ct_monitor_spec *spec = compile(ctx, "in i: Events[Int]\nout i\n");
    const struct ct_monitor_event events[] = {{.time = 1}, {.time = 2}, {.time = 3}};
    struct caller caller = {.calls = 0};
    assert_int_equal(ct_monitor_new(ctx, spec, NULL, call_back, &caller, &caller.monitor), CT_OK);
    assert_int_equal(ct_monitor_feed(caller.monitor, events, 3), CT_OK);
    assert_int_equal(ct_monitor_finish(caller.monitor), CT_OK);
    assert_true(caller.calls > 0);
    ct_monitor_free(caller.monitor);
    ct_monitor_spec_free(spec);
}

TEST_WITH(values_of_all_types, ctx)
{
    struct ct_monitor_spec *spec =
        compile(ctx, "in i: Events[Int]\nin f: Events[Float]\nin b: Events[Bool]\nin s: Events[String]\n"
                     "in u: Events[Unit]\nin o: Events[Option[Int]]\nout *\n");
    const struct ct_monitor_event events[] = {
        {.time = 1, .input = 0, .v.i = -5},
        {.time = 1, .input = 1, .v.f = 2.5},
        {.time = 2, .input = 2, .v.i = 1},
        {.time = 2, .input = 3, .v.s = "abc", .size = 2},
        {.time = 3, .input = 4},
    };
    const struct ct_monitor_event option = {.time = 4, .input = 5}, none = {.time = 4, .input = 6};
    struct log log;
    begin(ctx, spec, NULL, &log);
    assert_int_equal(ct_monitor_feed(log.monitor, events, 5), CT_OK);
    assert_int_equal(ct_monitor_feed(log.monitor, &option, 1), CT_ERR_ARG);
    assert_int_equal(ct_monitor_feed(log.monitor, &none, 1), CT_ERR_ARG);
    assert_int_equal(ct_monitor_finish(log.monitor), CT_OK);
    assert_string_equal(log.text, "1: i = -5\n1: f = 2.5\n2: b = true\n2: s = \"ab\"\n3: u = ()\n");
    assert_int_equal(ct_monitor_feed(log.monitor, events, 1), CT_ERR_ARG); /* the run is over */
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
}

TEST_WITH(advance_says_what_is_known, ctx)
{
    struct ct_monitor_spec *spec = compile(ctx, "in x: Events[Int]\nout x\nout delay(const(5, x), x) as d\n");
    const struct ct_monitor_event first = {.time = 3, .v.i = 1}, late = {.time = 11, .v.i = 2},
                                  fine = {.time = 12, .v.i = 3};
    struct log log;
    begin(ctx, spec, NULL, &log);
    assert_int_equal(ct_monitor_feed(log.monitor, &first, 1), CT_OK);
    assert_string_equal(log.text, ""); /* more events may come at 3 */
    assert_int_equal(ct_monitor_advance(log.monitor, 4), CT_OK);
    assert_string_equal(log.text, "3: x = 1\n");
    assert_int_equal(ct_monitor_advance(log.monitor, 8), CT_OK);
    assert_string_equal(log.text, "3: x = 1\n"); /* up to but not at 8 */
    assert_int_equal(ct_monitor_advance(log.monitor, 12), CT_OK);
    assert_string_equal(log.text, "3: x = 1\n8: d = ()\n");
    assert_int_equal(ct_monitor_feed(log.monitor, &fine, 1), CT_OK);
    assert_int_equal(ct_monitor_feed(log.monitor, &late, 1), CT_ERR_FORMAT);
    assert_string_equal(ct_ctx_error(ctx), "Decreasing time stamps: first = 12, second = 11; "
                                           "sort the events by their times");
    assert_string_equal(log.text, "3: x = 1\n8: d = ()\n12: x = 3\n");
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
}

TEST_WITH(memory_is_bounded, ctx)
{
    struct ct_monitor_spec *spec =
        compile(ctx, "in x: Events[Int]\ndef s: Events[String] = default(on(x, String.concat(last(s, x), "
                     "last(s, x))), \"ab\")\nout s == \"\" as e\n");
    const struct ct_monitor_limits limits = {.size = sizeof limits, .memory = 1 << 20};
    struct log log;
    int r = CT_OK;
    begin(ctx, spec, &limits, &log);
    for (uint64_t t = 1; t < 100 && !r; t++) {
        const struct ct_monitor_event e = {.time = t};
        r = ct_monitor_feed(log.monitor, &e, 1);
    }
    assert_int_equal(r, CT_ERR_LIMIT);
    assert_non_null(
        strstr(ct_ctx_error(ctx), "The values of the monitor need more memory than the limit of 1.0 MiB"));
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
}

/* A specification may be long: what compiling takes grows with its text, not with its inputs times its
 * streams. (That took "too much work" for these.) */
TEST_WITH(many_inputs_compile, ctx)
{
    enum {
        INPUTS = 9000,
        LINE = 64,
    };
    char *text = malloc(INPUTS * LINE);
    size_t size = 0;
    assert_non_null(text);
    for (unsigned i = 0; i < INPUTS; i++)
        size += (size_t)snprintf(text + size, LINE, "in i%u: Events[Int]\nout i%u + 1 as o%u\n", i, i, i);
    ct_monitor_spec_free(compile(ctx, text));
    free(text);
}

/* Dropped values are freed: a long run of new strings and lists stays within a small limit. */
TEST_WITH(garbage_is_collected, ctx)
{
    struct ct_monitor_spec *spec = compile(
        ctx, "in x: Events[String]\ndef l = fold(x, List.empty[String], (l: List[String], s: String) =>\n"
             "  List.append(if List.size(l) >= 3 then List.tail(l) else l, String.concat(s, \"!\")))\n"
             "def o = slift1(prev(l), (a: List[String]) => Some(List.get(a, 0)))\nout filter(l, count(x) > "
             "99997) as l\n"
             "out filter(o, count(x) > 99999) as o\n");
    const struct ct_monitor_limits limits = {.size = sizeof limits, .memory = 2 << 20};
    struct log log;
    begin(ctx, spec, &limits, &log);
    for (uint64_t t = 1; t <= 100000; t++) {
        char text[60];
        const int n =
            snprintf(text, sizeof text, "a rather long string with the number %llu", (unsigned long long)t);
        const struct ct_monitor_event e = {.time = t, .v.s = text, .size = (uint32_t)n};
        assert_int_equal(ct_monitor_feed(log.monitor, &e, 1), CT_OK);
    }
    assert_int_equal(ct_monitor_finish(log.monitor), CT_OK);
    assert_non_null(strstr(log.text, "100000: l = List(\"a rather long string with the number 99998!\", "
                                     "\"a rather long string with the number 99999!\", "
                                     "\"a rather long string with the number 100000!\")\n"
                                     "100000: o = Some(\"a rather long string with the number 99997!\")\n"));
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
}

static int run_limited(struct ct_ctx *ctx, const char *text, uint64_t end,
                       const struct ct_monitor_limits *limits)
{
    struct ct_monitor_spec *spec = compile(ctx, text);
    const struct ct_monitor_event e = {.time = end, .v.i = 1};
    struct log log;
    begin(ctx, spec, limits, &log);
    int r = ct_monitor_feed(log.monitor, &e, 1);
    if (!r)
        r = ct_monitor_finish(log.monitor);
    ct_monitor_free(log.monitor);
    ct_monitor_spec_free(spec);
    return r;
}

TEST_WITH(time_is_bounded_where_asked, ctx)
{
    const struct ct_monitor_limits limits = {.size = sizeof limits, .instants = 50, .budget = 10000};
    assert_int_equal(run_limited(ctx, "in x: Events[Int]\nout period(2) as p\n", 60, &limits), CT_OK);
    assert_int_equal(run_limited(ctx,
                                 "in x: Events[Int]\nout filter(period(2), false) as p\nout period(2) as q\n",
                                 1000, &limits),
                     CT_ERR_LIMIT);
    assert_int_equal(
        run_limited(
            ctx,
            "in x: Events[Int]\ndef f(n: Int): Int = if n == 0 then 0 else f(n + 1)\nout slift1(x, f) as y\n",
            1, &limits),
        CT_ERR_LIMIT);
    assert_non_null(strstr(ct_ctx_error(ctx), "One event takes more work than the limit of 10000 units; "
                                              "raise the limit with --event-budget (t = 1)"));
}

/* Returns how many events are accepted when each adds a number to a set. */
static uint64_t events_taken(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, uint64_t budget,
                             uint64_t count)
{
    const struct ct_monitor_limits limits = {.size = sizeof limits, .budget = budget};
    struct log log;
    uint64_t taken = 0;
    begin(ctx, spec, &limits, &log);
    for (; taken < count; taken++) {
        const struct ct_monitor_event e = {.time = taken, .v.i = (int64_t)taken};
        if (ct_monitor_feed(log.monitor, &e, 1))
            break;
    }
    ct_monitor_free(log.monitor);
    return taken;
}

/* Feeds small events and causes a collection of their garbage: it counts as work of the event after which it
 * runs. */
TEST_WITH(collection_is_work_of_its_event, ctx)
{
    struct ct_monitor_spec *spec = compile(
        ctx, "in x: Events[Int]\ndef s = fold(x, Set.empty[Int], (s: Set[Int], k: Int) => Set.add(s, k))\n"
             "out filter(s, x < 0) as s\n");
    const uint64_t all = 50000, entries = 96 / 16 + 2; /* bytes of a tree node */
    const uint64_t budget = 100000;
    assert_int_equal(events_taken(ctx, spec, 0, all), all);
    const uint64_t taken = events_taken(ctx, spec, budget, all);
    assert_true(taken < all && taken > budget / entries / 4);
    assert_non_null(strstr(ct_ctx_error(ctx), "One event takes more work than the limit of 100000 units"));
    ct_monitor_spec_free(spec);
}

/* Macros that never end are soon an error, in whatever form. */
TEST_WITH(expansion_is_bounded, ctx)
{
    static const char *const texts[] = {
        "def f(a: Int): Int = f(a + 1)\nout f(1)\n",
        "def f(a: Int): Int = f(a) + f(a)\nout f(1)\n",
        "in x: Events[Int]\ndef f(a: Events[Int]): Events[Int] = f(f(a))\nout f(x)\n",
        "type A = List[A]\nin x: Events[A]\nout x\n",
        "def fib(n: Int): Int = if n < 2 then n else fib(n - 1) + fib(n - 2)\nout fib(60)\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct ct_monitor_spec *spec;
        int r = ct_monitor_compile(ctx, "t", texts[i], strlen(texts[i]), NULL, &spec);
        assert_true(r == CT_ERR_FORMAT || r == CT_ERR_LIMIT);
        ct_monitor_spec_free(spec);
    }
}

TEST_WITH(text_cut_anywhere, ctx)
{
    static const char text[] = "1: x = 10 -- c\n\n# comment\n 2 :x= -3\n5: x = 7";
    struct ct_monitor_spec *spec = compile(ctx, "in x: Events[Int]\nout x\n");
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        struct log log;
        begin(ctx, spec, NULL, &log);
        assert_int_equal(ct_monitor_feed_text(log.monitor, text, cut, 0), CT_OK);
        assert_int_equal(ct_monitor_feed_text(log.monitor, text + cut, strlen(text) - cut, 1), CT_OK);
        assert_int_equal(ct_monitor_finish(log.monitor), CT_OK);
        assert_string_equal(log.text, "1: x = 10\n2: x = -3\n5: x = 7\n");
        ct_monitor_free(log.monitor);
    }
    ct_monitor_spec_free(spec);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

TEST_WITH(files_are_included, ctx)
{
    char folder[] = "/tmp/coretap-include-XXXXXX", path[300];
    struct ct_monitor_spec *spec;
    static const char text[] = "include \"one\"\ninclude \"two.tessla\"\nout a + b as c\n";
    static const char wrong[] = "include \"bad\"\n", cycle[] = "include \"cycle\"\n";
    assert_non_null(mkdtemp(folder));
    write_file(folder, "one.tessla", "def a = 1\n");
    write_file(folder, "two.tessla", "include \"three\"\n");
    write_file(folder, "three", "in x: Events[Int]\ndef b = x");
    write_file(folder, "bad", "def a = 1\ndef b = nothing\n");
    write_file(folder, "cycle", cycle);
    snprintf(path, sizeof path, "%s/main.tessla", folder);
    assert_int_equal(ct_monitor_compile(ctx, path, text, strlen(text), NULL, &spec), CT_OK);
    assert_int_equal(ct_monitor_input_count(spec), 1);
    ct_monitor_spec_free(spec);
    assert_int_equal(ct_monitor_compile(ctx, path, wrong, strlen(wrong), NULL, &spec), CT_ERR_FORMAT);
    assert_non_null(strstr(ct_ctx_error(ctx), "/bad:2:9: error: Undefined variable nothing"));
    ct_monitor_spec_free(spec);
    assert_int_equal(ct_monitor_compile(ctx, path, cycle, strlen(cycle), NULL, &spec), CT_ERR_FORMAT);
    assert_non_null(
        strstr(ct_ctx_error(ctx),
               "the file includes itself, directly or through other files; remove one of these includes"));
    ct_monitor_spec_free(spec);
    static const char *const names[] = {"one.tessla", "two.tessla", "three", "bad", "cycle"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        remove(path);
    }
    rmdir(folder);
}

TEST_WITH(the_graph_is_drawn, ctx)
{
    struct ct_monitor_spec *spec = compile(ctx, "in x: Events[Int]\nout x + 1 as y\n");
    char text[2000];
    assert_int_equal(ct_monitor_node_count(spec), 2);
    size_t n = ct_monitor_dot(spec, text, sizeof text);
    assert_int_equal(n, strlen(text));
    assert_non_null(strstr(text, "label = \"slift\\nADD($1, 1)\""));
    ct_monitor_spec_free(spec);
}
