/* coretap spec: writes specifications from what was measured (paper 2, continuous validation of timing). The times are measured
 * by a specification, too, so that those which are written down mean the same. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/elf_files.h"
#include "cli/passes.h"
#include "coretap/verify.h"

enum {
    TIMING = CLI_CAPTURE_OPTIONS,
    ELF,
    FUNCTION,
    PAIR,
    MARGIN,
};

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [TIMING] = {.name = "timing",
                .kind = CLI_FLAG,
                .help = "Least and greatest times of --function and --pair; there is nothing else yet."},
    [ELF] = CLI_ELF_FILES,
    [FUNCTION] = {.name = "function",
                  .kind = CLI_LIST,
                  .arg = "NAME",
                  .help = "Time from the call of this function to its return. Can be given more than once."},
    [PAIR] = {.name = "pair",
              .letter = 'p',
              .kind = CLI_LIST,
              .arg = "\"FROM TO\"",
              .help = "Time from one place to another: FILE:LINE, 0xADDRESS, entry:NAME or return:NAME, with "
                      "a space between. Can be given more than once."},
    [MARGIN] = {.name = "margin",
                .kind = CLI_TEXT,
                .arg = "PERCENT",
                .help = "How far beyond what was measured is still allowed, 0 to 1000, as 5 or 5%; 5 without "
                        "this option."},
};

#define BATCH 1024

enum {
    NAME_MAX_SIZE = 80,
    MARGIN_MAX = 1000, /* percent */
    TEXT_MAX = CLI_LIST_MAX * 1400
};

/* One way that is measured. */
struct way {
    char name[NAME_MAX_SIZE];
    uint64_t count, least, most;
};

struct measuring {
    struct cli_passes passes;
    struct cli_elfs programs;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct ct_monitor_spec *spec;
    struct way ways[CLI_LIST_MAX];
    size_t way_count;
    bool failed;
    struct ct_watch_event batch[BATCH];
    char text[TEXT_MAX]; /* definitions of the ends of all ways */
    size_t size;
};

/* ---- measuring ---- */

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct measuring *m = user;
    struct way *way = &m->ways[result->output];
    const uint64_t took = strtoull(result->value, NULL, 10);
    if (result->uncertain) /* an end may belong to a start that is missing */
        return;
    if (!way->count || took < way->least)
        way->least = took;
    if (took > way->most)
        way->most = took;
    way->count++;
}

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct measuring *m = user;
    size_t count;
    int rc;
    (void)stream;
    do {
        rc = ct_watcher_run(m->watcher, batch, m->batch, BATCH, &count);
        const int fed = ct_verifier_feed(m->verifier, m->batch, count);
        rc = fed ? fed : rc;
    } while (rc == 0);
    return rc < 0 ? rc : 0;
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct measuring *m = passes->user;
    struct ct_ctx *ctx = passes->capture.args->ctx;
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    const bool fine = ct_watcher_new(ctx, m->watches, &m->watcher) == CT_OK &&
                      ct_verifier_start(m->verifier, on_result, m) == CT_OK;
    return fine ? CLI_CLEAN : cli_library_error(ctx);
}

static void end(struct cli_passes *passes)
{
    struct measuring *m = passes->user;
    if (ct_verifier_finish(m->verifier) != CT_OK) {
        m->failed = true;
        cli_library_error(passes->capture.args->ctx);
    }
    ct_watcher_free(m->watcher);
    m->watcher = NULL;
}

/* ---- what is measured ---- */

/* The source that a place is in the watchpoint dialect, in `room`. False: none. */
static bool source_of(const char *place, char *room, size_t size)
{
    const char *colon = strrchr(place, ':');
    int n = -1;
    if (strchr(place, '"') || strchr(place, '\\'))
        return false;
    if (strncmp(place, "entry:", 6) == 0)
        n = snprintf(room, size, "function_call(\"%s\")", place + 6);
    else if (strncmp(place, "return:", 7) == 0)
        n = snprintf(room, size, "function_return(\"%s\")", place + 7);
    else if (strncmp(place, "0x", 2) == 0 && strspn(place + 2, "0123456789abcdefABCDEF") == strlen(place + 2))
        n = snprintf(room, size, "onExecuting %s", place);
    else if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))
        n = snprintf(room, size, "codeLine(\"%s\")", place);
    return n > 0 && (size_t)n < size;
}

