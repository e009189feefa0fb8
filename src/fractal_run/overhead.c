/* SPDX-License-Identifier: Apache-2.0 */
/* The cost of tracing a program, predicted by the model of the cluster. */
#include <inttypes.h>

#include "base/ctx.h"
#include "base/c_locale.h"
#include "base/options.h"
#include "base/out.h"
#include "base/require.h"
#include "fractal_run/simulation.h"

/* Runs the program on all clusters. */
static int study(struct ct_fractal_simulation *s, struct ct_fractal_overhead_result *result)
{
    int rc = ct_fractal_simulation_add_bare(s, CT_SOC_FABRIC_NONE)
             ?: ct_fractal_simulation_add_bare(s, CT_SOC_FABRIC_COHERENT)
             ?: ct_fractal_simulation_add_logged(s)
             ?: ct_fractal_simulation_run(s, &result->ended);
    if (!rc && !ct_soc_counts_of(s->bench[0].soc)->accesses)
        rc =
            ct_fail(s->ctx, CT_ERR_NOT_FOUND,
                    "%s: the program ran no instruction, so there is nothing to predict", s->options.argv[0]);
    if (rc)
        return rc;
    result->traced = ct_soc_cycles(s->bench[0].soc, 0);
    result->bare = ct_soc_cycles(s->bench[1].soc, 0);
    result->coherent = ct_soc_cycles(s->bench[2].soc, 0);
    result->logged = ct_soc_cycles(s->bench[3].soc, 0);
    return CT_OK;
}

int ct_fractal_overhead(struct ct_ctx *ctx, const struct ct_fractal_overhead_options *options,
                        struct ct_fractal_overhead_result *result)
{
    struct ct_fractal_overhead_options own;
    struct ct_fractal_simulation *s = NULL;
    CT_REQUIRE(ctx, options, result);
    *result = (struct ct_fractal_overhead_result){.ended = {.exit_code = -1}};
    int rc = ct_options_read(ctx, __func__, options, &own, sizeof own);
    if (!rc && (!own.argv || !own.argv[0]))
        rc = ct_fail(ctx, CT_ERR_ARG, "%s: no program was given; set argv", __func__);
    const struct ct_fractal_selection code = {.text = ".text", .kind = CT_FRACTAL_SELECT_SECTION};
    const struct ct_fractal_simulate_options traced = {.size = sizeof traced,
                                                       .argv = own.argv,
                                                       .cluster = own.cluster,
                                                       .names = own.names,
                                                       .selections = &code,
                                                       .selection_count = 1,
                                                       .signal = own.signal,
                                                       .mode = CT_FRACTAL_POINTS};
    if (!rc)
        rc = ct_fractal_simulation_new(ctx, &traced, &s);
    if (!s)
        return rc;
    rc = study(s, result);
    ct_fractal_simulation_free(s);
    return rc;
}

/* Prints a table of times, each relative to the first. */
static void print_table(const struct ct_fractal_overhead_result *result, FILE *out)
{
    CT_C_LOCALE;
    const struct {
        const char *name;
        uint64_t cycles;
    } rows[] = {{"no fabric", result->bare},
                {"coherent port", result->coherent},
                {"coherent port, tracing .text", result->traced},
                {"coherent port, log in memory", result->logged}};
    fprintf(out,
            "Predicted by the model of the cluster; see docs/fractal.md for what that can say.\n\n"
            "%-30s %16s %12s %10s\n",
            "configuration", "cycles", "ms", "overhead");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(out, "%-30s %16" PRIu64 " %12.3f %9.3f%%\n", rows[i].name, rows[i].cycles,
                (double)rows[i].cycles * 1e3 / (double)CT_SOC_CLOCK_HZ,
                100.0 * ((double)rows[i].cycles / (double)(result->bare ? result->bare : 1) - 1.0));
}

int ct_fractal_overhead_write(struct ct_ctx *ctx, const struct ct_fractal_overhead_result *result,
                              enum ct_fractal_overhead_form form, ct_write_fn *write, void *user)
{
    struct ct_out out;
    CT_REQUIRE(ctx, result, write);
    if ((unsigned)form > CT_FRACTAL_OVERHEAD_CSV)
        return ct_fail(ctx, CT_ERR_ARG, "%s: form %u does not exist; nothing was written", __func__,
                       (unsigned)form);
    const int rc = ct_out_open(&out, ctx, write, user);
    if (rc)
        return rc;
    if (form == CT_FRACTAL_OVERHEAD_CSV)
        fprintf(out.file, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", result->bare, result->coherent,
                result->traced, result->logged);
    else
        print_table(result, out.file);
    return ct_out_close(&out, CT_OK);
}
