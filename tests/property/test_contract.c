/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that every kind of analysis keeps the contract of analysis.h. Merged pieces equal the whole,
 * wherever the trace was cut; for a kind that needs steps in order, a piece is a stream of its own. Merging
 * is associative and commutative, and an empty part changes nothing. A weight of n equals n merges. A saved
 * analysis loads to the same bytes. A file that was changed or cut off is an error and changes nothing.
 * CT_SEED sets the first seed, CT_COUNT the number of rounds, CT_LONG=1 the long tier. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

#include "coretap/analysis.h"
#include "coretap/counts.h"
#include "coretap/cover.h"
#include "coretap/event.h"
#include "coretap/fractal_sums.h"
#include "coretap/stacks.h"
#include "coretap/timing.h"
#include "coretap/verify_sums.h"
#include "support/output.h"
#include "support/part.h"
#include "support/require.h"
#include "support/rng.h"
#include "unit/elf_build.h"

enum {
    PROGRAMS = 3,
    NODES = 60,
    STEPS = 400,
    BASE = 0x400000, /* address where elf64_build puts a program */
    PROGRAM_SIZE = 0x80,
    NAMES = 3, /* names of each program */
    CONTEXTS = 4,
    PIECES = 3,
};

/* ---- execution ---- */

struct history {
    struct rng rng;
    struct ct_node nodes[NODES];
    struct ct_edge edges[NODES];
    uint32_t steps[STEPS]; /* edge numbers */
    uint32_t cycles[STEPS];
    uint32_t contexts[STEPS];   /* context IDs */
    uint8_t interrupted[STEPS]; /* 1: an exception before the step */
    uint8_t lost[STEPS];        /* 1: trace is missing before the step */
    size_t count;
};

static void make_history(struct history *h, uint64_t seed)
{
    *h = (struct history){.rng = {seed}};
    for (uint32_t i = 0; i < NODES; i++) {
        const uint64_t start = BASE + 4 * (uint64_t)rng_below(&h->rng, PROGRAMS * PROGRAM_SIZE / 4);
        const uint32_t n = 1 + rng_below(&h->rng, 5);
        h->nodes[i] = (struct ct_node){.start = start,
                                       .last = start + 4 * (uint64_t)(n - 1),
                                       .end = start + 4 * (uint64_t)n,
                                       .n = n,
                                       .isa = (uint8_t)rng_below(&h->rng, 2),
                                       .type = (uint8_t)rng_below(&h->rng, 3),
                                       .sub = (uint8_t)rng_below(&h->rng, 3),
                                       .cond = (uint8_t)rng_below(&h->rng, 2),
                                       .last_size = 4};
        h->edges[i] =
            (struct ct_edge){.next = BASE + 4 * (uint64_t)rng_below(&h->rng, PROGRAMS * PROGRAM_SIZE / 4),
                             .exec = (uint8_t)rng_below(&h->rng, 2),
                             .kind = (uint8_t)rng_below(&h->rng, 3)};
    }
    h->count = rng_below(&h->rng, STEPS + 1);
    uint32_t context = 0;
    for (size_t i = 0; i < h->count; i++) {
        if (rng_chance(&h->rng, 20))
            context = rng_below(&h->rng, CONTEXTS);
        h->steps[i] = rng_below(&h->rng, NODES);
        h->cycles[i] = rng_chance(&h->rng, 20) ? CT_STEP_NO_CYCLES : 1 + rng_below(&h->rng, 1000);
        if (h->cycles[i] != CT_STEP_NO_CYCLES && rng_chance(&h->rng, 60))
            h->cycles[i] |= CT_STEP_SHARED;
        h->interrupted[i] = rng_chance(&h->rng, 20);
        h->lost[i] = rng_chance(&h->rng, 1);
        h->contexts[i] = context;
    }
}

/* Adds the edge of a step to a graph. */
static int add_edge(struct ct_graph *graph, const struct history *h, size_t step, uint32_t *number)
{
    struct ct_edge edge = h->edges[h->steps[step]];
    return ct_graph_node(graph, &h->nodes[h->steps[step]], &edge.from) == CT_OK &&
           ct_graph_edge(graph, &edge, number) == CT_OK;
}

