/* SPDX-License-Identifier: Apache-2.0 */
/* coretap analysis: the interface that all analyses of a trace share. An analysis takes batches, can be split
 * into parts that are merged later, and can be saved and loaded. Its own header (cover.h, for example) has
 * the functions that return its results. Code that runs analyses, merges captures or transfers results needs
 * only this interface.
 *
 *     struct ct_cover *sum;
 *     ct_cover_new(ctx, &sum);
 *     ct_analysis_load(ct_cover_analysis(sum), "monday.data", bytes, size);
 *     ct_analysis_merge(ct_cover_analysis(sum), ct_cover_analysis(tuesday));
 *     ct_analysis_save(ct_cover_analysis(sum), write_to_file, file);
 *
 * Merging is associative, an empty part is its identity, and sums do not depend on the order. Loading a saved
 * file and saving it again gives the same bytes. */
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

/* What an analysis takes. The trace is decoded only as far as its analyses need. */
enum ct_analysis_input {
    /* How often each edge was traversed, by context: one batch at the end of a piece of trace. */
    CT_INPUT_COUNTS = 1,
    CT_INPUT_CYCLES = 2,  /* like CT_INPUT_COUNTS, with cycles */
    CT_INPUT_STEPS = 4,   /* steps, in order */
    CT_INPUT_EVENTS = 8,  /* events along the program (event.h), in order; filters do not apply to them */
    CT_INPUT_TOTALS = 16, /* amounts of trace in the stream: one batch at its end; filters do not apply to
                             it */
};

/* Amounts of trace in a stream, and of what was decoded from it. */
struct ct_stream_totals {
    uint64_t bytes, packets, elements, atoms;
    uint64_t branches; /* taken */
    uint64_t instructions, ranges;
    uint64_t goes_on; /* 1: a part of a stream whose earlier part counts the stream itself */
};

/* Where a stream comes from. */
struct ct_stream_origin {
    const char *run;    /* the capture, under the name that ct_analysis_add_run gave it */
    const char *buffer; /* name of the buffer */
    uint8_t id;         /* trace ID, as listed: 0 in a buffer without frames */
    uint8_t pad[7];     /* 0 */
    const char *core;   /* name of the core, or of a source that belongs to no core; NULL: unknown */
};

/* One piece of one stream. Borrowed for the call. */
struct ct_analysis_batch {
    enum ct_analysis_input input; /* which of the pointers below is set */
    uint32_t lane; /* number of the stream, unique in the session. Batches of one stream come in order */
    const struct ct_graph *graph;          /* COUNTS, CYCLES: the program graph that numbers the edges in
                                              `edges` */
    const struct ct_edges *edges;          /* COUNTS, CYCLES: counts for each edge of `graph` */
    const struct ct_step_batch *steps;     /* STEPS */
    const struct ct_event_batch *events;   /* EVENTS */
    const struct ct_stream_totals *totals; /* TOTALS */
    const struct ct_stream_origin *origin; /* STEPS, EVENTS: NULL when unknown */
};

/* maximal number of numbers in a cut */
#define CT_ANALYSIS_CUT 16

/* The state of an analysis where a stream is cut. What the analysis finds after the cut depends on these
 * numbers and on the decoder's state, and on nothing else from before the cut. */
struct ct_analysis_cut {
    uint64_t numbers[CT_ANALYSIS_CUT];
    size_t count;
};

/* Which captures a result comes from, and how complete they were. The sums stop at 2^64 - 1. */
struct ct_analysis_captures {
    uint64_t known;          /* captures whose losses are in `losses` */
    uint64_t damaged;        /* captures whose trace is incomplete, contradicts the program, or is
                                truncated */
    uint64_t unknown;        /* files of an old version, which do not say what was lost */
    uint64_t failed;         /* captures that could not be read, so nothing of them is in the result */
    struct ct_losses losses; /* of all known captures together */
};

/* Identifies a program across captures. Borrowed for the call. */
struct ct_program_identity {
    const char *name;   /* path as given; of several paths with one build id, the first in alphabetical
                           order */
    uint64_t low, high; /* its code is in [low, high), without load bias */
    const uint8_t *build_id;
    size_t build_id_size; /* 0: no build id; programs are then told apart by name, otherwise by build id, low
                             and high */
    int started;          /* 1: no capture says that another program loaded it */
};

