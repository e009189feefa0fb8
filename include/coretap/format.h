/* SPDX-License-Identifier: Apache-2.0 */
/* coretap format: writes results as text for people and in the formats of other tools.
 *
 *     const struct ct_cover_views_options what = {.size = sizeof what, .title = "capture"};
 *     const struct ct_cover_write_options how = {.size = sizeof how, .format = CT_COVER_FORMAT_LCOV};
 *     ct_cover_views_new(cover, programs, &what, &views);
 *     ct_cover_views_write(views, &how, write, user);
 *     ct_cover_views_free(views);
 *
 * Functions that write pass their text to a receiver, in pieces. An error of the receiver ends the
 * writing. */
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

/* The coverage of each program, ready to be written. */
struct ct_cover_views;

struct ct_cover_views_options {
    size_t size;                /* sizeof(struct ct_cover_views_options) */
    const char *title;          /* name of what was covered, for the heading of a page; NULL: "capture" */
    const struct ct_arch *arch; /* of the core that ran the programs; NULL: the newest A profile */
    const uint32_t *contexts;   /* context IDs whose counts are included; NULL: all counts */
    size_t context_count;
    uint8_t each_context;  /* 1: text and JSON also have the sums of each context */
    uint8_t all_functions; /* as in struct ct_cover_source */
};

/* Computes the coverage of each program in `programs`, in their order, from the counts in `cover`. A program
 * that was loaded at several addresses appears once. `programs` must stay valid as long as the views. Errors:
 * those of ct_cover_report_new, of ct_program_symbols and of ct_program_lines. */
CT_API int ct_cover_views_new(struct ct_cover *cover, struct ct_programs *programs,
                              const struct ct_cover_views_options *options, struct ct_cover_views **out);
CT_API void ct_cover_views_free(struct ct_cover_views *views);

/* Returns the number of programs in the views. */
CT_API size_t ct_cover_views_count(const struct ct_cover_views *views);

/* Returns the report of one program, by its number in the views, which own it. NULL for other numbers. */
CT_API const struct ct_cover_report *ct_cover_views_report(const struct ct_cover_views *views, size_t number);

enum ct_cover_format {
    CT_COVER_FORMAT_TEXT,      /* a summary */
    CT_COVER_FORMAT_LCOV,      /* a tracefile for genhtml */
    CT_COVER_FORMAT_COBERTURA, /* XML */
    CT_COVER_FORMAT_JSON,      /* everything except instructions */
    CT_COVER_FORMAT_HTML,      /* one page, with source and instructions */
    CT_COVER_FORMAT_SONARQUBE, /* SonarQube's XML of generic coverage */
};

struct ct_cover_write_options {
    size_t size;       /* sizeof(struct ct_cover_write_options) */
    uint64_t seconds;  /* time written into Cobertura's file, in seconds since 1970; 0: now */
    uint8_t format;    /* enum ct_cover_format */
    uint8_t functions; /* 1: text has a line for each function */
};

/* Writes coverage in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM when the page is incomplete,
 * CT_ERR_NOT_FOUND when lcov has no source line to list, what `write` returned. */
CT_API int ct_cover_views_write(const struct ct_cover_views *views,
                                const struct ct_cover_write_options *options, ct_write_fn *write, void *user);

/* ---- times ---- */

enum ct_timing_format {
    CT_TIMING_FORMAT_TEXT, /* tables */
    CT_TIMING_FORMAT_JSON, /* an array with everything about each stream, including histograms */
    CT_TIMING_FORMAT_SVG,  /* one plot */
};

struct ct_timing_write_options {
    size_t size;                  /* sizeof(struct ct_timing_write_options) */
    struct ct_programs *programs; /* the programs that ran (not owned): the control flow of the first one
                                     names edges and has the blocks. NULL: no names of edges, no blocks */
    const char *function;         /* for SVG: function whose inclusive times are drawn (not owned); NULL: the
                                     first pair */
    uint64_t top;                 /* lines of each table, those with the most cycles; 0: 20 */
    uint8_t format;               /* enum ct_timing_format */
    uint8_t edges;                /* 1: text has a table of edges */
    uint8_t blocks;               /* 1: text has a table of basic blocks */
    uint8_t longest;              /* 1: text has a table of the longest runs of functions */
};

