/* SPDX-License-Identifier: Apache-2.0 */
/* What subcommands that read a capture share: opening it, choosing buffers and IDs, options of the chain. */
#pragma once

#include "cli/cli.h"
#include "cli/progress.h"
#include "coretap/session.h"

/* Options of every subcommand that reads a capture. They come first in its table, in this order. */
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
    CLI_CAPTURE_OPTIONS, /* number of these options */
};

struct ct_watches;

#define CLI_CAPTURE_TABLE                                                                                    \
    CLI_TEXT_OPTION("buffer", 'b', "NAME", "Use only this trace buffer of the capture."),                    \
        CLI_HEX_OPTION("id", 'i', "HEX", 0x7f,                                                               \
                       "Use only this trace ID. A buffer without frames has one stream, with ID 00."),       \
        CLI_CHOICE_OPTION("framing", 0, cli_framings,                                                        \
                          "How trace IDs are multiplexed. auto: as the capture says; if it does not say, "   \
                          "coretap finds out from the bytes."),                                              \
        CLI_TEXT_OPTION("config", 'c', "FILE",                                                               \
                        "With CAPTURE '-': the .ini file that describes the stream on standard input "       \
                        "(docs/formats.md). Without it '-' is a perf.data file."),                           \
        CLI_TEXT_OPTION("symfs", 0, "DIR",                                                                   \
                        "perf.data: a folder with the files of the target at their original paths, "         \
                        "including kernel modules."),                                                        \
        CLI_TEXT_OPTION("vmlinux", 0, "FILE",                                                                \
                        "perf.data: the kernel image (vmlinux) that ran, with its symbols."),                \
        CLI_TEXT_OPTION(                                                                                     \
            "kcore", 0, "FILE",                                                                              \
            "perf.data: the kernel's memory with its modules, as 'perf record --kcore' copies it."),         \
        CLI_TEXT_OPTION("buildid-dir", 0, "DIR",                                                             \
                        "perf.data: perf's cache of files by build id. Default: ~/.debug."),                 \
        CLI_FLAG_OPTION("strict", 0,                                                                         \
                        "Also exit with code 1 if the trace unit lost trace in an overflow, or if code ran " \
                        "whose memory is missing.")

extern const char *const cli_framings[];

#define CLI_THREADS_MAX 256

/* The table row of --threads. */
#define CLI_THREADS_OPTION                                                                                   \
    CLI_NUMBER_OPTION("threads", 't', "N", 1, CLI_THREADS_MAX,                                               \
                      "Number of decoding threads. Default: 1. Even a single trace ID is split, at "         \
                      "synchronisation points. The result is the same.")

/* Returns the number of --threads, or 1 for commands without the option. */
uint16_t cli_threads(const struct cli_args *args);

/* Refuses --threads for a command that cannot use it; `how` completes the message. Returns false when it was
 * given. */
bool cli_without_threads(const struct cli_args *args, const char *how);

struct cli_capture {
    const struct cli_args *args;
    const char *path; /* as on the command line */
    struct ct_capture *capture;
    size_t count;              /* buffers to read */
    struct ct_buffer *buffers; /* copies, with the framing and path from the options */
    struct cli_progress progress;
    int spool;           /* descriptor of the file with a copy of standard input; or -1 */
    bool told_misframed; /* by cli_capture_tell_frames */
    struct ct_seen seen; /* what was lost in everything that was decoded */
};

/* Returns whether a path is that of standard input or output, "-". */
bool cli_is_standard(const char *path);

/* Opens the capture that args->operand names, to look at its description. Sets *capture to NULL for standard
 * input without a description. Returns false after a message. */
bool cli_capture_describe(const struct cli_args *args, struct ct_capture **capture);

/* Opens the capture at `path`, and the one of args->operand. Returns false after a message. */
bool cli_capture_open_path(struct cli_capture *capture, const struct cli_args *args, const char *path);
bool cli_capture_open(struct cli_capture *capture, const struct cli_args *args);

/* Prepares the capture to be read once for each ID: copies standard input with several IDs into a temporary
 * file. Returns false after a message. */
bool cli_capture_spool(struct cli_capture *capture);

/* Copies standard input in any case, for commands that read an ID more than once. Returns false after a
 * message. */
bool cli_capture_spool_always(struct cli_capture *capture);
void cli_capture_close(struct cli_capture *capture);

/* Returns the chain options for `level` and the selected ID. */
struct ct_chain_options cli_capture_chain_options(const struct cli_capture *capture, enum ct_level level);

/* Adds the losses of a finished chain of `level` to those of the capture. `frames`: also counts bytes between
 * frames, which only one of the chains of a buffer may do. */
void cli_capture_count(struct cli_capture *capture, const struct ct_chain *chain, enum ct_level level,
                       bool frames);

/* Warns, once for a capture, when the buffer of a finished chain should have frames but has none. */
void cli_capture_tell_frames(struct cli_capture *capture, const struct ct_chain *chain);

/* Returns whether trace was lost, contradicts the program, or the file was incomplete. With `strict` also
 * whether a trace unit lost trace in overflows or memory is missing. */
bool cli_capture_is_damaged(const struct cli_capture *capture, bool strict);

/* Reports on stderr what was lost, and that nothing was decoded. Returns the exit code of a command that read
 * the capture: `code`, or CLI_DAMAGED instead of CLI_CLEAN when trace was lost, contradicts the program, or
 * the file was incomplete, and when there was no trace to decode. Overflows of the trace unit and code whose
 * memory is missing count with --strict, or when nothing else ran. */
int cli_capture_code(const struct cli_capture *capture, int code);

/* Names the missing files in which trace lies, as far as their addresses are known. With --verbose names all
 * missing files, with --quiet none. Names each file only once. */
void cli_capture_tell_missing(const struct cli_capture *capture);

/* Returns the same exit code without a report, for a pass whose losses another pass reports. */
int cli_capture_code_untold(const struct cli_capture *capture, int code);

/* Gives a set of watchpoints the names of events of trace units, from the capture. Returns false after a
 * message. */
bool cli_capture_name_events(const struct cli_capture *capture, struct ct_watches *watches);

/* Returns whether some selected source traces instructions, as `option` requires (NULL: nothing requires it).
 * Returns false after a message. */
bool cli_capture_has_code(const struct cli_capture *capture, const char *option);