static struct ct_elem context_of(const struct history *h, size_t step)
{
    return (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = h->contexts[step]};
}

static int take_counts(struct ct_analysis *analysis, struct ct_graph *graph, const struct history *h,
                       size_t from, size_t to)
{
    struct ct_edges *edges;
    REQUIRE(ct_edges_new(NULL, NULL, &edges) == CT_OK);
    for (size_t i = from; i < to; i++) {
        const struct ct_elem context = context_of(h, i);
        const struct ct_edge_stats once = {.count = 1};
        uint32_t number;
        REQUIRE(add_edge(graph, h, i, &number));
        ct_edges_set_context(edges, &context);
        REQUIRE(ct_edges_add_stats(edges, number, &once) == CT_OK);
    }
    const struct ct_analysis_batch batch = {.input = CT_INPUT_COUNTS, .graph = graph, .edges = edges};
    REQUIRE(ct_analysis_take(analysis, &batch) == CT_OK);
    ct_edges_free(edges);
    return 1;
}

/* Names of the streams, by number. */
static const char *const runs[] = {"second \\ run", "first run"};

/* Passes one step per batch, so that marks can come before any of them. */
static int take_steps(struct ct_analysis *analysis, struct ct_graph *graph, const struct history *h,
                      size_t from, size_t to, uint32_t lane)
{
    for (size_t i = from; i < to; i++) {
        struct ct_step_mark marks[3] = {{.kind = CT_MARK_ELEM, .elem = context_of(h, i)}};
        uint32_t count = 1;
        if (h->interrupted[i])
            marks[count++].elem = (struct ct_elem){
                .kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HERE, .v = h->nodes[h->steps[i]].start};
        if (h->lost[i])
            marks[count++].elem = (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW};
        uint32_t number;
        REQUIRE(add_edge(graph, h, i, &number));
        const struct ct_step_batch steps = {.graph = graph,
                                            .edge = &number,
                                            .cycles = &h->cycles[i],
                                            .count = 1,
                                            .marks = marks,
                                            .mark_count = count};
        const struct ct_stream_origin origin = {
            .run = runs[lane % 2], .buffer = "buffer", .id = (uint8_t)(lane / 2)};
        const struct ct_analysis_batch batch = {
            .input = CT_INPUT_STEPS, .lane = lane, .graph = graph, .steps = &steps, .origin = &origin};
        REQUIRE(ct_analysis_take(analysis, &batch) == CT_OK);
    }
    REQUIRE(ct_analysis_end(analysis, lane) == CT_OK);
    return 1;
}

/* Passes events of all types and of some ports, with branches between them. */
static int take_events(struct ct_analysis *analysis, const struct history *h, size_t from, size_t to,
                       uint32_t lane)
{
    for (size_t i = from; i < to; i++) {
        const struct ct_event_mark mark = {
            .event = {.type = (uint8_t)(h->steps[i] % CT_EVENT_TEXT),
                      .extra = h->contexts[i] ? h->contexts[i] : CT_SW_PORT_UNKNOWN}};
        const uint64_t targets[2] = {0};
        const struct ct_event_batch events = {.count = h->interrupted[i] ? 2 : 0,
                                              .targets = targets,
                                              .cycles = targets,
                                              .mark_count = 1,
                                              .marks = &mark};
        const struct ct_analysis_batch batch = {.input = CT_INPUT_EVENTS, .lane = lane, .events = &events};
        REQUIRE(ct_analysis_take(analysis, &batch) == CT_OK);
    }
    REQUIRE(ct_analysis_end(analysis, lane) == CT_OK);
    return 1;
}

static int take_totals(struct ct_analysis *analysis, const struct history *h, size_t from, size_t to,
                       uint32_t lane)
{
    const struct ct_stream_totals totals = {.bytes = to - from,
                                            .packets = from < to ? h->steps[from] : 0,
                                            .instructions = from < to && h->contexts[from] ? UINT64_MAX : 3};
    const struct ct_analysis_batch batch = {.input = CT_INPUT_TOTALS, .lane = lane, .totals = &totals};
    REQUIRE(ct_analysis_take(analysis, &batch) == CT_OK);
    REQUIRE(ct_analysis_end(analysis, lane) == CT_OK);
    return 1;
}

