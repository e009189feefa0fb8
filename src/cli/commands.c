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

const char *cli_own_name(const struct cli_command *command)
{
    const char *space = strchr(command->name, ' ');
    return space ? space + 1 : command->name;
}

const struct cli_command *cli_command_among(const struct cli_command *const *commands, const char *name)
{
    for (size_t i = 0; commands[i]; i++) {
        if (strcmp(cli_own_name(commands[i]), name) == 0)
            return commands[i];
    }
    return NULL;
}

const struct cli_command *cli_command_find(const char *name)
{
    return cli_command_among(cli_commands, name);
}
