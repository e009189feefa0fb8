/* SPDX-License-Identifier: Apache-2.0 */
/* A recording: QEMU's data about a program becomes paths of threads, and these become the trace of cores. */
#include "coretap/record.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/options.h"
#include "base/require.h"
#include "record/capture.h"
#include "record/code.h"
#include "record/feed.h"
#include "record/path.h"
#include "record/plugin.h"
#include "record/symbol_map.h"
#include "record/unseen.h"
#include "record/volume.h"

#define MAIN_THREAD 1 /* its number */

/* A thread of the program. */
struct thread {
    struct ct_path *path;
    struct ct_record_capture *out;
    unsigned core;
};

struct record {
    struct ct_ctx *ctx;
    struct ct_record_options given;
    struct ct_recording o;
    struct ct_record_feed feed;
    struct ct_record_process process;
    struct ct_record_capture *out;
    struct ct_volume *volume;      /* the volume to measure; NULL: make a capture */
    struct ct_volume_meter *meter; /* measures `volume`; NULL: make a capture */
    struct ct_code *code;
    struct ct_record_programs programs;
    struct thread threads[TRACE_THREADS];
    bool busy[CT_RECORD_CORES];
    bool main_began;   /* the main thread has trace; if it waits, other threads come before it */
    unsigned running;  /* index of the current thread of the only core, with contexts */
    uint64_t budget;   /* instructions left to trace, with --max-instructions */
    bool stopped;      /* the recording is complete */
    uint64_t unplaced; /* blocks that are not traced, because it is unknown how execution left them */
    char model[sizeof((struct trace_area *)NULL)->model]; /* of an M-profile processor */
};

/* Makes the object for code, once the recorder knows the processor. CT_ERR_UNSUPPORTED: the trace unit of
 * such a processor has no such trace. */
static int new_code(struct record *r)
{
    struct ct_arch *arch = &r->o.unit.source.arch;
    const struct ct_unit_wishes *w = &r->o.wishes;
    const bool names_context = !r->volume && (w->context_id || w->vmid);
    r->o.m_profile = *r->feed.area->model != 0;
    if (r->o.m_profile)
        r->o.model = memcpy(r->model, r->feed.area->model, sizeof r->model - 1);
    if (r->o.m_profile && (w->protocol != CT_PROTOCOL_ETM4 || names_context))
        return ct_fail(r->ctx, CT_ERR_UNSUPPORTED,
                       "%s: the trace unit of an M-profile processor is an ETMv4 without context IDs and "
                       "VMIDs; recording ends; omit the protocol, context ID and VMID",
                       r->o.model);
    if (r->o.has_itm && (!r->feed.area->itm || !strcmp(r->o.model, "Cortex-M0")))
        return ct_fail(r->ctx, CT_ERR_UNSUPPORTED,
                       "--itm: the processor of this machine, %s, has no ITM; recording ends; choose a "
                       "machine with a Cortex-M3 or larger, or name a variable in place of the stimulus "
                       "ports",
                       r->o.m_profile ? r->o.model : "which is no Cortex-M");
    if (ct_arch_by_name(r->o.model, arch))
        return ct_fail(r->ctx, CT_ERR_UNSUPPORTED,
                       "%s: coretap does not know this processor, so it cannot trace it; recording ends; "
                       "choose a machine with another one",
                       r->o.model);
    return ct_code_new(r->ctx, arch, &r->code);
}

/* ---- blocks ---- */

static enum ct_isa isa_of(const struct record *r, const struct trace_block *b)
{
    if (r->feed.area->bits == 64 && !(b->flags & TRACE_BLOCK_AARCH32))
        return CT_ISA_A64;
    return b->flags & TRACE_BLOCK_T32 ? CT_ISA_T32 : CT_ISA_A32;
}

static unsigned level_of(const struct trace_block *b)
{
    return b->flags & TRACE_BLOCK_SECURE ? CT_UNIT_SECURE
                                         : (b->flags & TRACE_BLOCK_LEVEL) >> TRACE_BLOCK_LEVEL_SHIFT;
}

