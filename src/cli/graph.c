/* coretap graph: the control flow of a program. */
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/elf_files.h"
#include "report/cfg_print.h"

enum {
    ELF,
    DOT,
    JSON,
    FUNCTION,
    TARGETS,
};

static const struct cli_option options[] = {
    [ELF] = {.name = "elf", .letter = 'E', .kind = CLI_TEXT, .arg = "FILE", .help = "The linked program."},
    [DOT] = {.name = "dot", .kind = CLI_FLAG, .help = "Write the graph in graphviz's language."},
    [JSON] = {.name = "json", .kind = CLI_FLAG, .help = "Write the graph as JSON."},
    [FUNCTION] =
        {.name = "function", .letter = 'f', .kind = CLI_TEXT, .arg = "NAME", .help = "Only this function."},
    [TARGETS] =
        {.name = "targets",
         .kind = CLI_TEXT,
         .arg = "FILE",
         .help = "Where computed branches and calls may go, which functions never return, and where there is "
                 "code that nothing calls (docs/analysis.md)."},
};

static uint32_t function_named(const struct ct_cfg *cfg, const char *name)
{
    size_t count;
    const struct ct_cfg_function *functions = ct_cfg_functions(cfg, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (uint32_t)i;
    return CT_CFG_NONE;
}

static int print(const struct cli_args *args, const struct ct_cfg *cfg)
{
    uint32_t function = CT_CFG_NONE;
    if (args->values[FUNCTION].given) {
        function = function_named(cfg, args->values[FUNCTION].text);
        if (function == CT_CFG_NONE) {
            cli_say("%s: has no function '%s'; 'coretap graph' without --function lists all",
                    args->values[ELF].text, args->values[FUNCTION].text);
            return CLI_FAILED;
        }
    }
    if (args->values[DOT].given)
        ct_cfg_print_dot(stdout, cfg, function);
    else if (args->values[JSON].given)
        ct_cfg_print_json(stdout, cfg, function);
    else
        ct_cfg_print_text(stdout, cfg, function);
    return CLI_CLEAN;
}

static int run(const struct cli_args *args)
{
    struct cli_elf program = {.path = args->values[ELF].text};
    const struct ct_arch arch = {0};
    if (!args->values[ELF].given)
        return cli_usage_error(args->command, "which program? give --elf FILE");
    if (args->values[DOT].given && args->values[JSON].given)
        return cli_usage_error(args->command, "give one of --dot and --json");
    if (!cli_cfg_load(args, &program, args->values[TARGETS].text, &arch))
        return CLI_FAILED;
    int code = print(args, program.cfg);
    ct_cfg_free(program.cfg);
    return code;
}

const struct cli_command cli_command_graph = {
    .name = "graph",
    .summary = "print the control flow of a program",
    .synopsis = "--elf FILE",
    .about = "Prints the functions of a linked program with their basic blocks (b), the edges between them "
             "(e) and loops "
             "(l). The numbers of edges are those that other subcommands take and print.\n"
             "Edges are: next (on behind the block), branch, call, called (from a call to the block behind "
             "it), tail (a "
             "branch to another function), return, unknown (a computed branch or call whose targets the "
             "program does not "
             "tell). Jump tables of gcc and clang are recognised; what they do not tell can be said with "
             "--targets.",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run,
};
