/* SPDX-License-Identifier: Apache-2.0 */
/* The frame of the command. One table describes each subcommand; usage, help, man pages and the option parser
 * all read it. A subcommand is one file that fills in a struct cli_command. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coretap/base.h"

/* Exit codes of every subcommand. */
enum cli_exit {
    CLI_CLEAN = 0,
    CLI_DAMAGED = 1, /* the trace is damaged, and everything that could be decoded was printed; or there was
                        nothing to decode; or the result is empty */
    CLI_FAILED = 2,  /* a usage error, an I/O error or missing memory: the request was not fulfilled */
};

/* Returns the worse of two exit codes. */
static inline int cli_worse(int a, int b)
{
    return a > b ? a : b;
}

enum cli_kind {
    CLI_FLAG, /* no value; rows of tables leave this kind out */
    CLI_TEXT,
    CLI_CHOICE, /* one word of a list; the number is its index */
    CLI_NUMBER, /* decimal */
    CLI_HEX,    /* hexadecimal, with or without 0x */
    CLI_LIST,   /* texts: the option can be given several times, see cli_args.list */
};

struct cli_option {
    const char *name;           /* without dashes */
    char letter;                /* the short form, or 0 */
    uint8_t kind;               /* enum cli_kind */
    bool optional;              /* the value may be left out; if given, it stands behind a '=' */
    const char *arg;            /* the name of the value in help; that of a choice is made from its words */
    const char *const *choices; /* ends with NULL; the first word is the default */
    uint64_t min, max;          /* limits of numbers */
    const char *help;           /* full sentences */
};

/* Rows of option tables: the name without dashes, the letter of the short form or 0, the name of the value in
 * help, and the help in full sentences. A choice has its words in place of the value's name. */
#define CLI_FLAG_OPTION(name_, letter_, help_)                                                               \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .help = (help_)                                                \
    }
#define CLI_TEXT_OPTION(name_, letter_, arg_, help_)                                                         \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .kind = CLI_TEXT, .arg = (arg_), .help = (help_)               \
    }
#define CLI_LIST_OPTION(name_, letter_, arg_, help_)                                                         \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .kind = CLI_LIST, .arg = (arg_), .help = (help_)               \
    }
#define CLI_CHOICE_OPTION(name_, letter_, words, help_)                                                      \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .kind = CLI_CHOICE, .choices = (words), .help = (help_)        \
    }
#define CLI_NUMBER_OPTION(name_, letter_, arg_, min_, max_, help_)                                           \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .kind = CLI_NUMBER, .arg = (arg_), .min = (min_),              \
        .max = (max_), .help = (help_)                                                                       \
    }
#define CLI_HEX_OPTION(name_, letter_, arg_, max_, help_)                                                    \
    {                                                                                                        \
        .name = (name_), .letter = (letter_), .kind = CLI_HEX, .arg = (arg_), .max = (max_), .help = (help_) \
    }

/* The value of an option on the command line. */
struct cli_value {
    bool given;
    uint64_t number; /* of choices and numbers; 0 when absent */
    const char *text;
};

#define CLI_OPTION_MAX 48
#define CLI_LIST_MAX   1024 /* most texts of one CLI_LIST option */
#define CLI_LISTS_MAX  8192 /* most texts of all such options together */
#define CLI_PATHS_MAX  64   /* most folders of one option */

/* Runs the whole command, from its arguments to its output. May be called again in the same process. Returns
 * an enum cli_exit. */
int cli_main(int argc, char **argv);

/* Lets the commands that this process runs from now on share what they load of programs. All of them must
 * have the same options. */
void cli_keep_programs(void);

/* Sets the folder in which these commands store the loaded symbols and lines for other processes. `folder`
 * must stay valid. */
void cli_cache_programs(const char *folder);

struct cli_args;
struct ct_debug_files;

/* What a subcommand needs of the programs that ran. It selects the common options about programs that the
 * subcommand has, so that all subcommands search in the same places. */
enum cli_uses {
    CLI_USES_PROGRAMS = 1, /* their code: --symdir */
    CLI_USES_NAMES = 2,    /* names of their functions: --no-demangle, --debug-limit */
    CLI_USES_SOURCES = 4,  /* the text of their sources: --source-root */
    CLI_USES_ALL = 7,
    CLI_USES_SYMBOL_MAPS = 8, /* names of generated code: --symbol-map */
};

struct cli_command {
    const char *name;
    const char *summary;   /* for lists of subcommands: without capital letter and full stop */
    const char *operand;   /* name of the single operand, or NULL for none */
    bool many;             /* one or more operands: cli_args.rest; .operand is the first */
    const char *rest;      /* name of all arguments behind the options (instead of an operand), or NULL */
    const char *stray;     /* without operand and rest: what to do with an argument, or NULL: leave it out */
    const char *synopsis;  /* required options, as written in the usage line, or NULL */
    const char *exit_text; /* sentences about the exit status, or NULL for the usual ones */
    const char *about;     /* paragraphs of help and DESCRIPTION, separated by newlines */
    const char *examples;  /* shell lines of at most 77 columns, each with its newline */
    const struct cli_option *options;
    size_t option_count;
    unsigned uses;     /* enum cli_uses: the options about programs */
    const char *whole; /* why missing options of cli/filter.h cannot be applied, and what to do instead; NULL:
                          no special reason */
    bool own_program;  /* not a subcommand but a separate program, coretap-NAME */
    bool own_output;   /* has an option of its own for the output, instead of the common --output */
    int (*run)(const struct cli_args *args); /* returns an enum cli_exit */
    /* Subcommands of this command, with NULL at the end, or NULL. Such a command has only a summary and
     * `about` besides. Their names are two words: "fractal run". */
    const struct cli_command *const *parts;
};