/* Refuses A32 and T32 above EL0 of a processor for A64, whose exceptions to those levels are not reported. */
static int check_machine(const struct record *r, const struct trace_block *b, uint64_t addr)
{
    if (!(b->flags & TRACE_BLOCK_AARCH32) || !level_of(b))
        return CT_OK;
    return ct_fail(r->ctx, CT_ERR_UNSUPPORTED,
                   "the machine runs A32 or T32 code at 0x%" PRIx64
                   " at EL%u of a processor for A64, where only A64 is recorded; recording ends; choose a "
                   "processor for A32 and T32, as in qemu-system-arm -M virt -cpu cortex-a15",
                   addr, level_of(b));
}

static int add_block(struct record *r, const struct trace_block *b, uint64_t addr)
{
    const struct ct_code_block head = {
        .addr = addr,
        .isa = (uint8_t)isa_of(r, b),
        .level = (uint8_t)level_of(b),
        .it_left = (uint8_t)((b->flags & TRACE_BLOCK_IT) >> TRACE_BLOCK_IT_SHIFT),
        .after_sg = b->flags & TRACE_BLOCK_AFTER_SG,
        .insns = b->insns,
    };
    static const uint8_t sg[CT_CODE_SG_SIZE] = {0x7f, 0xe9, 0x7f, 0xe9};
    int rc = check_machine(r, b, addr);
    if (!rc && head.after_sg) /* it is in no block */
        rc = ct_code_add_memory(r->code, addr - sizeof sg, sg, sizeof sg);
    return rc ? rc : ct_code_add_block(r->code, b->id, &head, (const uint8_t *)(b + 1), b->size);
}

static int take_blocks(struct record *r)
{
    const struct trace_block *b;
    int status = r->code ? CT_OK : new_code(r);
    while (!status && (b = ct_record_feed_block(&r->feed))) {
        const uint64_t addr = b->addr[0] | (uint64_t)b->addr[1] << 32;
        const uint8_t *bytes = (const uint8_t *)(b + 1);
        if (r->out)
            ct_record_capture_changed(r->out);
        if (b->flags & TRACE_BLOCK_FILE) {
            status = ct_record_programs_map(r->ctx, &r->programs, addr,
                                            (const struct trace_file *)(const void *)bytes);
            continue;
        }
        status = b->insns ? add_block(r, b, addr) : ct_code_add_memory(r->code, addr, bytes, b->size);
    }
    return status;
}

/* ---- threads ---- */

static int end_thread(struct record *r, unsigned index, bool certain)
{
    struct thread *t = &r->threads[index];
    const struct trace_thread *shared = &r->feed.area->threads[index];
    if (!t->path)
        return CT_OK;
    const int status = ct_path_end(t->path, shared->at, shared->whole, certain);
    r->unplaced += ct_path_unplaced(t->path);
    ct_path_free(t->path);
    t->path = NULL;
    r->busy[t->core] = false;
    return status;
}

/* Sets a point for the trace units, once the load address of the program is known. */
static void set_point(const struct record *r, const struct ct_recording_point *point, uint64_t *addr,
                      bool *given)
{
    *given = point->given;
    *addr = point->addr + (point->in_program ? r->feed.area->code_start : 0);
}

/* Makes the destination of the execution: a capture, or a volume meter. */
static int make_out(struct record *r)
{
    struct ct_unit_options *unit = &r->o.unit;
    set_point(r, &r->o.start, &unit->start, &unit->has_start);
    set_point(r, &r->o.stop, &unit->stop, &unit->has_stop);
    r->o.code_start = r->feed.area->code_start;
    if (r->volume)
        return ct_volume_meter_new(r->ctx, unit, r->feed.area->bits == 32 && !r->o.system, r->given.protocol,
                                   r->volume, &r->meter);
    return ct_record_capture_new(r->ctx, &r->o, r->code, &r->out);
}

/* Returns the trace unit of a core; NULL after an error in *rc. */
static struct ct_unit *unit_of(struct record *r, unsigned core, int *rc)
{
    return r->meter ? ct_volume_meter_unit(r->meter, core, rc) : ct_record_capture_unit(r->out, core, rc);
}

/* Finds the first core for a thread that begins at `clock`: free, and idle since that time. The first core is
 * reserved for the main thread, number 1, until it begins. *core is CT_RECORD_CORES when there is none. */
