/* SPDX-License-Identifier: Apache-2.0 */
/* Checks watchpoints: what a step passes, marks, and that neither batches nor room for events change
 * anything. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/name_suffix.h"
#include "coretap/watch.h"
#include "elf_build.h"
#include "support/rng.h"
#include "support/step_list.h"
#include "support/unit.h"

#define TEXT UINT64_C(0x400000)
#define MAIN TEXT
#define WORK (TEXT + 0x20)
#define LEAF (TEXT + 0x40)
#define COPY (TEXT + 0x60)
#define MOST 64

static const struct test_symbol symbols[] = {
    {.name = "main", .value = MAIN, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "work", .value = WORK, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "leaf", .value = LEAF, .size = 0x20, .type = STT_FUNC, .bind = STB_GLOBAL, .section = 1},
    {.name = "work.isra.0", .value = COPY, .size = 0x20, .type = STT_FUNC, .bind = STB_LOCAL, .section = 1},
};

struct fixture {
    uint8_t file[ELF_SIZE] __attribute__((aligned(8)));
    struct ct_ctx *ctx;
    FILE *opened;
    struct ct_programs *programs;
    struct ct_watches *watches;
    struct step_list steps;
    struct ct_watch_event events[MOST];
    size_t event_count;
    bool folds; /* timestamps inside of a row are left out */
};

static int begin(void **state)
{
    static struct fixture f;
    f = (struct fixture){.ctx = ct_ctx_new()};
    elf64_build(f.file, symbols, 4);
    *state = &f;
    const struct ct_programs_options options = {.size = sizeof options};
    char path[40];
    f.opened = test_file(f.file, ELF_SIZE, path);
    return !f.opened || ct_programs_new(f.ctx, &options, &f.programs) ||
           ct_programs_add(f.programs, path, NULL, NULL, NULL) || ct_graph_new(f.ctx, &f.steps.graph) ||
           ct_watches_new(f.ctx, f.programs, &f.watches);
}

static int finish(void **state)
{
    struct fixture *f = *state;
    ct_watches_free(f->watches);
    ct_graph_free(f->steps.graph);
    ct_programs_free(f->programs);
    fclose(f->opened);
    ct_ctx_free(f->ctx);
    return 0;
}

FIXTURE(struct fixture, begin, finish);

/* Adds n instructions from `addr`, the last one of type `type`, which continues at `next`. */
static void step(struct fixture *f, uint64_t addr, uint32_t n, uint8_t type, uint8_t sub, uint64_t next,
                 uint32_t cycles)
{
    step_list_add(&f->steps, step_node(addr, n, type, sub), (struct ct_edge){.next = next, .exec = 1},
                  cycles);
}

static void mark(struct fixture *f, struct ct_elem elem)
{
    step_list_mark(&f->steps, elem);
}

/* Runs batches of at most `most` steps, with room for `cap` events at a time. */
static void run(struct fixture *f, size_t most, size_t cap)
{
    struct ct_watcher *watcher;
    struct step_piece piece = {0};
    f->event_count = 0;
    assert_int_equal(ct_watcher_new(f->ctx, f->watches, &watcher), CT_OK);
    if (f->folds)
        assert_int_equal(ct_watcher_fold_timestamps(watcher), CT_OK);
    while (step_list_next(&f->steps, most, &piece)) {
        int more;
        do {
            size_t got;
            assert_in_range(f->event_count, 0, MOST - cap);
            assert_int_equal(
                ct_watcher_run(watcher, &piece.batch, f->events + f->event_count, cap, &got, &more), CT_OK);
            f->event_count += got;
        } while (more);
    }
    ct_watcher_free(watcher);
}

static void watch(struct fixture *f, const char *spec)
{
    assert_int_equal(ct_watches_add(f->watches, spec, NULL, NULL), CT_OK);
}

static void expect(const struct fixture *f, size_t i, enum ct_watch_kind kind, uint64_t value, uint64_t cycle)
{
    assert_in_range(i, 0, f->event_count - 1);
    assert_int_equal(f->events[i].kind, kind);
    assert_int_equal(f->events[i].value, value);
    assert_int_equal(f->events[i].cycle, cycle);
}

