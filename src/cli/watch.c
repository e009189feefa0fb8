/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch: the events of watchpoints. */
#include <inttypes.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/streams.h"
#include "cli/watch_edges.h"
#include "cli/watch_places.h"
#include "coretap/counts.h"
#include "coretap/format.h"

enum {
    AT = CLI_CAPTURE_OPTIONS,
    ALL_EDGES = AT + CLI_WATCH_PLACES_ROWS,
    EDGE_NUMBERS,
    ELF,
    TARGETS,
    FORMAT,
    SHARD,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

static const char *const formats[] = {"tsv", "jsonl", "csv", "sums", "data", "binary", NULL};

enum {
    TSV, /* index in `formats` */
    SUMS = 3,
    DATA,
    BINARY,
};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [AT] = CLI_WATCH_PLACES_TABLE,
    [ALL_EDGES] =
        CLI_FLAG_OPTION("all-edges", 0,
                        "Print every edge between two waypoints, instead of --at: the number of the edge and "
                        "the cycles since the edge before. --function and --module restrict it."),
    [EDGE_NUMBERS] = CLI_TEXT_OPTION("edge-numbers", 0, "FILE",
                                     "With --all-edges: write the meaning of the edge numbers to this file."),
    [ELF] = CLI_ELF_FILES,
    [TARGETS] = CLI_TEXT_OPTION("targets", 0, "FILE",
                                "For edges: targets of computed branches, as for 'coretap graph'."),
    [FORMAT] =
        CLI_CHOICE_OPTION("format", 'f', formats,
                          "tsv, jsonl or csv: a line for each event; csv and jsonl also have the buffer and "
                          "the trace ID. sums: how often each watchpoint was reached, over all captures; "
                          "data: the same, as input for 'coretap merge' and 'coretap watch'. binary: with "
                          "--all-edges, eight bytes for each event (docs/formats.md)."),
    [SHARD] = CLI_SHARD_OPTION,
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_TABLE,
};

#define BATCH 1024

struct watching {
    struct cli_streams streams;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_watch_writer *writer;
    struct ct_event_origin origin; /* of the current stream */
    bool any;                      /* a watchpoint had an event */
    struct ct_watch_event batch[BATCH];
};

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct watching *w = user;
    size_t count;
    int rc, more;
    (void)stream;
    do {
        rc = ct_watcher_run(w->watcher, batch, w->batch, BATCH, &count, &more);
        w->any |= count > 0;
        const int put = ct_watch_writer_add(w->writer, &w->origin, w->watches, w->batch, count);
        rc = rc ? rc : put;
    } while (!rc && more);
    return rc;
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct watching *w = user;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    w->origin =
        (struct ct_event_origin){.buffer = turn->buffer->name, .source = turn->source, .id = turn->id};
    ct_watcher_free(w->watcher);
    w->watcher = NULL;
    return ct_watcher_new(w->streams.read.args->ctx, w->watches, &w->watcher);
}

/* ---- printing ---- */

static int heading(void *user, const char *buffer, int id)
{
    const struct watching *w = user;
    return ct_watch_writer_heading(w->writer, buffer, id);
}

static int flush(void *user)
{
    const struct watching *w = user;
    return ct_watch_writer_flush(w->writer);
}

