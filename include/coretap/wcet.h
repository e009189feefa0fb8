/* SPDX-License-Identifier: Apache-2.0 */
/* coretap wcet: the longest time that a function can take. It is worked out from the control flow of the
 * program, the times that were measured for its pieces, and how often its loops go round at most (implicit
 * path enumeration, IPET: Li and Malik, DAC 1995; with measured pieces: paper 2, IV-B). */
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

/* Who says how often a loop goes round. */
enum ct_wcet_origin {
    CT_WCET_NOBODY,
    CT_WCET_USER,     /* the file of bounds */
    CT_WCET_COMMENT,  /* a comment in the source */
    CT_WCET_COUNTED,  /* the code itself counts to a number */
    CT_WCET_OBSERVED, /* no run went round more often: no bound, only what was seen */
};

/* A loop of the control flow graph, same number as there. */
struct ct_wcet_loop {
    uint64_t bound;    /* executions of its head for each time that it is entered, at most */
    uint64_t observed; /* the most that were seen */
    uint8_t origin;    /* enum ct_wcet_origin */
    uint8_t used;      /* 1: in a function that the entry can reach */
    uint8_t pad[6];
};

/* A block on the longest path. */
struct ct_wcet_step {
    uint32_t block;
    uint8_t assumed; /* 1: some of its cycles were never observed */
    uint8_t pad[3];
    uint64_t count;    /* executions */
    uint64_t cycles;   /* of all of them */
    uint64_t measured; /* of these cycles, those of measured calls (CT_WCET_MEASURED) */
};

enum ct_wcet_assumption {
    CT_WCET_CYCLES,  /* this way was never observed: cycles taken for it are those of its instructions at the
                        slowest rate  seen */
    CT_WCET_SHARED,  /* its cycles were only seen as parts of counts for several steps */
    CT_WCET_CALL,    /* a computed call that was never observed: what it calls takes no time here */
    CT_WCET_LOOP,    /* the bound of this loop is what was observed */
    CT_WCET_WAY_OUT, /* a computed branch was never observed: no path goes there */
    CT_WCET_TOTAL, /* the loop went round no more often in all while `within` lasted, and nobody says that it
                      cannot */
    CT_WCET_DEPTH, /* the function ran no more often for a call from outside of its recursion */
    CT_WCET_UNCALLED, /* this function calls itself, was never seen to run and nothing says how often: no path
                         goes there */
    CT_WCET_LEFT_OUT, /* this loop was never seen to run and nobody bounds it: no path goes there */
    CT_WCET_MEASURED, /* a call of which there is no model, as of a shared library: the longest run that was
                         measured of what it calls stands for it */
};

/* What the bound hangs on without being measured or told. */
struct ct_wcet_assumed {
    uint32_t kind;   /* enum ct_wcet_assumption */
    uint32_t what;   /* block (of MEASURED the one that calls, of DEPTH and UNCALLED the first one of the
                        function), or loop (LOOP, TOTAL,   LEFT_OUT) */
    uint32_t within; /* TOTAL: a loop around it, or CT_CFG_NONE: a run of the entry; DEPTH: CT_CFG_NONE: a
                        call from outside, or the block of the entry: a run of that */
    uint32_t pad;
    uint64_t value; /* cycles (of MEASURED those of the longest run), or the bound; of WAY_OUT, CALL, UNCALLED
                       and LEFT_OUT 0 */
    uint64_t runs;  /* MEASURED: how many were measured; else 0 */
};

struct ct_wcet_result {
    uint64_t wcet;                   /* cycles */
    uint64_t measured;               /* of these, the cycles of measured calls */
    uint64_t observed_max;           /* of a whole run of the entry; 0 without one */
    uint64_t observed_runs;          /* whole runs */
    const struct ct_wcet_step *path; /* blocks that run on the longest path, by function and address */
    size_t path_count;
    const struct ct_wcet_assumed *assumed; /* of what is on the longest path */
    size_t assumed_count;
    uint64_t rate_cycles; /* the slowest rate seen: so many cycles for rate_insns instructions */
    uint64_t rate_insns;  /* the slowest rate seen: instructions that rate_cycles were for */
    uint8_t is_bound; /* 0: another run may take longer, because something was only observed or is left out.
                         1: only if a piece takes more cycles than was measured or assumed for it */
    uint8_t relaxed; /* 1: the model is large, and its path was found without whole numbers: `wcet` is rounded
                        up to what no path exceeds, and executions are rounded */
    uint8_t pad[6];
};

