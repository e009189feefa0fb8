/* SPDX-License-Identifier: Apache-2.0 */
/* Completion of command lines for shells (src/cli/completion). */
#include <string.h>

#include "cli/cli.h"

/* The command line before the word to complete. */
struct line {
    const struct cli_command *command;
    const struct cli_option *option; /* the option whose value comes next, or NULL */
    bool operands_only;              /* there was a "--" */
    bool in_rest;                    /* the words of another program have begun */
};

/* Prints a word that begins like the user's, with the first sentence of its description. */
static void offer(const char *begin, const char *dashes, const char *word, const char *about)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", dashes, word);
    const char *end = strstr(about, ". ");
    const size_t length = end ? (size_t)(end - about) : strcspn(about, "\n");
    if (strncmp(begin, text, strlen(begin)) == 0)
        printf("%s\t%.*s\n", text, (int)length, about);
}

/* Prints which files the value can be, by its name in the table: "DIR", "FILE[@HEX]", "CAPTURE...". */
static void offer_files(const char *called)
{
    static const char *const files[] = {"FILE", "CAPTURE", "LOG", "INPUT", "CSV", "LIST", "SOCKET"};
    if (strncmp(called, "DIR", 3) == 0) {
        puts(":folders");
        return;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (strstr(called, files[i])) {
            puts(":files");
            return;
        }
}

static void offer_value(const struct cli_option *option, const char *begin)
{
    if (option->kind != CLI_CHOICE) {
        offer_files(option->arg);
        return;
    }
    for (size_t i = 0; option->choices[i]; i++)
        offer(begin, "", option->choices[i], "");
}

static void offer_commands(const struct cli_command *const *commands, const char *begin)
{
    for (size_t i = 0; commands[i]; i++)
        offer(begin, "", cli_own_name(commands[i]), commands[i]->summary);
}

/* Offers the words in the brackets at the start of `rest`, as in "[cover|timing] [OPTION]...". */
static void offer_first_of_rest(const char *rest, const char *begin)
{
    for (const char *word = rest + 1; word[-1] != ']';) {
        char name[32];
        const size_t length = strcspn(word, "|]");
        snprintf(name, sizeof name, "%.*s", (int)length, word);
        const struct cli_command *command = cli_command_find(name);
        offer(begin, "", name, command ? command->summary : "");
        word += length + 1;
    }
}

static void offer_operand(const struct line *line, const char *begin)
{
    const struct cli_command *command = line->command;
    if (command->operand)
        offer_files(command->operand);
    if (!command->rest)
        return;
    if (command->rest[0] == '[')
        offer_first_of_rest(command->rest, begin);
    puts(strncmp(command->rest, "COMMAND", 7) == 0 && !line->in_rest ? ":commands" : ":files");
}

static void offer_options(const struct cli_command *command, const char *begin)
{
    for (size_t i = 0; i < cli_option_count(command); i++) {
        const struct cli_option *option = cli_option_at(command, i);
        offer(begin, "--", option->name, option->help);
    }
}

/* Returns the option that a word names. Sets *is_whole when its value is in the same word. */
static const struct cli_option *option_in(const struct cli_command *command, const char *word, bool *is_whole)
{
    const bool is_long = word[1] == '-';
    const char *name = word + 2;
    const size_t length = strcspn(name, "=");
    *is_whole = is_long && name[length] == '=';
    for (size_t i = 0; i < cli_option_count(command); i++) {
        const struct cli_option *option = cli_option_at(command, i);
        if (is_long ? strlen(option->name) == length && strncmp(option->name, name, length) == 0
                    : option->letter && option->letter == word[strlen(word) - 1])
            return option;
    }
    return NULL;
}

/* Advances behind a word. */
static void pass(struct line *line, const char *word)
{
    if (line->option) {
        /* bash splits an option with a value into three words: option, '=' and value */
        if (strcmp(word, "=") != 0)
            line->option = NULL;
        return;
    }
    if (line->operands_only || line->in_rest || word[0] != '-' || !word[1]) {
        const struct cli_command *named =
            line->command->rest && line->command->rest[0] == '[' ? cli_command_find(word) : NULL;
        line->in_rest |= line->command->rest && !named;
        if (named)
            line->command = named;
        return;
    }
    line->operands_only = strcmp(word, "--") == 0;
    bool is_whole;
    const struct cli_option *option = option_in(line->command, word, &is_whole);
    if (option && option->kind != CLI_FLAG && !option->optional && !is_whole)
        line->option = option;
}

static void offer_next(const struct line *line, const char *begin)
{
    if (line->option) {
        offer_value(line->option, begin);
        return;
    }
    if (begin[0] != '-' || line->operands_only || line->in_rest) {
        offer_operand(line, begin);
        return;
    }
    bool is_whole;
    const struct cli_option *option = strlen(begin) > 2 ? option_in(line->command, begin, &is_whole) : NULL;
    if (option && is_whole && option->kind != CLI_FLAG)
        offer_value(option, strchr(begin, '=') + 1);
    else
        offer_options(line->command, begin);
}

void cli_complete(int count, char **words)
{
    static const struct cli_option general[] = {{.name = "help"}, {.name = "version"}};
    const struct cli_command *const *commands = cli_commands;
    struct line line = {0};
    if (!count)
        return;
    const char *begin = strcmp(words[count - 1], "=") != 0 ? words[count - 1] : "";
    const bool helps = count > 1 && strcmp(words[0], "help") == 0;
    for (int i = helps; i < count - 1; i++) {
        if (line.command && !line.command->parts) {
            pass(&line, words[i]);
            continue;
        }
        line.command = cli_command_among(commands, words[i]);
        if (!line.command)
            return;
        commands = line.command->parts;
    }
    if (line.command && !line.command->parts) {
        if (!helps)
            offer_next(&line, begin);
        return;
    }
    offer_commands(commands, begin);
    if (!line.command && !helps)
        offer(begin, "", "help", "print what a command does, and its options");
    if (begin[0] == '-')
        for (size_t i = 0; i < (line.command ? 1 : 2); i++)
            offer(begin, "--", general[i].name, "");
}