static void a_little_of_everything(struct fixture *f)
{
    watch(f, "work");
    watch(f, "leaf");
    watch(f, "0x400024");
    watch(f, "exception");
    watch(f, "exception:5");
    watch(f, "context");
    watch(f, "overflow");
    mark(f, (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = 7});
    step(f, MAIN, 2, CT_INSN_BR, CT_INSN_SUB_LINK, WORK, 10);
    step(f, WORK, 4, CT_INSN_BR, CT_INSN_SUB_LINK, LEAF, 8);
    mark(f, (struct ct_elem){.kind = CT_ELEM_EXCEPTION, .n = CT_EXCEPTION_HAS_RET, .aux = 5, .v = LEAF});
    mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .v = 1000});
    step(f, LEAF, 1, CT_INSN_BR, CT_INSN_SUB_NONE, LEAF, 3);
    step(f, LEAF, 2, CT_INSN_IBR, CT_INSN_SUB_RET, WORK + 16, 4);
    mark(f, (struct ct_elem){.kind = CT_ELEM_CYCLES, .v = 100});
    step(f, WORK + 16, 1, CT_INSN_BR, CT_INSN_SUB_NONE, LEAF, 5);
    mark(f, (struct ct_elem){.kind = CT_ELEM_GAP, .n = CT_GAP_OVERFLOW});
}

TEST_WITH(steps_and_marks_make_events, f)
{
    a_little_of_everything(f);
    run(f, MOST, MOST / 2);
    expect(f, 0, CT_WATCH_CONTEXT, 0, 0);
    expect(f, 1, CT_WATCH_ENTRY, WORK, 10);
    expect(f, 2, CT_WATCH_ADDR, WORK + 4, 12);
    expect(f, 3, CT_WATCH_EXCEPTION, LEAF, 18);
    expect(f, 4, CT_WATCH_EXCEPTION, LEAF, 18);
    assert_int_equal(f->events[4].number, 5);
    assert_int_equal(f->events[4].has_timestamp, 0);
    expect(f, 5, CT_WATCH_ENTRY, LEAF, 18);
    assert_int_equal(f->events[5].timestamp, 1000);
    assert_int_equal(f->events[5].ctxt, 7);
    /* a jump of leaf to its own first instruction is no entry */
    expect(f, 6, CT_WATCH_RETURN, LEAF + 4, 25);
    /* a tail call ends work */
    expect(f, 7, CT_WATCH_RETURN, WORK + 16, 130);
    expect(f, 8, CT_WATCH_OVERFLOW, 0, 130);
    assert_int_equal(f->event_count, 9);
    const uint64_t steps[] = {0, 1, 1, 2, 2, 2, 3, 4, 5};
    for (size_t i = 0; i < 9; i++)
        assert_int_equal(f->events[i].step, steps[i]);
}

TEST_WITH(cuts_change_nothing, f)
{
    struct ct_watch_event whole[MOST];
    a_little_of_everything(f);
    run(f, MOST, MOST / 2);
    size_t count = f->event_count;
    memcpy(whole, f->events, count * sizeof *whole);
    for (size_t most = 1; most < 6; most++)
        for (size_t cap = 1; cap < 4; cap++) {
            run(f, most, cap);
            assert_int_equal(f->event_count, count);
            assert_memory_equal(f->events, whole, count * sizeof *whole);
        }
}

/* As many as a program has edges. Sorting a set for each of them would exceed the test's time limit. */
TEST_WITH(many_are_told_apart, f)
{
    enum {
        MANY = 100000
    };
    for (unsigned i = 0; i < MANY; i++) {
        char spec[32];
        snprintf(spec, sizeof spec, "0x%x", 0x500000 + 4 * i);
        watch(f, spec);
    }
    watch(f, "0x400024");
    step(f, WORK, 4, CT_INSN_OTHER, 0, WORK + 16, 8);
    step(f, 0x500100, 1, CT_INSN_OTHER, 0, 0x500104, 1);
    run(f, MOST, 8);
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[0].watch, MANY);
    assert_int_equal(f->events[1].watch, 0x100 / 4);
}

