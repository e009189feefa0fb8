/* SPDX-License-Identifier: Apache-2.0 */
/* The clusters that a program's accesses go through, and the tracers at the port of the first cluster. */

#include "base/ctx.h"
#include "coretap/access.h"
#include "fractal_run/simulation.h"

#define TICK_CYCLES  (CT_SOC_CLOCK_HZ / 250) /* the usual timer period of Linux */
#define LINE         UINT64_C(64)            /* bytes of a cache line */
#define RECORD_BYTES 33

/* ---- the port: FRACTAL, and a recording of the messages ---- */

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

/* Writes what a tracer has logged since the last call to memory. */
static void write_sink(struct ct_soc *soc, const struct ct_fractal *tracer, uint64_t *written)
{
    uint64_t events;
    ct_fractal_reg_read(tracer, CT_FRACTAL_REG_EVENTS, 8, &events);
    ct_soc_sink_write(soc, (events - *written) * RECORD_BYTES);
    *written = events;
}

/* Passes a message to a tracer. */
static int hear(struct ct_fractal *tracer, const struct ct_fractal_message *m, const uint64_t *line)
{
    return line ? ct_fractal_data(tracer, m->time, m->addr, line) : ct_fractal_take_message(tracer, m);
}

/* Writes a flit to the recording. */
static int write_flit(const struct ct_fractal_simulation *s, const struct ct_fractal_flit *flit,
                      const struct ct_fractal_message *m)
{
    char text[129];
    const size_t n = ct_fractal_flit_print(flit, m, text);
    text[n] = '\n';
    return s->options.messages(s->options.messages_user, text, n + 1);
}

/* Passes a message to the tracer of a process. The tracer counts refused messages; only a register that
 * cannot be written is an error. */
static void deliver(struct ct_fractal_process *p, const struct ct_fractal_message *m, const uint64_t *line)
{
    const int rc = hear(p->tracer, m, line);
    if (rc && m->op == CT_FRACTAL_REG_WRITE)
        note_result(p->simulation, rc);
}

/* Sends a message as flits of the port's protocol; the tracer gets what they decode to. */
static void send(struct ct_fractal_process *p, const struct ct_fractal_message *m, bool recorded)
{
    struct ct_fractal_simulation *s = p->simulation;
    struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
    struct ct_fractal_message heard;
    const int count = ct_fractal_encode_message(s->options.protocol, m, flits);
    int rc =
        count < 0
            ? ct_fail(
                  s->ctx, count,
                  "a message at address 0x%llx: it cannot be expressed as a flit of %s; the run ends here",
                  (unsigned long long)m->addr, ct_fractal_protocol_name(s->options.protocol))
            : CT_OK;
    for (int i = 0; i < count && !rc; i++) {
        rc = recorded ? write_flit(s, &flits[i], m) : CT_OK;
        if (!rc)
            rc = ct_fractal_wire_flit(p->wire, &flits[i], m);
        while (!rc && ct_fractal_wire_message(p->wire, &heard))
            deliver(p, &heard, NULL);
    }
    if (rc)
        note_result(s, rc);
}

void ct_fractal_seat_message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct ct_fractal_process *const *const seat = user, *p = *seat;
    if (!p)
        return;
    struct ct_fractal_simulation *s = p->simulation;
    const bool recorded = s->options.messages && !s->result && seat == &s->seat[0];
    if (p->wire && m->op != CT_FRACTAL_DATA && m->op != CT_FRACTAL_REG_WRITE) {
        send(p, m, recorded);
    } else {
        if (recorded)
            note_result(s, write_message(s, m, line));
        deliver(p, m, line);
    }
    if (s->config.sink == CT_SOC_SINK_MEMORY)
        write_sink(s->bench[0].soc, p->tracer, &p->sunk);
}

/* Passes a message to the second tracer. Ignores errors, which the first tracer reports, too. */
static void on_echo(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct ct_fractal_echo *echo = user;
    hear(echo->tracer, m, line);
    write_sink(echo->soc, echo->tracer, &echo->events);
}

