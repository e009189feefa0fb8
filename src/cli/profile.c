/* SPDX-License-Identifier: Apache-2.0 */
/* coretap profile: what ran how often, for tools that optimise and draw. */
#include "cli/commands.h"
#include "cli/counts.h"
#include "cli/output.h"
#include "cli/profile_each.h"
#include "cli/profile_notes.h"
#include "cli/together.h"
#include "coretap/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum option {
    ELF = CLI_CAPTURE_OPTIONS,
    FORMAT,
    WEIGHT,
    EACH,
    MODULES,
    MAX_SIZE,
    CAPTURES,
    AT,
    SPEC = AT + CLI_WATCH_PLACES_ROWS,
    THREADS = SPEC + CLI_MONITOR_SPEC_OPTIONS - CLI_MONITOR_SPEC,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS - 1,
    SHIFT = SPEC - CLI_MONITOR_SPEC,
};

enum format {
    FOLDED,
    AUTOFDO,
    LLVM,
    BOLT,
    CALLGRIND,
    PPROF,
    CHROME,
    PERFETTO,
    DATA,
    BRANCH_LIST,
};

enum weight {
    INSTRUCTIONS,
    CYCLES,
};

static const char *const formats[] = {"folded", "autofdo",  "llvm", "bolt",        "callgrind", "pprof",
                                      "chrome", "perfetto", "data", "branch-list", NULL};
static const char *const weights[] = {"instructions", "cycles", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_ELF_OPTION,
    [FORMAT] =
        {.name = "format",
         .letter = 'f',
         .kind = CLI_CHOICE,
         .choices = formats,
         .help =
             "folded: a line for each stack of functions, for flame graphs. autofdo: ranges and branches, "
             "for "
             "create_llvm_prof --profiler=text. llvm: a sample profile for clang. bolt: pre-aggregated, for "
             "perf2bolt -pa. callgrind: for KCachegrind. pprof: stacks of all programs, for pprof. chrome: "
             "function slices as JSON, for Perfetto "
             "and chrome://tracing. perfetto: a trace in Perfetto's own format, with cores, threads, "
             "functions, counters and what programs write to an ITM or STM, on the axis of timestamps. "
             "data: stacks "
             "and calls as a file that this command and 'coretap merge' take in the place of a capture. "
             "branch-list: branches by program, for simpleperf and 'coretap merge' (docs/profiles.md)."},
    [WEIGHT] = {.name = "weight",
                .letter = 'w',
                .kind = CLI_CHOICE,
                .choices = weights,
                .help = "With folded and chrome: what is counted, and what time is. With pprof: what is "
                        "shown first; it has both, where the trace counts cycles."},
    [EACH] = {.name = "each",
              .kind = CLI_TEXT,
              .arg = "DIR",
              .help = "With autofdo, llvm and bolt: a file for each program that ran, libraries, kernel and "
                      "modules too, in this folder, which is made when it is not there. A file is called "
                      "after its program and the format."},
    [MODULES] = {.name = "modules",
                 .kind = CLI_FLAG,
                 .help = "With folded: the program or library of each function stands before it, as "
                         "libc.so.6`malloc."},
    [MAX_SIZE] = {.name = "max-size",
                  .kind = CLI_NUMBER,
                  .arg = "BYTES",
                  .min = 65536,
                  .max = INT64_MAX,
                  .help = "With perfetto: write no more than this. The trace ends there, which is said."},
    [CAPTURES] = CLI_TOGETHER_OPTION,
    [AT] = CLI_WATCH_PLACES_TABLE,
    CLI_MONITOR_SPEC_TABLE,
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_WINDOW_AND(" A number alone, with chrome: the slices from this time of their "
                                     "stream on, in instructions or cycles.",
                                     " A number alone, with chrome: the slices before this time."),
    CLI_FILTER_WHO,
    CLI_FILTER_CODE,
};

struct profile {
    struct cli_counts counts;
    enum format format;
    bool cycles;                      /* are what is counted, and time */
    struct ct_stack_sums *sums;       /* folded, data, callgrind, pprof */
    struct ct_slice_writer *slices;   /* chrome */
    struct ct_perfetto_writer *trace; /* perfetto */
    struct ct_stacks *stacks;         /* of the capture that is being decoded, for these two */
    struct cli_profile_notes notes;   /* perfetto */
    bool together;                    /* captures are of one system, on one axis */
    struct ct_slice_clocks **clocks;  /* chrome, captures of one system: the clock of each, in their order */
    size_t clock_count, begun;        /* how many clocks there are, and how many captures were begun */
    bool told_size;                   /* a message said that the trace is large */
    bool has_weight;                  /* something that ran in a capture had a weight */
    uint64_t renewed;                 /* stacks that began anew */
};

