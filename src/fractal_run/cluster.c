/* SPDX-License-Identifier: Apache-2.0 */
/* The clusters that a program's accesses go through, and what listens to the port of the first one. */
#include "base/ctx.h"
#include "coretap/access.h"
#include "fractal_run/simulation.h"

#define TICK_CYCLES (CT_SOC_CLOCK_HZ / 250) /* Linux's usual timer */
#define LINE        UINT64_C(64)            /* bytes */

/* ---- the port: FRACTAL, and a recording of what it hears ---- */

/* Keeps the first error of a hook. */
static void note_result(struct ct_fractal_simulation *s, int rc)
{
    if (!s->result)
        s->result = rc;
}

/* Writes a message to the recording. */
static int write_message(const struct ct_fractal_simulation *s, const struct ct_fractal_message *m,
                         const uint64_t *line)
{
    char text[256];
    const size_t n = ct_fractal_message_print(m, line, text);
    text[n] = '\n';
    return s->options.messages(s->options.messages_user, text, n + 1);
}

/* Hears a message of the port. What the tracer refuses it counts; only a register that cannot be written is
 * an error. */
static void on_message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct ct_fractal_simulation *s = user;
    if (s->options.messages && !s->result)
        note_result(s, write_message(s, m, line));
    struct ct_fractal *f = s->bench[0].fractal;
    const int rc = line ? ct_fractal_data(f, m->time, m->addr, line) : ct_fractal_message(f, m);
    if (rc && m->op == CT_FRACTAL_REG_WRITE)
        note_result(s, rc);
}

/* Gives the port the next command. */
static int on_command(void *user, struct ct_fractal_command *out)
{
    const struct ct_fractal_simulation *s = user;
    return ct_fractal_command(s->bench[0].fractal, out);
}

/* Counts a miss of the program in the range, and tells of it. */
static void on_miss(void *user, const struct ct_soc_miss *m)
{
    struct ct_fractal_simulation *s = user;
    if (m->pid != s->bench[0].pid || m->va >= s->hi || m->va + LINE - 1 < s->lo)
        return;
    s->targets++;
    if (!s->options.truth || !s->names || s->result)
        return;
    const struct ct_fractal_event e = {
        .time = m->time, .va = m->va, .pa = m->pa, .op = m->op, .initiator = m->core, .kind = m->kind};
    note_result(s, ct_fractal_csv_write(s->names, &e, s->options.truth, s->options.truth_user));
}

/* ---- making clusters ---- */

/* Adds a cluster in which the program has a process that runs on the first core. */
static int add_cluster(struct ct_fractal_simulation *s, unsigned fabric, const struct ct_soc_hooks *hooks)
{
    struct ct_fractal_bench *b = &s->bench[s->benches];
    struct ct_soc_config config = s->config;
    config.fabric = (uint8_t)fabric;
    const int rc = ct_soc_new(s->ctx, &config, hooks, &b->soc);
    if (rc)
        return rc;
    s->benches++;
    b->pid = ct_soc_process(b->soc);
    if (!b->pid)
        return ct_fail_nomem(s->ctx, "a process of the simulated cluster");
    ct_soc_run(b->soc, 0, b->pid);
    return CT_OK;
}

int ct_fractal_simulation_add_bare(struct ct_fractal_simulation *s, unsigned fabric)
{
    return add_cluster(s, fabric, NULL);
}

int ct_fractal_simulation_add_traced(struct ct_fractal_simulation *s)
{
    const struct ct_soc_hooks hooks = {.user = s, .miss = on_miss};
    const struct ct_soc_tap tap = {.user = s, .message = on_message, .command = on_command};
    struct ct_fractal_bench *b = &s->bench[0];
    int rc = add_cluster(s, CT_SOC_FABRIC_COHERENT, &hooks);
    if (!rc)
        rc = ct_fractal_new(s->ctx, s->options.tracer, &b->fractal);
    if (!rc)
        b->tap = ct_soc_attach(b->soc, &tap);
    return rc;
}