/* The stream that times come from. */
struct ct_timing_origin {
    const char *buffer;
    const char *core;
    struct ct_losses losses;
    uint8_t id;     /* trace ID */
    uint8_t pad[7]; /* 0 */
};

/* Writes times of streams and sums, one after the other. */
struct ct_timing_writer;

/* Makes a writer that passes its text to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_timing_writer_new(struct ct_ctx *ctx, const struct ct_timing_write_options *options,
                                ct_write_fn *write, void *user, struct ct_timing_writer **out);

/* Writes closing brackets if needed and frees the writer. */
CT_API void ct_timing_writer_free(struct ct_timing_writer *writer);

/* Writes the times of one stream. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_program_cfg, what the receiver
 * returned. */
CT_API int ct_timing_writer_stream(struct ct_timing_writer *writer, const struct ct_timing *timing,
                                   const struct ct_timing_origin *origin);

/* Writes sums and the captures they come from. The same errors, and those of ct_timing_sums_find. */
CT_API int ct_timing_writer_sums(struct ct_timing_writer *writer, struct ct_timing_sums *sums);

/* Ends the output, after which nothing can be written. An array without entries is written too. CT_ERR_ARG,
 * what the receiver returned. */
CT_API int ct_timing_writer_end(struct ct_timing_writer *writer);

/* Returns how many streams and sums were written; those with nothing to plot are not counted. */
CT_API size_t ct_timing_writer_count(const struct ct_timing_writer *writer);

/* ---- listings ---- */

/* Writes one line for each packet, or for each element along the program (docs/listing.md). */
struct ct_lister;

/* Makes a lister that passes its lines to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_lister_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_lister **out);
CT_API void ct_lister_free(struct ct_lister *lister);

/* Switches the listing to one JSON object a line; to be called before its first line (docs/listing.md). Such
 * a listing has no headings: each object has the name of the buffer given to ct_lister_heading. It cannot be
 * split into parts. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_lister_json(struct ct_lister *lister);

/* The lines of code below elements with a code address. */
struct ct_lister_code_options {
    size_t size;                  /* sizeof(struct ct_lister_code_options) */
    struct ct_programs *programs; /* the programs that give names and source lines (not owned); NULL: none */
    /* The capture that is listed (not owned), or NULL. Its memory is read before the files of programs, and
     * it says which memory has which programs. */
    const struct ct_capture *capture;
    void *user; /* passed to the function below, which may be NULL */
    /* As in struct ct_event_write_options. */
    int (*unnamed)(void *user, const struct ct_program *program);
    uint8_t symbols; /* 1: names and source lines, one line for each function and source line of a range */
    uint8_t insns;   /* 1: instructions, one line each, disassembled if Capstone is built in */
    uint8_t pad[6];  /* 0 */
};

/* Adds lines of code to a listing of elements; to be called before its first line. Such a listing cannot be
 * split into parts. CT_ERR_ARG also when neither symbols nor instructions are requested; CT_ERR_NOMEM, those
 * of ct_event_writer_new. ct_lister_flow may return these errors, too. */
CT_API int ct_lister_code(struct ct_lister *lister, const struct ct_lister_code_options *options);

/* Sets the buffer (not owned) and trace ID of the lines that follow; a heading with them is written before
 * the first line. NULL: the previous buffer; -1: no ID is written. CT_ERR_ARG. */
CT_API int ct_lister_heading(struct ct_lister *lister, const char *buffer, int id);

/* Lists a batch of packets or flow records, as the receivers of a chain get it. Batches of one stream come in
 * order. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_lister_packets(struct ct_lister *lister, const struct ct_stream *stream,
                             const struct ct_packet_batch *batch);
CT_API int ct_lister_flow(struct ct_lister *lister, const struct ct_stream *stream,
                          const struct ct_flow_batch *batch);

/* Passes what is listed so far to the receiver, except for an unfinished line. The same errors. */
CT_API int ct_lister_flush(struct ct_lister *lister);

