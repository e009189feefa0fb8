/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/spec_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results.h"
#include "coretap/verify.h"

#define BATCH 1024

struct measuring {
    struct cli_results read;
    struct ct_watches *watches;
    struct ct_watcher *watcher;
    struct ct_verifier *verifier;
    struct ct_monitor_spec *spec;
    struct cli_spec_ways *ways;
    struct ct_watch_event batch[BATCH];
};

/* ---- measuring ---- */

static void on_result(void *user, const struct ct_verify_result *result)
{
    struct measuring *m = user;
    struct cli_spec_way *way = &m->ways->all[result->output];
    const uint64_t took = strtoull(result->value, NULL, 10);
    if (result->uncertain) /* the end may belong to a start that is missing */
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
    int rc, more;
    (void)stream;
    m->ways->timed |= batch->cycles != NULL;
    do {
        rc = ct_watcher_run(m->watcher, batch, m->batch, BATCH, &count, &more);
        const int fed = ct_verifier_feed(m->verifier, m->batch, count);
        rc = fed ? fed : rc;
    } while (!rc && more);
    return rc;
}

static void forget(struct measuring *m)
{
    ct_watcher_free(m->watcher);
    ct_verifier_free(m->verifier);
    ct_watches_free(m->watches);
    m->watcher = NULL;
    m->verifier = NULL;
    m->watches = NULL;
}

/* Reports the first place that is not in the programs, as the user wrote it. A message of the verifier would
 * show the measuring specification, which the user has not seen. */
static void tell_missing(const struct measuring *m)
{
    struct ct_ctx *ctx = m->read.args->ctx;
    struct ct_watches *watches = NULL;
    struct ct_monitor_stream input;
    char place[500];
    uint32_t first, count;
    int rc = ct_watches_new(ctx, m->read.programs, &watches);
    for (size_t i = 0; !rc && ct_monitor_input(m->spec, i, &input) == CT_OK; i++)
        if (ct_verify_input_place(&input, place, sizeof place) == CT_OK)
            rc = ct_watches_add(watches, place, &first, &count);
    ct_watches_free(watches);
    cli_library_error(ctx);
}

/* Makes a verifier for another capture, with places in its programs. Returns false after a message. */
static bool open_verifier(void *user)
{
    static const struct ct_verify_options o = {.size = sizeof o};
    struct measuring *m = user;
    struct ct_ctx *ctx = m->read.args->ctx;
    forget(m);
    const bool fine = ct_watches_new(ctx, m->read.programs, &m->watches) == CT_OK &&
                      ct_verifier_new(ctx, &o, m->watches, &m->verifier) == CT_OK &&
                      ct_verifier_add(m->verifier, m->spec, "measured", NULL, 0) == CT_OK;
    if (!fine)
        tell_missing(m);
    return fine;
}

static int begin(void *user, struct ct_session_turn *turn)
{
    struct measuring *m = user;
    turn->level = CT_LEVEL_STEPS;
    turn->sink.steps = on_steps;
    ct_watcher_free(m->watcher);
    m->watcher = NULL;
    const int rc = ct_watcher_new(m->read.args->ctx, m->watches, &m->watcher);
    return rc ? rc : ct_verifier_begin(m->verifier, on_result, m);
}

static int end(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    const struct measuring *m = user;
    (void)buffer;
    (void)chain;
    return ct_verifier_finish(m->verifier);
}

/* ---- places and names ---- */

/* Writes a call of `function` with a text in quotes, in TeSSLa's syntax, into `room`. Returns a size as
 * snprintf does. */
static int call_of(const char *function, const char *text, char *room, size_t size)
{
    size_t n = (size_t)snprintf(room, size, "%s(\"", function);
    for (; *text && n + 5 < size; text++) {
        if (strchr("\"\\$%", *text))
            room[n++] = '\\';
        room[n++] = *text;
    }
    return *text ? (int)size : (int)(n + (size_t)snprintf(room + n, size - n, "\")"));
}

/* Writes a place as a source of the watchpoint dialect into `room`. Returns false when the place is none. */
static bool source_of(const char *place, char *room, size_t size)
{
    const char *colon = strrchr(place, ':');
    int n = -1;
    if (strncmp(place, "entry:", 6) == 0)
        n = call_of("function_call", place + 6, room, size);
    else if (strncmp(place, "return:", 7) == 0)
        n = call_of("function_return", place + 7, room, size);
    else if (strncmp(place, "0x", 2) == 0 && strspn(place + 2, "0123456789abcdefABCDEF") == strlen(place + 2))
        n = snprintf(room, size, "onExecuting %s", place);
    else if (colon && colon[1] && strspn(colon + 1, "0123456789") == strlen(colon + 1))
        n = call_of("codeLine", place, room, size);
    return n > 0 && (size_t)n < size;
}