/* Whether anything has a weight. */
static bool has_weight(const struct profile *p, const struct ct_stack_place *places, size_t count)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < count && !weight; i++)
        weight = p->cycles ? places[i].cycles : places[i].insns;
    return weight > 0;
}

static bool wants_sums(const struct profile *p)
{
    return p->format == FOLDED || p->format == DATA || p->format == CALLGRIND || p->format == PPROF;
}

/* ---- sums of stacks ---- */

/* Refuses a file that does not say which call came from where. */
static bool has_calls(void *user, const char *path, const struct ct_analysis_kind *kind,
                      const struct ct_losses *losses)
{
    const struct profile *p = user;
    struct ct_stack_found found;
    (void)losses;
    if (!kind)
        return true;
    if (ct_stack_sums_find(p->sums, &found) != CT_OK) {
        cli_library_error(p->counts.read.args->ctx);
        return false;
    }
    if (found.lacks_calls)
        cli_say("%s: is or contains a file of stacks of version 1, which does not say which call came from "
                "where, as --format "
                "callgrind needs it; write it anew from its captures with 'coretap profile --format data'",
                path);
    return !found.lacks_calls;
}

/* Begins reading, in steps or sums. */
static bool start(struct profile *p, const struct cli_args *args)
{
    struct cli_results *read = &p->counts.read;
    read->args = args;
    read->elf = ELF;
    read->needs_program = p->format != PERFETTO; /* an ITM or STM has none */
    read->user = p;
    return cli_programs_new(&read->programs, args, NULL);
}

static int read_sums(struct profile *p, const struct cli_args *args)
{
    const struct ct_stack_sums_options how = {.size = sizeof how,
                                              .raw_names = args->raw_names,
                                              .uncounted = p->format == FOLDED || p->format == PPROF};
    struct cli_results *read = &p->counts.read;
    if (!start(p, args))
        return CLI_FAILED;
    if (ct_stack_sums_new(args->ctx, &how, &p->sums) != CT_OK)
        return cli_library_error(args->ctx);
    cli_counts_lend(&p->counts, ct_stack_sums_cover(p->sums));
    p->counts.names_suffice = true;
    read->analysis = ct_stack_sums_analysis(p->sums);
    read->file_why = "a file of stacks has those of whole captures";
    read->took = p->format == CALLGRIND ? has_calls : NULL;
    const int code = cli_results_read(read);
    return p->format == CALLGRIND || p->format == PPROF ? cli_counts_find(&p->counts, code) : code;
}

/* ---- slices and traces ---- */

/* Bytes that a viewer in a browser may not open: it has about 2 GB of memory, and needs up to four times the
 * size of a trace (Perfetto's documentation, "Visualising large traces"). */
#define LARGE_TRACE (UINT64_C(512) << 20)

/* Makes the stacks of the next capture. */
static int make_stacks(struct profile *p)
{
    const bool is_trace = p->format == PERFETTO;
    struct ct_stack_options stack_options = {
        .size = sizeof stack_options, .slices = !is_trace, .moves = is_trace};
    const struct cli_results *read = &p->counts.read;
    const char *path = read->capture.capture->path;
    const char *run = read->args->rest_count > 1 && !(is_trace && p->together) ? path : NULL;
    int rc = ct_programs_places(read->programs, &stack_options.programs, &stack_options.program_count);
    if (!rc && is_trace)
        rc = ct_perfetto_writer_begin(p->trace, read->capture.capture, run);
    if (!rc && is_trace)
        rc = cli_profile_notes_give(&p->notes, path, p->trace);
    else if (!rc && run)
        rc = ct_slice_writer_begin(p->slices, run);
    if (!rc && p->clocks && p->begun < p->clock_count)
        rc = ct_slice_writer_align(p->slices, p->clocks[p->begun++],
                                   read->capture.capture->maps ? &read->capture.capture->maps->clock : NULL,
                                   read->filter.filter.frequency);
    return rc ? rc : ct_stacks_new(read->args->ctx, &stack_options, &p->stacks);
}