/* Watchpoints that are added while a watcher exists are found, too. */
TEST_WITH(later_ones_are_seen, f)
{
    struct ct_watcher *watcher;
    watch(f, "0x400028");
    assert_int_equal(ct_watcher_new(f->ctx, f->watches, &watcher), CT_OK);
    watch(f, "0x400024");
    step(f, WORK, 4, CT_INSN_OTHER, 0, WORK + 16, 8);
    const struct ct_step_batch batch = step_list_batch(&f->steps);
    int more;
    assert_int_equal(ct_watcher_run(watcher, &batch, f->events, MOST, &f->event_count, &more), CT_OK);
    assert_int_equal(more, 0);
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[0].watch, 1);
    assert_int_equal(f->events[1].watch, 0);
    ct_watcher_free(watcher);
}

TEST_WITH(what_is_missing_is_said, f)
{
    const char *const specs[] = {"nowhere",
                                 "main.c:3",
                                 "entry:x",
                                 "return:x",
                                 "edge:99999",
                                 "x+3",
                                 "exception:x",
                                 "itm:256",
                                 "itm:",
                                 "itm:3.pc",
                                 "stm:1:2:3",
                                 "stm:65536",
                                 "dwt:4",
                                 "dwt:0.x",
                                 "event:8",
                                 "context:x",
                                 "dwt:0.pc.signed",
                                 "main+0x20",
                                 "main+0xffffffffffffffff",
                                 "exception:1024"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        assert_int_equal(ct_watches_add(f->watches, specs[i], NULL, NULL), CT_ERR_NOT_FOUND);
        assert_non_null(strstr(ct_ctx_error(f->ctx), specs[i]));
    }
    uint32_t count;
    ct_watches_all(f->watches, &count);
    assert_int_equal(count, 0);
}

TEST_WITH(mistyped_functions_are_guessed, f)
{
    static const char *const specs[] = {"mian", "entry:MAIN", "function:maim", "maain+0x4"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++) {
        assert_int_equal(ct_watches_add(f->watches, specs[i], NULL, NULL), CT_ERR_NOT_FOUND);
        assert_non_null(strstr(ct_ctx_error(f->ctx), "did you mean 'main'?"));
    }
}

/* Outside of functions a place is an offset in its file, wherever the file was loaded. */
TEST_WITH(offsets_in_files_are_places, f)
{
    const uint64_t bias = UINT64_C(0x5500000000);
    for (uint8_t moved = 0; moved < 2; moved++) {
        const struct ct_programs_options options = {.size = sizeof options, .moved = moved};
        struct ct_programs *programs;
        struct ct_watches *watches;
        struct ct_program *program;
        size_t count;
        char path[40], spec[64];
        FILE *opened = test_file(f->file, ELF_SIZE, path);
        assert_non_null(opened);
        assert_int_equal(ct_programs_new(f->ctx, &options, &programs), CT_OK);
        assert_int_equal(ct_programs_add(programs, path, &bias, NULL, &program), CT_OK);
        assert_int_equal(ct_watches_new(f->ctx, programs, &watches), CT_OK);
        snprintf(spec, sizeof spec, "%s+0x400010", strrchr(path, '/') + 1);
        assert_int_equal(ct_watches_add(watches, spec, NULL, NULL), CT_OK);
        assert_int_equal(ct_watches_places(watches, &count)->addr, bias + 0x400010);
        assert_int_equal(count, 1);
        snprintf(spec, sizeof spec, "%s+0x400100", strrchr(path, '/') + 1); /* after its code */
        assert_int_equal(ct_watches_add(watches, spec, NULL, NULL), CT_ERR_NOT_FOUND);
        ct_watches_free(watches);
        ct_programs_free(programs);
        fclose(opened);
    }
}

/* The same name stands for the function, or the file, of each program. */
TEST_WITH(offsets_are_those_of_all_programs, f)
{
    const uint64_t bias[] = {UINT64_C(0x5500000000), UINT64_C(0x5600000000), UINT64_C(0x5500000000)};
    const struct ct_programs_options options = {.size = sizeof options, .moved = 1};
    struct ct_programs *programs;
    struct ct_watches *watches;
    size_t count;
    char path[40], spec[64];
    FILE *opened = test_file(f->file, ELF_SIZE, path);
    assert_non_null(opened);
    assert_int_equal(ct_programs_new(f->ctx, &options, &programs), CT_OK);
    for (size_t i = 0; i < sizeof bias / sizeof *bias; i++)
        assert_int_equal(ct_programs_add(programs, path, &bias[i], NULL, NULL), CT_OK);
    assert_int_equal(ct_watches_new(f->ctx, programs, &watches), CT_OK);
    assert_int_equal(ct_watches_add(watches, "main+0x8", NULL, NULL), CT_OK);
    snprintf(spec, sizeof spec, "%s+0x400010", strrchr(path, '/') + 1);
    assert_int_equal(ct_watches_add(watches, spec, NULL, NULL), CT_OK);
    const struct ct_watch_place *places = ct_watches_places(watches, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(places[i].addr, bias[i % 2] + MAIN + (i < 2 ? 0x8 : 0x10));
        assert_int_equal(places[i].watch, i / 2);
    }
    ct_watches_free(watches);
    ct_programs_free(programs);
    fclose(opened);
}

