/* SPDX-License-Identifier: Apache-2.0 */
/* The subcommands. Each is defined in the file with its name. */
#pragma once

#include "cli/cli.h"

extern const struct cli_command cli_command_cover;
extern const struct cli_command cli_command_ctl;
extern const struct cli_command cli_command_decode;
extern const struct cli_command cli_command_export;
extern const struct cli_command cli_command_export_results;
extern const struct cli_command cli_command_fractal;
extern const struct cli_command cli_command_graph;
extern const struct cli_command cli_command_info;
extern const struct cli_command cli_command_list;
extern const struct cli_command cli_command_live;
extern const struct cli_command cli_command_perf_env;
extern const struct cli_command cli_command_profile;
extern const struct cli_command cli_command_record;
extern const struct cli_command cli_command_volume;
extern const struct cli_command cli_command_report;
extern const struct cli_command cli_command_manifest;
extern const struct cli_command cli_command_map;
extern const struct cli_command cli_command_merge;
extern const struct cli_command cli_command_monitor;
extern const struct cli_command cli_command_spec;
extern const struct cli_command cli_command_stats;
extern const struct cli_command cli_command_tessla;
extern const struct cli_command cli_command_timing;
extern const struct cli_command cli_command_watch;
extern const struct cli_command cli_command_wcet;
