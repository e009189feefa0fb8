/* SPDX-License-Identifier: Apache-2.0 */
/* coretap graph: the control flow of a program. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/results.h"
#include "coretap/learn.h"
#include "coretap/format.h"

enum {
    ELF = CLI_CAPTURE_OPTIONS,
    FORMAT,
    FUNCTION,
    TARGETS,
    LEARN,
    THREADS,
};

static const char *const formats[] = {"text", "dot", "json", "learnt", NULL}; /* enum ct_cfg_format */

static const struct cli_option options[] = {
    CLI_CAPTURE_TABLE,
    [ELF] = CLI_TEXT_OPTION("elf", 'E', "FILE", "The linked program."),
    [FORMAT] = CLI_CHOICE_OPTION(
        "format", 'f', formats,
        "text; dot, for graphviz; json; learnt: only the learnt targets, as a file for --targets."),
    [FUNCTION] = CLI_TEXT_OPTION("function", 0, "NAME", "Print only this function."),
    [TARGETS] = CLI_TEXT_OPTION("targets", 0, "FILE",
                                "File with the targets of computed branches and calls, functions that never "
                                "return, and code that nothing calls (docs/analysis.md)."),
    [LEARN] = CLI_LIST_OPTION(
        "learn", 0, "CAPTURE",
        "Follow the trace of this capture and add the targets of computed branches and calls that it shows, "
        "marked as learnt. Can be given more than once. The options for captures apply to it."),
    [THREADS] = CLI_THREADS_OPTION,
};

/* ---- learning ---- */

struct learning {
    struct cli_results read; /* its programs: only the one program, at its load address in the capture */
    struct ct_cfg *cfg;
    bool ran; /* an instruction of the program ran */
};

/* Finds the program of --elf, at its load address in the capture. Returns false after a message. */
static bool find_program(void *user)
{
    struct learning *l = user;
    const struct cli_args *args = l->read.args;
    return cli_programs_name(l->read.programs, args, args->values[ELF].text, &l->read.capture);
}

static int learn_from(struct learning *l, const struct ct_graph *graph)
{
    uint32_t count;
    const struct ct_node *nodes = ct_graph_nodes(graph, &count);
    const struct ct_symbols *symbols;
    struct ct_program *program = ct_programs_at(l->read.programs, 0);
    const int rc = ct_program_symbols(program, &symbols);
    for (uint32_t i = 0; !rc && i < count && !l->ran; i++)
        l->ran = ct_program_has(program, nodes[i].start, nodes[i].memory);
    return rc ? rc : ct_cfg_learn(l->read.args->ctx, l->cfg, graph, 0 - program->bias);
}

static int on_decoded(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain)
{
    struct learning *l = user;
    size_t count;
    const struct ct_stream *streams = ct_chain_streams(chain, &count);
    int rc = CT_OK;
    (void)buffer;
    for (size_t i = 0; i < count && !rc; i++)
        rc = streams[i].graph ? learn_from(l, streams[i].graph) : CT_OK;
    return rc;
}

static int learn_capture(const struct cli_args *args, char *path, struct ct_cfg *cfg)
{
    struct cli_args of_capture = *args;
    char *rest[] = {path, NULL};
    struct learning l = {.read = {.args = &of_capture,
                                  .names_programs = true,
                                  .edges = CT_EDGES_COUNTS,
                                  .threads = cli_threads(args),
                                  .user = &l,
                                  .opened = find_program,
                                  .decoded = on_decoded},
                         .cfg = cfg};
    int code = CLI_FAILED;
    of_capture.operand = path;
    of_capture.rest = rest;
    of_capture.rest_count = 1;
    if (cli_filter_read(&l.read.filter, &of_capture, false) && cli_programs_new(&l.read.programs, args, NULL))
        code = cli_results_read(&l.read);
    if (!l.ran && code != CLI_FAILED)
        code = cli_results_empty(&l.read, code, "what can be learnt is", CT_EMPTY_LEARNT_BLOCKS);
    cli_results_close(&l.read);
    return code;
}

