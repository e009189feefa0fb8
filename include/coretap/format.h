/* SPDX-License-Identifier: Apache-2.0 */
/* coretap format: what was found, as text for people and in the formats of other tools.
 *
 *     const struct ct_cover_views_options what = {.size = sizeof what, .title = "capture"};
 *     const struct ct_cover_write_options how = {.size = sizeof how, .format = CT_COVER_FORMAT_LCOV};
 *     ct_cover_views_new(cover, programs, &what, &views);
 *     ct_cover_views_write(views, &how, write, user);
 *     ct_cover_views_free(views);
 *
 * Functions that write give their text to a receiver, in pieces. What the receiver returns ends the writing.
 */
#ifndef CORETAP_FORMAT_H
#define CORETAP_FORMAT_H

#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/cover.h"
#include "coretap/decode.h"
#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/programs.h"
#include "coretap/stacks.h"
#include "coretap/timeline.h"
#include "coretap/timing.h"
#include "coretap/edge_events.h"
#include "coretap/watch.h"
#include "coretap/wcet.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- coverage ---- */

/* What coverage says of each program, ready to be written. */
struct ct_cover_views;

struct ct_cover_views_options {
    size_t size;                /* sizeof(struct ct_cover_views_options) */
    const char *title;          /* what was covered, for the heading of a page; NULL: "capture" */
    const struct ct_arch *arch; /* of the core that ran the programs; NULL: a newest A profile */
    const uint32_t *contexts;   /* context IDs whose counts are wanted; NULL: all counts */
    size_t context_count;
    uint8_t each_context;  /* 1: text and JSON have the sums of each context, too */
    uint8_t all_functions; /* as in struct ct_cover_source */
};

/* Works out what the counts in `cover` say of each of the programs, in their order. One that lay at several
 * places is in it once. `programs` has to stay as long as the views. Errors: those of ct_cover_report_new, of
 * ct_program_symbols and of ct_program_lines. */
CT_API int ct_cover_views_new(struct ct_cover *cover, struct ct_programs *programs,
                              const struct ct_cover_views_options *options, struct ct_cover_views **out);
CT_API void ct_cover_views_free(struct ct_cover_views *views);

/* Returns how many programs the views are of. */
CT_API size_t ct_cover_views_count(const struct ct_cover_views *views);

/* Returns what is known of one of the programs, by its number in the views. The report belongs to them. NULL
 * for other numbers. */
CT_API const struct ct_cover_report *ct_cover_views_report(const struct ct_cover_views *views, size_t number);

enum ct_cover_format {
    CT_COVER_FORMAT_TEXT,      /* a summary */
    CT_COVER_FORMAT_LCOV,      /* a tracefile for genhtml */
    CT_COVER_FORMAT_COBERTURA, /* XML */
    CT_COVER_FORMAT_JSON,      /* all but instructions */
    CT_COVER_FORMAT_HTML,      /* one page, with source and instructions */
};

struct ct_cover_write_options {
    size_t size;       /* sizeof(struct ct_cover_write_options) */
    uint64_t seconds;  /* since 1970, the time that Cobertura's file tells; 0: now */
    uint8_t format;    /* enum ct_cover_format */
    uint8_t functions; /* 1: text has a line for each function */
};

/* Writes coverage in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM when something is missing in the page, what
 * `write` returned. */
CT_API int ct_cover_views_write(const struct ct_cover_views *views,
                                const struct ct_cover_write_options *options, ct_write_fn *write, void *user);

/* ---- times ---- */

enum ct_timing_format {
    CT_TIMING_FORMAT_TEXT, /* tables */
    CT_TIMING_FORMAT_JSON, /* an array with all of each stream, histograms too */
    CT_TIMING_FORMAT_SVG,  /* one plot */
};