/* Ends the last line of a stream. The same errors. */
CT_API int ct_lister_end(struct ct_lister *lister);

/* Makes a lister for a part of a stream of ETMv4, ETE, ETMv3 or PTM. Any thread may call this and use the
 * part. CT_ERR_ARG, CT_ERR_NOMEM, CT_ERR_UNSUPPORTED after ct_lister_code and ct_lister_json. */
CT_API int ct_lister_part(struct ct_lister *whole, struct ct_lister **part);

/* Appends the lines of a part, unless `keep` is 0, and frees the part. Parts come in order. The errors of
 * ct_lister_flow. */
CT_API int ct_lister_join(struct ct_lister *whole, struct ct_lister *part, int keep);

/* Returns the name of a packet type as in listings, such as "i_atom_f1" or "branch_address". NULL for an
 * unknown type, and for protocols that are not decoded. */
CT_API const char *ct_packet_type_name(enum ct_protocol protocol, unsigned type);

/* ---- events ---- */

enum ct_event_format {
    CT_EVENT_FORMAT_TSV,   /* columns type, cycle, value, note */
    CT_EVENT_FORMAT_JSONL, /* one object a line */
    CT_EVENT_FORMAT_CSV,   /* the columns of TSV after buffer, trace ID and offset */
    /* Branches and events of trace units as in Table I of paper 1: columns type, cycle, value, one line for
     * each event by its name. Losses are included, since otherwise they would be invisible. Not with
     * `merged`. */
    CT_EVENT_FORMAT_TABLE1,
};

struct ct_event_write_options {
    size_t size;                  /* sizeof(struct ct_event_write_options) */
    struct ct_programs *programs; /* the programs that name addresses (not owned); NULL: no names */
    /* The capture of the events (not owned), or NULL. Where it says for each memory which programs it has,
     * these are added to `programs` when the first address in the memory occurs. */
    const struct ct_capture *capture;
    void *user; /* of the following, which may be NULL */
    /* Receives a program whose names cannot be loaded; ct_ctx_error says why. For a program that was named
     * (ct_programs_add) this is an error instead. A result other than 0 ends the writing. */
    int (*unnamed)(void *user, const struct ct_program *program);
    /* Called when the names of events (named.h) cannot be used; ct_ctx_error says why. Their writes are then
     * written as they are. A result other than 0 ends the writing. */
    int (*unnamed_events)(void *user);
    uint8_t format;     /* enum ct_event_format */
    uint8_t merged;     /* 1: the first column is the time, and TSV has the trace ID */
    uint8_t text_ports; /* 1: what software writes to stimulus ports and channels is collected into lines of
                           text, each at the write that ends it */
    uint8_t sources;    /* 1: lines have the source line of an address */
    uint8_t insns;      /* 1: lines have the instruction at an address, disassembled if Capstone is built
                           in */
    uint8_t pad[3];     /* 0 */
};

/* The source of events. */
struct ct_event_origin {
    const char *buffer;
    const struct ct_source *source; /* text is collected into lines by source and trace ID */
    uint8_t id;                     /* trace ID */
    uint8_t timed;                  /* merged: 1 when the source has timestamps; else events have no time */
    uint8_t pad[6];                 /* 0 */
};

/* Writes events, one line each. */
struct ct_event_writer;

/* Makes a writer that passes its lines to `write`. Except in JSON, the names of the columns come first, with
 * the first line or flush. CT_ERR_ARG, CT_ERR_NOMEM, those of ct_programs_in, those of ct_program_symbols for
 * programs that were named. */
CT_API int ct_event_writer_new(struct ct_ctx *ctx, const struct ct_event_write_options *options,
                               ct_write_fn *write, void *user, struct ct_event_writer **out);

/* Writes what is buffered and frees the writer. */
CT_API void ct_event_writer_free(struct ct_event_writer *writer);

/* Sets the buffer (not owned) and trace ID of the lines that follow, like ct_lister_heading. CT_ERR_ARG. */
CT_API int ct_event_writer_heading(struct ct_event_writer *writer, const char *buffer, int id);

