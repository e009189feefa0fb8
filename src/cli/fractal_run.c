/* SPDX-License-Identifier: Apache-2.0 */
/* coretap fractal run and overhead: a program under QEMU on the simulated cluster. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fractal_run.h"
#include "coretap/access.h"

enum {
    OPT_CONFIG,
    OPT_RANGE,
    OPT_SECTION,
    OPT_SYMBOL,
    OPT_POINT,
    OPT_POINTS_ONLY,
    OPT_MODE,
    OPT_RING,
    OPT_SETS,
    OPT_WAYS,
    OPT_WITH,
    OPT_TRUTH,
    OPT_MESSAGES,
    OPT_OUTPUT,
    OPTS
};

/* ---- the tap: FRACTAL, and a recording of what it hears ---- */

static void print_message(FILE *out, const struct ct_fractal_message *m, const uint64_t *line)
{
    char text[256];
    const size_t n = ct_fractal_message_print(m, line, text);
    text[n] = '\n';
    fwrite(text, 1, n + 1, out);
}

static void tap_message(void *user, const struct ct_fractal_message *m, const uint64_t *line)
{
    struct cli_fractal_run *run = user;
    if (run->messages)
        print_message(run->messages, m, line);
    struct ct_fractal *f = run->bench[0].fractal;
    const int err = line ? ct_fractal_data(f, m->time, m->addr, line) : ct_fractal_message(f, m);
    if (err && m->op == CT_FRACTAL_REG_WRITE)
        run->failed = cli_library_error(run->args->ctx) != 0;
}

static int tap_command(void *user, struct ct_fractal_command *out)
{
    const struct cli_fractal_run *run = user;
    return ct_fractal_command(run->bench[0].fractal, out);
}

static void on_miss(void *user, const struct ct_soc_miss *m)
{
    struct cli_fractal_run *run = user;
    if (m->pid != run->bench[0].pid || m->va >= run->hi || m->va + 63 < run->lo)
        return;
    run->missed++;
    if (run->truth) {
        const struct ct_fractal_event e = {
            .time = m->time, .va = m->va, .pa = m->pa, .op = m->op, .initiator = m->core, .kind = m->kind};
        (void)ct_fractal_csv_write(run->names, &e, cli_output_write, run->truth);
    }
}

static void drain(struct cli_fractal_run *run)
{
    uint64_t dropped;
    size_t n;
    ct_fractal_reg_read(run->bench[0].fractal, CT_FRACTAL_REG_DROPPED, 8, &dropped);
    while ((n = ct_fractal_events(run->bench[0].fractal, run->events, EVENTS)) || dropped != run->dropped) {
        if (run->writer && ct_fractal_writer_add(run->writer, run->events, n, dropped - run->dropped)) {
            run->failed = true;
            cli_library_error(run->args->ctx);
            return;
        }
        run->written += n;
        run->dropped = dropped;
    }
}

static void set_register(struct cli_fractal_run *run, uint32_t offset, uint64_t value)
{
    ct_soc_reg_write(run->bench[0].soc, (unsigned)run->bench[0].tap, offset, value);
}

/* ---- set-up, once the program is loaded ---- */

static const char *option_text(const struct cli_fractal_run *run, unsigned option)
{
    const struct cli_value *v = &run->args->values[option];
    return v->given ? v->text : NULL;
}

/* The first choice is what counts when none is given. The overhead study is the paper's: points mode. */
static const char *const mode_words[] = {"active", "passive", "points", NULL};

static unsigned mode_of(const struct cli_fractal_run *run)
{
    static const uint8_t mode[] = {CT_FRACTAL_ACTIVE, CT_FRACTAL_PASSIVE, CT_FRACTAL_POINTS};
    return run->log ? mode[run->args->values[OPT_MODE].number] : CT_FRACTAL_POINTS;
}

static int choose_named(struct cli_fractal_run *run, const char *text, bool section)
{
    const struct ct_fractal_name *name = ct_fractal_names_find(run->names, text, section);
    if (!name) {
        cli_say("%s: there is no %s '%s'; nothing was traced", run->args->rest[0],
                section ? "section" : "symbol", text);
        return CLI_FAILED;
    }
    run->lo = name->lo;
    run->hi = name->hi;
    return CLI_CLEAN;
}

