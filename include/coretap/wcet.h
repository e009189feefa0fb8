/* SPDX-License-Identifier: Apache-2.0 */
/* coretap wcet: the longest time that a function can take. It is computed from the control flow of the
 * program, the times measured for its pieces, and the maximal number of iterations of its loops (implicit
 * path enumeration, IPET: Li and Malik, DAC 1995; with measured pieces: paper 2, IV-B). The captures are read
 * twice, as 'coretap wcet' does. `programs` are without `moved`:
 *
 *     struct ct_wcet_options options = {.size = sizeof options};
 *     ct_programs_function(programs, "control_step", &program, &options.entry);
 *     ct_program_cfg(program, &cfg);
 *     ct_wcet_new(ctx, cfg, NULL, &wcet);
 *     ct_wcet_set_programs(wcet, program, programs);
 *     ct_wcet_tell_runs_of(wcet, options.entry);
 *
 * The first run of a session, with `edges` CT_EDGES_COUNTS, completes the control flow. In `decoded`, for
 * each stream of the chain that has a graph:
 *
 *     ct_wcet_learn(wcet, streams[i].graph);
 *
 * The second run measures, with ct_timing_sums_analysis(sums) (timing.h) in a new session. In its `steps`,
 * and in its `decoded` for each stream, as its end:
 *
 *     ct_wcet_count_loops(wcet, ct_session_lane(session, stream->id), batch);
 *     ct_wcet_count_loops(wcet, ct_session_lane(session, streams[i].id), NULL);
 *
 * Then:
 *
 *     ct_wcet_observe(wcet, sums, 1);
 *     ct_wcet_bounds(wcet, "bounds", text); // if there are any
 *     if (!ct_wcet_solve(wcet, &options, NULL, NULL, &result))
 *         printf("%llu cycles\n", (unsigned long long)result.wcet);
 *     ct_wcet_free(wcet); */
#ifndef CORETAP_WCET_H
#define CORETAP_WCET_H

#include "coretap/base.h"
#include "coretap/cfg.h"
#include "coretap/programs.h"
#include "coretap/source_lines.h"
#include "coretap/steps.h"
#include "coretap/timing.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The source of a loop bound. */
enum ct_wcet_origin {
    CT_WCET_NOBODY,
    CT_WCET_USER,     /* the file of bounds */
    CT_WCET_COMMENT,  /* a comment in the source */
    CT_WCET_COUNTED,  /* the code counts to a fixed number */
    CT_WCET_OBSERVED, /* the maximum in all runs: no bound, only an observation */
};

/* A loop of the control flow graph, with the same number. */
struct ct_wcet_loop {
    uint64_t bound;    /* maximal executions of its head each time it is entered */
    uint64_t observed; /* the maximum that was observed; in a recursive function, for each call from outside
                          of the recursion */
    uint32_t file;     /* of its source line, see ct_lines_file; CT_LINE_NONE */
    uint32_t line;     /* that of its condition; 0: unknown */
    uint32_t backs; /* number of places that jump back; with several, it may be several loops of the source */
    uint8_t origin; /* enum ct_wcet_origin */
    uint8_t used;   /* 1: in a function that is reachable from the entry */
    uint8_t left_at_end; /* 1: it is left only where it jumps back, so its head runs as often as its body */
    uint8_t pad;
};

/* A block on the longest path. */
struct ct_wcet_step {
    uint32_t block;
    uint8_t assumed; /* 1: some of its cycles were never observed */
    uint8_t pad[3];
    uint64_t count;    /* executions */
    uint64_t cycles;   /* of all of them */
    uint64_t measured; /* cycles of measured calls in `cycles` (CT_WCET_MEASURED) */
};

