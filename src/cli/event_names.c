#include "cli/event_names.h"

#include <stdlib.h>
#include <string.h>

static bool list_programs(struct cli_event_names *n)
{
    size_t count;
    free(n->list);
    n->list = cli_programs_for_stacks(&n->programs, &count);
    if (!n->list) {
        cli_no_memory();
        return false;
    }
    ct_address_names_set(n->names, n->list, count);
    return true;
}

bool cli_event_names_open(struct cli_event_names *n, const struct cli_args *args, size_t elf, bool wanted,
                          struct cli_capture *capture)
{
    n->programs.only_names = true;
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
    n->maps = cli_programs_by_memory(capture->capture) ? capture->capture->maps : NULL;
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
    return cli_programs_in(&n->programs, n->maps, memory) && list_programs(n);
}

void cli_event_names_close(struct cli_event_names *n)
{
    cli_programs_close(&n->programs);
    ct_address_names_free(n->names);
    free(n->list);
    free(n->loaded);
    *n = (struct cli_event_names){0};
}
