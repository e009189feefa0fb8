/* SPDX-License-Identifier: Apache-2.0 */
/* coretap profile: how often code ran, for tools that optimise and draw. */
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/profile_each.h"
#include "cli/profile_own.h"
#include "cli/together.h"

#include <inttypes.h>
#include <stdlib.h>

enum weight {
    INSTRUCTIONS,
    CYCLES,
};

const char *const cli_profile_formats[] = {"folded", "autofdo",  "llvm", "bolt",        "callgrind", "pprof",
                                           "chrome", "perfetto", "data", "branch-list", NULL};
static const char *const weights[] = {"instructions", "cycles", NULL};

static const struct cli_option options[PROFILE_OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [PROFILE_ELF] = CLI_ELF_OPTION,
    [PROFILE_FORMAT] = CLI_CHOICE_OPTION(
        "format", 'f', cli_profile_formats,
        "folded: a line for each stack of functions, for flame graphs. autofdo: ranges and branches, for "
        "create_llvm_prof --profiler=text. llvm: a sample profile for clang. bolt: pre-aggregated, for "
        "perf2bolt -pa. callgrind: for KCachegrind. pprof: stacks of all programs, for pprof. chrome: "
        "function slices as JSON, for Perfetto and chrome://tracing. perfetto: a trace in Perfetto's own "
        "format, with cores, threads, functions, counters and what programs write to an ITM or STM, on the "
        "axis of timestamps. data: stacks and calls as a file that this command and 'coretap merge' take in "
        "the place of a capture. branch-list: branches by program, for simpleperf and 'coretap merge' "
        "(docs/profiles.md)."),
    [PROFILE_WEIGHT] =
        CLI_CHOICE_OPTION("weight", 'w', weights,
                          "folded and chrome: what is counted, and the unit of time. pprof: what is shown "
                          "first; pprof contains both if the trace counts cycles."),
    [PROFILE_EACH] =
        CLI_TEXT_OPTION("each", 0, "DIR",
                        "autofdo, llvm and bolt: write one file for each program that ran, including "
                        "libraries, kernel and modules, into this folder. The folder is created if it does "
                        "not exist. Each file is named after its program and the format."),
    [PROFILE_MODULES] = CLI_FLAG_OPTION(
        "modules", 0, "folded: print the program or library in front of each function, as libc.so.6`malloc."),
    [PROFILE_MAX_SIZE] =
        CLI_NUMBER_OPTION("max-size", 0, "BYTES", 65536, INT64_MAX,
                          "perfetto: write no more than this. The trace ends there, and a message says so."),
    [PROFILE_CAPTURES] = CLI_TOGETHER_OPTION,
    [PROFILE_AT] = CLI_WATCH_PLACES_TABLE,
    CLI_MONITOR_SPEC_TABLE,
    [PROFILE_THREADS] = CLI_THREADS_OPTION,
    [PROFILE_FILTER] =
        CLI_FILTER_WINDOW_AND(" A number alone, with chrome: the slices from this time of their "
                              "stream on, in instructions or cycles.",
                              " A number alone, with chrome: the slices before this time."),
    CLI_FILTER_WHO,
    CLI_FILTER_CODE,
};

bool cli_profile_has_weight(const struct cli_profile *p, const struct ct_stack_place *places, size_t count)
{
    uint64_t weight = 0;
    for (size_t i = 0; i < count && !weight; i++)
        weight = p->cycles ? places[i].cycles : places[i].insns;
    return weight > 0;
}

static bool wants_sums(const struct cli_profile *p)
{
    return p->format == PROFILE_FOLDED || p->format == PROFILE_DATA || p->format == PROFILE_CALLGRIND ||
           p->format == PROFILE_PPROF;
}

/* ---- sums of stacks ---- */

/* Refuses a file that does not tell where calls came from. Returns false after a message. */
static bool has_calls(void *user, const char *path, const struct ct_analysis_kind *kind,
                      const struct ct_losses *losses)
{
    const struct cli_profile *p = user;
    struct ct_stack_found found;
    (void)losses;
    if (!kind)
        return true;
    if (ct_stack_sums_find(p->sums, &found) != CT_OK) {
        cli_library_error(p->counts.read.args->ctx);
        return false;
    }
    if (found.lacks_calls)
        cli_say(
            "%s: the file has stacks of format version 1, which does not record the callers that --format "
            "callgrind needs; write it again from its captures with 'coretap profile --format data'",
            path);
    return !found.lacks_calls;
}

bool cli_profile_start(struct cli_profile *p, const struct cli_args *args)
{
    struct cli_results *read = &p->counts.read;
    read->args = args;
    read->elf = PROFILE_ELF;
    read->needs_program = p->format != PROFILE_PERFETTO; /* an ITM or STM has no program */
    read->user = p;
    return cli_programs_new(&read->programs, args, NULL);
}