static int learn(const struct cli_args *args, struct ct_cfg *cfg)
{
    int worst = CLI_CLEAN;
    for (size_t i = 0; i < args->list_count && worst != CLI_FAILED; i++) {
        char *path = strdup(args->list[i].text);
        const int code = path ? learn_capture(args, path, cfg) : CLI_FAILED;
        if (!path)
            cli_no_memory();
        free(path);
        worst = cli_worse(worst, code);
    }
    return worst;
}

/* ---- printing ---- */

/* Writes a piece of output, and notes that there was any. */
static int put(void *user, const void *data, size_t size)
{
    bool *any = user;
    *any = true;
    return cli_output_write(stdout, data, size);
}

static int print(const struct cli_args *args, const struct ct_cfg *cfg)
{
    struct ct_cfg_write_options how = {.size = sizeof how, .format = (uint8_t)args->values[FORMAT].number};
    size_t count;
    bool any = false;
    if (args->values[FUNCTION].given) {
        const uint32_t function = ct_cfg_function_named(cfg, args->values[FUNCTION].text);
        if (function == CT_CFG_NONE) {
            cli_say("%s: the program has no function '%s', or several of that name; 'coretap graph' without "
                    "--function lists all functions",
                    args->values[ELF].text, args->values[FUNCTION].text);
            return CLI_FAILED;
        }
        how.function = &ct_cfg_functions(cfg, &count)[function];
    }
    const int rc = ct_cfg_write(args->ctx, cfg, &how, put, &any);
    if (rc && rc != CT_ERR_IO) /* a write error is reported at the end of the command */
        return cli_library_error(args->ctx);
    if (how.format != CT_CFG_FORMAT_LEARNT || any)
        return CLI_CLEAN;
    /* explains an empty answer */
    cli_say("nothing was learnt: the trace shows no computed branch%s with unknown targets",
            how.function ? " of the function" : "");
    return CLI_DAMAGED;
}

/* Refuses options of a capture when there is no capture to learn from. Returns false after a message. */
static bool check_learn(const struct cli_args *args)
{
    const struct cli_value *v = args->values;
    size_t i = 0;
    while (i < CLI_CAPTURE_OPTIONS && !v[i].given)
        i++;
    if (i == CLI_CAPTURE_OPTIONS)
        i = THREADS;
    if (v[LEARN].given || !(v[i].given || v[FORMAT].number == CT_CFG_FORMAT_LEARNT))
        return true;
    cli_usage_error(args->command,
                    "--%s applies to a capture, but none is given; name one with --learn CAPTURE",
                    v[i].given ? options[i].name : "format learnt");
    return false;
}

static int run(const struct cli_args *args)
{
    struct ct_programs *programs = NULL;
    struct ct_cfg *cfg;
    if (!args->values[ELF].given)
        return cli_usage_error(args->command, "--elf FILE is missing; it names the program");
    if (!check_learn(args) || !cli_programs_new(&programs, args, args->values[TARGETS].text))
        return CLI_FAILED;
    int code = CLI_FAILED;
    if (cli_programs_name(programs, args, args->values[ELF].text, NULL))
        code = ct_program_cfg(ct_programs_at(programs, 0), &cfg) == CT_OK ? learn(args, cfg)
                                                                          : cli_library_error(args->ctx);
    if (code != CLI_FAILED) {
        int printed = print(args, cfg);
        code = cli_worse(code, printed);
    }
    ct_programs_free(programs);
    return code;
}

const struct cli_command cli_command_graph = {
    .name = "graph",
    .summary = "print the control flow of a program",
    .synopsis = "--elf FILE",
    .about = "Prints the functions of a linked program with their basic blocks (b), the edges between them "
             "(e) and loops (l). Other subcommands use the same edge numbers.\nKinds of edges: next "
             "(continue behind the block), branch, call, called (from a call to the block behind it), tail "
             "(a branch to another function), return, unknown (a computed branch or call whose targets the "
             "program does not reveal). Jump tables of gcc and clang are recognised; other targets can be "
             "given with --targets or learnt from traces with --learn.",
    .whole = "the targets of computed branches are learnt from the whole capture; leave the option out",
    .examples = "coretap graph --elf program\n"
                "coretap graph --elf program --function main --format dot -o main.dot\n",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .uses = CLI_USES_ALL,
    .run = run,
};