static int find_core(struct record *r, uint32_t number, uint64_t clock, unsigned *core)
{
    r->main_began |= number == MAIN_THREAD;
    for (*core = r->main_began ? 0 : 1; *core < CT_RECORD_CORES; ++*core) {
        int rc = CT_OK;
        const struct ct_unit *unit = r->busy[*core] ? NULL : unit_of(r, *core, &rc);
        if (rc)
            return rc;
        if (unit && ct_unit_clock(unit) <= clock)
            break;
    }
    return CT_OK;
}

static int take_access(void *user, const struct ct_software_access *access)
{
    const struct thread *t = user;
    struct ct_software_access given = *access;
    given.core = (uint16_t)t->core;
    return ct_record_capture_access(t->out, &given);
}

static int begin_thread(struct record *r, unsigned index, uint32_t number, uint64_t clock)
{
    struct thread *t = &r->threads[index];
    unsigned core = r->o.system ? number - 1 : 0; /* a processor is a core, whenever it starts */
    int rc = r->out || r->meter ? CT_OK : make_out(r);
    if (!rc && !r->o.contexts && !r->o.system)
        rc = find_core(r, number, clock, &core);
    if (rc)
        return rc;
    if (core >= CT_RECORD_CORES)
        return ct_fail(r->ctx, CT_ERR_LIMIT,
                       "the program has more than %d threads at a time, but there are no more trace IDs; "
                       "recording ends; use --threads contexts",
                       CT_RECORD_CORES);
    struct ct_unit *unit = unit_of(r, core, &rc);
    if (!unit)
        return rc;
    t->core = core;
    t->out = r->out;
    r->busy[core] = true;
    struct ct_code_view *view = r->out ? ct_record_capture_view(r->out, core) : NULL;
    rc = ct_path_new(r->ctx, r->code, view, unit, number, &t->path);
    if (!rc && r->o.system)
        ct_path_system(t->path, r->o.m_profile, r->feed.area->bits == 32 && !r->o.m_profile);
    if (!rc && r->o.watched_count)
        ct_path_accesses(t->path, take_access, t);
    return rc;
}

/* Switches to another thread. If one core runs all threads, the previous one is paused. */
static int switch_to(struct record *r, unsigned index)
{
    const struct thread *before = &r->threads[r->running];
    int status = CT_OK;
    if (r->o.contexts && r->running != index && before->path)
        status = ct_path_pause(before->path);
    r->running = index;
    return status;
}

/* Passes all of a core's trace to the reader of a stream before its thread makes a system call, which may
 * sleep. */
static int flush_core(struct record *r, const struct thread *t)
{
    int rc = CT_OK;
    struct ct_unit *unit = r->o.stream ? unit_of(r, t->core, &rc) : NULL;
    return unit ? ct_unit_flush(unit) : rc;
}

static int take_chunk(struct record *r, const struct trace_chunk *chunk)
{
    const unsigned index = chunk->thread % TRACE_THREADS;
    const uint32_t used = atomic_load(&chunk->used);
    const uint32_t *words = chunk->words;
    int rc = ct_kept_receive(r->ctx, &r->programs.kept, r->programs.child); /* makes room for more */
    if (!rc)
        rc = take_blocks(r);
    if (rc || !used || used > TRACE_CHUNK_WORDS)
        return rc;
    rc = switch_to(r, index);
    if (!rc && TRACE_KIND(words[0]) == TRACE_THREAD && used >= 3) {
        rc = end_thread(r, index, false);
        if (!rc)
            rc = begin_thread(r, index, TRACE_VALUE(words[0]), words[1] | (uint64_t)words[2] << 32);
    }
    if (rc || !r->threads[index].path)
        return rc;
    rc = ct_path_words(r->threads[index].path, words, used);
    if (!rc && TRACE_KIND(words[used - 1]) == TRACE_THREAD_END)
        return end_thread(r, index, false);
    return !rc && used < TRACE_CHUNK_WORDS ? flush_core(r, &r->threads[index]) : rc;
}

