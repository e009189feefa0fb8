/* SPDX-License-Identifier: Apache-2.0 */
/* coretap analysis: one contract for all that is learnt from a trace. An analysis takes batches, is made
 * in parts that are added up, is saved and loaded; what it found is told by the functions of its own
 * header (cover.h). Who runs analyses, adds up captures or moves results knows the contract alone.
 *
 *     struct ct_cover *sum;
 *     ct_cover_new(ctx, &sum);
 *     ct_analysis_load(ct_cover_analysis(sum), "monday.data", bytes, size);
 *     ct_analysis_merge(ct_cover_analysis(sum), ct_cover_analysis(tuesday));
 *     ct_analysis_save(ct_cover_analysis(sum), write_to_file, file);
 *
 * Merging is associative, and an empty part is its identity; sums do not depend on the order either. What
 * was saved and loaded again is the same, to the byte. */
#ifndef CORETAP_ANALYSIS_H
#define CORETAP_ANALYSIS_H

#include "coretap/base.h"
#include "coretap/edges.h"
#include "coretap/graph.h"
#include "coretap/losses.h"
#include "coretap/steps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an analysis takes. Who runs it decodes as far as that and no further. */
enum ct_analysis_input {
    /* How often each edge was traversed, by context: once, at the end of a piece of trace. */
    CT_INPUT_COUNTS = 1,
    CT_INPUT_CYCLES = 2,  /* the same with cycles */
    CT_INPUT_STEPS = 4,   /* steps, in their order */
    CT_INPUT_EVENTS = 8,  /* events along the program (event.h), in their order; a filter leaves none out */
    CT_INPUT_TOTALS = 16, /* how much the stream had: once, when it is over; a filter leaves nothing out */
};

/* How much trace a stream had, and what it said. */
struct ct_stream_totals {
    uint64_t bytes, packets, elements, atoms;
    uint64_t branches; /* taken */
    uint64_t instructions, ranges;
    uint64_t goes_on; /* 1: another part of the stream, which comes before, counts the stream itself */
};

/* Where a stream is from. */
struct ct_stream_origin {
    const char *run;    /* the capture, as the result of the analysis names it (ct_analysis_add_run) */
    const char *buffer; /* its name */
    uint8_t id;         /* trace ID, as listed: 0 in a buffer without frames */
    uint8_t pad[7];     /* 0 */
    const char *core;   /* name of the core, or of the source that is of none; NULL: not known */
};

/* One piece of one stream. Borrowed for the call. */
struct ct_analysis_batch {
    enum ct_analysis_input input; /* which of the following is there */
    uint32_t lane; /* number of the stream: no other one of the session has it. Batches of one come
                      in order */
    const struct ct_graph *graph;          /* COUNTS, CYCLES: the program, whose numbers `edges` has */
    const struct ct_edges *edges;          /* COUNTS, CYCLES: what was counted of each edge of `graph` */
    const struct ct_step_batch *steps;     /* STEPS */
    const struct ct_event_batch *events;   /* EVENTS */
    const struct ct_stream_totals *totals; /* TOTALS */
    const struct ct_stream_origin *origin; /* STEPS, EVENTS: NULL when it is not known */
};

/* numbers of a cut at most */
#define CT_ANALYSIS_CUT 16

/* The state of an analysis where a stream is cut: of all that was before, what it finds behind the cut
 * depends on these numbers alone, and on the state of decoding. */
struct ct_analysis_cut {
    uint64_t numbers[CT_ANALYSIS_CUT];
    size_t count;
};

/* Of which captures a result is, and how whole they were. The sums stop at 2^64 - 1. */
struct ct_analysis_captures {
    uint64_t known;          /* captures whose losses are in `losses` */
    uint64_t damaged;        /* captures whose trace is incomplete, contradicts the program, or is cut off */
    uint64_t unknown;        /* files of an old version, which do not tell what was lost */
    uint64_t failed;         /* captures of which nothing is in the result: they could not be read */
    struct ct_losses losses; /* of the known ones together */
};

