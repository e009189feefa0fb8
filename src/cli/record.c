/* SPDX-License-Identifier: Apache-2.0 */
/* coretap record: an Arm program under QEMU, and the trace that a trace unit would have written of it. */
#include "cli/record.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/fractal.h"

enum {
    OPT_OUTPUT,
    OPT_PROTOCOL,
    OPT_BROADCAST,
    OPT_CYCLES,
    OPT_TIMESTAMPS,
    OPT_CONTEXT,
    OPT_VMID,
    OPT_STACK,
    OPT_EVENTS,
    OPT_SYNC,
    OPT_RANGE,
    OPT_START,
    OPT_STOP,
    OPT_FRAMED,
    OPT_IDS,
    OPT_PADDING,
    OPT_STREAM,
    OPT_OVERFLOW,
    OPT_MOST,
    OPT_THREADS,
    OPT_SEED,
    OPT_EACH,
    OPT_SYSTEM,
    OPT_TRUTH,
    OPTS
};

/* A thread of the program. */
struct thread {
    struct ct_path *path;
    unsigned core;
};

struct record {
    const struct cli_args *args;
    struct cli_record_options o;
    struct cli_record_feed feed;
    struct cli_record_out *out;
    struct ct_code *code;
    struct cli_record_programs programs;
    struct thread threads[TRACE_THREADS];
    bool busy[RECORD_CORES];
    unsigned running; /* index of the thread that the one core runs, of contexts */
    uint64_t budget;  /* instructions yet to be traced, with --max-instructions */
    bool stopped;     /* enough is recorded */
};