struct ct_timing_write_options {
    size_t size;                  /* sizeof(struct ct_timing_write_options) */
    struct ct_programs *programs; /* that ran (not owned): the first one's control flow names edges and has
                                     the blocks. NULL: edges have no names, and there are no blocks */
    const char *function;         /* for SVG: whose inclusive times are drawn (not owned); NULL: the first
                                     pair's */
    uint64_t top;                 /* lines of each table, those with most cycles; 0: 20 */
    uint8_t format;               /* enum ct_timing_format */
    uint8_t edges;                /* 1: text has a table of edges */
    uint8_t blocks;               /* 1: text has a table of basic blocks */
    uint8_t longest;              /* 1: text has a table of the longest runs of functions */
};

/* Of which stream times are. */
struct ct_timing_origin {
    const char *buffer;
    const char *core;
    struct ct_losses losses;
    uint8_t id;     /* trace ID */
    uint8_t pad[7]; /* 0 */
};

/* Writes times of streams and sums, one behind the other. */
struct ct_timing_writer;

/* Makes a writer that gives its text to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_writer_new(struct ct_ctx *ctx, const struct ct_timing_write_options *options,
                                ct_write_fn *write, void *user, struct ct_timing_writer **out);

/* Closes what is open and frees the writer. */
CT_API void ct_timing_writer_free(struct ct_timing_writer *writer);

/* Writes the times of one stream. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_cfg, what the receiver
 * returned. */
CT_API int ct_timing_writer_stream(struct ct_timing_writer *writer, const struct ct_timing *timing,
                                   const struct ct_timing_origin *origin);

/* Writes sums, with the captures that they are of. The same errors, and those of ct_timing_sums_find. */
CT_API int ct_timing_writer_sums(struct ct_timing_writer *writer, struct ct_timing_sums *sums);

/* Says that nothing more comes. An array without an entry is written too. CT_ERR_ARG, what the receiver
 * returned. */
CT_API int ct_timing_writer_end(struct ct_timing_writer *writer);

/* Returns how many streams and sums were written; those with nothing to plot were not. */
CT_API size_t ct_timing_writer_count(const struct ct_timing_writer *writer);

/* ---- listings ---- */

/* One line for each packet, or for each element along the program (docs/listing.md). */
struct ct_lister;

/* Makes a lister that gives its lines to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_lister_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_lister **out);
CT_API void ct_lister_free(struct ct_lister *lister);

/* Makes the listing one object of JSON a line, before its first line (docs/listing.md). There are no
 * headings; each object has the name of the buffer that ct_lister_heading said. Such a listing has no parts.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_lister_json(struct ct_lister *lister);

/* What stands below lines of elements that have an address of code. */
struct ct_lister_code_options {
    size_t size;                  /* sizeof(struct ct_lister_code_options) */
    struct ct_programs *programs; /* whose names and source lines are told (not owned); NULL: none */
    /* The capture that is listed (not owned), or NULL. Its memory is read before the files of programs, and
     * it says which programs lay in which memory. */
    const struct ct_capture *capture;
    void *user; /* of the following, which may be NULL */
    /* As in struct ct_event_write_options. */
    int (*unnamed)(void *user, const struct ct_program *program);
    uint8_t symbols; /* 1: names and source lines, for each function and source line of a range */
    uint8_t insns;   /* 1: instructions, in words where Capstone is built in; each of a range has a line */
    uint8_t pad[6];  /* 0 */
};

/* Adds lines of code to a listing of elements, before its first line. Such a listing has no parts. CT_ERR_ARG
 * also when neither symbols nor instructions are asked for; CT_ERR_NOMEM, those of ct_event_writer_new. They
 * are then errors of ct_lister_flow, too. */
CT_API int ct_lister_code(struct ct_lister *lister, const struct ct_lister_code_options *options);

/* Says of which buffer (not owned) and trace ID the next lines are. It is written before the first of them.
 * NULL: of the one said before; -1: no ID is written. CT_ERR_ARG. */
CT_API int ct_lister_heading(struct ct_lister *lister, const char *buffer, int id);

/* Lists a batch, as receivers of a chain get it: packets, or records of the walk. Of one stream all batches
 * come in order. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_lister_packets(struct ct_lister *lister, const struct ct_stream *stream,
                             const struct ct_packet_batch *batch);
CT_API int ct_lister_flow(struct ct_lister *lister, const struct ct_stream *stream,
                          const struct ct_flow_batch *batch);

/* Gives what is listed so far to the receiver, but for a line that is not over. The same errors. */
CT_API int ct_lister_flush(struct ct_lister *lister);