/* Adds a write of software trace, or a packet of a DWT. */
static void write(struct fixture *f, uint8_t kind, uint8_t n, uint16_t bits, uint64_t value)
{
    mark(f, (struct ct_elem){.kind = kind, .n = n, .aux = bits, .v = value});
}

static void source(struct fixture *f, uint8_t known, uint64_t master, uint16_t channel)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_SW_SOURCE, .n = known, .aux = channel, .v = master});
}

static void expect_write(const struct fixture *f, size_t i, uint32_t watch, uint64_t value, uint32_t bits)
{
    assert_in_range(i, 0, f->event_count - 1);
    assert_int_equal(f->events[i].watch, watch);
    assert_int_equal(f->events[i].value, value);
    assert_int_equal(f->events[i].number, bits);
}

/* Writes to ports and channels are found by port, master and channel; signed values have their sign in all 64
 * bits. */
TEST_WITH(writes_have_values, f)
{
    watch(f, "itm:3");
    watch(f, "itm:3.signed");
    watch(f, "stm:7");
    watch(f, "stm:0x10:7");
    watch(f, "overflow");
    source(f, 1, 0, 3);
    write(f, CT_ELEM_SW, CT_SW_STIMULUS, 8, 0xff);
    source(f, 1, 0, 4);
    write(f, CT_ELEM_SW, CT_SW_STIMULUS, 8, 0xff);
    source(f, 1, 0x10, 7);
    write(f, CT_ELEM_SW, CT_SW_DATA, 64, UINT64_MAX);
    write(f, CT_ELEM_SW, CT_SW_FLAG, 0, 0);
    source(f, 1, 0x11, 7);
    write(f, CT_ELEM_SW, CT_SW_DATA, 4, 5);
    source(f, 1, 0, 3);
    write(f, CT_ELEM_SW, CT_SW_STIMULUS, 32 | CT_SW_OVERFLOW, 9);
    run(f, 1, 2);
    assert_int_equal(f->event_count, 8);
    expect_write(f, 0, 0, 0xff, 8);
    expect_write(f, 1, 1, UINT64_MAX, 8);
    expect_write(f, 2, 2, UINT64_MAX, 64);
    expect_write(f, 3, 3, UINT64_MAX, 64);
    expect_write(f, 4, 2, 5, 4);
    assert_int_equal(f->events[5].kind, CT_WATCH_OVERFLOW);
    expect_write(f, 6, 0, 9, 32);
    expect_write(f, 7, 1, 9, 32);
}

/* A timestamp has the number of events right before it that belong to the access that it stamps. */
TEST_WITH(timestamps_count_what_they_stamp, f)
{
    watch(f, "dwt:1");
    watch(f, "dwt:1.pc");
    watch(f, "dwt:1.write");
    watch(f, "dwt:1.read");
    watch(f, "timestamp");
    write(f, CT_ELEM_DWT, 16 + 2, 16, 3); /* read */
    write(f, CT_ELEM_DWT, 17, 16, 3);     /* of comparator 0 */
    write(f, CT_ELEM_DWT, 8 + 2, 32, 0x4000);
    write(f, CT_ELEM_DWT, 9 + 2, 16, 0x20);
    write(f, CT_ELEM_DWT, 17 + 2, 32, 7);
    mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .n = CT_TIMESTAMP_GLOBAL, .v = 100});
    write(f, CT_ELEM_LOCAL_TIME, 0, 2, 5); /* 5 << 2 cycles */
    mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .n = CT_TIMESTAMP_ATTACHED, .v = 20});
    mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .n = CT_TIMESTAMP_GLOBAL, .v = 130});
    run(f, 1, 3);
    assert_int_equal(f->event_count, 7);
    expect_write(f, 0, 0, 3, 16);
    expect_write(f, 1, 3, 3, 16);
    expect_write(f, 2, 1, 0x4000, 32);
    expect_write(f, 3, 0, 7, 32);
    expect_write(f, 4, 2, 7, 32);
    expect(f, 5, CT_WATCH_TIMESTAMP, 3, 0);
    expect(f, 6, CT_WATCH_TIMESTAMP, 0, 20);
    assert_int_equal(f->events[6].timestamp, 130);
}