static int new_code(struct record *r)
{
    struct ct_arch arch;
    ct_arch_by_name("ARM-AA64", &arch);
    return ct_code_new(r->args->ctx, &arch, &r->code) ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

/* ---- blocks ---- */

static enum ct_isa isa_of(const struct record *r, const struct trace_block *b)
{
    if (r->feed.area->bits == 64)
        return CT_ISA_A64;
    return b->flags & TRACE_BLOCK_T32 ? CT_ISA_T32 : CT_ISA_A32;
}

static unsigned level_of(const struct trace_block *b)
{
    return (b->flags & TRACE_BLOCK_LEVEL) >> TRACE_BLOCK_LEVEL_SHIFT;
}

static int take_blocks(struct record *r)
{
    const struct trace_block *b;
    int status = CT_OK;
    while (!status && (b = cli_record_feed_block(&r->feed))) {
        const uint64_t addr = b->addr[0] | (uint64_t)b->addr[1] << 32;
        const uint8_t *bytes = (const uint8_t *)(b + 1);
        if (r->out)
            cli_record_out_changed(r->out);
        if (b->flags & TRACE_BLOCK_FILE) {
            if (cli_record_programs_map(&r->programs, addr, (const struct trace_file *)(const void *)bytes))
                return CLI_FAILED;
            continue;
        }
        status = b->insns ? ct_code_add_block(r->code, b->id, addr, isa_of(r, b), level_of(b), bytes, b->size,
                                              b->insns)
                          : ct_code_add_memory(r->code, addr, bytes, b->size);
    }
    return status ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

/* ---- threads ---- */

static int end_thread(struct record *r, unsigned index, bool certain)
{
    struct thread *t = &r->threads[index];
    const struct trace_thread *shared = &r->feed.area->threads[index];
    if (!t->path)
        return CLI_CLEAN;
    const int status = ct_path_end(t->path, shared->at, shared->whole, certain);
    ct_path_free(t->path);
    t->path = NULL;
    r->busy[t->core] = false;
    return status ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

static int parse_address(const char *text, uint64_t *addr, const char **end)
{
    char *stop;
    errno = 0;
    *addr = strtoull(text, &stop, 16);
    *end = stop;
    return stop == text || errno;
}

/* Addresses and symbols of --start and --stop, once it is known where the program lies. */
static int find_point(struct record *r, unsigned option, uint64_t *addr, bool *given)
{
    const char *text = r->args->values[option].text, *end;
    *given = text != NULL;
    if (!text || (!parse_address(text, addr, &end) && !*end))
        return CLI_CLEAN;
    struct cli_names *names = cli_names_load(r->args, r->o.program, 0);
    if (!names)
        return cli_library_error(r->args->ctx);
    const struct cli_name *name = cli_names_find(names, text, false);
    if (name)
        *addr = name->lo + r->feed.area->code_start - cli_names_code(names);
    else
        cli_say("--%s: '%s' is neither a hexadecimal address nor a function of %s",
                r->args->command->options[option].name, text, r->o.program);
    const int code = name ? CLI_CLEAN : CLI_FAILED;
    cli_names_free(names);
    return code;
}

static int make_out(struct record *r)
{
    struct ct_unit_options *unit = &r->o.unit;
    if (find_point(r, OPT_START, &unit->start, &unit->has_start) ||
        find_point(r, OPT_STOP, &unit->stop, &unit->has_stop))
        return CLI_FAILED;
    r->o.code_start = r->feed.area->code_start;
    return cli_record_out_new(r->args->ctx, &r->o, r->code, &r->out);
}

/* Finds the first core for a thread that begins at `clock`: one that is free, and did nothing later. Without
 * such a core it is RECORD_CORES. */
static int find_core(struct record *r, uint64_t clock, unsigned *core)
{
    for (*core = 0; *core < RECORD_CORES; ++*core) {
        const struct ct_unit *unit = r->busy[*core] ? NULL : cli_record_out_unit(r->out, *core);
        if (!unit && !r->busy[*core])
            return CLI_FAILED;
        if (unit && ct_unit_clock(unit) <= clock)
            break;
    }
    return CLI_CLEAN;
}

static int begin_thread(struct record *r, unsigned index, uint32_t number, uint64_t clock)
{
    struct thread *t = &r->threads[index];
    unsigned core = r->o.system ? number - 1 : 0; /* a processor is a core, whenever it starts */
    if (!r->out && make_out(r))
        return CLI_FAILED;
    if (!r->o.contexts && !r->o.system && find_core(r, clock, &core))
        return CLI_FAILED;
    if (core >= RECORD_CORES) {
        cli_say("more than %d threads at a time: there are no more trace IDs; try --threads contexts",
                RECORD_CORES);
        return CLI_FAILED;
    }
    struct ct_unit *unit = cli_record_out_unit(r->out, core);
    if (!unit)
        return CLI_FAILED;
    t->core = core;
    r->busy[core] = true;
    if (ct_path_new(r->args->ctx, r->code, cli_record_out_view(r->out, core), unit, number, &t->path))
        return cli_library_error(r->args->ctx);
    if (r->o.system)
        ct_path_system(t->path);
    return CLI_CLEAN;
}

/* One core runs one thread at a time: the others are stopped. */
static int switch_to(struct record *r, unsigned index)
{
    const struct thread *before = &r->threads[r->running];
    int status = CT_OK;
    if (r->o.contexts && r->running != index && before->path)
        status = ct_path_pause(before->path);
    r->running = index;
    return status ? cli_library_error(r->args->ctx) : CLI_CLEAN;
}

static int take_chunk(struct record *r, const struct trace_chunk *chunk)
{
    const unsigned index = chunk->thread % TRACE_THREADS;
    const uint32_t used = atomic_load(&chunk->used);
    if (take_blocks(r))
        return CLI_FAILED;
    if (!used || used > TRACE_CHUNK_WORDS)
        return CLI_CLEAN;
    if (switch_to(r, index))
        return CLI_FAILED;
    const uint32_t *words = chunk->words;
    if (TRACE_KIND(words[0]) == TRACE_THREAD && used >= 3 &&
        (end_thread(r, index, false) ||
         begin_thread(r, index, TRACE_VALUE(words[0]), words[1] | (uint64_t)words[2] << 32)))
        return CLI_FAILED;
    if (!r->threads[index].path)
        return CLI_CLEAN;
    if (ct_path_words(r->threads[index].path, chunk->words, used))
        return cli_library_error(r->args->ctx);
    return TRACE_KIND(chunk->words[used - 1]) == TRACE_THREAD_END ? end_thread(r, index, false) : CLI_CLEAN;
}

/* What is still in the hands of threads, once the program is over. */
static int take_rest(struct record *r)
{
    struct trace_area *area = r->feed.area;
    unsigned alive = 0;
    for (unsigned i = 0; i < TRACE_THREADS; i++) {
        if (area->threads[i].chunk < TRACE_CHUNKS && area->magic == TRACE_MAGIC &&
            take_chunk(r, &area->chunks[area->threads[i].chunk]))
            return CLI_FAILED;
    }
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        alive += r->threads[i].path != NULL;
    const bool by_itself = !WIFEXITED(r->feed.status) && WTERMSIG(r->feed.status) != SIGKILL;
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        if (end_thread(r, i, alive == 1 && by_itself))
            return CLI_FAILED;
    return CLI_CLEAN;
}

static int take_all(struct record *r)
{
    struct trace_chunk *chunk;
    while ((chunk = cli_record_feed_chunk(&r->feed))) {
        int code = r->stopped ? CLI_CLEAN : take_chunk(r, chunk);
        cli_record_feed_give_back(&r->feed, chunk);
        if (!code && r->out)
            code = cli_record_out_flush(r->out, &r->programs);
        if (code)
            return code;
        if (r->o.unit.budget && !r->budget && !r->stopped) {
            r->stopped = true;
            cli_record_feed_stop(&r->feed);
        }
    }
    return r->stopped ? CLI_CLEAN : take_rest(r);
}

/* ---- the command line ---- */

static const char *const protocol_words[] = {"etm4", "ete", "ptm", NULL};
static const char *const thread_words[] = {"cores", "contexts", NULL};

static uint32_t number_or(const struct cli_value *value, uint32_t otherwise)
{
    return value->text ? (uint32_t)value->number : otherwise;
}

static int read_ranges(const struct cli_args *args, struct ct_unit_options *unit)
{
    for (size_t i = 0; i < args->list_count; i++) {
        if (args->list[i].option != OPT_RANGE)
            continue;
        const char *text = args->list[i].text, *end;
        struct ct_unit_range *range = &unit->ranges[unit->range_count];
        if (unit->range_count == CT_UNIT_RANGES)
            return cli_usage_error(args->command, "--range: more than %d", CT_UNIT_RANGES);
        if (parse_address(text, &range->lo, &end) || strncmp(end, "..", 2) != 0 ||
            parse_address(end + 2, &range->hi, &end) || *end || range->lo >= range->hi)
            return cli_usage_error(args->command, "--range: '%s' is not LO..HI in hexadecimal", text);
        unit->range_count++;
    }
    return CLI_CLEAN;
}

static int read_options(struct record *r)
{
    static const uint8_t protocols[] = {CT_PROTOCOL_ETM4, CT_PROTOCOL_ETE, CT_PROTOCOL_PTM};
    const struct cli_value *v = r->args->values;
    struct cli_record_options *o = &r->o;
    o->dir = v[OPT_OUTPUT].text;
    o->truth = v[OPT_TRUTH].text;
    o->program = r->args->rest[0];
    r->budget = v[OPT_MOST].number;
    o->stream = v[OPT_STREAM].text;
    o->padding = (uint32_t)v[OPT_PADDING].number;
    o->framed = v[OPT_FRAMED].given || v[OPT_IDS].given || o->padding || o->stream;
    o->contexts = v[OPT_THREADS].number == 1;
    o->system = v[OPT_SYSTEM].given;
    o->wishes = (struct ct_unit_wishes){.protocol = protocols[v[OPT_PROTOCOL].number],
                                        .branch_broadcast = v[OPT_BROADCAST].given,
                                        .cycle_count = v[OPT_CYCLES].given,
                                        .timestamps = v[OPT_TIMESTAMPS].given,
                                        .context_id = v[OPT_CONTEXT].given || o->contexts,
                                        .vmid = v[OPT_VMID].given,
                                        .return_stack = v[OPT_STACK].given};
    o->unit = (struct ct_unit_options){
        .cc_threshold = number_or(&v[OPT_CYCLES], 16),
        .ts_period = v[OPT_TIMESTAMPS].given ? number_or(&v[OPT_TIMESTAMPS], 10000) : 0,
        .sync_period = v[OPT_SYNC].given ? 1u << v[OPT_SYNC].number : 4096,
        .event_rate = (uint32_t)v[OPT_EVENTS].number,
        .overflow_rate = (uint32_t)v[OPT_OVERFLOW].number,
        .seed = v[OPT_SEED].number,
        .vmid = 1,
        .budget = v[OPT_MOST].given ? &r->budget : NULL,
    };
    const char *wrong = cli_record_ids(v[OPT_IDS].text, o->ids);
    if (wrong)
        return cli_usage_error(r->args->command, "--ids: '%s': %s", v[OPT_IDS].text, wrong);
    return read_ranges(r->args, &o->unit);
}

static void print_summary(const struct record *r)
{
    const uint64_t untraceable = cli_record_out_untraceable(r->out);
    if (untraceable)
        cli_say("%s: %" PRIu64
                " instructions ran from code that had changed; they are not in the trace, because %s",
                r->o.dir, untraceable,
                r->o.stream ? "who reads a stream knows the first version only"
                            : "it changed more often than a capture tells, or while they ran");
    if (!cli_record_out_traced(r->out))
        cli_say("%s: the trace is empty: the program ran nothing, or nothing where --range, --start and "
                "--stop let it be "
                "traced; see what it says when QEMU runs it alone",
                r->o.dir);
    if (!r->args->quiet)
        cli_say("%s: %" PRIu64 " instructions in %" PRIu64 " bytes of trace", r->o.dir,
                cli_record_out_traced(r->out), cli_record_out_bytes(r->out));
}

/* Cycles by which a core is to be later than what it saw of another, so that its trace says so: a
 * cycle count comes for no less than the threshold. Without timestamps there is nothing to compare,
 * and a single core has one order. */
static uint32_t latency(const struct record *r)
{
    if (!r->o.wishes.timestamps || r->o.contexts)
        return 0;
    const bool threshold = r->o.wishes.cycle_count && r->o.wishes.protocol != CT_PROTOCOL_PTM;
    return threshold && r->o.unit.cc_threshold ? r->o.unit.cc_threshold : 1;
}

static int record(struct record *r, const struct cli_qemu *qemu)
{
    const struct cli_record_feed_options feed = {
        .seed = r->o.unit.seed, .latency = latency(r), .each = r->args->values[OPT_EACH].given};
    int code = new_code(r);
    if (!code)
        code = cli_record_feed_start(&r->feed, qemu, &feed, r->args->rest);
    if (!code)
        code = take_all(r);
    const int program = cli_record_feed_finish(&r->feed);
    if (!code && !r->out) {
        cli_say("%s ran no instruction: there is no capture", r->o.program);
        code = CLI_FAILED;
    }
    if (!code)
        code = cli_record_out_finish(r->out, &r->programs);
    if (!code) {
        print_summary(r);
        code = cli_record_out_keep_truth(r->out);
    }
    return code ? code : program;
}

static int find_qemu(const struct record *r, struct cli_qemu *qemu)
{
    const struct cli_args *args = r->args;
    static const char file[] = "coretap-trace.so", variable[] = "CORETAP_TRACE_PLUGIN";
    if (!r->o.system)
        return cli_qemu_find(qemu, args->rest[0], file, variable);
    if (r->o.wishes.protocol == CT_PROTOCOL_PTM || r->o.contexts || args->values[OPT_START].given ||
        args->values[OPT_STOP].given || args->values[OPT_STREAM].given)
        return cli_usage_error(args->command, "--system does not go with --protocol ptm, --threads contexts, "
                                              "--start, --stop or --stream");
    return cli_qemu_find_system(qemu, args->rest[0], file, variable);
}

static int run(const struct cli_args *args)
{
    struct cli_qemu qemu = {0};
    if (!args->rest_count)
        return cli_usage_error(args->command, "PROGRAM is missing");
    if (!args->values[OPT_OUTPUT].given)
        return cli_usage_error(args->command, "-o DIR is missing");
    struct record *r = calloc(1, sizeof *r);
    if (!r) {
        cli_no_memory();
        return CLI_FAILED;
    }
    r->args = args;
    int code = read_options(r);
    if (!code)
        code = find_qemu(r, &qemu);
    if (!code && !qemu.arm32 && r->o.wishes.protocol == CT_PROTOCOL_PTM) {
        cli_say("%s: an A64 program; a PTM traces A32 and T32 only: choose etm4 or ete", args->rest[0]);
        code = CLI_FAILED;
    }
    if (!code) {
        cli_record_feed_catch_signals();
        code = record(r, &qemu);
    }
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        ct_path_free(r->threads[i].path);
    cli_record_out_free(r->out);
    ct_code_free(r->code);
    cli_record_programs_free(&r->programs);
    free(r);
    return code;
}

static const struct cli_option options[OPTS] = {
    [OPT_OUTPUT] = {.name = "output",
                    .letter = 'o',
                    .kind = CLI_TEXT,
                    .arg = "DIR",
                    .help = "The snapshot directory to write; it is made, and must not hold a capture yet."},
    [OPT_PROTOCOL] = {.name = "protocol",
                      .kind = CLI_CHOICE,
                      .choices = protocol_words,
                      .help = "The trace unit of each core."},
    [OPT_BROADCAST] = {.name = "branch-broadcast", .help = "Trace the target of every taken branch."},
    [OPT_CYCLES] = {.name = "cycle-count",
                    .kind = CLI_NUMBER,
                    .optional = true,
                    .arg = "THRESHOLD",
                    .min = 1,
                    .max = 4095,
                    .help = "Count cycles, and say so once there are so many. Without a number: 16."},
    [OPT_TIMESTAMPS] = {.name = "timestamps",
                        .kind = CLI_NUMBER,
                        .optional = true,
                        .arg = "PERIOD",
                        .min = 1,
                        .max = UINT32_MAX,
                        .help =
                            "A timestamp each time so many cycles have gone by. Without a number: 10000."},
    [OPT_CONTEXT] = {.name = "context-id", .help = "Trace the context ID: the number of the thread."},
    [OPT_VMID] = {.name = "vmid", .help = "Trace a VMID, which is 1."},
    [OPT_STACK] = {.name = "return-stack",
                   .help = "Leave out the addresses of returns that a decoder can know by itself."},
    [OPT_EVENTS] = {.name = "events",
                    .kind = CLI_NUMBER,
                    .arg = "RATE",
                    .min = 1,
                    .max = 1u << 31,
                    .help = "One event of the trace unit in so many instructions, at random."},
    [OPT_SYNC] = {.name = "sync-period",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 8,
                  .max = 20,
                  .help = "2^N bytes of trace between points of synchronisation. Without: 12, for 4096."},
    [OPT_RANGE] = {.name = "range",
                   .kind = CLI_LIST,
                   .arg = "LO..HI",
                   .help = "Trace only here: runs of instructions that have one at these addresses "
                           "(hexadecimal; HI is the first that is not). May be given more than once."},
    [OPT_START] = {.name = "start",
                   .kind = CLI_TEXT,
                   .arg = "ADDR|SYMBOL",
                   .help =
                       "Trace nothing before execution comes here: a hexadecimal address, or a function of "
                       "the program."},
    [OPT_STOP] = {.name = "stop",
                  .kind = CLI_TEXT,
                  .arg = "ADDR|SYMBOL",
                  .help = "Trace no more after execution came here, until it comes to --start again."},
    [OPT_FRAMED] = {.name = "framed",
                    .help = "Put the trace of all cores into one buffer of CoreSight frames, with trace IDs "
                            "from 0x10 on. Else each core has a buffer of its own."},
    [OPT_IDS] = {.name = "ids",
                 .kind = CLI_TEXT,
                 .arg = "HEX,...",
                 .help = "The trace IDs of the first cores, in frames."},
    [OPT_PADDING] = {.name = "padding",
                     .kind = CLI_NUMBER,
                     .arg = "N",
                     .min = 1,
                     .max = 1u << 30,
                     .help = "In frames, put padding (trace ID 0) behind each N bytes of trace."},
    [OPT_STREAM] =
        {.name = "stream",
         .kind = CLI_TEXT,
         .arg = "FILE",
         .help = "Write the trace, in frames, to this file or pipe while the program runs, and not into "
                 "DIR. DIR/live.ini says what is in it."},
    [OPT_OVERFLOW] = {.name = "overflow",
                      .kind = CLI_NUMBER,
                      .arg = "RATE",
                      .min = 1,
                      .max = 1u << 31,
                      .help = "Lose trace in an overflow once in so many instructions, at random."},
    [OPT_MOST] = {.name = "max-instructions",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .min = 1,
                  .max = UINT64_MAX,
                  .help = "Record no more once so many are traced; the program runs on to its end."},
    [OPT_THREADS] = {.name = "threads",
                     .kind = CLI_CHOICE,
                     .choices = thread_words,
                     .help = "Whether each thread has a core and a trace unit of its own, or all of them run "
                             "on one core, told apart by context IDs."},
    [OPT_SEED] = {.name = "seed",
                  .kind = CLI_NUMBER,
                  .arg = "N",
                  .max = UINT64_MAX,
                  .help = "What is random follows from it: cycles, events, overflows. Without: 0."},
    [OPT_EACH] =
        {.name = "each",
         .help = "Watch each instruction by itself. Slower, and the same trace: a check of the recorder."},
    [OPT_SYSTEM] =
        {.name = "system",
         .help = "PROGRAM is qemu-system-aarch64 with its arguments: each processor of the machine has a "
                 "trace unit, and exception levels and vectors are in the trace."},
    [OPT_TRUTH] = {.name = "truth",
                   .kind = CLI_TEXT,
                   .arg = "FILE",
                   .help = "Write the path of instructions that was executed."},
};

const struct cli_command cli_command_record = {
    .name = "record",
    .summary = "run an Arm program and write the trace of what it did",
    .rest = "-- PROGRAM [ARG]...",
    .synopsis = "-o DIR",
    .exit_text =
        "That of the program, or 128 and the number of the signal that ended it; 2 when nothing could be "
        "recorded, with a message.",
    .about = "Runs an Arm Linux program (A64, A32 or T32) under QEMU user emulation and writes a capture, as "
             "a trace "
             "unit at its core would have done it: a snapshot directory with the trace, the configuration of "
             "the trace "
             "unit, and the memory that code was executed from. Every command of coretap reads it, and so "
             "does OpenCSD.\n"
             "Standard input and output are the program's. docs/recording.md says how its execution becomes "
             "trace.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .own_output = true,
    .uses = CLI_USES_PROGRAMS,
    .run = run,
};