struct ct_analysis;
struct ct_event_batch; /* event.h */
struct ct_programs;    /* programs.h */
struct ct_save;
struct ct_load;

/* The operations of one kind of analysis, which its file fills in. All of them return 0 or a negative error,
 * whose text is in the context of the analysis. */
struct ct_analysis_kind {
    size_t size;        /* sizeof(struct ct_analysis_kind); a smaller value is refused */
    const char *name;   /* one word; the first line of a saved file is "coretap-NAME VERSION" */
    const char *writer; /* the command that saves such files, for error messages */
    unsigned version;   /* version of the files that are saved, from 1; files of all versions up to it can be
                           loaded */
    unsigned told;      /* first file version that says which captures it comes from; 0: all do */
    unsigned checked;   /* first file version that ends with a checksum over all bytes; 0: all do */
    uint32_t inputs;    /* enum ct_analysis_input, as a bit mask */

    /* Makes an empty analysis with the options of `whole`, for a piece of the trace; any thread may use
     * it. */
    int (*part)(const struct ct_analysis *whole, struct ct_analysis **part);
    /* Receives the programs that ran, as far as they are known: before each capture, and whenever more become
     * known. They stay valid until the next call. NULL: the analysis needs no programs. */
    int (*programs)(struct ct_analysis *analysis, struct ct_programs *programs);
    int (*take)(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);
    /* Ends a stream, whose graph is freed after this call. Merging and saving include a stream only after its
     * end. NULL: nothing to do at the end. */
    int (*end)(struct ct_analysis *analysis, uint32_t lane);
    /* Adds `from`, which is of the same kind. May sort `from` inside, without changing its results. */
    int (*merge)(struct ct_analysis *into, struct ct_analysis *from);
    /* Writes lines (ct_save_line). Their order depends only on their contents. */
    int (*save)(struct ct_analysis *analysis, struct ct_save *to);
    /* Reads lines (ct_load_line) into an empty part. */
    int (*load)(struct ct_analysis *part, struct ct_load *from);
    void (*free)(struct ct_analysis *analysis); /* NULL: the caller frees the object, after
                                                   ct_analysis_free */
    /* Optional, for kinds that take steps: returns the state of a stream at a synchronisation point, after
     * the steps taken so far, so that several processes can each take a part of the stream. With `is_end` 0
     * the part begins at the point, and what was found in the stream before it is dropped. *cut has no
     * numbers at the call. CT_ERR_NOT_FOUND: the state does not fit into so many numbers, and the capture is
     * decoded whole; CT_ERR_NOMEM. */
    int (*cut)(struct ct_analysis *analysis, uint32_t lane, int is_end, struct ct_analysis_cut *cut);
    unsigned words; /* in files of this version and later ones that sum is over words of eight bytes, which is
                       quicker; 0: in none, it is over bytes */
};

/* Maximal number of run names and of failure texts that are kept, and of bytes in each. */
#define CT_ANALYSIS_RUNS     1000
#define CT_ANALYSIS_RUN_NAME 4096

/* Names of the runs in a result, or texts of its failures: in alphabetical order, without duplicates. */
struct ct_analysis_runs {
    char **names;
    size_t count;
};

/* The first member of every analysis. */
struct ct_analysis {
    const struct ct_analysis_kind *kind;
    struct ct_ctx *ctx;
    struct ct_analysis_captures captures;
    struct ct_analysis_runs runs; /* ct_analysis_free frees `runs` and `failures` */
    struct ct_analysis_runs failures;
};

/* Makes an empty analysis of the same kind, with the same options. CT_ERR_ARG, CT_ERR_NOMEM, those of the
 * kind. */
CT_API int ct_analysis_part(const struct ct_analysis *whole, struct ct_analysis **part);
CT_API void ct_analysis_free(struct ct_analysis *analysis);

/* Takes one batch, whose input must be one of the kind's. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT, those of
 * the kind. */
CT_API int ct_analysis_take(struct ct_analysis *analysis, const struct ct_analysis_batch *batch);

/* Ends a stream that gave batches. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT, those of the kind. */
CT_API int ct_analysis_end(struct ct_analysis *analysis, uint32_t lane);