enum ct_wcet_assumption {
    CT_WCET_CYCLES, /* this path was never observed: its cycles are those of its instructions at the slowest
                       observed rate */
    CT_WCET_SHARED, /* its cycles were only observed as shares of counts for several steps */
    CT_WCET_CALL,   /* a call of code that is not known: a computed call that was never observed, or a call of
                       an address outside of the program; its callee takes no time here */
    CT_WCET_LOOP,   /* the bound of this loop is what was observed */
    CT_WCET_WAY_OUT, /* the same for a branch: no path goes there */
    CT_WCET_TOTAL,   /* the total iterations of the loop during `within` do not exceed the observed maximum,
                        which nothing else guarantees */
    CT_WCET_DEPTH, /* the executions of the function for each call from outside of its recursion do not exceed
                      the observed maximum */
    CT_WCET_UNCALLED, /* this function calls itself, was never seen to run and has no bound: no path goes
                         there */
    CT_WCET_LEFT_OUT, /* this loop was never seen to run and has no bound: no path goes there */
    CT_WCET_MEASURED, /* a call without a model, for example of a shared library: it takes as long as the
                         longest measured run of its callee */
};

/* An assumption: something that the bound depends on and that is neither measured nor told. */
struct ct_wcet_assumed {
    uint32_t kind;   /* enum ct_wcet_assumption */
    uint32_t what;   /* block (of MEASURED the calling one, of DEPTH and UNCALLED the first of the function),
                        or loop (LOOP, TOTAL, LEFT_OUT) */
    uint32_t within; /* TOTAL: a loop around it, or CT_CFG_NONE: a run of the entry; DEPTH: CT_CFG_NONE: a
                        call from outside, or the block of the entry: a run of that; CYCLES: the block with
                        which the path begins, or CT_CFG_NONE: no run of `what` was measured */
    uint32_t pad;
    uint64_t value; /* cycles (of MEASURED those of the longest run), or the bound; for WAY_OUT, CALL,
                       UNCALLED and LEFT_OUT 0 */
    uint64_t runs;  /* MEASURED: number of measured runs; else 0 */
};

struct ct_wcet_result {
    uint64_t wcet;                   /* cycles */
    uint64_t measured;               /* cycles of measured calls in `wcet` */
    uint64_t observed_max;           /* longest complete run of the entry; 0 without one */
    uint64_t observed_runs;          /* complete runs of the entry */
    const struct ct_wcet_step *path; /* blocks on the longest path, by function and address */
    size_t path_count;
    const struct ct_wcet_assumed *assumed; /* assumptions on the longest path */
    size_t assumed_count;
    uint64_t rate_cycles; /* the slowest observed rate: cycles for rate_insns instructions */
    uint64_t rate_insns;  /* the slowest observed rate: instructions for rate_cycles */
    uint8_t is_bound; /* 0: another run may take longer, because something was only observed or is left out.
                         1: only if a piece takes more cycles than was measured or assumed for it */
    uint8_t relaxed; /* 1: the model is large and was solved without integers: `wcet` is rounded up to a value
                        that no path exceeds, and executions are rounded */
    uint8_t pad[6];
};

struct ct_wcet_options {
    size_t size;      /* sizeof(struct ct_wcet_options) */
    uint32_t entry;   /* number of the function in the graph */
    double quantile;  /* 0: the largest time of each piece; else the larger one of its mean and this quantile
                         of its traversals */
    uint8_t exclude;  /* 1: paths that were never observed are excluded */
    uint8_t product;  /* 1: loops with observed bounds may iterate as often as the product of the bounds of
                         the loops around them; 0: at most as often in total as was observed */
    uint64_t seconds; /* processor time that the solver may use, and as much again when the solution is not
                         integral; 0: CT_WCET_SECONDS */
};

/* Default time of the solver. A model of 174,000 rows took 3 s; models that took longer than this took more
 * than a minute. */
#define CT_WCET_SECONDS 30

struct ct_wcet;

