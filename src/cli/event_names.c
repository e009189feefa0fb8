/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/event_names.h"

#include <stdlib.h>
#include <string.h>

/* Says of which programs there are no names. */
static bool load(struct cli_event_names *n)
{
    struct ct_program *program;
    const struct ct_symbols *symbols;
    for (; (program = ct_programs_at(n->programs, n->known)); n->known++) {
        if (ct_program_symbols(program, &symbols) == CT_OK)
            continue;
        if (program->named) {
            cli_library_error(n->args->ctx);
            return false;
        }
        if (!n->args->quiet)
            cli_say("%s; its functions are not named", ct_ctx_error(n->args->ctx));
    }
    return true;
}

static bool list_programs(struct cli_event_names *n)
{
    const struct ct_program_place *places;
    size_t count;
    if (!load(n))
        return false;
    (void)ct_programs_places(n->programs, &places, &count); /* of those that have names */
    if (!places) {
        cli_no_memory();
        return false;
    }
    ct_address_names_set(n->names, places, count);
    return true;
}

bool cli_event_names_open(struct cli_event_names *n, const struct cli_args *args, size_t elf, bool wanted,
                          struct cli_capture *capture)
{
    n->args = args;
    if (!wanted && !args->values[elf].given)
        return true;
    if (!cli_programs_open(&n->programs, args, elf, capture))
        return false;
    if (!wanted)
        return true;
    if (ct_address_names_new(args->ctx, &n->names) != CT_OK) {
        cli_library_error(args->ctx);
        return false;
    }
    n->maps = ct_programs_by_memory(capture->capture) ? capture->capture->maps : NULL;
    return n->maps ? cli_event_names_in(n, 0) : list_programs(n);
}

bool cli_event_names_in(struct cli_event_names *n, uint32_t memory)
{
    if (!n->maps || (memory == n->memory && n->loaded_count))
        return true;
    n->memory = memory;
    if (memory < n->loaded_count && n->loaded[memory])
        return true;
    if (memory >= n->loaded_count) {
        uint8_t *grown = realloc(n->loaded, (size_t)memory + 1);
        if (!grown) {
            cli_no_memory();
            return false;
        }
        memset(grown + n->loaded_count, 0, memory + 1 - n->loaded_count);
        n->loaded = grown;
        n->loaded_count = (size_t)memory + 1;
    }
    n->loaded[memory] = 1;
    return cli_programs_in(n->programs, n->args, n->maps, memory) && list_programs(n);
}

void cli_event_names_close(struct cli_event_names *n)
{
    ct_programs_free(n->programs);
    ct_address_names_free(n->names);
    free(n->loaded);
    *n = (struct cli_event_names){0};
}
