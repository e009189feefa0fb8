/* SPDX-License-Identifier: Apache-2.0 */
/* coretap ctl: queries a live run, and changes what it does. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/text_file.h"
#include "cli/memory_file.h"
#include "cli/output.h"
#include "coretap/fractal_run.h"
#include "coretap/live.h"

enum {
    HTTP,
    TOKEN,
    CONTROL,
};

static const struct cli_option options[] = {
    [HTTP] = CLI_TEXT_OPTION(
        "http", 0, "[ADDRESS:]PORT",
        "Address of the page that 'coretap live --http' serves. Without ADDRESS: this machine."),
    [TOKEN] = CLI_TEXT_OPTION("token", 0, "TEXT",
                              "Token of the live run. Default: the environment variable CORETAP_TOKEN."),
    [CONTROL] = CLI_TEXT_OPTION(
        "control", 0, "SOCKET",
        "Socket on which 'coretap fractal run --control' takes commands. Used instead of --http."),
};

/* A request being built. */
struct request {
    const struct cli_args *args;
    const char *path;
    struct cli_memory_file file; /* receives what json writes */
    struct ct_json *json;
    char *body;
    size_t size;
};

/* Prints the lines of an answer in printable form. Modifies the answer. */
static void print_lines(FILE *out, char *text, size_t size)
{
    while (size && text[size - 1] == '\n')
        size--;
    for (char *end = text + size; size && text <= end;) {
        char *next = memchr(text, '\n', (size_t)(end - text));
        next = next ? next : end;
        *next = '\0';
        cli_put_printable(out, text);
        fputc('\n', out);
        text = next + 1;
    }
}

/* Sends the request and prints the answer. Returns an enum cli_exit. */
static int ask(struct request *r, const char *method)
{
    const struct cli_value *token = &r->args->values[TOKEN];
    const struct ct_live_request request = {.size = sizeof request,
                                            .address = r->args->values[HTTP].text,
                                            .method = method,
                                            .path = r->path,
                                            .token = token->given ? token->text : getenv("CORETAP_TOKEN"),
                                            .body = r->body,
                                            .body_size = r->size};
    struct ct_live_answer answer;
    if (request.token && !*request.token) {
        cli_say("the token is empty; set --token or CORETAP_TOKEN to the token of the live run, or leave out "
                "both");
        return CLI_FAILED;
    }
    if (ct_live_ask(r->args->ctx, &request, &answer) != CT_OK)
        return cli_library_error(r->args->ctx);
    const bool fine = answer.status == 200;
    if (!fine)
        fputs("coretap: ", stderr);
    print_lines(fine ? stdout : stderr, answer.body, answer.body_size);
    ct_live_answer_free(&answer);
    return fine ? CLI_CLEAN : CLI_FAILED;
}

static bool begin(struct request *r, const char *path)
{
    r->path = path;
    if (!cli_memory_open(&r->file)) {
        cli_no_memory();
        return false;
    }
    r->json = cli_json_open(r->args->ctx, r->file.out, true);
    ct_json_object(r->json, NULL);
    return true;
}

static void give_up(struct request *r)
{
    ct_json_free(r->json);
    free(cli_memory_close(&r->file, &r->size));
}

static int post(struct request *r)
{
    ct_json_object_end(r->json);
    ct_json_free(r->json);
    r->body = cli_memory_close(&r->file, &r->size);
    const int code = r->body ? ask(r, "POST") : CLI_FAILED;
    if (!r->body)
        cli_no_memory();
    free(r->body);
    return code;
}

/* ---- the requests; `words` has NULL at its end ---- */

static void put_words(struct ct_json *json, const char *key, char **words)
{
    ct_json_array(json, key);
    for (; *words; words++)
        ct_json_text(json, NULL, *words);
    ct_json_array_end(json);
}

static int watch(struct request *r, char **words)
{
    const bool add = *words && strcmp(*words, "add") == 0;
    const bool remove = *words && strcmp(*words, "remove") == 0;
    if (!begin(r, "/api/watch"))
        return CLI_FAILED;
    put_words(r->json, add ? "add" : remove ? "remove" : "set", words + (add || remove));
    return post(r);
}

/* Puts the words IN=PLACE into the request. Returns false after a message when a word has another form. */
static bool put_binds(struct request *r, char **words)
{
    ct_json_object(r->json, "bind");
    for (; *words; words++) {
        char *equal = strchr(*words, '=');
        if (!equal || equal == *words) {
            cli_usage_error(r->args->command, "monitor: '%s' does not have the form INPUT=PLACE", *words);
            return false;
        }
        *equal = '\0';
        ct_json_text(r->json, *words, equal + 1);
    }
    ct_json_object_end(r->json);
    return true;
}