static bool add_way(struct measuring *m, const char *name, const char *from, const char *to)
{
    char start[600], stop[600];
    struct way *way = &m->ways[m->way_count];
    if (!source_of(from, start, sizeof start) || !source_of(to, stop, sizeof stop)) {
        cli_say("'%s' to '%s': a place is FILE:LINE, 0xADDRESS, entry:NAME or return:NAME", from, to);
        return false;
    }
    const size_t size = strlen(name);
    if (size >= sizeof way->name) {
        cli_say("function '%s': a name of at most %d characters can be in a specification; use --pair", name,
                NAME_MAX_SIZE - 1);
        return false;
    }
    for (size_t i = 0; i <= size; i++) {
        const char c = name[i];
        const bool word =
            !c || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        way->name[i] = word ? c : '_';
    }
    m->way_count++;
    m->size +=
        (size_t)snprintf(m->text + m->size, sizeof m->text - m->size,
                         "define %s_start := %s\ndefine %s_end := %s\n", way->name, start, way->name, stop);
    return true;
}

static bool add_function(struct measuring *m, const char *name)
{
    char from[500], to[500];
    if (strlen(name) > 400)
        return add_way(m, name, name, name); /* which says that it is too long */
    snprintf(from, sizeof from, "entry:%s", name);
    snprintf(to, sizeof to, "return:%s", name);
    return add_way(m, name, from, to);
}

static bool add_pair(struct measuring *m, const char *text)
{
    char from[500], name[32];
    const size_t size = strcspn(text, " ");
    const char *to = text + size + strspn(text + size, " ");
    if (!size || !*to || size >= sizeof from || strlen(to) >= sizeof from) {
        cli_say("--pair '%s': two places with a space between are expected", text);
        return false;
    }
    memcpy(from, text, size);
    from[size] = '\0';
    snprintf(name, sizeof name, "way%zu", m->way_count + 1);
    return add_way(m, name, from, to);
}

static bool add_ways(struct measuring *m, const struct cli_args *args)
{
    bool fine = true;
    for (size_t i = 0; fine && i < args->list_count; i++) {
        if (args->list[i].option == FUNCTION)
            fine = add_function(m, args->list[i].text);
        else if (args->list[i].option == PAIR)
            fine = add_pair(m, args->list[i].text);
    }
    return fine;
}

/* The specification that measures: the time of each way. */
static int compile(struct measuring *m, struct ct_ctx *ctx)
{
    static char text[2 * TEXT_MAX];
    const struct ct_monitor_options o = {.size = sizeof o, .dialect = CT_MONITOR_WATCHPOINT, .no_include = 1};
    size_t size = (size_t)snprintf(text, sizeof text, "%s", m->text);
    for (size_t i = 0; i < m->way_count; i++) {
        const char *name = m->ways[i].name;
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "define %s_took := duration(%s_start, %s_end)\nout %s_took\n", name, name,
                                 name, name);
    }
    return ct_monitor_compile(ctx, "measured", text, size, &o, &m->spec);
}

static bool prepare(struct measuring *m, const struct cli_args *args)
{
    const struct ct_verify_options o = {.size = sizeof o};
    if (!add_ways(m, args) || !cli_elfs_load(&m->programs, args, ELF, CLI_ELF_SYMBOLS | CLI_ELF_LINES))
        return false;
    bool fine = ct_watches_new(args->ctx, &m->watches) == CT_OK;
    for (size_t i = 0; fine && i < m->programs.count; i++) {
        const struct ct_watch_program program = {m->programs.all[i].symbols, m->programs.all[i].lines, NULL};
        fine = ct_watches_add_program(m->watches, &program) == CT_OK;
    }
    fine = fine && compile(m, args->ctx) == CT_OK &&
           ct_verifier_new(args->ctx, &o, m->watches, &m->verifier) == CT_OK &&
           ct_verifier_add(m->verifier, m->spec, "measured", NULL, 0) == CT_OK;
    if (!fine)
        cli_library_error(args->ctx);
    return fine;
}

