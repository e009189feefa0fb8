/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a specification without running it: coretap tessla --analyse. */
#pragma once

#include "cli/cli.h"
#include "coretap/monitor.h"

/* Prints what each output stores, costs and needs. Returns an enum cli_exit. */
int cli_tessla_analyse(struct ct_ctx *ctx, const struct ct_monitor_spec *spec, bool json);