/* Makes random steps, some at a watchpoint, with timestamps, counts and contexts between them. Gives each
 * timestamp the number of its row. */
static void random_rows(struct fixture *f, struct rng *rng, unsigned rows[MOST])
{
    bool is_first = true; /* the next timestamp begins a row … */
    bool is_right = true; /* … unless a step is directly before it, and its time is no earlier than the last
                           * one */
    uint64_t time = 100;
    unsigned row = 0;
    f->steps.count = f->steps.mark_count = 0;
    for (size_t stamps = 0, i = 0; i < 40; i++) {
        const uint32_t what = rng_below(rng, 100);
        if (what < 4) {
            step(f, LEAF, 1, CT_INSN_IBR, CT_INSN_SUB_RET, MAIN, rng_below(rng, 5));
            is_first = is_right = true;
        } else if (what < 50) {
            step(f, MAIN, 2, CT_INSN_BR, CT_INSN_SUB_NONE, MAIN, rng_below(rng, 5));
            is_right = true;
        } else if (what < 53) {
            mark(f, (struct ct_elem){.kind = CT_ELEM_CYCLES, .v = 7});
            is_first = true;
        } else if (what < 56) {
            mark(f,
                 (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = rng_below(rng, 2)});
            is_first = true;
        } else {
            const uint64_t before = time;
            if (rng_below(rng, 8)) {
                step(f, MAIN, 2, CT_INSN_BR, CT_INSN_SUB_NONE, MAIN, 1);
                is_right = true;
            }
            time += rng_below(rng, 4) ? rng_below(rng, 3) : UINT64_MAX;
            mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .v = time});
            row += is_first || !is_right || time < before;
            rows[stamps++] = row;
            is_first = is_right = false;
        }
    }
}

/* Removes the timestamps inside of rows: all but the first and the last two. */
static size_t leave_out(const struct ct_watch_event *events, size_t count, const unsigned *rows,
                        struct ct_watch_event *out)
{
    size_t stamps = 0;
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        stamps += events[i].kind == CT_WATCH_TIMESTAMP;
    for (size_t i = 0, k = 0; i < count; i++) {
        const bool is_stamp = events[i].kind == CT_WATCH_TIMESTAMP;
        const bool is_first = !is_stamp || k == 0 || rows[k - 1] != rows[k];
        const bool is_last = !is_stamp || k + 2 >= stamps || rows[k + 2] != rows[k];
        if (is_first || is_last)
            out[kept++] = events[i];
        k += is_stamp;
    }
    return kept;
}

TEST_WITH(timestamps_in_rows, f)
{
    struct rng rng = {.state = 42};
    size_t left_out = 0;
    watch(f, "leaf");
    watch(f, "context");
    watch(f, "timestamp");
    for (unsigned round = 0; round < 3000; round++) {
        struct ct_watch_event wanted[MOST];
        unsigned rows[MOST];
        random_rows(f, &rng, rows);
        f->folds = false;
        run(f, MOST, 1);
        const size_t count = leave_out(f->events, f->event_count, rows, wanted);
        left_out += f->event_count - count;
        f->folds = true;
        run(f, MOST, 1 + rng_below(&rng, 3));
        assert_int_equal(f->event_count, count);
        for (size_t i = 0; i < count; i++)
            assert_memory_equal(&f->events[i], &wanted[i], sizeof wanted[i]);
    }
    assert_true(left_out > 1000);
    watch(f, "timestamp"); /* a second watchpoint of timestamps gets all of them */
    run(f, MOST, 2);
    const size_t all = f->event_count;
    f->folds = false;
    run(f, MOST, 2);
    assert_int_equal(f->event_count, all);
}

