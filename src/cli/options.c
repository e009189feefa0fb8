/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMON_HELP,
    COMMON_QUIET,
    COMMON_VERBOSE,
    COMMON_OUTPUT,
    COMMON_SYMDIR,
    COMMON_SYMBOL_MAP,
    COMMON_SOURCE_ROOT,
    COMMON_DEBUG_LIMIT,
    COMMON_NO_DEMANGLE,
    COMMON_OPTIONS
};

/* The options common to subcommands. They stand behind a subcommand's own. */
static const struct cli_option common_options[] = {
    [COMMON_HELP] = CLI_FLAG_OPTION("help", 'h', "Print this help and exit."),
    [COMMON_QUIET] = CLI_FLAG_OPTION(
        "quiet", 'q', "Do not print progress and notes on standard error; errors are still printed."),
    [COMMON_VERBOSE] =
        CLI_FLAG_OPTION("verbose", 'v', "Name all missing files, including those in which no trace lies."),
    [COMMON_OUTPUT] = CLI_TEXT_OPTION(
        "output", 'o', "FILE",
        "File for the result. It is written completely or not at all: after an error, or with exit code 1 "
        "and an empty result, the file stays as it was. Default, or with '-': standard output."),
    [COMMON_SYMDIR] =
        CLI_TEXT_OPTION("symdir", 0, "DIR",
                        "Folder with separate symbols or debug information of stripped programs, or with "
                        "programs that are not where the capture says. It and its subfolders are searched by "
                        "build id. A single file is accepted, too. Can be given more than once."),
    [COMMON_SYMBOL_MAP] = CLI_TEXT_OPTION(
        "symbol-map", 0, "FILE",
        "Names of code that the program generated while it ran: /tmp/perf-PID.map, or a jitdump file, "
        "jit-PID.dump. They are used where no program has the address. Captures of 'coretap record' have the "
        "map of their program. Can be given more than once."),
    [COMMON_SOURCE_ROOT] =
        CLI_TEXT_OPTION("source-root", 0, "DIR",
                        "Folder with sources. Source files that debug information names are read only from "
                        "below these folders and the folder of the program, or from below the current folder "
                        "if no folder is given. Can be given more than once."),
    [COMMON_DEBUG_LIMIT] = CLI_NUMBER_OPTION(
        "debug-limit", 0, "MB", 1, 1 << 20,
        "Largest size of one program's compressed debug information once unpacked, in MiB. Default: 256."),
    [COMMON_NO_DEMANGLE] = CLI_FLAG_OPTION(
        "no-demangle", 0, "Print the names of functions as the program has them, without demangling."),
};

/* Returns whether the subcommand has a common option. */
static bool has_common(const struct cli_command *command, size_t common)
{
    switch (common) {
    case COMMON_OUTPUT:
        return !command->own_output;
    case COMMON_SYMDIR:
        return command->uses & CLI_USES_PROGRAMS;
    case COMMON_SYMBOL_MAP:
        return command->uses & CLI_USES_SYMBOL_MAPS;
    case COMMON_SOURCE_ROOT:
        return command->uses & CLI_USES_SOURCES;
    case COMMON_DEBUG_LIMIT:
    case COMMON_NO_DEMANGLE:
        return command->uses & CLI_USES_NAMES;
    default:
        return true;
    }
}

size_t cli_option_count(const struct cli_command *command)
{
    size_t count = command->option_count;
    for (size_t common = 0; common < COMMON_OPTIONS; common++)
        count += has_common(command, common);
    return count;
}

/* Returns the number of the common option at an index of the command's options, of which its own come
 * first. */
static size_t common_at(const struct cli_command *command, size_t index)
{
    size_t common = 0;
    for (index -= command->option_count; !has_common(command, common) || index; common++)
        index -= has_common(command, common);
    return common;
}

/* getopt_long returns this plus the option's index. A command's own options come first. */
#define LONG_BASE 0x100

const struct cli_option *cli_option_at(const struct cli_command *command, size_t index)
{
    return index < command->option_count ? &command->options[index]
                                         : &common_options[common_at(command, index)];
}

const struct cli_value *cli_value_of(const struct cli_args *args, const char *name)
{
    for (size_t i = 0; i < args->command->option_count; i++)
        if (strcmp(args->command->options[i].name, name) == 0)
            return &args->values[i];
    return NULL;
}

