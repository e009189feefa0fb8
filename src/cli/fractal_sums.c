/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/fractal_sums.h"

#include <inttypes.h>

#include "cli/fractal.h"
#include "cli/fractal_source.h"
#include "cli/results.h"

bool cli_fractal_sums_is_file(const char *path)
{
    return cli_results_is_file(ct_fractal_sums_kind(), path);
}

/* Adds a log. Returns an enum cli_exit. */
static int add_log(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes,
                   struct ct_fractal_sums *sums, const char *path)
{
    char own[CLI_FRACTAL_PATH];
    const char *elf = wishes->elf ? wishes->elf : cli_fractal_source_elf(args, path, wishes->process, own);
    struct ct_fractal_names_options named = cli_fractal_names_options(args, elf, wishes->bias);
    uint64_t damaged;
    named.one_process = wishes->one_process;
    named.process = wishes->process;
    if (ct_fractal_sums_add_log(args->ctx, sums, path, &named, &damaged) != CT_OK)
        return cli_library_error(args->ctx);
    if (damaged)
        cli_say("%s: %" PRIu64 " bytes of the log are damaged; only the intact part was used", path, damaged);
    return damaged ? CLI_DAMAGED : CLI_CLEAN;
}

/* Adds a file of saved sums. Returns an enum cli_exit. */
static int add_file(const struct cli_args *args, struct ct_fractal_sums *sums, const char *path)
{
    struct ct_analysis *all = ct_fractal_sums_analysis(sums);
    const uint64_t damaged = all->captures.damaged;
    if (!cli_results_load(args->ctx, all, path))
        return CLI_FAILED;
    if (all->captures.damaged == damaged)
        return CLI_CLEAN;
    cli_say("%s: some of its logs were damaged or incomplete; the sums lack their missing events", path);
    return CLI_DAMAGED;
}

/* Adds all operands. Returns the worst enum cli_exit. */
static int add_all(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes,
                   struct ct_fractal_sums *sums)
{
    int worst = CLI_CLEAN;
    for (int i = 0; i < args->rest_count && worst != CLI_FAILED; i++) {
        const char *path = args->rest[i];
        const int code =
            cli_results_is_file(NULL, path) ? add_file(args, sums, path) : add_log(args, wishes, sums, path);
        worst = cli_worse(worst, code);
    }
    return worst;
}

/* Prints the sums. Returns an enum cli_exit. */
static int print(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes,
                 struct ct_fractal_sums *sums)
{
    const struct ct_fractal_sums_write_options how = {.size = sizeof how, .rows = wishes->most};
    if (wishes->data)
        return cli_results_save(args->ctx, ct_fractal_sums_analysis(sums), stdout);
    return cli_fractal_written(args, ct_fractal_sums_write(args->ctx, sums, &how, cli_output_write, stdout));
}

int cli_fractal_sums_run(const struct cli_args *args, const struct cli_fractal_sums_wishes *wishes)
{
    struct ct_fractal_sums *sums;
    if (ct_fractal_sums_new(args->ctx, &sums) != CT_OK)
        return cli_library_error(args->ctx);
    int code = add_all(args, wishes, sums);
    if (code != CLI_FAILED) {
        const int printed = print(args, wishes, sums);
        code = cli_worse(code, printed);
    }
    ct_fractal_sums_free(sums);
    return code;
}