static int send_spec(struct request *r, const char *action, char **words)
{
    const char *name = words[0];
    /* NAME FILE: replaces the specification that was added as NAME */
    const bool other = words[1] && !strchr(words[1], '=');
    char *text = cli_read_text(words[other]);
    bool fine = text && begin(r, "/api/monitors");
    if (fine) {
        ct_json_text(r->json, "action", action);
        ct_json_text(r->json, "name", name);
        ct_json_text(r->json, "text", text);
        fine = put_binds(r, words + 1 + other);
        if (!fine)
            give_up(r);
    }
    free(text);
    return fine ? post(r) : CLI_FAILED;
}

static int monitor(struct request *r, char **words)
{
    const char *action = words[0];
    const bool remove = action && strcmp(action, "remove") == 0;
    if (!action || !words[1] || (remove && words[2]) ||
        (!remove && strcmp(action, "add") != 0 && strcmp(action, "replace") != 0))
        return cli_usage_error(r->args->command,
                               "monitor: the arguments must be add [NAME] FILE [INPUT=PLACE]..., replace "
                               "[NAME] FILE [INPUT=PLACE]... or remove NAME");
    if (!remove)
        return send_spec(r, action, words + 1);
    if (!begin(r, "/api/monitors"))
        return CLI_FAILED;
    ct_json_text(r->json, "action", "remove");
    ct_json_text(r->json, "name", words[1]);
    return post(r);
}

/* Puts the parts of a list such as "10,11" into the request, as texts or as numbers. */
static void put_parts(struct ct_json *json, const char *key, char *list, bool numbers)
{
    char *save = NULL;
    ct_json_array(json, key);
    for (char *part = strtok_r(list, ",", &save); part; part = strtok_r(NULL, ",", &save))
        if (numbers)
            ct_json_number(json, NULL, strtoull(part, NULL, 10));
        else
            ct_json_text(json, NULL, part);
    ct_json_array_end(json);
}

static int filter(struct request *r, char **words)
{
    static const struct {
        const char *word, *key;
    } keys[] = {{"id=", "ids"}, {"context=", "contexts"}, {"el=", "levels"}};
    const size_t count = sizeof keys / sizeof *keys;
    if (!begin(r, "/api/filter"))
        return CLI_FAILED;
    for (; *words; words++) {
        size_t i = 0;
        while (i < count && strncmp(*words, keys[i].word, strlen(keys[i].word)) != 0)
            i++;
        if (i == count) {
            give_up(r);
            return cli_usage_error(r->args->command,
                                   "filter: '%s' does not have the form id=HEX,…, context=HEX,… or el=N,…",
                                   *words);
        }
        put_parts(r->json, keys[i].key, *words + strlen(keys[i].word), i == 2);
    }
    return post(r);
}

static int status(struct request *r, char **words)
{
    if (*words)
        return cli_usage_error(r->args->command,
                               "status: '%s' is not expected here, because status has no arguments", *words);
    r->path = "/api/status";
    return ask(r, "GET");
}

/* Writes a text encoded for the query of a URL. */
static void put_query(FILE *file, const char *text)
{
    for (; *text; text++)
        if (isalnum((unsigned char)*text) || strchr("-._~/", *text))
            fputc(*text, file);
        else
            fprintf(file, "%%%02X", (unsigned char)*text);
}

static int outputs(struct request *r, char **words)
{
    const bool csv = *words && strcmp(*words, "csv") == 0;
    const bool json = *words && strcmp(*words, "jsonl") == 0;
    const char *name = csv || json ? words[1] : words[0];
    if (name && words[csv || json ? 2 : 1])
        return cli_usage_error(r->args->command, "outputs: the arguments must be [csv|jsonl] [NAME]");
    struct cli_memory_file path;
    char *text = NULL;
    size_t size;
    if (cli_memory_open(&path)) {
        fprintf(path.out, "/api/outputs?format=%s%s", csv ? "csv" : "jsonl", name ? "&name=" : "");
        put_query(path.out, name ? name : "");
        text = cli_memory_close(&path, &size);
    }
    if (!text)
        cli_no_memory();
    r->path = text;
    const int code = text ? ask(r, "GET") : CLI_FAILED;
    free(text);
    return code;
}