static bool is_taken(const struct cli_spec_ways *ways, const char *name)
{
    for (size_t i = 0; i < ways->count; i++)
        if (strcmp(ways->all[i].name, name) == 0)
            return true;
    return false;
}

/* Makes a TeSSLa identifier from the beginning of a name, different from earlier ones. */
static void make_name(const struct cli_spec_ways *ways, const char *name, char word[SPEC_NAME])
{
    const size_t size = strnlen(name, SPEC_NAME - 1);
    for (size_t i = 0; i <= size; i++) {
        const char c = i < size ? name[i] : '\0';
        const bool fits =
            !c || c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        word[i] = fits ? c : '_';
    }
    /* appends a number, which replaces the end of a long word */
    for (unsigned k = 2; is_taken(ways, word); k++)
        snprintf(word + (size < SPEC_NAME - 5 ? size : SPEC_NAME - 5), 5, "_%u", k);
}

static bool add_way(struct cli_spec_ways *ways, const char *name, const char *from, const char *to)
{
    char start[1024], stop[1024]; /* twice the longest place, in case all of it is escaped */
    struct cli_spec_way *way = &ways->all[ways->count];
    if (!source_of(from, start, sizeof start) || !source_of(to, stop, sizeof stop)) {
        cli_say("'%s' to '%s': each place must have the form FILE:LINE, 0xADDRESS, entry:NAME or return:NAME",
                from, to);
        return false;
    }
    if (ways->count == SPEC_WAYS) {
        cli_say("more than %d functions and pairs are given; split them into several specifications",
                SPEC_WAYS);
        return false;
    }
    make_name(ways, name, way->name);
    ways->count++;
    ways->size +=
        (size_t)snprintf(ways->text + ways->size, sizeof ways->text - ways->size,
                         "define %s_start := %s\ndefine %s_end := %s\n", way->name, start, way->name, stop);
    return true;
}

bool cli_spec_add_function(struct cli_spec_ways *ways, const char *name)
{
    char from[500], to[500];
    if (strlen(name) > SPEC_FUNCTION) {
        cli_say("function '%.60s...': its name is longer than %d bytes, which a specification cannot "
                "contain; use --pair",
                name, SPEC_FUNCTION);
        return false;
    }
    snprintf(from, sizeof from, "entry:%s", name);
    snprintf(to, sizeof to, "return:%s", name);
    return add_way(ways, name, from, to);
}

bool cli_spec_add_pair(struct cli_spec_ways *ways, const char *text)
{
    char from[500], name[32];
    const size_t size = strcspn(text, " ");
    const char *to = text + size + strspn(text + size, " ");
    if (!size || !*to || size >= sizeof from || strlen(to) >= sizeof from) {
        cli_say("--pair '%s': this is not two places separated by a space; write 'FROM TO'", text);
        return false;
    }
    memcpy(from, text, size);
    from[size] = '\0';
    snprintf(name, sizeof name, "way%zu", ways->count + 1);
    return add_way(ways, name, from, to);
}

/* Compiles the specification that measures the time of each interval. */
static int compile(struct measuring *m, struct ct_ctx *ctx)
{
    static char text[2 * SPEC_TEXT];
    const struct ct_monitor_options o = {.size = sizeof o, .dialect = CT_MONITOR_WATCHPOINT, .no_include = 1};
    size_t size = (size_t)snprintf(text, sizeof text, "%s", m->ways->text);
    for (size_t i = 0; i < m->ways->count; i++) {
        const char *name = m->ways->all[i].name;
        size += (size_t)snprintf(text + size, sizeof text - size,
                                 "define %s_took := duration(%s_start, %s_end)\nout %s_took\n", name, name,
                                 name, name);
    }
    return ct_monitor_compile(ctx, "measured", text, size, &o, &m->spec);
}

int cli_spec_measure(struct cli_spec_ways *ways, const struct cli_args *args, size_t elf)
{
    struct measuring *m = calloc(1, sizeof *m);
    int code = CLI_FAILED;
    if (!m) {
        cli_no_memory();
        return CLI_FAILED;
    }
    m->ways = ways;
    m->read = (struct cli_results){.args = args,
                                   .elf = elf,
                                   .threads = cli_threads(args),
                                   .user = m,
                                   .opened = open_verifier,
                                   .begin = begin,
                                   .decoded = end};
    if (compile(m, args->ctx) != CT_OK)
        cli_library_error(args->ctx);
    else if (cli_filter_read(&m->read.filter, args, false) &&
             cli_programs_new_moved(&m->read.programs, args, NULL))
        code = cli_results_read(&m->read);
    ways->ran = m->read.ran;
    ways->kept_nothing = m->read.kept_nothing;
    forget(m);
    ct_monitor_spec_free(m->spec);
    cli_results_close(&m->read);
    free(m);
    return code;
}