/* Ends the last line of a stream. The same errors. */
CT_API int ct_lister_end(struct ct_lister *lister);

/* Makes a lister for a part of a stream of ETMv4, ETE, ETMv3 or PTM; any thread may call this and use it.
 * CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_UNSUPPORTED after ct_lister_code and
 * ct_lister_json. */
CT_API int ct_lister_part(struct ct_lister *whole, struct ct_lister **part);

/* Adds the lines of a part, in order, unless `keep` is 0; the part is gone. The errors of ct_lister_flow. */
CT_API int ct_lister_join(struct ct_lister *whole, struct ct_lister *part, int keep);

/* Returns the name of a type of packets as in listings. "i_atom_f1" and "branch_address" are such names; NULL
 * for a type that is none, and for protocols that are not decoded. */
CT_API const char *ct_packet_type_name(enum ct_protocol protocol, unsigned type);

/* ---- events ---- */

enum ct_event_format {
    CT_EVENT_FORMAT_TSV,   /* columns type, cycle, value, note */
    CT_EVENT_FORMAT_JSONL, /* one object a line */
    CT_EVENT_FORMAT_CSV,   /* the columns of TSV behind buffer, trace ID and offset */
    /* Branches and events of trace units as Table I of paper 1 has them: columns type, cycle, value, a line
     * for each event by its name. Losses, too: nobody could tell else what is missing. Not with `merged`. */
    CT_EVENT_FORMAT_TABLE1,
};

struct ct_event_write_options {
    size_t size;                  /* sizeof(struct ct_event_write_options) */
    struct ct_programs *programs; /* whose names stand beside addresses (not owned); NULL: addresses alone */
    /* The capture that events are of (not owned), or NULL. Where it says for each memory which programs lay
     * in it, these are added to `programs` when the first address in it comes. */
    const struct ct_capture *capture;
    void *user; /* of the following, which may be NULL */
    /* A program whose names cannot be loaded; ct_ctx_error says why. One that was named (ct_programs_add) is
     * an error instead. A result other than 0 ends the writing. */
    int (*unnamed)(void *user, const struct ct_program *program);
    /* Names of events (named.h) that cannot be used; ct_ctx_error says why. Their writes are written as they
     * are. A result other than 0 ends the writing. */
    int (*unnamed_events)(void *user);
    uint8_t format;     /* enum ct_event_format */
    uint8_t merged;     /* 1: the first column is the time; TSV has the trace ID, too */
    uint8_t text_ports; /* 1: what software writes to stimulus ports and channels stands in lines of text,
                           each where the write is that ends it */
    uint8_t sources;    /* 1: lines have the source line of an address, as the programs know it */
    uint8_t insns;      /* 1: lines have the instruction at an address, in words where Capstone is built in */
    uint8_t pad[3];     /* 0 */
};

/* What events are of. */
struct ct_event_origin {
    const char *buffer;
    const struct ct_source *source; /* lines of text are put together by source and trace ID */
    uint8_t id;                     /* trace ID */
    uint8_t timed;                  /* merged: 1 when the source has timestamps; else there is no time */
    uint8_t pad[6];                 /* 0 */
};

/* Writes events, one line each. */
struct ct_event_writer;

/* Makes a writer that gives its lines to `write`. The names of the columns come first, but in JSON, with the
 * first line or flush. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_programs_in, those of ct_program_symbols for
 * programs that were named. */
CT_API int ct_event_writer_new(struct ct_ctx *ctx, const struct ct_event_write_options *options,
                               ct_write_fn *write, void *user, struct ct_event_writer **out);

/* Writes what is left and frees the writer. */
CT_API void ct_event_writer_free(struct ct_event_writer *writer);

/* Says of which buffer (not owned) and trace ID the next lines are, as ct_lister_heading does. CT_ERR_ARG. */
CT_API int ct_event_writer_heading(struct ct_event_writer *writer, const char *buffer, int id);