/* Writes events. Those of one source come in order. Events with a time are for writers with `merged`, others
 * for writers without. The errors of ct_event_writer_new, what `write` and `unnamed` returned. */
CT_API int ct_event_writer_add(struct ct_event_writer *writer, const struct ct_event_origin *origin,
                               const struct ct_event *events, size_t count);
CT_API int ct_event_writer_add_timed(struct ct_event_writer *writer, const struct ct_event_origin *origin,
                                     const struct ct_timed_event *events, size_t count);

/* Passes what is written so far to the receiver. The same errors. */
CT_API int ct_event_writer_flush(struct ct_event_writer *writer);

/* ---- watchpoints ---- */

enum ct_watch_format {
    CT_WATCH_FORMAT_TSV,   /* columns */
    CT_WATCH_FORMAT_JSONL, /* one object a line */
    CT_WATCH_FORMAT_CSV,   /* the columns of TSV, with buffer and trace ID */
};

struct ct_watch_write_options {
    size_t size;    /* sizeof(struct ct_watch_write_options) */
    uint8_t format; /* enum ct_watch_format */
    uint8_t pad[7]; /* 0 */
};

/* Writes events of watchpoints, one line each. */
struct ct_watch_writer;

/* Makes a writer that passes its lines to `write`. Except in JSON, the names of the columns come first, with
 * the first line or flush. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_watch_writer_new(struct ct_ctx *ctx, const struct ct_watch_write_options *options,
                               ct_write_fn *write, void *user, struct ct_watch_writer **out);

/* Writes what is buffered and frees the writer. */
CT_API void ct_watch_writer_free(struct ct_watch_writer *writer);

/* Sets the buffer (not owned) and trace ID of the lines that follow, like ct_lister_heading. CT_ERR_ARG. */
CT_API int ct_watch_writer_heading(struct ct_watch_writer *writer, const char *buffer, int id);

/* Writes events from a watcher of `watches`. CT_ERR_ARG, what the receiver returned. */
CT_API int ct_watch_writer_add(struct ct_watch_writer *writer, const struct ct_event_origin *origin,
                               const struct ct_watches *watches, const struct ct_watch_event *events,
                               size_t count);

/* Passes what is written so far to the receiver. The same errors. */
CT_API int ct_watch_writer_flush(struct ct_watch_writer *writer);

/* ---- edges ---- */

/* Writes the events of edge_events.h as lines: the number of an edge and its cycles (- when unknown), or the
 * name of another kind and its value. */
struct ct_edge_text;

/* Makes a writer that passes its lines to `write`; the names of the columns come first. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_edge_text_new(struct ct_ctx *ctx, ct_write_fn *write, void *user, struct ct_edge_text **out);

/* Writes what is buffered and frees the writer. */
CT_API void ct_edge_text_free(struct ct_edge_text *text);

/* Takes a piece of events; a ct_write_fn for ct_edge_events_new. `edge_text` is the writer. CT_ERR_ARG, what
 * the receiver returned. */
CT_API int ct_edge_text_write(void *edge_text, const void *data, size_t size);

/* Passes what is written so far to the receiver. The same errors. */
CT_API int ct_edge_text_flush(struct ct_edge_text *text);

/* Writes what each edge number stands for, one line each. The columns: number; how execution left (taken,
 * not-taken, call, return, jump, on: no branch, interrupted: by an exception, open: target unknown); the
 * addresses of the first instruction, of the branch, and of what ran next; number of instructions; names of
 * the last two addresses. `programs` may be NULL. CT_ERR_ARG, CT_ERR_NOMEM, what the receiver returned. */
CT_API int ct_edge_numbers_write(struct ct_ctx *ctx, const struct ct_graph *edges,
                                 struct ct_programs *programs, ct_write_fn *write, void *user);

/* ---- control flow ---- */

enum ct_cfg_format {
    CT_CFG_FORMAT_TEXT,   /* functions with their blocks, edges and loops */
    CT_CFG_FORMAT_DOT,    /* the language of graphviz */
    CT_CFG_FORMAT_JSON,   /* the contents of TEXT */
    CT_CFG_FORMAT_LEARNT, /* edges learnt from traces, as a file of targets; empty when there are none */
};