static int choose_range(struct cli_fractal_run *run)
{
    run->lo = 0;
    run->hi = UINT64_C(1) << run->config.va_bits;
    if (!run->log)
        return choose_named(run, ".text", true);
    if (option_text(run, OPT_SECTION))
        return choose_named(run, option_text(run, OPT_SECTION), true);
    if (option_text(run, OPT_SYMBOL))
        return choose_named(run, option_text(run, OPT_SYMBOL), false);
    const char *range = option_text(run, OPT_RANGE);
    if (range && !cli_fractal_parse_range(range, &run->lo, &run->hi))
        return cli_usage_error(run->args->command, "--range: '%s' is not LO..HI in hexadecimal", range);
    return CLI_CLEAN;
}

static int set_points(struct cli_fractal_run *run)
{
    unsigned id = 0;
    char line[256];
    for (size_t i = 0; i < run->args->list_count; i++) {
        if (run->args->list[i].option != OPT_POINT)
            continue;
        const char *text = run->args->list[i].text;
        const struct ct_fractal_name *name = ct_fractal_names_find(run->names, text, false);
        char *end;
        const uint64_t va = name ? name->lo : strtoull(text, &end, 16);
        if (!name && (*end || end == text)) {
            cli_say("--point: '%s' is neither a symbol of %s nor a hexadecimal address", text,
                    run->args->rest[0]);
            return CLI_FAILED;
        }
        set_register(run, CT_FRACTAL_REG_POINT_VA, va);
        set_register(run, CT_FRACTAL_REG_POINT_CMD, CT_FRACTAL_POINT_ADD);
        snprintf(line, sizeof line, "point=%u 0x%llx %.200s\n", id++, (unsigned long long)va,
                 ct_fractal_names_at(run->names, va)->text);
        if (ct_fractal_writer_text(run->writer, line))
            return cli_library_error(run->args->ctx);
    }
    return CLI_CLEAN;
}

static int open_log(struct cli_fractal_run *run, uint64_t bias)
{
    char text[4096];
    if (!run->log)
        return CLI_CLEAN;
    snprintf(text, sizeof text, "program=%.3000s\nbias=0x%llx\nsource=simulated cluster\n",
             run->args->rest[0], (unsigned long long)bias);
    const struct ct_fractal_log_info info = {.clock_hz = CLOCK_HZ,
                                             .pgd = ct_soc_pgd(run->bench[0].soc, run->bench[0].pid),
                                             .range_lo = run->lo,
                                             .range_hi = run->hi,
                                             .fields = CT_FRACTAL_FIELD_ALL,
                                             .asid = ct_soc_asid(run->bench[0].soc, run->bench[0].pid),
                                             .mode = (uint8_t)mode_of(run),
                                             .granule = run->config.granule,
                                             .text = text};
    FILE *log = cli_fractal_output_open(&run->log_output, run->log);
    if (!log)
        return CLI_FAILED;
    if (ct_fractal_writer_to(run->args->ctx, cli_output_write, log, run->log, &info, &run->writer))
        return cli_library_error(run->args->ctx);
    run->truth = run->truth_path ? cli_output_open(&run->truth_output, run->truth_path) : NULL;
    if (run->truth_path && !run->truth)
        return CLI_FAILED;
    if (run->truth)
        fputs(CT_FRACTAL_CSV_HEADER, run->truth);
    return CLI_CLEAN;
}

