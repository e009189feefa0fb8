/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/ilp.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/room.h"

int ct_ilp_column(struct ct_ilp *p, const char *name, uint64_t gain, uint32_t *column)
{
    if (!CT_MAKE_ROOM(p->columns, p->column_room, p->column_count + 1))
        return CT_ERR_NOMEM;
    *column = (uint32_t)p->column_count;
    struct ct_ilp_column *added = &p->columns[p->column_count++];
    *added = (struct ct_ilp_column){.gain = gain};
    snprintf(added->name, sizeof added->name, "%s", name);
    return CT_OK;
}

int ct_ilp_row(struct ct_ilp *p, const char *name, enum ct_ilp_sense sense, int64_t right)
{
    if (!CT_MAKE_ROOM(p->rows, p->row_room, p->row_count + 1))
        return CT_ERR_NOMEM;
    struct ct_ilp_row *added = &p->rows[p->row_count++];
    *added = (struct ct_ilp_row){.first = p->term_count, .right = right, .sense = (uint8_t)sense};
    snprintf(added->name, sizeof added->name, "%s", name);
    return CT_OK;
}

/* Adds a term to the last row. Adds up terms of one column in one row, because solvers require each column
 * once. */
int ct_ilp_term(struct ct_ilp *p, uint32_t column, int64_t factor)
{
    struct ct_ilp_row *row = &p->rows[p->row_count - 1];
    size_t *newest = &p->columns[column].newest;
    if (*newest > row->first) {
        p->terms[*newest - 1].factor += factor;
        return CT_OK;
    }
    if (!CT_MAKE_ROOM(p->terms, p->term_room, p->term_count + 1))
        return CT_ERR_NOMEM;
    p->terms[p->term_count++] = (struct ct_ilp_term){.column = column, .factor = factor};
    *newest = p->term_count;
    row->count++;
    return CT_OK;
}

void ct_ilp_free(struct ct_ilp *p)
{
    free(p->columns);
    free(p->rows);
    free(p->terms);
    *p = (struct ct_ilp){0};
}

static __int128 sum_of(const struct ct_ilp *p, const struct ct_ilp_row *row, const uint64_t *values)
{
    __int128 sum = 0;
    for (size_t i = row->first; i < row->first + row->count; i++)
        sum += (__int128)p->terms[i].factor * values[p->terms[i].column];
    return sum;
}

bool ct_ilp_reaches(const struct ct_ilp *p, uint32_t row, const uint64_t *values)
{
    return sum_of(p, &p->rows[row], values) == p->rows[row].right;
}

/* ---- the model as text ---- */

/* Writes a row with one term a line, to keep lines short. */
static void write_row(const struct ct_ilp *p, const struct ct_ilp_row *row, FILE *out)
{
    static const char *const senses[] = {"<=", "=", ">="};
    bool any = false;
    for (size_t i = row->first; i < row->first + row->count; i++) {
        const struct ct_ilp_term *term = &p->terms[i];
        if (!term->factor)
            continue;
        if (!any)
            fprintf(out, " %s:\n", row->name);
        any = true;
        fprintf(out, "  %s %" PRIu64 " %s\n", term->factor < 0 ? "-" : "+",
                term->factor < 0 ? 0 - (uint64_t)term->factor : (uint64_t)term->factor,
                p->columns[term->column].name);
    }
    if (any)
        fprintf(out, "  %s %" PRId64 "\n", senses[row->sense], row->right);
}

void ct_ilp_write(const struct ct_ilp *p, FILE *out)
{
    fputs("Maximize\n cycles:\n", out);
    for (size_t i = 0; i < p->column_count; i++)
        fprintf(out, "  + %" PRIu64 " %s\n", p->columns[i].gain, p->columns[i].name);
    fputs("Subject To\n", out);
    for (size_t i = 0; i < p->row_count; i++)
        write_row(p, &p->rows[i], out);
    fputs("General\n", out);
    for (size_t i = 0; i < p->column_count; i++)
        fprintf(out, " %s\n", p->columns[i].name);
    fputs("End\n", out);
}

