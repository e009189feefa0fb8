/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include <string.h>

#define WIDTH       79
#define HELP_COLUMN 26

/* Prints `text` in lines of at most WIDTH columns. The cursor is at `column`; the lines after the first are
 * indented by `indent`. */
static void wrap(FILE *out, const char *text, size_t column, size_t indent)
{
    bool first = true;
    while (*text) {
        const size_t word = strcspn(text, " \n");
        if (!first && column + 1 + word > WIDTH) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        if (!first) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, word, out);
        column += word;
        text += word;
        first = false;
        if (*text == '\n') {
            fprintf(out, "\n\n%*s", (int)indent, "");
            column = indent;
            first = true;
        }
        if (*text)
            text++;
    }
    fputc('\n', out);
}

/* Writes the name of an option's value: "HEX", "text|json", or "". */
static const char *value_name(const struct cli_option *option, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    if (option->kind == CLI_CHOICE) {
        for (size_t i = 0; option->choices[i] && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%s", i ? "|" : "", option->choices[i]);
    } else if (option->kind != CLI_FLAG) {
        snprintf(text, size, "%s", option->arg);
    }
    return text;
}

static void help_option(const struct cli_option *option, FILE *out)
{
    char value[128], head[192];
    value_name(option, value, sizeof value);
    const char letter[] = {'-', option->letter, ',', ' ', 0};
    const int length =
        snprintf(head, sizeof head, "  %s--%s%s%s%s", option->letter ? letter : "    ", option->name,
                 option->optional ? "[="
                 : value[0]       ? " "
                                  : "",
                 value, option->optional ? "]" : "");
    if (length < HELP_COLUMN - 1)
        fprintf(out, "%-*s", HELP_COLUMN, head);
    else
        fprintf(out, "%s\n%*s", head, HELP_COLUMN, "");
    wrap(out, option->help, HELP_COLUMN, HELP_COLUMN);
}

static void usage_line(const struct cli_command *command, FILE *out)
{
    const char *last = command->rest ? command->rest : command->operand;
    if (command->parts) {
        fprintf(out, "coretap %s COMMAND [OPTION]...", command->name);
        return;
    }
    fprintf(out, "coretap%c%s%s%s [OPTION]...%s%s", cli_joint(command), command->name,
            command->synopsis ? " " : "", command->synopsis ? command->synopsis : "", last ? " " : "",
            last ? last : "");
}

static void help_parts(const struct cli_command *command, FILE *out)
{
    fputs("\nCommands:\n", out);
    for (size_t i = 0; command->parts[i]; i++)
        fprintf(out, "  %-18s %s\n", command->parts[i]->name, command->parts[i]->summary);
    fprintf(out, "\n'coretap %s COMMAND --help' says more about each.\n", command->name);
}

static const char exit_text[] =
    "0: done, and nothing was lost. 1: done, but trace was lost or contradicts the program, or there was "
    "none "
    "to decode, or the result is empty; a message says which, and everything that could be decoded was "
    "printed. Overflows of the trace unit and code whose memory is missing are "
    "reported, but give exit code 1 only with --strict or when nothing else ran. 2: wrong usage, or "
    "something could not be opened, read or written.";

void cli_help_command(const struct cli_command *command, FILE *out)
{
    fputs("Usage: ", out);
    usage_line(command, out);
    fputs("\n\n", out);
    wrap(out, command->about, 0, 0);
    if (command->parts) {
        help_parts(command, out);
        return;
    }
    fputs("\nOptions:\n", out);
    for (size_t i = 0; i < cli_option_count(command); i++)
        help_option(cli_option_at(command, i), out);
    fputs("\nExit status:\n  ", out);
    wrap(out, command->exit_text ? command->exit_text : exit_text, 2, 2);
    fputs("\nExamples:\n", out);
    for (const char *line = command->examples; *line; line += strcspn(line, "\n") + 1)
        fprintf(out, "  %.*s\n", (int)strcspn(line, "\n"), line);
}

static const char program_about[] =
    "Decodes and analyses the trace that Arm processors emit about themselves.";
static const char version_about[] =
    "--version prints the version with a hash of its sources, by which map recognises its own pieces, and "
    "the optional parts: whether this build has each, and what does not work without it.";

static const struct variable {
    const char *name, *about;
} variables[] = {
    {"CORETAP_SIMD", "none, avx2 or neon: limit the vector instructions that are used, for comparison. avx2 "
                     "is for x86-64, neon for arm64. The result is the same."},
    {"CORETAP_TOKEN", "Token of a live run, if --token does not give it."},
    {"CORETAP_TRACE_PLUGIN",
     "Path of the QEMU plugin that record uses, if it is neither beside the command nor installed."},
    {"CORETAP_ACCESS_PLUGIN", "The same for fractal run."},
    {"CORETAP_GCCJIT", "Path of libgccjit, with which monitor and tessla compile."},
    {"CORETAP_MICROHTTPD", "Path of libmicrohttpd, with which live serves its page."},
    {"CORETAP_CAPSTONE", "Path of Capstone, with which instructions are disassembled."},
    {"CORETAP_CRYPTO", "Path of libcrypto, with which map and coretap-mpi check the contents of captures."},
    {"CORETAP_CURL", "Path of libcurl, with which live sends violations to a URL."},
    {"CORETAP_CBC", "Path of libCbcSolver, with which wcet and report find the longest path."},
    {"DEBUGINFOD_URLS", "perf.data: servers from which files are fetched by build id."},
    {"PERF_BUILDID_DIR", "perf.data: perf's cache of files by build id, if --buildid-dir does not give it."},
    {"SOURCE_DATE_EPOCH", "cover -f cobertura: the time stamp of the file, in seconds since 1970, instead of "
                          "the current time. The same coverage then gives the same file."},
    {"QEMU_LD_PREFIX", "record: the folder with the interpreter and libraries of the target."},
};

void cli_help_all(FILE *out)
{
    fputs("Usage: coretap COMMAND [OPTION]... CAPTURE\n"
          "       coretap help [COMMAND] | --version\n\n",
          out);
    wrap(out, program_about, 0, 0);
    fputc('\n', out);
    wrap(out, version_about, 0, 0);
    fputs("\nCommands:\n", out);
    for (size_t i = 0; cli_commands[i]; i++)
        fprintf(out, "  %-14s  %s\n", cli_commands[i]->name, cli_commands[i]->summary);
    fputs("\nEnvironment:\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const int width = fprintf(out, "  %-*s", HELP_COLUMN - 2, variables[i].name);
        wrap(out, variables[i].about, (size_t)width, HELP_COLUMN);
    }
    fputs("\n'coretap COMMAND --help' says more about each.\n", out);
}

/* Prints text in roff: dashes and backslashes are escaped, and a newline becomes `line_end`. */
static void roff_lines(const char *text, const char *line_end, FILE *out)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", out);
    for (; *text; text++) {
        if (*text == '\n')
            fputs(line_end, out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '\\')
            fputs("\\e", out);
        else
            fputc(*text, out);
    }
}