/* Writes events, of each source in their order. Those with a time are for writers with `merged`, the others
 * for those without. The errors of ct_event_writer_new, what `write` and `unnamed` returned. */
CT_API int ct_event_writer_add(struct ct_event_writer *writer, const struct ct_event_origin *origin,
                               const struct ct_event *events, size_t count);
CT_API int ct_event_writer_add_timed(struct ct_event_writer *writer, const struct ct_event_origin *origin,
                                     const struct ct_timed_event *events, size_t count);

/* Gives what is written so far to the receiver. The same errors. */
CT_API int ct_event_writer_flush(struct ct_event_writer *writer);

/* ---- watchpoints ---- */

enum ct_watch_format {
    CT_WATCH_FORMAT_TSV,   /* columns */
    CT_WATCH_FORMAT_JSONL, /* one object a line */
    CT_WATCH_FORMAT_CSV,   /* the columns of TSV, buffer and trace ID among them */
};

struct ct_watch_write_options {
    size_t size;    /* sizeof(struct ct_watch_write_options) */
    uint8_t format; /* enum ct_watch_format */
    uint8_t pad[7]; /* 0 */
};

/* Writes events of watchpoints, one line each. */
struct ct_watch_writer;

/* Makes a writer that gives its lines to `write`. The names of the columns come first, but in JSON, with the
 * first line or flush. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watch_writer_new(struct ct_ctx *ctx, const struct ct_watch_write_options *options,
                               ct_write_fn *write, void *user, struct ct_watch_writer **out);

/* Writes what is left and frees the writer. */
CT_API void ct_watch_writer_free(struct ct_watch_writer *writer);

/* Says of which buffer (not owned) and trace ID the next lines are, as ct_lister_heading does. CT_ERR_ARG. */
CT_API int ct_watch_writer_heading(struct ct_watch_writer *writer, const char *buffer, int id);

/* Writes events that a watcher of `watches` gave. CT_ERR_ARG, what the receiver returned. */
CT_API int ct_watch_writer_add(struct ct_watch_writer *writer, const struct ct_event_origin *origin,
                               const struct ct_watches *watches, const struct ct_watch_event *events,
                               size_t count);

/* Gives what is written so far to the receiver. The same errors. */
CT_API int ct_watch_writer_flush(struct ct_watch_writer *writer);

/* ---- edges ---- */

/* Writes what an object of edge_events.h makes as lines: the number of an edge and its cycles, - where they
 * are not known, or the name of another kind and its value. */
struct ct_edge_text;

/* Makes one that gives its lines to `write`; names of columns come first. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_edge_text_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_edge_text **out);

/* Writes what is left and frees the writer. */
CT_API void ct_edge_text_free(struct ct_edge_text *text);

/* Takes a piece of events, as ct_edge_events_new wants it. `edge_text` is the writer. CT_ERR_ARG, what the
 * receiver returned. */
CT_API int ct_edge_text_write(void *edge_text, const void *data, size_t size);

/* Gives what is written so far to the receiver. The same errors. */
CT_API int ct_edge_text_flush(struct ct_edge_text *text);

/* Writes what the numbers of edges are, one a line. The columns: number; how execution went along it (taken,
 * not-taken, call, return, jump, on: no branch, interrupted: by an exception, open: nobody knows where to);
 * the address of the first instruction, of the branch, and of what came then; instructions; what the last two
 * addresses are called. `programs` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM, what the receiver returned. */
CT_API int ct_edge_numbers_write(struct ct_ctx *ctx, const struct ct_graph *edges,
                                 struct ct_programs *programs, ct_write_fn *write, void *user);

/* ---- control flow ---- */

enum ct_cfg_format {
    CT_CFG_FORMAT_TEXT,   /* functions with their blocks, edges and loops */
    CT_CFG_FORMAT_DOT,    /* graphviz's language */
    CT_CFG_FORMAT_JSON,   /* the same as text */
    CT_CFG_FORMAT_LEARNT, /* what was learnt from traces, as a file of targets; nothing where nothing was */
};

