/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/inputs.h"
#include "cli/output.h"
#include "coretap/program.h"

/* Operands that are compared with each other, which takes quadratic time. */
#define MOST_COMPARED 4096

/* Adds the files of --elf to those found by build id, so that one of them can replace a program that is not
 * at its path in the capture. A file that cannot be read is reported when it is opened. */
static void add_named(const struct cli_args *args)
{
    for (size_t i = 0; i < args->list_count; i++) {
        if (strcmp(args->command->options[args->list[i].option].name, "elf") != 0)
            continue;
        char *path = strdup(args->list[i].text);
        if (!path) {
            cli_no_memory();
            return;
        }
        char *at = strrchr(path, '@');
        if (at)
            *at = '\0';
        if (access(path, R_OK) == 0)
            (void)ct_debug_files_add_dir(args->debug_files, path);
        free(path);
    }
}

/* Makes the object that finds debug information and decides what to trust. On failure returns false, and the
 * context has the reason. */
static bool open_debug_files(struct cli_args *args)
{
    bool fine = !args->command->uses || ct_debug_files_new(args->ctx, &args->debug_files) == CT_OK;
    if (args->debug_limit)
        ct_debug_files_limit(args->debug_files, args->debug_limit);
    if (fine && args->debug_files)
        add_named(args);
    for (size_t i = 0; fine && i < args->symdirs.count; i++)
        fine = ct_debug_files_add_dir(args->debug_files, args->symdirs.paths[i]) == CT_OK;
    for (size_t i = 0; fine && i < args->source_roots.count; i++)
        fine = ct_debug_files_add_source_root(args->debug_files, args->source_roots.paths[i]) == CT_OK;
    return fine;
}

/* Warns about an operand that is another one under another path, such as "capture" and "./capture". Equal
 * paths are reported by what adds up. */
static void warn_of_same(const struct cli_args *args)
{
    struct stat *about = args->command->many ? calloc((size_t)args->rest_count + 1, sizeof *about) : NULL;
    for (int i = 0; about && i < args->rest_count && i < MOST_COMPARED; i++) {
        int same = i;
        if (stat(args->rest[i], &about[i]) == 0)
            for (same = 0; about[same].st_ino != about[i].st_ino || about[same].st_dev != about[i].st_dev;)
                same++;
        if (same < i && strcmp(args->rest[same], args->rest[i]) != 0)
            cli_say(
                "warning: %s: this is the same file as %s; its contents count twice; leave one of them out",
                args->rest[i], args->rest[same]);
    }
    free(about);
}

/* What commands leave for the next one in this process, which has the same options: the index of folders and
 * the loaded symbols. */
static struct {
    bool is_wanted;
    const char *cache; /* folder for the symbols of all processes, or NULL */
    struct ct_ctx *ctx;
    struct ct_debug_files *debug_files;
} kept;

void cli_keep_programs(void)
{
    kept.is_wanted = true;
}

void cli_cache_programs(const char *folder)
{
    kept.cache = folder;
}

/* Makes the context, or takes the kept one with its debug files. Returns false after a message. */
static bool begin(struct cli_args *args)
{
    args->ctx = kept.ctx ? kept.ctx : cli_ctx_new(args->quiet);
    args->debug_files = kept.debug_files;
    return args->ctx != NULL;
}

static void end(const struct cli_args *args)
{
    if (kept.is_wanted) {
        kept.ctx = args->ctx;
        kept.debug_files = args->debug_files;
        return;
    }
    ct_debug_files_free(args->debug_files);
    ct_ctx_free(args->ctx);
}

/* Lets the debug files keep what is loaded, if that is wanted. Returns false when out of memory. */
static bool keep_debug_files(const struct cli_args *args)
{
    if (kept.is_wanted)
        ct_debug_files_keep(args->debug_files);
    return !kept.is_wanted || !kept.cache || !ct_debug_files_cache(args->debug_files, kept.cache);
}

static int run_with(struct cli_args *args)
{
    warn_of_same(args);
    if (!args->debug_files && (!open_debug_files(args) || !keep_debug_files(args)))
        return cli_library_error(args->ctx);
    if (args->output && !cli_output_redirect(args->output))
        return CLI_FAILED;
    return args->command->run(args);
}

/* Suggests how to use less memory, after the message about what memory was missing for. */
static void tell_less_memory(const struct cli_args *args)
{
    const struct cli_value *threads = cli_value_of(args, "threads");
    cli_say("'%s' needs more memory than this process may use; raise the limit, which 'ulimit -v' shows%s%s",
            args->command->name, threads && threads->number > 1 ? "; or use fewer --threads" : "",
            cli_value_of(args, "from") ? "; or choose a part of the capture with --from and --to" : "");
}

/* Returns the exit code of a finished command. An answer that may be incomplete for lack of memory counts as
 * a failure. */