static int is_fractal(const struct ct_analysis *analysis)
{
    return analysis->kind == ct_fractal_sums_kind();
}

/* Passes lines of memory as a log of FRACTAL: in functions, objects and regions of two programs, with
 * points. */
static int take_log(struct ct_analysis *analysis, const struct history *h, size_t from, size_t to,
                    uint32_t lane)
{
    static const char *const names[] = {"f \\ 1", "f2", "object", "[stack]", "[unknown]"};
    static const uint8_t kind_of[] = {CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION, CT_FRACTAL_OBJECT,
                                      CT_FRACTAL_REGION, CT_FRACTAL_ELSEWHERE};
    struct ct_fractal_sums *sums = (struct ct_fractal_sums *)analysis;
    const struct ct_fractal_run run = {
        .size = sizeof run, .program = lane % 2 ? "program \\ 1" : NULL, .clock_hz = lane > 1 ? 1000 : 0};
    uint64_t time = 0;
    REQUIRE(ct_fractal_sums_begin(sums, &run) == CT_OK);
    for (size_t i = from; i < to; i++) {
        const uint32_t name = h->steps[i] % 5;
        const struct ct_fractal_event event = {.time = time += h->cycles[i],
                                               .point = h->steps[i] % 7,
                                               .op = (uint8_t)(h->steps[i] % CT_FRACTAL_OP_COUNT),
                                               .initiator = (uint8_t)h->contexts[i],
                                               .kind = (uint8_t)(name < 2 ? CT_FRACTAL_KIND_INSN : 0),
                                               .flags = h->interrupted[i]};
        const struct ct_fractal_place place = {.name = names[name],
                                               .kind = kind_of[name],
                                               .area = name == 3  ? "[stack]"
                                                       : name < 3 ? ""
                                                                  : NULL,
                                               .offset = 0x800 * (uint64_t)h->steps[i],
                                               .point = event.point < 3 ? names[event.point] : NULL,
                                               .point_offset = 64 * (uint64_t)event.point};
        REQUIRE(ct_fractal_sums_take(sums, &event, &place) == CT_OK);
    }
    REQUIRE(ct_fractal_sums_end(sums, (to - from) % 3, (to - from) % 2) == CT_OK);
    return 1;
}

/* Returns whether an analysis takes streams, each by itself, instead of counts. */
static int takes_streams(const struct ct_analysis *analysis)
{
    return (analysis->kind->inputs & (CT_INPUT_STEPS | CT_INPUT_EVENTS | CT_INPUT_TOTALS)) != 0 ||
           is_fractal(analysis);
}

/* Passes a piece of the history with its own graph, like the task of a thread. */
static int take_piece(struct ct_analysis *analysis, const struct history *h, size_t from, size_t to,
                      uint32_t lane)
{
    struct ct_graph *graph;
    REQUIRE(ct_graph_new(NULL, &graph) == CT_OK);
    const uint32_t inputs = analysis->kind->inputs;
    REQUIRE(is_fractal(analysis)       ? take_log(analysis, h, from, to, lane)
            : inputs & CT_INPUT_STEPS  ? take_steps(analysis, graph, h, from, to, lane)
            : inputs & CT_INPUT_EVENTS ? take_events(analysis, h, from, to, lane)
            : inputs & CT_INPUT_TOTALS ? take_totals(analysis, h, from, to, lane)
                                       : take_counts(analysis, graph, h, from, to));
    ct_graph_free(graph);
    return 1;
}

/* ---- the kinds ---- */