struct ct_cfg_write_options {
    size_t size;                            /* sizeof(struct ct_cfg_write_options) */
    const struct ct_cfg_function *function; /* the only one to write, of ct_cfg_functions(); NULL: all */
    uint8_t format;                         /* enum ct_cfg_format */
};

/* Writes a control flow graph in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_cfg_write(struct ct_ctx *ctx, const struct ct_cfg *cfg,
                        const struct ct_cfg_write_options *options, ct_write_fn *write, void *user);

/* ---- stacks ---- */

/* How stacks are written: a line for each, for flame graphs, callers before what they call, with ';' between
 * functions and a number behind them. */
struct ct_stack_write_options {
    size_t size;     /* sizeof(struct ct_stack_write_options) */
    uint8_t cycles;  /* 1: the number is cycles as far as they are known; 0: instructions */
    uint8_t pad[7];  /* 0 */
    uint8_t modules; /* 1: a function is "module`function", with the last part of the path of its program, or
                        "[unknown]" for that */
    uint8_t pad2[7]; /* 0 */
};

/* Writes the stacks that have a number, by program and address. CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned. */
CT_API int ct_stack_sums_write(struct ct_stack_sums *sums, const struct ct_stack_write_options *options,
                               ct_write_fn *write, void *user);

/* How deep stacks are, and how much of them ct_stack_sums_write and ct_profile_write write. */
struct ct_stack_depth {
    uint32_t deepest; /* functions of the deepest stack */
    uint32_t most; /* functions of a stack that are written: of one with more the innermost one, the outermost
                      ones, and "[...]" between */
    uint64_t cut;  /* how many stacks have more */
};

/* Says how much of deep stacks is written: all, unless stacks have more than 2^25 functions together, and
 * more than 256 on average. Then it is a power of two, 256 at least. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_stack_sums_depth(struct ct_stack_sums *sums, struct ct_stack_depth *out);

/* ---- profiles ---- */

enum ct_profile_format {
    CT_PROFILE_FORMAT_AUTOFDO,     /* ranges and branches, for create_llvm_prof --profiler=text */
    CT_PROFILE_FORMAT_LLVM,        /* a sample profile, for clang */
    CT_PROFILE_FORMAT_BOLT,        /* pre-aggregated, for perf2bolt -pa */
    CT_PROFILE_FORMAT_CALLGRIND,   /* cost by line and calls, for KCachegrind and callgrind_annotate */
    CT_PROFILE_FORMAT_PPROF,       /* stacks of all programs, for pprof: its message Profile, with gzip */
    CT_PROFILE_FORMAT_BRANCH_LIST, /* branch_list.h, for simpleperf */
};

struct ct_profile_write_options {
    size_t size;                /* sizeof(struct ct_profile_write_options) */
    const struct ct_arch *arch; /* of the core that ran the programs; NULL: a newest A profile */
    const uint32_t *contexts;   /* context IDs whose counts are wanted; NULL: all counts */
    size_t context_count;
    struct ct_stack_sums *stacks; /* for CALLGRIND and PPROF: stacks, and what is called from where (not
                                     owned); `cover` can be ct_stack_sums_cover of the same */
    uint8_t format;               /* enum ct_profile_format */
    uint8_t skip_empty; /* 1: AUTOFDO writes nothing, in place of empty lists, where no counts are known */
    uint8_t cycles; /* 1: PPROF shows cycles first; 0: instructions. Both are in it where both are known */
    uint8_t pad[5]; /* 0 */
    uint64_t *left_out; /* BRANCH_LIST: becomes how many instructions are in no list, since the run that they
                           are in ended without a branch: at an exception, or where the trace did. NULL: it is
                           not wanted */
    const struct ct_program *program; /* the one that is wanted, of `programs`; NULL: as below */
    const char *root; /* BRANCH_LIST: folder of the target's files, below which paths are those of the target;
                         NULL: there is none */
};

/* What a profile has in it. */
struct ct_profile_written {
    size_t program_count;
    const char *program; /* path of the first one; NULL: there is none */
    uint64_t entries;    /* AUTOFDO, BOLT: ranges and branches; LLVM, CALLGRIND: functions that ran; PPROF:
                            stacks; BRANCH_LIST: lists */
};

