/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of the traced cluster: fork, exec and end, and the taps of their tracers on the port. */
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "fractal_run/simulation.h"

/* ---- tracers ---- */

/* Assigns a tap on the port to the tracer of a process: that of an ended process, or a new one. */
static int take_seat(struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    unsigned seat = 0;
    while (seat < s->seats && s->seat[seat])
        seat++;
    if (seat == s->seats) {
        const struct ct_soc_tap tap = {
            .user = &s->seat[seat], .message = ct_fractal_seat_message, .command = ct_fractal_seat_command};
        const int tap_number = ct_soc_attach(s->bench[0].soc, &tap);
        if (tap_number < 0)
            return ct_fail(s->ctx, tap_number,
                           "process %u: all %u tracers of the port are in use, so the process is not traced; "
                           "trace fewer processes",
                           p->number, CT_SOC_TAPS);
        s->seats++;
    }
    s->seat[seat] = p;
    p->tap = (int)seat;
    return CT_OK;
}

static void free_tracer(struct ct_fractal_process *p)
{
    ct_fractal_wire_free(p->wire);
    ct_fractal_free(p->tracer);
    free(p->batch);
    p->wire = NULL;
    p->tracer = NULL;
    p->batch = NULL;
}

int ct_fractal_process_attach(struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    int rc = ct_fractal_new(s->ctx, s->options.tracer, &p->tracer);
    if (rc)
        return rc;
    p->batch = calloc(FRACTAL_EVENTS_MAX, sizeof *p->batch);
    if (!p->batch)
        rc = ct_fail_nomem(s->ctx, "events of a process");
    if (!rc && s->options.protocol != CT_FRACTAL_NEUTRAL)
        rc = ct_fractal_wire_new(s->ctx, s->options.protocol, &p->wire);
    if (!rc)
        rc = take_seat(p);
    if (rc)
        free_tracer(p);
    return rc;
}

void ct_fractal_process_count(const struct ct_fractal_process *p, uint64_t *commands, bool *lost)
{
    uint64_t status, issued;
    if (!p->tracer)
        return;
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_COMMANDS, 8, &issued);
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_STATUS, 4, &status);
    *commands += issued;
    *lost |= (status & CT_FRACTAL_STATUS_LOST) != 0;
}

/* Stops the tracer of a process that ends. Frees it and its tap, unless its ring has to keep its events. */
static int retire(struct ct_fractal_process *p)
{
    struct ct_fractal_simulation *s = p->simulation;
    int rc = p->tracing ? ct_fractal_process_register(p, CT_FRACTAL_REG_CTRL, 0) : CT_OK;
    p->tracing = p->begun = false;
    if (!p->tracer || s->options.ring)
        return rc;
    if (!rc)
        rc = ct_fractal_simulation_drain(s);
    ct_fractal_process_count(p, &s->commands, &s->lost);
    s->seat[p->tap] = NULL;
    free_tracer(p);
    return rc;
}

/* ---- processes ---- */

int ct_fractal_simulation_add_process(struct ct_fractal_simulation *s, uint32_t pid, const char *program,
                                      struct ct_fractal_process **out)
{
    if (s->processes == FRACTAL_PROCESSES_MAX)
        return ct_fail(s->ctx, CT_ERR_LIMIT,
                       "%s: this would be process %u of the run, but a log can have only %u; the run ends "
                       "here; trace a part that starts fewer, or omit --follow-forks",
                       program, s->processes + 1, FRACTAL_PROCESSES_MAX);
    *out = &s->process[s->processes];
    **out = (struct ct_fractal_process){
        .simulation = s, .program = program, .pid = pid, .number = s->processes++, .tap = -1};
    return CT_OK;
}

/* Advances a core's clock to that of another core. */
static void wait_for_core(struct ct_soc *soc, unsigned core, unsigned other)
{
    const uint64_t now = ct_soc_cycles(soc, core), then = ct_soc_cycles(soc, other);
    if (now < then)
        ct_soc_spend(soc, core, then - now);
}

