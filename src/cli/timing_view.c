/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/timing_view.h"

#include <stdlib.h>
#include <string.h>

bool cli_timing_add_pairs(struct ct_timing *timing, struct ct_watches *watches, const struct cli_args *args,
                          size_t option)
{
    int rc = CT_OK;
    for (size_t i = 0; !rc && i < args->list_count; i++) {
        if (args->list[i].option != option)
            continue;
        char *text = strdup(args->list[i].text);
        char *to = text ? strchr(text, ' ') : NULL;
        if (!text) {
            cli_no_memory();
            return false;
        }
        if (!to) {
            free(text);
            cli_usage_error(args->command, "--pair '%s': two places with a space between are expected",
                            args->list[i].text);
            return false;
        }
        *to = '\0';
        rc = ct_timing_add_pair(timing, watches, text, to + 1 + strspn(to + 1, " "));
        free(text);
        if (rc)
            cli_library_error(args->ctx);
    }
    return rc == CT_OK;
}

struct ct_timing_view cli_timing_view(const struct ct_timing *timing, const struct ct_graph *graph,
                                      const struct ct_cfg *cfg, const struct ct_buffer *buffer,
                                      const struct ct_source *source, uint8_t id,
                                      const struct ct_losses *losses, struct ct_timing_block **blocks)
{
    size_t count = 0;
    if (cfg)
        ct_cfg_blocks(cfg, &count);
    *blocks = cfg ? calloc(count + 1, sizeof **blocks) : NULL;
    if (*blocks)
        ct_timing_add_blocks(timing, graph, cfg, *blocks);
    else if (cfg)
        cli_no_memory();
    return (struct ct_timing_view){.buffer = buffer->name,
                                   .core = source->core ? source->core : source->name,
                                   .id = id,
                                   .timing = timing,
                                   .losses = *losses,
                                   .graph = graph,
                                   .cfg = *blocks ? cfg : NULL,
                                   .blocks = *blocks};
}
