/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions a specification of all is about: those that ran from call to return. */
#include <stdlib.h>
#include <string.h>

#include "cli/passes.h"
#include "cli/programs.h"
#include "cli/spec_measure.h"
#include "coretap/timing.h"

struct finding {
    struct cli_passes passes;
    struct ct_programs *programs;
    struct ct_timing *timing;
    struct cli_spec_functions *functions;
    bool failed;
};

static int on_steps(void *user, const struct ct_stream *stream, const struct ct_step_batch *batch)
{
    struct finding *f = user;
    (void)stream;
    return ct_timing_add(f->timing, batch);
}

static int begin(struct cli_passes *passes, struct ct_chain_options *chain, struct ct_chain_sink *sink)
{
    struct finding *f = passes->user;
    struct ct_timing_options options = {.size = sizeof options, .no_histograms = 1};
    chain->level = CT_LEVEL_STEPS;
    sink->steps = on_steps;
    int rc = ct_programs_places(f->programs, &options.programs, &options.program_count);
    options.program_count = ct_programs_count(f->programs); /* without memory that is no program */
    if (!rc)
        rc = ct_timing_new(passes->capture.args->ctx, &options, &f->timing);
    if (!rc)
        return CLI_CLEAN;
    return cli_library_error(passes->capture.args->ctx);
}

/* Functions of one name count as one: a specification cannot tell them apart. */
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

static void end(struct cli_passes *passes)
{
    struct finding *f = passes->user;
    size_t count;
    const struct ct_timing_function *all = ct_timing_functions(f->timing, &count);
    for (size_t i = 1; i < count && !f->failed; i++) /* the first one is code without a symbol */
        if (all[i].inclusive.count && !add(f->functions, all[i].name, all[i].inclusive.sum)) {
            cli_no_memory();
            f->failed = true;
        }
    ct_timing_free(f->timing);
    f->timing = NULL;
}

int cli_spec_functions_find(struct cli_spec_functions *functions, const struct cli_args *args, size_t elf)
{
    struct finding f = {.functions = functions};
    int code = CLI_FAILED;
    f.passes = (struct cli_passes){.user = &f, .begin = begin, .end = end, .ran = functions->ran};
    if (cli_programs_describe(&f.programs, args, elf, NULL)) {
        f.passes.programs = f.programs;
        code = cli_passes_run(&f.passes, args);
    }
    functions->ran = f.passes.ran;
    ct_timing_free(f.timing);
    ct_programs_free(f.programs);
    return f.failed ? CLI_FAILED : code;
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