/* ---- the specification ---- */

/* An interval that inPast looks back on does not hold its far end: what was measured is allowed when the bound is one
 * tick larger. */
static void print_way(const struct way *w, uint64_t percent)
{
    const char *name = w->name;
    const unsigned __int128 less = (unsigned __int128)w->least * (percent < 100 ? 100 - percent : 0) / 100;
    const unsigned __int128 more = ((unsigned __int128)w->most * (100 + percent) + 99) / 100 + 1;
    const uint64_t low = (uint64_t)less;
    const uint64_t high = more > INT64_MAX ? (uint64_t)INT64_MAX : (uint64_t)more;
    if (!w->count) {
        printf("\n-- %s: never seen from start to end\n", name);
        return;
    }
    printf("\n-- %s: seen %" PRIu64 " times, %" PRIu64 " to %" PRIu64 " cycles\n", name, w->count, w->least,
           w->most);
    if (low)
        printf("define %s_min_violation := on %s_end if inPast(%s_start, %" PRIu64
               ")\nout %s_min_violation\n",
               name, name, name, low, name);
    printf(
        "define %s_max_violation := on %s_end if eventCount(%s_start) > 0 and not inPast(%s_start, %" PRIu64
        ")\nout %s_max_violation\n",
        name, name, name, name, high, name);
}

static void print_spec(const struct measuring *m, const struct cli_args *args, uint64_t percent)
{
    printf("-- Times from one place to the next, as measured, and %" PRIu64 " %% beyond.\n"
           "-- Times are cycles: coretap monitor --spec THIS --elf PROGRAM CAPTURE\n%s",
           percent, m->text);
    for (size_t i = 0; i < m->way_count; i++) {
        print_way(&m->ways[i], percent);
        if (!m->ways[i].count && !args->quiet)
            cli_say("%s: never seen from start to end; it is not in the specification", m->ways[i].name);
    }
}

/* A margin is digits with or without a percent sign. False: it is not. */
static bool read_margin(const char *text, uint64_t *percent)
{
    const size_t digits = strspn(text, "0123456789");
    if (!digits || digits > 4 || (text[digits] && strcmp(text + digits, "%") != 0))
        return false;
    *percent = strtoull(text, NULL, 10);
    return *percent <= MARGIN_MAX;
}

static int run(const struct cli_args *args)
{
    static struct measuring m;
    const struct cli_value *margin = &args->values[MARGIN];
    uint64_t percent = 5;
    bool wanted = false;
    for (size_t i = 0; i < args->list_count; i++)
        wanted |= args->list[i].option == FUNCTION || args->list[i].option == PAIR;
    if (margin->given && !read_margin(margin->text, &percent))
        return cli_usage_error(args->command, "--margin %s: is not a number from 0 to %d, with or without %%",
                               margin->text, MARGIN_MAX);
    if (!args->values[TIMING].given || !wanted)
        return cli_usage_error(args->command,
                               "a specification of what? give --timing, and --function or --pair");
    m.passes.user = &m;
    m.passes.begin = begin;
    m.passes.end = end;
    int code = CLI_FAILED;
    if (prepare(&m, args)) {
        code = cli_passes_run(&m.passes, args);
        if (m.failed)
            code = CLI_FAILED;
        if (code != CLI_FAILED)
            print_spec(&m, args, percent);
    }
    ct_verifier_free(m.verifier);
    ct_monitor_spec_free(m.spec);
    ct_watches_free(m.watches);
    cli_elfs_free(&m.programs);
    return code;
}

const struct cli_command cli_command_spec = {
    .name = "spec",
    .summary = "write a specification of measured times",
    .operand = "CAPTURE",
    .synopsis = "--timing",
    .about = "Measures how many cycles execution takes from the call of a function to its return, or from "
             "one place to another, and prints a specification in TeSSLa for 'coretap monitor': an event of "
             "an output NAME_min_violation or NAME_max_violation is a time that lies outside of what was "
             "measured and the margin. An end belongs to the last start before it. What lies behind lost "
             "trace does not count.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