/* Adds the results and captures of `from`. CT_ERR_ARG when it is of another kind or the same object;
 * CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_analysis_merge(struct ct_analysis *into, struct ct_analysis *from);

/* Multiplies all counts by `weight`, which is at least 1. Sums stop at 2^64 - 1. Captures, their losses and
 * their names stay as they are. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_LIMIT. */
CT_API int ct_analysis_scale(struct ct_analysis *analysis, uint64_t weight);

/* Adds captures whose trace the analysis took. CT_ERR_ARG. */
CT_API int ct_analysis_add_captures(struct ct_analysis *analysis, const struct ct_analysis_captures *more);

/* Adds the name of a run to the result: a capture as it was given, and which part of it. When the name is
 * already there, here or when results are merged, a message in the log says that this run counts twice. Of
 * more than CT_ANALYSIS_RUNS names the first in alphabetical order are kept. CT_ERR_ARG also for an empty
 * name and for one longer than CT_ANALYSIS_RUN_NAME bytes, CT_ERR_NOMEM. */
CT_API int ct_analysis_add_run(struct ct_analysis *analysis, const char *name);

/* Returns the name of a run by its number. Numbers begin at 0, in alphabetical order; NULL past the last one.
 * The name stays valid until another run is added. */
CT_API const char *ct_analysis_run(const struct ct_analysis *analysis, size_t number);

/* Records a capture that should be in the result and is not. It counts in captures.failed. The text is its
 * name, a colon and the reason. Of more than CT_ANALYSIS_RUNS texts the first in alphabetical order are kept.
 * CT_ERR_ARG also for an empty text and for one longer than CT_ANALYSIS_RUN_NAME bytes, CT_ERR_NOMEM. */
CT_API int ct_analysis_add_failure(struct ct_analysis *analysis, const char *text);

/* Returns the text of a failure by its number, like ct_analysis_run. */
CT_API const char *ct_analysis_failure(const struct ct_analysis *analysis, size_t number);

/* Writes all results as a file that ct_analysis_load reads. docs/formats.md describes the format. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_analysis_save(struct ct_analysis *analysis, ct_write_fn *write, void *user);

/* Adds the contents of a saved file, called `name` in messages. CT_ERR_FORMAT, with the line number, when the
 * file is of another kind, truncated or altered; nothing of it is added then. CT_ERR_ARG, CT_ERR_NOMEM,
 * CT_ERR_LIMIT. */
CT_API int ct_analysis_load(struct ct_analysis *into, const char *name, const void *data, size_t size);

/* Returns 1 when the bytes begin like a saved file of this kind (NULL: of any kind), else 0. */
CT_API int ct_analysis_is_saved(const struct ct_analysis_kind *kind, const void *data, size_t size);

/* ---- for kinds of analyses ---- */

/* Writes one line, including the newline. Errors are remembered, so it is enough to check the result of the
 * last call. CT_ERR_NOMEM, what the receiver returned. */
CT_API int ct_save_line(struct ct_save *to, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 2, 3)))
#endif
    ;

/* A word of a line, not terminated by a NUL. */
struct ct_load_word {
    const char *text;
    size_t size;
};

#define CT_LOAD_WORDS 16

/* A line of a file that is being loaded. */
struct ct_load {
    struct ct_load_word words[CT_LOAD_WORDS]; /* separated by single spaces; the last word takes the rest of
                                                 the line */
    size_t word_count;                        /* at least 1 */
    unsigned version;                         /* version of the file */
};

/* Goes to the next line, skipping lines about captures. Returns 1; 0 at the end or after an error, which
 * ct_analysis_load then returns. */
CT_API int ct_load_line(struct ct_load *from);

/* Splits the current line again, into at most `most` words. */
CT_API void ct_load_split(struct ct_load *from, size_t most);

/* Returns 1 when word `index` exists and equals `text`, else 0. */
CT_API int ct_load_is(const struct ct_load *from, size_t index, const char *text);

/* Reads word `index` as a number in base 2 to 16. Returns 1 and the number in *value, or 0 when the word is
 * missing or not a number. */
CT_API int ct_load_number(const struct ct_load *from, size_t index, unsigned base, uint64_t *value);

/* Refuses the file because of its current line; `what` says what the line should contain. Returns
 * CT_ERR_FORMAT. */
CT_API int ct_load_bad(struct ct_load *from, const char *what);

#ifdef __cplusplus
}
#endif
#endif
