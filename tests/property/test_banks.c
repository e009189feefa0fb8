/* SPDX-License-Identifier: Apache-2.0 */
/* Formulas of one specification, whose states are one joint state (monitor/bank.h), against each of them by
 * itself: with more joint states than are remembered, all verdicts come at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "coretap/monitor.h"
#include "monitor/run.h"
#include "support/rng.h"

enum {
    INPUTS = 8,
    FORMULAS = 32,
    BATCH = 1000,
    TEXT = 400, /* for a formula */
};

struct verdicts {
    uint64_t times[FORMULAS]; /* of the last change */
    int64_t values[FORMULAS];
    size_t count;
    uint32_t shift; /* added to numbers of outputs */
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

/* Writes a formula that is false at the first occurrence of a sequence of inputs with a hole in it. Each
 * steps with every input, so that all are in one bank. */
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

static void many_states(void **state)
{
    static struct verdicts together, alone[FORMULAS];
    static char text[FORMULAS * TEXT], one[INPUTS * TEXT];
    struct rng rng = {test_number("CT_SEED", 1)};
    struct ct_ctx *ctx = ct_ctx_new();
    struct ct_monitor *runs[FORMULAS + 1];
    struct ct_monitor_spec *specs[FORMULAS + 1];
    size_t size = 0;
    (void)state;
    for (unsigned i = 0; i < INPUTS; i++)
        size += (size_t)sprintf(text + size, "define x%u := function_call x%u\n", i, i);
    const size_t head = size;
    for (unsigned i = 0; i < FORMULAS; i++) {
        const size_t more = write_formula(&rng, text + size, i);
        sprintf(one, "%.*s%.*s", (int)head, text, (int)more, text + size);
        size += more;
        alone[i].shift = i;
        runs[i] = new_run(ctx, one, &specs[i], &alone[i]);
    }
    runs[FORMULAS] = new_run(ctx, text, &specs[FORMULAS], &together);
    assert_int_equal(runs[FORMULAS]->p->nbanks, 1);
    specs[FORMULAS]->program.banks->most = 64;
    bool rested = false, returned = false;
    const uint64_t batches = test_count(200, 10000);
    for (uint64_t i = 0; i < batches; i++) {
        const struct ct_mon_bank *bank = runs[FORMULAS]->banks;
        feed(runs, &rng, i * BATCH);
        returned |= rested && !bank->rest;
        rested |= bank->rest != 0;
    }
    assert_true(rested && returned); /* there were more than are remembered */
    for (unsigned i = 0; i < FORMULAS; i++) {
        if (alone[i].times[i] != together.times[i] || alone[i].values[i] != together.values[i])
            fail_msg("m%u: %llu and %llu\n%s", i, (unsigned long long)alone[i].times[i],
                     (unsigned long long)together.times[i], text);
        together.count -= alone[i].count;
    }
    assert_int_equal(together.count, 0);
    for (unsigned i = 0; i <= FORMULAS; i++) {
        ct_monitor_free(runs[i]);
        ct_monitor_spec_free(specs[i]);
    }
    ct_ctx_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_states)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("banks", tests, NULL, NULL);
}