static int on_echo_command(void *user, struct ct_fractal_command *out)
{
    const struct ct_fractal_echo *echo = user;
    return ct_fractal_next_command(echo->tracer, out);
}

int ct_fractal_seat_command(void *user, struct ct_fractal_command *out)
{
    struct ct_fractal_process *const *const seat = user, *p = *seat;
    struct ct_fractal_flit flits[CT_FRACTAL_FLITS];
    if (!p || !ct_fractal_next_command(p->tracer, out))
        return 0;
    struct ct_fractal_simulation *s = p->simulation;
    if (!p->wire)
        return 1;
    const int count = ct_fractal_encode_command(s->options.protocol, out, flits);
    const int rc =
        count < 0 ? count : ct_fractal_decode_command(s->ctx, s->options.protocol, flits, (size_t)count, out);
    if (rc)
        note_result(s, rc);
    return 1;
}

/* Counts and reports a miss of a traced process in its ranges. */
static void on_miss(void *user, const struct ct_soc_miss *m)
{
    struct ct_fractal_simulation *s = user;
    const struct ct_fractal_process *p = s->process, *end = p + s->processes;
    while (p < end && (p->pid != m->pid || !p->tracing))
        p++;
    if (p == end || !ct_fractal_process_traces(p, m->va, m->va + s->config.port_bytes - 1))
        return;
    s->targets++;
    if (!s->options.truth || s->result)
        return;
    const struct ct_fractal_event e = {
        .time = m->time, .va = m->va, .pa = m->pa, .op = m->op, .initiator = m->core, .kind = m->kind};
    note_result(s, ct_fractal_csv_write(p->names, &e, s->options.truth, s->options.truth_user));
}

/* Tells the tracer of a process which cores run the process. */
static void tell_context(struct ct_fractal_process *p)
{
    if (p->tracing)
        note_result(p->simulation, ct_fractal_process_register(p, CT_FRACTAL_REG_CONTEXT, p->running));
}

/* Notes that a core runs another process. Used once processes share pages. */
static void on_context(void *user, unsigned core, uint32_t pid)
{
    struct ct_fractal_simulation *s = user;
    for (struct ct_fractal_process *p = s->process; s->hooked && p < s->process + s->processes; p++) {
        const uint64_t bit = UINT64_C(1) << core, before = p->running;
        p->running = p->pid && p->pid == pid ? before | bit : before & ~bit;
        if (p->running != before)
            tell_context(p);
    }
}

/* Notes that a process got another address space ID. */
static void on_asid(void *user, uint32_t pid, uint16_t asid)
{
    struct ct_fractal_simulation *s = user;
    for (struct ct_fractal_process *p = s->process; p < s->process + s->processes; p++)
        if (p->pid == pid && p->tracing)
            note_result(s, ct_fractal_process_register(p, CT_FRACTAL_REG_ASID, asid));
}

void ct_fractal_simulation_hook(struct ct_fractal_simulation *s)
{
    if (s->hooked)
        return;
    s->hooked = true;
    for (struct ct_fractal_process *p = s->process; p < s->process + s->processes; p++) {
        p->running = 0;
        for (unsigned core = 0; core < s->config.cores; core++)
            p->running |= (uint64_t)(ct_soc_running(s->bench[0].soc, core) == p->pid) << core;
        tell_context(p);
    }
}

/* ---- creating clusters ---- */

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

int ct_fractal_simulation_add_logged(struct ct_fractal_simulation *s)
{
    struct ct_fractal_echo *echo = &s->echo;
    const struct ct_soc_tap tap = {.user = echo, .message = on_echo, .command = on_echo_command};
    int rc = add_cluster(s, CT_SOC_FABRIC_COHERENT, NULL);
    if (!rc)
        rc = ct_fractal_new(s->ctx, s->options.tracer, &echo->tracer);
    if (rc)
        return rc;
    echo->soc = s->bench[s->benches - 1].soc;
    echo->tap = ct_soc_attach(echo->soc, &tap);
    return CT_OK;
}