struct ct_wcet_options {
    size_t size;      /* sizeof(struct ct_wcet_options) */
    uint32_t entry;   /* function of the graph */
    double quantile;  /* 0: the largest time of each piece; else mean and quantile: the larger one of the mean
                         and the time that this part of all traversals stayed below */
    uint8_t exclude;  /* 1: ways that were never observed are not taken */
    uint8_t product;  /* 1: loops whose bounds were observed go round as often as the bounds of those around
                         them multiply to; 0: no more often in all than was observed */
    uint64_t seconds; /* of processor time that the solver may take, and as many again when the solution is
                         not in whole numbers; 0: CT_WCET_SECONDS */
};

/* A model of 174,000 rows took 3 s; models that took longer than this took more than a minute. */
#define CT_WCET_SECONDS 30

struct ct_wcet;

/* Makes an object for the functions of one control flow graph. `cfg` and `lines` (may be NULL) have to stay,
 * and `cfg` as it is: edges are added (ct_cfg_learn) before. CT_ERR_NOMEM. */
CT_API int ct_wcet_new(struct ct_ctx *ctx, struct ct_cfg *cfg, const struct ct_lines *lines,
                       struct ct_wcet **out);
CT_API void ct_wcet_free(struct ct_wcet *wcet);

/* Says which function ct_wcet_solve will be asked for: what loops do in all during one run of it is counted,
 * too. Before ct_wcet_count_loops. */
CT_API void ct_wcet_tell_runs_of(struct ct_wcet *wcet, uint32_t function);

/* Says of which program the control flow graph is, without load bias, and among which it is looked for. Those
 * are the programs of the capture that is read; it is known by its build id, or else by its file. Both have
 * to stay. NULL, as at first: what is in no program of the sums is its code, and steps have its addresses.
 * CT_ERR_ARG, those of ct_program_symbols. */
CT_API int ct_wcet_set_programs(struct ct_wcet *wcet, struct ct_program *program,
                                struct ct_programs *programs);

/* Returns 1 for a program that is the same file as that of the control flow graph, else 0. */
CT_API int ct_wcet_is_of(const struct ct_wcet *wcet, struct ct_program *program);

/* Takes what was measured, of one run or of many: the ways through the program, and the runs of its
 * functions. `counted` 1: the loops of these runs are counted too (ct_wcet_count_loops). With 0, for sums out
 * of a saved file, a loop that ran in them needs a bound that is told, in a comment or counted by the code.
 * CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_wcet_observe(struct ct_wcet *wcet, struct ct_timing_sums *sums, int counted);

/* Returns the number of the program in sums; CT_TIMING_NO_PROGRAM where it is in none of them. */
CT_API uint32_t ct_wcet_program(const struct ct_wcet *wcet, const struct ct_timing_sums *sums);

/* Counts the loops of a stream, `lane` (ct_session_lane): batches in order, then NULL at its end. Several
 * streams may come by turns. CT_ERR_ARG, CT_ERR_NOMEM. */
CT_API int ct_wcet_count_loops(struct ct_wcet *wcet, uint32_t lane, const struct ct_step_batch *batch);

/* Reads a text of bounds and constraints (docs/analysis.md), called `name` in messages. It comes after all
 * was observed: a `never` of what was observed is CT_ERR_FORMAT. CT_ERR_FORMAT, CT_ERR_NOT_FOUND,
 * CT_ERR_NOMEM. */
CT_API int ct_wcet_bounds(struct ct_wcet *wcet, const char *name, const char *text);

/* Takes bounds out of comments "loop bound: N" of the source files that debug information names, as far as
 * they can be read. CT_ERR_NOMEM. */
CT_API int ct_wcet_comments(struct ct_wcet *wcet);

/* Makes the model and solves it; with `write` also gives it there, as text in the LP format. *result is
 * borrowed until the next call. CT_ERR_NOT_FOUND: a loop has no bound, or no path is possible; CT_ERR_LIMIT:
 * the solver took too long, or the bound is beyond 2^64; CT_ERR_UNSUPPORTED: there is no solver;
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