/* Makes an object for the functions of one control flow graph. `cfg` and `lines` (may be NULL) must stay
 * valid. Edges are added to `cfg` (ct_wcet_learn, ct_cfg_learn) before anything is counted or observed; after
 * that it must not change. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_wcet_new(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_lines *lines,
                       struct ct_wcet **out);
CT_API void ct_wcet_free(struct ct_wcet *wcet);

/* Sets the function of the later ct_wcet_solve. The total iterations of loops during one run of it are then
 * counted, too. To be called before ct_wcet_count_loops. */
CT_API void ct_wcet_tell_runs_of(struct ct_wcet *wcet, uint32_t function);

/* Sets the program of the control flow graph, without load bias. `programs` are those in which it is
 * identified: the programs of the capture that is read; it is identified by its build id, or else by its
 * file. Both must stay valid. NULL, the initial state: what is in no program of the sums is its code, and
 * steps have its addresses. CT_ERR_ARG, those of ct_program_symbols. */
CT_API int ct_wcet_set_programs(struct ct_wcet *wcet, struct ct_program *program,
                                struct ct_programs *programs);

/* Returns 1 when a program is the file that the control flow graph comes from, else 0. */
CT_API int ct_wcet_is_of(const struct ct_wcet *wcet, struct ct_program *program);

/* Adds the targets of computed branches and calls to the control flow graph. They are those of the program in
 * the graph of a stream (struct ct_stream), or in sums of saved files. The errors of ct_cfg_learn,
 * CT_ERR_ARG. */
CT_API int ct_wcet_learn(struct ct_wcet *wcet, const struct ct_graph *graph);
CT_API int ct_wcet_learn_times(struct ct_wcet *wcet, struct ct_timing_sums *sums);

/* Takes measurements of one run or of many: the paths through the program, and the runs of its functions.
 * `counted` 1: the loops of these runs are also counted (ct_wcet_count_loops). With 0, for sums from a saved
 * file, a loop that ran in them needs a bound from the user, from a comment or from the code. CT_ERR_ARG,
 * CT_ERR_NOMEM. */
CT_API int ct_wcet_observe(struct ct_wcet *wcet, struct ct_timing_sums *sums, int counted);

/* Returns the number of the program in sums; CT_TIMING_NO_PROGRAM when they do not have it. */
CT_API uint32_t ct_wcet_program(const struct ct_wcet *wcet, const struct ct_timing_sums *sums);

/* Counts the loops of stream number `lane` (ct_session_lane): batches in order, then NULL at its end. Several
 * streams may alternate. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_wcet_count_loops(struct ct_wcet *wcet, uint32_t lane, const struct ct_step_batch *batch);

/* Reads a text of bounds and constraints (docs/analysis.md), called `name` in messages. To be called after
 * all observations: a `never` that contradicts one is CT_ERR_FORMAT. CT_ERR_FORMAT, CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
CT_API int ct_wcet_bounds(struct ct_wcet *wcet, const char *name, const char *text);

/* Takes bounds from comments "loop bound: N" in the source files that debug information names, as far as they
 * can be read. CT_ERR_NOMEM. */
CT_API int ct_wcet_comments(struct ct_wcet *wcet);

/* Builds the model and solves it. `write` also receives it, as text in the LP format; may be NULL. *result is
 * borrowed until the next call. CT_ERR_NOT_FOUND: a loop has no bound, or no path is possible; CT_ERR_LIMIT:
 * the solver took too long, or the bound exceeds 2^64; CT_ERR_UNSUPPORTED: there is no solver;
 * CT_ERR_NOMEM. */
CT_API int ct_wcet_solve(struct ct_wcet *wcet, const struct ct_wcet_options *options, ct_write_fn *write,
                         void *user, struct ct_wcet_result *result);

/* Returns all loops, by their number in the control flow graph. */
CT_API const struct ct_wcet_loop *ct_wcet_loops(const struct ct_wcet *wcet, size_t *count);

/* Returns the name of an origin: "", "told", "comment", "counted" or "observed". */
CT_API const char *ct_wcet_origin_name(enum ct_wcet_origin origin);

#ifdef __cplusplus
}
#endif
#endif