/* ---- the solution ---- */

#ifdef CT_HAVE_CBC

#include <coin/Cbc_C_Interface.h>
#include <coin/Clp_C_Interface.h>
#include <errno.h>
#include <float.h>
#include <math.h>

#include "base/library.h"

/* names another library to load as the solver: another build or, in tests, one that is missing */
#define VARIABLE "CORETAP_CBC"

/* Functions of CBC, and of CLP, its solver for real numbers. They are loaded only when a program is to be
 * solved: loading takes longer than most commands take to start, and brings printf conversions that slow down
 * every printf. */
#define ENTRIES(X)                                                                                           \
    X(Cbc_newModel)                                                                                          \
    X(Cbc_deleteModel)                                                                                       \
    X(Cbc_loadProblem)                                                                                       \
    X(Cbc_setObjSense)                                                                                       \
    X(Cbc_setInteger)                                                                                        \
    X(Cbc_setParameter)                                                                                      \
    X(Cbc_solve)                                                                                             \
    X(Cbc_setMaximumSeconds)                                                                                 \
    X(Cbc_isNodeLimitReached)                                                                                \
    X(Cbc_isSecondsLimitReached)                                                                             \
    X(Cbc_isProvenOptimal)                                                                                   \
    X(Cbc_getColSolution)                                                                                    \
    X(Clp_newModel)                                                                                          \
    X(Clp_deleteModel)                                                                                       \
    X(Clp_loadProblem)                                                                                       \
    X(Clp_setMaximumSeconds)                                                                                 \
    X(Clp_setLogLevel)                                                                                       \
    X(Clp_setOptimizationDirection)                                                                          \
    X(Clp_initialSolve)                                                                                      \
    X(Clp_status)                                                                                            \
    X(Clp_primalColumnSolution)                                                                              \
    X(Clp_objectiveValue)

CT_LIBRARY(solver, ENTRIES);

static int load(struct ct_ctx *ctx, union solver *solver)
{
    const char *named = getenv(VARIABLE);
    errno = 0;
    if (!CT_LIBRARY_FIND(named ? named : "libCbcSolver.so.3", solver, ENTRIES))
        return ct_unless_nomem(
            ctx, "libCbcSolver",
            ct_fail(ctx, CT_ERR_UNSUPPORTED,
                    "wcet: the solver CBC is not installed, so the model cannot be solved; install it "
                    "(Debian: coinor-libcbc3), or solve the file that --lp writes with another solver"));
    return CT_OK;
}

#define MOST_VALUE 9007199254740992.0 /* 2^53: a double holds each whole number up to here */

/* The program by columns, in the form that the solver takes. */
struct sparse {
    CoinBigIndex *start;
    int *row;
    double *factor;
    double *gain;
    double *low, *high;
};

static void sparse_free(struct sparse *s)
{
    free(s->start);
    free(s->row);
    free(s->factor);
    free(s->gain);
    free(s->low);
    free(s->high);
}

static bool sparse_make(const struct ct_ilp *p, struct sparse *s)
{
    s->start = calloc(p->column_count + 2, sizeof *s->start);
    s->row = calloc(p->term_count + 1, sizeof *s->row);
    s->factor = calloc(p->term_count + 1, sizeof *s->factor);
    s->gain = calloc(p->column_count + 1, sizeof *s->gain);
    s->low = calloc(p->row_count + 1, sizeof *s->low);
    s->high = calloc(p->row_count + 1, sizeof *s->high);
    if (!s->start || !s->row || !s->factor || !s->gain || !s->low || !s->high)
        return false;
    for (size_t i = 0; i < p->term_count; i++)
        s->start[p->terms[i].column + 2]++;
    for (size_t i = 0; i < p->column_count; i++) {
        s->start[i + 2] += s->start[i + 1];
        s->gain[i] = (double)p->columns[i].gain;
    }
    for (size_t r = 0; r < p->row_count; r++) {
        const struct ct_ilp_row *row = &p->rows[r];
        s->low[r] = row->sense == CT_ILP_LE ? -DBL_MAX : (double)row->right;
        s->high[r] = row->sense == CT_ILP_GE ? DBL_MAX : (double)row->right;
        for (size_t i = row->first; i < row->first + row->count; i++) {
            CoinBigIndex at = s->start[p->terms[i].column + 1]++;
            s->row[at] = (int)r;
            s->factor[at] = (double)p->terms[i].factor;
        }
    }
    return true;
}

