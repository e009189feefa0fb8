/* SPDX-License-Identifier: Apache-2.0 */
/* Measures the rates of FRACTAL and of the simulated cluster, on one core.
 *
 *   bench_fractal [seconds [words]]    prints a line for each figure, or for those whose name has the
 *   words:
 *                                      name, rate, unit, goal */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "coretap/fractal.h"
#include "coretap/soc.h"

#define STREAM (1u << 16)
#define TABLES UINT64_C(0x50000000)
#define FRAMES UINT64_C(0x80000000)

/* Returns the processor time of this process in seconds, which does not depend on other programs. */
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t draw(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

static void must(int err, const char *what)
{
    if (err) {
        fprintf(stderr, "bench_fractal: %s: %s\n", what, ct_error_name(err));
        exit(2);
    }
}

/* Answers the commands of a target whose three levels of tables map `pages` pages in order. */
static void answer(struct ct_fractal *f, uint64_t time)
{
    struct ct_fractal_command c;
    while (ct_fractal_next_command(f, &c)) {
        if (c.kind != CT_FRACTAL_CMD_READ && c.kind != CT_FRACTAL_CMD_PEEK)
            continue;
        uint64_t line[CT_FRACTAL_LINE_WORDS] = {0};
        const uint64_t table = (c.pa - TABLES) >> 12, first = (c.pa & 0xfff) / 8;
        for (uint64_t i = 0; i < CT_FRACTAL_LINE_WORDS; i++) {
            if (table < 2)
                line[i] = first + i ? 0 : (TABLES + ((table + 1) << 12)) | 3;
            else
                line[i] = (FRAMES + ((first + i) << 12)) | 0x403;
        }
        if (table == 1 && !first)
            for (uint64_t i = 0; i < 4; i++)
                line[i] = (TABLES + ((2 + i) << 12)) | 3;
        if (table >= 2)
            for (uint64_t i = 0; i < CT_FRACTAL_LINE_WORDS; i++)
                line[i] += (table - 2) << 21;
        must(ct_fractal_data(f, time, c.pa, line), "data");
    }
}

static void touch(struct ct_fractal *f, uint64_t pa)
{
    const struct ct_fractal_message m = {
        .addr = pa, .op = CT_FRACTAL_READ_SHARED, .kind = CT_FRACTAL_KIND_DATA};
    must(ct_fractal_take_message(f, &m), "message");
    answer(f, 0);
}

/* Makes a FRACTAL that knows 2,048 pages of the target, in a reverse TLB of 512 × 4, with `points`
 * observation points. */
static struct ct_fractal *traced(int points)
{
    struct ct_fractal *f;
    struct ct_fractal_port *port;
    const struct ct_fractal_target target = {.pgd = TABLES,
                                             .range_lo = 0,
                                             .range_hi = 2048 << 12,
                                             .asid = 5,
                                             .granule = 12,
                                             .va_bits = 39,
                                             .mode = CT_FRACTAL_POINTS};
    must(ct_fractal_new(NULL, NULL, &f), "new");
    must(ct_fractal_port_model(NULL, f, &port), "port");
    must(ct_fractal_port_start(port, &target), "start");
    answer(f, 0);
    for (int i = 0; i < points; i++)
        must(ct_fractal_port_point(port, (uint64_t)i << 13, 1), "point");
    answer(f, 0);
    touch(f, TABLES);
    touch(f, TABLES + 0x1000);
    for (uint64_t line = 0; line < 256; line++)
        touch(f, TABLES + 0x2000 + line * 64);
    ct_fractal_port_free(port);
    return f;
}

/* Makes a stream of snoops. Of each 100, `hits` are for addresses of the target; one in 1024 of these is at
 * an observation point. */
static void make_stream(struct ct_fractal_message *m, unsigned hits)
{
    uint64_t s = 88172645463325252u;
    for (uint32_t i = 0; i < STREAM; i++) {
        const uint64_t r = draw(&s);
        const int hit = r % 100 < hits;
        const uint64_t page = hit ? FRAMES + ((r >> 20 & 2047) << 12) : (r >> 20 & 0xfffff) << 12;
        const uint64_t line = hit ? 64 + (r >> 8 & 0xf) * 64 : (r >> 8 & 0x3f) * 64;
        m[i] = (struct ct_fractal_message){.addr = (hit || page < FRAMES ? page : page + (1 << 24)) + line,
                                           .op = CT_FRACTAL_READ_SHARED,
                                           .initiator = (uint8_t)(r & 3),
                                           .kind = CT_FRACTAL_KIND_DATA};
    }
    for (uint32_t i = 0; hits && i < STREAM; i += 2048)
        m[i].addr = FRAMES + ((draw(&s) & 1023) << 13);
}

/* The arguments of the command. */
struct choice {
    double seconds;
    const char *words; /* words in the names of the wanted figures; empty: all figures */
};

static void snoops(const char *name, unsigned hits, int points, int keep, const struct choice *k)
{
    if (!strstr(name, k->words))
        return;
    struct ct_fractal *f = traced(points);
    struct ct_fractal_message *m = malloc(STREAM * sizeof *m);
    static struct ct_fractal_event events[8192];
    if (!m)
        exit(2);
    make_stream(m, hits);
    uint64_t done = 0, time = 0;
    const double start = now();
    double spent;
    do {
        for (size_t at = 0; at < STREAM;) {
            const size_t chunk = STREAM - at < 4096 ? STREAM - at : 4096;
            at += ct_fractal_messages(f, m + at, chunk, NULL);
            answer(f, time);
            if (keep)
                while (ct_fractal_events(f, events, 8192)) {
                }
        }
        done += STREAM;
        spent = now() - start;
    } while (spent < k->seconds);
    uint64_t made;
    ct_fractal_reg_read(f, CT_FRACTAL_REG_EVENTS, 8, &made);
    printf("%-44s %8.1f M/s   goal 200   (%.1f %% hits)\n", name, (double)done / spent * 1e-6,
           100.0 * (double)made / (double)done);
    ct_fractal_free(f);
    free(m);
}

/* Passes a message or data to FRACTAL. Ignores refusals, which FRACTAL counts in its INCONSISTENT
 * register. */
static void message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    if (line)
        ct_fractal_data(user, m->time, m->addr, line);
    else
        ct_fractal_take_message(user, m);
}