/* Says once that a trace is larger than a viewer opens. */
static void tell_size(struct profile *p)
{
    if (p->told_size || ct_perfetto_writer_seen(p->trace)->size < LARGE_TRACE)
        return;
    p->told_size = true;
    cli_say(
        "%s: the trace is larger than %llu MiB, which a viewer in a browser may not open; --from and --to "
        "cut out a part, --max-size ends it, and 'trace_processor --httpd' opens larger ones",
        p->counts.read.capture.capture->path, (unsigned long long)(LARGE_TRACE >> 20));
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct profile *p = user;
    const uint32_t lane = ct_session_lane(p->counts.read.session, stream->id);
    int result = p->stacks ? CT_OK : make_stacks(p);
    if (result == CT_OK)
        result = ct_stacks_add(p->stacks, lane, batch);
    if (!result && p->format == CHROME)
        result = ct_slice_writer_stream(p->slices, lane, p->counts.read.capture.capture, stream);
    if (result || p->format == CHROME)
        return result ? result : ct_slice_writer_add(p->slices, p->stacks);
    result = ct_perfetto_writer_add(p->trace, stream, batch, lane, p->stacks);
    tell_size(p);
    return result;
}

/* Slices are written as they come. With several threads those of the streams of one buffer come in an order
 * that depends on how many threads there are, so that such a capture is decoded by one. */
static bool begin_slices(void *user)
{
    struct profile *p = user;
    struct cli_results *read = &p->counts.read;
    const struct cli_capture *capture = &read->capture;
    read->threads = cli_threads(read->args);
    for (size_t i = 0; i < capture->count; i++)
        if (capture->buffers[i].source_count > 1)
            read->threads = 1;
    return cli_profile_notes_open(&p->notes, read->programs);
}

static bool end_stacks(void *user)
{
    struct profile *p = user;
    size_t count;
    int result = p->stacks ? CT_OK : make_stacks(p);
    if (result == CT_OK)
        result = ct_stacks_finish(p->stacks);
    if (result == CT_OK)
        result = p->format == CHROME ? ct_slice_writer_add(p->slices, p->stacks)
                                     : ct_perfetto_writer_finish(p->trace, p->stacks);
    if (result != CT_OK && !ferror(stdout)) /* told of at the end of the command */
        cli_library_error(p->counts.read.args->ctx);
    const struct ct_stack_place *places = ct_stacks_places(p->stacks, &count);
    p->has_weight |= has_weight(p, places, count);
    p->renewed += ct_stacks_renewed(p->stacks);
    ct_stacks_free(p->stacks);
    p->stacks = NULL;
    return result == CT_OK;
}

/* Makes the writer of slices, or of a trace. */
static int make_writer(struct profile *p, const struct cli_args *args)
{
    const struct cli_results *read = &p->counts.read;
    const struct ct_slice_write_options slices = {.size = sizeof slices,
                                                  .from = read->filter.slices[0],
                                                  .to = read->filter.slices[1],
                                                  .cycles = p->cycles};
    const struct ct_perfetto_write_options trace = {.size = sizeof trace,
                                                    .programs = read->programs,
                                                    .max_size = (uint64_t)args->values[MAX_SIZE].number,
                                                    .frequency = read->filter.filter.frequency};
    return p->format == CHROME
               ? ct_slice_writer_new(args->ctx, &slices, cli_output_write, stdout, &p->slices)
               : ct_perfetto_writer_new(args->ctx, &trace, cli_output_write, stdout, &p->trace);
}

/* ---- the clocks of several captures ---- */

struct clocks {
    struct profile *profile;
    struct cli_results read;
};

static int on_clock_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    const struct clocks *c = user;
    const struct profile *p = c->profile;
    return ct_slice_clocks_add(p->clocks[p->clock_count - 1], ct_session_lane(c->read.session, stream->id),
                               batch);
}

/* Begins with the clocks of the next capture. */
static bool begin_clocks(void *user)
{
    const struct clocks *c = user;
    struct profile *p = c->profile;
    if (ct_slice_clocks_new(c->read.args->ctx, p->cycles, &p->clocks[p->clock_count]) != CT_OK)
        return cli_library_error(c->read.args->ctx) == CLI_CLEAN;
    p->clock_count++;
    return true;
}