static int check(struct ct_ctx *ctx, const struct ct_ilp *p, const uint64_t *values, uint64_t *gain)
{
    for (size_t r = 0; r < p->row_count; r++) {
        const struct ct_ilp_row *row = &p->rows[r];
        const __int128 sum = sum_of(p, row, values);
        if ((row->sense != CT_ILP_GE && sum > row->right) || (row->sense != CT_ILP_LE && sum < row->right))
            return ct_fail(ctx, CT_ERR_LIMIT,
                           "wcet: the solution violates constraint %s, because its numbers are too large to "
                           "be exact; give smaller bounds",
                           row->name);
    }
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < p->column_count; i++)
        sum += (unsigned __int128)p->columns[i].gain * values[i];
    if (sum > UINT64_MAX)
        return ct_fail(ctx, CT_ERR_LIMIT, "wcet: the bound is larger than 2^64 cycles; give smaller bounds");
    *gain = (uint64_t)sum;
    return CT_OK;
}

/* The search for whole numbers is limited to programs of so many columns, and to so many branches. A larger
 * search takes minutes. */
#define MOST_WHOLE    16384
#define MOST_BRANCHES "1000"

/* The share of the largest gain that the solver's tolerances may hide. */
#define TOLERANCE 1e-6

/* Reads the values of a solution and rounds them. Returns whether all are whole numbers. */
static bool read_values(const double *solution, const struct ct_ilp *p, uint64_t *values)
{
    bool whole = true;
    for (size_t i = 0; i < p->column_count; i++) {
        const double value = solution[i] < 0 ? 0 : floor(solution[i] + 0.5);
        whole &= fabs(value - solution[i]) < TOLERANCE;
        values[i] = value > MOST_VALUE ? (uint64_t)MOST_VALUE : (uint64_t)value;
    }
    return whole;
}

static int fail_impossible(struct ct_ctx *ctx)
{
    return ct_fail(ctx, CT_ERR_NOT_FOUND,
                   "wcet: no path satisfies all constraints; the entry never returns, or the bounds "
                   "contradict each other; choose another entry or correct the bounds");
}

/* Reads a solution. When its values are not whole numbers, sets *relaxed and rounds the gain up, so that no
 * solution in whole numbers exceeds it. */
static int read_relaxed(struct ct_ctx *ctx, const struct solver_functions *clp, Clp_Simplex *model,
                        const struct ct_ilp *p, uint64_t *values, uint64_t *gain, bool *relaxed,
                        bool *too_long)
{
    const int status = clp->Clp_status(model);
    const double value = ceil(clp->Clp_objectiveValue(model) * (1 + TOLERANCE));
    if (status == 1)
        return fail_impossible(ctx);
    *too_long = status == 3;
    if (*too_long)
        return CT_ERR_LIMIT;
    if (status)
        return ct_fail(ctx, CT_ERR_LIMIT,
                       "wcet: the model has no longest time, because one of its cycles is unbounded; give a "
                       "bound for every loop");
    *relaxed = !read_values(clp->Clp_primalColumnSolution(model), p, values);
    if (!*relaxed)
        return check(ctx, p, values, gain);
    if (value >= 0x1p64)
        return ct_fail(ctx, CT_ERR_LIMIT, "wcet: the bound is larger than 2^64 cycles; give smaller bounds");
    *gain = (uint64_t)value;
    return CT_OK;
}