/* Prints paragraphs, separated by newlines, in roff. */
static void roff(const char *text, FILE *out)
{
    roff_lines(text, "\n.PP\n", out);
}

static void man_option(const struct cli_option *option, FILE *out)
{
    char value[128];
    value_name(option, value, sizeof value);
    fputs(".TP\n", out);
    if (option->letter)
        fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    roff(option->name, out);
    fputs("\\fR", out);
    if (value[0]) {
        fputs(option->optional ? "[=\\fI" : option->kind == CLI_CHOICE ? " \\fB" : " \\fI", out);
        roff(value, out);
        fputs(option->optional ? "\\fR]" : "\\fR", out);
    }
    fputc('\n', out);
    roff(option->help, out);
    fputc('\n', out);
}

static void man_program(FILE *out)
{
    fputs(".SH NAME\ncoretap \\- decoder and analyser for Arm CoreSight trace\n"
          ".SH SYNOPSIS\n.B coretap\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... \\fICAPTURE\\fR\n.br\n"
          ".B coretap\n\\fBhelp\\fR [\\fICOMMAND\\fR] | \\fB\\-\\-version\\fR\n.SH DESCRIPTION\n",
          out);
    roff(program_about, out);
    fputs("\n.PP\n", out);
    roff(version_about, out);
    fputs("\n.SH COMMANDS\n", out);
    for (size_t i = 0; cli_commands[i]; i++) {
        fputs(".TP\n\\fBcoretap\\-", out);
        roff(cli_commands[i]->name, out);
        fputs("\\fR(1)\n", out);
        roff(cli_commands[i]->summary, out);
        fputc('\n', out);
    }
    fputs(".SH ENVIRONMENT\n", out);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        fprintf(out, ".TP\n.B %s\n", variables[i].name);
        roff(variables[i].about, out);
        fputc('\n', out);
    }
}

static void man_synopsis(const struct cli_command *command, FILE *out)
{
    fputs("\\fBcoretap ", out);
    roff(command->name, out);
    fputs("\\fR ", out);
    if (command->synopsis) {
        roff(command->synopsis, out);
        fputc(' ', out);
    }
    fputs("[\\fIOPTION\\fR]...", out);
    if (command->rest || command->operand)
        fprintf(out, " \\fI%s\\fR", command->rest ? command->rest : command->operand);
    fputc('\n', out);
}

static void man_options(const struct cli_command *command, FILE *out)
{
    for (size_t i = 0; i < cli_option_count(command); i++)
        man_option(cli_option_at(command, i), out);
}

/* Prints one page for a command and its parts, with a section for each part. */
static void man_parts(const struct cli_command *command, FILE *out)
{
    for (size_t i = 0; command->parts[i]; i++) {
        if (i)
            fputs(".br\n", out);
        man_synopsis(command->parts[i], out);
    }
    fputs(".SH DESCRIPTION\n", out);
    roff(command->about, out);
    for (size_t i = 0; command->parts[i]; i++) {
        fprintf(out, "\n.SH \"COMMAND %s\"\n", command->parts[i]->name);
        roff(command->parts[i]->about, out);
        fputc('\n', out);
        man_options(command->parts[i], out);
    }
}

void cli_help_man(const struct cli_command *command, FILE *out)
{
    if (!command) {
        man_program(out);
        return;
    }
    fputs(".SH NAME\ncoretap\\-", out);
    roff(command->name, out);
    fputs(" \\- ", out);
    roff(command->summary, out);
    fputs("\n.SH SYNOPSIS\n", out);
    if (command->parts) {
        man_parts(command, out);
    } else {
        man_synopsis(command, out);
        fputs(".SH DESCRIPTION\n", out);
        roff(command->about, out);
        fputs("\n.SH OPTIONS\n", out);
        man_options(command, out);
    }
    fputs(".SH EXIT STATUS\n", out);
    roff(command->exit_text ? command->exit_text : exit_text, out);
    fputs("\n.SH EXAMPLES\n.nf\n", out);
    if (command->examples)
        roff_lines(command->examples, "\n", out);
    for (size_t i = 0; command->parts && command->parts[i]; i++)
        roff_lines(command->parts[i]->examples, "\n", out);
    fputs(".fi\n", out);
}