static bool open_writer(struct watching *w)
{
    const struct cli_args *args = w->streams.read.args;
    const struct ct_watch_write_options how = {.size = sizeof how,
                                               .format = (uint8_t)args->values[FORMAT].number};
    if (ct_watch_writer_new(args->ctx, &how, cli_output_write, stdout, &w->writer) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

/* Makes the watchpoints when the programs of the capture are known. Returns false after a message. */
static bool prepare(void *user)
{
    /* losses are always watched, because without them it is unknown what was not seen */
    static const char *const always[] = {"gap", "overflow", "no-access"};
    struct watching *w = user;
    const struct cli_args *args = w->streams.read.args;
    const struct cli_watch_places places = {args, AT};
    bool fine = cli_watch_places_open(&places, w->streams.read.programs, &w->watches);
    for (size_t i = 0; fine && i < sizeof always / sizeof *always; i++) {
        fine = ct_watches_add(w->watches, always[i], NULL, NULL) == CT_OK;
        if (!fine)
            cli_library_error(args->ctx);
    }
    return fine && open_writer(w);
}

/* Reports why no watchpoint had an event. `watches` may be NULL. Returns an enum cli_exit. */
static int nothing_came_by(const struct cli_results *read, const struct ct_watches *watches,
                           const struct ct_counts *counts, int code, const char *result)
{
    char words[CT_EMPTY_WORDS];
    const struct ct_empty_options asked = {.size = sizeof asked,
                                           .result = result,
                                           .seen = read->has_capture ? &read->capture.seen : NULL,
                                           .ran = &read->ran,
                                           .watches = watches,
                                           .counts = counts,
                                           .saved = read->has_file};
    struct ct_empty why;
    (void)ct_empty_find(read->args->ctx, &asked, &why);
    if (code == CLI_FAILED || (why.reason != CT_EMPTY_NOT_REACHED && why.reason != CT_EMPTY_NO_VALUES))
        return cli_worse(code, cli_results_nothing_ran(read, code, result, false));
    cli_say("%s: %s", read->args->operand, ct_empty_words(words, &why));
    if (read->ran.instructions)
        cli_output_set_empty();
    return CLI_DAMAGED;
}

static int print(struct watching *w)
{
    struct cli_results *read = &w->streams.read;
    const struct cli_args *args = read->args;
    if (!cli_filter_read(&read->filter, args, false) ||
        !cli_programs_new_moved(&read->programs, args, args->values[TARGETS].text))
        return CLI_FAILED;
    const int code = cli_streams_run(&w->streams);
    return w->any || read->kept_nothing
               ? code
               : nothing_came_by(read, w->watches, NULL, code, "the list of events is");
}

/* ---- sums ---- */

static bool count_place(void *to, const char *place)
{
    const bool fine = ct_watch_counts_add(to, place) == CT_OK;
    if (!fine)
        cli_no_memory();
    return fine;
}

/* Reports why there are no sums to save. They are written nevertheless, because they can be added up. Returns
 * an enum cli_exit. */
static int nothing_to_save(const struct cli_results *read, const struct ct_watches *watches, int code)
{
    const struct ct_empty_options asked = {.size = sizeof asked,
                                           .result = "the sum is",
                                           .ran = &read->ran,
                                           .watches = watches,
                                           .saved = read->has_file};
    char words[CT_EMPTY_WORDS];
    struct ct_empty why;
    (void)ct_empty_find(read->args->ctx, &asked, &why);
    if (why.reason != CT_EMPTY_NO_VALUES)
        return cli_worse(code, cli_results_nothing_ran(read, code, asked.result, true));
    if (read->ran.instructions && !read->args->quiet)
        cli_say("%s: %s", read->args->operand, ct_empty_words(words, &why));
    return code;
}

/* Reports why there are no sums. Returns an enum cli_exit. */
static int no_sums(const struct cli_results *read, const struct ct_counts *counts, int code)
{
    const struct cli_args *args = read->args;
    const struct cli_watch_places places = {args, AT};
    struct ct_watches *watches = NULL;
    int result = CLI_FAILED;
    if (!cli_watch_places_any(&places) || cli_watch_places_open(&places, read->programs, &watches))
        result = args->values[FORMAT].number == DATA
                     ? nothing_to_save(read, watches, code)
                     : nothing_came_by(read, watches, counts, code, "the sum is");
    ct_watches_free(watches);
    return result;
}

static int print_sums(struct cli_results *read, struct ct_counts *counts, int code)
{
    size_t count;
    const struct ct_count *all = ct_counts_all(counts, &count);
    if (read->args->values[FORMAT].number == DATA) {
        const int written = cli_results_save_read(read, stdout);
        code = cli_worse(code, written);
    } else {
        for (size_t i = 0; i < count; i++)
            printf("%" PRIu64 "\t%s\n", all[i].count, all[i].name);
    }
    return count || read->shard || code == CLI_FAILED ? code : no_sums(read, counts, code);
}

static int add_up(const struct cli_args *args)
{
    struct ct_counts *counts = NULL;
    struct cli_results read = {.args = args, .elf = ELF, .threads = cli_threads(args)};
    const struct cli_watch_places places = {args, AT};
    int code = CLI_FAILED;
    read.part = &args->values[SHARD];
    read.file_why = "a file of saved sums has only those of whole captures";
    if (ct_watch_counts_new(args->ctx, &counts) != CT_OK)
        return cli_library_error(args->ctx);
    read.analysis = ct_counts_analysis(counts);
    if (cli_watch_places_each(&places, count_place, counts) && cli_filter_read(&read.filter, args, false) &&
        cli_programs_new_moved(&read.programs, args, args->values[TARGETS].text))
        code = cli_results_read(&read);
    if (code != CLI_FAILED && !read.kept_nothing)
        code = print_sums(&read, counts, code);
    cli_results_close(&read);
    ct_counts_free(counts);
    return code;
}

/* ---- the whole command ---- */

/* Checks that the format fits the operands, and that there is something to watch. Returns false after a
 * message. */
static bool check(const struct cli_args *args)
{
    const bool sums = args->values[FORMAT].number >= SUMS;
    const struct cli_watch_places places = {args, AT};
    const bool any = cli_watch_places_any(&places);
    bool capture = false;
    for (int i = 0; i < args->rest_count; i++)
        capture |= !cli_results_is_file(ct_watch_counts_kind(), args->rest[i]);
    if (!any && capture)
        cli_usage_error(
            args->command,
            "--at and --list are missing, so there is nothing to watch; give --at PLACE or --list FILE");
    else if (!sums && (args->rest_count > 1 || !capture))
        cli_usage_error(args->command, "events can be printed only for one capture; name one, or use "
                                       "--format sums or data for several and for saved files");
    else
        return true;
    return false;
}

/* Watches all edges. Returns an enum cli_exit. */
static int run_edges(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    const struct cli_edge_options how = {
        .elf = ELF, .binary = v[FORMAT].number == BINARY, .numbers = v[EDGE_NUMBERS].text};
    const struct cli_watch_places places = {args, AT};
    if (v[TARGETS].given || cli_watch_places_any(&places))
        return cli_usage_error(args->command, "--all-edges watches every edge, so it cannot be used with "
                                              "--at, --list or --targets; leave one of them out");
    if (v[FORMAT].number != TSV && !how.binary)
        return cli_usage_error(args->command,
                               "--all-edges works only with --format tsv and binary; choose one of them");
    if (args->rest_count > 1 || cli_results_is_file(NULL, args->rest[0]))
        return cli_usage_error(args->command, "--all-edges works only with one capture; name only one");
    return cli_watch_edges(args, &how);
}

static int run(const struct cli_args *args)
{
    if (args->values[ALL_EDGES].given)
        return run_edges(args);
    if (args->values[EDGE_NUMBERS].given || args->values[FORMAT].number == BINARY)
        return cli_usage_error(args->command, "%s works only with --all-edges; add that, or leave it out",
                               args->values[EDGE_NUMBERS].given ? "--edge-numbers" : "--format binary");
    if (args->values[SHARD].given && args->values[FORMAT].number != DATA)
        return cli_usage_error(args->command,
                               "--shard works only with --format data; add that, or leave --shard out");
    if (!check(args))
        return CLI_FAILED;
    if (args->values[FORMAT].number >= SUMS)
        return add_up(args);
    struct watching w = {
        .streams = {.read = {.args = args, .elf = ELF, .threads = cli_threads(args)},
                    .headings = args->values[FORMAT].number == CT_WATCH_FORMAT_TSV,
                    .user = &w,
                    .opened = prepare,
                    .begin = begin,
                    .heading = heading,
                    .flush = flush},
    };
    const int code = print(&w);
    ct_watch_writer_free(w.writer);
    ct_watcher_free(w.watcher);
    ct_watches_free(w.watches);
    cli_results_close(&w.streams.read);
    return code;
}

const struct cli_command cli_command_watch = {
    .name = "watch",
    .summary = "print an event each time execution reaches a watchpoint",
    .operand = "CAPTURE...",
    .many = true,
    .synopsis = "--at PLACE|--all-edges",
    .about = "Follows the trace along the program and prints one line each time execution reaches one of the "
             "watchpoints: the cycles counted so far, the last timestamp before it, the core, exception "
             "level, context ID and VMID (- if the trace has none), the kind of event, the address, and the "
             "watchpoint as it was given.\nMissing trace (gap, overflow) and missing memory (no-access) have "
             "lines, too, because watchpoints cannot be seen there.\nWith --all-edges every edge that "
             "execution takes from one branch to the next is an event, for other tools: as lines, or in "
             "eight bytes.\nWhen several events lie in one step of the trace, the cycles of the step are "
             "divided among them by the bytes of code before each.\nWith --format sums it adds up how often "
             "each watchpoint was reached, over all streams of all captures. Instead of a capture, coretap "
             "then also accepts a file written by --format data or 'coretap merge'.",
    .examples = "coretap watch --at work capture\n"
                "coretap watch --at main.c:12 --format csv -o visits.csv capture\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL | CLI_USES_SYMBOL_MAPS,
    .run = run,
};