/* Processes what threads have not handed over when the program has ended, and ends them. */
static int take_rest(struct record *r)
{
    struct trace_area *area = r->feed.area;
    unsigned alive = 0;
    int rc = CT_OK;
    for (unsigned i = 0; i < TRACE_THREADS && !rc; i++)
        if (area->threads[i].chunk < TRACE_CHUNKS && area->magic == TRACE_MAGIC)
            rc = take_chunk(r, &area->chunks[area->threads[i].chunk]);
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        alive += r->threads[i].path != NULL;
    const bool by_itself = !WIFEXITED(r->feed.status) && WTERMSIG(r->feed.status) != SIGKILL;
    for (unsigned i = 0; i < TRACE_THREADS && !rc; i++)
        rc = end_thread(r, i, alive == 1 && by_itself);
    return rc;
}

static int take_all(struct record *r)
{
    struct trace_chunk *chunk;
    while ((chunk = ct_record_feed_chunk(&r->feed))) {
        int rc = r->stopped ? CT_OK : take_chunk(r, chunk);
        ct_record_feed_give_back(&r->feed, chunk);
        if (!rc && r->out)
            rc = ct_record_capture_flush(r->out, &r->programs);
        if (rc)
            return rc;
        if (r->o.unit.budget && !r->budget && !r->stopped) {
            r->stopped = true;
            ct_record_feed_stop(&r->feed);
        }
    }
    const int rc = r->stopped ? CT_OK : take_rest(r);
    ct_record_tell_unseen(r->ctx, &r->o, r->feed.area, r->unplaced);
    return rc;
}

/* ---- the options ---- */

static uint32_t or_else(uint32_t value, uint32_t otherwise)
{
    return value ? value : otherwise;
}

/* Checks the options. Returns a conflict or an option that is out of range, or NULL. */
static const char *fault(const struct ct_record_options *g, bool volume)
{
    if (!g->argv || !g->argv[0] || (!g->directory && !volume))
        return "a program and a directory are required";
    if (volume && (g->ports || g->channels || g->watched_count || g->stream || g->framed || g->id_count ||
                   g->padding || g->truth))
        return "a volume is measured of instruction trace only; omit software trace, frames, stream, "
               "padding, trace IDs and truth";
    if (g->protocol && g->protocol != CT_PROTOCOL_ETM4 && g->protocol != CT_PROTOCOL_ETE &&
        g->protocol != CT_PROTOCOL_PTM)
        return "the protocol must be ETMv4, ETE or PTM";
    if (g->cycle_threshold > CT_UNIT_CC_THRESHOLD_MAX)
        return "the threshold of cycle counts must be at most 4095";
    if (g->range_count > CT_RECORD_RANGES || (g->range_count && !g->ranges))
        return "at most 16 ranges are possible";
    if (g->id_count && !g->ids)
        return "trace IDs are missing";
    if (g->watched_count > CT_RECORD_COMPARATORS || (g->watched_count && !g->watched))
        return "at most 4 watched variables are possible";
    if (g->system && (g->protocol == CT_PROTOCOL_PTM || g->one_core))
        return "PTM and one core for all threads are not possible for a whole machine";
    return NULL;
}

static void set_wishes(struct record *r)
{
    const struct ct_record_options *g = &r->given;
    r->o.wishes = (struct ct_unit_wishes){.protocol = g->protocol ? g->protocol : CT_PROTOCOL_ETM4,
                                          .branch_broadcast = g->branch_broadcast,
                                          .cycle_count = g->cycle_count,
                                          .timestamps = g->timestamps,
                                          .context_id = g->context_id || g->one_core,
                                          .vmid = g->vmid,
                                          .return_stack = g->return_stack};
    r->o.unit = (struct ct_unit_options){
        .cc_threshold = or_else(g->cycle_threshold, CT_UNIT_CC_THRESHOLD),
        .ts_period = g->timestamps ? or_else(g->timestamp_period, CT_UNIT_TS_PERIOD) : 0,
        .sync_period = or_else(g->sync_period, CT_UNIT_SYNC_PERIOD),
        .event_rate = g->event_rate,
        .overflow_rate = g->overflow_rate,
        .seed = g->seed,
        .vmid = 1,
        .budget = g->max_instructions ? &r->budget : NULL,
    };
    r->budget = g->max_instructions;
}