static int bad_choice(const struct cli_command *command, const struct cli_option *option, const char *text)
{
    char words[256];
    size_t used = 0;
    words[0] = 0;
    for (size_t i = 0; option->choices[i] && used < sizeof words; i++)
        used +=
            (size_t)snprintf(words + used, sizeof words - used, "%s%s", i ? ", " : "", option->choices[i]);
    const char *near = ct_nearest_name(text, option->choices);
    return cli_usage_error(command, "--%s: '%s' is not one of %s%s%s%s", option->name, text, words,
                           near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static int set_number(const struct cli_command *command, const struct cli_option *option, const char *text,
                      struct cli_value *value)
{
    const bool hex = option->kind == CLI_HEX;
    char *end;
    errno = 0;
    const unsigned long long number = strtoull(text, &end, hex ? 16 : 10);
    const bool syntax = *text == 0 || *end != 0 || strchr(text, '-') || strchr(text, '+');
    if (syntax || errno == ERANGE || number < option->min || number > option->max) {
        if (hex)
            return cli_usage_error(command, "--%s: '%s' is not a hexadecimal number from %llx to %llx",
                                   option->name, text, (unsigned long long)option->min,
                                   (unsigned long long)option->max);
        return cli_usage_error(command, "--%s: '%s' is not a number from %llu to %llu", option->name, text,
                               (unsigned long long)option->min, (unsigned long long)option->max);
    }
    value->number = number;
    return 0;
}

/* Checks the value of an option and stores it. Returns nonzero after a message when it is refused. */
static int set_value(const struct cli_command *command, const struct cli_option *option, const char *text,
                     struct cli_value *value)
{
    value->given = true;
    value->text = text;
    if (!text)
        return 0;
    switch (option->kind) {
    case CLI_CHOICE:
        for (size_t i = 0; option->choices[i]; i++) {
            if (strcmp(text, option->choices[i]) == 0) {
                value->number = i;
                return 0;
            }
        }
        return bad_choice(command, option, text);
    case CLI_NUMBER:
    case CLI_HEX:
        return set_number(command, option, text, value);
    default:
        return 0;
    }
}

/* The options of src/cli/filter.h, which not every command has. */
static const char *const of_filter[] = {"from", "to",      "index", "core",   "pid",
                                        "tid",  "context", "el",    "module", "function"};

#define OF_FILTER   (sizeof of_filter / sizeof *of_filter)
#define FILTER_BASE 0x1000 /* getopt_long returns this plus the index of an option that the command lacks */

static bool has_option(const struct cli_command *command, const char *name)
{
    for (size_t i = 0; i < cli_option_count(command); i++)
        if (strcmp(cli_option_at(command, i)->name, name) == 0)
            return true;
    return false;
}

static enum cli_parse refuse_filter(const struct cli_command *command, const char *name)
{
    cli_usage_error(command, "--%s cannot be applied here%s%s", name, command->whole ? ": " : "; ",
                    command->whole ? command->whole
                                   : "use one of cover, profile, report, timing, wcet, spec, watch, monitor, "
                                     "stats, decode and merge, which can select a part of a capture");
    return CLI_PARSE_BAD;
}

/* Reports why getopt refused the last argument, and what was probably meant. */
static enum cli_parse refuse(const struct cli_command *command, int result, char **argv)
{
    if (optopt >= LONG_BASE) {
        const char *name = cli_option_at(command, (size_t)(optopt - LONG_BASE))->name;
        if (result == ':')
            cli_usage_error(command, "--%s needs a value", name);
        else
            cli_usage_error(command, "--%s takes no value", name);
        return CLI_PARSE_BAD;
    }
    if (optopt) {
        if (result == ':')
            cli_usage_error(command, "-%c needs a value", optopt);
        else
            cli_usage_error(command, "unknown option '-%c'", optopt);
        return CLI_PARSE_BAD;
    }
    char word[64];
    snprintf(word, sizeof word, "%s", argv[optind - 1] + 2);
    word[strcspn(word, "=")] = 0;
    const char *names[CLI_OPTION_MAX + 12] = {NULL};
    for (size_t i = 0; i < cli_option_count(command); i++)
        names[i] = cli_option_at(command, i)->name;
    const char *near = ct_nearest_name(word, names);
    if (near)
        cli_usage_error(command, "unknown option '--%s'; did you mean '--%s'?", word, near);
    else
        cli_usage_error(command, "unknown option '--%s'", word);
    return CLI_PARSE_BAD;
}

/* Builds the tables of long and short options for getopt_long. */
static void build_tables(const struct cli_command *command, struct option *longs, char *shorts)
{
    if (command->rest)
        *shorts++ = '+'; /* options behind the first other argument belong to another program */
    *shorts++ = ':';
    const size_t count = cli_option_count(command);
    for (size_t i = 0; i < count; i++) {
        const struct cli_option *option = cli_option_at(command, i);
        const bool argument = option->kind != CLI_FLAG;
        longs[i] = (struct option){option->name,
                                   option->optional ? optional_argument
                                   : argument       ? required_argument
                                                    : no_argument,
                                   NULL, LONG_BASE + (int)i};
        if (option->letter) {
            *shorts++ = option->letter;
            if (argument)
                *shorts++ = ':';
        }
    }
    *shorts = 0;
    /* options of other commands are also known, so that none is mistaken for an abbreviation of another
     * name */
    longs += count;
    for (size_t i = 0; i < OF_FILTER; i++)
        if (!has_option(command, of_filter[i]))
            *longs++ = (struct option){of_filter[i], optional_argument, NULL, FILTER_BASE + (int)i};
}

static size_t index_of(const struct cli_command *command, int result)
{
    if (result >= LONG_BASE)
        return (size_t)(result - LONG_BASE);
    size_t i = 0;
    while (cli_option_at(command, i)->letter != result)
        i++;
    return i;
}

static enum cli_parse take_operand(const struct cli_command *command, int argc, char **argv,
                                   struct cli_args *args)
{
    const int wanted = command->operand ? 1 : 0;
    args->rest = argv + optind;
    args->rest_count = argc - optind;
    if (command->rest)
        return CLI_PARSE_RUN;
    if (command->operand && argc == optind) {
        cli_usage_error(command, "%.*s is missing", (int)strcspn(command->operand, "."), command->operand);
        return CLI_PARSE_BAD;
    }
    if (argc - optind > wanted && !command->many) {
        cli_usage_error(command, "'%s' is one argument too many; %s", argv[optind + wanted],
                        command->stray ? command->stray : "leave it out");
        return CLI_PARSE_BAD;
    }
    if (wanted)
        args->operand = argv[optind];
    return CLI_PARSE_RUN;
}

static bool add_to_list(const struct cli_command *command, size_t index, const char *text,
                        struct cli_args *args)
{
    if (command->options[index].kind != CLI_LIST)
        return true;
    size_t same = 0;
    for (size_t i = 0; i < args->list_count; i++)
        same += args->list[i].option == index;
    if (same == CLI_LIST_MAX) {
        cli_usage_error(command, "--%s: the option can be given at most %d times; give fewer",
                        command->options[index].name, CLI_LIST_MAX);
        return false;
    }
    if (args->list_count == CLI_LISTS_MAX) {
        cli_usage_error(
            command,
            "--%s: together, the options that can be repeated can be given at most %d times; give fewer",
            command->options[index].name, CLI_LISTS_MAX);
        return false;
    }
    args->list[args->list_count].option = index;
    args->list[args->list_count++].text = text;
    return true;
}

static bool add_path(const struct cli_command *command, const struct cli_option *option,
                     struct cli_paths *paths)
{
    if (paths->count == CLI_PATHS_MAX) {
        cli_usage_error(command, "--%s: it is given more than %d times; give it less often", option->name,
                        CLI_PATHS_MAX);
        return false;
    }
    paths->paths[paths->count++] = optarg;
    return true;
}

/* Stores one of the common options other than --help. */
static bool take_common(const struct cli_command *command, size_t index, struct cli_args *args)
{
    if (index == COMMON_QUIET)
        args->quiet = true;
    if (index == COMMON_VERBOSE)
        args->verbose = true;
    if (index == COMMON_NO_DEMANGLE)
        args->raw_names = true;
    if (index == COMMON_OUTPUT)
        args->output = optarg;
    if (index == COMMON_SYMDIR)
        return add_path(command, &common_options[index], &args->symdirs);
    if (index == COMMON_SYMBOL_MAP)
        return add_path(command, &common_options[index], &args->symbol_maps);
    if (index == COMMON_SOURCE_ROOT)
        return add_path(command, &common_options[index], &args->source_roots);
    struct cli_value limit = {0};
    if (index != COMMON_DEBUG_LIMIT)
        return true;
    if (set_number(command, &common_options[index], optarg, &limit) != 0)
        return false;
    args->debug_limit = limit.number << 20;
    return true;
}

/* Refuses an empty value, which mostly comes from an unset variable of a script. */
static bool is_value_fine(const struct cli_option *option, const struct cli_command *command)
{
    if (!optarg || *optarg)
        return true;
    cli_usage_error(command, "--%s: the value is empty; give a value, or leave the option out", option->name);
    return false;
}

enum cli_parse cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args)
{
    struct option longs[CLI_OPTION_MAX + 12 + OF_FILTER] = {{NULL, 0, NULL, 0}};
    char shorts[2 * (CLI_OPTION_MAX + 12)];
    build_tables(command, longs, shorts);
    optind = 0; /* resets GNU getopt */
    opterr = 0;
    int result;
    while ((result = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (result >= FILTER_BASE)
            return refuse_filter(command, of_filter[result - FILTER_BASE]);
        if (result == '?' || result == ':')
            return refuse(command, result, argv);
        const size_t index = index_of(command, result);
        if (!is_value_fine(cli_option_at(command, index), command))
            return CLI_PARSE_BAD;
        if (index < command->option_count) {
            if (set_value(command, &command->options[index], optarg, &args->values[index]) ||
                !add_to_list(command, index, optarg, args))
                return CLI_PARSE_BAD;
        } else if (common_at(command, index) == COMMON_HELP) {
            return CLI_PARSE_HELP;
        } else if (!take_common(command, common_at(command, index), args)) {
            return CLI_PARSE_BAD;
        }
    }
    return take_operand(command, argc, argv, args);
}

bool cli_read_part(const struct cli_command *command, const char *option, const char *text, uint32_t *part,
                   uint32_t *parts)
{
    char *end, *last = NULL;
    const unsigned long long k = strtoull(text, &end, 10);
    const unsigned long long n = *end == '/' ? strtoull(end + 1, &last, 10) : 0;
    *part = (uint32_t)k;
    *parts = (uint32_t)n;
    if (k && n >= k && n <= UINT32_MAX && !*last)
        return true;
    cli_usage_error(command, "--%s: '%s' does not have the form K/N, with K from 1 to N", option, text);
    return false;
}