struct ct_cfg_write_options {
    size_t size;                            /* sizeof(struct ct_cfg_write_options) */
    const struct ct_cfg_function *function; /* write only this one of ct_cfg_functions(); NULL: all */
    uint8_t format;                         /* enum ct_cfg_format */
};

/* Writes a control flow graph in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_cfg_write(struct ct_ctx *ctx, const struct ct_cfg *cfg,
                        const struct ct_cfg_write_options *options, ct_write_fn *write, void *user);

/* ---- stacks ---- */

/* How stacks are written for flame graphs: one line each, callers before callees, separated by ';' and
 * followed by a number. */
struct ct_stack_write_options {
    size_t size;     /* sizeof(struct ct_stack_write_options) */
    uint8_t cycles;  /* 1: the number is cycles as far as known; 0: instructions */
    uint8_t pad[7];  /* 0 */
    uint8_t modules; /* 1: functions are written as "module`function", with the last component of the
                        program's path, or "[unknown]" */
    uint8_t pad2[7]; /* 0 */
};

/* Writes the stacks whose number is not 0, by program and address. CT_ERR_ARG, CT_ERR_NOMEM, what `write`
 * returned. */
CT_API int ct_stack_sums_write(struct ct_stack_sums *sums, const struct ct_stack_write_options *options,
                               ct_write_fn *write, void *user);

/* How deep stacks are, and how much of each ct_stack_sums_write and ct_profile_write write. */
struct ct_stack_depth {
    uint32_t deepest; /* number of functions in the deepest stack */
    uint32_t most; /* most functions of a stack that are written: of a deeper one the innermost function, the
                      outermost ones, and "[...]" in between */
    uint64_t cut;  /* how many stacks are deeper */
};

/* Computes how much of deep stacks is written. That is everything, unless stacks have more than 2^25
 * functions in total and more than 256 on average; then it is a power of two, at least 256. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_stack_sums_depth(struct ct_stack_sums *sums, struct ct_stack_depth *out);

/* ---- profiles ---- */

enum ct_profile_format {
    CT_PROFILE_FORMAT_AUTOFDO,     /* ranges and branches, for create_llvm_prof --profiler=text */
    CT_PROFILE_FORMAT_LLVM,        /* a sample profile, for clang */
    CT_PROFILE_FORMAT_BOLT,        /* pre-aggregated, for perf2bolt -pa */
    CT_PROFILE_FORMAT_CALLGRIND,   /* cost by line and calls, for KCachegrind and callgrind_annotate */
    CT_PROFILE_FORMAT_PPROF,       /* stacks of all programs, for pprof: its message Profile, compressed with
                                      gzip */
    CT_PROFILE_FORMAT_BRANCH_LIST, /* branch_list.h, for simpleperf */
};

struct ct_profile_write_options {
    size_t size;                /* sizeof(struct ct_profile_write_options) */
    const struct ct_arch *arch; /* of the core that ran the programs; NULL: the newest A profile */
    const uint32_t *contexts;   /* context IDs whose counts are included; NULL: all counts */
    size_t context_count;
    struct ct_stack_sums *stacks; /* for CALLGRIND and PPROF: stacks and call sites (not owned); `cover` can
                                     be their ct_stack_sums_cover */
    uint8_t format;               /* enum ct_profile_format */
    uint8_t skip_empty; /* 1: AUTOFDO writes nothing instead of empty lists when there are no counts */
    uint8_t cycles; /* 1: PPROF shows cycles first; 0: instructions. It contains both where both are known */
    uint8_t pad[5]; /* 0 */
    uint64_t *left_out; /* BRANCH_LIST: receives the number of instructions in no list, because their run
                           ended without a branch, at an exception or at the end of the trace. NULL: not
                           needed */
    const struct ct_program *program; /* write only this one of `programs`; NULL: see ct_profile_write */
    const char *root; /* BRANCH_LIST: folder with the files of the target, removed from the beginning of
                         paths; NULL: none */
};