static int command(void *user, struct ct_fractal_command *out)
{
    return ct_fractal_next_command(user, out);
}

static int attach(struct ct_soc *soc, struct ct_fractal *f)
{
    return ct_soc_attach(soc, &(struct ct_soc_tap){.user = f, .message = message, .command = command});
}

/* Measures the cluster with accesses like those of a program: runs of instruction lines in loops, arrays read
 * in order, a stack, and some accesses scattered over `span` bytes. */
static void cluster(const char *name, uint64_t span, int tracing, const struct choice *k)
{
    if (!strstr(name, k->words))
        return;
    struct ct_soc_config config;
    struct ct_soc *soc;
    struct ct_fractal *f = NULL;
    ct_soc_defaults(&config);
    config.va_bits = 39;
    must(ct_soc_new(NULL, &config, NULL, &soc), "cluster");
    const uint32_t pid = ct_soc_process(soc);
    ct_soc_run(soc, 0, pid);
    if (tracing) {
        must(ct_fractal_new(NULL, NULL, &f), "new");
        const int tap = attach(soc, f);
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_PGD, ct_soc_pgd(soc, pid));
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_ASID, ct_soc_asid(soc, pid));
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_RANGE_LO, 0x400000);
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_RANGE_HI, 0x10000000);
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_RANGE_COMMIT, 1);
        ct_soc_reg_write(soc, (unsigned)tap, CT_FRACTAL_REG_CTRL,
                         CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(CT_FRACTAL_ACTIVE));
    }
    static struct ct_fractal_event events[4096];
    uint64_t s = 4101842887655102017u, done = 0, pc = 0x400000, array = 0;
    const double start = now();
    double spent;
    do {
        for (int n = 0; n < 65536; n++) {
            ct_soc_touch(soc, 0, pc, CT_SOC_FETCH);
            pc = n % 64 == 63 ? 0x400000 + (draw(&s) & 0x7fc0) : pc + 64;
            ct_soc_touch(soc, 0, 0x1000000 + array, CT_SOC_LOAD);
            array = (array + 8) % span;
            ct_soc_touch(soc, 0, 0x7000000 + (unsigned)(n & 0xf8), CT_SOC_STORE);
            if (n % 16 == 0)
                ct_soc_touch(soc, 0, 0x1000000 + draw(&s) % span, CT_SOC_LOAD);
        }
        if (f)
            while (ct_fractal_events(f, events, 4096)) {
            }
        done += 65536 * 3 + 4096;
        spent = now() - start;
    } while (spent < k->seconds);
    printf("%-44s %8.1f M/s   goal  60   (%.2f %% L2 misses)\n", name, (double)done / spent * 1e-6,
           100.0 * (double)ct_soc_counts_of(soc)->l2_misses / (double)done);
    ct_soc_free(soc);
    ct_fractal_free(f);
}

/* Prints how much state the modules have in their default size: the counterpart of the paper's Table II. */
static void memory(void)
{
    struct ct_fractal *f;
    const char *name;
    must(ct_fractal_new(NULL, NULL, &f), "new");
    for (unsigned i = 0;; i++) {
        const size_t bytes = ct_fractal_module_bytes(f, i, &name);
        if (!name)
            break;
        printf("state of %-35s %8zu bytes\n", name, bytes);
    }
    ct_fractal_free(f);
}

int main(int argc, char **argv)
{
    const struct choice k = {argc > 1 ? strtod(argv[1], NULL) : 1.0, argc > 2 ? argv[2] : ""};
    snoops("snoops, 0 % of the target", 0, 1000, 0, &k);
    snoops("snoops, 10 % of the target, 1000 points", 10, 1000, 1, &k);
    snoops("snoops, 33 % of the target, 1000 points", 33, 1000, 1, &k);
    snoops("snoops, 33 %, ring left full", 33, 1000, 0, &k);
    cluster("accesses, 256 KiB of data", 256 << 10, 0, &k);
    cluster("accesses, 16 MiB of data", 16 << 20, 0, &k);
    cluster("accesses, 256 KiB of data, traced", 256 << 10, 1, &k);
    cluster("accesses, 16 MiB of data, traced", 16 << 20, 1, &k);
    if (!*k.words)
        memory();
    return 0;
}
