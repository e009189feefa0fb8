/* SPDX-License-Identifier: Apache-2.0 */
/* What an analysis found in all that the command line names: captures are decoded for it, and saved files are
 * added. */
#ifndef CT_CLI_RESULTS_H
#define CT_CLI_RESULTS_H

#include "cli/filter.h"
#include "cli/programs.h"
#include "cli/ran.h"
#include "coretap/session.h"
#include "coretap/shard.h"

#define CLI_SHARD_OPTION                                                                                     \
    {                                                                                                        \
        .name = "shard", .kind = CLI_TEXT, .arg = "K/N",                                                     \
        .help = "Decode part K (from 1) of N parts of the capture, as coretap-mpi does on several ranks. "   \
                "The output is not a result until it is joined with the other parts."                        \
    }

struct cli_results {
    const struct cli_args *args;
    size_t elf;          /* index of the option that names programs; SIZE_MAX: there is none */
    bool names_programs; /* `opened` adds all programs that are wanted: those of the capture are not */
    struct ct_programs *programs;
    struct ct_analysis *analysis; /* what is found is added to it; NULL: there are no saved files, and who
                                     takes records is said below */
    struct ct_analysis *also[2];  /* NULL, or others that saved files of their kinds are added to */
    const char *takes;            /* what the message says of a file of none of these kinds */
    struct ct_session *session;   /* while a capture is decoded */
    struct cli_capture capture;   /* the last one */
    bool has_capture;
    bool needs_program;  /* a capture whose programs are not known is of no use */
    bool may_lack_files; /* a capture whose files are all missing is an empty result, not a failure */
    bool sums_alone;     /* losses of saved files are reported as a sum, not for each file */
    bool files_alone;    /* only saved files are added to the analysis; captures go to the functions below */
    bool captures_alone; /* only captures are added to the analysis; saved files are passed over */
    uint8_t edges;       /* as in struct ct_session_options */
    bool untold;         /* what captures lost is not said: another run over them does */
    bool has_file;       /* there was a saved file */
    struct cli_filter filter; /* of captures, read before (cli_filter_read) */
    bool lacks_files;         /* of a capture all files were missing, which was reported */
    bool kept_nothing;        /* nothing is left of what ran: the filter kept none of it, or no file of it is
                                 here; this was reported */
    const char *file_option;  /* of the filter, that can be applied to saved files too; NULL: none */
    const char *file_why;     /* why files of other kinds cannot be used */
    struct cli_ran ran;       /* in all buffers */
    FILE *out;        /* what is written to, whose errors are told when it is closed; NULL: standard output */
    uint16_t threads; /* to decode with */
    const struct cli_value *part; /* of --shard: the part of the capture that is decoded; NULL, or not given:
                                     all of it */
    struct ct_shard *shard;       /* what is noted of it, or NULL */
    /* Gives what is printed so far to standard output, since results of standard input are shown at once.
     * Result: enum ct_error. May be NULL. */
    int (*flush)(void *user);
    /* Told of a capture that was opened, with its programs, before it is decoded. False after a message. May
     * be NULL. */
    bool (*opened)(void *user);
    /* As in struct ct_session_options (may be NULL). */
    int (*begin)(void *user, struct ct_session_turn *turn);
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count);
    /* Gets the steps, too. May be NULL. */
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    /* Decodes a capture that was opened, in the place of the session. Result: enum cli_exit; -1: the session
     * is to do it. May be NULL. */
    int (*decode)(void *user);
    /* Told of the chain of each buffer when its steps were given. Result: enum ct_error. May be NULL. */
    int (*decoded)(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain);
    /* Reads operands of another kind. Result: enum cli_exit; -1: the operand is not of that kind. May be
     * NULL. */
    int (*other)(void *user, const char *path);
    /* Told of a capture that was decoded, before the next one is opened. False after a message. May be
     * NULL. */
    bool (*closing)(void *user);
    /* Told what each operand lost; `kind` is that of a saved file, NULL of a capture. False after a message.
     * May be NULL. */
    bool (*took)(void *user, const char *path, const struct ct_analysis_kind *kind,
                 const struct ct_losses *losses);
    void *user;
};

/* Reads the first bytes of a file, `size` at most. Returns how many; 0 also for a pipe, which is not read. */
size_t cli_results_begin(const char *path, void *start, size_t size);

/* Tells whether the file begins like a saved file of this kind, or of any kind (NULL). False for a pipe,
 * which is not read. */
bool cli_results_is_file(const struct ct_analysis_kind *kind, const char *path);

/* Adds what a saved file holds. False after a message. */
bool cli_results_load(struct ct_ctx *ctx, struct ct_analysis *into, const char *path);

/* Writes a saved file. Result: enum cli_exit. */
int cli_results_save(struct ct_ctx *ctx, struct ct_analysis *analysis, FILE *out);

/* Writes what was read: a saved file, or of a part of a capture what only the others make one of. Result:
 * enum cli_exit. */
int cli_results_save_read(struct cli_results *results, FILE *out);

/* Names the captures that should be in a result and are not. */
void cli_results_tell_failures(const char *path, const struct ct_analysis *analysis);

/* Opens a capture in the place of the one before, and adds the programs that are known before it is decoded.
 * False after a message. */
bool cli_results_open(struct cli_results *results, const char *path);

/* Reads what all operands name; a pipe is a saved file. Result: enum cli_exit. */
int cli_results_read(struct cli_results *results);

/* Says that `result` is empty because no instruction ran in the captures. When it `may_be_empty` that is a
 * note, and it is written all the same. Says nothing when trouble was told (`code`), of saved files, and of a
 * part of a capture. Result: CLI_DAMAGED when there is nothing to write, else CLI_CLEAN. */
int cli_results_nothing_ran(const struct cli_results *results, int code, const char *result,
                            bool may_be_empty);

/* Gives what the heading of a stream has: the name of its buffer, or NULL where that is `last` or the only
 * one, and its trace ID, or -1 where one ID alone is wanted. */
const char *cli_results_buffer(const struct cli_results *results, const struct ct_session_turn *turn,
                               const struct ct_buffer *last);
int cli_results_id(const struct cli_results *results, const struct ct_session_turn *turn);

/* Closes the capture and forgets the programs; the analysis belongs to the caller. */
void cli_results_close(struct cli_results *results);

#endif