/* Reads the captures for the times of their streams, before they are read once more for what ran. */
static int find_clocks(struct profile *p, const struct cli_args *args)
{
    struct clocks c = {.profile = p,
                       .read = {.args = args,
                                .elf = ELF,
                                .threads = 1,
                                .untold = true,
                                .user = &c,
                                .opened = begin_clocks,
                                .steps = on_clock_steps}};
    p->clocks = calloc((size_t)args->rest_count, sizeof *p->clocks);
    if (!p->clocks)
        cli_no_memory();
    const bool fine = p->clocks && cli_filter_read(&c.read.filter, args, true) &&
                      cli_programs_new(&c.read.programs, args, NULL);
    const int code = fine ? cli_results_read(&c.read) : CLI_FAILED;
    p->counts.read.kept_nothing |= c.read.kept_nothing;
    cli_results_close(&c.read);
    return code;
}

/* Finds what specifications say, before the captures are read once more. False after a message. */
static bool find_notes(struct profile *p, const struct cli_args *args, int *code)
{
    p->notes = (struct cli_profile_notes){
        .places = {args, AT}, .elf = ELF, .shift = SHIFT, .apart = args->rest_count > 1 && !p->together};
    if (!cli_profile_notes_any(&p->notes))
        return true;
    for (int i = 0; i < args->rest_count; i++)
        if (strcmp(args->rest[i], "-") == 0) {
            cli_usage_error(args->command, "--spec: the capture is read twice, so it cannot come from "
                                           "standard input; save it to a file");
            return false;
        }
    *code = cli_profile_notes_find(&p->notes);
    p->counts.read.kept_nothing = p->notes.kept_nothing;
    return *code != CLI_FAILED;
}

static int read_slices(struct profile *p, const struct cli_args *args)
{
    struct cli_results *read = &p->counts.read;
    int code = CLI_CLEAN;
    for (int i = 0; i < args->rest_count; i++)
        if (cli_results_is_file(NULL, args->rest[i]))
            return cli_usage_error(args->command,
                                   "--format %s: %s has sums, which say nothing of when functions ran; give "
                                   "the captures that it was made from",
                                   formats[p->format], args->rest[i]);
    if (!cli_find_together(args, ELF, &args->values[CAPTURES], &p->together))
        return CLI_FAILED;
    if (p->together && p->format == CHROME)
        code = find_clocks(p, args);
    if (code == CLI_FAILED || !find_notes(p, args, &code) || !start(p, args))
        return CLI_FAILED;
    if (p->counts.read.kept_nothing)
        return code;
    if (make_writer(p, args) != CT_OK)
        return cli_library_error(args->ctx);
    read->opened = begin_slices;
    read->steps = on_steps;
    read->closing = end_stacks;
    const int written = cli_results_read(read);
    return written > code ? written : code;
}

/* ---- output ---- */

/* A file that cannot be written is told of at the end of the command. */
static int told(const struct profile *p, int rc)
{
    return rc && rc != CT_ERR_IO ? cli_library_error(p->counts.read.args->ctx) : CLI_CLEAN;
}

/* A profile with nothing in it although the trace has instructions. */
static int empty(const struct profile *p, const char *why, const char *remedy)
{
    return cli_ran_but_empty(&p->counts.read.ran, p->counts.read.args, CLI_CLEAN, "the profile is", why,
                             remedy);
}

static int no_weight(const struct profile *p)
{
    return empty(p, "the trace has no cycle counts", "count instructions, or record with cycle counts");
}

/* Says so when nobody knows how long a tick of the timestamps is. */
static void note_ticks(const struct profile *p)
{
    const struct cli_results *read = &p->counts.read;
    const struct ct_maps *maps = read->has_capture ? read->capture.capture->maps : NULL;
    if (!read->args->quiet && !read->filter.filter.frequency && !(maps && maps->clock.known))
        cli_say("%s: does not say how fast its timestamps run; one tick is shown as one nanosecond. Say it "
                "with --frequency HZ",
                read->args->operand);
}

static int print_chrome(struct profile *p)
{
    cli_note_new_stacks(p->counts.read.args, p->renewed);
    if (p->counts.read.ran.instructions && !p->has_weight)
        return no_weight(p);
    if (p->counts.read.ran.instructions && !ct_slice_writer_count(p->slices))
        return empty(p, "no execution of a function lies in this time", "give another --from and --to");
    if (p->clocks)
        note_ticks(p);
    return told(p, ct_slice_writer_end(p->slices));
}