/* The contents of a profile. */
struct ct_profile_written {
    size_t program_count;
    const char *program; /* path of the first one; NULL: none */
    uint64_t entries;    /* AUTOFDO, BOLT: ranges and branches; LLVM, CALLGRIND: functions that ran; PPROF:
                            stacks; BRANCH_LIST: lists */
};

/* Writes a profile of the counts in `cover`. It covers the programs that were named; if none was, those that
 * were started, where that is known. CALLGRIND, PPROF and BRANCH_LIST cover all. AUTOFDO and BOLT cannot name
 * programs, so that any number of programs but one is CT_ERR_ARG; *written (which may be NULL) is set then,
 * too. Errors: those of ct_cover_report_new, of ct_program_symbols and of ct_program_lines, what `write`
 * returned. */
CT_API int ct_profile_write(struct ct_cover *cover, struct ct_programs *programs,
                            const struct ct_profile_write_options *options, ct_write_fn *write, void *user,
                            struct ct_profile_written *written);

struct ct_slice_write_options {
    size_t size;    /* sizeof(struct ct_slice_write_options) */
    uint64_t from;  /* slices are cut to [from, to) */
    uint64_t to;    /* slices entirely outside of [from, to) are left out; 0: no end */
    uint8_t cycles; /* 1: times are cycles; 0: instructions */
    uint8_t pad[7]; /* 0 */
};

/* Writes slices of stacks as trace events, for the viewers of Chrome and Perfetto. A cycle or an instruction
 * is one microsecond there. */
struct ct_slice_writer;

/* Makes a writer that passes its text to `write`, nothing before the first slice. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_slice_writer_new(struct ct_ctx *ctx, const struct ct_slice_write_options *options,
                               ct_write_fn *write, void *user, struct ct_slice_writer **out);

/* Passes what is buffered to the receiver and frees the writer. */
CT_API void ct_slice_writer_free(struct ct_slice_writer *writer);

/* Begins another capture, called `run`. Time starts again with it (but see ct_slice_writer_align). Each of
 * its streams becomes a process, named after the capture and its core (ct_slice_writer_stream), or after the
 * number of the stream. Without this call processes are streams. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_writer_begin(struct ct_slice_writer *writer, const char *run);

/* Describes the stream with number `lane`, before its first slice. Its process is named after its core, and
 * threads have the names of their contexts in the capture. `capture` must stay valid until the next one is
 * begun. CT_ERR_LIMIT: `lane` is too large, as for ct_stacks_add. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_writer_stream(struct ct_slice_writer *writer, uint32_t lane,
                                  const struct ct_capture *capture, const struct ct_stream *stream);

/* Relates the cycles or instructions of a capture's streams to their timestamps. */
struct ct_slice_clocks;

/* Makes clocks of streams whose time is cycles (1) or instructions (0). CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_slice_clocks_new(struct ct_ctx *ctx, uint8_t cycles, struct ct_slice_clocks **out);
CT_API void ct_slice_clocks_free(struct ct_slice_clocks *clocks);

/* Takes the steps of a stream, in order. CT_ERR_LIMIT: `lane` is too large, as for ct_stacks_add. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_slice_clocks_add(struct ct_slice_clocks *clocks, uint32_t lane,
                               const struct ct_step_batch *batch);

/* Puts the slices that follow on the time axis of a capture with these clocks. The clocks must have taken all
 * its steps and are not owned. Times are timestamps, in nanoseconds by the frequency (in Hz) or else the
 * capture's clock, or one nanosecond for a tick. A microsecond in the file is then a real one. CT_ERR_ARG. */
CT_API int ct_slice_writer_align(struct ct_slice_writer *writer, const struct ct_slice_clocks *clocks,
                                 const struct ct_clock *clock, uint64_t frequency);

/* Writes the slices that the stacks have now (ct_stacks_slices). To be called after each ct_stacks_add, and
 * after ct_stacks_finish. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_slice_writer_add(struct ct_slice_writer *writer, const struct ct_stacks *stacks);

/* Ends the output, after which nothing can be written. A file without slices is written too. The same
 * errors. */