/* The plugin's first word: where the program is. Then tracing begins, before its first instruction. */
static int begin_tracing(struct cli_fractal_run *run, uint64_t start_code)
{
    const struct ct_fractal_names_options named =
        cli_fractal_names_options(run->args, run->args->rest[0], NULL);
    uint64_t code, end;
    if (ct_fractal_names_new(run->args->ctx, &named, &run->names) != CT_OK)
        return cli_library_error(run->args->ctx);
    ct_fractal_names_extent(run->names, &code, &end);
    const uint64_t bias = start_code - code;
    ct_fractal_names_move(run->names, bias);
    for (unsigned i = 0; i < run->benches; i++)
        ct_soc_file(run->bench[i].soc, run->bench[i].pid, code + bias, end + bias);
    if (choose_range(run) || open_log(run, bias))
        return CLI_FAILED;
    const struct cli_fractal_bench *b = &run->bench[0];
    set_register(run, CT_FRACTAL_REG_PGD, ct_soc_pgd(b->soc, b->pid));
    set_register(run, CT_FRACTAL_REG_ASID, ct_soc_asid(b->soc, b->pid));
    set_register(run, CT_FRACTAL_REG_GEOM, run->config.granule | (uint32_t)run->config.va_bits << 8);
    set_register(run, CT_FRACTAL_REG_RANGE_LO, run->lo);
    set_register(run, CT_FRACTAL_REG_RANGE_HI, run->hi);
    set_register(run, CT_FRACTAL_REG_RANGE_COMMIT, 1);
    const uint32_t mode = mode_of(run);
    const uint32_t only = run->args->values[OPT_POINTS_ONLY].given ? CT_FRACTAL_CTRL_POINTS_ONLY : 0;
    set_register(run, CT_FRACTAL_REG_CTRL, CT_FRACTAL_CTRL_ENABLE | CT_FRACTAL_CTRL_MODE(mode) | only);
    return run->log ? set_points(run) : CLI_CLEAN;
}

/* ---- the stream ---- */

static void add_region(struct cli_fractal_run *run, uint64_t lo, uint64_t hi, const char *text)
{
    if (!run->names || run->regions == sizeof run->region / sizeof run->region[0] || lo >= hi)
        return;
    run->region[run->regions].lo = lo;
    run->region[run->regions].hi = hi;
    run->region[run->regions++].text = text;
    ct_fractal_names_region(run->names, lo, hi, text);
}

static void unmap(struct cli_fractal_run *run, uint64_t lo, uint64_t size)
{
    const uint64_t page = UINT64_C(1) << run->config.granule;
    uint64_t pa;
    for (unsigned b = 0; b < run->benches; b++)
        for (uint64_t va = lo & ~(page - 1); va < lo + size && va - lo < page << 20; va += page)
            if (ct_soc_translate(run->bench[b].soc, run->bench[b].pid, va, &pa))
                ct_soc_unmap(run->bench[b].soc, 0, run->bench[b].pid, va);
}

static int note(struct cli_fractal_run *run, struct cli_feed *feed)
{
    uint64_t w[CT_ACCESS_WORDS_NOTE] = {0};
    for (unsigned i = 0; i < CT_ACCESS_WORDS_NOTE; i++)
        if (!cli_feed_next(feed, &w[i]))
            return CLI_CLEAN;
    if (feed != &run->feed[0])
        return CLI_CLEAN;
    switch (w[0]) {
    case CT_NOTE_PROGRAM:
        return run->bench[0].fractal ? begin_tracing(run, w[1]) : CLI_CLEAN;
    case CT_NOTE_MAP:
        add_region(run, w[1], w[1] + w[2], w[3] ? "[file]" : "[mmap]");
        for (unsigned i = 0; w[3] && i < run->benches; i++)
            ct_soc_file(run->bench[i].soc, run->bench[i].pid, w[1], w[1] + w[2]);
        break;
    case CT_NOTE_UNMAP:
        unmap(run, w[1], w[2]);
        break;
    case CT_NOTE_BREAK:
        add_region(run, run->regions && !strcmp(run->region[0].text, "[heap]") ? run->region[0].lo : w[1] - 1,
                   w[1], "[heap]");
        break;
    default:
        break;
    }
    return CLI_CLEAN;
}

/* One access, in the lines that it touches. */
static void replay(const struct cli_fractal_bench *b, unsigned core, uint32_t pid, uint64_t word)
{
    struct ct_soc *soc = b->soc;
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
    if ((va ^ last) >> 6)
        ct_soc_access(soc, core, last & ~UINT64_C(63), how);
}