/* A program by what stays the same from capture to capture. Borrowed while it is passed. */
struct ct_program_identity {
    const char *name;   /* path as it was given; of several for one build id the first by alphabet */
    uint64_t low, high; /* its code is in [low, high), load bias not included */
    const uint8_t *build_id;
    size_t build_id_size; /* 0: it has none; then the name tells programs apart */
    int started;          /* 1: not loaded by another program, as far as any capture says */
};

struct ct_analysis;
struct ct_event_batch; /* event.h */
struct ct_programs;    /* programs.h */
struct ct_save;
struct ct_load;

/* What a kind of analysis does: its file fills in one of these. All results are 0 or a negative error, whose
 * text is in the context of the analysis. */
struct ct_analysis_kind {
    size_t size;        /* sizeof(struct ct_analysis_kind); with a smaller one nothing is taken */
    const char *name;   /* in one word: the first line of a saved one is "coretap-NAME VERSION" */
    const char *writer; /* the command that saves one, for messages about files */
    unsigned version;   /* that is saved, from 1 on; files of all versions up to it are loaded */
    unsigned told;      /* files of this version and later ones tell of which captures they are; 0: all */
    unsigned checked;   /* files of this version and later ones end with a sum over all their bytes; 0: all */
    uint32_t inputs;    /* enum ct_analysis_input, together */

    /* An empty one with the options of `whole`, for a piece of the trace; any thread may use it. */
    int (*part)(const struct ct_analysis *whole, struct ct_analysis **part);
    /* The programs that ran, as far as they are known: before a capture, and whenever more of them are. They
     * stay until the analysis is told of others. NULL: none are needed. */
    int (*programs)(struct ct_analysis *analysis, struct ct_programs *programs);
    int (*take)(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
    /* The stream is over: its graph goes away after this. What was taken of a stream counts in merging and
     * saving when it is over. NULL: nothing waits for that. */
    int (*end)(struct ct_analysis *analysis, uint32_t lane);
    /* `from` is of the same kind. It may be brought in order, and says the same afterwards. */
    int (*merge)(struct ct_analysis *into, struct ct_analysis *from);
    /* Writes lines (ct_save_line), in an order that depends on nothing but what they say. */
    int (*save)(struct ct_analysis *analysis, struct ct_save *to);
    /* Reads them (ct_load_line) into an empty part. */
    int (*load)(struct ct_analysis *part, struct ct_load *from);
    void (*free)(struct ct_analysis *analysis); /* NULL: the caller frees it, after ct_analysis_free */
    /* Optional, of a kind that takes steps: says in which state a stream is at a synchronisation point,
     * behind the steps that were taken, so that several processes can take the parts of the stream. `is_end`
     * 0: the part begins there, and what was found of the stream before it is forgotten. *cut has no numbers
     * yet. CT_ERR_NOT_FOUND: so many numbers do not say it, and the capture is decoded whole; CT_ERR_NOMEM.
     */
    int (*cut)(struct ct_analysis *analysis, uint32_t lane, int is_end, struct ct_analysis_cut *cut);
};

/* Names of runs, and texts of failures, that are kept at most, and bytes of one. */
#define CT_ANALYSIS_RUNS     1000
#define CT_ANALYSIS_RUN_NAME 4096

/* The names of the runs that a result is of, or the texts of its failures, by alphabet, each once. */
struct ct_analysis_runs {
    char **names;
    size_t count;
};

/* The first member of every analysis. */
struct ct_analysis {
    const struct ct_analysis_kind *kind;
    struct ct_ctx *ctx;
    struct ct_analysis_captures captures;
    struct ct_analysis_runs runs; /* ct_analysis_free frees these two */
    struct ct_analysis_runs failures;
};

/* Makes an empty analysis of the same kind, with the same options. CT_ERR_ARG, CT_ERR_NOMEM, those of the
 * kind. */
CT_API int ct_analysis_part(const struct ct_analysis *whole, struct ct_analysis **part);
CT_API void ct_analysis_free(struct ct_analysis *analysis);

/* Takes one batch, of an input that the kind has. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT, those of
 * the kind. */
CT_API int ct_analysis_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);

/* Ends a stream of which batches were taken. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT, those of the kind. */
CT_API int ct_analysis_end(struct ct_analysis *analysis, uint32_t lane);