/* Writes a profile of what is counted in `cover`. It is of the programs that were named; without them of
 * those that were started, where that is known; CALLGRIND, PPROF and BRANCH_LIST are of all. AUTOFDO and BOLT
 * have no place for the name of a program: another number of them than one is CT_ERR_ARG. *written (which may
 * be NULL) is set then, too. Errors: those of ct_cover_report_new, of ct_program_symbols and of
 * ct_program_lines, what `write` returned. */
CT_API int ct_profile_write(struct ct_cover *cover, struct ct_programs *programs,
                            const struct ct_profile_write_options *options, ct_write_fn *write, void *user,
                            struct ct_profile_written *written);

struct ct_slice_write_options {
    size_t size;    /* sizeof(struct ct_slice_write_options) */
    uint64_t from;  /* slices are cut to [from, to) */
    uint64_t to;    /* slices of which nothing is in [from, to) are left out; 0: no end */
    uint8_t cycles; /* 1: time is cycles; 0: instructions */
    uint8_t pad[7]; /* 0 */
};

/* Writes slices of stacks as trace events, for the viewers of Chrome and Perfetto. A cycle or an instruction
 * is a microsecond there. */
struct ct_slice_writer;

/* Makes a writer that gives its text to `write`; before the first slice nothing is written. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_slice_writer_new(struct ct_ctx *ctx, const struct ct_slice_write_options *options,
                               ct_write_fn *write, void *user, struct ct_slice_writer **out);

/* Gives what is left to the receiver and frees the writer. */
CT_API void ct_slice_writer_free(struct ct_slice_writer *writer);

/* Says that the slices that come are of another capture, whose name is `run`. Time begins anew with it
 * (but see ct_slice_writer_align), and each of its streams becomes a process that has the name of the capture
 * and of its core (ct_slice_writer_stream), or the number of the stream. Without this call processes are
 * streams. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_writer_begin(struct ct_slice_writer *writer, const char *run);

/* Says which stream has a number, before its first slice: its process is called after its core, and threads
 * have the names that the capture has for their contexts. It has to stay until the next one is begun.
 * CT_ERR_LIMIT: `lane` is as ct_stacks_add refuses it. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_writer_stream(struct ct_slice_writer *writer, uint32_t lane,
                                  const struct ct_capture *capture, const struct ct_stream *stream);

/* How the cycles or instructions of a capture's streams lie on the axis of their timestamps. */
struct ct_slice_clocks;

/* Makes clocks of streams whose time is cycles (1), or instructions (0). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_clocks_new(struct ct_ctx *ctx, uint8_t cycles, struct ct_slice_clocks **out);
CT_API void ct_slice_clocks_free(struct ct_slice_clocks *clocks);

/* Takes the steps of a stream, in order. CT_ERR_LIMIT: `lane` is as ct_stacks_add refuses it. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_slice_clocks_add(struct ct_slice_clocks *clocks, uint32_t lane,
                               const struct ct_step_batch *batch);

/* Says that the slices that come are of a capture with these clocks. They took all of its steps before and
 * are not owned. Times are those of the timestamps, in nanoseconds as the frequency (in Hz) or else the
 * capture's clock says, or one for a tick. A microsecond in the file is one then. CT_ERR_ARG. */
CT_API int ct_slice_writer_align(struct ct_slice_writer *writer, const struct ct_slice_clocks *clocks,
                                 const struct ct_clock *clock, uint64_t frequency);

/* Writes the slices that the stacks have at this time (ct_stacks_slices): after each ct_stacks_add, and after
 * ct_stacks_finish. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_slice_writer_add(struct ct_slice_writer *writer, const struct ct_stacks *stacks);

/* Says that nothing more comes. A file without a slice is written too. The same errors. */
CT_API int ct_slice_writer_end(struct ct_slice_writer *writer);

/* Returns how many slices were written. */
CT_API uint64_t ct_slice_writer_count(const struct ct_slice_writer *writer);