/* The files or folders of an option that can be given several times. */
struct cli_paths {
    const char *paths[CLI_PATHS_MAX];
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
    struct cli_paths symdirs, symbol_maps, source_roots;
    uint64_t debug_limit;                    /* bytes; 0: not given */
    struct cli_value values[CLI_OPTION_MAX]; /* in the order of command->options */
    struct {
        size_t option; /* index of a CLI_LIST option */
        const char *text;
    } list[CLI_LISTS_MAX]; /* in the order on the command line */
    size_t list_count;
    char **rest; /* with NULL at the end */
    int rest_count;
    char **words; /* the whole command line, from the name of the subcommand on */
    int word_count;
};

/* All subcommands, in the order of help, with NULL at the end. */
extern const struct cli_command *const cli_commands[];

/* Finds a subcommand by its name. Returns NULL when there is none. */
const struct cli_command *cli_command_find(const char *name);

/* Finds a command in a list with NULL at its end, by the command's own name. Returns NULL when there is
 * none. */
const struct cli_command *cli_command_among(const struct cli_command *const *commands, const char *name);

/* Returns the last word of a command's name, its name within its group. */
const char *cli_own_name(const struct cli_command *command);

/* Returns the number of options of a subcommand: its own, then the common ones. */
size_t cli_option_count(const struct cli_command *command);

const struct cli_option *cli_option_at(const struct cli_command *command, size_t index);

/* Returns the character between "coretap" and the name of a command in its usage. */
static inline char cli_joint(const struct cli_command *command)
{
    return command->own_program ? '-' : ' ';
}

/* ---- parser (options.c) ---- */

enum cli_parse {
    CLI_PARSE_RUN,
    CLI_PARSE_HELP,
    CLI_PARSE_BAD, /* after a message on stderr */
};

/* Reads argv[1…] of a subcommand into `args`. argv[0] is its name. */
enum cli_parse cli_parse(const struct cli_command *command, int argc, char **argv, struct cli_args *args);

/* Returns the value of one of the command's own options, or NULL when the command has no such option. */
const struct cli_value *cli_value_of(const struct cli_args *args, const char *name);

/* ---- help (help.c) ---- */

void cli_help_all(FILE *out);

/* Prints a line for each optional part of the command: whether this build has it, and its use. */
void cli_print_parts(FILE *out);
void cli_help_command(const struct cli_command *command, FILE *out);

/* Prints the parts of a man page that follow from the table, in roff: NAME, SYNOPSIS, DESCRIPTION and OPTIONS
 * of `command`, or of coretap itself with NULL. */
void cli_help_man(const struct cli_command *command, FILE *out);

/* ---- completion (complete.c) ---- */

/* Prints the possible completions of the last of the words behind "coretap". Each is a line with a word, a
 * tab and a description; or ":files", ":folders" or ":commands", which the shell completes better. */
void cli_complete(int count, char **words);

/* ---- messages (message.c) ---- */

/* Prints "coretap: …" on standard error. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Prints "coretap: note: …" on standard error, unless a note or warning with this text was printed before. */
void cli_note(const char *text);

/* Reads the value K/N of an option, part K of N, from 1 on. Returns false after a message. */
bool cli_read_part(const struct cli_command *command, const char *option, const char *text, uint32_t *part,
                   uint32_t *parts);

/* Reports a usage error of a subcommand, and where to find help. Returns CLI_FAILED. */
int cli_usage_error(const struct cli_command *command, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Sets the error text of the context and returns `code`, for receivers that end a run. */
int cli_fail(struct ct_ctx *ctx, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Does the same with CT_ERR_NOMEM. `what` is what memory was missing for. */
int cli_fail_nomem(struct ct_ctx *ctx, const char *what);

/* Prints the error text of the library call that failed. Returns CLI_FAILED. */
int cli_library_error(const struct ct_ctx *ctx);

/* Forgets the printed notes and warnings, and that memory ran out. Called before the next command. */
void cli_forget_messages(void);

/* Reports once that memory ran out, for functions that cannot fail. The exit code becomes CLI_FAILED. Any
 * thread may call it. */
void cli_no_memory(void);

/* Returns whether memory ran out in the command or in the library. The answer may then be incomplete, so the
 * exit code must become CLI_FAILED and no output file may be kept. */
bool cli_lacked_memory(const struct ct_ctx *ctx);

/* Makes a context whose messages go to standard error: warnings and, unless `quiet`, notes. NULL, after a
 * message, without memory. */
struct ct_ctx *cli_ctx_new(bool quiet);

/* ---- standard output (output.c) ---- */

/* Prepares standard input, output and error. Returns false after a message when there is no usable output. */
bool cli_output_init(void);

/* Writes the buffered output. Returns `code`, or CLI_FAILED after a message when the output is incomplete. */
int cli_output_finish(int code);
