/* SPDX-License-Identifier: Apache-2.0 */
/* One command over many captures, each in a process of its own: what 'coretap map' and coretap-mpi share. */
#pragma once

#include "cli/cli.h"
#include "cli/kinds.h"
#include "coretap/fleet.h"

/* The shared options, by index. A command may have more behind them. */
enum cli_fleet_option {
    CLI_FLEET_MANIFEST,
    CLI_FLEET_OUTPUT,
    CLI_FLEET_STATE,
    CLI_FLEET_RESUME,
    CLI_FLEET_MAX_FAILURES,
    CLI_FLEET_TIMEOUT,
    CLI_FLEET_TRUST,
    CLI_FLEET_CACHE,
    CLI_FLEET_THREADS,
    CLI_FLEET_OPTIONS
};

#define CLI_FLEET_TABLE                                                                                      \
    [CLI_FLEET_MANIFEST] =                                                                                   \
        CLI_LIST_OPTION("manifest", 0, "LIST",                                                               \
                        "The captures, as 'coretap manifest' lists them. Can be given more than once."),     \
    [CLI_FLEET_OUTPUT] = CLI_TEXT_OPTION("output", 'o', "FILE",                                              \
                                         "File for the sum of all pieces. It is written completely or not "  \
                                         "at all. Default, or with '-': standard output."),                  \
    [CLI_FLEET_STATE] =                                                                                      \
        CLI_TEXT_OPTION("state", 0, "DIR",                                                                   \
                        "Folder that keeps the piece of each capture, under a name made of the capture's "   \
                        "contents, the command and its options. Default: the name of the output with the "   \
                        "suffix .state; that folder is removed once the result is written."),                \
    [CLI_FLEET_RESUME] =                                                                                     \
        CLI_FLAG_OPTION("resume", 0,                                                                         \
                        "Continue a job that was interrupted: pieces that are in the folder are not made "   \
                        "again. Without this option the folder must not contain pieces."),                   \
    [CLI_FLEET_MAX_FAILURES] = CLI_NUMBER_OPTION("max-failures", 0, "N", 0, UINT32_MAX,                      \
                                                 "End the job when more captures than N could not be read. " \
                                                 "Default: any number may fail, and the others count."),     \
    [CLI_FLEET_TIMEOUT] =                                                                                    \
        CLI_NUMBER_OPTION("timeout", 0, "SECONDS", 1, UINT32_MAX,                                            \
                          "Treat a capture that takes longer as one that could not be read."),               \
    [CLI_FLEET_TRUST] = CLI_FLAG_OPTION("trust", 0,                                                          \
                                        "Compare only the sizes of captures with the manifest, not their "   \
                                        "contents. Comparing contents reads each capture once more."),       \
    [CLI_FLEET_CACHE] =                                                                                      \
        CLI_TEXT_OPTION("cache", 0, "DIR",                                                                   \
                        "Folder for files by build id, which all processes of a machine share: files "       \
                        "fetched from the servers of $DEBUGINFOD_URLS, and the symbols and lines of "        \
                        "programs as one process has loaded them. Default: the folder of the debuginfod "    \
                        "client, ~/.cache/debuginfod_client, without symbols and lines."),                   \
    [CLI_FLEET_THREADS] =                                                                                    \
        CLI_NUMBER_OPTION("threads", 't', "N", 1, 256,                                                       \
                          "Number of decoding threads of each process. Default: 1. The result is the same.")

#define CLI_FLEET_EXIT                                                                                       \
    "0: done, and all captures are intact. 1: done, but captures could not be read, or trace was lost or "   \
    "contradicts the program; the result says which and how much. 2: wrong usage, more failures than "       \
    "--max-failures, or something could not be opened or written; what is in --state stays for --resume."