static int read_sums(struct cli_profile *p, const struct cli_args *args)
{
    const struct ct_stack_sums_options how = {.size = sizeof how,
                                              .raw_names = args->raw_names,
                                              .uncounted =
                                                  p->format == PROFILE_FOLDED || p->format == PROFILE_PPROF};
    struct cli_results *read = &p->counts.read;
    if (!cli_profile_start(p, args))
        return CLI_FAILED;
    if (ct_stack_sums_new(args->ctx, &how, &p->sums) != CT_OK)
        return cli_library_error(args->ctx);
    cli_counts_lend(&p->counts, ct_stack_sums_cover(p->sums));
    p->counts.names_suffice = true;
    read->analysis = ct_stack_sums_analysis(p->sums);
    read->file_why = "a file of stacks has only the sums of whole captures";
    read->took = p->format == PROFILE_CALLGRIND ? has_calls : NULL;
    const int code = cli_results_read(read);
    return p->format == PROFILE_CALLGRIND || p->format == PROFILE_PPROF ? cli_counts_find(&p->counts, code)
                                                                        : code;
}

/* ---- output ---- */

int cli_profile_told(const struct cli_profile *p, int rc)
{
    return rc && rc != CT_ERR_IO ? cli_library_error(p->counts.read.args->ctx) : CLI_CLEAN;
}

int cli_profile_empty(const struct cli_profile *p, enum ct_empty_items items)
{
    const struct ct_empty_options asked = {
        .result = "the profile is", .ran = &p->counts.read.ran, .items = (uint8_t)items};
    return p->counts.read.ran.instructions ? cli_empty(p->counts.read.args, &asked) : CLI_CLEAN;
}

static const uint8_t library_formats[] = {
    [PROFILE_AUTOFDO] = CT_PROFILE_FORMAT_AUTOFDO, [PROFILE_LLVM] = CT_PROFILE_FORMAT_LLVM,
    [PROFILE_BOLT] = CT_PROFILE_FORMAT_BOLT,       [PROFILE_CALLGRIND] = CT_PROFILE_FORMAT_CALLGRIND,
    [PROFILE_PPROF] = CT_PROFILE_FORMAT_PPROF,     [PROFILE_BRANCH_LIST] = CT_PROFILE_FORMAT_BRANCH_LIST};

/* Reports why a profile has no entries. One for callgrind always has the remainder. Returns an enum
 * cli_exit. */
static int check_entries(const struct cli_profile *p, const struct ct_profile_written *written)
{
    const struct cli_results *read = &p->counts.read;
    const struct ct_empty_options asked = {.result = "the profile is",
                                           .ran = &read->ran,
                                           .profile = written,
                                           .profile_format = library_formats[p->format],
                                           .saved = read->has_file};
    const bool of_file = read->has_file && p->format != PROFILE_LLVM;
    if (p->format == PROFILE_CALLGRIND)
        return CLI_CLEAN;
    if (read->ran.instructions)
        return cli_empty(read->args, &asked);
    return of_file && cli_empty_tell(read->args, read->args->operand, &asked) ? CLI_DAMAGED : CLI_CLEAN;
}

/* Returns the options for the writer. *left_out receives what a branch list leaves out. */
static struct ct_profile_write_options options_of(const struct cli_profile *p, uint64_t *left_out)
{
    const struct ct_filter *filter = &p->counts.read.filter.filter; /* sums of stacks are filtered already */
    const struct cli_args *args = p->counts.read.args;
    return (struct ct_profile_write_options){.size = sizeof(struct ct_profile_write_options),
                                             .arch = cli_counts_arch(&p->counts),
                                             .contexts = p->sums ? NULL : filter->contexts,
                                             .context_count = filter->context_count,
                                             .stacks = p->sums,
                                             .format = library_formats[p->format],
                                             .cycles = p->cycles,
                                             .skip_empty = p->counts.read.ran.instructions > 0,
                                             .left_out = left_out,
                                             .root = args->values[CLI_CAPTURE_SYMFS].text};
}

/* Writes a file for each program. Returns an enum cli_exit. */
static int print_each(const struct cli_profile *p, const char *folder)
{
    const struct ct_profile_write_options how = options_of(p, NULL);
    size_t count;
    const int code = cli_profile_each(&p->counts, folder, cli_profile_formats[p->format], &how, &count);
    const struct ct_profile_written written = {.entries = count, .program_count = count};
    const int entered = code == CLI_FAILED ? code : check_entries(p, &written);
    if (entered == CLI_CLEAN)
        cli_counts_tell_outside(&p->counts, "the profiles are");
    return entered;
}

