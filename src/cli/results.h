/* SPDX-License-Identifier: Apache-2.0 */
/* The results of an analysis over all operands: captures are decoded for it, and saved files are added. */
#pragma once

#include "cli/filter.h"
#include "cli/programs.h"
#include "cli/ran.h"
#include "coretap/session.h"
#include "coretap/shard.h"

#define CLI_SHARD_OPTION                                                                                     \
    CLI_TEXT_OPTION("shard", 0, "K/N",                                                                       \
                    "Decode part K (from 1) of N parts of the capture, as coretap-mpi does on several "      \
                    "ranks. The output is not a result until it is joined with the other parts.")

struct cli_results {
    const struct cli_args *args;
    size_t elf;          /* index of the option that names programs; SIZE_MAX: none */
    bool names_programs; /* `opened` adds all wanted programs; those of the capture are not added */
    struct ct_programs *programs;
    struct ct_analysis *analysis; /* receives the results; NULL: there are no saved files, and functions below
                                     take the records */
    struct ct_analysis *also[2];  /* NULL, or further analyses for saved files of their kinds */
    const char *takes;            /* the expected kinds of files, for the message about another kind */
    struct ct_session *session;   /* while a capture is decoded */
    struct cli_wait wait;         /* shown where no bytes are read */
    struct cli_capture capture;   /* the last one */
    bool has_capture;
    bool needs_program;  /* a capture without known programs is refused */
    bool may_lack_files; /* when all files of a capture are missing, the result is empty instead of a failure
                          */
    bool sums_alone;     /* losses of saved files are reported as a sum instead of for each file */
    bool files_alone;    /* only saved files are added to the analysis; captures go to the functions below */
    bool captures_alone; /* only captures are added to the analysis; saved files are skipped */
    uint8_t edges;       /* as in struct ct_session_options */
    bool untold;         /* losses of captures are not reported, because another run over them does */
    bool has_file;       /* a saved file was read */
    struct cli_filter filter; /* for captures; read before with cli_filter_read */
    bool lacks_files;         /* all files of a capture were missing, which was reported */
    bool kept_nothing; /* nothing of what ran remains, because of the filter or because all files are missing;
                          this was reported */
    bool lacks_contexts;     /* a trace that was read has no context IDs, and could have them */
    const char *file_option; /* an option of the filter that also applies to saved files; NULL: none */
    const char *file_why;    /* why files of other kinds cannot be used */
    struct ct_ran ran;       /* over all buffers */
    FILE *out;        /* the output, whose errors are reported when it is closed; NULL: standard output */
    uint16_t threads; /* for decoding */
    /* value of --shard: the part of the capture to decode; NULL, or not given: all of it */
    const struct cli_value *part;
    struct ct_shard *shard; /* what is noted of that part, or NULL */
    /* Flushes the printed output, because results from standard input are shown at once. Returns an enum
     * ct_error. May be NULL. */
    int (*flush)(void *user);
    /* Called when a capture is open and its programs are known, before decoding. Returns false after a
     * message. May be NULL. */
    bool (*opened)(void *user);
    /* As in struct ct_session_options (may be NULL). */
    int (*begin)(void *user, struct ct_session_turn *turn);
    int (*events)(void *user, const struct ct_stream *stream, const struct ct_event *events, size_t count);
    /* Receives the steps as well. May be NULL. */
    int (*steps)(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch);
    /* Decodes an open capture in place of the session. Returns an enum cli_exit, or -1 to let the session do
     * it. May be NULL. */
    int (*decode)(void *user);
    /* Called with the chain of each buffer after its steps. Returns an enum ct_error. May be NULL. */
    int (*decoded)(void *user, const struct ct_buffer *buffer, const struct ct_chain *chain);
    /* Reads an operand of another kind. Returns an enum cli_exit, or -1 when the operand is not of that kind.
     * May be NULL. */
    int (*other)(void *user, const char *path);
    /* Called when a capture was decoded, before the next one is opened. Returns false after a message. May be
     * NULL. */
    bool (*closing)(void *user);
    /* Receives the losses of each operand. `kind` is that of a saved file, NULL for a capture. Returns false
     * after a message. May be NULL. */
    bool (*took)(void *user, const char *path, const struct ct_analysis_kind *kind,
                 const struct ct_losses *losses);
    void *user;
};

/* Reads the first bytes of a file, at most `size`. Returns their number; 0 for a pipe, which is not read. */
size_t cli_results_begin(const char *path, void *start, size_t size);

/* Returns whether a file begins like a saved file of this kind, or of any kind (NULL). Returns false for a
 * pipe, which is not read. */
bool cli_results_is_file(const struct ct_analysis_kind *kind, const char *path);

/* Adds the content of a saved file. Returns false after a message. */
bool cli_results_load(struct ct_ctx *ctx, struct ct_analysis *into, const char *path);

/* Writes a saved file. Returns an enum cli_exit. */
int cli_results_save(struct ct_ctx *ctx, struct ct_analysis *analysis, FILE *out);

/* Writes the result: a saved file or, for a part of a capture, a shard that has to be joined with the others.
 * Returns an enum cli_exit. */
int cli_results_save_read(struct cli_results *results, FILE *out);

/* Lists the captures that a result should have but lacks. */
void cli_results_tell_failures(const char *path, const struct ct_analysis *analysis);

/* Opens a capture in place of the last one, and adds the programs known before decoding. Returns false after
 * a message. */
bool cli_results_open(struct cli_results *results, const char *path);

/* Reads all operands; a pipe is a saved file. Returns an enum cli_exit. */
int cli_results_read(struct cli_results *results);

/* Reports that `result` is empty because no instruction ran in the captures. Unless it is `written`
 * nevertheless, because sums and pages may be empty, its file is not kept. Reports nothing when other trouble
 * was reported (`code`), for saved files, and for a part of a capture. Returns CLI_DAMAGED when the result is
 * empty, else CLI_CLEAN. */
int cli_results_nothing_ran(const struct cli_results *results, int code, const char *result, bool written);

/* Reports that `result`, which consists of `items`, is empty: with their reason when instructions ran, and as
 * cli_results_nothing_ran does otherwise. Returns the worse of `code` and CLI_DAMAGED. */
int cli_results_empty(const struct cli_results *results, int code, const char *result,
                      enum ct_empty_items items);

/* Return the parts of a stream's heading: the name of its buffer, or NULL when that is `last` or the only
 * one; and its trace ID, or -1 when a single ID was selected. */
const char *cli_results_buffer(const struct cli_results *results, const struct ct_session_turn *turn,
                               const struct ct_buffer *last);
int cli_results_id(const struct cli_results *results, const struct ct_session_turn *turn);

/* Closes the capture and forgets the programs. Does not free the analysis, which the caller owns. */
void cli_results_close(struct cli_results *results);

/* Notes how often stacks of calls began anew (ct_stacks_renewed), if ever, and what to do about it. */
void cli_results_note_new_stacks(const struct cli_results *results, uint64_t times);