CT_API int ct_slice_writer_end(struct ct_slice_writer *writer);

/* Returns how many slices were written. */
CT_API uint64_t ct_slice_writer_count(const struct ct_slice_writer *writer);

/* ---- traces for Perfetto ---- */

/* Writes a trace of Perfetto, in its published messages: a track for each core with the contexts that run,
 * counters, and events; the functions of each context; what programs write to an ITM or STM. Processes and
 * threads have the names that the capture gives them.
 *
 * Times are timestamps, with cycles (or instructions) between them, in nanoseconds by the capture's clock or
 * the frequency; else one tick is one nanosecond. In a stream without timestamps one cycle is one nanosecond,
 * or one instruction if no cycles are counted; so is what follows the timestamp of a stream with only one.
 * Events wait for the next timestamp, up to CT_TIMELINE_WAITING in a stream (5 MB). */
struct ct_perfetto_writer;

struct ct_perfetto_write_options {
    size_t size;                  /* sizeof(struct ct_perfetto_write_options) */
    struct ct_programs *programs; /* for names of named events (not owned); NULL: none */
    uint64_t max_size;            /* most bytes to write; 0: no limit */
    uint64_t frequency;           /* of timestamps, in Hz; 0: from the capture */
};

/* Statistics of what was written so far. */
struct ct_perfetto_seen {
    uint64_t slices, instants, values; /* executions of contexts, functions and spans; events; values of
                                          counters */
    uint64_t left_out;                 /* slices left out because of max_size */
    uint64_t size;                     /* bytes before compression: what a viewer reads */
    uint32_t timed, untimed;           /* streams that have ended, with and without timestamps */
    uint32_t unrated; /* streams with only one timestamp, whose time continues as if there were none */
    uint8_t full;     /* 1: max_size was reached, and the trace ends there */
    uint8_t pad[3];   /* 0 */
    uint64_t watched; /* events of watchpoints */
};

/* Makes a writer that passes its bytes to `write`. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_perfetto_writer_new(struct ct_ctx *ctx, const struct ct_perfetto_write_options *options,
                                  ct_write_fn *write, void *user, struct ct_perfetto_writer **out);

/* Passes what is buffered to the receiver and frees the writer. */
CT_API void ct_perfetto_writer_free(struct ct_perfetto_writer *writer);

/* Begins a capture, which must stay valid until its end. `run` is its name, under which it gets its own group
 * of tracks. NULL: it is the only one, or belongs to one system with others that are begun so: then they
 * share processes, threads and the arrows between cores. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_perfetto_writer_begin(struct ct_perfetto_writer *writer, const struct ct_capture *capture,
                                    const char *run);

/* A note about a place in a stream, such as a violation of a specification. */
struct ct_perfetto_note {
    struct ct_watch_event at; /* the event of a watcher over the stream that the note is about */
    const char *buffer;       /* name of the buffer of the stream */
    const char *text;
    uint8_t id;     /* trace ID of the stream */
    uint8_t pad[7]; /* 0 */
};

/* Adds watchpoints and notes to the capture that was begun, before its first batch: hits of `watches` (NULL:
 * none), and notes, in the order of each stream. Those in code are shown among the functions of their
 * context, others on the track of their core. Nothing is owned, and all of it must stay valid until the
 * capture ends. CT_ERR_ARG. */
CT_API int ct_perfetto_writer_watch(struct ct_perfetto_writer *writer, struct ct_watches *watches,
                                    const struct ct_perfetto_note *notes, size_t count);

/* Writes the moves that the stacks have now (ct_stacks_moves). To be called after each ct_stacks_add, with
 * the stream and the batch that were added. CT_ERR_ARG, CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_perfetto_writer_add(struct ct_perfetto_writer *writer, const struct ct_stream *stream,
                                  const struct ct_step_batch *batch, uint32_t lane,
                                  const struct ct_stacks *stacks);

/* Ends the capture and everything open in it, after ct_stacks_finish. The same errors. */
CT_API int ct_perfetto_writer_finish(struct ct_perfetto_writer *writer, const struct ct_stacks *stacks);

