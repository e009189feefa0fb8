/* SPDX-License-Identifier: Apache-2.0 */
/* coretap cover: which code of a program ran, and how often. Counts are kept by program and context, can be
 * merged over captures, and are turned into numbers for instructions, branches, calls, functions and source
 * lines. docs/analysis.md defines each number. `programs` (programs.h) are made without `moved`, because
 * coverage has the addresses of the files; `session` (session.h) runs over the captures:
 *
 *     ct_cover_new(ctx, &cover);
 *     ct_session_add(session, ct_cover_analysis(cover));
 *     ct_session_run(session, capture, capture->buffers, capture->buffer_count);
 *     ct_cover_number(cover, program, &number);
 *     ct_cover_items(cover, number, CT_EDGES_ALL, &items, &count);
 *     struct ct_cover_source source = {.size = sizeof source};
 *     ct_program_memory(program, &source.memory);
 *     ct_program_symbols(program, &source.symbols);
 *     ct_program_lines(program, &source.lines);
 *     ct_cover_report_new(ctx, &source, items, count, &report);
 *     printf("%s ran %llu times\n", report->functions[0].name,
 *            (unsigned long long)report->functions[0].count); */
#ifndef CORETAP_COVER_H
#define CORETAP_COVER_H

#include "coretap/analysis.h"
#include "coretap/base.h"
#include "coretap/edges.h"
#include "coretap/graph.h"
#include "coretap/input.h"
#include "coretap/losses.h"
#include "coretap/program.h"
#include "coretap/source_lines.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- counts ---- */

enum ct_cover_item_kind {
    CT_COVER_RUN,   /* the instructions of [from, to) were executed one after the other */
    CT_COVER_TAKEN, /* the branch at `from` was executed and went to `to`; 0: the trace does not show its
                       target */
    CT_COVER_NOT,   /* the conditional branch at `from` was not taken; `to` is 0 */
};

/* How often something happened. Addresses are without load bias. */
struct ct_cover_item {
    uint64_t from, to;
    uint64_t count;
    uint32_t kind;  /* enum ct_cover_item_kind */
    uint8_t isa;    /* of a run: enum ct_isa. 0 is CT_ISA_A64, and also stands for an instruction set that
                       only the program shows */
    uint8_t pad[3]; /* 0 */
};

/* Counts of any number of programs in any number of contexts: an analysis (analysis.h) whose input is
 * CT_INPUT_COUNTS. Takes 32 bytes for each different item of each program and context. */
struct ct_cover;

/* Returns the kind of this analysis, and the analysis that `cover` owns. */
CT_API const struct ct_analysis_kind *ct_cover_kind(void);
CT_API struct ct_analysis *ct_cover_analysis(struct ct_cover *cover);

/* Makes empty coverage. CT_ERR_NOMEM. */
CT_API int ct_cover_new(struct ct_ctx *ctx, struct ct_cover **out);
CT_API void ct_cover_free(struct ct_cover *cover);

/* Finds the number of a program, or adds the program. Programs are compared by build id and the addresses of
 * their code, those without one by name. CT_ERR_ARG for a build id of more than 64 bytes, an empty name or
 * one longer than 4096 bytes; CT_ERR_NOMEM. */
CT_API int ct_cover_program(struct ct_cover *cover, const struct ct_program_identity *program,
                            uint32_t *number);

/* The same for a program that ran. The errors of ct_program_symbols too. */
struct ct_program;
CT_API int ct_cover_number(struct ct_cover *cover, struct ct_program *program, uint32_t *number);

/* Returns the number of programs, and one of them by number, zeros when there is none. Its name and build id
 * belong to `cover`. */
CT_API size_t ct_cover_programs(const struct ct_cover *cover);
CT_API struct ct_program_identity ct_cover_program_at(const struct ct_cover *cover, uint32_t number);

/* Where a program was loaded. */
struct ct_cover_place {
    uint64_t bias;                    /* load bias */
    struct ct_memory_set memories;    /* the memories it was loaded in */
    const struct ct_code_range *code; /* its code, without the load bias; NULL: [low, high) of the program */
    size_t code_count;
};