static int read_options(struct record *r)
{
    const struct ct_record_options *g = &r->given;
    const char *wrong = fault(g, r->volume != NULL);
    if (wrong)
        return ct_fail(r->ctx, CT_ERR_ARG, "record: %s; nothing is recorded", wrong);
    r->o.directory = g->directory;
    r->o.program = g->argv[0];
    r->o.argv = g->argv;
    r->o.model = "ARM-AA64";
    r->o.stream = g->stream;
    r->o.signal = g->signal;
    r->o.padding = g->padding;
    r->o.framed = g->framed || g->id_count || g->padding || g->stream;
    r->o.contexts = g->one_core;
    r->o.system = g->system;
    r->o.truth = g->truth;
    r->o.truth_user = g->truth_user;
    set_wishes(r);
    for (size_t i = 0; i < g->range_count; i++) {
        if (g->ranges[i].low >= g->ranges[i].high)
            return ct_fail(r->ctx, CT_ERR_ARG,
                           "record: range %zu is empty; nothing is recorded; its end "
                           "must be greater than its start",
                           i + 1);
        r->o.unit.ranges[i] = (struct ct_unit_range){g->ranges[i].low, g->ranges[i].high};
    }
    r->o.unit.range_count = (unsigned)g->range_count;
    if (ct_recording_ids(&r->o, g->ids, g->id_count))
        return CT_OK;
    return ct_fail(
        r->ctx, CT_ERR_ARG,
        "record: the trace IDs are not valid; nothing is recorded; give at most %d different ones from 1 to "
        "6f",
        CT_RECORD_CORES);
}

/* Returns the cycles by which a core is later than an event that it saw of another core, so that its trace
 * shows the order: at least the threshold for cycle counts. 0 without timestamps, which compare cores, and
 * with a single core. */
static uint32_t latency(const struct record *r)
{
    if (!r->o.wishes.timestamps || r->o.contexts)
        return 0;
    const bool threshold = r->o.wishes.cycle_count && r->o.wishes.protocol != CT_PROTOCOL_PTM;
    return threshold && r->o.unit.cc_threshold ? r->o.unit.cc_threshold : 1;
}

/* Processes the data from the program. Logs an error at once, since the program may run for long afterwards,
 * and returns it too. */
static int take_all_told(struct record *r)
{
    const int rc = ct_tell_nomem(r->ctx, r->o.directory, take_all(r));
    if (rc)
        ct_log(r->ctx, CT_LOG_ERROR, "%s", ct_ctx_error(r->ctx));
    return rc;
}

/* Runs the program and sends its threads to a capture or a meter. *exit_code is the program's. */
static int run_program(struct record *r, const struct ct_qemu *qemu, int32_t *exit_code)
{
    char watch[CT_RECORD_FEED_WATCH], inbox[16] = "";
    const struct ct_record_feed_options feed = {.seed = r->given.seed,
                                                .latency = latency(r),
                                                .each = r->given.each_instruction,
                                                .inbox = inbox,
                                                .watch = watch,
                                                .signal = r->given.signal};
    int rc = ct_recording_watch(r->ctx, &r->given, &r->o, watch);
    if (!rc)
        rc = ct_recording_points(r->ctx, &r->given, &r->o);
    if (!rc && !r->o.system)
        rc = ct_kept_open(r->ctx, &r->programs.kept, r->o.program, &r->o.file);
    if (!r->o.system)
        ct_kept_inbox(&r->programs.kept, inbox);
    ct_record_process_begin(&r->process);
    if (!rc)
        rc = ct_record_feed_start(r->ctx, &r->feed, qemu, &feed, r->given.argv);
    r->programs.child = r->feed.child;
    r->process.id = rc || r->o.system ? 0 : r->feed.child;
    if (!rc)
        rc = take_all_told(r);
    if (rc == CT_ERR_UNSUPPORTED && !r->out && !r->meter)
        ct_record_feed_end(&r->feed);
    const bool loaded = r->feed.area && r->feed.area->magic == TRACE_MAGIC;
    *exit_code = ct_record_feed_finish(&r->feed);
    r->process.jitdump = r->feed.jitdump;
    if (!rc && !loaded && *exit_code != CT_QEMU_CANNOT_RUN)
        rc = ct_plugin_not_loaded(r->ctx, qemu, r->o.program);
    if (!rc && !r->out && !r->meter)
        rc = ct_fail(r->ctx, CT_ERR_NOT_FOUND, "%s: ran no instruction, so there is no %s", r->o.program,
                     r->volume ? "trace" : "capture");
    return rc;
}