/* ---- what happens in them ---- */

void ct_fractal_simulation_register(struct ct_fractal_simulation *s, uint32_t offset, uint64_t value)
{
    ct_soc_reg_write(s->bench[0].soc, (unsigned)s->bench[0].tap, offset, value);
}

int ct_fractal_simulation_drain(struct ct_fractal_simulation *s)
{
    uint64_t dropped;
    size_t n;
    ct_fractal_reg_read(s->bench[0].fractal, CT_FRACTAL_REG_DROPPED, 8, &dropped);
    while ((n = ct_fractal_events(s->bench[0].fractal, s->batch, FRACTAL_EVENTS_MAX)) ||
           dropped != s->dropped) {
        const int rc =
            s->writer ? ct_fractal_writer_add(s->writer, s->batch, n, dropped - s->dropped) : CT_OK;
        if (rc)
            return rc;
        s->events += n;
        s->dropped = dropped;
    }
    return CT_OK;
}

/* Makes an access of process `pid` on a core, in the lines that it touches. */
static void access_lines(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t word)
{
    const uint64_t va = ct_access_va(word);
    if (ct_soc_running(soc, core) != pid)
        ct_soc_run(soc, core, pid);
    if (ct_access_kind_of(word) == CT_ACCESS_FETCH) {
        const unsigned count = ct_access_low(word) ? ct_access_low(word) : 16;
        ct_soc_access(soc, core, va, CT_SOC_FETCH);
        ct_soc_spend(soc, core, count - 1);
        return;
    }
    const enum ct_soc_access how = ct_access_kind_of(word) == CT_ACCESS_STORE ? CT_SOC_STORE : CT_SOC_LOAD;
    const uint64_t last = va + (UINT64_C(1) << ct_access_low(word)) - 1;
    ct_soc_access(soc, core, va, how);
    if ((va ^ last) / LINE)
        ct_soc_access(soc, core, last & ~(LINE - 1), how);
}

void ct_fractal_simulation_access(struct ct_fractal_simulation *s, unsigned from, uint64_t word)
{
    const unsigned cores = s->config.cores - s->beside;
    const unsigned core = from ? s->config.cores - from : ct_access_cpu(word) % cores;
    for (unsigned i = 0; i < s->benches; i++)
        access_lines(s->bench[i].soc, core, from ? s->beside_pid[from - 1] : s->bench[i].pid, word);
}

/* Lets the timer interrupt the cores of a cluster whose time it is. */
static void tick(struct ct_fractal_bench *b, unsigned cores)
{
    for (unsigned core = 0; core < cores; core++) {
        const uint64_t due = ct_soc_cycles(b->soc, core) / TICK_CYCLES;
        if (due > b->ticks[core]) {
            b->ticks[core] = due;
            ct_soc_tick(b->soc, core);
        }
    }
}

void ct_fractal_simulation_tick(struct ct_fractal_simulation *s)
{
    for (unsigned i = 0; i < s->benches; i++)
        tick(&s->bench[i], s->config.cores);
}

void ct_fractal_simulation_unmap(struct ct_fractal_simulation *s, uint64_t lo, uint64_t size)
{
    const uint64_t page = UINT64_C(1) << s->config.granule;
    uint64_t pa;
    for (unsigned b = 0; b < s->benches; b++)
        for (uint64_t va = lo & ~(page - 1); va < lo + size && va - lo < page << 20; va += page)
            if (ct_soc_translate(s->bench[b].soc, s->bench[b].pid, va, &pa))
                ct_soc_unmap(s->bench[b].soc, 0, s->bench[b].pid, va);
}

void ct_fractal_simulation_file(struct ct_fractal_simulation *s, uint64_t lo, uint64_t hi)
{
    for (unsigned i = 0; i < s->benches; i++)
        ct_soc_file(s->bench[i].soc, s->bench[i].pid, lo, hi);
}
