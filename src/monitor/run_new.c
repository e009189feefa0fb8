/* SPDX-License-Identifier: Apache-2.0 */
/* Creates a run, gives it machine code, and frees it. */
#include "monitor/certain.h"
#include "base/require.h"
#include "monitor/doubt.h"
#include "monitor/run.h"

#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/options.h"

/* parts of the memory limit: between two collections values take up to two parts, and a collection copies the
 * live ones into the third */
#define HEAP_PARTS 3

static bool find_quick(struct ct_monitor *m)
{
    const struct ct_mon_program *p = m->p;
    m->quick = calloc(p->ninputs + 1, sizeof *m->quick);
    for (size_t i = 0; m->quick && i < p->ninputs; i++) {
        const struct ct_mon_input_info *in = &p->inputs[i];
        const struct ct_mon_type *type = in->type;
        const bool unit = type->kind == TY_RECORD && type->n == 0;
        const bool simple = unit || type->kind == TY_INT || type->kind == TY_BOOL;
        if (!simple || in->cell == NO_CELL || in->code == NO_CODE)
            continue;
        m->quick[i] = (struct ct_mon_quick_input){.fn = m->native->table[in->code],
                                                  .cell = in->cell,
                                                  .prev = in->prev,
                                                  .code = in->code,
                                                  .kind = (uint8_t)type->kind};
    }
    return m->quick != NULL;
}

void ct_mon_run_adopt(struct ct_monitor *m)
{
    if (m->native || !m->spec->beside)
        return;
    m->native = ct_mon_beside_code(m->spec->beside);
    if (m->native && !find_quick(m))
        m->native = NULL;
}

int ct_monitor_new(struct ct_ctx *ctx, const struct ct_monitor_spec *spec,
                   const struct ct_monitor_limits *limits, ct_monitor_fn *fn, void *user,
                   struct ct_monitor **out)
{
    CT_REQUIRE_OUT(ctx, out, spec);
    if (!spec->runnable)
        return ct_fail(ctx, CT_ERR_ARG,
                       "monitor: the specification has errors, so it cannot run; correct the errors that "
                       "compiling it reported");
    const struct ct_mon_program *p = &spec->program;
    struct ct_monitor_limits l;
    const int rc = ct_options_read(ctx, "ct_monitor_new", limits, &l, sizeof l);
    if (rc)
        return rc;
    struct ct_monitor *m = calloc(1, sizeof *m);
    if (!m)
        return ct_fail_nomem(ctx, "monitor");
    m->ctx = ctx;
    m->spec = spec;
    m->p = p;
    m->native = ct_mon_native_code(spec->native);
    ct_mon_beside_start(spec->beside);
    m->fn = fn;
    m->user = user;
    m->results_cap = RESULTS_ROOM > p->noutputs ? RESULTS_ROOM : p->noutputs;
    m->budget = l.budget && l.budget < INT64_MAX ? l.budget : l.budget ? INT64_MAX : CT_MONITOR_BUDGET;
    m->memory = l.memory ? l.memory : CT_MONITOR_MEMORY;
    m->instants_limit = l.instants;
    ct_mon_heap_init(&m->heap, m->memory / HEAP_PARTS, false);
    m->heap.stop = l.stop;
    m->cells = calloc(p->ncells + 1, sizeof *m->cells);
    m->states = calloc(p->nmachines + 1, sizeof *m->states);
    const bool banks = ct_mon_banks_init(m);
    m->timers = calloc(p->ntimers + 1, sizeof *m->timers);
    m->seen = calloc(p->ninputs + 1, sizeof *m->seen);
    m->results = calloc(m->results_cap + 1, sizeof *m->results);
    if (!m->cells || !m->states || !banks || !m->timers || !m->seen || !m->results ||
        (m->native && !find_quick(m))) {
        ct_monitor_free(m);
        return ct_fail_nomem(ctx, "monitor");
    }
    if (p->nconstants)
        memcpy(m->cells, p->constants, p->nconstants * sizeof *m->cells);
    memcpy(m->states, p->machine_starts, p->nmachines * sizeof *m->states);
    for (size_t i = 0; i < p->ntimers; i++)
        m->timers[i] = -1;
    m->timer_next = INT64_MAX;
    *out = m;
    return CT_OK;
}

void ct_monitor_free(struct ct_monitor *m)
{
    if (!m)
        return;
    ct_mon_heap_free(&m->heap);
    if (m->reader_free)
        m->reader_free(m->reader);
    ct_mon_certain_free(m->certain);
    ct_mon_certain_free(m->spare);
    ct_mon_doubt_free(m);
    free(m->cells);
    free(m->stack);
    free(m->states);
    ct_mon_banks_free(m);
    free(m->timers);
    free(m->seen);
    free(m->quick);
    free(m->results);
    free(m);
}