static int one_word(struct cli_fractal_run *run, unsigned from, uint64_t word)
{
    struct cli_feed *feed = &run->feed[from];
    if (ct_access_kind_of(word) == CT_ACCESS_NOTE)
        return note(run, feed);
    const unsigned cores = run->config.cores - run->backgrounds;
    const unsigned core = from ? run->config.cores - from : ct_access_cpu(word) % cores;
    if (!from && !run->stack_known && ct_access_kind_of(word) == CT_ACCESS_STORE) {
        run->stack_known = true;
        add_region(run, ct_access_va(word) - (8u << 20), ct_access_va(word) + (1u << 20), "[stack]");
    }
    for (unsigned i = 0; i < run->benches; i++)
        replay(&run->bench[i], core, from ? run->other[from - 1] : run->bench[i].pid, word);
    return run->failed ? CLI_FAILED : CLI_CLEAN;
}

/* Background programs advance as far as the cores' clocks say. */
static int catch_up(struct cli_fractal_run *run)
{
    const struct ct_soc *soc = run->bench[0].soc;
    uint64_t word;
    for (unsigned b = 1; b <= run->backgrounds; b++) {
        while (ct_soc_cycles(soc, run->config.cores - b) < ct_soc_cycles(soc, 0) &&
               cli_feed_next(&run->feed[b], &word))
            if (one_word(run, b, word))
                return CLI_FAILED;
    }
    return CLI_CLEAN;
}

static void tick(struct cli_fractal_bench *b, unsigned cores)
{
    for (unsigned core = 0; core < cores; core++) {
        const uint64_t due = ct_soc_cycles(b->soc, core) / TICK_CYCLES;
        if (due > b->ticks[core]) {
            b->ticks[core] = due;
            ct_soc_tick(b->soc, core);
        }
    }
}

int cli_run_stream(struct cli_fractal_run *run, bool ring)
{
    uint64_t word;
    for (unsigned n = 0; cli_feed_next(&run->feed[0], &word); n++) {
        if (one_word(run, 0, word) || (run->backgrounds && catch_up(run)))
            return CLI_FAILED;
        if (n % 512)
            continue;
        for (unsigned i = 0; i < run->benches; i++)
            tick(&run->bench[i], run->config.cores);
        if (!ring)
            drain(run);
    }
    drain(run);
    return run->failed ? CLI_FAILED : CLI_CLEAN;
}

/* ---- run ---- */

static int start_background(struct cli_fractal_run *run)
{
    for (size_t i = 0; i < run->args->list_count; i++) {
        if (run->args->list[i].option != OPT_WITH)
            continue;
        if (run->backgrounds == BACKGROUNDS || run->backgrounds + 1 == run->config.cores) {
            cli_say("--with: one core is for the program, %u are left", run->config.cores - 1);
            return CLI_FAILED;
        }
        char *argv[] = {(char *)(uintptr_t)run->args->list[i].text, NULL};
        run->other[run->backgrounds] = ct_soc_process(run->bench[0].soc);
        if (cli_feed_start(run->args->ctx, &run->feed[++run->backgrounds], argv))
            return CLI_FAILED;
    }
    return CLI_CLEAN;
}

static int add_cluster(struct cli_fractal_run *run, unsigned fabric, bool traced)
{
    struct cli_fractal_bench *b = &run->bench[run->benches];
    struct ct_soc_config config = run->config;
    config.fabric = (uint8_t)fabric;
    const struct ct_soc_hooks hooks = {.user = run, .miss = traced ? on_miss : NULL};
    if (ct_soc_new(run->args->ctx, &config, &hooks, &b->soc))
        return cli_library_error(run->args->ctx);
    run->benches++;
    b->pid = ct_soc_process(b->soc);
    if (!b->pid) {
        cli_no_memory();
        return CLI_FAILED;
    }
    ct_soc_run(b->soc, 0, b->pid);
    return CLI_CLEAN;
}

int cli_run_add_cluster(struct cli_fractal_run *run, unsigned fabric)
{
    return add_cluster(run, fabric, false);
}

int cli_run_add_traced(struct cli_fractal_run *run, uint32_t sets, uint32_t ways)
{
    const struct ct_fractal_options options = {.size = sizeof options, .rtlb_sets = sets, .rtlb_ways = ways};
    if (add_cluster(run, CT_SOC_FABRIC_COHERENT, true))
        return CLI_FAILED;
    if (ct_fractal_new(run->args->ctx, &options, &run->bench[0].fractal))
        return cli_library_error(run->args->ctx);
    const struct ct_soc_tap tap = {.user = run, .message = tap_message, .command = tap_command};
    run->bench[0].tap = ct_soc_attach(run->bench[0].soc, &tap);
    return CLI_CLEAN;
}