struct cli_fleet {
    struct ct_ctx *ctx;
    const struct cli_command *outer; /* map, or coretap-mpi */
    /* the command line's values for the outer command and for the command that is run */
    struct cli_args own, inner;
    const char *command; /* name of the command that is run */
    const struct cli_result_kind *kind;
    bool adds_up;       /* its sums over the parts of a stream add up to those of the stream */
    const char **words; /* of the command that prints a piece */
    const char *hidden[3];
    char **taken;                 /* the command line, split */
    struct ct_manifest *manifest; /* set before cli_fleet_open when captures are known already, else NULL */
    struct ct_fleet_job *job;
    struct ct_analysis *sum; /* sum of the merged pieces */
    char *state;
    bool told_cache; /* a warning about the cache was passed on */
    bool made_state; /* the folder is removed at the end */
    char *lock;      /* a file in `state`, locked until the end; NULL: none */
    int lock_fd;     /* descriptor of `lock`; -1: not locked */
    uint64_t bytes;  /* total size of the captures */
    double merging;  /* seconds spent on merging */
    uint64_t joined; /* captures whose parts were joined */
};

/* Reads a command line. Options of both commands and operands may stand anywhere behind the name of the inner
 * command, which is cover when there is no name. `argv` begins with the name of the outer command. Returns
 * CLI_PARSE_HELP when help is wanted. */
enum cli_parse cli_fleet_parse(struct cli_fleet *fleet, const struct cli_command *outer, int argc,
                               char **argv);

/* Adds the captures of the manifests that option number `option` lists. Returns false after a message. */
bool cli_manifests_read(struct ct_ctx *ctx, const struct cli_args *args, size_t option,
                        struct ct_manifest *manifest);

/* Reads the manifests, or examines the operands unless they are known, and makes the job. `with_state` 0:
 * another rank has made the folder. Returns false after a message. */
bool cli_fleet_open(struct cli_fleet *fleet, bool with_state);

/* Returns whether captures are not compared with a manifest: with --trust, or without a manifest. */
bool cli_fleet_trusts(const struct cli_fleet *fleet);

/* Processes one capture, and adds its piece or its failure to the sum. Calls `wait` (may be NULL) repeatedly
 * meanwhile; false from it ends the job. Sets *failure to the reason for a missing piece, to be freed by the
 * caller, or to NULL. Returns an enum cli_exit. */
int cli_fleet_do(struct cli_fleet *fleet, size_t number, bool (*wait)(void *user), void *user,
                 char **failure);

/* Processes one part of a capture, counted from 1; number 0 compares the capture's contents with the
 * manifest. A failure is reported when the parts are joined. Returns an enum cli_exit. */
int cli_fleet_do_shard(struct cli_fleet *fleet, size_t number, uint32_t shard, uint32_t shards,
                       bool (*wait)(void *user), void *user);

/* Makes the piece of a capture from its parts, adds it to the sum, and removes the parts. Sets *joined to
 * false when the parts do not add up, after a message, or when the piece existed already: then cli_fleet_do
 * has to process the capture. Returns an enum cli_exit. */
int cli_fleet_join(struct cli_fleet *fleet, size_t number, uint32_t shards, bool *joined);

/* Waits for a piece, calling `wait` as cli_fleet_do does. Returns an enum cli_exit. */
int cli_fleet_wait(struct ct_fleet_piece *piece, bool (*wait)(void *user), void *user);

/* Passes on the first warning of a process about the folder of --cache. Other messages of a capture that
 * could be read are not shown. */
void cli_fleet_tell_cache(struct cli_fleet *fleet, const struct ct_fleet_piece *piece);

/* Returns whether so many captures could not be read that the job must end (--max-failures), after a message
 * about that. */
bool cli_fleet_fails_too_often(const struct cli_fleet *fleet, uint64_t failures);

/* Reports the outcome, and returns the exit code. */
int cli_fleet_tell(const struct cli_fleet *fleet);

/* Writes the sum to the output of the command line. Returns an enum cli_exit. */
int cli_fleet_write(struct cli_fleet *fleet);

/* Removes the pieces that need not be kept. `parts` processes share this work; this one is number `part`,
 * from 0 on. */
void cli_fleet_remove(const struct cli_fleet *fleet, size_t part, size_t parts);

/* Frees the job, and removes the folder made for pieces if it is empty. */
void cli_fleet_close(struct cli_fleet *fleet);