/* Creates coverage with the same programs, added in any order. */
static struct ct_analysis *new_cover(struct rng *rng)
{
    static const uint8_t ids[PROGRAMS] = {7, 1, 9};
    struct ct_cover *cover;
    if (ct_cover_new(NULL, &cover) != CT_OK)
        return NULL;
    const uint32_t first = rng_below(rng, PROGRAMS);
    for (uint32_t i = 0; i < PROGRAMS; i++) {
        const uint32_t k = (first + i) % PROGRAMS;
        char name[32];
        snprintf(name, sizeof name, "/bin/a \\ %c%u", 'a' + (char)rng_below(rng, 3), k);
        const struct ct_program_identity program = {.name = k ? name : "/bin/none",
                                                    .high = PROGRAM_SIZE,
                                                    .build_id = &ids[k],
                                                    .build_id_size = k ? 1 : 0,
                                                    .started = rng_chance(rng, 128)};
        const struct ct_cover_place place = {.bias = BASE + k * PROGRAM_SIZE};
        uint32_t number;
        if (ct_cover_program(cover, &program, &number) != CT_OK ||
            ct_cover_add_place(cover, number, &place) != CT_OK)
            return NULL;
    }
    return ct_cover_analysis(cover);
}

static struct ct_analysis *bare_cover(void)
{
    struct ct_cover *cover;
    return ct_cover_new(NULL, &cover) == CT_OK ? ct_cover_analysis(cover) : NULL;
}

/* Files of the programs, by name. */
static struct ct_programs *called[NAMES];

static int write_program(const char *path, uint32_t k)
{
    static const struct test_symbol functions[] = {
        {"first", BASE, 0x20, STT_FUNC, STB_GLOBAL, 1},
        {"second", BASE + 0x20, 0x20, STT_FUNC, STB_GLOBAL, 1},
        {"_ZN5third3endEv", BASE + 0x40, 0x40, STT_FUNC, STB_GLOBAL, 1},
    };
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    elf64_build(file, functions, 3);
    file[ELF_NOTE + 16] = (uint8_t)(9 - k); /* in the build ID */
    FILE *out = fopen(path, "wb");
    return out && fwrite(file, 1, sizeof file, out) == sizeof file && fclose(out) == 0;
}

static char folder[] = "/tmp/contract-XXXXXX";

static void program_path(char path[64], uint32_t name, uint32_t k)
{
    snprintf(path, 64, "%s/%c \\ %u", folder, 'a' + (char)name, k);
}

/* Opens each program under each name, all from one folder. Their content is loaded when it is needed. */
static int open_programs(void)
{
    const struct ct_programs_options options = {.size = sizeof options};
    REQUIRE(mkdtemp(folder));
    for (uint32_t name = 0; name < NAMES; name++) {
        REQUIRE(ct_programs_new(NULL, &options, &called[name]) == CT_OK);
        for (uint32_t k = 0; k < PROGRAMS; k++) {
            const uint64_t bias = (uint64_t)k * PROGRAM_SIZE;
            char path[64];
            program_path(path, name, k);
            REQUIRE(write_program(path, k));
            REQUIRE(ct_programs_add(called[name], path, &bias, NULL, NULL) == CT_OK);
        }
    }
    return 1;
}

static void close_programs(void)
{
    for (uint32_t name = 0; name < NAMES; name++) {
        ct_programs_free(called[name]);
        for (uint32_t k = 0; k < PROGRAMS; k++) {
            char path[64];
            program_path(path, name, k);
            unlink(path);
        }
    }
    rmdir(folder);
}

static struct ct_analysis *bare_timing(void)
{
    struct ct_timing_sums *sums;
    return ct_timing_sums_new(NULL, NULL, &sums) == CT_OK ? ct_timing_sums_analysis(sums) : NULL;
}

static struct ct_analysis *new_timing(struct rng *rng)
{
    struct ct_analysis *analysis = bare_timing();
    struct ct_timing_sums *sums = (struct ct_timing_sums *)analysis;
    (void)rng;
    if (!sums || ct_timing_sums_add_pair(sums, "0x400010", "0x400094") != CT_OK ||
        ct_timing_sums_add_pair(sums, "exception", "first") != CT_OK)
        return NULL;
    return analysis;
}

static struct ct_analysis *bare_stacks(void)
{
    struct ct_stack_sums *sums;
    return ct_stack_sums_new(NULL, NULL, &sums) == CT_OK ? ct_stack_sums_analysis(sums) : NULL;
}