struct cli_fractal_run *cli_run_new(const struct cli_args *args)
{
    struct cli_fractal_run *run = calloc(1, sizeof *run);
    if (!run) {
        cli_no_memory();
        return NULL;
    }
    run->args = args;
    return run;
}

static void write_regions(struct cli_fractal_run *run)
{
    char text[128];
    for (unsigned i = 0; i < run->regions && run->writer; i++) {
        snprintf(text, sizeof text, "region=0x%llx..0x%llx %s\n", (unsigned long long)run->region[i].lo,
                 (unsigned long long)run->region[i].hi, run->region[i].text);
        ct_fractal_writer_text(run->writer, text);
    }
}

/* Puts the files of a run that ended with `code` in their places; a run that failed leaves what was there,
 * and so does one whose log may lack something. */
static int close_files(struct cli_fractal_run *run, int code)
{
    if (ct_fractal_writer_close(run->writer))
        code = cli_library_error(run->args->ctx);
    struct cli_output *outputs[] = {&run->log_output, &run->truth_output, &run->messages_output};
    const bool keep = code != CLI_FAILED && !cli_lacked_memory(run->args->ctx);
    return cli_output_close_all(outputs, sizeof outputs / sizeof *outputs, keep) ? code : CLI_FAILED;
}

void cli_run_free(struct cli_fractal_run *run)
{
    for (unsigned i = 0; i < run->benches; i++) {
        ct_soc_free(run->bench[i].soc);
        ct_fractal_free(run->bench[i].fractal);
    }
    for (unsigned b = 1; b <= run->backgrounds; b++) {
        if (run->feed[b].child > 0)
            kill(run->feed[b].child, SIGKILL);
        if (run->feed[b].fd >= 0) {
            cli_feed_quiet(&run->feed[b]);
        }
    }
    ct_fractal_names_free(run->names);
    free(run);
}

static void print_summary(const struct cli_fractal_run *run)
{
    uint64_t commands, status;
    const struct ct_soc_counts *c = ct_soc_counts(run->bench[0].soc);
    ct_fractal_reg_read(run->bench[0].fractal, CT_FRACTAL_REG_COMMANDS, 8, &commands);
    ct_fractal_reg_read(run->bench[0].fractal, CT_FRACTAL_REG_STATUS, 4, &status);
    if (!run->args->quiet)
        fprintf(stderr,
                "%llu accesses, %llu last-level misses, %llu of them the target's in the range; %llu events "
                "logged, %llu dropped; %llu commands; %.3f ms of the model's time\n",
                (unsigned long long)c->accesses, (unsigned long long)c->l2_misses,
                (unsigned long long)run->missed, (unsigned long long)run->written,
                (unsigned long long)run->dropped, (unsigned long long)commands,
                (double)ct_soc_cycles(run->bench[0].soc, 0) * 1e3 / (double)CLOCK_HZ);
    if (status & CT_FRACTAL_STATUS_LOST)
        cli_say("a point or a page table had no place in the tracer: events are missing");
}

static int do_run(const struct cli_args *args)
{
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing");
    if (!args->values[OPT_OUTPUT].given)
        return cli_usage_error(args->command, "-o LOG is missing");
    struct cli_fractal_run *run = cli_run_new(args);
    if (!run)
        return CLI_FAILED;
    run->log = option_text(run, OPT_OUTPUT);
    run->truth_path = option_text(run, OPT_TRUTH);
    int code = cli_fractal_read_config(option_text(run, OPT_CONFIG), &run->config);
    const char *messages = option_text(run, OPT_MESSAGES);
    if (!code && messages && !(run->messages = cli_output_open(&run->messages_output, messages)))
        code = CLI_FAILED;
    if (run->messages)
        fputs(CT_FRACTAL_MESSAGES_HEADER "\n", run->messages);
    if (!code)
        code = cli_run_add_traced(run, (uint32_t)args->values[OPT_SETS].number,
                                  (uint32_t)args->values[OPT_WAYS].number);
    if (!code)
        code = start_background(run);
    if (!code)
        code = cli_feed_start(args->ctx, &run->feed[0], args->rest);
    if (!code) {
        code = cli_run_stream(run, args->values[OPT_RING].given);
        write_regions(run);
        const int exit_code = cli_feed_finish(&run->feed[0]);
        if (exit_code > 0 && !args->quiet)
            cli_say("%s: exit code %d", args->rest[0], exit_code);
        if (!run->writer && !code) {
            cli_say("%s ran no instruction: there is no log", args->rest[0]);
            code = CLI_FAILED;
        }
        if (!code)
            print_summary(run);
    }
    code = close_files(run, code);
    cli_run_free(run);
    return code;
}