int ct_fractal_process_fork(struct ct_fractal_process *p, uint64_t number, struct ct_fractal_process **out)
{
    struct ct_fractal_simulation *s = p->simulation;
    const unsigned cores = s->config.cores - s->beside, children = s->feeds.count - 1 - s->beside;
    ct_fractal_simulation_hook(s);
    const uint32_t pid = ct_soc_fork(s->bench[0].soc, p->core, p->pid);
    if (!pid)
        return ct_fail(
            s->ctx, CT_ERR_NOMEM,
            "process %u: the simulated cluster has no memory left for its child; the run ends here",
            p->number);
    const int rc = ct_fractal_simulation_add_process(s, pid, p->program, out);
    if (rc)
        return rc;
    (*out)->parent = p;
    (*out)->child = number;
    (*out)->core = cores > 1 ? 1 + children % (cores - 1) : 0;
    wait_for_core(s->bench[0].soc, (*out)->core, p->core);
    (*out)->begun = p->begun;
    (*out)->start_code = p->start_code;
    return p->tracing ? ct_fractal_process_start(*out) : CT_OK;
}

/* Replaces the address space of a process by an empty one for its new image, in each cluster that has the
 * process. */
static int replace_space(const struct ct_fractal_process *old, struct ct_fractal_process *image)
{
    struct ct_fractal_simulation *s = old->simulation;
    for (unsigned b = 0; b < s->benches; b++) {
        struct ct_soc *soc = s->bench[b].soc;
        const uint32_t before = ct_fractal_process_pid(old, b);
        if (!before)
            continue;
        const uint32_t pid = ct_soc_process(soc);
        if (!pid)
            return ct_fail(
                s->ctx, CT_ERR_NOMEM,
                "process %u: the simulated cluster has no memory left for its program %s; the run ends here",
                image->number, image->program);
        ct_soc_exit(soc, old->core, before);
        if (!b)
            image->pid = pid;
        if (!image->feed)
            s->bench[b].pid = pid;
    }
    return CT_OK;
}

int ct_fractal_process_exec(struct ct_fractal_process *p, const char *program,
                            struct ct_fractal_process **out)
{
    struct ct_fractal_simulation *s = p->simulation;
    char *own = strdup(program);
    if (!own)
        return ct_fail_nomem(s->ctx, "a program");
    int rc = ct_fractal_simulation_add_process(s, 0, own, out);
    if (rc) {
        free(own);
        return rc;
    }
    (*out)->own_program = own;
    (*out)->image_of = p;
    (*out)->parent = p->parent;
    (*out)->child = p->child;
    (*out)->core = p->core;
    (*out)->feed = p->feed;
    rc = retire(p) ?: replace_space(p, *out);
    p->pid = 0;
    if (!rc && s->echo.soc && !p->feed) {
        ct_fractal_free(s->echo.tracer);
        s->echo.tracer = NULL;
        s->echo.events = 0;
        rc = ct_fractal_new(s->ctx, s->options.tracer, &s->echo.tracer);
    }
    return rc ? rc : ct_fractal_simulation_text(s, "exec=%u %u %.800s\n", p->number, (*out)->number, own);
}

int ct_fractal_process_end(struct ct_fractal_process *p)
{
    const int rc = retire(p);
    wait_for_core(p->simulation->bench[0].soc, p->parent->core, p->core);
    ct_soc_exit(p->simulation->bench[0].soc, p->core, p->pid);
    p->pid = 0;
    return rc;
}

int ct_fractal_process_migrate(struct ct_fractal_process *p, uint64_t va)
{
    struct ct_soc *soc = p->simulation->bench[0].soc;
    if (ct_soc_migrate_begin(soc, p->core, p->pid, va) && ct_soc_migrate_end(soc, p->core))
        return CT_OK;
    return ct_fail(p->simulation->ctx, CT_ERR_CONFIG,
                   "page move 0x%llx: process %u has no private page at this address; nothing was moved",
                   (unsigned long long)va, p->number);
}
