/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the command: one table describes each subcommand, and usage, help, man pages and the
 * option parser all read it. A subcommand is one file that fills in a struct cli_command. */
#ifndef CT_CLI_CLI_H
#define CT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coretap/base.h"

/* Exit codes, the same for every subcommand. */
enum cli_exit {
    CLI_CLEAN = 0,
    CLI_DAMAGED = 1, /* the trace is damaged, and everything that could be decoded was printed; or the result
                        is empty although instructions ran */
    CLI_FAILED = 2,  /* usage, I/O or memory: what was asked for was not done */
};

enum cli_kind {
    CLI_FLAG,
    CLI_TEXT,
    CLI_CHOICE, /* one of a list of words; the number is its index */
    CLI_NUMBER, /* decimal */
    CLI_HEX,    /* with or without 0x */
    CLI_LIST,   /* texts: the option can be given more than once, see cli_args.list */
};

struct cli_option {
    const char *name;           /* without the dashes */
    char letter;                /* short form, or 0 */
    uint8_t kind;               /* enum cli_kind */
    bool optional;              /* the value can be left out; else it stands behind a '=' */
    const char *arg;            /* what help calls the value; of a choice it is made from the list */
    const char *const *choices; /* ends with NULL; the first is what counts when the option is absent */
    uint64_t min, max;          /* of numbers */
    const char *help;           /* sentences */
};

/* What the command line said for one option. */
struct cli_value {
    bool given;
    uint64_t number; /* choices and numbers; 0 when absent */
    const char *text;
};

#define CLI_OPTION_MAX  48
#define CLI_LIST_MAX    1024 /* texts of one CLI_LIST option */
#define CLI_LISTS_MAX   8192 /* of all such options together */
#define CLI_FOLDERS_MAX 64   /* that one option names */

/* Runs the whole command, from its arguments to what it prints. It can run again in the same process. Result:
 * enum cli_exit. */
int cli_main(int argc, char **argv);

struct cli_args;
struct ct_debug_files;

/* What a subcommand needs of the programs that ran. It decides which of the common options about programs the
 * subcommand has, so that all look in the same places. */
enum cli_uses {
    CLI_USES_PROGRAMS = 1, /* their code: --symdir */
    CLI_USES_NAMES = 2,    /* names of their functions: --no-demangle, --debug-limit */
    CLI_USES_SOURCES = 4,  /* the text of their sources: --source-root */
    CLI_USES_ALL = 7,
};

struct cli_command {
    const char *name;
    const char *summary; /* for lists of subcommands: no capital, no full stop */
    const char *operand; /* what the one operand is called, or NULL for none */
    bool many;           /* operands, of which there is one at least: cli_args.rest; .operand is the first */
    const char *rest; /* what all arguments after the options are called (instead of an operand), or NULL */
    const char *synopsis;  /* options that must be there, as written in the usage line, or NULL */
    const char *exit_text; /* sentences about the exit status, or NULL when it is the usual one */
    const char *about;     /* paragraphs for help and DESCRIPTION, separated by newlines */
    const char *examples;  /* lines for a shell, of at most 77 columns, each with its newline */
    const struct cli_option *options;
    size_t option_count;
    unsigned uses;     /* enum cli_uses: which options about programs it has */
    const char *whole; /* why options of cli/filter.h that it does not have cannot be applied, and what to do
                          instead; NULL: no reason of its own */
    bool own_program;  /* it is no subcommand but a program of its own, coretap-NAME */
    bool own_output;   /* says by an option of its own where its results go: it has no common --output */
    int (*run)(const struct cli_args *args); /* result: enum cli_exit */
    /* Commands of a command, the last NULL; it then has nothing else but a summary and what it is about.
     * Their names are both words: "fractal run". */
    const struct cli_command *const *parts;
};

/* Folders of an option that can be given more than once. */
struct cli_folders {
    const char *paths[CLI_FOLDERS_MAX];
    size_t count;
};

struct cli_args {
    const struct cli_command *command;
    struct ct_ctx *ctx;
    const char *operand;
    bool quiet;
    bool verbose;
    bool raw_names;     /* --no-demangle */
    const char *output; /* --output, or NULL */
    struct ct_debug_files *debug_files;
    struct cli_folders symdirs, source_roots;
    uint64_t debug_limit;                    /* bytes; 0: not given */
    struct cli_value values[CLI_OPTION_MAX]; /* same order as command->options */
    struct {
        size_t option; /* index of a CLI_LIST option */
        const char *text;
    } list[CLI_LISTS_MAX]; /* in the order given */
    size_t list_count;
    char **rest; /* ends with NULL */
    int rest_count;
    char **words; /* all of the command line, from the name of the subcommand on */
    int word_count;
};