TEST_WITH(events_and_contexts_go_by_number, f)
{
    watch(f, "event:1");
    watch(f, "event:trigger");
    watch(f, "context:0x12");
    mark(f, (struct ct_elem){.kind = CT_ELEM_EVENT, .n = 3});
    mark(f, (struct ct_elem){.kind = CT_ELEM_EVENT, .n = 4});
    mark(f, (struct ct_elem){.kind = CT_ELEM_EVENT, .aux = 1});
    mark(f, (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = 0x11});
    mark(f, (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_CTXT, .v = 0x12});
    run(f, 1, 1);
    assert_int_equal(f->event_count, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(f->events[i].watch, i);
    assert_int_equal(f->events[0].value, 1);
    assert_int_equal(f->events[2].ctxt, 0x12);
}

static void now(struct fixture *f, uint64_t ticks)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_TIMESTAMP, .n = CT_TIMESTAMP_GLOBAL, .v = ticks});
}

static void run_thread(struct fixture *f, uint32_t thread)
{
    mark(f, (struct ct_elem){.kind = CT_ELEM_CONTEXT, .aux = CT_CONTEXT_VMID, .v = (uint64_t)thread << 32});
}

/* A name is valid from its time on, for a thread or for all threads of a process. Threads of Linux may be
 * traced as VMIDs. */
TEST_WITH(contexts_go_by_name, f)
{
    static const struct ct_context_name names[] = {
        {"init", 0, 5, 5}, {"bash", 100, 7, 7}, {"ls", 300, 7, 7}, {"helper", 200, 8, 7}, {"init", 0, 9, 9}};
    static const struct ct_maps maps = {.clock = {.zero = 50, .mult = 2, .known = 1}};
    static const struct ct_source source = {.name = "cpu0", .regs.configr = 1 << 7 | 1 << 15};
    const struct ct_buffer buffer = {
        .names = names, .name_count = 5, .maps = &maps, .sources = &source, .source_count = 1};
    assert_int_equal(ct_watches_add(f->watches, "context:ls", NULL, NULL), CT_ERR_NOT_FOUND);
    assert_int_equal(ct_watches_events(f->watches, &buffer), CT_OK);
    watch(f, "context:bash");
    watch(f, "context:ls");
    watch(f, "context");
    assert_int_equal(ct_watches_want_text(f->watches, 2), CT_OK);
    assert_int_equal(ct_watches_want_text(f->watches, 3), CT_ERR_ARG);
    static const struct {
        uint64_t ticks;
        uint32_t thread;
        bool bash, ls;
        const char *text;
    } rows[] = {{10, 7, false, false, "0x7"},   {30, 5, false, false, "init"},
                {40, 7, true, false, "bash"},   {80, 8, true, false, "helper"},
                {120, 9, false, false, "init"}, {130, 8, false, true, "helper"},
                {140, 7, false, true, "ls"},    {150, 6, false, false, "0x6"}};
    const size_t count = sizeof rows / sizeof *rows;
    for (size_t i = 0; i < count; i++) {
        now(f, rows[i].ticks);
        run_thread(f, rows[i].thread);
    }
    run(f, 1, 1);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 2; k++)
            if (k ? rows[i].ls : rows[i].bash)
                assert_int_equal(f->events[at++].watch, k);
        assert_int_equal(f->events[at].watch, 2);
        assert_string_equal(ct_watch_event_text(&f->events[at++]), rows[i].text);
    }
    assert_int_equal(at, f->event_count);
}

/* Checks the name of a context at a time. */
TEST(names_have_times)
{
    static const struct ct_context_name names[] = {{"a", 10, 1, 1}, {"b", 20, 1, 1}, {"c", 0, 3, 3}};
    const struct ct_buffer buffer = {.names = names, .name_count = 3};
    assert_null(ct_context_name_find(&buffer, 1, 9));
    assert_ptr_equal(ct_context_name_find(&buffer, 1, 10), &names[0]);
    assert_ptr_equal(ct_context_name_find(&buffer, 1, 19), &names[0]);
    assert_ptr_equal(ct_context_name_find(&buffer, 1, 20), &names[1]);
    assert_ptr_equal(ct_context_name_find(&buffer, 1, CT_NO_TIME), &names[1]);
    assert_null(ct_context_name_find(&buffer, 2, CT_NO_TIME));
    assert_ptr_equal(ct_context_name_find(&buffer, 3, 0), &names[2]);
    assert_null(ct_context_name_find(&buffer, 4, 0));
}