static int print_counts(const struct cli_profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    uint64_t left_out = 0;
    const struct ct_profile_write_options how = options_of(p, &left_out);
    struct ct_profile_written written;
    if (args->values[PROFILE_EACH].given)
        return print_each(p, args->values[PROFILE_EACH].text);
    const int rc =
        ct_profile_write(p->counts.cover, p->counts.read.programs, &how, cli_output_write, stdout, &written);
    if (rc == CT_ERR_ARG && !written.program_count && p->counts.read.has_file)
        return CLI_DAMAGED; /* it was reported that all programs are missing */
    if (rc == CT_ERR_ARG && written.program_count != 1)
        return cli_usage_error(args->command,
                               "--format %s describes a single program, but %zu were started; choose one "
                               "with --elf, or write a file for each with --each DIR",
                               cli_profile_formats[p->format], written.program_count);
    if (!rc && left_out && !args->quiet)
        cli_say("%s: %" PRIu64 " instructions are not in the branch lists, because an exception or the end "
                "of the trace came before the next branch",
                args->operand, left_out);
    const int code = rc ? cli_profile_told(p, rc) : check_entries(p, &written);
    if (rc || code != CLI_CLEAN || p->sums)
        return code;
    cli_counts_tell_outside(&p->counts, "the profile is");
    return cli_counts_tell_unrun(&p->counts);
}

/* Notes that functions in the middle of deep stacks are not written. */
static void note_cut(const struct cli_profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    struct ct_stack_depth depth;
    if (ct_stack_sums_depth(p->sums, &depth) == CT_OK && depth.cut)
        cli_say("%s: %" PRIu64 " stacks have more than %" PRIu32 " functions (up to %" PRIu32
                "); only their outermost functions and the innermost one are written, with [...] between; "
                "calls that never return cause such stacks; --format data has them complete",
                args->operand, depth.cut, depth.most, depth.deepest);
}

/* size of folded stacks, in bytes, from which on a note names smaller formats */
#define FOLDED_LARGE UINT64_C(256000000)

static int write_counted(void *user, const void *data, size_t size)
{
    uint64_t *bytes = user;
    *bytes += size;
    return cli_output_write(stdout, data, size);
}

static int print_folded(const struct cli_profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    const struct ct_stack_write_options how = {
        .size = sizeof how, .cycles = p->cycles, .modules = args->values[PROFILE_MODULES].given};
    uint64_t bytes = 0;
    const int rc = ct_stack_sums_write(p->sums, &how, write_counted, &bytes);
    if (!rc && bytes > FOLDED_LARGE && !args->quiet)
        cli_say("%s: the folded stacks have %" PRIu64 " MB, because each line names all callers, as deep "
                "recursion makes them; --format pprof and callgrind are smaller",
                args->operand, bytes / 1000000);
    return cli_profile_told(p, rc);
}

static int print_sums(const struct cli_profile *p)
{
    const struct cli_args *args = p->counts.read.args;
    struct ct_stack_found found;
    if (p->format == PROFILE_DATA)
        return cli_results_save(args->ctx, p->counts.read.analysis, stdout);
    if (ct_stack_sums_find(p->sums, &found) != CT_OK)
        return cli_library_error(args->ctx);
    cli_results_note_new_stacks(&p->counts.read, found.renewed);
    if (p->format == PROFILE_CALLGRIND)
        return print_counts(p);
    if (!cli_profile_has_weight(p, found.places, found.place_count))
        return cli_profile_empty(p, CT_EMPTY_WEIGHTS);
    note_cut(p);
    if (p->format == PROFILE_PPROF)
        return print_counts(p);
    return print_folded(p);
}

/* Returns whether a format shows functions along time. */
static bool is_of_time(enum cli_profile_format format)
{
    return format == PROFILE_CHROME || format == PROFILE_PERFETTO;
}

/* Prints the profile of what was read with exit code `code`. Sums are printed although nothing ran. Returns
 * the exit code of both. */
static int print(struct cli_profile *p, int code)
{
    if (p->format == PROFILE_PERFETTO) /* has software trace, too */
        return cli_worse(code, cli_profile_print_trace(p));
    const bool written = p->format == PROFILE_DATA;
    const int nothing = cli_results_nothing_ran(&p->counts.read, code, "the profile is", written);
    if (nothing && !written)
        return nothing;
    const int printed = wants_sums(p)                 ? print_sums(p)
                        : p->format == PROFILE_CHROME ? cli_profile_print_chrome(p)
                                                      : print_counts(p);
    return cli_worse(cli_worse(code, nothing), printed);
}