static int stop(struct request *r, char **words)
{
    if (*words)
        return cli_usage_error(r->args->command,
                               "stop: '%s' is not expected here, because stop has no arguments", *words);
    return begin(r, "/api/stop") ? post(r) : CLI_FAILED;
}

static const struct {
    const char *name;
    int (*run)(struct request *request, char **words);
} actions[] = {{"status", status},   {"outputs", outputs}, {"watch", watch},
               {"monitor", monitor}, {"filter", filter},   {"stop", stop}};

/* Sends the words as one command to a run of FRACTAL, and prints the answer. Returns an enum cli_exit. */
static int steer(const struct cli_args *args)
{
    struct cli_memory_file line;
    size_t size;
    char *answer = NULL;
    if (!args->rest_count)
        return cli_usage_error(args->command,
                               "ACTION is missing; give range, section, symbol, point, process or status");
    char *command = NULL;
    if (cli_memory_open(&line)) {
        for (int i = 0; i < args->rest_count; i++)
            fprintf(line.out, "%s%s", i ? " " : "", args->rest[i]);
        command = cli_memory_close(&line, &size);
    }
    if (!command) {
        cli_no_memory();
        return CLI_FAILED;
    }
    const int rc = ct_fractal_control_ask(args->ctx, args->values[CONTROL].text, command, &answer);
    if (rc == CT_OK && *answer)
        print_lines(stdout, answer, strlen(answer));
    free(command);
    free(answer);
    return rc == CT_OK ? CLI_CLEAN : cli_library_error(args->ctx);
}

static int run(const struct cli_args *args)
{
    struct request r = {.args = args};
    if (args->values[CONTROL].given)
        return steer(args);
    if (!args->values[HTTP].given)
        return cli_usage_error(args->command,
                               "--http and --control are missing, so the run is not known; give one of them");
    if (!args->rest_count)
        return cli_usage_error(args->command,
                               "ACTION is missing; give status, outputs, watch, monitor, filter or stop");
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(args->rest[0], actions[i].name) == 0)
            return actions[i].run(&r, args->rest + 1);
    return cli_usage_error(args->command,
                           "'%s' is not an action; use status, outputs, watch, monitor, filter or stop",
                           args->rest[0]);
}

const struct cli_command cli_command_ctl = {
    .name = "ctl",
    .summary = "query a live run, and change its watchpoints, specifications and filter",
    .rest = "ACTION [ARGUMENT]...",
    .synopsis = "--http [ADDRESS:]PORT|--control SOCKET",
    .examples = "coretap ctl --http 8080 status\n"
                "coretap ctl --http 8080 watch add work\n"
                "coretap ctl --http 8080 stop\n",
    .exit_text = "0: done. 2: wrong usage, the run does not answer, or it cannot carry out the command; a "
                 "message says which.",
    .about =
        "Sends one command to a running 'coretap live --http'. A change takes effect between two chunks of "
        "the input: no trace is lost, and everything that the command does not name continues.\nstatus: "
        "print the current results.\noutputs [csv|jsonl] [NAME]: print the last results (up to 64) of each "
        "specification, or of the one called NAME, one a line.\nwatch [PLACE]...: replace all watchpoints by "
        "these. watch add PLACE..., watch remove PLACE...: add or remove watchpoints. A watchpoint that "
        "stays keeps its count.\nmonitor add FILE [INPUT=PLACE]...: add a specification, named FILE; it "
        "starts as if the trace started now. monitor replace [NAME] FILE [INPUT=PLACE]...: replace the "
        "specification of that name. monitor remove NAME: remove it.\nfilter [id=HEX,...] [context=HEX,...] "
        "[el=N,...]: count and check only events of watchpoints with these trace IDs, context IDs and "
        "exception levels. Losses always count. Trace that the filter excludes is not followed, unless "
        "coverage or times are collected. Without arguments the filter accepts everything.\nstop: end the "
        "live run as at the end of its input; it writes its reports.\nWith --control, coretap talks to a "
        "'coretap fractal run --control' while its program runs:\nrange|section|symbol|point add|remove "
        "[P:]PLACE: as the options of 'coretap fractal run'. process add|remove N: trace another process, or "
        "stop tracing it; 0 is the program, 1 and up are those of --with. status: print the current "
        "selection. A command takes effect between two accesses. Nothing is lost of what stays selected, and "
        "the log records when each command was given.",
    .whole = "the action filter (filter id=HEX context=HEX el=N) chooses which events of a live run count",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
