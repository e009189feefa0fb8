/* SPDX-License-Identifier: Apache-2.0 */
/* Checks that formulas of one specification, which have a joint state (monitor/bank.h), give the same
 * verdicts at the same times as each formula alone, even with more joint states than are cached. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "coretap/monitor.h"
#include "monitor/run.h"
#include "support/rng.h"
#include "support/unit.h"

enum {
    INPUTS = 8,
    FORMULAS = 32,
    BATCH = 1000,
    TEXT = 400, /* bytes for a formula */
};

struct verdicts {
    uint64_t times[FORMULAS]; /* times of the last changes */
    int64_t values[FORMULAS];
    size_t count;
    uint32_t shift; /* added to output numbers */
};

static void take(void *user, const struct ct_monitor_result *results, size_t count)
{
    struct verdicts *v = user;
    for (size_t i = 0; i < count; i++) {
        v->times[v->shift + results[i].output] = results[i].time;
        v->values[v->shift + results[i].output] = results[i].v.i;
        v->count++;
    }
}

/* Writes a formula that becomes false when a sequence of inputs with a gap first occurs. Each formula steps
 * with every input, so that all are in one bank. */
static size_t write_formula(struct rng *r, char *at, unsigned i)
{
    size_t n = (size_t)sprintf(at, "define m%u := monitor((always (x0", i);
    for (unsigned k = 1; k < INPUTS; k++)
        n += (size_t)sprintf(at + n, " or x%u", k);
    n += (size_t)sprintf(at + n, ")) and never /x%u", rng_below(r, INPUTS));
    n += (size_t)sprintf(at + n, "; true; true");
    for (unsigned k = 0; k < 2; k++)
        n += (size_t)sprintf(at + n, "; x%u", rng_below(r, INPUTS));
    return n + (size_t)sprintf(at + n, "/)\nout m%u\n", i);
}

static struct ct_monitor *new_run(struct ct_ctx *ctx, const char *text, struct ct_monitor_spec **spec,
                                  struct verdicts *v)
{
    const struct ct_monitor_options o = {.size = sizeof o, .changes_only = 1};
    struct ct_monitor *m;
    if (ct_monitor_compile(ctx, "banks", text, strlen(text), &o, spec) != CT_OK)
        fail_msg("%s\n%s", ct_ctx_error(ctx), text);
    assert_int_equal(ct_monitor_new(ctx, *spec, NULL, take, v, &m), CT_OK);
    return m;
}

/* Feeds the same random events to all runs. */
static void feed(struct ct_monitor **runs, struct rng *r, uint64_t first)
{
    struct ct_monitor_event events[BATCH] = {{0}};
    for (size_t i = 0; i < BATCH; i++)
        events[i] = (struct ct_monitor_event){.time = 1 + first + i, .input = rng_below(r, INPUTS)};
    for (size_t k = 0; k <= FORMULAS; k++)
        assert_int_equal(ct_monitor_feed(runs[k], events, BATCH), CT_OK);
}

/* A specification with all formulas, and one for each formula. */
struct trial {
    struct ct_ctx *ctx;
    struct rng rng;
    char text[FORMULAS * TEXT];
    struct verdicts together, alone[FORMULAS];
    struct ct_monitor *runs[FORMULAS + 1]; /* the last one has all formulas */
    struct ct_monitor_spec *specs[FORMULAS + 1];
};

static void begin(struct trial *t)
{
    static char one[INPUTS * TEXT];
    size_t size = 0;
    *t = (struct trial){.ctx = ct_ctx_new(), .rng = {test_number("CT_SEED", 1)}};
    for (unsigned i = 0; i < INPUTS; i++)
        size += (size_t)sprintf(t->text + size, "define x%u := function_call x%u\n", i, i);
    const size_t head = size;
    for (unsigned i = 0; i < FORMULAS; i++) {
        const size_t more = write_formula(&t->rng, t->text + size, i);
        sprintf(one, "%.*s%.*s", (int)head, t->text, (int)more, t->text + size);
        size += more;
        t->alone[i].shift = i;
        t->runs[i] = new_run(t->ctx, one, &t->specs[i], &t->alone[i]);
    }
    t->runs[FORMULAS] = new_run(t->ctx, t->text, &t->specs[FORMULAS], &t->together);
    assert_int_equal(t->runs[FORMULAS]->p->nbanks, 1);
}

/* Compares the verdicts and ends the trial. */
static void end(struct trial *t)
{
    size_t count = 0;
    for (unsigned i = 0; i < FORMULAS; i++) {
        if (t->alone[i].times[i] != t->together.times[i] || t->alone[i].values[i] != t->together.values[i])
            fail_msg("m%u: %llu and %llu\n%s", i, (unsigned long long)t->alone[i].times[i],
                     (unsigned long long)t->together.times[i], t->text);
        count += t->alone[i].count;
    }
    assert_int_equal(count, t->together.count);
    for (unsigned i = 0; i <= FORMULAS; i++) {
        ct_monitor_free(t->runs[i]);
        ct_monitor_spec_free(t->specs[i]);
    }
    ct_ctx_free(t->ctx);
}

TEST(many_states)
{
    static struct trial t;
    bool rested = false, returned = false;
    begin(&t);
    t.specs[FORMULAS]->program.banks->most = 64;
    const struct ct_mon_bank *bank = t.runs[FORMULAS]->banks;
    const uint64_t batches = test_count(200, 10000);
    for (uint64_t i = 0; i < batches; i++) {
        feed(t.runs, &t.rng, i * BATCH);
        returned |= rested && !bank->rest;
        rested |= bank->rest != 0;
    }
    assert_true(rested && returned); /* there were more states than the cache holds */
    end(&t);
}

/* Checks that changes of verdicts are reported again when a run returns to an earlier state. */
TEST(states_again)
{
    static struct trial t;
    uint16_t before[FORMULAS + 1][FORMULAS];
    begin(&t);
    feed(t.runs, &t.rng, 0);
    for (size_t k = 0; k <= FORMULAS; k++)
        for (uint32_t i = 0; i < t.runs[k]->p->nmachines; i++)
            before[k][i] = ct_mon_bank_state(t.runs[k], i);
    const struct rng rng = t.rng;
    size_t count[2];
    for (uint64_t again = 0; again < 2; again++) {
        const size_t told = t.together.count;
        for (size_t k = 0; k <= FORMULAS; k++) {
            ct_mon_banks_leave(t.runs[k]);
            memcpy(t.runs[k]->states, before[k], t.runs[k]->p->nmachines * sizeof before[k][0]);
        }
        t.rng = rng;
        for (uint64_t i = 1; i < 20; i++)
            feed(t.runs, &t.rng, (20 * again + i) * BATCH);
        count[again] = t.together.count - told;
    }
    assert_true(count[0] && count[0] == count[1]);
    end(&t);
}