/* Refuses --each for a format that holds all programs in one file. Returns false after a message. */
static bool check_each(const struct cli_args *args, enum cli_profile_format format)
{
    const bool fits = format == PROFILE_AUTOFDO || format == PROFILE_LLVM || format == PROFILE_BOLT;
    if (!args->values[PROFILE_EACH].given || (fits && !args->output))
        return true;
    if (!fits)
        cli_usage_error(args->command,
                        "--each works only with --format autofdo, llvm and bolt, because %s has all programs "
                        "in one file; leave --each out",
                        cli_profile_formats[format]);
    else
        cli_usage_error(args->command, "--each chooses the names of the files itself; leave --output out");
    return false;
}

/* Refuses options that do not apply to the format. Returns false after a message. */
static bool check_options(const struct cli_args *args, enum cli_profile_format format)
{
    const struct cli_watch_places places = {args, PROFILE_AT};
    if (args->values[PROFILE_MODULES].given && format != PROFILE_FOLDED)
        cli_usage_error(args->command,
                        "--modules works only with --format folded, because %s separates modules by itself; "
                        "leave --modules out",
                        cli_profile_formats[format]);
    else if (args->values[PROFILE_CAPTURES].given && !is_of_time(format))
        cli_usage_error(args->command,
                        "--captures works only with --format perfetto and chrome, because %s adds captures "
                        "up; leave --captures out",
                        cli_profile_formats[format]);
    else if (args->values[PROFILE_MAX_SIZE].given && format != PROFILE_PERFETTO)
        cli_usage_error(
            args->command,
            "--max-size works only with --format perfetto; choose that format, or leave --max-size out");
    else if (format != PROFILE_PERFETTO &&
             (cli_watch_places_any(&places) || cli_monitors_named(args, PROFILE_SPEC)))
        cli_usage_error(args->command, "--at, --list and --spec work only with --format perfetto; choose "
                                       "that format, or leave them out");
    else if (args->values[PROFILE_WEIGHT].given && format != PROFILE_FOLDED && format != PROFILE_CHROME &&
             format != PROFILE_PPROF)
        cli_usage_error(args->command, "--weight cannot be applied to --format %s%s; leave it out",
                        cli_profile_formats[format],
                        format == PROFILE_PERFETTO ? ", which shows the time of the timestamps" : "");
    else
        return true;
    return false;
}

static int run(const struct cli_args *args)
{
    struct cli_profile p = {0};
    p.format = (enum cli_profile_format)args->values[PROFILE_FORMAT].number;
    if (!check_each(args, p.format) || !check_options(args, p.format) ||
        !cli_monitors_check_idle(args, PROFILE_SPEC))
        return CLI_FAILED;
    p.counts.read.threads = cli_threads(args);
    p.counts.read.may_lack_files = true;
    if (!cli_filter_read(&p.counts.read.filter, args, p.format == PROFILE_CHROME)) {
        cli_counts_close(&p.counts);
        return CLI_FAILED;
    }
    p.cycles = args->values[PROFILE_WEIGHT].number == CYCLES;
    const bool is_timeline = is_of_time(p.format);
    int code = wants_sums(&p) ? read_sums(&p, args)
               : is_timeline  ? cli_profile_read_timeline(&p, args)
                              : cli_counts_read(&p.counts, args, PROFILE_ELF);
    if (code != CLI_FAILED && !p.counts.read.kept_nothing)
        code = print(&p, code);
    if (code == CLI_FAILED && ct_slice_writer_count(p.slices))
        (void)ct_slice_writer_end(p.slices); /* what was written so far is complete JSON */
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
    .summary = "write profiles for compilers, flame graphs and viewers",
    .operand = "CAPTURE...",
    .many = true,
    .about =
        "Decodes the capture along its programs and writes how often everything ran, in a format that other "
        "tools read. Nothing is sampled: every instruction and branch in the trace is counted. "
        "docs/analysis.md says how call stacks are rebuilt.\nSeveral captures are added up. Instead of a "
        "capture, autofdo, llvm, bolt and branch-list also accept a coverage file ('coretap cover --format "
        "data') or a branch list of simpleperf; folded, callgrind, pprof and data accept a file of stacks "
        "('--format data'). In chrome each capture is a group of processes of its own, on the clock of its "
        "streams, and in perfetto a group of tracks, unless the captures come from one system: see "
        "--captures. For perfetto --frequency also gives the length of a tick of the timestamps.",
    .examples = "coretap profile -o run.folded capture\n"
                "coretap profile --format llvm -o program.prof capture\n"
                "coretap profile --format perfetto -o run.pftrace capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
