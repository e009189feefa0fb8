/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <string.h>

const struct cli_command *const cli_commands[] = {
    /* clang-format off */
    &cli_command_info,
    &cli_command_list,
    &cli_command_decode,
    &cli_command_stats,
    &cli_command_export,
    &cli_command_export_results,
    &cli_command_perf_env,
    &cli_command_record,
    &cli_command_volume,
    &cli_command_graph,
    &cli_command_watch,
    &cli_command_timing,
    &cli_command_wcet,
    &cli_command_cover,
    &cli_command_merge,
    &cli_command_manifest,
    &cli_command_map,
    &cli_command_profile,
    &cli_command_report,
    &cli_command_monitor,
    &cli_command_spec,
    &cli_command_live,
    &cli_command_ctl,
    &cli_command_tessla,
    &cli_command_fractal,
    NULL,
    /* clang-format on */
};

const struct cli_command *cli_command_find(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    }
    return NULL;
}
