/* SPDX-License-Identifier: Apache-2.0 */
/* The options that select a part of a capture, the same for every command that can apply them. */
#pragma once

#include "cli/capture.h"
#include "cli/ran.h"
#include "coretap/filter.h"

/* Rows of an option table, in this order. A command has the rows that it can apply; they are found by name. A
 * row with one of these names is the command's own when it is no CLI_LIST, or when it is called `function`
 * and does not follow `module`. */
#define CLI_FILTER_INDEX                                                                                     \
    CLI_FLAG_OPTION("index", 0,                                                                              \
                    "Use an index to find --from quickly: a file beside each trace file, with the suffix "   \
                    ".ctx. It is written if the trace has none yet.")

#define CLI_FILTER_WINDOW_AND(from_too, to_too)                                                              \
    CLI_TEXT_OPTION(                                                                                         \
        "from", 0, "POINT",                                                                                  \
        "Use only what ran from this point on: a time since the first timestamp of the capture (12.5s, "     \
        "3ms, 20us, 700ns), a traced timestamp (190327ticks), cycles (500000cyc) or instructions "           \
        "(1000000insn) since the beginning of each stream, or a place as for 'coretap watch' (main, "        \
        "main.c:32, 0x4010); #N behind a place means the N-th time that execution reaches it." from_too),    \
        CLI_TEXT_OPTION("to", 0, "POINT",                                                                    \
                        "Use only what ran before this point. A place without #N means the first time "      \
                        "after --from." to_too),                                                             \
        CLI_FILTER_INDEX
#define CLI_FILTER_WINDOW      CLI_FILTER_WINDOW_AND("", "")
#define CLI_FILTER_WINDOW_ROWS 3

#define CLI_FILTER_FREQUENCY                                                                                 \
    CLI_NUMBER_OPTION("frequency", 0, "HZ", 1, 1000000000000,                                                \
                      "Frequency of the timestamps, needed for --from and --to with a time if the capture "  \
                      "does not give it.")

#define CLI_FILTER_CORE                                                                                      \
    CLI_TEXT_OPTION("core", 0, "NAME",                                                                       \
                    "Use only this core: its name in the capture, or the number at the end of the name.")
#define CLI_FILTER_WHO                                                                                       \
    CLI_FILTER_CORE,                                                                                         \
        CLI_LIST_OPTION(                                                                                     \
            "pid", 0, "N",                                                                                   \
            "Use only this Linux process, with all its threads that the capture knows. Like --tid, it "      \
            "needs context IDs in the trace. --pid, --tid, --context, --el and --module can be given more "  \
            "than once: any value of an option is enough, but each option that is given must match."),       \
        CLI_LIST_OPTION("tid", 0, "N", "Use only this Linux thread."),                                       \
        CLI_LIST_OPTION("context", 0, "HEX", "Use only what ran with this context ID."),                     \
        CLI_LIST_OPTION("el", 0, "N", "Use only this exception level, 0 to 3.")
#define CLI_FILTER_WHO_ROWS 5

#define CLI_FILTER_MODULE                                                                                    \
    CLI_LIST_OPTION("module", 0, "NAME",                                                                     \
                    "Use only code of this program or library: its path, or the last part of the path. Can " \
                    "be given more than once.")
#define CLI_FILTER_CODE                                                                                      \
    CLI_FILTER_MODULE, CLI_LIST_OPTION("function", 0, "NAME",                                                \
                                       "Use only code of this function, without the functions that it "      \
                                       "calls. Can be given more than once.")
#define CLI_FILTER_CODE_ROWS 2

/* All rows. Commands with a timeline add what else --from and --to mean. */
#define CLI_FILTER_TABLE_AND(from_too, to_too)                                                               \
    CLI_FILTER_WINDOW_AND(from_too, to_too), CLI_FILTER_FREQUENCY, CLI_FILTER_WHO, CLI_FILTER_CODE
#define CLI_FILTER_TABLE CLI_FILTER_TABLE_AND("", "")
#define CLI_FILTER_ROWS  (CLI_FILTER_WINDOW_ROWS + 1 + CLI_FILTER_WHO_ROWS + CLI_FILTER_CODE_ROWS)

enum {
    CLI_FILTER_MOST = 64, /* most numbers in all lists together, and most names */
};

struct cli_filter {
    struct ct_filter filter; /* points into the members below */
    uint32_t numbers[CLI_FILTER_MOST];
    size_t number_count;
    const char *names[CLI_FILTER_MOST];
    size_t name_count;
    char *from, *to;           /* texts of places; owned */
    uint64_t slices[2];        /* --from and --to without a unit, for commands with a timeline */
    bool index;                /* an index of the capture is used */
    struct ct_sieve_seen seen; /* over everything that was filtered */
};

/* Reads the options of `args`. With `slices`, --from and --to may be numbers without a unit, which are not
 * part of the filter. Returns false after a message. The caller frees the filter in any case. */
bool cli_filter_read(struct cli_filter *filter, const struct cli_args *args, bool slices);
void cli_filter_free(struct cli_filter *filter);

/* Returns the filter, or NULL when no option requires one. */
const struct ct_filter *cli_filter_of(const struct cli_filter *filter);

/* Writes the given options that select a part of a capture, cut to `size` bytes. */
void cli_filter_words(const struct cli_filter *filter, const struct cli_args *args, char *text, size_t size);

/* Refuses options of the filter that cannot be applied to the input, which is no capture. `but` is an option
 * that can be applied, or NULL; `why` ends the message. Returns false when one was given. */
bool cli_filter_refuse(const struct cli_filter *filter, const struct cli_args *args, const char *but,
                       const char *why);

/* Refuses all options of the filter, for a command whose input has nothing to filter. Returns false when one
 * was given. */
bool cli_filter_none(const struct cli_args *args, const char *why);

/* Reports that the filter kept nothing of what ran, and what there was. Returns false, without a message,
 * when it kept something, when there is no filter, or when nothing ran. */
bool cli_filter_kept_nothing(const struct cli_filter *filter, const struct cli_args *args,
                             const struct ct_ran *ran);

struct ct_merge;

/* Adds what a merge read to the losses of its capture, to what ran (with names from `programs`), and to what
 * the filter saw. Returns false after a message. */
bool cli_filter_count_merge(struct cli_filter *f, struct cli_capture *capture, struct ct_merge *merge,
                            struct ct_ran *ran, const struct ct_programs *programs);