/* All subcommands, in the order in which help shows them; the last entry is NULL. */
extern const struct cli_command *const cli_commands[];

/* Finds a subcommand by its name, or NULL. */
const struct cli_command *cli_command_find(const char *name);

/* Finds one of `commands`, a list that ends with NULL, by its own name; or NULL. */
const struct cli_command *cli_command_among(const struct cli_command *const *commands, const char *name);

/* Gives the last word of a command's name, by which it is called within its group. */
const char *cli_own_name(const struct cli_command *command);

/* Gives the number of options of a subcommand: its own, then those in common. */
size_t cli_option_count(const struct cli_command *command);

const struct cli_option *cli_option_at(const struct cli_command *command, size_t index);

/* Gives what stands between "coretap" and the name of a command where it is called. */
static inline char cli_joint(const struct cli_command *command)
{
    return command->own_program ? '-' : ' ';
}

/* ---- parser (options.c) ---- */

enum cli_parse {
    CLI_PARSE_RUN,
    CLI_PARSE_HELP,
    CLI_PARSE_BAD, /* said on stderr what is wrong */
};

/* Reads argv[1..) of a subcommand (argv[0] is its name) into `args`. */
enum cli_parse cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args);

/* ---- help (help.c) ---- */

void cli_help_all(FILE *out);

/* Prints a line for each optional part of the command: whether this build has it, and what that means. */
void cli_print_parts(FILE *out);
void cli_help_command(const struct cli_command *command, FILE *out);

/* Prints those parts of a man page that follow from the table, in roff: NAME, SYNOPSIS, DESCRIPTION and
 * OPTIONS of `command`, or with NULL those of coretap itself. */
void cli_help_man(const struct cli_command *command, FILE *out);

/* ---- completion (complete.c) ---- */

/* Prints what the last of the words behind "coretap" can become: a word a line, a tab and its description;
 * ":files", ":folders" or ":commands" where the shell knows better. */
void cli_complete(int count, char **words);

/* ---- messages (message.c) ---- */

/* Prints "coretap: …" on standard error. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints "coretap: note: …" on standard error, unless a note or warning with this text was printed before. */
void cli_note(const char *text);

/* Reads K/N, the value of an option: the K-th of N parts, K from 1 on. False after a message. */
bool cli_read_part(const struct cli_command *command, const char *option, const char *text, uint32_t *part,
                   uint32_t *parts);

/* Reports a mistake in the use of a subcommand: the text, then where help is. Result: CLI_FAILED. */
int cli_usage_error(const struct cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Stores the text of an error in the context and returns `code`, for receivers that end a run. */
int cli_fail(struct ct_ctx *ctx, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Stores CT_ERR_NOMEM in the same way, with what memory was missing for. */
int cli_fail_nomem(struct ct_ctx *ctx, const char *what);

/* Prints the text of the library call that failed. Result: CLI_FAILED. */
int cli_library_error(const struct ct_ctx *ctx);

/* Forgets, when the next command begins, which notes and warnings were printed, and that memory ran out. */
void cli_forget_messages(void);

/* Says once that memory ran out, where a function has no way to fail; the exit code becomes CLI_FAILED. Any
 * thread may call it. */
void cli_no_memory(void);

/* Tells whether memory ran out in the command or in the library. The answer may then lack something, so the
 * exit code is to become CLI_FAILED and no output file is kept. */
bool cli_lacked_memory(const struct ct_ctx *ctx);

/* Makes a context whose messages go to standard error: warnings and, without `quiet`, notes. NULL after a
 * message: no memory. */
struct ct_ctx *cli_ctx_new(bool quiet);

/* Finds the word of a list (ends with NULL) that was probably meant by `word`, or NULL. */
const char *cli_nearest(const char *word, const char *const *list);

/* ---- standard output (output.c) ---- */

/* Prepares standard input, output and error; false (and a message) when output has nowhere to go. */
bool cli_output_init(void);

/* Writes what is buffered. Result: `code`, or CLI_FAILED after a message when not all output could be
 * written. */
int cli_output_finish(int code);

#endif