int ct_fractal_simulation_add_traced(struct ct_fractal_simulation *s)
{
    const struct ct_soc_hooks hooks = {.user = s, .miss = on_miss, .asid = on_asid, .context = on_context};
    struct ct_fractal_process *p;
    return add_cluster(s, CT_SOC_FABRIC_COHERENT, &hooks)
           ?: ct_fractal_simulation_add_process(s, s->bench[0].pid, s->options.argv[0], &p)
           ?: ct_fractal_process_attach(&s->process[0]);
}

/* ---- events in the clusters ---- */

int ct_fractal_process_register(struct ct_fractal_process *p, uint32_t offset, uint64_t value)
{
    struct ct_fractal_simulation *s = p->simulation;
    if (s->result)
        return s->result;
    ct_soc_reg_write(s->bench[0].soc, (unsigned)p->tap, offset, value);
    if (s->echo.soc) /* the clusters are equal, and so are the register values that describe them */
        ct_soc_reg_write(s->echo.soc, (unsigned)s->echo.tap, offset, value);
    const int rc = s->result;
    s->result = CT_OK; /* the caller gets the error */
    return rc;
}

/* Fetches events from the ring of a process if all earlier ones were written. Returns how many events were
 * dropped since. */
static uint64_t fetch(struct ct_fractal_process *p)
{
    uint64_t dropped;
    if (p->given == p->batched) {
        p->given = 0;
        p->batched = ct_fractal_events(p->tracer, p->batch, FRACTAL_EVENTS_MAX);
    }
    ct_fractal_reg_read(p->tracer, CT_FRACTAL_REG_DROPPED, 8, &dropped);
    const uint64_t since = dropped - p->dropped;
    p->dropped = dropped;
    return since;
}

/* Finds the process with the earliest event, and how many of its events come before those of the others.
 * Returns NULL when no event is left. */
static struct ct_fractal_process *next_events(struct ct_fractal_simulation *s, size_t *count,
                                              uint64_t *dropped)
{
    struct ct_fractal_process *first = NULL;
    uint64_t until = UINT64_MAX;
    for (struct ct_fractal_process *p = s->process; p < s->process + s->processes; p++) {
        if (!p->tracer)
            continue;
        *dropped += fetch(p);
        if (p->given == p->batched)
            continue;
        const uint64_t time = p->batch[p->given].time;
        if (first && time >= first->batch[first->given].time) {
            until = time < until ? time : until;
            continue;
        }
        until = first ? first->batch[first->given].time : until;
        first = p;
    }
    *count = 0;
    while (first && first->given + *count < first->batched &&
           (!*count || first->batch[first->given + *count].time < until))
        (*count)++;
    return first;
}

int ct_fractal_simulation_drain(struct ct_fractal_simulation *s)
{
    struct ct_fractal_process *p;
    do {
        size_t count;
        uint64_t dropped = 0;
        p = next_events(s, &count, &dropped);
        const int rc = s->writer && (count || dropped)
                           ? ct_fractal_writer_add(s->writer, p ? p->batch + p->given : NULL, count, dropped)
                           : CT_OK;
        if (rc)
            return rc;
        s->events += count;
        s->dropped += dropped;
        if (p)
            p->given += count;
    } while (p);
    return CT_OK;
}

/* Makes an access of process `pid` on a core, in each line that it touches. */
static void access_lines(struct ct_soc *soc, unsigned core, uint32_t pid, uint64_t word)
{
    const uint64_t va = ct_access_va(word);
    if (ct_soc_running(soc, core) != pid)
        ct_soc_run(soc, core, pid);
    if (ct_access_kind_of(word) == CT_ACCESS_FETCH) {
        const unsigned count = ct_access_low(word) ? ct_access_low(word) : 16;
        ct_soc_touch(soc, core, va, CT_SOC_FETCH);
        ct_soc_spend(soc, core, count - 1);
        return;
    }
    const enum ct_soc_access how = ct_access_kind_of(word) == CT_ACCESS_STORE ? CT_SOC_STORE : CT_SOC_LOAD;
    const uint64_t last = va + (UINT64_C(1) << ct_access_low(word)) - 1;
    for (uint64_t at = va; at <= last; at = (at & ~(LINE - 1)) + LINE)
        ct_soc_touch(soc, core, at, how);
}