/* Ends the output, after which nothing can be written. The same errors. */
CT_API int ct_perfetto_writer_end(struct ct_perfetto_writer *writer);

/* Returns the statistics so far, borrowed; NULL for NULL. */
CT_API const struct ct_perfetto_seen *ct_perfetto_writer_seen(const struct ct_perfetto_writer *writer);

/* ---- longest paths ---- */

/* The longest path of a function, with the information to describe its places. Nothing is owned. */
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
    CT_WCET_FORMAT_DOT,    /* the path in graphviz's language */
    CT_WCET_FORMAT_HTML,   /* an HTML page with source lines */
    CT_WCET_FORMAT_BOUNDS, /* a text for ct_wcet_bounds, with the loops and the numbers that were used */
};

struct ct_wcet_write_options {
    size_t size;    /* sizeof(struct ct_wcet_write_options) */
    uint8_t format; /* enum ct_wcet_format */
    uint8_t source; /* 1: text has the source of the path, with executions and cycles of each line */
    uint8_t pad[6]; /* 0 */
};

/* Writes a longest path in one of the formats. CT_ERR_ARG, CT_ERR_NOMEM when source or page are incomplete,
 * what `write` returned. */
CT_API int ct_wcet_write(struct ct_ctx *ctx, const struct ct_wcet_view *view,
                         const struct ct_wcet_write_options *options, ct_write_fn *write, void *user);

/* ---- sources ---- */

/* Receives one fact: a short subject ("cycle counts") and a statement about it ("off"). */
typedef void ct_describe_fn(void *user, const char *subject, const char *text);

/* Reports all that the registers of a source say about its trace, in a fixed order. */
CT_API void ct_source_describe(const struct ct_source *source, ct_describe_fn *fn, void *user);

/* Writes the version of a source into `text`, cut to `size` bytes: "ETMv4.0", "ETEv1.1", "ETMv3.4",
 * "PFTv1.1", "STM", "ITM", for example. */
CT_API void ct_source_version(const struct ct_source *source, char *text, size_t size);

/* ---- losses ---- */

#define CT_LOSSES_WORDS 256

/* Writes in words what was lost: "none", or the amount of each kind. Returns `text`, or NULL when an argument
 * is NULL. */
CT_API const char *ct_losses_words(char text[CT_LOSSES_WORDS], const struct ct_losses *losses);

/* Writes what is known of losses as key=value pairs, separated by `gap`. CT_ERR_ARG, what `write`
 * returned. */
CT_API int ct_losses_keys(const struct ct_losses *losses, enum ct_losses_known known, char gap,
                          ct_write_fn *write, void *user);

/* ---- text of others ---- */

/* The output format that text from untrusted sources, such as names in files, is escaped for. */
enum ct_text_use {
    CT_TEXT_TERMINAL, /* control characters, and bytes that are not UTF-8, become \xHH */
    CT_TEXT_XML,      /* XML and HTML, between tags or in quotes; such characters become U+FFFD */
    CT_TEXT_JSON,     /* inside of a JSON string; such characters become U+FFFD */
};

/* Writes a text, escaped so that it does no harm in its output format. CT_ERR_ARG, what `write` returned. */
CT_API int ct_text_write(const char *text, enum ct_text_use use, ct_write_fn *write, void *user);

/* ---- pages ---- */

struct ct_page_options {
    size_t size;        /* sizeof(struct ct_page_options) */
    const char *title;  /* NULL: "coretap" */
    const char *body;   /* contents of the page, as HTML; NULL: nothing */
    const char *script; /* script of the page; NULL: none */
    uint8_t served;     /* 1: the page may send requests to its server; 0: it loads nothing */
    uint8_t pad[7];     /* 0 */
};

/* Writes a page with the style and the scripts of the pages above. `ctx` may be NULL. CT_ERR_ARG,
 * CT_ERR_NOMEM, what `write` returned. */
CT_API int ct_page_write(struct ct_ctx *ctx, const struct ct_page_options *options, ct_write_fn *write,
                         void *user);

#ifdef __cplusplus
}
#endif
#endif