/* ---- traces for Perfetto ---- */

/* Writes a trace of Perfetto, as its published messages say: a track for each core with the contexts that
 * run, counters, and events; the functions of each context; what programs write to an ITM or STM. Processes
 * and threads have their names where the capture has them.
 *
 * Times are those of the timestamps, with cycles (or instructions) between them, in nanoseconds as the
 * capture's clock or the frequency says; else one tick is one. A stream in which no timestamp comes has its
 * cycles as nanoseconds, or its instructions where none are counted; so has what is behind the timestamp of a
 * stream that has one alone. Events wait for the next timestamp, up
 * to CT_TIMELINE_WAITING in a stream (5 MB). */
struct ct_perfetto_writer;

struct ct_perfetto_write_options {
    size_t size;                  /* sizeof(struct ct_perfetto_write_options) */
    struct ct_programs *programs; /* for the names of named events (not owned); NULL: there are none */
    uint64_t max_size;            /* bytes that are written at most; 0: no limit */
    uint64_t frequency;           /* of timestamps, in Hz; 0: as the capture says */
};

/* What was written so far. */
struct ct_perfetto_seen {
    uint64_t slices, instants, values; /* what ran, functions and spans; events; values of counters */
    uint64_t left_out;                 /* slices that max_size left no room for */
    uint64_t size;                     /* bytes before they were compressed: what a viewer reads */
    uint32_t timed, untimed;           /* streams that are over, with timestamps and without any */
    uint32_t unrated; /* streams with one timestamp alone, whose time goes on as if there were none */
    uint8_t full;     /* 1: max_size was come to, and the trace ends there */
    uint8_t pad[3];   /* 0 */
    uint64_t watched; /* events of watchpoints */
};

/* Makes a writer that gives its bytes to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_perfetto_writer_new(struct ct_ctx *ctx, const struct ct_perfetto_write_options *options,
                                  ct_write_fn *write, void *user, struct ct_perfetto_writer **out);

/* Gives what is left to the receiver and frees the writer. */
CT_API void ct_perfetto_writer_free(struct ct_perfetto_writer *writer);

/* Says that what comes is of this capture, which has to stay until its end. `run` is its name where it is
 * a group of tracks of its own; NULL: it is the only one, or of one system with others that are begun so, and
 * shares with them processes, threads and the arrows between cores. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_perfetto_writer_begin(struct ct_perfetto_writer *writer, const struct ct_capture *capture,
                                    const char *run);

/* What is said of a place in a stream, such as a violation of a specification. */
struct ct_perfetto_note {
    struct ct_watch_event at; /* the event of a watcher over the stream that it is said of */
    const char *buffer;       /* name of the buffer of the stream */
    const char *text;
    uint8_t id;     /* trace ID of the stream */
    uint8_t pad[7]; /* 0 */
};

/* Says what else the trace shows of the capture that was begun, before its first batch: what comes by
 * watchpoints (NULL: nothing is watched), and what is said of its places, in the order of each stream. What
 * is in code stands among the functions of its context, all else on the track of its core. Nothing is owned,
 * and all of it has to stay until the capture is over. CT_ERR_ARG. */
CT_API int ct_perfetto_writer_watch(struct ct_perfetto_writer *writer, struct ct_watches *watches,
                                    const struct ct_perfetto_note *notes, size_t count);

/* Writes the moves that the stacks have at this time (ct_stacks_moves). It is called after each
 * ct_stacks_add, with the stream and the batch that were added. CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned. */
CT_API int ct_perfetto_writer_add(struct ct_perfetto_writer *writer, const struct ct_stream *stream,
                                  const struct ct_step_batch *batch, uint32_t lane,
                                  const struct ct_stacks *stacks);

/* Says that the capture is over, after ct_stacks_finish: all that is open ends. The same errors. */
CT_API int ct_perfetto_writer_finish(struct ct_perfetto_writer *writer, const struct ct_stacks *stacks);

/* Says that nothing more comes. The same errors. */
CT_API int ct_perfetto_writer_end(struct ct_perfetto_writer *writer);