/* Says on which axis the events are, where that is not the time of the capture's clock. */
static void note_axis(const struct profile *p, const struct ct_perfetto_seen *seen)
{
    const struct cli_results *read = &p->counts.read;
    if (seen->untimed)
        cli_say("%s: %u of %u streams have no timestamps; their time is cycles since they began, or "
                "instructions where no cycles are counted, as nanoseconds",
                read->args->operand, seen->untimed, seen->timed + seen->untimed);
    if (seen->unrated)
        cli_say("%s: %u streams have a single timestamp in this part; behind it their time is cycles, or "
                "instructions where no cycles are counted, as nanoseconds. A longer part has more",
                read->args->operand, seen->unrated);
    if (seen->timed)
        note_ticks(p);
}
/* Says so when instructions ran and none of them is in a function that is known. */
static int check_names(const struct profile *p)
{
    const struct cli_results *read = &p->counts.read;
    if (!read->ran.instructions || ct_programs_count(read->programs))
        return CLI_CLEAN;
    cli_say("%s: names no program, so that no function has a name; name the program with --elf FILE[@HEX]",
            read->args->operand);
    return CLI_DAMAGED;
}

/* Says so when nothing came by the watchpoints. */
static int check_watched(const struct profile *p, const struct ct_perfetto_seen *seen)
{
    const int code = check_names(p);
    if (!cli_watch_places_any(&p->notes.places) || seen->watched)
        return code;
    cli_say("%s: the trace has no event of a watchpoint: execution came by none of them; 'coretap cover "
            "--functions' shows what ran",
            p->counts.read.args->operand);
    return CLI_DAMAGED;
}

static int print_trace(struct profile *p)
{
    const int rc = ct_perfetto_writer_end(p->trace);
    const struct ct_perfetto_seen *seen = ct_perfetto_writer_seen(p->trace);
    cli_note_new_stacks(p->counts.read.args, p->renewed);
    if (rc)
        return told(p, rc);
    if (!p->counts.read.args->quiet)
        note_axis(p, seen);
    if (!seen->full)
        return check_watched(p, seen);
    cli_say("%s: the trace ends at --max-size, and %llu of %llu slices are not in it; give more, or choose a "
            "part with --from and --to",
            p->counts.read.args->operand, (unsigned long long)seen->left_out,
            (unsigned long long)seen->slices);
    return CLI_DAMAGED;
}

/* Says so when nothing is in a profile of what ran. Of callgrind there is always the rest. */
static int check_entries(const struct profile *p, const struct ct_profile_written *written)
{
    const struct cli_args *args = p->counts.read.args;
    const char *program = written->program ? written->program : "the programs";
    char why[512];
    if (written->entries || p->format == CALLGRIND)
        return CLI_CLEAN;
    if (p->format == LLVM) {
        snprintf(why, sizeof why,
                 "of no function that ran in %s%s are the source lines known, its declaration included",
                 program, written->program_count > 1 ? " and others" : "");
        return empty(p, why, "name the program with its debug information with --elf FILE[@HEX]");
    }
    snprintf(why, sizeof why, "none of them is in %s", program);
    if (p->counts.read.ran.instructions)
        return empty(p, why, "choose the program that ran with --elf FILE[@HEX]");
    if (!p->counts.read.has_file)
        return CLI_CLEAN;
    cli_say("%s: the profile is empty: there are no counts of %s; choose the program that ran with --elf "
            "FILE[@HEX]",
            args->operand, program);
    return CLI_DAMAGED;
}