static const struct cli_option run_options[OPTS] = {
    [OPT_CONFIG] = {.name = "config",
                    .kind = CLI_TEXT,
                    .arg = "FILE",
                    .help = "Settings of the cluster, \"key = value\" a line. Without: a Kria KV260."},
    [OPT_RANGE] = {.name = "range",
                   .kind = CLI_TEXT,
                   .arg = "LO..HI",
                   .help =
                       "Virtual addresses to trace, hexadecimal; HI is the first that is not. Without any of "
                       "the three: all."},
    [OPT_SECTION] = {.name = "section", .kind = CLI_TEXT, .arg = "NAME", .help = "A section of the program."},
    [OPT_SYMBOL] = {.name = "symbol", .kind = CLI_TEXT, .arg = "NAME", .help = "A function or object of it."},
    [OPT_POINT] = {.name = "point",
                   .kind = CLI_LIST,
                   .arg = "VA|SYMBOL",
                   .help = "An observation point in the range: every access to its line is logged. May be "
                           "given more than once. Not in passive mode."},
    [OPT_POINTS_ONLY] = {.name = "points-only",
                         .help = "Log the accesses to observation points and nothing else."},
    [OPT_MODE] = {.name = "mode",
                  .kind = CLI_CHOICE,
                  .choices = mode_words,
                  .help =
                      "How much the tracer may do to the cluster: nothing (passive), what observation points "
                      "need (points), or what it takes to see every miss (active)."},
    [OPT_RING] =
        {.name = "ring",
         .help = "Log into the ring of 256 KiB only: what comes when it is full is dropped and counted."},
    [OPT_SETS] = {.name = "sets",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 1,
                  .max = 65536,
                  .help = "Sets of the reverse TLB, a power of two. Without: 512."},
    [OPT_WAYS] = {.name = "ways",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 1,
                  .max = 16,
                  .help = "Its ways. Without: 4."},
    [OPT_WITH] = {.name = "with",
                  .kind = CLI_LIST,
                  .arg = "PROGRAM",
                  .help = "A program that runs on another core meanwhile. May be given more than once."},
    [OPT_TRUTH] = {.name = "truth",
                   .kind = CLI_TEXT,
                   .arg = "CSV",
                   .help =
                       "Write every last-level miss of the program in the range, as the cluster knows it."},
    [OPT_MESSAGES] = {.name = "messages",
                      .kind = CLI_TEXT,
                      .arg = "FILE",
                      .help = "Write the messages of the port, for 'coretap fractal replay'."},
    [OPT_OUTPUT] =
        {.name = "output", .letter = 'o', .kind = CLI_TEXT, .arg = "LOG", .help = "The event log."},
};

const struct cli_command cli_fractal_run = {
    .name = "fractal run",
    .summary = "trace an Arm program on the simulated cluster",
    .rest = "-- PROGRAM [ARG]...",
    .synopsis = "-o LOG",
    .about =
        "Runs an Arm Linux program under QEMU user emulation; a plugin tells its instruction fetches, loads "
        "and "
        "stores. They go through a simulated cluster (by default that of a Kria KV260: four Cortex-A53, 1 "
        "MiB "
        "of L2) that has FRACTAL on its coherent port. The log holds each last-level miss in the range with "
        "virtual and physical address.",
    .options = run_options,
    .option_count = OPTS,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS | CLI_USES_NAMES,
    .run = do_run,
};