/* Solves the program in real numbers, which is quick and mostly gives whole numbers. */
static int solve_relaxed(struct ct_ctx *ctx, const struct solver_functions *clp, const struct ct_ilp *p,
                         const struct sparse *s, unsigned seconds, uint64_t *values, uint64_t *gain,
                         bool *relaxed, bool *too_long)
{
    Clp_Simplex *model = clp->Clp_newModel();
    if (!model)
        return ct_fail_nomem(ctx, "linear program");
    clp->Clp_setLogLevel(model, 0);
    clp->Clp_setMaximumSeconds(model, seconds);
    clp->Clp_loadProblem(model, (int)p->column_count, (int)p->row_count, s->start, s->row, s->factor, NULL,
                         NULL, s->gain, s->low, s->high);
    clp->Clp_setOptimizationDirection(model, -1);
    clp->Clp_initialSolve(model);
    const int rc = read_relaxed(ctx, clp, model, p, values, gain, relaxed, too_long);
    clp->Clp_deleteModel(model);
    return rc;
}

/* Solves the program in whole numbers. Leaves *relaxed true, and the other results unchanged, when that takes
 * too many branches or too long. */
static int solve_whole(struct ct_ctx *ctx, const struct solver_functions *cbc, const struct ct_ilp *p,
                       const struct sparse *s, unsigned seconds, uint64_t *values, uint64_t *gain,
                       bool *relaxed)
{
    Cbc_Model *model = cbc->Cbc_newModel();
    if (!model)
        return ct_fail_nomem(ctx, "linear program");
    cbc->Cbc_loadProblem(model, (int)p->column_count, (int)p->row_count, s->start, s->row, s->factor, NULL,
                         NULL, s->gain, s->low, s->high);
    cbc->Cbc_setObjSense(model, -1);
    for (size_t i = 0; i < p->column_count; i++)
        cbc->Cbc_setInteger(model, (int)i);
    cbc->Cbc_setParameter(model, "logLevel", "0");
    cbc->Cbc_setParameter(model, "maxNodes", MOST_BRANCHES);
    /* CBC 2.10 aborts in some models when its heuristics dive; the search does not need them */
    cbc->Cbc_setParameter(model, "heuristicsOnOff", "off");
    cbc->Cbc_setMaximumSeconds(model, seconds);
    cbc->Cbc_solve(model);
    int rc = CT_OK;
    *relaxed = cbc->Cbc_isNodeLimitReached(model) || cbc->Cbc_isSecondsLimitReached(model);
    if (cbc->Cbc_isProvenOptimal(model)) {
        read_values(cbc->Cbc_getColSolution(model), p, values);
        *relaxed = false;
        rc = check(ctx, p, values, gain);
    } else if (!*relaxed) {
        rc = fail_impossible(ctx);
    }
    cbc->Cbc_deleteModel(model);
    return rc;
}

int ct_ilp_solve(struct ct_ctx *ctx, const struct ct_ilp *p, unsigned seconds, uint64_t *values,
                 uint64_t *gain, bool *relaxed, bool *too_long)
{
    struct sparse s = {0};
    union solver solver;
    int rc = load(ctx, &solver);
    if (rc)
        return rc;
    rc = sparse_make(p, &s) ? solve_relaxed(ctx, &solver.f, p, &s, seconds, values, gain, relaxed, too_long)
                            : ct_fail_nomem(ctx, "linear program");
    if (!rc && *relaxed && p->column_count <= MOST_WHOLE)
        rc = solve_whole(ctx, &solver.f, p, &s, seconds, values, gain, relaxed);
    sparse_free(&s);
    return rc;
}

#else

int ct_ilp_solve(struct ct_ctx *ctx, const struct ct_ilp *p, unsigned seconds, uint64_t *values,
                 uint64_t *gain, bool *relaxed, bool *too_long)
{
    (void)p;
    (void)seconds;
    (void)relaxed;
    (void)too_long;
    (void)values;
    (void)gain;
    return ct_fail(ctx, CT_ERR_UNSUPPORTED,
                   "wcet: this coretap was built without the solver CBC, so the model cannot be solved; "
                   "build it with coinor-libcbc-dev, or solve the file that --lp writes with another solver");
}

#endif