/* Creates stacks. Some have a part without execution counts and an empty stream. */
static struct ct_analysis *new_stacks(struct rng *rng)
{
    const struct ct_stack_sums_options options = {.size = sizeof options, .uncounted = 1};
    const struct ct_step_batch none = {0};
    struct ct_analysis_batch batch = {.input = CT_INPUT_STEPS, .steps = &none};
    struct ct_analysis *analysis = bare_stacks();
    struct ct_stack_sums *part = NULL;
    if (!analysis || rng_chance(rng, 200))
        return analysis;
    const bool fine = ct_stack_sums_new(NULL, &options, &part) == CT_OK &&
                      ct_analysis_take(ct_stack_sums_analysis(part), &batch) == CT_OK &&
                      ct_analysis_end(ct_stack_sums_analysis(part), 0) == CT_OK &&
                      ct_analysis_merge(analysis, ct_stack_sums_analysis(part)) == CT_OK;
    ct_stack_sums_free(part);
    return fine ? analysis : NULL;
}

static struct ct_analysis *bare_watch(void)
{
    struct ct_counts *counts;
    return ct_watch_counts_new(NULL, &counts) == CT_OK ? ct_counts_analysis(counts) : NULL;
}

static struct ct_analysis *new_watch(struct rng *rng)
{
    static const char *const places[] = {"0x400010", "first", "second", "exception", "context"};
    struct ct_analysis *analysis = bare_watch();
    (void)rng;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (!analysis || ct_watch_counts_add((struct ct_counts *)analysis, places[i]) != CT_OK)
            return NULL;
    return analysis;
}

static struct ct_analysis *bare_events(void)
{
    struct ct_counts *counts;
    return ct_event_counts_new(NULL, &counts) == CT_OK ? ct_counts_analysis(counts) : NULL;
}

static struct ct_analysis *new_events(struct rng *rng)
{
    (void)rng;
    return bare_events();
}

static struct ct_analysis *bare_totals(void)
{
    struct ct_counts *counts;
    return ct_total_counts_new(NULL, &counts) == CT_OK ? ct_counts_analysis(counts) : NULL;
}

static struct ct_analysis *new_totals(struct rng *rng)
{
    (void)rng;
    return bare_totals();
}

/* Outputs of all types, with certain and uncertain violations. One fails now and then, and the Ints of
 * another become large. */
static const char text[] = "in a: Events[Unit]\n"
                           "in b: Events[Unit]\n"
                           "in c: Events[Int]\n"
                           "def n = count(a)\n"
                           "def apart = time(b) - time(a)\n"
                           "def odd_error = n % 3 == 1\n"
                           "def large = (n << 62) * n\n"
                           "def turned = 0 - n * 1000\n"
                           "def part = slift1(apart, (x: Int) => intToFloat(x) /. 7.0)\n"
                           "def failing = 100 / (n - 23)\n"
                           "def word = if n > 9 then \"many \\\\\" else \"few\"\n"
                           "out n\nout apart\nout odd_error\nout large\nout turned\nout part\n"
                           "out failing\nout word\nout c\nout b as second_error\n";
static const char formula[] = "define a := function_call first\n"
                              "define b := function_call second\n"
                              "define m := monitor(always (a implies next (not(a) until b)))\n"
                              "define some := monitor(eventually b)\n"
                              "define none := monitor(always (not(b)))\n"
                              "out m\nout some\nout none\n";

static struct ct_monitor_spec *specs[2];

static int compile_specs(void)
{
    return ct_monitor_compile(NULL, "folder/all \\ types", text, sizeof text - 1, NULL, &specs[0]) == CT_OK &&
           ct_monitor_compile(NULL, "formula", formula, sizeof formula - 1, NULL, &specs[1]) == CT_OK;
}

static struct ct_analysis *bare_monitors(void)
{
    struct ct_verify_sums *sums;
    return ct_verify_sums_new(NULL, NULL, &sums) == CT_OK ? ct_verify_sums_analysis(sums) : NULL;
}

