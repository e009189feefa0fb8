/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch: what comes by watchpoints, as events. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/streams.h"
#include "cli/text_file.h"
#include "coretap/format.h"

enum {
    AT = CLI_CAPTURE_OPTIONS,
    LIST,
    ELF,
    TARGETS,
    FORMAT,
    THREADS,
    FILTER,
    OPTIONS = FILTER + CLI_FILTER_ROWS,
};

static const char *const formats[] = {"tsv", "jsonl", "csv", NULL};

static const struct cli_option options[OPTIONS] = {
    CLI_CAPTURE_TABLE,
    [AT] =
        {.name = "at",
         .letter = 'a',
         .kind = CLI_LIST,
         .arg = "PLACE",
         .help =
             "What to watch: a line (main.c:32), a function (main: its entries and returns; entry:main, "
             "return:main), the instruction at an address (0x4010, main+0x10), an edge (edge:17, as 'coretap "
             "graph' numbers them), exception, exception:NUMBER, exception-return, context."},
    [LIST] = {.name = "list",
              .kind = CLI_TEXT,
              .arg = "FILE",
              .help = "Places, one a line; what is behind # is a comment."},
    [ELF] = CLI_ELF_FILES,
    [TARGETS] = {.name = "targets",
                 .kind = CLI_TEXT,
                 .arg = "FILE",
                 .help = "For edges: targets of computed branches, as for 'coretap graph'."},
    [FORMAT] = {.name = "format",
                .letter = 'f',
                .kind = CLI_CHOICE,
                .choices = formats,
                .help = "tsv, jsonl or csv; csv and jsonl also have the buffer and the trace ID."},
    [THREADS] = CLI_THREADS_OPTION,
    [FILTER] = CLI_FILTER_TABLE,
};

#define BATCH 1024

struct watching {
    struct cli_streams streams;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_watch_writer *writer;
    struct ct_event_origin origin; /* of the stream that is read */
    bool any;                      /* something came by */
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

/* ---- what is to be watched ---- */

static bool add(struct watching *w, const struct cli_args *args, const char *spec)
{
    if (ct_watches_add(w->watches, spec, NULL, NULL) == CT_OK)
        return true;
    cli_library_error(args->ctx);
    return false;
}

static bool add_list(struct watching *w, const struct cli_args *args, const char *path)
{
    char *text = cli_read_text(path);
    char *save = NULL;
    bool fine = text != NULL;
    for (char *line = fine ? strtok_r(text, "\n", &save) : NULL; fine && line;
         line = strtok_r(NULL, "\n", &save)) {
        line[strcspn(line, "#\r")] = '\0';
        line += strspn(line, " \t");
        size_t length = strlen(line);
        while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            line[--length] = '\0';
        fine = !length || add(w, args, line);
    }
    free(text);
    return fine;
}

/* ---- how it is printed ---- */

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

/* The programs of the capture are known. */
static bool prepare(void *user)
{
    /* Losses are always told: without them nobody knows what was not seen. */
    static const char *const always[] = {"gap", "overflow", "no-access"};
    struct watching *w = user;
    const struct cli_args *args = w->streams.read.args;
    bool fine = ct_watches_new(args->ctx, w->streams.read.programs, &w->watches) == CT_OK;
    if (!fine)
        cli_library_error(args->ctx);
    for (size_t i = 0; fine && i < args->list_count; i++)
        fine = args->list[i].option != AT || add(w, args, args->list[i].text);
    if (fine && args->values[LIST].given)
        fine = add_list(w, args, args->values[LIST].text);
    for (size_t i = 0; fine && i < sizeof always / sizeof *always; i++)
        fine = add(w, args, always[i]);
    return fine && open_writer(w);
}

static int print(struct watching *w)
{
    struct cli_results *read = &w->streams.read;
    const struct cli_args *args = read->args;
    if (!cli_filter_read(&read->filter, args, false) ||
        !cli_programs_new_moved(&read->programs, args, args->values[TARGETS].text))
        return CLI_FAILED;
    int code = cli_streams_run(&w->streams);
    if (!w->any && !read->kept_nothing)
        code = cli_ran_but_empty(&read->ran, args, code, "the list of events is",
                                 "execution came by none of the watchpoints",
                                 "'coretap cover --functions' shows what ran");
    if (!w->any && code == CLI_CLEAN && read->capture.seen.has_trace && !args->quiet)
        cli_say("%s: nothing was executed in the trace, so there are no events", args->operand);
    return code;
}

static int run(const struct cli_args *args)
{
    bool any = args->values[LIST].given;
    for (size_t i = 0; i < args->list_count; i++)
        any |= args->list[i].option == AT;
    if (!any)
        return cli_usage_error(args->command, "watch what? give --at PLACE or --list FILE");
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
    .summary = "print an event each time execution comes by a watchpoint",
    .operand = "CAPTURE",
    .synopsis = "--at PLACE",
    .about =
        "Follows the trace along the program and prints one line for each time that execution comes by one "
        "of the "
        "watchpoints: the cycles counted so far, the last timestamp before it, the core, exception level, "
        "context ID "
        "and VMID (- where the trace has none), what happened, where, the watchpoint as it was named.\n"
        "Where trace is missing (gap, overflow) or a program is not known (no-access) there are lines too, "
        "because "
        "what happened there is not seen.\n"
        "Events inside a step of the trace get their part of its cycles by the bytes of code before them.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