/* Adds where a program was loaded: counts of code there (ct_analysis_take) are those of the program. Ranges
 * and memories are borrowed as long as batches are taken, also by parts. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_cover_add_place(struct ct_cover *cover, uint32_t program, const struct ct_cover_place *place);

/* Forgets where all programs were loaded. Counts belong to no program until places are added again. */
CT_API void ct_cover_clear_places(struct ct_cover *cover);

/* How many instructions ran, and how many of them were outside of all programs and so are in no count. Sums
 * stop at 2^64 - 1. */
struct ct_cover_share {
    uint64_t ran;            /* inside and outside of programs */
    struct ct_holes outside; /* where the instructions outside are, by addresses of the process, with their
                                counts */
    uint8_t untold;          /* 1: some counts come from files before version 4, which do not have these
                                numbers */
    uint8_t pad[7];          /* 0 */
};

/* Returns these numbers. The result belongs to `cover`. */
CT_API const struct ct_cover_share *ct_cover_ran(const struct ct_cover *cover);

/* Adds one count in a context; equal items become one. The members `edges` and `steps` of the context are not
 * compared. CT_ERR_ARG, CT_ERR_LIMIT for more than 65536 contexts, CT_ERR_NOMEM. */
CT_API int ct_cover_add_item(struct ct_cover *cover, uint32_t program, const struct ct_edge_context *context,
                             const struct ct_cover_item *item);

/* Returns the contexts of all programs, in the order in which they were added. */
CT_API const struct ct_edge_context *ct_cover_contexts(const struct ct_cover *cover, size_t *count);

/* Lists the items of a program in one context, or with CT_EDGES_ALL in all contexts together. They are sorted
 * by kind, from, to and isa, without duplicates. The caller frees *items, which has *count of them.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_cover_items(struct ct_cover *cover, uint32_t program, size_t context,
                          struct ct_cover_item **items, size_t *count);

/* Sorts items by kind, from, to and isa, and adds up equal ones. Sums stop at 2^64 - 1. Returns the number of
 * items that remain. */
CT_API size_t ct_cover_add_up(struct ct_cover_item *items, size_t count);

/* ---- what they mean ---- */

enum ct_cover_flag {
    /* Its condition controls no branch, so the trace does not show the outcome: conditional selects and
     * compares, conditional instructions, IT blocks without a branch. */
    CT_COVER_HIDDEN = 1,
    CT_COVER_LEADER = 2, /* a block begins here */
};

#define CT_COVER_NONE UINT32_MAX

struct ct_cover_insn {
    uint64_t addr;
    uint64_t count;
    uint64_t taken;          /* branches: executed and taken */
    uint64_t not_taken;      /* conditional branches */
    uint64_t target;         /* direct branches */
    uint32_t function;       /* number */
    uint32_t block;          /* number */
    uint32_t file;           /* see ct_lines_file; CT_LINE_NONE */
    uint32_t line;           /* 0: no source line */
    uint8_t size;            /* bytes */
    uint8_t type, sub, cond; /* struct ct_insn */
    uint8_t isa;
    uint8_t flags;  /* enum ct_cover_flag */
    uint8_t pad[2]; /* 0 */
};

/* How often a branch went to a target: calls, and branches whose instruction does not contain the target.
 * Sorted by from and to. */
struct ct_cover_arc {
    uint64_t from, to;
    uint64_t count;
};

struct ct_cover_block {
    uint64_t count;
    uint32_t first, end; /* its instructions are [first, end) of the array */
};

struct ct_cover_function {
    const char *name;         /* for people (ct_symbols_label); for C as in the source */
    const char *linkage_name; /* of the symbol, for tools that demangle by themselves; else the same as
                                 `name` */
    uint64_t addr;
    uint64_t count;      /* executions of its first instruction */
    uint32_t file, line; /* where it is declared */
    uint32_t insns, insns_run;
    uint32_t branches, branches_run; /* directions of conditional branches */
    uint32_t lines, lines_run;
};