/* Finds QEMU and the plugin. CT_ERR_ARG: the protocol does not support the program's instruction set. */
static int find_qemu(struct record *r, struct ct_qemu *qemu)
{
    static const char file[] = "coretap-trace.so", variable[] = "CORETAP_TRACE_PLUGIN";
    const int rc = ct_qemu_find(r->ctx, r->o.program, r->o.system, file, variable, qemu);
    if (!rc && !qemu->arm32 && r->o.wishes.protocol == CT_PROTOCOL_PTM)
        return ct_fail(r->ctx, CT_ERR_ARG,
                       "%s: this is an A64 program, but a PTM traces only A32 and T32; nothing is recorded; "
                       "choose etm4 or ete",
                       r->o.program);
    return rc;
}

static int record(struct record *r, struct ct_record_result *result)
{
    struct ct_qemu qemu;
    bool made = false;
    int rc = find_qemu(r, &qemu);
    if (!rc)
        rc = ct_record_make_directory(r->ctx, r->o.directory, &made);
    if (!rc)
        rc = run_program(r, &qemu, &result->exit_code);
    if (made && !r->out)
        rmdir(r->o.directory); /* it is still empty */
    const int named = rc ? rc : ct_record_capture_names(r->out, &r->process);
    if (!rc)
        rc = ct_record_capture_finish(r->out, &r->programs) ?: named;
    if (!rc)
        ct_record_capture_sums(r->out, result);
    return rc;
}

static int measure(struct record *r)
{
    struct ct_qemu qemu;
    int rc = find_qemu(r, &qemu);
    if (!rc)
        rc = run_program(r, &qemu, &r->volume->exit_code);
    return rc ? rc : ct_volume_meter_finish(r->meter);
}

static void free_record(struct record *r)
{
    for (unsigned i = 0; i < TRACE_THREADS; i++)
        ct_path_free(r->threads[i].path);
    ct_record_capture_free(r->out);
    ct_volume_meter_free(r->meter);
    ct_code_free(r->code);
    ct_record_programs_free(&r->programs);
    free(r);
}

int ct_record(struct ct_ctx *ctx, const struct ct_record_options *options, struct ct_record_result *result)
{
    struct record *r = ctx && options && result ? calloc(1, sizeof *r) : NULL;
    CT_REQUIRE(ctx, options, result);
    *result = (struct ct_record_result){0};
    if (!r)
        return ct_fail_nomem(ctx, "a recording");
    r->ctx = ctx;
    int rc = ct_options_read(ctx, __func__, options, &r->given, sizeof r->given);
    if (!rc)
        rc = read_options(r);
    if (!rc)
        rc = record(r, result);
    free_record(r);
    return ct_tell_nomem(ctx, "a recording", rc);
}

/* Sets options so that all rows have the same clock: cores are ordered as with cycle counts and
 * timestamps. */
static void set_all(struct ct_record_options *o)
{
    o->branch_broadcast = o->return_stack = o->vmid = 0;
    o->cycle_count = o->timestamps = o->context_id = 1;
}

int ct_record_volume(struct ct_ctx *ctx, const struct ct_record_options *options, struct ct_volume *volume)
{
    struct record *r = ctx && options && volume ? calloc(1, sizeof *r) : NULL;
    CT_REQUIRE(ctx, options, volume);
    *volume = (struct ct_volume){0};
    if (!r)
        return ct_fail_nomem(ctx, "volume");
    r->ctx = ctx;
    r->volume = volume;
    int rc = ct_options_read(ctx, __func__, options, &r->given, sizeof r->given);
    set_all(&r->given);
    if (!rc)
        rc = read_options(r);
    if (!rc)
        rc = measure(r);
    free_record(r);
    return ct_tell_nomem(ctx, "volume", rc);
}
