/* SPDX-License-Identifier: Apache-2.0 */
/* coretap watch: what comes by watchpoints, as events. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/passes.h"
#include "cli/programs.h"
#include "cli/text_file.h"
#include "format/watch_text.h"

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
    struct cli_passes passes;
    struct ct_programs *programs;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_watch_text text;
    bool told_head;
    bool any; /* something came by */
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
        if (count)
            cli_passes_heading(&w->passes);
        w->any |= count > 0;
        for (size_t i = 0; i < count; i++)
            ct_watch_line(&w->text, &w->batch[i]);
    } while (!rc && more);
    return rc ? rc : w->passes.text.failed ? CT_ERR_IO : CT_OK;
}

static int on_bytes(void *user, uint64_t bytes)
{
    struct watching *w = user;
    return cli_passes_bytes(&w->passes, bytes);
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct watching *w = passes->user;
    const struct cli_args *args = passes->capture.args;
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    sink->bytes = on_bytes;
    w->text.buffer = passes->buffer->name;
    w->text.source = cli_passes_source(passes);
    w->text.id = passes->id;
    w->text.out = &passes->text;
    if (!w->told_head)
        ct_watch_head(&w->text);
    w->told_head = true;
    return ct_watcher_new(args->ctx, w->watches, &w->watcher) == CT_OK ? CLI_CLEAN
                                                                       : cli_library_error(args->ctx);
}

static void end(struct cli_passes *passes)
{
    struct watching *w = passes->user;
    ct_watcher_free(w->watcher);
    w->watcher = NULL;
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

static bool prepare(struct watching *w, const struct cli_args *args)
{
    /* Losses are always told: without them nobody knows what was not seen. */
    static const char *const always[] = {"gap", "overflow", "no-access"};
    bool fine = cli_programs_describe(&w->programs, args, ELF, args->values[TARGETS].text);
    if (fine && ct_watches_new(args->ctx, w->programs, &w->watches) != CT_OK) {
        cli_library_error(args->ctx);
        fine = false;
    }
    for (size_t i = 0; fine && i < args->list_count; i++)
        fine = args->list[i].option != AT || add(w, args, args->list[i].text);
    if (fine && args->values[LIST].given)
        fine = add_list(w, args, args->values[LIST].text);
    for (size_t i = 0; fine && i < sizeof always / sizeof *always; i++)
        fine = add(w, args, always[i]);
    return fine;
}

static int run(const struct cli_args *args)
{
    struct watching w = {0};
    bool any = args->values[LIST].given;
    for (size_t i = 0; i < args->list_count; i++)
        any |= args->list[i].option == AT;
    if (!any)
        return cli_usage_error(args->command, "watch what? give --at PLACE or --list FILE");
    w.text.format = (enum ct_watch_format)args->values[FORMAT].number;
    w.passes.headings = w.text.format == CT_WATCH_TSV;
    w.passes.user = &w;
    w.passes.begin = begin;
    w.passes.end = end;
    int code = CLI_FAILED;
    if (prepare(&w, args)) {
        w.text.watches = w.watches;
        w.passes.programs = w.programs;
        code = cli_passes_run(&w.passes, args);
        if (!w.any && !w.passes.kept_nothing)
            code = cli_ran_but_empty(&w.passes.ran, args, code, "the list of events is",
                                     "execution came by none of the watchpoints",
                                     "'coretap cover --functions' shows what ran");
        if (!w.any && code == CLI_CLEAN && w.passes.capture.seen.has_trace && !args->quiet)
            cli_say("%s: nothing was executed in the trace, so there are no events", args->operand);
    }
    ct_watcher_free(w.watcher);
    ct_watches_free(w.watches);
    ct_programs_free(w.programs);
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