struct ct_cover_line {
    uint64_t count;
    uint32_t file, line;
    uint32_t function;               /* the function of its first instruction; CT_COVER_NONE: a label */
    uint32_t insns, insns_run;       /* instructions made from it, inlined copies included */
    uint32_t first_branch, branches; /* the conditional branches of the line, and of the lines on which a
                                        decision that begins here goes on: a slice of `branches` of the
                                        report */
    uint32_t joined; /* of these, the ones to which two ways of others lead: as `c` in (a && b) || c. Where
                        there is one, both ways of all conditions do not prove MC/DC */
    uint32_t hidden, hidden_run; /* its instructions with CT_COVER_HIDDEN, and those of them that ran */
};

/* How much there is, and how much of it ran. */
struct ct_cover_ratio {
    uint64_t seen, all;
};

struct ct_cover_sums {
    struct ct_cover_ratio functions, lines, insns;
    struct ct_cover_ratio branches;   /* directions of conditional branches: two each */
    struct ct_cover_ratio conditions; /* conditional branches that went both ways */
    struct ct_cover_ratio calls;      /* call instructions */
    uint64_t partial_lines;           /* lines with instructions that ran and others that did not */
    uint64_t joined_lines;            /* lines with joined conditions */
    struct ct_cover_ratio hidden; /* instructions with CT_COVER_HIDDEN; seen: executed, with either outcome */
};

/* The coverage of one program, in one context or in all. */
struct ct_cover_report {
    struct ct_cover_sums sums;
    const struct ct_cover_insn *insns; /* by address; see ct_cover_report_new */
    size_t insn_count;
    const struct ct_cover_block *blocks; /* by address */
    size_t block_count;
    const struct ct_cover_arc *arcs;
    size_t arc_count;
    const struct ct_cover_function *functions; /* by address */
    size_t function_count;
    const struct ct_cover_line *lines; /* by file, in the order of ct_lines_file, and line */
    size_t line_count;
    const uint32_t *branches; /* numbers of instructions */
    size_t branch_count;
    uint64_t elsewhere; /* executed instructions of the program outside of all functions that were looked
                           at */
    uint32_t units;     /* compile units of these functions */
    uint32_t optimised_units; /* units that a compiler optimised, as far as the debug information tells */
    uint32_t unread_files;    /* source files with branches that were not read: their decisions end with the
                                 line */
    uint32_t pad;             /* 0 */
};

/* Where decisions (conditions joined by && and ||) go on over several lines, from the text of the source
 * files. Immutable once made. */
struct ct_cover_decisions;

/* Reads the source files of a program (ct_lines_source). Files that cannot be read have no such decisions.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_cover_decisions_new(struct ct_ctx *ctx, const struct ct_lines *lines,
                                  struct ct_cover_decisions **out);
CT_API void ct_cover_decisions_free(struct ct_cover_decisions *decisions);

struct ct_cover_source {
    size_t size;                    /* sizeof(struct ct_cover_source) */
    const struct ct_memory *memory; /* `memory`, `symbols` and `lines` are without load bias */
    const struct ct_symbols *symbols;
    const struct ct_lines *lines;
    struct ct_arch arch;
    uint8_t all_functions; /* 1: also functions without source lines; 0: those only when no function has
                              lines */
    /* The program's code (ct_program_code). Functions without lines outside of it belong to another program
     * and are left out; NULL: there are none. */
    const struct ct_code_range *code;
    size_t code_count;
    const struct ct_cover_decisions *decisions; /* NULL: each decision is one of a line */
};

/* Computes the coverage of one program from its items. Where the program has no lines, instructions of
 * functions that did not run are counted and not listed. The report is to be freed with ct_cover_report_free;
 * names in it belong to source->lines and source->symbols, which must stay valid. CT_ERR_ARG, CT_ERR_LIMIT
 * for 2^31 instructions, CT_ERR_NOMEM. */
CT_API int ct_cover_report_new(struct ct_ctx *ctx, const struct ct_cover_source *source,
                               const struct ct_cover_item *items, size_t count, struct ct_cover_report **out);
CT_API void ct_cover_report_free(struct ct_cover_report *report);

#ifdef __cplusplus
}
#endif
#endif
