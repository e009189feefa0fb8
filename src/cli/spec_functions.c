/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for a specification of all functions: those that ran from call to return. */
#include <stdlib.h>
#include <string.h>

#include "cli/results.h"
#include "cli/spec_measure.h"
#include "coretap/timing.h"

/* Adds the time of a function. Functions with the same name count as one, because a specification cannot tell
 * them apart. */
static bool add(struct cli_spec_functions *functions, const char *name, uint64_t cycles)
{
    size_t i = 0;
    while (i < functions->count && strcmp(functions->all[i].name, name) != 0)
        i++;
    if (i == functions->count) {
        struct cli_spec_function *all = realloc(functions->all, (i + 1) * sizeof *all);
        char *copy = all ? strdup(name) : NULL;
        functions->all = all ? all : functions->all;
        if (!copy)
            return false;
        functions->all[functions->count++] = (struct cli_spec_function){.name = copy};
    }
    functions->all[i].cycles += cycles;
    return true;
}

/* Takes the functions with complete runs, except code without a symbol or outside of programs. Returns false
 * after a message. */
static bool take(struct cli_spec_functions *functions, const struct ct_timing_found *found)
{
    for (size_t i = 0; i < found->function_count; i++) {
        const struct ct_timing_function *f = &found->functions[i];
        const bool is_named = f->program != CT_TIMING_NO_PROGRAM && strcmp(f->name, CT_SYMBOL_UNKNOWN) != 0;
        if (is_named && f->inclusive.count && !add(functions, f->name, f->inclusive.sum)) {
            cli_no_memory();
            return false;
        }
    }
    return true;
}

int cli_spec_functions_find(struct cli_spec_functions *functions, const struct cli_args *args, size_t elf)
{
    const struct ct_timing_sums_options wishes = {.size = sizeof wishes, .no_histograms = 1};
    struct cli_results read = {.args = args, .elf = elf, .threads = cli_threads(args), .untold = true};
    struct ct_timing_sums *sums = NULL;
    struct ct_timing_found found;
    int code = CLI_FAILED;
    if (ct_timing_sums_new(args->ctx, &wishes, &sums) != CT_OK)
        return cli_library_error(args->ctx);
    read.analysis = ct_timing_sums_analysis(sums);
    if (cli_filter_read(&read.filter, args, false) && cli_programs_new(&read.programs, args, NULL))
        code = cli_results_read(&read);
    if (code != CLI_FAILED && ct_timing_sums_find(sums, &found) != CT_OK)
        code = cli_library_error(args->ctx);
    if (code != CLI_FAILED && !take(functions, &found))
        code = CLI_FAILED;
    functions->ran = read.ran;
    functions->kept_nothing = read.kept_nothing;
    cli_results_close(&read);
    ct_timing_sums_free(sums);
    return code;
}

static int by_time(const void *a, const void *b)
{
    const struct cli_spec_function *x = a;
    const struct cli_spec_function *y = b;
    if (x->cycles != y->cycles)
        return x->cycles > y->cycles ? -1 : 1;
    return strcmp(x->name, y->name);
}

void cli_spec_functions_sort(struct cli_spec_functions *functions)
{
    if (functions->count)
        qsort(functions->all, functions->count, sizeof *functions->all, by_time);
}

void cli_spec_functions_free(struct cli_spec_functions *functions)
{
    for (size_t i = 0; i < functions->count; i++)
        free(functions->all[i].name);
    free(functions->all);
}
