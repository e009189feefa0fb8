/* SPDX-License-Identifier: Apache-2.0 */
/* What subcommands that read a capture share: opening it, choosing buffers and IDs, running the chain. */
#ifndef CT_CLI_CAPTURE_H
#define CT_CLI_CAPTURE_H

#include "cli/cli.h"
#include "cli/progress.h"
#include "coretap/session.h"

/* Options of every subcommand that reads a capture: the first ones of its table, in this order. */
enum cli_capture_option {
    CLI_CAPTURE_BUFFER,
    CLI_CAPTURE_ID,
    CLI_CAPTURE_FRAMING,
    CLI_CAPTURE_CONFIG,
    CLI_CAPTURE_SYMFS,
    CLI_CAPTURE_VMLINUX,
    CLI_CAPTURE_KCORE,
    CLI_CAPTURE_BUILDID_DIR,
    CLI_CAPTURE_STRICT,
    CLI_CAPTURE_OPTIONS, /* their number */
};

struct ct_watches;

#define CLI_CAPTURE_TABLE                                                                                    \
    {.name = "buffer",                                                                                       \
     .letter = 'b',                                                                                          \
     .kind = CLI_TEXT,                                                                                       \
     .arg = "NAME",                                                                                          \
     .help = "Use only this trace buffer of the capture."},                                                  \
        {.name = "id",                                                                                       \
         .letter = 'i',                                                                                      \
         .kind = CLI_HEX,                                                                                    \
         .arg = "HEX",                                                                                       \
         .max = 0x7f,                                                                                        \
         .help = "Use only this trace ID. A buffer without frames has one stream, with ID 00."},             \
        {.name = "framing",                                                                                  \
         .kind = CLI_CHOICE,                                                                                 \
         .choices = cli_framings,                                                                            \
         .help = "How trace IDs are multiplexed. auto: as the capture says; if it does not say, coretap "    \
                 "finds out from the bytes."},                                                               \
        {.name = "config",                                                                                   \
         .letter = 'c',                                                                                      \
         .kind = CLI_TEXT,                                                                                   \
         .arg = "FILE",                                                                                      \
         .help = "With CAPTURE '-': the .ini file that describes the stream on standard input "              \
                 "(docs/formats.md). Without it '-' is a perf.data file."},                                  \
        {.name = "symfs",                                                                                    \
         .kind = CLI_TEXT,                                                                                   \
         .arg = "DIR",                                                                                       \
         .help = "perf.data: a folder with the files of the target at their original paths, including "      \
                 "kernel modules."},                                                                         \
        {.name = "vmlinux",                                                                                  \
         .kind = CLI_TEXT,                                                                                   \
         .arg = "FILE",                                                                                      \
         .help = "perf.data: the kernel image (vmlinux) that ran, with its symbols."},                       \
        {.name = "kcore",                                                                                    \
         .kind = CLI_TEXT,                                                                                   \
         .arg = "FILE",                                                                                      \
         .help = "perf.data: the kernel's memory with its modules, as 'perf record --kcore' copies it."},    \
        {.name = "buildid-dir",                                                                              \
         .kind = CLI_TEXT,                                                                                   \
         .arg = "DIR",                                                                                       \
         .help = "perf.data: perf's cache of files by build id. Default: ~/.debug."},                        \
    {                                                                                                        \
        .name = "strict", .kind = CLI_FLAG,                                                                  \
        .help = "Also exit with code 1 if the trace unit lost trace in an overflow, or if code ran whose "   \
                "memory is missing."                                                                         \
    }

extern const char *const cli_framings[];

#define CLI_THREADS_MAX 256

/* The row of --threads. */
#define CLI_THREADS_OPTION                                                                                   \
    {                                                                                                        \
        .name = "threads", .letter = 't', .kind = CLI_NUMBER, .arg = "N", .min = 1, .max = CLI_THREADS_MAX,  \
        .help = "Number of decoding threads. Default: 1. Even a single trace ID is split, at "               \
                "synchronisation points. The result is the same."                                            \
    }

/* Gives the number that --threads says, and 1 for commands without it. */
uint16_t cli_threads(const struct cli_args *args);

/* Refuses --threads where a command has no use for it; the message says `how` it reads. False: it was
 * given. */
bool cli_without_threads(const struct cli_args *args, const char *how);

struct cli_capture {
    const struct cli_args *args;
    const char *path; /* as it was named */
    struct ct_capture *capture;
    size_t count;              /* buffers to be read */
    struct ct_buffer *buffers; /* copies, with the framing and path that the options say */
    struct cli_progress progress;
    int spool;           /* standard input, copied to a file that can be read more than once; or -1 */
    struct ct_seen seen; /* of all that was decoded */
};

/* Opens the capture that args->operand names, to look at what it describes. *capture is NULL for standard
 * input without a description. False after a message. */
bool cli_capture_describe(const struct cli_args *args, struct ct_capture **capture);

/* Opens what args->operand names, or one of several operands. False after a message. */
bool cli_capture_open_path(struct cli_capture *capture, const struct cli_args *args, const char *path);
bool cli_capture_open(struct cli_capture *capture, const struct cli_args *args);

/* Prepares the capture to be read once for each ID: standard input with several IDs is copied into a
 * temporary file. False after a message. */
bool cli_capture_spool(struct cli_capture *capture);

/* Copies standard input in the same way where each ID is read more than once. */
bool cli_capture_spool_always(struct cli_capture *capture);
void cli_capture_close(struct cli_capture *capture);

/* Makes the chain options for `level` and the ID that was asked for. */
struct ct_chain_options cli_capture_chain_options(const struct cli_capture *capture, enum ct_level level);

/* Adds what a chain of `level` lost, which is done, to what the capture lost. `frames`: bytes between frames
 * are counted, too, as by one of the chains of a buffer. */
void cli_capture_count(struct cli_capture *capture, const struct ct_chain *chain, enum ct_level level,
                       bool frames);

/* Warns when a buffer, whose chain is done, has no frame and should have some. */
void cli_capture_tell_frames(const struct cli_capture *capture, const struct ct_chain *chain);

/* Tells whether trace was lost or contradicts the program, or the file was not whole; with `strict` also
 * whether a trace unit lost some in overflows or memory is missing. */
bool cli_capture_is_damaged(const struct cli_capture *capture, bool strict);

/* Says on stderr what was lost. Result: the exit code of a command that read the capture, which is
 * `code`, or CLI_DAMAGED when that is clean but trace was lost, contradicts the program, or the file was
 * not whole. Overflows of the trace unit and code whose memory is missing count with --strict, or when
 * nothing else ran. */
int cli_capture_code(const struct cli_capture *capture, int code);

/* Gives the same exit code for a command that prints nothing of an empty trace. Says, unless --quiet, when it
 * is empty. */
int cli_capture_code_or_empty(const struct cli_capture *capture, int code);

/* Gives the same exit code without a word, for a pass whose losses another pass reports. */
int cli_capture_code_untold(const struct cli_capture *capture, int code);

/* Says how often stacks of calls began anew (ct_stacks_renewed), if they did. */
void cli_note_new_stacks(const struct cli_args *args, uint64_t times);

/* Gives a set of watchpoints the names that the capture has for events of trace units. False after a message.
 */
bool cli_capture_name_events(const struct cli_capture *capture, struct ct_watches *watches);

/* Tells whether a source that is read traces instructions, which the option (NULL: none was given) is about.
 * False after a message. */
bool cli_capture_has_code(const struct cli_capture *capture, const char *option);

#endif