/* Says what is written. *left_out becomes what a branch list leaves out. */
static struct ct_profile_write_options options_of(const struct profile *p, uint64_t *left_out)
{
    const struct ct_filter *filter = &p->counts.read.filter.filter; /* sums of stacks are filtered already */
    const struct cli_args *args = p->counts.read.args;
    static const uint8_t library[] = {
        [AUTOFDO] = CT_PROFILE_FORMAT_AUTOFDO, [LLVM] = CT_PROFILE_FORMAT_LLVM,
        [BOLT] = CT_PROFILE_FORMAT_BOLT,       [CALLGRIND] = CT_PROFILE_FORMAT_CALLGRIND,
        [PPROF] = CT_PROFILE_FORMAT_PPROF,     [BRANCH_LIST] = CT_PROFILE_FORMAT_BRANCH_LIST};
    return (struct ct_profile_write_options){.size = sizeof(struct ct_profile_write_options),
                                             .arch = cli_counts_arch(&p->counts),
                                             .contexts = p->sums ? NULL : filter->contexts,
                                             .context_count = filter->context_count,
                                             .stacks = p->sums,
                                             .format = library[p->format],
                                             .cycles = p->cycles,
                                             .skip_empty = p->counts.read.ran.instructions > 0,
                                             .left_out = left_out,
                                             .root = args->values[CLI_CAPTURE_SYMFS].text};
}

/* Writes a file for each program. */
static int print_each(const struct profile *p, const char *folder)
{
    const struct ct_profile_write_options how = options_of(p, NULL);
    size_t count;
    const int code = cli_profile_each(&p->counts, folder, formats[p->format], &how, &count);
    const struct ct_profile_written written = {.entries = count, .program_count = count};
    return code == CLI_FAILED ? code : check_entries(p, &written);
}

static int print_counts(const struct profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    uint64_t left_out = 0;
    const struct ct_profile_write_options how = options_of(p, &left_out);
    struct ct_profile_written written;
    if (args->values[EACH].given)
        return print_each(p, args->values[EACH].text);
    const int rc =
        ct_profile_write(p->counts.cover, p->counts.read.programs, &how, cli_output_write, stdout, &written);
    if (rc == CT_ERR_ARG && !written.program_count && p->counts.read.has_file)
        return CLI_DAMAGED; /* it was said that none of the programs is there */
    if (rc == CT_ERR_ARG && written.program_count != 1)
        return cli_usage_error(
            args->command,
            "--format %s is of one program, and %zu were started; choose it with --elf, or "
            "write a file for each with --each DIR",
            formats[p->format], written.program_count);
    if (!rc && left_out && !args->quiet)
        cli_say("%s: %" PRIu64 " instructions are not in the lists, which are of runs up to a branch: an "
                "exception or the end of the trace came first",
                args->operand, left_out);
    return rc ? told(p, rc) : check_entries(p, &written);
}

/* Says so when some functions of deep stacks are not written. */
static void note_cut(const struct profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    struct ct_stack_depth depth;
    if (ct_stack_sums_depth(p->sums, &depth) == CT_OK && depth.cut)
        cli_say(
            "%s: of %" PRIu64 " stacks with more than %" PRIu32 " functions, up to %" PRIu32
            ", the outermost ones and the innermost one are written, with [...] between; calls that never "
            "return make such stacks, and --format data has them whole",
            args->operand, depth.cut, depth.most, depth.deepest);
}

static int print_sums(const struct profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    struct ct_stack_found found;
    if (p->format == DATA)
        return cli_results_save(args->ctx, p->counts.read.analysis, stdout);
    if (ct_stack_sums_find(p->sums, &found) != CT_OK)
        return cli_library_error(args->ctx);
    cli_note_new_stacks(args, found.renewed);
    if (p->format == CALLGRIND)
        return print_counts(p);
    if (!has_weight(p, found.places, found.place_count))
        return no_weight(p);
    note_cut(p);
    if (p->format == PPROF)
        return print_counts(p);
    const struct ct_stack_write_options how = {
        .size = sizeof how, .cycles = p->cycles, .modules = args->values[MODULES].given};
    return told(p, ct_stack_sums_write(p->sums, &how, cli_output_write, stdout));
}

/* Tells whether a format says when functions ran. */
static bool is_of_time(enum format format)
{
    return format == CHROME || format == PERFETTO;
}

/* Says that nothing ran, unless the profile may have software trace all the same. Sums and timelines may be
 * empty. Result: as of cli_results_nothing_ran. */
static int nothing_ran(const struct profile *p, int code)
{
    const bool may_be_empty = p->format == CHROME || p->format == DATA;
    return p->format == PERFETTO
               ? CLI_CLEAN
               : cli_results_nothing_ran(&p->counts.read, code, "the profile is", may_be_empty);
}

static int print(struct profile *p)
{
    if (p->format == PERFETTO)
        return print_trace(p);
    return wants_sums(p) ? print_sums(p) : p->format == CHROME ? print_chrome(p) : print_counts(p);
}