static struct ct_analysis *new_monitors(struct rng *rng)
{
    static const struct ct_verify_bind binds[] = {
        {"a", "entry:first"}, {"b", "0x400010"}, {"c", "exception"}};
    struct ct_analysis *analysis = bare_monitors();
    struct ct_verify_sums *sums = (struct ct_verify_sums *)analysis;
    (void)rng;
    if (!sums || ct_verify_sums_add(sums, specs[0], "folder/all \\ types", binds, 3) != CT_OK ||
        ct_verify_sums_add(sums, specs[1], "formula", NULL, 0) != CT_OK ||
        ct_verify_sums_violation(sums, "word", "\"few\"") != CT_OK)
        return NULL;
    return analysis;
}

static struct ct_analysis *bare_fractal(void)
{
    struct ct_fractal_sums *sums;
    return ct_fractal_sums_new(NULL, &sums) == CT_OK ? ct_fractal_sums_analysis(sums) : NULL;
}

static struct ct_analysis *new_fractal(struct rng *rng)
{
    (void)rng;
    return bare_fractal();
}

/* The kinds. `make` creates an analysis that knows all programs under random names, `bare` one that knows
 * nothing. */
static const struct {
    const char *name;
    struct ct_analysis *(*make)(struct rng *rng);
    struct ct_analysis *(*bare)(void);
} kinds[] = {
    {"coverage", new_cover, bare_cover},       {"timing", new_timing, bare_timing},
    {"stacks", new_stacks, bare_stacks},       {"watch", new_watch, bare_watch},
    {"events", new_events, bare_events},       {"statistics", new_totals, bare_totals},
    {"monitors", new_monitors, bare_monitors}, {"fractal", new_fractal, bare_fractal},
};

/* ---- saved files ---- */

static struct output saved(struct ct_analysis *analysis)
{
    struct output b = {0};
    if (!analysis || ct_analysis_save(analysis, output_append, &b) != CT_OK)
        b.size = 0;
    return b;
}

/* Returns whether both analyses save the same bytes. Frees neither. */
static int same(struct ct_analysis *a, struct ct_analysis *b)
{
    struct output x = saved(a), y = saved(b);
    const int equal = x.size && x.size == y.size && memcmp(x.text, y.text, x.size) == 0;
    if (!equal)
        printf("# differ:\n%.*s# and\n%.*s", (int)x.size, x.text, (int)y.size, y.text);
    output_free(&x);
    output_free(&y);
    return equal;
}

/* ---- the properties ---- */

struct subject {
    struct history history;
    struct ct_analysis *whole;          /* analysis of the whole history */
    struct ct_analysis *pieces[PIECES]; /* analyses of its pieces */
    struct ct_analysis *made[32];       /* all analyses, to be freed */
    size_t made_count;
};

static struct ct_analysis *keep(struct subject *s, struct ct_analysis *analysis)
{
    s->made[s->made_count++] = analysis;
    return analysis;
}

static struct ct_analysis *empty(struct subject *s)
{
    struct ct_analysis *part = NULL;
    return ct_analysis_part(s->whole, &part) == CT_OK ? keep(s, part) : NULL;
}

/* Returns an empty analysis into which all of `from` are merged. */
static struct ct_analysis *sum(struct subject *s, struct ct_analysis *const *from, size_t count)
{
    struct ct_analysis *into = empty(s);
    for (size_t i = 0; i < count; i++)
        if (ct_analysis_merge(into, from[i]) != CT_OK)
            return NULL;
    return into;
}

/* Passes the piece between two cuts, with programs under one of their names. Coverage has its programs
 * already. */
static int take_as(struct ct_analysis *analysis, const struct history *h, const size_t cuts[2], uint32_t lane,
                   uint32_t name)
{
    if (analysis->kind->programs && takes_streams(analysis))
        REQUIRE(analysis->kind->programs(analysis, called[name]) == CT_OK);
    return take_piece(analysis, h, cuts[0], cuts[1], lane);
}