void ct_fractal_process_access(const struct ct_fractal_process *p, uint64_t word)
{
    struct ct_fractal_simulation *s = p->simulation;
    const unsigned cores = s->config.cores - s->beside;
    const bool beside = p->feed && !p->parent;
    const unsigned core = beside ? p->core : (p->core + ct_access_cpu(word)) % cores;
    for (unsigned i = 0; i < s->benches; i++)
        access_lines(s->bench[i].soc, core, p->feed ? p->pid : s->bench[i].pid, word);
    if (!p->feed && ct_soc_cycles(s->bench[0].soc, core) > s->cycles)
        s->cycles = ct_soc_cycles(s->bench[0].soc, core);
}

/* Raises timer interrupts on the cores of a cluster where they are due. */
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

/* ---- address spaces ---- */

uint32_t ct_fractal_process_pid(const struct ct_fractal_process *p, unsigned bench)
{
    if (p->feed)
        return bench ? 0 : p->pid;
    return p->simulation->bench[bench].pid;
}

/* Returns the page size. */
static uint64_t page_of(const struct ct_fractal_simulation *s)
{
    return UINT64_C(1) << s->config.granule;
}

void ct_fractal_process_unmap(struct ct_fractal_process *p, uint64_t lo, uint64_t size)
{
    const struct ct_fractal_simulation *s = p->simulation;
    const uint64_t page = page_of(s);
    uint64_t pa;
    for (unsigned b = 0; b < s->benches; b++)
        for (uint64_t va = lo & ~(page - 1); va < lo + size && va - lo < page << 20; va += page)
            if (ct_soc_translate(s->bench[b].soc, ct_fractal_process_pid(p, b), va, &pa))
                ct_soc_unmap(s->bench[b].soc, p->core, ct_fractal_process_pid(p, b), va);
}

void ct_fractal_process_move(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size)
{
    const struct ct_fractal_simulation *s = p->simulation;
    const uint64_t page = page_of(s);
    for (unsigned b = 0; b < s->benches; b++)
        for (uint64_t at = 0; at < size && at < page << 20; at += page)
            ct_soc_move(s->bench[b].soc, p->core, ct_fractal_process_pid(p, b), from + at, to + at);
}

void ct_fractal_process_shared(struct ct_fractal_process *p, uint64_t lo, uint64_t size, uint64_t object)
{
    const struct ct_fractal_simulation *s = p->simulation;
    for (unsigned b = 0; b < s->benches; b++)
        ct_soc_shared(s->bench[b].soc, ct_fractal_process_pid(p, b), lo, lo + size, object);
}

void ct_fractal_process_remap(struct ct_fractal_process *p, uint64_t from, uint64_t to, uint64_t size)
{
    const uint64_t object = ct_soc_object(p->simulation->bench[0].soc, ct_fractal_process_pid(p, 0), from);
    ct_fractal_process_shared(p, to, size, object);
}

void ct_fractal_process_huge(struct ct_fractal_process *p, uint64_t lo, uint64_t size)
{
    const struct ct_fractal_simulation *s = p->simulation;
    const uint64_t block = page_of(s) << (s->config.granule - 3);
    for (unsigned b = 0; b < s->benches; b++)
        for (uint64_t va = (lo + block - 1) & ~(block - 1); va + block <= lo + size; va += block)
            ct_soc_map_huge(s->bench[b].soc, p->core, ct_fractal_process_pid(p, b), va);
}

void ct_fractal_process_file(const struct ct_fractal_process *p, uint64_t lo, uint64_t hi)
{
    const struct ct_fractal_simulation *s = p->simulation;
    for (unsigned b = 0; b < s->benches; b++)
        ct_soc_file(s->bench[b].soc, ct_fractal_process_pid(p, b), lo, hi);
}