static int whole(const struct cli_args *args, int code)
{
    const bool lacking = cli_lacked_memory(args->ctx);
    if (!lacking)
        return code;
    cli_output_keep(false);
    if (code != CLI_FAILED)
        cli_say("out of memory: the output is incomplete");
    tell_less_memory(args);
    return CLI_FAILED;
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args = {.command = command, .words = argv, .word_count = argc};
    switch (cli_parse(command, argc, argv, &args)) {
    case CLI_PARSE_HELP:
        cli_help_command(command, stdout);
        return CLI_CLEAN;
    case CLI_PARSE_BAD:
        return CLI_FAILED;
    case CLI_PARSE_RUN:
        break;
    }
    if (!begin(&args))
        return CLI_FAILED;
    cli_inputs_begin(&args);
    const int code = whole(&args, run_with(&args));
    cli_inputs_end();
    end(&args);
    return code;
}

/* Reports an unknown command or option. `whole` is the command whose parts are `commands`, or NULL. Returns
 * CLI_FAILED. */
static int unknown_command(const char *word, const struct cli_command *const *commands,
                           const struct cli_command *whole)
{
    enum {
        MOST = 32
    };
    const char *names[MOST + 4] = {"--help", "--version", "help"};
    for (size_t i = 0; i < MOST && commands[i]; i++)
        names[i + 3] = cli_own_name(commands[i]);
    const char *near = ct_nearest_name(word, names);
    const char *what = word[0] == '-' ? "option" : "command";
    if (near)
        cli_say("unknown %s '%s'; did you mean '%s'?", what, word, near);
    else
        cli_say("unknown %s '%s'", what, word);
    fprintf(stderr, "Try 'coretap %s%s--help'.\n", whole ? whole->name : "", whole ? " " : "");
    return CLI_FAILED;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* Prints the help of `whole`, which is NULL for the program, or of the command in it that the words name:
 * 'help fractal run' prints what 'fractal run --help' prints. */
static int print_help(const struct cli_command *whole, char **words)
{
    for (; *words && !is_help(*words); words++) {
        const struct cli_command *const *commands = whole ? whole->parts : cli_commands;
        if (!commands)
            return cli_usage_error(whole, "'%s' is one argument too many; leave it out", *words);
        const struct cli_command *command = cli_command_among(commands, *words);
        if (!command)
            return unknown_command(*words, commands, whole);
        whole = command;
    }
    if (whole)
        cli_help_command(whole, stdout);
    else
        cli_help_all(stdout);
    return CLI_CLEAN;
}

/* Runs the part of a command named by argv[1]. */
static int run_part(const struct cli_command *command, int argc, char **argv)
{
    if (argc < 2) {
        cli_help_command(command, stderr);
        return CLI_FAILED;
    }
    if (is_help(argv[1]))
        return print_help(command, argv + 2);
    const struct cli_command *part = cli_command_among(command->parts, argv[1]);
    return part ? run_command(part, argc - 1, argv + 1) : unknown_command(argv[1], command->parts, command);
}

/* Prints the generated part of a man page, for tools/man-pages. Help does not show this option. */
static int print_man(const char *name)
{
    const struct cli_command *command = name ? cli_command_find(name) : NULL;
    if (name && !command)
        return unknown_command(name, cli_commands, NULL);
    cli_help_man(command, stdout);
    return CLI_CLEAN;
}

static int dispatch(int argc, char **argv)
{
    if (argc < 2) {
        cli_help_all(stderr);
        return CLI_FAILED;
    }
    const char *word = argv[1];
    if (is_help(word))
        return print_help(NULL, argv + 2);
    if (strcmp(word, "--version") == 0) {
        printf("coretap %s\n", ct_version_exact());
        cli_print_parts(stdout);
        return CLI_CLEAN;
    }
    if (strcmp(word, "--man") == 0)
        return print_man(argc > 2 ? argv[2] : NULL);
    if (strcmp(word, "--complete") == 0) {
        cli_complete(argc - 2, argv + 2);
        return CLI_CLEAN;
    }
    const struct cli_command *command = cli_command_find(word);
    if (!command)
        return unknown_command(word, cli_commands, NULL);
    return command->parts ? run_part(command, argc - 1, argv + 1) : run_command(command, argc - 1, argv + 1);
}

/* Checks the environment, because the library would silently take an unknown value for the default. */
static bool check_environment(void)
{
    const char *simd = getenv("CORETAP_SIMD");
    if (!simd || !*simd || !strcmp(simd, "none") || !strcmp(simd, "neon") || !strcmp(simd, "avx2"))
        return true;
    cli_say("CORETAP_SIMD: the value '%s' in the environment is not known; set it to 'avx2', 'neon' or "
            "'none', or unset it",
            simd);
    return false;
}

int cli_main(int argc, char **argv)
{
    if (!cli_output_init() || !check_environment())
        return CLI_FAILED;
    const int code = cli_output_finish(dispatch(argc, argv));
    cli_forget_messages();
    return code;
}