/* Returns what was written so far, borrowed; NULL for NULL. */
CT_API const struct ct_perfetto_seen *ct_perfetto_writer_seen(const struct ct_perfetto_writer *writer);

/* ---- longest paths ---- */

/* The longest path of a function with what there is to say of its places. Nothing of it is owned. */
struct ct_wcet_view {
    const char *entry; /* name of the function */
    const struct ct_wcet *wcet;
    const struct ct_cfg *cfg;            /* of its program */
    const struct ct_lines *lines;        /* source lines, or NULL */
    const struct ct_wcet_result *result; /* of ct_wcet_solve */
    struct ct_losses losses;             /* of the trace that was measured */
};

enum ct_wcet_format {
    CT_WCET_FORMAT_TEXT, /* keys and tables */
    CT_WCET_FORMAT_JSON,
    CT_WCET_FORMAT_DOT,  /* the path in graphviz's language */
    CT_WCET_FORMAT_HTML, /* a page, with source */
};

struct ct_wcet_write_options {
    size_t size;    /* sizeof(struct ct_wcet_write_options) */
    uint8_t format; /* enum ct_wcet_format */
    uint8_t source; /* 1: text has the source of the path, with executions and cycles of each line */
    uint8_t pad[6]; /* 0 */
};

/* Writes a longest path in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM when something is missing in source
 * or page, what `write` returned. */
CT_API int ct_wcet_write(struct ct_ctx *ctx, const struct ct_wcet_view *view,
                         const struct ct_wcet_write_options *options, ct_write_fn *write, void *user);

/* ---- sources ---- */

/* Receives one fact: a short subject ("cycle counts") and what is so about it ("off"). */
typedef void ct_describe_fn(void *user, const char *subject, const char *text);

/* Says all that the registers of a source tell of its trace, in a fixed order. */
CT_API void ct_source_describe(const struct ct_source *source, ct_describe_fn *fn, void *user);

/* Writes the version of a source into `text`, as far as there is room. "ETMv4.0", "ETEv1.1", "ETMv3.4",
 * "PFTv1.1", "STM" and "ITM" are such versions. */
CT_API void ct_source_version(const struct ct_source *source, char *text, size_t size);

/* ---- losses ---- */

#define CT_LOSSES_WORDS 256

/* Says in words what was lost: "none", or how much of each kind. Returns `text`; NULL without one of them. */
CT_API const char *ct_losses_words(char text[CT_LOSSES_WORDS], const struct ct_losses *losses);

/* Writes what is known of losses as key=value, each but the first one behind `gap`. CT_ERR_ARG, what `write`
 * returned. */
CT_API int ct_losses_keys(const struct ct_losses *losses, enum ct_losses_known known, char gap,
                          ct_write_fn *write, void *user);

/* ---- text of others ---- */

/* For what text is written whose bytes nobody vouches for, such as names in files. */
enum ct_text_use {
    CT_TEXT_TERMINAL, /* what a terminal would obey, and what is no UTF-8, becomes \xHH */
    CT_TEXT_XML,      /* XML and HTML, between tags or in quotes; such characters become U+FFFD */
    CT_TEXT_JSON,     /* inside of a JSON string, in the same way */
};

/* Writes a text so that it does no harm where it is used. CT_ERR_ARG, what `write` returned. */
CT_API int ct_text_write(const char *text, enum ct_text_use use, ct_write_fn *write, void *user);

/* ---- pages ---- */

struct ct_page_options {
    size_t size;        /* sizeof(struct ct_page_options) */
    const char *title;  /* NULL: "coretap" */
    const char *body;   /* what stands in the page, as HTML; NULL: nothing */
    const char *script; /* of the page; NULL: none */
    uint8_t served;     /* 1: it may ask the server that it came from; 0: it loads nothing */
    uint8_t pad[7];     /* 0 */
};

/* Writes a page with the style and the scripts of the pages that are written here. `ctx` may be NULL.
 * CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_page_write(struct ct_ctx *ctx, const struct ct_page_options *options, ct_write_fn *write,
                         void *user);

#ifdef __cplusplus
}
#endif
#endif