static int make_subject(struct subject *s, struct ct_analysis *(*make)(struct rng *rng), uint64_t seed)
{
    *s = (struct subject){0};
    make_history(&s->history, seed);
    struct rng *rng = &s->history.rng;
    size_t cuts[PIECES + 1] = {0};
    uint32_t names[PIECES];
    for (size_t i = 1; i < PIECES; i++)
        cuts[i] = cuts[i - 1] + rng_below(rng, (uint32_t)(s->history.count - cuts[i - 1] + 1));
    cuts[PIECES] = s->history.count;
    for (size_t i = 0; i < PIECES; i++)
        names[i] = rng_below(rng, NAMES);
    REQUIRE((s->whole = keep(s, make(rng))) && (s->whole = empty(s))); /* a new analysis need not be empty */
    for (size_t i = 0; i < PIECES; i++) {
        const struct ct_analysis_captures captures = {
            .known = rng_below(rng, 3),
            .damaged = rng_below(rng, 2),
            .unknown = rng_chance(rng, 10) ? UINT64_MAX : rng_below(rng, 2),
            .losses = {.gaps = rng_below(rng, 9), .lost_bytes = rng_chance(rng, 10) ? UINT64_MAX : 1}};
        /* Names differ from piece to piece, and the whole knows all of them. */
        REQUIRE((s->pieces[i] = keep(s, make(rng))));
        REQUIRE(ct_analysis_merge(s->whole, s->pieces[i]) == CT_OK);
        REQUIRE(take_as(s->pieces[i], &s->history, &cuts[i], (uint32_t)i, names[i]));
        REQUIRE(ct_analysis_add_captures(s->pieces[i], &captures) == CT_OK);
        REQUIRE(ct_analysis_add_captures(s->whole, &captures) == CT_OK);
        for (uint32_t runs = rng_below(rng, 3) + (rng_chance(rng, 4) ? CT_ANALYSIS_RUNS / 2 : 0); runs;
             runs--) {
            char name[32];
            snprintf(name, sizeof name, "run \\ %u", rng_below(rng, 3000));
            REQUIRE(ct_analysis_add_run(s->pieces[i], name) == CT_OK);
            REQUIRE(ct_analysis_add_run(s->whole, name) == CT_OK);
            if (rng_chance(rng, 3)) {
                REQUIRE(ct_analysis_add_failure(s->pieces[i], name) == CT_OK);
                REQUIRE(ct_analysis_add_failure(s->whole, name) == CT_OK);
            }
        }
    }
    if (takes_streams(s->whole)) {
        for (uint32_t i = 0; i < PIECES; i++)
            REQUIRE(take_as(s->whole, &s->history, &cuts[i], i, names[i]));
    } else {
        REQUIRE(take_piece(s->whole, &s->history, 0, s->history.count, 0));
    }
    return 1;
}

/* Checks that (a + b) + c, a + (b + c) and c + (b + a) are equal, each with an empty part before and after
 * it. */
static int merges(struct subject *s)
{
    struct ct_analysis *const *p = s->pieces;
    struct ct_analysis *left = sum(s, (struct ct_analysis *const[]){p[0], p[1]}, 2);
    struct ct_analysis *right = sum(s, (struct ct_analysis *const[]){p[1], p[2]}, 2);
    struct ct_analysis *turned = sum(s, (struct ct_analysis *const[]){p[2], p[1], p[0]}, 3);
    REQUIRE(left && right && turned);
    REQUIRE(same(sum(s, (struct ct_analysis *const[]){left, p[2]}, 2), s->whole));
    REQUIRE(same(sum(s, (struct ct_analysis *const[]){p[0], right}, 2), s->whole));
    REQUIRE(same(turned, s->whole));
    REQUIRE(ct_analysis_merge(turned, empty(s)) == CT_OK && same(turned, s->whole));
    REQUIRE(ct_analysis_merge(turned, turned) == CT_ERR_ARG);
    return 1;
}