/* Adds what `from` found, and its captures. CT_ERR_ARG for one of another kind and for itself; CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
CT_API int ct_analysis_merge(struct ct_analysis *into, struct ct_analysis *from);

/* Gives what was found a weight, from 1 on: it counts as if it had been found so many times. Sums stop at
 * 2^64 - 1. Captures, what they lost, and their names stay. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_analysis_scale(struct ct_analysis *analysis, uint64_t weight);

/* Adds captures whose trace was taken. CT_ERR_ARG. */
CT_API int ct_analysis_add_captures(struct ct_analysis *analysis, const struct ct_analysis_captures *more);

/* Says that the result is of a run of this name, too: a capture as it was given, and which part. A name that
 * is there already is told of in the log, here and when results are merged: that run counts twice. Of more
 * than CT_ANALYSIS_RUNS names the first by alphabet are kept. CT_ERR_ARG also for an empty name and one of
 * more than CT_ANALYSIS_RUN_NAME bytes, CT_ERR_NOMEM. */
CT_API int ct_analysis_add_run(struct ct_analysis *analysis, const char *name);

/* Returns a name of a run by its number, from 0 on by alphabet; NULL behind the last. It is there until one
 * is added. */
CT_API const char *ct_analysis_run(const struct ct_analysis *analysis, size_t number);

/* Says that a capture should be in the result and is not: it counts in captures.failed. The text is its name,
 * a colon and the reason. Of more than CT_ANALYSIS_RUNS texts the first by alphabet are kept. CT_ERR_ARG also
 * for an empty text and one of more than CT_ANALYSIS_RUN_NAME bytes, CT_ERR_NOMEM. */
CT_API int ct_analysis_add_failure(struct ct_analysis *analysis, const char *text);

/* Returns the text of a failure by its number, as ct_analysis_run does. */
CT_API const char *ct_analysis_failure(const struct ct_analysis *analysis, size_t number);

/* Writes all that the analysis found as a file that ct_analysis_load reads. Its format is in docs/formats.md.
 * CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_analysis_save(struct ct_analysis *analysis, ct_write_fn *write, void *user);

/* Adds what a saved file, called `name` in messages, says. CT_ERR_FORMAT with the number of the line for one
 * that is not of this kind, is cut off or was changed: then nothing of it was added. CT_ERR_ARG,
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_analysis_load(struct ct_analysis *into, const char *name, const void *data, size_t size);

/* Returns 1 when the bytes begin as a saved file of this kind does, or of any kind (NULL), else 0. */
CT_API int ct_analysis_is_saved(const struct ct_analysis_kind *kind, const void *data, size_t size);

/* ---- for kinds of analyses ---- */

/* Writes one line, the newline included. An error is also kept: it is enough to look at the result of the
 * last line. CT_ERR_NOMEM, what the receiver returned. */
CT_API int ct_save_line(struct ct_save *to, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* A word of a line; it does not end with a zero. */
struct ct_load_word {
    const char *text;
    size_t size;
};

#define CT_LOAD_WORDS 16

/* A line of a file that is being loaded. */
struct ct_load {
    struct ct_load_word words[CT_LOAD_WORDS]; /* between single spaces; the last one takes the rest */
    size_t word_count;                        /* at least 1 */
    unsigned version;                         /* of the file */
};

/* Goes to the next line that is not about captures. Result: 1; 0 when there is none, or an error was found,
 * which ct_analysis_load then returns. */
CT_API int ct_load_line(struct ct_load *from);

/* Splits the present line anew, into `most` words at most. */
CT_API void ct_load_split(struct ct_load *from, size_t most);

/* Returns 1 when word number `index` is there and is this text, else 0. */
CT_API int ct_load_is(const struct ct_load *from, size_t index, const char *text);

/* Reads word number `index` as a number in base 2 to 16. Result: 1 and the number in *value, or 0 when the
 * word is missing or is none. */
CT_API int ct_load_number(const struct ct_load *from, size_t index, unsigned base, uint64_t *value);

/* Refuses the file: its present line is wrong, and `what` says what should be there.
 * Returns CT_ERR_FORMAT. */
CT_API int ct_load_bad(struct ct_load *from, const char *what);

#ifdef __cplusplus
}
#endif
#endif
