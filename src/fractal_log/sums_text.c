/* SPDX-License-Identifier: Apache-2.0 */
/* Sums of logs as tables. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/c_locale.h"
#include "base/options.h"
#include "base/out.h"
#include "base/printable.h"
#include "base/require.h"
#include "base/search.h"
#include "coretap/fractal_report.h"

#define ROWS 15 /* rows of a table */

/* A table of names of the kinds from `first` to `last`. */
struct table {
    const char *title;
    enum ct_fractal_name_kind first, last;
};

/* Orders pointers to names by number of events, most first, then by their order in the sums. */
static int by_events(const void *a, const void *b)
{
    const struct ct_fractal_sum *x = *(const struct ct_fractal_sum *const *)a;
    const struct ct_fractal_sum *y = *(const struct ct_fractal_sum *const *)b;
    return ct_order(y->events, x->events) ?: ct_order((uintptr_t)x, (uintptr_t)y);
}

/* Prints a name with its program; prints `unnamed` for an empty name. */
static void put_name(FILE *out, const char *program, const char *name, const char *unnamed)
{
    if (*program) {
        ct_put_printable(out, program);
        fputs(": ", out);
    }
    ct_put_printable(out, *name ? name : unnamed);
}

/* Prints a row of a table of names; `whole` is the number of all events. */
static void print_name(FILE *out, const struct ct_fractal_sum *row, double whole)
{
    fprintf(out, "%12" PRIu64 " %6.2f%% %12" PRIu64 "  ", row->events,
            whole > 0 ? 100.0 * (double)row->events / whole : 0, row->insns);
    put_name(out, row->program, row->name, "(its file)");
    if (row->kind == CT_FRACTAL_PAGE)
        fprintf(out, "+0x%" PRIx64, row->offset);
    fputc('\n', out);
}

/* Prints the names of a table with the most events, at most `most`. */
static int print_names(struct ct_ctx *ctx, struct ct_fractal_sums *sums, const struct table *table,
                       uint64_t most, FILE *out)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(sums);
    const double whole = (double)t->events + (double)t->aliases;
    size_t count, kept = 0;
    const struct ct_fractal_sum *all = ct_fractal_sums_all(sums, &count);
    const struct ct_fractal_sum **rows = calloc(count + 1, sizeof(const struct ct_fractal_sum *));
    if (!rows)
        return ct_fail_nomem(ctx, "a table of names");
    for (size_t i = 0; i < count; i++)
        if (all[i].kind >= table->first && all[i].kind <= table->last)
            rows[kept++] = &all[i];
    qsort(rows, kept, sizeof(const struct ct_fractal_sum *), by_events);
    fprintf(out, "\n%s\n%12s %7s %12s  %s\n", table->title, "events", "share", "instructions", "name");
    for (size_t i = 0; i < kept && i < most; i++)
        print_name(out, rows[i], whole);
    if (!kept)
        fputs("        none\n", out);
    free(rows);
    return CT_OK;
}

/* Prints the observation points, with the times between their hits. */
static void print_points(struct ct_fractal_sums *sums, FILE *out)
{
    size_t count;
    const struct ct_fractal_point_sum *all = ct_fractal_sums_points(sums, &count);
    if (count)
        fprintf(out, "\nMilestones (observation points)\n%12s %12s %12s %12s %-6s  %s\n", "hits", "shortest",
                "mean", "longest", "unit", "name");
    for (size_t i = 0; i < count; i++) {
        const struct ct_fractal_point_sum *p = &all[i];
        const double scale = p->clock_hz ? 1e3 / (double)p->clock_hz : 1;
        const double mean = p->intervals ? (double)p->total / (double)p->intervals : 0;
        fprintf(out, "%12" PRIu64 " %12.4f %12.4f %12.4f %-6s  ", p->hits, (double)p->shortest * scale,
                mean * scale, (double)p->longest * scale, p->clock_hz ? "ms" : "cycles");
        put_name(out, p->program, p->name, "");
        if (!*p->name)
            fprintf(out, "0x%" PRIx64, p->offset);
        fputc('\n', out);
    }
}

/* Prints the totals. */
static void print_totals(struct ct_fractal_sums *sums, FILE *out)
{
    const struct ct_fractal_totals *t = ct_fractal_sums_totals(sums);
    const struct ct_analysis_captures *c = &ct_fractal_sums_analysis(sums)->captures;
    fprintf(out, "logs      %" PRIu64 ", %" PRIu64 " of them damaged or incomplete\n", c->known, c->damaged);
    fprintf(out,
            "events    %" PRIu64 " (%" PRIu64 " of instructions), %" PRIu64
            " more for pages mapped twice; %" PRIu64 " dropped; %" PRIu64 " bytes damaged\n",
            t->events, t->insns, t->aliases, c->losses.overflows, c->losses.lost_bytes);
    for (unsigned i = 0; i < CT_FRACTAL_OP_COUNT; i++)
        if (t->by_op[i])
            fprintf(out, "%-18s %" PRIu64 "\n", ct_fractal_op_name(i), t->by_op[i]);
    for (unsigned i = 0; i < sizeof t->by_initiator / sizeof *t->by_initiator; i++)
        if (t->by_initiator[i])
            fprintf(out, "initiator %-8u %" PRIu64 "\n", i, t->by_initiator[i]);
}

/* Prints all tables; for empty sums only the totals. */
static int print(struct ct_ctx *ctx, struct ct_fractal_sums *sums, uint64_t rows, FILE *out)
{
    static const struct table tables[] = {
        {"Functions", CT_FRACTAL_FUNCTION, CT_FRACTAL_FUNCTION},
        {"Objects, sections and regions", CT_FRACTAL_OBJECT, CT_FRACTAL_ELSEWHERE},
        {"Pages", CT_FRACTAL_PAGE, CT_FRACTAL_PAGE},
    };
    size_t count;
    int rc = CT_OK;
    print_totals(sums, out);
    ct_fractal_sums_all(sums, &count);
    if (!count)
        return CT_OK;
    for (size_t i = 0; i < sizeof tables / sizeof *tables && rc == CT_OK; i++)
        rc = print_names(ctx, sums, &tables[i], rows, out);
    if (rc == CT_OK)
        print_points(sums, out);
    return rc;
}

int ct_fractal_sums_write(struct ct_ctx *ctx, struct ct_fractal_sums *sums,
                          const struct ct_fractal_sums_write_options *options, ct_write_fn *write, void *user)
{
    CT_C_LOCALE;
    struct ct_fractal_sums_write_options own;
    struct ct_out out;
    CT_REQUIRE(ctx, sums, write);
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    if (rc == CT_OK)
        rc = ct_out_open(&out, ctx, write, user);
    return rc == CT_OK ? ct_out_close(&out, print(ctx, sums, own.rows ? own.rows : ROWS, out.file)) : rc;
}