/* Refuses a file for each program where a format has a place for all of them. */
static bool check_each(const struct cli_args *args, enum format format)
{
    const bool fits = format == AUTOFDO || format == LLVM || format == BOLT;
    if (!args->values[EACH].given || (fits && !args->output))
        return true;
    if (!fits)
        cli_usage_error(args->command,
                        "--each: is for autofdo, llvm and bolt; --format %s has all programs in one file",
                        formats[format]);
    else
        cli_usage_error(args->command, "--each: names the files itself; leave out --output");
    return false;
}

/* Refuses options that say nothing of a format. */
static bool check_options(const struct cli_args *args, enum format format)
{
    const struct cli_watch_places places = {args, AT};
    if (args->values[MODULES].given && format != FOLDED)
        cli_usage_error(args->command,
                        "--modules goes with --format folded; %s has its own way to tell modules "
                        "apart",
                        formats[format]);
    else if (args->values[CAPTURES].given && !is_of_time(format))
        cli_usage_error(args->command,
                        "--captures goes with --format perfetto and chrome; in %s captures add up",
                        formats[format]);
    else if (args->values[MAX_SIZE].given && format != PERFETTO)
        cli_usage_error(args->command, "--max-size goes with --format perfetto");
    else if (format != PERFETTO && (cli_watch_places_any(&places) || cli_monitors_named(args, SPEC)))
        cli_usage_error(args->command, "--at, --list and --spec go with --format perfetto");
    else if (args->values[WEIGHT].given && format != FOLDED && format != CHROME && format != PPROF)
        cli_usage_error(args->command, "--weight says nothing of --format %s%s", formats[format],
                        format == PERFETTO ? ", whose time is that of the timestamps" : "");
    else
        return true;
    return false;
}

static int run(const struct cli_args *args)
{
    struct profile p = {0};
    p.format = (enum format)args->values[FORMAT].number;
    if (!check_each(args, p.format) || !check_options(args, p.format))
        return CLI_FAILED;
    p.counts.read.threads = cli_threads(args);
    p.counts.read.may_lack_files = true;
    if (!cli_filter_read(&p.counts.read.filter, args, p.format == CHROME)) {
        cli_counts_close(&p.counts);
        return CLI_FAILED;
    }
    p.cycles = args->values[WEIGHT].number == CYCLES;
    const bool is_timeline = is_of_time(p.format);
    int code = wants_sums(&p) ? read_sums(&p, args)
               : is_timeline  ? read_slices(&p, args)
                              : cli_counts_read(&p.counts, args, ELF);
    if (code != CLI_FAILED && !p.counts.read.kept_nothing) {
        const int nothing = nothing_ran(&p, code);
        const int printed = nothing ? nothing : print(&p);
        code = printed > code ? printed : code;
    }
    if (code == CLI_FAILED && ct_slice_writer_count(p.slices))
        (void)ct_slice_writer_end(p.slices); /* what was written so far is whole JSON */
    ct_slice_writer_free(p.slices);
    ct_perfetto_writer_free(p.trace);
    cli_profile_notes_close(&p.notes);
    for (size_t i = 0; i < p.clock_count; i++)
        ct_slice_clocks_free(p.clocks[i]);
    free(p.clocks);
    ct_stacks_free(p.stacks);
    ct_stack_sums_free(p.sums);
    cli_counts_close(&p.counts);
    return code;
}

const struct cli_command cli_command_profile = {
    .name = "profile",
    .summary = "profiles for compilers, flame graphs and viewers",
    .operand = "CAPTURE...",
    .many = true,
    .about =
        "Decodes the capture along its programs and writes what ran how often in a format that other "
        "tools read. "
        "Nothing is sampled: the counts are of every instruction and branch in the trace. "
        "docs/analysis.md says how "
        "stacks are rebuilt.\n"
        "Several captures add up. In the place of each of them autofdo, llvm, bolt and branch-list take a "
        "coverage file ('coretap cover --format data') or a branch list of simpleperf, folded, callgrind, "
        "pprof and data a file of stacks ('--format data'). In "
        "chrome each capture is a group of processes of its own, on the clock of its streams, and in "
        "perfetto a "
        "group of tracks, unless they are of one system: see --captures. --frequency also says how long a "
        "tick of the timestamps is in perfetto.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
