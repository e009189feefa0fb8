/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/spec.h"

#include "cli/text_file.h"

#include <stdlib.h>

struct ct_monitor_limits cli_spec_limits(const struct cli_value *budget, const struct cli_value *memory,
                                         struct ct_monitor_options *compile)
{
    const size_t bytes = (size_t)memory->number << 20; /* 0 without the option */
    compile->memory = bytes;
    return (struct ct_monitor_limits){
        .size = sizeof(struct ct_monitor_limits), .memory = bytes, .budget = budget->number};
}

static void print_diagnostics(const struct ct_monitor_spec *spec, bool quiet)
{
    for (size_t i = 0; i < ct_monitor_diag_count(spec); i++) {
        struct ct_monitor_diag d;
        char text[4096];
        ct_monitor_diag_get(spec, i, &d);
        if (d.warning && quiet)
            continue;
        ct_monitor_diag_print(spec, i, text, sizeof text);
        fputs(text, stderr);
    }
}

enum cli_spec_found cli_spec_load(const struct cli_args *args, const char *path,
                                  const struct ct_monitor_options *options, struct ct_monitor_spec **spec,
                                  struct cli_spec_text *kept)
{
    size_t size;
    char *text = cli_read_text_or_standard(path, &size);
    *spec = NULL;
    if (kept)
        *kept = (struct cli_spec_text){text, size};
    if (!text)
        return CLI_SPEC_NONE;
    const int status = ct_monitor_compile(args->ctx, path, text, size, options, spec);
    if (!kept)
        free(text);
    if (*spec)
        print_diagnostics(*spec, args->quiet);
    else
        cli_library_error(args->ctx);
    const bool native = options->engine == CT_MONITOR_NATIVE;
    if (*spec && !status && native && ct_monitor_engine_of(*spec) != CT_MONITOR_NATIVE && !args->quiet)
        cli_say("%s: no machine code could be made, because libgccjit is missing or lacks memory, or the "
                "specification is too large; it runs as bytecode, which is slower",
                path);
    return !*spec ? CLI_SPEC_NONE : status ? CLI_SPEC_WRONG : CLI_SPEC_FINE;
}