/* Checks that a weight of n equals n merges, for any captures. */
static int scales(struct subject *s)
{
    const uint32_t n = 1 + rng_below(&s->history.rng, 9);
    struct ct_analysis *scaled = empty(s), *added = empty(s);
    REQUIRE(scaled && added && scaled->kind->merge(scaled, s->whole) == CT_OK);
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(added->kind->merge(added, s->whole) == CT_OK);
    REQUIRE(ct_analysis_scale(scaled, n) == CT_OK && same(scaled, added));
    REQUIRE(ct_analysis_scale(scaled, 0) == CT_ERR_ARG);
    /* two weights in turn, and the largest one: sums saturate */
    REQUIRE(ct_analysis_scale(scaled, 1000003) == CT_OK && ct_analysis_scale(scaled, 15) == CT_OK);
    REQUIRE(ct_analysis_scale(added, 15000045) == CT_OK && same(scaled, added));
    REQUIRE(ct_analysis_scale(scaled, UINT64_MAX) == CT_OK);
    return 1;
}

static int saves(struct subject *s)
{
    struct output file = saved(s->whole);
    struct ct_analysis *into = sum(s, s->pieces, 1), *loaded = empty(s);
    struct rng *rng = &s->history.rng;
    REQUIRE(file.size && ct_analysis_is_saved(s->whole->kind, file.text, file.size));
    REQUIRE(ct_analysis_load(loaded, "file", file.text, file.size) == CT_OK && same(loaded, s->whole));
    for (unsigned i = 0; i < 20; i++) {
        const size_t at = rng_below(rng, (uint32_t)file.size);
        const char before = file.text[at];
        file.text[at] = (char)(before ^ (1 + rng_below(rng, 255)));
        REQUIRE(ct_analysis_load(into, "changed", file.text, file.size) == CT_ERR_FORMAT);
        file.text[at] = before;
        REQUIRE(ct_analysis_load(into, "cut off", file.text, at) == CT_ERR_FORMAT);
    }
    REQUIRE(ct_analysis_load(into, "cut off", file.text, file.size - 1) == CT_ERR_FORMAT);
    REQUIRE(output_append(&file, "\n", 1) == CT_OK);
    REQUIRE(ct_analysis_load(into, "longer", file.text, file.size) == CT_ERR_FORMAT);
    REQUIRE(same(into, sum(s, s->pieces, 1)));
    output_free(&file);
    return 1;
}

/* Loads and merges the files of pieces with different names, in any order. */
static int orders(struct subject *s, struct ct_analysis *(*bare)(void))
{
    struct ct_analysis *forward = keep(s, bare()), *backward = keep(s, bare());
    REQUIRE(forward && backward);
    for (size_t i = 0; i < 2 * PIECES; i++) {
        const size_t piece = i < PIECES ? i : 2 * PIECES - 1 - i;
        struct output file = saved(s->pieces[piece]);
        struct ct_analysis *alone = keep(s, bare());
        REQUIRE(alone && file.size && ct_analysis_load(alone, "piece", file.text, file.size) == CT_OK);
        REQUIRE(same(alone, s->pieces[piece]));
        REQUIRE(ct_analysis_load(i < PIECES ? forward : backward, "piece", file.text, file.size) == CT_OK);
        output_free(&file);
    }
    REQUIRE(same(forward, backward));
    return 1;
}

static int run(size_t kind, uint64_t seed)
{
    static struct subject s;
    const int fine = make_subject(&s, kinds[kind].make, seed) && merges(&s) && scales(&s) && saves(&s) &&
                     orders(&s, kinds[kind].bare);
    for (size_t i = 0; i < s.made_count; i++)
        ct_analysis_free(s.made[i]);
    return fine;
}

int main(void)
{
    const uint64_t seed = test_number("CT_SEED", 1), count = test_count(test_part(150), 30000);
    const size_t kind_count = sizeof kinds / sizeof *kinds;
    int failed = 0;
    if (!open_programs() || !compile_specs())
        return 1;
    printf("TAP version 13\n1..%zu\n", kind_count);
    for (size_t kind = 0; kind < kind_count; kind++) {
        uint64_t at = 0;
        while (at < count && run(kind, seed + at))
            at++;
        if (at < count)
            printf("# CT_SEED=%" PRIu64 " CT_COUNT=1\n", seed + at);
        printf("%sok %zu - %s\n", at < count ? "not " : "", kind + 1, kinds[kind].name);
        failed |= at < count;
    }
    close_programs();
    ct_monitor_spec_free(specs[0]);
    ct_monitor_spec_free(specs[1]);
    return failed;
}