/* A watchpoint for something that no trace contains is refused for trace. */
TEST_WITH(accesses_are_of_logs, f)
{
    struct ct_watcher *watcher;
    static const char *const wrong[] = {
        "access:",       "access:1:",      "access:nothing",         "access:0x20..0x10",
        "access:point:", "access:point:x", "access:point:4294967295"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ct_watches_add(f->watches, wrong[i], NULL, NULL), CT_ERR_NOT_FOUND);
    watch(f, "access:main.fetch");
    size_t count;
    const struct ct_watch_place *places = ct_watches_places(f->watches, &count);
    assert_int_equal(count, 1);
    assert_true(places[0].addr == MAIN && places[0].end == WORK && places[0].kind == CT_WATCH_ACCESS);
    assert_int_equal(ct_watcher_new(f->ctx, f->watches, &watcher), CT_ERR_NOT_FOUND);
    assert_non_null(strstr(ct_ctx_error(f->ctx), "or an event log"));
}

/* Calls go to the function and to the copy that the compiler made for some of them. */
TEST_WITH(copies_are_the_function, f)
{
    watch(f, "entry:work");
    step(f, MAIN, 2, CT_INSN_BR, CT_INSN_SUB_LINK, WORK, 10);
    step(f, WORK, 2, CT_INSN_IBR, CT_INSN_SUB_RET, MAIN + 8, 1);
    step(f, MAIN + 8, 2, CT_INSN_BR, CT_INSN_SUB_LINK, COPY, 1);
    step(f, COPY, 2, CT_INSN_IBR, CT_INSN_SUB_RET, MAIN + 16, 1);
    run(f, MOST, MOST / 2);
    assert_int_equal(f->event_count, 2);
    assert_int_equal(f->events[1].value, COPY);
}

TEST(suffixes_are_read)
{
    assert_int_equal(ct_name_is_of("f.constprop.0", "f"), CT_NAME_COPY);
    assert_int_equal(ct_name_is_of("f.isra.0.cold", "f"), CT_NAME_COPY | CT_NAME_COLD);
    assert_int_equal(ct_name_is_of("f.cold.1", "f"), CT_NAME_COLD);
    assert_int_equal(ct_name_is_of("f.part.0", "f"), CT_NAME_PART);
    assert_int_equal(ct_name_is_of("f.llvm.1234567890", "f"), CT_NAME_COPY);
    assert_int_equal(ct_name_is_of("A::f(int) [clone .isra.0] [clone .lto_priv.3]", "A::f(int)"),
                     CT_NAME_COPY);
    assert_int_equal(ct_name_is_of("f", "f"), 0);
    assert_int_equal(ct_name_is_of("f.isra.0x", "f"), 0);
    assert_int_equal(ct_name_is_of("f.israel", "f"), 0);
    assert_int_equal(ct_name_is_of("f [clone .isra.0", "f"), 0);
    assert_int_equal(ct_name_is_of("f.constprop.0", "f.constprop"), 0);
    assert_int_equal(ct_name_is_of("f2.isra.0", "f"), 0);
}

TEST(parameters_are_left_out)
{
    assert_int_equal(ct_name_is_of("A::f(B const&, int (*)(int)) const", "A::f"), CT_NAME_WHOLE);
    assert_int_equal(ct_name_is_of("f(int) [clone .isra.0]", "f"), CT_NAME_WHOLE | CT_NAME_COPY);
    assert_int_equal(ct_name_is_of("A::operator()(int) const &", "A::operator()"), CT_NAME_WHOLE);
    assert_int_equal(ct_name_is_of("A::operator()(int) const", "A::operator"), 0);
    assert_int_equal(ct_name_is_of("f(int)::{lambda(int)#1}::operator()(int) const", "f"), 0);
    assert_int_equal(ct_name_is_of("f(int", "f"), 0);
    assert_int_equal(ct_name_is_of("f)", "f"), 0);
    assert_true(ct_name_enters("f(int) [clone .isra.0]", "f"));
    assert_false(ct_name_enters("f(int) [clone .cold]", "f"));
    assert_false(ct_name_enters("f", "f"));
}
